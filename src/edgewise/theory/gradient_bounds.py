"""What the theory says of a run of streaming gradient boosting: Theorems 5.1 and 5.2 of Hu et al. 2017.

| paper   | here                                                                        |
|---------|-----------------------------------------------------------------------------|
| gamma   | edge: Definition 4.1, measured, so that the excess loss R(T) is part of it  |
| lambda  | strong convexity                                                            |
| beta    | smoothness                                                                  |
| B, G    | largest loss and largest gradient norm met                                  |
| f*      | the best prediction for each example alone: the strongest comparator        |
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RegretBound:
    """A bound on the mean regret per round and the run it speaks of."""

    theorem: str
    rounds: float
    regret: float
    """Mean loss of the predictions above that of the best prediction for each example."""
    value: float
    """Mean regret that the theorem allows; infinite where its conditions do not hold."""
    edge: float
    """The least edge of any learner."""

    def __str__(self) -> str:
        told = f"{self.theorem}: mean regret {self.regret:.4g} over {self.rounds:.0f} rounds"
        if math.isinf(self.value):
            return f"{told}; the theorem says nothing of this run (least edge {self.edge:.3g})"
        return f"{told}; at most {self.value:.4g} is allowed (least edge {self.edge:.3g})"


def step_from_edge(edge: float, smoothness: float) -> float:
    """eta = gamma / (beta (8 - 4 gamma)), eq. (28)."""
    return edge / (smoothness * (8.0 - 4.0 * edge))


def shrinkage(
    of_target: float, of_error: float, of_said: float, rate: float, strong_convexity: float, smoothness: float
) -> float:
    """C of eq. (26) from a learner's measured sums: the factor by which it changes the regret, at most.

    Smoothness gives Delta_i <= Delta_(i-1) - D with D = eta sum <nabla, h> - beta eta^2/2 sum ||h||^2. By eq. (18),
    sum ||nabla||^2 is at least 2 lambda Delta_(i-1), and at most 2 beta Delta_(i-1). So no condition on edge or step is
    needed, and for the squared loss the inequality is an equality.
    """
    if of_target <= 0.0:
        return 1.0
    along = 0.5 * (of_target + of_said - of_error)
    gain = rate * along - 0.5 * smoothness * rate * rate * of_said
    return 1.0 - 2.0 * (strong_convexity if gain >= 0.0 else smoothness) * gain / of_target


def smooth_bound(
    *,
    sums: np.ndarray,
    rates: np.ndarray,
    strong_convexity: float,
    smoothness: float,
    first_regret: float,
    regret: float,
    rounds: float,
) -> RegretBound:
    """Theorem 5.1 of a run: Delta_0 times the product of C over the learners' own sums and steps, per round.

    `sums` [N, 3] are those of ||nabla||^2, ||nabla - h||^2 and ||h||^2. The theorem itself takes the least edge for
    all, eq. (28) for the step, and Delta_0 <= 2 B T: see `smooth_rate`.
    """
    value = first_regret if math.isfinite(smoothness) else math.inf
    for (of_target, of_error, of_said), rate in zip(sums.tolist(), rates.tolist(), strict=True):
        value *= shrinkage(of_target, of_error, of_said, rate, strong_convexity, smoothness)
    return RegretBound("Theorem 5.1", rounds, regret, value, float(edges_of(sums).min()))


def edges_of(sums: np.ndarray) -> np.ndarray:
    """gamma_i = 1 - sum ||target - h||^2 / sum ||target||^2: Definition 4.1 with R(T) = 0; 0 before the first round."""
    share = np.divide(sums[:, 1], sums[:, 0], out=np.ones(len(sums)), where=sums[:, 0] > 0.0)
    return 1.0 - share


def smooth_rate(edge: float, n_learners: int, strong_convexity: float, smoothness: float, largest_loss: float) -> float:
    """2 B (1 - gamma^2 lambda / (beta (16 - 8 gamma)))^N, eq. (30): Theorem 5.1 with the step of eq. (28)."""
    shrink = 1.0 - edge * edge * strong_convexity / (smoothness * (16.0 - 8.0 * edge))
    return 2.0 * largest_loss * shrink**n_learners


def residual_rate(edge: float, n_learners: int, strong_convexity: float, largest_gradient: float) -> float:
    """4 c^2 G^2 / (lambda N) (1 + ln N + 1/(8 N)) with c = 2/gamma - 1, eq. (10)."""
    if not edge > 0.0 or not strong_convexity > 0.0:
        return math.inf
    c = 2.0 / edge - 1.0
    n = n_learners
    return 4.0 * c * c * largest_gradient**2 / (strong_convexity * n) * (1.0 + math.log(n) + 0.125 / n)


def residual_bound(
    *, sums: np.ndarray, strong_convexity: float, largest_gradient: float, regret: float, rounds: float
) -> RegretBound:
    """Theorem 5.2, with the least measured edge and the largest gradient norm met."""
    edge = float(edges_of(sums).min())
    value = residual_rate(edge, len(sums), strong_convexity, largest_gradient)
    return RegretBound("Theorem 5.2", rounds, regret, value, edge)
