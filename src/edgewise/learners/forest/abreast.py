"""Single leaves side by side: trees that have not split yet, eight in one step.

Until a tree splits, each of its examples comes to one leaf. Trees that see the same nominal features then look up and
count the same slots, each in its own statistics, so that these may stand side by side: what one tree does to a number,
lanes do to the numbers of several (`_lanes`). Leaves are laid out before a chunk of rows and laid back after it; the
numbers are those of one tree after the other, bit for bit. What is seldom is left to the functions for one tree, with
its leaf laid back: to learn a class that is new to the leaf, and to attempt a split.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import WIDE, largest, least, load_wide, some_less, store, where_equal, where_less, wide
from edgewise.kernels.state import state
from edgewise.learners.forest.distribution import PRODUCT_BOTTOM, PRODUCT_TOP
from edgewise.learners.forest.layout import (
    ADAPTIVE,
    ASLEEP,
    LEAF,
    MAJORITY,
    MIXED,
    NO_LIMIT,
    PENDING,
    RIGHT_BAYES,
    RIGHT_MAJORITY,
    SEEN,
    Forest,
)
from edgewise.theory.elementary import whole_part

ABREAST = WIDE  # trees side by side, at most
# So many trees take a row in turn (`boosting.learning`) if what a leaf of theirs knows takes at most so many bytes:
# more trees are not faster, and large leaves are slower (benchmarks/results/in_turn.md).
IN_TURN, SMALL = 4, 8192


@state
class Abreast(NamedTuple):
    """Leaves of up to W = ABREAST trees, as `Forest` has them one by one; lanes without a tree hold nothing."""

    class_weight: np.ndarray  # [k, W]
    complete: np.ndarray  # [k, W]
    inverse: np.ndarray  # [k, W] 1 / (complete + 1)
    counts: np.ndarray  # [V, k, W]
    margin: np.ndarray  # [V, W]
    complete_sum: np.ndarray  # [W]
    inverse_sum: np.ndarray  # [W] 1 / complete_sum
    tally: np.ndarray  # [4, W]
    examples: np.ndarray  # [W]
    majority: np.ndarray  # [W] the class of most weight, and its weight
    most: np.ndarray
    grace: np.ndarray  # [W]
    # of the example in hand
    shares: np.ndarray  # [c, W] of its codes
    evidence: np.ndarray  # [k, W] what naive Bayes says of each class, and how often that was scaled up
    scaled: np.ndarray
    bayes: np.ndarray  # [W] the label that naive Bayes names
    named: np.ndarray  # [W] the label that the tree names
    w: np.ndarray  # [W] the weight with which the tree is to learn it
    apart: np.ndarray  # [W] 1 where the tree must learn alone


def make_abreast(k: int, width: int, c: int) -> Abreast:
    """Room for trees of k classes and c nominal features, which are counted in `width` slots."""
    by_class = {name: np.zeros((k, ABREAST)) for name in ("class_weight", "complete", "inverse", "evidence", "scaled")}
    single = ("complete_sum", "inverse_sum", "examples", "majority", "most", "grace", "bayes", "named", "w", "apart")
    return Abreast(
        counts=np.zeros((width, k, ABREAST)),
        margin=np.zeros((width, ABREAST)),
        tally=np.zeros((4, ABREAST)),
        shares=np.zeros((c, ABREAST)),
        **by_class,
        **{name: np.zeros(ABREAST) for name in single},
    )


@inlined
def small(forest: Forest) -> bool:
    """Whether what a leaf knows of all classes takes so few bytes that several trees fit into the cache."""
    per_class = forest.gauss.shape[1] * forest.gauss.shape[2] + forest.counts.shape[1]
    return 8 * forest.row.shape[1] * per_class <= SMALL


def at_once(forest: Forest) -> int:
    """How many trees may ask for room at once: one of them, where none may go with others.

    No fewer than lines and `learning.in_turn` let go together: for those they would ask for room without end.
    """
    if forest.row_limit.min() < NO_LIMIT:
        return 1
    if (forest.numeric[:, 0] < 0).any():
        return ABREAST
    return IN_TURN if small(forest) else 1


@inlined
def may_join(forest, tree):
    """Whether a tree is one leaf, of such a kind that its statistics may stand in a lane."""
    root = forest.root[tree]
    if forest.kind[root] != LEAF or forest.mode[tree] == MIXED or forest.row_limit[tree] < forest.row.shape[1]:
        return False
    leaf = forest.child[root]
    known = True  # a leaf that slept may have classes without statistics
    for r in range(forest.row.shape[1]):
        known &= (forest.row[leaf, r] >= 0) == (forest.class_weight[leaf, r] > 0.0)
    return known and not forest.gapped[leaf] and forest.examples[leaf] != ASLEEP


@noinline
def lay_out(forest, tree, g, a):
    """Copy the leaf that a tree is to lane g."""
    leaf = forest.child[forest.root[tree]]
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        a.class_weight[r, g] = forest.class_weight[leaf, r]
        a.complete[r, g] = forest.complete[row] if row >= 0 else 0.0
        a.inverse[r, g] = 1.0 / (a.complete[r, g] + 1.0)
        for v in range(forest.counts.shape[1]):
            a.counts[v, r, g] = forest.counts[row, v] if row >= 0 else 0.0
    for v in range(forest.margin.shape[1]):
        a.margin[v, g] = forest.margin[leaf, v]
    for s in range(forest.tally.shape[1]):
        a.tally[s, g] = forest.tally[leaf, s]
    a.complete_sum[g] = forest.complete_sum[leaf]
    a.inverse_sum[g] = 1.0 / a.complete_sum[g] if a.complete_sum[g] > 0.0 else 0.0
    a.examples[g] = forest.examples[leaf]
    a.majority[g] = forest.majority[leaf]
    a.most[g] = forest.class_weight[leaf, forest.majority[leaf]]
    a.grace[g] = forest.grace[tree]


@noinline
def lay_back(forest, tree, g, a):
    """Copy lane g to the leaf that a tree is. Every class that the leaf has seen has its statistics row already."""
    leaf = forest.child[forest.root[tree]]
    for r in range(forest.row.shape[1]):
        row = forest.row[leaf, r]
        if row >= 0:
            forest.class_weight[leaf, r] = a.class_weight[r, g]
            forest.complete[row] = a.complete[r, g]
            for v in range(forest.counts.shape[1]):
                forest.counts[row, v] = a.counts[v, r, g]
    for v in range(forest.margin.shape[1]):
        forest.margin[leaf, v] = a.margin[v, g]
    for s in range(forest.tally.shape[1]):
        forest.tally[leaf, s] = a.tally[s, g]
    forest.complete_sum[leaf] = a.complete_sum[g]
    forest.examples[leaf] = whole_part(a.examples[g])
    forest.majority[leaf] = whole_part(a.majority[g])


@noinline
def clear_lane(g, a):
    """Let a lane stand for no tree: all is as likely as can be, nothing is learned, and nobody is taken apart."""
    for r in range(a.class_weight.shape[0]):
        a.class_weight[r, g] = 1.0
        a.complete[r, g] = 0.0
        a.inverse[r, g] = 1.0
        for v in range(a.counts.shape[0]):
            a.counts[v, r, g] = 1.0
    a.complete_sum[g] = 1.0
    a.inverse_sum[g] = 1.0
    a.majority[g] = 0.0
    a.w[g] = 0.0


@noinline
def all_name(mode, slots, c, a):
    """Fill in the labels that all trees name for an example of these slots, as `distribution.leaf_labels` does."""
    majority = load_wide(a.majority)
    named, bayes = majority, majority
    if mode != MAJORITY:
        inverse = load_wide(a.inverse_sum)
        for j in range(c):
            store(a.shares[j], 0, load_wide(a.margin[slots[0, j]]) * inverse)
        most = wide(-1.0)
        for r in range(a.class_weight.shape[0]):
            product = load_wide(a.class_weight[r])  # 0 for a class that was never seen
            inverse = load_wide(a.inverse[r])
            if c % 2 == 1:
                product = product * ((load_wide(a.counts[slots[0, 0], r]) + load_wide(a.shares[0])) * inverse)
            inverse = inverse * inverse
            for j in range(c % 2, c, 2):
                first = load_wide(a.counts[slots[0, j], r]) + load_wide(a.shares[j])
                second = load_wide(a.counts[slots[0, j + 1], r]) + load_wide(a.shares[j + 1])
                product = product * (first * second * inverse)
            store(a.evidence[r], 0, product)
            bayes = where_less(most, product, float(r), bayes)
            most = largest(most, product)
        seen = load_wide(a.complete_sum)
        most = where_less(0.0, seen, most, 1.0)
        if some_less(most, 2.0 * PRODUCT_BOTTOM):
            name_by_scaled(slots, c, a)
            bayes = where_less(most, 2.0 * PRODUCT_BOTTOM, load_wide(a.bayes), bayes)
        bayes = where_less(0.0, seen, bayes, majority)
        named = bayes
        if mode == ADAPTIVE:
            right, right_by_majority = load_wide(a.tally[RIGHT_BAYES]), load_wide(a.tally[RIGHT_MAJORITY])
            named = where_less(right, right_by_majority, majority, bayes)
    store(a.bayes, 0, bayes)
    store(a.named, 0, named)


@noinline
def name_by_scaled(slots, c, a):
    """Fill in the labels that naive Bayes names where products are too small: see `distribution.scaled_likelihoods`."""
    least_scaled = wide(math.inf)
    for r in range(a.class_weight.shape[0]):
        product, inverse = load_wide(a.class_weight[r]), load_wide(a.inverse[r])
        scaled = where_less(0.0, product, 0.0, math.inf)
        for j in range(c):
            share = load_wide(a.shares[j])
            factor = (load_wide(a.counts[slots[0, j], r]) + share) * inverse
            product = where_less(0.0, share, product * factor, product)
            scaled = where_less(product, PRODUCT_BOTTOM, scaled + 1.0, scaled)
            product = where_less(product, PRODUCT_BOTTOM, product * PRODUCT_TOP, product)
        plain = load_wide(a.evidence[r])
        scaled = where_less(plain, PRODUCT_BOTTOM, scaled, 0.0)
        store(a.scaled[r], 0, scaled)
        store(a.evidence[r], 0, where_less(plain, PRODUCT_BOTTOM, product, plain))
        least_scaled = least(least_scaled, scaled)
    bayes, most = wide(0.0), wide(-1.0)
    for r in range(a.class_weight.shape[0]):
        product, more = load_wide(a.evidence[r]), load_wide(a.scaled[r]) - least_scaled
        for n in range(c):  # no product is scaled more often than once a feature
            product = where_less(float(n), more, product * PRODUCT_BOTTOM, product)
        product = where_less(0.0, load_wide(a.class_weight[r]), product, -1.0)
        bayes = where_less(most, product, float(r), bayes)
        most = largest(most, product)
    store(a.bayes, 0, bayes)


@noinline
def some_learn_apart(label, a):
    """Mark the trees to which the label is new, or whose attempt to split is due; whether there are any."""
    w = load_wide(a.w)
    due = where_less(load_wide(a.tally[PENDING]) + w, load_wide(a.grace), 0.0, 1.0)
    apart = where_less(0.0, w, where_less(0.0, load_wide(a.class_weight[label]), due, 1.0), 0.0)
    store(a.apart, 0, apart)
    return some_less(0.0, apart)


@noinline
def all_learn(mode, label, slots, c, a):
    """All trees learn an example of this label and these slots, each with its weight (`growing.learn`)."""
    w, y, majority = load_wide(a.w), wide(float(label)), load_wide(a.majority)
    if mode == ADAPTIVE:
        add(a.tally[RIGHT_MAJORITY], where_equal(majority, y, w, 0.0))
        add(a.tally[RIGHT_BAYES], where_equal(load_wide(a.bayes), y, w, 0.0))
    add(a.tally[SEEN], w)
    add(a.tally[PENDING], w)
    add(a.examples, where_less(0.0, w, 1.0, 0.0))
    add(a.class_weight[label], w)
    weight, most = load_wide(a.class_weight[label]), load_wide(a.most)
    above, as_much = where_less(most, weight, 1.0, 0.0), where_less(weight, most, 0.0, 1.0)
    store(a.majority, 0, where_less(0.0, where_less(y, majority, as_much, above), y, majority))
    store(a.most, 0, largest(most, weight))
    add(a.complete[label], w)
    store(a.inverse[label], 0, 1.0 / (load_wide(a.complete[label]) + 1.0))
    add(a.complete_sum, w)
    store(a.inverse_sum, 0, 1.0 / load_wide(a.complete_sum))
    for j in range(c):
        add(a.counts[slots[0, j], label], w)
        add(a.margin[slots[0, j]], w)


@inlined
def add(array, w):
    """Add to the numbers of all lanes."""
    store(array, 0, load_wide(array) + w)
