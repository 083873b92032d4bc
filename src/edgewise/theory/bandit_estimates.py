"""What right or wrong tells of the true label: exploration, estimates of the 0-1 loss, random cost vectors.

Zhang, Jung and Tewari, "Online Multiclass Boosting with Bandit Feedback" (2018), Sections 2.2 and B.3.

| paper           | here                       | meaning                                                              |
|-----------------|----------------------------|----------------------------------------------------------------------|
| y-hat           | `guess`                    | what the booster would say                                           |
| y-tilde         | `shown`                    | what it says after exploration                                       |
| rho             | `rate`                     | exploration rate                                                     |
| p_t             | `propensity`               | distribution (2) of the shown label                                  |
| l-hat^{0-1}     | 1 - `kept`                 | estimate (4), or the simple one (3)                                  |
| 1 - l-hat^{0-1} | `kept`                     | estimate of e_y: which label is right; all that costs need of it     |
| c-hat           | `random_costs`             | random cost vector (5), from the gradient of a loss                  |
| l, w of B.3     | `taught_label`, `surplus`  | what a learner is taught of a cost vector                            |
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import entry_point, inlined
from edgewise.theory.losses import SOFTMAX, expected_costs, softmax

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

    `e` is working room for k numbers.
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

    `e` is working room for k numbers.
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
    """w of B.3: what the other labels cost more than `label`, together."""
    total = 0.0
    for l in range(costs.size):
        total += costs[l] - costs[label]
    return max(total, 0.0)  # below it by a rounding error, if others tie with `label`
