"""Online ridge regression, one bank of arrays for all linear learners of gradients.

Follow the regularized leader on the squared loss, as Section 6.1 of Hu et al. 2017 uses it: after each example the
coefficients are the ridge solution of all examples so far, kept up by recursive least squares. Its regret grows with
the logarithm of T (Azoury and Warmuth 2001), so that Definition 4.1 holds with the edge of the best linear function.

Numeric columns are standardized by the running mean and variance of the stream and clipped; a nominal column has an
input for each code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import entry_point, inlined
from edgewise.kernels.state import state
from edgewise.learners.linear import dot, input_offsets, standardized
from edgewise.parameters import Parameterized

BIAS_SHARE = 1e-3  # of the regularization falls on the bias: the mean target is no weakness of the features


class RidgeRegression(Parameterized):
    """Online ridge regression as weak learner of gradient boosting.

    Time and memory grow with the square of the number of inputs.

    Parameters
    ----------
    regularization : float
        What is added to the diagonal of the inputs' second moments.
    clip : float
        Largest standardized value; outliers count as this far from the mean.
    """

    def __init__(self, regularization: float = 3.0, clip: float = 20.0) -> None:
        self.regularization = regularization
        self.clip = clip

    def check(self) -> None:
        """Raise ValueError for a setting that is not allowed."""
        for name in ("regularization", "clip"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{name}={getattr(self, name)!r}: a positive number")


@state
class RidgeBank(NamedTuple):
    """n learners for m outputs. Inputs: the numeric columns, a bias, a slot for each code of each nominal column."""

    regularization: np.ndarray  # [n]
    clip: np.ndarray  # [n]
    offset: np.ndarray  # [columns + 1] first input of each nominal column
    weights: np.ndarray  # [n, m, inputs]
    inverse: np.ndarray  # [n, inputs, inputs] of the inputs' regularized second moments
    averages: np.ndarray  # [n, m, inputs] mean over rounds of the weights that spoke
    rounds: np.ndarray  # [n]


def make_ridge(learners: list[RidgeRegression], n_outputs: int, n_numeric: int, categories: np.ndarray) -> RidgeBank:
    """Learners that know nothing yet."""
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
    first = int(bank.offset[0])
    offset = input_offsets(first - 1, categories)
    moved = np.arange(first)
    for column, size in enumerate(np.diff(bank.offset)):
        moved = np.concatenate([moved, offset[column] + np.arange(size)])
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
def ridge_learns(bank, i, target, said, w, inputs, gain):
    """A step of recursive least squares: coefficients and inverse take in one example of weight w."""
    size = inputs.size
    inverse = bank.inverse[i]
    for e in range(size):
        gain[e] = dot(inverse[e], inputs, size)
    scale = w / (1.0 + w * dot(gain, inputs, size))
    for r in range(target.size):
        step = scale * (target[r] - said[r])
        for e in range(size):
            bank.weights[i, r, e] += step * gain[e]
    for e in range(size):
        pull = scale * gain[e]
        for f in range(size):
            inverse[e, f] -= pull * gain[f]


@entry_point
def process_ridge(bank, i, rows, targets, averaged, inputs, gain, out):
    """Linear learner i speaks of every row, and learns those of weight above 0; `out` has what it said.

    `averaged` lets it speak with the mean of its coefficients over all rounds, line 16 of Algorithm 1.
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
            ridge_learns(bank, i, targets[t], out[t], rows.weights[t], inputs, gain)
