"""What the rules over label sets share: votes as distributions, what they cost, and the importance of each label.

Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018), Sections 2.1, 2.3 and 4.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined
from edgewise.loop.state import BINARY, DISTRIBUTION, OF_RIGHT, OF_VOTE, SET

# Costs are of the order of 1: a mean importance below this is rounding, which may not be blown up to 1.
LEAST_IMPORTANCE = 1e-12


@inlined
def shape_vote(form, kind, named, s, vote):
    """h: the vote of a learner that predicts the label `named` and the distribution s.p.

    A set is spread evenly over its labels: those that a binary learner finds likelier than not, or, of a distribution,
    those with more than an even share; the likeliest label where there is none.
    """
    k = vote.size
    if form == DISTRIBUTION:
        for l in range(k):
            vote[l] = s.p[l]
        return
    count = 0
    for l in range(k):
        vote[l] = 0.0
        if form == SET and (s.evidence[l] > 0.5 if kind == BINARY else s.p[l] > 1.0 / k):
            vote[l] = 1.0
            count += 1
    if count == 0:
        vote[named] = 1.0
    for l in range(k):
        vote[l] /= max(count, 1)


@inlined
def gather_scores(scores, order, out):
    """The scores with those of the relevant labels first."""
    for j in range(out.size):
        out[j] = scores[order[j]]


@inlined
def scatter_costs(ordered, order, costs):
    """Costs in the order of the labels, from those with the relevant labels first."""
    for j in range(ordered.size):
        costs[order[j]] = ordered[j]


@inlined
def cost_of(costs, vote):
    """c . h"""
    total = 0.0
    for l in range(vote.size):
        total += costs[l] * vote[l]
    return total


@inlined
def count_costs(committee, i, costs, order, size, weight, vote):
    """Count what learner i's vote cost, for the edge (10): gives <c, h> and what the relevant labels cost together.

    Both less the mean cost, so that costs need not sum to 0.
    """
    k = vote.size
    total = relevant = 0.0
    for l in range(k):
        total += costs[l]
    for j in range(size):
        relevant += costs[order[j]]
    of_vote = cost_of(costs, vote) - total / k
    of_relevant = relevant - size * total / k
    committee.costs[i, OF_VOTE] += weight * of_vote
    committee.costs[i, OF_RIGHT] += weight * of_relevant
    return of_vote, of_relevant


@inlined
def set_importances(plan, committee, i, costs, order, size, t, gains):
    """max c - c[l] for each relevant label (Section 4), and likewise c[r] - min c for each irrelevant one.

    Where they are normalized: divided by the mean of those of relevant labels so far, learner by learner.
    """
    k = gains.size
    low = high = costs[0]
    for l in range(1, k):
        low = min(low, costs[l])
        high = max(high, costs[l])
    mean = 0.0
    for j in range(k):
        l = order[j]
        gains[l] = high - costs[l] if j < size else costs[l] - low
        mean += gains[l] / size if j < size else 0.0
    if plan.normalize_importance:
        committee.importance[i] += mean
        factor = t / committee.importance[i] if committee.importance[i] > LEAST_IMPORTANCE * t else 0.0
        for l in range(k):
            gains[l] *= factor
