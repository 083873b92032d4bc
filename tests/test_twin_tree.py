"""The compiled Hoeffding forest against the dict-of-dicts tree, and that tree against hand computations."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from edgewise import reference
from edgewise.reference import RunningMoments
from edgewise.reference.learner import MISSING, argmax

NAN = math.nan
LEAVES = ("majority", "naive_bayes", "adaptive")


# Streams that both sides can read


class Stream(NamedTuple):
    """Random examples: `values` as a Table holds them, columns of both kinds in any order."""

    values: np.ndarray
    is_nominal: list[bool]
    sizes: list[int]
    y: np.ndarray
    k: int
    weights: np.ndarray

    @property
    def columns(self) -> list[int]:
        """Column of each feature id: the numeric ones first."""
        return sorted(range(len(self.is_nominal)), key=lambda j: (self.is_nominal[j], j))

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.is_nominal) - sum(self.is_nominal), sum(self.is_nominal)

    def row(self, t: int) -> tuple[list[float], list[int]]:
        numeric = [float(self.values[t, j]) for j in self.columns if not self.is_nominal[j]]
        codes = [self.values[t, j] for j in self.columns if self.is_nominal[j]]
        return numeric, [MISSING if np.isnan(code) else int(code) for code in codes]

    def table(self) -> Any:
        from edgewise.data.table import Feature, Table

        features = tuple(
            Feature(f"x{j}", tuple(f"v{c}" for c in range(self.sizes[j])) if nominal else None)
            for j, nominal in enumerate(self.is_nominal)
        )
        return Table(self.values, features)


def random_stream(seed: int, *, weighted: bool = False, n: int | None = None) -> Stream:
    """A stream whose labels follow its features, with integers (thresholds hit exactly) and missing values.

    Weights are drawn from an interval, one in twenty being 0. Without them, classes of equal weight are common, and
    then the last bit of a sum decides where the two sides did not add in the same order.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 150)) if n is None else n
    k = int(rng.integers(2, 6))
    dn, dc = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    is_nominal = [bool(b) for b in rng.permutation([False] * dn + [True] * dc)]
    sizes = [int(rng.integers(2, 6)) if nominal else 0 for nominal in is_nominal]
    values = np.empty((n, dn + dc))
    for j, nominal in enumerate(is_nominal):
        if nominal:
            values[:, j] = rng.integers(0, sizes[j], n)
        elif rng.random() < 0.4:
            values[:, j] = rng.integers(0, 12, n)
        else:
            values[:, j] = rng.normal(rng.normal(0, 3), rng.uniform(0.1, 5), n)
    pulls = rng.normal(0, 1, (k, dn + dc))
    shown = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-9)
    y = np.argmax(shown @ pulls.T + rng.gumbel(0, 0.3, (n, k)), axis=1)
    y[rng.permutation(n)[:k]] = np.arange(k)
    values[rng.random(values.shape) < rng.choice([0.0, 0.15])] = np.nan
    weights = rng.uniform(0.3, 2.0, n) * (rng.random(n) > 0.05) if weighted else np.ones(n)
    return Stream(values, is_nominal, sizes, y, k, weights)


def plain_trees(
    stream: Stream,
    moments: RunningMoments,
    parameters: Any,
    *,
    leaf: str,
    max_nodes: int | None = None,
    labels: int | None = None,
) -> list[reference.HoeffdingTree]:
    """Plain trees with the constants that the library drew."""
    trees = []
    for i in range(len(parameters.grace_period)):
        used = [f for f, column in enumerate(stream.columns) if parameters.features[i, column]]
        trees.append(
            reference.HoeffdingTree(
                stream.k if labels is None else labels,
                *stream.counts,
                moments,
                grace_period=float(parameters.grace_period[i]),
                split_confidence=float(parameters.split_confidence[i]),
                tie_threshold=float(parameters.tie_threshold[i]),
                leaf_prediction=leaf,
                features=used,
                max_nodes=max_nodes,
            )
        )
    return trees


def splits(structure: tuple[Any, ...]) -> int:
    """Number of splits in a structure."""
    if structure[0] == "leaf":
        return 0
    children = structure[3:] if structure[0] == "numeric" else structure[2].values()
    return 1 + sum(splits(child) for child in children)


