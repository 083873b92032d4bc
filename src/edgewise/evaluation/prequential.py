"""Prequential evaluation (Dawid 1984): every row is guessed first and learned right after.

Rows go through `model.prequential` in slices. A model's guesses do not depend on how the rows are cut, so neither does
anything measured here; slices only set how often progress is reported and how much of a stream is held at once.
"""

from __future__ import annotations

import copy
import importlib.metadata
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import edgewise
from edgewise.data.table import Table, as_table
from edgewise.evaluation import measures
from edgewise.evaluation.peer import WARM_UP_ROWS as PEER_ROWS
from edgewise.evaluation.peer import Answers, Peer
from edgewise.evaluation.playing import ready
from edgewise.evaluation.runs import Curve, Run

CHUNK_ROWS = 500
WARM_UP_ROWS = 50
LOSS_UNIT = 2.0**-40

Progress = Callable[[int, float], None]  # rows done, the measure so far: accuracy or rank loss


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    classes: Any = None,
    progress: Progress | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Run:
    """Run a model over examples in the order given; the model has learned them all afterwards.

    X is anything `edgewise.Table` can be made from. `classes` are all labels that may come (default: those in y).

    Parameters
    ----------
    model : online model
        It has learned all rows afterwards.
    X : array, frame or Table
        Rows, as `edgewise.as_table` takes them.
    y : array
        The label of each row.
    classes : array, optional
        All labels that may come; by default those in y. Needed in the first call only.
    progress : callable, optional
        Called after every chunk with the rows done and the measure so far.
    chunk_rows : int
        Rows that go to the model in one call.

    Returns
    -------
    Run
        Accuracy, curve, confusion, time and memory.
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows}: at least 1")
    table = as_table(X)
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != len(table):
        raise ValueError(f"y has shape {labels.shape}: {len(table)} rows need one label each")
    slices = (slice(start, start + chunk_rows) for start in range(0, len(labels), chunk_rows))
    chunks = ((table[rows], labels[rows]) for rows in slices)
    return evaluate_stream(model, chunks, np.unique(labels) if classes is None else classes, progress=progress)


def evaluate_stream(
    model: Any, chunks: Iterable[tuple[Any, Any]], classes: Any, *, progress: Progress | None = None
) -> Run:
    """Run a model over a stream of (X, y) chunks; of past rows, one bit each is kept.

    Time is that of predicting and learning alone. Kernels are compiled (or read from their cache) before the clock
    starts: a small untrained twin of the model, with the same settings, goes through the first 50 rows.

    Parameters
    ----------
    model : online model
        It has learned all rows afterwards.
    chunks : iterable of (X, y)
        The stream.
    classes : array
        All labels that may come.
    progress : callable, optional
        Called after every chunk with the rows done and the measure so far.

    Returns
    -------
    Run
        Accuracy, curve, confusion, time and memory.
    """
    labels = np.unique(np.asarray(classes))
    tally = _Tally(labels.size)
    cpu = wall = 0.0
    features = 0
    for number, (table, y) in enumerate(_with_rows(chunks)):
        if number == 0:
            features = table.shape[1]
            warm_up(model, table, y, classes=labels)
        truth = measures.label_codes(y, labels)
        play = ready(model, table, y, labels)
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        answers = play()
        cpu += time.process_time() - cpu_start
        wall += time.perf_counter() - wall_start
        tally.add(truth, answers, labels)
        if progress is not None:
            progress(tally.rows, tally.accuracy)
    if tally.rows == 0:
        raise ValueError("no rows: there is nothing to evaluate")
    hits = tally.hits()
    rows, windowed, cumulative = measures.learning_curve(hits)
    return Run(
        **facts_of(model),
        rows=tally.rows,
        features=features,
        classes=labels.tolist(),
        accuracy=measures.accuracy(tally.confusion),
        last_fifth=measures.last_fifth(hits),
        kappa=measures.cohen_kappa(tally.confusion),
        recall=measures.recalls(tally.confusion),
        confusion=tally.confusion.tolist(),
        log_loss=tally.log_loss,
        curve=Curve(rows.tolist(), windowed.tolist(), cumulative.tolist()),
        cpu_seconds=cpu,
        wall_seconds=wall,
    )


def facts_of(model: Any) -> dict[str, Any]:
    """What a run tells of the model and of what it ran with, once it has learned."""
    size = getattr(model, "nbytes", None)
    return {
        "model": type(model).__name__,
        "data": "",
        "seed": None,
        "order": "file",
        "learners": getattr(model, "n_estimators", None),
        "model_bytes": None if size is None else int(size),
        "peak_bytes": peak_bytes(),
        "versions": {
            "edgewise": edgewise.__version__,
            "python": ".".join(map(str, sys.version_info[:3])),
            **{name: importlib.metadata.version(name) for name in ("numpy", "numba")},
        },
        "restarts": [row for row, _ in getattr(model, "restarts_", [])],
    }


def peak_bytes() -> int | None:
    """The most memory this process has held at any time; None where the system does not say (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024


class _Tally:
    """What is kept of the rows so far: the confusion matrix, the log-loss, and one bit a row for right or wrong."""

    def __init__(self, n_classes: int) -> None:
        self.confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
        self.rows = 0
        self._packed: list[tuple[np.ndarray, int]] = []
        # Log-losses in units of LOSS_UNIT, as whole numbers, so that their sum does not depend on how rows are cut.
        # None once there was a chunk without probabilities.
        self._loss: int | None = 0

    def add(self, truth: np.ndarray, answers: Answers, classes: np.ndarray) -> None:
        guesses = measures.label_codes(np.asarray(answers.guesses), classes)
        self.confusion += measures.count_confusion(truth, guesses, len(self.confusion))
        self._packed.append((np.packbits(truth == guesses), truth.size))
        self.rows += truth.size
        if answers.probabilities is None:
            self._loss = None
        elif self._loss is not None:
            losses = measures.log_losses(answers.probabilities, truth)
            self._loss += sum(np.rint(losses / LOSS_UNIT).astype(np.int64).tolist())

    @property
    def accuracy(self) -> float:
        return measures.accuracy(self.confusion)

    @property
    def log_loss(self) -> float | None:
        return None if self._loss is None else self._loss * LOSS_UNIT / self.rows

    def hits(self) -> np.ndarray:
        return np.concatenate([np.unpackbits(bits, count=count) for bits, count in self._packed])


def _with_rows(chunks: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Table, np.ndarray]]:
    for X, y in chunks:
        labels = np.asarray(y)
        if labels.size:
            yield as_table(X), labels


def warm_up(model: Any, table: Table, y: np.ndarray, **further: Any) -> None:
    """Compile what the model needs without touching it."""
    if isinstance(model, Peer):
        model.warm_up(table[:PEER_ROWS], y[:PEER_ROWS], **further)
        return
    settings = copy.deepcopy(model.get_params(deep=False))
    if "n_estimators" in settings:
        settings["n_estimators"] = min(2, settings["n_estimators"])
    type(model)(**settings).prequential(table[:WARM_UP_ROWS], y[:WARM_UP_ROWS], **further)
