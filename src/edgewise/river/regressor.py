"""Regressors for river."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from river import base

from edgewise.data.targets import weight_array
from edgewise.models.stream_ensemble import Rows
from edgewise.models.streaming_gradient_boosting import target_array
from edgewise.river.adapter import Adapter, one_weight


class StreamingRegressor(Adapter, base.MiniBatchRegressor):
    """Features may come late.

    Parameters
    ----------
    seed : int, optional
        The core's `random_state`.
    features : dict, optional
        Feature name -> `float`, `str` or the list of its categories: the first columns of the model, in this order.
    """

    def learn_one(self, x: Mapping[Hashable, Any], y: float, w: float = 1.0) -> None:
        """Learn one example; `w` is its weight.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        y : float
            Its target.
        w : float
            Weight.
        """
        targets, weights = target_array([y], 1), one_weight(w)
        self._learn(self._row_to_learn(x), targets, weights)

    def predict_one(self, x: Mapping[Hashable, Any]) -> float:
        """The prediction; `start` before the first example.

        Parameters
        ----------
        x : dict
            Feature name -> value.

        Returns
        -------
        float
            The prediction.
        """
        if not self._started:
            return float(np.ravel(self.model.start)[0])
        return float(self._speak(self._row(x))[0])

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of examples: the same, number for number, as one after the other.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        y : pandas.Series
            The target of each row.
        w : array, optional
            The weight of each row; 1 by default.
        """
        targets, weights = target_array(y, len(X)), weight_array(w, len(X))
        columns = self._features.read_many(X)
        for part in self._parts(columns, len(X), ()):
            self._learn(self._encode(columns, part), targets[part], weights[part])

    def predict_many(self, X: Any) -> Any:
        """The prediction of every row of a frame, as a series.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.

        Returns
        -------
        pandas.Series
            Predictions.
        """
        import pandas as pd

        found = self._speak(self._rows(X)) if self._started else np.full(len(X), self.predict_one({}))
        return pd.Series(found, index=X.index)

    def _learn(self, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> None:
        model = self.model
        loss = model._loss()
        if not self._started:
            model._check_steps(loss, 1)
            model._start(loss, self._features.columns(), 1)
            model._flat = True
        model._run(loss, rows, targets, weights)
        model.rounds_ += int((weights > 0.0).sum())

    def _speak(self, rows: Rows) -> np.ndarray:
        model = self.model
        n = len(rows.numeric)
        return model._run(model._loss(), rows, np.zeros((n, 1)), np.zeros(n), model.final == "average")[:, 0]
