"""The game of `schema` over label sets (Jung and Tewari 2018, Algorithm 1): a vote is a distribution, feedback a set.

Learner i in round t needs only its own past and the scores of learners 1..i-1 in round t, so here, too, each learner
goes through a whole chunk before the next one starts, and nothing changes by it. Hedge's draw is made while the
experts go by: expert i takes the place of the one chosen so far with probability v_i / (v_1 + ... + v_i), which leaves
each with probability proportional to its weight, and one uniform number is enough for all, stretched after each choice.

| rule      | booster                  | cost from                  | learner weight          | expert followed |
|-----------|--------------------------|----------------------------|-------------------------|-----------------|
| GRADIENT  | Ada.OLMR (Algorithm 3)   | pairwise logistic gradient | online gradient descent | drawn by Hedge  |
| POTENTIAL | OnlineBMR (Algorithm 2)  | exact potential            | 1                       | the last        |
"""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.forest.layout import has_room
from edgewise.loop.calibration import calibrate, relevance
from edgewise.loop.extending import with_own
from edgewise.loop.learning import gather_ahead, label_set_learns, learner_speaks
from edgewise.loop.online_loop import run_moments
from edgewise.loop.ranking_state import (
    BEST,
    DISTRIBUTION,
    DRAWN,
    LAST,
    MEAN,
    SET,
    START,
    SUFFERED,
    RankingChunk,
    RankingEnsemble,
    make_ranking_room,
    make_ranking_trace,
)
from edgewise.loop.rules.votes import clipped
from edgewise.loop.schedule import Place, play_blocks
from edgewise.loop.state import BINARY, GRADIENT, OF_RIGHT, OF_VOTE, POTENTIAL, Knowledge, Scratch
from edgewise.theory.experts import blend
from edgewise.theory.ranking_losses import logistic_costs, rank_loss
from edgewise.theory.ranking_potentials import potential_costs

# Costs are of the order of 1: a mean importance below this is rounding, which may not be blown up to 1.
LEAST_IMPORTANCE = 1e-12


@inlined
def shape_vote(form, kind, named, s, vote):
    """h: the vote of a learner that names the label `named` and speaks s.p.

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
def cost_of(costs, vote):
    """c . h"""
    total = 0.0
    for l in range(vote.size):
        total += costs[l] * vote[l]
    return total


@inlined
def measure(plan, committee, potentials, i, costs, order, size, weight, vote):
    """Count what the vote cost: for the edge (10) and for the excess over a learner of the assumed edge."""
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
    if plan.rule == POTENTIAL:
        committee.excess[i] += weight * (of_vote - potentials.edge[size] * of_relevant)


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


@inlined
def choose_expert(plan, first, learned, loss, scores, trace, t):
    """Let one more expert go by: Hedge's mean of all so far, and the one followed if it is a single one."""
    total = trace.total[t]
    better = first or loss < total[1]
    blend(first, loss, scores, trace.mean[t], total)
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


