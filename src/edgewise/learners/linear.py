"""Online linear learners: softmax, logistic and ridge regression; learners of a kind stand in one bank of arrays.

Softmax and logistic regression learn by AdaGrad (Duchi, Hazan and Singer 2011).

Numeric columns are standardized by the running mean and variance of the stream and clipped; a nominal column has an
input for each code. Products of two columns may be inputs as well (`products`), and the first inputs may take Newton
steps instead (`newton`).

Ridge regression follows the regularized leader on the squared loss, as Section 6.1 of Hu et al. 2017 uses it: after
each example the coefficients are the ridge solution of all examples so far, kept up by recursive least squares. Its
regret grows with the logarithm of T (Azoury and Warmuth 2001), so that Definition 4.1 holds with the edge of the best
linear function.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.kernels.compile import entry_point, inlined, noinline
from edgewise.kernels.state import state
from edgewise.learners.newton import Newton, make_newton, newton_logits, newton_update, newton_with_inputs
from edgewise.learners.products import Products, adagrad_step, add_product_logits, make_products, products_update
from edgewise.learners.weak_learner import Learner
from edgewise.parameters import POSITIVE, POSITIVE_OR_NONE, Allowed, with_parameters
from edgewise.theory.losses import softmax

BIAS_SHARE = 1e-3  # of the regularization falls on the bias: the mean target is no weakness of the features
COUNT = Allowed("a whole number, 0 for none", above=-1, whole=True)


@with_parameters(step=POSITIVE, clip=POSITIVE, curvature=POSITIVE, reach=POSITIVE_OR_NONE, products=COUNT, newton=COUNT)
class SoftmaxRegression(Learner):
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

    step: float = 0.2
    clip: float = 5.0
    products: int = 0
    newton: int = 0
    curvature: float = 0.07
    reach: float | None = 8.0


class BinaryRelevance(SoftmaxRegression):
    """A logistic regression for each label, which predicts whether the label is relevant, whatever the others are.

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
    """Learners before the first example."""
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
        make_newton(learners, n_labels, int(offset[-1] + products.place[-1])),
    )


