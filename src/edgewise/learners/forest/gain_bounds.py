"""What a split gains, within a proven error: most splits can be dismissed without a logarithm.

With h(p) = p ln p + (1 - p) ln(1 - p), a class of weight w cut into shares p and 1 - p has f(wp) + f(w - wp) =
f(w) + w h(p), f(x) = x ln x. So n times the gain of two branches (`merits`) is

    sum_c w_c h(p_c) - n h(p),    p = sum_c w_c p_c / n.

A Gaussian cut z deviations above its mean has p_c = Phi(z): both Phi and h(Phi) are functions of z alone, the one odd
but for 1/2, the other even. Polynomials in z^2 that agree with them in Chebyshev's points stand for them up to |z| =
LIMIT, and what they are there beyond it; so many terms that eight features at once are cheaper than a table. Of a
logarithm the exponent of two is exact, and a polynomial of the fraction does for the rest. For shares of codes, h is
interpolated linearly in steps of s, which errs by at most max|h''| s^2/8. In nats, as a share of n:

| estimated | how | error |
|---|---|---|
| Phi(z) | 10 terms up to 4.6; beyond, 2.1e-6 is left | 9.9e-6 |
| h(Phi(z)) | 10 terms up to 4.6; beyond, 2.9e-5 is left | 4.7e-5 |
| h(p), both branches | 7 terms of the logarithm | 1.8e-6 |
| h(p), 512 steps, p in [.0099, .9901] | h'' = 1/(p (1 - p)) <= 102.1 | 4.87e-5 |
| h(p), 512 steps, p in [0, 1] | in the first step p ln(s/p) <= s/e, and s^2/8 for the other term | 7.19e-4 |

The errors of polynomials are those found on 160,000 points (tests/test_split_bounds.py), rounded up by more than they
can change between two of them. An error of Phi moves p by as much at most, and h(p) by |ln(p/(1 - p))| <= 4.606 times
that, where a split is a candidate at all (LEAST_BRANCH). Rounding, here and in the gain itself, stays below 1e-8 for up
to 100,000 classes: each of a few sums over classes of numbers below n |ln w|, |ln w| < 746, errs by 1.1e-16 times the
number of terms times their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import (
    BROAD,
    any_less,
    exponent,
    fma,
    fraction,
    load8,
    maximum,
    minimum,
    splat8,
    sqrt,
    store,
    where_less,
)
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, SQUARES, WEIGHT
from edgewise.learners.forest.merits import LEAST_BRANCH, THRESHOLDS, TIE
from edgewise.learners.forest.statistics import LN2, shown
from edgewise.theory.elementary import whole_part

LIMIT = 4.6  # deviations from the mean
TERMS = 10  # of the polynomials in z^2
LOG_TERMS = 7
SHARES = 512  # steps of the table over p

SHARE_ERROR = 9.9e-6  # of Phi
CUT_ERROR = 4.7e-5  # of h(Phi)
LOG_ERROR = 1.8e-6  # of h, by logarithms
STEP_ERROR = 4.87e-5  # of h by table, where both branches have their least share
CODE_ERROR = 7.19e-4  # of h by table, anywhere
ROUNDING = 1e-8
NUMERIC_ERROR = CUT_ERROR + 4.606 * SHARE_ERROR + LOG_ERROR + ROUNDING
NOMINAL_ERROR = CODE_ERROR + STEP_ERROR + ROUNDING
# Branches with less than this are too light, whatever the error of their share; with more than that they are not.
TOO_LIGHT, NOT_LIGHT = LEAST_BRANCH - 2.0 * SHARE_ERROR, LEAST_BRANCH + 2.0 * SHARE_ERROR
LEAST_VARIANCE = 1e-300  # below, its reciprocal may be infinite: nothing is estimated

NO_CANDIDATE = -1.0  # below every merit


def mixing(p: float, rest: float) -> float:
    """h(p), from p and 1 - p."""
    return p * math.log(p) + rest * math.log(rest) if p > 0.0 and rest > 0.0 else 0.0


def phi(z: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


def polynomial(function: Callable[[float], float], n: int) -> np.ndarray:
    """The polynomial of n terms, the highest power first, that agrees with a function in Chebyshev's points."""
    series = np.polynomial.chebyshev.chebinterpolate(np.vectorize(function), n - 1)
    return np.polynomial.chebyshev.cheb2poly(series)[::-1].copy()


def deviations(x: float) -> float:
    """|z| of x = 2 (z/LIMIT)^2 - 1."""
    return LIMIT * math.sqrt(0.5 * (1.0 + x))


def with_slopes(values: list[float]) -> np.ndarray:
    """Each value, and the step from it to the next."""
    return np.stack([values[:-1], np.diff(values)], axis=1)


SHARE = polynomial(lambda x: (phi(deviations(x)) - 0.5) / deviations(x), TERMS)  # (Phi(z) - 1/2)/z
CUT = polynomial(lambda x: mixing(phi(deviations(x)), phi(-deviations(x))), TERMS)  # h(Phi(z))
LOG = polynomial(lambda x: math.log(1.5 + 0.5 * x), LOG_TERMS)  # ln f, of x = 2 f - 3
MIXING = with_slopes([mixing(i / SHARES, 1.0 - i / SHARES) for i in range(SHARES + 1)] + [0.0])


@inlined
def horner(coefficients, x):
    """A polynomial, the highest power first."""
    value = splat8(coefficients[0])
    for i in range(1, coefficients.size):
        value = fma(value, x, coefficients[i])
    return value