def assert_same_structure(got: tuple[Any, ...], expected: tuple[Any, ...], columns: list[int]) -> None:
    assert got[0] == expected[0]
    if expected[0] == "leaf":
        assert list(got[1]) == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
        return
    assert got[1] == columns[expected[1]]
    if expected[0] == "numeric":
        assert got[2] == pytest.approx(expected[2], rel=1e-9, abs=1e-9)
        assert_same_structure(got[3], expected[3], columns)
        assert_same_structure(got[4], expected[4], columns)
        return
    assert sorted(got[2]) == sorted(expected[2])
    for code, child in expected[2].items():
        assert_same_structure(got[2][code], child, columns)


# The library against the plain tree


def library_forest(seed: int, stream: Stream, *, leaf: str, max_nodes: int | None) -> Any:
    from edgewise import HoeffdingForest, HoeffdingTree

    rng = np.random.default_rng(seed + 1000)
    width = sum(stream.counts)
    tree = HoeffdingTree(
        grace_period=(2, 12) if rng.random() < 0.7 else 5,
        split_confidence=(0.01, 0.9),
        tie_threshold=(0.05, 0.9),
        leaf_prediction=leaf,
        importance_scale=(0.5, 3.0) if rng.random() < 0.5 else 1.0,
        max_features=None if rng.random() < 0.5 else int(rng.integers(1, width + 1)),
        max_nodes=max_nodes,
    )
    return HoeffdingForest(tree, n_estimators=int(rng.integers(1, 5)), random_state=seed)


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("seed", [pytest.param(s, marks=pytest.mark.plain) if s < 4 else s for s in range(14)])
def test_forest_says_and_grows_what_plain_trees_do(seed, leaf):
    stream = random_stream(seed, weighted=leaf != "majority" or seed % 2 == 0)
    max_nodes = [None, None, 4, 9][seed % 4]
    model = library_forest(seed, stream, leaf=leaf, max_nodes=max_nodes)
    table = stream.table()
    cuts = [0, *sorted(np.random.default_rng(seed).integers(1, len(stream.y), 4).tolist()), len(stream.y)]
    moments, forest, trees = None, None, []
    for start, stop in itertools.pairwise(cuts):
        if stop == start:
            continue
        part = slice(start, stop)
        guesses = model.prequential(
            table[part], stream.y[part], classes=np.arange(stream.k), sample_weight=stream.weights[part]
        )
        if forest is None:
            moments = RunningMoments(stream.counts[0])
            trees = plain_trees(stream, moments, model.parameters_, leaf=leaf, max_nodes=max_nodes)
            forest = reference.HoeffdingForest(
                stream.k, trees, moments, scales=model.parameters_.importance_scale.tolist()
            )
        rounds = [forest.round(*stream.row(t), int(stream.y[t]), float(stream.weights[t])) for t in range(start, stop)]
        assert guesses.tolist() == [r.prediction for r in rounds]
        # Distributions of every row of the stream, so that unlearned values and missing ones are asked for too.
        means = [np.mean([tree.predict_proba(*stream.row(t)) for tree in trees], axis=0) for t in range(len(stream.y))]
        np.testing.assert_allclose(model.predict_proba(table), means, rtol=1e-9, atol=1e-12)
    for i, tree in enumerate(trees):
        assert_same_structure(model.structure(i), tree.structure(), stream.columns)


