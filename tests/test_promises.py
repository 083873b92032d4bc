"""What every estimator promises beyond scikit-learn's checks, each promise tested on all of them by one list."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import edgewise as ew
from tests.estimators import ALL, BANDITS, BATCH, NETWORKS, ONLINE, examples, numeric_examples, params
from tests.state import model_state, same

# All estimators but those that learn all rows at once.
STREAMING = ONLINE | NETWORKS


def model_of(name, **settings):
    """A model whose learners grow in a short stream."""
    kind = ALL[name]
    own = {} if kind.learner is None else {"estimator": kind.learner}
    seed = {"random_state": 5} if "random_state" in kind.make().get_params() else {}
    return kind.make(**own | seed | settings)


def learn(model, name, X, y):
    """Learn further rows of a stream whose classes or labels are all known."""
    if ALL[name].learns == "labels":
        return model.partial_fit(X, y, classes=["class0", "class1", "class2"])
    return model.partial_fit(X, y)


def state_of(model, name):
    """What a model is, as a value that can be compared; for models without a common state, all that can be asked."""
    if name in ONLINE:
        return [model_state(model), model.get_params()["n_estimators"]]
    return everything(model)


def everything(value):
    """All that an object is made of, as lists of numbers and text: nothing that it remembers is left out."""
    if isinstance(value, np.ndarray):
        return [value.shape, value.dtype.str, value.tolist() if value.dtype.hasobject else value.tobytes()]
    if isinstance(value, np.random.Generator):
        return everything(value.bit_generator.state)
    if isinstance(value, dict):
        return [[str(key), everything(inner)] for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return [everything(inner) for inner in value]
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return everything(value.detach().cpu().numpy())
    if hasattr(value, "state_dict"):
        return everything(value.state_dict())
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return [type(value).__name__, everything(vars(value))]
    return value if isinstance(value, int | float | complex | str | bytes | None) else str(value)


def answers(model, X):
    methods = ("predict", "predict_proba", "decision_function")
    return [getattr(model, method)(X) for method in methods if hasattr(model, method)]


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


# The stream may be cut anywhere


@pytest.mark.parametrize("name", params(ONLINE))
def test_chunks_change_nothing(name):
    X, y = examples(name)
    whole = model_of(name, chunk_size=len(y))
    told = whole.prequential(X, y)
    assert whole.n_nodes_.sum() > whole.n_nodes_.size, "trees that never grow promise nothing"
    for size in (1, 7, 64):
        model = model_of(name, chunk_size=size)
        np.testing.assert_array_equal(model.prequential(X, y), told)
        assert same(state_of(model, name), state_of(whole, name))
        assert_same(answers(model, X[:40]), answers(whole, X[:40]))


@pytest.mark.parametrize("name", params(STREAMING))
def test_calls_change_nothing(name):
    """Anywhere for trees; for networks between mini-batches."""
    X, y = examples(name)
    whole = learn(model_of(name), name, X, y)
    step = 16 if name in NETWORKS else 1
    model = model_of(name)
    for first, last in ((0, 1), (1, 4), (4, 15), (15, 18), (18, 300)):
        rows = slice(first * step, last * step)
        learn(model, name, X[rows], y[rows])
    assert_same(answers(model, X), answers(whole, X))
    assert same(state_of(model, name), state_of(whole, name))


@pytest.mark.parametrize("name", params(ONLINE))
def test_fit_is_one_partial_fit(name):
    """Networks are left out: their `fit` goes through shuffled rows `epochs` times, which a stream cannot."""
    X, y = examples(name)
    fitted, partial = model_of(name).fit(X, y), model_of(name).partial_fit(X, y)
    assert same(everything(fitted), everything(partial))
    model = model_of(name)
    model.prequential(X, y)
    assert same(everything(model), everything(partial))


# Asking is free of consequences


@pytest.mark.parametrize("name", params(ALL))
def test_predicting_changes_nothing(name):
    X, y = examples(name)
    model = model_of(name).fit(X[:200], y[:200])
    before = everything(model)
    first = answers(model, X)
    model.score(X, y)
    repr(model)
    for seen in ("edges_", "learner_weights_", "n_nodes_", "nbytes", "feature_names_in_"):
        getattr(model, seen, None)
    assert same(everything(model), before)
    assert_same(answers(model, X), first)
    if name in STREAMING:
        twin = model_of(name).fit(X[:200], y[:200])
        assert_same(answers(learn(model, name, X[200:], y[200:]), X), answers(learn(twin, name, X[200:], y[200:]), X))


# Seeds


@pytest.mark.parametrize("name", params(ALL))
def test_a_seed_decides_everything(name):
    X, y = examples(name)
    one, two = model_of(name).fit(X, y), model_of(name).fit(X, y)
    assert same(everything(one), everything(two))
    again = clone(one).fit(X, y)
    assert same(state_of(again, name), state_of(two, name))
    one.fit(X, y)
    assert same(state_of(one, name), state_of(two, name)), "fitting twice is fitting once"
    if name in STREAMING:
        assert_same(answers(learn(one, name, X, y), X), answers(learn(two, name, X, y), X))


RANDOM = [name for name in STREAMING if name not in ("OnlineMBBM", "OnlineBMR")]


@pytest.mark.parametrize("name", params({name: ALL[name] for name in RANDOM}))
def test_another_seed_is_another_model(name):
    """Or else the promise above would be empty."""
    X, y = examples(name)
    one, two = (model_of(name, random_state=seed).fit(X, y) for seed in (5, 6))
    assert not same(state_of(one, name), state_of(two, name))


# Inputs belong to the caller

LAYOUTS = ("float32", "fortran", "strided", "read-only", "memory map")


def laid_out(X, y, layout, folder):
    if layout == "float32":
        return X.astype(np.float32), y
    if layout == "fortran":
        return np.asfortranarray(X), y
    if layout == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2], y
    if layout == "read-only":
        X, y = X.copy(), y.copy()
        X.flags.writeable = y.flags.writeable = False
        return X, y
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy", mmap_mode="r")


@pytest.mark.parametrize("name", params(ALL))
def test_arrays_of_every_layout(name, tmp_path):
    X, y = numeric_examples(name, 120)
    X = X.astype(np.float32).astype(float)
    if ALL[name].learns == "numbers":
        y = X[:, 0] + X[:, 1]
    expected = model_of(name).fit(X, y)
    for layout in LAYOUTS:
        given, target = laid_out(X, y, layout, tmp_path)
        model = model_of(name).fit(given, target)
        assert_same(answers(model, given), answers(expected, X))
        assert same(state_of(model, name), state_of(expected, name)), layout


@pytest.mark.parametrize("name", params(ALL))
def test_inputs_are_neither_changed_nor_kept(name):
    X, y = numeric_examples(name, 120)
    weights = {} if name in BANDITS or name in NETWORKS else {"sample_weight": np.linspace(0.5, 1.5, 120)}
    expected = model_of(name).fit(X, y, **weights)
    given = [X.copy(), y.copy(), *(array.copy() for array in weights.values())]
    model = model_of(name).fit(given[0], given[1], **dict(zip(weights, given[2:], strict=True)))
    asked = X.copy()
    out = answers(model, asked)
    for array, before in zip([*given, asked], [X, y, *weights.values(), X], strict=True):
        np.testing.assert_array_equal(array, before)
        array[...] = y[0] if array.dtype.kind == "U" else 1
    for array in out:
        array[...] = model.classes_[0] if array.dtype.kind == "U" else 0
    assert same(state_of(model, name), state_of(expected, name))
    assert_same(answers(model, X), answers(expected, X))
    if name in STREAMING:
        learn(model, name, X, y), learn(expected, name, X, y)
        assert_same(answers(model, X), answers(expected, X))


# Memory

CAP = 9


@pytest.mark.parametrize("name", params(ONLINE))
def test_memory_is_bounded_where_nodes_are(name):
    X, y = examples(name, 2400)
    if name.startswith("StreamingGradientBoosting"):
        learner, most = clone(ALL[name].learner).set_params(max_depth=2), 2**3 - 1
    else:
        learner, most = clone(ALL[name].learner).set_params(max_nodes=CAP), CAP
    model = model_of(name, estimator=learner)
    sizes = []
    for first in range(0, 2400, 800):
        learn(model, name, X[first : first + 800], y[first : first + 800])
        sizes.append(model.nbytes)
    assert model.n_nodes_.max() <= most
    free = model_of(name)
    learn(free, name, X, y)
    assert free.n_nodes_.max() > most, "without a cap the trees would be larger"
    assert sizes[1] == sizes[2] <= free.nbytes


@pytest.mark.parametrize("name", params(BATCH))
def test_leaves_are_bounded(name):
    X, y = examples(name)
    small, large = (model_of(name).set_params(**{ALL[name].nested[0]: leaves}).fit(X, y) for leaves in (3, 20))
    for model, most in ((small, 3), (large, 20)):
        trees = [model] if isinstance(model, ew.CostTree) else model.estimators_
        assert max(tree.n_leaves_ for tree in trees) == most


# Copies


def through_joblib(model, folder):
    """Saved by joblib and loaded with its arrays as read-only memory maps."""
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib", mmap_mode="r")


COPIES = {
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, folder: copy.deepcopy(model),
    "memory map": through_joblib,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", params(ALL))
def test_copies_are_exact_and_apart(name, how, tmp_path):
    X, y = examples(name)
    model = model_of(name).fit(X[:150], y[:150])
    late = model.decide(X[0]) if name in BANDITS else None
    twin = COPIES[how](model, tmp_path)
    assert repr(twin) == repr(model)
    before = everything(model)
    assert same(everything(twin), before)
    if name not in STREAMING:
        assert_same(answers(twin, X), answers(model, X))
        return
    if late is not None:
        twin.feedback(late.id, True)
    learn(twin, name, X[150:], y[150:])
    assert same(everything(model), before), "the copy learned, the model did not"
    if late is not None:
        model.feedback(late.id, True)
    learn(model, name, X[150:], y[150:])
    assert same(state_of(twin, name), state_of(model, name))
    assert_same(answers(twin, X), answers(model, X))


@pytest.mark.parametrize("name", params(ALL))
def test_clones_begin_anew_with_the_same_parameters(name):
    X, y = examples(name)
    model = model_of(name)
    fresh = clone(model)
    model.fit(X, y)
    late = clone(model)
    assert not hasattr(late, "n_features_in_")
    assert repr(late) == repr(fresh) == repr(model)
    assert everything(late) == everything(fresh)
    assert same(state_of(late.fit(X, y), name), state_of(model, name))
    if ALL[name].learner is not None:
        assert late.estimator is not model.estimator


@pytest.mark.plain
@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("learner", ["of its own", "default"])
def test_categories_never_learned_are_missing_when_predicting(name, learner):
    """In plain Python a code beyond what was learned would raise IndexError; compiled it would read past an array."""
    rng = np.random.default_rng(3)
    X = np.array([[rng.choice(["a", "b"]), rng.normal(), rng.choice(["p", "q", "r"])] for _ in range(60)], object)
    right = X[:, 0] == "a"
    y = {"labels": right.astype(int), "label sets": np.column_stack([right, ~right]), "numbers": right * 1.0}
    model = (model_of(name) if learner == "of its own" else ALL[name].make(random_state=5)).partial_fit(
        X, y[ALL[name].learns]
    )
    new, absent = X[:8].copy(), X[:8].copy()
    new[:4, 0], absent[:4, 0] = "z", None
    new[2:, 2], absent[2:, 2] = "s", None
    assert_same(answers(model, new), answers(model, absent))
