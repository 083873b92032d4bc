"""Figures 1 and 2 of Mukherjee and Schapire 2010: batch boosting with small trees, 500 rounds, on six data sets.

    python -m benchmarks.accuracy.batch [--data letter,poker] [--algorithms MM,SAMME] [--leaves 5,10] [--table]
    python -m benchmarks.accuracy.batch --speed [--repeats 3]

A cell is one data set, algorithm, size of trees and seed. Finished cells are appended to results/batch.jsonl, and a
cell found there is not run again: an interrupted run continues. --speed measures training beside scikit-learn's in one
process and writes results/batch_speed.json. Both write results/batch.md, and the tables and pictures of docs/batch.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import edgewise
from benchmarks.accuracy import batch_pictures, batch_report
from benchmarks.accuracy.batch_report import BOUNDED, DATA, SMALL, STUMP
from benchmarks.shared import cells
from benchmarks.shared.grid import update
from benchmarks.shared.measuring import RESULTS, TOP, cpu, found, in_alternation, machine, write
from benchmarks.shared.streams import load

CELLS = RESULTS / "batch.jsonl"
DOCS = TOP / "docs" / "batch.md"
ROUNDS = 500
CURVE = sorted({round(r) for r in np.geomspace(1, ROUNDS, 48)})  # rounds whose errors are kept

# Training and test rows where the files do not part them, in the order of the seed; of covertype only some.
SHARES = {"connect-4": 2 / 3, "poker": 2 / 3}
COVERTYPE_ROWS = (50_000, 50_000)

ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "MM": ("AdaBoostMM", {}),
    "M1": ("AdaBoostM1", {}),
    "MH": ("AdaBoostMH", {}),
    "MM loss": ("AdaBoostMM", {"weighting": "loss"}),
}
SAMME = "SAMME"  # scikit-learn's AdaBoostClassifier
LEAVES = (5, 10, 20, 50, 100, 200, 500, 1000)  # Figure 1(a)

# Rows and rounds whose training is timed. Trees cost the same in every round, binning comes once: few rounds are in
# scikit-learn's favor.
TIMED = {"covertype": (200_000, 20), "letter": (16_000, 100)}


class Cell(NamedTuple):
    data: str
    algorithm: str
    leaves: int
    seed: int


class Split(NamedTuple):
    train: Any
    train_labels: np.ndarray
    test: Any
    test_labels: np.ndarray


def split(data: str, seed: int) -> Split:
    """The parts of the files where they have parts; else rows in the order of the seed."""
    table, y = load(data)
    first = edgewise.datasets.info(data).train_rows
    if first is None:
        table, y = edgewise.datasets.shuffled(table, y, seed)
        first = COVERTYPE_ROWS[0] if data == "covertype" else round(SHARES[data] * len(y))
    last = first + COVERTYPE_ROWS[1] if data == "covertype" else len(y)
    return Split(table[:first], y[:first], table[first:last], y[first:last])


def plain(table: Any) -> np.ndarray:
    """Numbers for scikit-learn: nominal features one column per value, which allows the same partitions of 3 values."""
    columns = []
    for values, feature in zip(table.values.T, table.features, strict=True):
        if feature.categories is None:
            columns.append(values)
        else:
            columns += [(values == code).astype(np.float64) for code in range(len(feature.categories))]
    return np.column_stack(columns)


def model(algorithm: str, leaves: int, rounds: int, seed: int) -> Any:
    if algorithm == SAMME:
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_leaf_nodes=leaves)
        return AdaBoostClassifier(tree, n_estimators=rounds, random_state=seed)
    name, settings = ALGORITHMS[algorithm]
    booster = getattr(edgewise, name)
    return booster(edgewise.CostTree(max_leaves=leaves), n_estimators=rounds, random_state=seed, **settings)


def on_curve(errors: Iterable[float]) -> list[float]:
    """Errors at the rounds of CURVE; a booster that stopped keeps its last one."""
    each = list(errors)
    return [round(each[min(r, len(each)) - 1], 4) for r in CURVE]


def run(cell: Cell, rounds: int) -> dict[str, Any]:
    """One cell: test error round by round, and the CPU seconds of training."""
    parts = split(cell.data, cell.seed)
    convert = plain if cell.algorithm == SAMME else lambda table: table
    X, X_test = convert(parts.train), convert(parts.test)
    model(cell.algorithm, cell.leaves, 2, cell.seed).fit(X[:500], parts.train_labels[:500])  # compiles
    booster = model(cell.algorithm, cell.leaves, rounds, cell.seed)
    used, _ = cpu(booster.fit, X, parts.train_labels)
    errors = [float((guess != parts.test_labels).mean()) for guess in booster.staged_predict(X_test)]
    record = {
        **cell._asdict(),
        "rows": len(parts.train_labels),
        "test_rows": len(parts.test_labels),
        "complete": rounds == ROUNDS,
        "rounds": rounds,
        "stages": len(errors),
        "test_error": errors[-1],
        "test_errors": on_curve(errors),
        "cpu_s": used,
        **cells.stamp(),
    }
    if cell.algorithm in BOUNDED:
        record["bound_held"] = bool((np.asarray(booster.train_errors_) <= np.asarray(booster.bounds_) + 1e-12).all())
    return record


def plan(data: list[str], algorithms: list[str], leaves: list[int], seeds: int) -> list[Cell]:
    """The smallest trees of all sets first, then Figure 2's stumps, then larger trees. Parts of files need one seed."""
    # Figure 2 has MH with stumps, as BoosTexter had.
    sizes = {"MM": LEAVES, "M1": LEAVES, "MH": (*LEAVES, STUMP), "MM loss": (SMALL,), SAMME: (SMALL,)}
    return [
        Cell(name, algorithm, size, seed)
        for size in (SMALL, STUMP, *LEAVES[1:])
        for seed in range(1, seeds + 1)
        for name in data
        for algorithm in algorithms
        if size in sizes[algorithm] and size in leaves
        if seed == 1 or (size == SMALL and edgewise.datasets.info(name).train_rows is None)
    ]


