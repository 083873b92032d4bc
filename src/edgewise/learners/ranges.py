"""Parameters that differ from learner to learner: a number for all, or a range to draw each one's from."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np


class LogUniform(NamedTuple):
    """A range whose logarithm is drawn uniformly."""

    low: float
    high: float


Range = float | tuple[float, float] | LogUniform


def check_range(name: str, value: Any, least: float, most: float, *, or_equal: bool = False) -> None:
    """ValueError unless the value, or both ends of the range, are above `least` (or equal to it) and below `most`."""
    ends = value if isinstance(value, tuple) else (value, value)
    good = len(ends) == 2 and all(isinstance(end, Real) for end in ends)
    if not good or not ends[0] <= ends[1] < most or ends[0] < least or (ends[0] == least and not or_equal):
        raise ValueError(f"{name}={value!r}: a number, a (low, high) pair or a LogUniform between {least} and {most}")


def drawn(value: Range, n: int, rng: np.random.Generator, *, whole: bool = False) -> np.ndarray:
    """The value of each of n learners; `whole` draws whole numbers from a range with whole ends, both included."""
    if not isinstance(value, tuple):
        return np.full(n, float(value))
    low, high = value
    if isinstance(value, LogUniform):
        return np.exp(rng.uniform(math.log(low), math.log(high), n))
    if whole and float(low).is_integer() and float(high).is_integer():
        return rng.integers(int(low), int(high), n, endpoint=True).astype(float)
    return rng.uniform(low, high, n)


def feature_subsets(wanted: float | None, n_trees: int, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Which features each tree may use, Boolean [trees, features]: a count, a share in (0, 1], or None for all."""
    features = np.ones((n_trees, n_features), bool)
    if wanted is None:
        return features
    share = isinstance(wanted, float) and wanted <= 1.0
    count = min(n_features, max(1, math.ceil(wanted * n_features) if share else int(wanted)))
    if count < n_features:
        for tree in range(n_trees):
            features[tree] = False
            features[tree, rng.choice(n_features, count, replace=False)] = True
    return features
