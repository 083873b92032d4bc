"""Routing an example to its leaf, learning it there, and splitting the leaf.

Children inherit their share of the class weights; in a warm-started tree also of all statistics (`statistics`). Under a
budget of bytes the leaves that promise least keep no statistics (`capacity`).
"""

from __future__ import annotations

from edgewise.kernels.compile import entry_point, inlined, merged, noinline
from edgewise.learners.forest.capacity import free_rows_of_least_promise, reactivate, release_rows
from edgewise.learners.forest.layout import (
    ADAPTIVE,
    BINARY,
    DEACTIVATED,
    LEAF,
    LEAVES,
    LINKS,
    MAJORITY,
    MULTIWAY,
    NODES,
    NUMERIC,
    PENDING,
    PRECISION,
    RIGHT_BAYES,
    RIGHT_MAJORITY,
    SEEN,
    WEIGHT,
)
from edgewise.learners.forest.merits import weight_below
from edgewise.learners.forest.splitting import best_split
from edgewise.learners.forest.statistics import (
    cut_above,
    cut_below,
    drop_code,
    forget,
    give,
    keep_code,
    log_density,
    new_row,
    refresh_precision,
    shown,
    sum_up_classes,
    update_counts,
    update_density,
    update_gauss,
)
from edgewise.theory.elementary import index


@inlined
def next_node(forest, node, x, codes):
    """The child an example goes to; -1 if the split has no child for its code."""
    if forest.kind[node] == NUMERIC:
        value = x[forest.feature[node]]
        if value != value:
            return forest.fallback[node]
        return forest.child[node] + (1 if value > forest.threshold[node] else 0)
    code = codes[forest.feature[node]]
    if code < 0:
        return forest.fallback[node]
    if forest.kind[node] == BINARY:
        return forest.child[node] + (0 if code == forest.threshold[node] else 1)
    if code >= forest.width[node]:
        return -1
    return forest.links[forest.child[node] + code]


@inlined
def find_leaf(forest, tree, x, codes):
    """The node of the leaf that predicts an example, and from where the one that learns it is looked for.

    That is the leaf itself, or the first split on the way that has no child for the example's code.
    """
    node = forest.root[tree]
    gap = -1
    while node >= 0 and forest.kind[node] != LEAF:
        following = next_node(forest, node, x, codes)
        if following < 0:
            gap = node if gap < 0 else gap
            following = forest.fallback[node]
        node = following
    return node, node if gap < 0 else gap


@merged
def learning_leaf(forest, tree, node, x, codes):
    """The leaf at or below a node that learns an example: a new one where a split has no child for its code."""
    while forest.kind[node] != LEAF:
        following = next_node(forest, node, x, codes)
        if following < 0:
            if forest.n_nodes[tree] >= forest.node_limit[tree]:
                following = forest.fallback[node]
            else:
                following = add_branch(forest, tree, node, codes[forest.feature[node]])
        node = following
    return node


@noinline
def new_leaf(forest, tree):
    """A new node that is a fresh leaf of the tree."""
    node = forest.used[NODES]
    forest.used[NODES] += 1
    forest.n_nodes[tree] += 1
    forest.used[LEAVES] -= 1
    leaf = forest.free_leaves[forest.used[LEAVES]]
    forest.kind[node] = LEAF
    forest.child[node] = leaf
    forest.class_weight[leaf] = 0.0
    forest.majority[leaf] = 0
    forget(forest, leaf)
    forest.examples[leaf] = 0
    return node


@inlined
def new_links(forest, width):
    """The first of so many links for the children of a multiway split, none yet."""
    first = forest.used[LINKS]
    forest.used[LINKS] += width
    forest.links[first : first + width] = -1
    return first


@noinline
def add_branch(forest, tree, node, code):
    """Give a multiway split a child for a code it has none for."""
    if code >= forest.width[node]:
        # the column has more codes now than when the leaf split
        width = forest.categories[forest.nominal[tree, forest.feature[node]]]
        first = new_links(forest, width)
        for v in range(forest.width[node]):
            forest.links[first + v] = forest.links[forest.child[node] + v]
        forest.child[node] = first
        forest.width[node] = width
    child = new_leaf(forest, tree)
    forest.links[forest.child[node] + code] = child
    return child


