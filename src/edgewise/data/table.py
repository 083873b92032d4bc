"""Examples as one array of float64 with named features: what every estimator here learns from.

A numeric feature holds its number; a nominal one holds the index of its category. NaN is a missing value in both.
Categories are kept in order of first appearance, so that the codes of a stream never change as it goes on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

Rows = int | slice | Sequence[int] | Sequence[bool] | np.ndarray


class Feature(NamedTuple):
    """A column: numeric when `categories` is None, else nominal, with values that are indices into `categories`."""

    name: str
    categories: tuple[str, ...] | None = None


class Table:
    """An immutable view of examples: `values` [n, d] float64, C order, read-only, and one `Feature` per column.

    Parameters
    ----------
    values : array
        Numbers [n, d]; of a nominal column places in its categories, NaN where missing.
    features : list of Feature
        Name and categories (None: numeric) of each column.
    """

    __slots__ = ("_features", "_values")

    def __init__(self, values: np.ndarray, features: Sequence[Feature]) -> None:
        array = np.ascontiguousarray(values, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != len(features):
            raise ValueError(f"values of shape {np.shape(values)}: expected two dimensions, {len(features)} features")
        view = array.view()
        view.flags.writeable = False
        self._values = view
        self._features = tuple(features)

    @staticmethod
    def from_arrays(X: Any, *, categorical_features: Sequence[Any] | np.ndarray | None = None) -> Table:
        """The same as `as_table`.

        Parameters are those of `as_table`.

        Returns
        -------
        Table
            The rows.
        """
        return as_table(X, categorical_features=categorical_features)

    @property
    def values(self) -> np.ndarray:
        """The numbers [n, d]; of nominal columns, places in their categories."""
        return self._values

    @property
    def features(self) -> tuple[Feature, ...]:
        """Name and categories of each column."""
        return self._features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(feature.name for feature in self._features)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._values.shape[0], self._values.shape[1]

    @property
    def binary_columns(self) -> np.ndarray:
        """[columns] which numeric columns hold only 0 and 1: they are better nominal (docs/how-to/own-data.md)."""
        missing = np.isnan(self._values)
        either = missing | (self._values == 0.0) | (self._values == 1.0)
        numeric = [feature.categories is None for feature in self._features]
        return np.array(numeric, bool) & either.all(axis=0) & ~missing.all(axis=0)

    def __len__(self) -> int:
        return self._values.shape[0]

    def __getitem__(self, rows: Rows) -> Table:
        """The chosen rows; a slice shares memory with this table."""
        if isinstance(rows, Integral):
            row = range(len(self))[int(rows)]
            return Table(self._values[row : row + 1], self._features)
        return Table(self._values[rows if isinstance(rows, slice) else np.asarray(rows)], self._features)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.features == other.features and np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Table], tuple[np.ndarray, tuple[Feature, ...]]]:
        return Table, (self._values, self._features)

    def __repr__(self) -> str:
        nominal = sum(feature.categories is not None for feature in self._features)
        return f"Table({len(self)} rows, {self.shape[1] - nominal} numeric and {nominal} nominal features)"


def as_table(X: Any, *, categorical_features: Sequence[Any] | np.ndarray | None = None) -> Table:
    """A `Table` of `X`.

    Arrays of numbers are numeric. In an object array a column is numeric if every cell that is not missing is a number,
    else nominal. In a frame, string, categorical, enum and boolean columns are nominal, the name of a category being
    `str` of it; an enum (in pandas: an ordered categorical) keeps its declared order. None, NaN and null are missing.

    Parameters
    ----------
    X : array, frame or Table
        A Table (as is), a 2-d array-like, or any frame that narwhals knows (pandas, polars, pyarrow).
    categorical_features : list or mask, optional
        Columns to make nominal as well: positions, names, or a mask with one entry per column.

    Returns
    -------
    Table
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> as_table(np.array([[3, "red"], [None, "blue"]], dtype=object)).features
    (Feature(name='x0', categories=None), Feature(name='x1', categories=('red', 'blue')))
    """
    if isinstance(X, Table):
        table = X
    elif is_frame(X):
        table = _from_frame(X)
    else:
        table = _from_array(X)
    if categorical_features is None:
        return table
    return _with_nominal(table, _positions(categorical_features, table.feature_names))


def merge_features(known: Sequence[Feature], new: Sequence[Feature]) -> tuple[Feature, ...]:
    """The features of both: categories of `known` keep their codes, those only in `new` are appended in order."""
    if len(known) != len(new):
        raise ValueError(f"{len(new)} features where {len(known)} are known")
    merged = []
    for old, feature in zip(known, new, strict=True):
        if old.categories is None or feature.categories is None:
            if old.categories is not feature.categories:
                kinds = ["numeric" if f.categories is None else "nominal" for f in (old, feature)]
                raise ValueError(f"feature {feature.name!r} is {kinds[1]} here but {kinds[0]} before")
            merged.append(old)
        elif old.categories == feature.categories:
            merged.append(old)
        else:
            merged.append(Feature(old.name, tuple(dict.fromkeys(old.categories + feature.categories))))
    return tuple(merged)


def recode(table: Table, features: Sequence[Feature]) -> Table:
    """The same examples in the codes of `features`; a category that `features` do not have becomes missing."""
    merge_features(features, table.features)  # the kinds must agree
    if tuple(features) == table.features:
        return table
    values = table.values
    for column, (wanted, present) in enumerate(zip(features, table.features, strict=True)):
        assert (wanted.categories is None) == (present.categories is None)
        if wanted.categories is None or present.categories is None:
            continue
        if wanted.categories[: len(present.categories)] != present.categories:
            index = {category: code for code, category in enumerate(wanted.categories)}
            codes = np.array([index.get(category, math.nan) for category in present.categories])
            if values is table.values:
                values = values.copy()
            values[:, column] = look_up(codes, values[:, column])
    return Table(values, features)


def concat(tables: Iterable[Table]) -> Table:
    """The rows of all tables, one after the other; categories are merged by name, in order of first appearance."""
    parts = list(tables)
    if not parts:
        raise ValueError("concat: no tables were given")
    features: tuple[Feature, ...] = parts[0].features
    for part in parts[1:]:
        features = merge_features(features, part.features)
    return Table(np.concatenate([recode(part, features).values for part in parts]), features)


def category_name(value: Any) -> str:
    """How a value is named as a category: `str` of it, but 3.0 is "3"."""
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    return str(value)


def look_up(entries: np.ndarray, column: np.ndarray) -> np.ndarray:
    """`entries` at the indices in a nominal column, NaN where the column is NaN."""
    missing = np.isnan(column)
    indices = np.where(missing, 0, column).astype(np.intp)
    return np.where(missing, math.nan, entries[indices] if entries.size else math.nan)


def _is_missing(cell: Any) -> bool:
    # NaN, NaT and pandas.NA are the values that do not equal themselves (NA answers neither yes nor no).
    if cell is None:
        return True
    same = cell == cell
    return same is not True and not (isinstance(same, np.bool_) and bool(same))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_)


def _coded(cells: Iterable[Any], categories: Iterable[str] = ()) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes and categories of a nominal column; NaN for a missing cell."""
    index = {category: code for code, category in enumerate(categories)}
    codes = [math.nan if _is_missing(cell) else index.setdefault(category_name(cell), len(index)) for cell in cells]
    return np.array(codes, dtype=np.float64), tuple(index)


