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

from dataclasses import KW_ONLY
from typing import Any

from edgewise.loop.bandit_loop import BanditConfig
from edgewise.loop.state import LABEL_VOTES, OF_VOTE, POTENTIAL
from edgewise.models.stream_bandit import Exploration, StreamBandit, bandit_tree, cost_limits
from edgewise.models.voting_ensemble import MajorityEnsemble
from edgewise.parameters import POSITIVE, with_parameters
from edgewise.theory.bandits import ESTIMATES, bandit_majority_bound, excess_noise
from edgewise.theory.bounds import Bound
from edgewise.theory.potential_tables import COST_MEMO_BITS, Potentials, zero_one_potentials


@with_parameters(vote=LABEL_VOTES, estimate=ESTIMATES, importance_bound=POSITIVE)
class BanditBBM(MajorityEnsemble, StreamBandit):
    """BanditBBM: optimal when every learner has the given edge; votes count alike, the majority is the guess.

    The preset "paper" is the paper's algorithm with the authors' trees, "paper-mice" and "paper-isolet" have those of
    these data sets. Potentials of neighboring votes differ by a few hundredths only, which neither rounding costs to
    .01 nor trees that count weight take well: in the presets costs are not rounded, and importances multiplied by 20
    (for Isolet 10). The paper tells no factor; these were chosen on its data sets.

    Parameters
    ----------
    vote : str
        "argmax": a learner votes its likeliest label; "cost": the label it expects to cost least (slower).
    importance_bound : float
        Divides the importances: sums of differences of potentials, which trees find light.
    """

    _: KW_ONLY
    edge: float = 0.1
    exploration: Exploration = 0.001
    estimate: str = "full"
    vote: str = "argmax"
    cost_clip: float | None = 100.0
    cost_grain: float | None = None
    importance_bound: float = 0.05

    @classmethod
    def _preset(cls, name: str) -> dict[str, Any]:
        return {
            "estimator": bandit_tree(name),
            "exploration": 0.001,
            "importance_bound": 0.1 if name == "paper-isolet" else 0.05,
        }

    def _plan(self, k: int) -> Any:
        clip, grain = cost_limits(self.cost_clip, self.cost_grain)
        return BanditConfig(
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
