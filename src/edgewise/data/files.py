"""Read data files: CSV, ARFF (and MULAN's), LIBSVM and Parquet, at once or as a stream of chunks.

`stream` never holds more than a chunk. Every chunk has the same features, but that a nominal feature may get further
categories at its end; what a code means never changes. `read` gives all chunks as one table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.data.arff import arff_chunks, label_columns, place_of_labels
from edgewise.data.binary_files import parquet_chunks
from edgewise.data.columns import MISSING, Examples, Label, Options
from edgewise.data.opening import naming_damage, unpacked_name
from edgewise.data.table import Table
from edgewise.data.text_files import csv_chunks, libsvm_chunks

FORMATS = {"csv": csv_chunks, "arff": arff_chunks, "libsvm": libsvm_chunks, "parquet": parquet_chunks}
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".dat": "csv",
    ".arff": "arff",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".parquet": "parquet",
    ".pq": "parquet",
}
READ_ROWS = 20_000  # the chunks that `read` puts together
Columns = Sequence[str | int]


def read(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    labels: Columns | None = None,
    format: str | None = None,
    categorical: Columns = (),
    numeric: Columns = (),
    drop: Columns = (),
    classes: Sequence[Label] | None = None,
    header: bool | str | Sequence[str] = "auto",
    delimiter: str | None = None,
    missing: Sequence[str] = MISSING,
    n_features: int | None = None,
    rows: int | None = None,
) -> tuple[Table, np.ndarray]:
    """The examples of a file and their labels.

    A target is integer if its first cells all are, else float if they are numbers, else text. A cell that does not fit
    raises ValueError with file, line and column.

    Parameters
    ----------
    path : str or path
        The file; .gz, .xz and .bz2 are unpacked on the way.
    target : str or int, optional
        Column of the labels, by name or position, negative from the end; by default the last (LIBSVM: the label).
    labels : list of names or positions, optional
        Columns of 0 and 1 instead of one target, in CSV and ARFF: y is then the matrix of these indicators (int8).
    format : str, optional
        "csv", "arff", "libsvm" or "parquet"; by default told by the file name.
    categorical, numeric : list of names or positions
        Columns that are nominal, or numeric, whatever their cells look like. By default a CSV column is nominal if
        one of its first 10,000 cells (fewer in files of more than 200 columns) is not a number.
    drop : list of names or positions
        Columns to leave out.
    classes : list, optional
        The labels allowed.
    header : bool, str or list of str
        True, False, "auto", or the names of the columns of a file without header.
    delimiter : str, optional
        What separates the cells of a CSV file; by default found out.
    missing : list of str
        Cells that stand for missing values.
    n_features : int, optional
        For LIBSVM, whose last features may all be 0.
    rows : int, optional
        How many rows to read; all by default.

    Returns
    -------
    (Table, array)
        Rows, and the label of each.
    """
    if rows is not None and rows < 1:
        raise ValueError(f"rows={rows}: at least 1 row must be read")
    parts = stream(
        path,
        target=target,
        labels=labels,
        format=format,
        categorical=categorical,
        numeric=numeric,
        drop=drop,
        classes=classes,
        header=header,
        delimiter=delimiter,
        missing=missing,
        n_features=n_features,
        chunk_rows=READ_ROWS if rows is None else min(rows, READ_ROWS),
    )
    values, targets, count = [], [], 0
    for table, y in parts:
        values.append(table.values)
        targets.append(y)
        count += len(y)
        if rows is not None and count >= rows:
            break
    # Categories only grow at the end, so the last chunk knows the codes of all.
    return Table(np.concatenate(values)[:rows], table.features), np.concatenate(targets)[:rows]


def stream(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    labels: Columns | None = None,
    format: str | None = None,
    categorical: Columns = (),
    numeric: Columns = (),
    drop: Columns = (),
    classes: Sequence[Label] | None = None,
    header: bool | str | Sequence[str] = "auto",
    delimiter: str | None = None,
    missing: Sequence[str] = MISSING,
    n_features: int | None = None,
    chunk_rows: int = 10_000,
) -> Iterator[Examples]:
    """The examples of a file and their labels, some rows at a time. Parameters are those of `read`, and one more.

    Parameters
    ----------
    chunk_rows : int
        Rows to give at a time.

    Returns
    -------
    iterator of (Table, array)
        Rows, and the label of each.
    """
    if chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows}: a chunk needs at least 1 row")
    place = Path(path)
    if not place.exists():
        raise FileNotFoundError(f"{place}: no such file")
    if place.is_dir():
        raise IsADirectoryError(f"{place}: is a folder, not a data file")
    if format is None:
        format = SUFFIXES.get(Path(unpacked_name(place.name)).suffix.lower())
        if format is None:
            raise ValueError(f"{place}: unknown format; give format= one of {', '.join(FORMATS)}")
    if format not in FORMATS:
        raise ValueError(f"format={format!r}: expected one of {', '.join(FORMATS)}")
    options = Options(
        target,
        None if labels is None else _columns("labels", labels),
        _columns("drop", drop),
        _columns("categorical", categorical),
        _columns("numeric", numeric),
        None if classes is None else tuple(np.asarray(classes).tolist()),
        header if isinstance(header, str | bool) else tuple(header),
        delimiter,
        _columns("missing", missing),
        n_features,
    )
    _check(format, options)
    return _guarded(str(place), FORMATS[format](str(place), options, chunk_rows))


def read_mulan(
    path: str | os.PathLike[str], xml: str | os.PathLike[str] | None = None, *, rows: int | None = None
) -> tuple[Table, np.ndarray, tuple[str, ...]]:
    """Examples, the indicator matrix of their labels, and the names of the labels.

    Raises ValueError with file, line and column for a cell that is not 0 or 1 in a label, and with the names for labels
    that the ARFF does not have.

    Parameters
    ----------
    path : str or path
        The ARFF file; it may be packed (.gz, .xz, .bz2).
    xml : str or path, optional
        The file that names the labels. By default the one beside `path` with the same name but for `.xml`; -train
        and -test may be left out of its name.
    rows : int, optional
        How many rows to read; all by default.

    Returns
    -------
    (Table, array, tuple of str)
        Rows, indicators [n, k] (int8), names of the k columns.
    """
    place = Path(path)
    if not place.is_file():
        raise FileNotFoundError(f"{place}: no such file")
    labels = label_columns(place, place_of_labels(place) if xml is None else Path(xml))
    table, indicators = read(place, format="arff", labels=labels, rows=rows)
    return table, indicators, tuple(labels)


def _columns(option: str, chosen: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(chosen, str):
        raise ValueError(f"{option}={chosen!r}: expected a sequence, as [{chosen!r}]")
    return tuple(chosen)


def _check(format: str, options: Options) -> None:
    """Refuse options that the format can not follow."""
    default = Options()
    inapplicable = {
        "csv": ("n_features",),
        "arff": ("n_features", "header", "delimiter"),
        "libsvm": ("header", "delimiter", "target", "labels", "categorical", "numeric", "drop"),
        "parquet": ("n_features", "header", "delimiter", "labels"),
    }
    for option in inapplicable[format]:
        if getattr(options, option) != getattr(default, option):
            raise ValueError(f"{option}={getattr(options, option)!r}: not an option of {format} files")
    if options.labels is not None:
        if options.target is not None:
            raise ValueError(f"target={options.target!r} and labels: a file has one target or several labels, not both")
        if options.classes is not None:
            raise ValueError("classes: labels are 0 or 1; give classes for a single target only")
        if not options.labels:
            raise ValueError("labels=(): at least 1 label is needed")
    if isinstance(options.header, str) and options.header != "auto":
        raise ValueError(f'header={options.header!r}: expected True, False, "auto" or the names of the columns')
    if options.delimiter is not None and len(options.delimiter) != 1:
        raise ValueError(f"delimiter={options.delimiter!r}: expected one character")
    if options.n_features is not None and options.n_features < 1:
        raise ValueError(f"n_features={options.n_features}: at least 1 feature is needed")


def _guarded(path: str, chunks: Iterator[Examples]) -> Iterator[Examples]:
    with naming_damage(path):
        yield from chunks
