"""Losses over label sets, and the exact potentials of two of them.

Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018), Section 3, eq. (1), (2) and Appendix A.

A loss is a mean over pairs of a relevant label l and an irrelevant label r, so it carries w_Y = 1/(|Y| |Y^c|); the
paper leaves w_Y out of (15) and (16). Kernels take scores with those of the |Y| relevant labels first, so that their
loops run over neighbors.

| loss     | of a pair                                |
|----------|------------------------------------------|
| rank     | 1(s[l] < s[r]) + 1(s[l] = s[r])/2        |
| hinge    | (1 + s[r] - s[l])_+                      |
| logistic | log(1 + exp(s[r] - s[l]))                |

Potentials of the rank and the hinge loss are closed forms over pairs:

| paper         | here                                                                     |
|---------------|--------------------------------------------------------------------------|
| i             | `to_go`, the learners still to vote                                      |
| u_gamma^Y     | a = (1 - gamma |Y|)/k for an irrelevant label, a + gamma for a relevant  |
| X_r - X_l     | D, a walk: +1 with probability a, -1 with a + gamma, else 0              |
| c_t^i         | `potential_costs`, up to a number that all labels share                  |
| phi_t^N(0)    | `PairPotentials.start`                                                   |

With delta = s[r] - s[l], the potential is the mean of P(D > -delta) + P(D = -delta)/2 (rank) or E(1 + delta + D)_+
(hinge). One more vote for a label moves only its own pairs: costs need only the step of a potential from delta to
delta + 1. Steps are tabulated at whole deltas. Between them the step of the hinge potential is linear, so interpolation
is exact for all real scores; the rank potential takes whole scores only. Gamma may not exceed 1/|Y|, or a would be
negative: it is capped there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined
from edgewise.kernels.state import state
from edgewise.theory.elementary import whole_part

# exp(+-EXPONENT) is finite and its inverse is a normal number: scores further than twice this apart count as so far.
EXPONENT = 340.0


@inlined
def rank_loss(scores, size):
    """L_rank^Y: the share of pairs in the wrong order, ties counted half; the first `size` scores are relevant."""
    k = scores.size
    halves = 0
    for l in range(size):
        own = scores[l]
        for r in range(size, k):
            halves += (1 if scores[r] > own else 0) + (1 if scores[r] >= own else 0)
    return 0.5 * halves / (size * (k - size))


@inlined
def logistic_costs(scores, size, exps, costs):
    """The gradient (8) of the pairwise logistic loss; the first `size` scores are relevant. Its entries sum to 0.

    1/(1 + exp(s[l] - s[r])) is a ratio of exponentials, so k of them are enough (`exps`, a workspace).
    """
    k = scores.size
    low = high = scores[0]
    for l in range(1, k):
        low = min(low, scores[l])
        high = max(high, scores[l])
    middle = 0.5 * (low + high)
    for l in range(k):
        exps[l] = math.exp(min(max(scores[l] - middle, -EXPONENT), EXPONENT))
        costs[l] = 0.0
    share = 1.0 / (size * (k - size))
    for l in range(size):
        total = 0.0
        for r in range(size, k):
            slope = exps[r] / (exps[r] + exps[l])
            costs[r] += slope
            total += slope
        costs[l] = -share * total
    for r in range(size, k):
        costs[r] *= share


PAIR_LOSSES = ("rank", "hinge")
NOT_YET = -1


@state
class PairPotentials(NamedTuple):
    """Tables for every number of relevant labels that has come up: a function of the settings, not a memory."""

    edge: np.ndarray  # [k + 1] gamma by |Y|, capped at 1/|Y|
    slot: np.ndarray  # [k + 1] where the tables of |Y| stand; -1 if they are not made yet
    start: np.ndarray  # [made] phi^N(0)
    steps: np.ndarray  # [made, N, 2N + 5] potential at delta + 1 minus that at delta; delta = 0 stands at N + 2


def pair_potentials(k: int, n_learners: int, edge: float) -> PairPotentials:
    """The potentials of a booster, without tables."""
    sizes = np.arange(k + 1)
    return PairPotentials(
        np.minimum(edge, 1.0 / np.maximum(sizes, 1)),
        np.full(k + 1, NOT_YET),
        np.zeros(0),
        np.zeros((0, n_learners, 2 * n_learners + 5)),
    )


def with_sizes(potentials: PairPotentials, loss: str, sizes: np.ndarray) -> PairPotentials:
    """The potentials with tables for these numbers of relevant labels."""
    new = [int(size) for size in np.unique(sizes) if potentials.slot[size] == NOT_YET]
    if not new:
        return potentials
    k, n_learners = potentials.slot.size - 1, potentials.steps.shape[1]
    made = [pair_table(loss, n_learners, k, size, float(potentials.edge[size])) for size in new]
    slot = potentials.slot.copy()
    slot[new] = potentials.start.size + np.arange(len(new))
    return potentials._replace(
        slot=slot,
        start=np.concatenate([potentials.start, [start for start, _ in made]]),
        steps=np.concatenate([potentials.steps, np.stack([steps for _, steps in made])]),
    )


def pair_table(loss: str, n_learners: int, k: int, size: int, edge: float) -> tuple[float, np.ndarray]:
    """phi^N(0) and the steps [N, 2N + 5] of the potential of one pair, for `size` relevant labels of k."""
    up = max(1.0 - edge * size, 0.0) / k
    down = up + edge
    middle = n_learners + 2
    steps = np.zeros((n_learners, 2 * middle + 1))
    p = np.zeros(2 * middle + 1)  # P(D = d), d from -(N + 2)
    p[middle] = 1.0
    for to_go in range(n_learners):
        mirrored = p[::-1]  # P(D = -delta)
        if loss == "rank":
            steps[to_go] = 0.5 * (mirrored + np.append(mirrored[1:], 0.0))
        else:
            steps[to_go] = np.cumsum(np.append(mirrored[1:], 0.0)) + mirrored[0]
        p = (1.0 - up - down) * p + up * np.roll(p, 1) + down * np.roll(p, -1)
    d = np.arange(-middle, middle + 1)
    value = (d > 0) + 0.5 * (d == 0) if loss == "rank" else np.maximum(1.0 + d, 0.0)
    return float(p @ value), steps


@inlined
def potential_costs(potentials, to_go, scores, size, costs):
    """c_t^i of (2), less the potential without a further vote; the first `size` scores are relevant."""
    k = scores.size
    steps = potentials.steps[potentials.slot[size], to_go]
    zero = steps.size // 2
    share = 1.0 / (size * (k - size))
    for r in range(size, k):
        costs[r] = 0.0
    for l in range(size):
        total = 0.0
        own = scores[l]
        for r in range(size, k):
            delta = scores[r] - own
            if not abs(delta) < zero - 1:  # votes are shares, so that scores differ by N at most: no votes give this
                delta = 0.0
            whole = math.floor(delta)
            part = delta - whole
            at = zero + whole_part(whole)
            here = steps[at]
            total += steps[at - 1] + part * (here - steps[at - 1])
            costs[r] += here + part * (steps[at + 1] - here)
        costs[l] = -share * total
    for r in range(size, k):
        costs[r] *= share
