"""The data sets known by name, declared in registry.toml: what they are, their files, and how the files are read.

Checksums are those of the files as stored (packed or not) and of their content; where a download is in another form,
whose checksum is not known, `substitute` says so, and the loaded rows and class counts are checked instead.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

UCI_CITATION = "Dua and Graff, UCI Machine Learning Repository, University of California, Irvine"


@dataclass(frozen=True)
class DataFile:
    """A file of a data set. `sha256` is that of the file named, `content_sha256` that of what it unpacks to."""

    name: str
    sha256: str | None = None
    content_sha256: str | None = None
    url: str | None = None
    member: str | None = None  # the name inside the zip that `url` points to
    by_hand: str | None = None  # where to get what can not be downloaded from here


@dataclass(frozen=True)
class Dataset:
    """What is known of a data set. `class_counts` maps each label to its number of rows.

    A multi-label set has `labels`, which name the columns of its indicator matrix; its `class_counts` say how many rows
    each label is relevant in, if that is known. A set with real targets has no `class_counts`.
    """

    name: str
    title: str
    features: int
    class_counts: Mapping[Any, int]
    files: tuple[DataFile, ...]
    source: str
    citation: str = UCI_CITATION
    in_order: bool = False  # True: the order of the rows is time, and shuffling would destroy it
    substitute: DataFile | None = None  # one file in place of all `files` where these can not be downloaded
    options: dict[str, Any] = field(default_factory=dict, repr=False)  # of `edgewise.read`
    spare_rows: int = 0  # rows of the files that preparing leaves out
    train_rows: int | None = None  # the first rows, so many, are for training, the others for testing
    labels: tuple[str, ...] = ()
    total_rows: int | None = None  # of a set whose class counts do not sum to it: label sets, real targets

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.class_counts.values()) if self.total_rows is None else self.total_rows

    @property
    def classes(self) -> int:
        """How many labels there are; 0 for real targets."""
        return len(self.labels or self.class_counts)

    @property
    def all_files(self) -> tuple[DataFile, ...]:
        """The files, and the substitute for them if there is one."""
        return self.files if self.substitute is None else (*self.files, self.substitute)

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the files are downloaded from."""
        return tuple(file.url for file in self.all_files if file.url)


def _dataset(name: str, declared: dict[str, dict[str, Any]]) -> Dataset:
    """A declared data set; what it leaves out is that of the set that it is `like`."""
    entry = declared[name]
    entry = {**declared.get(entry.get("like", ""), {}), **entry}
    labels, classes, counts = (_names(entry.pop(key, [])) for key in ("labels", "classes", "counts"))
    return Dataset(
        name=name,
        class_counts=dict(zip(labels or classes, counts, strict=True)) if counts else {},
        files=tuple(map(_file, entry.pop("files"))),
        substitute=_file(entry.pop("substitute")) if "substitute" in entry else None,
        options={
            key: _names(value) if isinstance(value, list) else value for key, value in entry.pop("options", {}).items()
        },
        labels=labels,
        **{key: value for key, value in entry.items() if key != "like"},
    )


def _file(entry: dict[str, str]) -> DataFile:
    return DataFile(**({"content_sha256": entry["sha256"]} if "sha256" in entry else {}) | entry)


def _names(entries: list[Any]) -> tuple[Any, ...]:
    """The entries of a list, with "f{1..3}" as f1, f2, f3, and "{a..b}{1..2}" as a1, a2, b1, b2."""
    names: list[Any] = []
    for entry in entries:
        span = re.search(r"\{(\w+)\.\.(\w+)\}", entry) if isinstance(entry, str) else None
        if span is None:
            names.append(entry)
        elif span[1].isdigit():
            numbers = range(int(span[1]), int(span[2]) + 1)
            names += _names([entry.replace(span[0], str(number), 1) for number in numbers])
        else:
            letters = map(chr, range(ord(span[1]), ord(span[2]) + 1))
            names += _names([entry.replace(span[0], letter, 1) for letter in letters])
    return tuple(names)


def _read_declared() -> dict[str, Dataset]:
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: _dataset(name, declared) for name in declared}


SETS = _read_declared()
