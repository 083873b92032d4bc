"""Convex losses of a vector of predictions: value, (sub)gradient, and the constants that the theorems need.

Hu, Sun, Venkatraman, Hebert and Bagnell, "Gradient Boosting on Stochastic Data Streams" (2017), Sections 3, 5, App. E.

| paper  | here                                                        |
|--------|-------------------------------------------------------------|
| y      | predictions, a row of m numbers for each example            |
| l_t(y) | `value`, given the targets u of the example                 |
| nabla  | `gradient`                                                  |
| lambda | `strong_convexity`, eq. (2)                                 |
| beta   | `smoothness`, eq. (2); infinite for a loss with a kink      |
| cal Y  | `domain`, where Algorithm 2 keeps its predictions           |

Every loss is a sum over outputs, softmax apart, plus `regularization` times ||y||^2, which adds 2 * regularization to
lambda and beta (the paper's eq. (58) leaves this out):

| loss     | of one output y with target u           | lambda, without the term | beta | eq.  |
|----------|-----------------------------------------|--------------------------|------|------|
| squared  | (y - u)^2 / 2                           | 1                        | 1    |      |
| absolute | abs(y - u)                              | 0                        | inf  |      |
| huber    | r^2/2, or d (abs(r) - d/2) past d       | 0                        | 1    |      |
| quantile | max(q (u - y), (1 - q) (y - u))         | 0                        | inf  |      |
| logistic | log(1 + exp(-u y)), u in {-1, 1}        | 1/(2 + 2 cosh Y)         | 1/4  | (57) |
| hinge    | max(0, 1 - u y), u in {-1, 1}           | 0                        | inf  | (61) |
| softmax  | log sum_j exp(y_j) - y_u, u a one-hot   | 0                        | 1/2  | (62) |

Y is the largest abs(y) in the domain: without a domain the logistic loss has lambda 0 (the paper's 1/(2 + 2 exp Y) is
a little less than what is written here).

A loss of one's own is any object with `value`, `gradient`, `strong_convexity`, `smoothness` and `domain`, as `Loss`
says: NumPy functions over many rows at once. Rows must not see each other, or results depend on the chunk size.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Protocol

import numpy as np

from edgewise.kernels.compile import entry_point, inlined
from edgewise.parameters import Parameterized
from edgewise.theory.losses import log_total, softmax
from edgewise.theory.projections import ProjectionSet

SQUARED, ABSOLUTE, HUBER, QUANTILE, LOGISTIC, HINGE, SOFTMAX = 0, 1, 2, 3, 4, 5, 6


class Loss(Protocol):
    """What streaming gradient boosting needs of a loss. Shapes: predictions and targets [n, m]."""

    @property
    def strong_convexity(self) -> float: ...

    @property
    def smoothness(self) -> float: ...

    @property
    def domain(self) -> ProjectionSet: ...

    def value(self, predictions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The loss of each row, [n]."""

    def gradient(self, predictions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The gradient of each row, or a subgradient where there are several, [n, m]."""


@inlined
def output_value(loss, shape, y, u):
    """The loss of one output; `shape` is d of Huber and q of quantile."""
    if loss == SQUARED:
        return 0.5 * (y - u) * (y - u)
    if loss == ABSOLUTE:
        return abs(y - u)
    if loss == HUBER:
        r = abs(y - u)
        return 0.5 * r * r if r <= shape else shape * (r - 0.5 * shape)
    if loss == QUANTILE:
        return max(shape * (u - y), (1.0 - shape) * (y - u))
    if loss == LOGISTIC:
        z = -u * y
        return max(z, 0.0) + math.log1p(math.exp(-abs(z)))
    return max(0.0, 1.0 - u * y)


@inlined
def output_slope(loss, shape, y, u):
    """Derivative of `output_value` in y; 0 at the kink of absolute and quantile, and of hinge."""
    if loss == SQUARED:
        return y - u
    if loss == HUBER:
        return min(max(y - u, -shape), shape)
    if loss == LOGISTIC:
        return -u / (1.0 + math.exp(u * y))
    if loss == HINGE:
        return -u if u * y < 1.0 else 0.0
    if y == u:
        return 0.0
    if loss == ABSOLUTE:
        return 1.0 if y > u else -1.0
    return 1.0 - shape if y > u else -shape


@entry_point
def loss_values(loss, shape, regularization, predictions, targets, out):
    """l_t(y) of every row."""
    n, m = predictions.shape
    for t in range(n):
        square = 0.0
        for r in range(m):
            square += predictions[t, r] * predictions[t, r]
        total = regularization * square
        if loss == SOFTMAX:
            total += log_total(predictions[t])
            for r in range(m):
                total -= targets[t, r] * predictions[t, r]
        else:
            for r in range(m):
                total += output_value(loss, shape, predictions[t, r], targets[t, r])
        out[t] = total


@entry_point
def loss_gradients(loss, shape, regularization, predictions, targets, out):
    """The (sub)gradient of every row."""
    n, m = predictions.shape
    for t in range(n):
        if loss == SOFTMAX:
            softmax(predictions[t], out[t])
            for r in range(m):
                out[t, r] -= targets[t, r]
        else:
            for r in range(m):
                out[t, r] = output_slope(loss, shape, predictions[t, r], targets[t, r])
        for r in range(m):
            out[t, r] += 2.0 * regularization * predictions[t, r]


class CompiledLoss(Parameterized):
    """A loss of the table above."""

    code: ClassVar[int]
    own_convexity: ClassVar[float] = 0.0
    own_smoothness: ClassVar[float] = math.inf
    shape_name: ClassVar[str | None] = None

    def __init__(self, regularization: float = 0.0, domain: ProjectionSet = None) -> None:
        self.regularization = regularization
        self.domain = domain

    @property
    def shape(self) -> float:
        """The loss's own number, where it has one."""
        return float(getattr(self, self.shape_name)) if self.shape_name else 0.0

    @property
    def strong_convexity(self) -> float:
        return self.own_convexity + 2.0 * self.regularization

    @property
    def smoothness(self) -> float:
        return self.own_smoothness + 2.0 * self.regularization

    def check(self) -> None:
        """ValueError for a setting that no loss can have."""
        if not 0.0 <= self.regularization < math.inf:
            raise ValueError(f"regularization={self.regularization!r}: a number, 0 or more")

    def value(self, predictions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        out = np.empty(len(predictions))
        loss_values(self.code, self.shape, float(self.regularization), predictions, targets, out)
        return out

    def gradient(self, predictions: np.ndarray, targets: np.ndarray) -> np.ndarray:
        out = np.empty(predictions.shape)
        loss_gradients(self.code, self.shape, float(self.regularization), predictions, targets, out)
        return out

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        """The y of least loss for each row, infinite where the infimum is not attained; whatever the domain."""
        raise TypeError(f"{type(self).__name__} does not say where it is least")

    def least(self, targets: np.ndarray) -> np.ndarray:
        """min over y of l_t(y) for each row: what the strongest comparator f* of the theorems would suffer."""
        best = self.minimizer(targets)
        attained = np.isfinite(best).all(axis=1)
        least = np.zeros(len(targets))
        least[attained] = self.value(best[attained], targets[attained])
        return least


class SquaredLoss(CompiledLoss):
    """||y - u||^2 / 2."""

    code = SQUARED
    own_convexity = 1.0
    own_smoothness = 1.0

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        return targets / (1.0 + 2.0 * self.regularization)


class AbsoluteLoss(CompiledLoss):
    """sum |y - u|: the conditional median."""

    code = ABSOLUTE

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        limit = 0.5 / self.regularization if self.regularization > 0.0 else math.inf
        return np.clip(targets, -limit, limit)


class HuberLoss(CompiledLoss):
    """Squared up to `delta`, linear past it."""

    code = HUBER
    shape_name = "delta"
    own_smoothness = 1.0

    def __init__(self, delta: float = 1.0, regularization: float = 0.0, domain: ProjectionSet = None) -> None:
        super().__init__(regularization, domain)
        self.delta = delta

    def check(self) -> None:
        super().check()
        if not 0.0 < self.delta < math.inf:
            raise ValueError(f"delta={self.delta!r}: a positive number")

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        twice = 2.0 * self.regularization
        limit = self.delta / twice if twice > 0.0 else math.inf
        return np.clip(targets / (1.0 + twice), -limit, limit)


class QuantileLoss(CompiledLoss):
    """The pinball loss: the conditional quantile at `level`."""

    code = QUANTILE
    shape_name = "level"

    def __init__(self, level: float = 0.5, regularization: float = 0.0, domain: ProjectionSet = None) -> None:
        super().__init__(regularization, domain)
        self.level = level

    def check(self) -> None:
        super().check()
        if not 0.0 < self.level < 1.0:
            raise ValueError(f"level={self.level!r}: a number between 0 and 1")

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        twice = 2.0 * self.regularization
        if twice == 0.0:
            return targets.copy()
        return np.clip(targets, -(1.0 - self.level) / twice, self.level / twice)


class LogisticLoss(CompiledLoss):
    """log(1 + exp(-u y)) + regularization y^2, eq. (57); targets are -1 and 1."""

    code = LOGISTIC
    own_smoothness = 0.25

    @property
    def strong_convexity(self) -> float:
        curved = 0.0 if self.domain is None else 0.5 / (1.0 + math.cosh(self.domain.reach))
        return curved + 2.0 * self.regularization

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        return targets * _root(lambda y: 2.0 * self.regularization * y - 1.0 / (1.0 + math.exp(min(y, 700.0))))


class HingeLoss(CompiledLoss):
    """max(0, 1 - u y) + regularization y^2, eq. (61); targets are -1 and 1."""

    code = HINGE

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        return targets * (min(1.0, 0.5 / self.regularization) if self.regularization > 0.0 else 1.0)


class SoftmaxLoss(CompiledLoss):
    """Cross-entropy of softmax(y), eq. (62); targets are one-hot rows."""

    code = SOFTMAX
    own_smoothness = 0.5

    def minimizer(self, targets: np.ndarray) -> np.ndarray:
        # The wrong labels share one score b, and the gradient sums to 2 * regularization * sum y, so the right label
        # has -(k - 1) b.
        k = targets.shape[1]

        def slope(a: float) -> float:
            odds = math.exp(min(a + a / (k - 1), 700.0))
            return 2.0 * self.regularization * a - (k - 1) / (k - 1 + odds)

        a = _root(slope)
        return np.where(targets > 0.0, a, -a / (k - 1))


def _root(slope: Any) -> float:
    """Where a rising function of y >= 0 crosses 0, by bisection; infinity if it does not."""
    high = 1.0
    while slope(high) < 0.0:
        high *= 2.0
        if high > 1e4:
            return math.inf
    low = 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high


REGRESSION_LOSSES: dict[str, type[CompiledLoss]] = {
    "squared": SquaredLoss,
    "absolute": AbsoluteLoss,
    "huber": HuberLoss,
    "quantile": QuantileLoss,
}
CLASSIFICATION_LOSSES: dict[str, type[CompiledLoss]] = {
    "logistic": LogisticLoss,
    "hinge": HingeLoss,
    "softmax": SoftmaxLoss,
}


def checked_loss(loss: Any, known: dict[str, type[CompiledLoss]]) -> Loss:
    """The loss that a name or an object stands for; ValueError if it is none."""
    if isinstance(loss, str):
        if loss not in known:
            raise ValueError(f"loss={loss!r}: one of {', '.join(known)}, or an object that is a Loss")
        return known[loss]()
    for name in ("value", "gradient"):
        if not callable(getattr(loss, name, None)):
            raise ValueError(
                f"loss={loss!r} has no {name}: a loss needs value(predictions, targets) and "
                "gradient(predictions, targets)"
            )
    for name in ("strong_convexity", "smoothness"):
        constant = getattr(loss, name, None)
        if not isinstance(constant, int | float) or not constant >= 0.0:
            raise ValueError(f"loss={loss!r}: {name}={constant!r}, a number from 0 to infinity is needed")
    if not hasattr(loss, "domain"):
        raise ValueError(f"loss={loss!r} has no domain: a Ball, a Box, or None for all of space")
    if isinstance(loss, CompiledLoss):
        loss.check()
    return loss
