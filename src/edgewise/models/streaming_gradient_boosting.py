"""Streaming gradient boosting (Hu et al. 2017, Algorithms 1 to 3) for real-valued targets and for classes.

`edgewise.loop.gradient_loop` has the algorithms and the table of letters.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from edgewise.data.targets import first_classes, known_classes, label_array, label_codes, target_array, weight_array
from edgewise.loop.inputs import as_rows
from edgewise.models.gradient_stream import GradientStream
from edgewise.models.stream_classifier import LabelLearner
from edgewise.models.voting_ensemble import softmax
from edgewise.parameters import with_parameters
from edgewise.theory.regression_losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, Loss, SoftmaxLoss, checked_loss


@with_parameters()
class StreamingGradientBoostingRegressor(GradientStream):
    """Streaming gradient boosting of real-valued targets, one or several.

    Parameters
    ----------
    loss : str or loss, optional
        "squared" (as None), "absolute", "huber", "quantile", a loss object, or a loss of your own (see `Loss`).
    """

    _task = "regressor"

    def prequential(self, X: Any, y: Any, *, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the predictions, in the shape of y.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            Targets, [n] or [n, m].
        sample_weight : array, optional
            The weight of each row; 1 by default.

        Returns
        -------
        array
            Predictions, each made before its row was learned.
        """
        X = as_rows(X)
        targets = target_array(y, len(X.table))
        if hasattr(self, "_columns") and targets.shape[1] != self._n_outputs:
            raise ValueError(f"y has {targets.shape[1]} outputs: this model was started with {self._n_outputs}")
        predictions = self._learn_targets(X, targets, sample_weight, self._loss())
        self._flat = np.asarray(y).ndim == 1  # whether y came as one number per row
        return predictions[:, 0] if self._flat else predictions

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn further rows. The first call fixes the columns and the outputs.

        Parameters are those of `prequential`.
        """
        self.prequential(X, y, sample_weight=sample_weight)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows in their order.

        Parameters are those of `prequential`.
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The prediction of each row.

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Predictions, [n] or [n, m].
        """
        predictions = self._predictions(X)
        return predictions[:, 0] if self._flat else predictions

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of `predict`, over all outputs together.

        Parameters are those of `prequential`.

        Returns
        -------
        float
            R^2.
        """
        X = as_rows(X)
        targets = target_array(y, len(X.table))
        weights = weight_array(sample_weight, len(targets))[:, None]
        errors = (self.predict(X).reshape(targets.shape) - targets) ** 2
        spread = (targets - np.average(targets, axis=0, weights=weights[:, 0])) ** 2
        return float(1.0 - (weights * errors).sum() / (weights * spread).sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _loss(self) -> Loss:
        return checked_loss("squared" if self.loss is None else self.loss, REGRESSION_LOSSES)


@with_parameters()
class StreamingGradientBoostingClassifier(LabelLearner, GradientStream):
    """Streaming gradient boosting of classes.

    Parameters
    ----------
    loss : str or loss, optional
        "logistic", "hinge" or "softmax", a loss object, or a loss of your own; None: logistic for two classes, else
        softmax. Softmax has an output for each class, with targets 0 and 1. Other losses have targets -1 and 1: of one
        output for two classes, else of an output for each class against the rest.
    """

    def decision_function(self, X: Any) -> np.ndarray:
        """The predictions y: [n] where there is one output, else [n, k].

        Parameters are those of `prequential`.

        Returns
        -------
        array
            Outputs.
        """
        decisions = self._predictions(X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def _loss(self) -> Loss:
        return self._loss_of(self.classes_.size)

    def _loss_of(self, k: int) -> Loss:
        named = ("logistic" if k == 2 else "softmax") if self.loss is None else self.loss
        return checked_loss(named, CLASSIFICATION_LOSSES)

    def _learn(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, keep: Any = None, in_scores: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        X = as_rows(X)
        labels = label_array(y, len(X.table))
        weights = weight_array(sample_weight, len(X.table))
        known = known_classes(self, classes) if hasattr(self, "_columns") else first_classes(classes, labels)
        codes = label_codes(labels, known)
        loss = self._loss_of(known.size)
        decisions = self._learn_targets(X, class_targets(codes, known.size, loss), weights, loss)
        guesses = codes_of(decisions)
        self.classes_ = known
        self.mistakes_ = getattr(self, "mistakes_", 0) + int(((guesses != codes) & (weights > 0.0)).sum())
        return guesses, decisions

    def _vote(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        decisions = self._predictions(X)
        return codes_of(decisions), decisions

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Softmax of the outputs, or their logistic function, made to sum to 1."""
        if isinstance(self._loss(), SoftmaxLoss):
            return softmax(decisions)
        chances = 0.5 * (1.0 + np.tanh(0.5 * decisions))
        if chances.shape[1] == 1:
            return np.concatenate([1.0 - chances, chances], axis=1)
        return chances / chances.sum(axis=1, keepdims=True)


def class_targets(codes: np.ndarray, k: int, loss: Loss) -> np.ndarray:
    """What a loss compares with: one-hot rows for softmax, else -1 and 1, in one column where there are two classes."""
    if k == 2 and not isinstance(loss, SoftmaxLoss):
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    here = codes[:, None] == np.arange(k)
    return here.astype(float) if isinstance(loss, SoftmaxLoss) else np.where(here, 1.0, -1.0)


def codes_of(decisions: np.ndarray) -> np.ndarray:
    """The class that outputs stand for; ties go to the lowest."""
    if decisions.shape[1] == 1:
        return (decisions[:, 0] > 0.0).astype(np.int64)
    return decisions.argmax(axis=1)
