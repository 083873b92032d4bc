"""Softmax regression with AdaGrad steps (Duchi, Hazan and Singer 2011), one weight per class and input.

| input | value |
|---|---|
| numeric feature f | its value in standard deviations from the running mean, clipped; 0 if missing or never varied |
| code v of nominal feature f | 1 if the example has it, else 0 |
| bias | 1 |
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from tests.naive.losses import softmax
from tests.naive.tree import MISSING, Moments


class SoftmaxRegression:
    """A linear learner over `n_labels` classes, with the moments that the learners of an ensemble share."""

    def __init__(self, n_labels: int, moments: Moments, *, step: float = 0.2, clip: float = 5.0) -> None:
        self.k, self.moments, self.step, self.clip = n_labels, moments, step, clip
        self.spoken: dict[Hashable, float] = {}
        self.weights: list[dict[Hashable, float]] = [{} for _ in range(n_labels)]  # W, by class and input
        self.squares: list[dict[Hashable, float]] = [{} for _ in range(n_labels)]  # G, sums of squared gradients

    def inputs(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict[Hashable, float]:
        """The inputs that are not 0."""
        z: dict[Hashable, float] = {"bias": 1.0}
        for f, x in enumerate(numeric):
            v0 = self.moments.variance(f)
            if not math.isnan(x) and v0 > 0.0:
                z["numeric", f] = max(-self.clip, min(self.clip, (x - self.moments.mean(f)) / math.sqrt(v0)))
        for f, code in enumerate(nominal):
            if code != MISSING:
                z["nominal", f, code] = 1.0
        return {e: value for e, value in z.items() if value != 0.0}

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
        for c in range(self.k):
            g = w * (p[c] - (1.0 if c == y else 0.0))
            for e, value in z.items():
                square = self.squares[c].get(e, 0.0) + (g * value) ** 2
                self.squares[c][e] = square
                if square > 0.0:
                    self.weights[c][e] = self.weights[c].get(e, 0.0) - self.step * g * value / math.sqrt(square)
