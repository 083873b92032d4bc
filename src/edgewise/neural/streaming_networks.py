"""Streaming gradient boosting of networks as estimators: `StreamingNetworksRegressor`, `StreamingNetworksClassifier`.

Hu et al., "Gradient Boosting on Stochastic Data Streams" (AISTATS 2017): Algorithm 1 (`rule="smooth"`) and Algorithm 2
(`rule="residual"`), with networks trained by Adam as in Section 6.2. The model predicts with the last hypotheses, as
the paper's experiments do. `rules` has the table from the paper's letters to our names.

Rows are learned in mini-batches of `batch_size`, one Adam step each. `prequential` is exact for mini-batches: every row
is predicted by the model as it was before its mini-batch, not before the row. A call that ends within a mini-batch
makes a shorter one, so unlike with trees it matters where a stream is cut (multiples of `batch_size` are the same).
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from edgewise.data.feature_names import check_names, check_width, has_names
from edgewise.data.table import Feature, as_table
from edgewise.data.targets import first_classes, known_classes, label_array
from edgewise.estimator import Estimator
from edgewise.neural.inputs import class_targets, design, real_targets
from edgewise.neural.torch_extra import device_of, load_torch
from edgewise.neural.weak_networks import DenseNetwork, WeakNetwork, positive
from edgewise.parameters import Saveable

RULES = ("smooth", "residual")


class Inputs(NamedTuple):
    """Rows as networks take them, and the columns they were read with."""

    rows: np.ndarray
    features: tuple[Feature, ...]
    named: bool  # whether the columns came with names


class StreamingNetworks(Saveable, Estimator):
    """What regression and classification share. Features should have about unit scale."""

    LOSSES: ClassVar[tuple[str, ...]]
    _first_learned = "_ensemble"

    # learned
    n_features_in_: int
    rows_: int
    _ensemble: Any  # a NetworkEnsemble
    _features: tuple[Feature, ...]
    _named: bool

    def __init__(
        self,
        n_estimators: int = 20,
        *,
        estimator: WeakNetwork | None = None,
        loss: str | None = None,
        rule: str = "smooth",
        learning_rate: float = 0.3,
        regularization: float = 0.0,
        radius: float | None = None,
        adam_step: float = 0.01,
        batch_size: int = 32,
        epochs: int = 1,
        device: str = "cpu",
        random_state: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.loss = loss
        self.rule = rule
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.radius = radius
        self.adam_step = adam_step
        self.batch_size = batch_size
        self.epochs = epochs
        self.device = device
        self.random_state = random_state

    # -- what can be seen ------------------------------------------------------------------------------------------

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
        return tags

    def _inputs(self, X: Any) -> Inputs:
        table, named = as_table(X), has_names(X)
        if not hasattr(self, "_ensemble"):
            check_width(table)
            return Inputs(design(table, table.features), table.features, named)
        names = [feature.name for feature in self._features]
        check_names(type(self).__name__, names, self._named, table.feature_names, named)
        return Inputs(design(table, self._features), self._features, self._named)

    def _begin(self, n_inputs: int, n_outputs: int) -> Any:
        """A fresh ensemble, which is not kept here."""
        from edgewise.neural import losses
        from edgewise.neural.ensemble import NetworkEnsemble
        from edgewise.neural.rules import Residual, Smooth

        network = DenseNetwork() if self.estimator is None else self.estimator
        network.check(n_inputs)
        loss = self._loss(n_outputs)
        convexity = losses.convexity(loss, self.regularization)
        if self.rule == "smooth":
            rule: Smooth | Residual = Smooth(self.learning_rate)
        elif convexity > 0:
            rule = Residual(convexity, self.radius)
        else:
            raise ValueError(
                f'regularization={self.regularization!r}: rule="residual" takes steps 1/(lambda i), and without '
                f"regularization the {loss} loss has lambda = 0"
            )
        return NetworkEnsemble(
            network.build(self.n_estimators, n_inputs, n_outputs, self.random_state),
            self.n_estimators,
            rule,
            loss,
            self.regularization,
            self.adam_step,
            device_of(self.device),
        )

    def _loss(self, n_outputs: int) -> str:
        """The name of the loss among those of `edgewise.neural.losses`."""
        return self.LOSSES[0] if self.loss is None else self.loss

    def _learn(self, inputs: Inputs, targets: np.ndarray, shuffled: bool) -> np.ndarray:
        """Learn checked rows, in order or `epochs` times shuffled; the last predictions made before learning."""
        rows, features, named = inputs
        if shuffled and len(rows) == 0:
            raise ValueError("X has 0 rows: there is nothing to learn from")
        torch = load_torch()
        ensemble = self._ensemble if hasattr(self, "_ensemble") else self._begin(rows.shape[1], targets.shape[1])
        ensemble.set_adam_step(self.adam_step)
        x, z = (torch.from_numpy(array).to(ensemble.device) for array in (rows, targets))
        guesses = torch.zeros_like(z)
        chance = torch.Generator(ensemble.device).manual_seed(self.random_state)
        for _ in range(self.epochs if shuffled else 1):
            if shuffled:
                order = torch.randperm(len(x), generator=chance, device=ensemble.device)
            else:
                order = torch.arange(len(x), device=ensemble.device)
            for batches in in_batches(order, self.batch_size):
                ensemble.learn(x, z, batches, guesses)
        self._ensemble, self._features, self._named = ensemble, features, named
        self.n_features_in_ = len(features)
        self.rows_ = getattr(self, "rows_", 0) + len(rows) * (self.epochs if shuffled else 1)
        return guesses.cpu().numpy().astype(np.float64)

    def _scores(self, X: Any) -> np.ndarray:
        """Predictions [rows, m] of the loss's scores."""
        self._started()
        x = load_torch().from_numpy(self._inputs(X).rows).to(self._ensemble.device)
        return self._ensemble.predict(x).cpu().numpy().astype(np.float64)


