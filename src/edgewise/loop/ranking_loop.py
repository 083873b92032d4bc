"""The online loop over a chunk of label sets: `online_loop` where a vote is a distribution and feedback a set.

Jung and Tewari, "Online Boosting Algorithms for Multi-label Ranking" (2018), Algorithm 1. Learner i in round t needs
only its own past and the scores of learners 1..i-1 in round t, so here, too, each learner goes through a whole chunk
before the next one starts, and nothing changes by it.

| rule      | booster     | cost from                  | learner weight          | followed | file               |
|-----------|-------------|----------------------------|-------------------------|----------|--------------------|
| GRADIENT  | Ada.OLMR    | pairwise logistic gradient | online gradient descent | by Hedge | `rules.ada_olmr`   |
| POTENTIAL | OnlineBMR   | exact potential            | 1                       | the last | `rules.online_bmr` |
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from edgewise.kernels.compile import entry_point
from edgewise.learners.forest.capacity import has_capacity
from edgewise.loop.calibration import calibrate, relevance
from edgewise.loop.extending import specialize
from edgewise.loop.learning import gather_ahead, label_set_update, learner_predict
from edgewise.loop.online_loop import run_moments
from edgewise.loop.pipeline import Position, process_blocks
from edgewise.loop.rules.ada_olmr import choose_expert, logistic_costs_round, move_weight
from edgewise.loop.rules.online_bmr import potential_costs_round
from edgewise.loop.rules.rankings import gather_scores, shape_vote
from edgewise.loop.state import (
    BEST,
    DRAWN,
    GRADIENT,
    LAST,
    POTENTIAL,
    START,
    SUFFERED,
    LearnerStates,
    RankingChunk,
    RankingEnsemble,
    Workspace,
    make_ranking_buffers,
    make_ranking_workspace,
)
from edgewise.theory.ranking import rank_loss


@entry_point
def process_label_sets(plan, learners, committee, potentials, states, demand, chunk, trace, s, work, first, last):
    """Let learners go through the chunk, in order, from the (learner, row) `first` to before `last`.

    Gives the (learner, row) before which the forest must be enlarged, or `last` when done.
    """
    for i in range(first[0], last[0]):
        gather_ahead(learners, states.forest, i, last[0], chunk, s)
        for t in range(first[1] if i == first[0] else 0, last[1]):
            size, scores = chunk.labels[t], trace.scores[t]
            if size > 0 and not has_capacity(states.forest, size, demand):
                return i, t
            named = learner_predict(learners, states, i, chunk, t, True, s)
            shape_vote(committee.form[i], learners.kind[i], named, s, work.vote)
            if size > 0 and plan.rule == POTENTIAL:
                potential_costs_round(plan, committee, potentials, chunk, trace, i, t, work)
            elif size > 0:
                logistic_costs_round(plan, committee, chunk, trace, i, t, work)
            alpha = committee.weight[i]
            for l in range(scores.size):
                scores[l] += alpha * work.vote[l]
            if plan.rule == GRADIENT:
                choose_expert(plan, i == 0, size > 0, committee.losses[i], scores, trace, t)
                if size > 0:
                    move_weight(plan, committee, chunk, trace, i, t, alpha, work)
            if size > 0:
                for l in range(scores.size):
                    work.gains[l] *= chunk.weights[t] * learners.scale[i]
                label_set_update(learners, states, i, chunk, t, chunk.order[t], size, work.gains, s)
    return last


@entry_point
def finish_rounds(plan, committee, potentials, calibration, chunk, trace, work, decisions):
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
            gather_scores(trace.followed[t], chunk.order[t], work.scores)
            committee.totals[SUFFERED] += chunk.weights[t] * rank_loss(work.scores, size)
            if plan.rule == POTENTIAL:
                committee.totals[START] += chunk.weights[t] * potentials.start[potentials.slot[size]]
            calibrate(calibration, decisions[t], chunk.order[t], size, chunk.weights[t], work.exps, work.costs)


@entry_point
def run_relevance(calibration, scores, z, out):
    """The probability that each label of each example is relevant."""
    for t in range(scores.shape[0]):
        relevance(calibration, scores[t], z, out[t])


def rank_chunk(ensemble: RankingEnsemble, chunk: RankingChunk) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
    """Predict, then learn, every example of a chunk: a pipeline task; gives scores followed, and those without chance.

    The tables of the potentials must hold every number of relevant labels in the chunk.
    """
    plan, learners, committee, forests, _, _, potentials, calibration, _, own = ensemble
    trace, work = make_ranking_buffers(chunk), make_ranking_workspace(plan.n_labels)
    through, own = specialize(process_label_sets, own)
    run_moments(forests[0], chunk)

    def play(b: int, states: LearnerStates, demand: np.ndarray, s: Workspace, at: Position, last: Position) -> Position:
        return through(plan, learners, committee, potentials, states, demand, chunk, trace, s, work, at, last)

    yield from process_blocks(ensemble, own, chunk, int(chunk.labels.max()), play)
    decisions = np.zeros(trace.scores.shape)
    finish_rounds(plan, committee, potentials, calibration, chunk, trace, work, decisions)
    return trace.followed, decisions
