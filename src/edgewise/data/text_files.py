"""Text files: delimited (comma, semicolon, tab or blanks; with or without a header; quoted or not), and LIBSVM."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import IO

import numpy as np

from edgewise.data.columns import (
    PROBE_ROWS,
    Examples,
    Options,
    Schema,
    Target,
    is_integer,
    is_number,
    kind_of_classes,
    make_schema,
    probe_rows,
)
from edgewise.data.opening import decode, is_blank, open_text, take_lines
from edgewise.data.table import Feature, Table

# Tab and semicolon first: where they cut every line alike, commas are decimal commas or text.
DELIMITERS = ("\t", ";", ",", " ")
SNIFFED_LINES = 50


def csv_chunks(path: str, options: Options, chunk_rows: int) -> Iterator[Examples]:
    """Examples of delimited text in chunks of `chunk_rows` (the last may be shorter)."""
    with open_text(path) as file:
        schema, delimiter, header_ends = _probe_csv(path, file, options)
    with open_text(path) as file:
        lines = enumerate(file, 1)
        list(islice(lines, header_ends))
        while block := take_lines(lines, chunk_rows):
            if any(b'"' in line for _, line in block):
                # A quoted cell may hold delimiters and line ends: from here on, record by record.
                records = read_records(path, chain(block, lines), delimiter)
                while rows := list(islice(records, chunk_rows)):
                    yield schema.encode_rows([row for _, row in rows], [number for number, _ in rows])
                return
            encoded = schema.encode_lines([line for _, line in block if not is_blank(line)], delimiter)
            if encoded is None:
                rows = list(read_records(path, block, delimiter))
                encoded = schema.encode_rows([row for _, row in rows], [number for number, _ in rows])
            yield encoded


def read_records(path: str, lines: Iterable[tuple[int, bytes]], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a file, each with the number of the line that it starts on."""
    numbers: list[int] = []

    def text() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            decoded = decode(path, number, line)
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


def _probe_csv(path: str, file: IO[bytes], options: Options) -> tuple[Schema, str, int]:
    """Kinds of columns, delimiter, and the line that the header ends on (0: no header), from the first rows."""
    lines = enumerate(file, 1)
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
    return make_schema(path, names, width, options, samples), delimiter, header_ends


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


def libsvm_chunks(path: str, options: Options, chunk_rows: int) -> Iterator[Examples]:
    """Examples of LIBSVM text in chunks of `chunk_rows` (the last may be shorter).

    A line is `LABEL INDEX:VALUE ...`, indices from 1 and rising, values left out are 0. The rows become dense. Without
    `n_features` the file is read once beforehand for its largest index, so that every chunk has the same features;
    feature x0 is index 1.
    """
    target, n_features = _probe_libsvm(path, options)
    features = tuple(Feature(f"x{column}") for column in range(n_features))
    with open_text(path) as file:
        rows = _tokens(path, file)
        while block := list(islice(rows, chunk_rows)):
            values = np.zeros((len(block), n_features))
            labels = []
            for row, (number, tokens) in enumerate(block):
                index = 0
                for place, token in enumerate(tokens, 1):
                    try:
                        if place == 1:
                            labels.append(target.label(token, options.missing))
                        else:
                            index, value = _pair(token, index, n_features)
                            values[row, index - 1] = value
                    except ValueError as error:
                        raise ValueError(f"{path}, line {number}, column {place}: {error}") from None
            yield Table(values, features), target.array(labels)


def _probe_libsvm(path: str, options: Options) -> tuple[Target, int]:
    """The kind of the labels, and the number of features: that of the options, else the largest index in the file."""
    labels: list[str] = []
    largest = 0
    with open_text(path) as file:
        for _, tokens in _tokens(path, file):
            if len(labels) < PROBE_ROWS:
                labels.append(tokens[0])
            elif options.n_features is not None:
                break
            index = tokens[-1].partition(":")[0] if len(tokens) > 1 else ""
            if index.isdecimal():  # indices rise, so the last is the largest; `_pair` refuses a row where it is not
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
    for number, line in enumerate(file, 1):
        content = line.partition(b"#")[0]
        if not is_blank(content.expandtabs()):
            yield number, decode(path, number, content, "ASCII").split()


def _pair(token: str, before: int, n_features: int) -> tuple[int, float]:
    """Index and value that a token of a row holds, after the index `before`."""
    index, colon, value = token.partition(":")
    if not colon or not index.isdecimal() or not is_number(value):
        raise ValueError(f"{token!r} is not INDEX:VALUE")
    position = int(index)
    if position <= before:
        wanted = "start at 1" if before == 0 else f"rise, but {before} came before"
        raise ValueError(f"index {position}, where indices must {wanted}")
    if position > n_features:
        raise ValueError(f"index {position} is above the {n_features} features")
    return position, float(value)
