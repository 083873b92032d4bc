"""Newton steps of a linear learner: the first inputs that come up share a full matrix instead of AdaGrad's diagonal.

The loss of an example of weight w is taken to be a parabola of one curvature h along its inputs x, for all labels alike
(the Hessian of softmax is at most x x' / 2: Boehning 1992). So the inverse of all examples' curvature,

    A_t = (R + sum over s <= t of h w_s x_s x_s')^-1,

is kept up by one update of rank one for each example (Sherman and Morrison 1950), and label r moves by

    W_r <- W_r - A_t x_t * slope_r,

the online Newton step of Hazan, Agarwal and Kale 2007 without its projection. The diagonal R is what is taken to be
known before: n / reach^2 for an input that first comes up in an example of n inputs (of which at most `most` count), so
that scores have variance reach^2, be their inputs few or many. Inputs beyond the first `most` are left to AdaGrad. Time
and memory grow with the square of `most`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.state import state
from edgewise.learners.products import adagrad_step, product

if TYPE_CHECKING:
    from edgewise.learners.linear import LinearBank, SoftmaxRegression

# An example is not learned whose slopes are below this share of the mean weight: at full cost it would change nothing.
NEGLIGIBLE = 1e-3


@state
class Newton(NamedTuple):
    """The Newton part of n learners over k labels, m of which have one.

    Inputs have places: `ranks` in the bank and in its products.
    """

    most: np.ndarray  # [n] inputs that may take part
    curvature: np.ndarray  # [n] h
    reach: np.ndarray  # [n] 0 for R = 1
    slot: np.ndarray  # [n] where a learner's arrays are; -1 for none
    used: np.ndarray  # [m] inputs that take part
    seen: np.ndarray  # [m, 2] examples and their weight
    weights: np.ndarray  # [m, places, k] W
    inverse: np.ndarray  # [m, places, places] A, of the inputs that take part


@state
class Present(NamedTuple):
    """The inputs of one example that are not 0."""

    number: np.ndarray  # [1] how many
    at: np.ndarray  # a column's input, or -1 - the input of a product
    value: np.ndarray
    gain: np.ndarray  # [places] A x


def make_newton(learners: Sequence[SoftmaxRegression], n_labels: int, n_inputs: int) -> Newton:
    """The Newton part of learners before the first example."""
    most = np.array([learner.newton for learner in learners], np.int64)
    m, places = int((most > 0).sum()), min(int(most.max(initial=0)), n_inputs)
    return Newton(
        most,
        np.array([learner.curvature for learner in learners], float),
        np.array([learner.reach or 0.0 for learner in learners], float),
        np.where(most > 0, np.cumsum(most > 0) - 1, -1),
        np.zeros(m, np.int64),
        np.zeros((m, 2)),
        np.zeros((m, places, n_labels)),
        np.zeros((m, places, places)),
    )


def newton_with_inputs(newton: Newton, n_inputs: int) -> Newton:
    """The arrays for more inputs; what was learned stays in its places."""
    more = min(int(newton.most.max(initial=0)), n_inputs) - newton.weights.shape[1]
    weights = np.pad(newton.weights, ((0, 0), (0, more), (0, 0)))
    return newton._replace(weights=weights, inverse=np.pad(newton.inverse, ((0, 0), (0, more), (0, more))))


def make_present(bank: LinearBank) -> Present:
    """A workspace for the inputs of an example."""
    columns = int(bank.offset[0]) + bank.offset.size - 1
    size = columns + bank.products.first.size if bank.newton.used.size else 0
    return Present(
        np.zeros(1, np.int64), np.zeros(size, np.int64), np.zeros(size), np.zeros(bank.newton.inverse.shape[1])
    )


@inlined
def list_inputs(bank, i, nominal, inputs, present):
    """Fill `present`; `inputs` are the numeric columns, standardized, and the bias."""
    count = 0
    for e in range(inputs.size):
        if inputs[e] != 0.0:
            present.at[count] = e
            present.value[count] = inputs[e]
            count += 1
    for c in range(nominal.size):
        if nominal[c] >= 0:
            present.at[count] = bank.offset[c] + nominal[c]
            present.value[count] = 1.0
            count += 1
    for j in range(bank.products.n_pairs[i]):
        at, value = product(bank.products, j, bank.clip[i], inputs, nominal)
        if value != 0.0:
            present.at[count] = -1 - at
            present.value[count] = value
            count += 1
    present.number[0] = count


@inlined
def rank_of(bank, i, at):
    """The place of an input, from 1; 0 for none."""
    return bank.ranks[i, at] if at >= 0 else bank.products.ranks[i, -1 - at]


@inlined
def newton_logits(bank, i, nominal, inputs, present, logits):
    """Fill `logits` with linear learner i's scores, and `present` with what it learns from."""
    list_inputs(bank, i, nominal, inputs, present)
    newton, slot = bank.newton, bank.newton.slot[i]
    for r in range(logits.size):
        logits[r] = 0.0
    for j in range(present.number[0]):
        at, value = present.at[j], present.value[j]
        rank = rank_of(bank, i, at)
        if rank > 0:
            for r in range(logits.size):
                logits[r] += newton.weights[slot, rank - 1, r] * value
        elif at >= 0:
            for r in range(logits.size):
                logits[r] += bank.weights[i, r, at] * value
        else:
            for r in range(logits.size):
                logits[r] += bank.products.weights[i, -1 - at, r] * value


