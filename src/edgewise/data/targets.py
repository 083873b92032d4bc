"""What is to be learned from examples: labels, classes, numbers and weights, as users give them, checked once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def require_target(y: Any) -> None:
    """ValueError if there is nothing to learn."""
    if y is None:
        raise ValueError("y=None: learning requires y to be passed, but the target y is None.")


def label_array(y: Any, n: int) -> np.ndarray:
    """Labels as a one-dimensional array of length n."""
    require_target(y)
    labels = np.asarray(y)
    if labels.shape == (n, 1):
        labels = _flattened(labels)
    if labels.ndim != 1 or labels.size != n:
        raise ValueError(f"y has shape {labels.shape}: one label for each of the {n} rows of X is needed")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"y is missing (NaN) in row {int(np.flatnonzero(np.isnan(labels))[0])}: labels must be given")
    if labels.dtype.kind == "O":
        absent = [row for row, label in enumerate(labels) if label is None or label != label]
        if absent:
            raise ValueError(f"y is missing in row {absent[0]}: labels must be given")
    return labels


def _flattened(labels: np.ndarray) -> np.ndarray:
    """Labels that came as a column."""
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        f"A column-vector y was passed when a 1d array was expected: y has shape {labels.shape}. Pass y.ravel().",
        DataConversionWarning,
        stacklevel=5,
    )
    return labels[:, 0]


def first_classes(classes: Any, labels: np.ndarray) -> np.ndarray:
    """The classes that a model starts with, sorted: those given, else those among the labels."""
    if classes is None and labels.dtype.kind == "f":
        broken = np.flatnonzero(labels != np.floor(labels))
        if broken.size:
            raise ValueError(
                f"Unknown label type: continuous. y has {labels[broken[0]]} in row {broken[0]}, like a target of "
                "regression; pass classes= with the first rows if such numbers name classes"
            )
    found = np.unique(np.asarray(labels if classes is None else classes))
    if found.size < 2:
        name = "y has" if classes is None else "classes= has"
        raise ValueError(
            f"{name} {found.size} class{'es' * (found.size != 1)} ({found.tolist()!r}): at least 2 classes are needed; "
            "pass classes= with the first rows"
        )
    return found


def known_classes(model: Any, classes: Any) -> np.ndarray:
    """The classes of a model that was started, checked against those that are given now."""
    known: np.ndarray = model.classes_
    given = known if classes is None else np.unique(np.asarray(classes))
    if not np.array_equal(given, known):
        raise ValueError(f"classes={given.tolist()!r}: this model was started with {known.tolist()!r}")
    return known


def label_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label among the classes; ValueError for a class that is not there."""
    codes = np.searchsorted(classes, labels).clip(0, classes.size - 1)
    unknown = np.flatnonzero(classes[codes] != labels)
    if unknown.size:
        known = ", ".join(map(repr, classes[:8].tolist())) + (", ..." if classes.size > 8 else "")
        raise ValueError(
            f"y has class {labels[unknown[0]].item() if hasattr(labels[unknown[0]], 'item') else labels[unknown[0]]!r} "
            f"in row {unknown[0]}: this model knows {known}"
        )
    return codes.astype(np.int64)


def weight_array(sample_weight: Any, n: int) -> np.ndarray:
    """Weights of the examples: 1 where none are given."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.array(sample_weight, dtype=np.float64)  # a copy: the kernels are compiled for plain arrays
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}: one weight for each of the {n} rows is needed")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if bad.size:
        raise ValueError(f"sample_weight={weights[bad[0]]} in row {bad[0]}: weights must be finite and not negative")
    return weights


def target_array(y: Any, n: int) -> np.ndarray:
    """Targets as an array [n, m] of finite numbers."""
    require_target(y)
    try:
        targets = np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y={np.asarray(y).ravel()[:1]!r}...: targets must be numbers") from None
    if targets.ndim not in (1, 2) or len(targets) != n or targets.size < n:
        raise ValueError(f"y has shape {targets.shape}: one row of targets for each of the {n} rows of X is needed")
    bad = np.argwhere(~np.isfinite(targets))
    if bad.size:
        raise ValueError(f"y has {targets[tuple(bad[0])]} in row {bad[0][0]}: targets must be finite numbers")
    return np.ascontiguousarray(targets.reshape(n, -1) if n else targets.reshape(0, max(1, targets.shape[-1])))
