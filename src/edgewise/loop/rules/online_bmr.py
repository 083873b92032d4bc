"""OnlineBMR: Algorithm 2 of Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018).

| paper     | here                                                                                |
|-----------|-------------------------------------------------------------------------------------|
| c_t^i     | `work.costs`: exact potentials at s^(i-1) + e_l, eq. (6); `edgewise.theory.ranking` |
| u_gamma^Y | the baseline; `committee.excess` is what votes cost beyond it                       |
| s_t^i     | `trace.scores`; every vote counts 1, and the last expert is followed                |

In plain Python: `edgewise.reference.ranking`.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined
from edgewise.loop.rules.rankings import count_costs, gather_scores, scatter_costs, set_importances
from edgewise.theory.ranking import potential_costs


@inlined
def potential_costs_round(plan, committee, potentials, chunk, trace, i, t, work):
    """Costs of learner i in round t, the importance of each label from them, and what its vote cost."""
    size, costs, order, weight = chunk.labels[t], trace.costs[t], chunk.order[t], chunk.weights[t]
    gather_scores(trace.scores[t], order, work.scores)
    potential_costs(potentials, committee.weight.size - 1 - i, work.scores, size, work.costs)
    scatter_costs(work.costs, order, costs)
    of_vote, of_relevant = count_costs(committee, i, costs, order, size, weight, work.vote)
    committee.excess[i] += weight * (of_vote - potentials.edge[size] * of_relevant)
    set_importances(plan, committee, i, costs, order, size, chunk.rounds[t], work.gains)
