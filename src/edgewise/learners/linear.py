"""Online softmax and logistic regression with AdaGrad (Duchi, Hazan and Singer 2011), one bank for all linear learners.

Numeric columns are standardized by the running mean and variance of the stream and clipped; a nominal column has an
input for each code. Products of two columns may be inputs as well (`products`), and the first inputs may take Newton
steps instead (`newton`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.state import state
from edgewise.learners.newton import Newton, make_newton, newton_logits, newton_update, newton_with_inputs
from edgewise.learners.products import Products, add_product_logits, make_products, products_update
from edgewise.parameters import Parameterized
from edgewise.theory.losses import softmax


class SoftmaxRegression(Parameterized):
    """Softmax regression as weak learner.

    Parameters
    ----------
    step : float
        AdaGrad's step size.
    clip : float
        Largest standardized value; outliers count as this far from the mean.
    products : int
        How many products of two columns are inputs as well: all pairs of columns where there are no more of them, else
        those of the first columns.
    newton : int
        How many inputs take Newton steps, which see how inputs go together, instead of AdaGrad's: the first that come
        up. They learn from fewer examples, at a cost that grows with the square of this number.
    curvature : float
        Of the loss, as Newton steps take it to be: the smaller, the larger are steps.
    reach : float, optional
        How far from 0 Newton steps take scores to be before anything is learned: the larger, the larger are the first
        steps. None: every weight of an input has variance 1, so that the scores of many inputs reach further.
    """

    def __init__(
        self,
        step: float = 0.2,
        clip: float = 5.0,
        products: int = 0,
        newton: int = 0,
        curvature: float = 0.07,
        reach: float | None = 8.0,
    ) -> None:
        self.step = step
        self.clip = clip
        self.products = products
        self.newton = newton
        self.curvature = curvature
        self.reach = reach

    def check(self) -> None:
        """Raise ValueError for a setting that is not allowed."""
        for name in ("step", "clip", "curvature"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{name}={getattr(self, name)!r}: a positive number")
        if self.reach is not None and not self.reach > 0.0:
            raise ValueError(f"reach={self.reach!r}: a positive number, or None")
        for name in ("products", "newton"):
            if not isinstance(getattr(self, name), int | np.integer) or getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)!r}: a whole number, 0 for none")


class BinaryRelevance(SoftmaxRegression):
    """A logistic regression for each label, which tells whether the label is relevant, whatever the others are.

    Parameters are those of `SoftmaxRegression`.
    """


@state
class LinearBank(NamedTuple):
    """n linear learners over k labels. Inputs: the numeric columns, a bias, a slot for each code of each column."""

    step: np.ndarray  # [n]
    clip: np.ndarray  # [n]
    offset: np.ndarray  # [columns + 1] first input of each nominal column
    weights: np.ndarray  # [n, k, inputs]
    squares: np.ndarray  # [n, k, inputs] sums of squared gradients
    products: Products
    ranks: np.ndarray  # [n, inputs] place of an input among those that take Newton steps, from 1; 0 for none
    newton: Newton


def input_offsets(n_numeric: int, categories: np.ndarray) -> np.ndarray:
    """The first input of each nominal column, after the numeric columns and the bias; then the number of inputs."""
    return n_numeric + 1 + np.concatenate([[0], np.cumsum(categories)]).astype(np.int64)


def make_bank(learners: list[SoftmaxRegression], n_labels: int, n_numeric: int, categories: np.ndarray) -> LinearBank:
    """Learners that know nothing yet."""
    offset = input_offsets(n_numeric, categories)
    shape = (len(learners), n_labels, int(offset[-1]))
    products = make_products([learner.products for learner in learners], n_labels, n_numeric, len(categories))
    return LinearBank(
        np.array([learner.step for learner in learners], float),
        np.array([learner.clip for learner in learners], float),
        offset,
        np.zeros(shape),
        np.zeros(shape),
        products,
        np.zeros((len(learners), int(offset[-1])), np.int64),
        make_newton(
            [(learner.newton, learner.curvature, learner.reach or 0.0) for learner in learners],
            n_labels,
            int(offset[-1] + products.place[-1]),
        ),
    )


def bank_with_categories(bank: LinearBank, categories: np.ndarray) -> LinearBank:
    """The bank with inputs for more codes per nominal column; what it has learned moves to the new places."""
    first = int(bank.offset[0])
    offset = input_offsets(first - 1, categories)
    moved = []
    for old in (bank.weights, bank.squares, bank.ranks):
        new = np.zeros((*old.shape[:-1], int(offset[-1])), old.dtype)
        new[..., :first] = old[..., :first]
        for column, size in enumerate(np.diff(bank.offset)):
            new[..., offset[column] : offset[column] + size] = old[..., bank.offset[column] : bank.offset[column + 1]]
        moved.append(new)
    newton = newton_with_inputs(bank.newton, int(offset[-1] + bank.products.place[-1]))
    return bank._replace(offset=offset, weights=moved[0], squares=moved[1], ranks=moved[2], newton=newton)


@inlined
def dot(a, b, n):
    """Inner product of the first n numbers, in four running sums so that the loop vectorizes."""
    s0 = s1 = s2 = s3 = 0.0
    whole = n - n % 4
    for j in range(0, whole, 4):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
    for j in range(whole, n):
        s0 += a[j] * b[j]
    return (s0 + s1) + (s2 + s3)


@inlined
def standardized(numeric, means, variances, clip, inputs):
    """Fill `inputs` with the numeric columns in standard deviations from their mean, clipped, and a bias."""
    n = numeric.size
    for f in range(n):
        z = 0.0
        if numeric[f] == numeric[f] and variances[f] > 0.0:
            z = min(max((numeric[f] - means[f]) / math.sqrt(variances[f]), -clip), clip)
        inputs[f] = z
    inputs[n] = 1.0


@inlined
def linear_logits(bank, i, numeric, nominal, means, variances, inputs, present, logits):
    """Fill `logits` with linear learner i's scores, and `inputs` and `present` with what it learns from."""
    n = numeric.size
    standardized(numeric, means, variances, bank.clip[i], inputs)
    if bank.newton.slot[i] >= 0:
        newton_logits(bank, i, nominal, inputs, present, logits)
        return
    for r in range(logits.size):
        logit = dot(bank.weights[i, r], inputs, n + 1)
        for c in range(nominal.size):
            if nominal[c] >= 0:
                logit += bank.weights[i, r, bank.offset[c] + nominal[c]]
        logits[r] = logit
    add_product_logits(bank.products, i, bank.clip[i], inputs, nominal, logits)


