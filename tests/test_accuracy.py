"""Accuracy on real streams, far from what chance can do, and proof that no guess has seen its label."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.evaluation.models import MODELS
from tests.small_streams import mixed_stream

LEARNERS = 20
SEEDS = (1, 2, 3, 4, 5)
CLASSIFIERS = [name for name, entry in MODELS.items() if not entry.ranks]


@functools.cache
def loaded(name: str) -> tuple[ew.Table, np.ndarray]:
    if ew.datasets.where(name) == "not here":
        pytest.skip(f"{name} is not here; set EDGEWISE_DATA to a folder that holds it")
    return ew.datasets.load(name)


def stream(name: str, seed: int, rows: int | None = None) -> tuple[ew.Table, np.ndarray]:
    """Rows in the order of a seed."""
    return ew.datasets.shuffled(*loaded(name), seed, rows)


def accuracy(model: Any, X: Any, y: np.ndarray) -> float:
    return float(np.mean(model.prequential(X, y) == y))


# Share of the largest class; accuracy that every booster must exceed, on the average of five orders; rows.
# A floor is at least 3 standard errors of a five-order mean below each booster's mean over 15 orders (20 learners,
# preset paper): the worst there were .727 on balance, .820 on car and .982 on mushroom. The exponential loss learns car
# slowly with few learners (step sizes fall as exp(-i)): .778, with a standard deviation of .045 between orders.
FLOORS = {
    "balance": (0.461, 0.70, None),
    "car": (0.700, 0.78, None),
    "mushroom": (0.518, 0.97, 2000),
}
OWN_FLOORS = {("car", "olm-exponential"): 0.715}


@pytest.mark.parametrize("model", [name for name in CLASSIFIERS if name != "trees" and not MODELS[name].bandit])
@pytest.mark.parametrize("name", FLOORS)
def test_boosters_of_the_paper_beat_chance(name, model):
    largest, floor, rows = FLOORS[name]
    labels = loaded(name)[1]
    assert np.unique(labels, return_counts=True)[1].max() / len(labels) == pytest.approx(largest, abs=0.001)
    found = [accuracy(MODELS[model].build(LEARNERS, seed, "paper"), *stream(name, seed, rows)) for seed in SEEDS]
    assert np.mean(found) > OWN_FLOORS.get((name, model), floor)


def test_the_first_learner_of_the_defaults_needs_fewer_examples_than_adagrad():
    """On mushroom, all nominal; over 40 orders, AdaGrad's steps made 32 mistakes in 3,000 rows and these 16."""
    first = ew.AdaBoostOLM()._default_estimator()[0]
    mistakes = {"AdaGrad": 0, "default": 0}
    for seed in SEEDS:
        X, y = stream("mushroom", seed, 1500)
        for name, learner in (("AdaGrad", ew.SoftmaxRegression()), ("default", first)):
            mistakes[name] += int((ew.AdaBoostOLM(learner, 1).prequential(X, y) != y).sum())
    assert mistakes["default"] < 0.75 * mistakes["AdaGrad"]


@pytest.mark.parametrize("booster", [ew.OnlineMBBM, ew.AdaBoostOLM])
def test_boosting_beats_the_average_tree_on_car(booster):
    """Tables 3 and 4 of Jung et al. 2017 have the boosters above even the best tree, with 100 trees.

    With 20, the gain over the average tree was .094 (OnlineMBBM) and .085 (AdaBoost.OLM) on the average of ten orders,
    with a standard deviation of .013 and .029 from order to order: .04 is 3 standard errors below, for five orders.
    """
    gains = []
    for seed in SEEDS:
        X, y = stream("car", seed)
        trees = ew.HoeffdingForest.preset("paper", n_estimators=LEARNERS, random_state=seed)
        votes = trees.prequential_votes(X, y)
        average = np.mean(trees.classes_[votes] == y[:, None])
        gains.append(accuracy(booster.preset("paper", n_estimators=LEARNERS, random_state=seed), X, y) - average)
    assert np.mean(gains) > 0.04


