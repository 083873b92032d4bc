"""The log of a bandit: every decision with its propensity, and the feedback when it comes, if it comes.

    with DecisionLog("decisions.jsonl", model.classes_) as log:
        decision = model.decide(x)
        log.write(decision)
        ...
        model.feedback(decision, correct)
        log.feedback(decision, correct)

    logged = read_log("decisions.jsonl")    # arrays, for `edgewise.evaluation.off_policy`

A log is only ever appended to, so feedback stands on its own and is joined to its decision when the log is read, by
id: it belongs to the newest decision with that id above it, because a model that goes on from an older save gives ids
out again. Of several feedbacks the first counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from edgewise.data.table import Feature, Rows, Table, as_table
from edgewise.evaluation.decision_storage import Event, open_log, read_events


class DecisionLog:
    """Where decisions and feedback are appended: JSON Lines (`.jsonl`) or a folder of Parquet parts (`.parquet`).

    JSON Lines are flushed with every event; Parquet holds up to 1,000 events until `flush` or `close`.

    Parameters
    ----------
    path : str or path
        Where the log is; the format is that of its ending. A log that exists is continued.
    classes : array
        The labels that a decision may show, in the order of its probabilities.
    """

    def __init__(self, path: str | os.PathLike[str], classes: Any) -> None:
        self.classes = [_plain(label) for label in np.asarray(classes).tolist()]
        if len(set(self.classes)) != len(self.classes) or len(self.classes) < 2:
            raise ValueError(f"classes={self.classes!r}: at least 2 different labels")
        self._storage = open_log(path, self.classes)

    def write(self, decision: Any) -> None:
        """Append a decision: its id, label, propensity, probabilities and features.

        Parameters
        ----------
        decision : Decision
            What `decide` of a bandit gave.
        """
        label, propensity = _plain(decision.label), float(decision.propensity)
        probabilities = np.asarray(decision.probabilities, np.float64)
        if label not in self.classes:
            raise ValueError(f"label {label!r}: this log knows {self.classes!r}")
        if not 0.0 < propensity <= 1.0:
            raise ValueError(f"propensity={propensity!r}: what was shown had a probability in (0, 1]")
        if probabilities.shape != (len(self.classes),) or not np.isfinite(probabilities).all():
            raise ValueError(f"probabilities={probabilities!r}: one number for each of {len(self.classes)} classes")
        self._storage.append(
            {
                "event": "decision",
                "id": int(decision.id),
                "label": label,
                "propensity": propensity,
                "probabilities": probabilities.tolist(),
                "features": named_features(decision.features),
            }
        )

    def write_many(self, decisions: Iterable[Any]) -> None:
        """Append several decisions.

        Parameters
        ----------
        decisions : iterable of Decision
            In this order.
        """
        for decision in decisions:
            self.write(decision)

    def feedback(self, decision: Any, correct: bool) -> None:
        """Append the feedback to a decision, given by itself or by its id.

        Parameters
        ----------
        decision : Decision or int
            The decision, or its id.
        correct : bool
            Whether it was right.
        """
        number = decision if isinstance(decision, int | np.integer) else decision.id
        self._storage.append({"event": "feedback", "id": int(number), "correct": bool(correct)})

    def flush(self) -> None:
        """Write what is still held."""
        self._storage.flush()

    def close(self) -> None:
        """Write what is still held, and end."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class LoggedDecisions:
    """A log as arrays, a row for each decision in the order in which they were made."""

    ids: np.ndarray
    X: Table
    classes: np.ndarray
    actions: np.ndarray
    """Position in `classes` of the label that was shown."""
    propensities: np.ndarray
    """Probability with which it was shown."""
    probabilities: np.ndarray
    """Probabilities [n, k] of all labels."""
    rewards: np.ndarray
    """1: the label was right; 0: it was wrong; NaN: no feedback."""
    repeated: int = 0
    """Feedback that came again, and was ignored."""
    unmatched: int = 0
    """Feedback to decisions that the log does not have."""

    def __len__(self) -> int:
        return self.ids.size

    def __getitem__(self, rows: Rows) -> LoggedDecisions:
        """Some of the decisions."""
        at = np.atleast_1d(np.arange(len(self))[rows])
        return LoggedDecisions(
            self.ids[at],
            self.X[at],
            self.classes,
            self.actions[at],
            self.propensities[at],
            self.probabilities[at],
            self.rewards[at],
        )

    def answered(self) -> LoggedDecisions:
        """The decisions that got their feedback."""
        return self[~np.isnan(self.rewards)]


