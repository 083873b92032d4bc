"""AdaBoost.MM: Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Section 4, "Adaptive".

| paper                            | here                                                                     |
|----------------------------------|--------------------------------------------------------------------------|
| eq. (7), with index l for its j  | `first_costs`, then `pairwise_step` (`edgewise.theory.cost_matrices`)    |
| U_0 = (1/k, ..., 1/k)            | `_blind`                                                                 |
| delta_t                          | `edges_`                                                                 |
| alpha_t                          | `estimator_weights_`                                                     |
| (k-1) prod sqrt(1 - delta_t^2)   | `bounds_`                                                                |
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.batch.adaptive import AdaptiveBooster
from edgewise.theory.cost_matrices import first_costs, pairwise_step


class AdaBoostMM(AdaptiveBooster):
    """AdaBoost.MM: asks of each learner only an edge over random guessing, on cost matrices that tell mistakes apart.

    Parameters: `estimator`, the weak learner (default: `CostTree()`; see `edgewise.batch.weak_learners` for what others
    must offer); `n_estimators`, rounds at most; `random_state`, for learners that have one.

    After `fit`, for each round: `edges_` (delta_t), `estimator_weights_` (alpha_t), `train_errors_`, and beside them
    `bounds_`, (k-1) prod sqrt(1 - delta_t^2), which the training error never exceeds, whatever the learner. With
    `sample_weight` both speak of the weighted training error. `stopped_` says why the run ended: "rounds", "edge" (the
    next learner had none) or "perfect" (the last learner makes no mistake in training). `estimators_` are the learners.
    """

    def _first_costs(self, labels: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
        return first_costs(labels, weights, k, 1.0 - k, 1.0)

    def _blind(self, k: int) -> float:
        return 1.0 / k

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        pairwise_step(costs, labels, voted, math.exp(weight), math.exp(-weight), scale)

    def _first_bound(self, k: int) -> float:
        return k - 1.0
