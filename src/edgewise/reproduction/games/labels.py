"""A stream of labels, shuffled by the seed: every row is guessed, then learned. Full feedback and bandits alike.

| setting | meaning |
|---------|---------|
| copies  | how often the data are repeated before they are shuffled; 1 |
| window  | accuracy in the learning curve is over so large a share of the stream; none: over windows side by side |
| inside  | whether seed 1 is played once more, untimed and in pieces, for edges, weights and bound over time |

| measure    | accuracy, of the label that is shown |
|------------|--------------------------------------|
| all        | on all rows                          |
| last_fifth | on the last fifth                    |
| new        | on rows that come for the first time |
"""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from edgewise.data import datasets
from edgewise.evaluation.measures import last_fifth, learning_curve
from edgewise.reproduction.games import Job, Record, curve, load, make

PIECES = 40  # the model is looked at after each; playing in pieces changes no result but takes longer
POINTS = 81  # of a learning curve with a moving window
WARM_UP = 10
SHOWN = (1, 2, 5, 10, 20, 50, 100)  # learners whose edges and weights are drawn


class Stream(NamedTuple):
    X: Any
    y: np.ndarray
    classes: np.ndarray
    first_time: np.ndarray  # places of the rows that come for the first time


def stream_of(job: Job) -> Stream:
    """The rows of a job in the order of its seed."""
    assert job.data is not None
    table, labels = load(job.data)
    chosen = datasets.order(len(labels) * job.settings.get("copies", 1), job.seed, job.rows) % len(labels)
    return Stream(table[chosen], labels[chosen], np.unique(labels), np.unique(chosen, return_index=True)[1])


def play(job: Job) -> Record:
    """Guess and learn every row."""
    X, y, classes, first_time = stream_of(job)
    make(job.model, random_state=job.seed).prequential(
        X[:WARM_UP], y[:WARM_UP], classes=classes
    )  # compiles the kernels
    model = make(job.model, random_state=job.seed)
    before = time.process_time()
    guesses = model.prequential(X, y, classes=classes)
    seconds = time.process_time() - before
    hits = guesses == y
    measures = {
        "all": float(hits.mean()),
        "last_fifth": last_fifth(hits),
        "new": float(hits[first_time].mean()),
        "seconds": seconds,
    }
    curves = [learning(hits, job.settings.get("window"))]
    if job.settings.get("inside") and job.seed == 1:
        curves += inside(make(job.model, random_state=job.seed), X, y, classes)
    return Record(measures, seconds, curves)


def learning(hits: np.ndarray, window: float | None) -> dict[str, Any]:
    """Accuracy over time, in windows side by side or in one that moves and is a share of the stream."""
    if window is None:
        rows, windowed, _ = learning_curve(hits)
    else:
        size = max(1, round(hits.size * window))
        total = np.concatenate([[0], np.cumsum(hits)])
        rows = np.unique(np.linspace(size, hits.size, POINTS).astype(int))
        windowed = (total[rows] - total[rows - size]) / size
    return curve("learning", "rows", "accuracy", [("accuracy", rows, windowed)])


def inside(model: Any, X: Any, y: np.ndarray, classes: np.ndarray) -> list[dict[str, Any]]:
    """Edges and weights of the learners over time, and the bound, if one is proved, beside the mistakes."""
    ends = np.unique(np.linspace(0, len(y), PIECES + 1).astype(int))
    seen: dict[str, list[Any]] = {"edges_": [], "learner_weights_": [], "bound": [], "mistakes": []}
    for first, last in pairwise(ends):
        model.prequential(X[first:last], y[first:last], classes=classes)
        seen["edges_"].append(model.edges_)
        seen["learner_weights_"].append(model.learner_weights_)
        with suppress(AttributeError, ValueError):  # no bound, or none that is proved for this setting
            seen["bound"].append(model.bound().value)
            seen["mistakes"].append(model.mistakes_)
    rows, curves = ends[1:], []
    for kind, field, y_label in (("edge", "edges_", "edge"), ("weight", "learner_weights_", "learner weight")):
        values = np.stack(seen[field])
        learners = [i for i in SHOWN if i <= values.shape[1]]
        curves.append(curve(kind, "rows", y_label, [(f"learner {i}", rows, values[:, i - 1]) for i in learners]))
    if seen["bound"]:
        curves.append(curve("bound", "rows", "mistakes", [(name, rows, seen[name]) for name in ("bound", "mistakes")]))
    return curves
