"""The arrays of a forest, how they are made, and how more columns and categories fit in.

Nodes, leaves and statistics rows of all trees live in shared pools. A row holds what one leaf has counted of one
class, and exists only once that leaf has seen that class. Slots of split leaves are reused; `capacity` enlarges pools.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from edgewise.kernels.simd import round_up_4
from edgewise.kernels.state import state

LEAF, NUMERIC, MULTIWAY, BINARY = 0, 1, 2, 3
MAJORITY, NAIVE_BAYES, ADAPTIVE, MIXED = 0, 1, 2, 3
LEAF_MODES = {"majority": MAJORITY, "naive_bayes": NAIVE_BAYES, "adaptive": ADAPTIVE, "mixed": MIXED}

# Fields of a statistics row: weight, mean, sum of squares, least and largest value, 1/variance used by naive Bayes.
WEIGHT, MEAN, SQUARES, LOW, HIGH, PRECISION = 0, 1, 2, 3, 4, 5
# Counters in Forest.used.
NODES, LINKS, LEAVES, ROWS = 0, 1, 2, 3
# Sums in a leaf, Forest.leaf_counters: weight since the leaf was made, weight since the last attempt, weight predicted
# right by majority and by naive Bayes. PENDING of a deactivated leaf is its promise when it was last looked at.
SEEN, PENDING, RIGHT_MAJORITY, RIGHT_BAYES = 0, 1, 2, 3

NO_LIMIT = np.iinfo(np.int64).max
DEACTIVATED = -1  # Forest.examples of a leaf that keeps no statistics


@state
class Forest(NamedTuple):
    """N trees over k labels. Shapes: n trees, m numeric and c nominal features a tree may use, V nominal slots."""

    # fixed for a forest
    mode: np.ndarray  # [n] how leaves predict
    binary: np.ndarray  # [n] whether nominal features split into one code and the rest
    warm: np.ndarray  # [n] whether children inherit statistics
    max_nodes: np.ndarray  # [n]
    grace: np.ndarray  # [n] weight between two attempts
    log_confidence: np.ndarray  # [n] ln(1/delta) of the Hoeffding bound
    tie: np.ndarray  # [n] bound below which a split is made although the gap is smaller
    numeric: np.ndarray  # [n, m] columns of the numeric part that tree n uses, -1 after the last
    nominal: np.ndarray  # [n, c] columns of the nominal part, -1 after the last
    categories: np.ndarray  # [columns] number of codes that have slots, per nominal column
    # [n, c + 1] first slot of each nominal feature in `counts`: one for each code, and a last one for their sum
    offset: np.ndarray
    # limits under a budget of bytes; `node_limit` is never above `max_nodes`
    node_limit: np.ndarray  # [n]
    row_limit: np.ndarray  # [n]
    # trees
    root: np.ndarray  # [n]
    n_nodes: np.ndarray  # [n]
    tree_rows: np.ndarray  # [n] statistics rows that a tree holds
    kind: np.ndarray  # [nodes] LEAF, NUMERIC, MULTIWAY or BINARY
    feature: np.ndarray  # [nodes] place in the tree's list of numeric or nominal features
    threshold: np.ndarray  # [nodes] NUMERIC: largest value on the left; BINARY: the code on the left
    child: np.ndarray  # [nodes] NUMERIC, BINARY: left child, right one next; MULTIWAY: first link; LEAF: the leaf
    width: np.ndarray  # [nodes] MULTIWAY: number of links
    fallback: np.ndarray  # [nodes] child for missing values
    links: np.ndarray  # [links] child node of each code, -1 where there is none
    # leaves
    class_weight: np.ndarray  # [leaves, k] weight of each class, with what was inherited at the split
    majority: np.ndarray  # [leaves] the class of most weight
    row: np.ndarray  # [leaves, k] statistics row of each class, -1 where none was seen since the leaf was made
    leaf_counters: np.ndarray  # [leaves, 4]
    code_totals: np.ndarray  # [leaves, V] counts over all classes: the sum of the leaf's rows of `counts`
    has_missing: np.ndarray  # [leaves] whether there is a sum among them that is not 0
    complete_sum: np.ndarray  # [leaves] `complete` over all classes, added up as examples came
    examples: np.ndarray  # [leaves] learned since the leaf was made or reactivated, or DEACTIVATED
    n_rows: np.ndarray  # [leaves] classes seen since the leaf was made
    # statistics rows
    gauss: np.ndarray  # [rows, 6, m in fours]; beyond a tree's features, the rest of a four is of no meaning
    constant: (
        np.ndarray
    )  # [rows] log(class weight) + sum of log(precision)/2, for naive Bayes; 0 where MAJORITY predicts
    counts: np.ndarray  # [rows, V] counts of codes; the sum of a feature leaves out examples that lacked no code
    complete: np.ndarray  # [rows] weight of the examples that lacked no code
    # running moments of every numeric column: count, mean, sum of squares
    moments: np.ndarray  # [3, columns]
    # bookkeeping
    free_leaves: np.ndarray
    free_rows: np.ndarray
    used: np.ndarray  # [4] nodes, links, free leaves left, free rows left
    places: np.ndarray  # [2, .] workspace under a budget: for the nodes of any one tree, twice


def _fields(first: str, last: str) -> tuple[str, ...]:
    """The names of the fields of a forest from one to another."""
    return Forest._fields[Forest._fields.index(first) : Forest._fields.index(last) + 1]


GROWING = {
    NODES: _fields("kind", "fallback"),
    LINKS: ("links",),
    LEAVES: _fields("class_weight", "n_rows"),
    ROWS: _fields("gauss", "complete"),
}
FREE = {LEAVES: "free_leaves", ROWS: "free_rows"}


def make_forest(
    *,
    n_labels: int,
    mode: np.ndarray,
    binary: np.ndarray,
    warm: np.ndarray,
    max_nodes: np.ndarray,
    grace: np.ndarray,
    confidence: np.ndarray,
    tie: np.ndarray,
    numeric: np.ndarray,
    nominal: np.ndarray,
    n_numeric: int,
    categories: np.ndarray,
) -> Forest:
    """A forest of single leaves. `numeric` and `nominal` are Boolean [trees, columns]: which columns a tree may use."""
    n = grace.size
    offset = slot_offsets(nominal, categories)
    leaves, rows = 2 * n, n * min(n_labels, 4) + 2
    forest = Forest(
        mode=mode.astype(np.int64),
        binary=binary.astype(bool),
        warm=warm.astype(bool),
        max_nodes=max_nodes.astype(np.int64),
        grace=grace.astype(float),
        log_confidence=np.log(1.0 / confidence.astype(float)),
        tie=tie.astype(float),
        numeric=column_lists(numeric),
        nominal=column_lists(nominal),
        categories=categories.astype(np.int64),
        offset=offset,
        node_limit=max_nodes.astype(np.int64),
        row_limit=np.full(n, NO_LIMIT),
        root=np.arange(n, dtype=np.int64),
        n_nodes=np.ones(n, np.int64),
        tree_rows=np.zeros(n, np.int64),
        kind=np.zeros(leaves, np.int8),
        feature=np.zeros(leaves, np.int32),
        threshold=np.zeros(leaves),
        child=np.zeros(leaves, np.int32),
        width=np.zeros(leaves, np.int32),
        fallback=np.zeros(leaves, np.int32),
        links=np.zeros(1, np.int32),
        class_weight=np.zeros((leaves, n_labels)),
        majority=np.zeros(leaves, np.int32),
        row=np.full((leaves, n_labels), -1, np.int32),
        leaf_counters=np.zeros((leaves, 4)),
        code_totals=np.zeros((leaves, max(1, int(offset[:, -1].max(initial=0))))),
        has_missing=np.zeros(leaves, bool),
        complete_sum=np.zeros(leaves),
        examples=np.zeros(leaves, np.int64),
        n_rows=np.zeros(leaves, np.int64),
        gauss=np.zeros((rows, 6, statistics_width(numeric))),
        constant=np.zeros(rows),
        counts=np.zeros((rows, max(1, int(offset[:, -1].max(initial=0))))),
        complete=np.zeros(rows),
        moments=np.zeros((3, n_numeric)),
        free_leaves=np.arange(leaves - 1, -1, -1, dtype=np.int32),
        free_rows=np.arange(rows - 1, -1, -1, dtype=np.int32),
        used=np.array([n, 0, leaves - n, rows], np.int64),
        places=np.zeros((2, 1), np.int32),
    )
    forest.child[:n] = np.arange(n)  # leaf slots 0..n-1, taken from the end of the free list
    return forest


def column_lists(allowed: np.ndarray) -> np.ndarray:
    """Boolean [trees, columns] -> [trees, m] column numbers, padded with -1."""
    counts = allowed.sum(axis=1)
    lists = np.full((len(allowed), max(1, int(counts.max(initial=0)))), -1, np.int32)
    trees, columns = np.nonzero(allowed)
    lists[trees, np.arange(trees.size) - (np.cumsum(counts) - counts)[trees]] = columns
    return lists


def slot_offsets(nominal: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """First slot of each nominal feature of each tree: a slot for each code, and one for their sum."""
    lists = column_lists(nominal)
    sizes = np.where(lists >= 0, categories[lists] + 1, 0) if categories.size else np.zeros(lists.shape, np.int64)
    return np.concatenate([np.zeros((len(lists), 1), np.int64), np.cumsum(sizes, axis=1)], axis=1)


def sum_slots(forest: Forest, tree: int) -> np.ndarray:
    """The slots in which a tree has the sums of its nominal features."""
    return forest.offset[tree, 1 : 1 + int((forest.nominal[tree] >= 0).sum())] - 1


def statistics_width(numeric: np.ndarray) -> int:
    """Numeric features that a statistics row can hold; `numeric` is Boolean [trees, columns], those a tree may use."""
    return round_up_4(int(numeric.sum(axis=1).max(initial=0))) or 1


def with_width(gauss: np.ndarray, width: int) -> np.ndarray:
    """Statistics for so many numeric features, and not less than they had; new ones are as in a new row."""
    wider = np.zeros((*gauss.shape[:2], max(width, gauss.shape[2])))
    wider[:, LOW], wider[:, HIGH] = np.inf, -np.inf
    wider[:, :, : gauss.shape[2]] = gauss
    return wider


def with_features(forest: Forest, width: int) -> Forest:
    """The forest with statistics for more numeric features; those that trees are about to get are as in a new row."""
    gauss = with_width(forest.gauss, width)
    for tree in range(forest.root.size):
        rows, known = statistics_of(forest, leaves_of(forest, tree)), int((forest.numeric[tree] >= 0).sum())
        gauss[rows, :, known:] = 0.0
        gauss[rows, LOW, known:], gauss[rows, HIGH, known:] = np.inf, -np.inf
    return forest._replace(gauss=gauss)


def ranges(first: np.ndarray, width: np.ndarray) -> np.ndarray:
    """first[0], first[0] + 1, ..., first[1], ...: as many of each as its width."""
    behind = np.cumsum(width) - width
    return np.repeat(first - behind, width) + np.arange(int(width.sum()))


def more_categories(forest: Any, categories: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of each nominal column that a forest of either kind gets slots for, and its new `slot_offsets`."""
    wider = np.maximum(forest.categories, np.where(categories > forest.categories, 2 * categories, 0))
    nominal = np.zeros((forest.root.size, wider.size), bool)
    for tree, columns in enumerate(forest.nominal):
        nominal[tree, columns[columns >= 0]] = True
    return wider, slot_offsets(nominal, wider)


