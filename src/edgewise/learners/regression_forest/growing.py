"""Routing an example to its leaf, predicting, learning it there, and splitting the leaf.

**Which split is best**: the one that reduces the variance most, if the Hoeffding bound allows it.
Ikonomovska, Gama and Dzeroski, "Learning model trees from evolving data streams" (2011), Section 4, for vector targets:
with weights W and target sums S, a split into L and R takes

    ||S_L||^2/W_L + ||S_R||^2/W_R - ||S||^2/W

off the sum of squared errors, so bins need no squares. What counts is the share of the leaf's squared error that the
split takes off, in [0, 1]: the range of the Hoeffding bound is 1.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.forest.merits import LEAST_BRANCH, TIE
from edgewise.learners.regression_forest.layout import (
    BINARY,
    LEAF,
    LEAVES,
    NODES,
    NUMERIC,
    PENDING,
    SEEN,
    SQUARES,
    SUMS,
    WEIGHT,
    has_capacity,
)

GRID = 3.0  # standard deviations on each side of the mean that a grid of bins covers; its end bins are open
FIRST_LOOK = 16.0  # weight that a leaf sees before it lays a grid by the moments of a column


@inlined
def find_leaf(forest, tree, numeric, nominal):
    """The node of the leaf that an example belongs to."""
    node = forest.root[tree]
    while forest.kind[node] != LEAF:
        if forest.kind[node] == NUMERIC:
            value = numeric[forest.feature[node]]
            if value != value:
                node = forest.fallback[node]
            else:
                node = forest.child[node] + (1 if value >= forest.threshold[node] else 0)
        else:
            code = nominal[forest.feature[node]]
            if code < 0:
                node = forest.fallback[node]
            else:
                node = forest.child[node] + (0 if code == forest.threshold[node] else 1)
    return node


@inlined
def tree_predict(forest, tree, node, out):
    """The prediction of a leaf: its mean target, drawn towards 0 by `smoothing` examples."""
    leaf = forest.child[node]
    weight = forest.mass[leaf] + forest.smoothing[tree]
    for r in range(out.size):
        out[r] = forest.sums[leaf, r] / weight if weight > 0.0 else 0.0


@inlined
def lay_grid(forest, leaf, j, mean, variance):
    """Let the bins of feature j cover the mean and GRID standard deviations around it."""
    width = math.sqrt(variance)
    forest.low[leaf, j] = mean - GRID * width
    forest.density[leaf, j] = forest.bins.shape[2] / (2.0 * GRID * width) if width > 0.0 else 0.0


@inlined
def bin_of(forest, leaf, j, value):
    """The bin of a value; the end bins take all that lies outside the grid."""
    place = (value - forest.low[leaf, j]) * forest.density[leaf, j]
    return int(min(place if place > 0.0 else 0.0, forest.bins.shape[2] - 1.0))  # NaN has the first bin


@inlined
def add(cells, target, w):
    """Count an example in a bin or slot."""
    cells[WEIGHT] += w
    for r in range(target.size):
        cells[1 + r] += w * target[r]


@inlined
def learn(forest, tree, node, numeric, nominal, target, w, means, variances, whole, left):
    """Tree learns (x, target) with weight w > 0 in the leaf at `node`; it splits there if it is time."""
    leaf = forest.child[node]
    total = forest.total[leaf]
    total[SEEN] += w
    total[PENDING] += w
    keep = 1.0 - w / max(forest.memory[tree], w)
    forest.mass[leaf] = forest.mass[leaf] * keep + w
    for r in range(target.size):
        total[SQUARES] += w * target[r] * target[r]
        total[SUMS + r] += w * target[r]
        forest.sums[leaf, r] = forest.sums[leaf, r] * keep + w * target[r]
    for j in range(forest.numeric.shape[1]):
        column = forest.numeric[tree, j]
        if column < 0:
            break
        if forest.density[leaf, j] <= 0.0 and total[SEEN] >= FIRST_LOOK:
            lay_grid(forest, leaf, j, means[column], variances[column])
        value = numeric[column]
        if value == value and forest.density[leaf, j] > 0.0:
            add(forest.bins[leaf, j, bin_of(forest, leaf, j, value)], target, w)
    for j in range(forest.nominal.shape[1]):
        column = forest.nominal[tree, j]
        if column < 0:
            break
        if nominal[column] >= 0:
            add(forest.slots[leaf, forest.offset[tree, j] + nominal[column]], target, w)
            add(forest.slots[leaf, forest.offset[tree, j + 1] - 1], target, w)
    if total[PENDING] >= forest.grace[tree] and forest.depth[node] < forest.max_depth[tree]:
        total[PENDING] = 0.0
        feature, cut = best_split(forest, tree, leaf, whole, left)
        if feature >= 0:
            split(forest, tree, node, feature, cut, whole, left)


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


@inlined
def new_leaf(forest, tree, depth):
    """A new node that is a fresh leaf of the tree."""
    node = forest.used[NODES]
    forest.used[NODES] += 1
    forest.n_nodes[tree] += 1
    forest.used[LEAVES] -= 1
    leaf = forest.free_leaves[forest.used[LEAVES]]
    forest.kind[node] = LEAF
    forest.child[node] = leaf
    forest.depth[node] = depth
    forest.mass[leaf] = 0.0
    forest.sums[leaf] = 0.0
    forest.total[leaf] = 0.0
    forest.low[leaf] = 0.0
    forest.density[leaf] = 0.0
    forest.bins[leaf] = 0.0
    forest.slots[leaf] = 0.0
    return node


@inlined
def inherit(forest, tree, leaf, heir, share):
    """Leave a child its part of the leaf's mean: `share` is the weight and target sums of its branch."""
    seen = forest.total[leaf, SEEN]
    limit = min(1.0, forest.memory[tree] / seen)  # a leaf mean never stands for more than `memory` examples
    forest.mass[heir] = share[WEIGHT] * limit
    for r in range(forest.sums.shape[1]):
        forest.sums[heir, r] = share[1 + r] * limit


