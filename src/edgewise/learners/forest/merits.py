"""The information gain of a split, exactly: Gaussians cut at a threshold, counts parted by code.

With f(x) = x ln x, n times the gain is f(n) - sum_c f(n_c) - sum_b [f(n_b) - sum_c f(n_bc)] over classes c and branches
b. Which splits are worth this arithmetic is found by `gain_bounds`.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, WEIGHT
from edgewise.learners.forest.statistics import deviation, normal_below, shown

THRESHOLDS = 10  # candidates per numeric feature, evenly spaced inside the range seen, as in MOA
LEAST_BRANCH = 0.01  # a split needs two branches with this share of the weight, as in MOA
TIE = 1e-12  # merits of nominal features tie exactly in theory: rounding must not choose between them
BITS = 1.0 / math.log(2.0)


@inlined
def x_log_x(x):
    return x * math.log(x) if x > 0.0 else 0.0


@inlined
def weight_below(gauss, j, threshold):
    """Weight of a class on the left of a threshold: all or nothing outside the range it has shown, else Gaussian."""
    weight = gauss[WEIGHT, j]
    if threshold < gauss[LOW, j]:
        return 0.0
    if threshold >= gauss[HIGH, j]:
        return weight
    width = deviation(gauss, j)
    if width <= 0.0:
        return weight if threshold >= gauss[MEAN, j] else 0.0
    return weight * normal_below((threshold - gauss[MEAN, j]) / width)


@inlined
def numeric_merit(gauss, work, n, j, mass, floor):
    """Best threshold of numeric feature j and its information gain in bits; gain 0 if there is no candidate.

    Thresholds whose bound is below `floor` are left out. Only classes whose range a threshold cuts
    need a logarithm. `work.weights` and `work.logs` keep n_c and f(n_c) from feature to feature: without missing values
    they do not change.
    """
    whole = 0.0
    for i in range(n):
        weight = gauss[work.present[i], WEIGHT, j]
        if weight != work.weights[i]:
            work.weights[i] = weight
            work.logs[i] = x_log_x(weight)
        whole += work.logs[i]
    total, low, high = work.totals[j], work.lows[j], work.highs[j]
    impurity = x_log_x(total) - whole
    best, chosen = 0.0, 0.0
    for s in range(THRESHOLDS):
        if work.guesses[s, j] >= floor:
            threshold = low + (high - low) * (s + 1) / (THRESHOLDS + 1)
            left = 0.0
            inside = 0.0
            for i in range(n):
                below = weight_below(gauss[work.present[i]], j, threshold)
                left += below
                if below <= 0.0 or below >= work.weights[i]:
                    inside += work.logs[i]
                else:
                    inside += x_log_x(below) + x_log_x(work.weights[i] - below)
            right = total - left
            if left >= LEAST_BRANCH * total and right >= LEAST_BRANCH * total:
                merit = (impurity - (x_log_x(left) + x_log_x(right) - inside)) / mass * BITS
                if merit > best + TIE:
                    best, chosen = merit, threshold
    return best, chosen


@inlined
def counted_impurity(forest, present, n, last):
    """A nominal feature's counted weight, and that weight times the entropy of its classes: f(n) - sum_c f(n_c)."""
    total = 0.0
    whole = 0.0
    for i in range(n):
        weight = shown(forest, present[i], last)
        total += weight
        whole += x_log_x(weight)
    return total, x_log_x(total) - whole


@inlined
def nominal_merit(forest, present, n, first, last):
    """Information gain in bits, times the feature's counted weight, of a branch for each code; 0 if no candidate."""
    total, impurity = counted_impurity(forest, present, n, last)
    branches = 0.0
    large = 0
    for v in range(first, last):
        weight = 0.0
        for i in range(n):
            weight += forest.counts[present[i], v]
        if weight > 0.0:
            if weight >= LEAST_BRANCH * total:
                large += 1
            branches += x_log_x(weight)
            for i in range(n):
                branches -= x_log_x(forest.counts[present[i], v])
    if large < 2:
        return 0.0
    return (impurity - branches) * BITS


@inlined
def binary_merit(forest, present, n, first, last):
    """The code whose split from all others gains most, and that gain in bits times the feature's counted weight."""
    total, impurity = counted_impurity(forest, present, n, last)
    best, chosen = 0.0, 0
    for v in range(first, last):
        equal = 0.0
        inside = 0.0
        for i in range(n):
            of_class = forest.counts[present[i], v]
            equal += of_class
            inside += x_log_x(of_class) + x_log_x(shown(forest, present[i], last) - of_class)
        rest = total - equal
        if equal >= LEAST_BRANCH * total and rest >= LEAST_BRANCH * total and equal > 0.0:
            merit = (impurity - (x_log_x(equal) + x_log_x(rest) - inside)) * BITS
            if merit > best + TIE * total:
                best, chosen = merit, v - first
    return best, chosen