@noinline
def softmax_predict_proba(bank, i, numeric, nominal, means, variances, inputs, present, p):
    """Fill p with the probabilities of a `SoftmaxRegression`."""
    linear_logits(bank, i, numeric, nominal, means, variances, inputs, present, p)
    softmax(p, p)


@noinline
def binary_predict_proba(bank, i, numeric, nominal, means, variances, inputs, present, chances, p):
    """Fill `chances` with a `BinaryRelevance`'s probabilities that labels are relevant, and p with their shares."""
    linear_logits(bank, i, numeric, nominal, means, variances, inputs, present, p)
    total = 0.0
    for r in range(p.size):
        chances[r] = 1.0 / (1.0 + math.exp(-p[r]))
        total += chances[r]
    for r in range(p.size):
        p[r] = chances[r] / total


@noinline
def linear_update(bank, i, nominal, slopes, w, inputs, present):
    """A step of linear learner i on the example of weight w it has just spoken of; `slopes` are those of its logits."""
    if bank.newton.slot[i] >= 0:
        newton_update(bank, i, slopes, w, present)
        return
    n = inputs.size
    step = bank.step[i]
    for r in range(slopes.size):
        g = slopes[r]
        weights, squares = bank.weights[i, r], bank.squares[i, r]
        for e in range(n):
            slope = g * inputs[e]
            squares[e] += slope * slope
            weights[e] -= step * slope / math.sqrt(squares[e]) if squares[e] > 0.0 else 0.0
        for c in range(nominal.size):
            if nominal[c] >= 0:
                e = bank.offset[c] + nominal[c]
                squares[e] += g * g
                weights[e] -= step * g / math.sqrt(squares[e]) if squares[e] > 0.0 else 0.0
    products_update(bank.products, i, step, bank.clip[i], inputs, nominal, slopes)
