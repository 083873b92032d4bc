"""Chunks on their way through an ensemble, several at once: how learners are shared out to threads.

Learner i needs its own past and the scores of the learners before it, nothing else (`schema`). So learners stand in
blocks, and while one block has a chunk, the block before it may have the next one. The way of a chunk is a *passage*:
a generator that pauses after each block, and ends when all that the chunk brings is written down. Block b may take
chunk c once block b - 1 is done with it, and block b itself with chunk c - 1:

    step | block 0   block 1   block 2
    -----|-----------------------------
      0  | chunk 0
      1  | chunk 1   chunk 0
      2  | chunk 2   chunk 1   chunk 0

Steps are handed out row by row of this table. What a task waits for stands a whole row before it, and is as a rule
long done when a thread comes to the task. Results are those of one thread, number for number.

Kernels work without Python's lock; what is written in Python is under it, one thread at a time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

Passage: TypeAlias = Generator[None, None, Any]

# More blocks than threads, so that who is done with a light one takes another; each step costs some 90 us beside its
# work, and 256 rows through 25 trees are 1 to 3 ms of it (measured on movement).
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


def flow(passages: Iterable[Passage], threads: int, in_order: bool) -> None:
    """Take passages to their ends; `in_order`: no chunk overtakes another, since what one leaves behind the next finds.

    An error in one of them, or an interruption, ends all; then some blocks may be ahead of others. The number of
    passages under way, and so the memory they take, stays below a few more than there are blocks.
    """
    if threads == 1:
        for passage in passages:
            _finish(passage)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="edgewise")
    try:
        if in_order:
            _flow_in_order(passages, pool)
        else:
            _flow_freely(passages, pool, 2 * threads)
    finally:
        pool.shutdown(cancel_futures=True)


def _flow_in_order(passages: Iterable[Passage], pool: ThreadPoolExecutor) -> None:
    source = iter(passages)
    begun: Future[bool] = Future()
    begun.set_result(False)
    line: list[tuple[Passage, Future[bool]]] = []  # under way, newest first, each with the step that it took last
    row: list[Future[bool]] = []  # the steps before those
    while True:
        for step in row:
            step.result()
        row = [step for _, step in line]
        line = [(passage, step) for passage, step in line if not (step.done() and step.result())]
        for passage in islice(source, 1):
            line.insert(0, (passage, begun))
        if not line:
            return
        # What a step waits for: its own passage's last one, and the older passage's, which was at the same block.
        line = [
            (passage, pool.submit(_advance, passage, [step for _, step in line[place : place + 2]]))
            for place, (passage, _) in enumerate(line)
        ]


def _flow_freely(passages: Iterable[Passage], pool: ThreadPoolExecutor, most: int) -> None:
    waiting: deque[Future[None]] = deque()
    for passage in passages:
        if len(waiting) == most:
            waiting.popleft().result()
        waiting.append(pool.submit(_finish, passage))
    for step in waiting:
        step.result()


def _advance(passage: Passage, before: list[Future[bool]]) -> bool:
    """Take a passage through one more block, after the steps before; whether it has come to its end."""
    for step in before:
        step.result()
    for _ in passage:
        return False
    return True


def _finish(passage: Passage) -> None:
    for _ in passage:
        pass
