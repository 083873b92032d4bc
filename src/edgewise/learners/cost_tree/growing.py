"""Growing the tree best first: always the leaf whose best split gains most, until there are `max_leaves`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise._compile import kernel, routine
from edgewise.learners.cost_tree.binning import Bins
from edgewise.learners.cost_tree.histograms import BLOCK, fill_histogram, fill_whole, subtract, total_mass
from edgewise.learners.cost_tree.splitting import NO_SPLIT, can_split, cheapest_label, find_split

# Bytes of histograms that are kept for subtraction. Without room for its own, a leaf's children are added up again, to
# the same numbers.
KEPT_BUDGET = 64 << 20
NO_SLOT = -1


class Tree(NamedTuple):
    """Nodes in the order in which they were made; the root is the first. Children lie side by side."""

    feature: np.ndarray  # [node]
    in_left: np.ndarray  # [node, 32]: bit c says that code c of the feature goes left
    child: np.ndarray  # [node]: the left child, and the right one behind it; -1 in a leaf
    label: np.ndarray  # [node]: the cheapest label


class Room(NamedTuple):
    """Working room for trees of up to so many leaves over the same rows."""

    max_leaves: int
    whole: np.ndarray  # [n, k + 2]: see `histograms`
    rows: np.ndarray  # [n]: row numbers, those of a node together and in increasing order
    aside: np.ndarray  # [n]
    block: np.ndarray  # [BLOCK, k + 2]
    pool: np.ndarray  # [slot, code, k + 2]: histograms; the first two slots are passing ones
    free: np.ndarray  # [slot]: a stack of slots not in use
    slot: np.ndarray  # [node]: its histogram, or NO_SLOT
    first: np.ndarray  # [node]: its rows
    last: np.ndarray  # [node]
    totals: np.ndarray  # [node, k + 2]
    left: np.ndarray  # [node, k + 2]: totals of the rows that its best split sends left
    gain: np.ndarray  # [node]: of its best split
    worth: np.ndarray  # [node]
    sums: np.ndarray  # [k + 2]
    codes_left: np.ndarray  # [256] Boolean
    tree: Tree


def make_room(n: int, k: int, size: int, max_leaves: int) -> Room:
    """Room for n rows, k labels, `size` codes of all features together."""
    width, nodes = k + 2, 2 * max_leaves - 1
    kept = max(1, min(max_leaves - 1, KEPT_BUDGET // (8 * size * width)))
    return Room(
        max_leaves=max_leaves,
        whole=np.zeros((n, width), np.int64),
        rows=np.zeros(n, np.int32),
        aside=np.zeros(n, np.int32),
        block=np.zeros((BLOCK, width), np.int64),
        pool=np.zeros((2 + kept, size, width), np.int64),
        free=np.zeros(2 + kept, np.int64),
        slot=np.zeros(nodes, np.int64),
        first=np.zeros(nodes, np.int64),
        last=np.zeros(nodes, np.int64),
        totals=np.zeros((nodes, width), np.int64),
        left=np.zeros((nodes, width), np.int64),
        gain=np.zeros(nodes, np.int64),
        worth=np.zeros(nodes),
        sums=np.zeros(width, np.int64),
        codes_left=np.zeros(256, np.bool_),
        tree=Tree(
            np.zeros(nodes, np.int32),
            np.zeros((nodes, 32), np.uint8),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
        ),
    )


def grow_tree(
    bins: Bins, codes: np.ndarray, common: np.ndarray, costs: np.ndarray, max_leaves: int, min_leaf: int, room: Room
) -> Tree:
    """The greedy tree for `costs` [n, k] of the rows with these codes; ValueError if a cost is not finite."""
    total = float(total_mass(costs))
    if not np.isfinite(total):
        raise ValueError("the cost matrix has an entry that is not finite: costs are numbers")
    if total > 0.0:
        fill_whole(costs, total, room.whole)
    else:
        room.whole[:] = 0  # any label costs the same
    nodes = grow(bins, codes, common, max_leaves, min_leaf, room)
    tree = Tree(*(part[:nodes].copy() for part in room.tree))
    # What a leaf knows of the split that it was not given.
    tree.feature[tree.child < 0] = -1
    tree.in_left[tree.child < 0] = 0
    return tree


@routine
def grow(bins, codes, common, max_leaves, min_leaf, room):
    """The tree for the costs in room.whole; returns its number of nodes."""
    tree = room.tree
    n, width = room.whole.shape
    for l in range(width):
        room.totals[0, l] = 0
    for i in range(n):
        room.rows[i] = i
        for l in range(width):
            room.totals[0, l] += room.whole[i, l]
    n_free = 0
    for s in range(room.pool.shape[0] - 1, 1, -1):
        room.free[n_free] = s
        n_free += 1
    room.first[0], room.last[0] = 0, n
    _plant(room, 0)
    if max_leaves > 1 and can_split(room.totals[0], min_leaf):
        n_free = _count_and_search(bins, codes, common, min_leaf, room, 0, n_free)
    n_nodes = 1
    for n_leaves in range(2, max_leaves + 1):
        node = _best_leaf(room, n_nodes)
        if node < 0:
            break
        left, right = n_nodes, n_nodes + 1
        n_nodes += 2
        _part(codes, room, node, left, right)
        tree.child[node] = left
        if n_leaves == max_leaves:
            break
        small, large = left, right
        if room.last[left] - room.first[left] > room.last[right] - room.first[right]:
            small, large = right, left
        split_small, split_large = can_split(room.totals[small], min_leaf), can_split(room.totals[large], min_leaf)
        inherited = room.slot[node]
        if inherited != NO_SLOT and split_large:
            n_free = _count(bins, codes, common, room, small, 0, n_free)
            subtract(room.pool[inherited], room.pool[_place(room, small, 0)])
            room.slot[large] = inherited
            n_free = _search(bins, min_leaf, room, large, 1, n_free)
            if split_small:
                n_free = _search(bins, min_leaf, room, small, 0, n_free)
            else:
                n_free = _release(room, small, n_free)
        else:
            n_free = _release(room, node, n_free)
            if split_large:
                n_free = _count_and_search(bins, codes, common, min_leaf, room, large, n_free)
            if split_small:
                n_free = _count_and_search(bins, codes, common, min_leaf, room, small, n_free)
    return n_nodes


@kernel
def _plant(room, node):
    """A new leaf with its totals."""
    room.tree.feature[node] = -1
    room.tree.child[node] = -1
    room.tree.label[node] = cheapest_label(room.totals[node])
    room.gain[node] = NO_SPLIT
    room.slot[node] = NO_SLOT
    for b in range(room.tree.in_left.shape[1]):
        room.tree.in_left[node, b] = 0


@kernel
def _place(room, node, passing):
    """Where the node's histogram is: in its slot, or in a passing one."""
    return room.slot[node] if room.slot[node] != NO_SLOT else passing


