"""Weak-learning conditions of Mukherjee and Schapire, *A theory of multiclass boosting*, NIPS 2010.

Does some cost matrix of the cone win against every hypothesis, (2) and (3)? A linear program answers whose unknowns are
the cells of the matrix; cones are inequalities between cells, as the paper words them. No duality and no rays.
"""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
from scipy.optimize import linprog


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


def cone_rows(name: str, n: int, k: int, labels: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The cone as (rows a with <a, C> <= 0, rows a with <a, C> = 0) over the cells of C."""
    below, equal = [], []

    def row(*terms: tuple[int, int, float]) -> np.ndarray:
        matrix = np.zeros((n, k))
        for i, l, factor in terms:
            matrix[i, l] += factor
        return matrix.ravel()

    for i in range(n):
        y = int(labels[i])
        for l in set(range(k)) - {y}:
            if name == "edge over random":
                below.append(row((i, y, 1), (i, l, -1)))
            elif name == "SAMME":
                below.append(row((i, l, -1)))
                equal.append(row((i, y, 1), (i, l, 1)))
            elif name == "AdaBoost.M1":
                below.append(row((i, l, -1)))
                equal.append(row((i, l, 1), (i, (y + 1) % k, -1)))
            else:
                below.append(row((i, l, -1)))
        if name == "AdaBoost.MH":
            below.append(row((i, y, 1)))
        if name == "AdaBoost.M1":
            equal.append(row((i, y, 1)))
        if name == "AdaBoost.MR":
            equal.append(row(*((i, l, 1) for l in range(k))))
    return below, equal


def violation(name: str, predictions: np.ndarray, labels: np.ndarray, baseline: np.ndarray) -> float:
    """Largest over C in the cone, cells in [-1, 1], of the least C . (1_h - B): positive if the condition fails."""
    n, k = baseline.shape
    below, equal = cone_rows(name, n, k, labels)
    beaten = [np.r_[-(indicator(h, k) - baseline).ravel(), 1.0] for h in predictions]
    above = [np.r_[a, 0.0] for a in below]
    solution = linprog(
        np.r_[np.zeros(n * k), -1.0],
        A_ub=np.array(beaten + above),
        b_ub=np.zeros(len(beaten) + len(above)),
        A_eq=np.array([np.r_[a, 0.0] for a in equal]) if equal else None,
        b_eq=np.zeros(len(equal)) if equal else None,
        bounds=[(-1, 1)] * (n * k) + [(None, None)],
    )
    assert solution.status == 0, solution.message
    return -float(solution.fun)


def holds(name: str, predictions: np.ndarray, labels: np.ndarray, k: int, edge: float) -> bool:
    baseline = np.array([condition_baseline(name, k, int(y), edge) for y in labels])
    return violation(name, predictions, labels, baseline) <= 1e-8


def worst_baseline_violation(predictions: np.ndarray, labels: np.ndarray, k: int, edge: float) -> float:
    """The same for condition (3), against the worst of all edge-over-random baselines on each cost matrix."""
    n = len(labels)
    below, _ = cone_rows("edge over random", n, k, labels)
    rows = [np.r_[a, np.zeros(n), 0.0] for a in below]
    for i in range(n):  # worst(i) >= <c(i), b> at every corner b
        for corner in edge_over_random_corners(k, int(labels[i]), edge):
            cells = np.zeros((n, k))
            cells[i] = corner
            rows.append(np.r_[cells.ravel(), -np.eye(n)[i], 0.0])
    rows += [np.r_[-indicator(h, k).ravel(), np.ones(n), 1.0] for h in predictions]
    solution = linprog(
        np.r_[np.zeros(n * k + n), -1.0],
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * (n * k) + [(None, None)] * (n + 1),
    )
    assert solution.status == 0, solution.message
    return -float(solution.fun)


def grid_mixtures(m: int, steps: int) -> np.ndarray:
    """All mixtures of m hypotheses whose weights are multiples of 1/steps."""
    return np.array([w for w in product(range(steps + 1), repeat=m) if sum(w) == steps]) / steps
