"""The river estimators of `edgewise.river` beside river's own forests: accuracy, and CPU time of a row at a time.

    python -m benchmarks.speed.river_models [--rows 10000] [--repeats 3]

Electricity in order and car shuffled (`numpy.random.default_rng(1).permutation`): every row is a dict, predicted, then
learned, as `evaluate.progressive_val_score` does. All in one process and one thread; the CPU time of a contender is the
least of its runs, after a warm-up of 300 rows: as many as asked for, but none is begun once they took PATIENCE seconds.
Results: results/river_models.json and the page made from it.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import river
from river import ensemble, forest, tree

import edgewise as ew
import edgewise.river as er
from benchmarks.shared import measuring
from benchmarks.shared.measuring import cpu, write

BESIDE = "river ARFClassifier, 10 trees"
PATIENCE = 10.0
Stream = list[tuple[dict[str, Any], Any]]

CONTENDERS: dict[str, Callable[[], Any]] = {
    "edgewise AdaBoostOLM, N = 10": lambda: er.AdaBoostOLM(n_estimators=10, seed=1),
    'edgewise AdaBoostOLM, N = 10, drift="restart"': lambda: er.AdaBoostOLM(n_estimators=10, drift="restart", seed=1),
    'edgewise AdaBoostOLM, N = 100, drift="restart"': lambda: er.AdaBoostOLM(drift="restart", seed=1),
    "edgewise OzaBoost, N = 10": lambda: er.OzaBoost(n_estimators=10, seed=1),
    "edgewise HoeffdingForest, N = 10": lambda: er.HoeffdingForest(n_estimators=10, seed=1),
    BESIDE: lambda: forest.ARFClassifier(n_models=10, seed=1),
    "river SRPClassifier, 10 trees": lambda: ensemble.SRPClassifier(n_models=10, seed=1),
    "river AdaBoostClassifier, 10 trees": lambda: ensemble.AdaBoostClassifier(
        tree.HoeffdingTreeClassifier(), n_models=10, seed=1
    ),
}


def stream(name: str, rows: int) -> Stream:
    """The rows as river has them."""
    table, y = ew.datasets.load(name)
    order = np.arange(len(y))[:rows] if name == "electricity" else ew.datasets.order(len(y), 1, rows)
    return [
        (
            {
                feature.name: float(value) if feature.categories is None else feature.categories[int(value)]
                for feature, value in zip(table.features, row, strict=True)
            },
            label,
        )
        for row, label in zip(table.values[order], y[order].tolist(), strict=True)
    ]


def play(model: Any, rows: Stream) -> float:
    """Accuracy."""
    right = 0
    for x, y in rows:
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    return right / len(rows)


def measured(name: str, rows: Stream, repeats: int) -> dict[str, Any]:
    play(CONTENDERS[name](), rows[:300])
    plays: list[tuple[float, float]] = []
    while len(plays) < repeats and sum(seconds for seconds, _ in plays) < PATIENCE:
        plays.append(cpu(play, CONTENDERS[name](), rows))
    return {"contender": name, "accuracy": plays[0][1], "seconds": min(plays)[0], "runs": len(plays)}


def markdown(report: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in report["versions"].items())
    lines = [
        "# river's models and ours, a row at a time",
        "",
        f"Python {report['python']}, {versions}. Every row is a dict, predicted, then learned. One thread; CPU time, "
        "least of the runs, after warming up, all in one process. Made by `benchmarks/speed/river_models.py`.",
    ]
    for data, results in report["results"].items():
        beside = next(result["seconds"] for result in results if result["contender"] == BESIDE)
        lines += [
            "",
            f"## {data}, {report['rows'][data]:,} rows",
            "",
            "| model | accuracy | us per row | speed beside ARF | runs |",
            "|---|---|---|---|---|",
        ]
        for result in results:
            per_row = result["seconds"] / report["rows"][data] * 1e6
            cells = (result["contender"], f"{result['accuracy']:.3f}", f"{per_row:,.0f}")
            lines.append(f"| {' | '.join(cells)} | {beside / result['seconds']:.1f}x | {result['runs']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    report: dict[str, Any] = {
        "python": platform.python_version(),
        "versions": {"river": river.__version__, "edgewise": ew.__version__, "numba": version("numba")},
        "rows": {},
        "results": {},
    }
    for data in ("car", "electricity"):
        rows = stream(data, arguments.rows)
        report["rows"][data] = len(rows)
        report["results"][data] = []
        for name in CONTENDERS:
            report["results"][data].append(measured(name, rows, arguments.repeats))
            print(data, report["results"][data][-1], flush=True)
    write("river_models", report, markdown(report))


if __name__ == "__main__":
    main()
