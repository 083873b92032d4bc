"""BanditBBM: online multiclass boost-by-majority from right and wrong alone (Zhang, Jung and Tewari 2018, Algorithm 2).

| paper          | here                                                                             |
|----------------|----------------------------------------------------------------------------------|
| rho            | `exploration`                                                                    |
| phi_m^r(s)     | `edgewise.theory.potentials`, exact                                              |
| c-hat_t^i      | random cost vector (5) from the cost matrix (9)                                  |
| gamma          | `edge`, assumed; `edges_` are estimates of the edges that learners showed        |
| 100 of B.3     | `cost_clip`                                                                      |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from edgewise.boosting.bandit_schema import BanditPlan
from edgewise.boosting.members import Member
from edgewise.boosting.state import LABEL_VOTES, POTENTIAL
from edgewise.boosting.stream_bandit import ROUNDS, Exploration, StreamBandit
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.theory.bandit_estimates import ESTIMATES
from edgewise.theory.potentials import Potentials, zero_one_potentials


class BanditBBM(StreamBandit):
    """BanditBBM."""

    def __init__(
        self,
        estimator: Member | Sequence[Member] | None = None,
        n_estimators: int = 20,
        *,
        edge: float = 0.1,
        exploration: Exploration = 0.05,
        estimate: str = "full",
        vote: str = "argmax",
        cost_clip: float | None = None,
        cost_grain: float | None = None,
        importance_bound: float | None = None,
        max_pending: int = 1000,
        chunk_size: int = ROUNDS,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.edge = edge
        self.exploration = exploration
        self.estimate = estimate
        self.vote = vote
        self.cost_clip = cost_clip
        self.cost_grain = cost_grain
        self.importance_bound = importance_bound
        self.max_pending = max_pending
        self.chunk_size = chunk_size
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        settings: dict[str, Any] = {
            "estimator": HoeffdingTree.preset(name, importance_scale=1.0),
            "exploration": 0.001,
            "cost_clip": 100.0,
            "cost_grain": 0.01,
            "importance_bound": 1.0,
        }
        return cls(**settings | changes)

    def _plan(self, k: int) -> Any:
        return BanditPlan(
            n_labels=k,
            rule=POTENTIAL,
            loss=0,
            vote=LABEL_VOTES[self.vote],
            follow=0,
            estimate=ESTIMATES[self.estimate],
            clip=np.inf if self.cost_clip is None else float(self.cost_clip),
            grain=0.0 if self.cost_grain is None else float(self.cost_grain),
            importance_bound=float(k if self.importance_bound is None else self.importance_bound),
            importance_power=1.0,
            normalize_importance=False,
            weight_low=1.0,
            weight_high=1.0,
            full_step=False,
        )

    def _potentials(self, k: int) -> Potentials:
        return zero_one_potentials(k, self.n_estimators, self.edge)
