"""`edgewise.river`: river's own checks, its pipelines and evaluations, exactness, and what may come late."""

from __future__ import annotations

import copy
import doctest
import importlib
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("river", reason="river is not installed")

import pandas as pd
from river import bandit, checks, compose, datasets, evaluate, metrics, preprocessing
from river import base as river_base

import edgewise as ew
import edgewise.river as er
from edgewise.learners.forest.layout import nodes_below
from edgewise.learners.label_markov_chain import make_markov
from edgewise.river.late import _with_contexts
from tests.small_streams import mixed_stream
from tests.state import model_state, same

TOP = Path(__file__).resolve().parent.parent
CLASSIFIERS = [
    "AdaBoostOLM",
    "AdaOVA",
    "HoeffdingForest",
    "OneVsAllOLM",
    "OnlineMBBM",
    "OzaBoost",
    "StreamingGradientBoostingClassifier",
]
REGRESSORS = ["StreamingGradientBoostingRegressor"]
RANKERS = ["AdaOLMR", "OnlineBMR"]
POLICIES = ["AdaBandit", "BanditBBM", "BinBandit"]


def dicts(table):
    """The rows of a table as river has them; what is missing is left out."""
    return [
        {
            feature.name: float(value) if feature.categories is None else feature.categories[int(value)]
            for feature, value in zip(table.features, row, strict=True)
            if value == value
        }
        for row in table.values
    ]


def declared(table, codes=True):
    """What `features=` takes; without `codes` categories come as they come."""
    return {
        feature.name: float if feature.categories is None else feature.categories if codes else str
        for feature in table.features
    }


def loaded(name, rows):
    try:
        X, y = ew.datasets.load(name)[:2]
    except (FileNotFoundError, OSError) as absent:
        pytest.skip(f"{name} is not here: {absent}")
    order = np.random.default_rng(1).permutation(len(y))[:rows] if name == "balance" else np.arange(len(y))[:rows]
    return X[order], y[order]


def label_dicts(Y):
    return [{f"l{j}": bool(value) for j, value in enumerate(row)} for row in Y]


def some_label_sets(n=150, k=4, seed=3):
    X, _ = mixed_stream(n, seed=seed)
    Y = np.random.default_rng(seed).random((n, k)) < 0.2 + 0.5 * (np.nan_to_num(X.values[:, :1]) > 0.5)
    return X, Y.astype(int)


def whole_trees(name, linear=False, **more):
    """A model of whose trees each uses all features, so that a late feature is one that was missing."""
    if name.startswith("StreamingGradient"):
        tree, line = ew.RegressionTree(grace_period=10, tie_threshold=0.5), ew.RidgeRegression()
    else:
        tree = ew.HoeffdingTree(10, 0.1, 0.5, leaf_prediction="mixed", warm_start=True)
        line = ew.BinaryRelevance() if name in RANKERS else ew.SoftmaxRegression()
    return er.MODELS[name]([line, tree] if linear else tree, n_estimators=3, seed=5, **more)


# -- river's own checks --------------------------------------------------------------------------------------------


@pytest.fixture
def music(monkeypatch):
    """river's Music is a download; it is MULAN's emotions, of which mixed label sets are stand-ins here."""
    X, Y = some_label_sets(500, 6)

    class Music:
        def take(self, n):
            return zip(dicts(ew.Table(np.nan_to_num(X.values), X.features))[:n], label_dicts(Y)[:n], strict=True)

    monkeypatch.setattr(datasets, "Music", Music)


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS + RANKERS)
def test_passes_the_checks_of_river(name, music):
    model = er.MODELS[name](n_estimators=2)
    assert not model._unit_test_skips()
    checks.check_estimator(model)


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS + RANKERS + POLICIES)
def test_parameters_are_those_of_the_core(name):
    adapted, core = er.MODELS[name], getattr(ew, name)
    kind = {"classes", "labels", "features", "reward_obj", "burn_in"}
    own = [p for p in inspect.signature(adapted).parameters if p not in kind]
    of_core = [p for p in inspect.signature(core).parameters if p != "n_jobs"]
    assert [("random_state" if p == "seed" else p) for p in own] == of_core
    model = adapted(n_estimators=4, seed=7)
    assert type(model.model) is core
    assert (model.model.n_estimators, model.model.random_state) == (4, 7)
    assert model.clone({"n_estimators": 6}).model.n_estimators == 6
    assert adapted.__name__ == name
    assert core.__name__ in adapted.__doc__
    assert er.__all__ == sorted(CLASSIFIERS + REGRESSORS + RANKERS + POLICIES)


