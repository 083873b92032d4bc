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
from edgewise.learners.forest.growing import find_leaf, learn, restart
from edgewise.learners.forest.layout import MAJORITY, MIXED, Forest, enlarged, has_room, room_needed
from edgewise.learners.forest.statistics import count_moments
from edgewise.learners.label_memory import MemoryBank, memory_learns, memory_speaks, next_context
from edgewise.learners.linear import LinearBank, linear_learns, linear_speaks
from edgewise.theory.experts import BEST, DRAW, blend, drawn, expert_weights, voted
from edgewise.theory.losses import cheapest, cost_row, expected_costs, feasible, largest_right_cost, step_size
from edgewise.theory.potentials import Potentials, importance, normalized_costs, potential_after

GRADIENT, POTENTIAL, POISSON, UNIFORM = 0, 1, 2, 3
COST, ARGMAX, PROBABILITY = 0, 1, 2
LABEL_VOTES = {"cost": COST, "argmax": ARGMAX}
VOTES = {**LABEL_VOTES, "probability": PROBABILITY}
# Kinds of learner: a tree, a group of one-against-rest trees, votes given with the example, a linear learner, a memory
# of labels.
TREE, GROUP, GIVEN, LINEAR, MEMORY = 0, 1, 2, 3, 4
# Columns of Committee.costs; POISSON keeps the weight of right and of wrong votes there.
OF_VOTE, OF_RIGHT = 0, 1
RIGHT, WRONG = 0, 1

LEAST_ERROR = 1e-10  # Oza's log((1 - e)/e) is infinite at e = 0
# Drift: a tree's error over about FAST examples is compared with that over about SLOW; see `drifted`.
FAST, SLOW, ALARM = 100.0, 2000.0, 4.0
ERROR_FAST, ERROR_SLOW, AGE = 0, 1, 2

LARGEST_RATE = 500.0  # exp(-lambda) must not underflow


class Plan(NamedTuple):
    """Which booster this is."""

    n_labels: int
    rule: int
    loss: int
    vote: int
    follow: int
    importance_bound: float  # w* of Algorithm 1
    # GRADIENT only
    importance_power: float
    normalize_importance: bool
    weight_low: float  # feasible set of learner weights
    weight_high: float
    restart: bool  # whether trees whose error rises begin anew


class Learners(NamedTuple):
    """The learners in order: kind, where each one's state is (tree, linear learner or column), factor on importance."""

    kind: np.ndarray
    slot: np.ndarray
    scale: np.ndarray


class Committee(NamedTuple):
    """What the booster itself remembers, per learner."""

    weight: np.ndarray  # alpha
    mistakes: np.ndarray  # of expert i, the first i learners together
    costs: np.ndarray  # [N, 2] sums over rounds: cost of the vote, cost of the right label
    importance: np.ndarray  # sum over rounds, before it is normalized
    errors: np.ndarray  # [N, 3] error over about FAST and SLOW examples, and examples since the tree began


class Chunk(NamedTuple):
    """Examples in order. A label of -1 means: vote, do not learn."""

    numeric: np.ndarray
    nominal: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    rounds: np.ndarray  # t, from 1
    contexts: np.ndarray  # the labels before each example, as `label_memory` numbers them
    uniforms: np.ndarray  # [n, 1] for the Hedge draw, [n, N] for POISSON
    means: np.ndarray  # [n + 1] running mean and variance of each numeric column before each example, and at the end
    variances: np.ndarray


