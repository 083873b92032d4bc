"""Experts under Hedge: expert i is the first i learners together; with `single_experts`, also learner i alone.

v_t^i of Algorithm 2 is exp(-mistakes of expert i): `committee.mistakes` and `edgewise.theory.experts`.
"""

from __future__ import annotations

from edgewise.kernels.compile import merged, noinline
from edgewise.loop.rules.votes import add_vote
from edgewise.loop.state import GRADIENT
from edgewise.theory.experts import add_to_hedge_mean, argmax


@merged
def count_expert(plan, committee, chunk, trace, i, t, in_scores):
    """Write down what expert i predicts and how often it has erred before, then count whether it errs now."""
    label, scores = chunk.labels[t], trace.scores[t]
    predicted = argmax(scores)
    trace.expert_labels[i, t] = predicted
    trace.expert_losses[i, t] = committee.mistakes[i]
    if plan.rule == GRADIENT and (in_scores or (plan.calibrate and label >= 0)):
        add_to_hedge_mean(i == 0, committee.mistakes[i], scores, trace.mean[t], trace.total[t])
    if label >= 0 and predicted != label:
        committee.mistakes[i] += chunk.weights[t]


@noinline
def count_single_expert(plan, committee, chunk, trace, i, t, vote, alpha, in_scores, s):
    """Let learner i alone be expert N + i: it predicts the label it votes for; its scores are its term of the sum."""
    expert, label = committee.weight.size + i, chunk.labels[t]
    trace.expert_labels[expert, t] = vote
    trace.expert_losses[expert, t] = committee.mistakes[expert]
    if plan.rule == GRADIENT and (in_scores or (plan.calibrate and label >= 0)):
        for l in range(s.alone.size):
            s.alone[l] = 0.0
        add_vote(plan, s.alone, vote, s.p, alpha)
        add_to_hedge_mean(False, committee.mistakes[expert], s.alone, trace.mean[t], trace.total[t])
    if label >= 0 and vote != label:
        committee.mistakes[expert] += chunk.weights[t]