@entry_point
def run_label_sets(plan, learners, committee, potentials, known, need, chunk, trace, s, room, first, last):
    """Let learners go through the chunk, in order, from the (learner, row) `first` to before `last`: see `turns.Turn`.

    Gives the (learner, row) before which the forest must be enlarged, or `last` when done.
    """
    k = trace.scores.shape[1]
    n_learners = learners.kind.size
    for i in range(first[0], last[0]):
        to_go = n_learners - 1 - i
        gather_ahead(learners, known.forest, i, last[0], chunk, s)
        for t in range(first[1] if i == first[0] else 0, last[1]):
            size = chunk.labels[t]
            if size > 0 and not has_room(known.forest, size, need):
                return i, t
            scores, costs, order = trace.scores[t], trace.costs[t], chunk.order[t]
            weight = chunk.weights[t]
            named = learner_speaks(learners, known, i, chunk, t, True, s)
            shape_vote(committee.form[i], learners.kind[i], named, s, room.vote)
            if size > 0:
                if plan.rule == POTENTIAL:
                    gather_scores(scores, order, room.scores)
                    potential_costs(potentials, to_go, room.scores, size, room.costs)
                elif i == 0:
                    gather_scores(scores, order, room.scores)
                    logistic_costs(room.scores, size, room.exps, room.costs)
                if plan.rule == POTENTIAL or i == 0:
                    for j in range(k):
                        costs[order[j]] = room.costs[j]
                measure(plan, committee, potentials, i, costs, order, size, weight, room.vote)
                set_importances(plan, committee, i, costs, order, size, chunk.rounds[t], room.gains)
            alpha = committee.weight[i]
            for l in range(k):
                scores[l] += alpha * room.vote[l]
            if plan.rule == GRADIENT:
                choose_expert(plan, i == 0, size > 0, committee.losses[i], scores, trace, t)
                if size > 0:
                    gather_scores(scores, order, room.scores)
                    committee.losses[i] += weight * rank_loss(room.scores, size)
                    logistic_costs(room.scores, size, room.exps, room.costs)
                    for j in range(k):
                        costs[order[j]] = room.costs[j]
                    # f'(alpha) is the cost of the vote at the new scores: Section 3.2
                    step = weight * cost_of(costs, room.vote) / math.sqrt(chunk.rounds[t])
                    step *= (plan.weight_high - plan.weight_low) / 4.0
                    committee.weight[i] = clipped(alpha - step, plan.weight_low, plan.weight_high)
            if size > 0:
                for l in range(k):
                    room.gains[l] *= weight * learners.scale[i]
                label_set_learns(learners, known, i, chunk, t, order, size, room.gains, s)
    return last


@entry_point
def finish_rounds(plan, committee, potentials, calibration, chunk, trace, room, decisions):
    """The scores that were followed, left in trace.followed, and those that never depend on chance, in `decisions`.

    The loss of what was followed is counted, and the thresholds learn.
    """
    n, k = trace.scores.shape
    for t in range(n):
        size = chunk.labels[t]
        for l in range(k):
            if plan.follow == LAST:
                decisions[t, l] = trace.scores[t, l]
            elif plan.follow == BEST:
                decisions[t, l] = trace.followed[t, l]
            else:
                decisions[t, l] = trace.mean[t, l] / trace.total[t, 0]
            if plan.follow != DRAWN or size <= 0:
                trace.followed[t, l] = decisions[t, l]
        if size > 0:
            gather_scores(trace.followed[t], chunk.order[t], room.scores)
            committee.totals[SUFFERED] += chunk.weights[t] * rank_loss(room.scores, size)
            if plan.rule == POTENTIAL:
                committee.totals[START] += chunk.weights[t] * potentials.start[potentials.slot[size]]
            calibrate(calibration, decisions[t], chunk.order[t], size, chunk.weights[t], room.exps, room.costs)


@entry_point
def run_relevance(calibration, scores, z, out):
    """The probability that each label of each example is relevant."""
    for t in range(scores.shape[0]):
        relevance(calibration, scores[t], z, out[t])


def rank_chunk(ensemble: RankingEnsemble, chunk: RankingChunk) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
    """Predict, then learn, every example of a chunk: a passage that gives scores followed, and those without chance.

    The tables of the potentials must hold every number of relevant labels in the chunk.
    """
    plan, learners, committee, forests, _, _, potentials, calibration, _, own = ensemble
    trace, room = make_ranking_trace(chunk), make_ranking_room(plan.n_labels)
    through, own = with_own(run_label_sets, own)
    run_moments(forests[0], chunk)

    def play(b: int, known: Knowledge, need: np.ndarray, s: Scratch, at: Place, last: Place) -> Place:
        return through(plan, learners, committee, potentials, known, need, chunk, trace, s, room, at, last)

    yield from play_blocks(ensemble, own, chunk, int(chunk.labels.max()), play)
    decisions = np.zeros(trace.scores.shape)
    finish_rounds(plan, committee, potentials, calibration, chunk, trace, room, decisions)
    return trace.followed, decisions
