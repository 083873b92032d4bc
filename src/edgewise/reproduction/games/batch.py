"""Boosting of all training rows at once, then the test error round by round (Mukherjee and Schapire 2010, Section 5).

| setting | meaning                                                                                       |
|---------|-----------------------------------------------------------------------------------------------|
| rounds  | of boosting, at most                                                                          |
| split   | "files": the parts of the files; else rows in the order of the seed, by a share or as [a, b]  |
| watch   | true: keep curves over the rounds                                                             |
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from edgewise.data import datasets
from edgewise.reproduction.games import Job, Record, curve, load, make

SOURCES = ("batch",)
POINTS = 48  # rounds of a curve
WARM_UP = 500


class Split(NamedTuple):
    train: Any
    train_labels: np.ndarray
    test: Any
    test_labels: np.ndarray


def split(job: Job) -> Split:
    """Training and test rows. With fewer rows, each part is cut in proportion."""
    assert job.data is not None
    table, y = load(job.data)
    how = job.settings["split"]
    if how == "files":
        first = datasets.info(job.data).train_rows
        assert first is not None
        order, last = np.arange(len(y)), len(y)
    else:
        order = datasets.order(len(y), job.seed)
        first, last = (how[0], sum(how)) if isinstance(how, list) else (round(how * len(y)), len(y))
    share = 1.0 if job.rows is None else min(1.0, job.rows / last)
    train, test = order[: round(share * first)], order[first : first + round(share * (last - first))]
    return Split(table[train], y[train], table[test], y[test])


def play(job: Job) -> Record:
    """Fit, then vote on the test rows stage by stage."""
    parts = split(job)
    warm = make(job.model, n_estimators=2, random_state=job.seed)
    warm.fit(parts.train[:WARM_UP], parts.train_labels[:WARM_UP])  # compiles the kernels
    booster = make(job.model, n_estimators=job.settings["rounds"], random_state=job.seed)
    before = time.process_time()
    booster.fit(parts.train, parts.train_labels)
    seconds = time.process_time() - before
    errors = [float((guess != parts.test_labels).mean()) for guess in booster.staged_predict(parts.test)]
    measures = {"test_error": errors[-1], "seconds": seconds}
    if not job.settings.get("watch"):
        return Record(measures, seconds)
    rounds = np.unique(np.geomspace(1, job.settings["rounds"], POINTS).round().astype(int))
    at = np.minimum(rounds, len(errors)) - 1  # a booster that stopped keeps its last error
    bounds, train_errors = np.asarray(booster.bounds_), np.asarray(booster.train_errors_)
    curves = [
        curve("error", "rounds", "test error", [("test error", rounds, np.array(errors)[at])]),
        curve("edge", "rounds", "edge", [("edge of the learner", rounds, _until(rounds, booster.edges_))]),
        curve("weight", "rounds", "learner weight", [("weight", rounds, _until(rounds, booster.estimator_weights_))]),
        curve(
            "bound",
            "rounds",
            "training error",
            [("bound", rounds, bounds[at]), ("training error", rounds, train_errors[at])],
        ),
    ]
    return Record(measures, seconds, curves)


def _until(rounds: np.ndarray, values: Any) -> np.ndarray:
    """A value of each round; none after the booster stopped."""
    found = np.asarray(values, dtype=float)
    return np.where(rounds <= found.size, found[np.minimum(rounds, found.size) - 1], np.nan)
