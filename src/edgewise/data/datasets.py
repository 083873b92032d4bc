"""Data sets by name: `load("car")` gives examples and labels, ready to learn from.

A set is looked for in the package (balance and car are bundled), in the folder that the environment variable
EDGEWISE_DATA names, and in the user's cache; else it is downloaded there.
"""

from __future__ import annotations

import difflib
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from edgewise.data import storage
from edgewise.data.binary_files import as_examples, read_images
from edgewise.data.columns import is_number
from edgewise.data.files import read, read_mulan
from edgewise.data.registry import SETS, DataFile, Dataset
from edgewise.data.storage import path_of
from edgewise.data.table import Feature, Table, concat, look_up

__all__ = [
    "DataFile",
    "Dataset",
    "check",
    "fetch",
    "info",
    "load",
    "load_parts",
    "names",
    "order",
    "path_of",
    "shuffled",
    "where",
]

Examples = tuple[Table, np.ndarray]


def names() -> list[str]:
    """The names that `load` takes.

    Returns
    -------
    list of str
        Sorted.
    """
    return list(SETS)


def info(name: str) -> Dataset:
    """What is known of a data set: title, rows, features, classes, files and checksums, source, citation.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Dataset
        A record.
    """
    if name not in SETS:
        close = difflib.get_close_matches(name, SETS, n=3, cutoff=0.5)
        hint = f" (did you mean {' or '.join(close)}?)" if close else ""
        raise ValueError(f"unknown data set {name!r}{hint}; the data sets are {', '.join(SETS)}")
    return SETS[name]


def where(name: str) -> str:
    """Where a data set would be loaded from: "bundled", "EDGEWISE_DATA", "cache", or "not here".

    Parameters are those of `info`.

    Returns
    -------
    str
        One of the four.
    """
    found = storage.found_files(info(name))
    return " and ".join(dict.fromkeys(place for _, place, _ in found)) if found else "not here"


def fetch(name: str) -> list[Path]:
    """The paths of the files of a data set, after downloading those that are not here.

    Parameters are those of `info`.

    Returns
    -------
    list of Path
        In the order of `info(name).files`.
    """
    return [path for _, _, path in storage.fetch_files(info(name))]


def check(name: str) -> dict[str, str]:
    """For each file of a data set: "ok", "missing", "changed: ..." or "unknown: ..." by its SHA-256.

    Parameters are those of `info`.

    Returns
    -------
    dict
        File name -> what was found.
    """
    dataset = info(name)
    found = storage.found_files(dataset)
    if found is not None:
        return {file.name: storage.status_of(file, path) for file, _, path in found}
    here = [(file, storage.locate(file)) for file in dataset.files]
    return {file.name: storage.status_of(file, located[1]) if located else "missing" for file, located in here}


def load(name: str, *, rows: int | None = None) -> Examples:
    """Examples and labels of a data set, or its first `rows` rows (or as many as there are).

    Labels are text or integers, real targets are floats. Of a multi-label set they are an indicator matrix, 0 or 1
    (int8), whose columns `info(name).labels` names.

    Parameters
    ----------
    name : str
        One of `names()`.
    rows : int, optional
        How many rows; all by default.

    Returns
    -------
    (Table, array)
        Rows, and the label of each.
    """
    dataset = info(name)
    if rows is not None and rows < 1:
        raise ValueError(f"rows={rows}: at least 1 row must be loaded")
    files = storage.fetch_files(dataset)
    if name == "isolet-50":
        table, y = _projected(dataset, files)
    else:
        wanted = None if rows is None else rows + dataset.spare_rows
        table, y = _read_files(dataset, files, wanted)
        if name in PREPARE:
            table, y = PREPARE[name](table, y)
    if rows is None:
        _verify(dataset, table, y, files)
    return table[:rows], y[:rows]


def load_parts(name: str) -> tuple[Examples, Examples]:
    """The training part and the test part of a data set that comes in two; others raise ValueError.

    Parameters are those of `info`.

    Returns
    -------
    two of (Table, array)
        Training rows and labels, test rows and labels.
    """
    dataset = info(name)
    train = dataset.train_rows
    if train is None:
        apart = [known for known, about in SETS.items() if about.train_rows is not None]
        raise ValueError(f"{name}: has no test part of its own; the sets that have are {', '.join(apart)}")
    table, y = load(name)
    return (table[:train], y[:train]), (table[train:], y[train:])


def order(n: int, seed: int, rows: int | None = None) -> np.ndarray:
    """The order of rows for a seed: the first `rows` of `numpy.random.default_rng(seed).permutation(n)`.

    Parameters
    ----------
    n : int
        How many rows there are.
    seed : int
        Of the shuffle.
    rows : int, optional
        How many to keep; all by default.

    Returns
    -------
    array
        Row numbers.
    """
    return np.random.default_rng(seed).permutation(n)[:rows]


def shuffled(table: Table, y: np.ndarray, seed: int, rows: int | None = None) -> Examples:
    """Examples and labels in the order `order(len(y), seed, rows)`.

    Parameters are those of `order`, and these.

    Parameters
    ----------
    table : Table
        Rows.
    y : array
        The label of each.

    Returns
    -------
    (Table, array)
        Rows and labels.

    Examples
    --------
    >>> from edgewise import datasets
    >>> X, y = datasets.shuffled(*datasets.load("balance"), seed=1, rows=100)
    >>> X.shape, y[:5].tolist()
    ((100, 4), ['R', 'L', 'R', 'R', 'L'])
    """
    chosen = order(len(table), seed, rows)
    return table[chosen], np.asarray(y)[chosen]


