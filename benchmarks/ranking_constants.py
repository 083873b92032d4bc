"""From which range the trees of OnlineBMR's preset `paper` draw their factor on importances, chosen on training rows.

    python benchmarks/ranking_constants.py            run what is missing, then fill the table of docs/theory.md
    python benchmarks/ranking_constants.py --check    run nothing; exit code 1 if the table is out of date

The paper does not say; the authors' code has 3 to 10, with potentials from random walks where ours are exact. Only the
training part of a set is read, in the order of its file: the rank loss, predict first, on the second half of its rows.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, NamedTuple

os.environ.update({name: "1" for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")})

import cells
from grid import figure, grid, values, with_table

import edgewise
from edgewise.evaluation.racing import mean
from edgewise.evaluation.ranking_measures import rank_loss

CELLS = cells.RESULTS / "ranking_constants.jsonl"
PAGE = cells.RESULTS.parent.parent / "docs" / "theory.md"
DATA = ("emotions", "scene", "yeast", "mediamill_reduced")
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
    table, Y = cells.load(cell.data)
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
    return grid(["factors", *DATA, "mean"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if not arguments.check:
        wanted = [
            Cell(data, *bounds, edge, seed) for data in DATA for bounds in RANGES for edge in EDGES for seed in SEEDS
        ]
        cells.run_all(cells.missing(wanted, CELLS, None), run, CELLS, str)
    page = PAGE.read_text()
    after = with_table(page, "constants", table())
    if arguments.check:
        raise SystemExit(0 if after == page else f"{PAGE.name} is out of date: run benchmarks/ranking_constants.py")
    PAGE.write_text(after)


if __name__ == "__main__":
    main()
