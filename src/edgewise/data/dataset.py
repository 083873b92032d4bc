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
    substitute: DataFile | None = None  # one file that stands for all `files` where these can not be downloaded
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    spare_rows: int = 0  # rows of the files that preparing leaves out
    train_rows: int | None = None  # where train and test are told apart: the first rows, so many, are for training
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
    def urls(self) -> tuple[str, ...]:
        """Where the files are downloaded from."""
        files = (*self.files, *([self.substitute] if self.substitute else []))
        return tuple(file.url for file in files if file.url)
