"""One million rows of Covertype's columns, repeated as a stream: does memory stop growing, and speed stay?

    python benchmarks/million.py [--rows 1000000] [--only speed,defaults]

`speed`: the trees of the speed benchmark, N = 100. `defaults`: `AdaBoostOLM(max_bytes=300_000_000)`. The rows keep the
order of the file, and begin again at its end. After every hundredth of the stream: CPU seconds, resident size, bytes of
the model's arrays, nodes. The first hundredths are the warm-up: until the model has a tenth of the rows. Writes
results/million.json after every tenth and results/million.md at the end.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import profiling
import speed
from grid import figure, grid
from memory import MB, resident

import edgewise as ew

HERE = Path(__file__).resolve().parent
BUDGET = 300_000_000
MODELS: dict[str, Callable[[], Any]] = {
    "speed": profiling.booster,
    "defaults": lambda: ew.AdaBoostOLM(random_state=1, max_bytes=BUDGET),
}
NAMES = {"speed": "trees of the speed benchmark", "defaults": f"defaults, max_bytes={BUDGET:,}"}
POINTS = 100


def run(name: str, rows: int, keep: Callable[[list[dict[str, Any]]], None]) -> None:
    """Send the stream through a model and note what it takes."""
    X, y = speed.load("covertype")
    classes, labels = np.unique(y, return_inverse=True)
    model = MODELS[name]()
    MODELS[name]().partial_fit(X[:20], labels[:20], classes=np.arange(classes.size))
    before, notes = resident("VmRSS"), []
    for point in range(POINTS):
        places = np.arange(rows * point // POINTS, rows * (point + 1) // POINTS) % len(labels)
        part, answers = X[places], labels[places]
        start = time.process_time()
        guesses = model.prequential(part, answers, classes=np.arange(classes.size))
        used = time.process_time() - start
        notes.append(
            {
                "rows": int(rows * (point + 1) // POINTS),
                "rows_per_cpu_s": places.size / used,
                "accuracy": float(np.mean(guesses == answers)),
                "nbytes": model.nbytes,
                "resident_growth": resident("VmRSS") - before,
                "nodes": int(model.n_nodes_.sum()),
            }
        )
        if (point + 1) % 10 == 0:
            keep(notes)
            print(name, notes[-1], flush=True)


def tenth(notes: list[dict[str, Any]], first: int) -> float:
    """Rows per CPU second in ten notes."""
    return 10.0 / sum(1.0 / note["rows_per_cpu_s"] for note in notes[first : first + 10])


def markdown(report: dict[str, Any]) -> str:
    """A line for every tenth of the stream."""
    machine = report["machine"]
    parts = [
        "# One million rows",
        f"{machine['cpu']}, {machine['system']}. Covertype's rows in the order of the file, repeated; 100 learners, "
        "one thread. Made by `benchmarks/million.py`.",
    ]
    for name, notes in report["notes"].items():
        lines = []
        for i in range(0, len(notes) - 9, 10):
            last = notes[i + 9]
            right = np.mean([note["accuracy"] for note in notes[i : i + 10]])
            sizes = [f"{last[size] / MB:,.1f}" for size in ("nbytes", "resident_growth")]
            lines.append(
                [f"{last['rows']:,}", f"{tenth(notes, i):,.0f}", figure(right, 4), f"{last['nodes']:,}", *sizes]
            )
        header = ["rows", "rows per CPU s", "accuracy", "nodes", "nbytes, MB", "resident growth, MB"]
        parts += [f"## {NAMES[name]}", grid(header, lines)]
        if len(notes) == POINTS:
            ratio = tenth(notes, POINTS - 10) / tenth(notes, 10)
            grown = notes[-1]["nodes"] / notes[19]["nodes"]
            parts.append(
                f"The last tenth does {ratio:.2f} times the rows per second of the first tenth after warm-up "
                f"(the second of the stream), with {grown:.2f} times the nodes. nbytes grew by "
                f"{notes[-1]['nbytes'] / notes[POINTS // 2]['nbytes'] - 1.0:.1%} over the second half."
            )
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="speed,defaults")
    arguments = parser.parse_args()
    path = HERE / "results" / ("million.json" if arguments.rows == 1_000_000 else f"million-{arguments.rows}.json")
    report: dict[str, Any] = {"machine": speed.machine(), "notes": {}}
    if path.exists():
        report["notes"] = json.loads(path.read_text())["notes"]

    for name in arguments.only.split(","):

        def keep(notes: list[dict[str, Any]], name: str = name) -> None:
            report["notes"][name] = notes
            path.write_text(json.dumps(report, indent=1) + "\n")
            path.with_suffix(".md").write_text(markdown(report))

        run(name, arguments.rows, keep)


if __name__ == "__main__":
    main()
