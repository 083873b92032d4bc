"""Parts that rules share: the cheapest vote, its cost, scores after it, importances, and weights in their range."""

from __future__ import annotations

from edgewise.kernels.compile import inlined, merged
from edgewise.loop.state import POTENTIAL, PROBABILITY, UNIFORM
from edgewise.theory.losses import argmin_cost, expected_costs
from edgewise.theory.potentials import cheapest_label


@merged
def cheapest_vote(plan, potentials, scores, to_go, s):
    """The label that a learner with distribution s.p expects to cost least, `to_go` learners before the last."""
    if plan.rule == POTENTIAL:
        return cheapest_label(potentials, to_go, scores, s.p, s.costs)
    expected_costs(plan.loss, scores, s.p, s.costs, s.slopes)
    return argmin_cost(s.costs)


@inlined
def add_vote(plan, scores, vote, p, alpha):
    """s^i = s^(i-1) + alpha h, where h is the label `vote` or the distribution p."""
    if plan.vote == PROBABILITY or plan.rule == UNIFORM:
        for l in range(scores.size):
            scores[l] += alpha * p[l]
    else:
        scores[vote] += alpha


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
def relative_importance(plan, committee, i, t, u):
    """An importance raised to a power, and relative to the mean of learner i's until round t."""
    if plan.importance_power != 1.0:
        u = max(u, 0.0) ** plan.importance_power
    committee.importance[i] += u
    if plan.normalize_importance:
        mean = committee.importance[i] / t
        u = u / mean if mean > 0.0 else 0.0
    return u


@inlined
def clipped(x, low, high):
    """x, or the end of [low, high] that is nearest."""
    if x < low:
        return low
    return high if x > high else x
