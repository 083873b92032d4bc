"""The arrays of a forest of regression trees, how they are made, and how they grow.

A leaf keeps, for each numeric feature, the weight and the target sums of its examples in a fixed number of bins, and
the same for each code of a nominal feature. The grid of bins is the leaf's own: children lay theirs over what their
parent has seen, so that bins become finer where a tree looks closer. Pools grow in place, outside the kernels: a
kernel stops before an example for which there may be no capacity, and is called again with larger pools.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined
from edgewise.kernels.state import state
from edgewise.learners.forest.capacity import larger, lengthened, with_free_slots
from edgewise.learners.forest.layout import column_lists, more_categories, moved_slots, slot_offsets

LEAF, NUMERIC, BINARY = 0, 1, 2
# First number of a bin or slot; the target sums follow.
WEIGHT = 0
# Columns of RegressionForest.total: weight and sum of squared target norms since the leaf was made, weight since the
# last attempt to split; then the target sums.
SEEN, SQUARES, PENDING, SUMS = 0, 1, 2, 3
# Counters in RegressionForest.used.
NODES, LEAVES = 0, 1


@state
class RegressionForest(NamedTuple):
    """n trees for m outputs; F numeric features and V nominal slots a tree may use, B bins."""

    # fixed for a forest
    grace: np.ndarray  # [n] weight between two attempts
    log_confidence: np.ndarray  # [n] ln(1/delta) of the Hoeffding bound
    tie: np.ndarray  # [n] bound below which a split is made although the gap is smaller
    least_gain: np.ndarray  # [n] variance reduction that a split needs, in variances of one example
    max_depth: np.ndarray  # [n]
    smoothing: np.ndarray  # [n] examples of target 0 that every leaf mean starts with
    memory: np.ndarray  # [n] examples that a leaf mean remembers
    numeric: np.ndarray  # [n, F] columns of the numeric part that tree n uses, -1 after the last
    nominal: np.ndarray  # [n, .] columns of the nominal part, -1 after the last
    categories: np.ndarray  # [columns] number of codes that have slots, per nominal column
    offset: np.ndarray  # [n, . + 1] first slot of each nominal feature; its last slot is the sum over codes
    # trees
    root: np.ndarray  # [n]
    n_nodes: np.ndarray  # [n]
    kind: np.ndarray  # [nodes] LEAF, NUMERIC or BINARY
    feature: np.ndarray  # [nodes] column of the numeric or of the nominal part
    threshold: np.ndarray  # [nodes] NUMERIC: least value on the right; BINARY: the code on the left
    child: np.ndarray  # [nodes] left child, right one next; LEAF: the leaf
    fallback: np.ndarray  # [nodes] child for missing values
    depth: np.ndarray  # [nodes] splits above
    # leaves
    mass: np.ndarray  # [leaves] weight behind the leaf's mean
    sums: np.ndarray  # [leaves, m] sum of targets behind it, forgotten at the rate of `memory`
    total: np.ndarray  # [leaves, 3 + m] never forgotten: see SEEN, SQUARES, PENDING, SUMS
    low: np.ndarray  # [leaves, F] where the grid begins
    density: np.ndarray  # [leaves, F] bins per unit; 0 where the column has not varied yet
    bins: np.ndarray  # [leaves, F, B, 1 + m]
    slots: np.ndarray  # [leaves, V, 1 + m]
    # running moments of every numeric column: count, mean, sum of squares
    moments: np.ndarray  # [3, columns]
    # bookkeeping
    free_leaves: np.ndarray
    used: np.ndarray  # [2] nodes, free leaves left


NODE_FIELDS = ("kind", "feature", "threshold", "child", "fallback", "depth")
LEAF_FIELDS = ("mass", "sums", "total", "low", "density", "bins", "slots")
ROOM = 2  # nodes and leaves that one tree may take when it learns one example


def make_regression_forest(
    *,
    n_outputs: int,
    grace: np.ndarray,
    confidence: np.ndarray,
    tie: np.ndarray,
    least_gain: np.ndarray,
    max_depth: np.ndarray,
    smoothing: np.ndarray,
    memory: np.ndarray,
    numeric: np.ndarray,
    nominal: np.ndarray,
    n_bins: int,
    categories: np.ndarray,
) -> RegressionForest:
    """A forest of single leaves. `numeric` and `nominal` are Boolean [trees, columns]: which columns a tree may use."""
    n = grace.size
    offset = slot_offsets(nominal, categories)
    leaves = n + ROOM
    n_features = int(numeric.sum(axis=1).max(initial=0))
    forest = RegressionForest(
        grace=grace.astype(float),
        log_confidence=np.log(1.0 / confidence.astype(float)),
        tie=tie.astype(float),
        least_gain=least_gain.astype(float),
        max_depth=max_depth.astype(np.int64),
        smoothing=smoothing.astype(float),
        memory=memory.astype(float),
        numeric=column_lists(numeric),
        nominal=column_lists(nominal),
        categories=categories.astype(np.int64),
        offset=offset,
        root=np.arange(n, dtype=np.int64),
        n_nodes=np.ones(n, np.int64),
        kind=np.zeros(leaves, np.int8),
        feature=np.zeros(leaves, np.int32),
        threshold=np.zeros(leaves),
        child=np.zeros(leaves, np.int32),
        fallback=np.zeros(leaves, np.int32),
        depth=np.zeros(leaves, np.int32),
        mass=np.zeros(leaves),
        sums=np.zeros((leaves, n_outputs)),
        total=np.zeros((leaves, SUMS + n_outputs)),
        low=np.zeros((leaves, max(1, n_features))),
        density=np.zeros((leaves, max(1, n_features))),
        bins=np.zeros((leaves, max(1, n_features), n_bins, 1 + n_outputs)),
        slots=np.zeros((leaves, max(1, int(offset[:, -1].max(initial=0))), 1 + n_outputs)),
        moments=np.zeros((3, numeric.shape[1])),
        free_leaves=np.arange(leaves - 1, -1, -1, dtype=np.int32),
        used=np.array([n, leaves - n], np.int64),
    )
    forest.child[:n] = np.arange(n)  # leaf slots 0..n-1, taken from the end of the free list
    return forest


@inlined
def has_capacity(forest):
    """Whether a tree may learn an example in the pools as they are."""
    return forest.used[NODES] + ROOM <= forest.kind.size and forest.used[LEAVES] >= ROOM


def enlarged(forest: RegressionForest) -> RegressionForest:
    """The forest with more capacity in each pool that `has_capacity` would find too small."""
    changes: dict[str, np.ndarray] = {}
    free = int(forest.used[LEAVES])
    for fields, left in ((NODE_FIELDS, forest.kind.size - forest.used[NODES]), (LEAF_FIELDS, free)):
        if left < ROOM:
            pool = {field: getattr(forest, field) for field in reversed(fields)}
            capacity = larger(len(pool[fields[0]]), ROOM, sum(array.nbytes for array in pool.values()))
            changes |= {field: lengthened(array, capacity) for field, array in pool.items()}
    if "mass" in changes:
        slots = with_free_slots(forest.free_leaves, free, len(changes["mass"]))
        changes["free_leaves"], forest.used[LEAVES] = slots
    return forest._replace(**changes)


def forest_with_categories(forest: RegressionForest, categories: np.ndarray) -> RegressionForest:
    """The forest with slots for more codes per nominal column; what it has counted moves to the new slots."""
    wider, offset = more_categories(forest, categories)
    slots = np.zeros((len(forest.slots), max(1, int(offset[:, -1].max(initial=0))), forest.slots.shape[2]))
    for tree in range(forest.root.size):
        leaves = np.array(leaves_of(forest, tree))
        before, after = moved_slots(forest, tree, offset)
        slots[np.ix_(leaves, after)] = forest.slots[np.ix_(leaves, before)]
    return forest._replace(categories=wider, offset=offset, slots=slots)


def leaves_of(forest: RegressionForest, tree: int) -> list[int]:
    """The slots of a tree's leaves."""
    found: list[int] = []
    pending = [int(forest.root[tree])]
    while pending:
        node = pending.pop()
        first = int(forest.child[node])
        if forest.kind[node] == LEAF:
            found.append(first)
        else:
            pending += [first, first + 1]
    return found


def regression_structure(forest: RegressionForest, tree: int) -> tuple[Any, ...]:
    """("numeric", column, threshold, left, right), ("binary", column, code, equal, rest) or ("leaf", mean).

    `column` counts the numeric and the nominal columns apart, from 0 each.
    """

    def of(node: int) -> tuple[Any, ...]:
        first = int(forest.child[node])
        if forest.kind[node] == LEAF:
            weight = forest.mass[first] + forest.smoothing[tree]
            return ("leaf", (forest.sums[first] / weight if weight > 0.0 else 0.0 * forest.sums[first]).tolist())
        cut = float(forest.threshold[node])
        if forest.kind[node] == NUMERIC:
            return ("numeric", int(forest.feature[node]), cut, of(first), of(first + 1))
        return ("binary", int(forest.feature[node]), int(cut), of(first), of(first + 1))

    return of(int(forest.root[tree]))
