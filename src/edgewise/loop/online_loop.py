"""The online loop over a chunk of labeled examples: all boosters of single labels.

    for each example x_t:
        every learner votes on x_t
        scores of expert j = sum over i <= j of weight_i * vote_i
        follow one expert -> prediction
        the label arrives
        for every learner i: cost from the scores of expert i-1 -> importance -> learner i learns
        learner weights and expert weights move

Learner i in round t needs only its own past and the scores of learners 1..i-1 in round t, so the two loops may be
exchanged: learner 1 goes through the whole chunk, then learner 2, and so on. The result is the same, number for
number, as one example at a time, and each tree stays in the processor's cache (docs/theory.md, 1).

| rule      | booster               | cost from               | learner weight          | file                 |
|-----------|-----------------------|-------------------------|-------------------------|----------------------|
| GRADIENT  | Adaboost.OLM          | gradient of the loss    | online gradient descent | `rules.adaboost_olm` |
| POTENTIAL | OnlineMBBM            | exact 0-1 potential     | 1                       | `rules.online_mbbm`  |
| POISSON   | Oza's online boosting | lambda                  | log((1 - e)/e)          | `rules.oza_boost`    |
| UNIFORM   | the learners alone    |                         | 1/N                     | `rules.uniform`      |
| OWN_RULE  | a user's own          | the rule's `importance` | its `learner_weight`    | `extending`          |
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import entry_point, inlined, merged
from edgewise.kernels.state import state
from edgewise.learners.forest.capacity import capacity_demand, enlarged, has_capacity
from edgewise.learners.forest.growing import restart
from edgewise.learners.forest.statistics import count_moments
from edgewise.learners.label_markov_chain import next_context
from edgewise.loop.calibration import apply_temperature, learn_temperature
from edgewise.loop.extending import specialize
from edgewise.loop.learning import gather_ahead, learner_predict, learner_update
from edgewise.loop.pipeline import Position, process_blocks
from edgewise.loop.rules.adaboost_olm import fill_steps, gradient_round
from edgewise.loop.rules.drift import drifted
from edgewise.loop.rules.experts import count_expert, count_single_expert
from edgewise.loop.rules.online_mbbm import potential_round
from edgewise.loop.rules.oza_boost import poisson_round
from edgewise.loop.rules.uniform import uniform_step
from edgewise.loop.rules.votes import cheapest_vote
from edgewise.loop.state import (
    ARGMAX,
    COST,
    FOR,
    GRADIENT,
    GROUP,
    POISSON,
    POTENTIAL,
    TREE,
    UNIFORM,
    Chunk,
    ChunkBuffers,
    Ensemble,
    LearnerStates,
    Workspace,
    make_buffers,
    make_workspace,
)
from edgewise.theory.experts import BEST, DRAW, argmax, expert_weights, sample_index, voted


@merged
def rule_step(plan, committee, potentials, own_rule, chunk, trace, i, t, vote, p):
    """The booster's rule for learner i: scores take its vote, its weight moves; the importance of the example for it.

    A row without a label is only voted on.
    """
    if plan.rule == GRADIENT and chunk.labels[t] >= 0:
        return gradient_round(plan, committee, chunk, trace, i, t, vote, p)
    if plan.rule == POTENTIAL and chunk.labels[t] >= 0:
        return potential_round(plan, committee, potentials, chunk, trace, i, t, vote, p)
    if plan.rule == POISSON and chunk.labels[t] >= 0:
        return float(poisson_round(plan, committee, chunk, trace, i, t, vote, p))
    return uniform_step(plan, committee, own_rule, i, trace.scores[t], vote, p, chunk, t)


@entry_point
def process_chunk(plan, learners, committee, potentials, states, demand, in_scores, chunk, trace, s, first, last):
    """Let learners go through the chunk, in order, from the (learner, row) `first` to before `last`.

    `in_scores` asks for the experts' mean scores as well, which guesses do not need. Gives the (learner, row) before
    which the forest must be enlarged, or `last` when done.
    """
    in_full = plan.vote != ARGMAX or plan.rule == UNIFORM
    for i in range(first[0], last[0]):
        trees = trace.scores.shape[1] if learners.kind[i] == GROUP else 1
        gather_ahead(learners, states.forest, i, last[0], chunk, s)
        for t in range(first[1] if i == first[0] else 0, last[1]):
            label = chunk.labels[t]
            if label >= 0 and not has_capacity(states.forest, trees, demand):
                return i, t
            named = learner_predict(learners, states, i, chunk, t, in_full, s)
            vote = named
            if plan.vote == COST:
                vote = cheapest_vote(plan, potentials, trace.scores[t], learners.kind.size - 1 - i, s)
            alpha = committee.weight[i]
            w = rule_step(plan, committee, potentials, states.own.rule, chunk, trace, i, t, vote, s.p)
            count_expert(plan, committee, chunk, trace, i, t, in_scores)
            if plan.single_experts:
                count_single_expert(plan, committee, chunk, trace, i, t, vote, alpha, in_scores, s)
            if trace.votes.size > 0:
                trace.votes[i, t] = vote
                trace.learner_weights[i, t] = alpha
                trace.importances[i, t] = w if label >= 0 else 0.0
            if label >= 0:
                learner_update(learners, states, i, chunk, t, label, w * (learners.scale[i] * chunk.weights[t]), s)
                if plan.restart and learners.kind[i] == TREE and drifted(committee.errors[i], named != label):
                    restart(states.forest, learners.slot[i])
                    trace.restarts[i, t] = True
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


@state
class ExpertWorkspace(NamedTuple):
    """What `follow_experts` works with, and the predictions and scores of n examples that it fills in."""

    losses: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray
    labels: np.ndarray
    shares: np.ndarray
    guesses: np.ndarray  # [n]
    decisions: np.ndarray  # [n, k]


def make_expert_workspace(n: int, n_experts: int, k: int) -> ExpertWorkspace:
    losses, gaps = np.zeros((2, n_experts))
    labels, guesses = np.zeros(n_experts, np.int32), np.zeros(n, np.int64)
    return ExpertWorkspace(losses, gaps, np.ones(n_experts), labels, np.zeros(k), guesses, np.zeros((n, k)))


@entry_point
def follow_experts(plan, committee, chunk, trace, work):
    """The prediction of each example, and the scores behind it, calibrated by what was learned of earlier examples."""
    n_experts, shares = work.losses.size, work.shares
    for t in range(chunk.labels.size):
        scores = work.decisions[t]
        if plan.rule == GRADIENT:
            for i in range(n_experts):
                work.losses[i] = trace.expert_losses[i, t]
            for l in range(shares.size):
                scores[l] = trace.mean[t, l] / trace.total[t, 0] if trace.total[t, 0] > 0.0 else 0.0
            work.guesses[t] = followed(plan, chunk, trace, t, work)
            if plan.calibrate:
                apply_temperature(committee.temperature, scores)
                if chunk.labels[t] >= 0:
                    learn_temperature(committee.temperature, scores, chunk.labels[t], chunk.weights[t], shares)
        else:
            for l in range(shares.size):
                scores[l] = trace.scores[t, l]
            work.guesses[t] = trace.expert_labels[n_experts - 1, t]


@inlined
def followed(plan, chunk, trace, t, work):
    """The label of the expert that Hedge draws, of the best expert, or of the experts' weighted vote."""
    weights = work.weights
    expert_weights(work.losses, work.gaps, weights)
    if plan.follow == DRAW and chunk.labels[t] >= 0:
        return trace.expert_labels[sample_index(weights, chunk.uniforms[t, 0]), t]
    if plan.follow == BEST:
        return trace.expert_labels[argmax(weights), t]
    for i in range(work.losses.size):
        work.labels[i] = trace.expert_labels[i, t]
    return voted(weights, work.labels, work.shares)


