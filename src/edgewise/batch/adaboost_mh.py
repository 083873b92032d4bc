"""AdaBoost.MH: Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions" (ML 37, 1999)."""

from __future__ import annotations

import numpy as np

from edgewise.batch.adaptive import AdaptiveBooster
from edgewise.theory.cost_matrices import first_costs


class AdaBoostMH(AdaptiveBooster):
    """AdaBoost.MH over weak classifiers that name one label, read as k answers: yes for it, no for the others.

    D(i, l) weighs the question whether example i has label l. As a cost matrix it has -D(i, y) for the right label and
    D(i, l) for a wrong one. `edges_` are r_t = 1 - 2 (weighted Hamming error).

    `bounds_` are k/2 times the product of sqrt(1 - r_t^2): the product bounds the mean over examples and labels of
    exp(-Y F), and where the highest score is not the label's, F_l >= F_y, two of the k terms are together at least
    exp(F_l) + exp(-F_y) >= 2. Parameters and attributes are those of `AdaBoostMM`.
    """

    def _first_costs(self, labels: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
        return first_costs(labels, weights, k, -1.0, 1.0)

    def _first_bound(self, k: int) -> float:
        return 0.5 * k

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Each label's answer yes has the odds exp(2 F_l), F_l its votes less those for other labels; then shares."""
        answers = 2.0 * scores - self.estimator_weights_.sum()
        yes = 1.0 / (1.0 + np.exp(np.clip(-2.0 * answers, None, 700.0)))
        return yes / yes.sum(axis=1, keepdims=True)