@inlined
def give_places(bank, i, present):
    """Let inputs that come up for the first time take part while there are places."""
    newton, slot = bank.newton, bank.newton.slot[i]
    reach = newton.reach[i]
    variance = reach * reach / min(present.number[0], newton.most[i]) if reach > 0.0 else 1.0
    for j in range(present.number[0]):
        if newton.used[slot] == newton.most[i]:
            break
        at = present.at[j]
        if rank_of(bank, i, at) == 0:
            newton.inverse[slot, newton.used[slot], newton.used[slot]] = variance
            newton.used[slot] += 1
            if at >= 0:
                bank.ranks[i, at] = newton.used[slot]
            else:
                bank.products.ranks[i, -1 - at] = newton.used[slot]


@noinline
def newton_update(bank, i, slopes, w, present):
    """A step of linear learner i on the example of weight w it has just predicted; `slopes` are those of its logits."""
    newton, slot, gain = bank.newton, bank.newton.slot[i], present.gain
    newton.seen[slot, 0] += 1.0
    newton.seen[slot, 1] += w
    largest = 0.0
    for r in range(slopes.size):
        largest = max(largest, abs(slopes[r]))
    if largest <= NEGLIGIBLE * newton.seen[slot, 1] / newton.seen[slot, 0]:
        return
    give_places(bank, i, present)
    used = newton.used[slot]
    inverse = newton.inverse[slot]
    for a in range(used):
        gain[a] = 0.0
    for j in range(present.number[0]):
        rank = rank_of(bank, i, present.at[j])
        if rank > 0:
            value = present.value[j]
            row = inverse[rank - 1]
            for a in range(used):
                gain[a] += row[a] * value
        else:
            adagrad_update(bank, i, present.at[j], present.value[j], slopes)
    spread = 0.0
    for j in range(present.number[0]):
        rank = rank_of(bank, i, present.at[j])
        if rank > 0:
            spread += gain[rank - 1] * present.value[j]
    h = newton.curvature[i] * w
    scale = 1.0 / (1.0 + h * max(spread, 0.0))
    for a in range(used):
        weights = newton.weights[slot, a]
        pull = scale * gain[a]
        for r in range(slopes.size):
            weights[r] -= pull * slopes[r]
    # one factor for both sides keeps the matrix symmetric to the last bit
    root = math.sqrt(h * scale)
    for a in range(used):
        gain[a] *= root
    for a in range(used):
        pull = gain[a]
        row = inverse[a]
        for b in range(used):
            row[b] -= pull * gain[b]


@inlined
def adagrad_update(bank, i, at, value, slopes):
    """One AdaGrad step of an input that takes no Newton steps."""
    for r in range(slopes.size):
        slope = slopes[r] * value
        if at >= 0:
            adagrad_step(bank.weights[i, r], bank.squares[i, r], at, slope, bank.step[i])
        else:
            adagrad_step(bank.products.weights[i, -1 - at], bank.products.squares[i, -1 - at], r, slope, bank.step[i])
