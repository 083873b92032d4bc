"""How a forest grows within its memory: pools that are enlarged, limits from a budget, leaves without statistics.

**Pools** grow in place, outside the kernels: a kernel stops before an example for which there may be no capacity, and
is called again with larger pools.

**Budget.** Every tree gets an equal share of the bytes, whatever other trees need, so that no tree's growth depends on
another's. The share is for nodes and leaves, which stay for ever, and for statistics rows, of which leaves that promise
little are relieved, with what a tree needs while it learns one example: at most half of it for nodes and leaves, and no
more than NODES_PER_ROW nodes to a row. Trees may stand in one forest or in several that learn apart: a share is the
same in either case, that of a tree with a forest of its own.

**Deactivation** (Domingos and Hulten 2000, Section 3). VFDT under a memory limit stops learning in the leaves that
promise least, and gives their statistics back. The promise p_l e_l of leaf l is the share of the tree's examples that
reach it times its error so far: the weight of the leaf that is not of its heaviest class. A deactivated leaf goes on
counting classes and predicts by them. Once its promise has risen by a grace period, it is compared with the leaves that
keep statistics; if one of them promises less, the leaf is reactivated, and begins its statistics anew. All this looks
at one tree only, so that the order in which trees learn changes nothing: of leaves of equal promise the first in the
tree is deactivated first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.learners.forest.layout import (
    BINARY,
    DEACTIVATED,
    FREE,
    GROWING,
    LEAF,
    LEAVES,
    LINKS,
    MULTIWAY,
    NO_LIMIT,
    NODES,
    NUMERIC,
    PENDING,
    ROWS,
    Forest,
    ranges,
)
from edgewise.learners.forest.statistics import forget

# Bytes up to which a pool doubles; larger ones grow by an eighth, so that at most a ninth of a forest is unused.
SMALL_POOL = 1 << 20
NODES_PER_ROW = 8  # 2, 4, 8 and 16 were tried on covertype: more nodes are better, up to here
LEAST_NODES = 3  # one split


def capacity_demand(*forests: Forest) -> np.ndarray:
    """Nodes, links, leaves and rows that one tree may take when it learns one example."""
    branches = 2
    if not two_way(forests):
        branches = max(branches, *(int(forest.categories.max(initial=0)) for forest in forests))
    rows = 1 + (branches * forests[0].row.shape[1] if any(forest.warm.any() for forest in forests) else 0)
    return np.array([branches + 1, 2 * branches, branches + 1, rows], np.int64)


def two_way(forests: Sequence[Forest]) -> bool:
    """Whether no tree makes splits of more than two branches."""
    return all(bool(forest.binary.all()) for forest in forests)


@inlined
def has_capacity(forest, trees, demand):
    """Whether `trees` trees may each learn an example in the pools as they are."""
    return (
        forest.used[NODES] + trees * demand[NODES] <= forest.kind.size
        and forest.used[LINKS] + trees * demand[LINKS] <= forest.links.size
        and forest.used[LEAVES] >= trees * demand[LEAVES]
        and forest.used[ROWS] >= trees * demand[ROWS]
    )


def most_held(forests: Sequence[Forest], node_limit: np.ndarray, row_limit: np.ndarray) -> np.ndarray:
    """[n, 4] nodes, links, leaves and rows that trees of these limits hold at most, while they learn an example.

    Two-way splits alone make a tree of one more leaf than splits. A multiway split has two branches or more, and as
    many links as its column has categories.
    """
    held = np.zeros((node_limit.size, 4), np.int64)
    held[:, NODES], held[:, LEAVES], held[:, ROWS] = node_limit, (node_limit + 1) // 2, row_limit
    if not two_way(forests) and forests[0].categories.size:
        held[:, LEAVES] = node_limit
        held[:, LINKS] = node_limit * max(int(forest.categories.max()) for forest in forests) // 2
    return held + capacity_demand(*forests)


def live_nodes(forest: Forest) -> np.ndarray:
    """The nodes of all trees, in increasing order."""
    found = level = forest.root
    while level.size:
        splits = level[forest.kind[level] != LEAF]
        two = splits[forest.kind[splits] != MULTIWAY]
        first, width = (part[splits[forest.kind[splits] == MULTIWAY]] for part in (forest.child, forest.width))
        linked = forest.links[ranges(first, width)]
        level = np.concatenate([forest.child[two], forest.child[two] + 1, linked[linked >= 0]])
        found = np.concatenate([found, level])
    return np.sort(found)


def compact(forest: Forest) -> None:
    """Take out the nodes and links of trees that began anew; the rest keeps its order, so two-way children stay side
    by side."""
    order = live_nodes(forest)
    place = np.full(forest.kind.size, -1, np.int32)
    place[order] = np.arange(order.size)
    kind, first, width, fallback = (part[order] for part in (forest.kind, forest.child, forest.width, forest.fallback))
    many = kind == MULTIWAY
    linked = forest.links[ranges(first[many], width[many])]
    first[many] = np.cumsum(width[many]) - width[many]
    two = (kind == NUMERIC) | (kind == BINARY)
    first[two] = place[first[two]]
    fallback[kind != LEAF] = place[fallback[kind != LEAF]]
    moved = {"kind": kind, "child": first, "width": width, "fallback": fallback}
    for field in GROWING[NODES]:
        array = getattr(forest, field)
        array[: order.size] = moved[field] if field in moved else array[order]
    forest.links[: linked.size] = np.where(linked >= 0, place[linked], -1)
    forest.used[NODES], forest.used[LINKS] = order.size, linked.size
    forest.root[:] = place[forest.root]


def lengthened(array: np.ndarray, size: int) -> np.ndarray:
    """The array with zeros at its end.

    In place where the array owns its memory: for large ones the system then moves no byte, and a model never takes the
    double of its size while it grows. Nobody else may look at an array of a state while it learns.
    """
    shape = (size, *array.shape[1:])
    if array.flags.owndata:
        array.resize(shape, refcheck=False)
        return array
    longer = np.zeros(shape, array.dtype)
    longer[: len(array)] = array
    return longer


def larger(size: int, wanted: int, n_bytes: int) -> int:
    """The next size of a pool that takes `n_bytes` and must hold `wanted` more."""
    return size + max(wanted, size if n_bytes <= SMALL_POOL else size // 8)


def with_free_slots(slots: np.ndarray, free: int, capacity: int) -> tuple[np.ndarray, int]:
    """The list of a pool's free slots, and their number, once the pool is larger; new ones are taken last."""
    more = capacity - slots.size
    slots = lengthened(slots, capacity)
    slots[more : more + free] = slots[:free].copy()
    slots[:more] = np.arange(capacity - 1, capacity - 1 - more, -1)
    return slots, more + free


