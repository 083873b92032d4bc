"""A stream of label sets: the training rows, then the test rows; every row is ranked, then learned.

The measures are over the test rows, on which the learning goes on, as in Section 4 of Jung and Tewari 2018.

| setting | meaning                                                                                              |
|---------|------------------------------------------------------------------------------------------------------|
| order   | "file": a seed is the random state of the learners alone; "shuffled": rows shuffled in each part, too |
| inside  | whether seed 1 is played once more, untimed and in pieces, for edges, weights and bound over time    |

With fewer rows, each part is cut in proportion.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np

from edgewise.data import datasets
from edgewise.evaluation.measures import learning_curve
from edgewise.evaluation.ranking_measures import measure_ranking, rank_loss
from edgewise.reproduction.games import Job, Record, curve, load, make
from edgewise.reproduction.games.labels import PIECES, SHOWN, WARM_UP

SOURCES = ("evaluation/ranking_measures.py",)


def rows_of(job: Job) -> tuple[Any, np.ndarray, int]:
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


def play(job: Job) -> Record:
    """Rank and learn every row."""
    X, Y, train = rows_of(job)
    make(job.model, random_state=job.seed).prequential(X[:WARM_UP], Y[:WARM_UP])  # compiles the kernels
    model = make(job.model, random_state=job.seed)
    before = time.process_time()
    scores = model.prequential(X, Y)
    seconds = time.process_time() - before
    on_test = measure_ranking(Y[train:], scores[train:])
    measures = {name: getattr(on_test, name) for name in ("rank_loss", "one_error", "coverage", "average_precision")}
    rows, windowed, _ = learning_curve(rank_loss(Y, scores))
    curves = [curve("learning", "rows", "rank loss", [("rank loss", rows, windowed)])]
    if job.settings.get("inside") and job.seed == 1:
        curves += inside(make(job.model, random_state=job.seed), X, Y)
    return Record(measures | {"seconds": seconds}, seconds, curves)


def inside(model: Any, X: Any, Y: np.ndarray) -> list[dict[str, Any]]:
    """Edges and weights of the learners over time, and the bound beside the rank loss suffered."""
    ends = np.unique(np.linspace(0, len(Y), PIECES + 1).astype(int))
    looks = []
    for first, last in pairwise(ends):
        model.prequential(X[first:last], Y[first:last])
        looks.append((model.edges_, model.learner_weights_, model.bound().value, model.rank_loss_))
    rows = ends[1:]
    edges, weights, bounds, losses = (np.array(column) for column in zip(*looks, strict=True))
    learners = [i for i in SHOWN if i <= edges.shape[1]]
    return [
        curve("edge", "rows", "edge", [(f"learner {i}", rows, edges[:, i - 1]) for i in learners]),
        curve("weight", "rows", "learner weight", [(f"learner {i}", rows, weights[:, i - 1]) for i in learners]),
        curve("bound", "rows", "rank loss, summed", [("bound", rows, bounds), ("suffered", rows, losses)]),
    ]
