"""Gradient boosting of networks in batch, and what training costs: the baseline of Section 6.2 of Hu et al. 2017.

Friedman (2001): network i is trained until it converges to fit the gradient of the loss at the sum of the networks
before it, then it is fixed and the next one begins. Learners, Adam and mini-batches are those of streaming boosting.

Cost is counted in predictions of one learner ("units"): an update costs two. A sample costs streaming boosting 3 N, and
batch boosting i + 2 while its i-th learner is trained, since all learners before it predict as well. The paper does not
let batch boosting keep their predictions, as a stream is not revisited; here they are kept to save time, but counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from edgewise.neural.ensemble import NetworkEnsemble
from edgewise.neural.rules import Smooth, loss_gradient
from edgewise.neural.weak_networks import WeakNetwork

UPDATE_UNITS = 2


def streaming_units(samples: int, n_learners: int) -> int:
    """What streaming boosting spends on so many samples: 3 T N."""
    return (1 + UPDATE_UNITS) * samples * n_learners


def batch_units(samples: int, learner: int) -> int:
    """What batch boosting spends on so many samples while it trains learner i, counted from 1: T (i + 2)."""
    return (learner + UPDATE_UNITS) * samples


class Convergence(NamedTuple):
    """A learner has converged when `patience` epochs in a row did not lower its best square loss by `tolerance`.

    The square loss is the mean over the epoch's mini-batches. `longest` epochs are enough in any case.
    """

    tolerance: float = 1e-3
    patience: int = 3
    longest: int = 100


class BatchBoostedNetworks:
    """Networks added one after the other. `add` trains the next one, an epoch at a time."""

    def __init__(
        self,
        estimator: WeakNetwork,
        x: Tensor,
        z: Tensor,
        *,
        loss: str,
        learning_rate: float,
        adam_step: float,
        batch_size: int,
        regularization: float = 0.0,
        random_state: int = 0,
    ) -> None:
        self.estimator, self.x, self.z = estimator, x, z
        self.loss, self.regularization = loss, regularization
        self.learning_rate, self.adam_step, self.batch_size = learning_rate, adam_step, batch_size
        self.random_state = random_state
        self.scores = torch.zeros_like(z)
        self.learners: list[NetworkEnsemble] = []
        self.units = 0
        self.chance = torch.Generator(x.device).manual_seed(random_state)

    def add(self, convergence: Convergence) -> Iterator[int]:
        """Train the next network until it converges; yields the units spent so far after every epoch."""
        number = len(self.learners)
        # The gradient is a fixed target, so learning it is Algorithm 1 with one learner and the squared loss: at
        # y^0 = 0 the squared loss of target -g has gradient g.
        learner = NetworkEnsemble(
            self.estimator.build(1, self.x.shape[1], self.z.shape[1], self.random_state + number),
            1,
            Smooth(self.learning_rate),
            "squared",
            0.0,
            self.adam_step,
            self.x.device,
        )
        target = -loss_gradient(self.loss, self.scores, self.z, self.regularization)
        self.learners.append(learner)
        rows = len(self.x) // self.batch_size * self.batch_size
        best, waited = float("inf"), 0
        for _ in range(convergence.longest):
            learner.missed_energy.zero_()
            order = torch.randperm(len(self.x), generator=self.chance, device=self.x.device)[:rows]
            learner.learn(self.x, target, order.view(-1, self.batch_size))
            self.units += batch_units(rows, number + 1)
            yield self.units
            missed = float(learner.missed_energy) / rows
            waited = 0 if missed < best * (1.0 - convergence.tolerance) else waited + 1
            best = min(best, missed)
            if waited == convergence.patience:
                break
        learner.stop_recording()
        self.scores += learner.predict(self.x)

    def predict(self, x: Tensor) -> Tensor:
        """Scores [rows, m] of all networks so far, the one in training included."""
        return torch.stack([learner.predict(x) for learner in self.learners]).sum(0)
