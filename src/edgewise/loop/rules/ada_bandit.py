"""AdaBandit: Algorithm 3 of Zhang, Jung and Tewari, "Online Multiclass Boosting with Bandit Feedback" (2018).

| paper     | here                                                                       |
|-----------|----------------------------------------------------------------------------|
| l-hat_t   | `kept`: the estimate of which label is right, `edgewise.theory.bandits`    |
| C-hat_t^i | `costs`: the random cost vector (5) from the gradient of the loss, line 12 |
| alpha_t^i | `committee.weight`: projected stochastic gradient descent, line 16         |
| eta_t     | `weight_step`                                                              |
| v_t^i     | exp(-`committee.mistakes`), estimated mistakes                             |

Hedge chooses the expert that is followed, then explored. In plain Python: `edgewise.reference.bandits`.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined
from edgewise.loop.rules.votes import clipped, cost_of_vote
from edgewise.loop.state import OF_RIGHT, OF_VOTE
from edgewise.theory.bandits import random_costs, right_cost
from edgewise.theory.losses import feasible, step_size


@inlined
def estimate_logistic_costs(plan, committee, i, vote, share, scores, kept, s):
    """Learner i's random cost vector in s.costs, and the sums that its edge is made of.

    The costs at these scores are those that `move_weight` of the learner before has left.
    """
    if i == 0:
        random_costs(plan.loss, scores, kept, s.costs, s.evidence)
    committee.costs[i, OF_VOTE] += cost_of_vote(plan, s.costs, vote, share)
    committee.costs[i, OF_RIGHT] += right_cost(plan.loss, scores, kept, s.evidence)


@inlined
def move_weight(plan, committee, chunk, cast, i, t, vote, share, scores, kept, s):
    """Line 16: one gradient step of learner i's weight, with the costs at the scores after its vote."""
    random_costs(plan.loss, scores, kept, s.costs, s.evidence)
    step = weight_step(plan, committee.weight.size, i, chunk.rounds[t], cast.rates[t])
    # f'(alpha) is the cost of the vote at the new scores, as in `adaboost_olm.gradient_step`
    alpha = committee.weight[i] - step * cost_of_vote(plan, s.costs, vote, share)
    committee.weight[i] = clipped(alpha, plan.weight_low, plan.weight_high)


@inlined
def weight_step(plan, n_learners, i, t, rate):
    """eta_t: that of full feedback, which grows with the diameter of the feasible set, or rho / (k^2 sqrt(t))."""
    if plan.full_step:
        diameter = (plan.weight_high - plan.weight_low) / (2.0 * feasible(plan.loss, n_learners))
        return diameter * step_size(plan.loss, plan.n_labels, n_learners, i, t)
    return rate / (plan.n_labels * plan.n_labels * math.sqrt(t))
