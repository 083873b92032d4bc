"""AdaBoost.MM: Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Section 4, "Adaptive".

| paper                            | here                                                                     |
|----------------------------------|--------------------------------------------------------------------------|
| eq. (7), with index l for its j  | `first_costs`, then `pairwise_step` (`edgewise.theory.cost_matrices`)    |
| U_0 = (1/k, ..., 1/k)            | `_blind`                                                                 |
| delta_t                          | `edges_`                                                                 |
| alpha_t                          | `estimator_weights_`                                                     |
| (k-1) prod sqrt(1 - delta_t^2)   | `bounds_`                                                                |

**Weights that go all the way.** Let R be the loss sum_i sum_{l != y} exp(f_l - f_y) before a round, A the part of it on
examples voted right, and B what wrong votes pay, the sum of exp(f_h - f_y) over them. Votes of weight alpha make of it

    R - A - B + A e^-alpha + B e^alpha,    least at alpha = ln(A/B) / 2, where it is R - (sqrt(A) - sqrt(B))^2.

The paper bounds this by A + B <= R and chooses alpha for A + B = R, given A - B = delta R: ln((1+delta)/(1-delta)) / 2.
A learner of k labels that is often wrong has B far below R - A, since a wrong vote moves one of k - 1 terms; the
minimum then lies at larger weights. It is never above sqrt(1 - delta^2) R, so that the paper's bound holds as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgewise.batch.adaptive import AdaptiveBooster, Outcome
from edgewise.theory.cost_matrices import first_costs, pairwise_step

WEIGHTINGS = ("edge", "loss")


class AdaBoostMM(AdaptiveBooster):
    """AdaBoost.MM: asks of each learner only an edge over random guessing, on cost matrices that tell mistakes apart.

    After `fit`, for each round: `edges_` (delta_t), `estimator_weights_` (alpha_t), `train_errors_`, and beside them
    `bounds_`, which the training error never exceeds, whatever the learner: (k-1) prod sqrt(1 - delta_t^2), or with
    `weighting="loss"` the loss itself, which is no larger. With `sample_weight` all of this speaks of the weighted
    training error. `stopped_` says why the run ended: "rounds", "edge" (the next learner had none) or "perfect" (the
    last learner makes no mistake in training). `estimators_` are the learners.

    Parameters
    ----------
    estimator : learner, optional
        The weak learner; None: `CostTree(max_leaves=32)`. For what others must offer, see
        `edgewise.batch.weak_learners`.
    n_estimators : int
        Rounds at most.
    random_state : int or Generator, optional
        For learners that have one.
    weighting : str
        "edge" for the paper's weights ln((1+delta)/(1-delta)) / 2, "loss" for those at which the exponential loss is
        least (see `edgewise.batch.adaboost_mm`).
    """

    def __init__(
        self, estimator: Any = None, n_estimators: int = 100, random_state: Any = None, *, weighting: str = "edge"
    ) -> None:
        super().__init__(estimator, n_estimators, random_state)
        self.weighting = weighting

    def _check(self) -> None:
        super()._check()
        if self.weighting not in WEIGHTINGS:
            raise ValueError(f"weighting={self.weighting!r}: one of {', '.join(WEIGHTINGS)} is needed")

    def _first_costs(self, labels: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
        return first_costs(labels, weights, k, 1.0 - k, 1.0)

    def _blind(self, k: int) -> float:
        return 1.0 / k

    def _weight(self, votes: Outcome) -> tuple[float, float]:
        if self.weighting == "edge":
            return super()._weight(votes)
        wrong, right = votes.missed, votes.missed - votes.paid
        return 0.5 * math.log(right / wrong), 1.0 + (math.sqrt(right) - math.sqrt(wrong)) ** 2 / votes.right

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        pairwise_step(costs, labels, voted, math.exp(weight), math.exp(-weight), scale)

    def _first_bound(self, k: int) -> float:
        return k - 1.0
