"""BanditBBM: Algorithm 2 of Zhang, Jung and Tewari, "Online Multiclass Boosting with Bandit Feedback" (2018).

| paper        | here                                                                           |
|--------------|--------------------------------------------------------------------------------|
| l-hat_t      | `kept`: the estimate of which label is right, `edgewise.theory.bandits`        |
| C-hat_t^i    | `costs`: the random cost vector (5) from the cost matrix (9), exact potentials |
| w^{i*}       | `plan.importance_bound`                                                        |

The last expert is followed, then explored; every vote counts 1. In plain Python: `edgewise.reference.bandits`.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined
from edgewise.loop.state import OF_VOTE
from edgewise.theory.potentials import mixed_costs


@inlined
def estimate_potential_costs(committee, potentials, i, vote, scores, kept, costs):
    """Fill `costs` with learner i's random cost vector, and count the sums that its edge is made of."""
    right = mixed_costs(potentials, committee.importance.size - 1 - i, scores, kept, costs)
    for l in range(costs.size):
        committee.importance[i] += costs[l] - right
    committee.costs[i, OF_VOTE] += costs[vote] - right
