"""Weak-learning conditions of Mukherjee and Schapire, *A theory of multiclass boosting*, NIPS 2010.

| paper | here |
|---|---|
| B of a condition (C, B), Sections 2 and 3 | `condition_baseline`, row by row |
| C of a condition | `in_cone` |
| 1_h | `indicator` |
| B_gamma^eor, Section 3 | convex hulls of `edge_over_random_corners` |
| the margin of boostability | `margin` |

A condition is named "edge over random" (with U_gamma), "SAMME", "AdaBoost.MH", "AdaBoost.M1" or "AdaBoost.MR". It holds
if every cost matrix C of the cone has a hypothesis h with C . (1_h - B) <= 0, (2).
"""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np


def condition_baseline(name: str, k: int, y: int, edge: float) -> np.ndarray:
    """The row of B for an example with label y."""
    right, wrong = {
        "edge over random": ((1 - edge) / k + edge, (1 - edge) / k),
        "SAMME": ((1 - edge) / k + edge, (1 - edge) / k),
        "AdaBoost.MH": (0.5 + edge / 2, 0.5 - edge / 2),
        "AdaBoost.M1": (0.5 + edge / 2, (0.5 - edge / 2) / (k - 1)),
        "AdaBoost.MR": (edge, -edge),
    }[name]
    row = np.full(k, wrong)
    row[y] = right
    return row


def in_cone(name: str, costs: np.ndarray, labels: np.ndarray, tolerance: float = 1e-9) -> bool:
    """Whether a cost matrix belongs to the cone of a condition, by the words of Section 3."""
    for row, y in zip(costs, labels, strict=True):
        wrong = np.delete(row, y)
        fits = {
            "edge over random": (row[y] <= wrong + tolerance).all(),
            "SAMME": -row[y] >= -tolerance and (np.abs(wrong + row[y]) <= tolerance).all(),
            "AdaBoost.MH": row[y] <= tolerance and (wrong >= -tolerance).all(),
            "AdaBoost.M1": abs(row[y]) <= tolerance and np.ptp(wrong) <= tolerance and (wrong >= -tolerance).all(),
            "AdaBoost.MR": abs(row.sum()) <= tolerance and (wrong >= -tolerance).all(),
        }[name]
        if not fits:
            return False
    return True


def indicator(h: np.ndarray, k: int) -> np.ndarray:
    """1_h: a row for each example, 1 at the label that h predicts."""
    return np.eye(k)[h]


def edge_over_random_corners(k: int, y: int, edge: float) -> list[np.ndarray]:
    """The corners of B_gamma^eor for one example: gamma ahead of the labels of a set S, nothing on the others."""
    others = [l for l in range(k) if l != y]
    corners = []
    for chosen in chain.from_iterable(combinations(others, size) for size in range(1, k)):
        row = np.zeros(k)
        row[list(chosen)] = (1 - edge) / (len(chosen) + 1)
        row[y] = (1 - edge) / (len(chosen) + 1) + edge
        corners.append(row)
    return corners


def margin(predictions: np.ndarray, labels: np.ndarray, k: int, mixture: np.ndarray) -> float:
    """The smallest lead of a right label over a wrong one in the votes of a mixture of hypotheses."""
    votes = sum(weight * indicator(h, k) for weight, h in zip(mixture, predictions, strict=True))
    return min(votes[i, y] - votes[i, l] for i, y in enumerate(labels) for l in range(k) if l != y)


def largest_wrong_vote(predictions: np.ndarray, labels: np.ndarray, k: int, mixture: np.ndarray) -> float:
    """The largest vote of a mixture of hypotheses for a wrong label."""
    votes = sum(weight * indicator(h, k) for weight, h in zip(mixture, predictions, strict=True))
    return max(votes[i, l] for i, y in enumerate(labels) for l in range(k) if l != y)