def moved_inputs(offset: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The new place of each input once nominal columns have more codes: `input_offsets` before and after."""
    of_columns = [first + np.arange(size) for first, size in zip(new[:-1], np.diff(offset), strict=True)]
    return np.concatenate([np.arange(int(offset[0])), *of_columns])


def bank_with_categories(bank: LinearBank, categories: np.ndarray) -> LinearBank:
    """The bank with inputs for more codes per nominal column; what it has learned moves to the new places."""
    offset = input_offsets(int(bank.offset[0]) - 1, categories)
    moved = moved_inputs(bank.offset, offset)
    changes: dict[str, Any] = {}
    for field in ("weights", "squares", "ranks"):
        old = getattr(bank, field)
        changes[field] = np.zeros((*old.shape[:-1], int(offset[-1])), old.dtype)
        changes[field][..., moved] = old
    newton = newton_with_inputs(bank.newton, int(offset[-1] + bank.products.place[-1]))
    return bank._replace(offset=offset, newton=newton, **changes)


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
    """A step of linear learner i on the example of weight w it has just predicted; `slopes` are those of its logits."""
    if bank.newton.slot[i] >= 0:
        newton_update(bank, i, slopes, w, present)
        return
    n = inputs.size
    step = bank.step[i]
    for r in range(slopes.size):
        g = slopes[r]
        weights, squares = bank.weights[i, r], bank.squares[i, r]
        for e in range(n):
            adagrad_step(weights, squares, e, g * inputs[e], step)
        for c in range(nominal.size):
            if nominal[c] >= 0:
                adagrad_step(weights, squares, bank.offset[c] + nominal[c], g, step)
    products_update(bank.products, i, step, bank.clip[i], inputs, nominal, slopes)


@with_parameters(regularization=POSITIVE, clip=POSITIVE)
class RidgeRegression(Learner):
    """Online ridge regression as weak learner of gradient boosting.

    Time and memory grow with the square of the number of inputs.

    Parameters
    ----------
    regularization : float
        What is added to the diagonal of the inputs' second moments.
    clip : float
        Largest standardized value; outliers count as this far from the mean.
    """

    regularization: float = 3.0
    clip: float = 20.0


@state
class RidgeBank(NamedTuple):
    """n learners for m outputs. Inputs: the numeric columns, a bias, a slot for each code of each nominal column."""

    regularization: np.ndarray  # [n]
    clip: np.ndarray  # [n]
    offset: np.ndarray  # [columns + 1] first input of each nominal column
    weights: np.ndarray  # [n, m, inputs]
    inverse: np.ndarray  # [n, inputs, inputs] of the inputs' regularized second moments
    averages: np.ndarray  # [n, m, inputs] mean over rounds of the weights that predicted
    rounds: np.ndarray  # [n]


def make_ridge(learners: list[RidgeRegression], n_outputs: int, n_numeric: int, categories: np.ndarray) -> RidgeBank:
    """Learners before the first example."""
    offset = input_offsets(n_numeric, categories)
    n, size = len(learners), int(offset[-1])
    regularization = np.array([learner.regularization for learner in learners], float)
    inverse = np.zeros((n, size, size))
    for i in range(n):
        inverse[i] = np.eye(size) / regularization[i]
        inverse[i, n_numeric, n_numeric] /= BIAS_SHARE
    return RidgeBank(
        regularization,
        np.array([learner.clip for learner in learners], float),
        offset,
        np.zeros((n, n_outputs, size)),
        inverse,
        np.zeros((n, n_outputs, size)),
        np.zeros(n),
    )


def ridge_with_categories(bank: RidgeBank, categories: np.ndarray) -> RidgeBank:
    """The bank with inputs for more codes per nominal column; what it has learned moves to the new places."""
    offset = input_offsets(int(bank.offset[0]) - 1, categories)
    moved = moved_inputs(bank.offset, offset)
    n, m, size = len(bank.weights), bank.weights.shape[1], int(offset[-1])
    weights, averages = np.zeros((2, n, m, size))
    weights[..., moved] = bank.weights
    averages[..., moved] = bank.averages
    inverse = np.zeros((n, size, size))
    for i in range(n):
        inverse[i] = np.eye(size) / bank.regularization[i]
        inverse[i][np.ix_(moved, moved)] = bank.inverse[i]
    return bank._replace(offset=offset, weights=weights, inverse=inverse, averages=averages)


@inlined
def fill_inputs(bank, i, numeric, nominal, means, variances, inputs):
    """The inputs of an example."""
    standardized(numeric, means, variances, bank.clip[i], inputs)
    for e in range(numeric.size + 1, inputs.size):
        inputs[e] = 0.0
    for c in range(nominal.size):
        if nominal[c] >= 0:
            inputs[bank.offset[c] + nominal[c]] = 1.0


@inlined
def ridge_update(bank, i, target, predicted, w, inputs, gain):
    """A step of recursive least squares: coefficients and inverse take in one example of weight w."""
    size = inputs.size
    inverse = bank.inverse[i]
    for e in range(size):
        gain[e] = dot(inverse[e], inputs, size)
    scale = w / (1.0 + w * dot(gain, inputs, size))
    for r in range(target.size):
        step = scale * (target[r] - predicted[r])
        for e in range(size):
            bank.weights[i, r, e] += step * gain[e]
    for e in range(size):
        pull = scale * gain[e]
        for f in range(size):
            inverse[e, f] -= pull * gain[f]


@entry_point
def process_ridge(bank, i, rows, targets, averaged, inputs, gain, out):
    """Linear learner i predicts every row into `out`, and learns those of weight above 0.

    `averaged` lets it predict with the mean of its coefficients over all rounds, line 16 of Algorithm 1.
    """
    size = inputs.size
    for t in range(rows.weights.size):
        fill_inputs(bank, i, rows.numeric[t], rows.nominal[t], rows.means[t], rows.variances[t], inputs)
        for r in range(out.shape[1]):
            out[t, r] = dot(bank.averages[i, r] if averaged else bank.weights[i, r], inputs, size)
        if rows.weights[t] > 0.0:
            bank.rounds[i] += 1.0
            for r in range(out.shape[1]):
                for e in range(size):
                    bank.averages[i, r, e] += (bank.weights[i, r, e] - bank.averages[i, r, e]) / bank.rounds[i]
            ridge_update(bank, i, targets[t], out[t], rows.weights[t], inputs, gain)
