"""What a leaf predicts for an example: class shares, naive Bayes, or the better of the two so far."""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined, merged, noinline
from edgewise.kernels.simd import WIDTH, load4, reduce_sum, splat4, where_not_nan
from edgewise.learners.forest.layout import (
    ADAPTIVE,
    MAJORITY,
    MEAN,
    MIXED,
    NAIVE_BAYES,
    PRECISION,
    RIGHT_BAYES,
    RIGHT_MAJORITY,
)
from edgewise.learners.forest.statistics import shown
from edgewise.theory.elementary import index

# Factors are multiplied up before a logarithm is taken; these bounds keep the product, and one factor more, a number.
PRODUCT_TOP, PRODUCT_BOTTOM = 1e100, 1e-100
LEAST_LIKELIHOOD = 1e-300  # relative to the likeliest class; keeps the logarithm finite
CLEAR = 1e-9  # logarithms that differ by more than this, relative to their size, differ after rounding


@inlined
def distance(x, mean, precision, m):
    """Sum over features of precision * (x - mean)^2."""
    squares = splat4(0.0)
    for j in range(0, m, WIDTH):
        gap = load4(x, j) - load4(mean, j)
        squares = squares + where_not_nan(gap, gap * gap * load4(precision, j), 0.0)
    return reduce_sum(squares)


@noinline
def evidence_with_missing(gauss, class_weight, x, m):
    """What `numeric_evidence` is where values are missing: their factors are left out.

    Precisions are multiplied up before a logarithm is taken; one is at most LARGEST_PRECISION.
    """
    squares = 0.0
    logs = 0.0
    product = 1.0
    for j in range(m):
        precision = gauss[PRECISION, j]
        if x[j] == x[j] and precision > 0.0:
            squares += precision * (x[j] - gauss[MEAN, j]) ** 2
            product *= precision
            if product > PRODUCT_TOP or product < PRODUCT_BOTTOM:
                logs += math.log(product)
                product = 1.0
    return math.log(class_weight) + 0.5 * ((logs + math.log(product)) - squares)


@inlined
def numeric_evidence(gauss, constant, class_weight, x, m, complete):
    """Log of a class's weight times its density of the numeric features, up to a constant that all classes share."""
    if complete:
        return constant - 0.5 * distance(x, gauss[MEAN], gauss[PRECISION], m)
    return evidence_with_missing(gauss, class_weight, x, m)


@inlined
def next_seen(rows, r):
    """The first class from r on of which there is a statistics row; their number if there is none."""
    while r < rows.size and rows[r] < 0:
        r += 1
    return r


@inlined
def nominal_likelihoods(forest, leaf, slots, n_present, weighed, likelihoods, shares, scalings):
    """Fill `likelihoods` with the probability of all codes under every class, up to a common factor.

    `slots` are those of the `n_present` codes that are not missing, and of their features' sums. `weighed`: times the
    weight of the class. Without that, nothing is filled in where there are no codes; whether it was is returned.

    A code's probability is an m-estimate (Cestnik 1990) with m = 1: (n_vc + n_v/n) / (n_c + 1), shrunk towards its
    share in the leaf. It is never 0 or 1, so no count can erase a class or make it certain. A code that the leaf never
    saw is left out. Where every example of the leaf showed every feature, n and n_c do not change from feature to
    feature and are divided by once.
    """
    if n_present == 0 and not weighed:
        return False
    rows, code_totals, weights = forest.row[leaf], forest.code_totals[leaf], forest.class_weight[leaf]
    whole = n_present > 0 and not forest.has_missing[leaf] and forest.complete_sum[leaf] > 0.0
    tiny = not whole
    if whole:
        inverse = 1.0 / forest.complete_sum[leaf]
        for j in range(n_present):
            shares[j] = code_totals[slots[0, j]] * inverse  # 0 for a code never seen, which makes all products 0
        a = next_seen(rows, 0)
        while a < rows.size:  # by two classes: they share the look for slots and shares
            b = next_seen(rows, a + 1)
            b = b if b < rows.size else a
            row_a, row_b = index(rows[a]), index(rows[b])
            of_a, of_b = forest.counts[row_a], forest.counts[row_b]
            inverse_a, inverse_b = 1.0 / (forest.complete[row_a] + 1.0), 1.0 / (forest.complete[row_b] + 1.0)
            product_a, product_b = (weights[a], weights[b]) if weighed else (1.0, 1.0)
            if n_present % 2 == 1:
                product_a *= (of_a[slots[0, 0]] + shares[0]) * inverse_a
                product_b *= (of_b[slots[0, 0]] + shares[0]) * inverse_b
            inverse_a *= inverse_a
            inverse_b *= inverse_b
            for j in range(n_present % 2, n_present, 2):  # and by two features: fewer products wait for each other
                u, v = slots[0, j], slots[0, j + 1]
                product_a *= (of_a[u] + shares[j]) * (of_a[v] + shares[j + 1]) * inverse_a
                product_b *= (of_b[u] + shares[j]) * (of_b[v] + shares[j + 1]) * inverse_b
            likelihoods[a], likelihoods[b] = product_a, product_b
            tiny |= (product_a < PRODUCT_BOTTOM) | (product_b < PRODUCT_BOTTOM)
            a = next_seen(rows, b + 1)
    if tiny:
        scaled_likelihoods(forest, leaf, weighed, whole, n_present, likelihoods, slots, shares, scalings)
    return True


