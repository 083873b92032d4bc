"""What all boosters of label sets share towards their users: checking, scores, rankings, and what a run tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from edgewise.boosting.calibration import make_calibration
from edgewise.boosting.edges import adaptive_edges
from edgewise.boosting.inputs import weight_array
from edgewise.boosting.label_sets import indicator, label_names, ordered
from edgewise.boosting.members import Member, assemble, foreign_bank
from edgewise.boosting.ranking_schema import rank_chunk, run_relevance
from edgewise.boosting.ranking_state import (
    SUFFERED,
    VOTE_FORMATS,
    RankingChunk,
    RankingCommittee,
    RankingEnsemble,
    RankingPlan,
)
from edgewise.boosting.stream_ensemble import Rows, StreamEnsemble
from edgewise.learners.hoeffding_tree import HoeffdingTree, eager_tree
from edgewise.learners.label_memory import LabelMemory
from edgewise.learners.linear import BinaryRelevance, SoftmaxRegression
from edgewise.streams.table import as_table
from edgewise.theory.ranking_potentials import PairPotentials, pair_potentials

# Of the trees of AdaBoostOLM's defaults, with as few features as the paper's; relevant labels are few among many, so
# importances are normalized. Chosen by the loss on the second half of the training rows of emotions, scene (shuffled)
# and yeast: docs/ranking.md.
EAGER_TREE = eager_tree(max_features=20)


class StreamRanker(StreamEnsemble):
    """An ensemble that ranks labels and learns label sets, one example after the other.

    Learning many rows in one call is the same, number for number, as learning them one by one. A row whose labels are
    all relevant, or none, has nothing to rank: its scores are given, its loss is 0, and nothing is learned from it.
    """

    # parameters
    vote: str | Sequence[str] | None
    normalize_importance: bool
    # preset "paper": where each tree draws its factor on importances from
    _importance_scale: ClassVar[tuple[float, float]] = (3, 10)
    # learned
    labels_: np.ndarray
    skipped_: int  # rows with no or only relevant labels

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The authors' setting: their trees, on 20 random features each, which vote with their distributions."""
        tree = HoeffdingTree.preset(name, importance_scale=cls._importance_scale, max_features=20)
        settings: dict[str, Any] = {"estimator": tree, "normalize_importance": False}
        return cls(**settings | cls._preset_settings() | changes)

    @classmethod
    def _preset_settings(cls) -> dict[str, Any]:
        """What a booster adds to the preset."""
        return {}

    # -- learning and predicting -----------------------------------------------------------------------------------

    def prequential(self, X: Any, Y: Any, *, labels: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Score, then learn, row by row; the scores [n, k] of the expert that was followed."""
        return self._learn(X, Y, labels, sample_weight)

    def partial_fit(self, X: Any, Y: Any, labels: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows. The first call fixes the columns of X and the labels.

        Y is an indicator matrix: an array, a frame or a scipy sparse matrix. `labels` names its columns; by default
        they have the names of a frame's columns, or their numbers.
        """
        self._learn(X, Y, labels, sample_weight)
        return self

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows in their order."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._learn(X, Y, None, sample_weight)
        self.__dict__.update(fresh.__dict__)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores [n, k]: a label with a higher one is ranked above. Never random: see `follow` of the booster."""
        self._started()
        rows = self._rows(X, self.labels_.size)
        n, k = len(rows.numeric), self.labels_.size
        scores, _ = self._run(rows, np.full(n, -1), np.zeros((n, k), np.int32), np.ones(n), np.zeros(n, np.int64))
        return scores

    def rank(self, X: Any) -> np.ndarray:
        """Labels [n, k] of each row in order, best first; ties go to the lowest label."""
        scores = self.decision_function(X)
        return self.labels_[np.argsort(-scores, axis=1, kind="stable")]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability [n, k] that each label is relevant: `edgewise.boosting.calibration`."""
        scores = self.decision_function(X)
        p = np.zeros(scores.shape)
        run_relevance(self._ensemble.calibration, scores, np.zeros(self.labels_.size), p)
        return p

    def predict(self, X: Any) -> np.ndarray:
        """Indicator matrix [n, k]: the labels that are at least as likely relevant as not."""
        return (self.predict_proba(X) >= 0.5).astype(np.int64)

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def edges_(self) -> np.ndarray:
        """The edge that each learner showed: the gamma at which u_gamma^Y would have cost as much; 0 at the start.

        For costs that sum to 0 this is the empirical edge (10).
        """
        return self._each(lambda committee: adaptive_edges(committee.costs))

    @property
    def rank_loss_(self) -> float:
        """Rank loss suffered so far, summed over rounds (with their weights)."""
        self._started()
        return float(self._ensemble.committee.totals[SUFFERED])

    # -- inside ----------------------------------------------------------------------------------------------------

    def _default_estimator(self) -> Member | Sequence[Member]:
        return [SoftmaxRegression(), BinaryRelevance(), EAGER_TREE]

    def _formats(self) -> np.ndarray:
        """How each learner votes; by default with its distribution."""
        learners = self._members()
        given = self._default_votes(learners) if self.vote is None else self.vote
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            if name not in VOTE_FORMATS:
                raise ValueError(f"vote={name!r}: one of {', '.join(VOTE_FORMATS)}, a list of them, or None")
        if not names:
            raise ValueError("vote=[]: at least one format, or None")
        return np.array([VOTE_FORMATS[names[min(i, len(names) - 1)]] for i in range(len(learners))])

    def _default_votes(self, learners: list[Member]) -> list[str]:
        return ["distribution"]

    def _check(self) -> None:
        super()._check()
        if any(isinstance(learner, LabelMemory) for learner in self._members()):
            raise ValueError("estimator: a LabelMemory remembers single labels, not label sets")
        self._formats()

    def _new_ensembles(self, k: int) -> list[RankingEnsemble]:
        plan: RankingPlan = self._plan(k)
        n = self.n_estimators
        learners, forest, bank, memory, own = assemble(self._members(), self.parameters_, self._columns, k, False)
        committee = RankingCommittee(
            form=self._formats(),
            weight=np.full(n, float(self._first_weight())),
            losses=np.zeros(n),
            costs=np.zeros((n, 2)),
            excess=np.zeros(n),
            importance=np.zeros(n),
            totals=np.zeros(2),
        )
        potentials, calibration = self._potentials(k), make_calibration(k)
        foreign = foreign_bank(self._members(), self._columns, self._rng)
        return [RankingEnsemble(plan, learners, committee, forest, bank, memory, potentials, calibration, foreign, own)]

    def _potentials(self, k: int) -> PairPotentials:
        return pair_potentials(k, 1, 1.0)

    def _learn(self, X: Any, Y: Any, labels: Any, sample_weight: Any) -> np.ndarray:
        """Check everything first, so that bad input leaves the model as it was; then learn in chunks."""
        self._check()
        X = as_table(X)
        started = hasattr(self, "_columns")
        relevant = indicator(Y, len(X), self.labels_ if started else None)
        n, k = relevant.shape
        if started:
            names = self.labels_
            if labels is not None and not np.array_equal(np.asarray(labels), names):
                raise ValueError(f"labels={labels!r}: this model was started with {names.tolist()!r}")
        else:
            names = label_names(Y, labels, k)
        weights = weight_array(sample_weight, n)
        rows = self._rows(X, k)
        if started:
            self._widen(rows.columns)
        else:
            self._begin(rows.columns, k)
            self.labels_ = names
            self.skipped_ = 0
        sizes = relevant.sum(axis=1)
        one_sided = (sizes == 0) | (sizes == k)
        sizes = np.where(one_sided | (weights == 0.0), -1, sizes)
        rounds = self.rounds_ + np.cumsum(sizes > 0)
        _, followed = self._run(rows, sizes, ordered(relevant), weights, rounds)
        self.rounds_ += int((sizes > 0).sum())
        self.skipped_ += int(one_sided.sum())
        return followed

    def _run(
        self, rows: Rows, sizes: np.ndarray, order: np.ndarray, weights: np.ndarray, rounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Send rows through the ensemble, chunk by chunk: scores that never depend on chance, scores followed."""
        n, width = rows.numeric.shape
        decisions, followed = np.zeros((2, n, self.labels_.size))
        self._prepare(sizes[sizes > 0])
        for part, uniforms in self._parts(sizes > 0):
            size = len(uniforms)
            chunk = RankingChunk(
                rows.numeric[part],
                rows.nominal[part],
                sizes[part],
                order[part],
                weights[part],
                rounds[part],
                np.zeros(size, np.int64),
                uniforms,
                np.zeros((size + 1, width)),
                np.zeros((size + 1, width)),
            )
            self._ensembles[0], followed[part], decisions[part] = rank_chunk(self._ensemble, chunk)
        return decisions, followed

    def _prepare(self, sizes: np.ndarray) -> None:
        """Make what label sets of these sizes need."""
