"""From a budget of bytes to limits of every tree.

Every tree gets an equal share, whatever other trees need, so that no tree's growth depends on another's. The share is
for nodes and leaves, which stay for ever, and for statistics rows, of which leaves that promise little are relieved
(`sleeping`), with the room that a tree needs while it learns one example: at most half of it for nodes and leaves, and
no more than NODES_PER_ROW nodes to a row. Trees may stand in one forest or in several that learn apart: a share is the
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
    """Bytes of one node, link, leaf and row, and what a tree takes beside them; the widest of some forests."""

    pools: np.ndarray
    beside: int


def sizes_of(forests: Sequence[Forest]) -> Sizes:
    """What trees of these forests take."""
    return Sizes(np.max([pool_bytes(forest) for forest in forests], axis=0), max(map(bytes_beside, forests)))


def pool_bytes(forest: Forest) -> np.ndarray:
    """Bytes of one node, link, leaf and row."""
    pools = [[getattr(forest, field) for field in fields] for fields in GROWING.values()]
    sizes = [sum(array.itemsize * math.prod(array.shape[1:]) for array in arrays) for arrays in pools]
    for pool, name in FREE.items():
        sizes[pool] += getattr(forest, name).itemsize
    sizes[NODES] += 2 * forest.places.itemsize
    return np.array(sizes)


def bytes_beside(forest: Forest) -> int:
    """Bytes of a forest of one tree that do not grow."""
    of_trees = Forest._fields[: Forest._fields.index("kind")]
    shared = sum(getattr(forest, name).nbytes for name in ("categories", "moments", "used"))
    own = sum(getattr(forest, name).nbytes for name in of_trees if name != "categories")
    return shared + own // forest.root.size


def least_rows(forest: Forest) -> int:
    """Statistics rows that a tree needs at least: a leaf may have seen all classes."""
    return forest.row.shape[1] + 1


def least_bytes(forest: Forest, sizes: Sizes) -> int:
    """Bytes that a tree needs at least."""
    held = most_held(forest, np.array([LEAST_NODES]), np.array([least_rows(forest)]))
    return sizes.beside + int((held @ sizes.pools)[0])


def limited(forest: Forest, share: int, sizes: Sizes) -> Forest:
    """The forest whose trees each stay within a share of bytes, which is at least `least_bytes`."""
    share -= sizes.beside
    none, one, many = (int((most_held(forest, np.array([n]), np.zeros(1)) @ sizes.pools)[0]) for n in (0, 1, 1000))
    of_node = (many - none) / 1000.0
    row = int(sizes.pools[ROWS])
    in_proportion = (share - one) / (of_node + row / NODES_PER_ROW)
    beside_rows = (share - one - least_rows(forest) * row) / of_node
    nodes = max(LEAST_NODES, int(min(in_proportion, 0.5 * share / of_node, beside_rows)))
    node_limit = np.minimum(forest.max_nodes, nodes)
    held = most_held(forest, node_limit, np.zeros(node_limit.size))
    row_limit = (share - held @ sizes.pools) // row
    return forest._replace(node_limit=node_limit, row_limit=row_limit, places=np.zeros((2, forest.kind.size), np.int32))
