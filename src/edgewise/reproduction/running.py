"""Jobs in parallel, each in one thread: those that are kept are not run again, those that finish are kept at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from edgewise.data import datasets
from edgewise.reproduction import cache
from edgewise.reproduction.declarations import Declaration
from edgewise.reproduction.games import Job, module_of
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


class Plan(NamedTuple):
    """The lines of one declaration, their tasks, and what cannot be run."""

    declared: Declaration
    lines: list[Line]
    tasks: dict[tuple[str, str], list[Task]]  # (data, algorithm) -> a task for each seed
    missing: list[Missing]


class Run:
    """The runs behind some declarations: planned, looked up, worked off. `kept` grows as they finish."""

    def __init__(self, declared: Sequence[Declaration], options: Options) -> None:
        self.options = options
        self.kept: dict[str, cache.Kept] = {}
        self.failed: dict[str, str] = {}
        self.outdated = 0  # kept by another version of the code
        self._checksums: dict[str | None, str | Missing] = {}
        self.plans = [self._plan(each) for each in declared]
        # Seed by seed, so that an unfinished run has something of everything.
        tasks = {task.key: task for plan in self.plans for each in plan.tasks.values() for task in each}
        self.tasks = sorted(tasks.values(), key=lambda task: task.job.seed)
        for task in self.tasks:
            found = cache.find(task.key)
            if found is not None and found.code == cache.code_version(task.job.game):
                self.kept[task.key] = found
            elif found is not None:
                self.outdated += 1

    @property
    def pending(self) -> list[Task]:
        """The tasks that are to be run."""
        return [task for task in self.tasks if task.key not in self.kept]

    def work(self, workers: int, watch: Callable[[Finished], None]) -> None:
        """Run what is pending; `watch` is told of every task that ends."""
        for finished in _parallel(self.pending, workers):
            if finished.kept is not None:
                self.kept[finished.task.key] = finished.kept
            else:
                self.failed[finished.task.key] = finished.error or ""
            watch(finished)

    def _plan(self, declared: Declaration) -> Plan:
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
            for lacking in filter(None, map(_lacking, (algorithm.needs, data.needs))):
                known = [task for task in planned if _found(task)]  # what is kept needs nothing more
                if len(known) < len(planned):
                    what = f"{lacking.what}, for {data.name}"
                    missing[what] = Missing(what, lacking.how)
                planned = known
            tasks[data.name, algorithm.name] = planned
        return Plan(declared, lines, tasks, list(missing.values()))

    def _checksum(self, data: str | None) -> str | Missing:
        if data not in self._checksums:
            try:
                self._checksums[data] = cache.checksum(data)
            except OSError as error:
                self._checksums[data] = Missing(f"data set {data}", str(error))
        return self._checksums[data]


def _found(task: Task) -> bool:
    found = cache.find(task.key)
    return found is not None and found.code == cache.code_version(task.job.game)


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


class Guess:
    """How long what is pending will take: as other seeds of the same took, else by the size of the data."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[str, list[float]] = {}
        self._work, self._seconds = 1e-9, 0.0
        for task in run.tasks:
            if task.key in run.kept:
                self.learn(task, run.kept[task.key].record.seconds)

    def learn(self, task: Task, seconds: float) -> None:
        self._known.setdefault(_but_seed(task.job), []).append(seconds)
        if task.job.data is not None:  # work without data says nothing of work with
            self._work += _size(task.job)
            self._seconds += seconds

    def left(self, workers: int) -> float:
        """Seconds until the end."""
        tasks = [task for task in self._run.pending if task.key not in self._run.failed]
        return sum(self._of(task.job) for task in tasks) / max(1, min(workers, len(tasks)))

    def _of(self, job: Job) -> float:
        known = self._known.get(_but_seed(job))
        return sum(known) / len(known) if known else _size(job) * self._seconds / self._work


def _but_seed(job: Job) -> str:
    return str(job._replace(seed=0))


def _size(job: Job) -> float:
    """Rows x features x classes x learners."""
    if job.data is None:
        return 1.0
    about = datasets.info(job.data)
    whole = about.rows * job.settings.get("copies", 1)
    rows = min(job.rows or whole, whole)
    return float(rows * about.features * max(1, about.classes) * job.model.get("n_estimators", 100))


def _parallel(tasks: Sequence[Task], workers: int) -> Iterable[Finished]:
    from joblib import Parallel, delayed

    # One task at a time and none in store: a finished one is told at once.
    pool = Parallel(n_jobs=workers, backend="loky", batch_size=1, return_as="generator_unordered")
    return pool(delayed(work)(task) for task in tasks)


def work(task: Task) -> Finished:
    """Run one task in one thread and keep its record. An error is told, and the others go on."""
    from threadpoolctl import threadpool_limits

    code = cache.code_version(task.job.game)
    try:
        with threadpool_limits(1):
            record = module_of(task.job.game).play(task.job)
    except Exception as error:
        return Finished(task, None, f"{type(error).__name__}: {error}")
    return Finished(task, cache.keep(task.key, task.job, record, code), None)
