"""The online loop under bandit feedback (Zhang, Jung and Tewari 2018, Algorithm 1), over rounds in their order.

    for each example x_t:
        every learner votes on x_t
        scores of expert j = sum over i <= j of weight_i * vote_i
        follow one expert -> guess, then explore -> the label that is shown
        right or wrong                                      (perhaps later)
        estimate of which label is right -> costs -> every learner learns
        learner weights and expert weights move

What is learned in a round needs the guess of all learners together, so rounds and learners cannot be exchanged as in
`online_loop`: all vote, then all learn, round by round. What was voted is kept (`RoundRecord`), and learning looks
at nothing else of the time of voting, so that it may come later.

| rule      | booster                 | cost from            | learner weight              | file                |
|-----------|-------------------------|----------------------|-----------------------------|---------------------|
| GRADIENT  | AdaBandit (Algorithm 3) | gradient of the loss | stochastic gradient descent | `rules.ada_bandit`  |
| POTENTIAL | BanditBBM (Algorithm 2) | exact 0-1 potential  | 1                           | `rules.bandit_bbm`  |

The rounds of BinBandit are in `rules.bin_bandit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from edgewise.kernels.compile import entry_point, inlined
from edgewise.kernels.state import state
from edgewise.learners.forest.capacity import capacity_demand, enlarged, has_capacity
from edgewise.learners.forest.statistics import count_moments
from edgewise.loop.extending import specialize
from edgewise.loop.learning import learner_predict, learner_revisit, learner_update
from edgewise.loop.rules.ada_bandit import estimate_logistic_costs, move_weight
from edgewise.loop.rules.bandit_bbm import estimate_potential_costs
from edgewise.loop.rules.votes import add_vote, cheapest_vote, relative_importance
from edgewise.loop.state import (
    ARGMAX,
    COST,
    GRADIENT,
    POTENTIAL,
    PROBABILITY,
    Chunk,
    Ensemble,
    LearnerStates,
    make_workspace,
)
from edgewise.theory.bandits import (
    estimate,
    explored,
    surplus,
    tamed,
    taught_label,
)
from edgewise.theory.experts import BEST, DRAW, add_to_hedge_mean, argmax, expert_weights, sample_index, voted

# Parts of a round, to be added: vote and explore, learn what was cast, and note the scores behind the guess.
VOTING, LEARNING, SCORING = 1, 2, 4
NO_NEED = np.zeros(4, np.int64)
# Uniform random numbers of a round: for Hedge, for exploration, then one for each learner's ties.
OF_HEDGE, OF_EXPLORATION, OF_TIES = 0, 1, 2


@state
class BanditConfig(NamedTuple):
    """The settings of a bandit booster."""

    n_labels: int
    rule: int
    loss: int
    vote: int
    follow: int
    estimate: int
    clip: float  # largest cost
    grain: float  # costs are rounded to a multiple of this; 0 for not at all
    importance_bound: float  # divides the importances
    # GRADIENT only
    importance_power: float
    normalize_importance: bool
    weight_low: float  # feasible set of learner weights
    weight_high: float
    full_step: bool  # learner weights move as with full feedback, not by the rate of Algorithm 3


@state
class RoundRecord(NamedTuple):
    """What was decided in each round, by row: all that learning needs of the time of voting."""

    votes: np.ndarray  # [n, N]
    shares: np.ndarray  # [n, N, k] the votes in full where they are probabilities; else k is 0
    weights: np.ndarray  # [n, N] alpha
    experts: np.ndarray  # [n, N] labels of the experts
    guesses: np.ndarray  # [n] before exploration
    shown: np.ndarray  # [n] after exploration
    correct: np.ndarray  # [n] whether the shown label is right
    rates: np.ndarray  # [n] of exploration
    uniforms: np.ndarray  # [n, 2 + N]
    mean: np.ndarray  # [n, k] scores behind the guess
    importances: np.ndarray  # [n, N] with which learners learned
    taught: np.ndarray  # [n, N] labels that learners learned


@state
class RoundWorkspace(NamedTuple):
    scores: np.ndarray
    kept: np.ndarray
    tame: np.ndarray
    shares: np.ndarray
    total: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray


def make_record(plan: Any, n: int, n_learners: int, rates: np.ndarray, uniforms: np.ndarray) -> RoundRecord:
    k = plan.n_labels
    return RoundRecord(
        np.zeros((n, n_learners), np.int32),
        np.zeros((n, n_learners, k if plan.vote == PROBABILITY else 0)),
        np.zeros((n, n_learners)),
        np.zeros((n, n_learners), np.int32),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, bool),
        rates,
        uniforms,
        np.zeros((n, k)),
        np.zeros((n, n_learners)),
        np.zeros((n, n_learners), np.int32),
    )


@inlined
def note_moments(forest, means, variances):
    """Copy the running mean and variance of every numeric column."""
    for f in range(means.size):
        means[f] = forest.moments[1, f]
        variances[f] = forest.moments[2, f] / max(forest.moments[0, f], 1.0)


@entry_point
def vote_in_round(plan, learners, committee, potentials, states, chunk, t, in_scores, cast, s, work):
    """Lines 5 to 8 of Algorithm 1: votes, experts and the guess of round t."""
    n_learners, k = learners.kind.size, plan.n_labels
    scores, mean = work.scores, cast.mean[t]
    for l in range(k):
        scores[l] = 0.0
        mean[l] = 0.0
    note_moments(states.forest, chunk.means[t], chunk.variances[t])
    for i in range(n_learners):
        alpha = committee.weight[i]
        cast.weights[t, i] = alpha
        vote = learner_predict(learners, states, i, chunk, t, plan.vote != ARGMAX, s)
        if plan.vote == COST:
            vote = cheapest_vote(plan, potentials, scores, n_learners - 1 - i, s)
        cast.votes[t, i] = vote
        if plan.vote == PROBABILITY:
            for l in range(k):
                cast.shares[t, i, l] = s.p[l]
        add_vote(plan, scores, vote, s.p, alpha)
        cast.experts[t, i] = argmax(scores)
        if in_scores and plan.rule == GRADIENT:
            add_to_hedge_mean(i == 0, committee.mistakes[i], scores, mean, work.total)
    if plan.rule == POTENTIAL:
        for l in range(k):
            mean[l] = scores[l]
        cast.guesses[t] = cast.experts[t, n_learners - 1]
        return
    if in_scores:
        for l in range(k):
            mean[l] = mean[l] / work.total[0] if work.total[0] > 0.0 else 0.0
    expert_weights(committee.mistakes, work.gaps, work.weights)
    if plan.follow == DRAW:
        cast.guesses[t] = cast.experts[t, sample_index(work.weights, cast.uniforms[t, OF_HEDGE])]
    elif plan.follow == BEST:
        cast.guesses[t] = cast.experts[t, argmax(work.weights)]
    else:
        cast.guesses[t] = voted(work.weights, cast.experts[t], work.shares)


@entry_point
def learn_round(plan, learners, committee, potentials, states, chunk, t, cast, s, work):
    """Lines 12 to 17 of Algorithm 1, with the votes of round t as they were cast."""
    scores, kept = work.scores, work.kept
    estimate(plan.estimate, cast.guesses[t], cast.shown[t], cast.correct[t], cast.rates[t], kept)
    for l in range(plan.n_labels):
        scores[l] = 0.0
    for i in range(learners.kind.size):
        vote, share = cast.votes[t, i], cast.shares[t, i]
        committee.mistakes[i] += 1.0 - kept[cast.experts[t, i]]
        if plan.rule == POTENTIAL:
            estimate_potential_costs(committee, potentials, i, vote, scores, kept, s.costs)
        else:
            estimate_logistic_costs(plan, committee, i, vote, share, scores, kept, s)
        tamed(s.costs, plan.clip, plan.grain, work.tame)
        label = taught_label(work.tame, cast.shown[t], cast.correct[t], cast.uniforms[t, OF_TIES + i])
        w = surplus(work.tame, label) / plan.importance_bound
        add_vote(plan, scores, vote, share, cast.weights[t, i])
        if plan.rule == GRADIENT:
            move_weight(plan, committee, chunk, cast, i, t, vote, share, scores, kept, s)
            w = relative_importance(plan, committee, i, chunk.rounds[t], w)
        cast.taught[t, i] = label
        cast.importances[t, i] = w
        learner_revisit(learners, states, i, chunk, t, s)
        learner_update(learners, states, i, chunk, t, label, w * learners.scale[i], s)


@inlined
def explore(plan, t, cast):
    """Lines 9 and 10: the label that is shown, drawn from (2)."""
    cast.shown[t] = explored(cast.guesses[t], cast.rates[t], plan.n_labels, cast.uniforms[t, OF_EXPLORATION])


@inlined
def observe_feedback(states, chunk, t, voting, cast):
    """Line 11: whether the shown label was right, known from the labels where a stream is replayed; count the row."""
    if voting:
        cast.correct[t] = cast.shown[t] == chunk.labels[t]
    else:
        note_moments(states.forest, chunk.means[t], chunk.variances[t])
    count_moments(states.forest.moments, chunk.numeric[t])
    note_moments(states.forest, chunk.means[t + 1], chunk.variances[t + 1])


@entry_point
def run_rounds(plan, learners, committee, potentials, states, demand, parts, chunk, cast, s, work, first):
    """Play the rounds of a chunk from `first` on: the parts of each that are asked for.

    Gives the round before which the forest must be enlarged, or the number of rounds when done.
    """
    voting, learning = parts & VOTING != 0, parts & LEARNING != 0
    for t in range(first, chunk.labels.size):
        if learning and not has_capacity(states.forest, learners.kind.size, demand):
            return t
        if voting:
            vote_in_round(plan, learners, committee, potentials, states, chunk, t, parts & SCORING != 0, cast, s, work)
            explore(plan, t, cast)
        if learning:
            observe_feedback(states, chunk, t, voting, cast)
            learn_round(plan, learners, committee, potentials, states, chunk, t, cast, s, work)
    return chunk.labels.size


def play(run: Callable[..., int], ensemble: Ensemble, chunk: Chunk, cast: RoundRecord, parts: int) -> Ensemble:
    """Play the rounds of a chunk by `run`, which is `run_rounds` or of its form; what happened is in `cast`.

    Learners of other libraries predict before a round is played, and learn after it.
    """
    if len(ensemble.external.copies) and chunk.labels.size > 1:
        for t in range(chunk.labels.size):
            ensemble = play(
                run, ensemble, round_of(chunk, t), RoundRecord(*(field[t : t + 1] for field in cast)), parts
            )
        return ensemble
    plan, learners, committee, (forest,), bank, memory, (potentials,), external, own = ensemble
    k, n_learners = plan.n_labels, learners.kind.size
    s = make_workspace(forest, bank, k, len(external.copies))
    rows = external.reader.read(chunk.numeric, chunk.nominal)
    if parts & VOTING:
        for slot in range(len(external.copies)):
            external.predict_proba(slot, rows, 0, s.predicted)
    work = RoundWorkspace(
        np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(2), np.zeros(n_learners), np.ones(n_learners)
    )
    demand = capacity_demand(forest) if parts & LEARNING else NO_NEED
    through, own = specialize(run, own)
    at = 0
    while True:
        states = LearnerStates(forest, bank, memory, own)
        at = through(plan, learners, committee, potentials, states, demand, parts, chunk, cast, s, work, at)
        if at == chunk.labels.size:
            break
        forest = enlarged(forest, n_learners, demand)
    for slot in range(len(external.copies)):
        external.update(slot, rows, 0, s.targets)
    return ensemble._replace(forests=[forest])


def round_of(chunk: Chunk, t: int) -> Chunk:
    """One row of a chunk, as a view."""
    alone = Chunk(*(field[t : t + 1] for field in chunk))
    return alone._replace(means=chunk.means[t : t + 2], variances=chunk.variances[t : t + 2])
