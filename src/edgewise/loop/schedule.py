"""Who goes when: how a chunk of examples is cut into calls of a kernel.

Block after block of learners goes through the chunk (`pipeline`), and within a block learner after learner. Learners of
ours that follow each other take one call for all of their rows. A learner of another library takes one call per row:
what it says is written down before (`Scratch.said`), and what the kernel wants it to learn is handed on after
(`Scratch.taught`). So the rules of the game are in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from edgewise.learners.foreign_copies import ForeignBank
from edgewise.learners.forest.layout import Forest, enlarged, room_needed
from edgewise.loop.custom import Own
from edgewise.loop.pipeline import Passage, blocks
from edgewise.loop.state import FOR, FOREIGN, Knowledge, Learners, Scratch, make_scratch

Place = tuple[int, int]  # a learner and a row
# (block, what it knows, room that an example may need, scratch, first, last) -> where it stopped for want of room
Play = Callable[[int, Knowledge, np.ndarray, Scratch, Place, Place], Place]


class Turn(NamedTuple):
    """What one call plays: learners from first[0] to below last[0], rows from first[1] to below last[1]."""

    first: Place
    last: Place


def turns(learners: Learners, block: range, foreign: ForeignBank, chunk: Any, s: Scratch) -> Iterator[Turn]:
    """The turns of a block of learners in order. Whoever takes one plays it before asking for the next."""
    n = len(chunk.labels)
    rows = foreign.reader.read(chunk.numeric, chunk.nominal)
    i = block.start
    while i < block.stop:
        if learners.kind[i] == FOREIGN:
            slot = int(learners.slot[i])
            for t in range(n):
                foreign.speaks(slot, rows, t, s.said)
                yield Turn((i, t), (i + 1, t + 1))
                foreign.learns(slot, rows, t, s.taught)
            i += 1
        else:
            first = i
            while i < block.stop and learners.kind[i] != FOREIGN:
                i += 1
            yield Turn((first, 0), (i, n))


def hand_over(s: Scratch, before: Forest, forest: Forest) -> bool:
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


def play_blocks(ensemble: Any, own: Own, chunk: Any, trees: int, play: Play) -> Passage:
    """Let every block of an ensemble play a chunk; a forest in which `trees` trees may find no room is enlarged."""
    s, n_foreign, rows = None, len(ensemble.foreign.copies), len(chunk.labels)
    for b, block in enumerate(blocks(ensemble.learners.kind.size, len(ensemble.forests))):
        if s is None or not hand_over(s, ensemble.forests[b - 1], ensemble.forests[b]):
            s = make_scratch(ensemble.forests[b], ensemble.bank, ensemble.plan.n_labels, n_foreign, rows)
        need = room_needed(ensemble.forests[b])
        for turn in turns(ensemble.learners, block, ensemble.foreign, chunk, s):
            at = turn.first
            while True:
                known = Knowledge(ensemble.forests[b], ensemble.bank, ensemble.memory, own)
                at = play(b, known, need, s, at, turn.last)
                if at == turn.last:
                    break
                ensemble.forests[b] = enlarged(ensemble.forests[b], trees, need)
        yield