def moved_slots(forest: Any, tree: int, offset: np.ndarray) -> np.ndarray:
    """The slots of a tree's codes and of their sums, and where they are with new `slot_offsets`."""
    places: tuple[list[int], list[int]] = [], []
    for j, column in enumerate(forest.nominal[tree]):
        if column >= 0:
            for slots, first in zip(places, (forest.offset[tree], offset[tree]), strict=True):
                slots += [*range(first[j], first[j] + forest.categories[column]), first[j + 1] - 1]
    return np.array(places, np.int64)


def with_categories(forest: Forest, categories: np.ndarray) -> Forest:
    """The forest with slots for more codes per nominal column; what it has counted moves to the new slots."""
    wider, offset = more_categories(forest, categories)
    width = int(offset[:, -1].max())
    counts, code_totals = np.zeros((len(forest.counts), width)), np.zeros((len(forest.code_totals), width))
    for tree in range(forest.root.size):
        leaves = leaves_of(forest, tree)
        rows = statistics_of(forest, leaves)
        old, new = moved_slots(forest, tree, offset)
        for before, after, held in ((forest.counts, counts, rows), (forest.code_totals, code_totals, np.array(leaves))):
            after[np.ix_(held, new)] = before[np.ix_(held, old)]
    return forest._replace(categories=wider, offset=offset, counts=counts, code_totals=code_totals)


