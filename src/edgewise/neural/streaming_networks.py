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
from typing import Any, ClassVar, Self

import numpy as np

from edgewise.neural.inputs import class_targets, design, real_targets
from edgewise.neural.torch_extra import device_of, load_torch
from edgewise.neural.weak_networks import DenseNetwork, WeakNetwork, positive
from edgewise.parameters import Parameterized, Saveable
from edgewise.streams.table import Feature, as_table

RULES = ("smooth", "residual")


class StreamingNetworks(Saveable, Parameterized):
    """What regression and classification share.

    `estimator`: the kind of network (`DenseNetwork`, `ConvolutionNetwork`). `learning_rate`: eta of Algorithm 1.
    `regularization`: r of the loss's r y^2. `radius`: the ball onto which Algorithm 2 projects partial sums.
    `adam_step`: Adam's step size; `set_params(adam_step=...)` holds from the next rows on. `epochs`: how often `fit`
    goes through its rows, shuffled. Features should have about unit scale.
    """

    LOSSES: ClassVar[tuple[str, ...]]

    # learned
    n_features_in_: int
    rows_: int
    _ensemble: Any  # a NetworkEnsemble
    _features: tuple[Feature, ...]

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
    def edges_(self) -> np.ndarray:
        """The edge of each learner over all rows learned (Definition 4.1)."""
        self._started()
        return self._ensemble.edges.cpu().numpy()

    # -- inside ----------------------------------------------------------------------------------------------------

    def _started(self) -> None:
        if not hasattr(self, "_ensemble"):
            raise ValueError(
                f"{type(self).__name__} has learned nothing yet: call partial_fit, prequential or fit first"
            )

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

    def _rows(self, X: Any) -> tuple[np.ndarray, tuple[Feature, ...]]:
        table = as_table(X)
        features = self._features if hasattr(self, "_ensemble") else table.features
        return design(table, features), features

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

    def _learn(
        self, rows: np.ndarray, features: tuple[Feature, ...], targets: np.ndarray, shuffled: bool
    ) -> np.ndarray:
        """Learn checked rows, in order or `epochs` times shuffled; the last predictions made before learning."""
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
        self._ensemble, self._features = ensemble, features
        self.n_features_in_ = len(features)
        self.rows_ = getattr(self, "rows_", 0) + len(rows) * (self.epochs if shuffled else 1)
        return guesses.cpu().numpy()

    def _scores(self, X: Any) -> np.ndarray:
        """Predictions [rows, m] of the loss's scores."""
        self._started()
        rows, _ = self._rows(X)
        x = load_torch().from_numpy(rows).to(self._ensemble.device)
        return self._ensemble.predict(x).cpu().numpy()


class StreamingNetworksRegressor(StreamingNetworks):
    """Real targets, one or several per row. Losses: `squared` (half the squared error), `absolute`."""

    LOSSES = ("squared", "absolute")

    # learned
    _flat: bool  # targets came in one dimension
    _width: int

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn further rows, in order, in mini-batches."""
        self._run(X, y, shuffled=False)
        return self

    def prequential(self, X: Any, y: Any) -> np.ndarray:
        """Predict, then learn, mini-batch by mini-batch; the predictions."""
        return self._in_shape(self._run(X, y, shuffled=False))

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn these rows, shuffled, `epochs` times."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._run(X, y, shuffled=True)
        self.__dict__.update(fresh.__dict__)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions: [rows] if the targets learned were, else [rows, m]."""
        return self._in_shape(self._scores(X))

    def _in_shape(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if self._flat else scores

    def _run(self, X: Any, y: Any, shuffled: bool) -> np.ndarray:
        self._check()
        rows, features = self._rows(X)
        targets = real_targets(y, len(rows))
        flat = np.ndim(y) == 1
        if hasattr(self, "_ensemble") and (flat, targets.shape[1]) != (self._flat, self._width):
            raise ValueError(f"y has shape {np.shape(y)}: this model was started with {self._width} targets per row")
        guesses = self._learn(rows, features, targets, shuffled)
        self._flat, self._width = flat, targets.shape[1]
        return guesses


class StreamingNetworksClassifier(StreamingNetworks):
    """Labels. Losses: `logistic` (for more than two classes: softmax cross-entropy), and `hinge` for two classes."""

    LOSSES = ("logistic", "hinge")

    # learned
    classes_: np.ndarray

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn further rows, in mini-batches. The first call fixes the classes (`classes`, or those in y)."""
        self._run(X, y, classes, shuffled=False)
        return self

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, mini-batch by mini-batch; the predicted labels."""
        return self._labels(self._run(X, y, classes, shuffled=False))

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn these rows, shuffled, `epochs` times."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._run(X, y, None, shuffled=True)
        self.__dict__.update(fresh.__dict__)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row; the first of equals."""
        return self._labels(self._scores(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores [rows, k]; for two classes [rows], above 0 for the second."""
        scores = self._scores(X)
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [rows, k] by the logistic function of the scores, or their softmax."""
        scores = self._scores(X).astype(np.float64)
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
        rows, features = self._rows(X)
        if hasattr(self, "_ensemble"):
            known = self.classes_
            if classes is not None and not np.array_equal(np.unique(classes), known):
                raise ValueError(f"classes={classes!r}: this model was started with {known.tolist()!r}")
        else:
            known = np.unique(np.asarray(y if classes is None else classes))
            if known.size < 2:
                raise ValueError(
                    f"y has the classes {known.tolist()}: at least 2 are needed; give all of them as classes="
                )
        guesses = self._learn(rows, features, class_targets(y, len(rows), known), shuffled)
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
