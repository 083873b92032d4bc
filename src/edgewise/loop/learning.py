"""Predictions and updates of learners of every kind."""

from __future__ import annotations

from edgewise.kernels.compile import inlined, merged, noinline
from edgewise.kernels.simd import WIDTH, gather4, mask_tail, no_nan, store
from edgewise.learners.forest.distribution import leaf_labels, leaf_probabilities
from edgewise.learners.forest.growing import find_leaf, learn
from edgewise.learners.forest.layout import ADAPTIVE, MAJORITY, MIXED
from edgewise.learners.label_markov_chain import markov_predict_proba, markov_update
from edgewise.learners.linear import binary_predict_proba, linear_update, softmax_predict_proba
from edgewise.loop.state import BINARY, EXTERNAL, FOR, GROUP, LINEAR, MARKOV, PLACE, PRECOMPUTED, TREE
from edgewise.theory.elementary import index
from edgewise.theory.experts import argmax


@noinline
def gather(forest, tree, numeric, nominal, s, place):
    """Copy the features that a tree uses, in its own order, and find the slots of codes that are not missing.

    They come into the given place of `Workspace`. Space beyond the last numeric feature is filled up with zeros:
    with missing values, stores would be partial, which what is loaded next has to wait for.
    """
    s.gathered[PLACE] = place
    x, codes, slots, shape = s.x[place], s.codes[place], s.slots[place], s.shape[place]
    columns = forest.numeric[tree]
    m = 0
    while m < columns.size and columns[m] >= 0:
        m += 1
    complete = True
    for j in range(0, m, WIDTH):
        value = gather4(numeric, columns, j, m)
        complete = complete and no_nan(value)
        store(x, j, mask_tail(m - j, value, 0.0))
    columns, offset = forest.nominal[tree], forest.offset[tree]
    c, known = 0, 0
    while c < columns.size and columns[c] >= 0:
        code = nominal[columns[c]]
        codes[c] = code
        if code >= 0:
            slots[0, known] = offset[c] + code
            slots[1, known] = offset[c + 1] - 1
            known += 1
        c += 1
    shape[0] = m
    shape[1] = c
    shape[2] = 1 if complete else 0
    shape[3] = known


@inlined
def aside(s):
    """The place in the workspace of a row that is gathered for one tree."""
    return s.x.shape[0] - 1


@inlined
def n_numeric(s):
    """The number of numeric features of the current row."""
    return s.shape[s.gathered[PLACE], 0]


@inlined
def same_columns(forest, a, b):
    """Whether two trees use the same features, in the same order."""
    same = True
    for j in range(forest.numeric.shape[1]):
        same &= forest.numeric[a, j] == forest.numeric[b, j]
    for j in range(forest.nominal.shape[1]):
        same &= forest.nominal[a, j] == forest.nominal[b, j]
    return same


@noinline
def gather_ahead(learners, forest, i, end, chunk, s):
    """Before learner i goes through a chunk: gather all rows at once, if it and the next one use the same columns.

    Where rows were gathered for the tree before, and this one uses the same, nothing is left to do.
    """
    tree, before = learners.slot[i], s.gathered[FOR]
    if learners.kind[i] != TREE:
        return
    if before >= 0 and same_columns(forest, before, tree):
        s.gathered[FOR] = tree
    elif i + 1 < end and learners.kind[i + 1] == TREE and same_columns(forest, tree, learners.slot[i + 1]):
        for t in range(chunk.labels.size):
            gather(forest, tree, chunk.numeric[t], chunk.nominal[t], s, t)
        s.gathered[FOR] = tree


@merged
def tree_predict(forest, tree, g, in_full, s):
    """The label one tree names, and by which predictor; keeps the leaf for `tree_update`.

    `in_full`: `leaf_probabilities` will be needed.
    """
    place = s.gathered[PLACE]
    node, s.reached[g] = find_leaf(forest, tree, s.x[place], s.codes[place])
    s.node[g] = node
    s.majority[g], s.bayes[g], mode = leaf_labels(
        forest,
        tree,
        index(forest.child[node]),
        s.x[place],
        s.slots[place],
        s.shape[place, 0],
        s.shape[place, 3],
        s.shape[place, 2] == 1,
        in_full,
        s.evidence,
        s.shares,
        s.scalings,
    )
    return s.majority[g] if mode == MAJORITY else s.bayes[g], mode


@merged
def learner_predict(learners, states, i, chunk, t, in_full, s):
    """The label that learner i names; with `in_full`, its distribution over all labels in s.p."""
    slot, forest = learners.slot[i], states.forest
    if learners.kind[i] != TREE:
        other_predict(states, learners.kind[i], slot, chunk, t, s)
        return argmax(s.p)
    if s.gathered[FOR] == slot:
        s.gathered[PLACE] = t
    else:
        gather(forest, slot, chunk.numeric[t], chunk.nominal[t], s, aside(s))
    label, mode = tree_predict(forest, slot, 0, in_full, s)
    if in_full or mode == MIXED:
        leaf_probabilities(forest, index(forest.child[s.node[0]]), n_numeric(s), s.bayes[0], mode, s.evidence, s.p)
    return argmax(s.p) if mode == MIXED else label