# -- exactness -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "rows", "settings"),
    [
        ("AdaBoostOLM", "car", 600, {}),
        ("AdaBoostOLM", "balance", 600, {"follow": "draw"}),
        ("AdaBoostOLM", "electricity", 2000, {"drift": "restart"}),
        ("AdaBoostOLM", "balance", 300, {"single_experts": True}),
        ("AdaBoostOLM", "car", 300, {"loss": "logistic", "vote": "argmax"}),
        ("OnlineMBBM", "balance", 400, {}),
        ("OzaBoost", "car", 600, {}),
        ("OzaBoost", "electricity", 2000, {}),
        ("HoeffdingForest", "balance", 600, {}),
        ("AdaOVA", "car", 600, {}),
        ("OneVsAllOLM", "balance", 200, {}),
        ("OneVsAllOLM", "balance", 100, {"single_experts": True}),
        ("StreamingGradientBoostingClassifier", "car", 300, {}),
        ("StreamingGradientBoostingClassifier", "electricity", 300, {}),
    ],
)
def test_row_by_row_is_the_prequential_of_the_core(name, data, rows, settings):
    X, y = loaded(data, rows)
    classes = np.unique(y)
    core = getattr(ew, name)(n_estimators=4, random_state=3, **settings)
    # a draw of Hedge is for rounds that are learned: river asks before, and gets the vote
    expected = core.prequential(X, y, classes=classes)
    model = er.MODELS[name](n_estimators=4, seed=3, classes=classes.tolist(), features=declared(X), **settings)
    guesses = []
    for x, label in zip(dicts(X), y, strict=True):
        guesses.append(model.predict_one(x))
        model.learn_one(x, label)
    assert guesses[0] is None
    if settings.get("follow") != "draw":
        assert guesses[1:] == expected[1:].tolist()
    assert same(model_state(model.model), model_state(core))
    assert model.model.mistakes_ == core.mistakes_
    assert model.model.classes_.tolist() == classes.tolist()
    if "drift" in settings:
        assert model.model.restarts_ == core.restarts_
    for x, p in zip(dicts(X[:20]), core.predict_proba(X[:20]), strict=True):
        assert list(model.predict_proba_one(x).values()) == p.tolist()


def test_a_row_at_a_time_restarts_trees_as_the_core_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(np.arange(1500) < 900, X[:, 0] > 0, X[:, 0] < 0).astype(int)
    settings = {"estimator": ew.HoeffdingTree(grace_period=20), "n_estimators": 2, "drift": "restart"}
    core = ew.AdaBoostOLM(**settings, random_state=1).partial_fit(X, y, classes=[0, 1])
    model = er.AdaBoostOLM(**settings, seed=1, classes=[0, 1], features={f"x{j}": float for j in range(3)})
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one({f"x{j}": value for j, value in enumerate(row)}, label)
    assert core.restarts_
    assert model.model.restarts_ == core.restarts_
    assert same(model_state(model.model), model_state(core))


def test_regression_is_that_of_the_core():
    X, _ = mixed_stream(250, seed=4)
    y = np.nan_to_num(X.values[:, 0]) * 3 + np.random.default_rng(0).normal(size=250)
    weights = np.random.default_rng(1).integers(0, 3, 250).astype(float)
    core = ew.StreamingGradientBoostingRegressor(n_estimators=4, random_state=3)
    expected = core.prequential(X, y, sample_weight=weights)
    model = er.StreamingGradientBoostingRegressor(n_estimators=4, seed=3, features=declared(X))
    assert model.predict_one({}) == 0.0
    for x, target, w, guess in zip(dicts(X), y, weights, expected, strict=True):
        assert model.predict_one(x) == guess
        model.learn_one(x, target, w=w)
    assert same(model_state(model.model), model_state(core))
    frame = pd.DataFrame(dicts(X))
    assert model.predict_many(frame).tolist() == core.predict(X).tolist()


