"""OnlineMBBM: Algorithm 1 of Jung, Goetz and Tewari, "Online Multiclass Boosting" (2017).

| paper      | here                                                                              |
|------------|-----------------------------------------------------------------------------------|
| phi_m^r(s) | `edgewise.theory.potentials`, exact                                               |
| D_t^i      | the normalized costs (5): `cheapest_label` votes for the label of least cost      |
| w^i(t)     | `importance_and_excess`: line 11, from the potentials before and after the vote                  |
| w^{i*}     | `plan.importance_bound`, which brings importances into [0, 1]                     |
| s_t^i      | `scores`; every vote counts 1, and the last expert is followed                    |

In plain Python: `edgewise.reference.online_mbbm`.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined
from edgewise.loop.rules.votes import add_vote
from edgewise.loop.state import OF_VOTE
from edgewise.theory.potentials import importance_and_excess


@inlined
def potential_round(plan, committee, potentials, chunk, trace, i, t, vote, p):
    """Lines 5 to 11 for learner i: scores take the vote; the importance w^i(t) / w^{i*} with which it learns."""
    to_go = committee.weight.size - 1 - i
    raw, excess = importance_and_excess(potentials, to_go, chunk.labels[t], trace.scores[t], vote, trace.ahead[t])
    committee.importance[i] += chunk.weights[t] * raw
    committee.costs[i, OF_VOTE] += chunk.weights[t] * excess
    add_vote(plan, trace.scores[t], vote, p, committee.weight[i])
    return raw / plan.importance_bound
