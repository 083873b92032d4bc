"""From tables to rows of numbers that networks take, and from targets to what losses compare scores with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table, recode
from edgewise.data.targets import label_array, label_codes, target_array


def design(table: Table, features: Sequence[Feature]) -> np.ndarray:
    """Rows as float32, a nominal feature as one column per category of `features` (a category unknown there: all 0)."""
    table = recode(table, features)
    columns = []
    for feature, column in zip(features, table.values.T, strict=True):
        if feature.categories is None:
            bad = np.flatnonzero(~np.isfinite(column))
            if bad.size:
                told = "NaN" if np.isnan(column[bad[0]]) else column[bad[0]]
                raise ValueError(f"X has {told} in row {bad[0]}, column {feature.name!r}: networks need numbers")
            columns.append(column[:, None])
        else:
            columns.append(column[:, None] == np.arange(len(feature.categories)))
    return np.ascontiguousarray(np.hstack(columns), dtype=np.float32)


def real_targets(y: Any, rows: int) -> np.ndarray:
    """Targets as float32 [rows, m]; one dimension stands for m = 1."""
    return np.ascontiguousarray(target_array(y, rows), dtype=np.float32)


def class_targets(y: Any, rows: int, classes: np.ndarray) -> np.ndarray:
    """Labels as float32: +-1 [rows, 1] for two classes (the second is +1), one-hot [rows, k] for more."""
    codes = label_codes(label_array(y, rows), classes)
    if classes.size == 2:
        return (2.0 * codes - 1.0).astype(np.float32)[:, None]
    return (codes[:, None] == np.arange(classes.size)).astype(np.float32)
