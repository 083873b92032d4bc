"""The models that `edgewise race` knows by name, declared in models.toml.

A model is asked for as `name[:edge][@preset]`: `olm`, `mbbm:0.05`, `olm@paper`, `mbbm:0.1@paper`. Peers, learners of
other libraries, go by the library's name and theirs: `capymoa-arf`.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import edgewise
from edgewise.data.table import Feature, Table
from edgewise.evaluation import peers

PRESETS = ("paper",)


class Entry(NamedTuple):
    """A kind of model: what `edgewise models` prints, and how one is made."""

    algorithm: str
    description: str
    estimator: str  # the name of a class in `edgewise`, or among the adapters of a library
    settings: dict[str, Any]
    takes_edge: bool = False
    ranks: bool = False  # learns label sets and ranks the labels, instead of guessing one
    bandit: bool = False  # learns whether its guess was right, never the label
    library: str | None = None  # whose it is, if it is a peer
    sized: bool = True  # has a number of learners

    def build(self, n_learners: int, seed: int | None, preset: str | None = None, **further: Any) -> Any:
        estimator = getattr(edgewise if self.library is None else peers, self.estimator)
        settings = {**self.settings, **further, "random_state": seed}
        if self.sized:
            settings["n_estimators"] = n_learners
        return estimator(**settings) if preset is None else estimator.preset(preset, **settings)

    def missing(self) -> str | None:
        """What a peer lacks on this machine, in words; None if it can race."""
        if self.library is None:
            return None
        if not _installed(self.library):
            return f"{self.library} is not installed (pip install edgewise[peers])"
        if self.library == "capymoa" and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
            return "CapyMOA needs Java 17 or newer, and there is no java on the PATH and no JAVA_HOME"
        return None


def _read_known() -> dict[str, Entry]:
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: Entry(**{"settings": {}, **entry}) for name, entry in declared.items()}


KNOWN = _read_known()
MODELS = {name: entry for name, entry in KNOWN.items() if entry.library is None}
PEERS = {name: entry for name, entry in KNOWN.items() if entry.library is not None}


@dataclass(frozen=True)
class ModelSpec:
    """A model asked for by name; `str(spec)` is the name in tables, files and pictures."""

    name: str
    edge: float | None = None
    preset: str | None = None
    rate: float | None = None  # of exploration, for a bandit

    @classmethod
    def parse(cls, text: str, preset: str | None = None) -> ModelSpec:
        """Read a model as the command line names it.

        Parameters
        ----------
        text : str
            `name[:edge][@preset]`.
        preset : str, optional
            Used where the text names none.

        Returns
        -------
        ModelSpec
            The model asked for.
        """
        rest, at, own_preset = text.strip().partition("@")
        name, colon, edge_text = rest.partition(":")
        if name not in KNOWN:
            raise ValueError(f"unknown model {name!r}; {suggestion(name, KNOWN)}")
        if at and own_preset not in PRESETS:
            raise ValueError(f"{text}: unknown preset {own_preset!r}; there is: {', '.join(PRESETS)}")
        if colon and not KNOWN[name].takes_edge:
            takers = ", ".join(known for known, entry in KNOWN.items() if entry.takes_edge)
            raise ValueError(f"{text}: {name} takes no edge; those that do: {takers}")
        if KNOWN[name].library is not None:
            if at:
                raise ValueError(f"{text}: {name} is not edgewise's and has no preset")
            preset = None
        return cls(name, _edge(edge_text, text) if colon else None, own_preset if at else preset)

    def make(self, n_learners: int, seed: int | None) -> Any:
        """The model.

        Parameters
        ----------
        n_learners : int
            Number of weak learners.
        seed : int, optional
            Its `random_state`.

        Returns
        -------
        model
            A new one.
        """
        further = {} if self.edge is None else {"edge": self.edge}
        if KNOWN[self.name].bandit and self.rate is not None:
            further["exploration"] = self.rate
        return KNOWN[self.name].build(n_learners, seed, self.preset, **further)

    def __str__(self) -> str:
        edge = "" if self.edge is None else f":{self.edge:g}"
        return f"{self.name}{edge}" + (f"@{self.preset}" if self.preset else "")


def suggestion(name: str, known: Any) -> str:
    """Words for an error message: the names closest to a mistyped one, or all there are."""
    close = difflib.get_close_matches(name.lower(), list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"


def _edge(text: str, whole: str) -> float:
    try:
        edge = float(text)
    except ValueError:
        edge = float("nan")
    if not 0 < edge < 1:
        raise ValueError(f"{whole}: the edge {text!r} is not a number between 0 and 1")
    return edge


def _installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


# Kind of feedback -> its models, whose kernels `edgewise warmup` compiles.
FAMILIES: dict[str, tuple[str, ...]] = {
    "labels": ("AdaBoostOLM", "OnlineMBBM", "OzaBoost", "HoeffdingForest", "OneVsAllOLM", "AdaOVA"),
    "rankings": ("AdaOLMR", "OnlineBMR"),
    "bandits": ("AdaBandit", "BanditBBM", "BinBandit"),
    "numbers": ("StreamingGradientBoostingRegressor", "StreamingGradientBoostingClassifier"),
    "batch": ("AdaBoostMM", "OptimalStrategy", "AdaBoostM1", "AdaBoostMH", "SAMME"),
}


def compile_family(family: str, progress: Callable[[str], Any] = str) -> None:
    """Compile the kernels of a family, or load them, by learning a few made-up rows with each of its models.

    `progress` is called with the name of each model.
    """
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=(40, 2)), rng.integers(3, size=40)])
    table = Table(columns, [Feature("number"), Feature("other"), Feature("kind", ("a", "b", "c"))])
    labels = np.arange(40) % 3
    for name in FAMILIES[family]:
        progress(name)
        model = getattr(edgewise, name)(n_estimators=2)
        match family:
            case "labels":
                model.prequential(table, labels)
                model.predict_proba(table)
            case "rankings":
                model.prequential(table, np.eye(4, dtype=int)[labels])
                model.rank(table)
            case "bandits":
                model.prequential(table, labels)
                model.feedback(model.decide(table[:1]), True)
            case "numbers":
                model.prequential(table, labels if name.endswith("Classifier") else labels / 3.0)
                model.predict(table)
            case "batch":
                model.fit(table, labels).predict(table)
