"""The learners alone, each on its own, over a stream as in `labels`: the best of them in hindsight.

The best is chosen separately for each measure, and the seconds are those of all the trees.
"""

from __future__ import annotations

import time

import numpy as np

from edgewise.evaluation.measures import label_codes, last_fifth
from edgewise.reproduction.games import Job, Record, make
from edgewise.reproduction.games.labels import WARM_UP, learning, stream_of

SOURCES = ("reproduction/games/labels.py",)


def play(job: Job) -> Record:
    """Every tree guesses and learns every row."""
    X, y, classes, first_time = stream_of(job)
    make(job.model, random_state=job.seed).prequential_votes(X[:WARM_UP], y[:WARM_UP], classes=classes)
    forest = make(job.model, random_state=job.seed)
    before = time.process_time()
    votes = forest.prequential_votes(X, y, classes=classes)
    seconds = time.process_time() - before
    hits = votes == label_codes(y, classes)[:, None]
    measures = {
        "all": float(hits.mean(axis=0).max()),
        "last_fifth": max(last_fifth(column) for column in hits.T),
        "new": float(hits[first_time].mean(axis=0).max()),
        "seconds": seconds,
    }
    best = hits[:, int(np.argmax(hits.mean(axis=0)))]
    return Record(measures, seconds, [learning(best, job.settings.get("window"))])
