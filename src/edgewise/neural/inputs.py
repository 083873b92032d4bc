"""From tables to rows of numbers that networks take, and from targets to what losses compare scores with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.streams.table import Feature, Table, recode


def design(table: Table, features: Sequence[Feature]) -> np.ndarray:
    """Rows as float32, a nominal feature as one column per category of `features` (a category unknown there: all 0)."""
    if table.shape[1] != len(features):
        raise ValueError(f"X has {table.shape[1]} features: this model was started with {len(features)}")
    table = recode(table, features)
    columns = []
    for feature, column in zip(features, table.values.T, strict=True):
        if feature.categories is None:
            bad = np.flatnonzero(~np.isfinite(column))
            if bad.size:
                raise ValueError(
                    f"X has {column[bad[0]]} in row {bad[0]}, column {feature.name!r}: networks need numbers"
                )
            columns.append(column[:, None])
        else:
            columns.append(column[:, None] == np.arange(len(feature.categories)))
    return np.ascontiguousarray(np.hstack(columns), dtype=np.float32)


def real_targets(y: Any, rows: int) -> np.ndarray:
    """Targets as float32 [rows, m]; one dimension stands for m = 1."""
    array = np.asarray(y)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"y has dtype {array.dtype}: expected numbers")
    if array.ndim not in (1, 2) or len(array) != rows:
        raise ValueError(f"y has shape {array.shape}: expected {rows} rows, as X has")
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"y has {array[tuple(bad[0])]} in row {bad[0][0]}: targets must be finite numbers")
    return np.ascontiguousarray(array.reshape(rows, -1), dtype=np.float32)


def class_targets(y: Any, rows: int, classes: np.ndarray) -> np.ndarray:
    """Labels as float32: +-1 [rows, 1] for two classes (the second is +1), one-hot [rows, k] for more."""
    labels = np.asarray(y)
    if labels.shape != (rows,):
        raise ValueError(f"y has shape {labels.shape}: expected ({rows},), one label per row of X")
    codes = np.searchsorted(classes, labels)
    known = classes[np.minimum(codes, classes.size - 1)] == labels
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise ValueError(f"y has {labels[row].item()!r} in row {row}: not among the classes {classes.tolist()}")
    if classes.size == 2:
        return (2.0 * codes - 1.0).astype(np.float32)[:, None]
    return (codes[:, None] == np.arange(classes.size)).astype(np.float32)