def with_gaps(forest: Forest) -> Forest:
    """The forest, to which nominal columns are about to come that no example has shown: none is complete any more."""
    counts, code_totals, has_missing = forest.counts.copy(), forest.code_totals.copy(), forest.has_missing.copy()
    for tree in range(forest.root.size):
        slots = sum_slots(forest, tree)
        for leaf in leaves_of(forest, tree):
            rows = statistics_of(forest, leaf)
            counts[np.ix_(rows, slots)] += forest.complete[rows, None]
            code_totals[leaf, slots] += forest.complete_sum[leaf]
            has_missing[leaf] = (code_totals[leaf, slots] > 0.0).any()
    none = {"complete": np.zeros_like(forest.complete), "complete_sum": np.zeros_like(forest.complete_sum)}
    return forest._replace(counts=counts, code_totals=code_totals, has_missing=has_missing, **none)


def leaves_of(forest: Forest, tree: int) -> list[int]:
    """The slots of a tree's leaves."""
    nodes = nodes_below(forest, int(forest.root[tree]))
    return [int(forest.child[node]) for node in nodes if forest.kind[node] == LEAF]


def statistics_of(forest: Forest, leaves: list[int] | int) -> np.ndarray:
    """The statistics rows of a leaf, or of several."""
    rows = forest.row[leaves].ravel()
    return rows[rows >= 0]


