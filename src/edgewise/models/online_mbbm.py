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

from dataclasses import KW_ONLY
from typing import Any

from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.loop.state import COST, LABEL_VOTES, OF_VOTE, POTENTIAL, BoosterConfig
from edgewise.models.stream_classifier import StreamClassifier
from edgewise.models.voting_ensemble import MajorityEnsemble
from edgewise.parameters import POSITIVE_OR_NONE, with_parameters
from edgewise.theory.bounds import Bound, majority_bound
from edgewise.theory.potential_tables import COST_MEMO_BITS, Potentials, zero_one_potentials


@with_parameters(vote=LABEL_VOTES, importance_bound=POSITIVE_OR_NONE)
class OnlineMBBM(MajorityEnsemble, StreamClassifier):
    """OnlineMBBM: optimal when every learner has the given edge; votes count alike, the majority decides.

    The preset "paper" is the authors' setting: importances are not divided by k; per-tree factors are, by 10.

    Parameters
    ----------
    vote : str
        "argmax": a learner votes its likeliest label; "cost": the label it expects to cost least (slower).
    importance_bound : float, optional
        Divides the importances; None for the number of classes, which brings them into [0, 1].
    """

    _: KW_ONLY
    edge: float = 0.1
    vote: str = "argmax"
    importance_bound: float | None = None

    @classmethod
    def _preset(cls, name: str) -> dict[str, Any]:
        tree = HoeffdingTree.preset(name, importance_scale=(0.5, 20.0))
        return {"estimator": tree, "vote": "cost", "importance_bound": 1.0}

    def _plan(self, k: int) -> BoosterConfig:
        bound = float(k if self.importance_bound is None else self.importance_bound)
        return BoosterConfig(k, POTENTIAL, 0, LABEL_VOTES[self.vote], 0, bound, 1.0, False, 1.0, 1.0, False)

    def _potentials(self, k: int) -> Potentials:
        if LABEL_VOTES[self.vote] == COST:
            return zero_one_potentials(k, self.n_estimators, self.edge, COST_MEMO_BITS)
        return zero_one_potentials(k, self.n_estimators, self.edge)

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
