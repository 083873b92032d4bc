"""Compile ahead: every kernel that a family of models needs, by learning a few made-up rows with each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import edgewise
from edgewise.data.table import Feature, Table

ROWS, LEARNERS = 40, 2


def _table() -> Table:
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.normal(size=(ROWS, 2)), rng.integers(3, size=ROWS)])
    return Table(columns, [Feature("number"), Feature("other"), Feature("kind", ("a", "b", "c"))])


def _labels(name: str) -> None:
    model = getattr(edgewise, name)(n_estimators=LEARNERS)
    model.prequential(_table(), np.arange(ROWS) % 3)
    model.predict_proba(_table())


def _rankings(name: str) -> None:
    model = getattr(edgewise, name)(n_estimators=LEARNERS)
    model.prequential(_table(), np.eye(4, dtype=int)[np.arange(ROWS) % 3])
    model.rank(_table())


def _bandits(name: str) -> None:
    model = getattr(edgewise, name)(n_estimators=LEARNERS)
    model.prequential(_table(), np.arange(ROWS) % 3)
    decision = model.decide(_table()[:1])
    model.feedback(decision, True)


def _numbers(name: str) -> None:
    labels = np.arange(ROWS) % 3
    model = getattr(edgewise, name)(n_estimators=LEARNERS)
    model.prequential(_table(), labels if name.endswith("Classifier") else labels / 3.0)
    model.predict(_table())


def _batch(name: str) -> None:
    getattr(edgewise, name)(n_estimators=LEARNERS).fit(_table(), np.arange(ROWS) % 3).predict(_table())


# Kind of feedback -> its models, and how one of them is made to use its kernels.
FAMILIES: dict[str, tuple[tuple[str, ...], Callable[[str], None]]] = {
    "labels": (("AdaBoostOLM", "OnlineMBBM", "OzaBoost", "HoeffdingForest", "OneVsAllOLM", "AdaOVA"), _labels),
    "rankings": (("AdaOLMR", "OnlineBMR"), _rankings),
    "bandits": (("AdaBandit", "BanditBBM", "BinBandit"), _bandits),
    "numbers": (("StreamingGradientBoostingRegressor", "StreamingGradientBoostingClassifier"), _numbers),
    "batch": (("AdaBoostMM", "OptimalStrategy", "AdaBoostM1", "AdaBoostMH", "SAMME"), _batch),
}


def warm_up(family: str, progress: Callable[[str], Any] = str) -> None:
    """Compile what the models of a family need, or load it if it is there; `progress` is told each model's name."""
    names, use = FAMILIES[family]
    for name in names:
        progress(name)
        use(name)
