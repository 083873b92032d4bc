"""Linear weak learners: softmax regression, a logistic regression for each label, and ridge regression.

Classifiers take AdaGrad steps (Duchi, Hazan and Singer, *Adaptive subgradient methods*, 2011), one weight per class and
input. The first `newton` inputs take Newton steps instead: A = R + sum of h w x x', and W[c] falls by A^-1 x times the
slope. R has n / reach^2 for an input that comes up first in an example of n inputs, of which at most `newton` count.

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
from collections.abc import Collection, Hashable, Sequence

import numpy as np

from edgewise.reference.adaboost_olm import softmax
from edgewise.reference.learner import MISSING, RunningMoments

Inputs = dict[Hashable, float]


def numeric_input(moments: RunningMoments, f: int, x: float, clip: float) -> float:
    """A numeric feature in standard deviations from its mean, within [-clip, clip]; 0 if missing or never varied."""
    variance = moments.variance(f)
    if math.isnan(x) or variance <= 0.0:
        return 0.0
    return max(-clip, min(clip, (x - moments.means[f]) / math.sqrt(variance)))


class SoftmaxRegression:
    """Softmax regression, one step for each example."""

    def __init__(
        self,
        k: int,
        moments: RunningMoments,
        step: float = 0.2,  # of AdaGrad
        clip: float = 5.0,  # bound of inputs
        products: int = 0,  # pairs of columns whose products are inputs
        newton: int = 0,  # inputs that take Newton steps
        curvature: float = 0.07,  # h
        reach: float | None = 8.0,
    ) -> None:
        self.k, self.moments, self.step, self.clip, self.products = k, moments, step, clip, products
        self.newton, self.curvature, self.reach = newton, curvature, reach
        self.newton_inputs: list[Hashable] = []
        self.A = np.eye(newton)
        self.example_weights: list[float] = []
        self.last: Inputs = {}  # of the last example predicted
        self.weights: list[Inputs] = [{} for _ in range(k)]  # W, by class and input
        self.squares: list[Inputs] = [{} for _ in range(k)]  # G, sums of squared gradients

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """The distribution over labels."""
        self.last = self._inputs(numeric, nominal)
        return self._probabilities(self.last)

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        """Learn the example that was predicted last, with the inputs as they were then."""
        if w > 0.0:
            p = self._probabilities(self.last)
            self._descend([w * (p[c] - (c == y)) for c in range(self.k)], w)

    def update_set(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Collection[int], gains: Sequence[float]
    ) -> None:
        """One step on the sum over relevant labels l of gains[l] times the log loss of l."""
        p = self._probabilities(self.last)
        self._adagrad_step([sum(gains[l] * (p[c] - (c == l)) for l in Y) for c in range(self.k)])

    def _inputs(self, numeric: Sequence[float], nominal: Sequence[int]) -> Inputs:
        """The inputs that are not 0."""
        z: Inputs = {("numeric", f): numeric_input(self.moments, f, x, self.clip) for f, x in enumerate(numeric)}
        z["bias"] = 1.0
        z |= {("nominal", f, code): 1.0 for f, code in enumerate(nominal) if code != MISSING}
        z |= self._pairs(
            z, [("numeric", f) for f in range(len(numeric))], [("nominal", f) for f in range(len(nominal))]
        )
        return {e: value for e, value in z.items() if value != 0.0}

    def _pairs(self, z: Inputs, numeric: list[tuple[str, int]], nominal: list[tuple[str, int]]) -> Inputs:
        """The first `products` pairs: (1, 1), (1, 2), (2, 2), (1, 3), ...; a nominal column does not go with itself."""

        def inputs_of(column: tuple[str, int]) -> list[tuple[Hashable, float]]:
            """The example's value in a column with its place, the code modulo 16; none where it is missing."""
            own = [(e, value) for e, value in z.items() if isinstance(e, tuple) and e[:2] == column]
            return [((*column, *(code % 16 for code in e[2:])), value) for e, value in own]

        columns = numeric + nominal
        chosen = [(a, b) for j, b in enumerate(columns) for a in columns[: j + 1] if a != b or a[0] == "numeric"]
        found: Inputs = {}
        for a, b in chosen[: self.products]:
            for (e, value), (f, other) in itertools.product(inputs_of(a), inputs_of(b)):
                found["product", e, f] = max(-self.clip, min(self.clip, value * other))
        return found

    def _logits(self, z: Inputs) -> list[float]:
        return [sum(self.weights[c].get(e, 0.0) * value for e, value in z.items()) for c in range(self.k)]

    def _probabilities(self, z: Inputs) -> list[float]:
        return softmax(self._logits(z))

    def _descend(self, slopes: list[float], w: float) -> None:
        if self.newton:
            self.example_weights.append(w)
            if max(abs(g) for g in slopes) <= 1e-3 * sum(self.example_weights) / len(self.example_weights):
                return
            self._newton_step(slopes, w)
        self._adagrad_step(slopes)

    def _adagrad_step(self, slopes: list[float]) -> None:
        for c, g in enumerate(slopes):
            for e, value in self.last.items():
                if e not in self.newton_inputs:
                    square = self.squares[c].get(e, 0.0) + (g * value) ** 2
                    self.squares[c][e] = square
                    if square > 0.0:
                        self.weights[c][e] = self.weights[c].get(e, 0.0) - self.step * g * value / math.sqrt(square)

    def _newton_step(self, slopes: list[float], w: float) -> None:
        """The step of the Newton inputs; inputs that come up now become such while there are fewer than `newton`."""
        z = self.last
        for e in [e for e in z if e not in self.newton_inputs][: self.newton - len(self.newton_inputs)]:
            if self.reach is not None:
                j = len(self.newton_inputs)
                self.A[j, j] = min(len(z), self.newton) / self.reach**2
            self.newton_inputs.append(e)
        x = np.array([z.get(e, 0.0) for e in self.newton_inputs] + [0.0] * (self.newton - len(self.newton_inputs)))
        self.A += self.curvature * w * np.outer(x, x)
        step = np.linalg.solve(self.A, x)
        for c, g in enumerate(slopes):
            for e, of_input in zip(self.newton_inputs, step, strict=False):
                self.weights[c][e] = self.weights[c].get(e, 0.0) - g * float(of_input)


