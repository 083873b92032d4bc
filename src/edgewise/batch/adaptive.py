"""The adaptive boosters, AdaBoost.MM, AdaBoost.MH, AdaBoost.M1 and SAMME, in the framework of weak-learning conditions.

Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Sections 2 to 4.

| paper                            | here                  | meaning                                                  |
|----------------------------------|-----------------------|----------------------------------------------------------|
| T                                | `n_estimators`        | rounds                                                   |
| C_t                              | `costs`               | cost matrix that round t hands out                       |
| eq. (7), with index l for its j  | `pairwise_step`       | C_t of AdaBoost.MM, in `edgewise.theory.cost_matrices`   |
| h_t                              | `asked.votes`         | the weak classifier's answers                            |
| B                                | `_blind`              | a guesser without an edge: the weight of each label      |
| delta_t                          | `edges_`              | edge of h_t on C_t                                       |
| alpha_t                          | `estimator_weights_`  | weight of h_t                                            |
| f_t(i, l)                        | `training.scores`     | weighted votes, eq. (1)                                  |
| (k-1) prod sqrt(1 - delta_t^2)   | `bounds_`             | bound of the training error                              |

Each of these boosters is a pair of the paper's conditions: cost matrices of a certain form, and a baseline B_gamma that
mixes the right answer (gamma) with a blind guess B_0 (1 - gamma), which gives all labels the same weight b: 1/k for
AdaBoost.MM and SAMME (a distribution), 1/2 for AdaBoost.MH and AdaBoost.M1. The largest gamma for which
C . 1_h <= C . B_gamma is then, for all four, one expression:

    edge = 1 - (C . 1_h - C . 1_y) / (C . B_0 - C . 1_y),

which is delta_t of AdaBoost.MM, r_t of AdaBoost.MH and 1 - 2 error of AdaBoost.M1. Weights of
1/2 ln((1 + edge)/(1 - edge)) shrink the booster's loss by sqrt(1 - edge^2) or more in each round, and the loss bounds
the error: the bound falls as the product, from the first loss.

**Weights that go all the way.** Let R be AdaBoost.MM's loss sum_i sum_{l != y} exp(f_l - f_y) before a round, A the
part of it on examples voted right, and B what wrong votes pay, the sum of exp(f_h - f_y) over them. Votes of weight
alpha make of it

    R - A - B + A e^-alpha + B e^alpha,    least at alpha = ln(A/B) / 2, where it is R - (sqrt(A) - sqrt(B))^2.

The paper bounds this by A + B <= R and chooses alpha for A + B = R, given A - B = delta R: ln((1+delta)/(1-delta)) / 2.
A learner of k labels that is often wrong has B far below R - A, since a wrong vote moves one of k - 1 terms; the
minimum then lies at larger weights. It is never above sqrt(1 - delta^2) R, so that the paper's bound holds as well.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from edgewise.batch.booster import BatchBooster, Round, Training
from edgewise.parameters import with_parameters
from edgewise.theory.cost_matrices import first_costs, hamming_step, pairwise_step

# Edges below this are rounding errors of a learner that does no better than blind guessing.
NO_EDGE = 1e-12
# A learner with mistakes has an edge below 1, though their cost may be lost in rounding.
LARGEST_EDGE = 1.0 - 2.0**-53
WEIGHTINGS = ("edge", "loss")


@with_parameters()
class AdaptiveBooster(BatchBooster):
    """The loop: costs, a weak learner, its edge, its weight, new costs.

    It ends after `n_estimators` rounds; when a learner has no edge, which is then left out (the first is kept, alone,
    with weight 1 and the bound 1: a model needs one); or when a learner makes no mistake in training, which gets more
    weight than all before it together, where the formula has an infinite one.

    Parameters
    ----------
    estimator : learner, optional
        The weak learner; None: `CostTree(max_leaves=32)`. For what others must offer, see
        `edgewise.batch.weak_learners`.
    n_estimators : int
        Rounds at most.
    random_state : int or Generator, optional
        For learners that have one.
    """

    estimator: Any = None
    n_estimators: int = 100
    random_state: Any = None

    # cost of a wrong label in the first round
    _wrong_cost: ClassVar[float] = 0.0

    def _right_cost(self, k: int) -> float:
        """Cost of the right label in the first round."""
        return -1.0

    def _blind(self, k: int) -> float:
        """Weight of each label in the baseline without an edge."""
        return 0.5

    def _first_bound(self, k: int) -> float:
        """What bounds the training error before the first round."""
        return 1.0

    def _weight(self, asked: Round, edge: float, k: int) -> tuple[float, float]:
        """alpha_t, and the factor by which the bound shrinks with it."""
        return 0.5 * math.log((1.0 + edge) / (1.0 - edge)), math.sqrt(1.0 - edge**2)

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        """Costs of the next round, times `scale`."""
        hamming_step(costs, labels, voted, scale * math.exp(weight), scale * math.exp(-weight))

    def _boost(self, training: Training) -> None:
        k = training.k
        costs = first_costs(training.labels, training.weights, k, self._right_cost(k), self._wrong_cost)
        bound, bounds, stopped = self._first_bound(k), [], ""
        while not stopped:
            asked = training.ask(costs)
            blind = self._blind(k) * asked.total - asked.right
            edge = 1.0 - (asked.paid - asked.right) / blind
            if asked.n_wrong == 0:
                stopped, edge, bound, weight = "perfect", 1.0, 0.0, sum(training.learner_weights) + 1.0
            elif edge > NO_EDGE:
                edge = min(edge, LARGEST_EDGE)
                weight, factor = self._weight(asked, edge, k)
                bound *= factor
            elif training.learners:
                stopped = "edge"
                break
            else:
                stopped, weight, bound = "edge", 1.0, 1.0
            training.add(asked, edge, weight)
            bounds.append(bound)
            if not stopped and len(bounds) == self.n_estimators:
                stopped = "rounds"
            if not stopped:
                # Only ratios of costs matter; a mass of about 1 keeps them in range.
                self._step(costs, training.labels, asked.votes, weight, 1.0 / blind)
        self.stopped_, self.bounds_ = stopped, np.array(bounds)


@with_parameters()
class AdaBoostMM(AdaptiveBooster):
    """AdaBoost.MM: asks of each learner only an edge over random guessing, on cost matrices that tell mistakes apart.

    After `fit`, for each round: `edges_` (delta_t), `estimator_weights_` (alpha_t), `train_errors_`, and beside them
    `bounds_`, which the training error never exceeds, whatever the learner: (k-1) prod sqrt(1 - delta_t^2), or with
    `weighting="loss"` the loss itself, which is no larger. With `sample_weight` all of these are of the weighted
    training error. `stopped_` says why the run ended: "rounds", "edge" (the next learner had none) or "perfect" (the
    last learner makes no mistake in training). `estimators_` are the learners.

    Parameters
    ----------
    weighting : str
        "edge" for the paper's weights ln((1+delta)/(1-delta)) / 2, "loss" for those at which the exponential loss is
        least (see `edgewise.batch.adaptive`).
    """

    _: KW_ONLY
    weighting: str = "edge"

    _wrong_cost = 1.0

    def _check(self) -> None:
        super()._check()
        if self.weighting not in WEIGHTINGS:
            raise ValueError(f"weighting={self.weighting!r}: one of {', '.join(WEIGHTINGS)} is needed")

    def _right_cost(self, k: int) -> float:
        return 1.0 - k

    def _blind(self, k: int) -> float:
        return 1.0 / k

    def _first_bound(self, k: int) -> float:
        return k - 1.0

    def _weight(self, asked: Round, edge: float, k: int) -> tuple[float, float]:
        if self.weighting == "edge":
            return super()._weight(asked, edge, k)
        wrong, right = asked.missed, asked.missed - asked.paid
        return 0.5 * math.log(right / wrong), 1.0 + (math.sqrt(right) - math.sqrt(wrong)) ** 2 / asked.right

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        pairwise_step(costs, labels, voted, math.exp(weight), math.exp(-weight), scale)


@with_parameters()
class AdaBoostMH(AdaptiveBooster):
    """AdaBoost.MH over weak classifiers that name one label, read as k answers: yes for it, no for the others.

    Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions" (Machine Learning 37, 1999).
    D(i, l) weighs the question whether example i has label l. As a cost matrix it has -D(i, y) for the right label and
    D(i, l) for a wrong one. `edges_` are r_t = 1 - 2 (weighted Hamming error).

    `bounds_` are k/2 times the product of sqrt(1 - r_t^2): the product bounds the mean over examples and labels of
    exp(-Y F), and where the highest score is not the label's, F_l >= F_y, two of the k terms are together at least
    exp(F_l) + exp(-F_y) >= 2. Attributes are those of `AdaBoostMM`.
    """

    _wrong_cost = 1.0

    def _first_bound(self, k: int) -> float:
        return 0.5 * k

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Each label's answer yes has the odds exp(2 F_l), F_l its votes less those for other labels; then shares."""
        answers = 2.0 * scores - self.estimator_weights_.sum()
        yes = 1.0 / (1.0 + np.exp(np.clip(-2.0 * answers, None, 700.0)))
        return yes / yes.sum(axis=1, keepdims=True)


