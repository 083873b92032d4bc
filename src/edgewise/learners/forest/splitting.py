"""Which split of a leaf is best, and whether the Hoeffding bound allows it (Domingos and Hulten 2000, Table 1).

The merits of all features are bounded (`gain_bounds`), and only those that can decide are worked out (`merits`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined, merged, noinline
from edgewise.kernels.simd import BROAD, WIDTH, load4, maximum, minimum, round_up_8, splat4, store
from edgewise.kernels.state import state
from edgewise.learners.forest.gain_bounds import NO_CANDIDATE, ROUNDING, bound_binary_gain, bound_numeric_gains
from edgewise.learners.forest.layout import HIGH, LOW, SEEN, WEIGHT, Forest
from edgewise.learners.forest.merits import BITS, THRESHOLDS, TIE, binary_merit, nominal_merit, numeric_merit


@state
class SplitWorkspace(NamedTuple):
    """Workspace of `best_split`, for k classes and m numeric and c nominal features."""

    present: np.ndarray  # [k] statistics rows of the classes that the leaf has seen, in order
    weights: np.ndarray  # [k] their weights in the feature looked at last, and x ln x of these
    logs: np.ndarray
    totals: np.ndarray  # [m] weight, least and largest value of each numeric feature
    lows: np.ndarray
    highs: np.ndarray
    least: np.ndarray  # [m + c] between what bounds the merit of each feature lies
    most: np.ndarray
    guesses: np.ndarray  # [THRESHOLDS, m] the most that each threshold may gain
    # [THRESHOLDS, 8] of the eight features in hand: thresholds, weight below them, sum over classes of w h(p)
    cuts: np.ndarray
    left: np.ndarray
    inside: np.ndarray


def make_split_workspace(forest: Forest) -> SplitWorkspace:
    k, m, c = forest.row.shape[1], round_up_8(forest.numeric.shape[1]), forest.nominal.shape[1]
    return SplitWorkspace(
        present=np.zeros(k, np.uintp),
        weights=np.zeros(k),
        logs=np.zeros(k),
        totals=np.zeros(m),
        lows=np.zeros(m),
        highs=np.zeros(m),
        least=np.zeros(m + c),
        most=np.zeros(m + c),
        guesses=np.zeros((THRESHOLDS, m)),
        cuts=np.zeros((THRESHOLDS, BROAD)),
        left=np.zeros((THRESHOLDS, BROAD)),
        inside=np.zeros((THRESHOLDS, BROAD)),
    )


@inlined
def sum_up(gauss, rows, m, work):
    """List the classes of a leaf, and add up their weights and ranges for each numeric feature; how many classes."""
    n = 0
    for r in range(rows.size):
        if rows[r] >= 0:
            work.present[n] = rows[r]
            work.weights[n] = -1.0
            n += 1
    for j in range(0, m, WIDTH):
        weight, low, high = splat4(0.0), splat4(math.inf), splat4(-math.inf)
        for i in range(n):
            row = gauss[work.present[i]]
            weight = weight + load4(row[WEIGHT], j)
            low, high = minimum(low, load4(row[LOW], j)), maximum(high, load4(row[HIGH], j))
        store(work.totals, j, weight)
        store(work.lows, j, low)
        store(work.highs, j, high)
    return n


@inlined
def one_bit_suffices(m, c, mass, bound, work):
    """Whether no split can gain more than the bound, as two branches tell at most one bit of what a feature counted."""
    largest = 0.0
    for j in range(m):
        largest = max(largest, work.totals[j])
    return c == 0 and largest * (1.0 + 2.0 * ROUNDING) <= bound * mass


@merged
def bound_merits(forest, tree, m, c, n, mass, work):
    """Between what bounds the merit of each feature lies."""
    unit = BITS / mass
    bound_numeric_gains(forest.gauss, work, n, m, unit)
    for j in range(c):
        first, last = forest.offset[tree, j], forest.offset[tree, j + 1] - 1
        if forest.binary[tree]:
            work.least[m + j], work.most[m + j] = bound_binary_gain(forest, work.present, n, first, last, unit)
        else:
            merit = nominal_merit(forest, work.present, n, first, last) / mass
            work.least[m + j] = merit
            work.most[m + j] = merit


@noinline
def best_split(forest, tree, leaf, m, c, work):
    """The split that the leaf should make: feature (numeric ones first) and threshold or code; feature -1 if none yet.

    Splits when the gain of the best feature exceeds that of the next (or of not splitting: 0) by more than the
    Hoeffding bound, or when the bound has fallen below the tree's tie threshold.

    **Why leaving candidates out changes nothing.** Candidates are taken in order, and one becomes the best if it gains
    more than the best so far by TIE. Let (g, g + TIE] be free of merits. The first candidate above it becomes the best,
    whatever came before, and no candidate below matters from then on: what lies below g may be left out, or be anything
    below g. With N candidates, such a gap lies within N TIE under the largest merit; and within N TIE under the second,
    with two features above it, which are then the best and the second whatever came before. So all that may come within
    2 N TIE of the largest (or the second largest, where the gap between them counts) is worked out, and nothing else.
    """
    seen = forest.leaf_counters[leaf, SEEN]
    mass = seen
    if forest.warm[tree]:
        mass = 0.0
        for r in range(forest.row.shape[1]):
            mass += forest.class_weight[leaf, r]
    spread = math.log(forest.n_rows[leaf]) * BITS
    bound = math.sqrt(spread * spread * forest.log_confidence[tree] / (2.0 * seen))
    n = sum_up(forest.gauss, forest.row[leaf], m, work)
    if bound >= forest.tie[tree] and one_bit_suffices(m, c, mass, bound, work):
        return -1, 0.0
    bound_merits(forest, tree, m, c, n, mass, work)
    slack = 2.0 * TIE * (THRESHOLDS * m + c + 2)
    top, best, second = 0.0, 0.0, 0.0
    for j in range(m + c):
        top = max(top, work.most[j])
        second = max(second, min(best, work.least[j]))
        best = max(best, work.least[j])
    if bound < forest.tie[tree]:
        floor = best - slack
    elif top - second + slack <= bound:
        return -1, 0.0
    else:
        floor = second - slack
    best, second = 0.0, 0.0
    feature, threshold = -1, 0.0
    for j in range(m + c):
        if work.most[j] < floor or work.most[j] == NO_CANDIDATE:
            continue
        cut = 0.0
        if j < m:
            merit, cut = numeric_merit(forest.gauss, work, n, j, mass, max(floor, work.least[j] - slack))
        elif forest.binary[tree]:
            offset = forest.offset[tree]
            merit, code = binary_merit(forest, work.present, n, offset[j - m], offset[j - m + 1] - 1)
            merit /= mass
            cut = float(code)
        else:
            merit = work.most[j]
        if merit > best + TIE:
            second = best
            best, feature, threshold = merit, j, cut
        elif merit > second:
            second = merit
    if feature >= 0 and (best - second > bound or bound < forest.tie[tree]):
        return feature, threshold
    return -1, 0.0
