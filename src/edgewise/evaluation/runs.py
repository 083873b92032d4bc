"""A finished run and its JSON file.

The file is strict JSON (no NaN, no Infinity) with a format name and a version, so that an old file keeps its reader:

    {"format": "edgewise-runs", "version": 1, "runs": [{"model": "olm", "data": "car", ...}]}
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

FORMAT = "edgewise-runs"
VERSION = 1

Label = str | int | float | bool


class Quality(NamedTuple):
    """A measure by which runs are compared: its field, its heading, and which of two values is better."""

    field: str
    heading: str
    best: Callable[[Iterable[float]], float] = max


@dataclass(frozen=True)
class Curve:
    """A learning curve: at each row number, the measure in the window ending there and over all rows so far."""

    rows: list[int]
    windowed: list[float]
    cumulative: list[float]


@dataclass(frozen=True, kw_only=True)
class StreamRun:
    """One model over one stream in one order, every row predicted, then learned: what runs of all kinds have."""

    measure: ClassVar[str]  # what the learning curve shows
    qualities: ClassVar[tuple[Quality, ...]]  # the first is the measure over all rows

    model: str
    data: str
    seed: int | None
    order: str  # "shuffled" or "file"
    learners: int | None
    rows: int
    features: int
    last_fifth: float
    curve: Curve
    cpu_seconds: float  # of the learning loop alone: no compiling, no reading of data
    wall_seconds: float
    model_bytes: int | None
    peak_bytes: int | None  # most memory the process ever held, earlier runs in it included
    versions: dict[str, str]
    restarts: list[int] = dataclasses.field(default_factory=list)  # rows after which a learner began anew

    @property
    def overall(self) -> float:
        """The measure over all rows."""
        return float(getattr(self, self.qualities[0].field))

    @property
    def reference(self) -> tuple[str, float]:
        """What would be had without looking at the examples, in words and as a number."""
        raise TypeError(f"{type(self).__name__} does not say what it is compared with")

    @property
    def rows_per_second(self) -> float:
        """Rows per second of CPU time, which other work on the machine does not change much."""
        return self.rows / max(self.cpu_seconds, 1e-9)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this run as JSON.

        Parameters
        ----------
        path : str or path
            Where to write.
        """
        save_runs([self], path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that holds one run.

        Parameters
        ----------
        path : str or path
            What `save` wrote.
        """
        runs = load_runs(path)
        if len(runs) != 1:
            raise ValueError(f"{os.fspath(path)}: holds {len(runs)} runs, not 1; use load_runs")
        if not isinstance(runs[0], cls):
            raise ValueError(f"{os.fspath(path)}: holds a {type(runs[0]).__name__}, not a {cls.__name__}")
        return runs[0]


@dataclass(frozen=True, kw_only=True)
class Run(StreamRun):
    """A run over single labels: every row is guessed, then learned."""

    measure = "accuracy"
    qualities = (
        Quality("accuracy", "all rows"),
        Quality("last_fifth", "last fifth"),
        Quality("kappa", "kappa"),
        Quality("log_loss", "log-loss", min),
    )

    classes: list[Label]
    accuracy: float
    kappa: float
    recall: list[float | None]  # by class; None for a class that never came
    confusion: list[list[int]]  # [true][guessed]
    log_loss: float | None = None  # of models that give probabilities

    @property
    def reference(self) -> tuple[str, float]:
        """The accuracy of always saying the commonest class."""
        return "always the commonest class", max(map(sum, self.confusion)) / self.rows


@dataclass(frozen=True, kw_only=True)
class RankingRun(StreamRun):
    """A run over label sets: the labels of every row are ranked by their scores, then its relevant ones are learned.

    The measures are those of `ranking_measures`; `by_frequency` is the rank loss of the fixed order of labels from the
    commonest to the rarest, and `without_pairs` of the rows could not be ranked wrongly.
    """

    measure = "rank loss"
    qualities = (
        Quality("rank_loss", "rank loss", min),
        Quality("last_fifth", "last fifth", min),
        Quality("one_error", "one-error", min),
        Quality("coverage", "coverage", min),
        Quality("average_precision", "precision"),
    )

    labels: int
    rank_loss: float
    hinge: float
    logistic: float
    one_error: float
    coverage: float
    average_precision: float
    by_frequency: float
    without_pairs: int

    @property
    def reference(self) -> tuple[str, float]:
        """The rank loss of always ranking the commonest labels first."""
        return "always the commonest labels first", self.by_frequency


def save_runs(runs: Sequence[StreamRun], path: str | os.PathLike[str]) -> None:
    """Write runs as JSON; a reader sees the old file or the new one, never half of one.

    Parameters
    ----------
    runs : sequence of runs
        What `evaluate` or `race` gave.
    path : str or path
        Where to write.
    """
    document = {"format": FORMAT, "version": VERSION, "runs": [dataclasses.asdict(run) for run in runs]}
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def load_runs(path: str | os.PathLike[str]) -> list[StreamRun]:
    """Read what `save_runs` wrote.

    Parameters
    ----------
    path : str or path
        Where the file is.

    Returns
    -------
    list of runs
        `Run` and `RankingRun`.
    """
    name = os.fspath(path)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_constant)
    except ValueError as error:
        raise ValueError(f"{name}: not a file of runs: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f'{name}: not a file of runs: it lacks "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise ValueError(f"{name}: version {document.get('version')!r} of the format; this edgewise reads {VERSION}")
    records = document.get("runs")
    if not isinstance(records, list):
        raise ValueError(f'{name}: "runs" is not a list')
    return [_run(record, f"{name}: run {number}") for number, record in enumerate(records, start=1)]


def _run(record: Any, where: str) -> StreamRun:
    kind = RankingRun if isinstance(record, dict) and "rank_loss" in record else Run
    expected = {field.name for field in dataclasses.fields(kind)}
    if isinstance(record, dict):
        # Files older than drift and log-loss lack them.
        record = {"restarts": [], **({"log_loss": None} if kind is Run else {}), **record}
    if not isinstance(record, dict) or set(record) != expected:
        odd = sorted(expected.symmetric_difference(record)) if isinstance(record, dict) else [type(record).__name__]
        raise ValueError(f"{where}: fields missing or unknown: {', '.join(map(str, odd))}")
    try:
        return kind(**{**record, "curve": Curve(**record["curve"])})
    except TypeError as error:
        raise ValueError(f"{where}: curve: {error}") from error


def _no_constant(token: str) -> float:
    raise ValueError(f"{token} is not JSON")
