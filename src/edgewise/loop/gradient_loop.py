"""Streaming gradient boosting over a chunk of examples.

Hu, Sun, Venkatraman, Hebert and Bagnell, "Gradient Boosting on Stochastic Data Streams" (AISTATS 2017), Algorithms 1
(smooth losses), 2 (residual projection) and 3 (its predictions).

| paper     | here                                                                         |
|-----------|------------------------------------------------------------------------------|
| A_i, h_i  | learner i, and its prediction of each row                                     |
| y_t^i     | `partial`, the partial sum after learner i                                   |
| eta, eta_i| `Steps.rates`                                                                |
| nabla_t^i | `Loss.gradient` at y_t^(i-1)                                                 |
| Delta_t^i | `residuals`                                                                  |
| Pi        | `edgewise.theory.projections.project`                                        |
| y_t       | last partial sum (Algorithm 1), or the mean of y_t^0..y_t^(N-1) (Algorithm 2)|

Algorithm 2 prints a sum of N + 1 terms divided by N; its proof averages y^0..y^(N-1), and so do we.

Learner i in round t needs only its own past and the partial sum y_t^(i-1), so learner 1 goes through the whole chunk,
then learner 2, and so on: the same result, number for number, as one example at a time. All gradients that a learner
needs are known before it begins, so a loss is a NumPy function over the rows of the chunk.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, Protocol

import numpy as np

from edgewise.kernels.compile import entry_point
from edgewise.kernels.state import state
from edgewise.learners.external import ExternalBank
from edgewise.learners.linear import RidgeBank, process_ridge
from edgewise.learners.regression_forest.growing import process_tree
from edgewise.learners.regression_forest.layout import RegressionForest, enlarged
from edgewise.loop.online_loop import run_moments
from edgewise.loop.pipeline import blocks
from edgewise.theory.projections import Region, project
from edgewise.theory.regression_losses import Loss

SMOOTH, RESIDUAL = 0, 1
RULES = {"smooth": SMOOTH, "residual": RESIDUAL}
TREE, RIDGE, OBJECT, EXTERNAL = 0, 1, 2, 3
# Sums over rounds for each learner, in Progress.learners: ||target||^2, ||target - h||^2, ||h||^2.
OF_TARGET, OF_ERROR, OF_PREDICTION = 0, 1, 2
# Sums over rounds, in Progress.totals: loss of the predictions, least loss that any prediction could have, weight.
PREDICTED, LEAST, ROUNDS = 0, 1, 2


class RowLearner(Protocol):
    """A weak learner written in Python: any object that can be copied and predicts and learns a row at a time."""

    def predict_one(self, row: np.ndarray) -> np.ndarray:
        """The prediction of a row: m numbers. Numeric columns come first, then the codes of the nominal ones."""

    def learn_one(self, row: np.ndarray, target: np.ndarray, weight: float) -> None:
        """Learn the m target numbers of a row."""


@state
class Steps(NamedTuple):
    """The algorithm, its steps, start and domain."""

    rule: int
    rates: np.ndarray  # [N] eta_i
    start: np.ndarray  # [m] y^0
    region: Region


@state
class Learners(NamedTuple):
    """The learners in order: kind, and where each one's state is; trees are counted in the forest of their block."""

    kind: np.ndarray
    slot: np.ndarray


@state
class Progress(NamedTuple):
    """The state of the booster itself."""

    learners: np.ndarray  # [N, 3] sums over rounds: see OF_TARGET, OF_ERROR, OF_PREDICTION
    losses: np.ndarray  # [N + 1] sum over rounds of the loss of y^0..y^N
    totals: np.ndarray  # [3] sums over rounds: see PREDICTED, LEAST, ROUNDS
    extremes: np.ndarray  # [2] largest loss and largest gradient norm met


class GradientEnsemble(NamedTuple):
    """The whole state of a booster: what learning changes."""

    steps: Steps
    learners: Learners
    progress: Progress
    forests: list[RegressionForest]  # one for each block of learners; the first has the moments of the columns
    bank: RidgeBank
    objects: tuple[RowLearner, ...]
    external: ExternalBank  # a copy for each output of each learner


@state
class Examples(NamedTuple):
    """Examples in order. Those of weight 0 are predicted and not learned."""

    numeric: np.ndarray
    nominal: np.ndarray
    targets: np.ndarray  # [n, m]
    weights: np.ndarray
    labels: np.ndarray  # 0 where the row is learned, -1 where not
    means: np.ndarray  # [n + 1] running mean and variance of each numeric column before each example, and at the end
    variances: np.ndarray


@entry_point
def settle(steps, i, partial, values, residuals, gradients, goals, predicted, weights, progress):
    """Take learner i's step, lines 6 and 14, and count its edge (Definition 4.1) row by row."""
    n, m = partial.shape
    for t in range(n):
        if weights[t] > 0.0:
            of_target, of_error, of_prediction, norm = 0.0, 0.0, 0.0, 0.0
            for r in range(m):
                of_prediction += predicted[t, r] * predicted[t, r]
                of_target += goals[t, r] * goals[t, r]
                of_error += (goals[t, r] - predicted[t, r]) * (goals[t, r] - predicted[t, r])
                norm += gradients[t, r] * gradients[t, r]
            progress.learners[i, OF_TARGET] += weights[t] * of_target
            progress.learners[i, OF_ERROR] += weights[t] * of_error
            progress.learners[i, OF_PREDICTION] += weights[t] * of_prediction
            progress.losses[i] += weights[t] * values[t]
            progress.extremes[0] = max(progress.extremes[0], abs(values[t]))
            progress.extremes[1] = max(progress.extremes[1], norm**0.5)
        for r in range(m):
            partial[t, r] -= steps.rates[i] * predicted[t, r]
            if steps.rule == RESIDUAL:
                residuals[t, r] = goals[t, r] - predicted[t, r]


