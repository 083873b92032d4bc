"""The best split of a leaf by looking at every candidate exactly, in order: what `forest.splitting` must decide.

Works on the arrays of a `Forest`, in plain loops, with the normal distribution function of the C library.
"""

from __future__ import annotations

import math
from typing import Any

from edgewise.learners.forest.layout import HIGH, LOW, MEAN, SEEN, SQUARES, WEIGHT

THRESHOLDS = 10
LEAST_BRANCH = 0.01
TIE = 1e-12


def f(x: float) -> float:
    return x * math.log(x) if x > 0.0 else 0.0


def weight_below(s: list[float], threshold: float) -> float:
    """Weight at or below a threshold of a class with these statistics."""
    if threshold < s[LOW]:
        return 0.0
    if threshold >= s[HIGH]:
        return s[WEIGHT]
    deviation = math.sqrt(max(s[SQUARES], 0.0) / s[WEIGHT])
    if deviation <= 0.0:
        return s[WEIGHT] if threshold >= s[MEAN] else 0.0
    return s[WEIGHT] * 0.5 * math.erfc(-(threshold - s[MEAN]) / deviation / math.sqrt(2.0))


def gain(whole: list[float], branches: list[list[float]]) -> float:
    """What the branches of the classes' weights tell of the class, in bits times the weight."""
    inside = [f(sum(branch)) - sum(f(weight) for weight in branch) for branch in branches]
    return (f(sum(whole)) - sum(f(weight) for weight in whole) - sum(inside)) / math.log(2.0)


def threshold_merits(forest: Any, leaf: int, j: int, mass: float) -> list[tuple[float, float]]:
    """(merit, threshold) of each threshold of a numeric feature; merit -inf where a branch is too light."""
    classes = [[float(x) for x in forest.gauss[row, :, j]] for row in forest.row[leaf] if row >= 0]
    low, high = min(s[LOW] for s in classes), max(s[HIGH] for s in classes)
    whole = [s[WEIGHT] for s in classes]
    found = []
    for step in range(1, THRESHOLDS + 1) if low < high else []:
        threshold = low + (high - low) * step / (THRESHOLDS + 1)
        left = [weight_below(s, threshold) for s in classes]
        right = [weight - below for weight, below in zip(whole, left, strict=True)]
        merit = -math.inf
        if min(sum(left), sum(whole) - sum(left)) >= LEAST_BRANCH * sum(whole):
            merit = gain(whole, [left, right]) / mass
        found.append((merit, threshold))
    return found


def code_merits(forest: Any, leaf: int, first: int, last: int) -> list[tuple[float, float]]:
    """(merit times mass, code) of splitting each code of a nominal feature from the rest."""
    counts = [forest.counts[row] for row in forest.row[leaf] if row >= 0]
    whole = [float(of[last]) for of in counts]
    found = []
    for v in range(first, last):
        equal = [float(of[v]) for of in counts]
        rest = [weight - part for weight, part in zip(whole, equal, strict=True)]
        if sum(equal) > 0.0 and min(sum(equal), sum(whole) - sum(equal)) >= LEAST_BRANCH * sum(whole):
            found.append((gain(whole, [equal, rest]), float(v - first)))
    return found


def shown(forest: Any, leaf: int, last: int) -> float:
    """The weight of the examples that showed a nominal feature."""
    return sum(float(forest.counts[row][last]) for row in forest.row[leaf] if row >= 0)


def multiway_merit(forest: Any, leaf: int, first: int, last: int) -> float:
    """Merit times mass of a branch for each code."""
    counts = [forest.counts[row] for row in forest.row[leaf] if row >= 0]
    whole = [float(of[last]) for of in counts]
    branches = [[float(of[v]) for of in counts] for v in range(first, last)]
    large = [branch for branch in branches if sum(branch) > 0.0 and sum(branch) >= LEAST_BRANCH * sum(whole)]
    return gain(whole, branches) if len(large) >= 2 else 0.0


def first_best(found: list[tuple[float, float]], scale: float = 1.0) -> tuple[float, float]:
    """The merit that rounding alone does not beat, and where; `scale` is what merits are of."""
    best, chosen = 0.0, 0.0
    for merit, where in found:
        if merit > best + TIE * scale:
            best, chosen = merit, where
    return best, chosen


def leaf_mass(forest: Any, tree: int, leaf: int) -> float:
    return float(forest.class_weight[leaf].sum()) if forest.warm[tree] else float(forest.tally[leaf, SEEN])


def best_split(forest: Any, tree: int, leaf: int, m: int, c: int) -> tuple[int, float]:
    """Feature (numeric ones first) and threshold or code; (-1, 0) if the leaf should not split yet."""
    mass = leaf_mass(forest, tree, leaf)
    best, second = 0.0, 0.0
    feature, where = -1, 0.0
    for j in range(m + c):
        cut = 0.0
        if j < m:
            merit, cut = first_best(threshold_merits(forest, leaf, j, mass))
        else:
            first, last = int(forest.offset[tree, j - m]), int(forest.offset[tree, j - m + 1]) - 1
            if forest.binary[tree]:
                merit, cut = first_best(code_merits(forest, leaf, first, last), shown(forest, leaf, last))
            else:
                merit = multiway_merit(forest, leaf, first, last)
            merit /= mass
        if merit > best + TIE:
            second = best
            best, feature, where = merit, j, cut
        elif merit > second:
            second = merit
    seen = float(forest.tally[leaf, SEEN])
    bound = math.log2(forest.n_rows[leaf]) * math.sqrt(float(forest.log_confidence[tree]) / (2.0 * seen))
    if feature >= 0 and (best - second > bound or bound < forest.tie[tree]):
        return feature, where
    return -1, 0.0
