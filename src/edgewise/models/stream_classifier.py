"""Boosters of single labels: predictions and scores, learning from labels, and what a run tells."""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import starmap
from typing import Any, NamedTuple, Self

import numpy as np

from edgewise.data.targets import first_classes, known_classes, label_array, label_codes, weight_array
from edgewise.loop.inputs import as_rows
from edgewise.loop.online_loop import run
from edgewise.loop.pipeline import ChunkTask
from edgewise.loop.state import COST, POTENTIAL, Chunk, ChunkBuffers
from edgewise.models.stream_ensemble import Rows, StreamEnsemble
from edgewise.models.voting_ensemble import VotingEnsemble, VotingParameters, shares_of


class History(NamedTuple):
    """A prequential run seen from inside: arrays over rows, and learners or experts (see `ChunkBuffers`)."""

    guesses: np.ndarray
    votes: np.ndarray
    importances: np.ndarray
    learner_weights: np.ndarray
    expert_labels: np.ndarray
    expert_losses: np.ndarray
    uniforms: np.ndarray


class LabelPredictor(StreamEnsemble):
    """Predictions of single labels, from the guesses and scores that `_vote` gives."""

    _task = "classifier"
    # learned
    classes_: np.ndarray
    mistakes_: int

    # places of the predicted labels of rows, and the scores behind them
    _vote: Callable[[Any], tuple[np.ndarray, np.ndarray]]

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row. Never random: where Hedge would draw an expert, the experts' weighted vote decides.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            The labels [n].
        """
        guesses, _ = self._vote(X)
        return self.classes_[guesses]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores [n, k] behind the predictions; for two classes, second minus first, as in scikit-learn.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Scores [n, k]; for two classes [n].
        """
        _, decisions = self._vote(X)
        return decisions[:, 1] - decisions[:, 0] if decisions.shape[1] == 2 else decisions

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [n, k] of the classes.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Probabilities [n, k], in the order of `classes_`.
        """
        _, decisions = self._vote(X)
        return self._probabilities(decisions)

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Shares of the scores, which are sums of non-negative votes."""
        return shares_of(decisions)


