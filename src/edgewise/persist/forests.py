"""Whether the arrays of a forest fit together, so that no kernel reads or writes beside them.

Kernels trust their arrays. A file can be made by hand, and so the arrays of a forest are believed only if

- every pool's arrays are of one length, and counters and free lists stay inside it;
- splits and leaves form trees: a child stands behind its parent in the pool, and has one parent;
- every leaf slot and every statistics row has one owner, a leaf or the free list;
- what a split asks is a feature of its tree, and the branch for missing values is one of its own.

What the floats are does not matter here: kernels that compute a place from them take any, NaN too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.learners.forest import layout
from edgewise.learners.forest.growing import fill_constants
from edgewise.learners.forest.layout import Forest, ranges, slot_offsets, sum_slots, with_width
from edgewise.learners.regression_forest import layout as regression_layout
from edgewise.learners.regression_forest.layout import RegressionForest


def checked_forest(forest: Forest, template: Forest, n_categories: np.ndarray) -> Forest:
    """A forest of a file with what follows from it; ValueError unless its arrays fit together."""
    in_sums = forest.complete is template.complete  # the first files of format 1 have all weight in sums of features
    leaf_slots, row_slots = len(forest.class_weight), len(forest.gauss)
    forest = _with_offsets(forest, template, n_categories)._replace(
        constant=np.zeros(row_slots),
        majority=np.zeros(leaf_slots, np.int32),
        gapped=np.zeros(leaf_slots, bool),
    )
    if in_sums:
        forest = forest._replace(complete=np.zeros(row_slots), complete_sum=np.zeros(leaf_slots))
    for pool, fields in layout.GROWING.items():
        size = len(getattr(forest, fields[0]))
        for name in fields:
            _need(len(getattr(forest, name)) == size, f"{name} has {len(getattr(forest, name))} entries, not {size}")
        if pool != layout.LINKS:
            least = len(getattr(template, fields[0]))
            _need(size >= least, f"{fields[0]} has {size} entries: a new forest has {least}")
    for name in ("class_weight", "row", "tally"):
        _need(getattr(forest, name).shape[1:] == getattr(template, name).shape[1:], f"{name} is not of the right width")
    n_numeric = template.numeric.shape[1]
    _need(forest.gauss.shape[1:] == (template.gauss.shape[1], n_numeric), "gauss is not of the right width")
    forest = forest._replace(gauss=with_width(forest.gauss, template.gauss.shape[2]))
    slots = int(forest.offset[:, -1].max(initial=0))
    for name in ("margin", "counts"):
        _need(slots <= getattr(forest, name).shape[1] <= max(1, slots), f"{name} is not of the right width")
    _need(forest.moments.shape == template.moments.shape, "moments are not of the right width")
    n_nodes, n_links = forest.used[layout.NODES], forest.used[layout.LINKS]
    _need(0 <= n_links <= forest.links.size, f"{n_links} links are in use")
    _need(0 <= n_nodes <= forest.kind.size, f"{n_nodes} nodes are in use")
    kind, child, width = (part[:n_nodes].astype(np.int64) for part in (forest.kind, forest.child, forest.width))
    _need(np.isin(kind, (layout.LEAF, layout.NUMERIC, layout.MULTIWAY, layout.BINARY)).all(), "a node of no kind")
    many = kind == layout.MULTIWAY
    inside = (child >= 0) & (width >= 1) & (child + width <= n_links)
    _need(inside[many].all(), "links outside")
    parents, linked = np.repeat(np.flatnonzero(many), width[many]), ranges(child[many], width[many])
    _need(np.unique(linked).size == linked.size, "two splits share links")
    below = forest.links[linked].astype(np.int64)
    parents, below = parents[below >= 0], below[below >= 0]
    two = np.flatnonzero((kind == layout.NUMERIC) | (kind == layout.BINARY))
    parents, below = np.concatenate([parents, two, two]), np.concatenate([below, child[two], child[two] + 1])
    owner, live = _owners(forest.root, n_nodes, parents, below)
    _check_fallbacks(forest.fallback, live & (kind != layout.LEAF), parents, below)
    counted = np.bincount(owner[live], minlength=forest.root.size)
    _need(np.array_equal(counted, forest.n_nodes), "a tree has not as many nodes as it says")
    _check_features(forest, owner, live, kind)
    leaves = child[live & (kind == layout.LEAF)]
    _check_owned("leaves", leaves, forest.free_leaves, forest.used[layout.LEAVES], len(forest.row))
    rows = forest.row[leaves]
    _need((rows >= -1).all(), "a statistics row outside")
    _need(np.array_equal((rows >= 0).sum(axis=1), forest.n_rows[leaves]), "a leaf has not as many rows as it says")
    examples, n_rows = forest.examples[leaves], forest.n_rows[leaves]
    _need(((examples >= 0) | ((examples == layout.ASLEEP) & (n_rows == 0))).all(), "a leaf of fewer than 0 examples")
    used = rows[rows >= 0]
    _check_owned("rows", used, forest.free_rows, forest.used[layout.ROWS], len(forest.constant))
    of_tree = owner[live & (kind == layout.LEAF)]
    if in_sums:
        _take_out_of_sums(forest, leaves, of_tree)
    forest.majority[leaves] = forest.class_weight[leaves].argmax(axis=1)
    for tree in range(forest.root.size):
        own = leaves[of_tree == tree]
        forest.gapped[own] = (forest.margin[np.ix_(own, sum_slots(forest, tree))] > 0.0).any(axis=1)
    fill_constants(forest, leaves, of_tree)
    tree_rows = np.bincount(of_tree, n_rows, forest.root.size)
    return forest._replace(tree_rows=tree_rows.astype(np.int64))


def _take_out_of_sums(forest: Forest, leaves: np.ndarray, of_tree: np.ndarray) -> None:
    """Where all nominal features of a leaf have the same sums, no example lacked a code: let that be `complete`."""
    for leaf, tree in zip(leaves.tolist(), of_tree.tolist(), strict=True):
        rows, slots = forest.row[leaf][forest.row[leaf] >= 0], sum_slots(forest, tree)
        sums = forest.counts[np.ix_(rows, slots)]
        if sums.size and (sums == sums[:, :1]).all():
            forest.complete[rows] = sums[:, 0]
            forest.complete_sum[leaf] = sums[:, 0].sum()
            forest.counts[np.ix_(rows, slots)] = 0.0
            forest.margin[leaf, slots] = 0.0


def has_sleepers(forest: Forest) -> bool:
    """Whether leaves keep no statistics, for which kernels need the room that comes with a budget."""
    examples = forest.examples.copy()
    examples[forest.free_leaves[: forest.used[layout.LEAVES]]] = 0
    return bool((examples == layout.ASLEEP).any())


def checked_regression_forest(
    forest: RegressionForest, template: RegressionForest, n_categories: np.ndarray
) -> RegressionForest:
    """The same for a forest of regression trees."""
    forest = _with_offsets(forest, template, n_categories)
    for fields in (regression_layout.NODE_FIELDS, regression_layout.LEAF_FIELDS):
        size, least = len(getattr(forest, fields[0])), len(getattr(template, fields[0]))
        _need(size >= least, f"{fields[0]} has {size} entries: a new forest has {least}")
        for name in fields:
            _need(len(getattr(forest, name)) == size, f"{name} has {len(getattr(forest, name))} entries, not {size}")
    for name in ("sums", "total", "low", "density", "bins"):
        _need(getattr(forest, name).shape[1:] == getattr(template, name).shape[1:], f"{name} is not of the right width")
    slots = int(forest.offset[:, -1].max(initial=0))
    _need(slots <= forest.slots.shape[1] <= max(1, slots), "slots is not of the right width")
    _need(forest.slots.shape[2] == template.slots.shape[2], "slots is not of the right depth")
    _need(forest.moments.shape == template.moments.shape, "moments are not of the right width")
    n_nodes = forest.used[regression_layout.NODES]
    _need(0 <= n_nodes <= forest.kind.size, f"{n_nodes} nodes are in use")
    kind, child = forest.kind[:n_nodes].astype(np.int64), forest.child[:n_nodes].astype(np.int64)
    known = (regression_layout.LEAF, regression_layout.NUMERIC, regression_layout.BINARY)
    _need(np.isin(kind, known).all(), "a node of no kind")
    two = np.flatnonzero(kind != regression_layout.LEAF)
    parents, below = np.concatenate([two, two]), np.concatenate([child[two], child[two] + 1])
    owner, live = _owners(forest.root, n_nodes, parents, below)
    _check_fallbacks(forest.fallback, live & (kind != regression_layout.LEAF), parents, below)
    counted = np.bincount(owner[live], minlength=forest.root.size)
    _need(np.array_equal(counted, forest.n_nodes), "a tree has not as many nodes as it says")
    feature = forest.feature[:n_nodes]
    columns = {regression_layout.NUMERIC: forest.moments.shape[1], regression_layout.BINARY: forest.categories.size}
    for of_kind, size in columns.items():
        asked = feature[live & (kind == of_kind)]
        _need(((asked >= 0) & (asked < size)).all(), "a split asks for a column that there is not")
    leaves = child[live & (kind == regression_layout.LEAF)]
    free = forest.used[regression_layout.LEAVES]
    _check_owned("leaves", leaves, forest.free_leaves, free, forest.mass.size)
    return forest


def _need(held: Any, message: str) -> None:
    if not held:
        raise ValueError(f"the arrays of its forest do not fit together: {message}")


def _with_offsets(forest: Any, template: Any, n_categories: np.ndarray) -> Any:
    """The forest with the offsets of its categories, of which there are at least as many as the columns have."""
    for name in ("categories", "root", "n_nodes", "used"):
        shape = getattr(template, name).shape
        _need(getattr(forest, name).shape == shape, f"{name} has shape {getattr(forest, name).shape}, not {shape}")
    categories = forest.categories
    _need(((categories >= n_categories) & (categories < 1 << 31)).all(), "too few categories")
    nominal = np.zeros((forest.root.size, categories.size), bool)
    tree, place = np.nonzero(forest.nominal >= 0)
    nominal[tree, forest.nominal[tree, place]] = True
    return forest._replace(offset=slot_offsets(nominal, categories))


def _owners(root: np.ndarray, n_nodes: int, parents: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The tree of every node in use, and which nodes belong to one; nodes of trees that began anew do not.

    A child stands behind its parent, so there are no circles; going from every node to its grandparent, and to the
    grandparent's so found, reaches all roots in a number of steps that is the logarithm of the depth.
    """
    _need(((below > parents) & (below < n_nodes)).all(), "a child that does not stand behind its parent")
    _need(np.unique(below).size == below.size, "a node with two parents")
    top = np.arange(n_nodes)
    top[below] = parents
    _need(((root >= 0) & (root < n_nodes)).all() and np.unique(root).size == root.size, "a root outside")
    _need((top[root] == root).all(), "a root with a parent")
    while True:
        higher = top[top]
        if np.array_equal(higher, top):
            break
        top = higher
    tree = np.full(n_nodes, -1)
    tree[root] = np.arange(root.size)
    owner = tree[top]
    return owner, owner >= 0