def _read_files(dataset: Dataset, files: list[tuple[DataFile, str, Path]], rows: int | None) -> Examples:
    """The examples of all files, one file after the other, or the first `rows` of them."""
    tables: list[Table] = []
    labels: list[np.ndarray] = []
    for read_part in _readers(dataset, files):
        left = None if rows is None else rows - sum(map(len, tables))
        if left is not None and left <= 0:
            break
        table, y = read_part(rows=left)
        tables.append(table)
        labels.append(y)
    return concat(tables), np.concatenate(labels)


def _readers(dataset: Dataset, files: list[tuple[DataFile, str, Path]]) -> Iterator[Callable[..., Examples]]:
    """For each part of a data set, what reads its first `rows` rows."""
    paths = [path for _, _, path in files]
    if dataset.name == "mnist":
        yield partial(_read_digits, paths)
    elif dataset.labels:
        for path in paths[:-1]:  # the last file names the labels
            yield partial(_read_multi_label, dataset, path, paths[-1])
    else:
        for file, _, path in files:
            options = dataset.options
            if file is dataset.substitute:  # an ARFF, which names its columns itself
                options = {key: options[key] for key in options.keys() - {"header", "delimiter", "format"}}
            yield partial(read, path, **options)


def _read_digits(paths: list[Path], rows: int | None) -> Examples:
    """Images and labels of the training part, then those of the test part; joined as bytes, which take less memory."""
    pixels, digits = read_images(paths[0], paths[1], rows)
    if rows is None or rows > len(digits):
        more, their_digits = read_images(paths[2], paths[3], None if rows is None else rows - len(digits))
        pixels, digits = np.concatenate([pixels, more]), np.concatenate([digits, their_digits])
    return as_examples(pixels, digits)


def _read_multi_label(dataset: Dataset, path: Path, xml: Path, rows: int | None) -> Examples:
    table, indicators, labels = read_mulan(path, xml, rows=rows)
    if labels != dataset.labels:
        raise ValueError(f"{dataset.name}: {path} has other labels than those registered, {dataset.labels}")
    return table, indicators


def _verify(dataset: Dataset, table: Table, y: np.ndarray, files: list[tuple[DataFile, str, Path]]) -> None:
    """Refuse a file with other rows than registered, whatever its checksum."""
    found = {}
    if dataset.class_counts and dataset.labels:
        found = dict(zip(dataset.labels, y.sum(axis=0).tolist(), strict=True))
    elif dataset.class_counts:
        labels, counts = np.unique(y, return_counts=True)
        found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    if table.shape != (dataset.rows, dataset.features) or found != dict(dataset.class_counts):
        paths = ", ".join(str(path) for _, _, path in files)
        expected = f"{dataset.rows} x {dataset.features} with classes {dict(dataset.class_counts)}"
        raise ValueError(f"{dataset.name}: {paths} holds {len(table)} x {table.shape[1]} with {found}, not {expected}")


def _as_number(table: Table, name: str, value_of: Callable[[str], float]) -> Table:
    """The nominal feature `name` made numeric by the value of each category."""
    column = table.feature_names.index(name)
    categories = table.features[column].categories
    assert categories is not None
    values = table.values.copy()
    values[:, column] = look_up(np.array([value_of(category) for category in categories]), values[:, column])
    features = [Feature(name) if j == column else feature for j, feature in enumerate(table.features)]
    return Table(values, features)


def _car_numeric(table: Table, y: np.ndarray) -> Examples:
    for name in ("doors", "persons"):
        table = _as_number(table, name, lambda text: 5.0 if text.endswith("more") else float(text))
    return table, y


def _movement(table: Table, y: np.ndarray) -> Examples:
    table = _as_number(table, "z4", lambda text: float(text) if is_number(text) else math.nan)
    whole = ~np.isnan(table.values[:, -1])
    return table[whole], y[whole]


PREPARE: dict[str, Callable[[Table, np.ndarray], Examples]] = {
    "car-numeric": _car_numeric,
    "kdd99": lambda table, y: (table, np.char.rstrip(y, ".")),
    "mice-zero": lambda table, y: (Table(np.nan_to_num(table.values, nan=0.0), table.features), y),
    "movement": _movement,
    "nursery-4": lambda table, y: (table[y != "recommend"], y[y != "recommend"]),
}


def principal_components(values: np.ndarray, count: int) -> np.ndarray:
    """The centered rows projected on the first `count` principal components.

    The sign of a component is arbitrary; here its loading of largest magnitude is positive.
    """
    centered = values - values.mean(axis=0)
    loadings = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :count]
    largest = np.abs(loadings).argmax(axis=0)
    return centered @ (loadings * np.sign(loadings[largest, np.arange(count)]))


def _projected(dataset: Dataset, files: list[tuple[DataFile, str, Path]]) -> Examples:
    """ISOLET on its principal components, from the cache if it was projected before."""
    digest = "".join(storage.sha256_of(path, unpacked=False)[:8] for _, _, path in files)
    kept = storage.cache_folder() / f"{dataset.name}-{digest}.npy"
    shape = (dataset.rows, dataset.features + 1)
    try:
        both = np.load(kept, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        both = None
    if both is None or both.shape != shape:
        table, y = _read_files(dataset, files, None)
        both = np.column_stack([principal_components(table.values, dataset.features), y])
        _keep(kept, both)
    components = [Feature(f"pc{number}") for number in range(1, dataset.features + 1)]
    return Table(both[:, :-1], components), both[:, -1].astype(np.int64)


def _keep(path: Path, array: np.ndarray) -> None:
    """Save an array in the cache, where the cache can be written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.save(file, array)
        os.replace(file.name, path)
    except OSError:
        return
