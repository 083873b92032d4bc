"""Every public estimator, small enough for tests: one list for all promises that are made of every one of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest

import edgewise as ew
from edgewise.data.table import Table
from tests.label_streams import label_set_stream
from tests.small_streams import mixed_stream

EAGER = ew.HoeffdingTree((4, 9), (0.1, 0.9), (0.1, 0.9), importance_scale=(2.0, 8.0), max_features=0.8)
REGRESSION = ew.RegressionTree((10, 20), least_gain=2.0, smoothing=(0.0, 5.0), memory=50.0, max_features=0.7, bins=8)
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="networks need the extra neural (torch)")


class Kind(NamedTuple):
    """An estimator, and how it is asked."""

    make: Callable[..., Any]  # with its defaults, a few learners, and the settings given
    learns: str  # "labels", "label sets" or "numbers"
    learner: Any  # a weak learner of its own that grows in a short stream
    nested: tuple[str, list[Any]]  # a parameter of that learner, and values to search


def few(name: str, **fixed: Any) -> Callable[..., Any]:
    return lambda **settings: getattr(ew, name)(**{"n_estimators": 4} | fixed | settings)


GRACE = ("estimator__grace_period", [5, 40])
ONLINE = {
    name: Kind(few(name), "labels", EAGER, GRACE)
    for name in ("AdaBoostOLM", "OnlineMBBM", "OzaBoost", "HoeffdingForest", "OneVsAllOLM", "AdaOVA")
}
ONLINE |= {
    "StreamingGradientBoostingClassifier": Kind(
        few("StreamingGradientBoostingClassifier"), "labels", REGRESSION, ("estimator__max_depth", [1, 4])
    ),
    "StreamingGradientBoostingRegressor": Kind(
        few("StreamingGradientBoostingRegressor"), "numbers", REGRESSION, ("estimator__max_depth", [1, 4])
    ),
}
ONLINE |= {name: Kind(few(name), "label sets", EAGER, GRACE) for name in ("AdaOLMR", "OnlineBMR")}
ONLINE |= {name: Kind(few(name), "labels", EAGER, GRACE) for name in ("AdaBandit", "BanditBBM", "BinBandit")}
BANDITS = ("AdaBandit", "BanditBBM", "BinBandit")

LEAVES = ("estimator__max_leaves", [2, 8])
BATCH = {
    name: Kind(few(name), "labels", ew.CostTree(6), LEAVES)
    for name in ("AdaBoostMM", "AdaBoostM1", "AdaBoostMH", "SAMME", "OptimalStrategy")
}
BATCH["CostTree"] = Kind(lambda **settings: ew.CostTree(**settings), "labels", None, ("max_leaves", [2, 8]))

# Enough steps to learn the small sets of scikit-learn's checks; scores stay so small that float32 rounds them to 1e-7.
STEPS = {"adam_step": 0.02, "batch_size": 16, "epochs": 10}
NETWORKS = {
    name: Kind(few(name, **STEPS), learns, ew.DenseNetwork(4), ("estimator__hidden", [2, 6]))
    for name, learns in (("StreamingNetworksClassifier", "labels"), ("StreamingNetworksRegressor", "numbers"))
}
ALL = ONLINE | BATCH | NETWORKS


def params(kinds: dict[str, Kind]) -> list[Any]:
    """Names of estimators for `pytest.mark.parametrize`."""
    return [pytest.param(name, marks=needs_torch if name in NETWORKS else ()) for name in kinds]


def examples(name: str, n: int = 300, seed: int = 0) -> tuple[Table, np.ndarray]:
    """A learnable stream of numeric and nominal features, with missing values where the estimator takes them."""
    learns = ALL[name].learns
    if learns == "label sets":
        return label_set_stream(n, 5, seed)
    table, labels = mixed_stream(n, 3, seed, missing=0.0 if name in NETWORKS else 0.1)
    if learns == "numbers":
        return table, np.nan_to_num(table.values[:, 0]) + 0.5 * np.nan_to_num(table.values[:, 3])
    return table, labels


def numeric_examples(name: str, n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The same with numeric features alone, as an array without gaps."""
    table, y = examples(name, n, seed)
    return np.nan_to_num(table.values), y


def seeded(kind: Kind) -> dict[str, int]:
    """The parameter that decides everything, if the estimator has one."""
    return {"random_state": 1} if "random_state" in kind.make().get_params() else {}