@merged
def learn(
    forest, tree, voted, reached, majority, bayes, x, codes, slots, m, c, n_present, label, w, means, variances, work
):
    """Tree learns (x, label) with weight w > 0.

    `voted` and `reached` are what `find_leaf` gave when the tree predicted, `majority` and `bayes` the labels that the
    leaf's two predictors named.
    """
    node = learning_leaf(forest, tree, reached, x, codes)
    leaf = index(forest.child[node])
    if forest.mode[tree] == ADAPTIVE and node == voted:
        if majority == label:
            forest.leaf_counters[leaf, RIGHT_MAJORITY] += w
        if bayes == label:
            forest.leaf_counters[leaf, RIGHT_BAYES] += w
    weights, most = forest.class_weight[leaf], forest.majority[leaf]
    weights[label] += w
    if weights[label] > weights[most] or (weights[label] == weights[most] and label < most):
        forest.majority[leaf] = label
    if forest.examples[leaf] == DEACTIVATED:
        reactivate(forest, tree, leaf)
        return
    forest.leaf_counters[leaf, SEEN] += w
    forest.leaf_counters[leaf, PENDING] += w
    forest.examples[leaf] += 1
    row = forest.row[leaf, label]
    if row < 0:
        row = new_row(forest, tree)
        forest.row[leaf, label] = row
        forest.n_rows[leaf] += 1
    row = index(row)
    if m > 0 and forest.mode[tree] == MAJORITY:
        update_gauss(forest.gauss[row], x, w, m)
    elif m > 0:
        forest.constant[row] = update_density(
            forest.gauss[row], x, w, forest.numeric[tree], means, variances, m, forest.class_weight[leaf, label]
        )
    if c > 0:
        update_counts(forest, leaf, row, slots, c, n_present, w)
    if (
        forest.leaf_counters[leaf, PENDING] >= forest.grace[tree]
        and forest.examples[leaf] >= 2
        and forest.n_rows[leaf] >= 2
        and forest.n_nodes[tree] + 2 <= forest.node_limit[tree]
    ):
        attempt_split(forest, tree, node, leaf, m, c, means, variances, work)
    if forest.tree_rows[tree] > forest.row_limit[tree]:
        free_rows_of_least_promise(forest, tree)


@noinline
def attempt_split(forest, tree, node, leaf, m, c, means, variances, work):
    """Split a leaf if the Hoeffding bound allows its best split."""
    forest.leaf_counters[leaf, PENDING] = 0.0
    feature, cut = best_split(forest, tree, leaf, m, c, work)
    if 0 <= feature < m:
        split_numeric(forest, tree, node, feature, cut, m, means, variances)
    elif feature >= m and forest.binary[tree]:
        split_binary(forest, tree, node, feature - m, int(cut), m, means, variances)
    elif feature >= m:
        split_multiway(forest, tree, node, feature - m, m, means, variances)


@noinline
def restart(forest, tree):
    """Let a tree begin anew as a single leaf. Its other nodes stay unused until `capacity.compact` takes them out.

    Nodes still to be visited form a list through their `fallback`, which nobody needs any more.
    """
    top = forest.root[tree]
    forest.fallback[top] = -1
    while top >= 0:
        node = top
        top = forest.fallback[node]
        first = forest.child[node]
        if forest.kind[node] == LEAF:
            release(forest, tree, first)
        else:
            width = forest.width[node] if forest.kind[node] == MULTIWAY else 2
            for v in range(width):
                child = forest.links[first + v] if forest.kind[node] == MULTIWAY else first + v
                if child >= 0:
                    forest.fallback[child] = top
                    top = child
    forest.n_nodes[tree] = 0
    forest.root[tree] = new_leaf(forest, tree)


@noinline
def release(forest, tree, leaf):
    """Give a leaf's slot and statistics rows back."""
    release_rows(forest, tree, leaf)
    forest.free_leaves[forest.used[LEAVES]] = leaf
    forest.used[LEAVES] += 1


@inlined
def refresh(forest, tree, row, class_weight, m, means, variances):
    """What naive Bayes uses of a statistics row, whose class has this weight in its leaf."""
    if m > 0 and forest.mode[tree] != MAJORITY:
        gauss, columns = forest.gauss[row], forest.numeric[tree]
        forest.constant[row] = refresh_precision(gauss, columns, means, variances, m, class_weight)


@entry_point
def fill_constants(forest, leaves, trees):
    """What follows from the rest of a forest: `constant` of the statistics rows of leaves, each of its tree."""
    for place in range(leaves.size):
        m = 0
        for j in range(forest.numeric.shape[1]):
            m += 1 if forest.numeric[trees[place], j] >= 0 else 0
        for r in range(forest.row.shape[1]):
            row = forest.row[leaves[place], r]
            if row >= 0 and m > 0 and forest.mode[trees[place]] != MAJORITY:
                weight = forest.class_weight[leaves[place], r]
                forest.constant[row] = log_density(forest.gauss[row, PRECISION], m, weight)


