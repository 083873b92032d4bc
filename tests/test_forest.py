"""What Hoeffding trees do with weights, missing values, rare classes and limits, seen through the models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.data.table import Feature
from edgewise.learners.forest.distribution import with_ratio
from tests.small_streams import mixed_stream

NAN = math.nan
NEVER = 1e9  # a grace period that no stream here reaches: the tree stays one leaf
MODELS = {
    "olm": ew.AdaBoostOLM,
    "mbbm": ew.OnlineMBBM,
    "oza": ew.OzaBoost,
    "ova": ew.OneVsAllOLM,
    "adaova": ew.AdaOVA,
    "trees": ew.HoeffdingForest,
}


def one_tree(**settings: Any) -> ew.HoeffdingForest:
    return ew.HoeffdingForest(ew.HoeffdingTree(**settings), 1, random_state=0)


def eager_tree(**settings: Any) -> ew.HoeffdingForest:
    """A tree whose Hoeffding bound is below its tie threshold from weight 2 on: it splits at its first attempt."""
    return one_tree(**{"split_confidence": 0.9, "tie_threshold": 0.5, "leaf_prediction": "majority"} | settings)


def nominal(codes: Any, n_categories: int) -> ew.Table:
    values = np.asarray(codes, float)
    names = tuple(f"v{code}" for code in range(n_categories))
    return ew.Table(values, [Feature(f"c{j}", names) for j in range(values.shape[1])])


def nodes(structure: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Every node of a tree, the root first."""
    yield structure
    below = {
        "leaf": (),
        "numeric": structure[3:],
        "nominal": structure[-1].values() if structure[0] == "nominal" else (),
    }
    for child in below[structure[0]]:
        yield from nodes(child)


def split_columns(structure: tuple[Any, ...]) -> set[int]:
    return {node[1] for node in nodes(structure) if node[0] != "leaf"}


def leaf_weight(structure: tuple[Any, ...]) -> np.ndarray:
    """Weight of each class over all leaves."""
    return np.sum([node[1] for node in nodes(structure) if node[0] == "leaf"], axis=0)


# Naive Bayes


@pytest.mark.plain
def test_a_value_never_seen_with_a_class_does_not_erase_it():
    """Column 0 has only ever shown value 1 with class 1; others show value 0 with class 0 four times out of five.

    By the m-estimate, value 1 in column 0 is 41 times likelier under class 1, value 0 elsewhere 4 times under class 0
    (a little less): one such column does not outvote it, five do. A count of 0 taken at its word could not be outvoted.
    """

    def said(against: int) -> np.ndarray:
        y = np.repeat([0, 1], 20)
        weak = np.where(np.arange(40) % 5 == 0, 1 - y, y)
        rows = np.column_stack([y] + [weak] * against)
        model = one_tree(grace_period=NEVER, leaf_prediction="naive_bayes").partial_fit(nominal(rows, 2), y)
        return model.predict_proba(nominal([[1] + [0] * against], 2))[0]

    one, five = said(1), said(5)
    assert 0.8 < one[1] < 1.0
    assert 0.8 < five[0] < 1.0
    ratio = (16.5 / 4.5) ** 5 / 41.0
    assert five[0] == pytest.approx((40.0 * ratio / (1.0 + ratio) + 1.0) / 42.0, rel=1e-12)


@pytest.mark.plain
def test_no_value_makes_a_class_certain():
    """m-estimate by hand: (n_vc + n_v/n) / (n_c + 1) with 4 against 0 of 4, then one pseudo-example per class."""
    model = one_tree(grace_period=NEVER, leaf_prediction="naive_bayes")
    model.partial_fit(nominal([[0]] * 4 + [[1]] * 4, 3), [0] * 4 + [1] * 4)
    q = (0.5 / 5.0) / (4.5 / 5.0 + 0.5 / 5.0)
    rest = (8.0 * q + 1.0) / 10.0
    p = model.predict_proba(nominal([[0], [1], [2]], 3))
    np.testing.assert_allclose(p, [[1.0 - rest, rest], [rest, 1.0 - rest], [0.5, 0.5]], rtol=1e-12)