def enlarged(forest: Forest, trees: int, demand: np.ndarray) -> Forest:
    """The forest with more capacity in each pool that `has_capacity` finds too small; unused nodes are taken out."""
    limited = forest.row_limit.min() < NO_LIMIT
    most = most_held([forest], forest.node_limit, forest.row_limit).sum(axis=0) if limited else None
    live, wanted = int(forest.n_nodes.sum()), trees * demand
    full = most is not None and bool((forest.used + wanted > most)[[NODES, LINKS]].any())
    if forest.used[NODES] > (live if full else 2 * live):
        compact(forest)
    changes: dict[str, np.ndarray] = {}
    for pool, fields in GROWING.items():
        size = len(getattr(forest, fields[0]))
        free = int(forest.used[pool]) if pool in FREE else size - int(forest.used[pool])
        if free >= wanted[pool]:
            continue
        n_bytes = sum(getattr(forest, field).nbytes for field in fields)
        capacity = larger(size, int(wanted[pool]), n_bytes)
        if most is not None:
            capacity = max(min(capacity, int(most[pool])), size - free + int(wanted[pool]))
        for field in reversed(fields):  # the first one last: others are as long as it says, whatever interrupts this
            changes[field] = lengthened(getattr(forest, field), capacity)
        if pool in FREE:
            name = FREE[pool]
            changes[name], forest.used[pool] = with_free_slots(getattr(forest, name), free, capacity)
        if pool == NODES and most is not None:
            # a tree may be above its limit where categories or labels came late
            largest = max(int(forest.node_limit.max()), int(forest.n_nodes.max()))
            changes["places"] = np.zeros((2, min(capacity, largest)), np.int32)
    return forest._replace(**changes)


class Sizes(NamedTuple):
    """Bytes of one node, link, leaf and row, and what a tree takes beside them."""

    pools: np.ndarray
    beside: int


def sizes_of(forests: Sequence[Forest]) -> Sizes:
    """What a tree takes, if all trees stood in one forest: every array is as wide as the widest."""

    def entry(name: str) -> int:
        arrays = [getattr(forest, name) for forest in forests]
        return max(array.itemsize * math.prod(array.shape[1:]) for array in arrays)

    pools = [sum(map(entry, fields)) for fields in GROWING.values()]
    for pool, name in FREE.items():
        pools[pool] += entry(name)
    pools[NODES] += 2 * forests[0].places.itemsize
    of_trees = Forest._fields[: Forest._fields.index("kind")]
    shared = ("categories", "moments", "used")
    beside = sum(entry(name) for name in of_trees if name not in shared)
    beside += sum(max(getattr(forest, name).nbytes for forest in forests) for name in shared)
    return Sizes(np.array(pools), beside)


def least_rows(forest: Forest) -> int:
    """Statistics rows that a tree needs at least: a leaf may have seen all classes."""
    return forest.row.shape[1] + 1


def least_bytes(forests: Sequence[Forest]) -> int:
    """Bytes that a tree of these forests needs at least."""
    sizes = sizes_of(forests)
    held = most_held(forests, np.array([LEAST_NODES]), np.array([least_rows(forests[0])]))
    return sizes.beside + int((held @ sizes.pools)[0])


