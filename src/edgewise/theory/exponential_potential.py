"""The potential of the exponential loss in closed form, for the baseline U_gamma.

Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Section 4: Lemma 1 and what follows from it.

| paper               | here                      | meaning                                                          |
|---------------------|---------------------------|------------------------------------------------------------------|
| b_1, b_l            | `right`, `wrong`          | chance that the baseline draws the right label, and another one  |
| gamma, eta, alpha_t | `edge`, `weight`          | edge that is asked for; weight of a vote                         |
| a_l                 | `growth`                  | what one round of the baseline makes of exp(eta (s_l - s_1))     |
| kappa(gamma, eta)   | `kappa`                   | the same for U_gamma                                             |
| phi_t(s)            | `exponential_potential`   | Lemma 1                                                          |

kappa(gamma, alpha) = 1 + (1 - gamma)/k (e^alpha + e^-alpha - 2) - gamma (1 - e^-alpha) is least where
(1 - gamma)/k (e^alpha - e^-alpha) = gamma e^-alpha, that is at alpha = ln(1 + gamma k / (1 - gamma)) / 2, which is
`best_weight`. The paper leaves the weights open.
"""

from __future__ import annotations

import math

import numpy as np


def growth(right: float, wrong: float, weight: float) -> float:
    """a_l of Lemma 1: the expected factor on exp(weight (s_l - s_1)) in a round."""
    return 1.0 - (right + wrong) + math.exp(weight) * wrong + math.exp(-weight) * right


def kappa(k: int, edge: float, weight: float) -> float:
    """kappa(gamma, alpha): a_l for the baseline U_gamma of k labels."""
    wrong = (1.0 - edge) / k
    return growth(wrong + edge, wrong, weight)


def best_weight(k: int, edge: float) -> float:
    """The weight for which kappa is least."""
    return 0.5 * math.log1p(edge * k / (1.0 - edge))


def exponential_potential(k: int, edge: float, weight: float, to_go: int, scores: np.ndarray, label: int) -> float:
    """phi_t(s) of Lemma 1 for U_gamma: expected loss after `to_go` more votes; `scores` count the votes so far."""
    ratios = np.exp(weight * (np.asarray(scores, dtype=np.float64) - scores[label]))
    return kappa(k, edge, weight) ** to_go * float(ratios.sum() - 1.0)
