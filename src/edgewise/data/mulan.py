"""Multi-label data in the format of MULAN: an ARFF file, and an XML file that names which attributes are labels.

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
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from edgewise.data import arff
from edgewise.data.files import read
from edgewise.data.opening import DAMAGED, PACKED, open_unpacked, unpacked_name
from edgewise.data.table import Table

MOST_NAMES = 5


def read_mulan(
    path: str | os.PathLike[str], xml: str | os.PathLike[str] | None = None, *, rows: int | None = None
) -> tuple[Table, np.ndarray, tuple[str, ...]]:
    """Examples, the indicator matrix of their labels, and the names of the labels.

    Raises ValueError with file, line and column for a cell that is not 0 or 1 in a label, and with the names for labels
    that the ARFF does not have.

    Parameters
    ----------
    path : str or path
        The ARFF file; it may be packed (.gz, .xz, .bz2).
    xml : str or path, optional
        The file that names the labels. By default the one beside `path` with the same name but for `.xml`; -train
        and -test may be left out of its name.
    rows : int, optional
        How many rows to read; all by default.

    Returns
    -------
    (Table, array, tuple of str)
        Rows, indicators [n, k] (int8), names of the k columns.
    """
    place = Path(path)
    if not place.is_file():
        raise FileNotFoundError(f"{place}: no such file")
    header = place_of_labels(place) if xml is None else Path(xml)
    declared = label_names(header)
    try:
        attributes = [attribute.name for attribute in arff.attributes_of(str(place))]
    except DAMAGED as error:
        raise ValueError(f"{place}: the packed data are damaged or cut short ({error})") from None
    unknown = [name for name in declared if name not in attributes]
    if unknown:
        raise ValueError(f"{header} names labels that {place} does not have as attributes: {_some(unknown)}")
    chosen = [name for name in attributes if name in set(declared)]
    table, Y = read(place, format="arff", labels=chosen, rows=rows)
    return table, Y, tuple(chosen)


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
    place = Path(path)
    if not place.is_file():
        raise FileNotFoundError(f"{place}: no such file")
    try:
        with open_unpacked(place) as file:
            root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise ValueError(f"{place}, line {line}, column {column + 1}: not XML ({reason})") from None
    except DAMAGED as error:
        raise ValueError(f"{place}: the packed data are damaged or cut short ({error})") from None
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


def _tag(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_NAMES]))
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"
