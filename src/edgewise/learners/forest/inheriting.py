"""What children inherit at a split: class weights always, in a warm-started tree their share of all statistics.

A feature other than the split one keeps its distribution within each class, with the child's share of the weight. On
the split feature a Gaussian becomes a normal distribution truncated at the threshold, and counts go where their code
goes.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined, noinline
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, SQUARES, WEIGHT
from edgewise.learners.forest.normal import normal_below
from edgewise.learners.forest.statistics import deviation, new_row
from edgewise.theory.experts import argmax

LEAST_INHERITANCE = 1e-6  # weight below which a class leaves no statistics to a child
DENSITY_AT_ZERO = 1.0 / math.sqrt(2.0 * math.pi)


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