def measure_speed(repeats: int, leaves: int = SMALL) -> dict[str, Any]:
    """CPU seconds of training, contenders in turn, so that a busy machine slows all of them alike."""
    measured = []
    for data, (rows, rounds) in TIMED.items():
        table, y = edgewise.datasets.shuffled(*load(data), 1, rows)
        X = plain(table)  # the same array for all
        names = ("MM", "MM loss", SAMME)  # M1 and MH stop after a few rounds
        for name in names:
            model(name, leaves, 2, 1).fit(X[:500], y[:500])
        boosters = {name: model(name, leaves, rounds, 1) for name in names}
        seconds = in_alternation({name: partial(booster.fit, X, y) for name, booster in boosters.items()}, repeats)
        for name in names:
            record = {"data": data, "rows": rows, "features": X.shape[1], "rounds": rounds, "leaves": leaves}
            measured.append(
                record | {"algorithm": name, "stages": len(boosters[name].estimators_), "cpu_s": seconds[name]}
            )
            print(batch_report.speed_line(measured[-1]), flush=True)
    import sklearn

    return {"machine": machine(), "scikit-learn": sklearn.__version__, "measured": measured, **cells.stamp()}


def main() -> None:
    parser = cells.options(__doc__, seeds=1, jobs=False, rows=False)
    parser.add_argument("--algorithms", help=f"some of {','.join((*ALGORITHMS, SAMME))}")
    parser.add_argument("--leaves", help=f"some of {','.join(map(str, (STUMP, *LEAVES)))}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="fewer, to try things out; not in the tables")
    parser.add_argument("--speed", action="store_true", help="time the training, beside scikit-learn's")
    parser.add_argument("--repeats", type=int, default=3, help="timed runs, of which the best counts")
    arguments = parser.parse_args()

    if arguments.speed:
        write("batch_speed", measure_speed(arguments.repeats))
    else:
        sizes = cells.chosen(arguments.leaves, [str(size) for size in (STUMP, *LEAVES)], "--leaves")
        planned = plan(
            cells.chosen(arguments.data, DATA, "--data"),
            cells.chosen(arguments.algorithms, [*ALGORITHMS, SAMME], "--algorithms"),
            [int(size) for size in sizes],
            arguments.seeds,
        )
        cells.fill(
            planned, partial(run, rounds=arguments.rounds), CELLS, batch_report.line, arguments, ("data", "seed")
        )
    speed, complete = found("batch_speed.json"), cells.complete("batch")
    CELLS.with_suffix(".md").write_text(batch_report.markdown(complete, speed))
    update(DOCS, lambda page: batch_report.filled(page, complete, speed))
    batch_pictures.draw(batch_report.newest(complete), CURVE, TOP / "docs" / "pictures")


if __name__ == "__main__":
    main()
