"""From finished runs to a `Reproduction`: means over seeds beside the paper's values, and curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edgewise.evaluation.racing import mean
from edgewise.reproduction.cache import Kept
from edgewise.reproduction.declarations import Algorithm, Data, Measure
from edgewise.reproduction.planning import Options, said_of_quick, words_of
from edgewise.reproduction.results import (
    HIGHER,
    Cell,
    Curve,
    Environment,
    Measured,
    Missing,
    Reproduction,
    Series,
)
from edgewise.reproduction.running import Plan, Run


def reproductions(run: Run) -> list[Reproduction]:
    """What a run has found so far, a reproduction for each declaration."""
    return [Assembly(plan, run).reproduction() for plan in run.plans]


class Assembly:
    """One declaration's share of a run."""

    def __init__(self, plan: Plan, run: Run) -> None:
        self._plan = plan
        self._declared = plan.declared
        self._options: Options = run.options
        self._kept: dict[tuple[str, str], list[Kept]] = {
            place: [run.kept[task.key] for task in tasks if task.key in run.kept] for place, tasks in plan.tasks.items()
        }
        self._failed = {
            f"{data}, {algorithm}, seed {task.job.seed}": run.failed[task.key]
            for (data, algorithm), tasks in plan.tasks.items()
            for task in tasks
            if task.key in run.failed
        }

    def reproduction(self) -> Reproduction:
        declared = self._declared
        planned = sum(map(len, self._plan.tasks.values()))
        finished = sum(map(len, self._kept.values()))
        failures = [Missing(what, f"failed: {error}") for what, error in self._failed.items()]
        missing = [*self._plan.missing, *failures]
        return Reproduction(
            declared.id,
            declared.title,
            declared.paper,
            declared.what,
            list(declared.departures),
            self._settings(),
            self._cells(),
            [*self._curves(), *self._across()],
            missing,
            self._environment(),
            not missing and finished == planned,
        )

    # -- the table ---------------------------------------------------------------------------------------------------

    def _cells(self) -> list[Cell]:
        played = [line for line in self._plan.lines if line.algorithm in self._declared.algorithms]
        return [
            self._cell(line.data, line.algorithm, measure) for measure in self._declared.measures for line in played
        ]

    def _cell(self, data: Data, algorithm: Algorithm, measure: Measure) -> Cell:
        source, note = algorithm.name, ""
        if algorithm.best_of:
            source, note = self._best(data, algorithm, measure)
        place = (data.printed_as, algorithm.name)
        return Cell(
            data.name,
            algorithm.name,
            measure.title,
            measure.better,
            self._measured(data.name, source, measure.name),
            self._declared.printed[measure.name].get(place),
            self._declared.paper_seconds.get(place),
            len(self._plan.tasks.get((data.name, source), ())),
            self._measured(data.name, algorithm.defaults, measure.name) if algorithm.defaults else None,
            algorithm.defaults,
            note,
        )

    def _best(self, data: Data, algorithm: Algorithm, measure: Measure) -> tuple[str, str]:
        """The algorithm with the best mean of those that have run on this set."""
        means = {name: self._measured(data.name, name, measure.name) for name in algorithm.best_of}
        found = {name: value.mean for name, value in means.items() if value is not None}
        if not found:
            return algorithm.best_of[0], ""
        best = (max if measure.better == HIGHER else min)(found, key=lambda name: found[name])
        return best, f"best: {best}"

    def _measured(self, data: str, algorithm: str, measure: str) -> Measured | None:
        records = [kept.record for kept in self._kept.get((data, algorithm), ()) if measure in kept.record.measures]
        if not records:
            return None
        seconds = mean([record.seconds for record in records]).value
        return Measured.of(mean([record.measures[measure] for record in records]), len(records), seconds)

    # -- the curves --------------------------------------------------------------------------------------------------

    def _curves(self) -> list[Curve]:
        """Means over seeds; the kinds that the declaration shows, in its order."""
        return [
            mean_curve(data, algorithm, group)
            for kind in self._declared.curves
            for (data, algorithm), found in self._kept.items()
            for group in _grouped([curve for kept in found for curve in kept.record.curves if curve["kind"] == kind])
        ]

    def _across(self) -> list[Curve]:
        """Lines whose points are algorithms; those of one picture together."""
        pictures: dict[tuple[str, str], Curve] = {}
        for line in self._declared.across:
            for data in dict.fromkeys(each.data.name for each in self._plan.lines):
                values = {x: self._measured(data, name, line.measure) for x, name in line.points}
                points = {x: value.mean for x, value in values.items() if value is not None}
                if points:
                    empty = Curve(line.kind, data, line.curve, line.x_label, line.y_label, [])
                    series = Series(line.name, list(points), list(points.values()))
                    pictures.setdefault((data, line.curve), empty).series.append(series)
        return list(pictures.values())

    # -- the rest ----------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, str]:
        told = {}
        sets = {line.data.name: line.data for line in self._plan.lines}
        for data in sets.values():
            facts = [data.preparation.rstrip("."), *(f"{name} {value}" for name, value in data.settings.items())]
            facts += [f"{name}: {_changes(changes)}" for name, changes in data.changes.items()]
            told[f"data {data.name}"] = "; ".join(fact for fact in (data.load, *facts) if fact)
        for algorithm in (*self._declared.algorithms, *self._declared.defaults.values()):
            facts = [words_of(algorithm.model)] if algorithm.model else []
            facts += [f"{name} {value}" for name, value in algorithm.settings.items()]
            facts += [f"best of {', '.join(algorithm.best_of)}"] if algorithm.best_of else []
            told[f"algorithm {algorithm.name}"] = "; ".join(facts)
        return told

    def _environment(self) -> Environment:
        every = [kept for found in self._kept.values() for kept in found]
        versions: dict[str, str] = {}
        for kept in every:
            for name, version in kept.versions.items():
                versions[name] = _joined([*versions.get(name, "").split(" and "), version])
        return Environment(
            _joined([kept.machine for kept in every]),
            versions,
            _joined([kept.kernels for kept in every]),
            said_of_quick(self._declared, self._options),
            sum(kept.record.seconds for kept in every),
            max((kept.date for kept in every), default=""),
        )


def mean_curve(data: str, algorithm: str, curves: Sequence[dict[str, Any]]) -> Curve:
    """The mean of curves over the same x, seed by seed; none where one of them has none."""
    first = curves[0]
    series = []
    for number, line in enumerate(first["series"]):
        columns = zip(*(curve["series"][number]["y"] for curve in curves), strict=True)
        y = [None if None in column else float(f"{sum(column) / len(column):.5g}") for column in columns]
        series.append(Series(line["name"], line["x"], y))
    return Curve(first["kind"], data, algorithm, first["x_label"], first["y_label"], series)


def _grouped(curves: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Curves with the same axes, lines and x: those of the seeds of one picture."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for curve in curves:
        axes = [curve["x_label"], curve["y_label"], [(line["name"], line["x"]) for line in curve["series"]]]
        groups.setdefault(str(axes), []).append(curve)
    return list(groups.values())


def _changes(changes: Any) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in changes.items())


def _joined(values: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(value for value in values if value))
