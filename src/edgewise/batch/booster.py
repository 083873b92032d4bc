"""What all batch boosters share towards their users: inputs, weighted votes, predictions, stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from edgewise.batch.cost_tree import CostTree
from edgewise.batch.inputs import Examples, check_whole, in_columns, read_examples, read_rows, unchanged_on_error
from edgewise.batch.weak_learners import WeakLearners, encoded, votes
from edgewise.data.table import Table
from edgewise.parameters import Saveable
from edgewise.theory.cost_matrices import add_votes

# Leaves of the default learner: on most sets the error falls little beyond (docs/batch.md, error by leaves).
DEFAULT_LEAVES = 32


class BatchBooster(Saveable, ClassifierMixin, BaseEstimator):
    """A weighted plurality vote of weak learners, eq. (1): argmax over l of the sum of alpha_t 1[h_t(x) = l].

    Ties go to the lowest class.
    """

    # parameters that every booster has
    estimator: Any
    n_estimators: int
    random_state: Any
    # learned
    classes_: np.ndarray
    estimators_: list[Any]
    estimator_weights_: np.ndarray

    # -- what a booster adds ---------------------------------------------------------------------------------------

    def _boost(self, examples: Examples, learners: WeakLearners, X: Any) -> None:
        """Play the rounds: set what the run leaves behind."""
        raise TypeError(f"{type(self).__name__} does not say how it boosts")

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """[n, k] from scores. Where the loss is exponential in the pairwise differences, as here, its expectation is
        least at scores of log(p) / 2, so that p is the softmax of twice the scores."""
        return softmax(2.0 * scores)

    def _check(self) -> None:
        check_whole("n_estimators", self.n_estimators, 1)

    # -- learning and predicting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost on these examples. X is anything that `edgewise.as_table` takes; weights scale the rows of the cost
        matrix, and errors and bounds then speak of the weighted training error.

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
            rows = learners.prepare(examples.table, examples.weights if examples.weighted else None)
            self._boost(examples, learners, rows)
            self.classes_ = examples.classes
            self.features_ = examples.table.features
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
        for scores in self._staged_scores(self._rows(X)):
            yield self.classes_[scores.argmax(axis=1)]

    # -- inside ----------------------------------------------------------------------------------------------------

    def _learner(self) -> Any:
        return CostTree(DEFAULT_LEAVES) if self.estimator is None else self.estimator

    def _rows(self, X: Any) -> Table:
        check_is_fitted(self, "estimators_")
        return in_columns(read_rows(self, X, reset=False), self.features_)

    def _scores(self, X: Any) -> np.ndarray:
        scores = np.zeros(0)
        for scores in self._staged_scores(self._rows(X)):  # noqa: B007
            pass
        return scores

    def _staged_scores(self, table: Table) -> Iterator[np.ndarray]:
        """f_t, eq. (1), after each round: one array that changes."""
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


def softmax(scores: np.ndarray) -> np.ndarray:
    """exp(scores) as shares of their sum, row by row."""
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)
