"""From scores to probabilities, learned online from the scores that were predicted.

**Labels**: one factor on all scores, whose softmax are the probabilities. Boosting pushes scores apart long after the
labels are right, so that their plain softmax is too sure of itself. The logarithm of the factor, 0 at first, takes an
AdaGrad step (Duchi, Hazan and Singer 2011) on the log loss of the probabilities before the label came. A positive
factor never changes which label comes first.

**Label sets**: one logistic curve per label.

A ranking says nothing about how many labels are relevant. Label l is taken to be relevant with probability 1/(1 +
exp(-(a_l z_l + b_l))), where z_l is its score, less the mean of the example's scores, in units of the root mean square
of such differences so far, at most 5 in size: early scores tell little of how far later ones go. After every round a_l
and b_l take an AdaGrad step on the log loss of their probabilities before the label set came.
A label is predicted where its probability is at least 1/2: its score then exceeds a threshold that is its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined
from edgewise.theory.losses import softmax

STEP = 0.2
CLIP = 5.0
SLOPE, OFFSET = 0, 1
# Rows of `temperature` [2, 1]
LOG_FACTOR, SQUARES = 0, 1


@inlined
def descend(values, squares, j, slope):
    """AdaGrad step of number j, where the loss rises with this slope."""
    squares[j] += slope * slope
    if squares[j] > 0.0:
        values[j] -= STEP * slope / math.sqrt(squares[j])


def make_temperature() -> np.ndarray:
    """A factor of 1.

    As if one slope of 1 had been seen: AdaGrad's first step does not depend on the size of the slope, and before the
    learners know anything, scores are equal and slopes are rounding errors.
    """
    return np.array([[0.0], [1.0]])


@inlined
def apply_temperature(temperature, scores):
    """Scores times the factor: their softmax are the probabilities of the labels."""
    factor = math.exp(temperature[LOG_FACTOR, 0])
    for l in range(scores.size):
        scores[l] *= factor


@inlined
def learn_temperature(temperature, scores, label, weight, p):
    """Learn from the label of an example with these scaled scores; `p` is a workspace for k numbers.

    The log loss of softmax(e^u s) has the slope <p, e^u s> - e^u s(label) in u.
    """
    softmax(scores, p)
    slope = -scores[label]
    for l in range(scores.size):
        slope += p[l] * scores[l]
    descend(temperature[LOG_FACTOR], temperature[SQUARES], 0, weight * slope)


class Calibration(NamedTuple):
    """The curves of k labels."""

    curve: np.ndarray  # [k, 2] a and b
    squares: np.ndarray  # [k, 2] sums of squared gradients
    spread: np.ndarray  # [2] number of scores seen, and the sum of the squares of their distances to the mean


def make_calibration(k: int) -> Calibration:
    """Curves that give 1/2 where a score is the mean of its example's scores."""
    curve = np.zeros((k, 2))
    curve[:, SLOPE] = 1.0
    return Calibration(curve, np.zeros((k, 2)), np.zeros(2))


@inlined
def relevance(calibration, scores, z, p):
    """Fill z with the scores as the curves take them and p with the probability that each label is relevant."""
    k = scores.size
    middle = 0.0
    for l in range(k):
        middle += scores[l]
    middle /= k
    spread = calibration.spread
    unit = math.sqrt(spread[1] / spread[0]) if spread[1] > 0.0 else 1.0
    for l in range(k):
        z[l] = min(max((scores[l] - middle) / unit, -CLIP), CLIP)
        p[l] = 1.0 / (1.0 + math.exp(-(calibration.curve[l, SLOPE] * z[l] + calibration.curve[l, OFFSET])))


@inlined
def calibrate(calibration, scores, order, size, weight, z, p):
    """Learn from one example whose relevant labels are the first `size` of `order`."""
    k = scores.size
    relevance(calibration, scores, z, p)
    middle = 0.0
    for l in range(k):
        middle += scores[l]
    middle /= k
    for j in range(k):
        l = order[j]
        error = weight * (p[l] - (1.0 if j < size else 0.0))
        for c in range(2):
            slope = error * z[l] if c == SLOPE else error
            descend(calibration.curve[l], calibration.squares[l], c, slope)
        calibration.spread[1] += (scores[l] - middle) ** 2
    calibration.spread[0] += k
