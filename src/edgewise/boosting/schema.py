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
number, as one example at a time, and each tree stays in the processor's cache.

| rule      | booster                                  | cost from               | learner weight           |
|-----------|------------------------------------------|-------------------------|--------------------------|
| GRADIENT  | Adaboost.OLM (Jung et al. 2017, Alg. 2)  | gradient of the loss    | online gradient descent  |
| POTENTIAL | OnlineMBBM (Jung et al. 2017, Alg. 1)    | exact 0-1 potential     | 1                        |
| POISSON   | Online boosting (Oza 2005, Figure 2)     | lambda                  | log((1 - e)/e)           |
| UNIFORM   | the learners alone                       |                         | 1/N                      |
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise._compile import kernel, routine
from edgewise.learners.forest.distribution import heaviest, leaf_labels, leaf_probabilities
from edgewise.learners.forest.growing import find_leaf, learn
from edgewise.learners.forest.layout import Forest, enlarged, has_room, widest
from edgewise.learners.forest.statistics import update_moments
from edgewise.theory.experts import DRAW, drawn, expert_weights, mean_scores, voted
from edgewise.theory.losses import cheapest, cost_entry, expected_costs, feasible, right_cost, step_size
from edgewise.theory.potentials import Potentials, importance, normalized_costs, potential_after

GRADIENT, POTENTIAL, POISSON, UNIFORM = 0, 1, 2, 3
COST, ARGMAX = 0, 1
VOTES = {"cost": COST, "argmax": ARGMAX}
# Kinds of learner: a tree, a group of one-against-rest trees, votes given with the example.
TREE, GROUP, GIVEN = 0, 1, 2
# Columns of Committee.costs; POISSON keeps the weight of right and of wrong votes there.
OF_VOTE, OF_RIGHT = 0, 1
RIGHT, WRONG = 0, 1

LEAST_ERROR = 1e-10  # Oza's log((1 - e)/e) is infinite at e = 0
LARGEST_RATE = 500.0  # exp(-lambda) must not underflow


class Plan(NamedTuple):
    """Which booster this is."""

    n_labels: int
    rule: int
    loss: int
    vote: int
    follow: int
    importance_bound: float  # w* of Algorithm 1


class Learners(NamedTuple):
    """The learners in order: kind, where each one's state is (first tree, or column), factor on its importance."""

    kind: np.ndarray
    slot: np.ndarray
    scale: np.ndarray


class Committee(NamedTuple):
    """What the booster itself remembers, per learner."""

    weight: np.ndarray  # alpha
    mistakes: np.ndarray  # of expert i, the first i learners together
    costs: np.ndarray  # [N, 2] sums over rounds: cost of the vote, cost of the right label
    importance: np.ndarray  # sum over rounds


class Chunk(NamedTuple):
    """Examples in order. A label of -1 means: vote, do not learn."""

    numeric: np.ndarray
    nominal: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    rounds: np.ndarray  # t, from 1
    uniforms: np.ndarray  # [n, 1] for the Hedge draw, [n, N] for POISSON
    means: np.ndarray  # running mean and variance of each numeric column, this example included
    variances: np.ndarray


class Trace(NamedTuple):
    """What happened, per example and learner; by learner first, as the loop goes."""

    scores: np.ndarray  # [n, k] of the expert reached so far
    carry: np.ndarray  # [n] GRADIENT: cost of the right label at these scores; POISSON: lambda
    votes: np.ndarray  # [N, n]
    learner_weights: np.ndarray  # [N, n] alpha as used in this round
    importances: np.ndarray  # [N, n]
    expert_labels: np.ndarray  # [N, n]
    expert_losses: np.ndarray  # [N, n] mistakes before this round


class Scratch(NamedTuple):
    """Working room of one kernel call."""

    x: np.ndarray
    codes: np.ndarray
    shape: np.ndarray  # numeric features, nominal features, whether no numeric value is missing
    evidence: np.ndarray
    likelihoods: np.ndarray
    counted: np.ndarray
    inverses: np.ndarray
    weights: np.ndarray
    logs: np.ndarray
    p: np.ndarray
    tree_p: np.ndarray
    node: np.ndarray
    majority: np.ndarray
    bayes: np.ndarray
    costs: np.ndarray
    matrix: np.ndarray


