"""What it is worth that trees take a row in turn (`boosting.learning.in_turn`), by their number and the size of leaves.

    python benchmarks/in_turn.py [--rounds 3] [--data car,movement]

Trees, rows and their order are those of `speed.py`. How many trees go together is compiled in, so every number has a
process and an empty cache of kernels of its own, where leaves of any size count as small; guesses must not change.
The processes take turns, round after round, and the best run of each counts. Writes results/in_turn.json and
results/in_turn.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import contender
import numpy as np
import speed
from grid import grid

HERE = Path(__file__).resolve().parent
TOGETHER = (1, 2, 4, 8, 16)
MODELS = ("AdaBoostOLM", "OnlineMBBM")
# Sets whose trees split or have numeric columns: elsewhere trees go side by side, in lanes (`forest/abreast.py`).
STREAMS = tuple(name for name in speed.STREAMS if name not in ("car", "nursery"))
TIMED_S = 1.5  # CPU seconds of runs for each model, set and round
KERNELS = "kernels-{}"


def play(together: int, paths: list[str]) -> dict[str, Any]:
    """Times and guesses of both models on every stream, with so many trees in turn."""
    from edgewise.learners.forest import abreast
    from edgewise.loop import learning

    # Before anything is compiled.
    abreast.IN_TURN = learning.IN_TURN = together
    abreast.SMALL = 1 << 40
    found = {}
    for path in paths:
        with np.load(path) as held:
            rows = contender.Rows(held["values"], held["labels"], held["n_categories"], int(held["n_classes"]))
        for model in MODELS:
            once = contender.edgewise_play(model, rows, speed.TREES | {"options": {}})
            _, guesses = once()
            times: list[float] = []
            while sum(times) < TIMED_S:
                times.append(once()[0])
            found[f"{name_of(path)} {model}"] = {"cpu_s": min(times), "guesses": guesses.tolist()}
    return found


def name_of(path: str | Path) -> str:
    """Of the set whose rows `speed.save_rows` wrote there."""
    return Path(path).stem.rpartition("-")[0]


def leaf_bytes(path: Path) -> int:
    """What a leaf knows of all classes, as `abreast.small` counts it, with nominal columns in as many slots."""
    with np.load(path) as held:
        sizes = held["n_categories"]
        numeric = -(-int((sizes == 0).sum()) // 4) * 4
        return int(8 * held["n_classes"] * (6 * numeric + (sizes + 1)[sizes > 0].sum()))


def page(found: dict[str, dict[str, list[float]]], sizes: dict[str, int]) -> str:
    lines = []
    for what, times in found.items():
        data, model = what.rsplit(" ", 1)
        best = [min(times[str(n)]) for n in TOGETHER]
        lines.append(
            [f"{data}, {model}", f"{sizes[data]:,}", f"{best[0]:.3f}", *(f"{b / best[0]:.2f}" for b in best[1:])]
        )
    machine = speed.machine()
    return "\n".join(
        [
            "# Trees in turn",
            "",
            f"CPU time of n trees that take each row in turn, over that of one tree after the other. {machine['cpu']}, "
            f"{machine['system']}; 100 trees as in [speed.md](speed.md), one thread, best of all runs; guesses are the "
            "same in every column. How: the docstring of `benchmarks/in_turn.py`, which makes this page.",
            "",
            grid(
                ["data, booster", "bytes of a leaf", "CPU s, one by one", *(f"{n} in turn" for n in TOGETHER[1:])],
                lines,
            ),
            "",
        ]
    )


def main() -> None:
    if sys.argv[1:2] == ["--play"]:
        Path(sys.argv[3]).write_text(json.dumps(play(int(sys.argv[2]), sys.argv[4:])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="processes for each number of trees")
    parser.add_argument("--data", help=f"some of {','.join(STREAMS)}")
    arguments = parser.parse_args()
    data = speed.chosen(arguments.data, STREAMS, "--data")
    found: dict[str, dict[str, list[float]]] = {}
    guesses: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [speed.save_rows(of, speed.STREAMS[of][0], folder) for of in data]
        for _ in range(arguments.rounds):
            for together in TOGETHER:
                answer = folder / "answer.json"
                one_thread = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
                cache = {"NUMBA_CACHE_DIR": str(folder / KERNELS.format(together))}
                command = [sys.executable, __file__, "--play", str(together), str(answer), *map(str, paths)]
                subprocess.run(command, env=os.environ | one_thread | cache, check=True)
                for what, measured in json.loads(answer.read_text()).items():
                    if guesses.setdefault(what, measured["guesses"]) != measured["guesses"]:
                        raise SystemExit(f"{what}: other guesses with {together} trees in turn")
                    found.setdefault(what, {}).setdefault(str(together), []).append(measured["cpu_s"])
                    print(f"{what:28} {together:3} in turn {measured['cpu_s']:8.4f} CPU s", flush=True)
        sizes = {name_of(path): leaf_bytes(path) for path in paths}
    report = {"machine": speed.machine(), "leaf_bytes": sizes, "cpu_s": found}
    (HERE / "results" / "in_turn.json").write_text(json.dumps(report, indent=1) + "\n")
    (HERE / "results" / "in_turn.md").write_text(page(found, sizes))


if __name__ == "__main__":
    main()
