"""From a budget of bytes to limits of every tree.

Every tree gets an equal share, whatever other trees need, so that no tree's growth depends on another's. The share is
for nodes and leaves, which stay for ever, and for statistics rows, of which leaves that promise little are relieved
(`deactivation`), with what a tree needs while it learns one example: at most half of it for nodes and leaves, and no
more than NODES_PER_ROW nodes to a row. Trees may stand in one forest or in several that learn apart: a share is the
same in either case, that of a tree with a forest of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgewise.learners.forest.layout import FREE, GROWING, NODES, ROWS, Forest, most_held

NODES_PER_ROW = 8  # 2, 4, 8 and 16 were tried on covertype: more nodes are better, up to here
LEAST_NODES = 3  # one split


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
