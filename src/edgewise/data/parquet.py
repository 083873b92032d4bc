"""Parquet, batch by batch: text, dictionary and boolean columns are nominal, numbers numeric, null missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from edgewise.data.columns import CellError, Column, Options, Schema, Target, make_schema
from edgewise.data.table import Table, category_name


def chunks(path: str, options: Options, chunk_rows: int) -> Iterator[tuple[Table, np.ndarray]]:
    """Examples in chunks of `chunk_rows` (the last may be shorter)."""
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    with file:
        if file.metadata.num_rows == 0:
            raise ValueError(f"{path}: the file has no rows")
        schema = make_parquet_schema(path, file.schema_arrow, options)
        names = file.schema_arrow.names
        wanted = sorted({column.position for column in schema.columns} | {schema.target.position})
        first = 1
        for batch in _rebatched(file.iter_batches(chunk_rows, columns=[names[j] for j in wanted]), chunk_rows):
            by_position = dict(zip(wanted, batch.columns, strict=True))
            yield _encode(schema, by_position, len(batch), first)
            first += len(batch)


def make_parquet_schema(path: str, arrow: Any, options: Options) -> Schema:
    """Kinds by the types that the file declares."""
    from pyarrow import types

    nominal: dict[int, tuple[str, ...] | None] = {}
    unusable: dict[int, str] = {}
    for position, column in enumerate(arrow):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind)
        is_numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind)
        if is_text or (is_numeric and types.is_dictionary(column.type)):
            nominal[position] = None
        elif not is_numeric:
            unusable[position] = str(column.type)
    schema = make_schema(path, arrow.names, len(arrow.names), options, [()] * len(arrow.names), nominal)
    schema.line_word = "row"
    for position in [*(column.position for column in schema.columns), schema.target.position]:
        if position in unusable:
            kind = unusable[position]
            raise ValueError(f"{path}, {schema.place(position)}: type {kind} is neither number nor text; drop it")
    if schema.target.kind is int and not types.is_integer(arrow.field(schema.target.position).type):
        schema.target.kind = float
    return schema


def _rebatched(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Batches of exactly `rows` rows, but for the last, wherever the row groups of the file end."""
    import pyarrow

    held: list[Any] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += len(batch)
        while count >= rows:
            table = pyarrow.Table.from_batches(held).combine_chunks()
            yield table.slice(0, rows)
            held = table.slice(rows).to_batches()
            count -= rows
    if count:
        yield pyarrow.Table.from_batches(held)


def _encode(schema: Schema, cells: dict[int, Any], rows: int, first: int) -> tuple[Table, np.ndarray]:
    values = np.empty((rows, len(schema.columns)))
    column: Column | Target
    try:
        for j, column in enumerate(schema.columns):
            values[:, j] = _feature(column, cells[column.position], schema.missing)
        column = schema.target
        y = _labels(column, cells[column.position], schema.missing)
    except CellError as error:
        raise schema.bad_cell(first + error.row, column.position, str(error)) from None
    return Table(values, schema.features()), y


def _texts(cells: Any) -> tuple[np.ndarray, list[str]]:
    """Index (-1 for null) of each cell into the distinct cells, named as categories, in order of first appearance."""
    flat = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    if hasattr(flat, "dictionary_decode"):
        flat = flat.dictionary_decode()
    encoded = flat.dictionary_encode()
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return indices, [category_name(value).strip() for value in encoded.dictionary.to_pylist()]


def _feature(column: Column, cells: Any, missing: tuple[str, ...]) -> np.ndarray:
    import pyarrow

    if column.index is None and not _is_text(cells):
        return cells.cast(pyarrow.float64()).to_numpy().astype(np.float64)
    indices, distinct = _texts(cells)
    try:
        codes = column.encode(distinct, missing)
    except CellError as error:
        raise CellError(int(np.flatnonzero(indices == error.row)[0]), str(error)) from None
    return np.append(codes, math.nan)[indices]


def _labels(target: Target, cells: Any, missing: tuple[str, ...]) -> np.ndarray:
    indices, distinct = _texts(cells)
    if (indices < 0).any():
        raise CellError(int(np.flatnonzero(indices < 0)[0]), "the label is missing")
    try:
        return target.encode(distinct, missing)[indices]
    except CellError as error:
        raise CellError(int(np.flatnonzero(indices == error.row)[0]), str(error)) from None


def _is_text(cells: Any) -> bool:
    from pyarrow import types

    kind = cells.type.value_type if types.is_dictionary(cells.type) else cells.type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind)
