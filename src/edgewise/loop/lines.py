"""Trees that go through a chunk side by side, in a line: what `schema.run_chunk` does for each of them, in one loop.

A line is made of learners that follow each other and are single leaves (`forest.abreast`). Row by row all of them name
a label, then scores take the votes in order, then all of them learn. Scores after each vote, one vote after the other,
are all that must be done in order; what follows from them for each learner is done for all at once. Who must learn
alone is left to the loop for one learner: `go_on` stops there, and goes on from there when it is called again.
"""

from __future__ import annotations

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import largest, least, load_wide, shifted, some_less, store, where_equal, where_less, wide
from edgewise.learners.forest.abreast import (
    ABREAST,
    add,
    all_learn,
    all_name,
    clear_lane,
    lay_back,
    lay_out,
    may_join,
    some_learn_apart,
)
from edgewise.learners.forest.layout import LEAF, NO_LIMIT, has_room
from edgewise.loop.learning import same_columns
from edgewise.loop.rules import logistic_step
from edgewise.loop.state import ARGMAX, FOR, GRADIENT, OF_RIGHT, OF_VOTE, PLACE, POTENTIAL, TREE
from edgewise.theory.elementary import exp_of_lanes, whole_part
from edgewise.theory.losses import LEAST_ODDS, LOGISTIC, MOST_ODDS, largest_right_cost
from edgewise.theory.potentials import judged_abreast

# A line has at least so many trees, and goes through at least so many rows: laying it out takes time.
LEAST_TREES, LEAST_ROWS = 3, 32
# Line.at: the row in hand, and the lane from which on trees have to learn it; the first learner of the line, their
# number, and to which row they go. Before a row has been voted on, the lane is UNSEEN.
ROW, LANE, FIRST, SIZE, END = range(5)
UNSEEN = -1


@inlined
def in_lines(plan, in_scores, kept):
    """Whether learners of this booster may go in lines: the rules are those of the paper, and nothing else is asked."""
    if in_scores or kept or plan.calibrate or plan.single_experts or plan.restart or plan.vote != ARGMAX:
        return False
    plain = plan.loss == LOGISTIC and plan.importance_power == 1.0 and not plan.normalize_importance
    return plan.rule == POTENTIAL or (plan.rule == GRADIENT and plain)


@noinline
def line_up(learners, committee, forest, i, end, need, begun, chunk, s):
    """Lay out the trees from learner i on that may go on through the chunk side by side: how many, 1 if there are none.

    Rows must have been gathered, and lack nothing: each has its label and shows all of the trees' features, which are
    nominal. 0 if the forest must be enlarged first.
    """
    n = chunk.labels.size
    if learners.kind[i] != TREE or s.gathered[FOR] != learners.slot[i] or n - begun[i] < LEAST_ROWS:
        return 1
    for t in range(begun[i], n):
        if chunk.labels[t] < 0 or s.shape[t, 0] > 0 or s.shape[t, 1] == 0 or s.shape[t, 3] < s.shape[t, 1]:
            return 1
    size = 0
    while size < ABREAST and i + size < end and goes_with(learners, forest, i, i + size, begun):
        size += 1
    if size < LEAST_TREES:
        return 1
    if not has_room(forest, size, need):
        return 0 if forest.row_limit[learners.slot[i]] == NO_LIMIT else 1
    line = s.line
    line.at[ROW] = begun[i]
    line.at[LANE] = UNSEEN
    line.at[FIRST] = i
    line.at[SIZE] = size
    line.at[END] = n
    for g in range(ABREAST):
        if g < size:
            lay_out(forest, learners.slot[i + g], g, s.abreast)
            line.scale[g] = learners.scale[i + g]
        else:
            clear_lane(g, s.abreast)
            line.weight[g] = 0.0
            line.scale[g] = 0.0
    lay_out_weights(committee, line)
    return size


@noinline
def lay_out_weights(committee, line):
    """Copy what the booster remembers of the learners of a line."""
    for g in range(line.at[SIZE]):
        i = line.at[FIRST] + g
        line.weight[g] = committee.weight[i]
        line.mistakes[g] = committee.mistakes[i]
        line.of_vote[g] = committee.costs[i, OF_VOTE]
        line.of_right[g] = committee.costs[i, OF_RIGHT]
        line.importance[g] = committee.importance[i]


@noinline
def lay_back_weights(committee, line):
    """Copy it back."""
    for g in range(line.at[SIZE]):
        i = line.at[FIRST] + g
        committee.weight[i] = line.weight[g]
        committee.mistakes[i] = line.mistakes[g]
        committee.costs[i, OF_VOTE] = line.of_vote[g]
        committee.costs[i, OF_RIGHT] = line.of_right[g]
        committee.importance[i] = line.importance[g]


