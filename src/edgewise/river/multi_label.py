"""Multi-label classifiers for river: rankers, which learn dicts of labels and give them back."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from river import base

from edgewise.loop.label_sets import ordered
from edgewise.loop.ranking_loop import run_relevance
from edgewise.models.stream_ensemble import Rows
from edgewise.river.adapter import Adapter, one_weight
from edgewise.river.late_labels import add_labels


class StreamingMultiLabelClassifier(Adapter, base.MultiLabelClassifier):
    """Features and labels may come late.

    Parameters
    ----------
    seed : int, optional
        The core's `random_state`.
    labels : list, optional
        The labels, where they are known. Others may still come; see `edgewise.river.late_labels`.
    features : dict, optional
        Feature name -> `float`, `str` or the list of its categories: the first columns of the model, in this order.
    """

    _additions: ClassVar[dict[str, Any]] = {"labels": None, "features": None}
    labels: Sequence[Hashable] | None

    def _open(self, params: dict[str, Any]) -> None:
        super()._open(params)
        given = dict.fromkeys(() if self.labels is None else self.labels)
        self._places: dict[Hashable, int] = {label: j for j, label in enumerate(given)}

    def learn_one(self, x: Mapping[Hashable, Any], y: Mapping[Hashable, Any], w: float = 1.0) -> None:
        """Learn one example: the labels that are true in `y`; those that `y` does not have are not relevant.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        y : dict
            Label -> whether it is relevant.
        w : float
            Weight.
        """
        for label, relevant in y.items():
            if relevant not in (0, 1):
                raise ValueError(f"y[{label!r}]={relevant!r}: True if the label is relevant, else False")
        weights = one_weight(w)
        rows = self._row_to_learn(x)
        late = sorted((label for label in y if label not in self._places), key=str)
        self._places |= {label: len(self._places) + j for j, label in enumerate(late)}
        # There are at least two labels to rank: before the second comes there is one that is never relevant.
        k = max(2, len(self._places))
        model = self.model
        if not self._started:
            model._begin(self._features.columns(), k)
            model.skipped_ = 0
        elif k > model.labels_.size:
            add_labels(model, k)
        if late or not hasattr(model, "labels_"):
            names = np.empty(k, object)
            names[: len(self._places)] = list(self._places)
            model.labels_ = names
        self._learn(rows, y, weights)

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, dict[bool, float]]:
        """The probability that each label is relevant; none before the first example.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        **kwargs : any
            Not used; river passes some.

        Returns
        -------
        dict
            Label -> probabilities of True and False.
        """
        if not self._started:
            return {}
        scores = self._scores(x)
        p = np.zeros(scores.shape)
        run_relevance(self.model._ensemble.calibration, scores, np.zeros(scores.shape[1]), p)
        return {
            label: {False: 1.0 - chance, True: chance}
            for label, chance in zip(self._places, p[0].tolist(), strict=False)
        }

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, bool]:
        """Whether each label is relevant: at least as likely as not.

        Parameters are those of `predict_proba_one`.

        Returns
        -------
        dict
            Label -> whether it is relevant.
        """
        return {label: p[True] >= 0.5 for label, p in self.predict_proba_one(x).items()}

    def rank_one(self, x: Mapping[Hashable, Any]) -> list[Any]:
        """The labels in order, best first; ties go to the one that came first.

        Parameters
        ----------
        x : dict
            Feature name -> value.

        Returns
        -------
        list
            Labels.
        """
        if not self._started:
            return []
        labels = list(self._places)
        return [labels[j] for j in np.argsort(-self._scores(x)[0, : len(labels)], kind="stable")]

    # -- inside ----------------------------------------------------------------------------------------------------

    def _learn(self, rows: Rows, y: Mapping[Hashable, Any], weights: np.ndarray) -> None:
        model = self.model
        relevant = np.zeros((1, model.labels_.size), bool)
        relevant[0, [self._places[label] for label, is_relevant in y.items() if is_relevant]] = True
        size = int(relevant.sum())
        one_sided = size in (0, relevant.size)
        learned = not one_sided and weights[0] > 0.0
        sizes = np.array([size if learned else -1])
        model._run(rows, sizes, ordered(relevant), weights, np.array([model.rounds_ + learned]))
        model.rounds_ += int(learned)
        model.skipped_ += int(one_sided)

    def _scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        k = self.model.labels_.size
        none = np.zeros(1, np.int64)
        scores, _ = self.model._run(self._row(x), none - 1, np.zeros((1, k), np.int32), np.ones(1), none)
        return scores
