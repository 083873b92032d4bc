"""Measures of a ranking of one row, from their definitions: Y and scores are lists, one entry per label."""

from __future__ import annotations

import math


def pairs(Y: list[int], s: list[float]) -> list[float]:
    """s_r - s_l of every relevant l and irrelevant r."""
    return [s[r] - s[l] for l in range(len(Y)) if Y[l] for r in range(len(Y)) if not Y[r]]


def mean_over_pairs(gaps: list[float], loss) -> float:
    return sum(loss(gap) for gap in gaps) / len(gaps) if gaps else 0.0


def rank_loss(Y: list[int], s: list[float]) -> float:
    return mean_over_pairs(pairs(Y, s), lambda gap: 1.0 if gap > 0 else 0.5 if gap == 0 else 0.0)


def hinge_loss(Y: list[int], s: list[float]) -> float:
    return mean_over_pairs(pairs(Y, s), lambda gap: max(0.0, 1.0 + gap))


def logistic_loss(Y: list[int], s: list[float]) -> float:
    return mean_over_pairs(pairs(Y, s), lambda gap: math.log(1.0 + math.exp(gap)))


def one_error(Y: list[int], s: list[float]) -> float:
    if not pairs(Y, s):
        return 0.0
    best = 0
    for l in range(len(s)):
        if s[l] > s[best]:
            best = l
    return 0.0 if Y[best] else 1.0


def coverage(Y: list[int], s: list[float]) -> float:
    """The worst place of a relevant label, places from 1, a label being placed after all of the same score."""
    places = [sum(1 for other in s if other >= s[l]) for l in range(len(s)) if Y[l]]
    return float(max(places, default=0))


def average_precision(Y: list[int], s: list[float]) -> float:
    if not pairs(Y, s):
        return 1.0
    shares = []
    for l in range(len(s)):
        if Y[l]:
            above = [r for r in range(len(s)) if s[r] >= s[l]]
            shares.append(sum(Y[r] for r in above) / len(above))
    return sum(shares) / len(shares)