@noinline
def split_numeric(forest, tree, node, j, threshold, m, means, variances):
    """Turn a leaf into a split at a threshold."""
    leaf = forest.child[node]
    left = new_leaf(forest, tree)
    right = new_leaf(forest, tree)
    below, above = 0.0, 0.0
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        if row >= 0:
            weight = forest.gauss[row, WEIGHT, j]
            under = weight_below(forest.gauss[row], j, threshold)
            below += under
            above += weight - under
            heir = give(forest, tree, row, forest.child[left], r, under, weight)
            if heir >= 0:
                cut_above(forest.gauss[row], forest.gauss[heir], j, threshold, under)
                refresh(forest, tree, heir, under, m, means, variances)
            heir = give(forest, tree, row, forest.child[right], r, weight - under, weight)
            if heir >= 0:
                cut_below(forest.gauss[row], forest.gauss[heir], j, threshold, weight - under)
                refresh(forest, tree, heir, weight - under, m, means, variances)
    finish_two_way(forest, tree, node, NUMERIC, j, threshold, left, right, below >= above)


@noinline
def split_binary(forest, tree, node, j, code, m, means, variances):
    """Turn a leaf into a split of one code from all others."""
    leaf = forest.child[node]
    first_slot, last = forest.offset[tree, j], forest.offset[tree, j + 1] - 1
    equal = new_leaf(forest, tree)
    rest = new_leaf(forest, tree)
    inside, outside = 0.0, 0.0
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        if row >= 0:
            weight = shown(forest, row, last)
            of_code = forest.counts[row, first_slot + code]
            inside += of_code
            outside += weight - of_code
            heir = give(forest, tree, row, forest.child[equal], r, of_code, weight)
            if heir >= 0:
                keep_code(forest, heir, first_slot, last, code, of_code)
                refresh(forest, tree, heir, of_code, m, means, variances)
            heir = give(forest, tree, row, forest.child[rest], r, weight - of_code, weight)
            if heir >= 0:
                drop_code(forest, row, heir, first_slot, last, code, weight - of_code)
                refresh(forest, tree, heir, weight - of_code, m, means, variances)
    finish_two_way(forest, tree, node, BINARY, j, code, equal, rest, inside >= outside)


@inlined
def finish_two_way(forest, tree, node, kind, j, cut, first, second, to_first):
    """Turn a leaf into a split of feature j into two children; missing values go `to_first` or not."""
    leaf = forest.child[node]
    sum_up_classes(forest, tree, forest.child[first])
    sum_up_classes(forest, tree, forest.child[second])
    forest.kind[node] = kind
    forest.feature[node] = j
    forest.threshold[node] = cut
    forest.child[node] = first
    forest.fallback[node] = first if to_first else second
    release(forest, tree, leaf)


@noinline
def split_multiway(forest, tree, node, j, m, means, variances):
    """Turn a leaf into a split with a child for each code it has seen."""
    leaf = forest.child[node]
    first_slot, last = forest.offset[tree, j], forest.offset[tree, j + 1] - 1
    width = last - first_slot
    branches = 0
    for v in range(width):
        if forest.code_totals[leaf, first_slot + v] > 0.0:
            branches += 1
    if branches == 0 or forest.n_nodes[tree] + branches > forest.node_limit[tree]:
        return
    first = new_links(forest, width)
    most = -1.0
    for v in range(width):
        weight = forest.code_totals[leaf, first_slot + v]
        if weight > 0.0:
            child = new_leaf(forest, tree)
            forest.links[first + v] = child
            for r in range(forest.row.shape[1]):
                row = forest.row[leaf, r]
                if row >= 0:
                    of_code = forest.counts[row, first_slot + v]
                    heir = give(forest, tree, row, forest.child[child], r, of_code, shown(forest, row, last))
                    if heir >= 0:
                        keep_code(forest, heir, first_slot, last, v, of_code)
                        refresh(forest, tree, heir, of_code, m, means, variances)
            sum_up_classes(forest, tree, forest.child[child])
            if weight > most:
                most = weight
                forest.fallback[node] = child
    forest.kind[node] = MULTIWAY
    forest.feature[node] = j
    forest.child[node] = first
    forest.width[node] = width
    release(forest, tree, leaf)
