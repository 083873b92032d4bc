"""Times of OnlineBMR beside Ada.OLMR, and how they grow on a stream of mediamill's shape -> results/ranking_speed.json.

    python -m benchmarks.speed.rankings [--repeats 3] [--part paper] [--quick]

CPU seconds of one process with one thread, compiling left out; `accuracy/ranking.py --table` puts them on its page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import edgewise
from benchmarks.accuracy.ranking import DATA, FEW_LABELS, MANY_LABELS, TREES
from benchmarks.shared import measuring
from benchmarks.shared.cells import chosen, stamp
from benchmarks.shared.measuring import cpu, found, in_alternation, machine, write

NAME = "ranking_speed"
ROWS, FEATURES = 43_907, 120
# Parts of the rows, learners, edge: 0.1 is the default of OnlineBMR, 0.01 the better one on mediamill_reduced.
GROWTH = [(8, 100, 0.1), (4, 100, 0.1), (1, 100, 0.1), (8, 25, 0.01), (8, 50, 0.01), (8, 100, 0.01), (4, 100, 0.01)]
# The fewer the learners, the larger their importances and trees: trees of one leaf tell what the booster itself costs.
LEAVES = [(part, learners, 0.1) for part in (8, 4) for learners in (25, 50, 100)]
DEFAULT_EDGE = edgewise.OnlineBMR().edge
PARTS = ("paper", "synthetic", "leaves")


def synthetic(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Label sets of mediamill's shape: a label is relevant where a linear function of six features is large.

    Labels are as frequent as in mediamill_reduced, so that 4.4 are relevant on average.
    """
    rng = np.random.default_rng(seed)
    about = edgewise.datasets.info("mediamill_reduced")
    share = np.array(list(about.class_counts.values())) / about.rows
    X = rng.random((rows, FEATURES))
    Y = np.zeros((rows, share.size), np.int8)
    for label, wanted in enumerate(share):
        chosen = rng.choice(FEATURES, 6, replace=False)
        value = X[:, chosen] @ rng.normal(size=6) + 0.3 * rng.normal(size=rows)
        Y[:, label] = value > np.quantile(value, 1 - wanted)
    return X, Y


def bmr(learners: int = TREES, **settings: Any) -> Any:
    return edgewise.OnlineBMR.preset("paper", n_estimators=learners, random_state=1, **settings)


def learned(make: Callable[[], Any], X: Any, Y: np.ndarray) -> np.ndarray:
    return make().prequential(X, Y)


def of_the_paper(repeats: int, rows: int | None) -> list[dict[str, Any]]:
    """Every model once, then again, so that a busy machine slows all of them alike."""
    results = []
    for data in DATA:
        edges = (DEFAULT_EDGE, *MANY_LABELS) if data == "mediamill_reduced" else FEW_LABELS
        table, Y = edgewise.datasets.load(data, rows=rows)
        models = {"AdaOLMR": lambda: edgewise.AdaOLMR.preset("paper", n_estimators=TREES, random_state=1)}
        for edge in edges:
            models[f"OnlineBMR hinge, edge {edge:g}"] = lambda edge=edge: bmr(edge=edge)
        models["OnlineBMR rank, edge 0.01"] = lambda: bmr(edge=0.01, loss="rank", vote="label")
        for model in models.values():
            model().prequential(table[:20], Y[:20])
        runs = {name: partial(learned, model, table, Y) for name, model in models.items()}
        times = in_alternation(runs, repeats)
        for name, used in times.items():
            ratio = min(used) / min(times["AdaOLMR"])
            results.append({"data": data, "model": name, "cpu_s": used, "best_cpu_s": min(used), "over_olmr": ratio})
            print(f"{data:17} {name:28} {min(used):7.2f} CPU s  {ratio:5.2f} times AdaOLMR", flush=True)
    return results


def of_mediamill(
    scale: int,
    runs: list[tuple[int, int, float]],
    known: list[dict[str, Any]],
    keep: Callable[[list[dict[str, Any]]], None],
    **settings: Any,
) -> None:
    """Parts of the rows, learners and edges that are not known yet; kept one by one, as they take minutes."""
    X, Y = synthetic(ROWS // scale)
    print(f"{len(Y)} rows, {Y.sum(axis=1).mean():.2f} relevant labels on average", flush=True)
    table = edgewise.as_table(X)
    bmr(2, **settings).prequential(table[:20], Y[:20])
    for part, learners, edge in runs:
        what = {"rows": len(Y) // part, "learners": learners, "edge": edge}
        if any(what.items() <= result.items() for result in known):
            continue
        model, rows = bmr(learners, edge=edge, **settings), what["rows"]
        used, _ = cpu(model.prequential, table[:rows], Y[:rows])
        known = [*known, what | {"cpu_s": used}]
        keep(known)
        print(f"{what['rows']:6} rows, {learners:3} learners, edge {edge:g} {used:8.1f} CPU s", flush=True)


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="timed runs, of which the best counts")
    parser.add_argument("--part", help=f"some of {','.join(PARTS)}; the others stay as they were measured before")
    parser.add_argument("--quick", action="store_true", help="few rows, nothing kept: does everything run?")
    arguments = parser.parse_args()
    report: dict[str, Any] = {part: [] for part in PARTS} | found(f"{NAME}.json", {})
    if report.get("kernels") != stamp()["kernels"]:
        report["synthetic"] = report["leaves"] = []
    report |= {"machine": machine(), **stamp()}

    def keep(part: str, results: list[dict[str, Any]]) -> None:
        report[part] = results
        if not arguments.quick:
            write(NAME, report)

    parts = chosen(arguments.part, PARTS, "--part")
    if "paper" in parts:
        report["repeats"] = 1 if arguments.quick else arguments.repeats
        keep("paper", of_the_paper(report["repeats"], 100 if arguments.quick else None))
    leaf = bmr().estimator.set_params(max_nodes=1)
    for part, runs, settings in (("synthetic", GROWTH, {}), ("leaves", LEAVES, {"estimator": leaf})):
        if part in parts:
            known = [] if arguments.quick else report[part]
            of_mediamill(100 if arguments.quick else 1, runs, known, partial(keep, part), **settings)


if __name__ == "__main__":
    main()