class LabelLearner(LabelPredictor):
    """Learning from labels, by `_learn`."""

    # (X, y, classes, sample_weight): places of the labels that were predicted before, and the scores behind them
    _learn: Callable[..., tuple[np.ndarray, np.ndarray]]

    def prequential(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the predictions.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        classes : array, optional
            All labels that may come; by default those in y. Needed in the first call only.
        sample_weight : array, optional
            The weight of each row; 1 by default.

        Returns
        -------
        array
            The labels [n], each predicted before its row was learned.
        """
        guesses, _ = self._learn(X, y, classes, sample_weight)
        return self.classes_[guesses]

    def prequential_proba(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the probabilities [n, k] that were predicted.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            The probabilities [n, k], each row's predicted before it was learned.
        """
        _, decisions = self._learn(X, y, classes, sample_weight, in_scores=True)
        return self._probabilities(decisions)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows. The first call fixes the columns and the classes (`classes`, or those in y).

        Parameters are those of `prequential`.
        """
        self._learn(X, y, classes, sample_weight)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows in their order.

        Parameters are those of `prequential`.
        """
        return self._fit(X, y, sample_weight)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of `predict`.

        Parameters are those of `prequential`.

        Returns
        -------
        float
            The share of rows whose prediction is right.
        """
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


class StreamClassifier(VotingParameters, LabelLearner, VotingEnsemble):
    """An ensemble that predicts and learns, one example after the other.

    Learning many rows in one call is the same, number for number, as learning them one by one.
    """

    def trace(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> History:
        """Like `prequential`, but tells everything that happened: votes, importances, weights, experts.

        Parameters are those of `prequential`.

        Returns
        -------
        History
            A record of arrays, one row for each round.
        """
        pieces: list[History] = []

        def keep(guesses: np.ndarray, trace: ChunkBuffers, chunk: Chunk) -> None:
            pieces.append(
                History(
                    guesses,
                    trace.votes.T,
                    trace.importances.T,
                    trace.learner_weights.T,
                    trace.expert_labels[:, : len(guesses)].T,
                    trace.expert_losses[:, : len(guesses)].T,
                    chunk.uniforms,
                )
            )

        self._learn(X, y, classes, sample_weight, keep)
        if not pieces:
            n_learners, n_experts = self._ensemble.learners.kind.size, self._ensemble.committee.mistakes.size
            draws = max(1, self._draws(self._ensemble.plan))
            votes, numbers = np.zeros((0, n_learners), np.int32), np.zeros((0, n_learners))
            labels, losses = np.zeros((0, n_experts), np.int32), np.zeros((0, n_experts))
            return History(np.zeros(0, np.int64), votes, numbers, numbers, labels, losses, np.zeros((0, draws)))
        return History(*(np.concatenate(field) for field in zip(*pieces, strict=True)))

    @property
    def expert_mistakes_(self) -> np.ndarray:
        """Mistakes of each expert: the first i learners together, then learner i alone where these are experts too."""
        return self._each(lambda committee: committee.mistakes.copy())

    # -- inside ----------------------------------------------------------------------------------------------------

    def _learn(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, keep: Any = None, in_scores: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Check everything first, so that bad input leaves the model as it was; then learn in chunks."""
        learners = self._check()
        X = as_rows(X)
        labels = label_array(y, len(X.table))
        weights = weight_array(sample_weight, len(X.table))
        started = hasattr(self, "_columns")
        known = known_classes(self, classes) if started else first_classes(classes, labels)
        codes = label_codes(labels, known)
        rows = self._rows(X, known.size, learners)
        if started:
            self._add_categories(rows.columns)
        else:
            self._begin(rows.columns, known.size, learners)
            self.classes_ = known
            self.mistakes_ = 0
        codes = np.where(weights > 0.0, codes, -1)
        rounds = self.rounds_ + np.cumsum(codes >= 0)
        guesses, decisions = self._run(rows, codes, weights, rounds, keep, in_scores)
        self.rounds_ += int((codes >= 0).sum())
        self.mistakes_ += int(((guesses != codes) & (codes >= 0)).sum())
        return guesses, decisions

    def _vote(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        self._started()
        rows = self._rows(X, self.classes_.size, learning=False)
        n = len(rows.numeric)
        return self._run(rows, np.full(n, -1), np.ones(n), np.zeros(n, np.int64), None, True)

    def _run(
        self, rows: Rows, codes: np.ndarray, weights: np.ndarray, rounds: np.ndarray, keep: Any, in_scores: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Send rows through the ensemble, chunk by chunk."""
        n, width = rows.numeric.shape
        guesses, decisions = np.zeros(n, np.int64), np.zeros((n, self.classes_.size))

        def task(part: slice, uniforms: np.ndarray) -> ChunkTask:
            numeric, nominal = rows.numeric[part], rows.nominal[part]
            contexts, moments = np.zeros(len(uniforms), np.int64), np.zeros((2, len(uniforms) + 1, width))
            chunk = Chunk(numeric, nominal, codes[part], weights[part], rounds[part], contexts, uniforms, *moments)
            trace, guesses[part], decisions[part] = yield from self._run_chunk(chunk, in_scores, keep is not None)
            if trace.restarts.any():
                self.restarts_ += [(int(rounds[part][t]), int(i)) for t, i in np.argwhere(trace.restarts.T)]
            if keep is not None:
                keep(guesses[part], trace, chunk)

        plan = self._ensemble.plan
        # a vote by potentials looks into the memo of its block, and writes there
        in_order = keep is not None or (plan.rule == POTENTIAL and plan.vote == COST)
        self._flow(starmap(task, self._parts(codes >= 0)), codes >= 0, in_order=in_order)
        return guesses, decisions

    def _run_chunk(
        self, chunk: Chunk, in_scores: bool, kept: bool
    ) -> Generator[None, None, tuple[ChunkBuffers, np.ndarray, np.ndarray]]:
        return run(self._ensemble, chunk, in_scores, kept)
