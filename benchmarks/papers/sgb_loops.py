"""Boosted networks of one sigmoid unit in plain loops: what `edgewise.neural` does with them, a hundred times as fast.

A step of PyTorch takes half a millisecond however small the networks are, which is too long to compare hundreds of
settings. Networks are rows of [w_1..w_d, bias of the unit, weight of its output, bias of the output]. Adam's constants
are PyTorch's. `sgb_computation.py` checks that these loops go the way of `edgewise.reproduction.games.networks`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from edgewise.neural.batch_boosting import Convergence, batch_units, streaming_units

FIRST_DECAY, SECOND_DECAY, FLOOR = 0.9, 0.999, 1e-8


class Rows(NamedTuple):
    """Features [n, d], and the targets [n]."""

    x: np.ndarray
    z: np.ndarray


class State(NamedTuple):
    """Parameters [N, d + 3] of the networks, Adam's two moments of each, and the number of steps made [1]."""

    parameters: np.ndarray
    first: np.ndarray
    second: np.ndarray
    steps: np.ndarray

    @classmethod
    def of(cls, parameters: np.ndarray) -> State:
        return cls(parameters, np.zeros_like(parameters), np.zeros_like(parameters), np.zeros(1))


def drawn(n_networks: int, n_inputs: int, chance: np.random.Generator) -> State:
    """Networks as `edgewise.neural.ensemble` draws them: uniform in +-1/sqrt(inputs of the unit)."""
    bounds = np.array([n_inputs**-0.5] * (n_inputs + 1) + [1.0, 1.0])
    return State.of(chance.uniform(-bounds, bounds, (n_networks, bounds.size)))


@njit
def _vote(network: np.ndarray, row: np.ndarray) -> tuple[float, float]:
    d = row.size
    total = network[d]
    for j in range(d):
        total += network[j] * row[j]
    unit = 1.0 / (1.0 + math.exp(-total))
    return unit, network[d + 1] * unit + network[d + 2]


@njit
def learn(rows: Rows, order: np.ndarray, size: int, state: State, eta: float, step: float) -> float:
    """Algorithm 1 over rows in this order, in mini-batches of `size`; the square loss of the last network, summed."""
    networks, d = state.parameters, rows.x.shape[1]
    slopes = np.zeros_like(networks)
    missed = 0.0
    for start in range(0, order.size // size * size, size):
        slopes[:] = 0.0
        for t in order[start : start + size]:
            row, y = rows.x[t], 0.0
            for i in range(len(networks)):
                unit, vote = _vote(networks[i], row)
                wrong = vote - (y - rows.z[t])
                y -= eta * vote
                slopes[i, d + 2] += wrong
                slopes[i, d + 1] += wrong * unit
                inner = wrong * networks[i, d + 1] * unit * (1.0 - unit)
                slopes[i, d] += inner
                for j in range(d):
                    slopes[i, j] += inner * row[j]
            missed += wrong * wrong
        state.steps[0] += 1.0
        first_share = 1.0 - FIRST_DECAY ** state.steps[0]
        second_share = 1.0 - SECOND_DECAY ** state.steps[0]
        for i in range(len(networks)):
            for j in range(d + 3):
                slope = 2.0 * slopes[i, j] / size
                state.first[i, j] += (1.0 - FIRST_DECAY) * (slope - state.first[i, j])
                state.second[i, j] += (1.0 - SECOND_DECAY) * (slope * slope - state.second[i, j])
                spread = math.sqrt(state.second[i, j] / second_share) + FLOOR
                networks[i, j] -= step * state.first[i, j] / first_share / spread
    return missed


@njit
def predict(x: np.ndarray, state: State, eta: float) -> np.ndarray:
    """y^N of rows."""
    sums = np.zeros(len(x))
    for t in range(len(x)):
        for i in range(len(state.parameters)):
            sums[t] -= eta * _vote(state.parameters[i], x[t])[1]
    return sums


def shuffled(n: int, size: int, chance: np.random.Generator) -> np.ndarray:
    """The rows of an epoch in chance order, without those that do not fill the last mini-batch."""
    return chance.permutation(n)[: n // size * size]


class Streaming(NamedTuple):
    """Streaming boosting with Adam's step falling to 0 in a straight line."""

    learners: int
    learning_rate: float
    adam_step: float
    batch_size: int

    def epochs(self, rows: int, budget: float) -> int:
        """The epochs that so many units pay for."""
        return int(budget // streaming_units(rows // self.batch_size * self.batch_size, self.learners))

    def loss(self, train: Rows, test: Rows, epochs: int, seed: int) -> float:
        """Half the mean squared error on `test` after so many epochs."""
        chance = np.random.default_rng(seed)
        state = drawn(self.learners, train.x.shape[1], chance)
        for epoch in range(epochs):
            order = shuffled(len(train.x), self.batch_size, chance)
            step = self.adam_step * (1.0 - epoch / epochs)
            learn(train, order, self.batch_size, state, self.learning_rate, step)
        return half_square(predict(test.x, state, self.learning_rate), test.z)


class Batch(NamedTuple):
    """Batch boosting; a network is trained until it converges, or for `falling` epochs while Adam's step falls to 0."""

    learners: int
    adam_step: float
    batch_size: int
    convergence: Convergence
    falling: int = 0

    def descent(self, train: Rows, test: Rows, seed: int) -> Iterator[tuple[int, float]]:
        """Units spent and half the mean squared error on `test`, after every epoch."""
        chance = np.random.default_rng(seed)
        scores, before, units = np.zeros(len(train.x)), np.zeros(len(test.x)), 0
        for number in range(1, self.learners + 1):
            state, target = drawn(1, train.x.shape[1], chance), Rows(train.x, train.z - scores)
            best, waited = math.inf, 0
            for epoch in range(self.falling or self.convergence.longest):
                order = shuffled(len(train.x), self.batch_size, chance)
                step = self.adam_step * (1.0 - epoch / self.falling) if self.falling else self.adam_step
                missed = learn(target, order, self.batch_size, state, 1.0, step)
                units += batch_units(order.size, number)
                yield units, half_square(before + predict(test.x, state, 1.0), test.z)
                waited = 0 if missed < best * (1.0 - self.convergence.tolerance) else waited + 1
                best = min(best, missed)
                if waited == self.convergence.patience and not self.falling:
                    break
            scores += predict(train.x, state, 1.0)
            before += predict(test.x, state, 1.0)


def half_square(predictions: np.ndarray, targets: np.ndarray) -> float:
    """Half the mean squared error."""
    return float(np.mean((predictions - targets) ** 2)) / 2.0