@pytest.mark.parametrize("name", RANKERS)
def test_rankings_are_those_of_the_core(name):
    X, Y = some_label_sets()
    labels = [f"l{j}" for j in range(Y.shape[1])]
    core = getattr(ew, name)(n_estimators=4, random_state=3)
    core.partial_fit(X, Y, labels=labels)
    model = er.MODELS[name](n_estimators=4, seed=3, labels=labels, features=declared(X))
    x = dicts(X)[0]
    assert (model.predict_one(x), model.predict_proba_one(x), model.rank_one(x)) == ({}, {}, [])
    for x, y in zip(dicts(X), label_dicts(Y), strict=True):
        model.learn_one(x, y)
    assert same(model_state(model.model), model_state(core))
    assert model.model.skipped_ == core.skipped_ > 0
    wanted = zip(dicts(X[:20]), core.predict_proba(X[:20]), core.predict(X[:20]), core.rank(X[:20]), strict=True)
    for x, p, relevant, order in wanted:
        assert [chance[True] for chance in model.predict_proba_one(x).values()] == p.tolist()
        assert list(model.predict_one(x).values()) == relevant.astype(bool).tolist()
        assert model.rank_one(x) == order.tolist()


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_a_batch_is_its_rows(name):
    """Also where features, categories and classes come up within the batch."""
    X, y = mixed_stream(160, k=4, seed=6)
    frame = pd.DataFrame(dicts(X))[["c1", "n2", "n0", "c0", "n1"]]
    frame.loc[:60, "n1"] = np.nan
    frame.loc[:75, "c0"] = None
    y = np.where((np.arange(160) < 90) & (y > "class1"), "class1", y)
    targets = pd.Series([float(label[-1]) for label in y] if name in REGRESSORS else y)
    weights = np.random.default_rng(0).integers(0, 3, 160).astype(float)
    weights[0] = 1.0
    one, many = (er.MODELS[name](n_estimators=3, seed=2) for _ in range(2))
    rows = [{k: v for k, v in row.items() if v == v and v is not None} for row in frame.to_dict("records")]
    for x, target, w in zip(rows, targets, weights, strict=True):
        one.learn_one(x, target, w=w)
    for first, last in ((0, 0), (0, 1), (1, 30), (30, 130), (130, 160)):
        many.learn_many(frame[first:last], targets[first:last], w=weights[first:last])
    # the rooms for categories may differ in size; all that counts is the same
    assert one.model._columns.names == many.model._columns.names
    assert one.model._columns.categories == many.model._columns.categories
    assert one.model.learner_weights_.tolist() == many.model.learner_weights_.tolist()
    assert one.model.n_nodes_.tolist() == many.model.n_nodes_.tolist()
    assert one.model.rounds_ == many.model.rounds_ == (weights > 0.0).sum()
    assert many.predict_many(frame).tolist() == [one.predict_one(x) for x in rows]
    assert many.predict_many(frame).index.equals(frame.index)
    if name in CLASSIFIERS:
        p = many.predict_proba_many(frame)
        assert [dict(zip(p.columns, row, strict=True)) for row in p.to_numpy()] == [
            one.predict_proba_one(x) for x in rows
        ]


# -- what comes late -----------------------------------------------------------------------------------------------


