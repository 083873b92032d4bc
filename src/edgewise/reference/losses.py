"""Surrogate losses of AdaBoost.OLM, each formula typed in on its own from Jung, Goetz and Tewari 2017.

| paper | here |
|---|---|
| L^r(s), (8), (36), (39) | `value` |
| C(r, l), (9), (37), (40) | `cost_matrix` |
| f'(alpha), (10) with its sign corrected, (38), (41) | `derivative` |
| eta_t^i | `step_size` |
| F = [-c, c] | `feasible` gives c |

The softmax loss -log softmax(s)_r is not in the paper: its cost row softmax(s) - e_r is its gradient, its step that of
F = [-2, 2] and gradients of at most 1 in each learner weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

LOSSES = ("logistic", "exponential", "square_hinge")
SOFTMAX = "softmax"


def softmax(scores: Sequence[float]) -> list[float]:
    e = [math.exp(s - max(scores)) for s in scores]
    return [x / sum(e) for x in e]


def value(loss: str, scores: Sequence[float], label: int) -> float:
    """L^r(s) with r = label."""
    if loss == SOFTMAX:
        return math.log(sum(math.exp(s - scores[label]) for s in scores))
    total = 0.0
    for l in range(len(scores)):
        if l == label:
            continue
        gap = scores[l] - scores[label]
        if loss == "logistic":
            total += math.log(1.0 + math.exp(gap))
        elif loss == "exponential":
            total += math.exp(gap)
        else:
            total += 0.5 * max(0.0, gap + 1.0) ** 2
    return total


def cost_matrix(loss: str, scores: Sequence[float]) -> list[list[float]]:
    """C(r, l) for every true label r and vote l."""
    k = len(scores)
    if loss == SOFTMAX:
        shares = softmax(scores)
        return [[shares[l] - (1.0 if l == r else 0.0) for l in range(k)] for r in range(k)]
    matrix = [[0.0] * k for _ in range(k)]
    for r in range(k):
        for l in range(k):
            if l == r:
                continue
            if loss == "logistic":
                matrix[r][l] = 1.0 / (1.0 + math.exp(scores[r] - scores[l]))
            elif loss == "exponential":
                matrix[r][l] = math.exp(scores[l] - scores[r])
            else:
                matrix[r][l] = max(0.0, scores[l] - scores[r] + 1.0)
        matrix[r][r] = -sum(matrix[r][j] for j in range(k) if j != r)
    return matrix


def derivative(loss: str, scores: Sequence[float], label: int, vote: int, alpha: float) -> float:
    """f'(alpha) of f(alpha) = L^label(scores + alpha e_vote)."""
    if loss == SOFTMAX:
        return derivative_along(loss, scores, label, [1.0 if l == vote else 0.0 for l in range(len(scores))], alpha)
    s, y = scores, label
    others = [j for j in range(len(s)) if j != y]
    if vote != y:
        if loss == "logistic":
            return 1.0 / (1.0 + math.exp(s[y] - s[vote] - alpha))
        if loss == "exponential":
            return math.exp(s[vote] + alpha - s[y])
        return max(0.0, s[vote] + alpha - s[y] + 1.0)
    if loss == "logistic":
        return -sum(1.0 / (1.0 + math.exp(s[y] + alpha - s[j])) for j in others)
    if loss == "exponential":
        return -sum(math.exp(s[j] - alpha - s[y]) for j in others)
    return -sum(max(0.0, s[j] - alpha - s[y] + 1.0) for j in others)


def derivative_along(loss: str, scores: Sequence[float], label: int, h: Sequence[float], alpha: float) -> float:
    """f'(alpha) of f(alpha) = L^label(scores + alpha h): the gradient there, which is the cost row, along h."""
    row = cost_matrix(loss, [s + alpha * x for s, x in zip(scores, h, strict=True)])[label]
    return sum(cost * x for cost, x in zip(row, h, strict=True))


def importance(loss: str, scores: Sequence[float], label: int) -> float:
    """w: minus the cost of the right vote; the paper's losses divide it by k - 1."""
    w = -cost_matrix(loss, scores)[label][label]
    return w if loss == SOFTMAX else w / (len(scores) - 1)


def feasible(loss: str, n_learners: int) -> float:
    """Half the width of F: 2, or c = 1/sqrt(N) of Theorem 13."""
    return 1.0 / math.sqrt(n_learners) if loss == "square_hinge" else 2.0


def step_size(loss: str, k: int, n_learners: int, i: int, t: int) -> float:
    """eta_t^i of learner i = 1..N at round t = 1, 2, ..."""
    if loss == SOFTMAX:
        return 2.0 * math.sqrt(2.0) / math.sqrt(t)
    if loss == "logistic":
        return 2.0 * math.sqrt(2.0) / ((k - 1) * math.sqrt(t))
    if loss == "exponential":
        return 2.0 * math.sqrt(2.0) / ((k - 1) * math.sqrt(t)) * math.exp(-i)
    c = 1.0 / math.sqrt(n_learners)
    return math.sqrt(2.0) * c / ((k - 1 + c * n_learners) * math.sqrt(t))
