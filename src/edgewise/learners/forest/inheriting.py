"""What children inherit at a split: class weights always, in a warm-started tree their share of all statistics.

A feature other than the split one keeps its distribution within each class, with the child's share of the weight. On
the split feature a Gaussian becomes a normal distribution truncated at the threshold, and counts go where their code
goes.
"""

from __future__ import annotations

import math

from edgewise._compile import kernel, subroutine
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, SQUARES, WEIGHT
from edgewise.learners.forest.normal import normal_below
from edgewise.learners.forest.statistics import deviation, new_row

LEAST_INHERITANCE = 1e-6  # weight below which a class leaves no statistics to a child
DENSITY_AT_ZERO = 1.0 / math.sqrt(2.0 * math.pi)


@subroutine
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
    return heir


@subroutine
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


@subroutine
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


@subroutine
def fill_margin(forest, leaf):
    """The counts over all classes of a leaf that has inherited them class by class."""
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        if row >= 0:
            for v in range(forest.margin.shape[1]):
                forest.margin[leaf, v] += forest.counts[row, v]


@kernel
def keep_code(counts, heir, first, last, code):
    """The split feature of a child for one code."""
    for v in range(first, last):
        heir[v] = 0.0
    heir[first + code] = counts[first + code]
    heir[last] = counts[first + code]


@kernel
def drop_code(counts, heir, first, last, code):
    """The split feature of a child for all codes but one."""
    for v in range(first, last):
        heir[v] = counts[v]
    heir[first + code] = 0.0
    heir[last] = counts[last] - counts[first + code]
