"""From what users give (arrays, frames, tables, labels) to what kernels take, checked once.

A model remembers the columns of its first call: their number, which are nominal, and the code of each category.
Categories may appear later; they get the next code, so earlier codes never change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.streams.table import Table


class Columns(NamedTuple):
    """The columns of a model's examples."""

    names: tuple[str, ...]
    nominal: np.ndarray  # Boolean, one per column
    categories: tuple[tuple[str, ...], ...]  # of each nominal column, in the order of their codes

    @property
    def n_categories(self) -> np.ndarray:
        return np.array([len(values) for values in self.categories], np.int64)


def columns_of(table: Table) -> Columns:
    """The columns of a table, as a model starts with them."""
    if table.shape[1] == 0:
        raise ValueError("X has 0 features: a model needs at least 1")
    nominal = np.array([feature.categories is not None for feature in table.features])
    return Columns(
        tuple(feature.name for feature in table.features),
        nominal,
        tuple(feature.categories for feature in table.features if feature.categories is not None),
    )


def checked_columns(columns: Columns, table: Table) -> Columns:
    """The columns with the table's new categories added; ValueError if the table does not fit."""
    if table.shape[1] != len(columns.names):
        raise ValueError(
            f"X has {table.shape[1]} features: this model was started with {len(columns.names)} "
            f"({', '.join(columns.names[:4])}{', ...' if len(columns.names) > 4 else ''})"
        )
    names = table.feature_names
    if names != columns.names and sorted(names) == sorted(columns.names):
        raise ValueError(f"X has its columns in another order: this model was started with {', '.join(columns.names)}")
    merged = []
    kept = iter(columns.categories)
    for column, (feature, nominal) in enumerate(zip(table.features, columns.nominal, strict=True)):
        # a column that is missing throughout fits either kind
        if nominal != (feature.categories is not None) and not np.isnan(table.values[:, column]).all():
            was, now = ("nominal", "numeric") if nominal else ("numeric", "nominal")
            raise ValueError(f"column {feature.name!r} is {now} here: it was {was} when this model was started")
        if nominal:
            known = next(kept)
            given = feature.categories or ()
            new = set(given).difference(known)
            merged.append(known + tuple(name for name in given if name in new) if new else known)
    return columns._replace(categories=tuple(merged))


def encode(columns: Columns, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Numeric columns as float64 (NaN: missing) and nominal ones as codes (-1: missing or never learned)."""
    numeric = np.ascontiguousarray(table.values[:, ~columns.nominal], dtype=np.float64)
    infinite = np.argwhere(np.isinf(numeric))
    if infinite.size:
        row, column = infinite[0]
        name = columns.names[np.flatnonzero(~columns.nominal)[column]]
        raise ValueError(
            f"X has an infinite value in row {row}, column {name!r}: numbers must be finite, or NaN where missing"
        )
    nominal = np.full((len(table), len(columns.categories)), -1, np.int32)
    for j, column in enumerate(np.flatnonzero(columns.nominal)):
        code = {name: value for value, name in enumerate(columns.categories[j])}
        given = table.features[column].categories or ()
        translation = np.array([code.get(name, -1) for name in given] + [-1], np.int32)
        values = table.values[:, column]
        nominal[:, j] = translation[np.where(np.isnan(values), len(given), values).astype(np.int64)]
    return numeric, nominal


def label_array(y: Any, n: int) -> np.ndarray:
    """Labels as a one-dimensional array of length n."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size != n:
        raise ValueError(f"y has shape {labels.shape}: one label for each of the {n} rows of X is needed")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"y is missing (NaN) in row {int(np.flatnonzero(np.isnan(labels))[0])}: labels must be given")
    if labels.dtype.kind == "O":
        absent = [row for row, label in enumerate(labels) if label is None or label != label]
        if absent:
            raise ValueError(f"y is missing in row {absent[0]}: labels must be given")
    return labels


def class_array(classes: Any) -> np.ndarray:
    """The distinct classes, sorted."""
    found = np.unique(np.asarray(classes))
    if found.size < 2:
        raise ValueError(
            f"classes={found.tolist()!r}: at least 2 classes are needed; pass classes= with the first rows"
        )
    return found


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
