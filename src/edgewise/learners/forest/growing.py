"""Routing an example to its leaf, learning it there, and splitting the leaf."""

from __future__ import annotations

from edgewise._compile import kernel, routine
from edgewise.learners.forest.layout import (
    ADAPTIVE,
    LEAF,
    LEAVES,
    LINKS,
    MULTIWAY,
    NODES,
    NUMERIC,
    PENDING,
    RIGHT_BAYES,
    RIGHT_MAJORITY,
    ROWS,
    SEEN,
)
from edgewise.learners.forest.splitting import best_split, weight_below
from edgewise.learners.forest.statistics import new_row, update_counts, update_gauss


@kernel
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
    if code >= forest.width[node]:
        return -1
    return forest.links[forest.child[node] + code]


@kernel
def find_leaf(forest, tree, x, codes):
    """The node of the leaf that speaks for an example."""
    node = forest.root[tree]
    while forest.kind[node] != LEAF:
        following = next_node(forest, node, x, codes)
        node = following if following >= 0 else forest.fallback[node]
    return node


@kernel
def learning_leaf(forest, tree, x, codes):
    """The node of the leaf that learns an example: a new one where a code comes up at a split for the first time."""
    node = forest.root[tree]
    while forest.kind[node] != LEAF:
        following = next_node(forest, node, x, codes)
        if following < 0:
            if forest.n_nodes[tree] >= forest.max_nodes[0]:
                following = forest.fallback[node]
            else:
                following = add_branch(forest, tree, node, codes[forest.feature[node]])
        node = following
    return node


@kernel
def new_leaf(forest, tree):
    """A new node that is a fresh leaf of the tree."""
    node = forest.used[NODES]
    forest.used[NODES] += 1
    forest.n_nodes[tree] += 1
    forest.used[LEAVES] -= 1
    leaf = forest.free_leaves[forest.used[LEAVES]]
    forest.kind[node] = LEAF
    forest.child[node] = leaf
    for r in range(forest.row.shape[1]):
        forest.class_weight[leaf, r] = 0.0
        forest.row[leaf, r] = -1
    for s in range(forest.tally.shape[1]):
        forest.tally[leaf, s] = 0.0
    forest.examples[leaf] = 0
    forest.n_rows[leaf] = 0
    return node


@kernel
def new_links(forest, width):
    """Room for the children of a multiway split, none yet."""
    first = forest.used[LINKS]
    forest.used[LINKS] += width
    for v in range(width):
        forest.links[first + v] = -1
    return first


@routine
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


@kernel
def learn(forest, tree, voted_from, majority, bayes, x, codes, m, c, label, w, means, variances, weights, logs):
    """Tree learns (x, label) with weight w > 0.

    `voted_from` is the node that spoke for x before, `majority` and `bayes` the labels its two predictors named.
    """
    node = learning_leaf(forest, tree, x, codes)
    leaf = forest.child[node]
    if forest.mode[0] == ADAPTIVE and node == voted_from:
        if majority == label:
            forest.tally[leaf, RIGHT_MAJORITY] += w
        if bayes == label:
            forest.tally[leaf, RIGHT_BAYES] += w
    forest.class_weight[leaf, label] += w
    forest.tally[leaf, SEEN] += w
    forest.tally[leaf, PENDING] += w
    forest.examples[leaf] += 1
    row = forest.row[leaf, label]
    if row < 0:
        row = new_row(forest)
        forest.row[leaf, label] = row
        forest.n_rows[leaf] += 1
    if m > 0:
        forest.constant[row] = update_gauss(forest.gauss[row], x, w, forest.numeric[tree], means, variances, m)
    update_counts(forest.counts[row], forest.offset[tree], codes, w, c)
    if (
        forest.tally[leaf, PENDING] >= forest.grace[tree]
        and forest.examples[leaf] >= 2
        and forest.n_rows[leaf] >= 2
        and forest.n_nodes[tree] + 2 <= forest.max_nodes[0]
    ):
        forest.tally[leaf, PENDING] = 0.0
        feature, threshold = best_split(forest, tree, leaf, m, c, weights, logs)
        if 0 <= feature < m:
            split_numeric(forest, tree, node, feature, threshold)
        elif feature >= m:
            split_nominal(forest, tree, node, feature - m)


@kernel
def release(forest, leaf):
    """Give a leaf's slot and statistics rows back."""
    for r in range(forest.row.shape[1]):
        if forest.row[leaf, r] >= 0:
            forest.free_rows[forest.used[ROWS]] = forest.row[leaf, r]
            forest.used[ROWS] += 1
    forest.free_leaves[forest.used[LEAVES]] = leaf
    forest.used[LEAVES] += 1


@routine
def split_numeric(forest, tree, node, j, threshold):
    """Turn a leaf into a split at a threshold; children inherit the class weights of their side."""
    leaf = forest.child[node]
    left = new_leaf(forest, tree)
    right = new_leaf(forest, tree)
    below, above = 0.0, 0.0
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        if row >= 0:
            under = weight_below(forest.gauss[row], j, threshold)
            over = forest.gauss[row, 0, j] - under
            forest.class_weight[forest.child[left], r] = under
            forest.class_weight[forest.child[right], r] = over
            below += under
            above += over
    forest.kind[node] = NUMERIC
    forest.feature[node] = j
    forest.threshold[node] = threshold
    forest.child[node] = left
    forest.fallback[node] = left if below >= above else right
    release(forest, leaf)


@routine
def split_nominal(forest, tree, node, j):
    """Turn a leaf into a split with a child for each code it has seen; children inherit the code's class weights."""
    leaf = forest.child[node]
    first_slot = forest.offset[tree, j]
    width = forest.offset[tree, j + 1] - 1 - first_slot
    branches = 0
    for v in range(width):
        if code_weight(forest, leaf, first_slot + v) > 0.0:
            branches += 1
    if forest.n_nodes[tree] + branches > forest.max_nodes[0]:
        return
    first = new_links(forest, width)
    most = -1.0
    for v in range(width):
        weight = code_weight(forest, leaf, first_slot + v)
        if weight > 0.0:
            child = new_leaf(forest, tree)
            forest.links[first + v] = child
            for r in range(forest.row.shape[1]):
                row = forest.row[leaf, r]
                if row >= 0:
                    forest.class_weight[forest.child[child], r] = forest.counts[row, first_slot + v]
            if weight > most:
                most = weight
                forest.fallback[node] = child
    forest.kind[node] = MULTIWAY
    forest.feature[node] = j
    forest.child[node] = first
    forest.width[node] = width
    release(forest, leaf)


@kernel
def code_weight(forest, leaf, slot):
    """Weight of one code in a leaf, over all classes."""
    total = 0.0
    for r in range(forest.row.shape[1]):
        if forest.row[leaf, r] >= 0:
            total += forest.counts[forest.row[leaf, r], slot]
    return total
