"""SAMME: Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost" (Statistics and Its Interface 2, 2009)."""

from __future__ import annotations

import math

import numpy as np

from edgewise.batch.adaptive import AdaptiveBooster, Outcome
from edgewise.batch.booster import softmax
from edgewise.theory.cost_matrices import hamming_step


class SAMME(AdaptiveBooster):
    """SAMME: asks of each learner a weighted error below 1 - 1/k.

    The condition is too weak to drive the training error down (Mukherjee and Schapire 2010, Section 3), so there is no
    bound: `bounds_` are infinite. `edges_` are 1 - error k/(k - 1). Parameters and attributes are those of
    `AdaBoostMM`.
    """

    def _blind(self, k: int) -> float:
        return 1.0 / k

    def _weight(self, votes: Outcome) -> tuple[float, float]:
        error = (1.0 - votes.edge) * (votes.k - 1.0) / votes.k
        return math.log((1.0 - error) / error) + math.log(votes.k - 1.0), 1.0

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        hamming_step(costs, labels, voted, scale * math.exp(weight), scale)

    def _first_bound(self, k: int) -> float:
        return math.inf

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Zhu et al., Section 2.3: log p is the votes up to a constant."""
        return softmax(scores)
