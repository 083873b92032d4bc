"""Streams in their own order: `AdaBoostOLM` with and without `drift="restart"`, beside Oza's boosting.

    python -m benchmarks.accuracy.drift [--data electricity] [--learners 30,100] [--rows R]

Writes results/drift.md. Every row is predicted, then learned; seed 1.
"""

from __future__ import annotations

import edgewise
from benchmarks.shared import measuring
from benchmarks.shared.grid import figure, grid, millions
from benchmarks.shared.measuring import RESULTS
from edgewise.evaluation.models import ModelSpec
from edgewise.evaluation.prequential import evaluate

MODELS = ("olm", "olm-drift", "oza")
INTRODUCTION = """# Streams in their own order

Predict, then learn, every row, in the order of the file; seed 1; CPU seconds of one thread. `olm-drift` is
`AdaBoostOLM(drift="restart")`; restarts are trees that began anew.
"""


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--data", default="electricity", help="names of data sets in time order, as a,b")
    parser.add_argument("--learners", default="30,100")
    parser.add_argument("--rows", type=int, help="only the first so many rows")
    arguments = parser.parse_args()
    lines = []
    for name in arguments.data.split(","):
        table, labels = edgewise.datasets.load(name, rows=arguments.rows)
        for learners in map(int, arguments.learners.split(",")):
            for model in MODELS:
                run = evaluate(ModelSpec.parse(model).make(learners, 1), table, labels)
                measures = [figure(value) for value in (run.accuracy, run.last_fifth, run.kappa)]
                costs = [f"{run.cpu_seconds:.1f}", millions(run.model_bytes or 0), str(len(run.restarts))]
                lines.append([f"{name}, {model}", f"{run.rows:,}", str(learners), *measures, *costs])
                print(*lines[-1], flush=True)
    header = ("data, model", "rows", "learners", "all rows", "last fifth", "kappa", "CPU s", "memory, MB", "restarts")
    (RESULTS / "drift.md").write_text(f"{INTRODUCTION}\n{grid(header, lines)}\n")


if __name__ == "__main__":
    main()
