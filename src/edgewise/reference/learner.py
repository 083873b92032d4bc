"""What the algorithms of this package share: weak learners, the record of a round, running moments.

An example is two lists: `numeric`, in which NaN is a missing value, and `nominal`, codes 0, 1, ... in which MISSING is
one. Its label is one of 0, ..., k - 1, and w is the weight with which a learner learns it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

MISSING = -1


class Learner(Protocol):
    """A weak online learner, WL^i of the papers."""

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]: ...

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None: ...


class Round(NamedTuple):
    """One round of an online booster; lists have an entry for each learner or expert.

    `votes` are labels. `importances`, `learner_weights`, `expert_labels` and `expert_losses` are those of this round,
    the latter three as they were before its label was learned.
    """

    prediction: int
    votes: list[int]
    importances: list[float]
    learner_weights: list[float]
    expert_labels: list[int]
    expert_losses: list[float]


class RunningMoments:
    """Unweighted mean and variance of every numeric feature so far (Welford 1962), shared by all learners of a booster.

    Parameters
    ----------
    n_numeric : int
        Number of numeric features.
    """

    def __init__(self, n_numeric: int) -> None:
        self.counts = [0] * n_numeric
        self.means = [0.0] * n_numeric
        self.squares = [0.0] * n_numeric  # sums of squared distances from the mean

    def update(self, numeric: Sequence[float]) -> None:
        """Count one example.

        Parameters
        ----------
        numeric : sequence of float
            Its numeric features; NaN is not counted.
        """
        for f, x in enumerate(numeric):
            if not math.isnan(x):
                self.counts[f] += 1
                delta = x - self.means[f]
                self.means[f] += delta / self.counts[f]
                self.squares[f] += delta * (x - self.means[f])

    def variance(self, f: int) -> float:
        """Variance of feature f; 0 before its first value.

        Parameters
        ----------
        f : int
            Index of a numeric feature.

        Returns
        -------
        float
        """
        return self.squares[f] / self.counts[f] if self.counts[f] else 0.0


def argmax(values: Sequence[float]) -> int:
    """Lowest index of the largest value."""
    best = 0
    for index in range(1, len(values)):
        if values[index] > values[best]:
            best = index
    return best


def argmin_cost(p: Sequence[float], costs: Sequence[Sequence[float]]) -> int:
    """The vote of least expected cost, argmin over l of sum_r p(r) C(r, l), for a learner that predicts p.

    A later label must be cheaper by more than 1e-12, so that rounding does not decide.
    """
    k = len(p)
    best, best_cost = 0, math.inf
    for l in range(k):
        cost = sum(p[r] * costs[r][l] for r in range(k))
        if cost < best_cost - 1e-12:
            best, best_cost = l, cost
    return best


def unit_vector(k: int, l: int) -> list[float]:
    """e_l of k labels."""
    return [1.0 if r == l else 0.0 for r in range(k)]
