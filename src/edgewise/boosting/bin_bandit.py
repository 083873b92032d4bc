"""BinBandit: k groups of binary learners (Chen, Lin and Lu 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from edgewise.boosting.binary_rounds import run_binary_rounds
from edgewise.boosting.members import Member
from edgewise.boosting.state import PROBABILITY, Ensemble
from edgewise.boosting.stream_bandit import ROUNDS, Exploration, StreamBandit
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.ranges import LogUniform


class BinaryPlan(NamedTuple):
    n_labels: int
    vote: int
    follow: int
    edge: float
    step: float


class BinBandit(StreamBandit):
    """BinBandit."""

    _in_groups = True
    _game: ClassVar[Callable[..., int]] = staticmethod(run_binary_rounds)

    def __init__(
        self,
        estimator: Member | None = None,
        n_estimators: int = 10,
        *,
        edge: float = 0.1,
        exploration: Exploration = 0.05,
        step: float = 0.1,
        max_pending: int = 1000,
        chunk_size: int = ROUNDS,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.edge = edge
        self.exploration = exploration
        self.step = step
        self.max_pending = max_pending
        self.chunk_size = chunk_size
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        tree = HoeffdingTree.preset(
            name, grace_period=(50, 200), split_confidence=LogUniform(1e-11, 0.9), importance_scale=1.0
        )
        return cls(**{"estimator": tree, "exploration": 0.001} | changes)

    def _plan(self, k: int) -> Any:
        return BinaryPlan(k, PROBABILITY, 0, float(self.edge), float(self.step))

    def _new_ensemble(self, plan: Any) -> Ensemble:
        ensemble = super()._new_ensemble(plan)
        n = self.n_estimators
        return ensemble._replace(committee=ensemble.committee._replace(weight=np.full((n, plan.n_labels), 1.0 / n)))
