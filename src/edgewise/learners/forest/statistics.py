"""What a leaf keeps of its examples: a Gaussian per class and numeric feature, a count per class, feature and code.

**Inheritance.** At a split, children get their share of the class weights; in a warm-started tree, of all statistics.
A feature other than the split one keeps its distribution within each class, with the child's share of the weight. On
the split feature a Gaussian becomes a normal distribution truncated at the threshold, and counts go where their code
goes.

**The normal distribution function** is a table: split attempts spend most of their time there. Around each of 32 points
per unit the function is a Taylor polynomial of degree 6; its remainder is below (1/64)^7 max|He_6 phi|/7! < 3e-16,
the rounding of the values themselves. Beyond 9 the tails are below 1.2e-19.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import (
    WIDTH,
    any_less,
    exponent,
    fraction,
    gather4,
    load4,
    mask_tail,
    maximum,
    minimum,
    reduce_product,
    reduce_sum,
    store,
    where_less,
    where_not_nan,
)
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, PRECISION, ROWS, SQUARES, WEIGHT
from edgewise.theory.elementary import whole_part
from edgewise.theory.experts import argmax

# Floor of a Gaussian's variance, as a share of the variance of the whole column.
VARIANCE_FLOOR = 1e-3
LARGEST_PRECISION = 1e200  # times a fraction below 2 it is still a number
LEAST_WEIGHT = float(np.finfo(float).tiny)  # a feature with less weight may have none: the class never showed it
LN2 = math.log(2.0)
LEAST_INHERITANCE = 1e-6  # weight below which a class leaves no statistics to a child
DENSITY_AT_ZERO = 1.0 / math.sqrt(2.0 * math.pi)
# of the table of the normal distribution function
STEPS = 32
LIMIT = 9
CENTER = STEPS * LIMIT


@inlined
def count_moments(moments, x):
    """Count one example in the columns' running moments."""
    for f in range(x.size):
        value = x[f]
        if value == value:
            moments[0, f] += 1.0
            delta = value - moments[1, f]
            moments[1, f] += delta / moments[0, f]
            moments[2, f] += delta * (value - moments[1, f])


@noinline
def new_row(forest, tree):
    """Take a free statistics row for a tree and clear it."""
    forest.tree_rows[tree] += 1
    forest.used[ROWS] -= 1
    row = forest.free_rows[forest.used[ROWS]]
    gauss = forest.gauss[row]
    gauss[:] = 0.0
    gauss[LOW] = math.inf
    gauss[HIGH] = -math.inf
    forest.constant[row] = 0.0
    forest.counts[row] = 0.0
    forest.complete[row] = 0.0
    return row


@noinline
def forget(forest, leaf):
    """Let a leaf have no statistics: no row of any class, nothing counted."""
    forest.row[leaf] = -1
    forest.code_totals[leaf] = 0.0
    forest.has_missing[leaf] = False
    forest.complete_sum[leaf] = 0.0
    forest.leaf_counters[leaf] = 0.0
    forest.n_rows[leaf] = 0


@inlined
def count_values(gauss, j, value, w):
    """A weighted Welford step for the features from j on, where they are not missing: their weights and squares."""
    weight, mean, squares = load4(gauss[WEIGHT], j), load4(gauss[MEAN], j), load4(gauss[SQUARES], j)
    heavier = weight + w
    delta = value - mean
    nearer = mean + delta * w / heavier
    weight = where_not_nan(value, heavier, weight)
    squares = where_not_nan(value, squares + w * delta * (value - nearer), squares)
    store(gauss[WEIGHT], j, weight)
    store(gauss[MEAN], j, where_not_nan(value, nearer, mean))
    store(gauss[SQUARES], j, squares)
    store(gauss[LOW], j, minimum(load4(gauss[LOW], j), value))
    store(gauss[HIGH], j, maximum(load4(gauss[HIGH], j), value))
    return weight, squares


@inlined
def update_gauss(gauss, x, w, m):
    """`count_values` of all numeric features of an example."""
    for j in range(0, m, WIDTH):
        count_values(gauss, j, load4(x, j), w)


@inlined
def update_density(gauss, x, w, columns, means, variances, m, class_weight):
    """`update_gauss`, and what `refresh_precision` does: for leaves that ask naive Bayes.

    In one loop: what has been stored a moment ago is not loaded again.
    """
    for j in range(0, m, WIDTH):
        weight, squares = count_values(gauss, j, load4(x, j), w)
        fresh_precision(gauss, j, weight, squares, columns, means, variances, m)
    return log_density(gauss[PRECISION], m, class_weight)