@noinline
def scaled_likelihoods(forest, leaf, weighed, whole, n_present, likelihoods, slots, shares, scalings):
    """What `nominal_likelihoods` does one feature after the other: products that grow too small are scaled up.

    Classes that needed this more often than others are scaled down at the end.
    """
    rows, code_totals = forest.row[leaf], forest.code_totals[leaf]
    if not whole:
        for j in range(n_present):
            seen = forest.complete_sum[leaf] + code_totals[slots[1, j]]
            shares[j] = code_totals[slots[0, j]] / seen if seen > 0.0 else 0.0
    scaled = False
    for r in range(rows.size):
        scalings[r] = 0
        if rows[r] >= 0 and (not whole or likelihoods[r] < PRODUCT_BOTTOM):
            product = forest.class_weight[leaf, r] if weighed else 1.0
            inverse = 1.0 / (forest.complete[rows[r]] + 1.0)
            for j in range(n_present):
                if shares[j] > 0.0:
                    if not whole:
                        inverse = 1.0 / (shown(forest, rows[r], slots[1, j]) + 1.0)
                    product *= (forest.counts[rows[r], slots[0, j]] + shares[j]) * inverse
                if product < PRODUCT_BOTTOM:
                    product *= PRODUCT_TOP
                    scalings[r] += 1
                    scaled = True
            likelihoods[r] = product
    if scaled:
        same_scale(rows, likelihoods, scalings)


@inlined
def same_scale(rows, likelihoods, scalings):
    """Products that were scaled up more often than the least scaled one are scaled down again."""
    least = -1
    for r in range(rows.size):
        if rows[r] >= 0 and (least < 0 or scalings[r] < least):
            least = scalings[r]
    for r in range(rows.size):
        for _ in range(scalings[r] - least):
            likelihoods[r] *= PRODUCT_BOTTOM


@inlined
def with_ratio(log_share, ratio, other):
    """log_share + log(ratio), or another number on the same side of `other`: 1 - 1/ratio <= log(ratio) <= ratio - 1."""
    slack = CLEAR * (1.0 + abs(log_share) + abs(other))
    above = log_share + (ratio - 1.0)
    if above < other - slack:
        return above
    below = log_share + (1.0 - 1.0 / ratio)
    return below if below > other + slack else log_share + math.log(ratio)


@merged
def leaf_labels(forest, tree, leaf, x, slots, m, n_present, complete, in_full, evidence, shares, scalings):
    """The labels that majority and naive Bayes name, and by which of them the leaf goes (MIXED: by both).

    `in_full` leaves every class's share times its likelihood in `evidence`, for `leaf_probabilities`: its logarithm
    where there are numeric features, whose likelihoods span too many orders of magnitude for a number. Without that,
    a logarithm that cannot decide between two classes is not taken.
    """
    mode = forest.mode[tree]
    weights = forest.class_weight[leaf]
    majority = forest.majority[leaf]
    if mode == MAJORITY or forest.n_rows[leaf] == 0:
        return majority, majority, MAJORITY
    rows = forest.row[leaf]
    likely = nominal_likelihoods(forest, leaf, slots, n_present, m == 0, evidence, shares, scalings)
    if m > 0:
        # likelihoods are taken relative to the first, whose logarithm is 0; equal ones stay equal
        first, other = 0.0, 0.0
        for r in range(weights.size):
            if rows[r] >= 0:
                row = rows[r]
                log_share = numeric_evidence(forest.gauss[row], forest.constant[row], weights[r], x, m, complete)
                if likely and first > 0.0:
                    ratio = max(evidence[r], LEAST_LIKELIHOOD) / first
                    if in_full or mode == MIXED or forest.n_rows[leaf] > 2:
                        log_share += math.log(ratio)
                    else:
                        log_share = with_ratio(log_share, ratio, other)
                elif likely:
                    first = max(evidence[r], LEAST_LIKELIHOOD)
                    other = log_share
                evidence[r] = log_share
    bayes = -1
    most = 0.0
    for r in range(weights.size):
        if rows[r] >= 0 and (bayes < 0 or evidence[r] > most):
            bayes = r
            most = evidence[r]
    if mode == ADAPTIVE:
        mode = (
            NAIVE_BAYES
            if forest.leaf_counters[leaf, RIGHT_BAYES] >= forest.leaf_counters[leaf, RIGHT_MAJORITY]
            else MAJORITY
        )
    return majority, bayes, mode


@noinline
def leaf_probabilities(forest, leaf, m, bayes, mode, evidence, p):
    """Fill p with the leaf's probabilities, one pseudo-example for each class added."""
    weights = forest.class_weight[leaf]
    k = weights.size
    total = 0.0
    for r in range(k):
        total += weights[r]
    if mode == MAJORITY:
        for r in range(k):
            p[r] = (weights[r] + 1.0) / (total + k)
    else:
        rows = forest.row[leaf]
        norm = 0.0
        for r in range(k):
            p[r] = 0.0
            if r == bayes:
                p[r] = 1.0
            elif rows[r] >= 0:
                p[r] = math.exp(evidence[r] - evidence[bayes]) if m > 0 else evidence[r] / evidence[bayes]
            norm += p[r]
        for r in range(k):
            share = total * p[r] / norm
            if mode == MIXED:
                share = 0.5 * (share + weights[r])
            p[r] = (share + 1.0) / (total + k)