@noinline
def other_predict(states, kind, slot, chunk, t, s):
    """`learner_predict` for learners that are not one tree; not inlined, since most learners are one."""
    bank, forest, numeric, nominal = states.bank, states.forest, chunk.numeric[t], chunk.nominal[t]
    means, variances = chunk.means[t], chunk.variances[t]
    if kind == GROUP:
        gather(forest, slot, numeric, nominal, s, aside(s))
        total = 0.0
        for g in range(s.p.size):
            _, mode = tree_predict(forest, slot + g, g, True, s)
            leaf_probabilities(
                forest, index(forest.child[s.node[g]]), n_numeric(s), s.bayes[g], mode, s.evidence, s.tree_p
            )
            s.p[g] = s.tree_p[1]
            total += s.p[g]
        for r in range(s.p.size):
            s.p[r] /= total
    elif kind == PRECOMPUTED:
        for r in range(s.p.size):
            s.p[r] = 0.0
        s.p[int(numeric[slot])] = 1.0
    elif kind == LINEAR:
        softmax_predict_proba(bank, slot, numeric, nominal, means, variances, s.inputs, s.present, s.p)
    elif kind == BINARY:
        binary_predict_proba(bank, slot, numeric, nominal, means, variances, s.inputs, s.present, s.evidence, s.p)
    elif kind == MARKOV:
        markov_predict_proba(states.memory, slot, chunk.contexts[t], s.p)
    elif kind == EXTERNAL:
        for r in range(s.p.size):
            s.p[r] = s.predicted[slot, r]


@merged
def learner_revisit(learners, states, i, chunk, t, s):
    """Bring learner i back to an example after others predicted: fill in what `learner_update` reads in s.

    Under bandit feedback all learners predict before any of them learns, perhaps long before.
    """
    kind, slot = learners.kind[i], learners.slot[i]
    if kind in (LINEAR, BINARY):
        other_predict(states, kind, slot, chunk, t, s)
    elif kind == TREE:
        tree_revisit(states.forest, slot, chunk.numeric[t], chunk.nominal[t], s)


@merged
def tree_revisit(forest, tree, numeric, nominal, s):
    """Bring one tree back to an example; which of its leaf's predictors are right matters to adaptive leaves only."""
    place = aside(s)
    gather(forest, tree, numeric, nominal, s, place)
    if forest.mode[tree] == ADAPTIVE:
        tree_predict(forest, tree, 0, False, s)
    else:
        s.node[0], s.reached[0] = find_leaf(forest, tree, s.x[place], s.codes[place])


@merged
def learner_update(learners, states, i, chunk, t, label, w, s):
    """Learner i learns the label of the example that it has just predicted."""
    if w <= 0.0:
        return
    if learners.kind[i] == TREE:
        tree_update(states.forest, learners.slot[i], 0, chunk, t, label, w, s)
    else:
        other_update(states, learners.kind[i], learners.slot[i], chunk, t, label, w, s)


@noinline
def other_update(states, kind, slot, chunk, t, label, w, s):
    """`learner_update` for learners that are not one tree."""
    if kind == GROUP:
        for g in range(s.p.size):
            tree_update(states.forest, slot + g, g, chunk, t, 1 if label == g else 0, w, s)
    elif kind == MARKOV:
        markov_update(states.memory, slot, chunk.contexts[t], label, w)
    elif kind == EXTERNAL:
        s.targets[slot, label] = w
    elif kind != PRECOMPUTED:
        for r in range(s.p.size):
            p = s.p[r] if kind == LINEAR else s.evidence[r]
            s.slopes[r] = w * (p - (1.0 if r == label else 0.0))
        linear_update(states.bank, slot, chunk.nominal[t], s.slopes, w, s.inputs, s.present)


@merged
def tree_update(forest, tree, g, chunk, t, label, w, s):
    """One tree learns the example that it has just predicted as tree g of its group."""
    place = s.gathered[PLACE]
    learn(
        forest,
        tree,
        s.node[g],
        s.reached[g],
        s.majority[g],
        s.bayes[g],
        s.x[place],
        s.codes[place],
        s.slots[place],
        s.shape[place, 0],
        s.shape[place, 1],
        s.shape[place, 3],
        label,
        w,
        # what a tree learns of the columns' spread includes this example
        chunk.means[t + 1],
        chunk.variances[t + 1],
        s.split,
    )


@merged
def label_set_update(learners, states, i, chunk, t, order, size, gains, s):
    """Learner i learns that the first `size` labels of `order` are relevant, each label with its importance in `gains`.

    Trees take relevant labels one after the other, as in Section 4 of Jung and Tewari 2018. A tree may split between
    two of them: each goes to the leaf that is there by then. Linear learners take one step for all.
    """
    if learners.kind[i] == LINEAR:
        total = 0.0
        for j in range(size):
            total += gains[order[j]]
        for j in range(order.size):
            r = order[j]
            s.slopes[r] = total * s.p[r] - (gains[r] if j < size else 0.0)
        linear_update(states.bank, learners.slot[i], chunk.nominal[t], s.slopes, total, s.inputs, s.present)
    elif learners.kind[i] == BINARY:
        most = 0.0
        for j in range(order.size):
            r = order[j]
            s.slopes[r] = gains[r] * (s.evidence[r] - (1.0 if j < size else 0.0))
            most = max(most, gains[r])
        linear_update(states.bank, learners.slot[i], chunk.nominal[t], s.slopes, most, s.inputs, s.present)
    else:
        for j in range(size):
            learner_update(learners, states, i, chunk, t, order[j], gains[order[j]], s)
