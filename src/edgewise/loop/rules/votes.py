"""What rules share: the cheapest vote, scores that take a vote, what it costs, and weights that stay in their range."""

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
def clipped(x, low, high):
    """x, or the end of [low, high] that is nearest."""
    if x < low:
        return low
    return high if x > high else x
