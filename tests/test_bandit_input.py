"""Bad input to the bandits: a message that names what was wrong and what is allowed, and a model that is unchanged."""

from __future__ import annotations

import numpy as np
import pytest

import edgewise as ew
from tests.small_streams import mixed_stream
from tests.state import model_state, same

pytestmark = pytest.mark.plain
X, Y = mixed_stream(40)
CLASSES = np.unique(Y)


def started(**settings):
    model = ew.AdaBandit(ew.HoeffdingTree(), 2, exploration=0.1, random_state=0, **settings)
    model.prequential(X, Y)
    model.decide_many(X[:3])
    return model


def infinite():
    bad = X.values[:2].copy()
    bad[1, 0] = np.inf
    return ew.Table(bad, X.features)


CASES = {
    "unknown id": (lambda m: m.feedback(17, True), "decision 17 is unknown to this model: ids from 0 to 2 were given"),
    "negative id": (lambda m: m.feedback(-1, True), "decision -1 is unknown"),
    "no id": (lambda m: m.feedback("first", True), "decision='first': a Decision, or the id of one"),
    "feedback that is no answer": (lambda m: m.feedback(0, "yes"), "correct='yes': True if the label was right"),
    "feedback that is a label": (lambda m: m.feedback(0, 2), "correct=2: True if the label was right"),
    "label outside the classes": (
        lambda m: m.prequential(X[:2], ["class0", "nobody"]),
        "y has class 'nobody' in row 1: this model knows 'class0', 'class1', 'class2'",
    ),
    "other classes": (lambda m: m.decide(X[0], classes=["a", "b"]), "this model was started with"),
    "wrong width": (lambda m: m.decide(np.zeros(3)), "X has 3 features, but .* is expecting 5"),
    "many rows where one is decided": (lambda m: m.decide(X[:2]), "x has 2 rows: decide takes 1"),
    "infinite value": (lambda m: m.decide_many(infinite()), "infinite value in row 1, column 'n0'"),
    "rate of 1 from a function": (
        lambda m: m.set_params(exploration=lambda t: 1.0).decide(X[0]),
        r"exploration\(44\)=1.0: an exploration rate lies strictly between 0 and 1",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_and_unchanged_state(case):
    act, message = CASES[case]
    model = started()
    before = model_state(model), model.decisions_, len(model.pending_)
    with pytest.raises(ValueError, match=message):
        act(model)
    assert same((model_state(model), model.decisions_, len(model.pending_)), before)


@pytest.mark.parametrize("make", [ew.AdaBandit, ew.BanditBBM, ew.BinBandit])
@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, 1.5, float("nan"), "often", None])
def test_exploration_lies_between_0_and_1(make, rate):
    model = make(n_estimators=2, exploration=rate)
    with pytest.raises(ValueError, match="exploration="):
        model.prequential(X, Y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (ew.AdaBandit, {"loss": "exponential"}, "loss='exponential': one of logistic, softmax"),
        (ew.AdaBandit, {"estimate": "biased"}, "estimate='biased': one of full, simple"),
        (ew.AdaBandit, {"step": 0.1}, "step=0.1: one of theory, full"),
        (ew.AdaBandit, {"cost_clip": 0.0}, "cost_clip=0.0: a positive number, or None"),
        (ew.AdaBandit, {"cost_grain": -1.0}, "cost_grain=-1.0: a positive number, or None"),
        (ew.AdaBandit, {"weight_range": (2.0, 1.0)}, "weight_range="),
        (ew.AdaBandit, {"first_weight": 9.0}, "first_weight=9.0"),
        (ew.AdaBandit, {"max_pending": 0}, "max_pending=0: at least 1 decision must be kept"),
        (ew.AdaBandit, {"estimator": ew.LabelMarkovChain()}, "a LabelMarkovChain learns from labels"),
        (ew.BanditBBM, {"edge": 1.0}, r"edge=1.0: a number in \(0, 1\)"),
        (ew.BanditBBM, {"vote": "probability"}, "vote='probability': one of cost, argmax"),
        (ew.BanditBBM, {"importance_bound": 0.0}, "importance_bound=0.0: a positive number"),
        (ew.BinBandit, {"edge": 0.5}, r"edge=0.5: a number in \(0, 1/2\)"),
        (ew.BinBandit, {"step": 0.0}, "step=0.0: a positive number"),
        (ew.BinBandit, {"estimator": ew.SoftmaxRegression()}, "a HoeffdingTree, of which every class has a group"),
    ],
)
def test_settings(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings).prequential(X, Y)


def test_the_first_decision_needs_classes():
    model = ew.AdaBandit()
    with pytest.raises(ValueError, match="classes=None: the first decision needs the labels to choose from"):
        model.decide([1.0, 2.0])
    with pytest.raises(ValueError, match="has learned nothing yet"):
        model.feedback(0, True)
    with pytest.raises(ValueError, match="preset='theirs': the presets are 'paper', 'paper-mice', 'paper-isolet'"):
        ew.AdaBandit.preset("theirs")


def test_no_bound_for_the_simple_estimate():
    with pytest.raises(ValueError, match=r"estimate='simple': the bound is proved for estimate='full', \(4\), alone"):
        started(estimate="simple").bound()
