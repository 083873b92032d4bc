"""Losses and measures of one ranking, from their definitions.

The losses are those of Jung and Tewari, *Online boosting algorithms for multi-label ranking*, AISTATS 2018. A ranking
is the scores `s` of all labels, and `Y` are the relevant ones. Losses are 0 where there is no pair of a relevant and an
irrelevant label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from edgewise.reference.learner import argmax

Scores = Sequence[float]
Labels = Collection[int]


def gaps(s: Scores, Y: Labels) -> list[float]:
    """s[r] - s[l] of every relevant l and irrelevant r."""
    return [s[r] - s[l] for l in range(len(s)) if l in Y for r in range(len(s)) if r not in Y]


def mean_over_pairs(s: Scores, Y: Labels, loss: Callable[[float], float]) -> float:
    """w_Y times the sum over pairs; 0 without pairs."""
    return sum(loss(gap) for gap in gaps(s, Y)) / len(gaps(s, Y)) if gaps(s, Y) else 0.0


def rank_loss(s: Scores, Y: Labels) -> float:
    """L_rnk^Y: the share of pairs that are ranked wrongly; a tie is half wrong."""
    return mean_over_pairs(s, Y, lambda gap: 1.0 if gap > 0 else 0.5 if gap == 0 else 0.0)


def hinge_loss(s: Scores, Y: Labels) -> float:
    """L_hinge^Y."""
    return mean_over_pairs(s, Y, lambda gap: max(0.0, 1.0 + gap))


def logistic_loss(s: Scores, Y: Labels) -> float:
    """L_log^Y."""
    return mean_over_pairs(s, Y, lambda gap: math.log(1.0 + math.exp(gap)))


def logistic_costs(s: Scores, Y: Labels) -> list[float]:
    """The gradient (8) of the logistic loss."""
    k = len(s)
    c = [0.0] * k
    for l in range(k):
        for r in range(k):
            if l in Y and r not in Y:
                slope = 1.0 / (1.0 + math.exp(s[l] - s[r])) / len(gaps(s, Y))
                c[l] -= slope
                c[r] += slope
    return c


LOSSES = {"rank": rank_loss, "hinge": hinge_loss, "logistic": logistic_loss}


def one_error(s: Scores, Y: Labels) -> float:
    """Whether the first label is irrelevant."""
    return float(argmax(s) not in Y) if gaps(s, Y) else 0.0


def coverage(s: Scores, Y: Labels) -> float:
    """The worst place of a relevant label, places from 1, a label being placed after all of the same score."""
    return float(max((sum(1 for other in s if other >= s[l]) for l in range(len(s)) if l in Y), default=0))


def average_precision(s: Scores, Y: Labels) -> float:
    """Mean over relevant labels of the share of relevant ones among those of at least its score; 1 without pairs."""
    if not gaps(s, Y):
        return 1.0
    shares = []
    for l in range(len(s)):
        if l in Y:
            above = [r for r in range(len(s)) if s[r] >= s[l]]
            shares.append(sum(r in Y for r in above) / len(above))
    return sum(shares) / len(shares)
