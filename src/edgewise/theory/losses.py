"""Surrogate losses of Adaboost.OLM: value, cost row, derivative, step size and feasible set of each.

Jung, Goetz and Tewari, "Online Multiclass Boosting" (2017), Section 4 and Appendix D.

Each loss is a sum over wrong labels l of a function of the difference z = s(l) - s(r), r the right label:

| loss         | of z              | slope in z     | paper      | F        |
|--------------|-------------------|----------------|------------|----------|
| logistic     | log(1 + exp(z))   | 1/(1+exp(-z))  | (8), (9)   | [-2, 2]  |
| exponential  | exp(z)            | exp(z)         | (36), (37) | [-2, 2]  |
| square hinge | (z + 1)_+^2 / 2   | (z + 1)_+      | (39), (40) | [-c, c]  |

A fourth, softmax cross-entropy -log(exp(s(r)) / sum_l exp(s(l))), is not a sum over labels; its cost row is
softmax(s) - e_r. docs/theory.md carries Theorem 5 over to it.

The cost row C(r) is the gradient in s: the slope for each wrong label, minus their sum for the right one. The
derivative (10), (38), (41) of f(alpha) = L(s + alpha e_l) is then one entry of the cost row at s + alpha e_l, so it
needs no formula of its own (the paper's (10) has a sign wrong in its second case).
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import entry_point, inlined, noinline
from edgewise.theory.elementary import MANY, exp, exp_apart

LOGISTIC, EXPONENTIAL, SQUARE_HINGE, SOFTMAX = 0, 1, 2, 3
LOSSES = {"logistic": LOGISTIC, "exponential": EXPONENTIAL, "square_hinge": SQUARE_HINGE, "softmax": SOFTMAX}

# A vote must be cheaper by more than rounding to displace a lower label: equal costs are common and exact in theory.
TIE = 1e-12
# Beyond these, odds of labels are no longer carried on: a factor more and they might be 0 or infinite.
LEAST_ODDS, MOST_ODDS = 1e-200, 1e200


@inlined
def pair_value(loss, z):
    """The loss of one wrong label whose score exceeds the right one's by z."""
    if loss == LOGISTIC:
        return max(z, 0.0) + math.log1p(math.exp(-abs(z)))
    if loss == EXPONENTIAL:
        return math.exp(z)
    return 0.5 * max(z + 1.0, 0.0) ** 2


@inlined
def pair_slope(loss, z):
    """Derivative of `pair_value` in z."""
    if loss == LOGISTIC:
        return 1.0 / (1.0 + math.exp(-z))
    if loss == EXPONENTIAL:
        return math.exp(z)
    return max(z + 1.0, 0.0)


@inlined
def softmax(scores, out):
    """out(l) = exp(s(l)) / sum of all: the probabilities that scores stand for."""
    top = scores[0]
    for l in range(1, scores.size):
        top = max(top, scores[l])
    total = 0.0
    for l in range(scores.size):
        out[l] = math.exp(scores[l] - top) if scores[l] != top else 1.0
        total += out[l]
    for l in range(scores.size):
        out[l] /= total


@inlined
def log_total(scores):
    """log(sum_l exp(s(l))), without overflow."""
    top = scores[0]
    for l in range(1, scores.size):
        top = max(top, scores[l])
    total = 0.0
    for l in range(scores.size):
        total += math.exp(scores[l] - top)
    return top + math.log(total)


@inlined
def largest_right_cost(loss, k):
    """The divisor for an importance in [0, 1] from -C(y, y) (exponential and square hinge loss: at s = 0)."""
    return 1.0 if loss == SOFTMAX else k - 1.0


@inlined
def loss_value(loss, scores, label):
    """L^label(scores): eq. (8), (36), (39), or cross-entropy."""
    if loss == SOFTMAX:
        return log_total(scores) - scores[label]
    total = 0.0
    for l in range(scores.size):
        if l != label:
            total += pair_value(loss, scores[l] - scores[label])
    return total


@noinline
def cost_row(loss, scores, label, out):
    """C(label): the gradient of the loss at `scores`, eq. (9), (37) or (40)."""
    if loss == SOFTMAX:
        softmax(scores, out)
        out[label] -= 1.0
        return
    if loss == LOGISTIC and scores.size >= MANY:
        out[label] = -logistic_slopes(scores, label, out)
        return
    total = 0.0
    for l in range(scores.size):
        if l != label:
            out[l] = pair_slope(loss, scores[l] - scores[label])
            total += out[l]
    out[label] = -total


@noinline
def logistic_slopes(scores, label, out):
    """`cost_row` for the logistic loss and many labels: fills `out`; the sum over wrong labels."""
    for l in range(scores.size):
        out[l] = 1.0 / (1.0 + exp(scores[label] - scores[l]))
    out[label] = 0.0
    total = 0.0
    for l in range(scores.size):
        total += out[l]
    return total