def run(
    ensemble: Ensemble, chunk: Chunk, in_scores: bool, kept: bool = False
) -> Generator[None, None, tuple[ChunkBuffers, np.ndarray, np.ndarray]]:
    """Predict, then learn, every example of a chunk: a task of the pipeline that gives trace, guesses and scores.

    Scores only if `in_scores` asks for them; `kept` asks for what learners did as well (`ChunkBuffers`).
    """
    plan, learners, committee, forests, _, memory, potentials, _, own = ensemble
    n, k, n_experts = chunk.labels.size, plan.n_labels, committee.mistakes.size
    trace = make_buffers(n, learners.kind.size, n_experts, k, kept)
    trees = k if (learners.kind == GROUP).any() else 1
    through, own = specialize(process_chunk, own)
    run_moments(forests[0], chunk)
    run_contexts(plan, learners.kind.size, memory, chunk, trace)

    def play(b: int, states: LearnerStates, demand: np.ndarray, s: Workspace, at: Position, last: Position) -> Position:
        return through(plan, learners, committee, potentials[b], states, demand, in_scores, chunk, trace, s, at, last)

    yield from process_blocks(ensemble, own, chunk, trees, play)
    work = make_expert_workspace(n, n_experts, k)
    follow_experts(plan, committee, chunk, trace, work)
    return trace, work.guesses, work.decisions


