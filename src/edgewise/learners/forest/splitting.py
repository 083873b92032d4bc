"""Which split of a leaf is best, and whether the Hoeffding bound allows it (Domingos and Hulten 2000, Table 1)."""

from __future__ import annotations

import math

from edgewise._compile import kernel, routine
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, SEEN, WEIGHT
from edgewise.learners.forest.normal import normal_below
from edgewise.learners.forest.statistics import deviation

THRESHOLDS = 10  # candidates per numeric feature, evenly spaced inside the range seen, as in MOA
LEAST_BRANCH = 0.01  # a split needs two branches with this share of the weight, as in MOA
TIE = 1e-12  # merits of nominal features tie exactly in theory: rounding must not choose between them
BITS = 1.0 / math.log(2.0)


@kernel
def x_log_x(x):
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
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


@kernel
def numeric_merit(forest, rows, j, weights, logs, mass):
    """Best threshold of numeric feature j and its information gain in bits; gain 0 if there is no candidate.

    With f(x) = x ln x, n times the gain is f(n) - sum_c f(n_c) - sum_b [f(n_b) - sum_c f(n_bc)]. Only classes whose
    range the threshold cuts need a logarithm. `weights` and `logs` keep n_c and f(n_c) from feature to feature: without
    missing values they do not change.
    """
    k = rows.size
    total = 0.0
    whole = 0.0
    low, high = math.inf, -math.inf
    for r in range(k):
        if rows[r] >= 0:
            gauss = forest.gauss[rows[r]]
            weight = gauss[WEIGHT, j]
            if weight != weights[r]:
                weights[r] = weight
                logs[r] = x_log_x(weight)
            total += weight
            whole += logs[r]
            low = min(low, gauss[LOW, j])
            high = max(high, gauss[HIGH, j])
    best, chosen = 0.0, 0.0
    if low < high:
        impurity = x_log_x(total) - whole
        for step in range(1, THRESHOLDS + 1):
            threshold = low + (high - low) * step / (THRESHOLDS + 1)
            left = 0.0
            inside = 0.0
            for r in range(k):
                if rows[r] >= 0:
                    gauss = forest.gauss[rows[r]]
                    below = weight_below(gauss, j, threshold)
                    left += below
                    if below <= 0.0 or below >= weights[r]:
                        inside += logs[r]
                    else:
                        inside += x_log_x(below) + x_log_x(weights[r] - below)
            right = total - left
            if left >= LEAST_BRANCH * total and right >= LEAST_BRANCH * total:
                merit = (impurity - (x_log_x(left) + x_log_x(right) - inside)) / mass * BITS
                if merit > best + TIE:
                    best, chosen = merit, threshold
    return best, chosen


@kernel
def nominal_merit(forest, rows, first, last):
    """Information gain in bits, times the feature's counted weight, of a branch for each code; 0 if no candidate."""
    k = rows.size
    total = 0.0
    inside = 0.0
    for r in range(k):
        if rows[r] >= 0:
            weight = forest.counts[rows[r], last]
            total += weight
            inside += x_log_x(weight)
    branches = 0.0
    large = 0
    for v in range(first, last):
        weight = 0.0
        for r in range(k):
            if rows[r] >= 0:
                weight += forest.counts[rows[r], v]
        if weight > 0.0:
            if weight >= LEAST_BRANCH * total:
                large += 1
            branches += x_log_x(weight)
            for r in range(k):
                if rows[r] >= 0:
                    branches -= x_log_x(forest.counts[rows[r], v])
    if large < 2:
        return 0.0
    return (x_log_x(total) - inside - branches) * BITS


@kernel
def binary_merit(forest, rows, first, last):
    """The code whose split from all others gains most, and that gain in bits times the feature's counted weight."""
    k = rows.size
    total = 0.0
    whole = 0.0
    for r in range(k):
        if rows[r] >= 0:
            weight = forest.counts[rows[r], last]
            total += weight
            whole += x_log_x(weight)
    impurity = x_log_x(total) - whole
    best, chosen = 0.0, 0
    for v in range(first, last):
        equal = 0.0
        inside = 0.0
        for r in range(k):
            if rows[r] >= 0:
                of_class = forest.counts[rows[r], v]
                equal += of_class
                inside += x_log_x(of_class) + x_log_x(forest.counts[rows[r], last] - of_class)
        rest = total - equal
        if equal >= LEAST_BRANCH * total and rest >= LEAST_BRANCH * total and equal > 0.0:
            merit = (impurity - (x_log_x(equal) + x_log_x(rest) - inside)) * BITS
            if merit > best + TIE:
                best, chosen = merit, v - first
    return best, chosen


@routine
def best_split(forest, tree, leaf, m, c, weights, logs):
    """The split that the leaf should make: feature (numeric ones first) and threshold or code; feature -1 if none yet.

    Splits when the gain of the best feature exceeds that of the next (or of not splitting: 0) by more than the
    Hoeffding bound, or when the bound has fallen below the tree's tie threshold.
    """
    rows = forest.row[leaf]
    seen = forest.tally[leaf, SEEN]
    best, second = 0.0, 0.0
    feature, threshold = -1, 0.0
    mass = seen
    if forest.warm[tree]:
        mass = 0.0
        for r in range(rows.size):
            mass += forest.class_weight[leaf, r]
    for r in range(rows.size):
        weights[r] = -1.0
    for j in range(m + c):
        cut = 0.0
        if j < m:
            merit, cut = numeric_merit(forest, rows, j, weights, logs, mass)
        else:
            offset = forest.offset[tree]
            first, last = offset[j - m], offset[j - m + 1] - 1
            if forest.binary[tree]:
                merit, code = binary_merit(forest, rows, first, last)
                merit /= mass
                cut = float(code)
            else:
                merit = nominal_merit(forest, rows, first, last) / mass
        if merit > best + TIE:
            second = best
            best, feature, threshold = merit, j, cut
        elif merit > second:
            second = merit
    spread = math.log(forest.n_rows[leaf]) * BITS
    bound = math.sqrt(spread * spread * forest.log_confidence[tree] / (2.0 * seen))
    if feature >= 0 and (best - second > bound or bound < forest.tie[tree]):
        return feature, threshold
    return -1, 0.0
