"""The columns of a data file, and how their cells become numbers, category codes and labels.

A `Schema` lasts for one pass over a file. Its nominal columns learn new categories as rows go by and only ever append,
so a code means the same category in every chunk. A cell that does not fit raises `ValueError` with file, line, column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table

MISSING = ("", "?", "NA", "nan", "NaN")
# Kinds of columns are decided from so many rows, or cells in a wide file, however it is then cut into chunks.
PROBE_ROWS = 10_000
PROBE_CELLS = 2_000_000
FAST_BYTES = 200_000  # importing pyarrow takes as long as reading so much without it
Label = str | int | float
Examples = tuple[Table, np.ndarray]


@dataclass(frozen=True)
class Options:
    """What the caller of `read` or `stream` asks for; None and "auto" leave it to the file."""

    target: str | int | None = None
    labels: tuple[str | int, ...] | None = None
    drop: tuple[str | int, ...] = ()
    categorical: tuple[str | int, ...] = ()
    numeric: tuple[str | int, ...] = ()
    classes: tuple[Label, ...] | None = None
    header: Any = "auto"
    delimiter: str | None = None
    missing: tuple[str, ...] = MISSING
    n_features: int | None = None


class CellError(Exception):
    """A cell that does not fit its column: `row` counts from 0 within the cells at hand."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row