@kernel
def _release(room, node, n_free):
    if room.slot[node] != NO_SLOT:
        room.free[n_free] = room.slot[node]
        room.slot[node] = NO_SLOT
        n_free += 1
    return n_free


@routine
def _count(bins, codes, common, room, node, passing, n_free):
    """Add up the node's histogram, in a slot of its own if one is free."""
    if n_free > 0:
        n_free -= 1
        room.slot[node] = room.free[n_free]
    hist = room.pool[_place(room, node, passing)]
    first, last = room.first[node], room.last[node]
    fill_histogram(room.whole, codes, room.rows, first, last, bins, common, room.totals[node], room.block, hist)
    return n_free


@routine
def _search(bins, min_leaf, room, node, passing, n_free):
    """Find the node's best split from its histogram, which is let go if there is none."""
    hist = room.pool[_place(room, node, passing)]
    gain, worth, feature = find_split(
        bins, hist, room.totals[node], min_leaf, room.left[node], room.sums, room.codes_left
    )
    room.gain[node], room.worth[node], room.tree.feature[node] = gain, worth, feature
    if gain == NO_SPLIT:
        return _release(room, node, n_free)
    for c in range(bins.n_bins[feature] + 1):
        if room.codes_left[c]:
            room.tree.in_left[node, c >> 3] |= 1 << (c & 7)
    return n_free


@kernel
def _count_and_search(bins, codes, common, min_leaf, room, node, n_free):
    n_free = _count(bins, codes, common, room, node, 0, n_free)
    return _search(bins, min_leaf, room, node, 0, n_free)


@kernel
def _best_leaf(room, n_nodes):
    """The leaf whose split gains most, the earlier one of equals; -1 if no leaf can be split."""
    best = -1
    for node in range(n_nodes):
        if room.tree.child[node] < 0 and room.gain[node] != NO_SPLIT:
            better = best < 0 or room.gain[node] > room.gain[best]
            if better or (room.gain[node] == room.gain[best] and room.worth[node] > room.worth[best]):
                best = node
    return best


@kernel
def goes_left(tree, node, code):
    return (tree.in_left[node, code >> 3] >> (code & 7)) & 1 == 1


@routine
def _part(codes, room, node, left, right):
    """Divide the node's rows, each part in its old order, between two new leaves."""
    feature = room.tree.feature[node]
    put, held = room.first[node], 0
    for r in range(room.first[node], room.last[node]):
        i = room.rows[r]
        if goes_left(room.tree, node, codes[feature, i]):
            room.rows[put] = i
            put += 1
        else:
            room.aside[held] = i
            held += 1
    for r in range(held):
        room.rows[put + r] = room.aside[r]
    room.first[left], room.last[left] = room.first[node], put
    room.first[right], room.last[right] = put, room.last[node]
    for l in range(room.totals.shape[1]):
        room.totals[left, l] = room.left[node, l]
        room.totals[right, l] = room.totals[node, l] - room.left[node, l]
    _plant(room, left)
    _plant(room, right)


@routine
def fill_votes(tree, codes, votes):
    """votes[i]: the label of the leaf that row i falls into."""
    for i in range(votes.size):
        node = 0
        while tree.child[node] >= 0:
            side = 0 if goes_left(tree, node, codes[tree.feature[node], i]) else 1
            node = tree.child[node] + side
        votes[i] = tree.label[node]
