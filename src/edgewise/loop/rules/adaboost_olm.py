"""Adaboost.OLM: Algorithm 2 of Jung, Goetz and Tewari, "Online Multiclass Boosting" (2017), and its other losses.

| paper     | here                                                                                            |
|-----------|-------------------------------------------------------------------------------------------------|
| C_t^i     | `trace.costs`: the gradient of the loss at s^(i-1), eq. (9), (37), (40); `theory.losses`        |
| w^i(t)    | `u`: -C(y, y), relative to the largest it can be; line 14 has a misprint                        |
| s_t^i     | `trace.scores`: s^(i-1) + alpha^i h, line 7                                                     |
| alpha_t^i | `committee.weight`: projected online gradient descent, line 12                                  |
| eta_t     | `trace.steps`, worked out once a chunk by `fill_steps`                                          |
| F         | [`plan.weight_low`, `plan.weight_high`]                                                         |
| v_t^i     | exp(-`committee.mistakes`): `edgewise.theory.experts`                                           |
| gamma_i   | from `committee.costs`: sums of <C, h> and C(y, y), Section 4.2                                 |

In plain Python: `edgewise.reference.adaboost_olm`.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined
from edgewise.loop.rules.votes import add_vote, clipped, cost_of_vote, relative_importance
from edgewise.loop.state import OF_RIGHT, OF_VOTE, PROBABILITY
from edgewise.theory.elementary import exp_apart
from edgewise.theory.losses import (
    LOGISTIC,
    cost_row,
    costs_after_vote,
    feasible,
    largest_right_cost,
    shared_step,
    step_factor,
)


@inlined
def gradient_round(plan, committee, chunk, trace, i, t, vote, p):
    """Lines 4 to 14 for learner i: scores take the vote, its weight moves; the importance with which it learns."""
    label, scores, costs, odds = chunk.labels[t], trace.scores[t], trace.costs[t], trace.odds[t]
    if i == 0:
        cost_row(plan.loss, scores, label, costs)
        for l in range(odds.size):
            odds[l] = 1.0  # all scores are 0
    largest = largest_right_cost(plan.loss, scores.size)
    u = relative_importance(plan, committee, i, chunk.rounds[t], -costs[label] / largest)
    step = trace.factors[i] * trace.steps[t]
    gradient_step(plan, committee, i, scores, costs, odds, vote, p, label, chunk.weights[t], step)
    return u


@inlined
def gradient_step(plan, committee, i, scores, costs, odds, vote, p, label, w, step):
    """Scores take the vote; learner i's edge and weight move; `costs` becomes the cost row at the new scores."""
    alpha = committee.weight[i]
    committee.costs[i, OF_VOTE] += w * cost_of_vote(plan, costs, vote, p)
    committee.costs[i, OF_RIGHT] += w * costs[label]
    add_vote(plan, scores, vote, p, alpha)
    if plan.loss == LOGISTIC and plan.vote != PROBABILITY:
        # one exponential for the whole row
        factor = exp_apart(alpha if vote == label else -alpha)
        slope = costs_after_vote(scores, label, vote, factor, odds, costs)
    else:
        cost_row(plan.loss, scores, label, costs)
        # f'(alpha) is the cost of the vote at the new scores: eq. (10), (38), (41)
        slope = cost_of_vote(plan, costs, vote, p)
    committee.weight[i] = clipped(alpha - step * w * slope, plan.weight_low, plan.weight_high)


@inlined
def fill_steps(plan, n_learners, rounds, out, factors):
    """Fill in the step of learner weights in each round, and the factor of each learner on it.

    The paper's step is for its own feasible set; it grows with the diameter.
    """
    diameter = (plan.weight_high - plan.weight_low) / (2.0 * feasible(plan.loss, n_learners))
    for t in range(rounds.size):
        out[t] = diameter * shared_step(plan.loss, plan.n_labels, n_learners, max(rounds[t], 1))
    for i in range(n_learners):
        factors[i] = step_factor(plan.loss, i)
