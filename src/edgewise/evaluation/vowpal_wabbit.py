"""Vowpal Wabbit's contextual bandit beside ours: the same stream, the same feedback (`pip install edgewise[peers]`).

An action is a class and costs 1 if it is wrong. So that it is seen at its best, numbers are standardized by the rows
so far, categories are features of their own, and features are also taken in pairs (`-q ::`): without the first it
hardly learns Mice; without the last it has .83 of the last fifth of Car right instead of .94 (rows six times, rate
.05). Missing values are left out. Costs are modeled by regression on the shown actions (`--cb_type mtr`, its default,
which did best).
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.parameters import Parameterized
from edgewise.streams.table import Table, as_table
from edgewise.streams.targets import first_classes, label_codes

EXPLORERS = {
    "squarecb": "--squarecb",  # Foster and Rakhlin 2020: the more a label is worth by the model, the likelier
    "epsilon": "--epsilon {rate}",  # as (2) of Zhang et al. 2018, but that all labels share the rate
}
# What would end or split a feature in Vowpal Wabbit's text.
RESERVED = str.maketrans({" ": "_", ":": "_", "|": "_", "\t": "_", "\n": "_", "\r": "_"})


def installed() -> bool:
    return importlib.util.find_spec("vowpalwabbit") is not None


class VowpalWabbitBandit(Parameterized):
    """A contextual bandit of Vowpal Wabbit (`--cb_explore`) that replays a labeled stream, as our bandits do.

    Parameters
    ----------
    explorer : str
        "squarecb" or "epsilon".
    exploration : float
        The rate of "epsilon".
    random_state : int or Generator, optional
        Seed of the draws.
    """

    def __init__(self, explorer: str = "squarecb", exploration: float = 0.05, random_state: Any = None) -> None:
        self.explorer = explorer
        self.exploration = exploration
        self.random_state = random_state

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Show a label, hear right or wrong, learn, row by row; the labels shown."""
        labels = np.asarray(y)
        if not hasattr(self, "classes_"):
            self._start(first_classes(classes, labels))
        codes = label_codes(labels, self.classes_)
        shown = np.zeros(codes.size, np.int64)
        for row, text in enumerate(example_texts(self._scale(as_table(X)))):
            probabilities = np.array(self._workspace.predict(text))
            action = int(np.searchsorted(probabilities.cumsum(), self._rng.random() * probabilities.sum(), "right"))
            shown[row] = action = min(action, self.classes_.size - 1)
            cost = float(action != codes[row])
            self._workspace.learn(f"{action + 1}:{cost}:{probabilities[action]} {text}")
        return self.classes_[shown]

    def _scale(self, table: Table) -> Table:
        """Numbers less their mean, over their standard deviation, of all rows up to theirs; at most 5 in size."""
        numeric = [feature.categories is None for feature in table.features]
        values = table.values[:, numeric]
        if not len(table):
            return table
        if not hasattr(self, "_moments"):
            first = np.nan_to_num(values[:1])  # subtracted from all, so that squares do not swamp the differences
            self._first, self._moments = first, np.zeros((3, values.shape[1]))
        here = ~np.isnan(values)
        shifted = np.where(here, values - self._first, 0.0)
        sums = np.cumsum([here, shifted, shifted**2], axis=1) + self._moments[:, None]
        self._moments = sums[:, -1]
        count = np.maximum(sums[0], 1.0)
        mean = sums[1] / count
        deviation = np.sqrt(np.maximum(sums[2] / count - mean**2, 0.0))
        scaled = np.where(deviation > 0.0, (shifted - mean) / np.where(deviation > 0.0, deviation, 1.0), 0.0)
        out = table.values.copy()
        out[:, numeric] = np.where(here, np.clip(scaled, -5.0, 5.0), np.nan)
        return Table(out, table.features)

    def _start(self, classes: np.ndarray) -> None:
        if self.explorer not in EXPLORERS:
            raise ValueError(f"explorer={self.explorer!r}: one of {', '.join(EXPLORERS)}")
        if not 0.0 < self.exploration < 1.0:
            raise ValueError(f"exploration={self.exploration!r}: a rate strictly between 0 and 1")
        try:
            import vowpalwabbit
        except ImportError:
            raise ValueError("vowpalwabbit is not installed: pip install edgewise[peers]") from None
        how = EXPLORERS[self.explorer].format(rate=self.exploration)
        self._workspace = vowpalwabbit.Workspace(f"--cb_explore {classes.size} {how} --cb_type mtr -q :: --quiet")
        self._rng = np.random.default_rng(self.random_state)
        self.classes_ = classes


class VowpalWabbitSpec(NamedTuple):
    """An entry to a race, as `edgewise.evaluation.models.ModelSpec` is one."""

    explorer: str
    rate: float | None = None

    def make(self, n_learners: int, seed: int | None) -> VowpalWabbitBandit:
        """Vowpal Wabbit does not boost: `n_learners` says nothing to it."""
        rate = {} if self.rate is None else {"exploration": self.rate}
        return VowpalWabbitBandit(self.explorer, random_state=seed, **rate)

    def __str__(self) -> str:
        return f"vw-{self.explorer}"


def example_texts(table: Table) -> list[str]:
    """Examples in Vowpal Wabbit's text: `| f0:2.5 f1=red`.

    A name that is a bare number would be taken as an index of the weights, where the actions' weights then overlap.
    """
    columns = []
    for number, feature in enumerate(table.features):
        values = table.values[:, number].tolist()
        if feature.categories is None:
            cells = ["" if math.isnan(value) else f" f{number}:{value!r}" for value in values]
        else:
            names = [f" f{number}={name.translate(RESERVED)}" for name in feature.categories]
            cells = ["" if math.isnan(value) else names[int(value)] for value in values]
        columns.append(cells)
    return ["|" + "".join(row) for row in zip(*columns, strict=True)]
