"""What goes into a model and what comes out: forms of the same data, labels, copies, parameters, odd shapes."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.base

import edgewise as ew
from edgewise.data.table import Feature
from tests.small_streams import mixed_stream
from tests.state import model_state, same

TREE = ew.HoeffdingTree((4, 9), (0.1, 0.9), (0.1, 0.9), importance_scale=(2.0, 8.0), max_features=0.8)
MODELS = {
    "olm": lambda: ew.AdaBoostOLM(TREE, 4, random_state=5),
    "olm-hinge-vote": lambda: ew.AdaBoostOLM(TREE, 4, loss="square_hinge", follow="vote", random_state=5),
    "mbbm": lambda: ew.OnlineMBBM(TREE, 4, random_state=5),
    "oza": lambda: ew.OzaBoost(TREE, 4, random_state=5),
    "ova": lambda: ew.OneVsAllOLM(TREE, 4, random_state=5),
    "adaova": lambda: ew.AdaOVA(TREE, 4, random_state=5),
    "trees": lambda: ew.HoeffdingForest(TREE, 4, random_state=5),
}


def numeric_stream(n: int = 150, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 3)) + y[:, None], y


# Forms of the same data


def columns() -> dict[str, list[Any]]:
    """Numbers, text and Booleans, each with missing cells."""
    table, y = mixed_stream(160, seed=4)
    data: dict[str, list[Any]] = {
        name: [None if np.isnan(v) else float(v) for v in table.values[:, j]] for j, name in enumerate("abc")
    }
    data["word"] = [None if np.isnan(v) else f"w{int(v)}" for v in table.values[:, 3]]
    data["flag"] = [None if np.isnan(v) else bool(v >= 2) for v in table.values[:, 4]]
    data["y"] = y.tolist()
    return data


DATA = columns()
LABELS = np.array(DATA.pop("y"))
FORMS = {
    "pandas": pd.DataFrame,
    "pandas with nullable types": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas with categories": lambda data: pd.DataFrame(data).astype({"word": "category", "flag": "category"}),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow in record batches": lambda data: pa.Table.from_batches(pa.table(data).to_batches(max_chunksize=11)),
    "object array": lambda data: np.array(list(zip(*data.values(), strict=True)), object),
    "list of rows": lambda data: [list(row) for row in zip(*data.values(), strict=True)],
}


def as_columns_table() -> ew.Table:
    """The same data with codes chosen by hand, in order of first appearance."""
    features, values = [], []
    for name, cells in DATA.items():
        categories = list(dict.fromkeys(str(cell) for cell in cells if cell is not None))
        nominal = name in ("word", "flag")
        features.append(Feature(name, tuple(categories) if nominal else None))
        number = (lambda cell, known=categories: known.index(str(cell))) if nominal else float
        values.append([np.nan if cell is None else number(cell) for cell in cells])
    return ew.Table(np.array(values).T, features)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_data_gives_the_same_model(form):
    table = as_columns_table()
    expected = ew.AdaBoostOLM(TREE, 4, random_state=5)
    guesses = expected.prequential(table, LABELS)
    assert expected.n_nodes_.min() > 1
    X = FORMS[form](DATA)
    model = ew.AdaBoostOLM(TREE, 4, random_state=5)
    np.testing.assert_array_equal(model.prequential(X, LABELS), guesses)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(table))
    assert same(model_state(model), model_state(expected))
    # A model started from one form goes on with another.
    np.testing.assert_array_equal(model.predict_proba(table), expected.predict_proba(table))


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow"])
def test_labels_as_series(form):
    series = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": pa.array}[form]
    table = as_columns_table()
    expected = ew.OzaBoost(TREE, 3, random_state=1).prequential(table, LABELS)
    weights = np.ones(len(LABELS))
    model = ew.OzaBoost(TREE, 3, random_state=1)
    np.testing.assert_array_equal(
        model.prequential(table, series(LABELS.tolist()), sample_weight=series(weights.tolist())), expected
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool, ">f8"])
def test_arrays_of_every_number_type(dtype):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (120, 4))
    y = X[:, 0] + X[:, 1]
    expected = ew.AdaBoostOLM(TREE, 3, random_state=1).prequential(X.astype(float), y)
    np.testing.assert_array_equal(ew.AdaBoostOLM(TREE, 3, random_state=1).prequential(X.astype(dtype), y), expected)


@pytest.mark.parametrize("layout", ["fortran", "strided", "reversed", "read-only", "memory map"])
def test_arrays_of_every_layout(layout, tmp_path):
    X, y = numeric_stream()
    expected = ew.AdaBoostOLM(TREE, 4, random_state=5)
    guesses = expected.prequential(X, y)
    given, labels, weights = X.copy(), y.copy(), np.ones(len(y))
    if layout == "fortran":
        given = np.asfortranarray(X)
    elif layout == "strided":
        given = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2]
    elif layout == "reversed":
        given, labels = X[::-1].copy()[::-1], y[::-1].copy()[::-1]
    elif layout == "read-only":
        for array in (given, labels, weights):
            array.flags.writeable = False
    else:
        np.save(tmp_path / "X.npy", X)
        np.save(tmp_path / "y.npy", y)
        given, labels = np.load(tmp_path / "X.npy", mmap_mode="r"), np.load(tmp_path / "y.npy", mmap_mode="r")
    model = ew.AdaBoostOLM(TREE, 4, random_state=5)
    np.testing.assert_array_equal(model.prequential(given, labels, sample_weight=weights), guesses)
    np.testing.assert_array_equal(model.decision_function(given), expected.decision_function(X))


@pytest.mark.parametrize("name", MODELS)
def test_inputs_are_neither_changed_nor_kept(name):
    X, y = numeric_stream()
    classes, weights = np.array([2, 0, 1]), np.linspace(0.5, 1.5, len(y))
    given = [array.copy() for array in (X, y, classes, weights)]
    expected, model = MODELS[name](), MODELS[name]()
    expected.partial_fit(X, y, classes=classes, sample_weight=weights)
    model.partial_fit(given[0], given[1], classes=given[2], sample_weight=given[3])
    for array, before in zip(given, (X, y, classes, weights), strict=True):
        np.testing.assert_array_equal(array, before)
        array[...] = 77
    assert same(model_state(model), model_state(expected))
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(model.prequential(X, y), expected.prequential(X, y))


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_the_callers(name):
    """Writing into what a model gave out does not change the model."""
    X, y = numeric_stream()
    model = MODELS[name]()
    model.prequential(X, y)[...] = 0
    before = model_state(model)
    expected = model.predict_proba(X)
    for given in (model.predict_proba(X), model.decision_function(X), model.learner_weights_, model.expert_mistakes_):
        given[...] = 0.5
    assert same(model_state(model), before)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


# Labels


NAMED = {
    "integers": [10, 20, 30],
    "negative integers": [-3, 0, 3],
    "floats": [0.5, 1.5, 2.5],
    "text": ["apple", "pear", "quince, large"],
    "objects": np.array(["a", "b", "c"], object),
    "small integers": np.array([0, 1, 2], np.int8),
    "bytes": [b"x", b"y", b"z"],
}


@pytest.mark.parametrize("kind", NAMED)
def test_labels_of_any_kind(kind):
    X, codes = numeric_stream()
    names = np.asarray(NAMED[kind])
    plain, model = MODELS["olm"](), MODELS["olm"]()
    # Without a list of classes, broken numbers are taken for targets of regression.
    guesses = model.prequential(X, names[codes], classes=names if kind == "floats" else None)
    assert guesses.dtype == names.dtype
    np.testing.assert_array_equal(guesses, names[plain.prequential(X, codes)])
    np.testing.assert_array_equal(model.classes_, names)
    np.testing.assert_array_equal(model.predict(X), names[plain.predict(X)])
    assert model.score(X, names[codes]) == pytest.approx(np.mean(plain.predict(X) == codes))


def test_boolean_labels():
    X, codes = numeric_stream(k=2)
    plain, model = MODELS["mbbm"](), MODELS["mbbm"]()
    guesses = model.prequential(X, codes == 1)
    assert guesses.dtype == bool
    np.testing.assert_array_equal(guesses, plain.prequential(X, codes) == 1)
    margin = model.decision_function(X)
    assert margin.shape == (150,)
    np.testing.assert_array_equal(model.predict(X), margin > 0.0)


@pytest.mark.parametrize("name", MODELS)
def test_order_of_classes_does_not_matter(name):
    """Neither the order in which classes are listed, nor that in which they come up."""
    X, y = numeric_stream()
    order = np.argsort(-y, kind="stable")
    one, two, three = (MODELS[name]() for _ in range(3))
    expected = one.prequential(X[order], y[order], classes=[0, 1, 2])
    np.testing.assert_array_equal(two.prequential(X[order], y[order], classes=[2, 0, 1, 2]), expected)
    np.testing.assert_array_equal(three.prequential(X[order], y[order]), expected)
    for model in (one, two, three):
        assert model.classes_.tolist() == [0, 1, 2]


def test_a_class_that_never_comes_up():
    X, y = numeric_stream()
    model = ew.AdaBoostOLM(TREE, 4, random_state=5).partial_fit(X, y, classes=[0, 1, 2, 3])
    assert model.predict_proba(X).shape == (150, 4)
    assert 3 not in model.predict(X)


# Copies and parameters


@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
@pytest.mark.parametrize("name", MODELS)
def test_copies_continue_exactly_and_apart(name, how):
    X, y = mixed_stream(260, seed=6)
    model = MODELS[name]().partial_fit(X[:130], y[:130], classes=np.unique(y))
    twin = pickle.loads(pickle.dumps(model)) if how == "pickle" else copy.deepcopy(model)
    assert repr(twin) == repr(model)
    before = model_state(model)
    guesses = twin.prequential(X[130:], y[130:])
    assert same(model_state(model), before), "the copy learned, the model did not"
    np.testing.assert_array_equal(model.prequential(X[130:], y[130:]), guesses)
    assert same(model_state(model), model_state(twin))
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


def test_a_model_that_has_learned_nothing_can_be_copied():
    X, y = numeric_stream()
    model = MODELS["olm"]()
    twin = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    np.testing.assert_array_equal(twin.prequential(X, y), model.prequential(X, y))


@pytest.mark.parametrize("name", MODELS)
def test_sklearn_clone_and_parameters(name):
    X, y = numeric_stream()
    model = MODELS[name]()
    guesses = model.prequential(X, y)
    clone = sklearn.base.clone(model)
    assert type(clone) is type(model)
    assert not hasattr(clone, "classes_")
    assert clone.estimator is not model.estimator
    np.testing.assert_array_equal(clone.prequential(X, y), guesses)
    again = type(model)(**model.get_params(deep=False))
    np.testing.assert_array_equal(again.prequential(X, y), guesses)
    assert set(model.get_params(deep=False)) == set(inspect.signature(type(model)).parameters)


def test_get_and_set_params_round_trip():
    model = ew.AdaBoostOLM(ew.HoeffdingTree(7, max_features=0.5), 9, loss="exponential", random_state=3)
    params = model.get_params()
    assert params["estimator__grace_period"] == 7
    assert params["loss"] == "exponential"
    other = ew.AdaBoostOLM(ew.HoeffdingTree()).set_params(**params)
    assert other.get_params() == params
    other.set_params(n_estimators=2, estimator__max_nodes=5)
    assert (other.n_estimators, other.estimator.max_nodes) == (2, 5)
    with pytest.raises(ValueError, match="depth=3: HoeffdingTree takes grace_period"):
        other.set_params(estimator__depth=3)


def test_repr_names_what_differs_from_the_defaults_and_can_be_evaluated():
    assert repr(ew.HoeffdingTree()) == "HoeffdingTree()"
    assert repr(ew.OzaBoost()) == "OzaBoost()"
    model = ew.OnlineMBBM(ew.HoeffdingTree((5, 20), leaf_prediction="majority"), 7, edge=0.3)
    tree = "HoeffdingTree(grace_period=(5, 20), leaf_prediction='majority')"
    assert repr(model) == f"OnlineMBBM(estimator={tree}, n_estimators=7, edge=0.3)"
    names = {name: getattr(ew, name) for name in ew.__all__}
    assert eval(repr(model), names).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert repr(eval(repr(model), names)) == repr(model)


def test_a_generator_as_random_state():
    X, y = numeric_stream()
    one, two = (ew.AdaBoostOLM(TREE, 4, random_state=np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(one.prequential(X, y), two.prequential(X, y))


# Columns


def test_feature_names():
    X, y = numeric_stream()
    assert not hasattr(MODELS["olm"]().fit(X, y), "feature_names_in_")
    model = MODELS["olm"]().fit(pd.DataFrame(X, columns=["width", "height", "depth"]), y)
    assert model.feature_names_in_.tolist() == ["width", "height", "depth"]
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(X), MODELS["olm"]().fit(X, y).predict(X))
    with pytest.raises(ValueError, match=r"X has 2 features, but AdaBoostOLM is expecting 3 .*: width, height, depth"):
        model.predict(X[:, :2])


def test_kinds_of_columns_must_stay():
    y = np.array([0, 1] * 10)
    frame = pd.DataFrame({"size": np.arange(20.0), "color": ["red", "blue"] * 10})
    model = MODELS["olm"]().fit(frame, y)
    before = model_state(model)
    with pytest.raises(ValueError, match="column 'size' is nominal here: it was numeric when this model was started"):
        model.predict(frame.astype({"size": str}))
    with pytest.raises(ValueError, match="column 'color' is numeric here: it was nominal when this model was started"):
        model.partial_fit(frame.assign(color=1.0), y)
    with pytest.raises(ValueError, match="column 'when' is of type Datetime"):
        model.partial_fit(pd.DataFrame({"size": [1.0], "when": pd.to_datetime(["2020-01-01"])}), [0])
    assert same(model_state(model), before)


def test_categories_are_known_by_name_not_by_place():
    """A later call may declare the same categories in another order, and further ones."""
    X, y = mixed_stream(200, seed=3)
    model = MODELS["olm"]().fit(X, y)
    names = ("zz", "d", "c", "b", "a")
    values = X.values.copy()
    for j in (3, 4):
        values[:, j] = 4 - X.values[:, j]
    turned = ew.Table(values, [*X.features[:3], Feature("c0", names), Feature("c1", names)])
    np.testing.assert_array_equal(model.predict_proba(turned), model.predict_proba(X))
    other = MODELS["olm"]().fit(X, y)
    np.testing.assert_array_equal(model.prequential(turned, y), other.prequential(X, y))


def test_missing_columns_throughout():
    """Numeric or nominal columns without a single value: nothing to learn from them, and nothing breaks."""
    X, y = mixed_stream(150, seed=2)
    values = np.column_stack([X.values, np.full(150, np.nan), np.full(150, np.nan)])
    for categories in ((), ("p", "q")):
        table = ew.Table(values, [*X.features, Feature("gone"), Feature("nobody", categories)])
        model = ew.HoeffdingForest(ew.HoeffdingTree(5, 0.5, 0.5), 2, random_state=0).fit(table, y)
        p = model.predict_proba(table)
        assert np.isfinite(p).all()
        plain = ew.HoeffdingForest(ew.HoeffdingTree(5, 0.5, 0.5), 2, random_state=0).fit(X, y)
        np.testing.assert_allclose(p, plain.predict_proba(X), rtol=1e-9)
    nothing = ew.Table(np.full((150, 2), np.nan), [Feature("gone"), Feature("nobody", ())])
    model = ew.HoeffdingForest(ew.HoeffdingTree(5, 0.5, 0.5), 2).fit(nothing, y)
    assert model.n_nodes_.tolist() == [1, 1]
    shares = (np.unique(y, return_counts=True)[1] + 1.0) / 153.0
    np.testing.assert_allclose(model.predict_proba(nothing[:1])[0], shares, rtol=1e-12)


# Rows


@pytest.mark.parametrize("name", MODELS)
def test_single_rows(name):
    X, y = mixed_stream(80, seed=1)
    whole, single = MODELS[name](), MODELS[name]()
    expected = whole.prequential(X, y)
    guesses = [single.prequential(X[t], y[t : t + 1], classes=np.unique(y))[0] for t in range(80)]
    assert guesses == expected.tolist()
    p = np.concatenate([single.predict_proba(X[t]) for t in range(80)])
    np.testing.assert_array_equal(p, whole.predict_proba(X))


@pytest.mark.parametrize("name", MODELS)
def test_no_rows(name):
    X, y = mixed_stream(80, seed=1)
    model = MODELS[name]().partial_fit(X, y)
    before = model_state(model)
    assert model.predict(X[:0]).shape == (0,)
    assert model.predict(X[:0]).dtype == model.classes_.dtype
    assert model.predict_proba(X[:0]).shape == (0, 3)
    assert model.decision_function(X[:0]).shape == (0, 3)
    assert model.prequential(X[:0], y[:0]).shape == (0,)
    assert model.prequential(X[:0], []).shape == (0,)
    assert model.partial_fit(X[:0], y[:0], sample_weight=[]) is model
    assert same(model_state(model), before)


def test_a_trace_of_no_rows():
    X, y = mixed_stream(80, seed=1)
    history = MODELS["olm"]().partial_fit(X, y).trace(X[:0], y[:0])
    assert history.votes.shape == (0, 4)


def test_rows_of_objects_without_their_category():
    """A nominal column that is missing in all rows of a call says nothing about its kind."""
    X = np.array([["a", 1.0], ["b", 2.0]] * 10, object)
    model = MODELS["olm"]().fit(X, [0, 1] * 10)
    table = ew.Table([[np.nan, 1.0]], [Feature("x0", ("a", "b")), Feature("x1")])
    bare = np.array([[None, 1.0]], object)
    np.testing.assert_array_equal(model.predict_proba(bare), model.predict_proba(table))
    other = copy.deepcopy(model)
    model.partial_fit(bare, [0])
    other.partial_fit(table, [0])
    assert same(model_state(model), model_state(other))
    assert model.predict(np.empty((0, 2), object)).shape == (0,)


def test_a_first_call_without_rows_starts_a_model():
    X, y = mixed_stream(80, seed=1)
    model, other = MODELS["olm"](), MODELS["olm"]()
    model.partial_fit(X[:0], y[:0], classes=np.unique(y))
    assert (model.rounds_, model.n_features_in_) == (0, 5)
    np.testing.assert_allclose(model.predict_proba(X[:2]), 1.0 / 3.0)
    np.testing.assert_array_equal(model.prequential(X, y), other.prequential(X, y))
