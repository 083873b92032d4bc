"""Softmax regression with AdaGrad steps (Duchi, Hazan and Singer 2011), one weight per class and input.

The first `newton` inputs take Newton steps instead: A = R + sum of h w x x', and W[c] falls by A^-1 x times the slope.
R has n / reach^2 for an input that comes up first in an example of n inputs, of which at most `newton` count.

| input | value |
|---|---|
| numeric feature f | its value in standard deviations from the running mean, clipped; 0 if missing or never varied |
| code v of nominal feature f | 1 if the example has it, else 0 |
| bias | 1 |
| two columns | the product of their values; codes are taken modulo 16 |
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence

import numpy as np

from edgewise.reference.hoeffding_tree import MISSING, Moments
from edgewise.reference.losses import softmax


class SoftmaxRegression:
    """A linear learner over `n_labels` classes, with the moments that the learners of an ensemble share."""

    def __init__(
        self,
        n_labels: int,
        moments: Moments,
        *,
        step: float = 0.2,
        clip: float = 5.0,
        products: int = 0,
        newton: int = 0,
        curvature: float = 0.07,
        reach: float | None = 8.0,
    ) -> None:
        self.k, self.moments, self.step, self.clip, self.products = n_labels, moments, step, clip, products
        self.newton, self.curvature, self.reach = newton, curvature, reach
        self.places: list[Hashable] = []  # the inputs that take Newton steps
        self.moves = np.eye(newton)  # A
        self.told: list[float] = []  # weights of all examples
        self.spoken: dict[Hashable, float] = {}
        self.weights: list[dict[Hashable, float]] = [{} for _ in range(n_labels)]  # W, by class and input
        self.squares: list[dict[Hashable, float]] = [{} for _ in range(n_labels)]  # G, sums of squared gradients

    def inputs(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict[Hashable, float]:
        """The inputs that are not 0."""
        z: dict[Hashable, float] = {}
        for f, x in enumerate(numeric):
            v0 = self.moments.variance(f)
            if not math.isnan(x) and v0 > 0.0:
                z["numeric", f] = max(-self.clip, min(self.clip, (x - self.moments.mean(f)) / math.sqrt(v0)))
        z["bias"] = 1.0
        for f, code in enumerate(nominal):
            if code != MISSING:
                z["nominal", f, code] = 1.0
        z |= self.pairs(z, [("numeric", f) for f in range(len(numeric))], [("nominal", f) for f in range(len(nominal))])
        return {e: value for e, value in z.items() if value != 0.0}

    def pairs(
        self, z: dict[Hashable, float], numeric: list[tuple[str, int]], nominal: list[tuple[str, int]]
    ) -> dict[Hashable, float]:
        """The first `products` pairs: (1, 1), (1, 2), (2, 2), (1, 3), ...; a nominal column does not go with itself."""

        def worth(column: tuple[str, int]) -> list[tuple[Hashable, float]]:
            """What the example has of a column: nothing, or a value and the code that it belongs to."""
            return [((*column, *(c % 16 for c in e[2:])), value) for e, value in z.items() if e[:2] == column]

        columns = numeric + nominal
        chosen = [(a, b) for j, b in enumerate(columns) for a in columns[: j + 1] if a != b or a[0] == "numeric"]
        found = {}
        for a, b in chosen[: self.products]:
            for (e, value), (f, other) in itertools.product(worth(a), worth(b)):
                found["product", e, f] = max(-self.clip, min(self.clip, value * other))
        return found

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        z = self.inputs(numeric, nominal)
        self.spoken = z
        return self.probabilities(z)

    def probabilities(self, z: dict[Hashable, float]) -> list[float]:
        return softmax([sum(self.weights[c].get(e, 0.0) * value for e, value in z.items()) for c in range(self.k)])

    def learn(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        """Learn the example just voted on, with the inputs as they were then: the moments may hold it by now."""
        if w <= 0.0:
            return
        z = self.spoken
        p = self.probabilities(z)
        slopes = [w * (p[c] - (1.0 if c == y else 0.0)) for c in range(self.k)]
        if self.newton:
            self.told.append(w)
            if max(abs(g) for g in slopes) <= 1e-3 * sum(self.told) / len(self.told):
                return
            self.newton_step(z, slopes, w)
        for c, g in enumerate(slopes):
            for e, value in z.items():
                if e in self.places:
                    continue
                square = self.squares[c].get(e, 0.0) + (g * value) ** 2
                self.squares[c][e] = square
                if square > 0.0:
                    self.weights[c][e] = self.weights[c].get(e, 0.0) - self.step * g * value / math.sqrt(square)

    def newton_step(self, z: dict[Hashable, float], slopes: list[float], w: float) -> None:
        """The step of the inputs that have a place; those that come up now take one while there is room."""
        for e in [e for e in z if e not in self.places][: self.newton - len(self.places)]:
            if self.reach is not None:
                self.moves[len(self.places), len(self.places)] = min(len(z), self.newton) / self.reach**2
            self.places.append(e)
        x = np.array([z.get(e, 0.0) for e in self.places] + [0.0] * (self.newton - len(self.places)))
        self.moves += self.curvature * w * np.outer(x, x)
        move = np.linalg.solve(self.moves, x)
        for c, g in enumerate(slopes):
            for e, of_input in zip(self.places, move, strict=False):
                self.weights[c][e] = self.weights[c].get(e, 0.0) - g * float(of_input)
