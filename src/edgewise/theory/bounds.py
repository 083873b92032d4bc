"""What the theory says of a run: mistake bounds with their constants, beside the mistakes made.

Jung, Goetz and Tewari 2017: Theorem 2, Corollary 3 and Lemma 9 (OnlineMBBM), Theorems 5, 12, 13 (Adaboost.OLM). The
paper hides lower-order terms in O~; here they are written out from the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.theory.potentials import asymptotic_error

# Hedge with v = exp(-mistakes) makes at most (M + ln N) / (1 - 1/e) expected mistakes, M those of the best expert
# (Cesa-Bianchi and Lugosi 2006, Corollary 2.3 with eta = 1): a little better than the paper's factor 2 in (32).
HEDGE = 1.0 / (1.0 - math.exp(-1.0))


@dataclass(frozen=True)
class Bound:
    """A mistake bound and the run it speaks of."""

    theorem: str
    rounds: int
    mistakes: int
    """Mistakes made."""
    value: float
    """Mistakes that the theorem allows, all terms counted."""
    leading: float
    """Its leading term: what remains, as a share of the rounds, when the stream is long."""
    best_expert: float | None = None
    """Mistakes of the best expert."""
    expert_value: float | None = None
    """Mistakes that the proof allows the best expert; holds for every run, without probability."""

    def __str__(self) -> str:
        told = f"{self.theorem}: {self.mistakes} mistakes in {self.rounds} rounds; at most {self.value:.0f} are allowed"
        if self.value >= self.rounds:
            told += " (more than there were rounds: the bound says nothing yet)"
        return f"{told}; in the long run {self.leading:.3g} of all rounds"


def adaptive_bound(
    loss: str, *, k: int, rounds: int, edges: np.ndarray, mistakes: int, best_expert: float, risk: float = 0.05
) -> Bound:
    """Theorem 5 (logistic), 12 (exponential) or 13 (square hinge), with probability 1 - risk over Hedge's draws."""
    n, t = edges.size, rounds
    squares, sums = float((edges**2).sum()), float(np.abs(edges).sum())
    if loss == "logistic":
        theorem, strength = "Theorem 5", squares
        share, rest = 4.0 * (k - 1) * math.log(2.0), 16.0 * math.sqrt(2.0) * (k - 1) * n * math.sqrt(t)
    elif loss == "exponential":
        theorem, strength = "Theorem 12", squares
        steps = sum(math.exp(min(i, 700.0)) for i in range(1, n + 1))
        share, rest = 2.0 * (k - 1), 8.0 * math.sqrt(2.0) * (k - 1) * steps * math.sqrt(t)
    else:
        theorem, strength = "Theorem 13", sums
        share = (k - 1) * math.sqrt(n)
        rest = 2.0 * math.sqrt(2.0) * (k - 1 + math.sqrt(n)) * n * math.sqrt(t)
    if strength <= 0.0:
        return Bound(theorem, t, mistakes, math.inf, math.inf, best_expert, math.inf)
    expert_value = (share * t + rest) / strength
    value = HEDGE * (expert_value + math.log(n)) + math.sqrt(0.5 * t * math.log(1.0 / risk))
    return Bound(theorem, t, mistakes, value, HEDGE * share / strength, best_expert, expert_value)


def majority_bound(
    *,
    k: int,
    n_learners: int,
    edge: float,
    rounds: int,
    vote_costs: np.ndarray,
    importances: np.ndarray,
    mistakes: int,
) -> Bound:
    """Theorem 2 with the learners' measured excess in place of S w*: sum (15) over rounds and learners.

    Learner i's excess is sum_t w D(y, vote) - (1 - gamma)/k sum_t w, what its votes cost beyond the edge gamma. With
    it, Theorem 2 is an identity for loss (2), where a tie is an error; the prediction breaks ties, so it can only do
    better.
    """
    error = asymptotic_error(k, n_learners, edge)
    excess = float((vote_costs - (1.0 - edge) / k * importances).sum())
    return Bound("Theorem 2", rounds, mistakes, error * rounds + excess, error)
