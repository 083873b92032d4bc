"""How many instructions an example takes in each tree: a measure of speed that no other work on the machine disturbs.

    python benchmarks/instructions.py [--data car,nursery]

Boosters with the trees of the speed benchmark run under Valgrind's cachegrind, once over the rows and three times; half
of the difference is one run without what comes before it. Valgrind must be installed. It does not know AVX-512, so
kernels are compiled for a processor without it. Writes results/instructions.json and results/instructions.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import contender
import grid
import numpy as np
import speed

HERE = Path(__file__).resolve().parent
PLAIN = {"NUMBA_CPU_NAME": "znver2", "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2,+sse4.2,+popcnt,+lzcnt"}
ONE_THREAD = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
MODELS = ("AdaBoostOLM", "OnlineMBBM")


def counted(model: str, rows: Path, runs: int) -> int:
    """Instructions of a process that runs a booster over the rows as often."""
    command = [sys.executable, __file__, "--play", model, str(rows), str(runs)]
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    told = subprocess.run(
        valgrind + command, env=os.environ | PLAIN | ONE_THREAD, check=True, capture_output=True, text=True
    )
    found = re.search(r"I\s+refs:\s+([\d,]+)", told.stderr)
    if found is None:
        raise SystemExit(f"valgrind counted nothing: {told.stderr[-400:]}")
    return int(found[1].replace(",", ""))


def play(model: str, rows: Path, runs: int) -> None:
    with np.load(rows) as held:
        stream = contender.Rows(held["values"], held["labels"], held["n_categories"], int(held["n_classes"]))
    once = contender.edgewise_play(model, stream, speed.TREES | {"options": {}})
    for _ in range(runs):
        once()


def page(results: list[dict[str, Any]]) -> str:
    data = list(dict.fromkeys(r["data"] for r in results))
    found = {(r["data"], r["model"]): r for r in results}
    lines = [
        [name, f"{found[name, MODELS[0]]['rows']:,}", *(f"{found[name, m]['per_tree']:,.0f}" for m in MODELS)]
        for name in data
    ]
    return (
        "# Instructions\n\n"
        "Instructions per example and tree, of the whole of `prequential`: Valgrind's count, 100 trees as in\n"
        "[speed.md](speed.md), compiled without AVX-512. How: the docstring of `benchmarks/instructions.py`, which\n"
        "makes this page.\n\n" + grid.grid(["data", "rows", *MODELS], lines) + "\n"
    )


def main() -> None:
    if sys.argv[1:2] == ["--play"]:
        play(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", help=f"some of {','.join(speed.STREAMS)}")
    data = speed.chosen(parser.parse_args().data, tuple(speed.STREAMS), "--data")
    if shutil.which("valgrind") is None:
        raise SystemExit("no valgrind: it counts the instructions, and comes with most systems' packages")
    path = HERE / "results" / "instructions.json"
    results = json.loads(path.read_text()) if path.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        for name in data:
            rows = min(speed.STREAMS[name][0], 4000)
            saved = speed.save_rows(name, rows, Path(folder))
            for model in MODELS:
                command = [sys.executable, __file__, "--play", model, str(saved), "1"]
                subprocess.run(command, env=os.environ | PLAIN | ONE_THREAD, check=True)  # compiles
                once, thrice = (counted(model, saved, runs) for runs in (1, 3))
                per_tree = (thrice - once) / 2 / rows / speed.TREES["trees"]
                results = [r for r in results if (r["data"], r["model"]) != (name, model)]
                results.append({"data": name, "model": model, "rows": rows, "per_tree": per_tree})
                print(
                    f"{name:10} {rows:6} rows  {model:12} {per_tree:7.0f} instructions per example and tree", flush=True
                )
                path.write_text(json.dumps(results, indent=1) + "\n")
    path.with_suffix(".md").write_text(page(results))


if __name__ == "__main__":
    main()