def nodes_below(forest: Forest, root: int) -> Iterator[int]:
    """A node and all below it."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if forest.kind[node] != LEAF:
            pending.extend(children(forest, node))


def children(forest: Forest, node: int) -> list[int]:
    """The child nodes of a split, in order of branch or code, leaving out codes without a child."""
    first = int(forest.child[node])
    if forest.kind[node] != MULTIWAY:
        return [first, first + 1]
    return [int(child) for child in forest.links[first : first + forest.width[node]] if child >= 0]


def structure(forest: Forest, tree: int) -> tuple[Any, ...]:
    """("numeric", column, threshold, left, right), ("nominal", column, {code: child}), ("binary", column, code, equal,
    rest) or ("leaf", class weights).

    `column` counts the numeric and the nominal columns apart, from 0 each.
    """

    def of(node: int) -> tuple[Any, ...]:
        first, j = int(forest.child[node]), forest.feature[node]
        if forest.kind[node] == LEAF:
            return ("leaf", forest.class_weight[first].tolist())
        if forest.kind[node] == NUMERIC:
            return ("numeric", int(forest.numeric[tree, j]), float(forest.threshold[node]), of(first), of(first + 1))
        if forest.kind[node] == BINARY:
            return ("binary", int(forest.nominal[tree, j]), int(forest.threshold[node]), of(first), of(first + 1))
        links = forest.links[first : first + forest.width[node]]
        return (
            "nominal",
            int(forest.nominal[tree, j]),
            {code: of(int(child)) for code, child in enumerate(links) if child >= 0},
        )

    return of(int(forest.root[tree]))