@pytest.mark.plain
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize(("k", "sure"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_products_of_many_codes_do_not_underflow(k, sure, missing):
    """A class needs no scaling where its codes are sure, another four or more: only the exponents tell them apart."""
    from edgewise import HoeffdingForest, HoeffdingTree

    rng = np.random.default_rng(5)
    n, width = 36, 480
    y = np.arange(n) % k
    usual = np.where(y[:, None] != sure, rng.integers(0, 6, (n, width)), 0)  # one class has one code throughout
    values = np.where(rng.random((n, width)) < missing, np.nan, usual.astype(float))
    stream = Stream(values, [True] * width, [6] * width, y, k, rng.uniform(0.5, 2.0, n))
    tree = HoeffdingTree(grace_period=1e9, leaf_prediction="naive_bayes")
    model = HoeffdingForest(tree, 1).partial_fit(stream.table(), y, sample_weight=stream.weights)
    twin = plant(k, 0, width, grace_period=1e9, leaf_prediction="naive_bayes")
    for t in range(n):
        twin.update(*stream.row(t), int(y[t]), float(stream.weights[t]))
    expected = [twin.predict_proba(*stream.row(t)) for t in range(n)]
    np.testing.assert_allclose(model.predict_proba(stream.table()), expected, rtol=1e-9, atol=1e-12)


def test_a_column_that_never_varied_says_nothing():
    """Its weighted m2 is 0, but may round to 1e-17: taken at its word, that variance would decide everything."""
    from edgewise import HoeffdingForest, HoeffdingTree

    rng = np.random.default_rng(3)
    for column in rng.uniform(-5.0, 5.0, 30):
        X, y, w = np.full((20, 1), column), np.arange(20) % 2, rng.uniform(0.1, 1.0, 20)
        said = []
        for leaf in ("naive_bayes", "majority"):
            tree = HoeffdingTree(grace_period=1000, leaf_prediction=leaf)
            said.append(HoeffdingForest(tree, 1).partial_fit(X, y, sample_weight=w).predict_proba(X[:1])[0])
        np.testing.assert_allclose(said[0], said[1], rtol=1e-12)


def test_the_streams_make_trees_split():
    """The comparison above would be empty if no tree grew."""
    grown = {"numeric": 0, "nominal": 0}
    for seed in range(14):
        stream = random_stream(seed)
        moments = RunningMoments(stream.counts[0])
        tree = reference.HoeffdingTree(
            stream.k, *stream.counts, moments, grace_period=5, split_confidence=0.3, tie_threshold=0.4
        )
        for t in range(len(stream.y)):
            numeric, nominal = stream.row(t)
            moments.update(numeric)
            tree.update(numeric, nominal, int(stream.y[t]), 1.0)
        for kind in grown:
            grown[kind] += str(tree.structure()).count(repr(kind))
        assert splits(tree.structure()) >= 2
    assert grown["numeric"] >= 30
    assert grown["nominal"] >= 10


# The plain tree against hand computations


def plant(k: int = 2, n_numeric: int = 1, n_nominal: int = 0, **options: Any) -> reference.HoeffdingTree:
    constants = {
        "grace_period": 2.0,
        "split_confidence": 0.9,
        "tie_threshold": 0.0,
        "leaf_prediction": "majority",
    } | options
    return reference.HoeffdingTree(k, n_numeric, n_nominal, RunningMoments(n_numeric), **constants)


def teach(tree: reference.HoeffdingTree, numeric: list[float], nominal: list[int], y: int, w: float = 1.0) -> None:
    if w > 0:
        tree.moments.update(numeric)
    tree.update(numeric, nominal, y, w)


def test_majority_by_hand():
    tree = plant(k=3, grace_period=100)
    teach(tree, [1.0], [], 1, 0.5)
    teach(tree, [2.0], [], 2, 1.0)
    assert tree.predict_proba([0.0], []) == pytest.approx([1 / 4.5, 1.5 / 4.5, 2 / 4.5])


def test_no_weight_no_trace():
    tree = plant()
    teach(tree, [1.0], [], 1, 0.0)
    assert tree.structure() == ("leaf", [0.0, 0.0])
    assert tree.root["examples"] == 0


def test_numeric_split_by_hand():
    """Classes at 0 and 11: every threshold 1..10 gains 1 bit, the lowest wins; bound sqrt(ln(1/.9)/4) = .16."""
    tree = plant()
    teach(tree, [0.0], [], 0)
    teach(tree, [11.0], [], 1)
    assert tree.structure() == ("numeric", 0, 1.0, ("leaf", [1.0, 0.0]), ("leaf", [0.0, 1.0]))
    assert argmax(tree.predict_proba([1.0], [])) == 0
    assert argmax(tree.predict_proba([1.0001], [])) == 1
    # Both children inherit weight 1: a missing value follows the first.
    assert argmax(tree.predict_proba([NAN], [])) == 0


def test_hoeffding_bound_forbids_and_tie_threshold_allows():
    """delta = .01 at weight 2: bound 1.07 exceeds the gain of 1 bit."""
    tree = plant(split_confidence=0.01)
    teach(tree, [0.0], [], 0)
    teach(tree, [11.0], [], 1)
    assert splits(tree.structure()) == 0
    assert tree.root["pending"] == 0.0
    eager = plant(split_confidence=0.01, tie_threshold=1.08)
    teach(eager, [0.0], [], 0)
    teach(eager, [11.0], [], 1)
    assert splits(eager.structure()) == 1


def test_two_equal_features_tie():
    """Best minus second is 0, so only the tie threshold can split, on the first of the two."""
    for tie, expected in ((0.0, 0), (0.5, 1)):
        tree = plant(n_numeric=2, tie_threshold=tie)
        teach(tree, [0.0, 0.0], [], 0)
        teach(tree, [11.0, 11.0], [], 1)
        assert splits(tree.structure()) == expected
    assert tree.structure()[1] == 0


def test_gaussian_share_of_a_branch_by_hand():
    """Class 0 at 0 and 11 (mean 5.5, sd 5.5) against class 1 at 11: threshold 10 leaves class 1 on the right."""
    tree = plant(grace_period=4.0, split_confidence=0.999)
    teach(tree, [0.0], [], 0)
    teach(tree, [11.0], [], 0)
    teach(tree, [11.0], [], 1, 2.0)
    kind, feature, threshold, left, right = tree.structure()
    assert (kind, feature) == ("numeric", 0)
    below = 2.0 * 0.5 * (1.0 + math.erf((threshold - 5.5) / 5.5 / math.sqrt(2.0)))
    assert threshold == 10.0
    assert left[1] == pytest.approx([below, 0.0])
    assert right[1] == pytest.approx([2.0 - below, 2.0])


def test_grace_counts_weight_from_zero_in_a_child():
    tree = plant(grace_period=2.0)
    teach(tree, [0.0], [], 0)
    teach(tree, [11.0], [], 1, 5.0)
    assert splits(tree.structure()) == 1
    right = tree.root["children"][1]
    assert right["class_weight"] == [0.0, 5.0]
    assert (right["weight"], right["pending"], right["examples"], right["rows"]) == (0.0, 0.0, 0, {})


def test_one_heavy_example_never_splits():
    tree = plant(grace_period=2.0)
    teach(tree, [0.0], [], 0, 100.0)
    teach(tree, [5.0], [], 0, 100.0)
    assert splits(tree.structure()) == 0


def test_nominal_split_missing_and_new_values_by_hand():
    tree = plant(n_numeric=0, n_nominal=1, grace_period=4.0)
    for code, y, w in ((2, 0, 1.0), (0, 1, 1.0), (0, 1, 1.0), (MISSING, 0, 1.0)):
        teach(tree, [], [code], y, w)
    # 3 of 4 counted: merit 3/4 * H(1/3); bound sqrt(ln(1/.9)/8) = .11.
    assert tree.structure() == ("nominal", 0, {0: ("leaf", [0.0, 2.0]), 2: ("leaf", [1.0, 0.0])})
    assert argmax(tree.predict_proba([], [MISSING])) == argmax(tree.predict_proba([], [1])) == 1
    assert tree.nodes == 3
    teach(tree, [], [1], 0, 0.5)
    assert tree.structure()[2][1] == ("leaf", [0.5, 0.0])
    assert tree.nodes == 4
    teach(tree, [], [MISSING], 0, 0.25)
    assert tree.structure()[2][0] == ("leaf", [0.25, 2.0])


def test_missing_values_shrink_a_feature_by_their_share():
    """Feature 0 separates on half of the rows (merit 1/2); feature 1 separates on all (merit 1)."""
    tree = plant(n_numeric=2, grace_period=4.0)
    for x0, x1, y in ((0.0, 0.0, 0), (11.0, 11.0, 1), (NAN, 0.0, 0), (NAN, 11.0, 1)):
        teach(tree, [x0, x1], [], y)
    assert tree.structure()[1] == 1


def test_max_nodes():
    numeric = plant(max_nodes=2)
    nominal = plant(n_numeric=0, n_nominal=1, max_nodes=3, grace_period=3.0)
    teach(numeric, [0.0], [], 0)
    teach(numeric, [11.0], [], 1)
    for code in range(3):
        teach(nominal, [], [code], code % 2)
    assert splits(numeric.structure()) == splits(nominal.structure()) == 0
    full = plant(n_numeric=0, n_nominal=1, max_nodes=3)
    teach(full, [], [1], 0, 2.0)
    teach(full, [], [2], 1)
    teach(full, [], [5], 1, 0.5)  # no room for a new child: the default, heaviest child learns it
    assert full.structure() == ("nominal", 0, {1: ("leaf", [2.0, 0.5]), 2: ("leaf", [0.0, 1.0])})


def test_naive_bayes_by_hand():
    """Class 0: weight 2 at x = 0, value 0; class 1: x = 4 then 6, value 1 (once missing)."""
    tree = plant(n_numeric=1, n_nominal=1, grace_period=100, leaf_prediction="naive_bayes")
    teach(tree, [0.0], [0], 0, 2.0)
    teach(tree, [4.0], [1], 1)
    teach(tree, [6.0], [MISSING], 1)
    # Class 0 keeps the spread of its last update (one row seen: 0); class 1 that of all three.
    v0 = np.var([0.0, 4.0, 6.0])
    var1 = (2.0 + v0) / 3.0
    log0 = math.log(2.0) + math.log((2.0 + 2.0 / 3.0) / 3.0)
    log1 = math.log(2.0) - math.log(var1) / 2 - (3.0 - 5.0) ** 2 / (2 * var1) + math.log((0.0 + 2.0 / 3.0) / 2.0)
    q1 = 1.0 / (1.0 + math.exp(log0 - log1))
    assert tree.predict_proba([3.0], [0]) == pytest.approx([(4 * (1 - q1) + 1) / 6, (4 * q1 + 1) / 6])
    # A value never seen in the leaf and a missing one are skipped alike.
    assert tree.predict_proba([3.0], [7]) == tree.predict_proba([3.0], [MISSING])


def test_adaptive_leaf_follows_its_record():
    tree = plant(grace_period=1000.0, leaf_prediction="adaptive")
    for x, y in ((0.0, 0), (0.2, 0), (0.1, 0), (9.0, 1), (9.2, 1), (9.1, 1)):
        teach(tree, [x], [], y)
    assert tree.root["right_bayes"] > tree.root["right_majority"]
    assert tree.predict_proba([9.0], []) == tree._naive_bayes(tree.root, [9.0], [])
    tree.root["right_majority"] = tree.root["right_bayes"] + 1e-9
    assert tree.predict_proba([9.0], []) == tree._majority(tree.root)


def test_features_left_out_play_no_part():
    tree = plant(n_numeric=1, n_nominal=1, features=[1], leaf_prediction="naive_bayes", grace_period=1000.0)
    teach(tree, [0.0], [0], 0)
    teach(tree, [11.0], [0], 1)
    assert tree.predict_proba([0.0], [0]) == tree.predict_proba([11.0], [0]) == [0.5, 0.5]
    assert list(tree.root["rows"][0]) == [1]


@pytest.mark.plain
@pytest.mark.parametrize("m", range(11))
def test_logarithms_of_products_neither_overflow_nor_underflow(m):
    from edgewise.learners.forest.statistics import log_density

    rng = np.random.default_rng(m)
    for _ in range(40):
        factors = np.zeros(12)
        factors[:m] = rng.choice([0.0, 1e-170, 1e-3, 0.5, 1.0, 7.0, 1e60, 1e200], size=m)
        weight = rng.choice([1e-150, 1e-6, 1.0, 30.0, 1e75])
        expected = math.log(weight) + 0.5 * sum(math.log(factor) for factor in factors[:m] if factor > 0.0)
        assert log_density(factors, m, weight) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.plain
def test_logarithms_of_thousands_of_factors():
    from edgewise.learners.forest.statistics import log_density

    factors = np.random.default_rng(0).uniform(1.0, 2.0, 20_000)
    expected = 0.5 * math.fsum(map(math.log, factors))
    assert log_density(factors, factors.size, 1.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.plain
def test_a_class_of_one_value_is_never_narrower_than_the_floor():
    """Variances are (squares + v0)/(weight + 1), at least v0/1000; a column that never varied says nothing."""
    from edgewise.learners.forest.layout import MEAN, PRECISION, SQUARES, WEIGHT
    from edgewise.learners.forest.statistics import refresh_precision

    gauss = np.zeros((6, 4))
    gauss[WEIGHT] = [99.0, 5000.0, 99.0, 0.0]
    gauss[SQUARES] = [18.0, 0.0, 0.0, 0.0]
    columns, means, variances = np.array([2, 0, 1, 3]), np.arange(4.0), np.array([4.0, 0.0, 2.0, 5.0])
    constant = refresh_precision(gauss, columns, means, variances, 4, 7.0)
    expected = [100.0 / 20.0, 1.0 / (1e-3 * 4.0), 0.0, 1.0 / 5.0]
    assert gauss[PRECISION].tolist() == pytest.approx(expected, rel=1e-14)
    assert gauss[MEAN].tolist() == [0.0, 0.0, 0.0, 3.0]
    exact = math.log(7.0) + 0.5 * sum(math.log(p) for p in expected if p > 0.0)
    assert constant == pytest.approx(exact, rel=1e-14)
