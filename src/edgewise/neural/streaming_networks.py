"""Streaming gradient boosting of networks as estimators: `StreamingNetworksRegressor`, `StreamingNetworksClassifier`.

Hu et al., "Gradient Boosting on Stochastic Data Streams" (AISTATS 2017): Algorithm 1 (`rule="smooth"`) and Algorithm 2
(`rule="residual"`), with networks trained by Adam as in Section 6.2. The model predicts with the last hypotheses, as
the paper's experiments do. `rules` has the table from the paper's letters to our names.

Rows are learned in mini-batches of `batch_size`, one Adam step each. `prequential` is exact for mini-batches: every row
is predicted by the model as it was before its mini-batch, not before the row. A call that ends within a mini-batch
makes a shorter one, so unlike with trees it matters where a stream is cut (multiples of `batch_size` are the same).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from edgewise.data.feature_names import check_names, check_width, has_names
from edgewise.data.table import Feature, Table, as_table, recode
from edgewise.data.targets import first_classes, known_classes, label_array, label_codes, target_array
from edgewise.estimator import Estimator
from edgewise.neural import device_of, load_torch
from edgewise.neural.weak_networks import DenseNetwork, WeakNetwork, positive
from edgewise.parameters import Saveable, with_parameters

RULES = ("smooth", "residual")


@with_parameters()
class NetworkParameters(Estimator):
    """Parameters of boosted networks, for numbers and for labels.

    Parameters
    ----------
    n_estimators : int
        Number of networks N.
    estimator : network, optional
        The kind of network, `DenseNetwork` or `ConvolutionNetwork`; None: `DenseNetwork()`.
    loss : str, optional
        The name of a loss.
    rule : str
        "smooth": Algorithm 1; "residual": Algorithm 2, with steps 1/(lambda i).
    learning_rate : float
        eta of Algorithm 1.
    regularization : float
        r of the loss's r y^2.
    radius : float, optional
        The ball onto which Algorithm 2 projects partial sums; None: none.
    adam_step : float
        Adam's step size; `set_params(adam_step=...)` holds from the next rows on.
    batch_size : int
        Rows of a mini-batch.
    epochs : int
        How often `fit` goes through its rows, shuffled.
    device : str
        "cpu" or "cuda".
    random_state : int
        Seed.
    """

    n_estimators: int = 20
    _: KW_ONLY
    estimator: WeakNetwork | None = None
    loss: str | None = None
    rule: str = "smooth"
    learning_rate: float = 0.3
    regularization: float = 0.0
    radius: float | None = None
    adam_step: float = 0.01
    batch_size: int = 32
    epochs: int = 1
    device: str = "cpu"
    random_state: int = 0


class StreamingNetworks(Saveable, NetworkParameters):
    """What regression and classification share. Features should have about unit scale."""

    LOSSES: ClassVar[tuple[str, ...]]
    _first_learned = "_ensemble"

    # learned
    n_features_in_: int
    rows_: int
    classes_: np.ndarray  # of labels
    _ensemble: Any  # a NetworkEnsemble
    _features: tuple[Feature, ...]
    _named: bool = True  # whether the columns came with names; the first files do not say
    _flat: bool  # of numbers: whether targets came in one dimension
    _width: int  # of numbers: targets of a row

    # -- learning and predicting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn these rows, shuffled, `epochs` times.

        Parameters are those of `partial_fit`.
        """
        return self._anew(lambda fresh: fresh._learn(X, y, shuffled=True))

    def predict(self, X: Any) -> np.ndarray:
        """Predictions: labels, of equals the first; or numbers, [rows] if the targets learned were, else [rows, m].

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.

        Returns
        -------
        array
            Predictions, [n] or [n, m].
        """
        return self._answers(self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of `predict` for numbers, its accuracy for labels.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            Targets, [n] or [n, m], or the label of each row.
        sample_weight : array, optional
            The weight of each row; 1 by default.

        Returns
        -------
        float
            R^2, or the share of rows whose prediction is right.
        """
        predicted = self.predict(X)
        if self._task == "classifier":
            return float(np.average(predicted == np.asarray(y), weights=sample_weight))
        from sklearn.metrics import r2_score

        return float(r2_score(y, predicted, sample_weight=sample_weight))

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns, if they came with names."""
        self._started()
        if not self._named:
            raise AttributeError(f"this {type(self).__name__} was started with columns that have no names")
        return np.array([feature.name for feature in self._features], object)

    @property
    def edges_(self) -> np.ndarray:
        """The edge of each learner over all rows learned (Definition 4.1)."""
        self._started()
        return self._ensemble.edges.cpu().numpy()

    # -- what a task adds ------------------------------------------------------------------------------------------

    def _targets(self, y: Any, n: int, classes: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """Targets [n, m] as the loss takes them, and the attributes that are known once they are learned."""
        raise TypeError(f"{type(self).__name__} does not say what it learns")

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        """Predictions from scores [n, m]."""
        raise TypeError(f"{type(self).__name__} does not say what it predicts")

    def _loss(self, n_outputs: int) -> str:
        """The name of the loss among those of `edgewise.neural.rules`."""
        return self.LOSSES[0] if self.loss is None else self.loss

    # -- inside ----------------------------------------------------------------------------------------------------

    def _started(self) -> None:
        if not hasattr(self, "_ensemble"):
            self._not_started()

    def _check(self) -> None:
        for name in ("n_estimators", "batch_size", "epochs"):
            positive(name, getattr(self, name))
        for name in ("learning_rate", "adam_step"):
            _check_number(name, getattr(self, name), above=0)
        _check_number("regularization", self.regularization, least=0)
        if self.radius is not None:
            _check_number("radius", self.radius, least=0)  # below 0 the set projected onto is empty
        if self.loss is not None and self.loss not in self.LOSSES:
            raise ValueError(f"loss={self.loss!r}: expected one of {', '.join(self.LOSSES)}")
        if self.rule not in RULES:
            raise ValueError(f"rule={self.rule!r}: expected one of {', '.join(RULES)}")
        if self.rule == "smooth" and self.radius is not None:
            raise ValueError(f'radius={self.radius!r}: only rule="residual" projects')

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.target_tags.multi_output = self._task == "regressor"
        return tags

    def _design(self, X: Any) -> tuple[np.ndarray, tuple[Feature, ...], bool]:
        """Rows as networks take them, the columns they were read with, and whether these have names."""
        table, named = as_table(X), has_names(X)
        if not hasattr(self, "_ensemble"):
            check_width(table)
            return design(table, table.features), table.features, named
        names = [feature.name for feature in self._features]
        check_names(type(self).__name__, names, self._named, table.feature_names, named)
        return design(table, self._features), self._features, self._named

    def _begin(self, n_inputs: int, n_outputs: int) -> Any:
        """A fresh ensemble, which is not kept here."""
        from edgewise.neural.ensemble import NetworkEnsemble
        from edgewise.neural.rules import Residual, Smooth, loss_convexity

        network = DenseNetwork() if self.estimator is None else self.estimator
        network.check(n_inputs)
        loss = self._loss(n_outputs)
        convexity = loss_convexity(loss, self.regularization)
        if self.rule == "residual" and not convexity > 0:
            raise ValueError(
                f'regularization={self.regularization!r}: rule="residual" takes steps 1/(lambda i), and without '
                f"regularization the {loss} loss has lambda = 0"
            )
        return NetworkEnsemble(
            network.build(self.n_estimators, n_inputs, n_outputs, self.random_state),
            self.n_estimators,
            Smooth(self.learning_rate) if self.rule == "smooth" else Residual(convexity, self.radius),
            loss,
            self.regularization,
            self.adam_step,
            device_of(self.device),
        )

    def _learn(self, X: Any, y: Any, classes: Any = None, *, shuffled: bool = False) -> np.ndarray:
        """Check rows, then learn them in order or `epochs` times shuffled; the scores before learning each last."""
        self._check()
        rows, features, named = self._design(X)
        targets, learned = self._targets(y, len(rows), classes)
        if shuffled and len(rows) == 0:
            raise ValueError("X has 0 rows: there is nothing to learn from")
        torch = load_torch()
        ensemble = self._ensemble if hasattr(self, "_ensemble") else self._begin(rows.shape[1], targets.shape[1])
        ensemble.set_adam_step(self.adam_step)
        x, z = (torch.from_numpy(array).to(ensemble.device) for array in (rows, targets))
        guesses = torch.zeros_like(z)
        generator = torch.Generator(ensemble.device).manual_seed(self.random_state)
        epochs = self.epochs if shuffled else 1
        for _ in range(epochs):
            if shuffled:
                order = torch.randperm(len(x), generator=generator, device=ensemble.device)
            else:
                order = torch.arange(len(x), device=ensemble.device)
            for batches in in_batches(order, self.batch_size):
                ensemble.learn(x, z, batches, guesses)
        self._ensemble, self._features, self._named = ensemble, features, named
        self.n_features_in_ = len(features)
        self.rows_ = getattr(self, "rows_", 0) + len(rows) * epochs
        vars(self).update(learned)
        return guesses.cpu().numpy().astype(np.float64)

    def _scores(self, X: Any) -> np.ndarray:
        """Predictions [rows, m] of the loss's scores."""
        self._started()
        rows, _, _ = self._design(X)
        x = load_torch().from_numpy(rows).to(self._ensemble.device)
        return self._ensemble.predict(x).cpu().numpy().astype(np.float64)


@with_parameters()
class StreamingNetworksRegressor(StreamingNetworks):
    """Boosted networks for real targets, one or several per row. Features should have about unit scale.

    Parameters
    ----------
    loss : str, optional
        "squared" (half the squared error; as None) or "absolute".
    """

    _task = "regressor"
    LOSSES = ("squared", "absolute")

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn further rows, in order, in mini-batches.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            Targets, [n] or [n, m].
        """
        self._learn(X, y)
        return self

    def prequential(self, X: Any, y: Any) -> np.ndarray:
        """Predict, then learn, mini-batch by mini-batch; the predictions.

        Parameters are those of `partial_fit`.

        Returns
        -------
        array
            Predictions, each made before its mini-batch was learned.
        """
        return self._answers(self._learn(X, y))

    def _targets(self, y: Any, n: int, classes: Any) -> tuple[np.ndarray, dict[str, Any]]:
        targets = np.ascontiguousarray(target_array(y, n), dtype=np.float32)
        shape = {"_flat": np.asarray(y).ndim == 1, "_width": targets.shape[1]}
        if hasattr(self, "_ensemble") and shape != {"_flat": self._flat, "_width": self._width}:
            raise ValueError(
                f"y has shape {np.asarray(y).shape}: this model was started with {self._width} targets per row"
            )
        return targets, shape

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if self._flat else scores


@with_parameters()
class StreamingNetworksClassifier(StreamingNetworks):
    """Boosted networks for labels. Features should have about unit scale.

    Parameters
    ----------
    loss : str, optional
        "logistic" (as None; for more than two classes softmax cross-entropy), or "hinge" for two classes.
    """

    _task = "classifier"
    LOSSES = ("logistic", "hinge")

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn further rows, in mini-batches. The first call fixes the classes (`classes`, or those in y).

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        classes : array, optional
            All labels that may come; by default those in y. Needed in the first call only.
        """
        self._learn(X, y, classes)
        return self

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, mini-batch by mini-batch; the predicted labels.

        Parameters are those of `partial_fit`.

        Returns
        -------
        array
            The labels [n], each predicted before its mini-batch was learned.
        """
        return self._answers(self._learn(X, y, classes))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores [rows, k]; for two classes [rows], above 0 for the second.

        Parameters are those of `predict`.

        Returns
        -------
        array
            Scores [n, k]; for two classes [n].
        """
        scores = self._scores(X)
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [rows, k] by the logistic function of the scores, or their softmax.

        Parameters are those of `predict`.

        Returns
        -------
        array
            Probabilities [n, k], in the order of `classes_`.
        """
        from scipy.special import softmax

        scores = self._scores(X)
        if self.classes_.size == 2:
            scores = np.hstack([np.zeros_like(scores), scores])
        return softmax(scores, axis=1)

    def _answers(self, scores: np.ndarray) -> np.ndarray:
        codes = (scores[:, 0] > 0).astype(np.int64) if self.classes_.size == 2 else scores.argmax(axis=1)
        return self.classes_[codes]

    def _loss(self, n_outputs: int) -> str:
        loss = super()._loss(n_outputs)
        if n_outputs == 1:
            return loss
        if loss == "hinge":
            raise ValueError(f"loss='hinge': for two classes only, and there are {n_outputs}")
        return "softmax"

    def _targets(self, y: Any, n: int, classes: Any) -> tuple[np.ndarray, dict[str, Any]]:
        labels = label_array(y, n)
        known = known_classes(self, classes) if hasattr(self, "_ensemble") else first_classes(classes, labels)
        return class_targets(labels, n, known), {"classes_": known}


def design(table: Table, features: Sequence[Feature]) -> np.ndarray:
    """Rows as float32, a nominal feature as one column per category of `features` (a category unknown there: all 0)."""
    table = recode(table, features)
    columns = []
    for feature, column in zip(features, table.values.T, strict=True):
        if feature.categories is None:
            bad = np.flatnonzero(~np.isfinite(column))
            if bad.size:
                found = "NaN" if np.isnan(column[bad[0]]) else column[bad[0]]
                raise ValueError(f"X has {found} in row {bad[0]}, column {feature.name!r}: networks need numbers")
            columns.append(column[:, None])
        else:
            columns.append(column[:, None] == np.arange(len(feature.categories)))
    return np.ascontiguousarray(np.hstack(columns), dtype=np.float32)


def class_targets(y: Any, rows: int, classes: np.ndarray) -> np.ndarray:
    """Labels as float32: +-1 [rows, 1] for two classes (the second is +1), one-hot [rows, k] for more."""
    codes = label_codes(label_array(y, rows), classes)
    if classes.size == 2:
        return (2.0 * codes - 1.0).astype(np.float32)[:, None]
    return (codes[:, None] == np.arange(classes.size)).astype(np.float32)


def in_batches(order: Any, batch_size: int) -> Iterator[Any]:
    """Row numbers as whole mini-batches [count, batch_size], then what is left as one shorter mini-batch."""
    whole = len(order) // batch_size * batch_size
    if whole:
        yield order[:whole].view(-1, batch_size)
    if whole < len(order):
        yield order[whole:].view(1, -1)


def _check_number(name: str, value: Any, *, above: float = -np.inf, least: float = -np.inf) -> None:
    real = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not real or not (value > above and value >= least):
        wanted = f"above {above}" if least == -np.inf else f"of at least {least}"
        raise ValueError(f"{name}={value!r}: expected a number {wanted}")
