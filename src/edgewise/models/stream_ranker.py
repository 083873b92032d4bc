"""Boosters of label sets: scores, rankings, learning, and what a run tells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import Any, ClassVar, Self

import numpy as np

from edgewise.data.targets import (
    first_classes,
    known_classes,
    label_array,
    label_codes,
    require_target,
    weight_array,
)
from edgewise.learners.hoeffding_tree import HoeffdingTree, eager_tree
from edgewise.learners.label_markov_chain import LabelMarkovChain
from edgewise.learners.linear import BinaryRelevance, SoftmaxRegression
from edgewise.loop.calibration import make_calibration
from edgewise.loop.inputs import as_rows, indicator, is_vector, label_names, ordered
from edgewise.loop.members import assemble, external_bank
from edgewise.loop.pipeline import ChunkTask
from edgewise.loop.ranking_loop import rank_chunk, run_relevance
from edgewise.loop.state import (
    SUFFERED,
    VOTE_FORMATS,
    RankingChunk,
    RankingConfig,
    RankingEnsemble,
    RankingState,
)
from edgewise.models.stream_ensemble import Rows
from edgewise.models.voting_ensemble import VotingEnsemble, VotingParameters, softmax
from edgewise.theory.bounds import adaptive_edges
from edgewise.theory.ranking import PairPotentials, pair_potentials

# Of the trees of AdaBoostOLM's defaults, with as few features as the paper's; relevant labels are few among many, so
# importances are normalized. Chosen by the loss on the second half of the training rows of emotions, scene (shuffled)
# and yeast: docs/ranking.md.
EAGER_TREE = eager_tree(max_features=20)


class StreamRanker(VotingParameters, VotingEnsemble):
    """An ensemble that ranks labels and learns label sets, one example after the other.

    Learning many rows in one call is the same, number for number, as learning them one by one. A row whose labels are
    all relevant, or none, has nothing to rank: its scores are given, its loss is 0, and nothing is learned from it.

    A model that is started with a vector of labels, which are then label sets of one, is a classifier: `predict` gives
    the label that is ranked first, and the probabilities of a row sum to 1.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up. None: softmax regression, a logistic regression per
        label, then eager warm-started trees on 20 random features each.
    vote : str or list of str, optional
        Format of the votes: "label" (the likeliest), "set" (the labels with more than an even share, or those that
        a binary learner finds likelier than not) or "distribution"; a list gives each learner its own, the last
        fills up. None: distributions; labels for the rank loss.
    """

    _task = "classifier"
    # parameters
    vote: str | Sequence[str] | None
    normalize_importance: bool
    # preset "paper": where each tree draws its factor on importances from
    _importance_scale: ClassVar[tuple[float, float]] = (3, 10)
    # learned
    labels_: np.ndarray
    _single: bool = False  # whether the model was started with one label for each row
    skipped_: int  # rows with no or only relevant labels

    @classmethod
    def _preset(cls, name: str) -> dict[str, Any]:
        tree = HoeffdingTree.preset(name, importance_scale=cls._importance_scale, max_features=20)
        return {"estimator": tree, "normalize_importance": False}

    # -- learning and predicting -----------------------------------------------------------------------------------

    def prequential(self, X: Any, y: Any, *, labels: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Score, then learn, row by row; the scores [n, k] of the expert that was followed.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array, frame or sparse matrix
            Label sets as an indicator matrix [n, k]; or one label for each row.
        labels : array, optional
            Names of the columns of y; by default a frame's names, or numbers.
        sample_weight : array, optional
            The weight of each row; 1 by default.

        Returns
        -------
        array
            Scores [n, k], each row's given before it was learned.
        """
        return self._learn(X, y, labels, sample_weight)

    def partial_fit(
        self, X: Any, y: Any, labels: Any = None, sample_weight: Any = None, *, classes: Any = None
    ) -> Self:
        """Learn further rows. The first call fixes the columns of X and the labels.

        y is an indicator matrix: an array, a frame or a scipy sparse matrix. `labels` names its columns; by default
        they have the names of a frame's columns, or their numbers. A vector of labels stands for label sets of one;
        `labels` are then all that there are. `classes` is scikit-learn's word for `labels`.

        Parameters are those of `prequential`, with:

        Parameters
        ----------
        classes : array, optional
            The same as `labels`.
        """
        self._learn(X, y, labels if classes is None else classes, sample_weight)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows in their order.

        Parameters are those of `prequential`.
        """
        return self._fit(X, y, sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores [n, k]: a label with a higher one is ranked above. Never random: see `follow` of the booster.

        Of two single labels, second minus first, as in scikit-learn.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Scores [n, k].
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if self._single and scores.shape[1] == 2 else scores

    def rank(self, X: Any) -> np.ndarray:
        """Labels [n, k] of each row in order, best first; ties go to the lowest label.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Labels [n, k].
        """
        order = np.argsort(-self._scores(X), axis=1, kind="stable")
        return self.labels_[order]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability [n, k] that each label is relevant: `edgewise.loop.calibration`; of single labels, that
        it is the one.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Probabilities [n, k].
        """
        scores = self._scores(X)
        if self._single:
            return self._shares(scores)
        p = np.zeros(scores.shape)
        run_relevance(self._ensemble.calibration, scores, np.zeros(self.labels_.size), p)
        return p

    def predict(self, X: Any) -> np.ndarray:
        """Indicator matrix [n, k]: the labels as likely relevant as not, or more; of single labels, the best.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            0 and 1, [n, k].
        """
        if self._single:
            best = self._scores(X).argmax(axis=1)
            return self.labels_[best]
        return (self.predict_proba(X) >= 0.5).astype(np.int64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 minus scikit-learn's `label_ranking_loss` of the scores.

        Parameters are those of `prequential`.

        Returns
        -------
        float
            1 where every pair of labels is in order.
        """
        from sklearn.metrics import label_ranking_loss

        self._started()
        examples = as_rows(X)
        relevant, _ = self._label_sets(y, len(examples.table), None)
        return float(1.0 - label_ranking_loss(relevant, self._scores(examples), sample_weight=sample_weight))

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> np.ndarray:
        """The labels, as scikit-learn calls them."""
        return self.labels_

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.two_d_labels = tags.classifier_tags.multi_label = True
        return tags

    # -- inside ----------------------------------------------------------------------------------------------------

    def _default_estimator(self) -> Any:
        return [SoftmaxRegression(), BinaryRelevance(), EAGER_TREE]

    def _formats(self, learners: list[Any]) -> np.ndarray:
        """How each learner votes; by default with its distribution."""
        given = self._default_vote() if self.vote is None else self.vote
        names = [given] if isinstance(given, str) else list(given)
        for name in names:
            if name not in VOTE_FORMATS:
                raise ValueError(f"vote={name!r}: one of {', '.join(VOTE_FORMATS)}, a list of them, or None")
        if not names:
            raise ValueError("vote=[]: at least one format, or None")
        return np.array([VOTE_FORMATS[names[min(i, len(names) - 1)]] for i in range(len(learners))])

    def _default_vote(self) -> str:
        return "distribution"

    def _check(self) -> list[Any]:
        learners = super()._check()
        if any(isinstance(learner, LabelMarkovChain) for learner in learners):
            raise ValueError("estimator: a LabelMarkovChain remembers single labels, not label sets")
        self._formats(learners)
        return learners

    def _new_ensemble(self, plan: RankingConfig, learners: list[Any]) -> RankingEnsemble:
        n, k = self.n_estimators, plan.n_labels
        kinds, forests, bank, memory, own = assemble(
            learners, self.parameters_, self._columns, k, False, self._n_blocks
        )
        committee = RankingState(
            form=self._formats(learners),
            weight=np.full(n, float(self._first_weight())),
            losses=np.zeros(n),
            costs=np.zeros((n, 2)),
            excess=np.zeros(n),
            importance=np.zeros(n),
            totals=np.zeros(2),
        )
        potentials, calibration = self._potentials(k), make_calibration(k)
        external = external_bank(learners, self._columns, self._rng)
        return RankingEnsemble(plan, kinds, committee, forests, bank, memory, potentials, calibration, external, own)

    def _potentials(self, k: int) -> PairPotentials:
        return pair_potentials(k, 1, 1.0)

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of single labels from their scores."""
        return softmax(scores)

    def _scores(self, X: Any) -> np.ndarray:
        """Scores [n, k] of rows that are not learned."""
        self._started()
        rows = self._rows(X, self.labels_.size, learning=False)
        n, k = len(rows.numeric), self.labels_.size
        scores, _ = self._run(rows, np.full(n, -1), np.zeros((n, k), np.int32), np.ones(n), np.zeros(n, np.int64))
        return scores

    def _label_sets(self, y: Any, n: int, labels: Any) -> tuple[np.ndarray, np.ndarray]:
        """y as a Boolean [n, k] array, and the labels, which are those of the model if it has been started."""
        started = hasattr(self, "_columns")
        if self._single if started else is_vector(y):
            found = label_array(y, n)
            names = known_classes(self, labels) if started else first_classes(labels, found)
            return label_codes(found, names)[:, None] == np.arange(names.size), names
        relevant = indicator(y, n, self.labels_ if started else None)
        if not started:
            return relevant, label_names(y, labels, relevant.shape[1])
        if labels is not None and not np.array_equal(np.asarray(labels), self.labels_):
            raise ValueError(f"labels={labels!r}: this model was started with {self.labels_.tolist()!r}")
        return relevant, self.labels_

    def _learn(self, X: Any, y: Any, labels: Any, sample_weight: Any) -> np.ndarray:
        """Check everything first, so that bad input leaves the model as it was; then learn in chunks."""
        learners = self._check()
        require_target(y)
        X = as_rows(X)
        started = hasattr(self, "_columns")
        relevant, names = self._label_sets(y, len(X.table), labels)
        n, k = relevant.shape
        weights = weight_array(sample_weight, n)
        rows = self._rows(X, k, learners)
        if started:
            self._add_categories(rows.columns)
        else:
            self._begin(rows.columns, k, learners)
            self.labels_ = names
            self._single = is_vector(y)
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

        def task(part: slice, uniforms: np.ndarray) -> ChunkTask:
            numeric, nominal = rows.numeric[part], rows.nominal[part]
            contexts, moments = np.zeros(len(uniforms), np.int64), np.zeros((2, len(uniforms) + 1, width))
            targets = sizes[part], order[part], weights[part]
            chunk = RankingChunk(numeric, nominal, *targets, rounds[part], contexts, uniforms, *moments)
            followed[part], decisions[part] = yield from rank_chunk(self._ensemble, chunk)

        self._flow(starmap(task, self._parts(sizes > 0)), sizes > 0)
        return decisions, followed

    def _prepare(self, sizes: np.ndarray) -> None:
        """Make what label sets of these sizes need."""
