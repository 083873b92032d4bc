"""Plain delimited lines to examples by pyarrow's parser: the fast way, for blocks without quotes or escapes.

What this accepts, `Schema.encode_rows` reads to the same values; what this refuses goes there, which reads it or names
the bad cell. So which way a block takes never shows in the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgewise.data.columns import CellError, Schema, has_number
from edgewise.data.table import Table

# Importing pyarrow takes as long as reading so much without it.
FAST_BYTES = 200_000


def encode_lines(schema: Schema, lines: Sequence[bytes], delimiter: str) -> tuple[Table, np.ndarray] | None:
    """Lines (each with its line end) as examples, or None if this way can not read them."""
    # A number that stands for "missing" would be read as a number where blanks surround it.
    if sum(map(len, lines)) < FAST_BYTES or has_number(schema.missing):
        return None
    import pyarrow
    from pyarrow import csv

    if delimiter == " ":
        lines = [b" ".join(line.split()) + b"\n" for line in lines]
    block = b"".join(lines)
    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = {str(column.position): pyarrow.float64() if column.index is None else text for column in schema.columns}
    types |= {str(target.position): text for target in schema.targets}
    try:
        read = csv.read_csv(
            pyarrow.BufferReader(block),
            csv.ReadOptions(
                column_names=[str(position) for position in range(schema.width)],
                use_threads=False,
                block_size=len(block) + 1,
            ),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, double_quote=False),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=list(schema.missing),
                strings_can_be_null=False,
            ),
        )
        values = np.empty((len(lines), len(schema.columns)))
        for j, column in enumerate(schema.columns):
            cells = read.column(str(column.position)).combine_chunks()
            if column.index is None:
                values[:, j] = cells.to_numpy(zero_copy_only=False)
            else:
                indices, distinct = _dictionary(cells)
                values[:, j] = column.codes(distinct, schema.missing)[indices]
        labels = []
        for target in schema.targets:
            indices, distinct = _dictionary(read.column(str(target.position)).combine_chunks())
            labels.append(target.encode(distinct, schema.missing)[indices])
    except (pyarrow.ArrowInvalid, CellError, ValueError):
        return None
    return Table(values, schema.features()), schema.joined(labels)


def _dictionary(cells: object) -> tuple[np.ndarray, list[str]]:
    """Indices and distinct values, in order of first appearance, of a dictionary-encoded column."""
    indices = cells.indices.to_numpy(zero_copy_only=False)  # type: ignore[attr-defined]
    return indices, [value.strip() for value in cells.dictionary.to_pylist()]  # type: ignore[attr-defined]
