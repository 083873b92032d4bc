"""How a cell is run. A game is a module of this folder with a function

    play(job: Job) -> Record

It plays one job (data set, model, settings, seed) and tells the measures and the CPU seconds of learning, without
compiling and reading of data. The game's own source is part of the code version under which a record is kept; a module
whose results depend on other packages than the compiled kernels names them in `SOURCES` ("batch", "neural").
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, NamedTuple


class Job(NamedTuple):
    """One run: everything that decides its outcome, in plain JSON values."""

    game: str
    data: str | None  # as `edgewise.datasets` calls it
    model: dict[str, Any]  # a `class` and its arguments; {}: the game needs none
    settings: dict[str, Any]  # of the game
    seed: int
    rows: int | None  # the first so many rows of the order; None: all


class Record(NamedTuple):
    """What a run found. Curves are as in `results.Curve`, less data and algorithm:
    {"kind", "x_label", "y_label", "series": [{"name", "x", "y"}]}."""

    measures: dict[str, float]
    seconds: float
    curves: list[dict[str, Any]] = []  # noqa: RUF012


def module_of(game: str) -> ModuleType:
    """The module of a game."""
    if not game.isidentifier():
        raise ValueError(f"game {game!r}: no such game")
    try:
        return importlib.import_module(f"edgewise.reproduction.games.{game}")
    except ModuleNotFoundError as error:
        if error.name != f"edgewise.reproduction.games.{game}":
            raise
        raise ValueError(f"game {game!r}: no such game") from None


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
