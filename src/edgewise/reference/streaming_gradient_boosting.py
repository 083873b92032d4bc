"""Algorithms 1, 2 and 3 of Hu et al. 2017, line by line, one example at a time; and ridge regression solved anew.

A learner has `predict(example)` and `learn(example, target, weight)`; an example is a row of numeric values, a row of
codes, and what the columns' moments were before it and after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from edgewise.reference.regression_tree import RegressionTree


class Example(NamedTuple):
    x: np.ndarray
    codes: np.ndarray
    before: tuple[np.ndarray, np.ndarray]
    after: tuple[np.ndarray, np.ndarray]


def examples_of(numeric: np.ndarray, nominal: np.ndarray, weights: np.ndarray) -> list[Example]:
    """Rows with the mean and variance of each column over the learned rows before and up to them."""

    def moments(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        means, variances = np.zeros((2, numeric.shape[1]))
        for f in range(numeric.shape[1]):
            seen = rows[~np.isnan(rows[:, f]), f]
            if seen.size:
                means[f], variances[f] = seen.mean(), seen.var()
        return means, variances

    examples = []
    for t in range(len(numeric)):
        past = numeric[:t][weights[:t] > 0.0]
        now = np.concatenate([past, numeric[t : t + 1]]) if weights[t] > 0.0 else past
        examples.append(Example(numeric[t], nominal[t], moments(past), moments(now)))
    return examples


class Tree:
    def __init__(self, tree: RegressionTree) -> None:
        self.tree = tree

    def predict(self, example: Example) -> np.ndarray:
        return self.tree.predict(example.x, example.codes)

    def learn(self, example: Example, target: np.ndarray, w: float) -> None:
        self.tree.learn(example.x, example.codes, target, w, *example.after)


class Ridge:
    """The ridge solution of all examples so far, by solving the normal equations."""

    def __init__(self, m: int, categories: Sequence[int], n_numeric: int, regularization: float, clip: float) -> None:
        self.categories, self.clip = categories, clip
        size = n_numeric + 1 + sum(categories)
        self.second = regularization * np.eye(size)
        self.second[n_numeric, n_numeric] *= 1e-3
        self.cross = np.zeros((size, m))
        self.spoke: list[np.ndarray] = []  # coefficients of each round

    def inputs(self, example: Example) -> np.ndarray:
        means, variances = example.before
        z = []
        for x, mean, variance in zip(example.x, means, variances, strict=True):
            known = not math.isnan(x) and variance > 0.0
            z.append(min(max((x - mean) / math.sqrt(variance), -self.clip), self.clip) if known else 0.0)
        z.append(1.0)
        for code, size in zip(example.codes, self.categories, strict=True):
            z += [1.0 if v == code else 0.0 for v in range(size)]
        return np.array(z)

    def coefficients(self) -> np.ndarray:
        return np.linalg.solve(self.second, self.cross)

    def predict(self, example: Example) -> np.ndarray:
        return self.inputs(example) @ self.coefficients()

    def learn(self, example: Example, target: np.ndarray, w: float) -> None:
        self.spoke.append(self.coefficients())
        z = self.inputs(example)
        self.second += w * np.outer(z, z)
        self.cross += w * np.outer(z, target)


class Round(NamedTuple):
    prediction: np.ndarray
    partial: list[np.ndarray]  # y^0..y^N
    said: list[np.ndarray]
    goals: list[np.ndarray]


def algorithm_1(
    learners: Sequence[Any],
    rates: Sequence[float],
    start: np.ndarray,
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray],
    example: Example,
    target: np.ndarray,
    w: float,
) -> Round:
    """One round: predict, then learn if w > 0."""
    partial = [start]
    said = []
    for eta, learner in zip(rates, learners, strict=True):
        said.append(learner.predict(example))
        partial.append(partial[-1] - eta * said[-1])
    goals = [gradient(y, target) for y in partial[:-1]]
    if w > 0.0:
        for learner, goal in zip(learners, goals, strict=True):
            learner.learn(example, goal, w)
    return Round(partial[-1], partial, said, goals)


def algorithm_2(
    learners: Sequence[Any],
    rates: Sequence[float],
    start: np.ndarray,
    gradient: Callable[[np.ndarray, np.ndarray], np.ndarray],
    project: Callable[[np.ndarray], np.ndarray],
    example: Example,
    target: np.ndarray,
    w: float,
) -> Round:
    """One round with residual projection; with w = 0 it is Algorithm 3 for the hypotheses of now."""
    partial = [start]
    said = []
    for eta, learner in zip(rates, learners, strict=True):
        said.append(learner.predict(example))
        partial.append(project(partial[-1] - eta * said[-1]))
    prediction = sum(partial[:-1]) / len(learners)
    residual = np.zeros(start.size)
    goals = []
    for y, h, learner in zip(partial, said, learners, strict=False):
        goals.append(residual + gradient(y, target))
        residual = goals[-1] - h
        if w > 0.0:
            learner.learn(example, goals[-1], w)
    return Round(prediction, partial, said, goals)