def make_scratch(forest: Forest, k: int) -> Scratch:
    per_tree = forest.row.shape[1]
    labels = max(k, per_tree)
    return Scratch(
        x=np.zeros(forest.numeric.shape[1]),
        codes=np.zeros(forest.nominal.shape[1], np.int32),
        shape=np.zeros(3, np.int64),
        evidence=np.zeros(labels),
        likelihoods=np.zeros(labels),
        counted=np.zeros(labels),
        inverses=np.zeros(labels),
        weights=np.zeros(labels),
        logs=np.zeros(labels),
        p=np.zeros(k),
        tree_p=np.zeros(per_tree),
        node=np.zeros(k, np.int64),
        majority=np.zeros(k, np.int64),
        bayes=np.zeros(k, np.int64),
        costs=np.zeros(k),
        matrix=np.zeros((k, k)),
    )


def make_trace(n: int, n_learners: int, k: int) -> Trace:
    by_learner = (n_learners, n)
    return Trace(
        np.zeros((n, k)),
        np.zeros(n),
        np.zeros(by_learner, np.int32),
        np.zeros(by_learner),
        np.zeros(by_learner),
        np.zeros(by_learner, np.int32),
        np.zeros(by_learner),
    )


@kernel
def gather(forest, tree, numeric, nominal, s):
    """Copy the features that a tree uses, in its own order."""
    m = 0
    complete = 1
    for j in range(forest.numeric.shape[1]):
        column = forest.numeric[tree, j]
        if column < 0:
            break
        s.x[j] = numeric[column]
        if s.x[j] != s.x[j]:
            complete = 0
        m += 1
    c = 0
    for j in range(forest.nominal.shape[1]):
        column = forest.nominal[tree, j]
        if column < 0:
            break
        s.codes[j] = nominal[column]
        c += 1
    s.shape[0] = m
    s.shape[1] = c
    s.shape[2] = complete


@kernel
def tree_speaks(forest, tree, g, s):
    """The label one tree names, and whether by naive Bayes; remembers who spoke, for when the tree learns."""
    node = find_leaf(forest, tree, s.x, s.codes)
    s.node[g] = node
    s.majority[g], s.bayes[g], by_bayes = leaf_labels(
        forest,
        tree,
        forest.child[node],
        s.x,
        s.codes,
        s.shape[0],
        s.shape[1],
        s.shape[2] == 1,
        s.evidence,
        s.likelihoods,
        s.counted,
        s.inverses,
    )
    return s.bayes[g] if by_bayes else s.majority[g], by_bayes


@kernel
def learner_speaks(learners, forest, i, numeric, nominal, in_full, s):
    """The label that learner i names; its distribution over all labels in s.p, where that is asked for in full."""
    slot = learners.slot[i]
    k = s.p.size
    if learners.kind[i] == GIVEN:
        for r in range(k):
            s.p[r] = 0.0
        s.p[int(numeric[slot])] = 1.0
        return int(numeric[slot])
    gather(forest, slot, numeric, nominal, s)
    if learners.kind[i] == TREE:
        label, by_bayes = tree_speaks(forest, slot, 0, s)
        if in_full:
            leaf_probabilities(forest, forest.child[s.node[0]], s.shape[0], s.bayes[0], by_bayes, s.evidence, s.p)
        return label
    total = 0.0
    for r in range(k):
        _, by_bayes = tree_speaks(forest, slot + r, r, s)
        leaf_probabilities(forest, forest.child[s.node[r]], s.shape[0], s.bayes[r], by_bayes, s.evidence, s.tree_p)
        s.p[r] = s.tree_p[1]
        total += s.p[r]
    for r in range(k):
        s.p[r] /= total
    return heaviest(s.p)