def read_log(path: str | os.PathLike[str]) -> LoggedDecisions:
    """A log as arrays, feedback joined to decisions. A last line that was cut off is left out with a warning.

    Parameters
    ----------
    path : str or path
        Where the file is.

    Returns
    -------
    LoggedDecisions
        Rows, labels shown, propensities, probabilities and rewards.
    """
    stored = read_events(path)
    decisions: list[Event] = []
    rewards: list[float] = []
    newest: dict[int, int] = {}
    codes = {label: code for code, label in enumerate(stored.classes)}
    repeated = unmatched = 0
    for place, event in stored.events:
        _check_event(place, event, codes, decisions[0] if decisions else None)
        if event["event"] == "decision":
            newest[event["id"]] = len(decisions)
            decisions.append(event)
            rewards.append(np.nan)
        elif event["id"] not in newest:
            unmatched += 1
        elif np.isnan(rewards[newest[event["id"]]]):
            rewards[newest[event["id"]]] = float(event["correct"])
        else:
            repeated += 1
    if not decisions:
        raise ValueError(f"{os.fspath(path)}: no decisions in this log")
    return LoggedDecisions(
        ids=np.array([event["id"] for event in decisions], np.int64),
        X=_table(decisions),
        classes=np.array(stored.classes),
        actions=np.array([codes[event["label"]] for event in decisions], np.int64),
        propensities=np.array([event["propensity"] for event in decisions], np.float64),
        probabilities=np.array([event["probabilities"] for event in decisions], np.float64),
        rewards=np.array(rewards),
        repeated=repeated,
        unmatched=unmatched,
    )


def named_features(row: Any) -> dict[str, float | str | None]:
    """An example as names and values: numbers, texts, None where missing. Columns without names are x0, x1, ..."""
    if isinstance(row, Mapping):
        table = _renamed(as_table([list(row.values())]), [str(name) for name in row])
    else:
        flat = isinstance(row, list | tuple) or getattr(row, "ndim", 2) == 1
        table = as_table([list(row)] if flat else row)
    if len(table) != 1:
        raise ValueError(f"features of {len(table)} rows: a decision is about one")
    values: dict[str, float | str | None] = {}
    for feature, value in zip(table.features, table.values[0], strict=True):
        number = float(value)
        if np.isnan(number):
            values[feature.name] = None
        else:
            values[feature.name] = number if feature.categories is None else feature.categories[int(number)]
    return values


def _table(decisions: list[Event]) -> Table:
    names = list(decisions[0]["features"])
    cells = np.empty((len(decisions), len(names)), object)
    for row, event in enumerate(decisions):
        cells[row] = [event["features"].get(name) for name in names]
    return _renamed(as_table(cells), names)


def _renamed(table: Table, names: list[str]) -> Table:
    return Table(table.values, [Feature(name, old.categories) for name, old in zip(names, table.features, strict=True)])


def _check_event(place: str, event: Event, codes: Mapping[Any, int], first: Event | None) -> None:
    """ValueError unless an event has the fields of its kind and fits to the classes and to the first decision."""
    number = event.get("id")
    if not isinstance(number, int):
        raise ValueError(f"{place}: id={number!r}: not a whole number")
    if event.get("event") == "feedback":
        if not isinstance(event.get("correct"), bool):
            raise ValueError(f"{place}: correct={event.get('correct')!r}: true or false")
        return
    if event.get("event") != "decision":
        raise ValueError(f"{place}: event={event.get('event')!r}: decision or feedback")
    label, propensity, probabilities = (event.get(name) for name in ("label", "propensity", "probabilities"))
    if isinstance(label, list | dict) or label not in codes:
        raise ValueError(f"{place}: label={label!r}: one of {list(codes)!r}")
    if not (isinstance(propensity, float | int) and 0.0 < propensity <= 1.0):
        raise ValueError(f"{place}: propensity={propensity!r}: a number in (0, 1]")
    numbers = [isinstance(value, float | int) for value in probabilities] if isinstance(probabilities, list) else []
    if len(numbers) != len(codes) or not all(numbers):
        raise ValueError(f"{place}: probabilities={probabilities!r}: one for each of {len(codes)} classes")
    if not isinstance(event.get("features"), dict):
        raise ValueError(f"{place}: the decision has no features")
    if first is not None and not set(event["features"]) <= set(first["features"]):
        odd = sorted(set(event["features"]) - set(first["features"]))
        raise ValueError(f"{place}: features {odd} that the first decision of the log does not have")


def _plain(label: Any) -> str | int | float | bool:
    """A label as JSON has it."""
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float | bool):
        raise ValueError(f"label {value!r}: a log takes text, numbers and booleans, not {type(value).__name__}")
    return value
