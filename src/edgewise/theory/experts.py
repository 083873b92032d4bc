"""Hedge over the experts (Littlestone and Warmuth 1994; Freund and Schapire 1995), as Algorithm 2 uses it.

Expert i has weight v_i = exp(-mistakes_i). Weights are kept as mistakes, so that they never underflow.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import WIDTH, load4, minimum, reduce_min

DRAW, VOTE, BEST = 0, 1, 2
FOLLOW = {"draw": DRAW, "vote": VOTE, "best": BEST}


@inlined
def smallest(values):
    """The least of some numbers, four at a time."""
    fours = values.size - values.size % WIDTH
    low = values[values.size - 1]
    if fours > 0:
        lows = load4(values, 0)
        for i in range(WIDTH, fours, WIDTH):
            lows = minimum(lows, load4(values, i))
        low = min(low, reduce_min(lows))
    for i in range(fours, values.size):
        low = min(low, values[i])
    return low


@inlined
def expert_weights(losses, gaps, out):
    """out_i = exp(-losses_i), scaled so that the best expert has weight 1.

    `gaps` and `out` are those of the call before (at first zeros and ones): most experts err together, so that most
    gaps to the best expert stay, and with them the exponentials.
    """
    least = smallest(losses)
    for i in range(losses.size):
        gap = least - losses[i]
        if gap != gaps[i]:
            gaps[i] = gap
            out[i] = math.exp(gap)


@inlined
def sample_index(weights, u):
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


@inlined
def argmax(weights):
    """The label of largest weight; ties go to the lowest label."""
    best = 0
    most = weights[0]
    for r in range(1, weights.size):
        if weights[r] > most:
            best = r
            most = weights[r]
    return best


@inlined
def voted(weights, labels, shares):
    """The label with the largest total weight of experts (left in `shares`); ties go to the lowest label."""
    for l in range(shares.size):
        shares[l] = 0.0
    label, share = labels[0], 0.0  # neighbours mostly agree: their sum waits in a register
    for i in range(weights.size):
        if labels[i] != label:
            shares[label] = share
            label = labels[i]
            share = shares[label]
        share += weights[i]
    shares[label] = share
    return argmax(shares)


@noinline
def add_to_hedge_mean(first, loss, scores, mean, total):
    """Take one more expert into the mean of the experts' scores, weighted by exp(-loss).

    `mean` holds the weighted sum and `total` the sum of weights and the least loss so far, which weights are relative
    to, so that nothing underflows. `first` begins anew.
    """
    if first:
        total[0] = 0.0
        total[1] = loss
        for l in range(scores.size):
            mean[l] = 0.0
    elif loss < total[1]:
        shrink = math.exp(loss - total[1])
        total[0] *= shrink
        total[1] = loss
        for l in range(scores.size):
            mean[l] *= shrink
    weight = math.exp(total[1] - loss)
    total[0] += weight
    for l in range(scores.size):
        mean[l] += weight * scores[l]
