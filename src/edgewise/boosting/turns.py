"""Who goes when: how a chunk of examples is cut into calls of a kernel where some learners are of other libraries.

Learner after learner goes through the chunk. Learners of ours that follow each other take one call for all of their
rows. A learner of another library takes one call per row: what it says is written down before (`Scratch.said`), and
what the kernel wants it to learn is handed on after (`Scratch.taught`). So the rules of the game are in one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from edgewise.boosting.state import FOREIGN, Learners, Scratch
from edgewise.learners.foreign_copies import ForeignBank


class Turn(NamedTuple):
    """What one call plays: learners from first[0] to below last[0], rows from first[1] to below last[1]."""

    first: tuple[int, int]
    last: tuple[int, int]


def turns(learners: Learners, foreign: ForeignBank, chunk: Any, s: Scratch) -> Iterator[Turn]:
    """The turns of a chunk in order. Whoever takes one plays it before asking for the next."""
    n_learners, n = learners.kind.size, len(chunk.labels)
    rows = foreign.reader.read(chunk.numeric, chunk.nominal)
    i = 0
    while i < n_learners:
        if learners.kind[i] == FOREIGN:
            slot = int(learners.slot[i])
            for t in range(n):
                foreign.speaks(slot, rows, t, s.said)
                yield Turn((i, t), (i + 1, t + 1))
                foreign.learns(slot, rows, t, s.taught)
            i += 1
        else:
            first = i
            while i < n_learners and learners.kind[i] != FOREIGN:
                i += 1
            yield Turn((first, 0), (i, n))
