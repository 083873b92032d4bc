"""Online boosting by Poisson sampling (Oza 2005, "Online bagging and boosting", Figure 2): the papers' OLB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.loop.members import Member
from edgewise.loop.state import ARGMAX, POISSON, RIGHT, WRONG, Plan
from edgewise.models.stream_classifier import StreamClassifier
from edgewise.models.stream_ensemble import CHUNK_ROWS


class OzaBoost(StreamClassifier):
    """Oza's online boosting: each learner sees Poisson(lambda) copies, lambda grows where earlier learners err.

    Learners that are wrong more often than right do not vote, as in AdaBoost.M1.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up; a `HoeffdingTree` if None.
    n_estimators : int
        Number of weak learners N.
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
        max_bytes: int | None = None,
        chunk_size: int = CHUNK_ROWS,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_bytes = max_bytes
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _plan(self, k: int) -> Plan:
        return Plan(k, POISSON, 0, ARGMAX, 0, 1.0, 1.0, False, 0.0, 0.0, False)

    def _first_weight(self) -> float:
        return 0.0

    def _draws(self, plan: Plan) -> int:
        return self._ensemble.learners.kind.size

    @property
    def edges_(self) -> np.ndarray:
        """Edge over random guessing of each learner on its weighted examples: (k accuracy - 1)/(k - 1)."""
        self._started()
        right, wrong = self._ensemble.committee.costs[:, RIGHT], self._ensemble.committee.costs[:, WRONG]
        k = self.classes_.size
        share = np.divide(right, right + wrong, out=np.full(right.size, 1.0 / k), where=right + wrong > 0.0)
        return (k * share - 1.0) / (k - 1.0)
