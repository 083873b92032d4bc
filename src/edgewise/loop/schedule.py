"""Who goes when: how a chunk of examples is cut into calls of a kernel.

Block after block of learners goes through the chunk (`pipeline`), and within a block learner after learner. Learners of
ours that follow each other take one call for all of their rows. A learner of another library takes one call per row:
what it says is written down before (`Workspace.said`), and what the kernel wants it to learn is handed on after
(`Workspace.taught`). So the rules of the game are in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from edgewise.learners.external import ExternalBank
from edgewise.learners.forest.capacity import capacity_demand, enlarged
from edgewise.learners.forest.layout import Forest
from edgewise.loop.custom import Custom
from edgewise.loop.pipeline import ChunkTask, blocks
from edgewise.loop.state import EXTERNAL, FOR, Learners, LearnerStates, Workspace, make_workspace

Position = tuple[int, int]  # a learner and a row
# (block, what it knows, room that an example may need, scratch, first, last) -> where it stopped for want of room
Play = Callable[[int, LearnerStates, np.ndarray, Workspace, Position, Position], Position]


class WorkItem(NamedTuple):
    """What one call plays: learners from first[0] to below last[0], rows from first[1] to below last[1]."""

    first: Position
    last: Position


def schedule(learners: Learners, block: range, external: ExternalBank, chunk: Any, s: Workspace) -> Iterator[WorkItem]:
    """The turns of a block of learners in order. Whoever takes one plays it before asking for the next."""
    n = len(chunk.labels)
    rows = external.reader.read(chunk.numeric, chunk.nominal)
    i = block.start
    while i < block.stop:
        if learners.kind[i] == EXTERNAL:
            slot = int(learners.slot[i])
            for t in range(n):
                external.predict_proba(slot, rows, t, s.predicted)
                yield WorkItem((i, t), (i + 1, t + 1))
                external.update(slot, rows, t, s.targets)
            i += 1
        else:
            first = i
            while i < block.stop and learners.kind[i] != EXTERNAL:
                i += 1
            yield WorkItem((first, 0), (i, n))


def hand_over(s: Workspace, before: Forest, forest: Forest) -> bool:
    """Let a block have the rows that were gathered for the block before; false if its first tree sees others.

    Where all trees see the same, rows are gathered once for all blocks.
    """
    tree = s.gathered[FOR]
    if tree < 0 or before.counts.shape[1] != forest.counts.shape[1]:  # no rows, or too little room
        return False
    same = np.array_equal(before.numeric[tree], forest.numeric[0])
    same = same and np.array_equal(before.nominal[tree], forest.nominal[0])
    s.gathered[FOR] = 0
    return same


def process_blocks(ensemble: Any, own: Custom, chunk: Any, trees: int, play: Play) -> ChunkTask:
    """Let every block of an ensemble play a chunk; a forest in which `trees` trees may find no room is enlarged."""
    s, n_foreign, rows = None, len(ensemble.external.copies), len(chunk.labels)
    for b, block in enumerate(blocks(ensemble.learners.kind.size, len(ensemble.forests))):
        if s is None or not hand_over(s, ensemble.forests[b - 1], ensemble.forests[b]):
            s = make_workspace(ensemble.forests[b], ensemble.bank, ensemble.plan.n_labels, n_foreign, rows)
        demand = capacity_demand(ensemble.forests[b])
        for turn in schedule(ensemble.learners, block, ensemble.external, chunk, s):
            at = turn.first
            while True:
                states = LearnerStates(ensemble.forests[b], ensemble.bank, ensemble.memory, own)
                at = play(b, states, demand, s, at, turn.last)
                if at == turn.last:
                    break
                ensemble.forests[b] = enlarged(ensemble.forests[b], trees, demand)
        yield