def _check_fallbacks(fallback: np.ndarray, splits: np.ndarray, parents: np.ndarray, below: np.ndarray) -> None:
    parent_of = np.full(splits.size, -1)
    parent_of[below] = parents
    chosen = fallback[: splits.size][splits].astype(np.int64)
    inside = (chosen >= 0) & (chosen < splits.size)
    _need(inside.all(), "a branch for missing values outside")
    _need((parent_of[chosen] == np.flatnonzero(splits)).all(), "a branch for missing values of another split")


def _check_features(forest: Forest, owner: np.ndarray, live: np.ndarray, kind: np.ndarray) -> None:
    feature = forest.feature[: kind.size]
    for kinds, lists in (((layout.NUMERIC,), forest.numeric), ((layout.MULTIWAY, layout.BINARY), forest.nominal)):
        size = (lists >= 0).sum(axis=1)
        asking = live & np.isin(kind, kinds)
        asked = feature[asking]
        _need(((asked >= 0) & (asked < size[owner[asking]])).all(), "a split asks for a feature that its tree has not")
    many = live & (kind == layout.MULTIWAY)
    column = forest.nominal[owner[many], feature[many]]
    _need((forest.width[: kind.size][many] <= forest.categories[column]).all(), "a split of more codes than there are")


def _check_owned(name: str, used: np.ndarray, free: np.ndarray, n_free: int, size: int) -> None:
    """Every slot of a pool is used once, or is in the free list once."""
    _need(free.size == size and 0 <= n_free <= size, f"the free {name} are not a list of the pool's length")
    slots = np.concatenate([used, free[:n_free]]).astype(np.int64)
    _need(np.array_equal(np.sort(slots), np.arange(size)), f"{name} that have no owner, or two")
