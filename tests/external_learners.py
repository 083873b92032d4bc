"""Learners of other libraries as the boosters of `edgewise.reference` take them: the library's own calls, row by row.

A row is what a user would write down for that library: a dictionary without what is missing, or a list of numbers with
a 0 or 1 for each category.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


class External:
    """`random` decides how often a row is learned by a model that takes no importance."""

    def __init__(self, model: Any, k: int, columns: Sequence[tuple[str, Sequence[str] | None]], seed: int = 0) -> None:
        self.model, self.k, self.columns = model, k, columns
        self.random = np.random.default_rng(seed)
        self.learned = 0

    def cells(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[tuple[str, Any, Sequence[str] | None]]:
        """Name, value (None: missing) and categories of each column, in the order of the columns."""
        numbers, codes = iter(numeric), iter(nominal)
        cells: list[tuple[str, Any, Sequence[str] | None]] = []
        for name, categories in self.columns:
            if categories is None:
                x = float(next(numbers))
                cells.append((name, None if math.isnan(x) else x, None))
            else:
                code = next(codes)
                cells.append((name, None if code < 0 else categories[code], categories))
        return cells

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        if self.learned == 0:
            return [1.0 / self.k] * self.k
        p = self.chances_of(self.row(numeric, nominal))
        return [x / sum(p) for x in p] if sum(p) > 0.0 else [1.0 / self.k] * self.k

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: Any, w: float) -> None:
        if w > 0.0:
            for _ in range(1 if self.weighted else self.random.poisson(w)):
                self.fit_row(self.row(numeric, nominal), y, w)
                self.learned += 1

    def update_set(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Collection[int], gains: Sequence[float]
    ) -> None:
        for y in sorted(Y):
            self.update(numeric, nominal, y, gains[y])


class River(External):
    weighted = True

    def row(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict[str, Any]:
        return {name: value for name, value, _ in self.cells(numeric, nominal) if value is not None}

    def chances_of(self, x: dict[str, Any]) -> list[float]:
        chances = self.model.predict_proba_one(x)
        return [chances.get(r, 0.0) for r in range(self.k)]

    def fit_row(self, x: dict[str, Any], y: Any, w: float) -> None:
        self.model.learn_one(x, y, w=w)

    def value(self, numeric: Sequence[float], nominal: Sequence[int]) -> float:
        return self.model.predict_one(self.row(numeric, nominal)) if self.learned else 0.0


class RiverWithoutWeights(River):
    weighted = False

    def fit_row(self, x: dict[str, Any], y: Any, w: float) -> None:
        self.model.learn_one(x, y)


class Scikit(External):
    weighted = True

    def row(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[list[float]]:
        row: list[float] = []
        for _, value, categories in self.cells(numeric, nominal):
            if categories is None:
                row.append(math.nan if value is None else value)
            else:
                row += [1.0 if value == category else 0.0 for category in categories]
        return [row]

    def chances_of(self, x: list[list[float]]) -> list[float]:
        return self.model.predict_proba(x)[0].tolist()

    def fit_row(self, x: list[list[float]], y: Any, w: float) -> None:
        if self.k:
            self.model.partial_fit(x, [y], classes=list(range(self.k)), sample_weight=[w])
        else:
            self.model.partial_fit(x, [y], sample_weight=[w])

    def value(self, numeric: Sequence[float], nominal: Sequence[int]) -> float:
        return float(self.model.predict(self.row(numeric, nominal))[0]) if self.learned else 0.0
