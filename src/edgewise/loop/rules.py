"""How a booster judges a vote and moves: cheapest votes, importances, learner weights, the alarm for drift."""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined, merged
from edgewise.loop.state import OF_RIGHT, OF_VOTE, POTENTIAL, PROBABILITY, UNIFORM
from edgewise.theory.elementary import exp_apart
from edgewise.theory.losses import (
    LOGISTIC,
    cheapest,
    cost_row,
    costs_after_vote,
    expected_costs,
    feasible,
    largest_right_cost,
    shared_step,
    step_factor,
)
from edgewise.theory.potentials import cheapest_label, judged

LEAST_ERROR = 1e-10  # Oza's log((1 - e)/e) is infinite at e = 0
LARGEST_RATE = 500.0  # exp(-lambda) must not underflow
# Drift: a tree's error over about FAST examples is compared with that over about SLOW; see `drifted`.
FAST, SLOW, ALARM = 100.0, 2000.0, 4.0
ERROR_FAST, ERROR_SLOW, AGE = 0, 1, 2


@merged
def cheapest_vote(plan, potentials, scores, to_go, s):
    """The label that a learner with distribution s.p expects to cost least."""
    if plan.rule == POTENTIAL:
        return cheapest_label(potentials, to_go, scores, s.p, s.costs)
    expected_costs(plan.loss, scores, s.p, s.costs, s.slopes)
    return cheapest(s.costs)


@inlined
def poisson(rate, u):
    """The Poisson number whose distribution function first exceeds u."""
    rate = min(rate, LARGEST_RATE)
    mass = math.exp(-rate)
    below = mass
    count = 0
    while below <= u and (mass > 0.0 or count < rate):
        count += 1
        mass *= rate / count
        below += mass
    return count


@inlined
def oza_weight(right, wrong):
    """log((1 - e)/e), and nothing for a learner that is wrong more often than right, as AdaBoost.M1 has it."""
    if right + wrong <= 0.0:
        return 0.0
    error = min(max(wrong / (right + wrong), LEAST_ERROR), 1.0 - LEAST_ERROR)
    return max(0.0, math.log((1.0 - error) / error))


@inlined
def cost_of_vote(plan, costs, vote, p):
    """<C(y), h>: the cost of a vote for a label, or of a vote with probabilities."""
    if plan.vote != PROBABILITY:
        return costs[vote]
    total = 0.0
    for l in range(p.size):
        total += costs[l] * p[l]
    return total


@inlined
def take_vote(plan, scores, vote, p, alpha):
    """s^i = s^(i-1) + alpha h."""
    if plan.vote == PROBABILITY or plan.rule == UNIFORM:
        for l in range(scores.size):
            scores[l] += alpha * p[l]
    else:
        scores[vote] += alpha


@merged
def uniform_step(plan, committee, rule, i, scores, vote, p, chunk, t):
    """The learners alone: scores take the vote, and every example counts alike. An own rule stands in for this one."""
    take_vote(plan, scores, vote, p, committee.weight[i])
    return 1.0


@inlined
def clipped(x, low, high):
    """x, or the end of [low, high] that is nearest; min(max(x, low), high) became a call in the loop over learners."""
    if x < low:
        return low
    return high if x > high else x


@inlined
def gradient_importance(plan, committee, i, right, t, k):
    """The importance of an example whose right label costs `right`: raised to a power, and relative to its mean."""
    u = -right / largest_right_cost(plan.loss, k)
    if plan.importance_power != 1.0:
        u = max(u, 0.0) ** plan.importance_power
    committee.importance[i] += u
    if plan.normalize_importance:
        mean = committee.importance[i] / t
        u = u / mean if mean > 0.0 else 0.0
    return u


