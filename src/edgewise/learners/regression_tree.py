"""Configuration of online regression trees: what each may do, drawn per tree where a range is given."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.learners.ranges import Range, check_range, drawn, feature_subsets
from edgewise.parameters import Parameterized

NO_DEPTH_LIMIT = np.iinfo(np.int32).max


class RegressionTreeParameters(NamedTuple):
    """What was drawn for each tree."""

    grace_period: np.ndarray
    split_confidence: np.ndarray
    tie_threshold: np.ndarray
    least_gain: np.ndarray
    smoothing: np.ndarray
    memory: np.ndarray
    max_depth: np.ndarray
    features: np.ndarray  # Boolean [trees, features]


class RegressionTree(Parameterized):
    """A Hoeffding regression tree with vector targets (Ikonomovska et al. 2011) as weak learner of gradient boosting.

    grace_period, split_confidence, tie_threshold, least_gain, smoothing and memory may be a (low, high) pair or a
    `LogUniform`: each tree then draws its own.

    Parameters
    ----------
    grace_period : float, pair or LogUniform
        Weight that a leaf sees between two attempts to split.
    split_confidence : float, pair or LogUniform
        delta of the Hoeffding bound, in (0, 1).
    tie_threshold : float, pair or LogUniform
        Split once the bound is below this, however small the gap. The default is above the bound at the default
        grace period, so that `least_gain` alone decides: gaps between features hardly matter to a booster.
    least_gain : float, pair or LogUniform
        What a split must take off the squared error, in variances of one example; keeps noise from splitting.
    max_depth : int, optional
        Splits from the root to a leaf at most, or None.
    smoothing : float, pair or LogUniform
        Examples of target 0 that every leaf mean starts with.
    memory : float, pair or LogUniform
        Examples that a leaf mean remembers: gradients move as earlier learners improve. Infinite for all.
    max_features : float, optional
        How many features a tree may use, drawn per tree: a count, a share in (0, 1], or None for all.
    bins : int
        Cells in which a leaf counts a numeric feature.
    """

    def __init__(
        self,
        grace_period: Range = 50,
        split_confidence: Range = 0.05,
        tie_threshold: Range = 0.5,
        least_gain: Range = 10.0,
        max_depth: int | None = 6,
        smoothing: Range = 1.0,
        memory: Range = math.inf,
        max_features: float | None = None,
        bins: int = 16,
    ) -> None:
        self.grace_period = grace_period
        self.split_confidence = split_confidence
        self.tie_threshold = tie_threshold
        self.least_gain = least_gain
        self.max_depth = max_depth
        self.smoothing = smoothing
        self.memory = memory
        self.max_features = max_features
        self.bins = bins

    def check(self) -> None:
        """Raise ValueError for a setting that no tree can have."""
        check_range("grace_period", self.grace_period, 0.0, math.inf)
        check_range("split_confidence", self.split_confidence, 0.0, 1.0)
        for name in ("tie_threshold", "least_gain", "smoothing"):
            check_range(name, getattr(self, name), 0.0, math.inf, or_equal=True)
        if self.memory != math.inf:
            check_range("memory", self.memory, 0.0, math.inf)
        if self.max_depth is not None and self.max_depth < 0:
            raise ValueError(f"max_depth={self.max_depth!r}: 0 or more, or None")
        if self.max_features is not None and not self.max_features > 0:
            raise ValueError(f"max_features={self.max_features!r}: a positive count, a share in (0, 1], or None")
        if self.bins < 2:
            raise ValueError(f"bins={self.bins!r}: at least 2, or there is nothing to split")

    def draw(self, n_trees: int, n_features: int, rng: np.random.Generator) -> RegressionTreeParameters:
        """Parameters of each tree.

        Parameters
        ----------
        n_trees : int
            How many trees.
        n_features : int
            How many features there are.
        rng : Generator
            Where the draws come from.

        Returns
        -------
        RegressionTreeParameters
            Arrays with an entry for each tree.
        """
        return RegressionTreeParameters(
            drawn(self.grace_period, n_trees, rng, whole=True),
            drawn(self.split_confidence, n_trees, rng),
            drawn(self.tie_threshold, n_trees, rng),
            drawn(self.least_gain, n_trees, rng),
            drawn(self.smoothing, n_trees, rng),
            drawn(self.memory, n_trees, rng),
            np.full(n_trees, NO_DEPTH_LIMIT if self.max_depth is None else self.max_depth),
            feature_subsets(self.max_features, n_trees, n_features, rng),
        )
