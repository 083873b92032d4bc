"""Predictions and state do not depend on how the stream is cut: into chunks, or into calls."""

from __future__ import annotations

import numpy as np
import pytest

import edgewise as ew
from edgewise.theory.projections import Box
from edgewise.theory.regression_losses import HingeLoss
from tests.small_streams import mixed_stream
from tests.state import model_state, same

EAGER = {
    "grace_period": (2, 8),
    "split_confidence": (0.1, 0.9),
    "tie_threshold": (0.1, 0.9),
    "importance_scale": (2.0, 20.0),
    "max_features": 0.8,
}


def eager(leaf="adaptive"):
    return ew.HoeffdingTree(leaf_prediction=leaf, **EAGER)


def alike():
    """Trees that see the same columns, for which rows are gathered once."""
    return ew.HoeffdingTree((2, 8), (0.1, 0.9), (0.1, 0.9), leaf_prediction="adaptive", importance_scale=(2.0, 20.0))


def olm(leaf="adaptive", **settings):
    return ew.AdaBoostOLM.preset("paper", estimator=eager(leaf), n_estimators=7, random_state=3, **settings)


def recipe(**settings):
    """The defaults with a learner of each kind, small enough to grow in a short stream."""
    calm = ew.HoeffdingTree(20, 0.1, 0.3, "mixed", "binary", True)
    warm = ew.HoeffdingTree(
        5, 0.3, 0.9, "mixed", "binary", True, importance_scale=ew.LogUniform(0.5, 4.0), max_features=0.7
    )
    return ew.AdaBoostOLM([ew.SoftmaxRegression(), calm, warm], 7, random_state=3, **settings)


def sgb(**settings):
    """Gradient boosting with a learner of each kind, small enough to grow in a short stream."""
    tree = ew.RegressionTree((10, 20), least_gain=2.0, smoothing=(0.0, 5.0), memory=50.0, max_features=0.7, bins=8)
    return ew.StreamingGradientBoostingClassifier([ew.RidgeRegression(), tree], 7, random_state=3, **settings)


MODELS = {
    "olm": olm,
    "olm-majority-argmax-vote": lambda **kw: olm("majority", vote="argmax", follow="vote", **kw),
    "olm-exponential": lambda **kw: olm(loss="exponential", **kw),
    "olm-hinge": lambda **kw: olm("naive_bayes", loss="square_hinge", **kw),
    "recipe": recipe,
    "recipe-draw-logistic": lambda **kw: recipe(follow="draw", loss="logistic", **kw),
    "recipe-best-argmax": lambda **kw: recipe(follow="best", vote="argmax", **kw),
    "recipe-singles": lambda **kw: recipe(single_experts=True, **kw),
    "olm-singles": lambda **kw: olm(single_experts=True, **kw),
    "drift": lambda **kw: ew.AdaBoostOLM(
        [
            ew.SoftmaxRegression(),
            ew.LabelMarkovChain(),
            ew.HoeffdingTree(5, 0.3, 0.9, nominal_splits="binary"),
            ew.HoeffdingTree(5, 0.3, 0.9),
        ],
        7,
        drift="restart",
        random_state=3,
        **kw,
    ),
    "warm-multiway": lambda **kw: ew.AdaBoostOLM(
        ew.HoeffdingTree(5, 0.3, 0.9, "naive_bayes", warm_start=True), 7, vote="cost", random_state=3, **kw
    ),
    "binary-relevance": lambda **kw: ew.AdaBoostOLM([ew.BinaryRelevance(), eager()], 7, random_state=3, **kw),
    "mbbm": lambda **kw: ew.OnlineMBBM(eager(), 7, random_state=3, **kw),
    "mbbm-cost": lambda **kw: ew.OnlineMBBM(eager(), 7, edge=0.3, vote="cost", random_state=3, **kw),
    "oza": lambda **kw: ew.OzaBoost(eager(), 7, random_state=3, **kw),
    "ova": lambda **kw: ew.OneVsAllOLM(eager(), 4, random_state=3, **kw),
    "ova-singles": lambda **kw: ew.OneVsAllOLM(eager(), 4, single_experts=True, random_state=3, **kw),
    "adaova": lambda **kw: ew.AdaOVA(eager(), 4, random_state=3, **kw),
    "trees": lambda **kw: ew.HoeffdingForest(eager(), 7, random_state=3, **kw),
    "olm-in-turn": lambda **kw: ew.AdaBoostOLM.preset(
        "paper", estimator=alike(), n_estimators=11, random_state=3, **kw
    ),
    "mbbm-in-turn": lambda **kw: ew.OnlineMBBM([eager(), *[alike()] * 6, eager()], 8, random_state=3, **kw),
    "oza-in-turn": lambda **kw: ew.OzaBoost(alike(), 11, random_state=3, **kw),
    "drift-in-turn": lambda **kw: ew.AdaBoostOLM(
        [ew.SoftmaxRegression(), alike()], 11, drift="restart", single_experts=True, random_state=3, **kw
    ),
    "sgb-softmax": lambda **kw: sgb(**kw),
    "sgb-logistic": lambda **kw: sgb(loss="logistic", learning_rate=0.3, **kw),
    "sgb-hinge": lambda **kw: sgb(loss=HingeLoss(0.05, Box(-2.0, 2.0)), **kw),
}


