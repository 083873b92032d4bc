"""A weighted vote of weak learners: how it grows in training, and how it predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from edgewise.batch.inputs import Examples, check_whole, in_columns, read_examples, read_rows, unchanged_on_error
from edgewise.batch.weak_learners import CostTree, WeakLearners, encoded, votes
from edgewise.data.table import Table
from edgewise.parameters import Saveable
from edgewise.theory.cost_matrices import add_votes, lead, leaf_counters

# Leaves of the default learner: on most sets the error falls little beyond (docs/batch.md, error by leaves).
DEFAULT_LEAVES = 32


class Round(NamedTuple):
    """A weak learner fitted to a cost matrix C, and what its votes cost."""

    learner: Any
    votes: np.ndarray
    paid: float  # C . 1_h
    right: float  # C . 1_y
    total: float  # sum of C
    missed: float  # the part of C . 1_h that wrong votes paid
    n_wrong: int


class Training:
    """The vote on the training rows as it grows, and what `fit` keeps of every round."""

    def __init__(self, examples: Examples, learners: WeakLearners) -> None:
        self.labels, self.weights, self.k = examples.labels, examples.weights, examples.classes.size
        self.scores = np.zeros((self.labels.size, self.k))
        self.learners: list[Any] = []
        self.learner_weights: list[float] = []
        self.edges: list[float] = []
        self.errors: list[float] = []
        self._leaders = np.zeros(self.labels.size, np.int64)
        self._weak = learners
        self._rows = learners.prepare(examples.table, examples.weights if examples.weighted else None)

    def ask(self, costs: np.ndarray) -> Round:
        """A new weak learner for these costs, not yet part of the vote."""
        learner = self._weak.fit(self._rows, costs)
        voted = votes(learner, self._rows, *self.scores.shape)
        return Round(learner, voted, *leaf_counters(costs, self.labels, voted))

    def add(self, asked: Round, edge: float, weight: float) -> None:
        """Let the learner vote with this weight."""
        self.learners.append(asked.learner)
        self.edges.append(edge)
        self.learner_weights.append(weight)
        add_votes(self.scores, asked.votes, weight)
        lead(self.scores, asked.votes, self._leaders)
        self.errors.append(min(float(self.weights[self._leaders != self.labels].sum()), 1.0))


class BatchBooster(Saveable, ClassifierMixin, BaseEstimator):
    """A weighted plurality vote of weak learners, eq. (1): argmax over l of the sum of alpha_t 1[h_t(x) = l].

    Ties go to the lowest class.
    """

    _allowed: ClassVar[dict[str, Any]] = {}
    # parameters that every booster has
    estimator: Any
    n_estimators: int
    random_state: Any
    # learned
    classes_: np.ndarray
    estimators_: list[Any]
    estimator_weights_: np.ndarray
    edges_: np.ndarray
    train_errors_: np.ndarray
    stopped_: str
    bounds_: np.ndarray
    met_: np.ndarray
    potentials_: np.ndarray

    def _boost(self, training: Training) -> None:
        """Add the rounds to `training`; set the attributes that only this booster has."""
        raise TypeError(f"{type(self).__name__} does not say how it boosts")

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """[n, k] from scores. Where the loss is exponential in the pairwise differences, as here, its expectation is
        least at scores of log(p) / 2, so that p is the softmax of twice the scores."""
        return softmax(2.0 * scores, axis=1)

    def _check(self) -> None:
        check_whole("n_estimators", self.n_estimators, 1)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost on these examples. Weights scale the rows of the cost matrix, and errors and bounds are then those of
        the weighted training error.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        sample_weight : array, optional
            The weight of each row; 1 by default.
        """
        self._check()
        learners = WeakLearners(self._learner(), check_random_state(self.random_state))
        with unchanged_on_error(self):
            examples = read_examples(self, X, y, sample_weight)
            training = Training(examples, learners)
            self._boost(training)
            self.estimators_, self.estimator_weights_ = training.learners, np.array(training.learner_weights)
            self.edges_, self.train_errors_ = np.array(training.edges), np.array(training.errors)
            self.classes_, self.features_ = examples.classes, examples.table.features
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class with the most weighted votes.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.

        Returns
        -------
        array
            The labels [n].
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def decision_function(self, X: Any) -> np.ndarray:
        """Weighted votes [n, k]; for two classes, second minus first, as in scikit-learn.

        Parameters are those of `predict`.

        Returns
        -------
        array
            Scores [n, k]; for two classes [n].
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [n, k] of the classes, read off the scores as the booster's loss has them.

        Parameters are those of `predict`.

        Returns
        -------
        array
            Probabilities [n, k], in the order of `classes_`.
        """
        return self._probabilities(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The prediction after each round.

        Parameters are those of `predict`.

        Returns
        -------
        iterator of arrays
            Labels [n], once for each round.
        """
        for scores in self._staged_scores(X):
            yield self.classes_[scores.argmax(axis=1)]

    def _learner(self) -> Any:
        return CostTree(DEFAULT_LEAVES) if self.estimator is None else self.estimator

    def _scores(self, X: Any) -> np.ndarray:
        *_, scores = self._staged_scores(X)
        return scores

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """f_t, eq. (1), after each round: one array that changes."""
        check_is_fitted(self, "estimators_")
        table: Table = in_columns(read_rows(self, X, reset=False), self.features_)
        scores = np.zeros((len(table), self.classes_.size))
        rows = encoded(self.estimators_[0], table)
        for learner, weight in zip(self.estimators_, self.estimator_weights_, strict=True):
            add_votes(scores, votes(learner, rows, *scores.shape), weight)
            yield scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = get_tags(self._learner()).input_tags
        tags.input_tags.allow_nan, tags.input_tags.categorical = learner.allow_nan, learner.categorical
        return tags
