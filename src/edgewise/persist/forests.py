"""Whether the nodes of a forest form trees, so that no kernel reads or writes beside its arrays.

Kernels trust their arrays. Beyond what is declared of each (`declared`), the arrays of a forest are believed only if

- counters and free lists stay inside their pools;
- splits and leaves form trees: a child stands behind its parent in the pool, and has one parent;
- every leaf slot and every statistics row has one owner, a leaf or the free list;
- a split is on a feature of its tree, and the branch for missing values is one of its own.

What the floats are does not matter here: kernels that compute a place from them take any, NaN too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.learners.forest import layout
from edgewise.learners.forest.growing import fill_constants
from edgewise.learners.forest.layout import Forest, ranges, slot_offsets, sum_slots, with_width
from edgewise.learners.regression_forest import layout as regression
from edgewise.learners.regression_forest.layout import RegressionForest


def checked_forest(forest: Forest, template: Forest) -> Forest:
    """A forest of a file with what follows from it; ValueError unless its nodes form trees."""
    in_sums = forest.complete is template.complete  # the first files of format 1 have all weight in sums of features
    leaf_slots, row_slots = len(forest.class_weight), len(forest.gauss)
    forest = forest._replace(
        offset=_offsets(forest),
        gauss=with_width(forest.gauss, template.gauss.shape[2]),
        constant=np.zeros(row_slots),
        majority=np.zeros(leaf_slots, np.int32),
        has_missing=np.zeros(leaf_slots, bool),
        complete=np.zeros(row_slots) if in_sums else forest.complete,
        complete_sum=np.zeros(leaf_slots) if in_sums else forest.complete_sum,
    )
    _need(forest.complete_sum.size == leaf_slots, "complete, but no complete_sum")
    n_nodes, n_links = int(forest.used[layout.NODES]), int(forest.used[layout.LINKS])
    _need(n_links <= forest.links.size, f"{n_links} links are in use")
    kind, child, width = (part[:n_nodes].astype(np.int64) for part in (forest.kind, forest.child, forest.width))
    many = kind == layout.MULTIWAY
    _need(((width >= 1) & (child + width <= n_links))[many].all(), "links outside")
    _need(width[many].sum() <= n_links, "splits share links")
    parents, linked = np.repeat(np.flatnonzero(many), width[many]), ranges(child[many], width[many])
    _need(np.unique(linked).size == linked.size, "two splits share links")
    below = forest.links[linked].astype(np.int64)
    parents, below = parents[below >= 0], below[below >= 0]
    two = np.flatnonzero((kind == layout.NUMERIC) | (kind == layout.BINARY))
    owner = _owners(
        forest, n_nodes, np.concatenate([parents, two, two]), np.concatenate([below, child[two], child[two] + 1])
    )
    live, feature = owner >= 0, forest.feature[:n_nodes]
    for kinds, lists in (((layout.NUMERIC,), forest.numeric), ((layout.MULTIWAY, layout.BINARY), forest.nominal)):
        asking = live & np.isin(kind, kinds)
        known = feature[asking] < (lists >= 0).sum(axis=1)[owner[asking]]
        _need(known.all(), "a split is on a feature that its tree has not")
    many &= live
    codes = forest.categories[forest.nominal[owner[many], feature[many]]]
    _need((width[many] <= codes).all(), "a split of more codes than there are")
    is_leaf = live & (kind == layout.LEAF)
    leaves, of_tree = child[is_leaf], owner[is_leaf]
    _check_owned("leaves", leaves, forest.free_leaves, forest.used[layout.LEAVES])
    rows, examples, n_rows = forest.row[leaves], forest.examples[leaves], forest.n_rows[leaves]
    _need(np.array_equal((rows >= 0).sum(axis=1), n_rows), "a leaf has not as many rows as it says")
    _need(((examples >= 0) | (n_rows == 0)).all(), "a leaf of fewer than 0 examples")
    _check_owned("rows", rows[rows >= 0], forest.free_rows, forest.used[layout.ROWS])
    if in_sums:
        _take_out_of_sums(forest, leaves, of_tree)
    forest.majority[leaves] = forest.class_weight[leaves].argmax(axis=1)
    for tree in range(forest.root.size):
        own = leaves[of_tree == tree]
        forest.has_missing[own] = (forest.code_totals[np.ix_(own, sum_slots(forest, tree))] > 0.0).any(axis=1)
    fill_constants(forest, leaves, of_tree)
    return forest._replace(tree_rows=np.bincount(of_tree, n_rows, forest.root.size).astype(np.int64))


def _take_out_of_sums(forest: Forest, leaves: np.ndarray, of_tree: np.ndarray) -> None:
    """Where all nominal features of a leaf have the same sums, no example lacked a code: let that be `complete`."""
    for leaf, tree in zip(leaves.tolist(), of_tree.tolist(), strict=True):
        rows, slots = forest.row[leaf][forest.row[leaf] >= 0], sum_slots(forest, tree)
        sums = forest.counts[np.ix_(rows, slots)]
        if sums.size and (sums == sums[:, :1]).all():
            forest.complete[rows] = sums[:, 0]
            forest.complete_sum[leaf] = sums[:, 0].sum()
            forest.counts[np.ix_(rows, slots)] = 0.0
            forest.code_totals[leaf, slots] = 0.0


def has_deactivated(forest: Forest) -> bool:
    """Whether leaves keep no statistics, for which kernels need the room that comes with a budget."""
    examples = forest.examples.copy()
    examples[forest.free_leaves[: forest.used[layout.LEAVES]]] = 0
    return bool((examples == layout.DEACTIVATED).any())


def checked_regression_forest(forest: RegressionForest) -> RegressionForest:
    """The same for a forest of regression trees."""
    n_nodes = int(forest.used[regression.NODES])
    kind, child = forest.kind[:n_nodes], forest.child[:n_nodes].astype(np.int64)
    two = np.flatnonzero(kind != regression.LEAF)
    owner = _owners(forest, n_nodes, np.concatenate([two, two]), np.concatenate([child[two], child[two] + 1]))
    for of_kind, size in ((regression.NUMERIC, forest.moments.shape[1]), (regression.BINARY, forest.categories.size)):
        asked = forest.feature[:n_nodes][(owner >= 0) & (kind == of_kind)]
        _need((asked < size).all(), "a split is on a column that there is not")
    leaves = child[(owner >= 0) & (kind == regression.LEAF)]
    _check_owned("leaves", leaves, forest.free_leaves, forest.used[regression.LEAVES])
    return forest._replace(offset=_offsets(forest))


def _need(held: Any, message: str) -> None:
    if not held:
        raise ValueError(f"the arrays of its forest do not fit together: {message}")


def _offsets(forest: Any) -> np.ndarray:
    """Where the categories of each nominal feature are counted: there may be room for more than the columns have."""
    nominal = np.zeros((forest.root.size, forest.categories.size), bool)
    tree, place = np.nonzero(forest.nominal >= 0)
    nominal[tree, forest.nominal[tree, place]] = True
    return slot_offsets(nominal, forest.categories)


def _owners(forest: Any, n_nodes: int, parents: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The tree of every node in use, -1 for nodes of trees that began anew.

    A child stands behind its parent, so there are no circles; going from every node to its grandparent, and to the
    grandparent's so found, reaches all roots in a number of steps that is the logarithm of the depth.
    """
    root = forest.root
    _need(n_nodes <= forest.kind.size, f"{n_nodes} nodes are in use")
    _need(((below > parents) & (below < n_nodes)).all(), "a child that does not stand behind its parent")
    _need(np.unique(below).size == below.size, "a node with two parents")
    parent = np.arange(n_nodes)
    parent[below] = parents
    _need((root < n_nodes).all() and np.unique(root).size == root.size, "a root outside")
    _need((parent[root] == root).all(), "a root with a parent")
    top = parent
    while not np.array_equal(top[top], top):
        top = top[top]
    tree = np.full(n_nodes, -1)
    tree[root] = np.arange(root.size)
    owner = tree[top]
    counted = np.bincount(owner[owner >= 0], minlength=root.size)
    _need(np.array_equal(counted, forest.n_nodes), "a tree has not as many nodes as it says")
    splits = np.flatnonzero((owner >= 0) & (forest.kind[:n_nodes] != layout.LEAF))
    chosen = forest.fallback[splits].astype(np.int64)
    _need(((chosen > splits) & (chosen < n_nodes)).all(), "a branch for missing values outside")
    _need((parent[chosen] == splits).all(), "a branch for missing values of another split")
    return owner


def _check_owned(name: str, used: np.ndarray, free: np.ndarray, n_free: int) -> None:
    """ValueError unless every slot of a pool is used once, or is in the free list once."""
    _need(n_free <= free.size, f"{n_free} free {name} in a list of {free.size}")
    slots = np.concatenate([used, free[:n_free]]).astype(np.int64)
    _need(np.array_equal(np.sort(slots), np.arange(free.size)), f"{name} that have no owner, or two")
