"""Batch boosters straight from their papers: dictionaries and loops, every score and every exponential taken anew.

`learn(costs)` stands for the weak learner: it answers with a label for each row.
"""

from __future__ import annotations

import math


def plurality(scores):
    """The label of the highest score, the lowest of equals."""
    return max(range(len(scores)), key=lambda l: (scores[l], -l))


def error(f, y, w):
    return sum(wi for fi, yi, wi in zip(f, y, w, strict=True) if plurality(fi) != yi) / sum(w)


def adaboost_mm(y, k, w, learn, rounds, by_loss=False):
    """Mukherjee and Schapire 2010, Section 4: costs (7), delta_t, alpha_t, (k-1) prod sqrt(1 - delta_t^2).

    With `by_loss`, alpha is found by search where the exponential loss is least, which is then the bound.
    """
    n = len(y)
    f = [[0.0] * k for _ in y]
    bound, told = k - 1.0, []
    for _ in range(rounds):
        costs = [[w[i] * math.exp(f[i][l] - f[i][y[i]]) for l in range(k)] for i in range(n)]
        for i in range(n):
            costs[i][y[i]] = -sum(costs[i][l] for l in range(k) if l != y[i])
        h = learn(costs)
        delta = sum(costs[i][h[i]] for i in range(n)) / sum(costs[i][y[i]] for i in range(n))
        if h == y or delta < 1e-12:
            return told, h == y
        alpha = 0.5 * math.log((1 + delta) / (1 - delta))
        bound *= math.sqrt(1 - delta**2)
        if by_loss:
            low, high = 0.0, 50.0
            for _ in range(100):
                alpha = (low + high) / 2
                low, high = (alpha, high) if slope(f, y, w, h, alpha) < 0 else (low, alpha)
        for i in range(n):
            f[i][h[i]] += alpha
        if by_loss:
            bound = mean_loss(f, y, w)
        told.append((delta, alpha, error(f, y, w), bound, h))
    return told, False


def mean_loss(f, y, w):
    """Weighted mean over examples of sum_{l != y} exp(f_l - f_y)."""
    return sum(wi * (sum(math.exp(v - fi[yi]) for v in fi) - 1) for fi, yi, wi in zip(f, y, w, strict=True)) / sum(w)


def slope(f, y, w, h, alpha):
    """Derivative of the loss in the weight of the votes h."""
    total = 0.0
    for fi, yi, wi, hi in zip(f, y, w, h, strict=True):
        if hi == yi:
            total -= wi * sum(math.exp(v - fi[yi] - alpha) for l, v in enumerate(fi) if l != yi)
        else:
            total += wi * math.exp(fi[hi] + alpha - fi[yi])
    return total


def adaboost_m1(y, k, w, learn, rounds):
    """Freund and Schapire 1996, Figure 1, with beta = error / (1 - error) and votes of log(1 / beta) / 2."""
    n = len(y)
    D = [wi / sum(w) for wi in w]
    f = [[0.0] * k for _ in y]
    bound, told = 1.0, []
    for _ in range(rounds):
        h = learn([[0.0 if l == y[i] else D[i] for l in range(k)] for i in range(n)])
        eps = sum(D[i] for i in range(n) if h[i] != y[i])
        if eps > 0.5 - 1e-12 or eps == 0:
            return told, eps == 0
        beta = eps / (1 - eps)
        D = [D[i] * (beta if h[i] == y[i] else 1.0) for i in range(n)]
        D = [d / sum(D) for d in D]
        for i in range(n):
            f[i][h[i]] += 0.5 * math.log(1 / beta)
        bound *= 2 * math.sqrt(eps * (1 - eps))
        told.append((1 - 2 * eps, 0.5 * math.log(1 / beta), error(f, y, w), bound, h))
    return told, False


def adaboost_mh(y, k, w, learn, rounds):
    """Schapire and Singer 1999, Figure 3, over binary answers h(x, l) = +1 if l is named, else -1."""
    n = len(y)
    Y = [[1 if l == y[i] else -1 for l in range(k)] for i in range(n)]
    D = [[w[i] / sum(w) / k for _ in range(k)] for i in range(n)]
    f = [[0.0] * k for _ in y]
    bound, told = k / 2, []
    for _ in range(rounds):
        # what naming label l costs: the weight of the questions that it answers wrongly
        costs = [
            [sum(D[i][q] for q in range(k) if (1 if q == l else -1) != Y[i][q]) for l in range(k)] for i in range(n)
        ]
        h = learn(costs)
        answers = [[1 if l == h[i] else -1 for l in range(k)] for i in range(n)]
        r = sum(D[i][l] * Y[i][l] * answers[i][l] for i in range(n) for l in range(k))
        if h == y or r < 1e-12:
            return told, h == y
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        D = [[D[i][l] * math.exp(-alpha * Y[i][l] * answers[i][l]) for l in range(k)] for i in range(n)]
        Z = sum(map(sum, D))
        D = [[d / Z for d in row] for row in D]
        for i in range(n):
            f[i][h[i]] += alpha
        bound *= Z
        told.append((r, alpha, error(f, y, w), bound, h))
    return told, False


def samme(y, k, w, learn, rounds):
    """Zhu et al. 2009, Algorithm 2."""
    n = len(y)
    D = [wi / sum(w) for wi in w]
    f = [[0.0] * k for _ in y]
    told = []
    for _ in range(rounds):
        h = learn([[0.0 if l == y[i] else D[i] for l in range(k)] for i in range(n)])
        eps = sum(D[i] for i in range(n) if h[i] != y[i])
        if eps > 1 - 1 / k - 1e-12 or eps == 0:
            return told, eps == 0
        alpha = math.log((1 - eps) / eps) + math.log(k - 1)
        D = [D[i] * (math.exp(alpha) if h[i] != y[i] else 1.0) for i in range(n)]
        D = [d / sum(D) for d in D]
        for i in range(n):
            f[i][h[i]] += alpha
        told.append((1 - eps * k / (k - 1), alpha, error(f, y, w), math.inf, h))
    return told, False


def recurrence(loss, baseline, cone_minimum):
    """phi of eq. (4), as phi(t, s): `cone_minimum(values, b)` solves its minimum over c of a maximum over p."""
    known = {}

    def phi(t, s):
        if t == 0:
            return loss(s)
        if (t, s) not in known:
            after = [phi(t - 1, s[:l] + (s[l] + 1,) + s[l + 1 :]) for l in range(len(s))]
            known[t, s] = cone_minimum(after, baseline)
        return known[t, s]

    return phi


def zero_one(s):
    """Label 1 of the paper, the first here, must be ahead of all others."""
    return float(s[0] <= max(s[1:]))


def exponential(s, eta):
    return sum(math.exp(eta * (other - s[0])) for other in s[1:])
