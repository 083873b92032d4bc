"""Losses over label sets: the rank loss that a ranking suffers, and the gradient that Ada.OLMR learns from.

Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018), Sections 3.1 and 3.2.

A loss is a mean over pairs of a relevant label l and an irrelevant label r, so it carries w_Y = 1/(|Y| |Y^c|); the
paper leaves w_Y out of (15) and (16). Kernels take scores with those of the |Y| relevant labels first, so that their
loops run over neighbors.

| loss     | of a pair                                |
|----------|------------------------------------------|
| rank     | 1(s[l] < s[r]) + 1(s[l] = s[r])/2        |
| hinge    | (1 + s[r] - s[l])_+                      |
| logistic | log(1 + exp(s[r] - s[l]))                |
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined

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

    1/(1 + exp(s[l] - s[r])) is a ratio of exponentials, so k of them are enough (`exps`, working room).
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
