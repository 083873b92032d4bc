"""From what users give (arrays, frames, tables) to what kernels take, checked once; `streams.targets` has the labels.

A model remembers the columns of its first call: their number, which are nominal, and the code of each category.
Categories may appear later; they get the next code, so earlier codes never change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.data.feature_names import check_names, check_width, has_names
from edgewise.data.table import Table, as_table


class Given(NamedTuple):
    """Examples as a user gave them."""

    table: Table
    named: bool | None  # whether the columns came with names; None for a bare row, of which none are asked


def given(X: Any) -> Given:
    """X as a table: anything that `as_table` takes."""
    return X if isinstance(X, Given) else Given(as_table(X), has_names(X))


class Columns(NamedTuple):
    """The columns of a model's examples."""

    names: tuple[str, ...]
    nominal: np.ndarray  # Boolean, one per column
    categories: tuple[tuple[str, ...], ...]  # of each nominal column, in the order of their codes
    named: bool = True  # whether the columns came with names

    @property
    def n_categories(self) -> np.ndarray:
        return np.array([len(values) for values in self.categories], np.int64)


def columns_of(examples: Given) -> Columns:
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


def checked_columns(columns: Columns, examples: Given, model: str) -> Columns:
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
            given = feature.categories or ()
            new = set(given).difference(known)
            merged.append(known + tuple(name for name in given if name in new) if new else known)
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
        given = table.features[column].categories or ()
        translation = np.array([code.get(name, -1) for name in given] + [-1], np.int32)
        values = table.values[:, column]
        nominal[:, j] = translation[np.where(np.isnan(values), len(given), values).astype(np.int64)]
    return numeric, nominal
