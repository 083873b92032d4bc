"""What a reproduction found, whole or in part: one plain value, put together from finished runs, and its JSON file.

The file is strict JSON (no NaN, no Infinity) with a format name and a version:

    {"format": "edgewise-reproductions", "version": 1, "reproductions": [{"id": "000/table-3", ...}]}

`difference` and `worse` of a cell are in the file for its readers, but are computed, never read: what is marked follows
from the numbers alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from edgewise.evaluation.racing import mean
from edgewise.reproduction.declarations import HIGHER, Algorithm, Data, Measure
from edgewise.reproduction.planning import describe_model, describe_quick

if TYPE_CHECKING:
    from edgewise.reproduction.cache import Kept
    from edgewise.reproduction.running import BoosterConfig, Run


FORMAT = "edgewise-reproductions"
VERSION = 1


class Measured(NamedTuple):
    """A mean over seeds, its standard error (None with one seed), the seeds, and the mean CPU seconds of a run."""

    mean: float
    error: float | None
    seeds: int
    seconds: float | None


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
    """A picture: lines over one pair of axes. `kind` is one of `declarations.CURVE_KINDS`."""

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


Finished = dict[tuple[str, str], "list[Kept]"]  # (data, algorithm) -> what is kept of its seeds


def reproductions(run: Run) -> list[Reproduction]:
    """What a run has found so far, a reproduction for each declaration."""
    return [reproduction_of(plan, run) for plan in run.plans]


def reproduction_of(plan: BoosterConfig, run: Run) -> Reproduction:
    """What a run has found so far for one declaration."""
    declared = plan.declared
    finished = {
        place: [run.kept[task.key] for task in tasks if task.key in run.kept] for place, tasks in plan.tasks.items()
    }
    failures = [
        Missing(f"{data}, {algorithm}, seed {task.job.seed}", f"failed: {run.failed[task.key]}")
        for (data, algorithm), tasks in plan.tasks.items()
        for task in tasks
        if task.key in run.failed
    ]
    missing = [*plan.missing, *failures]
    return Reproduction(
        declared.id,
        declared.title,
        declared.paper,
        declared.what,
        list(declared.departures),
        _settings(plan),
        [
            _cell(plan, finished, line.data, line.algorithm, measure)
            for measure in declared.measures
            for line in plan.lines
            if line.algorithm in declared.algorithms
        ],
        [*_mean_curves(plan, finished), *_curves_across(plan, finished)],
        missing,
        _environment(finished, describe_quick(declared, run.options)),
        not missing and all(len(finished[place]) == len(tasks) for place, tasks in plan.tasks.items()),
    )


def _cell(plan: BoosterConfig, finished: Finished, data: Data, algorithm: Algorithm, measure: Measure) -> Cell:
    """A data set and an algorithm; of a best-of algorithm, the one with the best mean of those that have run."""
    source, note = algorithm.name, ""
    if algorithm.best_of:
        means = {name: _measured(finished, data.name, name, measure.name) for name in algorithm.best_of}
        values = [(found.mean, name) for name, found in means.items() if found is not None]
        source = algorithm.best_of[0]
        if values:
            source = (max if measure.better == HIGHER else min)(values, key=lambda value: value[0])[1]
            note = f"best: {source}"
    place = (data.printed_as, algorithm.name)
    return Cell(
        data.name,
        algorithm.name,
        measure.title,
        measure.better,
        _measured(finished, data.name, source, measure.name),
        plan.declared.printed[measure.name].get(place),
        plan.declared.paper_seconds.get(place),
        len(plan.tasks.get((data.name, source), ())),
        _measured(finished, data.name, algorithm.defaults, measure.name) if algorithm.defaults else None,
        algorithm.defaults,
        note,
    )


def _measured(finished: Finished, data: str, algorithm: str, measure: str) -> Measured | None:
    records = [kept.record for kept in finished.get((data, algorithm), ()) if measure in kept.record.measures]
    if not records:
        return None
    found = mean([record.measures[measure] for record in records])
    return Measured(found.value, found.error, len(records), mean([record.seconds for record in records]).value)


def _mean_curves(plan: BoosterConfig, finished: Finished) -> list[Curve]:
    """Means over seeds of the kinds that the declaration shows, in its order."""
    curves = []
    for kind in plan.declared.curves:
        for (data, algorithm), records in finished.items():
            # Curves with the same axes, lines and x are those of the seeds of one picture.
            pictures: dict[str, list[dict[str, Any]]] = {}
            for curve in (curve for kept in records for curve in kept.record.curves if curve["kind"] == kind):
                axes = [curve["x_label"], curve["y_label"], [(line["name"], line["x"]) for line in curve["series"]]]
                pictures.setdefault(str(axes), []).append(curve)
            curves += [mean_curve(data, algorithm, seeds) for seeds in pictures.values()]
    return curves


def mean_curve(data: str, algorithm: str, curves: Sequence[dict[str, Any]]) -> Curve:
    """The mean of curves over the same x, seed by seed; none where one of them has none."""
    first = curves[0]
    series = []
    for number, line in enumerate(first["series"]):
        columns = zip(*(curve["series"][number]["y"] for curve in curves), strict=True)
        y = [None if None in column else float(f"{sum(column) / len(column):.5g}") for column in columns]
        series.append(Series(line["name"], line["x"], y))
    return Curve(first["kind"], data, algorithm, first["x_label"], first["y_label"], series)


def _curves_across(plan: BoosterConfig, finished: Finished) -> list[Curve]:
    """Lines whose points are algorithms; those of one picture together."""
    pictures: dict[tuple[str, str], Curve] = {}
    for line in plan.declared.across:
        for data in dict.fromkeys(each.data.name for each in plan.lines):
            values = {x: _measured(finished, data, name, line.measure) for x, name in line.points}
            points = {x: value.mean for x, value in values.items() if value is not None}
            if points:
                empty = Curve(line.kind, data, line.curve, line.x_label, line.y_label, [])
                series = Series(line.name, list(points), list(points.values()))
                pictures.setdefault((data, line.curve), empty).series.append(series)
    return list(pictures.values())


def _settings(plan: BoosterConfig) -> dict[str, str]:
    """Data sets with their preparation, algorithms with their parameters, in words."""
    settings = {}
    for data in {line.data.name: line.data for line in plan.lines}.values():
        facts = [data.load, data.preparation.rstrip("."), *(f"{name} {value}" for name, value in data.settings.items())]
        for name, changes in data.changes.items():
            facts.append(f"{name}: {', '.join(f'{key}={value!r}' for key, value in changes.items())}")
        settings[f"data {data.name}"] = "; ".join(filter(None, facts))
    for algorithm in (*plan.declared.algorithms, *plan.declared.defaults.values()):
        facts = [describe_model(algorithm.model)] if algorithm.model else []
        facts += [f"{name} {value}" for name, value in algorithm.settings.items()]
        facts += [f"best of {', '.join(algorithm.best_of)}"] if algorithm.best_of else []
        settings[f"algorithm {algorithm.name}"] = "; ".join(filter(None, facts))
    return settings


def _environment(finished: Finished, quick: str | None) -> Environment:
    every = [kept for records in finished.values() for kept in records]
    names = dict.fromkeys(name for kept in every for name in kept.versions)
    return Environment(
        _joined(kept.machine for kept in every),
        {name: _joined(kept.versions.get(name, "") for kept in every) for name in names},
        _joined(kept.kernels for kept in every),
        quick,
        sum(kept.record.seconds for kept in every),
        max((kept.date for kept in every), default=""),
    )


def _joined(values: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(filter(None, values)))


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
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    def entry(name: str, value: Any) -> str:
        lines = "[\n" + ",\n".join(map(dumped, value)) + "\n]" if isinstance(value, list) else dumped(value)
        return f"{dumped(name)}: {lines}"

    head = [entry(name, value) for name, value in plain.items() if name != "reproductions"]
    each = ["{\n" + ",\n".join(entry(*item) for item in found.items()) + "\n}" for found in plain["reproductions"]]
    return "{\n" + ",\n".join(head) + ',\n"reproductions": [\n' + ",\n".join(each) + "\n]\n}\n"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        computed = {"difference": value.difference, "worse": value.worse} if isinstance(value, Cell) else {}
        return _plain(value._asdict() | computed)
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