@kernel
def learner_learns(learners, forest, i, label, w, means, variances, s):
    """Learner i learns the example it has just spoken of."""
    slot = learners.slot[i]
    if w <= 0.0 or learners.kind[i] == GIVEN:
        return
    group = s.p.size if learners.kind[i] == GROUP else 1
    for g in range(group):
        answer = label
        if learners.kind[i] == GROUP:
            answer = 1 if label == g else 0
        learn(
            forest,
            slot + g,
            s.node[g],
            s.majority[g],
            s.bayes[g],
            s.x,
            s.codes,
            s.shape[0],
            s.shape[1],
            answer,
            w,
            means,
            variances,
            s.weights,
            s.logs,
        )


@kernel
def cheapest_vote(plan, potentials, scores, to_go, s):
    """The label that a learner with distribution s.p expects to cost least."""
    if plan.rule == POTENTIAL:
        normalized_costs(potentials, to_go, scores, s.matrix)
        for l in range(scores.size):
            s.costs[l] = 0.0
            for r in range(scores.size):
                s.costs[l] += s.p[r] * s.matrix[r, l]
    else:
        expected_costs(plan.loss, scores, s.p, s.costs, s.evidence)
    return cheapest(s.costs)


@kernel
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


@kernel
def oza_weight(right, wrong):
    """log((1 - e)/e), and nothing for a learner that is wrong more often than right, as AdaBoost.M1 has it."""
    if right + wrong <= 0.0:
        return 0.0
    error = min(max(wrong / (right + wrong), LEAST_ERROR), 1.0 - LEAST_ERROR)
    return max(0.0, math.log((1.0 - error) / error))


@kernel
def gradient_step(plan, committee, i, n_learners, scores, vote, label, w, t, right):
    """Scores take the vote; learner i's edge and weight move. Gives the cost of the right label at the new scores."""
    committee.costs[i, OF_VOTE] += w * cost_entry(plan.loss, scores, label, vote)
    committee.costs[i, OF_RIGHT] += w * right
    scores[vote] += committee.weight[i]
    after = right_cost(plan.loss, scores, label)
    # f'(alpha) is the cost of the vote at the new scores: eq. (10), (38), (41)
    slope = after if vote == label else cost_entry(plan.loss, scores, label, vote)
    width = feasible(plan.loss, n_learners)
    step = step_size(plan.loss, scores.size, n_learners, i, t)
    committee.weight[i] = min(max(committee.weight[i] - step * w * slope, -width), width)
    return after


@routine
def run_chunk(plan, learners, committee, potentials, forest, branches, chunk, trace, s, first_learner, first_row):
    """Let every learner go through the chunk, in order, from (first_learner, first_row) on.

    Gives the (learner, row) before which the forest must be enlarged, or (N, 0) when done.
    """
    n, k = trace.scores.shape
    n_learners = learners.kind.size
    in_full = plan.vote == COST or plan.rule == UNIFORM
    for i in range(first_learner, n_learners):
        trees = k if learners.kind[i] == GROUP else 1
        to_go = n_learners - 1 - i
        for t in range(first_row if i == first_learner else 0, n):
            label = chunk.labels[t]
            if label >= 0 and not has_room(forest, trees, branches):
                return i, t
            scores = trace.scores[t]
            vote = learner_speaks(learners, forest, i, chunk.numeric[t], chunk.nominal[t], in_full, s)
            if plan.vote == COST:
                vote = cheapest_vote(plan, potentials, scores, to_go, s)
            alpha = committee.weight[i]
            trace.votes[i, t] = vote
            trace.learner_weights[i, t] = alpha
            w = chunk.weights[t]
            w_learner = 0.0
            if plan.rule == GRADIENT and label >= 0:
                right = trace.carry[t] if i > 0 else right_cost(plan.loss, scores, label)
                w_learner = -right / (k - 1)
                trace.carry[t] = gradient_step(
                    plan, committee, i, n_learners, scores, vote, label, w, chunk.rounds[t], right
                )
            elif plan.rule == UNIFORM:
                for l in range(k):
                    scores[l] += alpha * s.p[l]
                w_learner = 1.0
            else:
                if plan.rule == POTENTIAL and label >= 0:
                    raw = importance(potentials, to_go, label, scores)
                    w_learner = raw / plan.importance_bound
                    committee.importance[i] += w * raw
                    committee.costs[i, OF_VOTE] += w * (
                        potential_after(potentials, to_go, label, scores, vote)
                        - potential_after(potentials, to_go, label, scores, label)
                    )
                elif plan.rule == POISSON and label >= 0:
                    rate = trace.carry[t] if i > 0 else 1.0
                    w_learner = poisson(rate, chunk.uniforms[t, i])
                    side = RIGHT if vote == label else WRONG
                    committee.costs[i, side] += rate
                    right, wrong = committee.costs[i, RIGHT], committee.costs[i, WRONG]
                    trace.carry[t] = rate * (right + wrong) / (2.0 * committee.costs[i, side])
                    committee.weight[i] = oza_weight(right, wrong)
                scores[vote] += alpha
            best = heaviest(scores)
            trace.expert_labels[i, t] = best
            trace.expert_losses[i, t] = committee.mistakes[i]
            if label >= 0:
                if best != label:
                    committee.mistakes[i] += w
                trace.importances[i, t] = w_learner
                learner_learns(
                    learners, forest, i, label, w_learner * learners.scale[i] * w, chunk.means[t], chunk.variances[t], s
                )
    return n_learners, 0


