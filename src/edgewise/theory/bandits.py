"""Boosting from right and wrong alone: exploration, estimates of the 0-1 loss, random costs, and mistake bounds.

Zhang, Jung and Tewari, "Online Multiclass Boosting with Bandit Feedback" (2018), Sections 2.2 and B.3; Theorem 3.2
(BanditBBM), Theorem 3.3 (AdaBandit) and the exploration rates after them. The paper hides lower-order terms in O~; here
they are written out from Appendices A.3 and A.4, with the repairs that docs/bandits.md derives.

| paper           | here                       | meaning                                                              |
|-----------------|----------------------------|----------------------------------------------------------------------|
| y-hat           | `guess`                    | what the booster would predict                                       |
| y-tilde         | `shown`                    | the label after exploration                                          |
| rho             | `rate`, `rates`            | exploration rate, of each round                                      |
| p_t             | `propensity`               | distribution (2) of the shown label                                  |
| l-hat^{0-1}     | 1 - `kept`                 | estimate (4), or the simple one (3)                                  |
| 1 - l-hat^{0-1} | `kept`                     | estimate of e_y: which label is right; costs need no more of it      |
| c-hat           | `random_costs`             | random cost vector (5), from the gradient of a loss                  |
| l, w of B.3     | `taught_label`, `surplus`  | label and importance with which a learner learns a cost vector       |
| k / rho         | `largest_loss`             | what the estimate (4) of the 0-1 loss can rise to                    |
| S sum w^{i*}    | `excess`                   | what votes cost beyond the edge, as the run had it                   |
| gamma_i         | `edges`                    | empirical edges                                                      |
| eta_t           | `steps`                    | learning rates of the learner weights                                |
| M_i             | `best_expert`              | mistakes of the best expert                                          |
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.kernels.compile import entry_point, inlined
from edgewise.theory.bounds import Bound, progress
from edgewise.theory.losses import SOFTMAX, expected_costs, softmax
from edgewise.theory.potentials import asymptotic_error

FULL, SIMPLE = 0, 1
ESTIMATES = {"full": FULL, "simple": SIMPLE}

# Costs this close, relative to the least one if that is large, are equal but for rounding.
TIE = 1e-9


@inlined
def propensity(guess, rate, k, label):
    """p(label) of eq. (2)."""
    return 1.0 - rate if label == guess else rate / (k - 1)


@inlined
def explored(guess, rate, k, u):
    """The label drawn from (2), from u uniform in [0, 1)."""
    if u >= rate:
        return guess
    other = min(int(u / rate * (k - 1)), k - 2)
    return other + 1 if other >= guess else other


@inlined
def estimate(kind, guess, shown, correct, rate, kept):
    """Fill `kept` with 1 - l-hat: the estimate (4), or (3), of which label is right.

    It is 1 on average for the right label and 0 for the others, over the draw of `shown`.
    """
    k = kept.size
    odds = 1.0 / propensity(guess, rate, k, shown)
    for l in range(k):
        known_wrong = correct and shown != l and (kind == SIMPLE or guess != l)
        refuted = kind == FULL and not correct and shown == guess and guess == l
        kept[l] = 1.0 - odds if known_wrong or refuted else 1.0


@entry_point
def random_costs(loss, scores, kept, out, e):
    """c-hat of eq. (5) for the cost matrix (10) of a loss: sum over r of kept(r) times the gradient were r right.

    `e` is a workspace for k numbers.
    """
    if loss == SOFTMAX:
        total = 0.0
        for r in range(kept.size):
            total += kept[r]
        softmax(scores, out)
        for l in range(kept.size):
            out[l] = total * out[l] - kept[l]
    else:
        expected_costs(loss, scores, kept, out, e)


@entry_point
def right_cost(loss, scores, kept, e):
    """The estimate of C(y, y), the cost of the right label: sum over r of kept(r) C(r, r).

    `e` is a workspace for k numbers.
    """
    k = kept.size
    top = scores[0]
    for l in range(1, k):
        top = max(top, scores[l])
    whole = 0.0
    for l in range(k):
        e[l] = math.exp(max(scores[l] - top, -340.0))  # keeps ratios of hopeless labels finite
        whole += e[l]
    total = 0.0
    for r in range(k):
        if loss == SOFTMAX:
            total += kept[r] * (e[r] / whole - 1.0)
        else:
            wrong = -0.5  # the term of l = r
            for l in range(k):
                wrong += e[l] / (e[l] + e[r])
            total -= kept[r] * wrong
    return total


@inlined
def tamed(costs, clip, grain, out):
    """Costs brought into [-clip, clip] and rounded to a multiple of `grain`, if that is positive (B.3)."""
    for l in range(costs.size):
        cost = min(max(costs[l], -clip), clip)
        out[l] = math.floor(cost / grain + 0.5) * grain if grain > 0.0 else cost


@inlined
def taught_label(costs, shown, correct, u):
    """The label of least cost: the right one if it is known and among the least, else one of them by u (B.3)."""
    least = costs[0]
    for l in range(1, costs.size):
        least = min(least, costs[l])
    most = least + TIE * max(1.0, abs(least))
    if correct and costs[shown] <= most:
        return shown
    ties = 0
    for l in range(costs.size):
        ties += costs[l] <= most
    chosen = min(int(u * ties), ties - 1)
    for l in range(costs.size):
        if costs[l] <= most:
            if chosen == 0:
                break
            chosen -= 1
    return l


@inlined
def surplus(costs, label):
    """w of B.3: the sum over labels of their cost above that of `label`."""
    total = 0.0
    for l in range(costs.size):
        total += costs[l] - costs[label]
    return max(total, 0.0)  # below it by a rounding error, if others tie with `label`


def theory_rate(
    k: int, n_learners: int, rounds: int | np.ndarray, squared_edges: float | None = None
) -> float | np.ndarray:
    """The exploration rate that balances the terms of the bound: after Theorem 3.2, or, given sum gamma_i^2, after 3.3.

    `rounds` is the length T of the stream, for a constant rate; the number t of a round, for a rate that decays and
    needs no T. Never more than 1 - 1/k, where all labels are shown equally often.
    """
    if squared_edges is None:
        rate = k**1.75 * n_learners**0.25 / np.sqrt(rounds)
    elif squared_edges > 0.0:
        rate = k * n_learners ** (2.0 / 3.0) / np.cbrt(np.asarray(rounds) * squared_edges)
    else:
        raise ValueError(f"squared_edges={squared_edges!r}: the sum of squares of the edges, a positive number")
    rate = np.minimum(rate, 1.0 - 1.0 / k)
    return float(rate) if np.ndim(rate) == 0 else rate


def largest_loss(k: int, rates: np.ndarray) -> np.ndarray:
    """The largest value of the estimate (4) of the 0-1 loss of a label."""
    by_guess = 1.0 / (1.0 - rates)
    return by_guess if k == 2 else np.maximum(by_guess, (k - 1.0) / rates)


def hedge_factor(follow: str, k: int, rate: float) -> float:
    """Mistakes of the guess for each mistake of the best expert, on average: docs/bandits.md, section 4.

    Hedge learns from estimates beyond 1, where the corollary that (14) cites does not hold; this does.
    """
    fall = (1.0 - rate) * (1.0 - math.exp(-1.0 / (1.0 - rate)))
    return {"draw": (k - 1) / fall, "vote": k / fall, "best": math.inf}[follow]


def explored_mistakes(rates: np.ndarray, risk: float) -> float:
    """Mistakes that exploration adds to those of the guess, with probability 1 - risk: end of Appendix A.3."""
    return float(rates.sum()) + _deviation(rates.size, risk)


def excess_noise(k: int, rates: np.ndarray, risk: float) -> float:
    """How far an excess estimated from right and wrong may lie below the true one, with probability 1 - risk.

    The learners' excess telescopes in a round to the error less phi_N(0), whose estimate has a spread of at most
    (k - 1) `largest_loss`.
    """
    return (k - 1) * _deviation(float((largest_loss(k, rates) ** 2).sum()), risk)


def bandit_majority_bound(
    *,
    k: int,
    n_learners: int,
    edge: float,
    rates: np.ndarray,
    excess: float,
    mistakes: int,
    noise: float = 0.0,
    risk: float = 0.05,
) -> Bound:
    """Theorem 3.2 with the learners' own excess in place of S sum w^{i*}; holds with probability 1 - risk.

    `excess` is sum_t c(vote) - c . u_gamma over all learners: measured where the labels are known, else estimated by
    the random costs, and then `noise` is `excess_noise`.
    """
    error = asymptotic_error(k, n_learners, edge)
    value = error * rates.size + excess + noise + explored_mistakes(rates, risk)
    return Bound("Theorem 3.2", rates.size, mistakes, value, error + _last(rates))


def adaptive_bandit_bound(
    loss: str,
    *,
    follow: str,
    weight_range: tuple[float, float],
    k: int,
    rates: np.ndarray,
    edges: np.ndarray,
    mistakes: int,
    best_expert: float | None = None,
    steps: np.ndarray | None = None,
    risk: float = 0.05,
) -> Bound:
    """Theorem 3.3, for the logistic and the softmax loss; all of it holds with probability 1 - risk.

    `steps` are learning rates that never grow; None for Algorithm 3's, rho / (k^2 sqrt(t)). `edges` are those of the
    true costs; with edges estimated from right and wrong, so is the bound.
    """
    low, high = weight_range
    n, t = edges.size, rates.size
    strength = float(progress(edges, low, high).sum()) if low <= 0.0 <= high else 0.0
    if loss not in ("logistic", "softmax") or strength <= 0.0 or t == 0:
        return Bound("Theorem 3.3", t, mistakes, math.inf, math.inf, best_expert, math.inf)
    # one event for each of: 2 martingales of each learner's weight (one of them both ways), the estimated loss of each
    # expert, the fall of the sum of Hedge's weights, exploration
    share = risk / (4 * n + 2)
    largest = largest_loss(k, rates)
    steepest, first = (2.0 * (k - 1), (k - 1) * math.log(2.0)) if loss == "logistic" else (k - 1.0, math.log(k))
    slope_squares = (steepest * largest) ** 2
    pace = rates / (k * k * np.sqrt(np.arange(1, t + 1))) if steps is None else steps
    regret = (high - low) ** 2 / (2.0 * float(pace[-1])) + 0.5 * float((pace * slope_squares).sum())
    regret += 4.0 * max(-low, high) * _deviation(float(slope_squares.sum()), share)
    expert_value = (2.0 * first * t + 2.0 * n * regret) / strength
    factor = hedge_factor(follow, k, float(rates.max()))
    noise = _deviation(float((largest**2).sum()), share) + _deviation(t, share)
    value = factor * (expert_value + math.log(n) + noise) + explored_mistakes(rates, share)
    leading = factor * 2.0 * first / strength + _last(rates)
    return Bound("Theorem 3.3", t, mistakes, value, leading, best_expert, expert_value)


def _deviation(squared_widths: float, risk: float) -> float:
    """Azuma and Hoeffding: a sum of martingale differences in intervals of these widths exceeds this with `risk`."""
    return math.sqrt(0.5 * squared_widths * math.log(1.0 / risk))


def _last(rates: np.ndarray) -> float:
    return float(rates[-1]) if rates.size else 0.0
