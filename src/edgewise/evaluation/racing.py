"""Races: several models over several streams, each in several orders, summarized by mean and standard error."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from edgewise.data import datasets
from edgewise.data.table import as_table
from edgewise.evaluation.prequential import CHUNK_ROWS, evaluate, evaluate_ranking
from edgewise.evaluation.runs import StreamRun

Factory = Callable[[int], Any]  # seed -> an untrained model


class Step(NamedTuple):
    """Where a race is: rows done of a run, and its accuracy, or rank loss, so far."""

    data: str
    model: str
    seed: int
    done: int
    total: int
    so_far: float


class Mean(NamedTuple):
    """A mean over runs and its standard error, None for a single run."""

    value: float
    error: float | None


class Summary(NamedTuple):
    """One line of a race's table: a model on a stream, over all seeds.

    `qualities` are those of the kind of run, less those that a model does not have.
    """

    kind: type[StreamRun]
    data: str
    model: str
    learners: int | None
    order: str
    rows: int
    seeds: int
    qualities: dict[str, Mean]
    rows_per_second: Mean
    model_bytes: Mean | None


class Race(NamedTuple):
    """What a race gives: its runs, and a line for each stream and model."""

    runs: list[StreamRun]
    summary: list[Summary]


def race(
    models: Mapping[str, Factory],
    data: Mapping[str, tuple[Any, Any]],
    seeds: Sequence[int] = (1,),
    *,
    order: str = "shuffled",
    rows: int | None = None,
    progress: Callable[[Step], None] | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Race:
    """Run every model over every stream once per seed; see `race_runs`.

    Parameters
    ----------
    models : mapping
        Name -> function of a seed that makes the model.
    data : mapping
        Name -> (X, y).
    seeds : sequence of int
        One run for each.
    order : str
        "shuffled" by the seed, or "file".
    rows : int, optional
        How many rows of each stream; all by default.
    progress : callable, optional
        Called with a `Step` after every chunk.
    chunk_rows : int
        Rows that go to the model in one call.

    Returns
    -------
    Race
        The runs, and a summary of them.
    """
    runs = list(race_runs(models, data, seeds, order=order, rows=rows, progress=progress, chunk_rows=chunk_rows))
    return Race(runs, summarize(runs))


def race_runs(
    models: Mapping[str, Factory],
    data: Mapping[str, tuple[Any, Any]],
    seeds: Sequence[int] = (1,),
    *,
    order: str = "shuffled",
    rows: int | None = None,
    progress: Callable[[Step], None] | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Iterator[StreamRun]:
    """The runs of a race, one by one as they finish.

    A seed sets the order of the rows, `numpy.random.default_rng(seed).permutation(n)`, and the model's `random_state`;
    all models see the same orders. With `order="file"` rows stay as they are and the seed only reaches the model.
    `rows` keeps the first so many rows of the order; the classes are those of all rows of the stream. Labels [n] are
    guessed; label sets, an indicator matrix [n, k], are ranked.

    Parameters are those of `race`.

    Returns
    -------
    iterator of runs
        `Run` for labels, `RankingRun` for label sets.
    """
    if order not in ("shuffled", "file"):
        raise ValueError(f"order={order!r}: shuffled or file")
    for name, (X, y) in data.items():
        table, labels = as_table(X), np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        run_one: Callable[..., StreamRun] = evaluate_ranking
        if labels.ndim == 1:
            run_one = partial(evaluate, classes=np.unique(labels))
        for seed in seeds:
            chosen = (datasets.order(len(labels), seed) if order == "shuffled" else np.arange(len(labels)))[:rows]
            inputs, targets = table[chosen], labels[chosen]
            for model_name, factory in models.items():
                report = None
                if progress is not None:
                    report = partial(_report, progress, name, model_name, seed, len(targets))
                    report(0, math.nan)
                run = run_one(factory(seed), inputs, targets, progress=report, chunk_rows=chunk_rows)
                yield dataclasses.replace(run, model=model_name, data=name, seed=seed, order=order)


def summarize(runs: Sequence[StreamRun]) -> list[Summary]:
    """Mean and standard error over seeds, one line per stream and model, in the order of first appearance.

    Parameters
    ----------
    runs : sequence of runs
        What `race_runs` gave.

    Returns
    -------
    list of Summary
        One for each stream and model.
    """
    groups: dict[tuple[Any, ...], list[StreamRun]] = {}
    for run in runs:
        groups.setdefault((type(run), run.data, run.model, run.learners, run.order, run.rows), []).append(run)
    return [_summary(group) for group in groups.values()]


def mean(values: Sequence[float]) -> Mean:
    """Mean and standard error (sample standard deviation over the root of the count)."""
    if len(values) == 1:
        return Mean(float(values[0]), None)
    return Mean(float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values))))


def _summary(group: Sequence[StreamRun]) -> Summary:
    first = group[0]
    sizes = [run.model_bytes for run in group if run.model_bytes is not None]
    found = {quality.field: [getattr(run, quality.field) for run in group] for quality in first.qualities}
    return Summary(
        kind=type(first),
        data=first.data,
        model=first.model,
        learners=first.learners,
        order=first.order,
        rows=first.rows,
        seeds=len(group),
        qualities={field: mean(values) for field, values in found.items() if None not in values},
        rows_per_second=mean([run.rows_per_second for run in group]),
        model_bytes=mean(sizes) if sizes else None,
    )


def _report(
    progress: Callable[[Step], None], data: str, model: str, seed: int, total: int, done: int, so_far: float
) -> None:
    progress(Step(data, model, seed, done, total, so_far))
