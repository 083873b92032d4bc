"""The one game behind all online boosters, over a chunk of examples.

    for each example x_t:
        every learner votes on x_t
        scores of expert j = sum over i <= j of weight_i * vote_i
        follow one expert -> prediction
        the label arrives
        for every learner i: cost from the scores of expert i-1 -> importance -> learner i learns
        learner weights and expert weights move

Learner i in round t needs only its own past and the scores of learners 1..i-1 in round t, so the two loops may be
exchanged: learner 1 goes through the whole chunk, then learner 2, and so on. The result is the same, number for
number, as one example at a time, and each tree stays in the processor's cache. Small trees go through it a few at a
time, row by row in turn (`learning.in_turn`), for what one of them has just learned is what it waits for next.

| rule      | booster                                  | cost from               | learner weight           |
|-----------|------------------------------------------|-------------------------|--------------------------|
| GRADIENT  | Adaboost.OLM (Jung et al. 2017, Alg. 2)  | gradient of the loss    | online gradient descent  |
| POTENTIAL | OnlineMBBM (Jung et al. 2017, Alg. 1)    | exact 0-1 potential     | 1                        |
| POISSON   | Online boosting (Oza 2005, Figure 2)     | lambda                  | log((1 - e)/e)           |
| UNIFORM   | the learners alone                       |                         | 1/N                      |
| OWN_RULE  | a user's own (`boosting_rule`)           | the rule's `importance` | its `learner_weight`     |
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from edgewise.kernels.compile import entry_point, noinline
from edgewise.learners.forest.growing import restart
from edgewise.learners.forest.layout import has_room
from edgewise.learners.forest.statistics import count_moments
from edgewise.learners.label_memory import next_context
from edgewise.loop.calibration import learn_sharpness, sharpen
from edgewise.loop.extending import with_own
from edgewise.loop.learning import gather_ahead, in_turn, learner_learns, learner_speaks
from edgewise.loop.lines import LANE, ROW, go_on, in_lines, line_up, step_in
from edgewise.loop.rules import (
    cheapest_vote,
    drifted,
    fill_steps,
    gradient_round,
    oza_weight,
    poisson,
    potential_round,
    take_vote,
    uniform_step,
)
from edgewise.loop.schedule import Place, play_blocks
from edgewise.loop.state import (
    ARGMAX,
    COST,
    GRADIENT,
    GROUP,
    POISSON,
    POTENTIAL,
    RIGHT,
    TREE,
    UNIFORM,
    WRONG,
    Chunk,
    Ensemble,
    Knowledge,
    Scratch,
    Trace,
    make_trace,
)
from edgewise.theory.experts import BEST, DRAW, blend, drawn, expert_weights, heaviest, voted


@noinline
def learner_alone(plan, committee, i, vote, alpha, averaged, chunk, trace, t, s):
    """Let learner i alone be expert N + i: it names the label it votes for, and its scores are its term of the sum."""
    expert = committee.weight.size + i
    trace.expert_labels[expert, t] = vote
    trace.expert_losses[expert, t] = committee.mistakes[expert]
    if averaged:
        for l in range(s.alone.size):
            s.alone[l] = 0.0
        take_vote(plan, s.alone, vote, s.p, alpha)
        blend(False, committee.mistakes[expert], s.alone, trace.mean[t], trace.total[t])
    if chunk.labels[t] >= 0 and vote != chunk.labels[t]:
        committee.mistakes[expert] += chunk.weights[t]


@entry_point
def run_chunk(plan, learners, committee, potentials, known, need, in_scores, chunk, trace, s, first, last):
    """Let learners go through the chunk, in order, from the (learner, row) `first` to before `last`: see `turns.Turn`.

    `in_scores` asks for the experts' mean scores as well, which guesses do not need. Gives the (learner, row) before
    which the forest must be enlarged, or `last` when done.

    A line of trees (`lines`) votes in `go_on`, and comes to the loop over rows only where one of its trees must learn a
    row alone: how to learn is compiled once.
    """
    k = trace.scores.shape[1]
    n_learners = learners.kind.size
    in_full = plan.vote != ARGMAX or plan.rule == UNIFORM
    kept = trace.votes.size > 0
    lines = in_lines(plan, in_scores, kept)
    lead = first[0]
    while lead < last[0]:
        gather_ahead(learners, known.forest, lead, last[0], chunk, s)
        start = max(trace.begun[lead], first[1] if lead == first[0] else 0)
        size = 1
        if lines and start == trace.begun[lead]:
            size = line_up(learners, committee, known.forest, lead, last[0], need, trace.begun, chunk, s)
            if size == 0:
                return lead, start
        together = 1
        if size == 1:
            together = in_turn(learners, known.forest, lead, last[0], trace.begun, last[1] - start, s)
        going = True
        while going:
            begin, end = lead, last[1]
            if size > 1:
                if not go_on(plan, learners, committee, potentials, known.forest, need, chunk, trace, s):
                    break
                start = s.line.at[ROW]
                begin, end = lead + s.line.at[LANE], start + 1
            trees = k if learners.kind[lead] == GROUP else together
            # One loop over rows and learners: of two, one in the other, the outer one took a twentieth of the time.
            i, t = begin, start
            while t < end:
                label = chunk.labels[t]
                if size == 1 and i == begin and label >= 0 and not has_room(known.forest, trees, need):
                    for j in range(begin, begin + together):
                        trace.begun[j] = t
                    return lead, t
                to_go = n_learners - 1 - i
                w_learner = s.abreast.w[i - lead]  # of a line
                named = 0
                if size == 1:
                    scores = trace.scores[t]
                    named = learner_speaks(learners, known, i, chunk, t, in_full, s)
                    vote = named
                    if plan.vote == COST:
                        vote = cheapest_vote(plan, potentials, scores, to_go, s)
                    alpha = committee.weight[i]
                    w = chunk.weights[t]
                    if plan.rule == GRADIENT and label >= 0:
                        w_learner = gradient_round(plan, committee, chunk, trace, i, t, vote, s.p)
                    elif plan.rule == POTENTIAL and label >= 0:
                        w_learner = potential_round(plan, committee, potentials, chunk, trace, i, t, vote, s.p)
                    elif plan.rule == POISSON and label >= 0:
                        take_vote(plan, scores, vote, s.p, committee.weight[i])
                        rate = trace.rate[t] if i > 0 else 1.0
                        w_learner = poisson(rate, chunk.uniforms[t, i])
                        side = RIGHT if vote == label else WRONG
                        committee.costs[i, side] += rate
                        right, wrong = committee.costs[i, RIGHT], committee.costs[i, WRONG]
                        trace.rate[t] = rate * (right + wrong) / (2.0 * committee.costs[i, side])
                        committee.weight[i] = oza_weight(right, wrong)
                    else:
                        w_learner = uniform_step(plan, committee, known.own.rule, i, scores, vote, s.p, chunk, t)
                    best = heaviest(scores)
                    trace.expert_labels[i, t] = best
                    trace.expert_losses[i, t] = committee.mistakes[i]
                    averaged = plan.rule == GRADIENT and (in_scores or (plan.calibrate and label >= 0))
                    if averaged:
                        blend(i == 0, committee.mistakes[i], scores, trace.mean[t], trace.total[t])
                    if plan.single_experts:
                        learner_alone(plan, committee, i, vote, alpha, averaged, chunk, trace, t, s)
                    if kept:
                        trace.votes[i, t] = vote
                        trace.learner_weights[i, t] = alpha
                        trace.importances[i, t] = w_learner if label >= 0 else 0.0
                    if label >= 0 and best != label:
                        committee.mistakes[i] += w
                    w_learner *= learners.scale[i] * w
                if label >= 0:
                    learner_learns(learners, known, i, chunk, t, label, w_learner, s)
                    if plan.restart and learners.kind[i] == TREE and drifted(committee.errors[i], named != label):
                        restart(known.forest, learners.slot[i])
                        trace.restarts[i, t] = True
                i += 1
                if i == begin + together:
                    i = begin
                    t += 1
            going = size > 1
            if going:
                step_in(known.forest, learners.slot[begin], s)
        if size == 1:
            lead += together
        elif s.line.at[ROW] == last[1]:
            lead += size
    return last


@entry_point
def run_contexts(plan, n_learners, memory, chunk, trace):
    """The labels before every example, and the step size of its round."""
    for t in range(chunk.labels.size):
        chunk.contexts[t] = next_context(memory, chunk.labels[t], plan.n_labels)
    if plan.rule == GRADIENT:
        fill_steps(plan, n_learners, chunk.rounds, trace.steps, trace.factors)


@entry_point
def run_moments(forest, chunk):
    """The running mean and variance of every numeric column before every example; only those that are learned count."""
    n = chunk.labels.size
    for t in range(n + 1):
        for f in range(chunk.numeric.shape[1]):
            chunk.means[t, f] = forest.moments[1, f]
            chunk.variances[t, f] = forest.moments[2, f] / max(forest.moments[0, f], 1.0)
        if t < n and chunk.labels[t] >= 0:
            count_moments(forest.moments, chunk.numeric[t])


@entry_point
def follow_experts(plan, committee, chunk, trace, losses, gaps, weights, labels, shares, guesses, decisions):
    """The prediction of each example, and the scores behind it; what they say is calibrated, chunk after chunk."""
    n_experts = losses.size
    for t in range(chunk.labels.size):
        if plan.rule == GRADIENT:
            for i in range(n_experts):
                losses[i] = trace.expert_losses[i, t]
            for l in range(shares.size):
                decisions[t, l] = trace.mean[t, l] / trace.total[t, 0] if trace.total[t, 0] > 0.0 else 0.0
            expert_weights(losses, gaps, weights)
            if plan.follow == DRAW and chunk.labels[t] >= 0:
                guesses[t] = trace.expert_labels[drawn(weights, chunk.uniforms[t, 0]), t]
            elif plan.follow == BEST:
                guesses[t] = trace.expert_labels[heaviest(weights), t]
            else:
                for i in range(n_experts):
                    labels[i] = trace.expert_labels[i, t]
                guesses[t] = voted(weights, labels, shares)
            if plan.calibrate:
                sharpen(committee.sharpness, decisions[t])
                if chunk.labels[t] >= 0:
                    learn_sharpness(committee.sharpness, decisions[t], chunk.labels[t], chunk.weights[t], shares)
        else:
            for l in range(shares.size):
                decisions[t, l] = trace.scores[t, l]
            guesses[t] = trace.expert_labels[n_experts - 1, t]


def run(
    ensemble: Ensemble, chunk: Chunk, in_scores: bool, kept: bool = False
) -> Generator[None, None, tuple[Trace, np.ndarray, np.ndarray]]:
    """Predict, then learn, every example of a chunk: a passage that gives trace, guesses, and scores if asked for.

    `kept` asks for what learners did as well (`Trace`).
    """
    plan, learners, committee, forests, _, memory, potentials, _, own = ensemble
    n, k, n_experts = chunk.labels.size, plan.n_labels, committee.mistakes.size
    trace = make_trace(n, learners.kind.size, n_experts, k, kept)
    trees = k if (learners.kind == GROUP).any() else 1
    through, own = with_own(run_chunk, own)
    run_moments(forests[0], chunk)
    run_contexts(plan, learners.kind.size, memory, chunk, trace)

    def play(b: int, known: Knowledge, need: np.ndarray, s: Scratch, at: Place, last: Place) -> Place:
        return through(plan, learners, committee, potentials[b], known, need, in_scores, chunk, trace, s, at, last)

    yield from play_blocks(ensemble, own, chunk, trees, play)
    guesses, decisions = np.zeros(n, np.int64), np.zeros((n, k))
    losses, gaps, weights = np.zeros(n_experts), np.zeros(n_experts), np.ones(n_experts)
    labels, shares = np.zeros(n_experts, np.int32), np.zeros(k)
    follow_experts(plan, committee, chunk, trace, losses, gaps, weights, labels, shares, guesses, decisions)
    return trace, guesses, decisions
