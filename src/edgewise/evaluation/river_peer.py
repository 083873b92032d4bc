"""Forests of river in a race: rows become dicts before the clock starts; categories are text, missing cells absent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table
from edgewise.evaluation.peer import Peer

LEARNERS = ("ARFClassifier", "SRPClassifier", "LeveragingBaggingClassifier")


class RiverPeer(Peer):
    """A forest of river with its own defaults; river takes text for nominal by itself.

    Parameters
    ----------
    learner : str
        Its class.
    n_estimators : int
        Number of trees.
    random_state : int, optional
        Its seed.
    """

    def __init__(
        self, learner: str = "ARFClassifier", n_estimators: int = 100, random_state: int | None = None
    ) -> None:
        self.learner = learner
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _start(self, features: tuple[Feature, ...], classes: np.ndarray) -> None:
        from river import ensemble, forest, tree

        settings: dict[str, Any] = {"n_models": self.n_estimators, "seed": self.random_state}
        self._model: Any
        if self.learner == "ARFClassifier":
            self._model = forest.ARFClassifier(**settings)
        elif self.learner == "SRPClassifier":
            self._model = ensemble.SRPClassifier(**settings)
        elif self.learner == "LeveragingBaggingClassifier":
            self._model = ensemble.LeveragingBaggingClassifier(tree.HoeffdingTreeClassifier(), **settings)
        else:
            raise ValueError(f"learner={self.learner!r}: one of {', '.join(LEARNERS)}")

    def _rows(self, table: Table, codes: np.ndarray) -> list[dict[str, Any]]:
        categories = [feature.categories for feature in table.features]
        return [
            {
                f"a{column}": value if names is None else names[int(value)]
                for column, (value, names) in enumerate(zip(values, categories, strict=True))
                if not math.isnan(value)
            }
            for values in table.values.tolist()
        ]

    def _play(self, rows: list[dict[str, Any]], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = self._model
        votes = np.zeros((len(rows), self.classes_.size))
        for row, (x, code) in enumerate(zip(rows, codes.tolist(), strict=True)):
            for label, vote in model.predict_proba_one(x).items():
                votes[row, label] = vote
            model.learn_one(x, code)
        return votes.argmax(axis=1), votes
