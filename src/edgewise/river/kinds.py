"""The kinds of river estimator that learn from labels and numbers: classifiers, regressors, multi-label classifiers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from river import base

from edgewise.data.targets import target_array
from edgewise.loop.inputs import ordered
from edgewise.loop.online_loop import SingleRow
from edgewise.loop.ranking_loop import run_relevance
from edgewise.models.stream_ensemble import Rows
from edgewise.models.streaming_gradient_boosting import class_targets, codes_of
from edgewise.river.adapter import Adapter, Supervised, one_weight
from edgewise.river.features import plain
from edgewise.river.late import add_labels


class BoosterClassifier(Supervised, base.MiniBatchClassifier):
    """Features and classes may come late."""

    additions = ("classes", "features")
    classes: Sequence[Any] | None
    _multiclass = True
    _single: SingleRow | None = None  # working arrays for a row, until columns, categories or classes come

    def _open(self, params: dict[str, Any]) -> None:
        super()._open(params)
        declared = dict.fromkeys(map(plain, () if self.classes is None else self.classes))
        if self.classes is not None and len(declared) < 2:
            raise ValueError(f"classes={self.classes!r}: at least 2 classes, or None")
        try:
            order = sorted(declared)  # as the core has them, which decides ties
        except TypeError:
            order = list(declared)
        self._codes: dict[Any, int] = {label: code for code, label in enumerate(order)}
        self._named = 0  # labels that `model.classes_` has

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_single": None}

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
        return dict(zip(self._codes, self._probabilities(self._row(x))[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of every row of a frame, a column for each class.

        Parameters are those of `predict_many`.

        Returns
        -------
        pandas.DataFrame
            Probabilities.
        """
        import pandas as pd

        if not self._started:
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(self._probabilities(self._rows(X)), index=X.index, columns=list(self._codes))

    # -- inside ----------------------------------------------------------------------------------------------------

    def _targets(self, y: Any, n: int | None) -> list[Any]:
        labels = [plain(label) for label in y]
        if n is not None and len(labels) != n:
            raise ValueError(f"y has {len(labels)} labels: one for each of the {n} rows of X is needed")
        for row, label in enumerate(labels):
            if label is None or label != label:
                where = f"y={label!r}" if n is None else f"y is missing in row {row}"
                raise ValueError(f"{where}: labels must be given")
        return labels

    def _first_seen(self, targets: list[Any]) -> dict[Any, int]:
        return {label: row for row, label in reversed([*enumerate(targets)]) if label not in self._codes}

    def _learn(self, rows: Rows, targets: list[Any], weights: np.ndarray) -> None:
        self._codes.setdefault(targets[0], len(self._codes))
        # A booster needs two classes: before the second comes there is one that no example has.
        k = max(2, len(self._codes))
        if not self._started:
            self._begin(k)
            self.model.mistakes_ = 0
        elif k > self.model.classes_.size:
            add_labels(self.model, k)
        if self._named < len(self._codes):
            labels = list(self._codes) + [None] * (k - len(self._codes))
            alike = len({type(label) for label in labels}) == 1
            self.model.classes_ = np.array(labels, None if alike else object)
            self._named, self._single = len(self._codes), None
        self._learn_codes(rows, np.array([self._codes[label] for label in targets]), weights)

    def _predicted(self, rows: Rows) -> list[Any]:
        labels = list(self._codes)
        if len(labels) == 1:
            return labels * len(rows.numeric)
        guesses, _ = self._vote(rows)
        return [labels[code] for code in guesses]

    def _probabilities(self, rows: Rows) -> np.ndarray:
        if len(self._codes) == 1:
            return np.ones((len(rows.numeric), 1))
        _, decisions = self._vote(rows)
        return self.model._probabilities(decisions)

    def _admit(self, news: Iterable[tuple[Hashable, Any]]) -> None:
        super()._admit(news)
        self._single = None

    def _begin(self, k: int) -> None:
        self.model._begin(self._features.columns(), k)

    def _learn_codes(self, rows: Rows, codes: np.ndarray, weights: np.ndarray) -> None:
        """What `StreamClassifier._learn` does after all is checked; a single row takes the short way."""
        model = self.model
        if len(codes) > 1 or weights[0] == 0.0 or not self._can_grow:
            codes = np.where(weights > 0.0, codes, -1)
            rounds = model.rounds_ + np.cumsum(codes >= 0)
            guesses, _ = model._run(rows, codes, weights, rounds, None, False)
            model.rounds_ = int(rounds[-1])
            model.mistakes_ += int(((guesses != codes) & (codes >= 0)).sum())
            return
        model.rounds_ += 1
        plan = model._ensembles[0].plan
        draws = model._draws(plan)
        guess, _, restarts = self._play(
            rows,
            in_scores=False,
            code=int(codes[0]),
            weight=weights[0],
            rounds=model.rounds_,
            uniforms=model._rng.random((1, draws)) if draws else None,
        )
        model.mistakes_ += int(guess != codes[0])
        if plan.restart and restarts.any():
            model.restarts_ += [(model.rounds_, int(i)) for i in np.flatnonzero(restarts[:, 0])]

    def _vote(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the labels predicted, and the scores behind them."""
        n = len(rows.numeric)
        if n != 1 or not self._can_grow:
            return self.model._run(rows, np.full(n, -1), np.ones(n), np.zeros(n, np.int64), None, True)
        guess, decisions, _ = self._play(rows, in_scores=True)
        return np.array([guess]), decisions

    def _play(self, rows: Rows, **example: Any) -> tuple[int, np.ndarray, np.ndarray]:
        """Send one row through: the guess, the scores behind it, and which trees began anew."""
        (ensemble,), single = self.model._ensembles, self._workspace()
        single.play(ensemble, rows.numeric, rows.nominal, **example)
        return int(single.guesses[0]), single.decisions, single.trace.restarts

    def _workspace(self) -> SingleRow:
        """Working arrays for a row, kept until columns, categories or classes come."""
        if self._single is None:
            self._single = SingleRow(self.model._ensembles[0])
        return self._single


class OneVsAllClassifier(BoosterClassifier):
    """Features and classes may come late."""

    def _play(self, rows: Rows, **example: Any) -> tuple[int, np.ndarray, np.ndarray]:
        """As `OneVsAllOLM._run_chunk`: the booster of each class learns whether it is that class."""
        ensembles, single = self.model._ensembles, self._workspace()
        code = example.pop("code", -1)
        margins = np.zeros((1, len(ensembles)))
        restarts = np.zeros(single.trace.restarts.shape, bool)
        for r, ensemble in enumerate(ensembles):
            binary = int(code == r) if code >= 0 else -1
            single.play(ensemble, rows.numeric, rows.nominal, **example | {"code": binary, "in_scores": True})
            margins[0, r] = single.decisions[0, 1] - single.decisions[0, 0]
            restarts |= single.trace.restarts
        return int(margins[0].argmax()), margins, restarts


class GradientClassifier(BoosterClassifier):
    """Features and classes may come late."""

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

    def _learn_codes(self, rows: Rows, codes: np.ndarray, weights: np.ndarray) -> None:
        model = self.model
        targets = class_targets(codes, model.classes_.size, model._loss())
        decisions = learn_gradients(model, rows, targets, weights)
        model.mistakes_ += int(((codes_of(decisions) != codes) & (weights > 0.0)).sum())

    def _vote(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        decisions = predict_gradients(self.model, rows)
        return codes_of(decisions), decisions


class Regressor(Supervised, base.MiniBatchRegressor):
    """Features may come late."""

    @property
    def _unknown(self) -> float:
        return float(np.ravel(self.model.start)[0])

    def _targets(self, y: Any, n: int | None) -> np.ndarray:
        return target_array(y, 1 if n is None else n)

    def _learn(self, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> None:
        model = self.model
        if not self._started:
            loss = model._loss()
            model._check_steps(loss, 1)
            model._start(loss, self._features.columns(), 1)
            model._flat = True
        learn_gradients(model, rows, targets, weights)

    def _predicted(self, rows: Rows) -> np.ndarray:
        return predict_gradients(self.model, rows)[:, 0]


def learn_gradients(model: Any, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Let a gradient booster learn rows; its outputs before."""
    outputs = model._run(model._loss(), rows, targets, weights)
    model.rounds_ += int((weights > 0.0).sum())
    return outputs


def predict_gradients(model: Any, rows: Rows) -> np.ndarray:
    """Outputs of a gradient booster for rows that are not learned."""
    n = len(rows.numeric)
    return model._run(model._loss(), rows, np.zeros((n, model._n_outputs)), np.zeros(n), model.final == "average")


class MultiLabelClassifier(Adapter, base.MultiLabelClassifier):
    """Features and labels may come late."""

    additions = ("labels", "features")
    labels: Sequence[Hashable] | None

    def _open(self, params: dict[str, Any]) -> None:
        super()._open(params)
        declared = dict.fromkeys(() if self.labels is None else self.labels)
        self._places: dict[Hashable, int] = {label: j for j, label in enumerate(declared)}

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
        for label, is_relevant in y.items():
            if is_relevant not in (0, 1):
                raise ValueError(f"y[{label!r}]={is_relevant!r}: True if the label is relevant, else False")
        weights = one_weight(w)
        rows = self._row_to_learn(x)
        late = sorted((label for label in y if label not in self._places), key=str)
        self._places |= {label: len(self._places) + j for j, label in enumerate(late)}
        # There are at least two labels to rank: before the second comes there is one that is never relevant.
        k, model = max(2, len(self._places)), self.model
        if not self._started:
            model._begin(self._features.columns(), k)
            model.skipped_ = 0
        elif k > model.labels_.size:
            add_labels(model, k)
        if late or not hasattr(model, "labels_"):
            model.labels_ = np.full(k, None)
            model.labels_[: len(self._places)] = list(self._places)
        relevant = np.zeros((1, k), bool)
        relevant[0, [self._places[label] for label, is_relevant in y.items() if is_relevant]] = True
        size = int(relevant.sum())
        one_sided = size in (0, k)
        learned = not one_sided and weights[0] > 0.0
        model._run(
            rows, np.array([size if learned else -1]), ordered(relevant), weights, np.array([model.rounds_ + learned])
        )
        model.rounds_ += int(learned)
        model.skipped_ += int(one_sided)

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
        chances = zip(self._places, p[0].tolist(), strict=False)
        return {label: {False: 1.0 - chance, True: chance} for label, chance in chances}

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

        Parameters are those of `predict_proba_one`.

        Returns
        -------
        list
            Labels.
        """
        if not self._started:
            return []
        labels = list(self._places)
        return [labels[j] for j in np.argsort(-self._scores(x)[0, : len(labels)], kind="stable")]

    def _scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        none = np.zeros(1, np.int64)
        order = np.zeros((1, self.model.labels_.size), np.int32)
        scores, _ = self.model._run(self._row(x), none - 1, order, np.ones(1), none)
        return scores
