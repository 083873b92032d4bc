"""Hedge over the experts (Littlestone and Warmuth 1994; Freund and Schapire 1995), as Algorithm 2 uses it.

Expert i has weight v_i = exp(-mistakes_i). Weights are kept as mistakes, so that they never underflow.
"""

from __future__ import annotations

import math

from edgewise._compile import kernel

DRAW, VOTE = 0, 1
FOLLOW = {"draw": DRAW, "vote": VOTE}


@kernel
def expert_weights(losses, out):
    """out_i = exp(-losses_i), scaled so that the best expert has weight 1."""
    least = losses[0]
    for i in range(1, losses.size):
        least = min(least, losses[i])
    for i in range(losses.size):
        out[i] = math.exp(least - losses[i])


@kernel
def drawn(weights, u):
    """The expert drawn with probability proportional to its weight, from u uniform in [0, 1)."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i]
    cut = u * total
    seen = 0.0
    for i in range(weights.size):
        seen += weights[i]
        if seen > cut:
            return i
    return weights.size - 1


@kernel
def voted(weights, labels, shares):
    """The label with the largest total weight of experts (left in `shares`); ties go to the lowest label."""
    for l in range(shares.size):
        shares[l] = 0.0
    for i in range(weights.size):
        shares[labels[i]] += weights[i]
    best = 0
    for l in range(1, shares.size):
        if shares[l] > shares[best]:
            best = l
    return best


@kernel
def mean_scores(weights, learner_weights, votes, out):
    """Scores of the experts averaged with their Hedge weights.

    Expert j's scores are the votes of learners 1..j, so learner i counts with the weight of all experts from i on:
    one pass from the last learner to the first, instead of a sum over experts of sums over learners.
    """
    total = 0.0
    for i in range(weights.size):
        total += weights[i]
    for l in range(out.size):
        out[l] = 0.0
    tail = 0.0
    for i in range(weights.size - 1, -1, -1):
        tail += weights[i]
        out[votes[i]] += learner_weights[i] * tail / total