class BinaryRelevance(SoftmaxRegression):
    """A logistic regression for each label; their chances, divided by their sum, are the distribution."""

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """The distribution over labels; `chances` keeps the probability of each to be relevant."""
        self.chances = super().predict_proba(numeric, nominal)
        return [chance / sum(self.chances) for chance in self.chances]

    def update_set(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Collection[int], gains: Sequence[float]
    ) -> None:
        """One step of every label on gains times the log loss of whether it is relevant."""
        p = self._probabilities(self.last)
        self._adagrad_step([gains[c] * (p[c] - (c in Y)) for c in range(self.k)])

    def _probabilities(self, z: Inputs) -> list[float]:
        return [1.0 / (1.0 + math.exp(-x)) for x in self._logits(z)]


class RidgeRegression:
    """The ridge solution of all examples so far, by solving the normal equations."""

    def __init__(
        self, m: int, moments: RunningMoments, categories: Sequence[int], regularization: float, clip: float
    ) -> None:
        self.moments, self.categories, self.clip = moments, categories, clip
        n_numeric = len(moments.means)
        size = n_numeric + 1 + sum(categories)
        self.second = regularization * np.eye(size)  # Z'Z + R
        self.second[n_numeric, n_numeric] *= 1e-3
        self.cross = np.zeros((size, m))  # Z'U
        self.history: list[np.ndarray] = []  # coefficients of each round

    def inputs(self, numeric: Sequence[float], nominal: Sequence[int]) -> np.ndarray:
        """Numeric inputs, 1 for the bias, and a 1 among zeros for each code."""
        z = [numeric_input(self.moments, f, x, self.clip) for f, x in enumerate(numeric)]
        z.append(1.0)
        for code, size in zip(nominal, self.categories, strict=True):
            z += [1.0 if v == code else 0.0 for v in range(size)]
        return np.array(z)

    def predict(self, numeric: Sequence[float], nominal: Sequence[int]) -> np.ndarray:
        """The m predicted values. Parameters are those of `inputs`.

        Returns
        -------
        ndarray
        """
        self.last = self.inputs(numeric, nominal)
        return self.last @ np.linalg.solve(self.second, self.cross)

    def update(self, numeric: Sequence[float], nominal: Sequence[int], target: np.ndarray, w: float) -> None:
        """Learn the example that was predicted last, with the inputs as they were then."""
        self.history.append(np.linalg.solve(self.second, self.cross))
        self.second += w * np.outer(self.last, self.last)
        self.cross += w * np.outer(self.last, target)
