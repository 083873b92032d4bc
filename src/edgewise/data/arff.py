"""ARFF, dense and sparse: numeric, nominal, string and date attributes.

Nominal attributes keep their declared values in the declared order; string and date attributes are nominal with
categories as they appear. In a sparse row, what is left out is 0, or the first declared value, as in Weka.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from edgewise.data.blocks import encode_lines
from edgewise.data.columns import Options, is_number, make_schema, probe_rows
from edgewise.data.opening import is_blank, numbered_lines, open_text
from edgewise.data.table import Table

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
FIELD = re.compile(rf"\s*({QUOTED}|[^,]*?)\s*(,|$)", re.DOTALL)
PAIR = re.compile(rf"\s*([0-9]+)\s+({QUOTED}|[^,]+?)\s*(,|$)", re.DOTALL)
NUMERIC = ("numeric", "real", "integer")
OPEN = ("string", "date")
SPECIAL = re.compile(rb"""['"\\{]""")


class Attribute(NamedTuple):
    """A declared attribute; `values` is None for a numeric one and empty for a string or date."""

    name: str
    values: tuple[str, ...] | None


def chunks(path: str, options: Options, chunk_rows: int) -> Iterator[tuple[Table, np.ndarray]]:
    """Examples in chunks of `chunk_rows` (the last may be shorter)."""
    with open_text(path) as file:
        lines = _content(numbered_lines(file))
        attributes = read_header(path, lines)
        head = [
            split_row(path, number, line, attributes) for number, line in islice(lines, probe_rows(len(attributes)))
        ]
    if not head:
        raise ValueError(f"{path}: no rows after @data")
    names = [attribute.name for attribute in attributes]
    declared = {j: attribute.values or None for j, attribute in enumerate(attributes) if attribute.values is not None}
    # What is declared numeric stays so, whatever its cells look like: a cell that is no number is the error.
    samples = [[row[j] for row in head if len(row) == len(names) and is_number(row[j])] for j in range(len(names))]
    schema = make_schema(path, names, len(names), options, samples, declared)
    with open_text(path) as file:
        lines = _content(numbered_lines(file))
        read_header(path, lines)
        while block := list(islice(lines, chunk_rows)):
            raw = [line for _, line in block]
            encoded = None if any(map(SPECIAL.search, raw)) else encode_lines(schema, raw, ",")
            if encoded is None:
                rows = [split_row(path, number, line, attributes) for number, line in block]
                encoded = schema.encode_rows(rows, [number for number, _ in block])
            yield encoded


def attributes_of(path: str) -> list[Attribute]:
    """What the header of a file declares."""
    with open_text(path) as file:
        return read_header(path, _content(numbered_lines(file)))


def _content(lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Lines that are neither blank nor comments."""
    return ((number, line) for number, line in lines if not is_blank(line) and not line.lstrip().startswith(b"%"))


def _decode(path: str, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{path}, line {number}: not UTF-8 text") from None


def read_header(path: str, lines: Iterator[tuple[int, bytes]]) -> list[Attribute]:
    """The declared attributes; leaves `lines` at the first row."""
    attributes: list[Attribute] = []
    number = 0
    for number, line in lines:
        text = _decode(path, number, line)
        word = text.split(None, 1)[0].lower()
        if word == "@data":
            if not attributes:
                raise ValueError(f"{path}, line {number}: @data without any @attribute before it")
            return attributes
        if word == "@attribute":
            attributes.append(_attribute(path, number, text))
        elif word != "@relation":
            raise ValueError(f"{path}, line {number}: {word!r} where @relation, @attribute or @data is expected")
    raise ValueError(f"{path}: no @data line" if number else f"{path}: the file is empty")


def _attribute(path: str, number: int, text: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(text)
    kind = match[2].strip() if match else ""
    if match is None or not kind:
        raise ValueError(f"{path}, line {number}: expected @attribute NAME TYPE, got {text!r}")
    name = unquote(match[1])
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, tuple(split_fields(kind[1:-1])))
    word = kind.split(None, 1)[0].lower()
    if word in NUMERIC:
        return Attribute(name, None)
    if word in OPEN:
        return Attribute(name, ())
    known = "numeric, real, integer, string, date and {values}"
    raise ValueError(f"{path}, line {number}: attribute {name!r} has type {kind!r}; known types are {known}")


def unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
        return re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t", "r": "\r"}.get(escape[1], escape[1]), text)
    return text


def split_fields(text: str) -> list[str]:
    """Fields between commas, unquoted."""
    if not any(mark in text for mark in "'\"\\"):
        return [field.strip() for field in text.split(",")]
    fields, place = [], 0
    while True:
        match = FIELD.match(text, place)
        assert match is not None  # the pattern also takes whatever stands before the next comma
        fields.append(unquote(match[1]))
        if not match[2]:
            return fields
        place = match.end()


def split_row(path: str, number: int, line: bytes, attributes: list[Attribute]) -> list[str]:
    """The cells of a dense or sparse row, one per attribute."""
    text = _decode(path, number, line)
    if not text.startswith("{"):
        return split_fields(text)
    if not text.endswith("}"):
        raise ValueError(f"{path}, line {number}: a sparse row must end in '}}'")
    row = ["0" if attribute.values is None else (*attribute.values, "?")[0] for attribute in attributes]
    pairs, place = text[1:-1].strip(), 0
    while place < len(pairs):
        match = PAIR.match(pairs, place)
        if match is None or int(match[1]) >= len(row):
            pair = pairs[place:].split(",")[0].strip()
            raise ValueError(f"{path}, line {number}: {pair!r} is not INDEX VALUE with an index below {len(row)}")
        row[int(match[1])] = unquote(match[2])
        place = match.end()
    return row