@inlined
def refine(forest, tree, leaf, heir, split_feature, first, last):
    """Lay the child's grids over what the leaf has seen: of the split feature, bins first..last - 1 only."""
    n_bins = forest.bins.shape[2]
    for j in range(forest.numeric.shape[1]):
        if forest.numeric[tree, j] < 0:
            break
        density = forest.density[leaf, j]
        if density > 0.0:
            begin, end = 0, n_bins
            if j == split_feature:
                begin, end = first, last
            weight, mean, square = 0.0, 0.0, 0.0
            for b in range(begin, end):
                w = forest.bins[leaf, j, b, WEIGHT]
                weight += w
                mean += w * (b + 0.5)
                square += w * (b + 0.5) * (b + 0.5)
            if weight > 0.0:
                mean /= weight
                # A value lies anywhere in its bin: 1/12 is the variance of a uniform one.
                variance = max(square / weight - mean * mean, 0.0) + 1.0 / 12.0
                lay_grid(forest, heir, j, forest.low[leaf, j] + mean / density, variance / (density * density))


@entry_point
def split(forest, tree, node, j, cut, whole, left):
    """Turn a leaf into a split of feature j (numeric ones first), after bin `cut` or of the code `cut`."""
    leaf = forest.child[node]
    depth = forest.depth[node] + 1
    first = new_leaf(forest, tree, depth)
    second = new_leaf(forest, tree, depth)
    one, other = forest.child[first], forest.child[second]
    n_numeric = 0
    while n_numeric < forest.numeric.shape[1] and forest.numeric[tree, n_numeric] >= 0:
        n_numeric += 1
    if j < n_numeric:
        n_bins = forest.bins.shape[2]
        forest.kind[node] = NUMERIC
        forest.feature[node] = forest.numeric[tree, j]
        forest.threshold[node] = forest.low[leaf, j] + (cut + 1.0) / forest.density[leaf, j]
        sum_up(forest.bins[leaf, j], 0, cut + 1, left)
        sum_up(forest.bins[leaf, j], cut + 1, n_bins, whole)
        refine(forest, tree, leaf, one, j, 0, cut + 1)
        refine(forest, tree, leaf, other, j, cut + 1, n_bins)
    else:
        v, last = forest.offset[tree, j - n_numeric] + cut, forest.offset[tree, j - n_numeric + 1] - 1
        forest.kind[node] = BINARY
        forest.feature[node] = forest.nominal[tree, j - n_numeric]
        forest.threshold[node] = cut
        for r in range(left.size):
            left[r] = forest.slots[leaf, v, r]
            whole[r] = forest.slots[leaf, last, r] - left[r]
        refine(forest, tree, leaf, one, -1, 0, 0)
        refine(forest, tree, leaf, other, -1, 0, 0)
    inherit(forest, tree, leaf, one, left)
    inherit(forest, tree, leaf, other, whole)
    forest.child[node] = first
    forest.fallback[node] = first if left[WEIGHT] >= whole[WEIGHT] else second
    forest.free_leaves[forest.used[LEAVES]] = leaf
    forest.used[LEAVES] += 1


@entry_point
def process_tree(forest, tree, rows, targets, first, whole, left, out):
    """Predict every row from `first` on into `out`, and learn those of weight above 0, with one tree.

    Gives the row before which the forest must be enlarged, or the number of rows when done.
    """
    n = rows.weights.size
    for t in range(first, n):
        if rows.weights[t] > 0.0 and not has_capacity(forest):
            return t
        node = find_leaf(forest, tree, rows.numeric[t], rows.nominal[t])
        tree_predict(forest, tree, node, out[t])
        if rows.weights[t] > 0.0:
            learn(
                forest,
                tree,
                node,
                rows.numeric[t],
                rows.nominal[t],
                targets[t],
                rows.weights[t],
                # what a tree learns of the columns' spread includes this example
                rows.means[t + 1],
                rows.variances[t + 1],
                whole,
                left,
            )
    return n
