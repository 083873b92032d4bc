"""What the theory says of a run: mistake bounds with their constants, beside the mistakes made.

Jung, Goetz and Tewari 2017: Theorem 2, Corollary 3 and Lemma 9 (OnlineMBBM), Theorems 5, 12, 13 (Adaboost.OLM). The
paper hides lower-order terms in O~; here they are written out from the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.theory.potentials import asymptotic_error

# Mistakes for each mistake of the best expert: docs/theory.md, section 5, step 4. The paper rounds the first to 2.
HEDGE = {"draw": 1.0 / (1.0 - math.exp(-1.0)), "vote": 1.0 / math.log(2.0 / (1.0 + math.exp(-1.0))), "best": math.inf}


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
        if not self.value < self.rounds:
            told += " (more than there were rounds: the bound says nothing yet)"
        return f"{told}; in the long run {self.leading:.3g} of all rounds" if self.leading < 1.0 else told


def progress(edges: np.ndarray, low: float, high: float) -> np.ndarray:
    """g_F(gamma) = max over alpha in F of 1 - cosh(alpha) + gamma sinh(alpha): Lemma 11, a little sharper.

    What a learner of edge gamma takes off the cumulative loss, per unit of importance; at least gamma^2/2 if F holds
    [-ln 2, ln 2], and max(gamma, 0)^2/2 if F holds [0, ln 2].
    """
    alpha = np.clip(np.arctanh(np.clip(edges, -1.0 + 1e-16, 1.0 - 1e-16)), low, high)
    return 1.0 - np.cosh(alpha) + edges * np.sinh(alpha)


def expert_terms(loss: str, k: int, edges: np.ndarray, low: float, high: float) -> tuple[float, float, float]:
    """a, b, c such that the best expert makes at most (a T + b sqrt(T)) / c mistakes."""
    n = edges.size
    if loss in ("logistic", "softmax"):
        # regret sqrt(2) D G sqrt(T) of each learner's weight; first loss L0; a mistake costs at least 1/2
        steepest, first = (k - 1.0, (k - 1) * math.log(2.0)) if loss == "logistic" else (1.0, math.log(k))
        regret = math.sqrt(2.0) * (high - low) * steepest
        return 2.0 * first, 2.0 * n * regret, float(progress(edges, low, high).sum())
    if loss == "exponential":
        steps = sum(math.exp(min(i, 230)) + math.exp(min(3 * i, 700)) for i in range(1, n + 1))
        return 2.0 * (k - 1), 4.0 * math.sqrt(2.0) * (k - 1) * steps, float((edges**2).sum())
    root = math.sqrt(n)
    rest = math.sqrt(2.0) * n * ((k - 1 + root) + ((k - 1) * (1 + root)) ** 2 / (k - 1 + root))
    return (k - 1) * root, rest, float(np.abs(edges).sum())


THEOREMS = {"logistic": "Theorem 5", "softmax": "Theorem 5", "exponential": "Theorem 12", "square_hinge": "Theorem 13"}


def adaptive_bound(
    loss: str,
    *,
    follow: str,
    weight_range: tuple[float, float],
    k: int,
    rounds: int,
    edges: np.ndarray,
    mistakes: int,
    best_expert: float,
    n_experts: int | None = None,
    risk: float = 0.05,
) -> Bound:
    """Theorem 5 (logistic; carried over to softmax), 12 (exponential) or 13 (square hinge): docs/theory.md, 4 to 6.

    For label and probability votes alike. `follow="draw"` holds with probability 1 - risk over Hedge's draws. Hedge
    follows `n_experts`, the theorem's N unless more are given.
    """
    theorem, t = THEOREMS[loss], rounds
    low, high = weight_range
    a, b, strength = expert_terms(loss, k, edges, low, high)
    if strength <= 0.0 or not low <= 0.0 <= high:
        return Bound(theorem, t, mistakes, math.inf, math.inf, best_expert, math.inf)
    expert_value = (a * t + b * math.sqrt(t)) / strength
    value = HEDGE[follow] * (expert_value + math.log(n_experts or edges.size))
    if follow == "draw":
        value += math.sqrt(0.5 * t * math.log(1.0 / risk))
    return Bound(theorem, t, mistakes, value, HEDGE[follow] * a / strength, best_expert, expert_value)


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