def late_stream(n=200, k=3, seed=8):
    """Two features from the start, the others from row 40, 80 and 120 on, in the order of their columns."""
    X, y = mixed_stream(n, k, seed)
    values = X.values.copy()
    values[:40, 3], values[:80, 1], values[:120, 4] = np.nan, np.nan, np.nan
    order = [0, 2, 3, 1, 4]
    values[0, [0, 2]] = 0.5
    values[40:80, 3] = values[40:80, 3] % 2
    values[40, 3], values[80, 1], values[120, 4] = 1.0, 0.7, 2.0
    values[80, 3] = 3.0  # a new feature and a new category of an old one in one example
    return ew.Table(values[:, order], [X.features[j] for j in order]), y


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS + RANKERS)
def test_a_late_feature_is_one_that_was_missing(name, linear):
    """But for rounding: sums over features are made in parts, and which numbers meet depends on how many there are."""
    if linear and name == "AdaOVA":
        pytest.skip("groups are made of trees")
    X, y = late_stream()
    if name in REGRESSORS:
        targets, more = [float(label[-1]) for label in y], {}
    elif name in RANKERS:
        targets = [{"a": label != "class2", "b": label == "class1", "c": label == "class2"} for label in y]
        more = {"labels": ["a", "b", "c"]}
    else:
        targets, more = y.tolist(), {"classes": sorted(set(y))}
    known = whole_trees(name, linear, features=declared(X, codes=False), **more)
    growing = whole_trees(name, linear, **more)

    def said(model, x):
        if name in REGRESSORS:
            return model.predict_one(x)
        p = model.predict_proba_one(x)
        return [chance[True] for chance in p.values()] if name in RANKERS else list(p.values())

    for x, target in zip(dicts(X), targets, strict=True):
        assert said(growing, x) == pytest.approx(said(known, x), rel=1e-9, abs=1e-9)
        known.learn_one(x, target)
        growing.learn_one(x, target)
    assert growing.model._columns.names == tuple(feature.name for feature in X.features)
    assert growing.model.n_nodes_.tolist() == known.model.n_nodes_.tolist()
    assert growing.model.n_nodes_.max() > 1
    assert said(growing, {}) == pytest.approx(said(known, {}))


@pytest.mark.plain
@pytest.mark.parametrize("name", ["AdaBoostOLM", "StreamingGradientBoostingRegressor"])
def test_late_features_without_trees(name):
    X, y = late_stream(150)
    linear = ew.SoftmaxRegression() if name == "AdaBoostOLM" else ew.RidgeRegression()
    known = er.MODELS[name](linear, n_estimators=2, seed=1, features=declared(X, codes=False))
    growing = er.MODELS[name](linear, n_estimators=2, seed=1)
    targets = y if name == "AdaBoostOLM" else [float(label[-1]) for label in y]
    for x, target in zip(dicts(X), targets, strict=True):
        known.learn_one(x, target)
        growing.learn_one(x, target)
    ask = "decision_function" if name == "AdaBoostOLM" else "predict"
    np.testing.assert_allclose(getattr(growing.model, ask)(X), getattr(known.model, ask)(X), rtol=1e-9)


def test_trees_take_their_share_of_late_features():
    names = [f"f{j:02d}" for j in range(40)]
    model = er.HoeffdingForest(ew.HoeffdingTree(max_features=0.25), n_estimators=50, seed=1)
    rng = np.random.default_rng(0)
    for t in range(40):
        model.learn_one({name: rng.normal() for name in names[: t + 1]}, t % 2)
    shares = model.model.parameters_.features[:, 20:].mean()
    assert 0.2 < shares < 0.32
    forest = model.model._ensemble.forests[0]
    for tree, allowed in enumerate(model.model.parameters_.features):
        assert forest.numeric[tree][forest.numeric[tree] >= 0].tolist() == np.flatnonzero(allowed).tolist()


def test_a_late_class_does_not_change_what_a_forest_knows():
    X, y = mixed_stream(240, k=3, seed=9)
    y = np.where((np.arange(240) < 120) & (y == "class2"), "class1", y)
    y[0], y[1] = "class0", "class1"
    tree = ew.HoeffdingTree(grace_period=20)
    known = er.HoeffdingForest(tree, n_estimators=3, seed=5, classes=sorted(set(y)))
    growing = er.HoeffdingForest(tree, n_estimators=3, seed=5)
    for x, label in zip(dicts(X), y, strict=True):
        known.learn_one(x, label)
        growing.learn_one(x, label)
    assert growing.model.classes_.tolist() == ["class0", "class1", "class2"]
    for x in dicts(X):
        assert growing.predict_proba_one(x) == known.predict_proba_one(x)


