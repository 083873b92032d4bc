"""`AdaBoostOLM(single_experts=True)`: every learner alone is an expert of Hedge too.

Experts do not act on learners. So a run with the option is, learner by learner, the run without it, and what Hedge
makes of the further experts can be worked out afterwards from the votes of that run.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import Perceptron

import edgewise as ew
from edgewise import reference
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.persist.archive import ModelFileError
from edgewise.reference import RunningMoments
from edgewise.reference.adaboost_olm import draw_expert, hedge_weights, weighted_vote
from edgewise.theory.bounds import HEDGE
from tests.small_streams import mixed_stream
from tests.state import model_state, same
from tests.test_saving import rewritten
from tests.test_twin_boosters import Scripted
from tests.test_twin_recipe import PAPER, RECIPE, Says, assert_same_run, mixed_committee, some_tree
from tests.test_twin_tree import random_stream

FOLLOW = ("vote", "draw", "best")
VOTES = ("probability", "argmax", "cost")
TREE = ew.HoeffdingTree((4, 9), (0.1, 0.9), (0.1, 0.9), importance_scale=(2.0, 8.0), max_features=0.8)
SINGLES = {"single_experts": True}

# The library against plain Python


@pytest.mark.parametrize("follow", FOLLOW)
@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2])
def test_trees(seed, vote, follow):
    """The paper's setting: learner weights start at 0 and may be negative, where a learner alone differs most."""
    seed = 1300 + seed + 3 * VOTES.index(vote) + 9 * FOLLOW.index(follow)
    stream = random_stream(seed, weighted=True)
    options = {"vote": vote, "follow": follow, "calibrate": seed % 2 == 0, **SINGLES}
    assert_same_run(stream, [some_tree(seed, stream)], 1 + seed % 5, seed, **PAPER | options)


@pytest.mark.parametrize("follow", FOLLOW)
@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2])
def test_mixed_committees(seed, vote, follow):
    seed = 1400 + seed + 3 * VOTES.index(vote) + 9 * FOLLOW.index(follow)
    stream = random_stream(seed, weighted=True)
    options = {"vote": vote, "follow": follow, "chunk_size": (1, 7, 256)[seed % 3], **SINGLES}
    assert_same_run(stream, mixed_committee(seed, stream), 2 + seed % 6, seed, **RECIPE | options)


def test_mistakes_by_hand():
    """Two learners of which the second outweighs the first: both alone, and both together, are experts."""
    learners = [Scripted(3, [0, 0]), Scripted(3, [2, 2])]
    booster = reference.AdaBoostOLM(
        3,
        learners,
        RunningMoments(0),
        vote="argmax",
        follow="best",
        weight_range=(0.0, 1.0),
        first_weight=0.1,
        **SINGLES,
    )
    booster.alpha = [0.3, 0.1]
    first = booster.round([], [], 2, 0.0, sample_weight=0.5)
    assert (first.expert_labels, first.expert_losses, first.prediction) == ([0, 0, 0, 2], [0.0] * 4, 0)
    assert booster.mistakes == [0.5, 0.5, 0.5, 0.0]
    booster.alpha = [0.3, 0.1]
    assert booster.round([], [], 2, 0.0).prediction == 2, "the second learner alone has made no mistake"


def test_scores_by_hand():
    """Scores (.1, .3) and (.3, .5) of the experts together, (.1, .3) and (.2, .2) of those alone, weights 1 and 1/e."""
    learners = [Says([0.25, 0.75]), Says([0.5, 0.5])]
    booster = reference.AdaBoostOLM(
        2, learners, RunningMoments(0), loss="softmax", vote="probability", first_weight=0.4, **SINGLES
    )
    assert booster.decision_function([], []) == pytest.approx([0.7 / 4, 1.3 / 4])
    booster.mistakes = [0.0, 0.0, 0.0, 1.0]
    light = math.exp(-1.0)
    expected = [(0.5 + 0.2 * light) / (3 + light), (1.1 + 0.2 * light) / (3 + light)]
    assert booster.decision_function([], []) == pytest.approx(expected)