@inlined
def gradient_step(plan, committee, i, scores, costs, odds, vote, p, label, w, step):
    """Scores take the vote; learner i's edge and weight move; `costs` becomes the cost row at the new scores."""
    alpha = committee.weight[i]
    if plan.loss == LOGISTIC and plan.vote != PROBABILITY:
        factor = exp_apart(alpha if vote == label else -alpha)
        logistic_step(plan, committee, i, scores, costs, odds, vote, label, w, step, factor)
        return
    committee.costs[i, OF_VOTE] += w * cost_of_vote(plan, costs, vote, p)
    committee.costs[i, OF_RIGHT] += w * costs[label]
    take_vote(plan, scores, vote, p, alpha)
    cost_row(plan.loss, scores, label, costs)
    # f'(alpha) is the cost of the vote at the new scores: eq. (10), (38), (41)
    slope = cost_of_vote(plan, costs, vote, p)
    committee.weight[i] = clipped(alpha - step * w * slope, plan.weight_low, plan.weight_high)


@inlined
def logistic_step(plan, committee, i, scores, costs, odds, vote, label, w, step, factor):
    """`gradient_step` for the logistic loss and a vote for one label: see `costs_after_vote`."""
    committee.costs[i, OF_VOTE] += w * costs[vote]
    committee.costs[i, OF_RIGHT] += w * costs[label]
    alpha = committee.weight[i]
    scores[vote] += alpha
    slope = costs_after_vote(scores, label, vote, factor, odds, costs)
    committee.weight[i] = clipped(alpha - step * w * slope, plan.weight_low, plan.weight_high)


@inlined
def gradient_round(plan, committee, chunk, trace, i, t, vote, p):
    """Learner i votes on row t, whose label is known: what its importance is under GRADIENT."""
    label, scores, costs, odds = chunk.labels[t], trace.scores[t], trace.costs[t], trace.odds[t]
    if i == 0:
        cost_row(plan.loss, scores, label, costs)
        for l in range(odds.size):
            odds[l] = 1.0  # all scores are 0
    u = gradient_importance(plan, committee, i, costs[label], chunk.rounds[t], scores.size)
    step = trace.factors[i] * trace.steps[t]
    gradient_step(plan, committee, i, scores, costs, odds, vote, p, label, chunk.weights[t], step)
    return u


@inlined
def potential_round(plan, committee, potentials, chunk, trace, i, t, vote, p):
    """Learner i votes on row t, whose label is known: what its importance is under POTENTIAL."""
    to_go, scores = committee.weight.size - 1 - i, trace.scores[t]
    raw, excess = judged(potentials, to_go, chunk.labels[t], scores, vote, trace.ahead[t])
    committee.importance[i] += chunk.weights[t] * raw
    committee.costs[i, OF_VOTE] += chunk.weights[t] * excess
    take_vote(plan, scores, vote, p, committee.weight[i])
    return raw / plan.importance_bound


@inlined
def fill_steps(plan, n_learners, rounds, out, factors):
    """How far learner weights move in each round, and what each learner takes of that.

    The paper's step is for its own feasible set; it grows with the diameter.
    """
    diameter = (plan.weight_high - plan.weight_low) / (2.0 * feasible(plan.loss, n_learners))
    for t in range(rounds.size):
        out[t] = diameter * shared_step(plan.loss, plan.n_labels, n_learners, max(rounds[t], 1))
    for i in range(n_learners):
        factors[i] = step_factor(plan.loss, i)


@inlined
def drifted(errors, wrong):
    """Count one prediction of a tree; whether its error has risen so much that the tree should begin anew.

    Two running means of the error are kept, over about FAST and about SLOW examples. They agree but for chance unless
    the stream changed: FAST examples have a standard error of sqrt(e(1 - e)/FAST). Only a tree's own past counts, so
    that the order of learners and rounds may still be exchanged.
    """
    errors[AGE] += 1.0
    miss = 1.0 if wrong else 0.0
    errors[ERROR_FAST] += (miss - errors[ERROR_FAST]) / min(errors[AGE], FAST)
    errors[ERROR_SLOW] += (miss - errors[ERROR_SLOW]) / min(errors[AGE], SLOW)
    slow = errors[ERROR_SLOW]
    if errors[AGE] < 3.0 * FAST or errors[ERROR_FAST] <= slow + ALARM * math.sqrt(slow * (1.0 - slow) / FAST):
        return False
    errors[ERROR_FAST] = errors[ERROR_SLOW] = errors[AGE] = 0.0
    return True
