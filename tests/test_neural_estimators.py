"""Boosted networks as estimators: mini-batches, targets, labels, copies, and bad input, with and without torch."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.data.table import as_table
from edgewise.neural.streaming_networks import class_targets, design

Regressor, Classifier = ew.StreamingNetworksRegressor, ew.StreamingNetworksClassifier


@pytest.fixture
def torch() -> Any:
    module = pytest.importorskip("torch", reason="networks need the extra neural (torch)")
    before = module.get_num_threads()
    module.set_num_threads(1)
    yield module
    module.set_num_threads(before)


def waves(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0)


def thirds(rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = waves(rows)
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]


# Learning


def test_regression_learns_and_more_learners_learn_more(torch: Any) -> None:
    X, y = waves(2000)
    X_test, y_test = waves(500, seed=1)
    errors = []
    for n in (1, 10):
        model = Regressor(n, estimator=ew.DenseNetwork(1), adam_step=0.02, learning_rate=0.5, epochs=6).fit(X, y)
        errors.append(np.mean((model.predict(X_test) - y_test) ** 2))
        assert model.edges_.shape == (n,)
    assert errors[1] < 0.8 * errors[0] < 0.8 * np.var(y_test)
    assert 0 < model.edges_[0] < 1
    assert model.rows_ == 6 * 2000


def test_classification_learns(torch: Any) -> None:
    X, y = thirds(2000)
    model = Classifier(8, adam_step=0.02, learning_rate=1.0, epochs=10).fit(X[:1500], y[:1500])
    guesses = model.predict(X[1500:])
    assert np.mean(guesses == y[1500:]) > 0.75 > 0.5 > np.mean(y == "high")
    probabilities = model.predict_proba(X[1500:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == guesses).all()
    assert model.decision_function(X).shape == (2000, 3)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("rule", ["smooth", "residual"])
def test_two_classes(torch: Any, loss: str, rule: str) -> None:
    X, y = waves(1500)
    labels = np.where(y > 0, "up", "down")
    radius = 3.0 if rule == "residual" else None
    model = Classifier(
        6, loss=loss, rule=rule, regularization=0.1, radius=radius, learning_rate=1.0, adam_step=0.03, epochs=8
    ).fit(X, labels)
    scores = model.decision_function(X)
    assert scores.shape == (1500,)
    assert ((scores > 0) == (model.predict(X) == "up")).all()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores.astype(float))))
    assert np.mean(model.predict(X) == labels) > 0.75
    if radius is not None:
        assert np.abs(scores).max() <= radius


def test_absolute_loss_is_not_drawn_by_outliers(torch: Any) -> None:
    X, y = waves(2000)
    y[::10] += 100
    options: Any = {"adam_step": 0.02, "epochs": 15, "n_estimators": 10}
    squared = Regressor(**options).fit(X, y).predict(X)
    absolute = Regressor(loss="absolute", rule="residual", regularization=0.05, **options).fit(X, y).predict(X)
    clean = np.arange(2000) % 10 != 0
    assert np.median(np.abs(absolute - y)[clean]) < np.median(np.abs(squared - y)[clean]) / 3


def test_prequential_predicts_each_mini_batch_before_learning_it(torch: Any) -> None:
    X, y = waves(100)
    model, twin = Regressor(4, batch_size=32), Regressor(4, batch_size=32)
    guesses = model.prequential(X, y)
    expected = [np.zeros(0)]
    for start in range(0, 100, 32):
        part = slice(start, start + 32)
        if start:
            expected.append(twin.predict(X[part]))
        twin.partial_fit(X[part], y[part])
    np.testing.assert_allclose(guesses[32:], np.concatenate(expected), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    # What comes later cannot have been seen: other targets at the end, the same predictions before.
    other = Regressor(4, batch_size=32).prequential(X, np.where(np.arange(100) < 64, y, -y))
    np.testing.assert_array_equal(other[:96], guesses[:96])
    changed = Regressor(4, batch_size=32).prequential(X, np.where(np.arange(100) < 32, -y, y))
    assert (changed[32:] != guesses[32:]).any()


def test_vector_targets_and_shapes(torch: Any) -> None:
    X, y = waves(64)
    Y = np.stack([y, -2 * y], axis=1)
    model = Regressor(3).partial_fit(X, Y)
    assert model.predict(X).shape == (64, 2)
    assert Regressor(3).partial_fit(X, y).predict(X).shape == (64,)
    assert Regressor(3).partial_fit(X, y[:, None]).predict(X).shape == (64, 1)
    assert model.predict(X[:0]).shape == (0, 2)
    with pytest.raises(ValueError, match=r"y has shape \(64,\): this model was started with 2 targets per row"):
        model.partial_fit(X, y)


def test_images(torch: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2 * 6 * 5))
    y = (X.reshape(400, 2, 6, 5)[:, 0, 2:4, 1:3].sum(axis=(1, 2)) > 0).astype(int)
    network = ew.ConvolutionNetwork((2, 6, 5), channels=3, kernel=3, stride=1, activation="tanh")
    model = Classifier(5, estimator=network, adam_step=0.01, learning_rate=1.0, epochs=20).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.85


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_goes_on_the_same(torch: Any, again: Any) -> None:
    X, y = thirds(300)
    model = Classifier(4).partial_fit(X[:150], y[:150], classes=["low", "middle", "high"])
    twin = again(model)
    for each in (model, twin):
        each.partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(model.decision_function(X), twin.decision_function(X))
    np.testing.assert_array_equal(model.edges_, twin.edges_)


def test_a_seed_decides_everything(torch: Any) -> None:
    X, y = waves(200)
    first, same, other = (Regressor(3, random_state=seed, epochs=2).fit(X, y).predict(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_adam_step_can_be_changed_between_calls(torch: Any) -> None:
    X, y = waves(64)
    model = Regressor(3).partial_fit(X, y)
    before = model.predict(X)
    model.set_params(adam_step=1e-12).partial_fit(X, y)
    np.testing.assert_allclose(model.predict(X), before, rtol=0, atol=1e-6)
    model.set_params(adam_step=0.1).partial_fit(X, y)
    assert np.abs(model.predict(X) - before).max() > 1e-3


# Inputs


def test_nominal_features_become_one_column_per_category() -> None:
    first = as_table(np.array([[1.5, "a"], [2.5, "b"]], dtype=object))
    later = as_table(np.array([[0.5, "c"], [3.5, "b"], [1.0, None]], dtype=object))
    assert design(first, first.features).tolist() == [[1.5, 1, 0], [2.5, 0, 1]]
    assert design(later, first.features).tolist() == [[0.5, 0, 0], [3.5, 0, 1], [1.0, 0, 0]]


def test_labels_as_targets() -> None:
    assert class_targets(["b", "a"], 2, np.array(["a", "b"])).tolist() == [[1], [-1]]
    assert class_targets([3, 1, 2], 3, np.array([1, 2, 3])).tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


# Bad input


X, Y = waves(8)
BAD = [
    ({}, X, np.where(np.arange(8) == 3, np.nan, Y), r"y has nan in row 3: targets must be finite numbers"),
    ({}, X, np.where(np.arange(8) == 5, np.inf, Y), r"y has inf in row 5: targets must be finite numbers"),
    ({}, np.where(np.arange(24).reshape(8, 3) == 7, np.nan, X), Y, r"X has NaN in row 2, column 'x1': networks need"),
    ({}, X, Y[:7], r"y has shape \(7,\): one row of targets for each of the 8 rows"),
    ({}, X, np.array(["a"] * 8), r"targets must be numbers"),
    ({"n_estimators": 0}, X, Y, r"n_estimators=0: expected a whole number, at least 1"),
    ({"batch_size": 2.5}, X, Y, r"batch_size=2.5: expected a whole number"),
    ({"adam_step": 0.0}, X, Y, r"adam_step=0.0: expected a number above 0"),
    ({"learning_rate": "fast"}, X, Y, r"learning_rate='fast': expected a number above 0"),
    ({"regularization": -1.0}, X, Y, r"regularization=-1.0: expected a number of at least 0"),
    ({"rule": "residual", "radius": -1.0}, X, Y, r"radius=-1.0: expected a number of at least 0"),
    ({"radius": 1.0}, X, Y, r'radius=1.0: only rule="residual" projects'),
    ({"loss": "hinge"}, X, Y, r"loss='hinge': expected one of squared, absolute"),
    ({"rule": "exact"}, X, Y, r"rule='exact': expected one of smooth, residual"),
]


@pytest.mark.parametrize(("options", "rows", "targets", "reason"), BAD, ids=[reason for *_, reason in BAD])
def test_bad_input_is_refused_before_torch_is_asked_for(options: Any, rows: Any, targets: Any, reason: str) -> None:
    model = Regressor(**options)
    with pytest.raises(ValueError, match=reason):
        model.partial_fit(rows, targets)
    with pytest.raises(ValueError, match="has learned nothing yet"):
        model.predict(X)


NETWORKS = [
    (ew.DenseNetwork(hidden=0), r"hidden=0: expected a whole number, at least 1"),
    (ew.DenseNetwork(activation="relu"), r"activation='relu': expected one of sigmoid, tanh, leaky_relu"),
    (ew.ConvolutionNetwork(), r"image=\(1, 28, 28\): has 784 values, but X has 3 features"),
    (ew.ConvolutionNetwork((1, 3)), r"image=\(1, 3\): expected \(channels, height, width\)"),  # type: ignore[arg-type]
    (ew.ConvolutionNetwork((1, 1, 3), kernel=2), r"kernel=2: larger than the image of 1 x 3"),
]


@pytest.mark.parametrize(("network", "reason"), NETWORKS, ids=[reason for _, reason in NETWORKS])
def test_networks_that_cannot_be(network: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        network.check(3)


@pytest.mark.parametrize(
    ("device", "reason"),
    [
        ("gpu", r"device='gpu': expected \"cpu\", \"cuda\""),
        ("meta", r"device='meta': networks run on \"cpu\" and \"cuda\" only"),
        ("cuda:99", r"device='cuda:99': PyTorch .* sees \d+ CUDA devices on this machine"),
    ],
)
def test_devices_that_are_not_there(torch: Any, device: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Regressor(device=device).partial_fit(X, Y)


def test_bad_rows_leave_a_model_as_it_was(torch: Any) -> None:
    model = Regressor(3).partial_fit(X, Y)
    before = model.predict(X)
    for rows, targets in ((X, np.full(8, np.nan)), (X[:, :2], Y), (np.full((8, 3), np.inf), Y)):
        with pytest.raises(ValueError, match=r"has (nan|2 features|inf)"):
            model.partial_fit(rows, targets)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.rows_ == 8


def test_classes(torch: Any) -> None:
    labels = np.array(list("aabbaabb"))
    with pytest.raises(ValueError, match=r"y has 1 class \(\['a'\]\): at least 2 classes are needed"):
        Classifier().partial_fit(X[:2], labels[:2])
    model = Classifier().partial_fit(X[:2], labels[:2], classes=["b", "a"])
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"y has class 'c' in row 1: this model knows 'a', 'b'"):
        model.partial_fit(X[:2], ["a", "c"])
    with pytest.raises(ValueError, match=r"classes=\['a', 'c'\]: this model was started with \['a', 'b'\]"):
        model.partial_fit(X, labels, classes=["a", "c"])
    with pytest.raises(ValueError, match=r"loss='hinge': for two classes only, and there are 3"):
        Classifier(loss="hinge").partial_fit(X, list("abcabcab"))
    with pytest.raises(ValueError, match=r'regularization=0.0: rule="residual" takes steps 1/\(lambda i\)'):
        Classifier(rule="residual").partial_fit(X, labels)


def test_torch_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'not installed; it comes with the extra "neural": pip install "edgewise\['):
        Regressor().partial_fit(X, Y)


def test_neither_torch_nor_numba_before_they_are_needed() -> None:
    """The names can be imported, and bad input refused, without torch; networks never need Numba."""
    script = """
import sys
for hidden in ("torch", "numba", "scipy", "sklearn", "pyarrow", "pooch", "narwhals"):
    sys.modules[hidden] = None
import edgewise
model = edgewise.StreamingNetworksRegressor(estimator=edgewise.DenseNetwork(2))
try:
    model.partial_fit([[1.0]], [2.0])
except ImportError as error:
    assert "neural" in str(error), error
    print("asked for")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "asked for\n", done.stderr
