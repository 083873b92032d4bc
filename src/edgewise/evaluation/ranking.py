"""Prequential evaluation of rankings: the labels of every row are ranked first, its label set is learned right after.

As in `prequential`, rows go through the model in slices that change nothing; `model.prequential(X, Y)` gives scores.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from edgewise.data.table import as_table
from edgewise.evaluation import measures, ranking_measures
from edgewise.evaluation.prequential import CHUNK_ROWS, Progress, facts_of, warm_up
from edgewise.evaluation.runs import Curve, RankingRun
from edgewise.loop.label_sets import indicator

MEASURES = {
    "rank_loss": ranking_measures.rank_loss,
    "hinge": ranking_measures.hinge_loss,
    "logistic": ranking_measures.logistic_loss,
    "one_error": ranking_measures.one_error,
    "coverage": ranking_measures.coverage,
    "average_precision": ranking_measures.average_precision,
}


def evaluate_ranking(
    model: Any, X: Any, Y: Any, *, progress: Progress | None = None, chunk_rows: int = CHUNK_ROWS
) -> RankingRun:
    """Run a model over examples and their label sets, an indicator matrix (dense or scipy sparse), in the order given.

    Time is that of `model.prequential` alone, without compiling; the model has learned all rows afterwards.

    Parameters
    ----------
    model : online model
        It has learned all rows afterwards.
    X : array, frame or Table
        Rows, as `edgewise.as_table` takes them.
    Y : array or sparse matrix
        Label sets as an indicator matrix [n, k].
    progress : callable, optional
        Called after every chunk with the rows done and the measure so far.
    chunk_rows : int
        Rows that go to the model in one call.

    Returns
    -------
    RankingRun
        Measures, curve, time and memory.
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows}: at least 1")
    table = as_table(X)
    sets = indicator(Y, len(table), None)
    n, k = sets.shape
    if n == 0:
        raise ValueError("no rows: there is nothing to evaluate")
    warm_up(model, table, sets)
    by_row: dict[str, np.ndarray] = {name: np.empty(n) for name in MEASURES}
    cpu = wall = 0.0
    for start in range(0, n, chunk_rows):
        chunk = slice(start, min(start + chunk_rows, n))
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        scores = model.prequential(table[chunk], sets[chunk])
        cpu += time.process_time() - cpu_start
        wall += time.perf_counter() - wall_start
        for name, measure in MEASURES.items():
            by_row[name][chunk] = measure(sets[chunk], scores)
        if progress is not None:
            progress(chunk.stop, float(by_row["rank_loss"][: chunk.stop].mean()))
    losses = by_row["rank_loss"]
    rows, windowed, cumulative = measures.learning_curve(losses)
    by_frequency = ranking_measures.rank_loss(sets, np.broadcast_to(sets.sum(axis=0), (n, k)))
    means: dict[str, Any] = {name: float(each.mean()) for name, each in by_row.items()}
    return RankingRun(
        **facts_of(model),
        **means,
        rows=n,
        features=table.shape[1],
        labels=k,
        last_fifth=measures.last_fifth(losses),
        by_frequency=float(by_frequency.mean()),
        without_pairs=int(np.count_nonzero(~ranking_measures.has_pairs(sets))),
        curve=Curve(rows.tolist(), windowed.tolist(), cumulative.tolist()),
        cpu_seconds=cpu,
        wall_seconds=wall,
    )
