"""LIBSVM text: `LABEL INDEX:VALUE ...` per line, indices from 1 and rising, values left out are 0.

The rows become dense. Without `n_features` the file is read once beforehand for its largest index, so that every chunk
has the same features; feature x0 is index 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import IO

import numpy as np

from edgewise.data.columns import PROBE_ROWS, Options, Target, is_integer, is_number, kind_of_classes
from edgewise.data.opening import is_blank, numbered_lines, open_text
from edgewise.data.table import Feature, Table


def chunks(path: str, options: Options, chunk_rows: int) -> Iterator[tuple[Table, np.ndarray]]:
    """Examples in chunks of `chunk_rows` (the last may be shorter)."""
    target, n_features = probe(path, options)
    features = tuple(Feature(f"x{column}") for column in range(n_features))
    with open_text(path) as file:
        rows = _tokens(path, file)
        while block := list(islice(rows, chunk_rows)):
            values = np.zeros((len(block), n_features))
            labels = []
            for row, (number, tokens) in enumerate(block):
                try:
                    labels.append(_label(target, tokens[0], options))
                    _fill(values[row], tokens)
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}, {error}") from None
            yield Table(values, features), target.array(labels)


def probe(path: str, options: Options) -> tuple[Target, int]:
    """The kind of the labels, and the number of features: as given, else the largest index in the file."""
    labels: list[str] = []
    largest = 0
    with open_text(path) as file:
        for _, tokens in _tokens(path, file):
            if len(labels) < PROBE_ROWS:
                labels.append(tokens[0])
            elif options.n_features is not None:
                break
            index = tokens[-1].partition(":")[0] if len(tokens) > 1 else ""
            if index.isdecimal():  # indices rise, so the last is the largest; `_fill` refuses a row where it is not
                largest = max(largest, int(index))
    if not labels:
        raise ValueError(f"{path}: the file is empty")
    if options.n_features is None and largest == 0:
        raise ValueError(f"{path}: no INDEX:VALUE pair found; give n_features if every row is empty")
    if options.classes is not None:
        target = Target(0, kind_of_classes(options.classes), options.classes)
    else:
        numeric = [label for label in labels if is_number(label)]
        target = Target(0, int if all(map(is_integer, numeric)) else float)
    return target, largest if options.n_features is None else options.n_features


def _tokens(path: str, file: IO[bytes]) -> Iterator[tuple[int, list[str]]]:
    """The blank-separated parts of each line, without comments."""
    for number, line in numbered_lines(file):
        content = line.partition(b"#")[0]
        if is_blank(content.expandtabs()):
            continue
        try:
            yield number, content.decode("ascii").split()
        except UnicodeDecodeError:
            raise ValueError(f"{path}, line {number}: not ASCII text") from None


def _label(target: Target, token: str, options: Options) -> str | int | float:
    try:
        return target.label(token, options.missing)
    except ValueError as error:
        raise ValueError(f"column 1: {error}") from None


def _fill(row: np.ndarray, tokens: list[str]) -> None:
    """Write the values of a line into a row of zeros."""
    before = 0
    for place, token in enumerate(tokens[1:], 2):
        index, colon, value = token.partition(":")
        if not colon or not index.isdecimal() or not is_number(value):
            raise ValueError(f"column {place}: {token!r} is not INDEX:VALUE")
        position = int(index)
        if position <= before:
            wanted = "start at 1" if before == 0 else f"rise, but {before} came before"
            raise ValueError(f"column {place}: index {position}, where indices must {wanted}")
        if position > row.size:
            raise ValueError(f"column {place}: index {position} is above the {row.size} features")
        row[position - 1] = float(value)
        before = position
