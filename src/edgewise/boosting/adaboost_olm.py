"""Adaboost.OLM: adaptive online multiclass boosting (Jung, Goetz and Tewari 2017, Algorithm 2).

| paper     | here                                                             |
|-----------|------------------------------------------------------------------|
| C_t^i     | cost rows of `edgewise.theory.losses`                            |
| alpha_t^i | learner weight, by online gradient descent                       |
| v_t^i     | expert weight exp(-mistakes), Hedge                              |
| w^i(t)    | importance -C(y, y)/(k - 1) (the printed line 14 is a misprint)  |
| gamma_i   | `edges_`, sum C(y, vote) / sum C(y, y)                           |
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from edgewise.boosting.schema import GRADIENT, OF_RIGHT, OF_VOTE, VOTES, Plan
from edgewise.boosting.stream_classifier import CHUNK_ROWS, StreamClassifier, softmax
from edgewise.learners.given_votes import GivenVotes
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.theory.bounds import Bound, adaptive_bound
from edgewise.theory.experts import DRAW, FOLLOW
from edgewise.theory.losses import LOSSES


class AdaBoostOLM(StreamClassifier):
    """Adaboost.OLM: needs no knowledge of the learners' edges, and weighs the learners by what they show.

    Parameters
    ----------
    estimator : the weak learner; a `HoeffdingTree` (default settings if None).
    n_estimators : number of weak learners N.
    loss : "logistic" (the paper's Section 4), "exponential" or "square_hinge" (Appendix D).
    vote : "argmax": a learner votes its likeliest label; "cost": the label it expects to cost least, as in the paper.
    follow : "draw": Hedge draws the expert to follow in each round; "vote": the experts' weighted vote.
    chunk_size : rows that go through the learners together; never changes a result.
    random_state : seed, or numpy Generator.
    """

    def __init__(
        self,
        estimator: HoeffdingTree | GivenVotes | None = None,
        n_estimators: int = 100,
        *,
        loss: str = "logistic",
        vote: str = "argmax",
        follow: str = "draw",
        chunk_size: int = CHUNK_ROWS,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.vote = vote
        self.follow = follow
        self.chunk_size = chunk_size
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The authors' setting: their trees, and cost-sensitive votes."""
        settings: dict[str, Any] = {"estimator": HoeffdingTree.preset(name), "vote": "cost"}
        return cls(**settings | changes)

    def _check(self) -> None:
        super()._check()
        for name, allowed in (("loss", LOSSES), ("vote", VOTES), ("follow", FOLLOW)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r}: one of {', '.join(allowed)}")

    def _plan(self, k: int) -> Plan:
        return Plan(k, GRADIENT, LOSSES[self.loss], VOTES[self.vote], FOLLOW[self.follow], 1.0)

    def _first_weight(self) -> float:
        return 0.0

    def _draws(self, plan: Plan) -> int:
        return 1 if plan.follow == DRAW else 0

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        return softmax(decisions)

    @property
    def edges_(self) -> np.ndarray:
        """Empirical edges gamma_i of the learners (Section 4.2); 0 before the first round."""
        self._started()
        costs = self._ensemble.committee.costs
        return np.divide(
            costs[:, OF_VOTE], costs[:, OF_RIGHT], out=np.zeros(len(costs)), where=costs[:, OF_RIGHT] < 0.0
        )

    @property
    def expert_weights_(self) -> np.ndarray:
        """Hedge weights of the experts, as probabilities of being followed."""
        self._started()
        return softmax(-self._ensemble.committee.mistakes[None, :])[0]

    def bound(self) -> Bound:
        """What Theorem 5 (12, 13 for the other losses) says of this run, beside the mistakes made."""
        return adaptive_bound(
            self.loss,
            k=self.classes_.size,
            rounds=self.rounds_,
            edges=self.edges_,
            mistakes=self.mistakes_,
            best_expert=float(self.expert_mistakes_.min()),
        )