BEGIN = -1


@entry_point
def play_row(plan, learners, committee, potentials, states, demand, in_scores, chunk, trace, s, work, first):
    """`run` for a chunk of one row: the learner to go on with once the forest is enlarged, N when done.

    `first` is that learner, or BEGIN.
    """
    if first == BEGIN:
        run_moments(states.forest, chunk)
        run_contexts(plan, learners.kind.size, states.memory, chunk, trace)
        for l in range(plan.n_labels):
            trace.scores[0, l] = 0.0
        for i in range(learners.kind.size):
            trace.restarts[i, 0] = False
        s.gathered[FOR] = -1
    start = max(first, 0)
    end = (learners.kind.size, 1)
    at, _ = process_chunk(
        plan, learners, committee, potentials, states, demand, in_scores, chunk, trace, s, (start, 0), end
    )
    if at == learners.kind.size:
        follow_experts(plan, committee, chunk, trace, work)
    return at


class SingleRow:
    """Learns single rows, with the numbers of `run`, while columns, categories and labels stay as they are.

    `run` makes its arrays anew and calls four kernels, which for one row is most of the work: passing the arrays of a
    state costs more than ten trees do. Here the arrays are kept from row to row, and one kernel is called. Learners
    must be in one block.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        k, n_experts = ensemble.plan.n_labels, ensemble.committee.mistakes.size
        width = ensemble.forests[0].moments.shape[1]
        self.trace = make_buffers(1, ensemble.learners.kind.size, n_experts, k)
        self.workspace = make_workspace(ensemble.forests[0], ensemble.bank, k, 0, 1)
        self.demand = capacity_demand(ensemble.forests[0])
        self.trees = k if (ensemble.learners.kind == GROUP).any() else 1
        self.code, self.rounds, self.context = np.zeros((3, 1), np.int64)
        self.weight, self.uniforms = np.ones(1), np.zeros((1, 1))
        self.means, self.variances = np.zeros((2, 2, width))
        self.experts = make_expert_workspace(1, n_experts, k)
        self.guesses, self.decisions = self.experts.guesses, self.experts.decisions

    def play(
        self,
        ensemble: Ensemble,
        numeric: np.ndarray,
        nominal: np.ndarray,
        *,
        code: int = -1,
        weight: float = 1.0,
        rounds: int = 0,
        uniforms: np.ndarray | None = None,
        in_scores: bool = False,
    ) -> None:
        """Predict a row (`guesses`, `decisions`), then learn it where it has a code."""
        self.code[0], self.weight[0], self.rounds[0] = code, weight, rounds
        drawn = self.uniforms if uniforms is None else uniforms
        row = (numeric, nominal, self.code, self.weight, self.rounds, self.context, drawn, self.means, self.variances)
        plan, learners, committee, (forest,), bank, memory, (potentials,), _, own = ensemble
        through, own = specialize(play_row, own)
        kept = (in_scores, Chunk(*row), self.trace, self.workspace, self.experts)
        at = BEGIN
        while at < learners.kind.size:
            if at != BEGIN:
                forest = enlarged(forest, self.trees, self.demand)
            states = LearnerStates(forest, bank, memory, own)
            at = through(plan, learners, committee, potentials, states, self.demand, *kept, at)
        ensemble.forests[0] = forest
