"""LIBSVM text: `LABEL INDEX:VALUE ...` per line, indices from 1 and rising, values left out are 0.

The rows become dense. Without `n_features` the file is read once beforehand for its largest index, so that every chunk
has the same features; feature x0 is index 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from edgewise.streams.columns import PROBE_ROWS, Options, Schema, Target, is_number, make_schema
from edgewise.streams.opening import numbered_lines, open_binary
from edgewise.streams.table import Feature, Table


def chunks(path: str, options: Options, chunk_rows: int) -> Iterator[tuple[Table, np.ndarray]]:
    """Examples in chunks of `chunk_rows` (the last may be shorter)."""
    schema, n_features = probe(path, options)
    target = schema.target
    features = tuple(Feature(f"x{column}") for column in range(n_features))
    with open_binary(path) as file:
        rows = _tokens(file)
        while block := list(islice(rows, chunk_rows)):
            values = np.zeros((len(block), n_features))
            labels = []
            for row, (number, tokens) in enumerate(block):
                try:
                    labels.append(target.label(tokens[0], schema.missing))
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}, column 1: {error}") from None
                _fill(values[row], path, number, tokens)
            yield Table(values, features), target.array(labels)


def probe(path: str, options: Options) -> tuple[Schema, int]:
    """The kind of the labels, and the number of features: as given, else the largest index in the file."""
    labels: list[str] = []
    largest = 0
    with open_binary(path) as file:
        rows = _tokens(file)
        for number, tokens in rows:
            if len(labels) < PROBE_ROWS:
                labels.append(tokens[0])
            elif options.n_features is not None:
                break
            if len(tokens) > 1 and options.n_features is None:
                index = tokens[-1].partition(":")[0]  # indices rise; _fill refuses a row where they do not
                largest = max(largest, int(index) if index.isdecimal() else 0)
                del number
    if not labels:
        raise ValueError(f"{path}: the file is empty")
    raise NotImplementedError
