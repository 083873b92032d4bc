"""Which split of a leaf reduces the variance most, and whether the Hoeffding bound allows it.

Ikonomovska, Gama and Dzeroski, "Learning model trees from evolving data streams" (2011), Section 4, for vector
targets: with weights W and target sums S, a split into L and R takes

    ||S_L||^2/W_L + ||S_R||^2/W_R - ||S||^2/W

off the sum of squared errors, so bins need no squares. What counts is the share of the leaf's squared error that the
split takes off, in [0, 1]: the range of the Hoeffding bound is 1.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.regression_forest.layout import SEEN, SQUARES, SUMS, WEIGHT

LEAST_BRANCH = 0.01  # a split needs two branches with this share of the weight, as in the classification trees
TIE = 1e-12  # shares tie exactly in theory: rounding must not choose between them


@inlined
def squared_error(total):
    """Sum of squared distances of a leaf's targets from their mean."""
    if total[SEEN] <= 0.0:
        return 0.0
    square = 0.0
    for r in range(SUMS, total.size):
        square += total[r] * total[r]
    return max(total[SQUARES] - square / total[SEEN], 0.0)


@inlined
def reduction(whole, left):
    """What splitting `left` from the rest of `whole` takes off; 0 if a branch is too light. Both: weight, then sums."""
    rest = whole[WEIGHT] - left[WEIGHT]
    least = LEAST_BRANCH * whole[WEIGHT]
    if left[WEIGHT] < least or rest < least or left[WEIGHT] <= 0.0 or rest <= 0.0:
        return 0.0
    gain = 0.0
    for r in range(1, whole.size):
        other = whole[r] - left[r]
        gain += left[r] * left[r] / left[WEIGHT] + other * other / rest - whole[r] * whole[r] / whole[WEIGHT]
    return gain


@inlined
def sum_up(cells, first, last, out):
    """Weight and target sums of some bins or slots."""
    for r in range(out.size):
        out[r] = 0.0
    for b in range(first, last):
        for r in range(out.size):
            out[r] += cells[b, r]


@inlined
def numeric_gain(bins, whole, left):
    """The last bin on the left of the best cut, and what the cut takes off; 0 if there is none."""
    n_bins = bins.shape[0]
    sum_up(bins, 0, n_bins, whole)
    for r in range(left.size):
        left[r] = 0.0
    best, chosen = 0.0, 0
    for b in range(n_bins - 1):
        for r in range(left.size):
            left[r] += bins[b, r]
        if bins[b, WEIGHT] > 0.0:
            gain = reduction(whole, left)
            if gain > best + TIE:
                best, chosen = gain, b
    return best, chosen


@inlined
def nominal_gain(slots, first, last):
    """The code whose split from all others takes most off, and how much; slot `last` has the sums."""
    best, chosen = 0.0, 0
    for v in range(first, last):
        if slots[v, WEIGHT] > 0.0:
            gain = reduction(slots[last], slots[v])
            if gain > best + TIE:
                best, chosen = gain, v - first
    return best, chosen


@entry_point
def best_split(forest, tree, leaf, whole, left):
    """The split that the leaf should make: feature of the tree (numeric ones first) and bin or code; -1 if none yet.

    Splits when the share that the best feature takes off exceeds that of the next by more than the Hoeffding bound, or
    when the bound has fallen below the tree's tie threshold; and only if it takes off at least `least_gain` times the
    variance, so that noise alone does not split.
    """
    error = squared_error(forest.total[leaf])
    seen = forest.total[leaf, SEEN]
    if error <= 0.0:
        return -1, 0
    best, second = 0.0, 0.0
    feature, cut = -1, 0
    n_numeric = 0
    for j in range(forest.numeric.shape[1]):
        if forest.numeric[tree, j] < 0:
            break
        n_numeric += 1
        if forest.density[leaf, j] > 0.0:
            gain, place = numeric_gain(forest.bins[leaf, j], whole, left)
            if gain > best + TIE:
                best, second = gain, best
                feature, cut = j, place
            elif gain > second:
                second = gain
    for j in range(forest.nominal.shape[1]):
        if forest.nominal[tree, j] < 0:
            break
        offset = forest.offset[tree]
        gain, place = nominal_gain(forest.slots[leaf], offset[j], offset[j + 1] - 1)
        if gain > best + TIE:
            best, second = gain, best
            feature, cut = n_numeric + j, place
        elif gain > second:
            second = gain
    bound = math.sqrt(forest.log_confidence[tree] / (2.0 * seen))
    if feature < 0 or best * seen < forest.least_gain[tree] * error:
        return -1, 0
    if (best - second) / error > bound or bound < forest.tie[tree]:
        return feature, cut
    return -1, 0
