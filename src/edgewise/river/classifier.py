"""Classifiers for river: classes may be declared, or come as they come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from river import base

from edgewise.data.targets import weight_array
from edgewise.loop.single_row import SingleRow
from edgewise.models.stream_ensemble import Rows
from edgewise.models.streaming_gradient_boosting import class_targets, codes_of
from edgewise.river.adapter import Adapter, is_absent, one_weight
from edgewise.river.features import plain
from edgewise.river.late_labels import add_labels


class StreamingClassifier(Adapter, base.MiniBatchClassifier):
    """Features and classes may come late.

    Parameters
    ----------
    seed : int, optional
        The core's `random_state`.
    classes : list, optional
        The classes, where they are known. Others may still come; see `edgewise.river.late_labels`.
    features : dict, optional
        Feature name -> `float`, `str` or the list of its categories: the first columns of the model, in this order.
    """

    _additions: ClassVar[dict[str, Any]] = {"classes": None, "features": None}
    classes: Sequence[Any] | None

    def _open(self, params: dict[str, Any]) -> None:
        super()._open(params)
        given = dict.fromkeys(map(plain, () if self.classes is None else self.classes))
        if self.classes is not None and len(given) < 2:
            raise ValueError(f"classes={self.classes!r}: at least 2 classes, or None")
        try:
            order = sorted(given)  # as the core has them, which decides ties
        except TypeError:
            order = list(given)
        self._codes: dict[Any, int] = {label: code for code, label in enumerate(order)}
        self._named = 0  # labels that `model.classes_` has

    @property
    def _multiclass(self) -> bool:
        return True

    # -- one example -----------------------------------------------------------------------------------------------

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example; `w` is its weight.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        y : label
            Its class.
        w : float
            Weight.
        """
        if is_absent(y):
            raise ValueError(f"y={y!r}: labels must be given")
        weights = one_weight(w)
        label = plain(y)
        self._check_late("class", [label] if label not in self._codes else [])
        rows = self._row_to_learn(x)
        code = self._code(label)
        self._learn(rows, np.array([code]), weights)

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """The label; None before the first example.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        **kwargs : any
            Not used; river passes some.

        Returns
        -------
        label
            The class.
        """
        if not self._started:
            return None
        labels = list(self._codes)
        if len(labels) == 1:
            return labels[0]
        guesses, _ = self._speak(self._row(x))
        return labels[guesses[0]]

    def predict_proba_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of every class known so far; none before the first example.

        Parameters are those of `predict_one`.

        Returns
        -------
        dict
            Class -> probability.
        """
        if not self._started:
            return {}
        if len(self._codes) == 1:
            return dict.fromkeys(self._codes, 1.0)
        _, decisions = self._speak(self._row(x))
        return dict(zip(self._codes, self.model._probabilities(decisions)[0].tolist(), strict=True))

    # -- many examples ---------------------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of examples: the same, number for number, as one after the other.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        y : pandas.Series
            The label of each row.
        w : array, optional
            The weight of each row; 1 by default.
        """
        labels = [plain(label) for label in y]
        if len(labels) != len(X):
            raise ValueError(f"y has {len(labels)} labels: one for each of the {len(X)} rows of X is needed")
        absent = [row for row, label in enumerate(labels) if is_absent(label)]
        if absent:
            raise ValueError(f"y is missing in row {absent[0]}: labels must be given")
        weights = weight_array(w, len(X))
        columns = self._features.read_many(X)
        first = {label: row for row, label in reversed([*enumerate(labels)]) if label not in self._codes}
        self._check_late("class", first)
        for part in self._parts(columns, len(X), first.values()):
            self._code(labels[part.start])
            codes = np.array([self._codes[label] for label in labels[part]])
            self._learn(self._encode(columns, part), codes, weights[part])

    def predict_many(self, X: Any) -> Any:
        """The label of every row of a frame, as a series.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.

        Returns
        -------
        pandas.Series
            Labels.
        """
        import pandas as pd

        labels = list(self._codes)
        if not self._started:
            return pd.Series([None] * len(X), index=X.index, dtype=object)
        if len(labels) == 1:
            return pd.Series(labels * len(X), index=X.index)
        guesses, _ = self._speak(self._rows(X))
        return pd.Series([labels[code] for code in guesses], index=X.index, dtype=None if len(X) else object)

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of every row of a frame, a column for each class.

        Parameters are those of `predict_many`.

        Returns
        -------
        pandas.DataFrame
            Probabilities.
        """
        import pandas as pd

        labels = list(self._codes)
        if not self._started:
            return pd.DataFrame(index=X.index)
        if len(labels) == 1:
            return pd.DataFrame(np.ones((len(X), 1)), index=X.index, columns=labels)
        _, decisions = self._speak(self._rows(X))
        return pd.DataFrame(self.model._probabilities(decisions), index=X.index, columns=labels)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _code(self, label: Any) -> int:
        """The code of a label, a new one where it has none; starts the model with the first example."""
        code = self._codes.setdefault(label, len(self._codes))
        # A booster needs two classes: before the second comes there is one that no example has.
        k = max(2, len(self._codes))
        if not self._started:
            self._begin(k)
        elif k > self.model.classes_.size:
            add_labels(self.model, k)
        if self._named < len(self._codes):
            self._name_classes(k)
        return code

    def _name_classes(self, k: int) -> None:
        labels = list(self._codes) + [None] * (k - len(self._codes))
        alike = len({type(label) for label in labels}) == 1
        self.model.classes_ = np.array(labels, None if alike else object)
        self._named = len(self._codes)

    def _begin(self, k: int) -> None:
        self.model._begin(self._features.columns(), k)
        self.model.mistakes_ = 0

    def _learn(self, rows: Rows, codes: np.ndarray, weights: np.ndarray) -> None:
        """Learn rows; what `StreamClassifier._learn` does after all is checked."""
        model = self.model
        codes = np.where(weights > 0.0, codes, -1)
        rounds = model.rounds_ + np.cumsum(codes >= 0)
        guesses, _ = model._run(rows, codes, weights, rounds, None, False)
        model.rounds_ = int(rounds[-1])
        model.mistakes_ += int(((guesses != codes) & (codes >= 0)).sum())

    def _speak(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the labels predicted, and the scores behind them."""
        n = len(rows.numeric)
        return self.model._run(rows, np.full(n, -1), np.ones(n), np.zeros(n, np.int64), None, True)


