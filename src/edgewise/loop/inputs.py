"""Checked inputs: from arrays, frames, tables and indicator matrices to the arrays that kernels take.

A model remembers the columns of its first call: their number, which are nominal, and the code of each category.
Categories may appear later; they get the next code, so earlier codes never change. Single labels are checked in
`edgewise.data.targets`. A vector of labels stands for label sets of one label each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.data.feature_names import check_names, check_width, has_names
from edgewise.data.table import Table, as_table


class RawRows(NamedTuple):
    """Examples before they are encoded."""

    table: Table
    named: bool | None  # whether the columns came with names; None for a bare row, which needs none


def as_rows(X: Any) -> RawRows:
    """X as a table: anything that `as_table` takes."""
    return X if isinstance(X, RawRows) else RawRows(as_table(X), has_names(X))


class Columns(NamedTuple):
    """The columns of a model's examples."""

    names: tuple[str, ...]
    nominal: np.ndarray  # Boolean, one per column
    categories: tuple[tuple[str, ...], ...]  # of each nominal column, in the order of their codes
    named: bool = True  # whether the columns came with names

    @property
    def n_categories(self) -> np.ndarray:
        return np.array([len(values) for values in self.categories], np.int64)


def columns_of(examples: RawRows) -> Columns:
    """The columns of a table, as a model starts with them."""
    table, named = examples
    check_width(table)
    nominal = np.array([feature.categories is not None for feature in table.features])
    return Columns(
        table.feature_names,
        nominal,
        tuple(feature.categories for feature in table.features if feature.categories is not None),
        bool(named),
    )


def checked_columns(columns: Columns, examples: RawRows, model: str) -> Columns:
    """The columns with the table's new categories added; ValueError if the table does not fit the model."""
    table, named = examples
    check_names(model, columns.names, columns.named, table.feature_names, named)
    merged = []
    kept = iter(columns.categories)
    for column, (feature, nominal) in enumerate(zip(table.features, columns.nominal, strict=True)):
        # a column that is missing throughout fits either kind
        if nominal != (feature.categories is not None) and not np.isnan(table.values[:, column]).all():
            was, now = ("nominal", "numeric") if nominal else ("numeric", "nominal")
            raise ValueError(f"column {feature.name!r} is {now} here: it was {was} when this model was started")
        if nominal:
            known = next(kept)
            found = feature.categories or ()
            new = set(found).difference(known)
            merged.append(known + tuple(name for name in found if name in new) if new else known)
    return columns._replace(categories=tuple(merged))


def encode(columns: Columns, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Numeric columns as float64 (NaN: missing) and nominal ones as codes (-1: missing or never learned)."""
    chosen = np.flatnonzero(~columns.nominal)
    numeric = np.empty((len(table), chosen.size))
    np.take(table.values, chosen, axis=1, out=numeric, mode="clip")  # the other mode makes a second copy
    infinite = np.argwhere(np.isinf(numeric))
    if infinite.size:
        row, column = infinite[0]
        name = columns.names[chosen[column]]
        raise ValueError(
            f"X has an infinite value in row {row}, column {name!r}: numbers must be finite, or NaN where missing"
        )
    nominal = np.full((len(table), len(columns.categories)), -1, np.int32)
    for j, column in enumerate(np.flatnonzero(columns.nominal)):
        code = {name: value for value, name in enumerate(columns.categories[j])}
        found = table.features[column].categories or ()
        translation = np.array([code.get(name, -1) for name in found] + [-1], np.int32)
        values = table.values[:, column]
        nominal[:, j] = translation[np.where(np.isnan(values), len(found), values).astype(np.int64)]
    return numeric, nominal


def is_vector(Y: Any) -> bool:
    """Whether Y has one label for each row; a column does not, but is an indicator matrix of one label."""
    return not hasattr(Y, "toarray") and np.asarray(Y).ndim == 1


def indicator(Y: Any, n: int, names: np.ndarray | None) -> np.ndarray:
    """Y as a Boolean [n, k] array; ValueError unless it is one of 0 and 1, as wide as the labels known (if any)."""
    found = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    if found.ndim != 2 or len(found) != n:
        raise ValueError(f"Y has shape {found.shape}: a row of 0 and 1 for each of the {n} rows of X is needed")
    if names is not None and found.shape[1] != names.size:
        raise ValueError(f"Y has {found.shape[1]} labels: this model was started with {names.size}")
    if found.shape[1] < 2:
        raise ValueError(f"Y has {found.shape[1]} labels: there are at least 2 to rank")
    relevant = found == 1
    wrong = np.argwhere(~(relevant | (found == 0)))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(f"Y has {found[row, column]!s} in row {row}, column {column}: 1 is relevant, 0 is not")
    return relevant.astype(bool)


def label_names(Y: Any, labels: Any, k: int) -> np.ndarray:
    """Names of the k labels: those given, those of a frame's columns, or their numbers."""
    if labels is None:
        labels = list(Y.columns) if hasattr(Y, "columns") else np.arange(k)
    names = np.asarray(labels)
    if names.shape != (k,) or len(set(names.tolist())) != k:
        raise ValueError(f"labels={labels!r}: a name of its own for each of the {k} labels of Y")
    return names


def ordered(relevant: np.ndarray) -> np.ndarray:
    """[n, k]: of every row, the relevant labels, then the others, each in increasing order."""
    return np.argsort(~relevant, axis=1, kind="stable").astype(np.int32)
