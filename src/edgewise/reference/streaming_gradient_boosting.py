"""Streaming gradient boosting: Algorithms 1 to 3 of Hu, Sun, Venkatraman, Hebert and Bagnell, *Gradient boosting on
stochastic data streams*, AISTATS 2017.

| paper | here |
|---|---|
| N, A_i, h_i^t | `len(learners)`, `learners`, their `predict` |
| eta, eta_i | `learning_rates` |
| y_0 | `start` |
| the gradient of l_t | `gradient(y, target)` |
| Pi_Y | `project` |
| y_t^0, ..., y_t^N | `partial_sums` |
| what learner i is fed | `targets` |
| Delta_i^t | `residual` |

A learner has `predict(numeric, nominal)` and `update(numeric, nominal, target, w)`, both of vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from edgewise.reference.learner import RunningMoments

Vectors = list[np.ndarray]


class GradientRound(NamedTuple):
    """One round: the prediction, y^0, ..., y^N, every learner's vote h_i(x), and what it was to predict."""

    prediction: np.ndarray
    partial_sums: Vectors
    votes: Vectors
    targets: Vectors


@dataclass
class GradientBooster:
    """What Algorithms 1 and 2 share."""

    learners: Sequence[Any]  # A_1, ..., A_N
    learning_rates: Sequence[float]
    start: np.ndarray
    gradient: Callable[[np.ndarray, Any], np.ndarray]
    moments: RunningMoments  # shared by the learners; every learned example is counted

    def round(
        self, numeric: Sequence[float], nominal: Sequence[int], target: Any, weight: float = 1.0
    ) -> GradientRound:
        """Predict an example, then learn it.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        target : ndarray
            What the loss compares predictions with, used after the prediction only.
        weight : float
            Weight of the example; with 0 it is predicted only.

        Returns
        -------
        GradientRound
        """
        votes, partial_sums, prediction = self._predict(numeric, nominal)
        targets = self._targets(votes, partial_sums, target)
        if weight > 0.0:
            self.moments.update(numeric)
            for learner, goal in zip(self.learners, targets, strict=True):
                learner.update(numeric, nominal, goal, weight)
        return GradientRound(prediction, partial_sums, votes, targets)

    def _predict(self, numeric: Sequence[float], nominal: Sequence[int]) -> tuple[Vectors, Vectors, np.ndarray]:
        """Votes, partial sums and prediction."""
        raise NotImplementedError

    def _targets(self, votes: Vectors, partial_sums: Vectors, target: Any) -> Vectors:
        """What each learner is to predict."""
        raise NotImplementedError


@dataclass
class StreamingGradientBoosting(GradientBooster):
    """Algorithm 1, for smooth losses."""

    def _predict(self, numeric: Sequence[float], nominal: Sequence[int]) -> tuple[Vectors, Vectors, np.ndarray]:
        partial_sums, votes = [self.start], []
        for eta, learner in zip(self.learning_rates, self.learners, strict=True):  # lines 5 to 7
            votes.append(learner.predict(numeric, nominal))
            partial_sums.append(partial_sums[-1] - eta * votes[-1])
        return votes, partial_sums, partial_sums[-1]  # line 8

    def _targets(self, votes: Vectors, partial_sums: Vectors, target: Any) -> Vectors:
        return [self.gradient(y, target) for y in partial_sums[:-1]]  # line 11


@dataclass
class ResidualGradientBoosting(GradientBooster):
    """Algorithm 2, for other losses; a round of weight 0 is Algorithm 3 with the last hypotheses alone."""

    project: Callable[[np.ndarray], np.ndarray]

    def _predict(self, numeric: Sequence[float], nominal: Sequence[int]) -> tuple[Vectors, Vectors, np.ndarray]:
        partial_sums, votes = [self.start], []
        for eta, learner in zip(self.learning_rates, self.learners, strict=True):  # lines 5 to 7
            votes.append(learner.predict(numeric, nominal))
            partial_sums.append(self.project(partial_sums[-1] - eta * votes[-1]))
        # Line 8 as the proof has it, over y^0, ..., y^{N-1}; the paper prints N + 1 terms.
        return votes, partial_sums, np.mean(partial_sums[:-1], axis=0)

    def _targets(self, votes: Vectors, partial_sums: Vectors, target: Any) -> Vectors:
        residual = np.zeros(self.start.size)  # line 10
        targets = []
        for y, h in zip(partial_sums[:-1], votes, strict=True):
            targets.append(residual + self.gradient(y, target))  # lines 12, 13
            residual = targets[-1] - h  # line 14
        return targets
