"""Bounds of the theorems with their constants, beside the mistakes, rank loss or regret of a run.

- Mistakes: Jung, Goetz and Tewari 2017, Theorem 2, Corollary 3 and Lemma 9 (OnlineMBBM), Theorems 5, 12, 13
  (Adaboost.OLM). The paper hides lower-order terms in O~; here they are written out from the proofs.
- Rank loss: Jung and Tewari 2018, Theorem 2 and Corollary 3 (OnlineBMR), Theorem 5 (Ada.OLMR) as docs/theory.md
  corrects it.
- Regret of streaming gradient boosting: Hu et al. 2017, Theorems 5.1 and 5.2:

| paper   | here                                                                        |
|---------|-----------------------------------------------------------------------------|
| gamma   | edge: Definition 4.1, measured, so that the excess loss R(T) is part of it  |
| lambda  | strong convexity                                                            |
| beta    | smoothness                                                                  |
| B, G    | largest loss and largest gradient norm met                                  |
| f*      | the best prediction for each example alone: the strongest comparator        |

Bounds under bandit feedback are in `edgewise.theory.bandits`.
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
    """A mistake bound and the run it is for."""

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
        counted = f"{self.mistakes} mistakes in {self.rounds} rounds; at most {self.value:.0f} are allowed"
        return _in_words(self, counted, "of all rounds")


def adaptive_edges(costs: np.ndarray) -> np.ndarray:
    """gamma_i = sum C(vote) / sum C(right), 0 before the first round.

    `costs` [N, 2] are those sums, of costs that sum to 0 over the labels.
    """
    of_vote, of_right = costs[:, 0], costs[:, 1]
    return np.divide(of_vote, of_right, out=np.zeros(of_vote.size), where=of_right < 0.0)


def majority_edges(costs: np.ndarray, importance: np.ndarray, k: int) -> np.ndarray:
    """gamma_i = 1 - k sum(w D(vote)) / sum(w), 0 before the first round.

    The first column of `costs` has sum(w D(vote)), of costs that are 0 for the right label.
    """
    share = np.divide(costs[:, 0], importance, out=np.full(importance.size, 1.0 / k), where=importance > 0.0)
    return 1.0 - k * share


def edges_of(sums: np.ndarray) -> np.ndarray:
    """gamma_i = 1 - sum ||target - h||^2 / sum ||target||^2: Definition 4.1 with R(T) = 0; 0 before the first round."""
    share = np.divide(sums[:, 1], sums[:, 0], out=np.ones(len(sums)), where=sums[:, 0] > 0.0)
    return 1.0 - share


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


REGRET = 9.0  # of learner weights, times sqrt(T): Section 3.2, for steps 1/sqrt(t) and F = [-2, 2]


@dataclass(frozen=True)
class RankBound:
    """A bound on the cumulative rank loss and the run it is for."""

    theorem: str
    rounds: int
    loss: float
    """Rank loss suffered, summed over rounds."""
    value: float
    """Rank loss that the theorem allows, all terms counted."""
    leading: float
    """Its leading term: what remains, per round, when the stream is long."""
    best_expert: float | None = None
    """Rank loss of the best expert but the last, which Theorem 5 leaves out."""
    expert_value: float | None = None
    """Rank loss that the proof allows that expert; holds for every run, without probability."""

    def __str__(self) -> str:
        counted = f"rank loss {self.loss:.1f} in {self.rounds} rounds; at most {self.value:.1f} is allowed"
        return _in_words(self, counted, "per round")


def _in_words(bound: Bound | RankBound, counted: str, unit: str) -> str:
    vacuous = "" if bound.value < bound.rounds else " (more than there were rounds: the bound says nothing yet)"
    in_the_long_run = f"; in the long run {bound.leading:.3g} {unit}" if bound.leading < 1.0 else ""
    return f"{bound.theorem}: {counted}{vacuous}{in_the_long_run}"


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


@dataclass(frozen=True)
class RegretBound:
    """A bound on the mean regret per round and the run it is for."""

    theorem: str
    rounds: float
    regret: float
    """Mean loss of the predictions above that of the best prediction for each example."""
    value: float
    """Mean regret that the theorem allows; infinite where its conditions do not hold."""
    edge: float
    """The least edge of any learner."""

    def __str__(self) -> str:
        counted = f"{self.theorem}: mean regret {self.regret:.4g} over {self.rounds:.0f} rounds"
        if math.isinf(self.value):
            return f"{counted}; the theorem says nothing of this run (least edge {self.edge:.3g})"
        return f"{counted}; at most {self.value:.4g} is allowed (least edge {self.edge:.3g})"


def step_from_edge(edge: float, smoothness: float) -> float:
    """eta = gamma / (beta (8 - 4 gamma)), eq. (28)."""
    return edge / (smoothness * (8.0 - 4.0 * edge))


def shrinkage(
    of_target: float, of_error: float, of_prediction: float, rate: float, strong_convexity: float, smoothness: float
) -> float:
    """C of eq. (26) from a learner's measured sums: the factor by which it changes the regret, at most.

    Smoothness gives Delta_i <= Delta_(i-1) - D with D = eta sum <nabla, h> - beta eta^2/2 sum ||h||^2. By eq. (18),
    sum ||nabla||^2 is at least 2 lambda Delta_(i-1), and at most 2 beta Delta_(i-1). So no condition on edge or step is
    needed, and for the squared loss the inequality is an equality.
    """
    if of_target <= 0.0:
        return 1.0
    along = 0.5 * (of_target + of_prediction - of_error)
    gain = rate * along - 0.5 * smoothness * rate * rate * of_prediction
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
    for (of_target, of_error, of_prediction), rate in zip(sums.tolist(), rates.tolist(), strict=True):
        value *= shrinkage(of_target, of_error, of_prediction, rate, strong_convexity, smoothness)
    return RegretBound("Theorem 5.1", rounds, regret, value, float(edges_of(sums).min()))


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
