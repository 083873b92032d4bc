"""Growing the tree best first: always the leaf whose best split gains most, until there are `max_leaves`."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from edgewise.data.table import Feature, Table
from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.cost_tree.binning import Bins, Bundles, bundle, encode
from edgewise.learners.cost_tree.splitting import (
    BLOCK,
    NO_SPLIT,
    add,
    can_split,
    cheapest_label,
    fill_histogram,
    fill_whole,
    find_split,
    is_better,
    put,
    total_mass,
)

# Bytes of histograms that are kept for subtraction. Without work for its own, a leaf's children are added up again, to
# the same numbers.
KEPT_BUDGET = 64 << 20
NO_SLOT = -1


class Tree(NamedTuple):
    """Nodes in the order in which they were made; the root is the first. Children lie side by side."""

    feature: np.ndarray  # [node]
    in_left: np.ndarray  # [node, 32]: bit c says that code c of the feature goes left
    child: np.ndarray  # [node]: the left child, and the right one behind it; -1 in a leaf
    label: np.ndarray  # [node]: the cheapest label


class Workspace(NamedTuple):
    """Working arrays for trees of up to so many leaves over the same rows."""

    max_leaves: int
    whole: np.ndarray  # [n, k + 2]: costs, mass and count of each row, see `splitting`
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


def make_workspace(n: int, k: int, size: int, joint: int, max_leaves: int) -> Workspace:
    """Arrays for n rows, k labels, `size` codes of all features and `joint` codes of all bundles."""
    width, nodes = k + 2, 2 * max_leaves - 1
    kept = max(1, min(max_leaves - 1, KEPT_BUDGET // (8 * size * width)))
    shapes = {
        "whole": (n, width),
        "block": (BLOCK, width),
        "joint": (joint, width),
        "pool": (2 + kept, size, width),
        "free": (2 + kept,),
        "totals": (nodes, width),
        "left": (nodes, width),
        "sums": (width,),
    } | dict.fromkeys(("slot", "first", "last", "gain"), (nodes,))
    return Workspace(
        max_leaves=max_leaves,
        rows=np.zeros(n, np.int32),
        aside=np.zeros(n, np.int32),
        worth=np.zeros(nodes),
        tree=Tree(
            np.zeros(nodes, np.int32),
            np.zeros((nodes, 32), np.uint8),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
        ),
        **{name: np.zeros(shape, np.int64) for name, shape in shapes.items()},
    )


class BinnedTable:
    """Codes of rows, with the bundles and the workspace of trees grown on them: not for two threads at once."""

    def __init__(self, bins: Bins, features: tuple[Feature, ...], table: Table) -> None:
        self.bins = bins
        self.features = features
        self.codes = encode(bins, table)
        self._workspace: Workspace | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    @cached_property
    def bundles(self) -> Bundles:
        return bundle(self.bins, self.codes)

    def grow(self, costs: np.ndarray, max_leaves: int, min_leaf: int) -> Tree:
        """The greedy tree of these rows for `costs` [n, k]; ValueError if a cost is not finite."""
        n, k = costs.shape
        work = self._workspace
        if work is None or work.whole.shape != (n, k + 2) or work.max_leaves != max_leaves:
            joint = int(self.bundles.joint_at[-1])
            work = self._workspace = make_workspace(n, k, self.bins.size, joint, max_leaves)
        total = float(total_mass(costs))
        if not np.isfinite(total):
            raise ValueError("the cost matrix has an entry that is not finite: costs are numbers")
        if total > 0.0:
            fill_whole(costs, total, work.whole)
        else:
            work.whole[:] = 0  # any label costs the same
        nodes = grow(self.bins, self.codes, self.bundles, max_leaves, min_leaf, work)
        tree = Tree(*(part[:nodes].copy() for part in work.tree))
        # Leaves keep nothing of the split that they could have had.
        tree.feature[tree.child < 0] = -1
        tree.in_left[tree.child < 0] = 0
        return tree


@entry_point
def grow(bins, codes, bundles, max_leaves, min_leaf, work):
    """The tree for the costs in work.whole; returns its number of nodes."""
    tree, pool, slot, totals = work.tree, work.pool, work.slot, work.totals
    n = work.whole.shape[0]
    totals[0, :] = 0
    for i in range(n):
        work.rows[i] = i
        add(totals[0], work.whole[i], 1)
    work.first[0], work.last[0] = 0, n
    n_free = 0
    for s in range(pool.shape[0] - 1, 1, -1):
        work.free[n_free] = s
        n_free += 1

    # The leaves just made: the root, then two children, that of fewer rows first.
    new, n_new, n_nodes, inherited = (0, 0), 1, 1, NO_SLOT
    for n_leaves in range(1, max_leaves + 1):
        for j in range(n_new):
            node = new[j]
            tree.child[node] = -1
            tree.label[node] = cheapest_label(totals[node])
            work.gain[node] = NO_SPLIT
            slot[node] = NO_SLOT
        for j in range(n_new if n_leaves < max_leaves else 0):
            node = new[j]
            splits = can_split(totals[node], min_leaf)
            if j == 1 and inherited != NO_SLOT:
                here, slot[node] = inherited, inherited
                if splits:
                    sibling = pool[slot[new[0]] if slot[new[0]] != NO_SLOT else 0]
                    for c in range(sibling.shape[0]):
                        add(pool[here, c], sibling[c], -1)
            elif splits or (n_new == 2 and inherited != NO_SLOT and can_split(totals[new[1]], min_leaf)):
                if n_free > 0:
                    n_free -= 1
                    slot[node] = work.free[n_free]
                here = slot[node] if slot[node] != NO_SLOT else j
                fill_histogram(
                    work.whole,
                    codes,
                    bundles,
                    bins,
                    work.rows,
                    work.first[node],
                    work.last[node],
                    work.block,
                    work.joint,
                    pool[here],
                )
            if splits:
                work.gain[node], work.worth[node], tree.feature[node] = find_split(
                    bins, pool[here], totals[node], min_leaf, work.left[node], work.sums, tree.in_left[node]
                )
        for j in range(n_new):
            # A leaf that cannot be split needs no histogram any more.
            if work.gain[new[j]] == NO_SPLIT and slot[new[j]] != NO_SLOT:
                work.free[n_free] = slot[new[j]]
                slot[new[j]] = NO_SLOT
                n_free += 1
        node = best_leaf(tree.child, work.gain, work.worth, n_nodes)
        if n_leaves == max_leaves or node < 0:
            break
        left, right = n_nodes, n_nodes + 1
        middle = partition(
            codes[tree.feature[node]], tree.in_left[node], work.rows, work.aside, work.first[node], work.last[node]
        )
        work.first[left], work.last[left] = work.first[node], middle
        work.first[right], work.last[right] = middle, work.last[node]
        put(totals[left], work.left[node])
        put(totals[right], totals[node])
        add(totals[right], work.left[node], -1)
        tree.child[node] = left
        inherited = slot[node]
        new = (left, right) if middle - work.first[left] <= work.last[right] - middle else (right, left)
        n_new = 2
        n_nodes += 2
    return n_nodes


@inlined
def best_leaf(child, gain, worth, n_nodes):
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
def partition(codes, in_left, rows, aside, first, last):
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