@inlined
def costs_after_vote(scores, label, vote, factor, odds, out):
    """`cost_row` of the logistic loss once the score of `vote` has risen by alpha; what the vote costs then.

    Kept from vote to vote are odds(l) = exp(s(label) - s(l)), which a vote multiplies: those of all others by
    `factor` = exp(alpha) if it is right, its own by `factor` = exp(-alpha) if it is wrong. Each product may round, as
    may each sum in the scores. Odds too small or too large to be multiplied on are taken from the scores.
    """
    if scores.size == 2:
        return two_costs_after_vote(scores, label, vote, factor, odds, out)
    extreme = False
    if vote == label:
        for l in range(scores.size):
            odds[l] *= factor
            extreme |= (odds[l] < LEAST_ODDS) | (odds[l] > MOST_ODDS)
            out[l] = 1.0 / (1.0 + odds[l])
        odds[label] = 1.0
    else:
        odds[vote] *= factor
        extreme = (odds[vote] < LEAST_ODDS) | (odds[vote] > MOST_ODDS)
        out[vote] = 1.0 / (1.0 + odds[vote])
    if extreme:
        fresh_odds(scores, label, odds, out)
    out[label] = 0.0
    total = 0.0
    for l in range(scores.size):
        total += out[l]
    out[label] = -total
    return -total if vote == label else out[vote]


@inlined
def two_costs_after_vote(scores, label, vote, factor, odds, out):
    """`costs_after_vote` of two labels, the same bit for bit: any vote multiplies the odds of the wrong one."""
    other = 1 - label
    carried = odds[other] * factor
    if (carried < LEAST_ODDS) | (carried > MOST_ODDS):
        carried = exp_apart(scores[label] - scores[other])
    odds[other] = carried
    cost = 1.0 / (1.0 + carried)
    out[other] = cost
    out[label] = -cost
    return -cost if vote == label else cost


@noinline
def fresh_odds(scores, label, odds, out):
    """The odds that `costs_after_vote` keeps, and the slopes, from the scores."""
    for l in range(scores.size):
        odds[l] = exp(scores[label] - scores[l])
        out[l] = 1.0 / (1.0 + odds[l])


@noinline
def expected_costs(loss, scores, p, out, e):
    """out(l) = sum_r p(r) C(r, l): what a vote for l costs on average if r is right with probability p(r).

    `e` is a workspace for k numbers.
    """
    k = scores.size
    if loss == SOFTMAX:
        softmax(scores, out)
        for l in range(k):
            out[l] -= p[l]
        return
    top = scores[0]
    for l in range(1, k):
        top = max(top, scores[l])
    for l in range(k):
        out[l] = 0.0
        # exp(s_l - s_r) as a ratio of k exponentials, not k^2 of them; the cut keeps ratios of hopeless labels finite
        e[l] = math.exp(max(scores[l] - top, -340.0))
    # C(r, l) and C(l, r) enter out(l): the first as the cost of l if r is right, the second, negated, in C(l, l). The
    # term of r = l is 0. The inner loop goes over l, so that it vectorizes.
    for r in range(k):
        if loss == LOGISTIC:
            for l in range(k):
                out[l] += (p[r] + p[l]) * (e[l] / (e[l] + e[r])) - p[l]  # C(l, r) = 1 - C(r, l)
        elif loss == EXPONENTIAL:
            for l in range(k):
                out[l] += p[r] * (e[l] / e[r]) - p[l] * (e[r] / e[l])
        else:
            for l in range(k):
                z = scores[l] - scores[r]
                out[l] += p[r] * max(z + 1.0, 0.0) - p[l] * max(1.0 - z, 0.0)


@inlined
def argmin_cost(costs):
    """The label of least cost; ties (up to rounding) go to the lowest label."""
    best = 0
    for l in range(1, costs.size):
        if costs[l] < costs[best] - TIE:
            best = l
    return best


@entry_point
def feasible(loss, n_learners):
    """Half-width of the feasible set F of learner weights: Section 4.2, Appendix D.1 and D.2 (c = 1/sqrt(N))."""
    if loss == SQUARE_HINGE:
        return 1.0 / math.sqrt(n_learners)
    return 2.0


@inlined
def shared_step(loss, k, n_learners, t):
    """Learning rate of online gradient descent in round t (from 1), but for the learner's `step_factor`."""
    if loss == SQUARE_HINGE:
        c = feasible(loss, n_learners)
        return math.sqrt(2.0) * c / ((k - 1 + c * n_learners) * math.sqrt(t))
    return 2.0 * math.sqrt(2.0) / (largest_right_cost(loss, k) * math.sqrt(t))


@inlined
def step_factor(loss, i):
    """The share of `shared_step` for learner i (from 0)."""
    return math.exp(-(i + 1.0)) if loss == EXPONENTIAL else 1.0


@entry_point
def step_size(loss, k, n_learners, i, t):
    """Learning rate of online gradient descent for learner i (from 0) in round t (from 1)."""
    return shared_step(loss, k, n_learners, t) * step_factor(loss, i)
