"""Streams of rows, and the trees that all boosters of the speed benchmark have."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import edgewise

# The same for every contender. Confidence and tie threshold are the defaults of MOA and river; the grace period is
# shorter than their 200, because most of these streams are short.
TREES = {"trees": 100, "grace_period": 50, "split_confidence": 1e-7, "tie_threshold": 0.05, "seed": 1}
N: dict[str, Any] = {"n_estimators": TREES["trees"], "random_state": TREES["seed"]}

# Rows of each stream, and how many of them river gets: it would need hours for all.
STREAMS = {
    "car": (1728, 1728),
    "nursery": (12960, 2000),
    "mushroom": (8124, 2000),
    "movement": (20000, 2000),
    "letter": (20000, 1000),
    "isolet-50": (7797, 1000),
    "electricity": (20000, 1000),
    "covertype": (20000, 1000),
}


def tree(leaf_prediction: str = "adaptive") -> edgewise.HoeffdingTree:
    """The tree of the speed benchmark."""
    settings = {name: TREES[name] for name in ("grace_period", "split_confidence", "tie_threshold")}
    return edgewise.HoeffdingTree(leaf_prediction=leaf_prediction, **settings)


def booster(leaf_prediction: str = "adaptive", **settings: Any) -> edgewise.AdaBoostOLM:
    """AdaBoostOLM as the speed benchmark has it: Algorithm 2, each tree voting for its likeliest label."""
    estimator = tree(leaf_prediction)
    return edgewise.AdaBoostOLM.preset("paper", **{"estimator": estimator, "vote": "argmax"} | N | settings)


@cache
def load(data: str) -> tuple[Any, np.ndarray]:
    """The examples and labels of a data set, in the order of its file."""
    table, y = edgewise.datasets.load(data)
    return table, np.asarray(y)


def stream(data: str, seed: int, rows: int | None) -> tuple[Any, np.ndarray, np.ndarray]:
    """Examples and labels in the order of a seed, and the classes of all rows."""
    table, labels = load(data)
    return *edgewise.datasets.shuffled(table, labels, seed, rows), np.unique(labels)


def save_rows(path: Path, table: edgewise.Table, answers: np.ndarray, n_classes: int = 0) -> Path:
    """Keep rows in a file for contenders in processes of their own; `answers` are codes of classes or real targets."""
    sizes = [len(feature.categories or ()) for feature in table.features]
    np.savez(path, values=table.values, answers=answers, n_categories=sizes, n_classes=n_classes)
    return path


def saved_stream(data: str, rows: int, folder: Path) -> Path:
    """The first rows of a stream in the order of seed 1, for all contenders."""
    path = folder / f"{data}-{rows}.npz"
    if path.exists():
        return path
    table, labels, classes = stream(data, 1, rows)
    return save_rows(path, table, np.searchsorted(classes, labels), classes.size)
