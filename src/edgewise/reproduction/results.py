"""What a reproduction found, whole or in part: one plain value, and its JSON file.

The file is strict JSON (no NaN, no Infinity) with a format name and a version:

    {"format": "edgewise-reproductions", "version": 1, "reproductions": [{"id": "000/table-3", ...}]}

`difference` and `worse` of a cell are in the file for its readers, but are computed, never read: what is marked follows
from the numbers alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.evaluation.racing import Mean

FORMAT = "edgewise-reproductions"
VERSION = 1
CURVE_KINDS = ("learning", "edge", "weight", "bound", "cost", "error")
HIGHER, LOWER = "higher", "lower"


class Measured(NamedTuple):
    """A mean over seeds, its standard error (None with one seed), the seeds, and the mean CPU seconds of a run."""

    mean: float
    error: float | None
    seeds: int
    seconds: float | None

    @classmethod
    def of(cls, value: Mean, seeds: int, seconds: float | None) -> Measured:
        return cls(value.value, value.error, seeds, seconds)


class Cell(NamedTuple):
    """One line of a table: a data set, an algorithm, a measure; ours beside the paper's."""

    data: str
    algorithm: str
    measure: str  # in words: "accuracy, last fifth"
    better: str  # which value is better, HIGHER or LOWER
    ours: Measured | None  # None: not run yet, or could not be
    paper: float | None  # None: the paper prints none
    paper_seconds: float | None
    planned_seeds: int  # more than `ours.seeds` in a partial result
    defaults: Measured | None = None  # the same with this library's defaults
    defaults_name: str | None = None  # what these are: "AdaBoostOLM()"
    note: str = ""  # about this line alone: the setting that was best, say

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.ours is None or self.paper is None else self.ours.mean - self.paper

    @property
    def worse(self) -> bool:
        """Whether ours is worse than the paper's by more than two standard errors.

        One seed has no standard error: then whatever is worse at all is marked.
        """
        if self.difference is None or self.ours is None:
            return False
        loss = -self.difference if self.better == HIGHER else self.difference
        return loss > 2.0 * (self.ours.error or 0.0)


class Series(NamedTuple):
    """A named line: y at each x, None where there is none (a bound that is infinite, say)."""

    name: str
    x: list[float]
    y: list[float | None]


class Curve(NamedTuple):
    """A picture: lines over one pair of axes. `kind` is one of CURVE_KINDS."""

    kind: str
    data: str
    algorithm: str
    x_label: str
    y_label: str
    series: list[Series]


class Missing(NamedTuple):
    """What was left out (a data set, an extra, a cell that failed), and how to get it."""

    what: str
    how: str


class Environment(NamedTuple):
    """Where and with what it ran."""

    machine: str
    versions: dict[str, str]  # Python, edgewise, NumPy, ...
    kernels: str  # hash of the sources of the compiled kernels
    quick: str | None  # what --quick cut, in words; None: a full run
    cpu_seconds: float  # of all runs behind this table, the cached ones as well
    date: str  # of the newest run, ISO


class Reproduction(NamedTuple):
    """A table or figure of a paper, as far as it is done."""

    id: str  # "000/table-3"
    title: str
    paper: str  # citation
    what: str  # what it shows
    departures: list[str]  # from the paper, a sentence each
    settings: dict[str, str]  # in words: data sets with their preparation, algorithms with their parameters
    cells: list[Cell]
    curves: list[Curve]
    missing: list[Missing]
    environment: Environment
    complete: bool  # every run that was planned is there

    @property
    def worse(self) -> list[Cell]:
        """The cells that are worse than the paper's."""
        return [cell for cell in self.cells if cell.worse]


def as_json(reproductions: Sequence[Reproduction]) -> dict[str, Any]:
    """Reproductions as plain JSON values."""
    return {"format": FORMAT, "version": VERSION, "reproductions": [_plain(each) for each in reproductions]}


def save(reproductions: Sequence[Reproduction], path: Path) -> None:
    """Write the file at once: a reader never sees half of it."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(_text(as_json(reproductions)), encoding="utf-8")
    os.replace(partial, path)


def load(path: Path) -> list[Reproduction]:
    """The reproductions of a file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not a file of reproductions ({error})") from None
    if not isinstance(found, dict) or (found.get("format"), found.get("version")) != (FORMAT, VERSION):
        raise ValueError(f"{path}: not a file of reproductions: format {FORMAT!r}, version {VERSION} is expected")
    return [_reproduction(each) for each in found["reproductions"]]


def _text(plain: dict[str, Any]) -> str:
    """JSON with a line for each cell and each curve, so that two files can be compared."""

    def dumped(value: Any) -> str:
        if isinstance(value, list):
            return "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in value) + "\n]"
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    def pairs(values: dict[str, Any]) -> str:
        return ",\n".join(f"{json.dumps(name)}: {dumped(value)}" for name, value in values.items())

    head = {name: value for name, value in plain.items() if name != "reproductions"}
    each = ",\n".join("{\n" + pairs(found) + "\n}" for found in plain["reproductions"])
    return "{\n" + pairs(head) + ',\n"reproductions": [\n' + each + "\n]\n}\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Cell):
        told = {name: _plain(getattr(value, name)) for name in value._fields}
        return told | {"difference": value.difference, "worse": value.worse}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: _plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _reproduction(plain: dict[str, Any]) -> Reproduction:
    cells = [
        Cell(
            **{name: each[name] for name in Cell._fields if name not in ("ours", "defaults")},
            ours=each["ours"] and Measured(**each["ours"]),
            defaults=each["defaults"] and Measured(**each["defaults"]),
        )
        for each in plain["cells"]
    ]
    curves = [Curve(**each | {"series": [Series(**line) for line in each["series"]]}) for each in plain["curves"]]
    missing = [Missing(**each) for each in plain["missing"]]
    environment = Environment(**plain["environment"])
    return Reproduction(**plain | {"cells": cells, "curves": curves, "missing": missing, "environment": environment})
