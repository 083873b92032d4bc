"""Bad input: a message that names what was wrong and what is allowed, and a model that is unchanged."""

from __future__ import annotations

import numpy as np
import pytest

import edgewise as ew
from tests.small_streams import mixed_stream
from tests.state import model_state, same

X, Y = mixed_stream(60)


def started():
    model = ew.AdaBoostOLM(n_estimators=3, random_state=0)
    model.partial_fit(X, Y)
    return model


def infinite():
    bad = X.values[:5].copy()
    bad[3, 1] = np.inf
    return ew.Table(bad, X.features)


CASES = {
    "wrong width": (
        lambda m: m.partial_fit(np.zeros((4, 2)), Y[:4]),
        "X has 2 features, but AdaBoostOLM is expecting 5 features as input: n0, n1, n2, c0, c1",
    ),
    "wrong width when predicting": (lambda m: m.predict(np.zeros((4, 9))), "X has 9 features"),
    "unknown class": (
        lambda m: m.partial_fit(X[:3], ["class0", "nobody", "class1"]),
        "y has class 'nobody' in row 1: this model knows 'class0', 'class1', 'class2'",
    ),
    "labels of another type": (lambda m: m.partial_fit(X[:3], [0, 1, 2]), "y has class 0 in row 0: this model knows"),
    "missing label": (lambda m: m.partial_fit(X[:2], np.array(["class0", None], object)), "y is missing in row 1"),
    "infinite value": (lambda m: m.partial_fit(infinite(), Y[:5]), "infinite value in row 3, column 'n1'"),
    "infinite value when predicting": (lambda m: m.predict(infinite()), "infinite value in row 3, column 'n1'"),
    "negative weight": (
        lambda m: m.partial_fit(X[:2], Y[:2], sample_weight=[1, -2]),
        r"sample_weight=-2.0 in row 1: weights must be finite and not negative",
    ),
    "NaN weight": (lambda m: m.partial_fit(X[:2], Y[:2], sample_weight=[np.nan, 1]), "sample_weight=nan in row 0"),
    "weights of another length": (lambda m: m.partial_fit(X[:2], Y[:2], sample_weight=[1]), r"sample_weight has shape"),
    "labels of another length": (lambda m: m.partial_fit(X[:3], Y[:2]), r"y has shape \(2,\): one label for each of"),
    "other classes": (lambda m: m.partial_fit(X, Y, classes=["a", "b"]), "this model was started with"),
    "numeric where nominal was": (
        lambda m: m.partial_fit(np.zeros((4, 5)), Y[:4]),
        "column .* is numeric here: it was nominal when this model was started",
    ),
    "one dimension": (lambda m: m.predict(np.zeros(5)), "dimension"),
}


@pytest.mark.parametrize("case", CASES)
def test_message_and_unchanged_state(case):
    act, message = CASES[case]
    model = started()
    before, predictions = model_state(model), model.predict(X)
    with pytest.raises(ValueError, match=message):
        act(model)
    assert same(model_state(model), before)
    np.testing.assert_array_equal(model.predict(X), predictions)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ew.AdaBoostOLM(n_estimators=0), "n_estimators=0: an ensemble needs at least 1 weak learner"),
        (lambda: ew.AdaBoostOLM(chunk_size=0), "chunk_size=0"),
        (lambda: ew.AdaBoostOLM(loss="hinge"), "loss='hinge': one of logistic, exponential, square_hinge"),
        (lambda: ew.AdaBoostOLM(vote="loud"), "vote='loud': one of cost, argmax"),
        (lambda: ew.AdaBoostOLM(follow="me"), "follow='me': one of draw, vote"),
        (lambda: ew.AdaBoostOLM(estimator=3), "estimator=3: a HoeffdingTree"),
        (lambda: ew.OnlineMBBM(edge=1.0), r"edge=1.0: a number in \(0, 1\)"),
        (lambda: ew.OnlineMBBM(importance_bound=0), "importance_bound=0: a positive number"),
        (lambda: ew.OnlineMBBM(vote="x"), "vote='x'"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(grace_period=0)), "grace_period=0"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(grace_period=(9, 3))), r"grace_period=\(9, 3\)"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(split_confidence=1.0)), "split_confidence=1.0"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(tie_threshold=-1)), "tie_threshold=-1"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(leaf_prediction="nb")), "leaf_prediction='nb': one of majority"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(max_nodes=0)), "max_nodes=0"),
        (lambda: ew.OzaBoost(ew.HoeffdingTree(max_features=0)), "max_features=0"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make().partial_fit(X, Y)


def test_first_call_needs_two_classes():
    model = ew.AdaBoostOLM(n_estimators=2)
    with pytest.raises(ValueError, match="at least 2 classes are needed"):
        model.partial_fit(X[:2], ["a", "a"])
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("call", ["predict", "predict_proba", "decision_function"])
def test_predicting_before_learning(call):
    with pytest.raises(ValueError, match="has learned nothing yet"):
        getattr(ew.AdaBoostOLM(), call)(X)


def test_unknown_preset_and_parameter():
    with pytest.raises(ValueError, match="preset='best': the presets are 'paper'"):
        ew.AdaBoostOLM.preset("best")
    with pytest.raises(ValueError, match="speed=9: AdaBoostOLM takes estimator"):
        ew.AdaBoostOLM().set_params(speed=9)


def test_given_votes_must_be_classes():
    from edgewise.learners.weak_learner import PrecomputedVotes

    model = ew.OnlineMBBM(PrecomputedVotes(), 2)
    with pytest.raises(ValueError, match=r"the vote 2\.0 in row 1, column 0: a whole number below 2"):
        model.partial_fit(np.array([[0.0, 1.0], [2.0, 1.0]]), [0, 1])