def limited(forest: Forest, share: int, forests: Sequence[Forest]) -> Forest:
    """The forest whose trees each stay within a share of bytes, as do those of the others; at least `least_bytes`."""
    sizes = sizes_of(forests)
    share -= sizes.beside
    none, one, many = (int((most_held(forests, np.array([n]), np.zeros(1)) @ sizes.pools)[0]) for n in (0, 1, 1000))
    of_node, row = (many - none) / 1000.0, int(sizes.pools[ROWS])
    in_proportion = (share - one) / (of_node + row / NODES_PER_ROW)
    beside_rows = (share - one - least_rows(forest) * row) / of_node
    nodes = max(LEAST_NODES, int(min(in_proportion, 0.5 * share / of_node, beside_rows)))
    node_limit = np.minimum(forest.max_nodes, nodes)
    held = most_held(forests, node_limit, np.zeros(node_limit.size))
    row_limit = (share - held @ sizes.pools) // row
    return forest._replace(node_limit=node_limit, row_limit=row_limit, places=np.zeros((2, forest.kind.size), np.int32))


@noinline
def promise(forest, leaf):
    """Weight of a leaf that is not of its heaviest class."""
    total, most = 0.0, 0.0
    for r in range(forest.class_weight.shape[1]):
        total += forest.class_weight[leaf, r]
        most = max(most, forest.class_weight[leaf, r])
    return total - most


@noinline
def release_rows(forest, tree, leaf):
    """Give a leaf's statistics rows back."""
    for r in range(forest.row.shape[1]):
        if forest.row[leaf, r] >= 0:
            forest.free_rows[forest.used[ROWS]] = forest.row[leaf, r]
            forest.used[ROWS] += 1
            forest.tree_rows[tree] -= 1


@noinline
def list_leaves(forest, tree):
    """Put the leaves of a tree that hold rows into forest.places[0], from left to right; gives their number."""
    leaves, pending = forest.places[0], forest.places[1]
    count, left = 0, 1
    pending[0] = forest.root[tree]
    while left > 0:
        left -= 1
        node = pending[left]
        first = forest.child[node]
        if forest.kind[node] == LEAF:
            if forest.n_rows[first] > 0:
                leaves[count] = first
                count += 1
        else:
            many = forest.kind[node] == MULTIWAY
            for v in range(forest.width[node] - 1 if many else 1, -1, -1):
                child = forest.links[first + v] if many else first + v
                if child >= 0:
                    pending[left] = child
                    left += 1
    return count


@inlined
def sooner(forest, leaves, a, b):
    """Whether the leaf at place a is deactivated before the one at place b."""
    mine, other = promise(forest, leaves[a]), promise(forest, leaves[b])
    return mine < other or (mine == other and a < b)


@noinline
def sift_down(forest, leaves, heap, at, count):
    """Let the entry at a place of a binary heap sink until none below it is deactivated sooner."""
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and sooner(forest, leaves, heap[below + 1], heap[below]):
            below += 1
        if not sooner(forest, leaves, heap[below], heap[at]):
            return
        heap[at], heap[below] = heap[below], heap[at]
        at = below


@noinline
def free_rows_of_least_promise(forest, tree):
    """Deactivate the leaves that promise least until an eighth of the tree's limit is free.

    So a tree at its limit looks for leaves once in a while, not at every example. The most promising leaf stays active.
    """
    count = list_leaves(forest, tree)
    leaves, heap = forest.places[0], forest.places[1]
    for i in range(count):
        heap[i] = i
    for i in range(count // 2 - 1, -1, -1):
        sift_down(forest, leaves, heap, i, count)
    while count > 1 and forest.tree_rows[tree] > forest.row_limit[tree] - forest.row_limit[tree] // 8:
        deactivate(forest, tree, leaves[heap[0]])
        count -= 1
        heap[0] = heap[count]
        sift_down(forest, leaves, heap, 0, count)


@noinline
def deactivate(forest, tree, leaf):
    """Give up all that a leaf has counted but its class weights."""
    release_rows(forest, tree, leaf)
    forget(forest, leaf)
    forest.examples[leaf] = DEACTIVATED
    forest.leaf_counters[leaf, PENDING] = promise(forest, leaf)


@noinline
def reactivate(forest, tree, leaf):
    """Reactivate a leaf if its promise has risen by a grace period and is above that of a leaf that holds rows."""
    mine = promise(forest, leaf)
    if mine < forest.leaf_counters[leaf, PENDING] + forest.grace[tree]:
        return
    forest.leaf_counters[leaf, PENDING] = mine
    count = list_leaves(forest, tree)
    for i in range(count):
        if promise(forest, forest.places[0, i]) < mine:
            count = 0
    if count == 0:
        forest.leaf_counters[leaf, PENDING] = 0.0
        forest.examples[leaf] = 0