def probe_rows(width: int) -> int:
    return min(PROBE_ROWS, max(100, PROBE_CELLS // width))


def is_number(cell: str) -> bool:
    """Whether a cell is a decimal number, without the 1_000 and the digits of other scripts that `float` also takes."""
    if "_" in cell or not cell.isascii():
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def has_number(missing: Sequence[str]) -> bool:
    """Whether a text that stands for "missing" is a number, such as -999: then no number may be taken as is."""
    return any(is_number(cell) and not math.isnan(float(cell)) for cell in missing)


def numbers(cells: Sequence[str], missing: Sequence[str]) -> np.ndarray:
    """The cells as float64, NaN where missing."""
    text = "".join(cells)
    if text.isascii() and "_" not in text and not has_number(missing):
        try:
            return np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
    values = np.empty(len(cells))
    absent = frozenset(missing)
    for row, cell in enumerate(map(str.strip, cells)):
        if cell in absent:
            values[row] = math.nan
        elif is_number(cell):
            values[row] = float(cell)
        else:
            raise CellError(row, f"{cell!r} is not a number")
    return values


@dataclass
class Column:
    """A feature in the making: `index` is None for a numeric one, else maps categories to codes and may grow."""

    position: int
    name: str
    index: dict[str, int] | None = None
    declared: bool = False

    def encode(self, cells: Sequence[str], missing: Sequence[str]) -> np.ndarray:
        if self.index is None:
            return numbers(cells, missing)
        return np.array(_each_distinct(cells, lambda cell: self._code(cell, missing)), dtype=np.float64)

    def _code(self, cell: str, missing: Sequence[str]) -> float:
        assert self.index is not None
        if cell not in self.index:
            if cell in missing:
                return math.nan
            if self.declared:
                raise ValueError(f"{cell!r} is not among the declared values {', '.join(self.index)}")
            self.index[cell] = len(self.index)
        return self.index[cell]

    def feature(self) -> Feature:
        return Feature(self.name, None if self.index is None else tuple(self.index))


@dataclass
class Target:
    """The column of labels; `kind` is int, float or str. A label is never missing and, given `allowed`, one of it."""

    position: int
    kind: type[Label]
    allowed: tuple[Label, ...] | None = None
    allowed_as: str = "classes"

    def label(self, cell: str, missing: Sequence[str]) -> Label:
        if cell in missing and not (self.allowed is not None and cell in self.allowed):
            raise ValueError("the label is missing")
        value: Label = cell
        if self.kind is not str:
            if not is_number(cell) or math.isnan(float(cell)):
                raise ValueError(f"the label {cell!r} is not a number")
            if self.kind is float:
                value = float(cell)
            elif is_integer(cell):
                value = whole(cell)
            else:
                raise ValueError(f"the label {cell!r} is not an integer, as those before it")
        if self.allowed is not None and value not in self.allowed:
            listed = ", ".join(map(str, self.allowed))
            raise ValueError(f"the label {cell!r} is not among the {self.allowed_as} {listed}")
        return value

    def encode(self, cells: Sequence[str], missing: Sequence[str]) -> np.ndarray:
        return self.array(_each_distinct(cells, lambda cell: self.label(cell, missing)))

    def array(self, labels: Sequence[Label]) -> np.ndarray:
        return np.array(labels, dtype={int: np.int64, float: np.float64, str: np.str_}[self.kind])


def _each_distinct(cells: Sequence[str], value_of: Callable[[str], Any]) -> list[Any]:
    """The value of each cell, asked for once for all cells alike; a ValueError becomes a CellError."""
    values: dict[str, Any] = {}
    for cell in dict.fromkeys(cells):
        try:
            values[cell] = value_of(cell.strip())
        except ValueError as error:
            raise CellError(cells.index(cell), str(error)) from None
    return [values[cell] for cell in cells]


def is_integer(cell: str) -> bool:
    return is_number(cell) and math.isfinite(float(cell)) and float(cell).is_integer()


def whole(cell: str) -> int:
    """The integer that a cell writes as 7, +7, 7. or 7e0, exact beyond 2^53 where it is written in digits."""
    try:
        return int(cell)
    except ValueError:
        return int(float(cell))


@dataclass
class Schema:
    """How one file is read: its columns, its target, and which cells are missing.

    There is one target, or, where `multi_label`, one for each label, all of them 0 or 1.
    """

    path: str
    names: list[str] | None
    width: int
    columns: list[Column]
    targets: tuple[Target, ...]
    missing: tuple[str, ...]
    multi_label: bool = False
    line_word: str = "line"

    @property
    def used(self) -> tuple[Column | Target, ...]:
        """What is read of the file: the features and the targets."""
        return (*self.columns, *self.targets)

    def features(self) -> tuple[Feature, ...]:
        return tuple(column.feature() for column in self.columns)

    def place(self, position: int) -> str:
        return f"column {position + 1}" + (f" ({self.names[position]})" if self.names else "")

    def examples(self, encode: Callable[[Column | Target], np.ndarray], lines: Sequence[int]) -> Examples:
        """The examples on these lines, from what `encode` makes of each column and of each target.

        ValueError with file, line and column for the first cell in the file that does not fit.
        """
        values = np.empty((len(lines), len(self.columns)))
        labels: list[np.ndarray] = []
        bad: list[tuple[int, int, str]] = []
        for j, column in enumerate(self.used):
            try:
                if isinstance(column, Target):
                    labels.append(encode(column))
                else:
                    values[:, j] = encode(column)
            except CellError as error:
                bad.append((error.row, column.position, str(error)))
        if bad:
            row, position, reason = min(bad)
            raise ValueError(f"{self.path}, {self.line_word} {lines[row]}, {self.place(position)}: {reason}")
        y = np.column_stack(labels).astype(np.int8) if self.multi_label else labels[0]
        return Table(values, self.features()), y

    def encode_rows(self, rows: Sequence[Sequence[str]], lines: Sequence[int]) -> Examples:
        """Rows of cells, one per line, as examples: the careful way, which can name the cell that is wrong."""
        for r, found in enumerate(map(len, rows)):
            if found != self.width:
                if r:
                    self.encode_rows(rows[:r], lines[:r])  # a bad cell further up is the first thing to report
                fields = "1 field" if found == 1 else f"{found} fields"
                raise ValueError(f"{self.path}, {self.line_word} {lines[r]}: {fields} where {self.width} are expected")
        cells = list(zip(*rows, strict=True))
        return self.examples(lambda column: column.encode(cells[column.position], self.missing), lines)

    def encode_lines(self, lines: Sequence[bytes], delimiter: str) -> Examples | None:
        """Delimited lines, each with its line end, as examples by pyarrow's parser: the fast way, or None.

        It is for lines without quotes or escapes. What it accepts, `encode_rows` reads to the same values; what it
        refuses goes there, which reads it or names the bad cell. So which way lines take never shows in the result.
        """
        # A number that stands for "missing" would be read as a number where blanks surround it.
        if sum(map(len, lines)) < FAST_BYTES or has_number(self.missing):
            return None
        import pyarrow
        from pyarrow import csv

        if delimiter == " ":
            lines = [b" ".join(line.split()) + b"\n" for line in lines]
        block = b"".join(lines)
        text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        types = {str(column.position): pyarrow.float64() if column.index is None else text for column in self.columns}
        types |= {str(target.position): text for target in self.targets}

        def encode(column: Column | Target) -> np.ndarray:
            cells = read.column(str(column.position)).combine_chunks()
            if pyarrow.types.is_floating(cells.type):
                return cells.to_numpy(zero_copy_only=False)
            distinct = [value.strip() for value in cells.dictionary.to_pylist()]
            return column.encode(distinct, self.missing)[cells.indices.to_numpy(zero_copy_only=False)]

        try:
            read = csv.read_csv(
                pyarrow.BufferReader(block),
                csv.ReadOptions(
                    column_names=[str(position) for position in range(self.width)],
                    use_threads=False,
                    block_size=len(block) + 1,
                ),
                csv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
                csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=list(self.missing),
                    strings_can_be_null=False,
                ),
            )
            return self.examples(encode, range(len(lines)))
        except ValueError:  # pyarrow's errors among them
            return None


def position_of(chosen: str | int, names: Sequence[str] | None, width: int, option: str, path: str) -> int:
    """The position in the file, from 0, of a column given by name or by position (negative: from the end)."""
    if isinstance(chosen, str):
        if names is None:
            raise ValueError(f"{path}: {option}={chosen!r}, but the file has no header; give a position")
        if chosen not in names:
            listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise ValueError(f"{path}: {option}={chosen!r} is not a column; the columns are {listed}")
        if list(names).count(chosen) > 1:
            raise ValueError(f"{path}: {option}={chosen!r} is the name of several columns; give a position")
        return list(names).index(chosen)
    if not -width <= chosen < width:
        raise ValueError(f"{path}: {option}={chosen} is out of range; the file has {width} columns")
    return chosen % width


def make_schema(
    path: str,
    names: list[str] | None,
    width: int,
    options: Options,
    samples: Sequence[Sequence[str]],
    declared: dict[int, tuple[str, ...] | None] | None = None,
) -> Schema:
    """Decide the kind of every column, from what the file declares, else from `samples` (the cells of each column).

    `declared` maps the position of a nominal column to its values in order, or to None where the values are open.
    """

    def positions(option: str, chosen: Sequence[str | int]) -> set[int]:
        return {position_of(entry, names, width, option, path) for entry in chosen}

    if width < 2:
        raise ValueError(f"{path}: 1 column only; a target and at least 1 feature are needed")
    declared = {} if declared is None else declared
    missing = options.missing
    if options.labels is None:
        taken = {position_of(-1 if options.target is None else options.target, names, width, "target", path)}
    else:
        taken = positions("labels", options.labels)
    dropped = positions("drop", options.drop)
    nominal, numeric = positions("categorical", options.categorical), positions("numeric", options.numeric)
    for position in nominal & numeric:
        raise ValueError(f"{path}: column {position + 1} is given as categorical and as numeric")
    for position in taken & dropped:
        word = "the target" if options.labels is None else "a label"
        raise ValueError(f"{path}: column {position + 1} is {word} and can not be dropped")
    columns: list[Column] = []
    for position in range(width):
        if position in taken or position in dropped:
            continue
        name = names[position] if names else f"x{len(columns)}"
        if position in numeric:
            columns.append(Column(position, name))
        elif declared.get(position) is not None:
            values = declared[position] or ()
            columns.append(Column(position, name, {value: code for code, value in enumerate(values)}, declared=True))
        elif position in declared or position in nominal or not _all_numbers(samples[position], missing):
            columns.append(Column(position, name, {}))
        else:
            columns.append(Column(position, name))
    if not columns:
        raise ValueError(f"{path}: no feature is left beside the {'target' if options.labels is None else 'labels'}")
    if options.labels is not None:
        indicators = tuple(Target(position, int, (0, 1), "values of a label") for position in sorted(taken))
        return Schema(path, names, width, columns, indicators, missing, multi_label=True)
    (target,) = taken
    labels = Target(target, str)
    if options.classes is not None:
        labels = Target(target, kind_of_classes(options.classes), options.classes)
    elif target in numeric:
        labels.kind = float
    elif declared.get(target) is not None:
        labels = Target(target, str, declared[target], "declared values")
    elif target not in nominal and target not in declared and _all_numbers(samples[target], missing):
        present = [cell for cell in samples[target] if cell.strip() not in missing]
        labels.kind = int if all(is_integer(cell.strip()) for cell in present) else float
    return Schema(path, names, width, columns, (labels,), missing)


def _all_numbers(cells: Sequence[str], missing: Sequence[str]) -> bool:
    try:
        numbers(cells, missing)
    except CellError:
        return False
    return True


def kind_of_classes(classes: tuple[Label, ...]) -> type[Label]:
    kinds = {str if isinstance(label, str) else int if float(label).is_integer() else float for label in classes}
    if not classes or (str in kinds and len(kinds) > 1):
        raise ValueError(f"classes={classes!r}: expected labels, all of them text or all of them numbers")
    return str if str in kinds else float if float in kinds else int
