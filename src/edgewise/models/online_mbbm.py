"""OnlineMBBM: online multiclass boost-by-majority (Jung, Goetz and Tewari 2017, Algorithm 1).

| paper      | here                                                          |
|------------|---------------------------------------------------------------|
| phi_m^r(s) | `edgewise.theory.potentials`, exact                           |
| D_t^i      | normalized costs (5), for cost-sensitive votes                |
| w^i(t)     | importance, from two potentials                               |
| w^{i*}     | `importance_bound`; k is valid for every learner              |
| gamma      | `edge`, assumed; `edges_` are the edges that learners showed  |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.loop.edges import majority_edges
from edgewise.loop.members import Member
from edgewise.loop.state import COST, LABEL_VOTES, OF_VOTE, POTENTIAL, Plan
from edgewise.models.stream_classifier import StreamClassifier
from edgewise.models.stream_ensemble import CHUNK_ROWS
from edgewise.theory.bounds import Bound, majority_bound
from edgewise.theory.potential_tables import COST_MEMO_BITS, Potentials, zero_one_potentials


class OnlineMBBM(StreamClassifier):
    """OnlineMBBM: optimal when every learner has the given edge; votes count alike, the majority decides.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up; a `HoeffdingTree` if None.
    n_estimators : int
        Number of weak learners N.
    edge : float
        gamma in (0, 1), how much better than random guessing the learners are taken to be.
    vote : str
        "argmax": a learner votes its likeliest label; "cost": the label it expects to cost least (slower).
    importance_bound : float, optional
        Divides the importances; None for the number of classes, which brings them into [0, 1].
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
        edge: float = 0.1,
        vote: str = "argmax",
        importance_bound: float | None = None,
        max_bytes: int | None = None,
        chunk_size: int = CHUNK_ROWS,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.edge = edge
        self.vote = vote
        self.importance_bound = importance_bound
        self.max_bytes = max_bytes
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The authors' setting: their importances are not divided by k, and their per-tree factors by 10.

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
        tree = HoeffdingTree.preset(name, importance_scale=(0.5, 20.0))
        settings: dict[str, Any] = {"estimator": tree, "vote": "cost", "importance_bound": 1.0}
        return cls(**settings | changes)

    def _check(self) -> None:
        super()._check()
        if self.vote not in LABEL_VOTES:
            raise ValueError(f"vote={self.vote!r}: one of {', '.join(LABEL_VOTES)}")
        if not 0.0 < self.edge < 1.0:
            raise ValueError(f"edge={self.edge!r}: a number in (0, 1)")
        if self.importance_bound is not None and not self.importance_bound > 0.0:
            raise ValueError(f"importance_bound={self.importance_bound!r}: a positive number, or None")

    def _plan(self, k: int) -> Plan:
        bound = float(k if self.importance_bound is None else self.importance_bound)
        return Plan(k, POTENTIAL, 0, LABEL_VOTES[self.vote], 0, bound, 1.0, False, 1.0, 1.0, False)

    def _potentials(self, k: int) -> Potentials:
        if LABEL_VOTES[self.vote] == COST:
            return zero_one_potentials(k, self.n_estimators, self.edge, COST_MEMO_BITS)
        return zero_one_potentials(k, self.n_estimators, self.edge)

    @property
    def edges_(self) -> np.ndarray:
        """The edge that would make each learner's weighted cost equal to (1): gamma_i = 1 - k sum(w D) / sum(w)."""
        self._started()
        committee = self._ensemble.committee
        return majority_edges(committee.costs, committee.importance, self.classes_.size)

    @property
    def expert_weights_(self) -> np.ndarray:
        """All weight is on the last expert."""
        self._started()
        return np.eye(self._ensemble.learners.kind.size)[-1]

    def bound(self) -> Bound:
        """What Theorem 2 and Corollary 3 say of this run, beside the mistakes made; for examples of weight 1.

        Returns
        -------
        Bound
            What is allowed beside what was made; printing it tells both.
        """
        self._started()
        committee = self._ensemble.committee
        return majority_bound(
            k=self.classes_.size,
            n_learners=committee.importance.size,
            edge=self.edge,
            rounds=self.rounds_,
            vote_costs=committee.costs[:, OF_VOTE],
            importances=committee.importance,
            mistakes=self.mistakes_,
        )
