"""Vowpal Wabbit beside ours, on the same stream: one against all, and its contextual bandit (the extra `peers`).

So that it is seen at its best, numbers are standardized by the rows so far, categories are features of their own, and
missing values are left out. One against all (`--oaa`) learns with the logistic loss, as its probabilities need.

For the bandit an action is a class and costs 1 if it is wrong, and features are also taken in pairs (`-q ::`): without
standardizing it hardly learns Mice; without pairs it has .83 of the last fifth of Car right instead of .94 (rows six
times, rate .05). Costs are modeled by regression on the shown actions (`--cb_type mtr`, its default, which did best).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table, as_table
from edgewise.data.targets import first_classes, label_codes
from edgewise.evaluation.peer import Peer
from edgewise.parameters import Parameterized

EXPLORERS = {
    "squarecb": "--squarecb",  # Foster and Rakhlin 2020: the more a label is worth by the model, the likelier
    "epsilon": "--epsilon {rate}",  # as (2) of Zhang et al. 2018, but that all labels share the rate
}
# What would end or split a feature in Vowpal Wabbit's text.
RESERVED = str.maketrans({" ": "_", ":": "_", "|": "_", "\t": "_", "\n": "_", "\r": "_"})


class RunningScale:
    """Numbers less their mean, over their standard deviation, of all rows up to theirs; at most 5 in size."""

    def __init__(self) -> None:
        self._moments: np.ndarray | None = None  # count, sum and sum of squares by column

    def __call__(self, table: Table) -> Table:
        """The next rows, scaled."""
        numeric = [feature.categories is None for feature in table.features]
        values = table.values[:, numeric]
        if not len(table):
            return table
        if self._moments is None:
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


class VowpalWabbitPeer(Peer):
    """Vowpal Wabbit's online linear model, one against all.

    Parameters
    ----------
    pairs : bool
        Whether features are also taken in pairs (`-q ::`).
    random_state : int, optional
        Its random seed.
    """

    def __init__(self, pairs: bool = False, random_state: int | None = None) -> None:
        self.pairs = pairs
        self.random_state = random_state

    def _start(self, features: tuple[Feature, ...], classes: np.ndarray) -> None:
        seed = "" if self.random_state is None else f" --random_seed {int(self.random_state)}"
        pairs = " -q ::" if self.pairs else ""
        self._workspace = _workspace(f"--oaa {classes.size} --loss_function logistic --probabilities{pairs}{seed}")
        self._scale = RunningScale()

    def _rows(self, table: Table, codes: np.ndarray) -> list[str]:
        return example_texts(self._scale(table))

    def _play(self, rows: list[str], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        predict, learn = self._workspace.predict, self._workspace.learn
        votes = np.zeros((len(rows), self.classes_.size))
        for row, (text, code) in enumerate(zip(rows, codes.tolist(), strict=True)):
            votes[row] = predict(text)
            learn(f"{code + 1} {text}")
        return votes.argmax(axis=1), votes


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

    def _start(self, classes: np.ndarray) -> None:
        if self.explorer not in EXPLORERS:
            raise ValueError(f"explorer={self.explorer!r}: one of {', '.join(EXPLORERS)}")
        if not 0.0 < self.exploration < 1.0:
            raise ValueError(f"exploration={self.exploration!r}: a rate strictly between 0 and 1")
        how = EXPLORERS[self.explorer].format(rate=self.exploration)
        self._workspace = _workspace(f"--cb_explore {classes.size} {how} --cb_type mtr -q ::")
        self._scale = RunningScale()
        self._rng = np.random.default_rng(self.random_state)
        self.classes_ = classes


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


def _workspace(arguments: str) -> Any:
    try:
        import vowpalwabbit
    except ImportError:
        raise ValueError("vowpalwabbit is not installed: pip install edgewise[peers]") from None
    return vowpalwabbit.Workspace(f"{arguments} --quiet")
