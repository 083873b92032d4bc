"""Leaves that keep no statistics, so that a tree stays within its limit of rows (Domingos and Hulten 2000, Section 3).

VFDT under a memory limit stops learning in the leaves that promise least, and gives their statistics back:

| paper | here                                                                                      |
|-------|-------------------------------------------------------------------------------------------|
| p_l   | the weight of leaf l: the share of the tree's examples that reach it                      |
| e_l   | the share of its weight that is not of its heaviest class: its error so far               |
| promise p_l e_l | weight of the leaf that is not of its heaviest class                            |

A leaf that sleeps goes on counting classes and predicts by them. Once its promise has risen by a grace period, it is
compared with the leaves that keep statistics; if one of them promises less, the leaf wakes, and begins its statistics
anew. All this looks at one tree only, so that the order in which trees learn changes nothing: leaves of equal promise
are told apart by their place in the tree, the first one sleeps first.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined, noinline
from edgewise.learners.forest.layout import DEACTIVATED, LEAF, MULTIWAY, PENDING, ROWS
from edgewise.learners.forest.statistics import forget


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
    """Whether the leaf at place a sleeps before the one at place b."""
    mine, other = promise(forest, leaves[a]), promise(forest, leaves[b])
    return mine < other or (mine == other and a < b)


@noinline
def sift_down(forest, leaves, heap, at, count):
    """Let the entry at a place of a binary heap sink until none below it sleeps sooner."""
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
    """Put the leaves that promise least to sleep until an eighth of the tree's limit is free.

    So a tree at its limit looks for leaves once in a while, not at every example. The most promising leaf stays awake.
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
    """Give up all that a leaf knows but its class weights."""
    release_rows(forest, tree, leaf)
    forget(forest, leaf)
    forest.examples[leaf] = DEACTIVATED
    forest.leaf_counters[leaf, PENDING] = promise(forest, leaf)


@noinline
def reactivate(forest, tree, leaf):
    """Wake a sleeping leaf if its promise has risen by a grace period and is above that of a leaf that holds rows."""
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