@with_parameters()
class AdaBoostM1(AdaptiveBooster):
    """AdaBoost.M1: asks of each learner a weighted error below 1/2, whatever the number of classes, and stops else.

    Freund and Schapire, "Experiments with a new boosting algorithm" (ICML 1996).
    Every wrong label of an example costs the same, its weight D(i). `edges_` are 1 - 2 error, and `bounds_` the product
    of sqrt(1 - edge^2) = 2 sqrt(error (1 - error)), which the training error never exceeds. Attributes are
    those of `AdaBoostMM`. If the first learner already errs too much, it is kept alone.
    """


@with_parameters()
class SAMME(AdaptiveBooster):
    """SAMME: asks of each learner a weighted error below 1 - 1/k.

    Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost" (Statistics and Its Interface 2, 2009).
    The condition is too weak to drive the training error down (Mukherjee and Schapire 2010, Section 3), so there is no
    bound: `bounds_` are infinite. `edges_` are 1 - error k/(k - 1). Attributes are those of `AdaBoostMM`.
    """

    def _blind(self, k: int) -> float:
        return 1.0 / k

    def _first_bound(self, k: int) -> float:
        return math.inf

    def _weight(self, asked: Round, edge: float, k: int) -> tuple[float, float]:
        error = (1.0 - edge) * (k - 1.0) / k
        return math.log((1.0 - error) / error) + math.log(k - 1.0), 1.0

    def _step(self, costs: np.ndarray, labels: np.ndarray, voted: np.ndarray, weight: float, scale: float) -> None:
        hamming_step(costs, labels, voted, scale * math.exp(weight), scale)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Zhu et al., Section 2.3: log p is the votes up to a constant."""
        return softmax(scores, axis=1)