@pytest.mark.parametrize("name", MODELS)
def test_chunk_size_changes_nothing(name):
    X, y = mixed_stream(600)
    whole = MODELS[name](chunk_size=len(y))
    expected = whole.prequential(X, y)
    assert whole.n_nodes_.sum() > 2 * whole.n_nodes_.size, "the stream must make trees grow, or nothing is tested"
    for size in (1, 7, 256):
        model = MODELS[name](chunk_size=size)
        np.testing.assert_array_equal(model.prequential(X, y), expected)
        assert same(model_state(model), model_state(whole)), f"state differs for chunks of {size}"
        np.testing.assert_array_equal(model.decision_function(X[:50]), whole.decision_function(X[:50]))


@pytest.mark.parametrize("name", MODELS)
def test_cutting_into_calls_changes_nothing(name):
    X, y = mixed_stream(400, seed=1)
    whole = MODELS[name]()
    expected = whole.prequential(X, y)
    model = MODELS[name]()
    pieces = [
        model.prequential(X[a:b], y[a:b], classes=np.unique(y)) for a, b in [(0, 1), (1, 30), (30, 311), (311, 400)]
    ]
    np.testing.assert_array_equal(np.concatenate(pieces), expected)
    assert same(model_state(model), model_state(whole))


@pytest.mark.parametrize("name", MODELS)
def test_partial_fit_learns_the_same_and_predicting_changes_nothing(name):
    X, y = mixed_stream(300, seed=2)
    one, two = MODELS[name](), MODELS[name]()
    one.prequential(X, y)
    two.partial_fit(X[:100], y[:100], classes=np.unique(y))
    before = model_state(two)
    two.predict(X), two.predict_proba(X), two.decision_function(X)
    assert same(model_state(two), before)
    two.partial_fit(X[100:], y[100:])
    assert same(model_state(one), model_state(two))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(MODELS[name]().fit(X, y).predict(X), one.predict(X))


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_and_seeds(name):
    X, y = mixed_stream(200, seed=5)
    model = MODELS[name]()
    guesses = model.prequential(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0.0).all()
    np.testing.assert_array_equal(MODELS[name]().prequential(X, y), guesses)
    assert model.mistakes_ == (guesses != y).sum()
    told = MODELS[name](chunk_size=9).prequential_proba(X, y)
    one_by_one = MODELS[name]()
    for t in range(0, 200, 40):
        one_by_one.partial_fit(X[:t], y[:t], classes=np.unique(y)) if t == 40 else None
        if t > 40:
            one_by_one.partial_fit(X[t - 40 : t], y[t - 40 : t])
        if t >= 40:
            np.testing.assert_array_equal(one_by_one.predict_proba(X[t : t + 1]), told[t : t + 1])
    assert model.rounds_ == 200
    assert model.nbytes > 1000


def test_a_row_of_weight_zero_is_predicted_and_never_learned():
    X, y = mixed_stream(200)
    weights = np.ones(200)
    weights[50:100] = 0.0
    model = ew.AdaBoostOLM(eager(), 5, random_state=3, follow="vote")
    model.prequential(X, y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    other = ew.AdaBoostOLM(eager(), 5, random_state=3, follow="vote")
    other.prequential(X[kept], y[kept], classes=np.unique(y))
    assert same(model_state(model), model_state(other))


def test_later_categories_do_not_disturb_what_was_learned():
    X, y = mixed_stream(300, missing=0.0)
    strings = np.array(
        [[f"{v:.3f}" if j < 3 else "abcd"[int(v)] for j, v in enumerate(row)] for row in X.values], object
    )
    strings[:, :3] = X.values[:, :3]
    first = np.flatnonzero(strings[:, 3] != "d")[:40]
    order = np.concatenate([first, np.setdiff1d(np.arange(300), first)])
    strings, y = strings[order], y[order]
    whole = ew.AdaBoostOLM(eager(), 5, random_state=3)
    cut = ew.AdaBoostOLM(eager(), 5, random_state=3)
    expected = whole.prequential(strings, y)
    pieces = [cut.prequential(strings[a:b], y[a:b], classes=np.unique(y)) for a, b in [(0, 40), (40, 45), (45, 300)]]
    np.testing.assert_array_equal(np.concatenate(pieces), expected)
