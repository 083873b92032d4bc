"""Potentials straight from Jung, Goetz, Tewari 2017: recursion (3), the sum (16) and the cost rows (4), (5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Phi = Callable[[int, int, tuple[int, ...]], float]


def zero_one_loss(label: int, votes: Sequence[int]) -> float:
    """Eq. (2): a tie is an error."""
    return float(max(v for l, v in enumerate(votes) if l != label) >= votes[label])


def baseline(k: int, label: int, edge: float) -> list[float]:
    """u_gamma^label of Section 2.2."""
    return [(1 - edge) / k + (edge if l == label else 0.0) for l in range(k)]


def plus(votes: tuple[int, ...], l: int) -> tuple[int, ...]:
    return votes[:l] + (votes[l] + 1,) + votes[l + 1 :]


def recursion(k: int, edge: float) -> Phi:
    """phi of eq. (3), as phi(m, label, votes)."""
    known: dict[tuple[int, int, tuple[int, ...]], float] = {}

    def phi(m: int, label: int, votes: tuple[int, ...]) -> float:
        if m == 0:
            return zero_one_loss(label, votes)
        if (m, label, votes) not in known:
            chances = baseline(k, label, edge)
            known[m, label, votes] = sum(chances[l] * phi(m - 1, label, plus(votes, l)) for l in range(k))
        return known[m, label, votes]

    return phi


def importance(phi: Phi, m: int, label: int, votes: tuple[int, ...]) -> float:
    """w of Algorithm 1, line 11."""
    return sum(phi(m, label, plus(votes, l)) - phi(m, label, plus(votes, label)) for l in range(len(votes)))


def normalized_costs(phi: Phi, m: int, votes: tuple[int, ...]) -> list[list[float]]:
    """D of eq. (5), row by row."""
    k = len(votes)
    rows = []
    for r in range(k):
        cost = [phi(m, r, plus(votes, l)) - phi(m, r, plus(votes, r)) for l in range(k)]
        weight = sum(cost)
        rows.append([c / weight for c in cost] if weight > 0 else [0.0] * k)
    return rows


def exact_sum(edge: Fraction, m: int, label: int, votes: Sequence[int]) -> Fraction:
    """Eq. (16) in whole numbers: given x draws of the true label, count the words that the other draws can spell.

    A word has m - x letters, and letter l occurs less than x + s(label) - s(l) times in it.
    """
    k = len(votes)
    wrong = (1 - edge) / k
    right = wrong + edge
    wins = Fraction(0)
    for x in range(m + 1):
        words = [1] + [0] * (m - x)
        for l, v in enumerate(votes):
            if l != label:
                cap = x + votes[label] - v
                words = [sum(math.comb(n, j) * words[n - j] for j in range(min(n + 1, cap))) for n in range(m - x + 1)]
        wins += math.comb(m, x) * right**x * wrong ** (m - x) * words[m - x]
    return 1 - wins


def expected_costs(phi: Phi, m: int, votes: tuple[int, ...], chances: Sequence[float]) -> list[float]:
    """sum over r of chances(r) D(r, l), for every l: what a learner with these chances expects a vote for l to cost."""
    rows = normalized_costs(phi, m, votes)
    return [sum(chance * row[l] for chance, row in zip(chances, rows, strict=True)) for l in range(len(votes))]