@entry_point
def count(values, weights, sums, place):
    """Add a number of each learned row to a running sum, one after the other, so that chunks change nothing."""
    for t in range(values.size):
        if weights[t] > 0.0:
            sums[place] += weights[t] * values[t]


def run(
    ensemble: GradientEnsemble, loss: Loss, examples: Examples, *, averaged: bool = False
) -> Generator[None, None, np.ndarray]:
    """Predict, then learn, every example of a chunk: a task of the `pipeline` that gives the predictions [n, m].

    `averaged`: every learner predicts with its mean hypothesis (line 16 of Algorithm 1); nothing may be learned then.
    """
    steps = ensemble.steps
    # Blocks at work at once may not write to the same place.
    progress = ensemble.progress._replace(extremes=np.zeros(2))
    weights, targets = examples.weights, examples.targets
    learning = bool((weights > 0.0).any())
    run_moments(ensemble.forests[0], examples)
    partial = np.repeat(steps.start[None, :], len(weights), axis=0)
    residuals = np.zeros(partial.shape)
    sums = np.zeros(partial.shape)
    predicted = np.zeros(partial.shape)
    values = np.zeros(len(weights))
    goals = gradients = np.zeros(partial.shape)
    for b, block in enumerate(blocks(steps.rates.size, len(ensemble.forests))):
        for i in block:
            if learning:
                values, gradients = loss_and_gradient(loss, partial, targets)
                goals = gradients + residuals
            sums += partial
            play(ensemble, b, i, examples, goals, averaged, predicted)
            settle(steps, i, partial, values, residuals, gradients, goals, predicted, weights, progress)
            if steps.rule == RESIDUAL:
                project(steps.region, partial)
        yield
    predictions = partial if steps.rule == SMOOTH else sums / steps.rates.size
    if learning:
        np.maximum(ensemble.progress.extremes, progress.extremes, out=ensemble.progress.extremes)
        count(np.asarray(loss.value(partial, targets), float), weights, progress.losses, steps.rates.size)
        count(np.asarray(loss.value(predictions, targets), float), weights, progress.totals, PREDICTED)
        count(np.ones(len(weights)), weights, progress.totals, ROUNDS)
        if hasattr(loss, "least"):
            count(loss.least(targets), weights, progress.totals, LEAST)
    return predictions


def play(
    ensemble: GradientEnsemble,
    b: int,
    i: int,
    examples: Examples,
    goals: np.ndarray,
    averaged: bool,
    predicted: np.ndarray,
) -> None:
    """Let learner i, of block b, predict every row (`predicted`), then learn its goal, row by row."""
    kind, slot = int(ensemble.learners.kind[i]), int(ensemble.learners.slot[i])
    m = goals.shape[1]
    if kind == RIDGE:
        inputs, gain = np.zeros((2, ensemble.bank.weights.shape[2]))
        process_ridge(ensemble.bank, slot, examples, goals, averaged, inputs, gain, predicted)
    elif kind == TREE:
        whole, left = np.zeros((2, 1 + m))
        at = process_tree(ensemble.forests[b], slot, examples, goals, 0, whole, left, predicted)
        while at < len(goals):
            ensemble.forests[b] = enlarged(ensemble.forests[b])
            at = process_tree(ensemble.forests[b], slot, examples, goals, at, whole, left, predicted)
    elif kind == EXTERNAL:
        copies = ensemble.external.copies[slot * m : (slot + 1) * m]
        read = ensemble.external.reader.read(examples.numeric, examples.nominal)
        for t in range(len(goals)):
            for r, copy in enumerate(copies):
                predicted[t, r] = copy.predicts(read, t)
            if examples.weights[t] > 0.0:
                for r, copy in enumerate(copies):
                    copy.update(read, t, float(goals[t, r]), 0, float(examples.weights[t]))
    else:
        rows = np.concatenate([examples.numeric, examples.nominal], axis=1)
        learner = ensemble.objects[slot]
        for t, row in enumerate(rows):
            predicted[t] = learner.predict_one(row)
            if examples.weights[t] > 0.0:
                learner.learn_one(row, goals[t].copy(), float(examples.weights[t]))


def loss_and_gradient(loss: Loss, partial: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss and its gradient at the partial sums of all rows."""
    values = np.ascontiguousarray(loss.value(partial, targets), dtype=np.float64)
    gradients = np.ascontiguousarray(loss.gradient(partial, targets), dtype=np.float64)
    return values, gradients


def check_shapes(loss: Loss, n_outputs: int) -> None:
    """ValueError unless a loss gives a number for each row, and a gradient with a number for each output."""
    values, gradients = loss_and_gradient(loss, np.zeros((2, n_outputs)), np.ones((2, n_outputs)))
    if values.shape != (2,) or gradients.shape != (2, n_outputs):
        raise ValueError(
            f"loss={loss!r}: for predictions of shape (2, {n_outputs}) its value has shape {values.shape} and its "
            f"gradient {gradients.shape}; (2,) and (2, {n_outputs}) are needed"
        )
