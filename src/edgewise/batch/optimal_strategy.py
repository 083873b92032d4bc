"""The OS strategy: the boosting game with a known edge, played as well as it can be.

Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Section 4, for the condition (C^eor, U_gamma).

| paper                   | here                                  | meaning                                         |
|-------------------------|---------------------------------------|-------------------------------------------------|
| T                       | `n_estimators`                        | rounds                                          |
| gamma, gamma_t          | `edge`                                | edge asked of the learner, one or one a round   |
| alpha_t                 | `weights`                             | weights fixed in advance                        |
| L                       | `loss`                                | "zero_one" (a tie is an error) or "exponential" |
| phi_t(s), eq. (4)       | `potentials`, `exponential_potential` | in `edgewise.theory`                            |
| Theorem 5, eq. (5), (6) | `zero_one_costs`, `prescribed_costs`  | in `edgewise.theory.cost_matrices`              |
| Theorem 4               | `potentials_`                         | average potential before and after each round   |

Equation (5) is equation (6) with weights eta: exp(eta s) of vote counts s is exp(f) of weighted votes f.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from edgewise.batch.booster import BatchBooster, Training
from edgewise.parameters import with_parameters
from edgewise.theory.cost_matrices import (
    best_weight,
    first_costs,
    kappa,
    leaf_counters,
    pairwise_step,
    potential_mass,
    prescribed_costs,
    zero_one_costs,
)
from edgewise.theory.potential_tables import zero_one_potentials

LOSSES = ("zero_one", "exponential")


@with_parameters()
class OptimalStrategy(BatchBooster):
    """Boosting for a learner that keeps an edge of `edge` over random guessing for `n_estimators` rounds.

    After `fit`: `potentials_`, the average potential before the first round and after each one. Its first entry is the
    loss that Theorem 4 promises, its last the training loss. It never rises in a round in which the learner keeps the
    edge; `edges_` are the edges that the learners had on their costs, and `met_` says where that was enough. All rounds
    are played, whether or not it was. `train_errors_` after each round; `estimator_weights_`; `estimators_`. With
    `sample_weight`, averages are weighted. With the 0-1 loss play ends before T rounds when no further vote can matter:
    `stopped_` is then "decided", else "rounds".

    Parameters
    ----------
    estimator : learner, optional
        As in `AdaBoostMM`.
    n_estimators : int
        Number of rounds T.
    edge : float or list of floats
        gamma, how much better than random guessing the learners are taken to be; with the exponential loss one for
        all rounds or one for each.
    loss : str
        "zero_one": exact potentials of the 0-1 loss, every vote counts 1; "exponential": costs (6).
    weights : float or list of floats, optional
        Weights alpha_t of the votes with the exponential loss; None: those for which kappa(gamma_t, alpha_t) is least.
    random_state : int or Generator, optional
        As in `AdaBoostMM`.
    """

    estimator: Any = None
    n_estimators: int = 100
    edge: float | Sequence[float] = 0.1
    _: KW_ONLY
    loss: str = "zero_one"
    weights: float | Sequence[float] | None = None
    random_state: Any = None

    def _check(self) -> None:
        super()._check()
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r}: one of {', '.join(LOSSES)} is needed")
        edges = _per_round("edge", self.edge, self.n_estimators)
        if not ((edges > 0.0) & (edges < 1.0)).all():
            raise ValueError(f"edge={self.edge!r}: the edge gamma lies strictly between 0 and 1")
        if self.loss == "zero_one":
            if np.ndim(self.edge) > 0:
                raise ValueError(f"edge={self.edge!r}: a sequence of edges needs loss='exponential'")
            if self.weights is not None:
                raise ValueError(f"weights={self.weights!r}: with loss='zero_one' every vote counts 1")
        elif self.weights is not None:
            alphas = _per_round("weights", self.weights, self.n_estimators)
            if not (np.isfinite(alphas) & (alphas > 0.0)).all():
                raise ValueError(f"weights={self.weights!r}: weights of votes are finite and above 0")

    def _boost(self, training: Training) -> None:
        asked_edges = _per_round("edge", self.edge, self.n_estimators)
        play: _ZeroOne | _Exponential
        if self.loss == "zero_one":
            play = _ZeroOne(training, self.n_estimators, asked_edges[0])
        else:
            alphas = np.array([best_weight(training.k, edge) for edge in asked_edges])
            if self.weights is not None:
                alphas = _per_round("weights", self.weights, self.n_estimators)
            play = _Exponential(training, asked_edges, alphas)
        potentials = [play.potential(0)]
        stopped = "rounds"
        for t in range(self.n_estimators):
            costs = play.costs(t)
            if t > 0 and not costs.any():
                stopped = "decided"
                break
            asked = training.ask(costs)
            blind = asked.total / training.k - asked.right
            edge = 1.0 - (asked.paid - asked.right) / blind if blind > 0.0 else 1.0
            training.add(asked, edge, play.alphas[t])
            play.step(t, asked.votes)
            potentials.append(play.potential(t + 1))
        self.stopped_, self.potentials_ = stopped, np.array(potentials)
        self.met_ = np.array(training.edges) >= asked_edges[: len(training.edges)]

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """0-1 loss: shares of the votes. Exponential: as for `AdaBoostMM`."""
        if self.loss == "zero_one":
            return scores / scores.sum(axis=1, keepdims=True)
        return super()._probabilities(scores)


class _ZeroOne:
    """Theorem 5 with the 0-1 loss: costs are potentials of the states after each vote."""

    def __init__(self, training: Training, rounds: int, edge: float) -> None:
        self.training, self.rounds = training, rounds
        self.alphas = np.ones(rounds)
        self._tables = zero_one_potentials(training.k, rounds, edge)
        self._costs = np.zeros_like(training.scores)

    def costs(self, t: int) -> np.ndarray:
        data, to_go = self.training, self.rounds - t - 1
        zero_one_costs(self._tables, to_go, data.scores, data.labels, data.weights, self._costs)
        return self._costs

    def step(self, t: int, voted: np.ndarray) -> None:
        """Nothing: the scores are all that a state has."""

    def potential(self, played: int) -> float:
        """The average potential after so many rounds."""
        data = self.training
        return float(potential_mass(self._tables, self.rounds - played, data.scores, data.labels, data.weights))


class _Exponential:
    """Equation (6): the pairwise costs (7) of the scores so far, times factors of the weight of the coming vote."""

    def __init__(self, training: Training, edges: np.ndarray, alphas: np.ndarray) -> None:
        k, self.labels, self.alphas = training.k, training.labels, alphas
        self._pairwise = first_costs(self.labels, training.weights, k, 1.0 - k, 1.0)
        self._costs = np.zeros_like(self._pairwise)
        # log of the product of kappa over the rounds to go, from the first round on
        growths = np.log([kappa(k, edge, alpha) for edge, alpha in zip(edges, alphas, strict=True)])
        self._to_come = np.append(np.cumsum(growths[::-1])[::-1], 0.0)
        self._log_scale = 0.0  # the matrix is kept at a mass of about 1

    def costs(self, t: int) -> np.ndarray:
        alpha = self.alphas[t]
        prescribed_costs(self._pairwise, self.labels, math.expm1(alpha), -math.expm1(-alpha), self._costs)
        return self._costs

    def step(self, t: int, voted: np.ndarray) -> None:
        alpha, mass = self.alphas[t], self._mass()
        pairwise_step(self._pairwise, self.labels, voted, math.exp(alpha), math.exp(-alpha), 1.0 / mass)
        self._log_scale += math.log(mass)

    def potential(self, played: int) -> float:
        """Lemma 1 with a sequence of edges: the loss times the product of kappa over the rounds to go."""
        return self._mass() * math.exp(self._log_scale + self._to_come[played])

    def _mass(self) -> float:
        """Weighted sum over examples and wrong labels of exp(f_l - f_y), up to the scale."""
        _, right, _, _, _ = leaf_counters(self._pairwise, self.labels, self.labels)
        return -right


def _per_round(name: str, value: Any, rounds: int) -> np.ndarray:
    """One number for each round: `value` itself, or the same number for all."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full((0, 0), 0.0)
    if numbers.ndim == 0:
        return np.full(rounds, float(numbers))
    if numbers.shape != (rounds,):
        raise ValueError(f"{name}={value!r}: a number, or one for each of the {rounds} rounds, is needed")
    return numbers