def _object_column(cells: Sequence[Any]) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """A column of Python objects: numeric if every cell that is not missing is a number, else nominal."""
    if set(map(type, cells)) <= {int, float, type(None)}:
        return np.array(cells, dtype=np.float64), None  # NumPy reads None as NaN
    missing = [_is_missing(cell) for cell in cells]
    if all(absent or _is_number(cell) for cell, absent in zip(cells, missing, strict=True)):
        numbers = [math.nan if absent else float(cell) for cell, absent in zip(cells, missing, strict=True)]
        return np.array(numbers, dtype=np.float64), None
    return _coded(cells)


def _from_array(X: Any) -> Table:
    if hasattr(X, "toarray"):
        X = X.toarray()
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        # NumPy turns a list of mixed rows into text throughout; the numbers in it should stay numbers.
        array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        advice = ". Reshape your data: one row is X.reshape(1, -1)" if array.ndim == 1 else ""
        raise ValueError(f"X has shape {array.shape}: expected two dimensions, one row per example{advice}")
    names = [array_name(column) for column in range(array.shape[1])]
    if array.dtype.kind in "biuf":
        return Table(array, [Feature(name) for name in names])
    if array.dtype.kind == "c":
        raise ValueError(f"X has dtype {array.dtype}: expected real numbers. Complex data not supported")
    if array.dtype.kind not in "OUT":
        raise ValueError(f"X has dtype {array.dtype}: expected numbers, text or objects")
    columns = [_object_column(list(array[:, column])) for column in range(array.shape[1])]
    return _from_columns(names, columns, len(array))


