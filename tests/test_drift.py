"""Streams that change: trees begin anew, labels are remembered, and nothing else is disturbed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import edgewise as ew
from edgewise.learners.forest.capacity import compact
from edgewise.learners.label_markov_chain import make_markov, markov_predict_proba, markov_update, next_context
from edgewise.loop.rules.drift import drifted
from tests.state import forest_state, same


def changing_stream(n=3000, seed=0):
    """Two numbers and a category; after the first half the classes trade places."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    shown = np.where(np.arange(n) < n // 2, y, 1 - y)
    numbers = rng.normal(size=(n, 2)) + 2.0 * shown[:, None]
    category = (shown + (rng.random(n) < 0.1)) % 2
    values = np.concatenate([numbers, category[:, None]], axis=1)
    features = [ew.as_table(numbers).features[0], ew.as_table(numbers).features[1], ("c", ("a", "b"))]
    return ew.Table(values, [type(features[0])(*feature) for feature in features]), y


def model(**settings):
    tree = ew.HoeffdingTree(20, 0.1, 0.5, "mixed", "binary", True)
    return ew.AdaBoostOLM(tree, 6, importance_power=0.5, random_state=1, **settings)


def test_trees_begin_anew_after_a_change_and_not_before():
    X, y = changing_stream()
    still, moving = model(), model(drift="restart")
    hits = {name: one.prequential(X, y) == y for name, one in (("still", still), ("moving", moving))}
    assert still.restarts_ == []
    rounds = np.array([t for t, _ in moving.restarts_])
    assert set(range(6)) == {i for _, i in moving.restarts_}, "every tree notices"
    assert (rounds > 1500).all()
    assert (rounds < 1700).sum() >= 6
    assert hits["moving"][1800:].mean() > hits["still"][1800:].mean() + 0.05
    np.testing.assert_array_equal(hits["moving"][:1500], hits["still"][:1500])


def test_a_stream_that_stays_the_same_is_left_alone():
    X, y = changing_stream(3000)
    first = model(drift="restart")
    first.prequential(X[:1500], y[:1500])
    assert first.restarts_ == []


def test_room_of_trees_that_began_anew_is_used_again():
    """Nodes of old trees are taken out when the pool would have to grow; the trees stay as they were."""
    X, y = changing_stream(1200, seed=3)
    drifting = model(drift="restart")
    for turn in range(12):
        drifting.partial_fit(X, y if turn % 2 else 1 - y)
    assert len(drifting.restarts_) > 40
    forest = drifting._ensemble.forests[0]
    assert forest.used[0] <= 4 * forest.n_nodes.sum() + 200
    before = forest_state(forest)
    compact(forest)
    assert forest.used[0] == forest.n_nodes.sum()
    assert same(forest_state(forest), before)
    leaves = sum(1 for tree in range(6) for _ in _leaves(drifting.structure(tree)))
    assert len(forest.row) - forest.used[2] == leaves, "no leaf is lost or held twice"


def _leaves(node):
    if node[0] == "leaf":
        yield node
    else:
        for child in node[3:] if node[0] != "nominal" else node[2].values():
            yield from _leaves(child)


def test_label_memory_learns_a_pattern_of_two_labels():
    """a a b a a b ...: the last two labels tell the next one."""
    y = np.array(["a", "a", "b"] * 60)
    X = np.zeros((180, 1))
    guesses = ew.AdaBoostOLM(ew.LabelMarkovChain(), 1).prequential(X, y)
    assert (guesses[20:] == y[20:]).all()


def test_label_memory_by_hand():
    """After context (a, none): one example of b with weight 1, times the first importance 1; counts decay by half."""
    memory = ew.AdaBoostOLM(ew.LabelMarkovChain(decay=0.5), 1, normalize_importance=True, follow="vote")
    memory.prequential(np.zeros((3, 1)), ["a", "b", "a"])
    counts = memory._ensemble.memory.counts[0]
    none = 2
    assert memory._ensemble.memory.recent.tolist() == [0, 1]
    assert counts[none * 3 + none].tolist() == [1.0, 0.0]
    assert counts[0 * 3 + none, 1] > 0.0
    assert counts[1 * 3 + 0, 0] > 0.0
    assert (counts > 0.0).sum() == 3


@pytest.mark.plain
def test_label_memory_agrees_with_its_twin():
    """A dictionary of counts by the last two labels; examples without a label (-1) are spoken of and leave no trace."""
    k, decay, rng = 3, 0.7, np.random.default_rng(2)
    memory, p = make_markov([ew.LabelMarkovChain(decay)], k), np.empty(k)
    counts, recent = defaultdict(lambda: [0.0] * k), (None, None)
    for label, w in zip(rng.integers(-1, k, 200).tolist(), rng.exponential(size=200), strict=True):
        context = next_context(memory, label, k)
        markov_predict_proba(memory, 0, context, p)
        assert p == pytest.approx([(count + 1.0) / (sum(counts[recent]) + k) for count in counts[recent]])
        if label >= 0:
            markov_update(memory, 0, context, label, w)
            counts[recent] = [decay * count + w * (r == label) for r, count in enumerate(counts[recent])]
            recent = (label, recent[0])
    assert len(counts) == 2 + k * k, "every context came up, and the first two examples had fewer labels before them"


def test_bad_settings():
    with pytest.raises(ValueError, match="drift='often': 'restart' or None"):
        ew.AdaBoostOLM(drift="often").fit(np.zeros((2, 1)), [0, 1])
    with pytest.raises(ValueError, match=r"decay=1.5: a number in \(0, 1\]"):
        ew.AdaBoostOLM(ew.LabelMarkovChain(decay=1.5)).fit(np.zeros((2, 1)), [0, 1])


@pytest.mark.plain
def test_alarm_agrees_with_its_twin():
    """The error so far, but over at most 100 (2,000) examples: alarm at 4 standard errors of 100 examples, from 300."""
    rng = np.random.default_rng(7)
    misses = rng.random(4000) < np.where(np.arange(4000) % 1300 < 900, 0.1, 0.5)
    state = np.zeros(3)
    alarms = [t for t, miss in enumerate(misses) if drifted(state, miss)]
    expected, fast, slow, age = [], 0.0, 0.0, 0
    for t, miss in enumerate(misses):
        age += 1
        fast = fast + (float(miss) - fast) / min(age, 100)
        slow = slow + (float(miss) - slow) / min(age, 2000)
        if age >= 300 and fast > slow + 4 * (slow * (1 - slow) / 100) ** 0.5:
            expected.append(t)
            fast, slow, age = 0.0, 0.0, 0
    assert alarms == expected
    assert 1 <= len(alarms) <= 6


@pytest.mark.plain
def test_default_learners_for_streams_that_change():
    """Newton steps shrink too soon where a stream changes: the first linear learner takes AdaGrad steps there."""
    still, moving = (ew.AdaBoostOLM(drift=drift)._default_estimator() for drift in (None, "restart"))
    assert [type(learner).__name__ for learner in still] == ["SoftmaxRegression"] * 2 + ["HoeffdingTree"]
    assert [type(learner).__name__ for learner in moving[:2]] == ["SoftmaxRegression", "LabelMarkovChain"]
    assert still[0].newton > 0
    assert moving[0].newton == 0
    assert moving[2:] == still[1:]
