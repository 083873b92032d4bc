"""Decisions and their feedback: at once, late, out of order, twice or never; and the ways to replay a stream."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import edgewise as ew
from edgewise.learners.weak_learner import PrecomputedVotes
from tests.small_streams import mixed_stream
from tests.state import model_state, same

pytestmark = pytest.mark.plain
TREE = ew.HoeffdingTree(
    grace_period=(2, 8), split_confidence=(0.1, 0.9), tie_threshold=(0.1, 0.9), importance_scale=(2.0, 20.0)
)
RATE = {"exploration": 0.2, "random_state": 3}
MODELS = {
    "ada": lambda **kw: ew.AdaBandit([ew.SoftmaxRegression(), TREE], 5, **RATE | kw),
    "ada-paper": lambda **kw: ew.AdaBandit.preset("paper", estimator=TREE, n_estimators=5, **RATE | kw),
    "bbm": lambda **kw: ew.BanditBBM(TREE, 5, **RATE | kw),
    "bin": lambda **kw: ew.BinBandit(TREE, 3, **RATE | kw),
}
X, Y = mixed_stream(90, missing=0.05)
CLASSES = np.unique(Y)


def numbers(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + y[:, None], y


def replayed(model, X, y, classes=None):
    """Decide, then give feedback, row by row: the labels shown."""
    shown = []
    for t in range(len(y)):
        decision = model.decide(X[t], classes=classes if t == 0 else None)
        assert model.feedback(decision, decision.label == y[t])
        shown.append(decision.label)
    return np.array(shown)


@pytest.mark.parametrize("name", MODELS)
def test_feedback_at_once_equals_replay_bit_for_bit(name):
    for data, y in ((X, Y), numbers()):
        whole, apart = MODELS[name](), MODELS[name]()
        expected = whole.prequential(data, y)
        np.testing.assert_array_equal(replayed(apart, data, y, np.unique(y)), expected)
        assert same(model_state(apart), model_state(whole))
        assert whole.n_nodes_.sum() > whole.n_nodes_.size, "trees must grow, or nothing is tested"
        assert (whole.mistakes_, whole.rounds_, whole.decisions_) == ((expected != y).sum(), len(y), len(y))
        assert (apart.mistakes_, apart.rounds_, apart.decisions_) == ((expected != y).sum(), len(y), len(y))


@pytest.mark.parametrize("name", MODELS)
def test_chunks_and_calls_change_nothing(name):
    whole = MODELS[name]()
    expected = whole.prequential(X, Y)
    for size in (1, 7, 90):
        model = MODELS[name](chunk_size=size)
        np.testing.assert_array_equal(model.prequential(X, Y), expected)
        assert same(model_state(model), model_state(whole))
        np.testing.assert_array_equal(model.decision_function(X[:20]), whole.decision_function(X[:20]))
    cut = MODELS[name]()
    pieces = [cut.prequential(X[a:b], Y[a:b], classes=CLASSES) for a, b in ((0, 1), (1, 30), (30, 90))]
    np.testing.assert_array_equal(np.concatenate(pieces), expected)
    before = model_state(cut)
    p = cut.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0.0).all()
    assert set(cut.predict(X)) <= set(CLASSES)
    assert same(model_state(cut), before), "predicting changes nothing"
    np.testing.assert_array_equal(MODELS[name]().fit(X, Y).predict(X), whole.predict(X))


def played(model, delay, seed=5):
    """Decide all rows; each one's feedback comes up to `delay` rounds late. A delay of 0 is feedback at once."""
    rng = np.random.default_rng(seed)
    due = np.argsort(np.arange(len(Y)) + (delay + 1) * rng.random(len(Y)) * (delay > 0), kind="stable").tolist()
    waiting = {}
    for t in range(len(Y)):
        waiting[t] = model.decide(X[t], classes=CLASSES)
        while due and due[0] in waiting:
            decision = waiting.pop(due[0])
            model.feedback(decision.id, decision.label == Y[due.pop(0)])
    return model