class StreamingNetworksRegressor(StreamingNetworks):
    """Boosted networks for real targets, one or several per row. Features should have about unit scale.

    Parameters
    ----------
    n_estimators : int
        Number of networks N.
    estimator : network, optional
        The kind of network, `DenseNetwork` or `ConvolutionNetwork`; None: `DenseNetwork()`.
    loss : str, optional
        "squared" (half the squared error; as None) or "absolute".
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

    _task = "regressor"
    LOSSES = ("squared", "absolute")

    # learned
    _flat: bool  # targets came in one dimension
    _width: int

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn further rows, in order, in mini-batches.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            Targets, [n] or [n, m].
        """
        self._run(X, y, shuffled=False)
        return self

    def prequential(self, X: Any, y: Any) -> np.ndarray:
        """Predict, then learn, mini-batch by mini-batch; the predictions.

        Parameters are those of `partial_fit`.

        Returns
        -------
        array
            Predictions, each made before its mini-batch was learned.
        """
        return self._in_shape(self._run(X, y, shuffled=False))

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn these rows, shuffled, `epochs` times.

        Parameters are those of `partial_fit`.
        """
        return self._anew(lambda fresh: fresh._run(X, y, shuffled=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of `predict`, as scikit-learn has it.

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
        float
            R^2.
        """
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: Any) -> np.ndarray:
        """Predictions: [rows] if the targets learned were, else [rows, m].

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.

        Returns
        -------
        array
            Predictions, [n] or [n, m].
        """
        return self._in_shape(self._scores(X))

    def _in_shape(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if self._flat else scores

    def _run(self, X: Any, y: Any, shuffled: bool) -> np.ndarray:
        self._check()
        inputs = self._inputs(X)
        targets = real_targets(y, len(inputs.rows))
        flat = np.asarray(y).ndim == 1
        if hasattr(self, "_ensemble") and (flat, targets.shape[1]) != (self._flat, self._width):
            raise ValueError(
                f"y has shape {np.asarray(y).shape}: this model was started with {self._width} targets per row"
            )
        guesses = self._learn(inputs, targets, shuffled)
        self._flat, self._width = flat, targets.shape[1]
        return guesses


class StreamingNetworksClassifier(StreamingNetworks):
    """Boosted networks for labels. Parameters are those of `StreamingNetworksRegressor`, but for the loss.

    Parameters
    ----------
    loss : str, optional
        "logistic" (as None; for more than two classes softmax cross-entropy), or "hinge" for two classes.
    """

    _task = "classifier"
    LOSSES = ("logistic", "hinge")

    # learned
    classes_: np.ndarray

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
        self._run(X, y, classes, shuffled=False)
        return self

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, mini-batch by mini-batch; the predicted labels.

        Parameters are those of `partial_fit`.

        Returns
        -------
        array
            The labels [n], each predicted before its mini-batch was learned.
        """
        return self._labels(self._run(X, y, classes, shuffled=False))

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn these rows, shuffled, `epochs` times.

        Parameters are those of `partial_fit`.
        """
        return self._anew(lambda fresh: fresh._run(X, y, None, shuffled=True))

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row; the first of equals.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.

        Returns
        -------
        array
            The labels [n].
        """
        return self._labels(self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of `predict`.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        sample_weight : array, optional
            The weight of each row; 1 by default.

        Returns
        -------
        float
            The share of rows whose prediction is right.
        """
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

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
        scores = self._scores(X)
        if self.classes_.size == 2:
            scores = np.hstack([np.zeros_like(scores), scores])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        codes = (scores[:, 0] > 0).astype(np.int64) if self.classes_.size == 2 else scores.argmax(axis=1)
        return self.classes_[codes]

    def _loss(self, n_outputs: int) -> str:
        loss = super()._loss(n_outputs)
        if n_outputs == 1:
            return loss
        if loss == "hinge":
            raise ValueError(f"loss='hinge': for two classes only, and there are {n_outputs}")
        return "softmax"

    def _run(self, X: Any, y: Any, classes: Any, shuffled: bool) -> np.ndarray:
        self._check()
        inputs = self._inputs(X)
        labels = label_array(y, len(inputs.rows))
        known = known_classes(self, classes) if hasattr(self, "_ensemble") else first_classes(classes, labels)
        guesses = self._learn(inputs, class_targets(labels, len(labels), known), shuffled)
        self.classes_ = known
        return guesses


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
