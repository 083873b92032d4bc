"""How a cell is run. A game is a function of a module of this folder, named in `GAMES`:

    play(job: Job) -> Record

It plays one job (data set, model, settings, seed) and gives the measures and the CPU seconds of learning, without
compiling and reading of data. The source of its module is part of the code version under which a record is kept; what
else of edgewise decides its results, besides the folders of the compiled kernels, is named in `SOURCES` of the module:
files or folders ("batch", "neural/rules.py").
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from edgewise.data import datasets

GAMES = {
    "labels": ("labels", "play"),
    "best_tree": ("labels", "play_best_tree"),
    "ranking": ("labels", "play_ranking"),
    "batch": ("batch", "play"),
    "networks": ("networks", "play"),
    "regret": ("regret", "play"),
    "potentials": ("potentials", "play"),
    "pair_potentials": ("potentials", "play_pairs"),
}
WARM_UP = 10  # rows on which a model of the same kind compiles the kernels


class Job(NamedTuple):
    """One run: everything that decides its outcome, in plain JSON values."""

    game: str
    data: str | None  # as `edgewise.datasets` calls it
    model: dict[str, Any]  # a `class` and its arguments; {}: the game needs none
    settings: dict[str, Any]  # of the game
    seed: int
    rows: int | None  # the first so many rows of the order; None: all


class Record(NamedTuple):
    """What a run found; curves are made by `curve`."""

    measures: dict[str, float]
    seconds: float
    curves: list[dict[str, Any]] = []  # noqa: RUF012


def game_of(name: str) -> Callable[[Job], Record]:
    """The function that plays a game."""
    if name not in GAMES:
        raise ValueError(f"game {name!r}: no such game; there are {', '.join(GAMES)}")
    module, function = GAMES[name]
    play: Callable[[Job], Record] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    return play


def make(model: dict[str, Any], **arguments: Any) -> Any:
    """The object that a declaration describes: {"class": "AdaBoostOLM", "preset": "paper", "n_estimators": 10}."""
    import edgewise

    settings = {name: _made(value) for name, value in model.items() if name not in ("class", "preset")} | arguments
    kind = getattr(edgewise, model["class"])
    return kind.preset(model["preset"], **settings) if "preset" in model else kind(**settings)


def _made(value: Any) -> Any:
    if isinstance(value, dict):
        return make(value) if "class" in value else {name: _made(inner) for name, inner in value.items()}
    return tuple(_made(inner) for inner in value) if isinstance(value, list) else value


@lru_cache(maxsize=2)
def load(name: str) -> tuple[Any, np.ndarray]:
    """Examples and labels of a data set, kept for the next job: those of a set come one after the other."""
    table, y = datasets.load(name)
    return table, np.asarray(y)


def timed(job: Job, method: str, X: Any, y: np.ndarray, **further: Any) -> tuple[np.ndarray, float]:
    """What a method of the job's model gives for all rows, and its CPU seconds, compiling left out."""
    getattr(make(job.model, random_state=job.seed), method)(X[:WARM_UP], y[:WARM_UP], **further)
    model = make(job.model, random_state=job.seed)
    before = time.process_time()
    found = getattr(model, method)(X, y, **further)
    return found, time.process_time() - before


def curve(kind: str, x_label: str, y_label: str, series: Sequence[tuple[str, Any, Any]]) -> dict[str, Any]:
    """A `results.Curve` less data and algorithm, of lines (name, x, y); five digits, None where y is not finite."""
    lines = [
        {
            "name": name,
            "x": [int(value) if value == int(value) else float(value) for value in x],
            "y": [float(f"{value:.5g}") if math.isfinite(value) else None for value in y],
        }
        for name, x, y in series
    ]
    return {"kind": kind, "x_label": x_label, "y_label": y_label, "series": lines}
