"""Growing the tree best first: always the leaf whose best split gains most, until there are `max_leaves`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.cost_tree.binning import Bins
from edgewise.learners.cost_tree.bundles import Bundles
from edgewise.learners.cost_tree.histograms import BLOCK, fill_histogram, fill_whole, subtract, total_mass
from edgewise.learners.cost_tree.splitting import NO_SPLIT, can_split, cheapest_label, find_split, is_better

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
    joint: np.ndarray  # [joint code, k + 2]
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
    tree: Tree


def make_room(n: int, k: int, size: int, joint: int, max_leaves: int) -> Room:
    """Room for n rows, k labels, `size` codes of all features and `joint` codes of all bundles."""
    width, nodes = k + 2, 2 * max_leaves - 1
    kept = max(1, min(max_leaves - 1, KEPT_BUDGET // (8 * size * width)))
    return Room(
        max_leaves=max_leaves,
        whole=np.zeros((n, width), np.int64),
        rows=np.zeros(n, np.int32),
        aside=np.zeros(n, np.int32),
        block=np.zeros((BLOCK, width), np.int64),
        joint=np.zeros((joint, width), np.int64),
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
        tree=Tree(
            np.zeros(nodes, np.int32),
            np.zeros((nodes, 32), np.uint8),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
        ),
    )


def grow_tree(
    bins: Bins, codes: np.ndarray, bundles: Bundles, costs: np.ndarray, max_leaves: int, min_leaf: int, room: Room
) -> Tree:
    """The greedy tree for `costs` [n, k] of the rows with these codes; ValueError if a cost is not finite."""
    total = float(total_mass(costs))
    if not np.isfinite(total):
        raise ValueError("the cost matrix has an entry that is not finite: costs are numbers")
    if total > 0.0:
        fill_whole(costs, total, room.whole)
    else:
        room.whole[:] = 0  # any label costs the same
    nodes = grow(bins, codes, bundles, max_leaves, min_leaf, room)
    tree = Tree(*(part[:nodes].copy() for part in room.tree))
    # What a leaf knows of the split that it was not given.
    tree.feature[tree.child < 0] = -1
    tree.in_left[tree.child < 0] = 0
    return tree


@entry_point
def grow(bins, codes, bundles, max_leaves, min_leaf, room):
    """The tree for the costs in room.whole; returns its number of nodes."""
    tree, pool, slot, totals = room.tree, room.pool, room.slot, room.totals
    n, width = room.whole.shape
    for l in range(width):
        totals[0, l] = 0
    for i in range(n):
        room.rows[i] = i
        for l in range(width):
            totals[0, l] += room.whole[i, l]
    room.first[0], room.last[0] = 0, n
    n_free = 0
    for s in range(pool.shape[0] - 1, 1, -1):
        room.free[n_free] = s
        n_free += 1

    # The leaves just made: the root, then two children, that of fewer rows first.
    new, n_new, n_nodes, inherited = (0, 0), 1, 1, NO_SLOT
    for n_leaves in range(1, max_leaves + 1):
        for j in range(n_new):
            node = new[j]
            tree.child[node] = -1
            tree.label[node] = cheapest_label(totals[node])
            room.gain[node] = NO_SPLIT
            slot[node] = NO_SLOT
        for j in range(n_new if n_leaves < max_leaves else 0):
            node = new[j]
            splits = can_split(totals[node], min_leaf)
            if j == 1 and inherited != NO_SLOT:
                here, slot[node] = inherited, inherited
                if splits:
                    subtract(pool[here], pool[slot[new[0]] if slot[new[0]] != NO_SLOT else 0])
            elif splits or (n_new == 2 and inherited != NO_SLOT and can_split(totals[new[1]], min_leaf)):
                if n_free > 0:
                    n_free -= 1
                    slot[node] = room.free[n_free]
                here = slot[node] if slot[node] != NO_SLOT else j
                fill_histogram(
                    room.whole,
                    codes,
                    bundles,
                    bins,
                    room.rows,
                    room.first[node],
                    room.last[node],
                    room.block,
                    room.joint,
                    pool[here],
                )
            if splits:
                room.gain[node], room.worth[node], tree.feature[node] = find_split(
                    bins, pool[here], totals[node], min_leaf, room.left[node], room.sums, tree.in_left[node]
                )
        for j in range(n_new):
            # A leaf that cannot be split needs no histogram any more.
            if room.gain[new[j]] == NO_SPLIT and slot[new[j]] != NO_SLOT:
                room.free[n_free] = slot[new[j]]
                slot[new[j]] = NO_SLOT
                n_free += 1
        node = _best_leaf(tree.child, room.gain, room.worth, n_nodes)
        if n_leaves == max_leaves or node < 0:
            break
        left, right = n_nodes, n_nodes + 1
        middle = _part(
            codes[tree.feature[node]], tree.in_left[node], room.rows, room.aside, room.first[node], room.last[node]
        )
        room.first[left], room.last[left] = room.first[node], middle
        room.first[right], room.last[right] = middle, room.last[node]
        for l in range(width):
            totals[left, l] = room.left[node, l]
            totals[right, l] = totals[node, l] - room.left[node, l]
        tree.child[node] = left
        inherited = slot[node]
        new = (left, right) if middle - room.first[left] <= room.last[right] - middle else (right, left)
        n_new = 2
        n_nodes += 2
    return n_nodes


@inlined
def _best_leaf(child, gain, worth, n_nodes):
    """The leaf whose split gains most, the earlier one of equals; -1 if no leaf can be split."""
    best = -1
    for node in range(n_nodes):
        if (
            child[node] < 0
            and gain[node] != NO_SPLIT
            and (best < 0 or is_better(gain[node], worth[node], gain[best], worth[best]))
        ):
            best = node
    return best


@inlined
def _part(codes, in_left, rows, aside, first, last):
    """Those of rows[first:last] that go left before the others, each part in its old order; where the others begin."""
    put, held = first, 0
    for r in range(first, last):
        i = rows[r]
        if goes_left(in_left, codes[i]):
            rows[put] = i
            put += 1
        else:
            aside[held] = i
            held += 1
    for r in range(held):
        rows[put + r] = aside[r]
    return put


@inlined
def goes_left(in_left, code):
    """Whether bit `code` is set."""
    return (in_left[code >> 3] >> (code & 7)) & 1 == 1


@entry_point
def fill_votes(tree, codes, votes):
    """votes[i]: the label of the leaf that row i falls into."""
    for i in range(votes.size):
        node = 0
        while tree.child[node] >= 0:
            side = 0 if goes_left(tree.in_left[node], codes[tree.feature[node], i]) else 1
            node = tree.child[node] + side
        votes[i] = tree.label[node]