@pytest.mark.parametrize("name", MODELS)
def test_delay_zero_equals_at_once_and_late_feedback_is_reproducible(name):
    whole = MODELS[name]()
    whole.prequential(X, Y)
    assert same(model_state(played(MODELS[name](), 0)), model_state(whole))
    late = played(MODELS[name](), 10)
    assert same(model_state(late), model_state(played(MODELS[name](), 10)))
    assert not same(model_state(late), model_state(whole))
    assert late.rounds_ == len(Y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_saved_model_with_pending_decisions_resumes_exactly(name, way):
    model = MODELS[name]()
    model.prequential(X[:40], Y[:40], classes=CLASSES)
    waiting = model.decide_many(X[40:50])
    saved = way(model)
    assert [d.id for d in saved.pending_] == [d.id for d in waiting]
    for one in (model, saved):
        for t in (7, 2, 9, 0):
            assert one.feedback(waiting[t].id, waiting[t].label == Y[40 + t])
        one.prequential(X[50:], Y[50:])
    assert same(model_state(saved), model_state(model))
    assert [d.id for d in saved.pending_] == [d.id for d in model.pending_]


def test_what_a_decision_tells():
    model = MODELS["ada"](exploration=0.3)
    data, _ = numbers()
    decisions = model.decide_many(data[:50], classes=[0, 1, 2])
    assert [d.id for d in decisions] == list(range(50))
    for t, d in enumerate(decisions):
        np.testing.assert_allclose(sorted(d.probabilities), [0.15, 0.15, 0.7])
        assert d.propensity == d.probabilities[d.label]
        np.testing.assert_array_equal(d.features, data[t])
    assert {d.label for d in decisions} == {0, 1, 2}, "the other labels are explored"
    assert model.rounds_ == 0
    assert len(model.pending_) == model.decisions_ == 50
    once = MODELS["ada"](exploration=0.3)
    assert [once.decide(row, classes=[0, 1, 2]).label for row in data[:50]] == [d.label for d in decisions]


def test_a_plain_row_is_decided_like_a_table():
    data, y = numbers()
    data[3, 1] = np.nan
    models = [MODELS["ada"]() for _ in range(3)]
    for model in models:
        model.prequential(data[:40], y[:40])
    for t in range(40, 80):
        given = [data[t], data[t].tolist(), data[t : t + 1]]
        made = [model.decide(x) for model, x in zip(models, given, strict=True)]
        assert len({d.label for d in made}) == 1
        for model, d in zip(models, made, strict=True):
            model.feedback(d, d.label == y[t])
    assert same(model_state(models[0]), model_state(models[1]))
    assert same(model_state(models[0]), model_state(models[2]))


def test_feedback_twice_is_ignored_and_counted():
    model = MODELS["ada"]()
    first, second = model.decide_many(X[:2], classes=CLASSES)
    assert model.feedback(second, True)
    before = model_state(model)
    assert model.feedback(second, True) is False
    assert model.feedback(second.id, False) is False
    assert model.repeated_ == 2
    assert same(model_state(model), before)
    assert model.feedback(first.id, np.False_)
    assert model.mistakes_ == 1


def test_the_oldest_decisions_expire():
    model = MODELS["bbm"](max_pending=4)
    decisions = model.decide_many(X[:10], classes=CLASSES)
    assert model.expired_ == 6
    assert [d.id for d in model.pending_] == [6, 7, 8, 9]
    before = model_state(model)
    with pytest.raises(ValueError, match="decision 5 has expired: only the last decisions are kept"):
        model.feedback(decisions[5], True)
    assert same(model_state(model), before)
    assert model.feedback(9, True)
    assert model.feedback(9, True) is False
    assert model.feedback(6, False)


def test_categories_may_come_up_while_decisions_wait():
    model = MODELS["ada"]()
    rows = [[0.5, "a"], [1.5, "b"], [2.5, "c"], [0.1, "d"]]
    first = model.decide(rows[0], classes=["no", "yes"])
    later = [model.decide(row) for row in rows[1:]]
    for decision in [later[2], first, later[0], later[1]]:
        assert model.feedback(decision, decision.label == "yes")
    assert model.rounds_ == 4
    assert model.predict([[0.5, "d"]])[0] in ("no", "yes")


def test_exploration_rates():
    data, y = numbers(200)
    steady = ew.BanditBBM(TREE, 3, exploration=0.25, random_state=1)
    assert (steady.trace(data, y).rates == 0.25).all()
    own = ew.BanditBBM(TREE, 3, exploration=lambda t: 1.0 / (t + 1), random_state=1)
    np.testing.assert_allclose(own.trace(data, y).rates, 1.0 / np.arange(2, 202))
    for model in (ew.BanditBBM(TREE, 3, exploration="decaying"), ew.AdaBandit(TREE, 3, exploration="decaying")):
        rates = model.trace(data, y).rates
        assert (np.diff(rates) <= 0.0).all()
        assert rates[0] == pytest.approx(2.0 / 3.0)
        assert 0.0 < model._rates(3, 10**6, 1)[0] < 0.1
        assert model.decide(data[0]).propensity in (1.0 - model._rates(3, 200, 1)[0], model._rates(3, 200, 1)[0] / 2)
    paper = ew.BanditBBM(TREE, 3, exploration="decaying")
    paper.prequential(data, y)
    assert paper._rates(3, 199, 1)[0] == pytest.approx(min(3**1.75 * 3**0.25 / np.sqrt(200), 2 / 3))


def test_estimated_edges_of_learners_of_known_edge():
    """Learners right with probability 1/k + edge (k - 1)/k; the estimates spread by 1/rho, so rho is large."""
    rng = np.random.default_rng(4)
    n, k, edge = 400, 3, 0.4
    y = rng.integers(0, k, n)
    right = rng.random((n, 4)) < (1 - edge) / k + edge
    votes = np.where(right, y[:, None], (y[:, None] + rng.integers(1, k, (n, 4))) % k).astype(float)
    bbm = ew.BanditBBM(PrecomputedVotes(), 4, edge=edge, exploration=0.5, random_state=0)
    bbm.prequential(votes, y)
    np.testing.assert_allclose(bbm.edges_, edge, atol=0.35)
    ada = ew.AdaBandit(PrecomputedVotes(), 4, exploration=0.5, vote="argmax", random_state=0)
    ada.prequential(votes, y)
    np.testing.assert_allclose(ada.edges_, edge, atol=0.35)


@pytest.mark.parametrize("name", ["ada", "ada-paper", "bbm"])
def test_the_bound_is_told_beside_the_mistakes(name):
    model = MODELS[name]()
    model.prequential(X, Y)
    bound = model.bound()
    assert bound.rounds == len(Y)
    assert bound.mistakes == model.mistakes_ <= bound.value
    assert bound.theorem in ("Theorem 3.2", "Theorem 3.3")
