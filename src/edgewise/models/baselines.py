"""What boosting is compared with: Oza's online boosting, and the learners alone.

Oza's boosting is by Poisson sampling (Oza 2005, "Online bagging and boosting", Figure 2): the papers' OLB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.loop.state import ARGMAX, POISSON, RIGHT, UNIFORM, WRONG, BoosterConfig
from edgewise.models.stream_classifier import StreamClassifier
from edgewise.parameters import with_parameters


@with_parameters()
class OzaBoost(StreamClassifier):
    """Oza's online boosting: each learner sees Poisson(lambda) copies, lambda grows where earlier learners err.

    Learners that are wrong more often than right do not vote, as in AdaBoost.M1.
    """

    def _plan(self, k: int) -> BoosterConfig:
        return BoosterConfig(k, POISSON, 0, ARGMAX, 0, 1.0, 1.0, False, 0.0, 0.0, False)

    def _first_weight(self) -> float:
        return 0.0

    def _draws(self, plan: BoosterConfig) -> int:
        return self._ensemble.learners.kind.size

    @property
    def edges_(self) -> np.ndarray:
        """Edge over random guessing of each learner on its weighted examples: (k accuracy - 1)/(k - 1)."""
        self._started()
        right, wrong = self._ensemble.committee.costs[:, RIGHT], self._ensemble.committee.costs[:, WRONG]
        k = self.classes_.size
        share = np.divide(right, right + wrong, out=np.full(right.size, 1.0 / k), where=right + wrong > 0.0)
        return (k * share - 1.0) / (k - 1.0)


@with_parameters()
class HoeffdingForest(StreamClassifier):
    """N Hoeffding trees that learn independently: the papers' baseline, and what boosting must beat.

    Every tree sees every example, the mean of their distributions decides. The preset "paper" has the paper's trees, on
    unweighted examples.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        A `HoeffdingTree` (default settings if None); ranges and feature subsets make the trees differ.
    n_estimators : int
        Number of trees.
    """

    @classmethod
    def _preset(cls, name: str) -> dict[str, Any]:
        return {"estimator": HoeffdingTree.preset(name, importance_scale=1.0)}

    def _plan(self, k: int) -> BoosterConfig:
        return BoosterConfig(k, UNIFORM, 0, ARGMAX, 0, 1.0, 1.0, False, 0.0, 0.0, False)

    def _first_weight(self) -> float:
        return 1.0 / self.n_estimators

    def prequential_votes(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; each tree's own prediction [n, trees], as places in `classes_`.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Places in `classes_`, [n, trees].
        """
        votes: list[np.ndarray] = []
        self._learn(X, y, classes, sample_weight, lambda guesses, trace, chunk: votes.append(trace.votes.T))
        return np.concatenate(votes)
