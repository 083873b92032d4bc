"""Streams of labels and of label sets: every row is predicted, then learned. Full feedback and bandits alike.

`labels`, a stream shuffled by the seed, and `best_tree`, the learners alone over the same stream, each on its own: the
best of them in hindsight, chosen separately for each measure; the seconds are those of all the trees.

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

`ranking`: the training rows of a set of label sets, then its test rows. The measures are over the test rows, on which
the learning goes on, as in Section 4 of Jung and Tewari 2018. With fewer rows, each part is cut in proportion.

| setting | meaning                                                                                              |
|---------|------------------------------------------------------------------------------------------------------|
| order   | "file": a seed is the random state of the learners alone; "shuffled": rows shuffled in each part, too |
| inside  | as above                                                                                             |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.data import datasets
from edgewise.evaluation.measures import label_codes, last_fifth, learning_curve
from edgewise.evaluation.prequential import watch
from edgewise.evaluation.ranking_measures import measure_ranking, rank_loss
from edgewise.reproduction.games import Job, Record, curve, load, make, timed

SOURCES = ("evaluation/ranking_measures.py", "evaluation/watching.py")
PIECES = 40  # the model is looked at after each; playing in pieces changes no result but takes longer
POINTS = 81  # of a learning curve with a moving window
SHOWN = (1, 2, 5, 10, 20, 50, 100)  # learners whose edges and weights are drawn


class Stream(NamedTuple):
    """Rows in the order of a seed."""

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
    """Predict and learn every label."""
    X, y, classes, first_time = stream_of(job)
    predictions, seconds = timed(job, "prequential", X, y, classes=classes)
    hits = predictions == y
    measures = {"all": float(hits.mean()), "last_fifth": last_fifth(hits), "new": float(hits[first_time].mean())}
    curves = [learning(hits, job.settings.get("window"))]
    if job.settings.get("inside") and job.seed == 1:
        curves += inside(job, X, y, "mistakes", "mistakes", classes=classes)
    return Record(measures | {"seconds": seconds}, seconds, curves)


def play_best_tree(job: Job) -> Record:
    """Every tree predicts and learns every label."""
    X, y, classes, first_time = stream_of(job)
    votes, seconds = timed(job, "prequential_votes", X, y, classes=classes)
    hits = votes == label_codes(y, classes)[:, None]
    accuracies = hits.mean(axis=0)
    measures = {
        "all": float(accuracies.max()),
        "last_fifth": max(last_fifth(column) for column in hits.T),
        "new": float(hits[first_time].mean(axis=0).max()),
        "seconds": seconds,
    }
    return Record(measures, seconds, [learning(hits[:, int(np.argmax(accuracies))], job.settings.get("window"))])


def label_sets_of(job: Job) -> tuple[Any, np.ndarray, int]:
    """Examples, label sets, and how many of them are training rows."""
    assert job.data is not None
    table, Y = load(job.data)
    train = datasets.info(job.data).train_rows
    assert train is not None
    parts = np.arange(train), np.arange(train, len(Y))
    if job.settings["order"] == "shuffled":
        rng = np.random.default_rng(job.seed)
        parts = rng.permutation(train), train + rng.permutation(len(Y) - train)
    if job.rows is not None:
        share = min(1.0, job.rows / len(Y))
        parts = parts[0][: round(share * train)], parts[1][: round(share * (len(Y) - train))]
    order = np.concatenate(parts)
    return table[order], Y[order], len(parts[0])


def play_ranking(job: Job) -> Record:
    """Rank and learn every label set."""
    X, Y, train = label_sets_of(job)
    scores, seconds = timed(job, "prequential", X, Y)
    on_test = measure_ranking(Y[train:], scores[train:])
    measures = {name: getattr(on_test, name) for name in ("rank_loss", "one_error", "coverage", "average_precision")}
    rows, windowed, _ = learning_curve(rank_loss(Y, scores))
    curves = [curve("learning", "rows", "rank loss", [("rank loss", rows, windowed)])]
    if job.settings.get("inside") and job.seed == 1:
        curves += inside(job, X, Y, "loss", "suffered", y_label="rank loss, summed")
    return Record(measures | {"seconds": seconds}, seconds, curves)


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


def inside(
    job: Job, X: Any, y: np.ndarray, field: str, suffered: str, y_label: str = "mistakes", **further: Any
) -> list[dict[str, Any]]:
    """Edges and weights of the learners over time, and the bound, if one is proved, beside what it is about."""
    course = watch(make(job.model, random_state=job.seed), X, y, points=PIECES, **further)
    rows, curves = course.rows, []
    for kind, label, values in (
        ("edge", "edge", course.edges),
        ("weight", "learner weight", course.learner_weights),
    ):
        if values is not None:
            lines = [(f"learner {i}", rows, values[:, i - 1]) for i in SHOWN if i <= values.shape[1]]
            curves.append(curve(kind, "rows", label, lines))
    if course.bounds:
        bounds = [("bound", rows, [bound.value for bound in course.bounds])]
        bounds.append((suffered, rows, [getattr(bound, field) for bound in course.bounds]))
        curves.append(curve("bound", "rows", y_label, bounds))
    return curves
