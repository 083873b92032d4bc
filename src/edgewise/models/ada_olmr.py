"""Ada.OLMR: adaptive online boosting for multi-label ranking (Jung and Tewari 2018, Algorithm 3).

| paper     | here                                                                       |
|-----------|----------------------------------------------------------------------------|
| c_t^i     | gradient (8) of the pairwise logistic loss, `edgewise.theory.ranking_losses` |
| alpha_t^i | learner weight, by online gradient descent with steps 1/sqrt(t)            |
| v_t^i     | expert weight exp(-rank loss), Hedge                                       |
| w^i[t]    | minus the costs of the relevant labels, (9)                                |
| gamma_i   | `edges_`, (10)                                                             |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.loop.members import Member
from edgewise.loop.ranking_state import DRAWN, RANKING_FOLLOW, RankingPlan
from edgewise.loop.state import GRADIENT
from edgewise.models.stream_classifier import softmax
from edgewise.models.stream_ensemble import CHUNK_ROWS
from edgewise.models.stream_ranker import StreamRanker
from edgewise.theory.ranking_bounds import RankBound, adaptive_rank_bound

FEASIBLE = 2.0  # half-width of F


class AdaOLMR(StreamRanker):
    """Ada.OLMR: needs no knowledge of the learners' edges, and weighs the learners by what they show.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up. None: softmax regression, a logistic regression per
        label, then eager warm-started trees on 20 random features each.
    n_estimators : int
        Number of weak learners N.
    vote : str or list of str, optional
        Format of the votes: "label" (the likeliest), "set" (the labels with more than an even share, or those that
        a binary learner finds likelier than not) or "distribution"; a list gives each learner its own, the last
        fills up. None: distributions.
    follow : str
        "draw": Hedge draws the expert to follow in each round, as in the paper; "mean": the mean of the experts'
        scores, by Hedge's weights; "best": the expert of least loss so far. `decision_function` never draws: it
        takes the mean for "draw".
    normalize_importance : bool
        Whether importances are divided by their mean so far, learner by learner; not in the paper.
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
        vote: str | Sequence[str] | None = None,
        follow: str = "draw",
        normalize_importance: bool = True,
        max_bytes: int | None = None,
        chunk_size: int = CHUNK_ROWS,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.vote = vote
        self.follow = follow
        self.normalize_importance = normalize_importance
        self.max_bytes = max_bytes
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        if self.follow not in RANKING_FOLLOW:
            raise ValueError(f"follow={self.follow!r}: one of {', '.join(RANKING_FOLLOW)}")

    def _plan(self, k: int) -> RankingPlan:
        normalized = bool(self.normalize_importance)
        return RankingPlan(k, GRADIENT, RANKING_FOLLOW[self.follow], normalized, -FEASIBLE, FEASIBLE)

    def _first_weight(self) -> float:
        return 0.0

    def _draws(self, plan: RankingPlan) -> int:
        return 1 if plan.follow == DRAWN else 0

    @property
    def expert_losses_(self) -> np.ndarray:
        """Rank loss of each expert, the first i learners together, summed over rounds."""
        return self._each(lambda committee: committee.losses.copy())

    @property
    def expert_weights_(self) -> np.ndarray:
        """Hedge weights of the experts, as probabilities of being followed."""
        return softmax(-self.expert_losses_[None, :])[0]

    def bound(self) -> RankBound:
        """What Theorem 5 (corrected: docs/theory.md) says of this run, beside the rank loss suffered.

        It speaks of examples of weight 1. Only `follow="draw"` has a bound; the best expert always has one.

        Returns
        -------
        RankBound
            What is allowed beside what was suffered; printing it tells both.
        """
        self._started()
        return adaptive_rank_bound(
            follow=self.follow,
            rounds=self.rounds_,
            loss=self.rank_loss_,
            edges=self.edges_,
            expert_losses=self.expert_losses_,
        )
