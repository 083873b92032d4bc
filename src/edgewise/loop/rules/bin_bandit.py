"""BinBandit (Chen, Lin and Lu 2014): k groups of binary learners, of which that of the shown label learns.

Signature and arrays are those of `bandit_loop`; `committee.weight` is [N, k], a distribution over the learners of
each class, and `cast.shares` holds the learners' margins in [-1, 1].
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import entry_point
from edgewise.learners.forest.capacity import has_capacity
from edgewise.learners.forest.distribution import leaf_probabilities
from edgewise.loop.bandit_loop import LEARNING, VOTING, explore, note_moments, observe_feedback
from edgewise.loop.learning import aside, gather, n_numeric, tree_predict, tree_revisit, tree_update
from edgewise.theory.bandits import FULL, estimate, propensity
from edgewise.theory.elementary import index
from edgewise.theory.experts import argmax


@entry_point
def vote_in_round(plan, learners, committee, states, chunk, t, cast, s):
    """The class of largest margin sum_i alpha_i h_i(x)."""
    forest, mean = states.forest, cast.mean[t]
    for r in range(mean.size):
        mean[r] = 0.0
    note_moments(forest, chunk.means[t], chunk.variances[t])
    for i in range(learners.kind.size):
        first = learners.slot[i]
        gather(forest, first, chunk.numeric[t], chunk.nominal[t], s, aside(s))
        for r in range(mean.size):
            _, mode = tree_predict(forest, first + r, 0, True, s)
            leaf_probabilities(
                forest, index(forest.child[s.node[0]]), n_numeric(s), s.bayes[0], mode, s.evidence, s.tree_p
            )
            cast.shares[t, i, r] = 2.0 * s.tree_p[1] - 1.0
            mean[r] += committee.weight[i, r] * cast.shares[t, i, r]
        cast.votes[t, i] = cast.experts[t, i] = argmax(mean)
    cast.guesses[t] = argmax(mean)


@entry_point
def learn_round(plan, learners, committee, states, chunk, t, cast, s, work):
    """The learners of the shown class learn whether it was right; their weights move by exponentiated gradient."""
    n_learners, r = learners.kind.size, cast.shown[t]
    answer = 1 if cast.correct[t] else 0
    sign = 2.0 * answer - 1.0
    odds = 1.0 / propensity(cast.guesses[t], cast.rates[t], plan.n_labels, r)
    theta = plan.edge / (2.0 + plan.edge)
    estimate(FULL, cast.guesses[t], r, cast.correct[t], cast.rates[t], work.kept)
    lead, margin = 0.0, 0.0
    for i in range(n_learners):
        committee.mistakes[i] += 1.0 - work.kept[cast.experts[t, i]]
        # SmoothBoost's weight: 1 until the learners before lead by more than theta each
        w = min((1.0 - plan.edge) ** (0.5 * lead), 1.0) * odds
        lead += sign * cast.shares[t, i, r] - theta
        margin += committee.weight[i, r] * cast.shares[t, i, r]
        cast.taught[t, i] = answer
        cast.importances[t, i] = w
        tree = learners.slot[i] + r
        tree_revisit(states.forest, tree, chunk.numeric[t], chunk.nominal[t], s)
        tree_update(states.forest, tree, 0, chunk, t, answer, w * learners.scale[i], s)
    if sign * margin < theta:
        # gradient step on the hinge loss (theta - y <alpha, h>)_+
        total = 0.0
        for i in range(n_learners):
            committee.weight[i, r] *= math.exp(plan.step * sign * cast.shares[t, i, r])
            total += committee.weight[i, r]
        for i in range(n_learners):
            committee.weight[i, r] /= total


@entry_point
def run_binary_rounds(plan, learners, committee, potentials, states, demand, parts, chunk, cast, s, work, first):
    """Play the rounds of a chunk from `first` on: see `bandit_loop.run_rounds`."""
    voting, learning = parts & VOTING != 0, parts & LEARNING != 0
    for t in range(first, chunk.labels.size):
        if learning and not has_capacity(states.forest, learners.kind.size, demand):
            return t
        if voting:
            vote_in_round(plan, learners, committee, states, chunk, t, cast, s)
            explore(plan, t, cast)
        if learning:
            observe_feedback(states, chunk, t, voting, cast)
            learn_round(plan, learners, committee, states, chunk, t, cast, s, work)
    return chunk.labels.size