class Trace(NamedTuple):
    """What happened, per example and learner; by learner first, as the loop goes."""

    scores: np.ndarray  # [n, k] of the expert reached so far
    costs: np.ndarray  # [n, k] GRADIENT: cost row at these scores
    rate: np.ndarray  # [n] POISSON: lambda
    mean: np.ndarray  # [n, k] GRADIENT: scores of the experts so far, summed with their Hedge weights
    total: np.ndarray  # [n, 2] sum of these weights, and the least loss that they are relative to
    votes: np.ndarray  # [N, n]
    learner_weights: np.ndarray  # [N, n] alpha as used in this round
    importances: np.ndarray  # [N, n]
    expert_labels: np.ndarray  # [N, n]
    expert_losses: np.ndarray  # [N, n] mistakes before this round
    restarts: np.ndarray  # [N, n] whether the tree began anew after this example


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
    inputs: np.ndarray
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
        inputs=np.zeros(forest.moments.shape[1] + 1),
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
        np.zeros((n, k)),
        np.zeros(n),
        np.zeros((n, k)),
        np.zeros((n, 2)),
        np.zeros(by_learner, np.int32),
        np.zeros(by_learner),
        np.zeros(by_learner),
        np.zeros(by_learner, np.int32),
        np.zeros(by_learner),
        np.zeros(by_learner, bool),
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
    """The label one tree names, and by which predictor; remembers who spoke, for when the tree learns."""
    node = find_leaf(forest, tree, s.x, s.codes)
    s.node[g] = node
    s.majority[g], s.bayes[g], mode = leaf_labels(
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
    return s.majority[g] if mode == MAJORITY else s.bayes[g], mode


@kernel
def learner_speaks(learners, known, i, chunk, t, in_full, s):
    """The label that learner i names; its distribution over all labels in s.p, where that is asked for in full."""
    slot = learners.slot[i]
    forest = known.forest
    numeric, nominal = chunk.numeric[t], chunk.nominal[t]
    k = s.p.size
    if learners.kind[i] == GIVEN:
        for r in range(k):
            s.p[r] = 0.0
        s.p[int(numeric[slot])] = 1.0
        return int(numeric[slot])
    if learners.kind[i] == LINEAR:
        linear_speaks(known.bank, slot, numeric, nominal, chunk.means[t], chunk.variances[t], s.inputs, s.p)
        return heaviest(s.p)
    if learners.kind[i] == MEMORY:
        memory_speaks(known.memory, slot, chunk.contexts[t], s.p)
        return heaviest(s.p)
    gather(forest, slot, numeric, nominal, s)
    if learners.kind[i] == TREE:
        label, mode = tree_speaks(forest, slot, 0, s)
        if in_full or mode == MIXED:
            leaf_probabilities(forest, forest.child[s.node[0]], s.shape[0], s.bayes[0], mode, s.evidence, s.p)
        return heaviest(s.p) if mode == MIXED else label
    total = 0.0
    for r in range(k):
        _, mode = tree_speaks(forest, slot + r, r, s)
        leaf_probabilities(forest, forest.child[s.node[r]], s.shape[0], s.bayes[r], mode, s.evidence, s.tree_p)
        s.p[r] = s.tree_p[1]
        total += s.p[r]
    for r in range(k):
        s.p[r] /= total
    return heaviest(s.p)


@kernel
def learner_learns(learners, known, i, chunk, t, w, s):
    """Learner i learns the example it has just spoken of."""
    slot = learners.slot[i]
    label = chunk.labels[t]
    if w <= 0.0 or learners.kind[i] == GIVEN:
        return
    if learners.kind[i] == LINEAR:
        linear_learns(known.bank, slot, chunk.nominal[t], label, w, s.inputs, s.p)
        return
    if learners.kind[i] == MEMORY:
        memory_learns(known.memory, slot, chunk.contexts[t], label, w)
        return
    group = s.p.size if learners.kind[i] == GROUP else 1
    for g in range(group):
        answer = label
        if learners.kind[i] == GROUP:
            answer = 1 if label == g else 0
        learn(
            known.forest,
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
            # what a tree learns of the columns' spread includes this example
            chunk.means[t + 1],
            chunk.variances[t + 1],
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
def cost_of_vote(plan, costs, vote, p):
    """<C(y), h>: the cost of a vote for a label, or of a vote with probabilities."""
    if plan.vote != PROBABILITY:
        return costs[vote]
    total = 0.0
    for l in range(p.size):
        total += costs[l] * p[l]
    return total


@kernel
def take_vote(plan, scores, vote, p, alpha):
    """s^i = s^(i-1) + alpha h."""
    if plan.vote == PROBABILITY or plan.rule == UNIFORM:
        for l in range(scores.size):
            scores[l] += alpha * p[l]
    else:
        scores[vote] += alpha


@kernel
def gradient_importance(plan, committee, i, right, t, k):
    """The importance of an example whose right label costs `right`: raised to a power, and relative to its mean."""
    u = -right / largest_right_cost(plan.loss, k)
    if plan.importance_power != 1.0:
        u = max(u, 0.0) ** plan.importance_power
    committee.importance[i] += u
    if plan.normalize_importance:
        mean = committee.importance[i] / t
        u = u / mean if mean > 0.0 else 0.0
    return u


@kernel
def gradient_step(plan, committee, i, n_learners, scores, costs, vote, p, label, w, t):
    """Scores take the vote; learner i's edge and weight move; `costs` becomes the cost row at the new scores."""
    committee.costs[i, OF_VOTE] += w * cost_of_vote(plan, costs, vote, p)
    committee.costs[i, OF_RIGHT] += w * costs[label]
    alpha = committee.weight[i]
    take_vote(plan, scores, vote, p, alpha)
    cost_row(plan.loss, scores, label, costs)
    # f'(alpha) is the cost of the vote at the new scores: eq. (10), (38), (41). The paper's step is for its own
    # feasible set; it grows with the diameter.
    slope = cost_of_vote(plan, costs, vote, p)
    diameter = (plan.weight_high - plan.weight_low) / (2.0 * feasible(plan.loss, n_learners))
    step = diameter * step_size(plan.loss, scores.size, n_learners, i, t)
    committee.weight[i] = min(max(alpha - step * w * slope, plan.weight_low), plan.weight_high)


@routine
def run_chunk(plan, learners, committee, potentials, known, need, in_scores, chunk, trace, s, first_learner, first_row):
    """Let every learner go through the chunk, in order, from (first_learner, first_row) on.

    `in_scores` asks for the experts' mean scores as well, which guesses do not need. Gives the (learner, row) before
    which the forest must be enlarged, or (N, 0) when done.
    """
    n, k = trace.scores.shape
    n_learners = learners.kind.size
    in_full = plan.vote != ARGMAX or plan.rule == UNIFORM
    for i in range(first_learner, n_learners):
        trees = k if learners.kind[i] == GROUP else 1
        to_go = n_learners - 1 - i
        for t in range(first_row if i == first_learner else 0, n):
            label = chunk.labels[t]
            if label >= 0 and not has_room(known.forest, trees, need):
                return i, t
            scores = trace.scores[t]
            named = learner_speaks(learners, known, i, chunk, t, in_full, s)
            vote = named
            if plan.vote == COST:
                vote = cheapest_vote(plan, potentials, scores, to_go, s)
            trace.votes[i, t] = vote
            trace.learner_weights[i, t] = committee.weight[i]
            w = chunk.weights[t]
            w_learner = 0.0
            if plan.rule == GRADIENT and label >= 0:
                costs = trace.costs[t]
                if i == 0:
                    cost_row(plan.loss, scores, label, costs)
                w_learner = gradient_importance(plan, committee, i, costs[label], chunk.rounds[t], k)
                gradient_step(plan, committee, i, n_learners, scores, costs, vote, s.p, label, w, chunk.rounds[t])
            elif plan.rule == POTENTIAL and label >= 0:
                raw = importance(potentials, to_go, label, scores)
                w_learner = raw / plan.importance_bound
                committee.importance[i] += w * raw
                committee.costs[i, OF_VOTE] += w * (
                    potential_after(potentials, to_go, label, scores, vote)
                    - potential_after(potentials, to_go, label, scores, label)
                )
                take_vote(plan, scores, vote, s.p, committee.weight[i])
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
                take_vote(plan, scores, vote, s.p, committee.weight[i])
                w_learner = 1.0
            best = heaviest(scores)
            trace.expert_labels[i, t] = best
            trace.expert_losses[i, t] = committee.mistakes[i]
            if in_scores and plan.rule == GRADIENT:
                blend(i == 0, committee.mistakes[i], scores, trace.mean[t], trace.total[t])
            if label >= 0:
                if best != label:
                    committee.mistakes[i] += w
                trace.importances[i, t] = w_learner
                w_learner *= learners.scale[i] * w
                learner_learns(learners, known, i, chunk, t, w_learner, s)
                if plan.restart and learners.kind[i] == TREE and drifted(committee.errors[i], named != label):
                    restart(known.forest, learners.slot[i])
                    trace.restarts[i, t] = True
    return n_learners, 0


@kernel
def drifted(errors, wrong):
    """Count one prediction of a tree; whether its error has risen so much that the tree should begin anew.

    Two running means of the error are kept, over about FAST and about SLOW examples. They agree but for chance unless
    the stream changed: FAST examples have a standard error of sqrt(e(1 - e)/FAST). Only a tree's own past counts, so
    that the order of learners and rounds may still be exchanged.
    """
    errors[AGE] += 1.0
    miss = 1.0 if wrong else 0.0
    errors[ERROR_FAST] += (miss - errors[ERROR_FAST]) / min(errors[AGE], FAST)
    errors[ERROR_SLOW] += (miss - errors[ERROR_SLOW]) / min(errors[AGE], SLOW)
    slow = errors[ERROR_SLOW]
    if errors[AGE] < 3.0 * FAST or errors[ERROR_FAST] <= slow + ALARM * math.sqrt(slow * (1.0 - slow) / FAST):
        return False
    errors[ERROR_FAST] = errors[ERROR_SLOW] = errors[AGE] = 0.0
    return True


@routine
def run_contexts(memory, chunk, k):
    """The labels before every example."""
    for t in range(chunk.labels.size):
        chunk.contexts[t] = next_context(memory, chunk.labels[t], k)


@routine
def run_moments(forest, chunk):
    """The running mean and variance of every numeric column before every example; only those that are learned count."""
    n = chunk.labels.size
    for t in range(n + 1):
        for f in range(chunk.numeric.shape[1]):
            chunk.means[t, f] = forest.moments[1, f]
            chunk.variances[t, f] = forest.moments[2, f] / max(forest.moments[0, f], 1.0)
        if t < n and chunk.labels[t] >= 0:
            count_moments(forest.moments, chunk.numeric[t])


@routine
def follow_experts(plan, chunk, trace, losses, weights, labels, shares, guesses, decisions):
    """The prediction of each example, and the scores behind it."""
    n_learners, n = trace.votes.shape
    for t in range(n):
        if plan.rule == GRADIENT:
            for i in range(n_learners):
                losses[i] = trace.expert_losses[i, t]
                labels[i] = trace.expert_labels[i, t]
            for l in range(shares.size):
                decisions[t, l] = trace.mean[t, l] / trace.total[t, 0] if trace.total[t, 0] > 0.0 else 0.0
            expert_weights(losses, weights)
            if plan.follow == DRAW and chunk.labels[t] >= 0:
                guesses[t] = labels[drawn(weights, chunk.uniforms[t, 0])]
            elif plan.follow == BEST:
                guesses[t] = labels[heaviest(weights)]
            else:
                guesses[t] = voted(weights, labels, shares)
        else:
            for l in range(shares.size):
                decisions[t, l] = trace.scores[t, l]
            guesses[t] = trace.expert_labels[n_learners - 1, t]


class Knowledge(NamedTuple):
    """What the learners have learned, by kind."""

    forest: Forest
    bank: LinearBank
    memory: MemoryBank


class Ensemble(NamedTuple):
    """The whole state of a booster: what learning changes."""

    plan: Plan
    learners: Learners
    committee: Committee
    forest: Forest
    bank: LinearBank
    memory: MemoryBank
    potentials: Potentials  # tables and memo only: a function of the plan, not a memory


def run(ensemble: Ensemble, chunk: Chunk, in_scores: bool) -> tuple[Ensemble, Trace, np.ndarray, np.ndarray]:
    """Predict, then learn, every example of a chunk: the new state, the trace, the guesses, and scores if asked for."""
    plan, learners, committee, forest, bank, memory, potentials = ensemble
    n, k, n_learners = chunk.labels.size, plan.n_labels, learners.kind.size
    trace = make_trace(n, n_learners, k)
    scratch = make_scratch(forest, k)
    need = room_needed(forest)
    trees = k if (learners.kind == GROUP).any() else 1
    run_moments(forest, chunk)
    run_contexts(memory, chunk, k)
    at = (0, 0)
    while True:
        known = Knowledge(forest, bank, memory)
        at = run_chunk(plan, learners, committee, potentials, known, need, in_scores, chunk, trace, scratch, *at)
        if at[0] == n_learners:
            break
        forest = enlarged(forest, trees, need)
    guesses, decisions = np.zeros(n, np.int64), np.zeros((n, k))
    losses, weights = np.zeros((2, n_learners))
    labels, shares = np.zeros(n_learners, np.int32), np.zeros(k)
    follow_experts(plan, chunk, trace, losses, weights, labels, shares, guesses, decisions)
    return ensemble._replace(forest=forest), trace, guesses, decisions
