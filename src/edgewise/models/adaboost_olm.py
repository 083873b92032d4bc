"""Adaboost.OLM: adaptive online multiclass boosting (Jung, Goetz and Tewari 2017, Algorithm 2).

| paper     | here                                                             |
|-----------|------------------------------------------------------------------|
| C_t^i     | cost rows of `edgewise.theory.losses`                            |
| alpha_t^i | learner weight, by online gradient descent                       |
| v_t^i     | expert weight exp(-mistakes), Hedge                              |
| w^i(t)    | importance -C(y, y)/(k - 1) (the printed line 14 is a misprint)  |
| gamma_i   | `edges_`, sum C(y, vote) / sum C(y, y)                           |

The defaults are not the paper's setting but the one that our experiments found best (benchmarks/README.md); the
paper's is `AdaBoostOLM.preset("paper")`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from edgewise.learners.hoeffding_tree import HoeffdingTree, eager_tree
from edgewise.learners.label_memory import LabelMemory
from edgewise.learners.linear import SoftmaxRegression
from edgewise.loop.edges import adaptive_edges
from edgewise.loop.members import Member
from edgewise.loop.state import GRADIENT, VOTES, Plan
from edgewise.models.stream_classifier import StreamClassifier, softmax
from edgewise.models.stream_ensemble import CHUNK_ROWS
from edgewise.theory.bounds import Bound, adaptive_bound
from edgewise.theory.experts import DRAW, FOLLOW
from edgewise.theory.losses import LOSSES, feasible

EAGER_TREE = eager_tree(max_features=0.7)
# What became of the recipe on six data sets, reported on seven others: benchmarks/results/study.md.
# 1/4 is the largest curvature that the loss of two labels has. Inputs beyond the first 240 take small AdaGrad steps:
# products are many, and with larger steps one example would settle all scores.
LINEAR = SoftmaxRegression(step=0.02, newton=240, curvature=0.25, reach=None)
WITH_PRODUCTS = SoftmaxRegression(step=0.02, products=500, newton=240)
MOST_EAGER_TREE = HoeffdingTree(**EAGER_TREE.get_params() | {"tie_threshold": 0.9, "max_features": 0.6})


class AdaBoostOLM(StreamClassifier):
    """Adaboost.OLM: needs no knowledge of the learners' edges, and weighs the learners by what they show.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up. None: two linear learners that take Newton steps,
        of which the second has products of columns as well, then eager warm-started trees on random feature subsets.
    n_estimators : int
        Number of weak learners N; time and memory grow with it. Over 13 data sets, 30 learners took .37 of the time and
        made 2% more mistakes, 10 took a fifth and made 9% more (benchmarks/results/study.md).
    loss : str
        "softmax", "logistic" (the paper's Section 4), "exponential" or "square_hinge" (Appendix D).
    vote : str
        "probability": learners vote with their probabilities; "argmax": for their likeliest label; "cost": for the
        label they expect to cost least, as in the paper.
    follow : str
        "vote": the experts' weighted vote decides; "draw": Hedge draws the expert to follow in each round, as in
        the paper; "best": the expert with the fewest mistakes so far.
    single_experts : bool
        Whether every learner alone is an expert too: Hedge then follows 2N experts, the first i learners together for
        every i, then each learner alone.
    importance_power : float
        Importances are raised to this power; 1 in the paper.
    normalize_importance : bool
        Whether importances are divided by their mean so far, learner by learner.
    weight_range : pair of floats, optional
        Feasible set F of the learner weights; None for the paper's, which depends on the loss.
    first_weight : float
        Learner weights before the first round; 0 in the paper.
    calibrate : bool
        Whether scores are multiplied by a factor, learned from what was predicted, that makes their softmax a
        probability. Predicted labels are the same.
    drift : str, optional
        "restart": for streams that change. Trees whose error rises begin anew (`restarts_`), and, with the default
        learners, a memory of the last labels votes as well, and the first linear learner takes AdaGrad steps. None:
        the stream is taken to stay the same.
    max_bytes : int, optional
        Most bytes that the model may take; at the limit, leaves that promise little give up their statistics
        (docs/how-to/memory.md). None: no limit.
    chunk_size : int
        Rows that go through the learners together; never changes a result.
    n_jobs : int, optional
        Threads that learners are shared out to, -1 for one on each core; never changes a result
        (docs/how-to/threads.md).
    random_state : int or Generator, optional
        Seed, or numpy Generator.
    """

    def __init__(
        self,
        estimator: Member | Sequence[Member] | None = None,
        n_estimators: int = 100,
        *,
        loss: str = "softmax",
        vote: str = "probability",
        follow: str = "vote",
        single_experts: bool = False,
        importance_power: float = 0.7,
        normalize_importance: bool = True,
        weight_range: tuple[float, float] | None = (0.0, 4.0),
        first_weight: float = 0.1,
        calibrate: bool = True,
        drift: str | None = None,
        max_bytes: int | None = None,
        chunk_size: int = CHUNK_ROWS,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.vote = vote
        self.follow = follow
        self.single_experts = single_experts
        self.importance_power = importance_power
        self.normalize_importance = normalize_importance
        self.weight_range = weight_range
        self.first_weight = first_weight
        self.calibrate = calibrate
        self.drift = drift
        self.max_bytes = max_bytes
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The authors' setting: their trees, the paper's algorithm to the letter, cost-sensitive votes.

        Parameters
        ----------
        name : str
            Name of the setting: "paper".
        **changes : any
            Parameters of the constructor that differ from it.

        Returns
        -------
        model
            A new model with this setting.
        """
        settings: dict[str, Any] = {
            "estimator": HoeffdingTree.preset(name),
            "loss": "logistic",
            "vote": "cost",
            "follow": "draw",
            "importance_power": 1.0,
            "normalize_importance": False,
            "weight_range": None,
            "first_weight": 0.0,
            "calibrate": False,
        }
        return cls(**settings | changes)

    def _default_estimator(self) -> Member | Sequence[Member]:
        # AdaGrad's steps shrink with the root of the examples' number, Newton's with the number: too soon under drift.
        first = [SoftmaxRegression(), LabelMemory()] if self.drift == "restart" else [LINEAR]
        return [*first, WITH_PRODUCTS, MOST_EAGER_TREE]

    def _check(self) -> None:
        super()._check()
        for name, allowed in (("loss", LOSSES), ("vote", VOTES), ("follow", FOLLOW)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r}: one of {', '.join(allowed)}")
        if self.drift not in (None, "restart"):
            raise ValueError(f"drift={self.drift!r}: 'restart' or None")
        if not self.importance_power > 0.0:
            raise ValueError(f"importance_power={self.importance_power!r}: a positive number")
        low, high = self._weight_range()
        if not low < high:
            raise ValueError(f"weight_range={self.weight_range!r}: a (low, high) pair with low < high, or None")
        if not low <= self.first_weight <= high:
            raise ValueError(f"first_weight={self.first_weight!r}: a number in [{low}, {high}], the weight range")

    def _weight_range(self) -> tuple[float, float]:
        if self.weight_range is not None:
            return self.weight_range
        width = feasible(LOSSES[self.loss], self.n_estimators)
        return -width, width

    def _bounded_range(self) -> tuple[float, float]:
        """The weight range as the theorems know it: none (NaN) where they do not cover it."""
        covered = self.weight_range is None or self.loss in ("softmax", "logistic")
        return self._weight_range() if covered else (math.nan, math.nan)

    def _plan(self, k: int) -> Plan:
        low, high = self._weight_range()
        return Plan(
            n_labels=k,
            rule=GRADIENT,
            loss=LOSSES[self.loss],
            vote=VOTES[self.vote],
            follow=FOLLOW[self.follow],
            importance_bound=1.0,
            importance_power=float(self.importance_power),
            normalize_importance=bool(self.normalize_importance),
            weight_low=float(low),
            weight_high=float(high),
            restart=self.drift == "restart",
            calibrate=bool(self.calibrate),
            single_experts=bool(self.single_experts),
        )

    def _n_experts(self) -> int:
        return 2 * self.n_estimators if self.single_experts else self.n_estimators

    def _first_weight(self) -> float:
        return self.first_weight

    def _draws(self, plan: Plan) -> int:
        return 1 if plan.follow == DRAW else 0

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        return softmax(decisions)

    @property
    def edges_(self) -> np.ndarray:
        """Empirical edges gamma_i of the learners (Section 4.2); 0 before the first round."""
        return self._each(lambda committee: adaptive_edges(committee.costs))

    @property
    def expert_weights_(self) -> np.ndarray:
        """Hedge weights of the experts, in the order of `expert_mistakes_`, as probabilities of being followed."""
        return self._each(lambda committee: softmax(-committee.mistakes[None, :])[0])

    def bound(self) -> Bound:
        """What Theorem 5 (12, 13 for the other losses) says of this run, beside the mistakes made.

        It speaks of examples of weight 1 (docs/theory.md). The exponential and the square hinge loss have a theorem
        only for the paper's weight range.

        Returns
        -------
        Bound
            What is allowed beside what was made; printing it tells both.
        """
        self._started()
        return adaptive_bound(
            self.loss,
            follow=self.follow,
            weight_range=self._bounded_range(),
            k=self.classes_.size,
            rounds=self.rounds_,
            edges=self.edges_,
            mistakes=self.mistakes_,
            best_expert=float(self.expert_mistakes_.min()),
            n_experts=self.expert_mistakes_.size,
        )
