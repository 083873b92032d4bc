"""CPU time of two source trees: is a rebuilt library as fast as the one before?

    python -m benchmarks.speed.house BEFORE/src BEFORE/.venv/bin/python AFTER/src AFTER/.venv/bin/python [--repeats 5]
    python -m benchmarks.speed.house ... --only car,ratio,cold --rows 2000

A tree is its `src` folder and an interpreter with its dependencies. The trees take turns, each measurement in a process
of its own, one thread; the best of all runs counts. What is measured:

- `AdaBoostOLM()` of 100 learners on car, letter, covertype, movement and electricity (5,000 rows, shuffled): after over
  before, and whether the predictions are the same.
- `ratio`: OnlineMBBM over AdaBoostOLM in the setting of the speed page, on its eight sets, for each tree.
- `cold` (not unless named): `edgewise race car` with an empty cache of compiled kernels.

The first run of a tree compiles its kernels, which can take minutes. Prints Markdown.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.shared import measuring
from benchmarks.shared.measuring import TOP, cpu, whole_process

ROWS = 5000
DEFAULTS = ("car", "letter", "covertype", "movement", "electricity")
MODELS = ("AdaBoostOLM", "OnlineMBBM")
RACE = "from edgewise.cli import main; main(['race', 'car'])"
TIMED_S = 1.0  # CPU seconds of runs in a process: short ones are repeated


class Tree(NamedTuple):
    """A source tree: its packages, and the interpreter that runs them."""

    name: str
    src: Path
    python: str

    def run(self, *arguments: str, **environment: str) -> tuple[float, str]:
        """CPU seconds of a process that has this tree, and what it prints."""
        path = os.pathsep.join((str(self.src), str(TOP)))
        used, printed = whole_process([self.python, *arguments], PYTHONPATH=path, **environment)
        return used["cpu_s"], printed

    def measured(self, model: str, data: str, rows: int) -> dict[str, Any]:
        """What `measure` finds in a process of its own."""
        return json.loads(self.run("-m", "benchmarks.speed.house", "--measure", model, data, str(rows))[1])


# -- in a process of a tree: its public names alone, since the tree may be of another version --------------------------


def measure(model: str, data: str, rows: int) -> dict[str, Any]:
    """Best CPU seconds of predicting and learning all rows, and a hash of the predictions."""
    import numpy as np

    import edgewise
    from benchmarks.shared.streams import N, booster, stream, tree

    makers: dict[str, Callable[[], Any]] = {
        "defaults": lambda: edgewise.AdaBoostOLM(**N),
        "AdaBoostOLM": booster,
        "OnlineMBBM": lambda: edgewise.OnlineMBBM(tree(), **N),
    }
    X, y, classes = stream(data, 1, rows)
    makers[model]().prequential(X, y, classes=classes)  # compiles the kernels or loads them from disk
    seconds: list[float] = []
    while sum(seconds) < TIMED_S:
        used, predicted = cpu(makers[model]().prequential, X, y, classes=classes)
        seconds.append(used)
    digest = hashlib.sha256(np.ascontiguousarray(np.searchsorted(classes, predicted))).hexdigest()
    return {
        "cpu_s": min(seconds),
        "rows": len(y),
        "predictions": digest,
        "src": str(Path(edgewise.__file__).parents[1]),
    }


# -- both trees --------------------------------------------------------------------------------------------------------


def best(trees: list[Tree], repeats: int, model: str, data: str, rows: int) -> list[dict[str, Any]]:
    """The fastest run of each tree; the trees take turns, and each goes first as often as the other."""
    runs: dict[str, list[dict[str, Any]]] = {tree.name: [] for tree in trees}
    for repeat in range(repeats):
        for tree in trees if repeat % 2 == 0 else reversed(trees):
            found = tree.measured(model, data, rows)
            if Path(found["src"]) != tree.src:
                raise SystemExit(f"{tree.name}: edgewise was imported from another folder than {tree.src}")
            runs[tree.name].append(found)
    return [min(of, key=lambda run: run["cpu_s"]) for of in runs.values()]


def defaults(trees: list[Tree], repeats: int, data: list[str], rows: int) -> str:
    lines = ["| `AdaBoostOLM()` | rows | before, ms | after, ms | after / before | predictions |"]
    lines.append("|---|---:|---:|---:|---:|---|")
    for name in data:
        before, after = best(trees, repeats, "defaults", name, rows)
        same = "same" if before["predictions"] == after["predictions"] else "DIFFERENT"
        ms = [f"{1000 * run['cpu_s']:.1f}" for run in (before, after)]
        ratio = f"{after['cpu_s'] / before['cpu_s']:.3f}"
        lines.append(f"| {name} | {before['rows']} | {ms[0]} | {ms[1]} | {ratio} | {same} |")
    return "\n".join(lines)


def over_olm(trees: list[Tree], repeats: int, most: int | None) -> str:
    from benchmarks.shared.streams import STREAMS

    names = [f"{tree.name}: {what}" for tree in trees for what in ("OLM, ms", "MBBM, ms", "MBBM / OLM")]
    lines = [f"| speed page | rows | {' | '.join(names)} |", "|---|---:|" + "---:|" * len(names)]
    for data, (rows, _) in STREAMS.items():
        olm, mbbm = (best(trees, repeats, model, data, min(rows, most or rows)) for model in MODELS)
        cells = []
        for one, other in zip(olm, mbbm, strict=True):
            cells += [f"{1000 * one['cpu_s']:.1f}", f"{1000 * other['cpu_s']:.1f}"]
            cells.append(f"{other['cpu_s'] / one['cpu_s']:.2f}")
        lines.append(f"| {data} | {olm[0]['rows']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cold(trees: list[Tree], repeats: int) -> str:
    seconds: dict[str, list[float]] = {tree.name: [] for tree in trees}
    for _ in range(repeats):
        for tree in trees:
            with tempfile.TemporaryDirectory() as cache:
                seconds[tree.name].append(tree.run("-c", RACE, NUMBA_CACHE_DIR=cache)[0])
    before, after = (min(of) for of in seconds.values())
    return (
        "| cold start | before, CPU s | after, CPU s | after / before |\n|---|---:|---:|---:|\n"
        f"| `edgewise race car` | {before:.1f} | {after:.1f} | {after / before:.2f} |"
    )


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
        return
    parser = measuring.parser(__doc__)
    for which in ("before", "after"):
        parser.add_argument(f"{which}_src", type=Path, help=f"the folder src of the tree {which}")
        parser.add_argument(f"{which}_python", help="its interpreter")
    parser.add_argument("--repeats", type=int, default=5, help="processes for each tree and measurement")
    parser.add_argument("--rows", type=int, help="at most so many")
    parser.add_argument("--only", default=",".join((*DEFAULTS, "ratio")), help="data sets of the defaults, ratio, cold")
    given = parser.parse_args()
    # An interpreter's path stays as it is: that of a virtual environment is a link.
    trees = [
        Tree("before", given.before_src.resolve(), os.path.abspath(given.before_python)),
        Tree("after", given.after_src.resolve(), os.path.abspath(given.after_python)),
    ]
    parts = given.only.split(",")
    data = [name for name in DEFAULTS if name in parts]
    if unknown := set(parts) - {*DEFAULTS, "ratio", "cold"}:
        parser.error(f"--only: no {', '.join(sorted(unknown))}")
    if data:
        print(defaults(trees, given.repeats, data, min(given.rows or ROWS, ROWS)), end="\n\n", flush=True)
    if "ratio" in parts:
        print(over_olm(trees, given.repeats, given.rows), end="\n\n", flush=True)
    if "cold" in parts:
        print(cold(trees, given.repeats), flush=True)


if __name__ == "__main__":
    main()
