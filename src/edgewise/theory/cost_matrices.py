"""Cost matrices that batch boosters hand out: how they start, what votes cost, and how a round changes them.

Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Sections 2 to 4. Row i is an example, column l a
label; rows are scaled by the examples' weights.

| booster          | right label, first   | wrong labels, first | step                                            |
|------------------|----------------------|---------------------|-------------------------------------------------|
| AdaBoost.MM      | -(k - 1)             | 1                   | `pairwise_step`: eq. (7) at the new scores      |
| AdaBoost.MH      | -1                   | 1                   | `hamming_step`: weights D(i, l) with their sign |
| AdaBoost.M1      | -1                   | 0                   | `hamming_step`: weights D(i)                    |
| SAMME            | -1                   | 0                   | `hamming_step`, only rows voted wrong move      |
| optimal strategy | potentials of the states after a vote: `zero_one_costs`, or (6) from (7): `prescribed_costs` |

Eq. (6) and (7) are printed with f_{t-1}(i, j) in the first case: the index is l. Steps multiply, where (7) has an
exponential in each entry: two exponentials a round and not n k, and equal to (7) up to a rounding for each round.

**The potential of the exponential loss** in closed form, for the baseline U_gamma: Section 4, Lemma 1.

| paper               | here                      | meaning                                                          |
|---------------------|---------------------------|------------------------------------------------------------------|
| b_1, b_l            | `right`, `wrong`          | chance that the baseline draws the right label, and another one  |
| gamma, eta, alpha_t | `edge`, `weight`          | edge that is required; weight of a vote                          |
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

from edgewise.kernels.compile import entry_point
from edgewise.theory.potential_tables import Potentials
from edgewise.theory.potentials import RESOLUTION, potential, potential_after

# Entries stay above this, relative to a matrix of mass about 1: an example that fell to 0 could never come back, and
# numbers below it are slow. It takes a lead of 660 in weighted votes.
LEAST = 1e-290


def first_costs(labels: np.ndarray, weights: np.ndarray, k: int, right: float, wrong: float) -> np.ndarray:
    """[n, k]: `right` in the column of the label, `wrong` elsewhere, times the weight of the row."""
    costs = np.full((labels.size, k), wrong)
    costs[np.arange(labels.size), labels] = right
    return costs * weights[:, None]


@entry_point
def leaf_counters(costs, labels, votes):
    """(C . 1_h, C . 1_y, sum of C, what the wrong votes paid, number of wrong votes)."""
    paid, right, total, missed, n_wrong = 0.0, 0.0, 0.0, 0.0, 0
    for i in range(labels.size):
        paid += costs[i, votes[i]]
        right += costs[i, labels[i]]
        row = 0.0
        for l in range(costs.shape[1]):
            row += costs[i, l]
        total += row
        if votes[i] != labels[i]:
            missed += costs[i, votes[i]]
            n_wrong += 1
    return paid, right, total, missed, n_wrong


@entry_point
def pairwise_step(costs, labels, votes, up, down, scale):
    """Eq. (7) after votes of weight alpha, up = e^alpha, down = e^-alpha, all of it times `scale`.

    A wrong label's entry exp(f_l - f_y) grows with a vote for l and shrinks with one for y; the right label's is minus
    the sum of the others.
    """
    for i in range(labels.size):
        y, h = labels[i], votes[i]
        factor = scale * down if h == y else scale
        costs[i, h] *= up  # if h is y, the sum below replaces it
        total = 0.0
        costs[i, y] = 0.0
        for l in range(costs.shape[1]):
            costs[i, l] = max(factor * costs[i, l], LEAST)
            total += costs[i, l]
        costs[i, y] = LEAST - total


@entry_point
def hamming_step(costs, labels, votes, up, down):
    """Entries for which the vote, read as k answers yes or no, is wrong times `up`, the others times `down`.

    A vote h != y is wrong on two labels, h and y.
    """
    for i in range(labels.size):
        y, h = labels[i], votes[i]
        for l in range(costs.shape[1]):
            moved = costs[i, l] * (up if h != y and l in (y, h) else down)
            if abs(moved) > LEAST:
                costs[i, l] = moved


@entry_point
def add_votes(scores, votes, weight):
    """f_t = f_{t-1} + alpha_t 1[h_t = l], eq. (1)."""
    for i in range(votes.size):
        scores[i, votes[i]] += weight


@entry_point
def lead(scores, votes, leaders):
    """The label of the highest score, the lowest of equals, after votes of positive weight: the old one or the vote."""
    for i in range(votes.size):
        h, old = votes[i], leaders[i]
        if scores[i, h] > scores[i, old] or (scores[i, h] == scores[i, old] and h < old):
            leaders[i] = h


@entry_point
def prescribed_costs(pairwise, labels, alpha_up, alpha_down, costs):
    """Eq. (6) from (7): wrong labels times alpha_up = e^alpha - 1, the right one times alpha_down = 1 - e^-alpha."""
    for i in range(labels.size):
        for l in range(costs.shape[1]):
            costs[i, l] = pairwise[i, l] * (alpha_down if l == labels[i] else alpha_up)


@entry_point
def zero_one_costs(
    p: Potentials, m: int, votes: np.ndarray, labels: np.ndarray, weights: np.ndarray, costs: np.ndarray
):
    """C(i, l) = phi_m(s_i + e_l) - phi_m(s_i + e_y): Theorem 5, with m rounds to go after this one."""
    for i in range(labels.size):
        y = labels[i]
        right = potential_after(p, m, y, votes[i], y)
        for l in range(costs.shape[1]):
            more = potential_after(p, m, y, votes[i], l) - right if l != y else 0.0
            # Two potentials that agree differ by rounding.
            costs[i, l] = weights[i] * more if more > RESOLUTION else 0.0


@entry_point
def potential_mass(p: Potentials, m: int, votes: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> float:
    """Weighted sum over examples of phi_m(s_i), with m rounds to go."""
    total = 0.0
    for i in range(labels.size):
        total += weights[i] * potential(p, m, labels[i], votes[i])
    return total


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
