"""What a split gains, guessed by table within a proven error: most splits can be dismissed without a logarithm.

With h(p) = p ln p + (1 - p) ln(1 - p), a class of weight w cut into shares p and 1 - p has f(wp) + f(w - wp) =
f(w) + w h(p), f(x) = x ln x. So n times the gain of two branches (`merits`) is

    sum_c w_c h(p_c) - n h(p),    p = sum_c w_c p_c / n.

A Gaussian cut z deviations above its mean has p_c = Phi(z): both Phi and h(Phi) are functions of z alone, and h is one
of p. Linear interpolation of g in steps of s errs by at most max|g''| s^2/8. In nats, as a share of n:

| table | why | error |
|---|---|---|
| Phi(z), 32 steps a unit | Phi'' = -z phi(z), largest at z = 1: .242 | 2.96e-5 |
| h(Phi(z)), the same | g'' = phi [phi/(Phi (1 - Phi)) - z ln(Phi/(1 - Phi))], largest at z = 0: 2/pi | 7.78e-5 |
| h(p), 512 steps, p in [.0099, .9901] | h'' = 1/(p (1 - p)) <= 102.1 | 4.87e-5 |
| h(p), 512 steps, p in [0, 1] | in the first step p ln(s/p) <= s/e, and s^2/8 for the other term | 7.19e-4 |

Beyond |z| = 5 both functions are taken from there: Phi is off by 2.9e-7, h(Phi) by 4.6e-6, less than above. An error of
Phi moves p by as much at most, and h(p) by |ln(p/(1 - p))| <= 4.606 times that, where a split is a candidate at all
(LEAST_BRANCH). Rounding, here and in the gain itself, stays below 1e-8 for up to 100,000 classes: each of a few sums
over classes of numbers below n |ln w|, |ln w| < 746, errs by 1.1e-16 times the number of terms times their sum.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise._compile import kernel
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, WEIGHT
from edgewise.learners.forest.merits import LEAST_BRANCH, THRESHOLDS, TIE
from edgewise.learners.forest.statistics import deviation, shown
from edgewise.theory.elementary import whole_part

STEPS = 32  # of the tables over z, a unit
LIMIT = 5
CENTER = STEPS * LIMIT
SHARES = 512  # steps of the table over p

SHARE_ERROR = 2.96e-5  # of Phi
CUT_ERROR = 7.78e-5  # of h(Phi)
BRANCH_ERROR = 4.87e-5  # of h where both branches have their least share
CODE_ERROR = 7.19e-4  # of h anywhere
ROUNDING = 1e-8
NUMERIC_ERROR = CUT_ERROR + 4.606 * SHARE_ERROR + BRANCH_ERROR + ROUNDING
NOMINAL_ERROR = CODE_ERROR + BRANCH_ERROR + ROUNDING
LEAST_DEVIATION = 1e-300  # below, its reciprocal may be infinite: no guess is made

NO_CANDIDATE = -1.0  # below every merit


def mixing(p: float, rest: float) -> float:
    """h(p), from p and 1 - p."""
    return p * math.log(p) + rest * math.log(rest) if p > 0.0 and rest > 0.0 else 0.0


def with_slopes(values: list[float]) -> np.ndarray:
    """Each value, and the step from it to the next."""
    return np.stack([values[:-1], np.diff(values)], axis=1)


def cut_tables() -> np.ndarray:
    """Row i, for z = i/STEPS - LIMIT: Phi and its step to the next row, h(Phi) and its step."""
    points = [(i - CENTER) / STEPS * math.sqrt(0.5) for i in range(2 * CENTER + 2)]
    below = [0.5 * math.erfc(-z) for z in points]
    mixed = [mixing(0.5 * math.erfc(-z), 0.5 * math.erfc(z)) for z in points]
    return np.concatenate([with_slopes(below), with_slopes(mixed)], axis=1)


CUTS = cut_tables()
MIXING = with_slopes([mixing(i / SHARES, 1.0 - i / SHARES) for i in range(SHARES + 1)] + [0.0])


@kernel
def mixing_guess(p):
    """h(p) by table, for p in [0, 1]."""
    at = p * SHARES
    i = whole_part(at)
    return MIXING[i, 0] + (at - i) * MIXING[i, 1]


@kernel
def first_cut(cuts, value, guess):
    """How many thresholds lie below a value; the guess may be any number, the answer is exact."""
    i = THRESHOLDS
    if guess < THRESHOLDS:
        i = whole_part(guess) if guess > 0.0 else 0
    while i > 0 and cuts[i - 1] >= value:
        i -= 1
    while i < THRESHOLDS and cuts[i] < value:
        i += 1
    return i


@kernel
def cut_classes(gauss, room, n, j):
    """Fill room.left with the weight below each threshold, room.inside with sum_c w_c h(p_c); false if it cannot say.

    A class adds nothing below its range and all its weight above (`merits.weight_below`), so only thresholds inside
    are looked at; whole classes are counted in room.whole where they begin to be below.
    """
    low, high = room.lows[j], room.highs[j]
    pace = (THRESHOLDS + 1) / (high - low)
    for s in range(room.cuts.size):
        room.cuts[s] = low + (high - low) * (s + 1) / (THRESHOLDS + 1)
        room.left[s] = 0.0
        room.inside[s] = 0.0
        room.whole[s] = 0.0
    for i in range(n):
        row = gauss[room.present[i]]
        weight = row[WEIGHT, j]
        if weight > 0.0:
            first = first_cut(room.cuts, row[LOW, j], (row[LOW, j] - low) * pace)
            last = first_cut(room.cuts, row[HIGH, j], (row[HIGH, j] - low) * pace)
            mean, scale = row[MEAN, j], 0.0
            if first < last:
                width = deviation(row, j)
                if width <= 0.0:
                    last = min(max(first_cut(room.cuts, mean, (mean - low) * pace), first), last)
                    first = last
                elif width >= LEAST_DEVIATION:
                    scale = STEPS / width
                else:
                    return False
            room.whole[last] += weight
            for s in range(first, last):
                at = (room.cuts[s] - mean) * scale + CENTER
                at = at if at > 0.0 else 0.0
                at = at if at < 2.0 * CENTER else 2.0 * CENTER
                z = whole_part(at)
                part = at - z
                room.left[s] += weight * (CUTS[z, 0] + part * CUTS[z, 1])
                room.inside[s] += weight * (CUTS[z, 2] + part * CUTS[z, 3])
    return True


@kernel
def guess_numeric(gauss, room, n, j, unit):
    """Fill room.guesses[j] with what each threshold may gain at most, in units of `unit`; the least and most of all.

    NO_CANDIDATE where a branch is too light.
    """
    most, least = NO_CANDIDATE, 0.0
    total = room.totals[j]
    known = True
    if room.lows[j] < room.highs[j] and total > 0.0:
        known = cut_classes(gauss, room, n, j)
        error = NUMERIC_ERROR * total
        share = 1.0 / total
        below = 0.0
        for s in range(THRESHOLDS):
            below += room.whole[s]
            p = (room.left[s] + below) * share
            guess = NO_CANDIDATE
            if not known:
                guess = math.inf
            elif LEAST_BRANCH - 2.0 * SHARE_ERROR <= p <= 1.0 - LEAST_BRANCH + 2.0 * SHARE_ERROR:
                gain = room.inside[s] - total * mixing_guess(p)
                guess = (gain + error) * unit
                if LEAST_BRANCH + 2.0 * SHARE_ERROR <= p <= 1.0 - LEAST_BRANCH - 2.0 * SHARE_ERROR:
                    least = max(least, (gain - error) * unit)
            room.guesses[j, s] = guess
            most = max(most, guess)
    return least, most


@kernel
def guess_binary(forest, present, n, first, last, unit):
    """The least and the most that splitting one code of a nominal feature from the rest gains, in units of `unit`."""
    most, least = NO_CANDIDATE, 0.0
    total = 0.0
    for i in range(n):
        total += shown(forest, present[i], last)
    error = NOMINAL_ERROR * total + TIE
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
                inside += weight * mixing_guess(share)
        if equal > 0.0:
            p = equal / total
            if LEAST_BRANCH - ROUNDING <= p <= 1.0 - LEAST_BRANCH + ROUNDING:
                gain = inside - total * mixing_guess(p)
                most = max(most, (gain + error) * unit)
                if LEAST_BRANCH + ROUNDING <= p <= 1.0 - LEAST_BRANCH - ROUNDING:
                    least = max(least, (gain - error) * unit)
    return least, most
