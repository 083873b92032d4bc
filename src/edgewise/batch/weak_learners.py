"""What a booster asks of a weak learner, and how a learner that knows only weighted examples is asked.

**Costs.** A learner with `fit_costs(X, C)` is given the cost matrix itself and is to make C . 1_h small; its `predict`
gives column numbers of C. If it also has `prepare(X, sample_weight)` and `encode(X)`, rows are prepared once for all
rounds: `prepare` before learning, `encode` of a fitted learner before predicting. `CostTree` has all three.

**Weighted examples.** Any scikit-learn classifier whose `fit` takes `sample_weight` is given each row with its cheapest
label, weighted by what the other labels cost more on average:

    w(i) = sum over l of (C(i, l) - min C(i)) / (k - 1).

This is weaker: the learner sees how much a mistake costs on average, not which mistakes cost little. For AdaBoost.M1
and SAMME, where all mistakes on an example cost the same, nothing is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from edgewise.data.table import Table


class WeakLearners:
    """The weak learners of one run: made, fitted and asked alike, whatever their kind."""

    def __init__(self, estimator: Any, seeds: np.random.RandomState) -> None:
        self._takes_costs = hasattr(estimator, "fit_costs")
        takes_weights = hasattr(estimator, "fit") and has_fit_parameter(estimator, "sample_weight")
        if isinstance(estimator, type) or not (self._takes_costs or takes_weights):
            raise ValueError(
                f"estimator={estimator!r}: a weak learner takes costs (`fit_costs(X, C)`, as CostTree does) or "
                "weighted examples (`fit(X, y, sample_weight)`)"
            )
        self._prototype = estimator
        self._seeds = seeds

    def prepare(self, table: Table, weights: np.ndarray | None) -> Any:
        """Training rows as `fit` and `votes` take them."""
        if hasattr(self._prototype, "prepare"):
            return self._prototype.prepare(table, weights)
        return table if self._takes_costs else table.values

    def fit(self, X: Any, costs: np.ndarray) -> Any:
        """A new learner for these costs."""
        learner = clone(self._prototype)
        if "random_state" in learner.get_params(deep=False):
            learner.set_params(random_state=int(self._seeds.randint(np.iinfo(np.int32).max)))
        if self._takes_costs:
            return learner.fit_costs(X, costs)
        cheapest = costs.argmin(axis=1)
        excess = (costs.sum(axis=1) - costs.shape[1] * costs.min(axis=1)) / (costs.shape[1] - 1)
        return learner.fit(X, cheapest, sample_weight=excess)


def encoded(learner: Any, table: Table) -> Any:
    """Rows as `votes` takes them, for `learner` and those fitted with it."""
    if hasattr(learner, "encode"):
        return learner.encode(table)
    return table if hasattr(learner, "fit_costs") else table.values


def votes(learner: Any, X: Any, n: int, k: int) -> np.ndarray:
    """The label of each row, as a column number of the cost matrix."""
    voted = np.asarray(learner.predict(X))
    if voted.shape != (n,) or voted.dtype.kind not in "iu" or voted.min() < 0 or voted.max() >= k:
        raise ValueError(f"{learner!r} predicts {voted!r}: a whole number below {k} is needed for each of {n} rows")
    return voted.astype(np.int64, copy=False)