@inlined
def deviation(gauss, j):
    """Standard deviation of feature j within a class; its sum of squares may be negative by rounding."""
    return math.sqrt(max(gauss[SQUARES, j], 0.0) / gauss[WEIGHT, j])


@inlined
def fresh_precision(gauss, j, weight, squares, columns, means, variances, m):
    """What naive Bayes uses of the numeric features from j on: their mean and precision.

    The variance is (squares + v0)/(weight + 1), at least a thousandth of v0, where v0 is the column's variance so far:
    one example's worth of the column's own spread, so that a class seen once is neither certain nor impossible. A
    column that never varied is left out (precision 0). A feature that the class never showed takes the column's mean.
    """
    spread = gather4(variances, columns, j, m)
    if any_less(mask_tail(m - j, weight, 1.0), LEAST_WEIGHT):
        store(gauss[MEAN], j, where_less(0.0, weight, load4(gauss[MEAN], j), gather4(means, columns, j, m)))
    count = weight + 1.0
    squares = maximum(squares + spread, VARIANCE_FLOOR * spread * count)
    precision = minimum(count / where_less(0.0, spread, squares, 1.0), LARGEST_PRECISION)
    precision = mask_tail(m - j, where_less(0.0, spread, precision, 0.0), 0.0)
    store(gauss[PRECISION], j, precision)


@inlined
def refresh_precision(gauss, columns, means, variances, m, class_weight):
    """`fresh_precision` of every numeric feature of a class; returns their `log_density`."""
    for j in range(0, m, WIDTH):
        weight, squares = load4(gauss[WEIGHT], j), load4(gauss[SQUARES], j)
        fresh_precision(gauss, j, weight, squares, columns, means, variances, m)
    return log_density(gauss[PRECISION], m, class_weight)


@inlined
def log_density(precision, m, class_weight):
    """log(class weight) + sum of log(precision)/2: what naive Bayes adds to the distances, in one logarithm.

    A precision of 0 is left out.
    """
    density = begun_product(class_weight)
    for j in range(0, m, WIDTH):
        density = times(density, load4(precision, j))
    return half_log(density)


@inlined
def begun_product(class_weight):
    """A class's weight, squared, as a product of many factors begins: see `times`."""
    first = mask_tail(2, class_weight, 1.0)
    return fraction(first), exponent(first)


@inlined
def times(so_far, factors):
    """Four running products, each a fraction from 1 to 2 and an exponent, so that none overflows; 0 is left out."""
    larger = so_far[0] * where_less(0.0, factors, factors, 1.0)
    return fraction(larger), so_far[1] + exponent(larger)


@inlined
def half_log(of_products):
    """Half the logarithm of the product of all."""
    return 0.5 * (math.log(reduce_product(of_products[0])) + LN2 * reduce_sum(of_products[1]))


@inlined
def update_counts(forest, leaf, row, slots, c, n_present, w):
    """Count the codes that are there for their class and for all.

    How much weight a feature showed is counted once for all features where an example shows all of them.
    """
    counts, code_totals = forest.counts[row], forest.code_totals[leaf]
    for j in range(n_present):
        slot = slots[0, j]
        counts[slot] += w
        code_totals[slot] += w
    if n_present == c:
        forest.complete[row] += w
        forest.complete_sum[leaf] += w
    else:
        for j in range(n_present):
            last = slots[1, j]
            counts[last] += w
            code_totals[last] += w
            forest.has_missing[leaf] = True


@inlined
def shown(forest, row, last):
    """The weight of a class's examples that showed the nominal feature whose sum is in the slot `last`."""
    return forest.complete[row] + forest.counts[row, last]


def taylor_table() -> np.ndarray:
    """Row i: coefficients of the powers of z - z_i, z_i = i/STEPS - LIMIT."""
    table = np.zeros((2 * CENTER + 1, 8))
    for i in range(len(table)):
        z = (i - CENTER) / STEPS
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        table[i, 0] = 0.5 * math.erfc(-z * math.sqrt(0.5))
        hermite, last = 1.0, 0.0  # the j-th derivative of the density is (-1)^j He_j times the density
        for j in range(6):
            table[i, j + 1] = (-1) ** j * hermite * density / math.factorial(j + 1)
            hermite, last = z * hermite - j * last, hermite
    return table


TABLE = taylor_table()


@inlined
def normal_below(z):
    """P(Z <= z) for a standard normal Z, to 4e-16."""
    if not z > -LIMIT:  # NaN too: it has no place in the table
        return 0.0
    if z >= LIMIT:
        return 1.0
    i = whole_part(z * STEPS + (CENTER + 0.5))
    d = z - (i - CENTER) / STEPS
    a = TABLE[i]
    return a[0] + d * (a[1] + d * (a[2] + d * (a[3] + d * (a[4] + d * (a[5] + d * a[6])))))


