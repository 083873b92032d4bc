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

from edgewise.loop.bandit_loop import BanditPlan
from edgewise.loop.edges import majority_edges
from edgewise.loop.members import Member
from edgewise.loop.state import LABEL_VOTES, OF_VOTE, POTENTIAL
from edgewise.models.bandit_trees import bandit_tree
from edgewise.models.stream_bandit import ROUNDS, Exploration, StreamBandit, cost_limits
from edgewise.models.stream_classifier import shares_of
from edgewise.theory.bandit_bounds import bandit_majority_bound, excess_noise, theory_rate
from edgewise.theory.bandit_estimates import ESTIMATES
from edgewise.theory.bounds import Bound
from edgewise.theory.potential_tables import COST_MEMO_BITS, Potentials, zero_one_potentials


class BanditBBM(StreamBandit):
    """BanditBBM: optimal when every learner has the given edge; votes count alike, the majority is the guess.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up; a `HoeffdingTree` if None.
    n_estimators : int
        Number of weak learners N.
    edge : float
        gamma in (0, 1), how much better than random guessing the learners are taken to be.
    exploration : float, str or callable
        The rate rho in (0, 1) at which another label than the guess is shown; "decaying": the rate that the text
        after Theorem 3.2 sets; or a function of the number of the decision, from 1.
    estimate : str
        "full": estimate (4) of the 0-1 loss; "simple": (3), by which nothing is learned from a mistake.
    vote : str
        "argmax": a learner votes its likeliest label; "cost": the label it expects to cost least (slower).
    cost_clip : float, optional
        Largest cost, or None; 100 in the paper.
    cost_grain : float, optional
        Costs are rounded to a multiple of this, or None.
    importance_bound : float
        Divides the importances: sums of differences of potentials, which trees find light.
    max_pending : int
        Decisions that may wait for feedback; the oldest expire.
    max_bytes : int, optional
        Most bytes that the model may take; at the limit, leaves that promise little give up their statistics
        (docs/how-to/memory.md). None: no limit.
    chunk_size : int
        Rounds that one compiled call plays; never changes a result.
    random_state : int or Generator, optional
        Seed, or numpy Generator.
    """

    def __init__(
        self,
        estimator: Member | Sequence[Member] | None = None,
        n_estimators: int = 20,
        *,
        edge: float = 0.1,
        exploration: Exploration = 0.001,
        estimate: str = "full",
        vote: str = "argmax",
        cost_clip: float | None = 100.0,
        cost_grain: float | None = None,
        importance_bound: float = 0.05,
        max_pending: int = 1000,
        max_bytes: int | None = None,
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
        self.max_bytes = max_bytes
        self.chunk_size = chunk_size
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The paper's algorithm with the authors' trees: see `edgewise.models.bandit_trees`.

        Potentials of neighboring votes differ by a few hundredths only, which neither rounding costs to .01 nor trees
        that count weight take well: costs are not rounded, and importances multiplied by 20 (for Isolet 10). The paper
        tells no factor; these were chosen on its data sets.

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
            "estimator": bandit_tree(name, 1.0),
            "exploration": 0.001,
            "importance_bound": 0.1 if name == "paper-isolet" else 0.05,
        }
        return cls(**settings | changes)

    def _check(self) -> None:
        super()._check()
        for name, allowed in (("vote", LABEL_VOTES), ("estimate", ESTIMATES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r}: one of {', '.join(allowed)}")
        if not 0.0 < self.edge < 1.0:
            raise ValueError(f"edge={self.edge!r}: a number in (0, 1)")
        if not self.importance_bound > 0.0:
            raise ValueError(f"importance_bound={self.importance_bound!r}: a positive number")
        cost_limits(self.cost_clip, self.cost_grain)

    def _plan(self, k: int) -> Any:
        clip, grain = cost_limits(self.cost_clip, self.cost_grain)
        return BanditPlan(
            n_labels=k,
            rule=POTENTIAL,
            loss=0,
            vote=LABEL_VOTES[self.vote],
            follow=0,
            estimate=ESTIMATES[self.estimate],
            clip=clip,
            grain=grain,
            importance_bound=float(self.importance_bound),
            importance_power=1.0,
            normalize_importance=False,
            weight_low=1.0,
            weight_high=1.0,
            full_step=False,
        )

    def _potentials(self, k: int) -> Potentials:
        return zero_one_potentials(k, self.n_estimators, self.edge, COST_MEMO_BITS)

    def _decaying_rates(self, k: int, rounds: np.ndarray) -> Any:
        return theory_rate(k, self.n_estimators, rounds)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        return shares_of(scores)

    @property
    def edges_(self) -> np.ndarray:
        """Estimates of the edge that each learner showed: gamma_i = 1 - k sum(d(vote)) / sum(w), d and w of A.3."""
        self._started()
        committee = self._ensemble.committee
        return majority_edges(committee.costs, committee.importance, self.classes_.size)

    @property
    def expert_weights_(self) -> np.ndarray:
        """All weight is on the last expert."""
        self._started()
        return np.eye(self.n_estimators)[-1]

    def bound(self, risk: float = 0.05) -> Bound:
        """What Theorem 3.2 says of this run, with the estimated excess of its learners, beside the mistakes made.

        Parameters
        ----------
        risk : float
            Probability with which the bound may fail.

        Returns
        -------
        Bound
            What is allowed beside what was made; printing it tells both.
        """
        self._started()
        committee, k = self._ensemble.committee, self.classes_.size
        rates = self._rates(k, 0, self.rounds_)
        excess = committee.costs[:, OF_VOTE] - (1.0 - self.edge) / k * committee.importance
        return bandit_majority_bound(
            k=k,
            n_learners=self.n_estimators,
            edge=self.edge,
            rates=rates,
            excess=float(excess.sum()),
            mistakes=self.mistakes_,
            noise=excess_noise(k, rates, risk / 2.0),
            risk=risk / 2.0,
        )
