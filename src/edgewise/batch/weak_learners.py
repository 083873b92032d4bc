"""Weak learners of batch boosting: what a booster needs of them, and `CostTree`, the one of edgewise itself.

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

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from edgewise.batch.inputs import check_whole, in_columns, read_examples, read_rows, unchanged_on_error
from edgewise.data.table import Table, as_table
from edgewise.learners.cost_tree.binning import MOST_BINS, find_bins
from edgewise.learners.cost_tree.growing import BinnedTable, fill_votes
from edgewise.parameters import Saveable, with_parameters
from edgewise.theory.cost_matrices import first_costs


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


@with_parameters()
class CostTree(Saveable, ClassifierMixin, BaseEstimator):
    """A greedy tree of at most `max_leaves` leaves that minimizes C . 1_h, each leaf answering its cheapest label.

    `fit_costs(X, C)` learns from a cost matrix, which is how boosters use it; `fit(X, y)` is the case in which every
    wrong label costs 1 (times `sample_weight`). Two leaves make a stump. Numeric features are cut into at most
    `max_bins` bins of equal weight, exactly where there are no more values than bins; nominal features (text and
    categories in frames, or `categorical_features`: positions, names or a mask) are split into any two groups of
    categories; missing values go where they cost least. See `edgewise.learners.cost_tree.splitting` for how splits are
    found and ties broken. The tree is deterministic and does not depend on the order of the rows.

    Attributes: `tree_` (a tuple of arrays), `n_leaves_`, `classes_` (after `fit_costs`: the column numbers of C).

    Parameters
    ----------
    max_leaves : int
        Leaves at most.
    max_bins : int
        Bins of a numeric feature at most.
    min_leaf : int
        Rows that each leaf must have.
    categorical_features : list or mask, optional
        Columns of an array that are nominal: positions, names or a mask.
    """

    max_leaves: int = 5
    _: KW_ONLY
    max_bins: int = MOST_BINS
    min_leaf: int = 1
    categorical_features: Sequence[Any] | np.ndarray | None = None

    _allowed: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The tree that makes the fewest mistakes, greedily; each row counts with its weight.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        sample_weight : array, optional
            The weight of each row; 1 by default.
        """
        with unchanged_on_error(self):
            examples = read_examples(self, X, y, sample_weight)
            binned = self.prepare(examples.table, examples.weights if examples.weighted else None)
            self._grow(binned, first_costs(examples.labels, examples.weights, examples.classes.size, 0.0, 1.0))
            self.classes_ = examples.classes
        return self

    def fit_costs(self, X: Any, costs: Any) -> Self:
        """The tree of least C . 1_h, greedily, for costs [n, k]; `predict` then gives column numbers.

        X is anything that `fit` takes, or what `prepare` made of it: then nothing is binned again.

        Parameters
        ----------
        X : array, frame, Table or BinnedTable
            Rows.
        costs : array
            What each label would cost, [n, k].
        """
        with unchanged_on_error(self):
            binned = X if isinstance(X, BinnedTable) else self.prepare(read_rows(self, X, reset=True))
            matrix = np.ascontiguousarray(costs, dtype=np.float64)
            if matrix.ndim != 2 or matrix.shape[0] != len(binned) or matrix.shape[1] < 2:
                raise ValueError(
                    f"costs of shape {matrix.shape}: a row for each of the {len(binned)} rows of X and "
                    "a column for each of at least 2 labels are needed"
                )
            self._grow(binned, matrix)
            self.classes_ = np.arange(matrix.shape[1])
        return self

    def prepare(self, X: Any, sample_weight: np.ndarray | None = None) -> BinnedTable:
        """Rows in bins, for many calls of `fit_costs`; weights count in what equal bins are.

        Parameters are those of `fit`.

        Returns
        -------
        BinnedTable
            The rows in bins.
        """
        self._check()
        table = as_table(X, categorical_features=self.categorical_features)
        return BinnedTable(find_bins(table, self.max_bins, sample_weight), table.features, table)

    def encode(self, X: Any) -> BinnedTable:
        """Other rows in this tree's bins, for its `predict` and that of all trees that share them.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.

        Returns
        -------
        BinnedTable
            The rows in bins.
        """
        check_is_fitted(self, "tree_")
        table = as_table(X, categorical_features=self.categorical_features)
        return BinnedTable(self.bins_, self.features_, in_columns(table, self.features_))

    def predict(self, X: Any) -> np.ndarray:
        """The label of the leaf that each row falls into.

        Parameters
        ----------
        X : array, frame, Table or BinnedTable
            Rows.

        Returns
        -------
        array
            The labels [n].
        """
        check_is_fitted(self, "tree_")
        if not isinstance(X, BinnedTable):
            X = self.encode(read_rows(self, X, reset=False))
        elif X.bins is not self.bins_:
            raise ValueError("X was prepared with other bins than those of this tree: pass it through `encode`")
        votes = np.empty(len(X), np.int64)
        fill_votes(self.tree_, X.codes, votes)
        return self.classes_[votes]

    def _grow(self, binned: BinnedTable, costs: np.ndarray) -> None:
        self._check()
        self.tree_ = binned.grow(costs, self.max_leaves, self.min_leaf)
        self.bins_, self.features_ = binned.bins, binned.features
        self.n_features_in_ = len(binned.features)
        self.n_leaves_ = int((self.tree_.child < 0).sum())

    def _check(self) -> None:
        check_whole("max_leaves", self.max_leaves, 1)
        check_whole("max_bins", self.max_bins, 2, MOST_BINS)
        check_whole("min_leaf", self.min_leaf, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