@noinline
def give(forest, tree, row, leaf, r, weight, whole):
    """Leave class r's share weight/whole to a child leaf; gives its new statistics row, or -1 for none."""
    forest.class_weight[leaf, r] = weight
    if not forest.warm[tree] or weight <= LEAST_INHERITANCE:
        return -1
    heir = new_row(forest, tree)
    forest.row[leaf, r] = heir
    forest.n_rows[leaf] += 1
    share = weight / whole
    for j in range(forest.gauss.shape[2]):
        forest.gauss[heir, WEIGHT, j] = forest.gauss[row, WEIGHT, j] * share
        forest.gauss[heir, MEAN, j] = forest.gauss[row, MEAN, j]
        forest.gauss[heir, SQUARES, j] = forest.gauss[row, SQUARES, j] * share
        forest.gauss[heir, LOW, j] = forest.gauss[row, LOW, j]
        forest.gauss[heir, HIGH, j] = forest.gauss[row, HIGH, j]
    for v in range(forest.counts.shape[1]):
        forest.counts[heir, v] = forest.counts[row, v] * share
    forest.complete[heir] = forest.complete[row] * share
    return heir


@noinline
def cut_above(gauss, heir, j, threshold, weight):
    """The split feature of the left child: the class's Gaussian without what lies above the threshold."""
    heir[WEIGHT, j] = weight
    width = deviation(gauss, j)
    if threshold < gauss[HIGH, j] and width > 0.0:
        z = (threshold - gauss[MEAN, j]) / width
        ratio = DENSITY_AT_ZERO * math.exp(-0.5 * z * z) / normal_below(z)
        heir[HIGH, j] = threshold
        heir[MEAN, j] = min(max(gauss[MEAN, j] - width * ratio, heir[LOW, j]), heir[HIGH, j])
        heir[SQUARES, j] = weight * width * width * max(1.0 - z * ratio - ratio * ratio, 0.0)
    else:
        heir[SQUARES, j] = gauss[SQUARES, j]


@noinline
def cut_below(gauss, heir, j, threshold, weight):
    """The split feature of the right child: the class's Gaussian without what lies below the threshold."""
    heir[WEIGHT, j] = weight
    width = deviation(gauss, j)
    if threshold >= gauss[LOW, j] and width > 0.0:
        z = (threshold - gauss[MEAN, j]) / width
        ratio = DENSITY_AT_ZERO * math.exp(-0.5 * z * z) / normal_below(-z)
        heir[LOW, j] = threshold
        heir[MEAN, j] = min(max(gauss[MEAN, j] + width * ratio, heir[LOW, j]), heir[HIGH, j])
        heir[SQUARES, j] = weight * width * width * max(1.0 + z * ratio - ratio * ratio, 0.0)
    else:
        heir[SQUARES, j] = gauss[SQUARES, j]


@noinline
def sum_up_classes(forest, tree, leaf):
    """What follows from all that a leaf has inherited class by class: its majority, the counts over all classes."""
    forest.majority[leaf] = argmax(forest.class_weight[leaf])
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        if row >= 0:
            forest.complete_sum[leaf] += forest.complete[row]
            for v in range(forest.code_totals.shape[1]):
                forest.code_totals[leaf, v] += forest.counts[row, v]
    for j in range(forest.nominal.shape[1]):
        if forest.nominal[tree, j] >= 0 and forest.code_totals[leaf, forest.offset[tree, j + 1] - 1] > 0.0:
            forest.has_missing[leaf] = True


@inlined
def keep_code(forest, heir, first, last, code, weight):
    """The split feature of a child for one code, whose weight is that of the class in the child."""
    for v in range(first, last):
        forest.counts[heir, v] = 0.0
    forest.counts[heir, first + code] = weight
    all_complete(forest, heir, last, weight)


@inlined
def drop_code(forest, row, heir, first, last, code, weight):
    """The split feature of a child for all codes but one, which have this weight together."""
    for v in range(first, last):
        forest.counts[heir, v] = forest.counts[row, v]
    forest.counts[heir, first + code] = 0.0
    all_complete(forest, heir, last, weight)


@inlined
def all_complete(forest, heir, last, weight):
    """Take away what rounding adds to a share of examples none of which lacked the split feature and another one."""
    if forest.counts[heir, last] == 0.0:
        forest.complete[heir] = weight
