"""Chunks of examples through blocks of learners, on several threads.

Learner i needs its own past and the scores of the learners before it, nothing else. So learners stand in blocks, and
while one block has a chunk, the block before it may have the next one. A `ChunkTask` is a generator that pauses after
each block and ends when the results of its chunk are written. Block b may take chunk c once block b - 1 is done with
it, and block b itself with chunk c - 1:

    | block 0   block 1   block 2 |
    |-----------------------------|
    | chunk 0                     |
    | chunk 1   chunk 0           |
    | chunk 2   chunk 1   chunk 0 |

A free thread takes the oldest chunk that is ready, or else begins the next one: mostly the chunk whose scores its core
has just written (with the newest chunk first, two threads took 4 % more CPU time on movement). Results are those of one
thread, number for number. Kernels run without Python's lock; Python code runs under it, one thread at a time.

Within a block, one kernel call takes neighboring learners of ours through all rows of the chunk. A learner of another
library takes one call per row: its prediction is written to `Workspace.predicted` before, and what it is to learn is
read from `Workspace.targets` after. So the rules of boosting are in the kernels alone.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from edgewise.learners.external import ExternalBank
from edgewise.learners.forest.capacity import capacity_demand, enlarged
from edgewise.learners.forest.layout import Forest
from edgewise.loop.state import EXTERNAL, FOR, Custom, Learners, LearnerStates, Workspace, make_workspace

ChunkTask: TypeAlias = Generator[None, None, Any]

# More blocks than threads, so that no thread waits long for a block that takes longer than others; each step costs some
# 100 us beside its work, and 1,024 rows through 25 trees are 3 to 8 ms of it (measured on movement and covertype).
BLOCKS_PER_THREAD = 2


def n_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`, as in scikit-learn: None is 1, -1 all cores, -2 all but one, ..."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: a number of threads, -1 for one on each core, or None for one thread")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def blocks(n_learners: int, n_blocks: int) -> list[range]:
    """The learners of each block, in order; blocks are of equal size up to one."""
    return [range(n_learners * b // n_blocks, n_learners * (b + 1) // n_blocks) for b in range(n_blocks)]


def run_tasks(tasks: Iterable[ChunkTask], threads: int, in_order: bool) -> None:
    """Run tasks to their ends; `in_order`: no chunk overtakes another, whose state it reads.

    An error in a task, or an interruption, ends all; then some blocks may be ahead of others. No more than two tasks
    for each thread are in flight, so that they take little memory. The calling thread is one of the threads.
    """
    if threads == 1:
        for task in tasks:
            _finish(task)
        return
    queue = _TaskQueue(tasks, in_order, 2 * threads)
    others = [threading.Thread(target=queue.work, name=f"edgewise-{n}") for n in range(1, threads)]
    try:
        for thread in others:
            thread.start()
        queue.work()
    except BaseException as error:  # an interruption while threads start: some may be at work already
        queue.stop(error)
    while others:
        try:
            others[-1].join()
            others.pop()
        except RuntimeError:  # it never started, or will find the queue stopped
            others.pop()
        except BaseException as error:  # an interruption: still wait for every thread
            queue.stop(error)
    if queue.error is not None:
        raise queue.error


@dataclass(eq=False)
class _TaskInFlight:
    task: ChunkTask
    blocks_done: int = 0
    running: bool = False


class _TaskQueue:
    """The tasks in flight, oldest first, and those still to start, shared by threads."""

    def __init__(self, tasks: Iterable[ChunkTask], in_order: bool, capacity: int) -> None:
        self.error: BaseException | None = None
        self._to_start = iter(tasks)
        self._all_started = False
        self._in_order = in_order
        self._capacity = capacity
        self._in_flight: list[_TaskInFlight] = []
        self._changed = threading.Condition()

    def work(self) -> None:
        """Run tasks block by block until all have ended or an error stops the queue."""
        try:
            while (item := self._next_task()) is not None:
                ended = _run_block(item.task) if self._in_order else _finish(item.task)
                with self._changed:
                    item.running = False
                    item.blocks_done += 1
                    if ended:
                        self._in_flight.remove(item)
                    self._changed.notify_all()
        except BaseException as error:
            self.stop(error)

    def stop(self, error: BaseException) -> None:
        """Let no thread begin another block; the first error is kept."""
        with self._changed:
            self.error = error if self.error is None else self.error
            self._changed.notify_all()

    def _next_task(self) -> _TaskInFlight | None:
        """The task to run now, as soon as one is ready; None when nothing is left to do."""
        with self._changed:
            while self.error is None and (self._in_flight or not self._all_started):
                item = self._ready() or self._started()
                if item is not None:
                    item.running = True
                    return item
                if self._in_flight:
                    self._changed.wait()
        return None

    def _ready(self) -> _TaskInFlight | None:
        """The oldest task that does not run and whose next block is done with the task before it."""
        ahead = math.inf
        for item in self._in_flight:
            if not item.running and item.blocks_done < ahead:
                return item
            ahead = item.blocks_done
        return None

    def _started(self) -> _TaskInFlight | None:
        """The next task of all, put in flight; None if there is none, its first block is busy, or the queue is full."""
        first_busy = self._in_order and self._in_flight and self._in_flight[-1].blocks_done == 0
        if first_busy or len(self._in_flight) == self._capacity:
            return None
        for task in self._to_start:
            self._in_flight.append(_TaskInFlight(task))
            return self._in_flight[-1]
        self._all_started = True
        return None


def _run_block(task: ChunkTask) -> bool:
    """Run a task through one more block; whether it has ended."""
    for _ in task:
        return False
    return True


def _finish(task: ChunkTask) -> bool:
    for _ in task:
        pass
    return True


Position = tuple[int, int]  # a learner and a row
# (block, learner states, capacity that an example may need, workspace, first, last) -> the position where it stopped
# because a forest must be enlarged, or `last`
Play = Callable[[int, LearnerStates, np.ndarray, Workspace, Position, Position], Position]


class WorkItem(NamedTuple):
    """One kernel call: learners from first[0] to below last[0], rows from first[1] to below last[1]."""

    first: Position
    last: Position


def schedule(learners: Learners, block: range, external: ExternalBank, chunk: Any, s: Workspace) -> Iterator[WorkItem]:
    """The kernel calls of a block, in order; each must be done before the next is asked for."""
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


def reuse_rows(s: Workspace, before: Forest, forest: Forest) -> bool:
    """Keep the rows gathered for the block before; false if the first tree of this block uses other columns."""
    tree = s.gathered[FOR]
    if tree < 0 or before.counts.shape[1] != forest.counts.shape[1]:  # no rows, or too small a workspace
        return False
    same = np.array_equal(before.numeric[tree], forest.numeric[0])
    same = same and np.array_equal(before.nominal[tree], forest.nominal[0])
    s.gathered[FOR] = 0
    return same


def process_blocks(ensemble: Any, own: Custom, chunk: Any, trees: int, play: Play) -> ChunkTask:
    """Run a chunk through every block by `play`; a forest without capacity for `trees` trees is enlarged."""
    s, n_external, rows = None, len(ensemble.external.copies), len(chunk.labels)
    for b, block in enumerate(blocks(ensemble.learners.kind.size, len(ensemble.forests))):
        if s is None or not reuse_rows(s, ensemble.forests[b - 1], ensemble.forests[b]):
            s = make_workspace(ensemble.forests[b], ensemble.bank, ensemble.plan.n_labels, n_external, rows)
        demand = capacity_demand(ensemble.forests[b])
        for item in schedule(ensemble.learners, block, ensemble.external, chunk, s):
            at = item.first
            while True:
                states = LearnerStates(ensemble.forests[b], ensemble.bank, ensemble.memory, own)
                at = play(b, states, demand, s, at, item.last)
                if at == item.last:
                    break
                ensemble.forests[b] = enlarged(ensemble.forests[b], trees, demand)
        yield