# Beside the run without

KINDS = {
    "defaults": lambda **kw: ew.AdaBoostOLM(None, 6, random_state=1, **kw),
    "labels": lambda **kw: ew.AdaBoostOLM(TREE, 6, vote="argmax", random_state=1, **kw),
    "paper": lambda **kw: ew.AdaBoostOLM.preset("paper", estimator=TREE, n_estimators=6, random_state=1, **kw),
    "groups": lambda **kw: ew.AdaOVA(TREE, 4, random_state=1, **kw),
    "restarts": lambda **kw: ew.AdaBoostOLM(None, 6, drift="restart", random_state=1, **kw),
    "others": lambda **kw: ew.AdaBoostOLM([Perceptron(random_state=0), TREE], 4, random_state=1, **kw),
}


def hedged(labels, codes, follow, uniforms):
    """The guesses of Hedge over experts that say `labels` [rows, experts], and their mistakes before each row."""
    wrong = labels != codes[:, None]
    before = np.vstack([np.zeros(labels.shape[1]), np.cumsum(wrong, axis=0)[:-1]])
    guesses = []
    for t, said in enumerate(labels):
        v = hedge_weights((before[t] - before[t].min()).tolist())
        if follow == "best":
            guesses.append(said[before[t].argmin()])
        elif follow == "draw":
            guesses.append(said[draw_expert(v, uniforms[t])])
        else:
            guesses.append(weighted_vote(v, said.tolist(), int(codes.max()) + 1))
    return np.array(guesses), before


@pytest.mark.parametrize("follow", FOLLOW)
@pytest.mark.parametrize("kind", KINDS)
def test_learners_are_those_of_the_run_without(kind, follow):
    X, y = mixed_stream(250, seed=3, missing=0.0 if kind == "others" else 0.1)
    off, on = KINDS[kind](follow=follow), KINDS[kind](follow=follow, **SINGLES)
    plain, history = off.trace(X, y), on.trace(X, y)
    for name in ("votes", "importances", "learner_weights", "uniforms"):
        np.testing.assert_array_equal(getattr(history, name), getattr(plain, name))
    codes, n = np.searchsorted(on.classes_, y), on.n_estimators
    labels = np.hstack([plain.expert_labels, plain.votes])
    np.testing.assert_array_equal(history.expert_labels, labels)
    guesses, before = hedged(labels, codes, follow, history.uniforms[:, 0])
    np.testing.assert_array_equal(history.guesses, guesses)
    np.testing.assert_array_equal(history.expert_losses, before)
    np.testing.assert_array_equal(on.expert_mistakes_, (labels != codes[:, None]).sum(axis=0))
    assert on.expert_weights_.shape == (2 * n,)
    assert on.expert_weights_.sum() == pytest.approx(1.0)
    for name in ("learner_weights_", "edges_", "n_nodes_"):
        np.testing.assert_array_equal(getattr(on, name), getattr(off, name))


