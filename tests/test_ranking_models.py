"""Rankers towards their users: any cut of the stream, resuming, purity, label sets of every form, bad input."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import edgewise as ew
from edgewise.learners.weak_learner import PrecomputedVotes
from tests.label_streams import label_set_stream
from tests.state import model_state, same

EAGER = ew.HoeffdingTree(
    grace_period=(2, 8),
    split_confidence=(0.1, 0.9),
    tie_threshold=(0.1, 0.9),
    importance_scale=(3.0, 10.0),
    max_features=0.8,
)
WARM = ew.HoeffdingTree(5, 0.3, 0.9, "mixed", "binary", True, importance_scale=4.0)
MIXED = [ew.SoftmaxRegression(), ew.BinaryRelevance(), WARM, EAGER]

MODELS = {
    "bmr-hinge": lambda **kw: ew.OnlineBMR(EAGER, 7, random_state=3, **kw),
    "bmr-rank": lambda **kw: ew.OnlineBMR(
        EAGER, 7, loss="rank", edge=0.02, normalize_importance=False, random_state=3, **kw
    ),
    "defaults": lambda **kw: ew.AdaOLMR(n_estimators=5, random_state=3, **kw),
    "bmr-mixed": lambda **kw: ew.OnlineBMR(
        MIXED, 7, vote=["label", "set", "set", "distribution"], random_state=3, **kw
    ),
    "olmr": lambda **kw: ew.AdaOLMR(EAGER, 7, random_state=3, **kw),
    "olmr-mean-mixed": lambda **kw: ew.AdaOLMR(MIXED, 7, follow="mean", random_state=3, **kw),
    "olmr-best-label": lambda **kw: ew.AdaOLMR(EAGER, 7, follow="best", vote="label", random_state=3, **kw),
}
each = pytest.mark.parametrize("name", MODELS)


@each
def test_chunk_size_changes_nothing(name):
    X, Y = label_set_stream(500)
    whole = MODELS[name](chunk_size=len(Y))
    expected = whole.prequential(X, Y)
    assert whole.n_nodes_.sum() > 2 * whole.n_nodes_.size, "the stream must make trees grow, or nothing is tested"
    for size in (1, 7, 256):
        model = MODELS[name](chunk_size=size)
        np.testing.assert_array_equal(model.prequential(X, Y), expected)
        assert same(model_state(model), model_state(whole)), f"state differs for chunks of {size}"
        np.testing.assert_array_equal(model.decision_function(X[:50]), whole.decision_function(X[:50]))


@each
def test_cutting_into_calls_changes_nothing(name):
    X, Y = label_set_stream(300, seed=1)
    whole = MODELS[name]()
    expected = whole.prequential(X, Y)
    model = MODELS[name]()
    pieces = [model.prequential(X[a:b], Y[a:b]) for a, b in [(0, 1), (1, 30), (30, 211), (211, 300)]]
    np.testing.assert_array_equal(np.concatenate(pieces), expected)
    assert same(model_state(model), model_state(whole))
    np.testing.assert_array_equal(MODELS[name]().fit(X, Y).decision_function(X), whole.decision_function(X))


@each
@pytest.mark.parametrize("way", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_resumes_bit_for_bit(name, way):
    X, Y = label_set_stream(240, seed=2)
    model = MODELS[name]().partial_fit(X[:120], Y[:120])
    twin = way(model)
    np.testing.assert_array_equal(model.prequential(X[120:], Y[120:]), twin.prequential(X[120:], Y[120:]))
    assert same(model_state(model), model_state(twin))
    assert model.nbytes > 1000


@each
def test_asking_changes_nothing_and_answers_agree(name):
    X, Y = label_set_stream(200, seed=3)
    model = MODELS[name]().partial_fit(X, Y)
    before = model_state(model)
    scores, order, p, sets = model.decision_function(X), model.rank(X), model.predict_proba(X), model.predict(X)
    assert same(model_state(model), before)
    assert scores.shape == order.shape == p.shape == sets.shape == Y.shape
    np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(5), (200, 1)))
    ranked = np.take_along_axis(scores, order, axis=1)
    assert (np.diff(ranked, axis=1) <= 0.0).all()
    np.testing.assert_array_equal(sets, p >= 0.5)
    assert set(np.unique(sets)) == {0, 1}
    assert model.expert_weights_.sum() == pytest.approx(1.0)
    assert model.rounds_ + model.skipped_ == 200
    assert 0.0 < model.rank_loss_ < 0.5 * model.rounds_, "better than chance, or nothing was learned"


def test_ties_go_to_the_lowest_label():
    X, _ = label_set_stream(5)
    model = ew.AdaOLMR(EAGER, 3, random_state=0).partial_fit(X[:1], np.zeros((1, 5), int))
    np.testing.assert_array_equal(model.rank(X), np.tile(np.arange(5), (5, 1)))


def test_thresholds_find_how_many_labels_are_relevant():
    X, Y = label_set_stream(1500, one_sided=0.0)
    for name in ("bmr-hinge", "olmr"):
        model = MODELS[name]().partial_fit(X[:1000], Y[:1000])
        sets = model.predict(X[1000:])
        truth = Y[1000:]
        assert (sets == truth).mean() > 1.02 * max(truth.mean(), 1.0 - truth.mean())
        np.testing.assert_allclose(model.predict_proba(X[1000:]).mean(), truth.mean(), atol=0.05)


@each
def test_rows_with_nothing_to_rank_leave_no_trace(name):
    X, Y = label_set_stream(300, one_sided=0.2)
    kept = np.flatnonzero((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 5))
    one, two = MODELS[name](), MODELS[name]()
    scores = one.prequential(X, Y)
    np.testing.assert_array_equal(scores[kept], two.prequential(X[kept], Y[kept]))
    assert (one.skipped_, two.skipped_) == (300 - kept.size, 0)
    assert same(model_state(one), model_state(two))
    assert np.isfinite(scores).all()


def test_a_row_of_weight_0_is_scored_and_never_learned():
    X, Y = label_set_stream(200, one_sided=0.0)
    weights = np.ones(200)
    weights[50:100] = 0.0
    one, two = MODELS["olmr"](), MODELS["olmr"]()
    one.prequential(X, Y, sample_weight=weights)
    kept = np.flatnonzero(weights)
    two.prequential(X[kept], Y[kept])
    assert same(model_state(one), model_state(two))
    assert one.skipped_ == 0


def test_label_sets_of_every_form():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    sparse = pytest.importorskip("scipy.sparse")
    X, Y = label_set_stream(120)
    expected = MODELS["bmr-hinge"]().prequential(X, Y)
    names = ["rock", "jazz", "folk", "soul", "punk"]
    forms = [Y.astype(bool), Y.astype(float), Y.tolist(), sparse.csr_matrix(Y), sparse.coo_array(Y)]
    for form in forms:
        np.testing.assert_array_equal(MODELS["bmr-hinge"]().prequential(X, form), expected)
    for frame in (pandas.DataFrame(Y, columns=names), polars.DataFrame(Y, schema=names)):
        model = MODELS["bmr-hinge"]()
        np.testing.assert_array_equal(model.prequential(X, frame), expected)
        assert model.labels_.tolist() == names
        assert set(model.rank(X[:3]).ravel()) == set(names)
    model = MODELS["bmr-hinge"]().partial_fit(X, Y, labels=names)
    assert model.labels_.tolist() == names
    model.partial_fit(X, Y)


def test_presets_are_the_papers():
    for kind in (ew.OnlineBMR, ew.AdaOLMR):
        model = kind.preset("paper", n_estimators=50, random_state=0)
        rng = np.random.default_rng(0)
        model.partial_fit(rng.normal(size=(30, 40)), rng.integers(0, 2, (30, 4)))
        drawn = model.parameters_
        assert (drawn.features.sum(axis=1) == 20).all()
        assert drawn.grace_period.min() >= 5
        assert drawn.grace_period.max() <= 20
        assert (model._ensemble.committee.form == 2).all()
        low, high = (6.0, 20.0) if kind is ew.OnlineBMR else (3.0, 10.0)
        assert (drawn.importance_scale >= low).all()
        assert (drawn.importance_scale <= high).all()
    ew.OnlineBMR.preset("paper", n_estimators=3, loss="rank").partial_fit(X, Y)
    with pytest.raises(ValueError, match="preset='best'"):
        ew.AdaOLMR.preset("best")


X, Y = label_set_stream(60)


def with_value(row: int, column: int, value: float) -> np.ndarray:
    bad = Y[:5].astype(float)
    bad[row, column] = value
    return bad


CASES = {
    "another value": (lambda m: m.partial_fit(X[:5], with_value(3, 1, 2.0)), "Y has 2.0 in row 3, column 1: 1 is rel"),
    "negative": (lambda m: m.partial_fit(X[:5], with_value(0, 4, -1.0)), "Y has -1.0 in row 0, column 4"),
    "missing": (lambda m: m.partial_fit(X[:5], with_value(2, 2, np.nan)), "Y has nan in row 2, column 2"),
    "words": (lambda m: m.partial_fit(X[:1], [["a", "b", "c", "d", "e"]]), "Y has a in row 0, column 0"),
    "another width": (lambda m: m.partial_fit(X[:5], Y[:5, :4]), "Y has 4 labels: this model was started with 5"),
    "another length": (lambda m: m.partial_fit(X[:5], Y[:4]), r"Y has shape \(4, 5\): a row of 0 and 1 for each of"),
    "labels in a row": (lambda m: m.partial_fit(X[:5], [0, 1, 2, 3, 4]), r"Y has shape \(5,\)"),
    "other names": (lambda m: m.partial_fit(X, Y, labels=list("abcde")), "this model was started with"),
    "width of X": (lambda m: m.partial_fit(np.zeros((4, 2)), Y[:4]), "X has 2 features, but .* is expecting 5"),
    "width of X when scoring": (lambda m: m.rank(np.zeros((4, 2))), "X has 2 features"),
    "weight": (lambda m: m.partial_fit(X[:2], Y[:2], sample_weight=[1, -2]), "sample_weight=-2.0 in row 1"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_named_and_leaves_the_model_unchanged(case):
    act, message = CASES[case]
    model = MODELS["olmr"]().partial_fit(X, Y)
    before, scores = model_state(model), model.decision_function(X)
    with pytest.raises(ValueError, match=message):
        act(model)
    assert same(model_state(model), before)
    np.testing.assert_array_equal(model.decision_function(X), scores)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ew.OnlineBMR(loss="logistic"), "loss='logistic': one of rank, hinge"),
        (lambda: ew.OnlineBMR(edge=0.0), r"edge=0.0: a number in \(0, 1\)"),
        (lambda: ew.OnlineBMR(loss="rank", vote="set"), "vote='set': potentials of the rank loss are for votes for a"),
        (lambda: ew.OnlineBMR(vote="loud"), "vote='loud': one of label, set, distribution"),
        (lambda: ew.AdaOLMR(vote=[]), r"vote=\[\]: at least one format"),
        (lambda: ew.AdaOLMR(follow="vote"), "follow='vote': one of draw, mean, best"),
        (lambda: ew.AdaOLMR([ew.LabelMarkovChain(), EAGER]), "a LabelMarkovChain remembers single labels"),
        (lambda: ew.AdaOLMR(n_estimators=0), "n_estimators=0"),
    ],
)
def test_bad_parameters(make, message):
    model = make()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, Y)
    assert not hasattr(model, "labels_")


def test_first_call():
    with pytest.raises(ValueError, match="has learned nothing yet"):
        ew.AdaOLMR().rank(X)
    with pytest.raises(ValueError, match="Y has 1 labels: there are at least 2 to rank"):
        ew.AdaOLMR().partial_fit(X, Y[:, :1])
    with pytest.raises(ValueError, match="a name of its own for each of the 5 labels"):
        ew.AdaOLMR().partial_fit(X, Y, labels=["a", "b", "c", "d", "a"])
    with pytest.raises(ValueError, match=r"the vote 5\.0 in row 0, column 1: a whole number below 5"):
        ew.OnlineBMR(PrecomputedVotes(), 2).partial_fit([[0.0, 5.0]], Y[:1])
