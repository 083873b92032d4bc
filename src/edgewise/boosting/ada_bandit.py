"""AdaBandit: adaptive online multiclass boosting from right and wrong alone (Zhang, Jung and Tewari 2018, Algorithm 3).

| paper          | here                                                                             |
|----------------|----------------------------------------------------------------------------------|
| rho            | `exploration`                                                                    |
| l-hat^{0-1}    | estimate (4) of `edgewise.theory.bandit_estimates`, or (3): `estimate="simple"`  |
| c-hat_t^i      | random cost vector (5) from the cost matrix (10)                                 |
| alpha_t^i      | learner weight, by stochastic gradient descent (11)                              |
| v_t^i          | expert weight exp(-estimated mistakes), Hedge                                    |
| gamma_i        | `edges_`, estimated: both sums of its definition are                             |
| 100 of B.3     | `cost_clip`                                                                      |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from edgewise.boosting.adaboost_olm import CALM_TREE, EAGER_TREE
from edgewise.boosting.bandit_schema import BanditPlan
from edgewise.boosting.members import Member
from edgewise.boosting.state import GRADIENT, OF_RIGHT, OF_VOTE, VOTES, Committee
from edgewise.boosting.stream_bandit import ROUNDS, Exploration, StreamBandit
from edgewise.boosting.stream_classifier import softmax
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.linear import SoftmaxRegression
from edgewise.theory.bandit_estimates import ESTIMATES
from edgewise.theory.experts import FOLLOW
from edgewise.theory.losses import LOSSES

BANDIT_LOSSES = ("logistic", "softmax")


class AdaBandit(StreamBandit):
    """AdaBandit.

    Parameters
    ----------
    """

    def __init__(
        self,
        estimator: Member | Sequence[Member] | None = None,
        n_estimators: int = 20,
        *,
        exploration: Exploration = 0.05,
        estimate: str = "full",
        loss: str = "softmax",
        vote: str = "probability",
        follow: str = "vote",
        step: str = "full",
        cost_clip: float | None = None,
        cost_grain: float | None = None,
        importance_power: float = 0.5,
        normalize_importance: bool = True,
        weight_range: tuple[float, float] = (0.0, 4.0),
        first_weight: float = 0.1,
        max_pending: int = 1000,
        chunk_size: int = ROUNDS,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.exploration = exploration
        self.estimate = estimate
        self.loss = loss
        self.vote = vote
        self.follow = follow
        self.step = step
        self.cost_clip = cost_clip
        self.cost_grain = cost_grain
        self.importance_power = importance_power
        self.normalize_importance = normalize_importance
        self.weight_range = weight_range
        self.first_weight = first_weight
        self.max_pending = max_pending
        self.chunk_size = chunk_size
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        settings: dict[str, Any] = {
            "estimator": HoeffdingTree.preset(name, importance_scale=1.0),
            "loss": "logistic",
            "vote": "argmax",
            "follow": "draw",
            "step": "theory",
            "exploration": 0.001,
            "cost_clip": 100.0,
            "cost_grain": 0.01,
            "importance_power": 1.0,
            "normalize_importance": False,
            "weight_range": (-2.0, 2.0),
            "first_weight": 0.0,
        }
        return cls(**settings | changes)

    def _default_estimator(self) -> Member | Sequence[Member]:
        return [SoftmaxRegression(), CALM_TREE, EAGER_TREE]

    def _plan(self, k: int) -> Any:
        return BanditPlan(
            n_labels=k,
            rule=GRADIENT,
            loss=LOSSES[self.loss],
            vote=VOTES[self.vote],
            follow=FOLLOW[self.follow],
            estimate=ESTIMATES[self.estimate],
            clip=np.inf if self.cost_clip is None else float(self.cost_clip),
            grain=0.0 if self.cost_grain is None else float(self.cost_grain),
            importance_bound=1.0,
            importance_power=float(self.importance_power),
            normalize_importance=bool(self.normalize_importance),
            weight_low=float(self.weight_range[0]),
            weight_high=float(self.weight_range[1]),
            full_step=self.step == "full",
        )

    def _first_weight(self) -> float:
        return self.first_weight

    @property
    def edges_(self) -> np.ndarray:
        def edges(committee: Committee) -> np.ndarray:
            of_vote, of_right = committee.costs[:, OF_VOTE], committee.costs[:, OF_RIGHT]
            return np.divide(of_vote, of_right, out=np.zeros(len(of_vote)), where=of_right < 0.0)

        return self._each(edges)

    @property
    def expert_weights_(self) -> np.ndarray:
        return self._each(lambda committee: softmax(-committee.mistakes[None, :])[0])
