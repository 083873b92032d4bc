"""Mean regret of streaming gradient boosting against learners, rows and the depth of trees (Hu et al. 2017, Fig. 1).

Regret is against f*, a regression tree of depth 15 fitted in hindsight to the same rows, as in Section 6.1; its leaves
predict what is best for their rows.

| setting   | meaning                                                                                       |
|-----------|-----------------------------------------------------------------------------------------------|
| loss      | a class of `edgewise.theory.regression_losses` and its arguments; `radius` is that of its ball |
| depth     | of the weak learners, at most                                                                 |
| step      | eta of Algorithm 1, times beta; Algorithm 2, for losses with a kink, has 1/(lambda i)         |
| learners  | numbers N that are tried                                                                      |
| over_time | N of the curve over T                                                                         |
| order     | "file"; or "shuffled", one order for all seeds, with targets in standard deviations            |
| first     | so many rows, or all of them                                                                  |
"""

from __future__ import annotations

import json
import time
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from edgewise.data import datasets
from edgewise.reproduction.games import Job, Record, curve
from edgewise.reproduction.games.networks import columns

SOURCES = ("reproduction/games/networks.py",)
STAR_DEPTH = 15
CHECKPOINTS, FIRST = 6, 250
WARM_UP = 50
SHUFFLE = 1  # the seed is the learners', the order of rows is one


def play(job: Job) -> Record:
    """A run for every N (of Algorithm 1 one, of which fewer learners are the beginning), and one over time."""
    assert job.data is not None
    most = min(job.rows or 10**9, job.settings.get("first", 10**9))
    where = (job.data, job.settings["order"], most, json.dumps(job.settings["loss"]))
    table, targets, loss = problem(*where)
    ends = np.unique(np.geomspace(min(FIRST, len(targets)), len(targets), CHECKPOINTS).astype(int))
    least = [star_loss(*where, int(t)) for t in ends]
    learners = job.settings["learners"]
    model_of(job, loss, 2).partial_fit(table[:WARM_UP], targets[:WARM_UP])  # compiles the kernels
    before = time.process_time()
    if np.isfinite(loss.smoothness):
        largest = model_of(job, loss, max(learners)).partial_fit(table, targets)
        sums = {n: float(largest.expert_losses_[n]) for n in learners}
    else:
        sums = {n: float(model_of(job, loss, n).partial_fit(table, targets).loss_sum_) for n in learners}
    model = model_of(job, loss, job.settings["over_time"])
    losses, bounds = [], []
    for first, last in pairwise([0, *ends]):
        model.partial_fit(table[first:last], targets[first:last])
        losses.append(float(model.loss_sum_ / last))
        bounds.append(model.bound())
    seconds = time.process_time() - before
    regrets = {n: value / len(targets) - least[-1] for n, value in sums.items()}
    measures = {f"regret_{n}": value for n, value in regrets.items()}
    measures |= {"edge": float(model.edges_.mean()), "seconds": seconds}
    curves = [
        curve("error", "learners N", "mean regret", [("mean regret", list(regrets), list(regrets.values()))]),
        curve("error", "rows T", "mean regret", [("mean regret", ends, np.array(losses) - least)]),
        curve(
            "bound",
            "rows T",
            "regret against each row's best",
            [("bound", ends, [b.value for b in bounds]), ("suffered", ends, [b.regret for b in bounds])],
        ),
    ]
    return Record(measures, seconds, curves)


@lru_cache(maxsize=4)
def problem(data: str, order: str, rows: int, loss: str) -> tuple[Any, np.ndarray, Any]:
    """Examples, targets and the loss that JSON describes."""
    from edgewise.theory import regression_losses
    from edgewise.theory.projections import Ball

    about = json.loads(loss)
    kind = getattr(regression_losses, about.pop("class"))
    if "radius" in about:
        about["domain"] = Ball(about.pop("radius"))
    if order == "file":
        table, y = datasets.load(data, rows=rows)
        return table, y.astype(float), kind(**about)
    table, y = datasets.shuffled(*datasets.load(data), SHUFFLE)
    return table[:rows], ((y - y.mean()) / y.std())[:rows], kind(**about)


def model_of(job: Job, loss: Any, n: int) -> Any:
    import edgewise

    rate = job.settings["step"] / loss.smoothness if np.isfinite(loss.smoothness) else None
    tree = edgewise.RegressionTree(max_depth=job.settings["depth"], least_gain=15.0, smoothing=100.0)
    return edgewise.StreamingGradientBoostingRegressor(tree, n, loss=loss, learning_rate=rate, random_state=job.seed)


@lru_cache(maxsize=64)
def star_loss(data: str, order: str, rows: int, described: str, t: int) -> float:
    """Mean loss of f* on the first t rows: of a deep tree whose leaves predict what is best for their rows."""
    from sklearn.tree import DecisionTreeRegressor

    table, y, loss = problem(data, order, rows, described)
    X, targets = columns(table[:t]), y[:t]
    leaves = DecisionTreeRegressor(max_depth=STAR_DEPTH, random_state=0).fit(X, targets).apply(X)
    total = 0.0
    for leaf in np.unique(leaves):
        mine = targets[leaves == leaf]
        best = np.full((mine.size, 1), best_constant(loss, mine))
        total += float(loss.value(best, mine[:, None]).sum())
    return total / targets.size


def best_constant(loss: Any, targets: np.ndarray) -> float:
    """The prediction of least total loss for some targets, by ternary search."""
    low, high = -12.0, 12.0
    rows = targets[:, None]
    for _ in range(60):
        thirds = low + (high - low) / 3.0, high - (high - low) / 3.0
        totals = [loss.value(np.full(rows.shape, y), rows).sum() for y in thirds]
        low, high = (low, thirds[1]) if totals[0] < totals[1] else (thirds[0], high)
    return 0.5 * (low + high)
