"""What is written down of a data set, and of each of its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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

    A multi-label set has `labels`, which are the columns of its indicator matrix, and two parts, for training and for
    testing, with `part_rows` rows; its `class_counts` say how many rows each label is relevant in, if that is known.
    """

    name: str
    title: str
    features: int
    class_counts: Mapping[Any, int]
    files: tuple[DataFile, ...]
    source: str
    citation: str = UCI_CITATION
    in_order: bool = False  # True: the order of the rows is time, and shuffling would destroy it
    substitute: DataFile | None = None  # one file that stands for all `files` where these can not be downloaded
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    spare_rows: int = 0  # rows of the files that preparing leaves out
    labels: tuple[str, ...] = ()
    part_rows: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        return sum(self.part_rows) if self.labels else sum(self.class_counts.values())

    @property
    def train_rows(self) -> int:
        """The rows of the training part, which come first: all of them where a set has no such parts."""
        return self.part_rows[0] if self.labels else self.rows

    @property
    def classes(self) -> int:
        return len(self.labels or self.class_counts)

    @property
    def urls(self) -> tuple[str, ...]:
        files = (*self.files, *([self.substitute] if self.substitute else []))
        return tuple(file.url for file in files if file.url)
