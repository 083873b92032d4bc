"""How long the first run waits: compiling everything that `edgewise race car` needs, and starting once that is done.

    python -m benchmarks.speed.start [--repeats 3]

Each run is a process of its own; a cold one has an empty cache of compiled kernels. Writes results/start.json and
results/start.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

from benchmarks.shared import measuring
from benchmarks.shared.measuring import machine, whole_process, write

RACE = "from edgewise.cli import main; main(['race', 'car'])"
# From nothing to the first predicted label: import, the bundled data, a model of 100 learners, one row learned.
FIRST = """
import edgewise
X, y = edgewise.datasets.load("car")
model = edgewise.AdaBoostOLM()
model.partial_fit(X[:1], y[:1], classes=sorted(set(y)))
print(model.predict(X[1:2]))
"""


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    runs: dict[str, list[dict[str, float]]] = {"cold race": [], "warm race": [], "warm first": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:

            def run(code: str, cache: str = cache) -> dict[str, float]:
                return whole_process([sys.executable, "-c", code], NUMBA_CACHE_DIR=cache)[0]

            runs["cold race"].append(run(RACE))
            runs["warm race"].append(run(RACE))
            run(FIRST)  # compiles what one row at a time needs beside that
            runs["warm first"].append(run(FIRST))
        print(json.dumps({name: of[-1] for name, of in runs.items()}), flush=True)
    report = {"machine": machine(), "runs": runs}
    write("start", report, page(report))


def page(report: dict[str, Any]) -> str:
    machine, runs = report["machine"], report["runs"]
    best = {name: {key: min(run[key] for run in of) for key in of[0]} for name, of in runs.items()}
    compiling = {key: best["cold race"][key] - best["warm race"][key] for key in best["cold race"]}
    rows = [
        ("`edgewise race car`, nothing compiled before", best["cold race"]),
        ("`edgewise race car`, later", best["warm race"]),
        ("compiling: the difference", compiling),
        ("start to first prediction, compiled before", best["warm first"]),
    ]
    return "\n".join(
        [
            "# Starting",
            "",
            f"{machine['cpu']}, {machine['system']}, Python {machine['python']}. Best of {len(runs['cold race'])}, "
            "each in a process of its own. *First prediction*: import, load the bundled data, make `AdaBoostOLM()` of "
            "100 learners, learn one row, predict the next.",
            "",
            "| what | CPU s | wall s |",
            "|---|---:|---:|",
            *(f"| {name} | {of['cpu_s']:.1f} | {of['wall_s']:.1f} |" for name, of in rows),
            "",
        ]
    )


if __name__ == "__main__":
    main()