@pytest.mark.plain
def test_a_class_seen_once_has_finite_evidence():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), [[5.0, 5.0]]])
    y = np.array([0, 1] * 20 + [2])
    model = one_tree(grace_period=NEVER, leaf_prediction="naive_bayes").partial_fit(X, y)
    asked = np.array([[5.0, 5.0], [0.0, 0.0], [1e6, -1e6], [NAN, 5.0], [NAN, NAN]])
    p = model.predict_proba(asked)
    assert np.isfinite(p).all()
    assert ((p > 0.0) & (p < 1.0)).all()
    assert p[0].argmax() == 2
    assert p[1].argmax() != 2
    # Nothing known of the row: the classes' own shares, one pseudo-example each.
    np.testing.assert_allclose(p[4], np.array([21.0, 21.0, 2.0]) / 44.0, rtol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("leaf", ["majority", "naive_bayes", "adaptive"])
def test_constant_and_missing_columns_are_harmless(leaf):
    """A column that never varies or is never there: the tree is the one that would grow without it."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 2)) + y[:, None]
    with_them = np.column_stack([np.full(150, 7.3), X, np.full(150, NAN), np.full(150, -1e-3)])
    trees = {}
    for name, values in (("without", X), ("with", with_them)):
        trees[name] = eager_tree(grace_period=20, leaf_prediction=leaf)
        trees[name].partial_fit(values, y)
    assert trees["without"].n_nodes_[0] > 5
    assert split_columns(trees["with"].structure(0)) <= {1, 2}
    assert trees["with"].n_nodes_[0] == trees["without"].n_nodes_[0]
    # Sums over the columns may be taken in another order: equal up to rounding.
    np.testing.assert_allclose(trees["with"].predict_proba(with_them), trees["without"].predict_proba(X), rtol=1e-9)


# Missing and unknown values


@pytest.mark.plain
@pytest.mark.parametrize("heavy", [0, 1])
def test_missing_numeric_values_go_to_the_heavier_child_and_are_not_counted(heavy):
    """Seven rows at one end, three at the other, four without a value: children inherit ten rows, not fourteen."""
    ends = [[0.0], [11.0]]
    X = [ends[heavy]] * 7 + [[NAN]] * 4 + [ends[1 - heavy]] * 3
    y = [heavy] * 7 + [1 - heavy] * 7
    model = eager_tree(grace_period=14)
    model.partial_fit(X[:13], y[:13])
    assert model.structure(0)[0] == "leaf"
    model.partial_fit(X[13:], y[13:])
    kind, column, threshold, *children = model.structure(0)
    assert (kind, column, threshold) == ("numeric", 0, 1.0)
    assert children[heavy] == ("leaf", [7.0 * (label == heavy) for label in (0, 1)])
    assert children[1 - heavy] == ("leaf", [3.0 * (label != heavy) for label in (0, 1)])
    np.testing.assert_array_equal(model.predict_proba([[NAN]]), model.predict_proba([ends[heavy]]))
    model.partial_fit([[NAN]], [1 - heavy])
    assert model.structure(0)[3 + heavy][1][1 - heavy] == 1.0, "the heavier child learns it"
    assert model.structure(0)[4 - heavy] == children[1 - heavy]


@pytest.mark.plain
def test_missing_and_unknown_categories():
    model = eager_tree(grace_period=9)
    model.partial_fit(nominal([[0]] * 2 + [[2]] * 5 + [[NAN]] * 2, 3), [0] * 2 + [1] * 5 + [0] * 2)
    assert model.structure(0) == ("nominal", 0, {0: ("leaf", [2.0, 0.0]), 2: ("leaf", [0.0, 5.0])})
    # v1 was never seen, v3 is not even declared yet: until learned, both go where missing values go.
    heavier = model.predict_proba(nominal([[2]], 3))
    for asked in (nominal([[NAN]], 3), nominal([[1]], 3), nominal([[3]], 4)):
        np.testing.assert_array_equal(model.predict_proba(asked), heavier)
    assert model.n_nodes_[0] == 3
    model.partial_fit(nominal([[3], [1], [NAN]], 4), [0, 0, 0])
    grown = {0: ("leaf", [2.0, 0.0]), 1: ("leaf", [1.0, 0.0]), 2: ("leaf", [1.0, 5.0]), 3: ("leaf", [1.0, 0.0])}
    assert model.structure(0) == ("nominal", 0, grown)
    assert model.n_nodes_[0] == 5
    np.testing.assert_allclose(model.predict_proba(nominal([[3]], 4)), [[2.0 / 3.0, 1.0 / 3.0]], rtol=1e-15)


def test_categories_that_keep_coming():
    """Every few rows a category nobody has seen: trees go on, and what they know of the old ones stays."""
    rng = np.random.default_rng(4)
    model = ew.HoeffdingForest(ew.HoeffdingTree(20, 0.3, 0.4), 3, random_state=0)
    right = []
    for step in range(60):
        names = np.array([f"v{code}" for code in rng.integers(0, step + 2, 20)], object)
        y = np.array([int(name[1:]) % 2 for name in names])
        right.append(model.prequential(names[:, None], y, classes=[0, 1]) == y)
    assert (model.n_nodes_ > 40).all()
    assert np.mean(right[30:]) > 0.8
    old = np.array([[f"v{code}"] for code in range(20)], object)
    np.testing.assert_array_equal(model.predict(old), np.arange(20) % 2)


# Limits


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("limit", [1, 2, 3, 8, 21])
def test_max_nodes(name, limit):
    X, y = mixed_stream(500, seed=3)
    tree = {"grace_period": 4, "split_confidence": 0.9, "tie_threshold": 0.9, "importance_scale": 10.0}
    model = MODELS[name](ew.HoeffdingTree(max_nodes=limit, **tree), 3, random_state=1)
    model.partial_fit(X, y)
    assert model.n_nodes_.max() <= limit
    free = MODELS[name](ew.HoeffdingTree(**tree), 3, random_state=1).partial_fit(X, y)
    assert free.n_nodes_.max() > 21, "the limit must have been in the way"
    if limit >= 8:
        # A numeric split needs 2 nodes and a nominal one 4: a tree stops within 4 of its limit.
        assert (model.n_nodes_[free.n_nodes_ > 2 * limit] > limit - 4).all()
    trees_each = model.n_nodes_.size // 3 if name == "adaova" else 1
    for i in range(3):
        assert sum(1 for _ in nodes(model.structure(i))) == model.n_nodes_[i * trees_each]


@pytest.mark.parametrize(("max_features", "count"), [(1, 1), (2, 2), (9, 5), (0.2, 1), (0.5, 3), (1.0, 5), (None, 5)])
def test_max_features(max_features, count):
    X, y = mixed_stream(400, seed=6)
    tree = ew.HoeffdingTree(5, 0.5, 0.9, importance_scale=5.0, max_features=max_features)
    model = ew.HoeffdingForest(tree, 12, random_state=2).partial_fit(X, y)
    allowed = model.parameters_.features
    assert (allowed.sum(axis=1) == count).all()
    used = [split_columns(model.structure(i)) for i in range(12)]
    assert all(columns <= set(np.flatnonzero(allowed[i])) for i, columns in enumerate(used))
    if count < 5:
        assert set().union(*used) == set(range(5)), "the draws differ from tree to tree"
    else:
        assert len(used[0]) >= 3


@pytest.mark.plain
def test_a_tree_does_not_look_at_other_features():
    """Statistics and naive Bayes use the drawn features only: other columns may hold anything."""
    X, y = mixed_stream(120, seed=7)
    tree = ew.HoeffdingTree(5, 0.5, 0.9, importance_scale=3.0, max_features=2)
    model = ew.HoeffdingForest(tree, 1, random_state=5).partial_fit(X, y)
    assert model.n_nodes_[0] > 3
    hidden = np.flatnonzero(~model.parameters_.features[0])
    changed = X.values.copy()
    changed[:, hidden] = np.where(np.isnan(changed[:, hidden]), 0.0, NAN)
    again = ew.HoeffdingForest(tree, 1, random_state=5).partial_fit(ew.Table(changed, X.features), y)
    assert again.structure(0) == model.structure(0)
    np.testing.assert_array_equal(again.predict_proba(ew.Table(changed, X.features)), model.predict_proba(X))


# Parameters drawn per tree


def drawn(tree: ew.HoeffdingTree, n: int = 400, seed: int = 0) -> Any:
    return ew.HoeffdingForest(tree, n, random_state=seed).partial_fit([[0.0], [1.0]], [0, 1]).parameters_


def test_ranges_are_drawn_per_tree_inside_the_range_and_by_the_seed():
    tree = ew.HoeffdingTree((5, 9), (0.1, 0.2), (0.3, 0.7), importance_scale=(2.0, 4.0))
    parameters = drawn(tree)
    assert set(parameters.grace_period) == {5.0, 6.0, 7.0, 8.0, 9.0}, "whole numbers where both ends are"
    for values, low, high in (
        (parameters.split_confidence, 0.1, 0.2),
        (parameters.tie_threshold, 0.3, 0.7),
        (parameters.importance_scale, 2.0, 4.0),
    ):
        assert ((low <= values) & (values <= high)).all()
        # 400 uniform numbers fill the range: the chance that a tenth at an end stays empty is .9^400 < 1e-18.
        assert values.min() < low + 0.1 * (high - low)
        assert values.max() > high - 0.1 * (high - low)
    assert parameters.importance_scale[0] == 2.0, "the first learner gets the least"
    for one, two in zip(parameters, drawn(tree), strict=True):
        np.testing.assert_array_equal(one, two)
    assert (drawn(tree, seed=1).tie_threshold != parameters.tie_threshold).any()
    fixed = drawn(ew.HoeffdingTree(7.5, 0.1, 0.2, importance_scale=3.0), n=3)
    assert [values.tolist() for values in fixed[:4]] == [[7.5] * 3, [0.1] * 3, [0.2] * 3, [3.0] * 3]
    fractions = drawn(ew.HoeffdingTree((2.5, 4.0)))
    assert not (fractions.grace_period == np.round(fractions.grace_period)).all()


def test_log_uniform():
    """The median of a uniform draw from [.01, .9] is .455; of a log-uniform one, sqrt(.01 * .9) = .095.

    With 2000 draws the share below the median has a standard deviation of .011: .06 is 5 of them.
    """
    for span, median in [(ew.LogUniform(0.01, 0.9), math.sqrt(0.01 * 0.9)), ((0.01, 0.9), 0.455)]:
        tree = ew.HoeffdingTree(5, span, span, importance_scale=(5.0, 200.0))
        parameters = drawn(tree, 2000)
        for values in (parameters.split_confidence, parameters.tie_threshold):
            assert ((values >= 0.01) & (values <= 0.9)).all()
            assert np.mean(values < median) == pytest.approx(0.5, abs=0.06)
        assert np.mean(parameters.importance_scale < 102.5) == pytest.approx(0.5, abs=0.06)


def test_preset_paper():
    """Jung et al. 2017, Appendix E, with the ranges of the authors' code."""
    tree = ew.HoeffdingTree.preset("paper")
    assert tree.get_params() == {
        "grace_period": (5, 20),
        "split_confidence": ew.LogUniform(0.01, 0.9),
        "tie_threshold": ew.LogUniform(0.01, 0.9),
        "leaf_prediction": "majority",
        "nominal_splits": "multiway",
        "warm_start": False,
        "importance_scale": (5, 200),
        "max_features": None,
        "max_nodes": None,
    }
    parameters = drawn(tree)
    assert set(parameters.grace_period) == set(range(5, 21))
    assert parameters.importance_scale[0] == 5.0
    assert parameters.features.all()
    assert ew.HoeffdingTree.preset("paper", max_nodes=9).max_nodes == 9
    assert ew.AdaBoostOLM.preset("paper").estimator.get_params() == tree.get_params()
    assert ew.OnlineMBBM.preset("paper").estimator.importance_scale == (0.5, 20.0)
    assert ew.HoeffdingForest.preset("paper").estimator.importance_scale == 1.0


# Weight


@pytest.mark.plain
@pytest.mark.parametrize("scale", [1.0, 3.0, 10.0, 1000.0])
def test_grace_counts_scaled_weight(scale):
    """Grace 50 is reached after 50/scale rows, but no leaf splits before two examples of two classes."""
    model = eager_tree(grace_period=50, importance_scale=scale)
    due = max(2, math.ceil(50 / scale))
    for row in range(1, due + 1):
        model.partial_fit([[11.0 * (row % 2)]], [row % 2], classes=[0, 1])
        assert (model.n_nodes_[0] == 3) == (row == due), f"row {row}"
    assert leaf_weight(model.structure(0)).sum() == pytest.approx(due * scale)


@pytest.mark.plain
def test_sample_weight_is_weight_like_the_scale():
    X, y = mixed_stream(80, seed=8)
    scaled = eager_tree(grace_period=12, importance_scale=4.0, leaf_prediction="adaptive").partial_fit(X, y)
    weighted = eager_tree(grace_period=12, leaf_prediction="adaptive")
    weighted.partial_fit(X, y, sample_weight=np.full(80, 4.0))
    assert scaled.n_nodes_[0] > 3
    assert weighted.structure(0) == scaled.structure(0)
    np.testing.assert_array_equal(weighted.predict_proba(X), scaled.predict_proba(X))


@pytest.mark.parametrize("name", MODELS)
def test_rows_without_weight_do_nothing(name):
    """Not to trees, weights, tallies of mistakes or random numbers: the model goes on as if they had not come."""
    X, y = mixed_stream(200, seed=9)
    weights = np.where(np.arange(200) % 3 == 1, 0.0, 1.5)
    tree = ew.HoeffdingTree(5, 0.5, 0.5, importance_scale=5.0)
    model, other = (MODELS[name](tree, 4, random_state=3) for _ in range(2))
    guesses = model.prequential(X, y, sample_weight=weights)
    kept = weights > 0.0
    expected = other.prequential(X[kept], y[kept], classes=np.unique(y), sample_weight=weights[kept])
    np.testing.assert_array_equal(guesses[kept], expected)
    assert (model.rounds_, model.mistakes_) == (other.rounds_, other.mistakes_)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(model.learner_weights_, other.learner_weights_)
    assert [model.structure(i) for i in range(4)] == [other.structure(i) for i in range(4)]


@pytest.mark.plain
def test_a_split_hands_on_all_weight():
    """Shares of a Gaussian on both sides of a threshold, or counts per category: no weight of a class gets lost."""
    for seed in range(6):
        X, y = mixed_stream(60, seed=seed, missing=0.0, n_numeric=seed % 3, n_nominal=2 - seed % 3)
        weights = np.random.default_rng(seed).uniform(0.2, 2.0, 60)
        model = eager_tree(grace_period=15)
        row = 0
        while not row or model.n_nodes_[0] == 1:
            model.partial_fit(X[row], y[row : row + 1], classes=np.unique(y), sample_weight=weights[row : row + 1])
            row += 1
        learned = np.bincount(np.unique(y, return_inverse=True)[1][:row], weights[:row], 3)
        np.testing.assert_allclose(leaf_weight(model.structure(0)), learned, rtol=1e-12)


# Leaves


def accuracies(X: Any, y: np.ndarray) -> dict[str, float]:
    """Of a single leaf in each mode."""
    found = {}
    for leaf in ("majority", "naive_bayes", "adaptive"):
        found[leaf] = float(np.mean(one_tree(grace_period=NEVER, leaf_prediction=leaf).prequential(X, y) == y))
    return found


def test_adaptive_leaves_where_naive_bayes_is_better():
    """Two Gaussians two standard deviations apart: naive Bayes can reach .84, majority about .5."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 2000)
    found = accuracies(rng.normal(size=(2000, 1)) + 2.0 * y[:, None], y)
    assert found["naive_bayes"] > 0.8
    assert found["majority"] < 0.55
    # The two are told apart within some rows of the start: nothing is lost but those.
    assert found["adaptive"] > found["naive_bayes"] - 0.01


def test_adaptive_leaves_where_majority_is_better():
    """Ten copies of one weak column: naive Bayes takes them for ten witnesses (.6 right) and forgets the prior (.7)."""
    rng = np.random.default_rng(12)
    y = (rng.random(2000) < 0.3).astype(int)
    column = np.where(rng.random(2000) < 0.6, y, 1 - y)
    found = accuracies(nominal(np.repeat(column[:, None], 10, axis=1), 2), y)
    assert found["majority"] > 0.67
    assert found["naive_bayes"] < 0.63
    assert found["adaptive"] > found["majority"] - 0.01


# Memory


def test_statistics_of_split_leaves_are_reused():
    """Each step brings two new values beyond all seen before, so the last leaf splits and the rest sleep.

    200 splits used up 400 statistics of 50 columns; weight, mean and squares alone would be 400 * 50 * 24 bytes. Alive
    are never more than those of the last leaf.
    """
    columns = 50
    model = eager_tree(grace_period=10)
    X = np.zeros((2000, columns))
    X[:, 0] = np.repeat(np.arange(200.0), 10) + 0.5 * (np.arange(2000) % 2)
    model.partial_fit(X, np.arange(2000) % 2)
    assert model.n_nodes_[0] == 401
    assert model.nbytes < 400 * columns * 24 / 2


def test_places_of_split_leaves_are_reused():
    """The same chain with many labels, so that leaves are what takes room: at least 12 bytes per label each.

    Pools double, so there may be room for twice the leaves in use, but just before doubling for hardly more than those.
    Without reuse, 2 n - 1 places are taken when n leaves are in use, and the ratio never falls below that.
    """
    labels = 500
    model = eager_tree(grace_period=10)
    ratios = []
    for step in range(130):
        X = step + 0.5 * (np.arange(10.0)[:, None] % 2)
        model.partial_fit(X, np.arange(10) % 2, classes=np.arange(labels))
        leaves = (model.n_nodes_[0] + 1) // 2
        assert leaves == step + 2
        ratios.append(model.nbytes / (leaves * labels * 12))
    assert min(ratios[30:]) < 1.5


@pytest.mark.parametrize("name", MODELS)
def test_memory_stops_growing_under_max_nodes(name):
    rng = np.random.default_rng(13)
    tree = ew.HoeffdingTree(10, 0.5, 0.5, importance_scale=5.0, max_nodes=15)
    model = MODELS[name](tree, 3, random_state=1)
    sizes = []
    for step in range(12):
        # The classes wander, so that leaves that were pure see other classes later.
        y = rng.integers(0, 3, 400)
        X = rng.normal(size=(400, 4)) + np.sin(y[:, None] + 0.7 * step)
        model.partial_fit(X, y, classes=[0, 1, 2])
        sizes.append(model.nbytes)
    assert model.n_nodes_.min() >= 13
    assert sizes[0] > 1000
    assert sizes[5:] == [sizes[5]] * 7


@pytest.mark.plain
def test_a_logarithm_is_left_out_only_where_it_cannot_decide():
    rng = np.random.default_rng(3)
    left_out = 0
    for spread in (1e-12, 1e-3, 1.0, 30.0):
        for said, gap, power in rng.normal(scale=spread, size=(300, 3)):
            other, ratio = said + gap, math.exp(power)
            found, exact = with_ratio(said, ratio, other), said + math.log(ratio)
            assert (found > other) == (exact > other)
            left_out += found != exact
    assert left_out > 300
