"""Chunks on their way through an ensemble, several at once: how learners are shared out to threads.

Learner i needs its own past and the scores of the learners before it, nothing else. So learners stand in
blocks, and while one block has a chunk, the block before it may have the next one. The way of a chunk is a *passage*:
a generator that pauses after each block, and ends when all that the chunk brings is written down. Block b may take
chunk c once block b - 1 is done with it, and block b itself with chunk c - 1:

    | block 0   block 1   block 2 |
    |-----------------------------|
    | chunk 0                     |
    | chunk 1   chunk 0           |
    | chunk 2   chunk 1   chunk 0 |

A thread that is free takes the oldest chunk that may go on, or else begins the next one. So it is mostly its own chunk
that it goes on with, whose scores its core has just written (with the newest chunk first, two threads took 4 % more
CPU time on movement). Results are those of one thread, number for number.

Kernels work without Python's lock; what is written in Python is under it, one thread at a time.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

ChunkTask: TypeAlias = Generator[None, None, Any]

# More blocks than threads, so that nobody waits long for a block that takes longer than others; each step costs some
# 100 us beside its work, and 1,024 rows through 25 trees are 3 to 8 ms of it (measured on movement and covertype).
BLOCKS_PER_THREAD = 2


def n_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` stands for, as in scikit-learn: None is 1, -1 all cores, -2 all but one, ..."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: a number of threads, -1 for one on each core, or None for one thread")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def blocks(n_learners: int, n_blocks: int) -> list[range]:
    """The learners of each block: they follow each other, and are as many in each as can be."""
    return [range(n_learners * b // n_blocks, n_learners * (b + 1) // n_blocks) for b in range(n_blocks)]


def run_tasks(tasks: Iterable[ChunkTask], threads: int, in_order: bool) -> None:
    """Take passages to their ends; `in_order`: no chunk overtakes another, since what one leaves behind the next finds.

    An error in one of them, or an interruption, ends all; then some blocks may be ahead of others. No more than two
    passages for each thread are under way, so that they take little memory. The calling thread is one of the threads.
    """
    if threads == 1:
        for task in tasks:
            _finish(task)
        return
    line = _Line(tasks, in_order, 2 * threads)
    others = [threading.Thread(target=line.work, name=f"edgewise-{n}") for n in range(1, threads)]
    try:
        for thread in others:
            thread.start()
        line.work()
    except BaseException as error:  # an interruption while threads start: some may be at work already
        line.end(error)
    while others:
        try:
            others[-1].join()
            others.pop()
        except RuntimeError:  # it never started, or will find that all has ended
            others.pop()
        except BaseException as error:  # an interruption: nobody is left behind at work
            line.end(error)
    if line.error is not None:
        raise line.error


@dataclass(eq=False)
class _Way:
    """A passage under way: how many steps are behind it, and whether some thread is taking one."""

    task: ChunkTask
    steps: int = 0
    moving: bool = False


class _Line:
    """The passages under way, oldest first, and those still to begin: what several threads work on."""

    def __init__(self, tasks: Iterable[ChunkTask], in_order: bool, most: int) -> None:
        self.error: BaseException | None = None
        self._to_begin = iter(tasks)
        self._all_begun = False
        self._in_order = in_order
        self._most = most
        self._ways: list[_Way] = []
        self._changed = threading.Condition()

    def work(self) -> None:
        """Take one step after another until all passages have ended, or an error ends all."""
        try:
            while (way := self._next()) is not None:
                self._moved(way, _step(way.task) if self._in_order else _finish(way.task))
        except BaseException as error:
            self.end(error)

    def end(self, error: BaseException) -> None:
        """Let nobody take another step; the first error counts."""
        with self._changed:
            self.error = error if self.error is None else self.error
            self._changed.notify_all()

    def _next(self) -> _Way | None:
        """The way to move now, as soon as there is one; None when nothing is left to do."""
        with self._changed:
            while self.error is None and (self._ways or not self._all_begun):
                way = self._ready() or self._begun()
                if way is not None:
                    way.moving = True
                    return way
                if self._ways:
                    self._changed.wait()
        return None

    def _ready(self) -> _Way | None:
        """The oldest one in nobody's hands whose next block is done with the passage before it."""
        ahead = math.inf
        for way in self._ways:
            if not way.moving and way.steps < ahead:
                return way
            ahead = way.steps
        return None

    def _begun(self) -> _Way | None:
        """The next one, if there is one, its place at the first block is free, and not too many are under way."""
        if len(self._ways) == self._most or (self._in_order and self._ways and self._ways[-1].steps == 0):
            return None
        for task in self._to_begin:
            self._ways.append(_Way(task))
            return self._ways[-1]
        self._all_begun = True
        return None

    def _moved(self, way: _Way, ended: bool) -> None:
        with self._changed:
            way.moving = False
            way.steps += 1
            if ended:
                self._ways.remove(way)
            self._changed.notify_all()


def _step(task: ChunkTask) -> bool:
    """Take a passage through one more block; whether it has come to its end."""
    for _ in task:
        return False
    return True


def _finish(task: ChunkTask) -> bool:
    for _ in task:
        pass
    return True
