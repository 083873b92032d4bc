"""From a stream's dicts and frames to what kernels take: a column for each feature that has come up so far.

A number (a Boolean is one) makes a feature numeric, anything else nominal, by the first value that it shows. A feature
that an example does not have is missing there. Columns and codes are given in order of first appearance, features of
one example in order of their names, so that neither the order of a dict nor the size of a batch changes anything.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from edgewise.data.table import _is_missing, category_name
from edgewise.loop.inputs import Columns

News = list[tuple[Hashable, Any]]


class Column(NamedTuple):
    """One feature of a batch: numbers (NaN: missing), or names of categories (None: missing)."""

    name: Hashable
    nominal: bool
    values: np.ndarray


class Features:
    """The features of a stream: the column of each, and the codes of the categories."""

    def __init__(self, declared: Mapping[Hashable, Any] | None = None) -> None:
        self.place: dict[Hashable, tuple[bool, int]] = {}  # nominal or not, and where in its part
        self.codes: list[dict[str, int]] = []  # of each nominal feature
        self.n_numeric = 0
        if declared is not None and not isinstance(declared, Mapping):
            raise ValueError(f"features={declared!r}: a dict from names to float, str or the categories, or None")
        for name, kind in (declared or {}).items():
            if kind in (float, int, bool):
                self._add(name, nominal=False)
            elif kind is str:
                self._add(name, nominal=True)
            elif isinstance(kind, Sequence) and not isinstance(kind, str):
                self._add(name, nominal=True)
                self.codes[-1].update({category_name(value): code for code, value in enumerate(dict.fromkeys(kind))})
            else:
                raise ValueError(f"features: {name!r} is {kind!r}: float, str or the list of its categories")

    def _add(self, name: Hashable, nominal: bool) -> None:
        self.place[name] = (nominal, len(self.codes) if nominal else self.n_numeric)
        if nominal:
            self.codes.append({})
        else:
            self.n_numeric += 1

    def columns(self) -> Columns:
        """The columns as a model knows them."""
        nominal = np.array([kind for kind, _ in self.place.values()], bool)
        return Columns(tuple(map(str, self.place)), nominal, tuple(tuple(codes) for codes in self.codes))

    def admit(self, news: Iterable[tuple[Hashable, Any]]) -> None:
        """Give columns to features, and codes to categories, that have none yet."""
        for name, value in news:
            if name not in self.place:
                self._add(name, nominal=not is_number(value))
            nominal, j = self.place[name]
            if nominal:
                codes = self.codes[j]
                codes.setdefault(category_name(value), len(codes))

    # -- one example -----------------------------------------------------------------------------------------------

    def read(self, x: Mapping[Hashable, Any]) -> tuple[np.ndarray, np.ndarray, News]:
        """An example as arrays of one row, and what is new in it; ValueError for a value that cannot be."""
        numbers = [math.nan] * self.n_numeric
        chosen = [-1] * len(self.codes)
        news: News = []
        for name, value in x.items():
            nominal, j = self.place.get(name, (None, 0))
            if nominal is False:
                numbers[j] = value if type(value) is float and -math.inf < value < math.inf else number(name, value)
            elif _is_missing(value):
                continue
            elif nominal is None:
                if is_number(value):
                    number(name, value)
                news.append((name, value))
            else:
                chosen[j] = self.codes[j].get(value if type(value) is str else category_name(value), -1)
                if chosen[j] < 0:
                    news.append((name, value))
        news.sort(key=lambda entry: str(entry[0]))
        return np.array([numbers], np.float64), np.array([chosen], np.int32), news

    # -- many examples ---------------------------------------------------------------------------------------------

    def read_many(self, X: Any) -> list[Column]:
        """The columns of a frame, checked; those of unknown features in which nothing is present are left out."""
        found = (self._column(name, X[name].to_numpy()) for name in X.columns)
        return [column for column in found if column is not None]

    def _column(self, name: Hashable, cells: np.ndarray) -> Column | None:
        nominal, _ = self.place.get(name, (None, 0))
        present = [cell for cell in cells if not _is_missing(cell)] if cells.dtype.kind not in "biu" else cells
        if nominal is None:
            if not len(present):
                return None
            nominal = not is_number(present[0])
        if nominal:
            names = [None if _is_missing(cell) else category_name(cell) for cell in cells]
            return Column(name, True, np.array(names, object))
        if cells.dtype.kind in "biuf" and np.isfinite(present).all():
            return Column(name, False, cells.astype(np.float64))
        return Column(name, False, np.array([number(name, cell) for cell in cells], np.float64))

    def news(self, columns: list[Column]) -> dict[int, News]:
        """What has no column or code yet: the row in which it first comes up -> features and their values there."""
        rows: dict[int, News] = {}
        for name, nominal, values in sorted(columns, key=lambda column: str(column.name)):
            _, j = self.place.get(name, (None, -1))
            known = self.codes[j] if nominal and j >= 0 else {}
            if nominal:
                first = {value: row for row, value in reversed([*enumerate(values)]) if value not in known}
                first.pop(None, None)
            else:
                first = {} if j >= 0 else {True: np.flatnonzero(values == values)[0]}
            for row in first.values():
                rows.setdefault(int(row), []).append((name, values[row]))
        return rows

    def encode(self, columns: list[Column], part: slice) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a batch as kernels take them."""
        n = part.stop - part.start
        numeric = np.full((n, self.n_numeric), math.nan)
        nominal = np.full((n, len(self.codes)), -1, np.int32)
        for column in columns:
            kind, j = self.place.get(column.name, (None, 0))
            if kind is False:
                numeric[:, j] = column.values[part]
            elif kind:
                nominal[:, j] = [self.codes[j].get(value, -1) for value in column.values[part]]
        return numeric, nominal


def is_number(value: Any) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)


def number(name: Hashable, value: Any) -> float:
    """A value of a numeric feature, NaN where it is missing; ValueError if it is no number, or infinite."""
    if _is_missing(value):
        return math.nan
    if not is_number(value):
        raise ValueError(f"feature {name!r} is {value!r}: it was a number when it first came")
    if math.isinf(value):
        raise ValueError(f"feature {name!r} is {plain(value)!r}: numbers must be finite, or NaN where missing")
    return float(value)


def plain(value: Any) -> Any:
    """A label or value as Python has it: True, not np.True_."""
    return value.item() if isinstance(value, np.generic) else value