def blobs(n, seed=0):
    """Three classes side by side; the third comes in the second half only."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, rng.integers(0, 2, n), rng.integers(0, 3, n))
    X = rng.normal(size=(n, 2)) * 0.4 + np.array([[0, 0], [2, 0], [0, 2]])[y]
    return [{"a": a, "b": b} for a, b in X.tolist()], [f"class{label}" for label in y]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_late_class_is_learned_and_the_others_are_kept(name):
    rows, y = blobs(600)
    model = er.MODELS[name](n_estimators=5, seed=1)
    right = []
    for x, label in zip(rows, y, strict=True):
        right.append(model.predict_one(x) == label)
        model.learn_one(x, label)
    of_old = [hit for hit, label in zip(right[300:], y[300:], strict=True) if label != "class2"]
    assert np.mean(right[250:300]) > 0.9
    assert np.mean(of_old) > 0.85
    assert np.mean(right[450:]) > 0.85
    p = model.predict_proba_one(rows[-1])
    assert sorted(p) == ["class0", "class1", "class2"]
    assert sum(p.values()) == pytest.approx(1.0)
    assert model.model.rounds_ == 600
    assert np.isfinite(model.model.learner_weights_).all()


def test_two_classes_need_no_declaration():
    rows, y = blobs(300)
    rows, y = rows[:150], y[:150]
    order = list(dict.fromkeys(y))
    settings = {"n_estimators": 4, "seed": 1}
    model = er.AdaBoostOLM(**settings)
    model.learn_one(rows[0], y[0])
    assert model.predict_one(rows[1]) == y[0]
    assert model.predict_proba_one(rows[1]) == {y[0]: 1.0}
    assert model.predict_many(pd.DataFrame(rows[:3])).tolist() == [y[0]] * 3
    for x, label in zip(rows[1:], y[1:], strict=True):
        model.learn_one(x, label)
    core = ew.AdaBoostOLM(n_estimators=4, random_state=1)
    core.partial_fit(pd.DataFrame(rows), [order.index(label) for label in y], classes=[0, 1])
    assert same(model_state(model.model), model_state(core))


def test_one_output_becomes_two_mirrored():
    """Ridge learners have outputs of their own: those of the first two classes are as if all had been known."""
    rows, y = blobs(200)
    settings = {"estimator": ew.RidgeRegression(), "n_estimators": 3, "loss": "logistic", "start": 0.0}
    growing = er.StreamingGradientBoostingClassifier(**settings, classes=["class0", "class1"])
    known = er.StreamingGradientBoostingClassifier(**settings, classes=["class0", "class1", "class2"])
    for x, label in zip(rows[:100], y[:100], strict=True):
        growing.learn_one(x, label)
        known.learn_one(x, label)
    assert growing.model._n_outputs == 1
    for x, label in zip(rows[100:], y[100:], strict=True):
        growing.learn_one(x, label)
        known.learn_one(x, label)
    frame = pd.DataFrame(rows)
    ours, theirs = (model.model.decision_function(frame)[:, :2] for model in (growing, known))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert growing.model.edges_.shape == (3,)


@pytest.mark.plain
def test_label_memories_keep_their_contexts():
    memory = make_markov([ew.LabelMarkovChain()], 2)
    rng = np.random.default_rng(0)
    memory.counts[:] = rng.random(memory.counts.shape)
    memory.recent[:] = [1, 2]
    grown = _with_contexts(memory, 2, 4)
    assert grown.recent.tolist() == [1, 4]
    for last in range(3):
        for before in range(3):
            for label in range(2):
                old = memory.counts[0, last * 3 + before, label]
                at = (4 if last == 2 else last) * 5 + (4 if before == 2 else before)
                assert grown.counts[0, at, label] == old
    assert grown.counts.shape == (1, 25, 4)
    assert grown.counts.sum() == pytest.approx(memory.counts.sum())


def test_groups_get_a_tree_that_has_seen_the_rest():
    rows, y = blobs(400)
    model = whole_trees("AdaOVA")
    for x, label in zip(rows[:200], y[:200], strict=True):
        model.learn_one(x, label)
    before = [model.model.structure(i, of_class) for i in range(3) for of_class in range(2)]
    forest = model.model._ensemble.forests[0]
    weights = [
        sum(
            forest.class_weight[forest.child[node]].sum() for node in nodes_below(forest, root) if not forest.kind[node]
        )
        for root in forest.root.tolist()
    ]
    first = y.index("class2")
    model.learn_one(rows[first], "class2")
    assert [model.model.structure(i, of_class)[0] for i in range(3) for of_class in range(2)] == [t[0] for t in before]
    assert model.model.n_nodes_.size == 9
    forest = model.model._ensemble.forests[0]
    for i in range(3):
        rest, new = forest.class_weight[forest.child[forest.root[3 * i + 2]]]
        assert rest == pytest.approx(weights[2 * i]) == pytest.approx(weights[2 * i + 1])
        assert 0.0 < new < rest


@pytest.mark.parametrize("name", RANKERS)
def test_late_labels(name):
    X, Y = some_label_sets(200)
    model = er.MODELS[name](n_estimators=4, seed=3)
    model.learn_one(dicts(X)[0], {"l0": True})
    assert set(model.predict_one(dicts(X)[0])) == {"l0"}
    for t, (x, y) in enumerate(zip(dicts(X), label_dicts(Y), strict=True)):
        model.learn_one(x, {label: y[label] for label in ("l3", "l0", "l1", "l2")[: 2 + t // 70]})
    assert model.model.labels_.tolist() == ["l0", "l3", "l1", "l2"]
    p = model.predict_proba_one(dicts(X)[0])
    assert list(p) == ["l0", "l3", "l1", "l2"]
    assert all(chance[True] + chance[False] == pytest.approx(1.0) for chance in p.values())


def test_many_categories():
    """Every example brings a category; what was counted stays where it belongs."""
    model = er.AdaBoostOLM(n_estimators=3, seed=1)
    for t in range(300):
        model.learn_one({"id": f"v{t}", "kind": "ab"[t % 2]}, t % 2)
    assert model.model._columns.categories == (tuple(f"v{t}" for t in range(300)), ("a", "b"))
    assert [model.predict_one({"id": "new", "kind": kind}) for kind in "ab"] == [0, 1]


# -- features ------------------------------------------------------------------------------------------------------


@pytest.mark.plain
def test_kinds_of_values():
    model = er.HoeffdingForest(n_estimators=1, seed=1)
    model.learn_one({"flag": True, 3: 7, ("t", 1): "x", "none": None, "nan": float("nan"), "np": np.float32(2)}, "a")
    assert model._features.place == {"flag": (False, 1), 3: (False, 0), ("t", 1): (True, 0), "np": (False, 2)}
    model.learn_one({"none": "late", ("t", 1): 5, "flag": np.True_}, "b")
    assert model._features.place["none"] == (True, 1)
    assert list(model._features.codes[0]) == ["x", "5"]
    assert model.model._columns.names == ("('t', 1)", "3", "flag", "np", "none")


def test_an_example_without_features():
    model = er.AdaBoostOLM(n_estimators=3, seed=1)
    for label in "aab":
        model.learn_one({}, label)
    assert model.predict_one({}) == "a"
    rows, y = blobs(200)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    assert np.mean([model.predict_one(x) == label for x, label in zip(rows, y, strict=True)]) > 0.8


# -- in river ------------------------------------------------------------------------------------------------------


def test_in_a_pipeline_and_progressive_validation():
    model = preprocessing.StandardScaler() | er.AdaBoostOLM(n_estimators=5, seed=1)
    score = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    right, twin = [], er.AdaBoostOLM(n_estimators=5, seed=1)
    scaler = preprocessing.StandardScaler()
    for x, y in datasets.Phishing().take(300):
        scaler.learn_one(x)
        z = scaler.transform_one(x)
        guess = twin.predict_one(z)
        if guess is not None:
            right.append(guess == y)
        twin.learn_one(z, y)
    assert score.get() == pytest.approx(np.mean(right), abs=0.01)
    assert score.get() > 0.8
    steps = evaluate.iter_progressive_val_score(
        datasets.ImageSegments().take(100), er.OzaBoost(n_estimators=3, seed=1), metrics.LogLoss(), step=50
    )
    assert [step["Step"] for step in steps] == [50, 100]


def test_numbers_and_categories_in_one_pipeline():
    X, y = mixed_stream(200, seed=2)
    numbers = compose.SelectType(float) | preprocessing.StandardScaler()
    model = (numbers + compose.SelectType(str)) | er.AdaBoostOLM(n_estimators=5, seed=1)
    stream = zip(dicts(X), y, strict=True)
    assert evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get() > 0.45
    assert model["AdaBoostOLM"].model._columns.nominal.sum() == 2
    regressor = preprocessing.StandardScaler() | er.StreamingGradientBoostingRegressor(n_estimators=5, seed=1)
    error = evaluate.progressive_val_score(datasets.TrumpApproval().take(200), regressor, metrics.MAE())
    assert error.get() < 5.0


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS + RANKERS)
def test_copies_go_on_bit_for_bit(name):
    X, y = mixed_stream(120, seed=5)
    if name in REGRESSORS:
        y = [float(label[-1]) for label in y]
    elif name in RANKERS:
        y = [{"a": label == "class0", "b": label != "class1", "c": True} for label in y]
    model = er.MODELS[name](n_estimators=3, seed=2)
    for x, target in zip(dicts(X)[:60], y[:60], strict=True):
        model.learn_one(x, target)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for x, target in zip(dicts(X)[60:], y[60:], strict=True):
        said = [each.predict_one(x) for each in (model, *copies)]
        assert said[1:] == said[:1] * 2
        for each in (model, *copies):
            each.learn_one(x | {"late": 1.0}, target)
    assert same(model_state(copies[0].model), model_state(model.model))
    assert same(model_state(copies[1].model), model_state(model.model))
    assert not model.clone()._started


def test_predicting_changes_nothing():
    rows, y = blobs(100)
    for name in CLASSIFIERS:
        model = er.MODELS[name](n_estimators=3, seed=2)
        for x, label in zip(rows, y, strict=True):
            model.learn_one(x, label)
        before = pickle.dumps(model)
        model.predict_one(rows[0] | {"new": "feature"})
        model.predict_proba_one({"a": 1.0})
        model.predict_many(pd.DataFrame(rows[:7]))
        assert pickle.dumps(model) == before


# -- bandits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_the_bandit_of_the_core(name):
    X, y = mixed_stream(120, seed=7)
    arms = sorted(set(y))
    core = getattr(ew, name)(n_estimators=3, random_state=4, exploration=0.2)
    policy = er.MODELS[name](n_estimators=3, seed=4, exploration=0.2, features=declared(X))
    for t, (x, label) in enumerate(zip(dicts(X), y, strict=True)):
        decision = core.decide(X[t : t + 1], classes=arms)
        arm = policy.pull(arms, x)
        assert arm == decision.label
        core.feedback(decision, decision.label == label)
        policy.update(arm, x, float(arm == label))
    assert same(model_state(policy.model), model_state(core))
    assert isinstance(policy, bandit.base.ContextualPolicy)
    assert policy._n == 120
    assert "class0" in repr(policy)
    assert policy.clone()._n == 0


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_with_late_feedback_and_late_features(name):
    policy = whole_trees(name)
    early, late = {"a": 1.0}, {"a": -1.0, "b": "new", "c": 2.0}
    first = policy.pull(["x", "y"], early)
    second = policy.pull(["x", "y"], late)
    assert len(policy.model.pending_) == 2
    policy.update(first, early, 1)
    policy.update(second, late, 0)
    policy.update(second, late, 0)  # the same pull twice: counted, not learned
    assert (policy.model.rounds_, policy._n) == (2, 3)
    assert policy.model._columns.names == ("a", "b", "c")


def test_a_policy_learns_on_the_logs_of_another():
    rng = np.random.default_rng(0)
    arms = [0, 1, 2]
    contexts = [{"a": float(v)} for v in rng.normal(size=900)]
    best = [0 if x["a"] < -0.4 else 1 if x["a"] < 0.4 else 2 for x in contexts]
    pulled = rng.integers(0, 3, 900).tolist()
    history = [(arms, x, arm, float(arm == right)) for x, arm, right in zip(contexts, pulled, best, strict=True)]
    policy = er.AdaBandit(n_estimators=5, seed=1, burn_in=2)
    reward, used = bandit.evaluate_offline(policy, history)
    assert used > 200
    assert reward.get() / used > 0.5
    assert policy.model.rounds_ <= used - 1


# -- bad input -----------------------------------------------------------------------------------------------------


def test_bad_input_leaves_the_model_as_it_was():
    rows, y = blobs(60)
    model = er.AdaBoostOLM(n_estimators=3, seed=1)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x | {"c": "red"}, label)
    before = pickle.dumps(model)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, np.inf]})
    for call, message in (
        (
            lambda: model.learn_one({"new": 1.0, "c": "blue", "a": "text"}, "class1"),
            "feature 'a' is 'text': it was a num",
        ),
        (lambda: model.learn_one({"new": 1.0, "b": float("inf")}, "class1"), "feature 'b' is inf: numbers must be fin"),
        (lambda: model.learn_one({"new": float("-inf")}, "class1"), "feature 'new' is -inf"),
        (lambda: model.learn_one(rows[0], None), "y=None: labels must be given"),
        (lambda: model.learn_one(rows[0], "class1", w=-1.0), "w=-1.0: a weight must be finite"),
        (lambda: model.learn_many(frame, pd.Series(["class0", "class9"])), "feature 'b' is inf"),
        (lambda: model.learn_many(frame, pd.Series(["class0"])), "y has 1 labels: one for each of the 2 rows"),
        (lambda: model.learn_many(frame[:1], pd.Series([None])), "y is missing in row 0"),
        (lambda: model.predict_one({"a": "text"}), "feature 'a' is 'text'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
        assert pickle.dumps(model) == before


def test_bad_settings():
    for make, message in (
        (lambda: er.AdaBoostOLM(n_estimators=0), "n_estimators=0: an ensemble needs"),
        (lambda: er.AdaBoostOLM(classes=["a"]), r"classes=\['a'\]: at least 2 classes"),
        (lambda: er.AdaBoostOLM(features=["a"]), r"features=\['a'\]: a dict from names"),
        (lambda: er.AdaBoostOLM(features={"a": 3}), "features: 'a' is 3: float, str or"),
        (lambda: er.AdaOLMR(seed=1).learn_one({}, {"a": 2}), r"y\['a'\]=2: True if the label"),
        (lambda: er.StreamingGradientBoostingRegressor().learn_one({}, float("nan")), "y has nan in row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError, match="random_state"):
        er.AdaBoostOLM(random_state=1)
    policy = er.AdaBandit(n_estimators=2, seed=1)
    policy.pull(["x", "y"], {"a": 1.0})
    with pytest.raises(ValueError, match=r"arm_ids=\['x'\]: this policy was started with \['x', 'y'\]"):
        policy.pull(["x"], {"a": 1.0})
    with pytest.raises(ValueError, match=r"reward=0.5: a boosted policy learns from right"):
        policy.update("x", {"a": 1.0}, 0.5)
    assert policy._n == 0


class Mean:
    """A learner written in Python."""

    def __init__(self):
        self.mean = np.zeros(1)

    def predict_one(self, row):
        return self.mean

    def learn_one(self, row, target, weight):
        self.mean = self.mean + 0.1 * (target - self.mean)


def test_learners_that_cannot_grow():
    settings = {"estimator": Mean(), "n_estimators": 2}
    regressor = er.StreamingGradientBoostingRegressor(**settings)
    regressor.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(ValueError, match="feature 'b' came late: only learners of edgewise can grow"):
        regressor.learn_one({"b": 1.0}, 1.0)
    classifier = er.StreamingGradientBoostingClassifier(**settings, classes=[0, 1], loss="logistic")
    classifier.learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="class 2 came late"):
        classifier.learn_one({"a": 1.0}, 2)
    with pytest.raises(ValueError, match="class 2 came late"):
        classifier.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), [1, 2])
    assert classifier.predict_one({"a": 1.0}) == 1
    assert isinstance(classifier, river_base.Classifier)


def test_without_river_the_error_says_what_to_install():
    script = "import sys; sys.modules['river'] = None; import edgewise.river"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'ImportError: edgewise.river needs river: pip install "edgewise[river]"' in done.stderr


# -- the page ------------------------------------------------------------------------------------------------------


def test_the_page_shows_what_its_example_prints():
    page = TOP / "docs" / "how-to" / "river.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 5
    assert failed == 0
    named = set(re.findall(r"`(\w+)`", page.read_text().split("| kind |")[1].split("The networks")[0]))
    assert set(er.__all__) <= named


def test_the_table_of_times_is_that_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP))
    results = TOP / "benchmarks" / "results"
    made = importlib.import_module("benchmarks.speed.river_models").markdown(
        json.loads((results / "river_models.json").read_text())
    )
    assert made == (results / "river_models.md").read_text()
