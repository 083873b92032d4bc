"""Rows in bins, shared by all trees that are grown on them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from edgewise.data.table import Feature, Table
from edgewise.learners.cost_tree.binning import Bins, encode
from edgewise.learners.cost_tree.bundles import Bundles, bundle
from edgewise.learners.cost_tree.growing import Room, Tree, grow_tree, make_room


class BinnedTable:
    """Codes of rows, with the bundles and the working room of trees grown on them: not for two threads at once."""

    def __init__(self, bins: Bins, features: tuple[Feature, ...], table: Table) -> None:
        self.bins = bins
        self.features = features
        self.codes = encode(bins, table)
        self._room: Room | None = None

    def __len__(self) -> int:
        return self.codes.shape[1]

    @cached_property
    def bundles(self) -> Bundles:
        return bundle(self.bins, self.codes)

    def grow(self, costs: np.ndarray, max_leaves: int, min_leaf: int) -> Tree:
        """The greedy tree of these rows for `costs` [n, k]."""
        n, k = costs.shape
        room = self._room
        if room is None or room.whole.shape != (n, k + 2) or room.max_leaves != max_leaves:
            room = self._room = make_room(n, k, self.bins.size, int(self.bundles.joint_at[-1]), max_leaves)
        return grow_tree(self.bins, self.codes, self.bundles, costs, max_leaves, min_leaf, room)
