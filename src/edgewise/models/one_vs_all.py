"""One class against the rest, in the two ways that Jung, Goetz and Tewari 2017, Appendix E, compare with."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.loop.online_loop import run
from edgewise.loop.state import Chunk, Committee, Ensemble, Trace
from edgewise.models.adaboost_olm import EAGER_TREE, AdaBoostOLM
from edgewise.theory.bounds import Bound
from edgewise.theory.experts import VOTE


class AdaOVA(AdaBoostOLM):
    """Adaboost.OLM over N groups of k trees, each tree telling one class from the rest (AdaOVA).

    A group's distribution is the trees' probabilities of their own class, normalized. Parameters are those of
    `AdaBoostOLM`.
    """

    _in_groups = True

    def _default_estimator(self) -> HoeffdingTree:
        return EAGER_TREE


class OneVsAllOLM(AdaBoostOLM):
    """k binary Adaboost.OL boosters of N trees, one per class (OvA); the largest margin decides.

    A booster's margin is that of its experts, averaged with their Hedge weights. Parameters are those of `AdaBoostOLM`;
    `follow` has no effect, since margins are compared and not labels. `edges_`, `learner_weights_`, `expert_weights_`
    and `expert_mistakes_` have a row for each class. With `single_experts` a learner's own margin is averaged as well.
    """

    def _blocks(self, k: int) -> int:
        return -(-super()._blocks(k) // k)  # boosters pass chunks on to each other as blocks do

    def _new_ensembles(self, k: int) -> list[Ensemble]:
        return [self._new_ensemble(self._plan(2)._replace(follow=VOTE, calibrate=False)) for _ in range(k)]

    def _labels_apart(self, k: int) -> int:
        return 2

    def _run_chunk(
        self, chunk: Chunk, in_scores: bool, kept: bool
    ) -> Generator[None, None, tuple[Trace, np.ndarray, np.ndarray]]:
        margins = np.zeros((chunk.labels.size, self.classes_.size))
        restarts = np.zeros((self._ensemble.learners.kind.size, chunk.labels.size), bool)
        for r, ensemble in enumerate(self._ensembles):
            binary = np.where(chunk.labels >= 0, chunk.labels == r, -1)
            trace, _, scores = yield from run(ensemble, chunk._replace(labels=binary), True, kept)
            margins[:, r] = scores[:, 1] - scores[:, 0]
            restarts |= trace.restarts
        return trace._replace(restarts=restarts), margins.argmax(axis=1), margins

    def _each(self, of: Callable[[Committee], np.ndarray]) -> np.ndarray:
        self._started()
        return np.stack([of(ensemble.committee) for ensemble in self._ensembles])

    def bound(self) -> Bound:
        """Raise ValueError: no theorem speaks of this algorithm.

        Returns
        -------
        Bound
            Never.
        """
        raise ValueError(
            "OneVsAllOLM has no mistake bound: the paper's theorems speak of one booster, not of k margins"
        )
