"""A budget of bytes: it is kept at every moment, and what a tree does under it is what the plain tree does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise import reference
from edgewise.learners.forest.layout import DEACTIVATED, LEAVES
from edgewise.learners.hoeffding_tree import eager_tree
from edgewise.reference import RunningMoments
from edgewise.reference.hoeffding_tree import leaves_below, new_leaf
from tests.estimators import ALL, BANDITS, ONLINE
from tests.small_streams import mixed_stream
from tests.state import model_state, same
from tests.test_promises import examples, learn
from tests.test_twin_recipe import assert_same_structure, some_tree, twins
from tests.test_twin_tree import random_stream

WITH_TREES = [name for name in ONLINE if not name.startswith("StreamingGradientBoosting")]


def least(make: Any, X: Any, y: Any) -> int:
    """The least budget that a model accepts, which the error names."""
    with pytest.raises(ValueError, match="max_bytes=1: this model needs at least") as error:
        make(max_bytes=1).partial_fit(X, y)
    return int(re.search(r"at least (\d+)", str(error.value)).group(1))


def forests(model: Any) -> list[Any]:
    return [forest for ensemble in model._ensembles for forest in ensemble.forests]


def sleeping(model: Any) -> int:
    """Leaves that keep no statistics."""
    count = 0
    for forest in forests(model):
        live = np.ones(forest.examples.size, bool)
        live[forest.free_leaves[: forest.used[LEAVES]]] = False
        count += int((forest.examples[live] == DEACTIVATED).sum())
    return count


# The library against the plain tree


def assert_twins_agree(seed: int, factor: float, **options: Any) -> tuple[int, int]:
    """Runs a forest under a tight budget beside its twin; how many leaves fell asleep there, and how many woke."""
    stream = random_stream(seed, weighted=True)
    tree = some_tree(seed, stream, grace_period=(1, 4), max_nodes=None, **options)
    make = lambda **settings: ew.HoeffdingForest(tree, 3, random_state=seed, **settings)  # noqa: E731
    table = stream.table()
    model = make(max_bytes=int(least(make, table, stream.y) * factor))
    guesses = model.prequential(table, stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    trees, scales = twins(stream, moments, model, [tree])
    (forest,) = forests(model)
    slept = woke = 0
    for i, plain in enumerate(trees):
        plain.max_nodes, plain.max_rows = int(forest.node_limit[i]), int(forest.row_limit[i])
    booster = reference.HoeffdingForest(stream.k, trees, moments, scales=scales)
    expected = []
    for t in range(len(stream.y)):
        before = {id(leaf): leaf["deactivated"] for plain in trees for leaf in leaves_below(plain.root)}
        expected.append(booster.round(*stream.row(t), int(stream.y[t]), float(stream.weights[t])).prediction)
        now = {id(leaf): leaf["deactivated"] for plain in trees for leaf in leaves_below(plain.root)}
        slept += sum(now[leaf] and not before.get(leaf, False) for leaf in now)
        woke += sum(before[leaf] and not now[leaf] for leaf in now if leaf in before)
    assert guesses.tolist() == expected
    for i, plain in enumerate(trees):
        assert_same_structure(model.structure(i), plain.structure(), stream.columns)
        rows_held = sum(len(leaf["rows"]) for leaf in leaves_below(plain.root))
        assert forest.tree_rows[i] == rows_held <= plain.max_rows
    assert sleeping(model) == sum(leaf["deactivated"] for plain in trees for leaf in leaves_below(plain.root))
    means = [np.mean([tree.predict_proba(*stream.row(t)) for tree in trees], axis=0) for t in range(len(stream.y))]
    np.testing.assert_allclose(model.predict_proba(table), means, rtol=1e-9, atol=1e-12)
    return slept, woke


@pytest.mark.plain
@pytest.mark.parametrize("leaf", ["majority", "naive_bayes", "adaptive", "mixed"])
@pytest.mark.parametrize("warm_start", [False, True])
def test_trees_are_the_plain_ones(leaf, warm_start):
    happened = np.zeros(2, int)
    for seed, factor in ((900, 1.05), (903, 1.3), (918, 1.3), (920, 1.6), (923, 2.0)):
        nominal = "binary" if seed % 2 else "multiway"
        happened += assert_twins_agree(
            seed, factor, leaf_prediction=leaf, warm_start=warm_start, nominal_splits=nominal
        )
    assert (happened >= 5).all(), "leaves must have fallen asleep and woken"


def test_a_leaf_wakes_by_hand():
    """Two pure leaves; one of them sleeps, then meets other classes, and wakes once it promises a grace period more."""
    tree = reference.HoeffdingTree(
        2,
        1,
        0,
        RunningMoments(1),
        grace_period=3.0,
        split_confidence=0.5,
        tie_threshold=0.9,
        leaf_prediction="majority",
        max_rows=3,
    )
    tree.root = {"kind": "numeric", "feature": 0, "threshold": 0.0, "default": 0}
    tree.root["children"] = {0: new_leaf([0.0, 0.0]), 1: new_leaf([0.0, 0.0])}
    tree.nodes, tree.max_nodes = 3, 3
    left, right = tree.root["children"].values()
    for x, label in ((-1.0, 0), (-1.0, 1), (-1.0, 1), (1.0, 0)):
        tree.update([x], [], label, 1.0)
    assert (len(left["rows"]), len(right["rows"]), right["deactivated"]) == (2, 1, False)
    tree.update([1.0], [], 1, 1.0)  # a fourth row: the leaves promise 1 each, so the first sleeps
    assert (left["deactivated"], left["class_weight"], left["rows"], right["deactivated"]) == (
        True,
        [1.0, 2.0],
        {},
        False,
    )
    for _ in range(3):
        tree.update([-1.0], [], 1, 1.0)
    assert left["deactivated"], "its heaviest class brings no promise"
    tree.update([-1.0], [], 0, 2.0)
    assert left["deactivated"]
    tree.update([-1.0], [], 0, 1.0)  # promises 4, 3 more than when it fell asleep, and more than the other leaf's 1
    assert (left["deactivated"], left["rows"], left["weight"]) == (False, {}, 0.0)
    tree.update([-1.0], [], 0, 1.0)
    assert (list(left["rows"]), left["weight"], left["class_weight"]) == ([0], 1.0, [5.0, 5.0])


# The budget is kept


def eager_stream(n: int, seed: int = 0, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Noisy enough that trees never stop to grow."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 6)) + 0.5 * rng.normal(size=(k, 6))[y], y


@pytest.mark.parametrize("budget", [300_000, 600_000, 1_200_000])
def test_default_trees_stay_within_the_budget(budget):
    X, y = eager_stream(3000)
    free = ew.AdaBoostOLM(n_estimators=10, random_state=1).partial_fit(X, y)
    model = ew.AdaBoostOLM(n_estimators=10, random_state=1, max_bytes=budget)
    sizes = []
    for first in range(0, 3000, 50):
        model.partial_fit(X[first : first + 50], y[first : first + 50], classes=np.arange(4))
        sizes.append(model.nbytes)
    assert max(sizes) <= budget < free.nbytes, "the budget must be in the way"
    assert sizes[-1] > 0.4 * budget, "and be used"
    assert sleeping(model) > 0
    assert np.mean(model.predict(X[-500:]) == y[-500:]) > 0.4


@pytest.mark.parametrize("name", WITH_TREES)
def test_every_booster_stays_within_its_budget(name):
    X, y = examples(name, 900)
    make = lambda **settings: ALL[name].make(estimator=ALL[name].learner, random_state=1, **settings)  # noqa: E731
    budget = least(make, X, y) + 60_000
    model = make(max_bytes=budget)
    sizes = []
    for first in range(0, 900, 100):
        learn(model, name, X[first : first + 100], y[first : first + 100])
        sizes.append(model.nbytes)
    assert max(sizes) <= budget
    if name not in BANDITS:  # they learn too little from 900 rounds to need much room
        assert sleeping(model) > 0


def test_trees_that_begin_anew_stay_within_the_budget():
    X, y = eager_stream(4000, k=3)
    y = (y + np.arange(4000) // 400) % 3  # what was learned is wrong after 400 rows
    learners = [ew.SoftmaxRegression(), eager_tree(max_features=0.7)]
    settings = {"estimator": learners, "n_estimators": 8, "random_state": 1, "drift": "restart"}
    model = ew.AdaBoostOLM(max_bytes=460_000, **settings)
    sizes = []
    for first in range(0, 4000, 200):
        model.partial_fit(X[first : first + 200], y[first : first + 200], classes=np.arange(3))
        sizes.append(model.nbytes)
    assert len(model.restarts_) >= 5
    assert max(sizes) <= 460_000 < ew.AdaBoostOLM(**settings).partial_fit(X, y).nbytes
    for forest in forests(model):
        assert (forest.n_nodes <= forest.node_limit).all()
        assert (forest.tree_rows <= forest.row_limit).all()


# It changes nothing else


def test_a_large_budget_changes_nothing():
    X, y = mixed_stream(600, missing=0.1)
    settings = {"n_estimators": 6, "random_state": 1}
    free, limited = ew.AdaBoostOLM(**settings), ew.AdaBoostOLM(max_bytes=10**9, **settings)
    np.testing.assert_array_equal(limited.prequential(X, y), free.prequential(X, y))
    assert same(model_state(limited), model_state(free))
    assert limited.nbytes < 1.2 * free.nbytes, "room is taken as it is needed"


@pytest.mark.parametrize("name", WITH_TREES)
def test_chunks_and_calls_change_nothing(name):
    X, y = examples(name, 500)
    make = lambda **settings: ALL[name].make(estimator=ALL[name].learner, random_state=1, **settings)  # noqa: E731
    budget = least(make, X, y) + 20_000
    whole = learn(make(max_bytes=budget, chunk_size=500), name, X, y)
    for size in (1, 7, 64):
        assert same(model_state(learn(make(max_bytes=budget, chunk_size=size), name, X, y)), model_state(whole))
    model = make(max_bytes=budget)
    for first, last in ((0, 1), (1, 30), (30, 300), (300, 500)):
        learn(model, name, X[first:last], y[first:last])
    assert same(model_state(model), model_state(whole))
    assert sleeping(whole) > 0 or name in BANDITS


@pytest.mark.parametrize("n_estimators", [4, 9])
def test_threads_change_nothing(n_estimators):
    """Shares of the budget do not depend on how many blocks learners stand in, even if one of them has no tree."""
    X, y = examples("AdaBoostOLM", 600)

    def make(**settings: Any) -> Any:
        return ew.AdaBoostOLM(n_estimators=n_estimators, random_state=3, **settings)

    budget = least(make, X, y) + 10_000 * n_estimators
    one, two = make(max_bytes=budget), make(max_bytes=budget, n_jobs=2)
    assert one.prequential(X, y).tolist() == two.prequential(X, y).tolist()
    assert sleeping(one) == sleeping(two) > 0
    assert len(forests(two)) == 4
    trees = range(2, n_estimators)  # the others are linear
    assert all(one.structure(i) == two.structure(i) for i in trees)


@pytest.mark.parametrize("nominal", [False, True])
def test_saved_models_go_on_bit_for_bit(tmp_path, nominal):
    """With the same limits, too, where categories came up after the first call."""
    if nominal:
        rng = np.random.default_rng(1)
        codes = np.minimum(rng.integers(0, 8, (2000, 3)), np.arange(2000)[:, None] // 100)
        X, y = np.char.add("v", codes.astype(str)).astype(object), (codes.sum(axis=1) + rng.integers(0, 2, 2000)) % 4
    else:
        X, y = eager_stream(2000)
    model = ew.AdaBoostOLM(n_estimators=6, random_state=1, max_bytes=1_086_000 if nominal else 260_000)
    for first in range(0, 1200, 100):
        model.partial_fit(X[first : first + 100], y[first : first + 100], classes=np.arange(4))
    assert sleeping(model) > 0
    model.save(tmp_path / "model.edgewise")
    again = ew.load(tmp_path / "model.edgewise")
    assert again.max_bytes == model.max_bytes
    for one, two in zip(forests(model), forests(again), strict=True):
        for field in ("node_limit", "row_limit", "tree_rows"):
            np.testing.assert_array_equal(getattr(one, field), getattr(two, field))
    np.testing.assert_array_equal(again.prequential(X[1200:], y[1200:]), model.prequential(X[1200:], y[1200:]))
    assert same(model_state(again), model_state(model))


@pytest.mark.parametrize("other", [None, 400_000])
def test_a_budget_stays_as_it_was_begun(tmp_path, other):
    X, y = eager_stream(1200)
    model = ew.AdaBoostOLM(n_estimators=6, random_state=1, max_bytes=300_000).partial_fit(X, y)
    assert sleeping(model) > 0
    with pytest.raises(ValueError, match=r"max_bytes=None: its leaves sleep|they were changed after it had begun"):
        model.set_params(max_bytes=other).save(tmp_path / "model.edgewise")
    assert not (tmp_path / "model.edgewise").exists()
    model.set_params(max_bytes=300_000).save(tmp_path / "model.edgewise")


def test_rows_one_at_a_time_with_labels_and_features_that_come_late():
    """Shares are smaller from then on: trees go down to them, and what was there already stays."""
    from edgewise.river import AdaBoostOLM

    X, y = eager_stream(900, k=3)
    model = AdaBoostOLM(eager_tree(0.7), 3, seed=1, max_bytes=150_000)
    for t in range(900):
        names = ("a", "b", "c") if t < 400 else ("a", "b", "c", "d")
        model.learn_one(dict(zip(names, X[t], strict=False)), int(y[t] if t > 600 else y[t] % 2))
    (forest,) = forests(model.model)
    assert sleeping(model.model) > 0
    assert (forest.tree_rows <= forest.row_limit).all()
    fresh = AdaBoostOLM(eager_tree(0.7), 3, seed=1, max_bytes=150_000)
    fresh.learn_one({"a": 1.0}, 0)
    assert (forest.row_limit < forests(fresh.model)[0].row_limit).all()


# Errors


@pytest.mark.plain
@pytest.mark.parametrize("budget", [0, -5, 1.5, "much"])
def test_a_budget_is_a_number_of_bytes(budget):
    with pytest.raises(ValueError, match=r"max_bytes=.*: a whole number of bytes, or None for no limit"):
        ew.OzaBoost(max_bytes=budget).partial_fit([[0.0], [1.0]], [0, 1])


@pytest.mark.plain
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("n_numeric", [0, 3])
def test_the_least_budget_works_and_less_does_not(warm_start, n_numeric):
    X, y = mixed_stream(150, n_numeric=n_numeric, n_nominal=3 - n_numeric)
    tree = ew.HoeffdingTree(3, 0.9, 0.9, importance_scale=3.0, warm_start=warm_start)
    make = lambda **settings: ew.HoeffdingForest(tree, 2, random_state=1, **settings)  # noqa: E731
    enough = least(make, X, y)
    model = make(max_bytes=enough - 1)
    with pytest.raises(ValueError, match=f"max_bytes={enough - 1}: this model needs at least {enough}, of which"):
        model.partial_fit(X, y)
    assert model.nbytes == 0
    model = make(max_bytes=enough)
    for t in range(150):
        model.partial_fit(X[t], y[t : t + 1], classes=np.unique(y))
        assert model.nbytes <= enough
    assert model.n_nodes_.max() <= 3