@inlined
def log_polynomial(x):
    """ln x by polynomial, for positive x."""
    return fma(exponent(x), LN2, horner(LOG, fma(fraction(x), 2.0, -3.0)))


@inlined
def mixing_by_table(p):
    """h(p) by table, for p in [0, 1]."""
    at = p * SHARES
    i = whole_part(at)
    return MIXING[i, 0] + (at - i) * MIXING[i, 1]


@inlined
def place_cuts(work, j):
    """Lay out the thresholds of eight features, as `merits.numeric_merit` has them, and clear the sums over classes."""
    low, high = load8(work.lows, j), load8(work.highs, j)
    for s in range(THRESHOLDS):
        store(work.cuts[s], 0, low + (high - low) * (s + 1.0) / (THRESHOLDS + 1.0))
        store(work.left[s], 0, splat8(0.0))
        store(work.inside[s], 0, splat8(0.0))


@inlined
def cut_class(row, work, j):
    """Add what each threshold cuts off a class: the weight below, and w h(p). Gives 1 where that is unknown.

    All or nothing is below a threshold outside the range that the class has shown (`merits.weight_below`): that counts
    as LIMIT deviations.
    """
    weight, low, high = load8(row[WEIGHT], j), load8(row[LOW], j), load8(row[HIGH], j)
    if not any_less(low, high):  # one value, or none
        for s in range(THRESHOLDS):
            below = where_less(load8(work.cuts[s], 0), high, 0.0, weight)
            store(work.left[s], 0, load8(work.left[s], 0) + below)
        return splat8(0.0)
    mean, squares, narrow = load8(row[MEAN], j), load8(row[SQUARES], j), LEAST_VARIANCE * weight
    pace = sqrt(weight / maximum(squares, narrow))
    for s in range(THRESHOLDS):
        cut = load8(work.cuts[s], 0)
        z = maximum(-LIMIT, minimum(LIMIT, (cut - mean) * pace))
        z = where_less(cut, low, -LIMIT, where_less(cut, high, z, LIMIT))
        x = fma(z * z, 2.0 / LIMIT**2, -1.0)
        store(work.left[s], 0, fma(weight, fma(z, horner(SHARE, x), 0.5), load8(work.left[s], 0)))
        store(work.inside[s], 0, fma(weight, horner(CUT, x), load8(work.inside[s], 0)))
    return where_less(low, high, where_less(narrow, squares, 0.0, 1.0), 0.0)


@noinline
def bound_numeric_gains(gauss, work, n, m, unit):
    """Fill work.guesses with what each threshold of each feature may gain at most, in units of `unit`.

    NO_CANDIDATE where a branch is too light. work.least and work.most are those of all thresholds of a feature.
    """
    for j in range(0, m, BROAD):
        place_cuts(work, j)
        doubt = splat8(0.0)
        for i in range(n):
            doubt = doubt + cut_class(gauss[work.present[i]], work, j)
        low, high, weight = load8(work.lows, j), load8(work.highs, j), load8(work.totals, j)
        # Where there is no range, there is no candidate, whatever comes out; where there is doubt, there may be any.
        ahead = where_less(low, high, where_less(0.0, doubt, np.inf, NUMERIC_ERROR * unit * weight), -np.inf)
        too_light = where_less(low, high, where_less(0.0, doubt, np.inf, NO_CANDIDATE), NO_CANDIDATE)
        share = 1.0 / weight
        top, bottom = splat8(NO_CANDIDATE), splat8(0.0)
        for s in range(THRESHOLDS):
            p = load8(work.left[s], 0) * share
            light = minimum(p, 1.0 - p)
            p = maximum(TOO_LIGHT, minimum(1.0 - TOO_LIGHT, p))
            mixed = fma(p, log_polynomial(p), (1.0 - p) * log_polynomial(1.0 - p))
            gain = (load8(work.inside[s], 0) - weight * mixed) * unit
            guess = where_less(TOO_LIGHT, light, gain + ahead, too_light)
            store(work.guesses[s], j, guess)
            top = maximum(top, guess)
            bottom = maximum(bottom, where_less(NOT_LIGHT, light, gain - ahead, 0.0))
        store(work.most, j, top)
        store(work.least, j, where_less(low, high, bottom, 0.0))


@inlined
def bound_binary_gain(forest, present, n, first, last, unit):
    """The least and the most that splitting one code of a nominal feature from the rest gains, in units of `unit`."""
    most, least = NO_CANDIDATE, 0.0
    total = 0.0
    for i in range(n):
        total += shown(forest, present[i], last)
    error = (NOMINAL_ERROR + TIE) * total
    for v in range(first, last):
        equal = 0.0
        inside = 0.0
        for i in range(n):
            weight, of_class = shown(forest, present[i], last), forest.counts[present[i], v]
            equal += of_class
            if of_class > 0.0:
                share = of_class / weight
                if not 0.0 <= share <= 1.0:  # sums of the same numbers in another order; or what a file says
                    return 0.0, math.inf
                inside += weight * mixing_by_table(share)
        if equal > 0.0:
            p = equal / total
            if LEAST_BRANCH - ROUNDING <= p <= 1.0 - LEAST_BRANCH + ROUNDING:
                gain = inside - total * mixing_by_table(p)
                most = max(most, (gain + error) * unit)
                if LEAST_BRANCH + ROUNDING <= p <= 1.0 - LEAST_BRANCH - ROUNDING:
                    least = max(least, (gain - error) * unit)
    return least, most
