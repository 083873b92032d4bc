"""Jobs in parallel, each in one thread: those that are kept are not run again, those that finish are kept at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from edgewise.data import datasets
from edgewise.reproduction import cache
from edgewise.reproduction.declarations import Declaration
from edgewise.reproduction.games import Job, game_of
from edgewise.reproduction.planning import Line, Options, lines_of
from edgewise.reproduction.results import Missing

CUDA = "cuda"
EXTRAS = {"torch": "neural"}  # a module -> the extra of edgewise that brings it


class Task(NamedTuple):
    """A job and the name under which its record is kept."""

    key: str
    job: Job


class Finished(NamedTuple):
    """A task that came to its end: with a record, or with an error."""

    task: Task
    kept: cache.Kept | None
    error: str | None


class BoosterConfig(NamedTuple):
    """The lines of one declaration, their tasks, and what cannot be run."""

    declared: Declaration
    lines: list[Line]
    tasks: dict[tuple[str, str], list[Task]]  # (data, algorithm) -> a task for each seed
    missing: list[Missing]


class Run:
    """The runs behind some declarations: planned, looked up in the cache, made. `kept` grows as they finish."""

    def __init__(self, declared: Sequence[Declaration], options: Options) -> None:
        self.options = options
        self.kept: dict[str, cache.Kept] = {}
        self.failed: dict[str, str] = {}
        self._checksums: dict[str | None, str | Missing] = {}
        self._outdated: set[str] = set()
        self.plans = [self._plan(each) for each in declared]
        # Seed by seed, so that an unfinished run has something of everything.
        tasks = {task.key: task for plan in self.plans for each in plan.tasks.values() for task in each}
        self.tasks = sorted(tasks.values(), key=lambda task: task.job.seed)

    @property
    def pending(self) -> list[Task]:
        """The tasks that are to be run."""
        return [task for task in self.tasks if task.key not in self.kept]

    @property
    def outdated(self) -> int:
        """How many tasks another version of the code has run."""
        return sum(task.key in self._outdated for task in self.tasks)

    def work(self, workers: int, watch: Callable[[Finished], None]) -> None:
        """Run what is pending; `watch` is called with every task that ends."""
        from joblib import Parallel, delayed

        # One task at a time and none in store: a finished one is reported at once.
        pool = Parallel(n_jobs=workers, backend="loky", batch_size=1, return_as="generator_unordered")
        for finished in pool(delayed(work)(task) for task in self.pending):
            if finished.kept is not None:
                self.kept[finished.task.key] = finished.kept
            else:
                self.failed[finished.task.key] = finished.error or ""
            watch(finished)

    def seconds_left(self, workers: int) -> float:
        """How long what is pending will take: as other seeds of the same took, else by the size of the data."""
        known: dict[str, list[float]] = {}
        size, seconds = 1e-9, 0.0
        for task in self.tasks:
            if task.key in self.kept:
                took = self.kept[task.key].record.seconds
                known.setdefault(_without_seed(task.job), []).append(took)
                if task.job.data is not None:  # work without data says nothing of work with
                    size, seconds = size + _size(task.job), seconds + took
        left = [task.job for task in self.pending if task.key not in self.failed]
        each = [known.get(_without_seed(job)) or [_size(job) * seconds / size] for job in left]
        return sum(sum(times) / len(times) for times in each) / max(1, min(workers, len(left)))

    def _plan(self, declared: Declaration) -> BoosterConfig:
        tasks: dict[tuple[str, str], list[Task]] = {}
        missing: dict[str, Missing] = {}
        lines = lines_of(declared, self.options)
        for data, algorithm, jobs in lines:
            if not jobs:
                continue
            total = self._checksum(data.load)
            if isinstance(total, Missing):
                missing[total.what] = total
                continue
            planned = [Task(cache.key(job, total), job) for job in jobs]
            known = [task for task in planned if self._look_up(task)]
            for lacking in filter(None, map(_lacking, (algorithm.needs, data.needs))):
                if len(known) < len(planned):
                    what = f"{lacking.what}, for {data.name}"
                    missing[what] = Missing(what, lacking.how)
                planned = known  # what is kept needs nothing more
            tasks[data.name, algorithm.name] = planned
        return BoosterConfig(declared, lines, tasks, list(missing.values()))

    def _look_up(self, task: Task) -> bool:
        """Whether this version of the code has kept the task's record."""
        if task.key not in self.kept:
            found = cache.find(task.key)
            if found is not None and found.code == cache.code_version(task.job.game):
                self.kept[task.key] = found
            elif found is not None:
                self._outdated.add(task.key)
        return task.key in self.kept

    def _checksum(self, data: str | None) -> str | Missing:
        if data not in self._checksums:
            try:
                self._checksums[data] = cache.checksum(data)
            except OSError as error:
                self._checksums[data] = Missing(f"data set {data}", str(error))
        return self._checksums[data]


def work(task: Task) -> Finished:
    """Run one task in one thread and keep its record. An error is reported, and the others go on."""
    from threadpoolctl import threadpool_limits

    code = cache.code_version(task.job.game)
    try:
        with threadpool_limits(1):
            record = game_of(task.job.game)(task.job)
    except Exception as error:
        return Finished(task, None, f"{type(error).__name__}: {error}")
    return Finished(task, cache.keep(task.key, task.job, record, code), None)


@functools.cache
def _lacking(need: str | None) -> Missing | None:
    """A module, or a CUDA device, that is not there, and how to get it."""
    module = "torch" if need == CUDA else need
    if module is not None and find_spec(module) is None:
        extra = EXTRAS.get(module)
        return Missing(module, f"pip install {f'edgewise[{extra}]' if extra else module}")
    if need == CUDA:
        import torch

        if not torch.cuda.is_available():
            return Missing("a CUDA device", "run this where there is one; on a CPU it would take hours")
    return None


def _without_seed(job: Job) -> str:
    return str(job._replace(seed=0))


def _size(job: Job) -> float:
    """Rows x features x classes x learners."""
    if job.data is None:
        return 1.0
    about = datasets.info(job.data)
    whole = about.rows * job.settings.get("copies", 1)
    rows = min(job.rows or whole, whole)
    return float(rows * about.features * max(1, about.classes) * job.model.get("n_estimators", 100))
