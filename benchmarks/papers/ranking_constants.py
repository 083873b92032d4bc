"""From which range the trees of OnlineBMR's preset `paper` draw their factor on importances, chosen on training rows.

    python -m benchmarks.papers.ranking_constants            run what is missing, then fill the table of docs/theory.md
    python -m benchmarks.papers.ranking_constants --check    run nothing; exit code 1 if the table is out of date

The paper does not say; the authors' code has 3 to 10, with potentials from random walks where ours are exact. Only the
training part of a set is read, in the order of its file: the rank loss, predict first, on the second half of its rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import edgewise
from benchmarks.accuracy.ranking import DATA
from benchmarks.shared import cells, grid
from benchmarks.shared.grid import figure, values, with_table
from benchmarks.shared.measuring import RESULTS, TOP
from benchmarks.shared.streams import load
from edgewise.evaluation.racing import mean
from edgewise.evaluation.ranking_measures import rank_loss

CELLS = RESULTS / "ranking_constants.jsonl"
PAGE = TOP / "docs" / "theory.md"
RANGES = ((1.5, 5), (3, 10), (6, 20), (12, 40), (30, 100))
EDGES = (0.1, 0.01)
SEEDS = (1, 2, 3)


class Cell(NamedTuple):
    data: str
    low: float
    high: float
    edge: float
    seed: int


def run(cell: Cell) -> dict[str, Any]:
    table, Y = load(cell.data)
    n = edgewise.datasets.info(cell.data).train_rows
    assert n is not None
    tree = edgewise.HoeffdingTree.preset("paper", importance_scale=(cell.low, cell.high), max_features=20)
    model = edgewise.OnlineBMR.preset("paper", estimator=tree, edge=cell.edge, random_state=cell.seed)
    losses = rank_loss(Y[:n], model.prequential(table[:n], Y[:n]))
    return {**cell._asdict(), "rows": n, "complete": True, "loss": float(losses[n // 2 :].mean()), **cells.stamp()}


def table() -> str:
    """For each range and set the better edge, and the mean over sets; the least of each column is bold."""
    found = cells.known(CELLS)

    def loss(data: str, low: float, high: float) -> float:
        return min(mean(values(found, "loss", data=data, low=low, high=high, edge=edge)).value for edge in EDGES)

    columns = [[loss(data, *bounds) for bounds in RANGES] for data in DATA]
    columns.append([sum(of_range) / len(DATA) for of_range in zip(*columns, strict=True)])
    shown = [[f"**{figure(v, 4)}**" if v == min(column) else figure(v, 4) for v in column] for column in columns]
    lines = [
        [f"{low:g} to {high:g}", *of_range]
        for (low, high), of_range in zip(RANGES, zip(*shown, strict=True), strict=True)
    ]
    return grid.grid(["factors", *DATA, "mean"], lines)


def filled(page: str) -> str:
    """The page with the table of the results."""
    return with_table(page, "constants", table())


def main() -> None:
    parser = cells.options(__doc__, rows=False)
    parser.add_argument("--check", action="store_true", help="run nothing; exit code 1 if the table is out of date")
    arguments = parser.parse_args()
    if not arguments.check:
        planned = [
            Cell(data, *bounds, edge, seed)
            for data in cells.chosen(arguments.data, DATA, "--data")
            for bounds in RANGES
            for edge in EDGES
            for seed in SEEDS
        ]
        cells.fill(planned, run, CELLS, str, arguments)
    grid.update(PAGE, filled, check=arguments.check, script="benchmarks.papers.ranking_constants")


if __name__ == "__main__":
    main()
