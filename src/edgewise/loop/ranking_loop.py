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
from edgewise.learners.forest.layout import has_room
from edgewise.loop.calibration import calibrate, relevance
from edgewise.loop.extending import with_own
from edgewise.loop.learning import gather_ahead, label_set_learns, learner_speaks
from edgewise.loop.online_loop import run_moments
from edgewise.loop.ranking_state import (
    BEST,
    DRAWN,
    LAST,
    START,
    SUFFERED,
    RankingChunk,
    RankingEnsemble,
    make_ranking_room,
    make_ranking_trace,
)
from edgewise.loop.rules.ada_olmr import choose_expert, logistic_costs_round, move_weight
from edgewise.loop.rules.online_bmr import potential_costs_round
from edgewise.loop.rules.rankings import gather_scores, shape_vote
from edgewise.loop.schedule import Place, play_blocks
from edgewise.loop.state import GRADIENT, POTENTIAL, Knowledge, Scratch
from edgewise.theory.ranking_losses import rank_loss


@entry_point
def process_label_sets(plan, learners, committee, potentials, known, need, chunk, trace, s, room, first, last):
    """Let learners go through the chunk, in order, from the (learner, row) `first` to before `last`.

    Gives the (learner, row) before which the forest must be enlarged, or `last` when done.
    """
    for i in range(first[0], last[0]):
        gather_ahead(learners, known.forest, i, last[0], chunk, s)
        for t in range(first[1] if i == first[0] else 0, last[1]):
            size, scores = chunk.labels[t], trace.scores[t]
            if size > 0 and not has_room(known.forest, size, need):
                return i, t
            named = learner_speaks(learners, known, i, chunk, t, True, s)
            shape_vote(committee.form[i], learners.kind[i], named, s, room.vote)
            if size > 0 and plan.rule == POTENTIAL:
                potential_costs_round(plan, committee, potentials, chunk, trace, i, t, room)
            elif size > 0:
                logistic_costs_round(plan, committee, chunk, trace, i, t, room)
            alpha = committee.weight[i]
            for l in range(scores.size):
                scores[l] += alpha * room.vote[l]
            if plan.rule == GRADIENT:
                choose_expert(plan, i == 0, size > 0, committee.losses[i], scores, trace, t)
                if size > 0:
                    move_weight(plan, committee, chunk, trace, i, t, alpha, room)
            if size > 0:
                for l in range(scores.size):
                    room.gains[l] *= chunk.weights[t] * learners.scale[i]
                label_set_learns(learners, known, i, chunk, t, chunk.order[t], size, room.gains, s)
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
    """Predict, then learn, every example of a chunk: a pipeline task; gives scores followed, and those without chance.

    The tables of the potentials must hold every number of relevant labels in the chunk.
    """
    plan, learners, committee, forests, _, _, potentials, calibration, _, own = ensemble
    trace, room = make_ranking_trace(chunk), make_ranking_room(plan.n_labels)
    through, own = with_own(process_label_sets, own)
    run_moments(forests[0], chunk)

    def play(b: int, known: Knowledge, need: np.ndarray, s: Scratch, at: Place, last: Place) -> Place:
        return through(plan, learners, committee, potentials, known, need, chunk, trace, s, room, at, last)

    yield from play_blocks(ensemble, own, chunk, int(chunk.labels.max()), play)
    decisions = np.zeros(trace.scores.shape)
    finish_rounds(plan, committee, potentials, calibration, chunk, trace, room, decisions)
    return trace.followed, decisions