@routine
def run_moments(forest, chunk):
    """The running mean and variance of every numeric column at every example that is learned."""
    for t in range(chunk.labels.size):
        if chunk.labels[t] >= 0:
            update_moments(forest.moments, chunk.numeric[t], chunk.means[t], chunk.variances[t])


@routine
def follow_experts(plan, chunk, trace, losses, weights, learner_weights, votes, shares, guesses, decisions):
    """The prediction of each example, and the scores behind it."""
    n_learners, n = trace.votes.shape
    for t in range(n):
        if plan.rule == GRADIENT:
            for i in range(n_learners):
                losses[i] = trace.expert_losses[i, t]
                learner_weights[i] = trace.learner_weights[i, t]
                votes[i] = trace.votes[i, t]
            expert_weights(losses, weights)
            mean_scores(weights, learner_weights, votes, decisions[t])
            for i in range(n_learners):
                votes[i] = trace.expert_labels[i, t]
            if plan.follow == DRAW and chunk.labels[t] >= 0:
                guesses[t] = votes[drawn(weights, chunk.uniforms[t, 0])]
            else:
                guesses[t] = voted(weights, votes, shares)
        else:
            for l in range(trace.scores.shape[1]):
                decisions[t, l] = trace.scores[t, l]
            guesses[t] = trace.expert_labels[n_learners - 1, t]


class Ensemble(NamedTuple):
    """The whole state of a booster: what learning changes."""

    plan: Plan
    learners: Learners
    committee: Committee
    forest: Forest
    potentials: Potentials  # tables and memo only: a function of the plan, not a memory


def run(ensemble: Ensemble, chunk: Chunk) -> tuple[Ensemble, Trace, np.ndarray, np.ndarray]:
    """Predict, then learn, every example of a chunk: the new state, the trace, the guesses and their scores."""
    plan, learners, committee, forest, potentials = ensemble
    n, k = chunk.labels.size, plan.n_labels
    trace = make_trace(n, learners.kind.size, k)
    scratch = make_scratch(forest, k)
    branches = widest(forest)
    trees = k if (learners.kind == GROUP).any() else 1
    run_moments(forest, chunk)
    at = (0, 0)
    while True:
        at = run_chunk(plan, learners, committee, potentials, forest, branches, chunk, trace, scratch, *at)
        if at[0] == learners.kind.size:
            break
        forest = enlarged(forest, trees, branches)
    guesses, decisions = np.zeros(n, np.int64), np.zeros((n, k))
    losses, weights, learner_weights = np.zeros((3, learners.kind.size))
    votes, shares = np.zeros(learners.kind.size, np.int32), np.zeros(k)
    follow_experts(plan, chunk, trace, losses, weights, learner_weights, votes, shares, guesses, decisions)
    return ensemble._replace(forest=forest), trace, guesses, decisions
