"""Tables 1 and 2 and Figures 1 and 2 of Zhang, Jung, Tewari 2018 (bandit feedback) beside ours.

    python benchmarks/bandit.py [--seeds 5] [--data Balance,Car] [--algorithms AdaBandit] [--jobs 1] [--table]

The paper's protocol: the data are repeated as many times as it says, then shuffled; N and rho of its Table 4; accuracy
is that of the label that is shown, exploration included. A cell is one data set, algorithm and seed. Finished cells are
appended to results/bandit.jsonl, and a cell found there is not run again: an interrupted run continues.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any, NamedTuple

# Before Numba and NumPy are imported: a cell is one thread, as the paper's were.
os.environ.update({name: "1" for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")})

import bandit_report
import cells
import numpy as np

import edgewise
from edgewise.evaluation.measures import last_fifth

CELLS = cells.RESULTS / "bandit.jsonl"
EDGE = 0.1


class Setting(NamedTuple):
    """A data set of the paper: ours, how often it is repeated, and its line of Table 4."""

    ours: str
    copies: int
    rate: float
    n_opt: int
    n_ada: int
    preset: str = "paper"  # of the multiclass bandits: edgewise.boosting.bandit_trees


DATA = {
    "Balance": Setting("balance", 10, 0.001, 20, 15),
    "Car": Setting("car", 6, 0.001, 15, 15),
    "Car-numeric": Setting("car-numeric", 6, 0.001, 15, 15),  # doors and persons as numbers, as the authors read them
    "Nursery": Setting("nursery-4", 4, 0.001, 10, 5),
    "Movement": Setting("movement", 1, 0.001, 10, 20),
    "Mice": Setting("mice-zero", 8, 0.1, 10, 20, "paper-mice"),
    "Isolet": Setting("isolet-50", 15, 0.1, 10, 20, "paper-isolet"),
}
FEW_SEEDS = {"Isolet": 2}
PER_CLASS = 10  # binary learners of BinBandit for each class
# Of the full-information boosters, as the authors' script sets them.
FULL_TREE = edgewise.HoeffdingTree.preset(
    "paper", grace_period=(50, 200), split_confidence=edgewise.LogUniform(1e-11, 0.9), importance_scale=(5.0, 20.0)
)
OURS = "edgewise"  # AdaBandit with its defaults
ALGORITHMS = ("OptBandit", "AdaBandit", "BinBandit", "OptFull", "AdaFull", OURS)


class Cell(NamedTuple):
    data: str
    algorithm: str
    seed: int


def make(cell: Cell) -> Any:
    """The model of a cell: the paper's setting, or, for ours, the defaults, which are the same on all sets."""
    setting = DATA[cell.data]
    common = {"random_state": cell.seed}
    bandit = {**common, "exploration": setting.rate}
    if cell.algorithm == "OptBandit":
        return edgewise.BanditBBM.preset(setting.preset, n_estimators=setting.n_opt, edge=EDGE, **bandit)
    if cell.algorithm == "AdaBandit":
        return edgewise.AdaBandit.preset(setting.preset, n_estimators=setting.n_ada, **bandit)
    if cell.algorithm == "BinBandit":
        return edgewise.BinBandit.preset("paper", n_estimators=PER_CLASS, **bandit)
    if cell.algorithm == "OptFull":
        return edgewise.OnlineMBBM.preset("paper", estimator=FULL_TREE, n_estimators=setting.n_opt, edge=EDGE, **common)
    if cell.algorithm == "AdaFull":
        return edgewise.AdaBoostOLM.preset("paper", estimator=FULL_TREE, n_estimators=setting.n_ada, **common)
    return edgewise.AdaBandit(**common)


def run(cell: Cell, rows: int | None) -> dict[str, Any]:
    """One cell: accuracy on all rows (Table 2), on the last fifth (Table 1), on new rows; the curve; CPU seconds."""
    setting = DATA[cell.data]
    table, labels = cells.load(setting.ours)
    n = len(labels) * setting.copies
    chosen = edgewise.datasets.order(n, cell.seed, rows) % len(labels)
    X, y, classes = table[chosen], labels[chosen], np.unique(labels)
    make(cell).prequential(X[:10], y[:10], classes=classes)  # compiles the kernels or loads them from disk
    model = make(cell)
    before = time.process_time()
    hits = model.prequential(X, y, classes=classes) == y
    used = time.process_time() - before
    return {
        **cell._asdict(),
        "rows": len(y),
        "complete": len(y) == n,
        "all": float(hits.mean()),
        "last_fifth": last_fifth(hits),
        "new": float(hits[np.unique(chosen, return_index=True)[1]].mean()),
        "curve": bandit_report.curve(hits),
        "cpu_s": used,
        **cells.stamp(),
    }


def plan(data: list[str], algorithms: list[str], seeds: int | None) -> list[Cell]:
    """Seed by seed, so that an unfinished run has something of everything."""
    planned = []
    for seed in range(1, (seeds or 5) + 1):
        for name in data:
            if seed <= (seeds or FEW_SEEDS.get(name, 5)):
                planned += [Cell(name, algorithm, seed) for algorithm in algorithms]
    return planned


def main() -> None:
    arguments = cells.command(__doc__, list(DATA), ALGORITHMS, "5; Isolet 2", "results/bandit.md and the curves")

    if not arguments.table:
        planned = plan(
            cells.chosen(arguments.data, list(DATA), "--data"),
            cells.chosen(arguments.algorithms, ALGORITHMS, "--algorithms"),
            arguments.seeds,
        )
        left = planned if arguments.again else cells.missing(planned, CELLS, arguments.rows)
        print(f"{len(left)} cells to run, {len(planned) - len(left)} already there", flush=True)
        cells.run_all(left, partial(run, rows=arguments.rows), CELLS, bandit_report.line, arguments.jobs)
    complete = [record for record in cells.known(CELLS) if record["complete"]]
    bandit_report.write(complete, list(DATA), OURS, CELLS.with_suffix(".md"))


if __name__ == "__main__":
    main()
