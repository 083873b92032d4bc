"""What a leaf keeps of its examples: a Gaussian per class and numeric feature, a count per class, feature and code."""

from __future__ import annotations

import math

from edgewise._compile import kernel, subroutine
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, PRECISION, ROWS, SQUARES, WEIGHT

# Floor of a Gaussian's variance, as a share of the variance of the whole column.
VARIANCE_FLOOR = 1e-3
# Factors are multiplied up before a logarithm is taken; these bounds keep products, and that of four, normal numbers.
LARGEST_PRECISION = 1e200
PRODUCT_TOP, PRODUCT_BOTTOM = 1e100, 1e-100
FOURTH_TOP, FOURTH_BOTTOM = 1e70, 1e-70


@kernel
def count_moments(moments, x):
    """Count one example in the columns' running moments."""
    for f in range(x.size):
        value = x[f]
        if value == value:
            moments[0, f] += 1.0
            delta = value - moments[1, f]
            moments[1, f] += delta / moments[0, f]
            moments[2, f] += delta * (value - moments[1, f])


@subroutine
def new_row(forest, tree):
    """Take a free statistics row for a tree and clear it."""
    forest.tree_rows[tree] += 1
    forest.used[ROWS] -= 1
    row = forest.free_rows[forest.used[ROWS]]
    gauss = forest.gauss[row]
    for j in range(gauss.shape[1]):
        gauss[WEIGHT, j] = 0.0
        gauss[MEAN, j] = 0.0
        gauss[SQUARES, j] = 0.0
        gauss[LOW, j] = math.inf
        gauss[HIGH, j] = -math.inf
        gauss[PRECISION, j] = 0.0
    forest.constant[row] = 0.0
    for v in range(forest.counts.shape[1]):
        forest.counts[row, v] = 0.0
    return row


@subroutine
def forget(forest, leaf):
    """Let a leaf have no statistics: no row of any class, nothing counted."""
    for r in range(forest.row.shape[1]):
        forest.row[leaf, r] = -1
    for v in range(forest.margin.shape[1]):
        forest.margin[leaf, v] = 0.0
    for s in range(forest.tally.shape[1]):
        forest.tally[leaf, s] = 0.0
    forest.n_rows[leaf] = 0


@kernel
def update_gauss(gauss, x, w, m, complete):
    """Weighted Welford step for every numeric feature; `complete` where no value is missing."""
    if complete:
        for j in range(m):
            weight = gauss[WEIGHT, j] + w
            mean = gauss[MEAN, j]
            delta = x[j] - mean
            mean += delta * w / weight
            gauss[WEIGHT, j] = weight
            gauss[MEAN, j] = mean
            gauss[SQUARES, j] += w * delta * (x[j] - mean)
            gauss[LOW, j] = min(gauss[LOW, j], x[j])
            gauss[HIGH, j] = max(gauss[HIGH, j], x[j])
        return
    for j in range(m):
        value = x[j]
        here = value == value
        step = w if here else 0.0
        weight = gauss[WEIGHT, j] + step
        mean = gauss[MEAN, j]
        delta = value - mean if here else 0.0
        mean += delta * step / weight if weight > 0.0 else 0.0
        rest = value - mean if here else 0.0
        squares = gauss[SQUARES, j] + step * delta * rest
        gauss[WEIGHT, j] = weight
        gauss[MEAN, j] = mean
        gauss[SQUARES, j] = squares
        gauss[LOW, j] = min(gauss[LOW, j], value) if here else gauss[LOW, j]
        gauss[HIGH, j] = max(gauss[HIGH, j], value) if here else gauss[HIGH, j]


@kernel
def deviation(gauss, j):
    """Standard deviation of feature j within a class; its sum of squares may be negative by rounding."""
    return math.sqrt(max(gauss[SQUARES, j], 0.0) / gauss[WEIGHT, j])


@kernel
def refresh_precision(gauss, columns, means, variances, m, class_weight):
    """What naive Bayes uses of every numeric feature, mean and precision; returns their `log_density`.

    The variance is (squares + v0)/(weight + 1), at least a thousandth of v0, where v0 is the column's variance so far:
    one example's worth of the column's own spread, so that a class seen once is neither certain nor impossible. A
    column that never varied says nothing (precision 0). A feature that the class never showed takes the column's mean.
    """
    # spreads are fetched first, so that the loop that divides vectorizes
    for j in range(m):
        gauss[PRECISION, j] = variances[columns[j]]
        if gauss[WEIGHT, j] <= 0.0:
            gauss[MEAN, j] = means[columns[j]]
    for j in range(m):
        spread, count = gauss[PRECISION, j], gauss[WEIGHT, j] + 1.0
        squares = max(gauss[SQUARES, j] + spread, VARIANCE_FLOOR * spread * count)
        gauss[PRECISION, j] = min(count / squares, LARGEST_PRECISION) if spread > 0.0 else 0.0
    return log_density(gauss[PRECISION], m, class_weight)


@kernel
def log_density(precision, m, class_weight):
    """log(class weight) + sum of log(precision)/2: what naive Bayes adds to the distances, in one logarithm."""
    return 0.5 * log_of_product(class_weight * class_weight, precision, m)


@kernel
def log_of_product(first, factors, m):
    """Logarithm of the product of `first` and the factors that are not 0.

    Four running products, so that none waits for another.
    """
    total = 0.0
    a = b = c = d = 1.0
    if FOURTH_BOTTOM < first < FOURTH_TOP:
        a = first
    else:
        total = math.log(first)
    whole = m - m % 4
    for j in range(0, whole, 4):
        a *= factors[j] if factors[j] > 0.0 else 1.0
        b *= factors[j + 1] if factors[j + 1] > 0.0 else 1.0
        c *= factors[j + 2] if factors[j + 2] > 0.0 else 1.0
        d *= factors[j + 3] if factors[j + 3] > 0.0 else 1.0
        if max(max(a, b), max(c, d)) > FOURTH_TOP or min(min(a, b), min(c, d)) < FOURTH_BOTTOM:
            total += (math.log(a) + math.log(b)) + (math.log(c) + math.log(d))
            a = b = c = d = 1.0
    product = (a * b) * (c * d)
    for j in range(whole, m):
        if product > PRODUCT_TOP or product < PRODUCT_BOTTOM:
            total += math.log(product)
            product = 1.0
        product *= factors[j] if factors[j] > 0.0 else 1.0
    return total + math.log(product)


@kernel
def update_counts(counts, margin, offset, codes, w, c):
    """Count the code of every nominal feature for its class and for all; each feature's last slot has the sum."""
    for j in range(c):
        if codes[j] >= 0:
            slot, last = offset[j] + codes[j], offset[j + 1] - 1
            counts[slot] += w
            counts[last] += w
            margin[slot] += w
            margin[last] += w
