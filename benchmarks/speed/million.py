"""One million rows of Covertype's columns, repeated as a stream: does memory stop growing, and speed stay?

    python -m benchmarks.speed.million [--rows 1000000] [--only speed,defaults]

`speed`: the trees of the speed benchmark, N = 100. `defaults`: `AdaBoostOLM(max_bytes=300_000_000)`. The rows keep the
order of the file, and begin again at its end. After every tenth of the stream: CPU seconds, resident size, bytes of the
model's arrays, nodes. The first tenth is the warm-up. Writes results/million.json and results/million.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import edgewise as ew
from benchmarks.shared import measuring
from benchmarks.shared.grid import figure, grid, millions
from benchmarks.shared.measuring import cpu, found, machine, write
from benchmarks.shared.streams import booster, load
from benchmarks.speed.memory import resident

BUDGET = 300_000_000
MODELS: dict[str, Callable[[], Any]] = {
    "speed": booster,
    "defaults": lambda: ew.AdaBoostOLM(random_state=1, max_bytes=BUDGET),
}
NAMES = {"speed": "trees of the speed benchmark", "defaults": f"defaults, max_bytes={BUDGET:,}"}
TENTHS, PART = 10, 10_000


def run(name: str, rows: int, keep: Callable[[list[dict[str, Any]]], None]) -> None:
    """Send the stream through a model and note what it takes."""
    X, y = load("covertype")
    classes, labels = np.unique(y, return_inverse=True)
    model = MODELS[name]()
    MODELS[name]().partial_fit(X[:20], labels[:20], classes=np.arange(classes.size))
    before, notes = resident("VmRSS"), []
    for tenth in range(TENTHS):
        rights, seconds, first, last = [], 0.0, rows * tenth // TENTHS, rows * (tenth + 1) // TENTHS
        for start in range(first, last, PART):
            places = np.arange(start, min(start + PART, last)) % len(labels)
            used, guesses = cpu(model.prequential, X[places], labels[places], classes=np.arange(classes.size))
            rights.append(guesses == labels[places])
            seconds += used
        notes.append(
            {
                "rows": last,
                "rows_per_cpu_s": (last - first) / seconds,
                "accuracy": float(np.mean(np.concatenate(rights))),
                "nbytes": model.nbytes,
                "resident_growth": resident("VmRSS") - before,
                "nodes": int(model.n_nodes_.sum()),
            }
        )
        keep(notes)
        print(name, notes[-1], flush=True)


def markdown(report: dict[str, Any]) -> str:
    """A line for every tenth of the stream."""
    machine = report["machine"]
    parts = [
        "# One million rows",
        f"{machine['cpu']}, {machine['system']}. Covertype's rows in the order of the file, repeated; 100 learners, "
        "one thread. Made by `benchmarks/speed/million.py`.",
    ]
    for name, notes in report["notes"].items():
        lines = [
            [
                *(f"{note['rows']:,}", f"{note['rows_per_cpu_s']:,.0f}", figure(note["accuracy"], 4)),
                *(f"{note['nodes']:,}", millions(note["nbytes"], 1), millions(note["resident_growth"], 1)),
            ]
            for note in notes
        ]
        header = ["rows", "rows per CPU s", "accuracy", "nodes", "nbytes, MB", "resident growth, MB"]
        parts += [f"## {NAMES[name]}", grid(header, lines)]
        if len(notes) == TENTHS:
            ratio = notes[-1]["rows_per_cpu_s"] / notes[1]["rows_per_cpu_s"]
            parts.append(
                f"The last tenth does {ratio:.2f} times the rows per second of the first tenth after warm-up "
                f"(the second of the stream), with {notes[-1]['nodes'] / notes[1]['nodes']:.2f} times the nodes. "
                f"nbytes grew by {notes[-1]['nbytes'] / notes[TENTHS // 2 - 1]['nbytes'] - 1.0:.1%} over the second "
                "half."
            )
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default="speed,defaults")
    arguments = parser.parse_args()
    file = "million" if arguments.rows == 1_000_000 else f"million-{arguments.rows}"
    report: dict[str, Any] = {"machine": machine(), "notes": found(f"{file}.json", {"notes": {}})["notes"]}

    for name in arguments.only.split(","):

        def keep(notes: list[dict[str, Any]], name: str = name) -> None:
            report["notes"][name] = notes
            write(file, report, markdown(report))

        run(name, arguments.rows, keep)


if __name__ == "__main__":
    main()