@inlined
def goes_with(learners, forest, i, j, begun):
    """Whether learner j may go side by side with the tree i."""
    if learners.kind[j] != TREE or begun[j] != begun[i]:
        return False
    a, b = learners.slot[i], learners.slot[j]
    return may_join(forest, b) and forest.mode[a] == forest.mode[b] and same_columns(forest, a, b)


@inlined
def step_out(forest, tree, g, t, s):
    """Let the tree of lane g learn row t alone: lay it back, and remember who spoke."""
    a = s.abreast
    lay_back(forest, tree, g, a)
    s.gathered[FOR] = tree
    s.gathered[PLACE] = t
    s.node[0] = forest.root[tree]
    s.reached[0] = forest.root[tree]
    s.majority[0] = whole_part(a.majority[g])
    s.bayes[0] = whole_part(a.bayes[g])


@noinline
def step_in(forest, tree, s):
    """Take back a tree that has learned alone. If it has split, it is no single leaf: the line ends after this row."""
    at = s.line.at
    s.abreast.w[at[LANE]] = 0.0
    if forest.kind[forest.root[tree]] == LEAF:
        lay_out(forest, tree, at[LANE], s.abreast)
    else:
        at[END] = at[ROW] + 1
    at[LANE] += 1


@noinline
def fall_out(learners, committee, forest, begun, s):
    """Lay back the trees of a line, but for those that have split, and what the booster remembers of them."""
    at = s.line.at
    for g in range(at[SIZE]):
        i = at[FIRST] + g
        begun[i] = at[ROW]
        if forest.kind[forest.root[learners.slot[i]]] == LEAF:
            lay_back(forest, learners.slot[i], g, s.abreast)
    lay_back_weights(committee, s.line)


@noinline
def go_on(plan, learners, committee, potentials, forest, need, chunk, trace, s):
    """Let a line go on until the tree in the lane in hand must learn alone; false if it is done before that."""
    a, at = s.abreast, s.line.at
    t, g = at[ROW], at[LANE]
    lead, size = at[FIRST], at[SIZE]
    mode = forest.mode[learners.slot[lead]]
    while t < at[END]:
        slots, c, label = s.slots[t], s.shape[t, 1], chunk.labels[t]
        if g == UNSEEN:
            if not has_room(forest, size, need):
                at[END] = t
                break
            all_name(mode, slots, c, a)
            if plan.rule == GRADIENT:
                importance = boost_by_gradient(plan, committee, chunk, trace, s, t)
            else:
                importance = boost_by_potential(plan, potentials, chunk, trace, s, t)
            judge(importance, chunk, trace, s, t)
            g = 0 if some_learn_apart(label, a) else size
        while g < size and a.apart[g] == 0.0:
            g += 1
        if g < size:
            break
        if some_less(0.0, load_wide(a.w)):
            all_learn(mode, label, slots, c, a)
        t += 1
        g = UNSEEN
    at[ROW] = t
    at[LANE] = g
    if t == at[END]:
        fall_out(learners, committee, forest, trace.begun, s)
        return False
    step_out(forest, learners.slot[lead + g], g, t, s)
    return True


@inlined
def boost_by_gradient(plan, committee, chunk, trace, s, t):
    """Take the votes of a line on row t in order, as `rules.gradient_round` does one by one; their importances."""
    line, label, w, scores = s.line, chunk.labels[t], chunk.weights[t], trace.scores[t]
    costs, odds, most = trace.costs[t], trace.odds[t], largest_right_cost(LOGISTIC, scores.size)
    if line.at[FIRST] == 0:
        for l in range(odds.size):
            odds[l] = 1.0  # all scores are 0
            costs[l] = 0.5
        costs[label] = -0.5 * most
    right_before = costs[label]
    named, alpha, y = load_wide(s.abreast.named), load_wide(line.weight), wide(float(label))
    carry(named, alpha, y, scores, odds, line)
    total, low, high = wide(0.0), wide(1.0), wide(1.0)
    for l in range(scores.size):
        if l != label:
            carried = load_wide(line.odds[l])
            low, high = least(low, carried), largest(high, carried)
            cost = 1.0 / (1.0 + carried)
            store(line.costs[l], 0, cost)
            total = total + cost
    if some_less(low, LEAST_ODDS) | some_less(MOST_ODDS, high):
        return one_by_one(plan, committee, chunk, trace, s, t)
    store(line.costs[label], 0, total * -1.0)
    cost, slope = wide(0.0), wide(0.0)
    for l in range(scores.size):
        after = load_wide(line.costs[l])
        cost = where_equal(named, float(l), shifted(after, costs[l]), cost)
        slope = where_equal(named, float(l), after, slope)
        scores[l] = line.scores[l, ABREAST - 1]
        odds[l] = line.odds[l, ABREAST - 1]
        costs[l] = line.costs[l, ABREAST - 1]
    of_right = shifted(total * -1.0, right_before)
    add(line.of_vote, w * cost)
    add(line.of_right, w * of_right)
    alpha = alpha - trace.steps[t] * w * slope
    alpha = where_less(plan.weight_high, alpha, plan.weight_high, alpha)
    store(line.weight, 0, where_less(alpha, plan.weight_low, plan.weight_low, alpha))
    for g in range(line.at[SIZE], ABREAST):
        line.weight[g] = 0.0
    importance = of_right * -1.0 / most
    add(line.importance, importance)
    return importance


