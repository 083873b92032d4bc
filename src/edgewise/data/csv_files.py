"""Delimited text: comma, semicolon, tab or blanks; with or without a header; quoted or not."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO

import numpy as np

from edgewise.data.blocks import encode_lines
from edgewise.data.columns import Options, Schema, is_number, make_schema, probe_rows
from edgewise.data.opening import is_blank, numbered_lines, open_text, take_lines
from edgewise.data.table import Table

# Tab and semicolon first: where they cut every line alike, commas are decimal commas or text.
DELIMITERS = ("\t", ";", ",", " ")
SNIFFED_LINES = 50


@dataclass(frozen=True)
class Layout:
    """What the head of a file shows: its delimiter, its names if it has a header, and where the data start."""

    delimiter: str
    names: list[str] | None
    width: int
    header_ends: int  # the line that the header ends on; 0 if there is none


def chunks(path: str, options: Options, chunk_rows: int) -> Iterator[tuple[Table, np.ndarray]]:
    """Examples in chunks of `chunk_rows` (the last may be shorter)."""
    with open_text(path) as file:
        layout, schema = probe(path, file, options)
    with open_text(path) as file:
        lines = numbered_lines(file)
        list(islice(lines, layout.header_ends))
        while block := take_lines(lines, chunk_rows):
            if any(b'"' in line for _, line in block):
                # A quoted cell may hold delimiters and line ends: from here on, record by record.
                records = read_records(path, chain(block, lines), layout.delimiter)
                while rows := list(islice(records, chunk_rows)):
                    yield schema.encode_rows([row for _, row in rows], [number for number, _ in rows])
                return
            encoded = encode_lines(schema, [line for _, line in block if not is_blank(line)], layout.delimiter)
            if encoded is None:
                rows = list(read_records(path, block, layout.delimiter))
                encoded = schema.encode_rows([row for _, row in rows], [number for number, _ in rows])
            yield encoded


def read_records(path: str, lines: Iterable[tuple[int, bytes]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a file, each with the number of the line that it starts on."""
    numbers: list[int] = []

    def text() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            try:
                decoded = line.decode("utf-8")
            except UnicodeDecodeError:
                raise ValueError(f"{path}, line {number}: not UTF-8 text") from None
            yield decoded.strip() if delimiter == " " else decoded

    reader = csv.reader(text(), delimiter=delimiter, skipinitialspace=True)
    while True:
        numbers.clear()
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"{path}, line {numbers[0]}: {error}") from None
        if len(row) > 1 or "".join(row).strip():
            yield numbers[0], row


def probe(path: str, file: IO[bytes], options: Options) -> tuple[Layout, Schema]:
    """Layout and kinds of columns, from the first rows of the file."""
    lines = numbered_lines(file)
    head = take_lines(lines, SNIFFED_LINES)
    if not head:
        raise ValueError(f"{path}: the file is empty")
    delimiter = options.delimiter or sniff_delimiter(path, head)
    records = read_records(path, chain(head, lines), delimiter)
    rows = list(islice(records, 1))
    rows += islice(records, probe_rows(len(rows[0][1])))
    data = [row for _, row in rows]
    names: list[str] | None = None
    header_ends = 0
    header = options.header
    if header == "auto":
        header = looks_like_header(data, options.missing)
    if header is True:
        names = [cell.strip() for cell in data.pop(0)]
        # The next record starts on a later line than the header ends on, or there is none.
        header_ends = rows[1][0] - 1 if len(rows) > 1 else rows[0][0]
    elif header is not False:
        names = [str(name) for name in header]
        if len(names) != len(data[0]):
            raise ValueError(f"{path}: header gives {len(names)} names, but the first row has {len(data[0])} fields")
    if not data:
        raise ValueError(f"{path}: no rows after the header")
    width = len(names) if names else len(data[0])
    # A row of another width is an error, raised when its turn comes.
    samples = list(zip(*(row for row in data if len(row) == width), strict=True)) or [()] * width
    schema = make_schema(path, names, width, options, samples)
    return Layout(delimiter, names, width, header_ends), schema


def sniff_delimiter(path: str, head: Sequence[tuple[int, bytes]]) -> str:
    """The delimiter that cuts the most of the first lines into as many fields as the first line, and more than one."""
    best, most = None, 0
    for delimiter in DELIMITERS:
        widths = [len(row) for _, row in read_records(path, head, delimiter)]
        agreeing = sum(width == widths[0] for width in widths)
        if widths[0] > 1 and agreeing > most:
            best, most = delimiter, agreeing
    if best is None:
        raise ValueError(
            f"{path}, line {head[0][0]}: 1 field only; the delimiter is none of comma, semicolon, tab, blank"
        )
    return best


def looks_like_header(rows: Sequence[Sequence[str]], missing: Sequence[str]) -> bool:
    """Whether the first row names the columns: distinct texts, above numbers or above none of the same texts."""
    first = [cell.strip() for cell in rows[0]]
    if len(set(first)) < len(first) or any(cell in missing or is_number(cell) for cell in first):
        return False
    below = list(zip(*(row for row in rows[1:] if len(row) == len(first)), strict=True))
    for column in below:
        present = [cell.strip() for cell in column if cell.strip() not in missing]
        if present and all(map(is_number, present)):
            return True
    return not any(name in map(str.strip, column) for name, column in zip(first, below, strict=False))
