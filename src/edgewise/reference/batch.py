"""Batch boosting: the algorithms of Mukherjee and Schapire, *A theory of multiclass boosting*, NIPS 2010, and what they
are compared with. Every score and every exponential is taken anew in each round.

| paper | here |
|---|---|
| m, k, T | `len(y)`, `k`, `rounds` |
| f_t(i, l), s_t(i) | `f`, `s` |
| C_t | `costs` |
| delta_t, alpha_t, Section 4 | `edge` and `weight` of a `BatchRound` |
| phi_t^b, (4) | `minimax_potential`; by Theorem 5 it is `online_mbbm.potential` |
| the OS strategy, Theorems 4 and 5 | `optimal_strategy` |
| the adaptive algorithm: costs (7) | `adaboost_mm` |
| Freund and Schapire, *Experiments with a new boosting algorithm*, 1996, Figure 1 | `adaboost_m1` |
| Schapire and Singer, *Improved boosting algorithms*, 1999, Figure 3 | `adaboost_mh` |
| Zhu, Zou, Rosset and Hastie, *Multi-class AdaBoost*, 2009, Algorithm 2 | `samme` |

`weak_learner(costs)` stands for the weak learner: it answers a matrix of costs with a label for each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from edgewise.reference.learner import argmax
from edgewise.reference.online_mbbm import Phi, State, add_vote

Costs = list[list[float]]
WeakLearner = Callable[[Costs], list[int]]


class BatchRound(NamedTuple):
    """One round: the learner's edge, the weight of its votes, the training error after it, what the theory allows for
    the training loss, and the votes.
    """

    edge: float
    weight: float
    error: float
    bound: float
    votes: list[int]


Run = tuple[list[BatchRound], bool]


def training_error(f: Sequence[Sequence[float]], y: Sequence[int], w: Sequence[float]) -> float:
    """Weighted share of the rows whose label is not the first of the highest scores."""
    return sum(wi for fi, yi, wi in zip(f, y, w, strict=True) if argmax(fi) != yi) / sum(w)


def adaboost_mm(
    y: Sequence[int],
    k: int,
    w: Sequence[float],
    weak_learner: WeakLearner,
    rounds: int,
    by_loss: bool = False,
) -> Run:
    """AdaBoost.MM, the adaptive algorithm of Section 4: the training error is at most (k-1) prod sqrt(1 - delta_t^2).

    Parameters
    ----------
    y : sequence of int
        Labels.
    k : int
        Number of labels.
    w : sequence of float
        Weights of the rows.
    weak_learner : callable
        Answers a matrix of costs with a label for each row.
    rounds : int
        T.
    by_loss : bool
        Search the weight for which the exponential loss is least; the loss is then the bound.

    Returns
    -------
    list of BatchRound, bool
        The rounds, and whether they ended with a learner without errors.
    """
    n = len(y)
    f = [[0.0] * k for _ in y]
    bound = k - 1.0
    played: list[BatchRound] = []
    for _ in range(rounds):
        costs = [[w[i] * math.exp(f[i][l] - f[i][y[i]]) for l in range(k)] for i in range(n)]  # (7)
        for i in range(n):
            costs[i][y[i]] = -sum(costs[i][l] for l in range(k) if l != y[i])
        h = weak_learner(costs)
        delta = sum(costs[i][h[i]] for i in range(n)) / sum(costs[i][y[i]] for i in range(n))
        if h == y or delta < 1e-12:
            return played, h == y
        alpha = 0.5 * math.log((1 + delta) / (1 - delta))
        bound *= math.sqrt(1 - delta**2)
        if by_loss:
            low, high = 0.0, 50.0
            for _ in range(100):
                alpha = (low + high) / 2
                low, high = (alpha, high) if loss_slope(f, y, w, h, alpha) < 0 else (low, alpha)
        for i in range(n):
            f[i][h[i]] += alpha
        if by_loss:
            bound = mean_exponential_loss(f, y, w)
        played.append(BatchRound(delta, alpha, training_error(f, y, w), bound, h))
    return played, False


def mean_exponential_loss(f: Sequence[Sequence[float]], y: Sequence[int], w: Sequence[float]) -> float:
    """Weighted mean over rows of sum_{l != y} exp(f_l - f_y)."""
    return sum(wi * (sum(math.exp(v - fi[yi]) for v in fi) - 1) for fi, yi, wi in zip(f, y, w, strict=True)) / sum(w)


def loss_slope(
    f: Sequence[Sequence[float]], y: Sequence[int], w: Sequence[float], h: Sequence[int], alpha: float
) -> float:
    """Derivative of the exponential loss in the weight alpha of the votes h."""
    total = 0.0
    for fi, yi, wi, hi in zip(f, y, w, h, strict=True):
        if hi == yi:
            total -= wi * sum(math.exp(v - fi[yi] - alpha) for l, v in enumerate(fi) if l != yi)
        else:
            total += wi * math.exp(fi[hi] + alpha - fi[yi])
    return total


def adaboost_m1(y: Sequence[int], k: int, w: Sequence[float], weak_learner: WeakLearner, rounds: int) -> Run:
    """AdaBoost.M1, with beta = error/(1 - error) and votes of log(1/beta)/2.

    Parameters are those of `adaboost_mm`.

    Returns
    -------
    list of BatchRound, bool
        As `adaboost_mm`.
    """
    n = len(y)
    D = [wi / sum(w) for wi in w]
    f = [[0.0] * k for _ in y]
    bound = 1.0
    played: list[BatchRound] = []
    for _ in range(rounds):
        h = weak_learner([[0.0 if l == y[i] else D[i] for l in range(k)] for i in range(n)])
        eps = sum(D[i] for i in range(n) if h[i] != y[i])
        if eps > 0.5 - 1e-12 or eps == 0:
            return played, eps == 0
        beta = eps / (1 - eps)
        alpha = 0.5 * math.log(1 / beta)
        D = [D[i] * (beta if h[i] == y[i] else 1.0) for i in range(n)]
        D = [d / sum(D) for d in D]
        for i in range(n):
            f[i][h[i]] += alpha
        bound *= 2 * math.sqrt(eps * (1 - eps))
        played.append(BatchRound(1 - 2 * eps, alpha, training_error(f, y, w), bound, h))
    return played, False


def adaboost_mh(y: Sequence[int], k: int, w: Sequence[float], weak_learner: WeakLearner, rounds: int) -> Run:
    """AdaBoost.MH over binary answers h(x, l) = +1 for the label of the vote, else -1.

    Parameters are those of `adaboost_mm`.

    Returns
    -------
    list of BatchRound, bool
        As `adaboost_mm`.
    """
    n = len(y)
    Y = [[1 if l == y[i] else -1 for l in range(k)] for i in range(n)]
    D = [[w[i] / sum(w) / k for _ in range(k)] for i in range(n)]
    f = [[0.0] * k for _ in y]
    bound = k / 2
    played: list[BatchRound] = []
    for _ in range(rounds):
        # A vote for l costs the weight of the binary questions that it answers wrongly.
        costs = [
            [sum(D[i][q] for q in range(k) if (1 if q == l else -1) != Y[i][q]) for l in range(k)] for i in range(n)
        ]
        h = weak_learner(costs)
        answers = [[1 if l == h[i] else -1 for l in range(k)] for i in range(n)]
        r = sum(D[i][l] * Y[i][l] * answers[i][l] for i in range(n) for l in range(k))
        if h == y or r < 1e-12:
            return played, h == y
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        D = [[D[i][l] * math.exp(-alpha * Y[i][l] * answers[i][l]) for l in range(k)] for i in range(n)]
        Z = sum(map(sum, D))
        D = [[d / Z for d in row] for row in D]
        for i in range(n):
            f[i][h[i]] += alpha
        bound *= Z
        played.append(BatchRound(r, alpha, training_error(f, y, w), bound, h))
    return played, False


def samme(y: Sequence[int], k: int, w: Sequence[float], weak_learner: WeakLearner, rounds: int) -> Run:
    """SAMME, which has no bound.

    Parameters are those of `adaboost_mm`.

    Returns
    -------
    list of BatchRound, bool
        As `adaboost_mm`.
    """
    n = len(y)
    D = [wi / sum(w) for wi in w]
    f = [[0.0] * k for _ in y]
    played: list[BatchRound] = []
    for _ in range(rounds):
        h = weak_learner([[0.0 if l == y[i] else D[i] for l in range(k)] for i in range(n)])
        eps = sum(D[i] for i in range(n) if h[i] != y[i])
        if eps > 1 - 1 / k - 1e-12 or eps == 0:
            return played, eps == 0
        alpha = math.log((1 - eps) / eps) + math.log(k - 1)
        D = [D[i] * (math.exp(alpha) if h[i] != y[i] else 1.0) for i in range(n)]
        D = [d / sum(D) for d in D]
        for i in range(n):
            f[i][h[i]] += alpha
        played.append(BatchRound(1 - eps * k / (k - 1), alpha, training_error(f, y, w), math.inf, h))
    return played, False


# The optimal strategy for a known edge


def optimal_strategy(
    y: Sequence[int], k: int, w: Sequence[float], weak_learner: WeakLearner, rounds: int, phi: Phi
) -> list[BatchRound]:
    """The OS strategy: costs are potentials of the states after each vote, c(i, l) = phi_{T-t-1}(s_t(i) + e_l).

    It ends early when no vote can matter any more. The bound of a round is the average potential, which by Theorem 4
    never rises in a round in which the learner has the edge.

    Parameters
    ----------
    y, k, w, weak_learner, rounds
        As in `adaboost_mm`.
    phi : callable
        phi(m, label, votes): `zero_one_potential(k, edge)`, or that of another loss.

    Returns
    -------
    list of BatchRound
    """
    n = len(y)
    w = [wi / sum(w) for wi in w]
    s: list[State] = [(0,) * k for _ in y]
    played: list[BatchRound] = []
    for t in range(rounds):
        to_go = rounds - t - 1
        costs = []
        for i in range(n):
            # A number that is added to a row changes nothing: the right label costs 0.
            right = phi(to_go, y[i], add_vote(s[i], y[i]))
            costs.append([w[i] * float(phi(to_go, y[i], add_vote(s[i], l)) - right) for l in range(k)])
        if played and not any(map(any, costs)):
            break
        h = weak_learner(costs)
        guessing = sum(map(sum, costs)) / k
        edge = 1.0 - sum(costs[i][h[i]] for i in range(n)) / guessing if guessing > 0.0 else 1.0
        s = [add_vote(s[i], h[i]) for i in range(n)]
        potential = sum(w[i] * float(phi(to_go, y[i], s[i])) for i in range(n))
        played.append(BatchRound(edge, 1.0, training_error(s, y, w), potential, h))
    return played


def exponential_loss(label: int, s: Sequence[float], eta: float) -> float:
    """The loss of Lemma 1 with eta for all labels."""
    return sum(math.exp(eta * (v - s[label])) for l, v in enumerate(s) if l != label)


def minimax_potential(
    loss: Callable[[State], float],
    baseline: Sequence[float],
    cone_minimum: Callable[[list[float], Sequence[float]], float],
) -> Callable[[int, State], float]:
    """phi of (4), as phi(t, s): `cone_minimum(values, b)` solves its minimum over c of a maximum over p."""
    known: dict[tuple[int, State], float] = {}

    def phi(t: int, s: State) -> float:
        if t == 0:
            return loss(s)
        if (t, s) not in known:
            known[t, s] = cone_minimum([phi(t - 1, add_vote(s, l)) for l in range(len(s))], baseline)
        return known[t, s]

    return phi
