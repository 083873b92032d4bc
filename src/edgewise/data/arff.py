"""ARFF, dense and sparse: numeric, nominal, string and date attributes.

Nominal attributes keep their declared values in the declared order; string and date attributes are nominal with
categories as they appear. In a sparse row, what is left out is 0, or the first declared value, as in Weka.

Multi-label data in the format of MULAN are an ARFF file, and an XML file that names which attributes are labels:

    <labels xmlns="http://mulan.sourceforge.net/labels">
      <label name="sports"><label name="tennis"/></label>
      <label name="politics"/>
    </labels>

Labels may stand anywhere among the attributes of the ARFF, and in another order than in the XML: the order is that of
the ARFF, as in MULAN. A hierarchy is flattened: a label within a label is one more label. (Tsoumakas,
Spyromitros-Xioufis, Vilcek and Vlahavas, Mulan: A Java Library for Multi-Label Learning, JMLR 12, 2011.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from edgewise.data.columns import Examples, Options, is_number, make_schema, probe_rows
from edgewise.data.opening import PACKED, decode, is_blank, naming_damage, open_text, open_unpacked, unpacked_name

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
FIELD = re.compile(rf"\s*({QUOTED}|[^,]*?)\s*(,|$)", re.DOTALL)
PAIR = re.compile(rf"\s*([0-9]+)\s+({QUOTED}|[^,]+?)\s*(,|$)", re.DOTALL)
NUMERIC = ("numeric", "real", "integer")
OPEN = ("string", "date")
MOST_NAMES = 5
SPECIAL = re.compile(rb"""['"\\{]""")


class Attribute(NamedTuple):
    """A declared attribute; `values` is None for a numeric one and empty for a string or date."""

    name: str
    values: tuple[str, ...] | None


def arff_chunks(path: str, options: Options, chunk_rows: int) -> Iterator[Examples]:
    """Examples of an ARFF file in chunks of `chunk_rows` (the last may be shorter)."""
    with open_text(path) as file:
        lines = _content(file)
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
        lines = _content(file)
        read_header(path, lines)
        while block := list(islice(lines, chunk_rows)):
            raw = [line for _, line in block]
            encoded = None if any(map(SPECIAL.search, raw)) else schema.encode_lines(raw, ",")
            if encoded is None:
                rows = [split_row(path, number, line, attributes) for number, line in block]
                encoded = schema.encode_rows(rows, [number for number, _ in block])
            yield encoded


def _content(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines that are neither blank nor comments, with their numbers."""
    return (
        (number, line)
        for number, line in enumerate(file, 1)
        if not is_blank(line) and not line.lstrip().startswith(b"%")
    )


def read_header(path: str, lines: Iterator[tuple[int, bytes]]) -> list[Attribute]:
    """The declared attributes; leaves `lines` at the first row."""
    attributes: list[Attribute] = []
    number = 0
    for number, line in lines:
        text = decode(path, number, line).strip()
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
    text = decode(path, number, line).strip()
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


def label_columns(path: Path, xml: Path) -> list[str]:
    """The attributes of an ARFF file that an XML file names as labels, in the order of the ARFF file."""
    declared = label_names(xml)
    with naming_damage(path), open_text(path) as file:
        attributes = [attribute.name for attribute in read_header(str(path), _content(file))]
    unknown = [name for name in declared if name not in attributes]
    if unknown:
        raise ValueError(f"{xml} names labels that {path} does not have as attributes: {_some(unknown)}")
    return [name for name in attributes if name in set(declared)]


def place_of_labels(path: str | os.PathLike[str]) -> Path:
    """The XML file that belongs to an ARFF file: music.xml beside music.arff, music-train.arff or music-test.arff."""
    place = Path(path)
    stem = Path(unpacked_name(place.name)).stem
    names = dict.fromkeys(f"{name}.xml" for name in (stem, re.sub(r"[-_](train|test)$", "", stem)))
    for name in names:
        for suffix in ("", *PACKED):
            if (found := place.with_name(name + suffix)).is_file():
                return found
    raise FileNotFoundError(f"{place}: no {' or '.join(names)} beside it, to say which attributes are labels")


def label_names(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names in an XML file of labels, nested ones after those around them."""
    from xml.etree import ElementTree

    place = Path(path)
    if not place.is_file():
        raise FileNotFoundError(f"{place}: no such file")
    try:
        with naming_damage(place), open_unpacked(place) as file:
            root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise ValueError(f"{place}, line {line}, column {column + 1}: not XML ({reason})") from None
    if _tag(root) != "labels":
        raise ValueError(f"{place}: <{_tag(root)}> where <labels> is expected around the labels")
    names: list[str] = []
    for element in root.iter():
        if _tag(element) == "label":
            name = element.get("name")
            if not name:
                raise ValueError(f"{place}: label {len(names) + 1} has no name")
            names.append(name)
    if not names:
        raise ValueError(f"{place}: no <label name=...> in it")
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"{place}: labels named more than once: {_some(twice)}")
    return tuple(names)


def _tag(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_NAMES]))
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"