@inlined
def carry(named, alpha, y, scores, odds, line):
    """Odds and scores of each label after each vote (`theory.losses.costs_after_vote`), one after the other."""
    factor = exp_of_lanes(where_equal(named, y, alpha, alpha * -1.0))
    of_vote, of_others = where_equal(named, y, 1.0, factor), where_equal(named, y, factor, 1.0)
    for l in range(scores.size):
        store(line.factors, 0, where_equal(named, float(l), of_vote, of_others))
        carried = odds[l]
        for g in range(ABREAST):
            carried *= line.factors[g]
            line.odds[l, g] = carried
    count(named, alpha, scores, line)


@inlined
def count(named, alpha, scores, line):
    """Scores after each vote, one after the other."""
    for l in range(scores.size):
        store(line.gains, 0, where_equal(named, float(l), alpha, 0.0))
        score = scores[l]
        for g in range(ABREAST):
            score += line.gains[g]
            line.scores[l, g] = score


@noinline
def one_by_one(plan, committee, chunk, trace, s, t):
    """What `boost_by_gradient` does where odds get out of hand."""
    line, label, scores, costs = s.line, chunk.labels[t], trace.scores[t], trace.costs[t]
    named, alpha, y = load_wide(s.abreast.named), load_wide(line.weight), wide(float(label))
    most = largest_right_cost(LOGISTIC, scores.size)
    store(line.factors, 0, exp_of_lanes(where_equal(named, y, alpha, alpha * -1.0)))
    lay_back_weights(committee, line)
    for g in range(line.at[SIZE]):
        i, vote, step = line.at[FIRST] + g, whole_part(s.abreast.named[g]), trace.steps[t]
        line.told[0, g] = -costs[label] / most
        committee.importance[i] += line.told[0, g]
        odds, w = trace.odds[t], chunk.weights[t]
        logistic_step(plan, committee, i, scores, costs, odds, vote, label, w, step, line.factors[g])
    lay_out_weights(committee, line)
    return load_wide(line.told[0])


@inlined
def boost_by_potential(plan, potentials, chunk, trace, s, t):
    """Take the votes of a line on row t in order, as `rules.potential_round` does one by one; their importances."""
    line, w, scores, named = s.line, chunk.weights[t], trace.scores[t], load_wide(s.abreast.named)
    count(named, load_wide(line.weight), scores, line)
    to_go = potentials.n_learners - 1 - line.at[FIRST]
    judged_abreast(potentials, to_go, line.at[SIZE], chunk.labels[t], line.scores, named, trace.ahead[t], line.told)
    for l in range(scores.size):
        scores[l] = line.scores[l, ABREAST - 1]
    importance = load_wide(line.told[0])
    add(line.importance, w * importance)
    add(line.of_vote, w * load_wide(line.told[1]))
    return importance / plan.importance_bound


@inlined
def judge(importance, chunk, trace, s, t):
    """What each expert, all learners so far, says of row t; the weights with which trees are to learn it."""
    line, w, y = s.line, chunk.weights[t], wide(float(chunk.labels[t]))
    best, most = wide(0.0), load_wide(line.scores[0])
    for l in range(1, line.scores.shape[0]):
        score = load_wide(line.scores[l])
        best = where_less(most, score, float(l), best)
        most = largest(most, score)
    store(line.best, 0, best)
    for g in range(line.at[SIZE]):
        i = line.at[FIRST] + g
        trace.expert_labels[i, t] = whole_part(line.best[g])
        trace.expert_losses[i, t] = line.mistakes[g]
    add(line.mistakes, where_equal(best, y, 0.0, w))
    weight = importance * (load_wide(line.scale) * w)
    store(s.abreast.w, 0, where_less(0.0, weight, weight, 0.0))
