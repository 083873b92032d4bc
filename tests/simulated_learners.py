"""Weak learners that know the answers and give away no more than an edge: X holds the number of the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class Memory(BaseEstimator):
    """Answers by row number, fixed in `fit_costs`."""

    answers: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        return self.answers[X.values[:, 0].astype(int)]


class Grudging(Memory):
    """Keeps the edge over U_0 and no more: the dearest answers, then right ones, until the condition just holds."""

    def __init__(self, edge: float = 0.1, seed: int = 0) -> None:
        self.edge = edge
        self.seed = seed

    def fit_costs(self, X: Any, costs: np.ndarray) -> Grudging:
        right = costs.argmin(axis=1)
        least = costs.min(axis=1)
        allowed = ((1.0 - self.edge) * costs.mean(axis=1) + self.edge * least).sum()
        self.answers = costs.argmax(axis=1)
        excess = costs.max(axis=1).sum() - allowed
        order = np.random.default_rng([self.seed, int(1e6 * abs(allowed)) % 2**31]).permutation(len(costs))
        for row in order:
            if excess <= 0.0:
                break
            excess -= costs[row, self.answers[row]] - least[row]
            self.answers[row] = right[row]
        return self


class Guessing(Memory):
    """Draws answers from U_gamma: an edge on average."""

    def __init__(self, edge: float = 0.1, random_state: int | None = None) -> None:
        self.edge = edge
        self.random_state = random_state

    def fit_costs(self, X: Any, costs: np.ndarray) -> Guessing:
        rng = np.random.default_rng(self.random_state)
        guesses = rng.integers(0, costs.shape[1], len(costs))
        self.answers = np.where(rng.random(len(costs)) < self.edge, costs.argmin(axis=1), guesses)
        return self
