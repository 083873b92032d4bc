"""What the theory says of a ranking run: bounds on the rank loss with their constants, beside the loss suffered.

Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018): Theorem 2 and Corollary 3 (OnlineBMR),
Theorem 5 (Ada.OLMR) as docs/theory.md corrects it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.theory.bounds import HEDGE, progress

REGRET = 9.0  # of learner weights, times sqrt(T): Section 3.2, for steps 1/sqrt(t) and F = [-2, 2]


@dataclass(frozen=True)
class RankBound:
    """A bound on the cumulative rank loss and the run it speaks of."""

    theorem: str
    rounds: int
    loss: float
    """Rank loss suffered, summed over rounds."""
    value: float
    """Rank loss that the theorem allows, all terms counted."""
    leading: float
    """Its leading term: what remains, per round, when the stream is long."""
    best_expert: float | None = None
    """Rank loss of the best expert but the last, which Theorem 5 does not look at."""
    expert_value: float | None = None
    """Rank loss that the proof allows that expert; holds for every run, without probability."""

    def __str__(self) -> str:
        told = f"{self.theorem}: rank loss {self.loss:.1f} in {self.rounds} rounds; at most {self.value:.1f} is allowed"
        if not self.value < self.rounds:
            told += " (more than there were rounds: the bound says nothing yet)"
        return f"{told}; in the long run {self.leading:.3g} per round" if self.leading < 1.0 else told


def majority_rank_bound(*, rounds: int, loss: float, start: float, excess: np.ndarray) -> RankBound:
    """Theorem 2 with the learners' measured excess in place of S w*: docs/theory.md, section 7.

    `start` is the sum over rounds of phi_t^N(0), which Corollary 3 bounds; `excess` is, for each learner, what its
    votes cost beyond those of a learner with the edge that was assumed.
    """
    return RankBound("Theorem 2", rounds, loss, start + float(excess.sum()), start / max(rounds, 1))


def adaptive_rank_bound(
    *, follow: str, rounds: int, loss: float, edges: np.ndarray, expert_losses: np.ndarray, risk: float = 0.05
) -> RankBound:
    """Theorem 5, corrected: docs/theory.md, section 8. `follow="draw"` holds with probability 1 - risk."""
    t, n = rounds, edges.size
    gains = progress(edges, -2.0, 2.0)
    strength = float(gains[1:].sum())
    if strength <= 0.0:
        return RankBound("Theorem 5", t, loss, math.inf, math.inf)
    leading = (2.0 * math.log(2.0) - float(gains[0])) / strength
    expert_value = leading * t + 2.0 * REGRET * n * math.sqrt(t) / strength
    best = float(expert_losses[:-1].min())
    if follow != "draw":
        return RankBound("Theorem 5", t, loss, math.inf, math.inf, best, expert_value)
    value = HEDGE["draw"] * (expert_value + math.log(n)) + math.sqrt(0.5 * t * math.log(1.0 / risk))
    return RankBound("Theorem 5", t, loss, value, HEDGE["draw"] * leading, best, expert_value)
