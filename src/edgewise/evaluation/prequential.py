"""Prequential evaluation (Dawid 1984): every row is predicted first and learned right after.

Rows go through `model.prequential` in slices. A model's predictions do not depend on how the rows are cut, so neither
does anything measured here; slices only set how often progress is reported and how much of a stream is held at once.
"""

from __future__ import annotations

import copy
import importlib.metadata
import inspect
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import edgewise
from edgewise.data.table import Table, as_table
from edgewise.evaluation import measures, peers, ranking_measures
from edgewise.evaluation.peers import Answers, Peer
from edgewise.evaluation.runs import Curve, RankingRun, Run
from edgewise.loop.inputs import indicator
from edgewise.models.stream_classifier import StreamClassifier

CHUNK_ROWS = 500
WARM_UP_ROWS = 50
POINTS = 60  # at which `watch` looks
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
    table = as_table(X)
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != len(table):
        raise ValueError(f"y has shape {labels.shape}: {len(table)} rows need one label each")
    chunks = ((table[rows], labels[rows]) for rows in _slices(len(labels), chunk_rows))
    return evaluate_stream(model, chunks, np.unique(labels) if classes is None else classes, progress=progress)


def evaluate_stream(
    model: Any, chunks: Iterable[tuple[Any, Any]], classes: Any, *, progress: Progress | None = None
) -> Run:
    """Run a model over a stream of (X, y) chunks; of past rows, one bit each is kept.

    Time is that of predicting and learning alone. Kernels are compiled (or read from their cache) before the clock
    starts: a small untrained twin of the model, with the same settings, goes through the first 50 rows.

    Parameters are those of `evaluate`, and these.

    Parameters
    ----------
    chunks : iterable of (X, y)
        The stream.
    classes : array
        All labels that may come.

    Returns
    -------
    Run
        Accuracy, curve, confusion, time and memory.
    """
    labels = np.unique(np.asarray(classes))
    totals = _Totals(labels.size)
    clock = _Clock()
    features = 0
    for X, targets in chunks:
        y = np.asarray(targets)
        if not y.size:
            continue
        table = as_table(X)
        if totals.rows == 0:
            features = table.shape[1]
            warm_up(model, table, y, classes=labels)
        truth = measures.label_codes(y, labels)
        totals.add(truth, clock.time(prepare_run(model, table, y, labels)), labels)
        if progress is not None:
            progress(totals.rows, totals.accuracy)
    if totals.rows == 0:
        raise ValueError("no rows: there is nothing to evaluate")
    hits = totals.hits()
    return Run(
        **_facts(model, clock, hits),
        rows=totals.rows,
        features=features,
        classes=labels.tolist(),
        accuracy=totals.accuracy,
        kappa=measures.cohen_kappa(totals.confusion),
        recall=measures.recalls(totals.confusion),
        confusion=totals.confusion.tolist(),
        log_loss=totals.log_loss,
    )


def evaluate_ranking(
    model: Any, X: Any, Y: Any, *, progress: Progress | None = None, chunk_rows: int = CHUNK_ROWS
) -> RankingRun:
    """Run a model over examples and their label sets, in the order given; time is without compiling.

    The labels of every row are ranked by the scores that `model.prequential` gives, its label set is learned right
    after. Parameters are those of `evaluate`, and one more.

    Parameters
    ----------
    Y : array or sparse matrix
        Label sets as an indicator matrix [n, k].

    Returns
    -------
    RankingRun
        Measures, curve, time and memory.
    """
    table = as_table(X)
    sets = indicator(Y, len(table), None)
    n, k = sets.shape
    if n == 0:
        raise ValueError("no rows: there is nothing to evaluate")
    warm_up(model, table, sets)
    clock = _Clock()
    by_row = {name: np.empty(n) for name in ranking_measures.BY_ROW}
    losses = by_row["rank_loss"]
    for rows in _slices(n, chunk_rows):
        scores = clock.time(lambda rows=rows: model.prequential(table[rows], sets[rows]))  # type: ignore[misc]
        for name, measure in ranking_measures.BY_ROW.items():
            by_row[name][rows] = measure(sets[rows], scores)
        if progress is not None:
            progress(rows.stop, float(losses[: rows.stop].mean()))
    by_frequency = ranking_measures.rank_loss(sets, np.broadcast_to(sets.sum(axis=0), (n, k)))
    means: dict[str, Any] = {name: float(each.mean()) for name, each in by_row.items()}
    return RankingRun(
        **_facts(model, clock, losses),
        **means,
        rows=n,
        features=table.shape[1],
        labels=k,
        by_frequency=float(by_frequency.mean()),
        without_pairs=int(np.count_nonzero(~ranking_measures.has_pairs(sets))),
    )


@dataclass(frozen=True)
class Course:
    """What a model was like at each of p points of a stream; None for what it does not have."""

    model: str
    rows: np.ndarray
    """[p] rows learned, those before the watching included."""
    predictions: np.ndarray
    """What `prequential` gave for every row that was watched."""
    edges: np.ndarray | None
    """[p, N] edges of the learners."""
    learner_weights: np.ndarray | None
    """[p, N] how much each learner's vote counts."""
    expert_weights: np.ndarray | None
    """[p, N] how much each expert counts; [p, 2N] where learners alone are experts too."""
    bounds: list[Any]
    """[p] the theory's bound for the run up to there; empty for a model without one."""


