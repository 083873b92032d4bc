"""Binary files: Parquet, and IDX, the format of MNIST.

In Parquet text, dictionary and boolean columns are nominal, numbers numeric, null missing.

An IDX file is a magic number, the sizes, then the bytes of an array. The magic number is 0, 0, the type (8: unsigned
bytes, the only one read here), the number of dimensions; then one big-endian 32-bit size per dimension. The values
follow in C order and nothing after them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.data.columns import CellError, Column, Examples, Options, Schema, Target, make_schema
from edgewise.data.opening import naming_damage, open_unpacked
from edgewise.data.table import Feature, Table, category_name

UNSIGNED_BYTES = 8


def parquet_chunks(path: str, options: Options, chunk_rows: int) -> Iterator[Examples]:
    """Examples of a Parquet file in chunks of `chunk_rows` (the last may be shorter)."""
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path}: not a Parquet file ({str(error).splitlines()[0]})") from None
    with file:
        if file.metadata.num_rows == 0:
            raise ValueError(f"{path}: the file has no rows")
        schema = _parquet_schema(path, file.schema_arrow, options)
        names = file.schema_arrow.names
        wanted = sorted(column.position for column in schema.used)
        first = 1
        for batch in _rebatched(file.iter_batches(chunk_rows, columns=[names[j] for j in wanted]), chunk_rows):
            cells = dict(zip(wanted, batch.columns, strict=True))
            yield schema.examples(
                lambda column, cells=cells: _encode(column, cells[column.position], schema.missing),  # type: ignore[misc]
                range(first, first + len(batch)),
            )
            first += len(batch)


def _parquet_schema(path: str, arrow: Any, options: Options) -> Schema:
    """Kinds by the types that the file declares."""
    from pyarrow import types

    nominal: dict[int, tuple[str, ...] | None] = {}
    unusable: dict[int, str] = {}
    for position, column in enumerate(arrow):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind)
        if _is_text(kind) or (is_numeric and types.is_dictionary(column.type)):
            nominal[position] = None
        elif not is_numeric:
            unusable[position] = str(column.type)
    schema = make_schema(path, arrow.names, len(arrow.names), options, [()] * len(arrow.names), nominal)
    schema.line_word = "row"
    for used in schema.used:
        if used.position in unusable:
            kind = unusable[used.position]
            raise ValueError(f"{path}, {schema.place(used.position)}: type {kind} is neither number nor text; drop it")
    (target,) = schema.targets
    if target.kind is int and not types.is_integer(arrow.field(target.position).type):
        target.kind = float
    return schema


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind)


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


def _encode(column: Column | Target, cells: Any, missing: tuple[str, ...]) -> np.ndarray:
    """A column of a batch as numbers, codes or labels."""
    import pyarrow
    from pyarrow import types

    kind = cells.type.value_type if types.is_dictionary(cells.type) else cells.type
    if isinstance(column, Column) and column.index is None and not _is_text(kind):
        return cells.cast(pyarrow.float64()).to_numpy().astype(np.float64)
    flat = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    if hasattr(flat, "dictionary_decode"):
        flat = flat.dictionary_decode()
    encoded = flat.dictionary_encode()  # in order of first appearance, null apart
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    if isinstance(column, Target) and (indices < 0).any():
        raise CellError(int(np.flatnonzero(indices < 0)[0]), "the label is missing")
    try:
        distinct = column.encode([category_name(value).strip() for value in encoded.dictionary.to_pylist()], missing)
    except CellError as error:
        raise CellError(int(np.flatnonzero(indices == error.row)[0]), str(error)) from None
    return distinct[indices] if isinstance(column, Target) else np.append(distinct, math.nan)[indices]


def read_array(path: str | Path, dimensions: int, rows: int | None = None) -> np.ndarray:
    """The array of a file, packed or not, or its first `rows` entries along the first dimension."""
    with naming_damage(path), open_unpacked(path) as file:
        head = file.read(4)
        if head != bytes([0, 0, UNSIGNED_BYTES, dimensions]):
            wanted = f"0 0 {UNSIGNED_BYTES} {dimensions}"
            raise ValueError(f"{path}: starts with {' '.join(map(str, head))}, where an IDX file has {wanted}")
        sizes = file.read(4 * dimensions)
        if len(sizes) < 4 * dimensions:
            raise ValueError(f"{path}: ends within its {dimensions} sizes")
        shape = np.frombuffer(sizes, dtype=">u4").tolist()
        whole = rows is None or rows >= shape[0]
        if rows is not None:
            shape[0] = min(rows, shape[0])
        expected = math.prod(shape)
        content = file.read(expected + whole)  # one byte more would be one too many
    if len(content) != expected:
        more = "more" if len(content) > expected else f"{len(content)}"
        raise ValueError(f"{path}: holds {more} bytes of values, where its sizes say {expected}")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def read_images(images: str | Path, labels: str | Path, rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Images [n, height, width] and labels [n], both bytes."""
    pixels, digits = read_array(images, 3, rows), read_array(labels, 1, rows)
    if len(pixels) != len(digits):
        raise ValueError(f"{images} holds {len(pixels)} images, but {labels} {len(digits)} labels")
    return pixels, digits


def as_examples(pixels: np.ndarray, digits: np.ndarray) -> tuple[Table, np.ndarray]:
    """One row per image, line by line, features r0c0, r0c1, ...; values 0 to 255 as they are, labels integers."""
    _, height, width = pixels.shape
    features = [Feature(f"r{row}c{column}") for row in range(height) for column in range(width)]
    return Table(pixels.reshape(len(pixels), -1), features), digits.astype(np.int64)