@pytest.mark.parametrize("kind", KINDS)
def test_off_is_the_default_and_the_papers(kind):
    """The runs recorded before there was the option (`tests/golden`, `tests/files`) are runs of the default."""
    X, y = mixed_stream(150, seed=3, missing=0.0 if kind == "others" else 0.1)
    default, off = KINDS[kind](), KINDS[kind](single_experts=False)
    assert default.single_experts is False
    for got, expected in zip(default.trace(X, y), off.trace(X, y), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert same(model_state(default), model_state(off))
    assert default.expert_mistakes_.shape == default.expert_weights_.shape == (default.n_estimators,)


def test_probabilities_are_another_average():
    """Softmax of the 2N experts' mean scores, worked out from the history; without calibration."""
    X, y = mixed_stream(200, seed=5)
    settings = {"vote": "argmax", "calibrate": False, "random_state": 1, **SINGLES}
    model, twin = (ew.AdaBoostOLM(TREE, 5, **settings) for _ in range(2))
    history, told = model.trace(X, y), twin.prequential_proba(X, y)
    alone = history.learner_weights[:, :, None] * np.eye(3)[history.votes]
    scores = np.concatenate([np.cumsum(alone, axis=1), alone], axis=1)
    weights = np.exp(-history.expert_losses)
    means = np.einsum("te,tek->tk", weights / weights.sum(axis=1, keepdims=True), scores)
    expected = np.exp(means) / np.exp(means).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(told, expected, rtol=1e-9)


def test_a_learner_alone_is_followed_where_the_others_disturb():
    """The first learner is right, all others guess: together they are worse, and Hedge must not be."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 1000)
    votes = rng.integers(0, 4, (1000, 8)).astype(float)
    votes[:, 4] = np.where(rng.random(1000) < 0.95, y, votes[:, 4])
    settings = {"vote": "argmax", "random_state": 1}
    off, on = (
        ew.AdaBoostOLM(PrecomputedVotes(), 8, **settings, **more).partial_fit(votes, y) for more in ({}, SINGLES)
    )
    assert on.expert_mistakes_.argmin() == 8 + 4
    assert on.expert_weights_[12] > 0.5
    assert on.mistakes_ < off.mistakes_


# Saving, copying, memory


def test_no_rows_have_a_history_of_no_rows():
    X, y = mixed_stream(20)
    model = ew.AdaBoostOLM(TREE, 3, **SINGLES).partial_fit(X, y)
    history = model.trace(X[:0], y[:0])
    assert [field.shape[1] for field in history[1:6]] == [3, 3, 3, 6, 6]


def test_files_tell_how_many_experts_there_are(tmp_path):
    X, y = mixed_stream(60)
    path = tmp_path / "model.edgewise"
    for singles in (False, True):
        model = ew.AdaBoostOLM(TREE, 3, single_experts=singles, random_state=1).partial_fit(X, y)
        model.save(path)
        assert ew.load(path).expert_mistakes_.tolist() == model.expert_mistakes_.tolist()
        rewritten(path, lambda header, _, other=not singles: header["parameters"].update(single_experts=other))
        with pytest.raises(ModelFileError, match="mistakes has shape"):
            ew.load(path)
        path.unlink()
        with pytest.raises(ValueError, match="mistakes has shape"):
            model.set_params(single_experts=not singles).save(path)
        assert not path.exists()
        # what has begun goes on as it began
        model.partial_fit(X, y)
        assert model.expert_mistakes_.shape == ((6,) if singles else (3,))


def test_a_budget_counts_the_experts():
    X, y = mixed_stream(400)
    needed = []
    for more in ({}, SINGLES):
        with pytest.raises(ValueError, match="this model needs at least") as error:
            ew.AdaBoostOLM(TREE, 9, max_bytes=1, **more).partial_fit(X, y)
        needed.append(int(str(error.value).split("at least ")[1].split(",")[0]))
    assert needed[1] == needed[0] + 9 * 8
    model = ew.AdaBoostOLM(TREE, 9, max_bytes=3 * needed[1], random_state=1, **SINGLES)
    free = ew.AdaBoostOLM(TREE, 9, random_state=1, **SINGLES).partial_fit(X, y)
    assert model.partial_fit(X, y).nbytes <= model.max_bytes < free.nbytes


# One booster for each class


def test_one_vs_all_averages_the_margins_of_learners_too():
    X, y = mixed_stream(200, k=4, seed=4)
    off, on = (ew.OneVsAllOLM(TREE, 5, random_state=1, **more).fit(X, y) for more in ({}, SINGLES))
    assert on.edges_.shape == on.learner_weights_.shape == (4, 5)
    assert on.expert_mistakes_.shape == on.expert_weights_.shape == (4, 10)
    np.testing.assert_array_equal(on.learner_weights_, off.learner_weights_)
    np.testing.assert_array_equal(on.expert_mistakes_[:, :5], off.expert_mistakes_)
    np.testing.assert_allclose(on.expert_weights_.sum(axis=1), 1.0)
    assert (on.decision_function(X) != off.decision_function(X)).any()
    with pytest.raises(ValueError, match="OneVsAllOLM has no mistake bound"):
        on.bound()


# Theory: docs/theory.md, section 5, step 4


@pytest.mark.parametrize("seed", range(5))
def test_hedge_keeps_up_with_the_best_of_all_experts(seed):
    """On random votes: mean mistakes of the draw, and mistakes of the vote, against the best of 2N experts."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        k, n, rows = int(rng.integers(2, 6)), int(rng.integers(1, 9)), int(rng.integers(1, 120))
        y = rng.integers(0, k, rows)
        right = rng.random((rows, n)) < rng.uniform(0.0, 1.0, n)
        votes = np.where(right, y[:, None], rng.integers(0, k, (rows, n)))
        model = ew.AdaBoostOLM(
            PrecomputedVotes(), n, vote="argmax", weight_range=(-2.0, 2.0), first_weight=0.0, **SINGLES
        )
        history = model.trace(votes.astype(float), y, classes=np.arange(k))
        wrong = history.expert_labels != y[:, None]
        weights = np.exp(history.expert_losses.min(axis=1, keepdims=True) - history.expert_losses)
        drawn_wrong = (weights * wrong).sum(axis=1) / weights.sum(axis=1)
        best = model.expert_mistakes_.min()
        assert wrong.shape == (rows, 2 * n)
        assert drawn_wrong.sum() <= (best + math.log(2 * n)) / (1.0 - math.exp(-1.0))
        assert (history.guesses != y).sum() <= (best + math.log(2 * n)) / math.log(2.0 / (1.0 + math.exp(-1.0)))


@pytest.mark.parametrize("follow", FOLLOW)
@pytest.mark.parametrize("kind", ["defaults", "labels", "paper"])
def test_the_bound_holds(kind, follow):
    X, y = mixed_stream(300, seed=2)
    off, on = (KINDS[kind](follow=follow, **more).partial_fit(X, y) for more in ({}, SINGLES))
    bound, without = on.bound(), off.bound()
    assert bound.mistakes == on.mistakes_ <= bound.value
    assert bound.best_expert == on.expert_mistakes_.min() <= without.best_expert
    assert bound.best_expert <= bound.expert_value == without.expert_value
    assert (bound.theorem, bound.leading) == (without.theorem, without.leading)
    if follow == "best":
        assert bound.value == math.inf
    else:
        assert bound.value - without.value == pytest.approx(HEDGE[follow] * math.log(2.0), rel=1e-6)


@pytest.mark.parametrize("data", ["balance", "car"])
def test_the_bound_holds_on_real_data(data):
    X, y = ew.datasets.shuffled(*ew.datasets.load(data), 1)
    for follow in ("vote", "draw"):
        model = ew.AdaBoostOLM(n_estimators=10, follow=follow, random_state=1, **SINGLES)
        model.prequential(X[:600], y[:600])
        bound = model.bound()
        assert bound.best_expert <= bound.expert_value
        assert bound.mistakes <= bound.value
        # step 4, without what the edges say
        spread = math.sqrt(0.5 * 600 * math.log(1.0 / 0.05)) if follow == "draw" else 0.0
        assert bound.mistakes <= HEDGE[follow] * (bound.best_expert + math.log(20)) + spread


# A class that comes late, in river


@pytest.mark.parametrize("name", ["AdaBoostOLM", "OneVsAllOLM"])
def test_a_late_class_finds_the_experts_there_are(name):
    pytest.importorskip("river")
    import edgewise.river

    model = getattr(edgewise.river, name)(n_estimators=3, seed=1, **SINGLES)
    rng = np.random.default_rng(0)
    mistakes = []
    for t, x in enumerate(rng.normal(size=(120, 2)).tolist()):
        model.learn_one({"a": x[0], "b": x[1]}, "abc"[int(x[0] > 0) + int(t > 60 and x[1] > 0.5)])
        if t > 1:
            mistakes.append(model.model.expert_mistakes_.sum(axis=-1).max())
    assert model.model.expert_mistakes_.shape == ((6,) if name == "AdaBoostOLM" else (3, 6))
    assert mistakes == sorted(mistakes)
    assert model.model.classes_.size == 3