def watch(model: Any, X: Any, y: Any, *, points: int = POINTS, **further: Any) -> Course:
    """Predict, then learn, row by row, as `model.prequential`, and record edges, weights and bound as rows go by.

    A model learns many rows in one call exactly as one by one, so stopping it now and then changes nothing.

    Parameters
    ----------
    model : online model
        Any online model. It has learned all rows afterwards.
    X, y : array, frame or Table
        Examples and labels (label sets, numbers), as `model.prequential` takes them.
    points : int
        How often to look, at equal distances; fewer where there are fewer rows.
    **further : any
        Other arguments of `model.prequential`; `classes` are by default those in y.

    Returns
    -------
    Course
        Edges, weights and bounds at each point, and the predictions.
    """
    if points < 1:
        raise ValueError(f"points={points!r}: at least 1")
    table, truth = as_table(X), y if hasattr(y, "shape") else np.asarray(y)
    n = len(table)
    if n == 0 or truth.shape[0] != n:
        raise ValueError(f"y has shape {truth.shape}: {n} rows need one label each, and there must be at least 1 row")
    if "classes" in inspect.signature(model.prequential).parameters and not hasattr(model, "classes_"):
        further = {"classes": np.unique(truth)} | further
    before = int(getattr(model, "rounds_", 0))
    stops = np.unique(np.arange(1, points + 1) * n // points)
    stops = stops[stops > 0]
    predictions, bounds = [], []
    traces: dict[str, list[Any]] = {"edges": [], "learner_weights": [], "expert_weights": []}
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        predictions.append(model.prequential(table[start:stop], truth[start:stop], **further))
        for name, values in traces.items():
            values.append(getattr(model, f"{name}_", None))
        bounds.append(_bound(model))
    stacked = {name: None if values[0] is None else np.stack(values) for name, values in traces.items()}
    return Course(
        type(model).__name__,
        before + stops,
        np.concatenate(predictions),
        **stacked,
        bounds=[bound for bound in bounds if bound is not None],
    )


def _bound(model: Any) -> Any:
    """The model's bound so far; None where no theorem gives one."""
    if not hasattr(model, "bound"):
        return None
    try:
        return model.bound()
    except ValueError:
        return None


def prepare_run(model: Any, table: Table, y: np.ndarray, classes: np.ndarray) -> Callable[[], Answers]:
    """A function that predicts and learns these rows, to be called once: what a clock should see, for any model.

    It gives probabilities where the model does.
    """
    if isinstance(model, Peer):
        return model.prepare_run(table, y, classes)
    if isinstance(model, StreamClassifier):

        def run() -> Answers:
            # Guesses are the experts' vote, probabilities come from their scores: one pass gives both.
            guesses, decisions = model._learn(table, y, classes, None, in_scores=True)
            return Answers(model.classes_[guesses], model._probabilities(decisions))

        return run
    return lambda: Answers(np.asarray(model.prequential(table, y, classes=classes)), None)


def warm_up(model: Any, table: Table, y: np.ndarray, **further: Any) -> None:
    """Compile what the model needs without touching it."""
    if isinstance(model, Peer):
        model.warm_up(table[: peers.WARM_UP_ROWS], y[: peers.WARM_UP_ROWS], **further)
        return
    settings = copy.deepcopy(model.get_params(deep=False))
    if "n_estimators" in settings:
        settings["n_estimators"] = min(2, settings["n_estimators"])
    type(model)(**settings).prequential(table[:WARM_UP_ROWS], y[:WARM_UP_ROWS], **further)


def _slices(n: int, chunk_rows: int) -> list[slice]:
    """n rows cut into chunks of so many."""
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows}: at least 1")
    return [slice(start, min(start + chunk_rows, n)) for start in range(0, n, chunk_rows)]


class _Clock:
    """Seconds of CPU and of wall time that calls took, summed."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def time(self, action: Callable[[], Any]) -> Any:
        cpu, wall = time.process_time(), time.perf_counter()
        result = action()
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        return result


def _facts(model: Any, clock: _Clock, by_row: np.ndarray) -> dict[str, Any]:
    """What runs of all kinds hold: of the model once it has learned, of its measure by row, of time and versions."""
    size = getattr(model, "nbytes", None)
    rows, windowed, cumulative = measures.learning_curve(by_row)
    return {
        "model": type(model).__name__,
        "data": "",
        "seed": None,
        "order": "file",
        "learners": getattr(model, "n_estimators", None),
        "last_fifth": measures.last_fifth(by_row),
        "curve": Curve(rows.tolist(), windowed.tolist(), cumulative.tolist()),
        "cpu_seconds": clock.cpu,
        "wall_seconds": clock.wall,
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
    """The most memory this process has held at any time; None where the system does not count it (Windows)."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak if sys.platform == "darwin" else peak * 1024


class _Totals:
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