class BoosterClassifier(StreamingClassifier):
    __doc__ = StreamingClassifier.__doc__

    _single: SingleRow | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_single": None}  # nothing is remembered there

    def _admit(self, news: Iterable[tuple[Hashable, Any]]) -> None:
        super()._admit(news)
        self._single = None

    def _name_classes(self, k: int) -> None:
        super()._name_classes(k)
        self._single = None

    def _desk(self) -> SingleRow:
        """Room for a row, until columns, categories or classes come."""
        if self._single is None:
            self._single = SingleRow(self.model._ensembles[0])
        return self._single

    def _play(self, rows: Rows, in_scores: bool, **example: Any) -> tuple[int, np.ndarray, np.ndarray]:
        """Send one row through: the guess, the scores behind it, and which trees began anew."""
        ensembles, single = self.model._ensembles, self._desk()
        single.play(ensembles[0], rows.numeric, rows.nominal, in_scores=in_scores, **example)
        return int(single.guesses[0]), single.decisions, single.trace.restarts

    def _learn(self, rows: Rows, codes: np.ndarray, weights: np.ndarray) -> None:
        if len(codes) > 1 or weights[0] == 0.0 or not self._can_grow:
            super()._learn(rows, codes, weights)
            return
        model, code = self.model, int(codes[0])
        model.rounds_ += 1
        plan = model._ensembles[0].plan
        draws = model._draws(plan)
        uniforms = model._rng.random((1, draws)) if draws else None
        guess, _, restarts = self._play(
            rows, False, code=code, weight=weights[0], rounds=model.rounds_, uniforms=uniforms
        )
        model.mistakes_ += int(guess != code)
        if plan.restart and restarts.any():
            model.restarts_ += [(model.rounds_, int(i)) for i in np.flatnonzero(restarts[:, 0])]

    def _speak(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        if len(rows.numeric) != 1 or not self._can_grow:
            return super()._speak(rows)
        guess, decisions, _ = self._play(rows, True)
        return np.array([guess]), decisions


class OneVsAllClassifier(BoosterClassifier):
    __doc__ = StreamingClassifier.__doc__

    def _play(self, rows: Rows, in_scores: bool, **example: Any) -> tuple[int, np.ndarray, np.ndarray]:
        """As `OneVsAllOLM._run_chunk`: the booster of each class learns whether it is that class."""
        ensembles, single = self.model._ensembles, self._desk()
        code = example.pop("code", -1)
        margins = np.zeros((1, len(ensembles)))
        restarts = np.zeros(single.trace.restarts.shape, bool)
        for r, ensemble in enumerate(ensembles):
            binary = int(code == r) if code >= 0 else -1
            single.play(ensemble, rows.numeric, rows.nominal, in_scores=True, code=binary, **example)
            margins[0, r] = single.decisions[0, 1] - single.decisions[0, 0]
            restarts |= single.trace.restarts
        return int(margins[0].argmax()), margins, restarts


class GradientClassifier(StreamingClassifier):
    __doc__ = StreamingClassifier.__doc__

    def _open(self, params: dict[str, Any]) -> None:
        super()._open(params)
        if self.model.loss is None:
            # The loss stays when classes come late; the core's choice for more than two serves for all.
            self.model.loss = "logistic" if len(self._codes) == 2 else "softmax"

    def _begin(self, k: int) -> None:
        loss = self.model._loss_of(k)
        n_outputs = class_targets(np.zeros(1, np.int64), k, loss).shape[1]
        self.model._check_steps(loss, n_outputs)
        self.model._start(loss, self._features.columns(), n_outputs)
        self.model.mistakes_ = 0

    def _learn(self, rows: Rows, codes: np.ndarray, weights: np.ndarray) -> None:
        model = self.model
        loss = model._loss()
        decisions = model._run(loss, rows, class_targets(codes, model.classes_.size, loss), weights)
        model.rounds_ += int((weights > 0.0).sum())
        model.mistakes_ += int(((codes_of(decisions) != codes) & (weights > 0.0)).sum())

    def _speak(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        n = len(rows.numeric)
        targets = np.zeros((n, model._n_outputs))
        decisions = model._run(model._loss(), rows, targets, np.zeros(n), model.final == "average")
        return codes_of(decisions), decisions
