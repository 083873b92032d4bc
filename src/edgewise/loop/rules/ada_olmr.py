"""Ada.OLMR: Algorithm 3 of Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018).

| paper     | here                                                                                            |
|-----------|-------------------------------------------------------------------------------------------------|
| c_t^i     | `trace.costs`: gradient of the pairwise logistic loss at s^(i-1), Section 3.2                   |
| alpha_t^i | `committee.weight`: projected online gradient descent with steps proportional to 1/sqrt(t)      |
| v_t^i     | exp(-`committee.losses`), the rank loss of expert i                                             |
| i_t       | the expert that is followed: drawn by Hedge, their mean, or the best (`choose_expert`)          |

**Hedge's draw** is made expert by expert: expert i takes the place of the one chosen so far with probability
v_i / (v_1 + ... + v_i), which leaves each with probability proportional to its weight, and one uniform number is enough
for all, stretched after each choice.

In plain Python: `edgewise.reference.ranking`.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined
from edgewise.loop.rules.rankings import cost_of, count_costs, gather_scores, scatter_costs, set_importances
from edgewise.loop.rules.votes import clipped
from edgewise.loop.state import DRAWN, MEAN
from edgewise.theory.experts import add_to_hedge_mean
from edgewise.theory.ranking import logistic_costs, rank_loss


@inlined
def logistic_costs_round(plan, committee, chunk, trace, i, t, work):
    """Costs of learner i in round t, the importance of each label from them, and what its vote cost."""
    size, costs, order = chunk.labels[t], trace.costs[t], chunk.order[t]
    if i == 0:
        gather_scores(trace.scores[t], order, work.scores)
        logistic_costs(work.scores, size, work.exps, work.costs)
        scatter_costs(work.costs, order, costs)
    count_costs(committee, i, costs, order, size, chunk.weights[t], work.vote)
    set_importances(plan, committee, i, costs, order, size, chunk.rounds[t], work.gains)


@inlined
def move_weight(plan, committee, chunk, trace, i, t, alpha, work):
    """Count expert i's rank loss, and move learner i's weight: `trace.costs` become those at the new scores."""
    size, costs, order = chunk.labels[t], trace.costs[t], chunk.order[t]
    gather_scores(trace.scores[t], order, work.scores)
    committee.losses[i] += chunk.weights[t] * rank_loss(work.scores, size)
    logistic_costs(work.scores, size, work.exps, work.costs)
    scatter_costs(work.costs, order, costs)
    # f'(alpha) is the cost of the vote at the new scores: Section 3.2
    step = chunk.weights[t] * cost_of(costs, work.vote) / math.sqrt(chunk.rounds[t])
    step *= (plan.weight_high - plan.weight_low) / 4.0
    committee.weight[i] = clipped(alpha - step, plan.weight_low, plan.weight_high)


@inlined
def choose_expert(plan, first, learned, loss, scores, trace, t):
    """Take expert i into Hedge's mean, and follow it instead of the one chosen so far, if a single one is followed."""
    total = trace.total[t]
    better = first or loss < total[1]
    add_to_hedge_mean(first, loss, scores, trace.mean[t], total)
    if plan.follow == DRAWN and learned:
        chance = math.exp(total[1] - loss) / total[0]
        better = trace.uniforms[t] < chance
        if better:
            trace.uniforms[t] /= chance
        else:
            trace.uniforms[t] = (trace.uniforms[t] - chance) / (1.0 - chance)
    if plan.follow != MEAN and better:
        for l in range(scores.size):
            trace.followed[t, l] = scores[l]
