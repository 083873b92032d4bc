"""A stream of labels, shuffled by the seed: every row is guessed, then learned. Full feedback and bandits alike.

| setting | meaning |
|---------|---------|
| copies  | how often the data are repeated before they are shuffled; 1 |
| window  | accuracy in the learning curve is over so large a share of the stream; none: over windows side by side |

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

from edgewise.evaluation.measures import last_fifth, learning_curve
from edgewise.reproduction.games import Job, Record, curve, load, make
from edgewise.streams import datasets

PIECES = 40  # the model is looked at after each; playing in pieces changes no result
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
    """Guess and learn every row; look at the model from time to time."""
    X, y, classes, first_time = stream_of(job)
    make(job.model, random_state=job.seed).prequential(
        X[:WARM_UP], y[:WARM_UP], classes=classes
    )  # compiles the kernels
    model = make(job.model, random_state=job.seed)
    ends = np.unique(np.linspace(0, len(y), PIECES + 1).astype(int))
    hits: list[np.ndarray] = []
    looks: list[dict[str, Any]] = []
    seconds = 0.0
    for first, last in pairwise(ends):
        before = time.process_time()
        guesses = model.prequential(X[first:last], y[first:last], classes=classes)
        seconds += time.process_time() - before
        hits.append(guesses == y[first:last])
        looks.append(_look(model))
    right = np.concatenate(hits)
    measures = {
        "all": float(right.mean()),
        "last_fifth": last_fifth(right),
        "new": float(right[first_time].mean()),
        "seconds": seconds,
    }
    return Record(measures, seconds, [learning(right, job.settings.get("window")), *_inside(ends[1:], looks)])


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


def _look(model: Any) -> dict[str, Any]:
    """Edges and weights of learners in a row (boosters of one class against the rest have none); a bound if proved."""
    seen: dict[str, Any] = {"mistakes": model.mistakes_}
    for name in ("edges_", "learner_weights_"):
        values = getattr(model, name, None)
        if values is not None and values.ndim == 1:
            seen[name] = values
    if hasattr(model, "bound"):
        with suppress(ValueError):  # which says that nothing is proved for this setting
            seen["bound"] = model.bound().value
    return seen


def _inside(rows: np.ndarray, looks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    curves = []
    for kind, field, y_label in (("edge", "edges_", "edge"), ("weight", "learner_weights_", "learner weight")):
        if field in looks[0]:
            values = np.stack([look[field] for look in looks])
            learners = [i for i in SHOWN if i <= values.shape[1]]
            curves.append(curve(kind, "rows", y_label, [(f"learner {i}", rows, values[:, i - 1]) for i in learners]))
    if "bound" in looks[0]:
        lines = [
            (name, rows, [look[key] for look in looks]) for name, key in (("bound", "bound"), ("mistakes", "mistakes"))
        ]
        curves.append(curve("bound", "rows", "mistakes", lines))
    return curves
