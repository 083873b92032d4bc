"""What a leaf says of an example: class shares, naive Bayes, or the better of the two so far."""

from __future__ import annotations

import math

from edgewise._compile import kernel
from edgewise.learners.forest.layout import (
    ADAPTIVE,
    MAJORITY,
    MEAN,
    PRECISION,
    RIGHT_BAYES,
    RIGHT_MAJORITY,
)
from edgewise.learners.forest.statistics import PRODUCT_BOTTOM, PRODUCT_TOP


@kernel
def distance(x, mean, precision, m):
    """Sum over features of precision * (x - mean)^2, in four running sums so that the loop vectorizes."""
    a = b = c = d = 0.0
    whole = m - m % 4
    for j in range(0, whole, 4):
        u0 = x[j] - mean[j]
        u1 = x[j + 1] - mean[j + 1]
        u2 = x[j + 2] - mean[j + 2]
        u3 = x[j + 3] - mean[j + 3]
        a += u0 * u0 * precision[j]
        b += u1 * u1 * precision[j + 1]
        c += u2 * u2 * precision[j + 2]
        d += u3 * u3 * precision[j + 3]
    for j in range(whole, m):
        u0 = x[j] - mean[j]
        a += u0 * u0 * precision[j]
    return (a + b) + (c + d)


@kernel
def numeric_evidence(gauss, constant, x, m, complete):
    """Log density of the numeric features under one class, up to a constant that all classes share.

    Where a value is missing its factor is left out; the stored constant holds all factors, so it is taken back.
    """
    if complete:
        return constant - 0.5 * distance(x, gauss[MEAN], gauss[PRECISION], m)
    total = constant
    for j in range(m):
        precision = gauss[PRECISION, j]
        if x[j] == x[j]:
            total -= 0.5 * precision * (x[j] - gauss[MEAN, j]) ** 2
        elif precision > 0.0:
            total -= 0.5 * math.log(precision)
    return total


@kernel
def add_nominal_evidence(forest, rows, offset, codes, c, evidence, products):
    """Add the log probability of every code under every class of the leaf.

    A code's probability is an m-estimate (Cestnik 1990) with m = 1: (n_vc + n_v/n) / (n_c + 1), shrunk towards its
    share in the leaf. It is never 0 or 1, so no count can erase a class or make it certain.
    """
    k = rows.size
    for r in range(k):
        products[r] = 1.0
    for j in range(c):
        if codes[j] < 0:
            continue
        slot = offset[j] + codes[j]
        last = offset[j + 1] - 1
        of_value = 0.0
        of_feature = 0.0
        for r in range(k):
            if rows[r] >= 0:
                of_value += forest.counts[rows[r], slot]
                of_feature += forest.counts[rows[r], last]
        if of_value <= 0.0:
            continue
        share = of_value / of_feature
        for r in range(k):
            if rows[r] >= 0:
                counts = forest.counts[rows[r]]
                product = products[r] * ((counts[slot] + share) / (counts[last] + 1.0))
                if product > PRODUCT_TOP or product < PRODUCT_BOTTOM:
                    evidence[r] += math.log(product)
                    product = 1.0
                products[r] = product
    for r in range(k):
        if rows[r] >= 0:
            evidence[r] += math.log(products[r])


@kernel
def heaviest(weights):
    """The class of largest weight; ties go to the lowest label."""
    best = 0
    for r in range(1, weights.size):
        if weights[r] > weights[best]:
            best = r
    return best


@kernel
def leaf_distribution(forest, tree, leaf, x, codes, m, c, complete, evidence, products, p):
    """Fill p with the leaf's probabilities; give the labels that majority and naive Bayes would name."""
    mode = forest.mode[0]
    weights = forest.class_weight[leaf]
    k = weights.size
    total = 0.0
    for r in range(k):
        total += weights[r]
    majority = heaviest(weights)
    bayes = majority
    use_bayes = mode != MAJORITY and forest.n_rows[leaf] > 0
    if use_bayes:
        rows = forest.row[leaf]
        bayes = -1
        for r in range(k):
            if rows[r] >= 0:
                evidence[r] = math.log(weights[r]) + numeric_evidence(
                    forest.gauss[rows[r]], forest.constant[rows[r]], x, m, complete
                )
        if c > 0:
            add_nominal_evidence(forest, rows, forest.offset[tree], codes, c, evidence, products)
        for r in range(k):
            if rows[r] >= 0 and (bayes < 0 or evidence[r] > evidence[bayes]):
                bayes = r
        if mode == ADAPTIVE:
            use_bayes = forest.tally[leaf, RIGHT_BAYES] >= forest.tally[leaf, RIGHT_MAJORITY]
    if use_bayes:
        rows = forest.row[leaf]
        norm = 0.0
        for r in range(k):
            p[r] = math.exp(evidence[r] - evidence[bayes]) if rows[r] >= 0 else 0.0
            norm += p[r]
        for r in range(k):
            p[r] = (total * p[r] / norm + 1.0) / (total + k)
    else:
        for r in range(k):
            p[r] = (weights[r] + 1.0) / (total + k)
    return majority, bayes
