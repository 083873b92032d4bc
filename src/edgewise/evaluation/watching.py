"""A model watched while it learns: its edges, weights and bound at points along the stream.

A model learns many rows in one call exactly as one by one, so stopping it now and then to look changes nothing.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.data.table import as_table

POINTS = 60


@dataclass(frozen=True)
class Course:
    """What a model told at each of p points; None for what it does not tell."""

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
    """[p] what the theory says of the run up to there; empty for a model without a bound."""


def watch(model: Any, X: Any, y: Any, *, points: int = POINTS, **further: Any) -> Course:
    """Predict, then learn, row by row, as `model.prequential`, and look at the model after every few rows.

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
    predictions, edges, learner_weights, expert_weights, bounds = [], [], [], [], []
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        predictions.append(model.prequential(table[start:stop], truth[start:stop], **further))
        edges.append(getattr(model, "edges_", None))
        learner_weights.append(getattr(model, "learner_weights_", None))
        expert_weights.append(getattr(model, "expert_weights_", None))
        bounds.append(_bound(model))
    return Course(
        type(model).__name__,
        before + stops,
        np.concatenate(predictions),
        _stacked(edges),
        _stacked(learner_weights),
        _stacked(expert_weights),
        [bound for bound in bounds if bound is not None],
    )


def _bound(model: Any) -> Any:
    """The model's bound so far; None where no theorem speaks of it."""
    if not hasattr(model, "bound"):
        return None
    try:
        return model.bound()
    except ValueError:
        return None


def _stacked(seen: list[Any]) -> np.ndarray | None:
    return None if seen[0] is None else np.stack(seen)