def array_name(column: int) -> str:
    """What a table calls a column of an array."""
    return f"x{column}"


def is_frame(X: Any) -> bool:
    """Whether X is a frame that narwhals knows."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(X)


def _from_frame(X: Any) -> Table:
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    columns: list[tuple[np.ndarray, tuple[str, ...] | None]] = []
    for series in frame.iter_columns():
        kind = series.dtype
        if kind.is_numeric():
            absent = series.is_null().to_numpy()
            numbers = series.to_numpy() if not absent.any() else series.filter(~series.is_null()).to_numpy()
            cells = np.full(len(absent), math.nan)
            cells[~absent] = numbers.astype(np.float64)
            columns.append((cells, None))
        elif kind in (nw.Object, nw.Unknown):
            columns.append(_object_column(series.to_list()))
        elif isinstance(kind, nw.Enum):
            columns.append(_coded(series.to_list(), map(category_name, kind.categories)))
        elif kind in (nw.Categorical, nw.String, nw.Boolean):
            columns.append(_coded(series.to_list()))
        else:
            raise ValueError(
                f"column {series.name!r} is of type {kind}: expected numbers, text, categories or booleans"
            )
    return _from_columns([str(name) for name in frame.columns], columns, len(frame))


def _from_columns(
    names: Sequence[str], columns: Sequence[tuple[np.ndarray, tuple[str, ...] | None]], rows: int
) -> Table:
    values = np.empty((rows, len(columns)))
    for position, (column, _) in enumerate(columns):
        values[:, position] = column
    return Table(values, [Feature(name, kinds) for name, (_, kinds) in zip(names, columns, strict=True)])


def _positions(chosen: Sequence[Any] | np.ndarray, names: tuple[str, ...]) -> list[int]:
    array = np.asarray(chosen)
    if array.dtype == bool:
        if array.shape != (len(names),):
            raise ValueError(f"categorical_features: a mask of shape {array.shape}, but there are {len(names)} columns")
        return [int(position) for position in np.flatnonzero(array)]
    positions = []
    for entry in chosen:
        if isinstance(entry, str):
            if names.count(entry) != 1:
                raise ValueError(f"categorical_features: {entry!r} is not the name of one column of {list(names)}")
            positions.append(names.index(entry))
        elif isinstance(entry, Integral) and -len(names) <= int(entry) < len(names):
            positions.append(int(entry) % len(names))
        else:
            raise ValueError(f"categorical_features: {entry!r} is neither a name nor a position below {len(names)}")
    return positions


def _with_nominal(table: Table, positions: Iterable[int]) -> Table:
    values, features = table.values.copy(), list(table.features)
    for position in positions:
        if features[position].categories is None:
            codes, categories = _coded(values[:, position])
            values[:, position] = codes
            features[position] = Feature(features[position].name, categories)
    return Table(values, features)