def test_accuracy_grows_along_the_stream():
    """A learner that learns is better on the last fifth than on the first."""
    for name in ("balance", "car"):
        for seed in SEEDS[:3]:
            X, y = stream(name, seed)
            right = ew.OnlineMBBM.preset("paper", n_estimators=LEARNERS, random_state=seed).prequential(X, y) == y
            fifth = len(y) // 5
            assert right[-fifth:].mean() > right[:fifth].mean() + 0.05


def test_noise_is_not_learned():
    """Labels independent of X: prequential accuracy is that of guessing, within 4 standard deviations."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.integers(0, 4, 2000)
    for name in CLASSIFIERS:
        found = accuracy(MODELS[name].build(LEARNERS, 1, "paper"), X, y)
        assert found == pytest.approx(0.25, abs=4.0 * np.sqrt(0.25 * 0.75 / 2000)), name


# Labels are never used before their time


LEAK_MODELS = {
    "olm": lambda tree: ew.AdaBoostOLM(tree, 5, random_state=2),
    "olm-vote": lambda tree: ew.AdaBoostOLM(tree, 5, vote="argmax", follow="vote", random_state=2),
    "olm-singles": lambda tree: ew.AdaBoostOLM(tree, 5, single_experts=True, random_state=2),
    "olm-exponential": lambda tree: ew.AdaBoostOLM(tree, 5, loss="exponential", random_state=2),
    "olm-hinge": lambda tree: ew.AdaBoostOLM(tree, 5, loss="square_hinge", random_state=2),
    "mbbm": lambda tree: ew.OnlineMBBM(tree, 5, random_state=2),
    "mbbm-cost": lambda tree: ew.OnlineMBBM(tree, 5, vote="cost", random_state=2),
    "oza": lambda tree: ew.OzaBoost(tree, 5, random_state=2),
    "ova": lambda tree: ew.OneVsAllOLM(tree, 5, random_state=2),
    "adaova": lambda tree: ew.AdaOVA(tree, 5, random_state=2),
    "trees": lambda tree: ew.HoeffdingForest(tree, 5, random_state=2),
}


@pytest.mark.parametrize("leaf", ["majority", "adaptive"])
@pytest.mark.parametrize("name", LEAK_MODELS)
def test_no_guess_depends_on_its_own_or_a_later_label(name, leaf):
    """Another label in row t: guesses and votes up to row t stay, some guess after it changes for some t."""
    X, y = mixed_stream(300, seed=14)
    classes = np.unique(y)
    tree = ew.HoeffdingTree((4, 10), (0.1, 0.9), (0.1, 0.9), leaf_prediction=leaf, importance_scale=(2.0, 10.0))

    def history(labels: np.ndarray) -> Any:
        return LEAK_MODELS[name](tree).trace(X, labels, classes=classes)

    before = history(y)
    touched = 0
    for t in range(0, 300, 7):
        flipped = y.copy()
        flipped[t] = classes[(np.searchsorted(classes, y[t]) + 1) % classes.size]
        after = history(flipped)
        for field in ("guesses", "votes", "learner_weights", "expert_labels", "expert_losses"):
            np.testing.assert_array_equal(getattr(after, field)[: t + 1], getattr(before, field)[: t + 1])
        touched += bool((after.guesses[t + 1 :] != before.guesses[t + 1 :]).any())
    assert touched > 20, "the label must matter for what comes later"


@pytest.mark.parametrize("name", LEAK_MODELS)
def test_the_future_does_not_matter(name):
    """Guesses on a prefix are those made when nothing follows: neither later labels nor later rows matter."""
    X, y = mixed_stream(200, seed=15)
    tree = ew.HoeffdingTree(5, 0.5, 0.5, importance_scale=5.0)
    whole = LEAK_MODELS[name](tree).prequential(X, y)
    for stop in (30, 100, 199):
        prefix = LEAK_MODELS[name](tree).prequential(X[:stop], y[:stop], classes=np.unique(y))
        np.testing.assert_array_equal(prefix, whole[:stop])
