"""Online boosting by Poisson sampling: Oza, "Online Bagging and Boosting" (2005), Figure 2.

| paper              | here                                                                        |
|--------------------|-----------------------------------------------------------------------------|
| lambda             | `trace.rate`, 1 for the first learner                                       |
| k ~ Poisson(lambda)| `poisson`: with this weight the learner learns the example                  |
| lambda^sc, lambda^sw | `committee.costs`: rates of the examples that a learner got right, and wrong |
| log((1 - e)/e)     | `oza_weight`                                                                |

In plain Python: `edgewise.reference.baselines`.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined
from edgewise.loop.rules.votes import add_vote
from edgewise.loop.state import RIGHT, WRONG

LEAST_ERROR = 1e-10  # log((1 - e)/e) is infinite at e = 0
LARGEST_RATE = 500.0  # exp(-lambda) must not underflow


@inlined
def poisson_round(plan, committee, chunk, trace, i, t, vote, p):
    """The step of learner i: scores take the vote, lambda grows if it is wrong; the number of times it learns."""
    add_vote(plan, trace.scores[t], vote, p, committee.weight[i])
    rate = trace.rate[t] if i > 0 else 1.0
    side = RIGHT if vote == chunk.labels[t] else WRONG
    committee.costs[i, side] += rate
    right, wrong = committee.costs[i, RIGHT], committee.costs[i, WRONG]
    trace.rate[t] = rate * (right + wrong) / (2.0 * committee.costs[i, side])
    committee.weight[i] = oza_weight(right, wrong)
    return poisson(rate, chunk.uniforms[t, i])


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
