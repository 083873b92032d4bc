"""The adaptive boosting loop, and the four boosters' common ground in the framework of weak-learning conditions.

Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Sections 2 to 4.

| paper           | here                  | meaning                                                                   |
|-----------------|-----------------------|---------------------------------------------------------------------------|
| m, T            | `n`, `n_estimators`   | examples; rounds                                                          |
| C_t             | `costs`               | cost matrix that round t hands out                                        |
| h_t             | `votes`               | the weak classifier's answers                                             |
| B               | `_blind`              | baseline of a guesser without an edge: the weight of each label           |
| delta_t         | `edge`                | edge of h_t on C_t                                                        |
| alpha_t         | `weight`              | weight of h_t                                                             |
| f_t(i, l)       | `scores`              | weighted votes, eq. (1)                                                   |

Each of these boosters is a pair of the paper's conditions: cost matrices of a certain form, and a baseline B_gamma that
mixes the right answer (gamma) with a blind guess B_0 (1 - gamma), which gives all labels the same weight b: 1/k for
AdaBoost.MM and SAMME (a distribution), 1/2 for AdaBoost.MH and AdaBoost.M1. The largest gamma for which
C . 1_h <= C . B_gamma is then, for all four, one expression:

    edge = 1 - (C . 1_h - C . 1_y) / (C . B_0 - C . 1_y),

which is delta_t of AdaBoost.MM, r_t of AdaBoost.MH and 1 - 2 error of AdaBoost.M1. Weights of
1/2 ln((1 + edge)/(1 - edge)) shrink the booster's loss by sqrt(1 - edge^2) or more in each round, and the loss bounds
the error: the bound falls as the product, from the first loss.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.batch.booster import BatchBooster
from edgewise.batch.inputs import Examples
from edgewise.batch.weak_learners import WeakLearners, votes
from edgewise.theory.cost_matrices import add_votes, first_costs, hamming_step, lead, tally

# Edges below this are rounding errors of a learner that does no better than blind guessing.
NO_EDGE = 1e-12
# A learner with mistakes has an edge below 1, though their cost may be lost in rounding.
LARGEST_EDGE = 1.0 - 2.0**-53


class Outcome(NamedTuple):
    """What a round's votes are worth."""

    edge: float
    k: int
    paid: float  # C . 1_h
    right: float  # C . 1_y
    missed: float  # the part of C . 1_h that wrong votes paid


class AdaptiveBooster(BatchBooster):
    """The loop: costs, a weak learner, its edge, its weight, new costs.

    It ends after `n_estimators` rounds; when a learner has no edge, which is then left out (the first is kept, alone,
    with weight 1 and the bound 1: a model needs one); or when a learner makes no mistake in training, which gets more
    weight than all before it together, where the formula has an infinite one.
    """

    edges_: np.ndarray
    bounds_: np.ndarray
    train_errors_: np.ndarray
    stopped_: str

    def __init__(self, estimator: Any = None, n_estimators: int = 100, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    # -- what a booster adds ---------------------------------------------------------------------------------------

    def _first_costs(self, labels: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
        return first_costs(labels, weights, k, -1.0, 0.0)

    def _blind(self, k: int) -> float:
        """Weight of each label in the baseline without an edge."""
        return 0.5

    def _weight(self, votes: Outcome) -> tuple[float, float]:
        """alpha_t, and the factor by which the bound shrinks with it."""
        return 0.5 * math.log((1.0 + votes.edge) / (1.0 - votes.edge)), math.sqrt(1.0 - votes.edge**2)

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        """Costs of the next round, times `scale`."""
        hamming_step(costs, labels, voted, scale * math.exp(weight), scale * math.exp(-weight))

    def _first_bound(self, k: int) -> float:
        """What bounds the training error before the first round."""
        return 1.0

    # -- the loop --------------------------------------------------------------------------------------------------

    def _boost(self, examples: Examples, learners: WeakLearners, X: Any) -> None:
        labels, weights, k = examples.labels, examples.weights, examples.classes.size
        costs, scores = self._first_costs(labels, weights, k), np.zeros((labels.size, k))
        leaders = np.zeros(labels.size, np.int64)
        fitted: list[Any] = []
        edges: list[float] = []
        alphas: list[float] = []
        errors: list[float] = []
        bounds: list[float] = []
        bound = self._first_bound(k)
        stopped = ""
        while not stopped:
            learner = learners.fit(X, costs)
            voted = votes(learner, X, labels.size, k)
            paid, right, total, missed, n_wrong = tally(costs, labels, voted)
            blind = self._blind(k) * total - right
            edge = 1.0 - (paid - right) / blind
            if n_wrong == 0:
                stopped, edge, bound, weight = "perfect", 1.0, 0.0, sum(alphas) + 1.0
            elif edge > NO_EDGE:
                edge = min(edge, LARGEST_EDGE)
                weight, factor = self._weight(Outcome(edge, k, paid, right, missed))
                bound *= factor
            elif fitted:
                stopped = "edge"
                break
            else:
                stopped, weight, bound = "edge", 1.0, 1.0
            fitted.append(learner)
            edges.append(edge)
            alphas.append(weight)
            bounds.append(bound)
            add_votes(scores, voted, weight)
            lead(scores, voted, leaders)
            errors.append(min(float(weights[leaders != labels].sum()), 1.0))
            if not stopped and len(fitted) == self.n_estimators:
                stopped = "rounds"
            if not stopped:
                # Only ratios of costs matter; a mass of about 1 keeps them in range.
                self._step(costs, labels, voted, weight, 1.0 / blind)
        self.estimators_, self.stopped_ = fitted, stopped
        self.edges_, self.estimator_weights_ = np.array(edges), np.array(alphas)
        self.train_errors_, self.bounds_ = np.array(errors), np.array(bounds)
