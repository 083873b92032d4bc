"""What the ensemble may do beyond the paper, against plain Python, and that plain Python against hand computations.

Warm starts, binary nominal splits, mixed leaves, the linear learner, committees of both kinds of learner, probability
votes, the softmax loss, power and normalization of importances, range and start of the learner weights, and following
the best expert; then that switching all of it off leaves the paper's algorithm as it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import truncnorm

from edgewise import reference
from edgewise.reference import RunningMoments
from edgewise.reference import adaboost_olm as olm
from edgewise.reference.learner import MISSING, argmax
from edgewise.reference.linear import BinaryRelevance, SoftmaxRegression
from edgewise.reference.split_search import above, below
from tests.golden import make_paper
from tests.test_twin_boosters import Scripted, assert_close, assert_same_rounds, run
from tests.test_twin_tree import NAN, Stream, plant, random_stream, teach

EVERY_LOSS = (*olm.LOSSES, olm.SOFTMAX)
few = settings(max_examples=60, deadline=None)


# The library against the plain learners and boosters


def twins(
    stream: Stream, moments: RunningMoments, model: Any, estimators: Sequence[Any]
) -> tuple[list[Any], list[float]]:
    """Plain learners with the constants that the library drew, and their factors on the importance."""
    import edgewise as ew

    drawn = model.parameters_
    learners: list[Any] = []
    scales: list[float] = []
    for i in range(model.n_estimators):
        estimator = estimators[min(i, len(estimators) - 1)]
        if not isinstance(estimator, ew.HoeffdingTree):
            plain = BinaryRelevance if isinstance(estimator, ew.BinaryRelevance) else SoftmaxRegression
            learners.append(plain(stream.k, moments, **estimator.get_params()))
            scales.append(1.0)
            continue
        tree = reference.HoeffdingTree(
            stream.k,
            *stream.counts,
            moments,
            grace_period=float(drawn.grace_period[i]),
            split_confidence=float(drawn.split_confidence[i]),
            tie_threshold=float(drawn.tie_threshold[i]),
            leaf_prediction=estimator.leaf_prediction,
            features=[f for f, column in enumerate(stream.columns) if drawn.features[i, column]],
            max_nodes=estimator.max_nodes,
            nominal_splits=estimator.nominal_splits,
            warm_start=estimator.warm_start,
        )
        learners.append(tree)
        scales.append(float(drawn.importance_scale[i]))
    return learners, scales


def assert_same_structure(got: tuple[Any, ...], expected: tuple[Any, ...], columns: list[int]) -> None:
    assert got[0] == expected[0]
    if expected[0] == "leaf":
        assert list(got[1]) == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
        return
    assert got[1] == columns[expected[1]]
    if expected[0] == "nominal":
        assert sorted(got[2]) == sorted(expected[2])
        for code, child in expected[2].items():
            assert_same_structure(got[2][code], child, columns)
        return
    assert got[2] == (expected[2] if expected[0] == "binary" else pytest.approx(expected[2], rel=1e-9, abs=1e-9))
    assert_same_structure(got[3], expected[3], columns)
    assert_same_structure(got[4], expected[4], columns)


def assert_same_run(stream: Stream, estimators: Sequence[Any], n: int, seed: int, **options: Any) -> None:
    """The library's boosting of the learners and the plain one agree in everything that can be seen."""
    from edgewise import AdaBoostOLM

    given_estimator = list(estimators) if len(estimators) > 1 else estimators[0]
    model = AdaBoostOLM(given_estimator, n, random_state=seed, **options)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    learners, scales = twins(stream, moments, model, estimators)
    known = {name: value for name, value in options.items() if name != "chunk_size"}
    booster = reference.AdaBoostOLM(stream.k, learners, moments, scales=scales, **known)
    uniforms = trace.uniforms[:, 0].tolist() if options["follow"] == "draw" else [0.0] * len(stream.y)
    assert_same_rounds(trace, run(stream, booster, uniforms))
    for i, learner in enumerate(learners):
        if isinstance(learner, reference.HoeffdingTree):
            assert_same_structure(model.structure(i), learner.structure(), stream.columns)
    assert_close(model.learner_weights_, booster.alpha)
    assert_close(model.edges_, booster.edges())
    rows = [booster.decision_function(*stream.row(t)) for t in range(0, len(stream.y), 7)]
    expected = [row[1] - row[0] for row in rows] if stream.k == 2 else rows
    np.testing.assert_allclose(model.decision_function(stream.table()[::7]), expected, rtol=1e-9, atol=1e-9)
    told = [olm.softmax(row) for row in rows]
    np.testing.assert_allclose(model.predict_proba(stream.table()[::7]), told, rtol=1e-9, atol=1e-9)


PAPER: dict[str, Any] = {
    "loss": "logistic",
    "vote": "cost",
    "follow": "draw",
    "importance_power": 1.0,
    "normalize_importance": False,
    "weight_range": None,
    "first_weight": 0.0,
    "calibrate": False,
}


def some_tree(seed: int, stream: Stream, **options: Any) -> Any:
    """An eager tree with drawn constants; what `options` leaves open is drawn by the seed."""
    from edgewise import HoeffdingTree, LogUniform

    rng = np.random.default_rng(seed + 3000)
    drawn = {
        "grace_period": (1, 6),
        "split_confidence": LogUniform(0.05, 0.9),
        "tie_threshold": (0.1, 0.9),
        "importance_scale": LogUniform(0.5, 4.0),
        "leaf_prediction": str(rng.choice(["mixed", "adaptive", "naive_bayes"])),
        "nominal_splits": str(rng.choice(["binary", "multiway"])),
        "warm_start": bool(rng.random() < 0.7),
        "max_features": None if rng.random() < 0.5 else int(rng.integers(1, sum(stream.counts) + 1)),
        "max_nodes": None if rng.random() < 0.7 else int(rng.integers(3, 12)),
    }
    return HoeffdingTree(**drawn | options)


@pytest.mark.parametrize("leaf", ["majority", "naive_bayes", "adaptive", "mixed"])
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("nominal_splits", ["multiway", "binary"])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2, 3])
def test_trees(seed, nominal_splits, warm_start, leaf):
    from edgewise import HoeffdingForest

    seed = 600 + seed + 10 * warm_start + 20 * (nominal_splits == "binary")
    stream = random_stream(seed, weighted=True)
    tree = some_tree(seed, stream, leaf_prediction=leaf, nominal_splits=nominal_splits, warm_start=warm_start)
    model = HoeffdingForest(tree, 3, random_state=seed)
    guesses = model.prequential(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    trees, scales = twins(stream, moments, model, [tree])
    forest = reference.HoeffdingForest(stream.k, trees, moments, scales=scales)
    assert guesses.tolist() == [r.prediction for r in run(stream, forest)]
    for i, tree in enumerate(trees):
        assert_same_structure(model.structure(i), tree.structure(), stream.columns)
    means = [np.mean([tree.predict_proba(*stream.row(t)) for tree in trees], axis=0) for t in range(len(stream.y))]
    np.testing.assert_allclose(model.predict_proba(stream.table()), means, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("clip", [0.8, 5.0])
@pytest.mark.parametrize("vote", ["probability", "argmax", "cost"])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2])
def test_linear_learners(seed, vote, clip):
    import edgewise as ew

    seed = 700 + seed + 10 * (vote == "cost") + 20 * (clip == 5.0)
    stream = random_stream(seed, weighted=True)
    estimators = [ew.SoftmaxRegression(step=0.5, clip=clip), ew.SoftmaxRegression(clip=clip)]
    assert_same_run(stream, estimators[: 1 + seed % 2], 1 + seed % 3, seed, **PAPER | {"vote": vote})


@pytest.mark.parametrize("vote", ["probability", "argmax", "cost"])
@pytest.mark.parametrize("loss", olm.LOSSES)
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1])
def test_logistic_learners(seed, loss, vote):
    import edgewise as ew

    seed = 730 + seed + 2 * olm.LOSSES.index(loss)
    stream = random_stream(seed, weighted=True)
    estimators = [ew.BinaryRelevance(step=0.5), ew.SoftmaxRegression(), ew.BinaryRelevance()]
    assert_same_run(stream, estimators, 3, seed, **PAPER | {"vote": vote, "loss": loss})


@pytest.mark.parametrize("products", [1, 3, 6, 500])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2])
def test_products_of_columns(seed, products):
    """Learners with some pairs, all pairs and none side by side."""
    import edgewise as ew

    seed = 750 + seed + 3 * products % 100
    stream = random_stream(seed, weighted=True)
    estimators = [ew.SoftmaxRegression(products=2), ew.SoftmaxRegression(0.5, 0.8, products), ew.SoftmaxRegression()]
    assert_same_run(stream, estimators, 3, seed, **PAPER | {"vote": "probability"})


@pytest.mark.parametrize(("newton", "products"), [(1, 0), (3, 4), (7, 500), (60, 6), (200, 500)])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2])
def test_newton_steps(seed, newton, products):
    """A column, some of them, products until there is no more room, and everything; beside one without."""
    import edgewise as ew

    seed = 850 + seed + newton
    stream = random_stream(seed, weighted=True)
    newton_learner = ew.SoftmaxRegression(0.5, 2.0, products, newton, 0.05, reach=(8.0, None, 0.5)[seed % 3])
    estimators = [newton_learner, ew.SoftmaxRegression(products=2), ew.SoftmaxRegression(newton=newton + 1)]
    assert_same_run(stream, estimators, 3, seed, **PAPER | {"vote": "probability"})


def test_newton_steps_learn_a_product_from_few_examples():
    """Whether two weights on a scale balance out takes more than columns and fewer examples than AdaGrad needs."""
    import edgewise as ew

    right = {0: 0.0, 20: 0.0}
    for seed in range(8):
        X = np.random.default_rng(seed).uniform(1.0, 5.0, size=(300, 4))
        y = (X[:, 0] * X[:, 1] > X[:, 2] * X[:, 3]).astype(int)
        for newton in right:
            learner = ew.SoftmaxRegression(products=10, newton=newton)
            guesses = ew.AdaBoostOLM(learner, 1, first_weight=1.0).prequential(X, y)
            right[newton] += (guesses == y)[100:].mean() / 8
    assert right[20] > right[0] + 0.005


def test_what_newton_steps_know_stays_symmetric():
    import edgewise as ew

    stream = random_stream(7, weighted=True)
    model = ew.AdaBoostOLM([ew.SoftmaxRegression(products=50, newton=40), ew.SoftmaxRegression()], 2)
    model.partial_fit(stream.table(), stream.y, sample_weight=stream.weights)
    newton = model._ensemble.bank.newton
    assert np.array_equal(newton.inverse, newton.inverse.transpose(0, 2, 1))
    assert newton.slot.tolist() == [0, -1]
    assert newton.used.tolist() == [40]
    assert (np.linalg.eigvalsh(newton.inverse[0]) > 0.0).all()


@pytest.mark.plain
def test_which_products_there_are():
    from edgewise.learners.products import make_products, pairs_of_columns, products_with_columns

    # numeric columns 0 and 1, nominal columns 0 and 1 as -1 and -2
    every = [(0, 0), (0, 1), (1, 1), (0, -1), (1, -1), (0, -2), (1, -2), (-1, -2)]
    assert pairs_of_columns(100, 2, 2) == every
    for most in range(9):
        assert pairs_of_columns(most, 2, 2) == every[:most]
    assert pairs_of_columns(5, 10**6, 0) == [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    products = make_products([0, 6, 99], 3, 2, 2)
    assert products.n_pairs.tolist() == [0, 6, 8]
    assert products.place.tolist() == [0, 1, 2, 3, 19, 35, 51, 67, 67 + 256]
    assert products.weights.shape == (3, 323, 3)
    # columns come late: what was learned stays with its pair
    draw = np.random.default_rng(0)
    for learned in (products.weights, products.squares, products.ranks):
        learned[:] = draw.integers(1, 1000, learned.shape)
    wider = products_with_columns(products, 3, 3)
    assert wider.n_pairs.tolist() == [0, 6, 18]
    pairs = list(zip(wider.first.tolist(), wider.second.tolist(), strict=True))
    for j, pair in enumerate(pairs):
        for name in ("weights", "squares", "ranks"):
            block = getattr(wider, name)[:, wider.place[j] : wider.place[j + 1]]
            if pair in every:
                old = slice(*products.place[every.index(pair) :][:2])
                assert np.array_equal(block, getattr(products, name)[:, old])
            else:
                assert not block.any()


@pytest.mark.plain
def test_two_codes_together_have_an_input_of_their_own():
    """Neither code tells the label, both together do: whether they are equal."""
    import edgewise
    from edgewise.learners.products import CODES, make_products, product

    products = make_products([1], 2, 0, 2)
    codes = [(a, b) for a in range(CODES) for b in range(CODES)]
    places = [product(products, 0, 5.0, np.zeros(1), np.array(pair)) for pair in codes]
    assert sorted(at for at, _ in places) == list(range(CODES**2))
    assert {value for _, value in places} == {1.0}
    # codes beyond share the places of the first
    beyond = [np.array([a + CODES, b + 3 * CODES]) for a, b in codes]
    assert [product(products, 0, 5.0, np.zeros(1), pair) for pair in beyond] == places
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(400, 2)).astype(str).astype(object)
    y = (X[:, 0] == X[:, 1]).astype(int)
    guesses = edgewise.AdaBoostOLM(edgewise.SoftmaxRegression(products=1), 1, first_weight=1.0).prequential(X, y)
    assert (guesses[200:] == y[200:]).all()


@pytest.mark.plain
def test_first_steps_are_alike_however_many_inputs_there_are():
    """The first example, of nominal columns alone, moves its own scores by reach^2 / (1 + curvature reach^2) slopes."""
    import edgewise as ew

    moved = []
    for columns in (1, 3, 9):
        X = np.zeros((2, columns), int).astype(str).astype(object)
        learner = ew.SoftmaxRegression(products=100, newton=100, curvature=0.25, reach=2.0)
        model = ew.AdaBoostOLM(learner, 1, first_weight=1.0).partial_fit(X[:1], ["a"], classes=["a", "b"])
        bank = model._ensemble.bank
        assert np.allclose(bank.newton.weights[0, : bank.newton.used[0], 0].sum(), 0.5 * 4.0 / (1.0 + 0.25 * 4.0))
        moved.append(bank.newton.used[0])
    assert moved == [2, 7, 46]


@pytest.mark.parametrize("reach", [0.0, -1.0, math.nan])
def test_a_reach_that_is_none(reach):
    import edgewise as ew

    with pytest.raises(ValueError, match=f"reach={reach}: a positive number, or None"):
        ew.AdaBoostOLM(ew.SoftmaxRegression(reach=reach)).partial_fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", ["products", "newton"])
@pytest.mark.parametrize("number", [-1, 1.5, None])
def test_a_number_of_inputs_that_is_none(name, number):
    import edgewise as ew

    with pytest.raises(ValueError, match=f"{name}={number}: a whole number"):
        ew.AdaBoostOLM(ew.SoftmaxRegression(**{name: number})).partial_fit([[0.0], [1.0]], [0, 1])


OPTIONS: list[dict[str, Any]] = [
    *({"vote": "probability", "loss": loss} for loss in EVERY_LOSS),
    {"loss": "softmax"},
    {"loss": "softmax", "vote": "argmax"},
    {"importance_power": 0.5},
    {"importance_power": 0.25, "normalize_importance": True},
    {"normalize_importance": True},
    {"importance_power": 0.5, "normalize_importance": True, "loss": "square_hinge"},
    {"weight_range": (0.0, 4.0)},
    {"weight_range": (-0.25, 0.5), "loss": "exponential"},
    {"first_weight": 0.1},
    {"follow": "best"},
    {"follow": "best", "first_weight": 0.3, "vote": "argmax"},
    {"follow": "vote", "vote": "probability", "first_weight": 0.1},
    {"calibrate": True},
    {"calibrate": True, "first_weight": 0.5, "loss": "softmax"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2])
def test_one_option_at_a_time(seed, options):
    seed = 800 + seed + 3 * OPTIONS.index(options)
    stream = random_stream(seed, weighted=True)
    assert_same_run(stream, [some_tree(seed, stream)], 1 + seed % 5, seed, **PAPER | options)


RECIPE: dict[str, Any] = {
    "loss": "softmax",
    "vote": "probability",
    "follow": "vote",
    "importance_power": 0.5,
    "normalize_importance": True,
    "weight_range": (0.0, 4.0),
    "first_weight": 0.1,
    "calibrate": True,
}


def mixed_committee(seed: int, stream: Stream) -> list[Any]:
    """A linear learner, one with products and Newton steps, a calm tree, and eager trees with part of the features."""
    import edgewise as ew

    calm = some_tree(seed, stream, grace_period=9, split_confidence=0.1, tie_threshold=0.2, importance_scale=1.0)
    products = ew.SoftmaxRegression(products=10, newton=20)
    return [ew.SoftmaxRegression(), products, calm, some_tree(seed + 1, stream, max_features=0.7)]


@pytest.mark.parametrize("seed", [pytest.param(s, marks=pytest.mark.plain) if s < 3 else s for s in range(16)])
def test_mixed_committees_with_everything_on(seed):
    seed = 900 + seed
    stream = random_stream(seed, weighted=True)
    follow = ("vote", "draw", "best")[seed % 3]
    chunk_size = (1, 7, 32, 256)[seed % 4]
    options = RECIPE | {"follow": follow, "chunk_size": chunk_size}
    assert_same_run(stream, mixed_committee(seed, stream), 2 + seed % 6, seed, **options)


@pytest.mark.parametrize("chunk_size", [1, 7, 256])
@pytest.mark.parametrize("seed", [pytest.param(930, marks=pytest.mark.plain), 931, 932, 933])
def test_trees_that_see_the_same_columns_and_trees_that_do_not(seed, chunk_size):
    """Trees that follow each other share the rows of a chunk if they see the same of them, and only then."""
    import edgewise as ew

    stream = random_stream(seed, weighted=True)
    whole, part = some_tree(seed, stream, max_features=None), some_tree(seed, stream, max_features=1)
    committee = [whole, whole, part, part, whole, ew.SoftmaxRegression(), whole, part, whole, whole]
    assert_same_run(stream, committee, 10, seed, **PAPER | {"vote": "argmax", "chunk_size": chunk_size})


@pytest.mark.parametrize("follow", ["draw", "best"])
@pytest.mark.parametrize("seed", [950, 951, 952])
def test_chunks_and_calls_change_no_bit(seed, follow):
    from edgewise import AdaBoostOLM

    stream = random_stream(seed, weighted=True)
    committee, table = mixed_committee(seed, stream), stream.table()

    def traced(chunk_size: int, cuts: Sequence[int]) -> list[np.ndarray]:
        options = RECIPE | {"follow": follow, "chunk_size": chunk_size}
        model = AdaBoostOLM(committee, 5, random_state=seed, **options)
        pieces = []
        for part in np.split(np.arange(len(stream.y)), cuts):
            known = {"classes": np.arange(stream.k), "sample_weight": stream.weights[part]}
            pieces.append(model.trace(table[part], stream.y[part], **known))
        return [*(np.concatenate(field) for field in zip(*pieces, strict=True)), model.decision_function(table)]

    whole = traced(256, [])
    for chunk_size, cuts in ((1, []), (7, []), (64, [3, 50]), (5, [20, 21])):
        for got, expected in zip(traced(chunk_size, cuts), whole, strict=True):
            np.testing.assert_array_equal(got, expected)


def test_categories_that_come_later():
    """A code that no call has named yet is missing to nobody once it comes: all learners make room for it."""
    from edgewise import AdaBoostOLM
    from edgewise.data.table import Table

    seeds = [s for s in range(960, 990) if max(random_stream(s).sizes) > 2][:4]
    for seed in seeds:
        stream = random_stream(seed, weighted=True)
        half = len(stream.y) // 2
        stream.values[:half][(stream.values[:half] > 1) & np.array(stream.is_nominal)] = np.nan
        whole = stream.table()
        small = tuple(
            feature if feature.categories is None else feature._replace(categories=feature.categories[:2])
            for feature in whole.features
        )
        known = {"classes": np.arange(stream.k)}
        first, second = (AdaBoostOLM(mixed_committee(seed, stream), 4, random_state=seed, **RECIPE) for _ in range(2))
        at_once = first.trace(whole, stream.y, sample_weight=stream.weights, **known)
        parts = [Table(stream.values[:half], small), whole[half:]]
        in_two = [
            second.trace(parts[0], stream.y[:half], sample_weight=stream.weights[:half], **known),
            second.trace(parts[1], stream.y[half:], sample_weight=stream.weights[half:], **known),
        ]
        for got, expected in zip(zip(*in_two, strict=True), at_once, strict=True):
            np.testing.assert_array_equal(np.concatenate(got), expected)
        np.testing.assert_array_equal(first.decision_function(whole), second.decision_function(whole))


def test_the_streams_make_every_kind_of_split():
    """The comparisons above would be empty if no tree grew, or none grew below a warm start."""
    deep = {"numeric": 0, "nominal": 0, "binary": 0}
    for seed in range(600, 614):
        stream = random_stream(seed)
        for nominal in ("multiway", "binary"):
            moments = RunningMoments(stream.counts[0])
            constants = {"grace_period": 4, "split_confidence": 0.3, "tie_threshold": 0.4, "leaf_prediction": "mixed"}
            tree = reference.HoeffdingTree(
                stream.k, *stream.counts, moments, nominal_splits=nominal, warm_start=True, **constants
            )
            for t in range(len(stream.y)):
                teach(tree, *stream.row(t), int(stream.y[t]))
            for kind in deep:
                deep[kind] += str(tree.structure()[2:]).count(repr(kind))
    assert min(deep.values()) >= 10


# The softmax loss


score = st.floats(-8.0, 8.0)
states = st.integers(2, 6).flatmap(
    lambda k: st.tuples(
        st.lists(score, min_size=k, max_size=k),
        st.integers(0, k - 1),
        st.lists(st.floats(0.01, 1.0), min_size=k, max_size=k).map(lambda raw: [x / sum(raw) for x in raw]),
    )
)


@pytest.mark.plain
@few
@given(state=states, n=st.integers(1, 20), t=st.integers(1, 10**6))
def test_softmax_kernels(state, n, t):
    from edgewise.theory import losses as kernels

    scores, label, p = state
    k, s = len(scores), np.array(scores)
    matrix = olm.cost_matrix("softmax", scores)
    near = {"rel": 1e-12, "abs": 1e-14}
    code = kernels.SOFTMAX
    assert kernels.LOSSES["softmax"] == code
    assert kernels.loss_value(code, s, label) == pytest.approx(olm.surrogate_loss("softmax", scores, label), **near)
    out = np.full(k, np.nan)
    kernels.cost_row(code, s, label, out)
    assert out == pytest.approx(matrix[label], **near)
    kernels.expected_costs(code, s, np.array(p), out, np.full(k, np.nan))
    assert out == pytest.approx([sum(p[r] * matrix[r][l] for r in range(k)) for l in range(k)], **near)
    assert out == pytest.approx([olm.softmax(scores)[l] - p[l] for l in range(k)], **near)
    assert kernels.step_size(code, k, n, n - 1, t) == pytest.approx(2.0 * math.sqrt(2.0 / t), rel=1e-13)


@pytest.mark.plain
def test_softmax_kernels_survive_scores_far_apart():
    from edgewise.theory import losses as kernels

    far, row = np.array([0.0, 1000.0]), np.zeros(2)
    assert kernels.loss_value(kernels.SOFTMAX, far, 0) == pytest.approx(1000.0)
    assert kernels.loss_value(kernels.SOFTMAX, far, 1) == 0.0
    kernels.cost_row(kernels.SOFTMAX, far, 0, row)
    assert row.tolist() == [-1.0, 1.0]
    kernels.cost_row(kernels.SOFTMAX, far, 1, row)
    assert row.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("loss", EVERY_LOSS)
@few
@given(state=states, alpha=st.floats(-2.0, 4.0))
def test_derivative_along_a_distribution_agrees_with_differences_of_the_loss(loss, state, alpha):
    scores, label, h = state
    step = 1e-5

    def f(a: float) -> float:
        return olm.surrogate_loss(loss, [s + a * x for s, x in zip(scores, h, strict=True)], label)

    slope = (f(alpha + step) - f(alpha - step)) / (2.0 * step)
    expected = olm.derivative_along(loss, scores, label, h, alpha)
    # Truncation is step^2 f'''/6 or, at the kinks of the hinge, (k - 1) step / 4; rounding is eps f / step.
    tolerance = 1e-9 * max(1.0, abs(expected)) + 1e-10 * f(alpha) + (5 * step / 4 if loss == "square_hinge" else 0.0)
    assert slope == pytest.approx(expected, abs=tolerance)


@few
@given(state=states, alpha=st.floats(-2.0, 2.0))
def test_derivative_along_a_label_is_the_one_of_the_paper(state, alpha):
    scores, label, _ = state
    for loss in EVERY_LOSS:
        for vote in range(len(scores)):
            h = [1.0 if l == vote else 0.0 for l in range(len(scores))]
            got = olm.derivative_along(loss, scores, label, h, alpha)
            assert got == pytest.approx(olm.derivative(loss, scores, label, vote, alpha), rel=1e-11, abs=1e-12)


def test_softmax_by_hand():
    assert olm.surrogate_loss("softmax", [0.0, 0.0, 0.0], 1) == pytest.approx(math.log(3.0))
    assert olm.cost_matrix("softmax", [math.log(2.0), 0.0, 0.0])[0] == pytest.approx([-0.5, 0.25, 0.25])
    assert olm.importance("softmax", [math.log(2.0), 0.0, 0.0], 0) == pytest.approx(0.5)
    assert olm.importance("logistic", [0.0, 0.0, 0.0], 0) == pytest.approx(0.5)
    assert olm.step_size("softmax", 9, 5, 3, 4) == pytest.approx(math.sqrt(2.0))


# Warm starts by hand


@few
@given(z=st.floats(-3.5, 3.5), mean=st.floats(-5.0, 5.0), sd=st.floats(0.1, 5.0))
def test_truncated_moments_are_those_of_scipy(z, mean, sd):
    n = 7.0
    whole = {"n": n, "mean": mean, "m2": n * sd**2, "lo": mean - 9 * sd, "hi": mean + 9 * sd}
    t = mean + z * sd
    for half, a, b, lo, hi in ((below, -math.inf, z, whole["lo"], t), (above, z, math.inf, t, whole["hi"])):
        exact = truncnorm(a, b, loc=mean, scale=sd)
        got = half(t, whole, 2.0)
        assert (got["n"], got["lo"], got["hi"]) == (2.0, lo, hi)
        assert got["mean"] == pytest.approx(exact.mean(), rel=1e-9, abs=1e-9 * sd)
        assert got["m2"] == pytest.approx(2.0 * exact.var(), rel=1e-6, abs=1e-9 * sd**2)


def test_truncation_stays_within_what_was_seen():
    seen = {"n": 4.0, "mean": 1.0, "m2": 400.0, "lo": 0.0, "hi": 2.0}
    assert below(1.5, seen, 2.0)["mean"] == 0.0
    assert above(0.5, seen, 2.0)["mean"] == 2.0
    assert below(2.0, seen, 4.0) == seen
    assert above(-0.1, seen, 4.0) == seen


def test_numeric_warm_start_by_hand():
    """Class 0 at 0 and 11, class 1 at 11 as in the cold tree's test: threshold 10; another feature, and a category."""
    tree = plant(
        n_numeric=2, n_nominal=1, grace_period=4.0, split_confidence=0.999, warm_start=True, leaf_prediction="mixed"
    )
    teach(tree, [0.0, 5.0], [0], 0)
    teach(tree, [11.0, 7.0], [1], 0)
    teach(tree, [11.0, 6.0], [MISSING], 1, 2.0)
    assert tree.structure()[:3] == ("numeric", 0, 10.0)
    left, right = tree.root["children"][0], tree.root["children"][1]
    n = left["class_weight"][0]
    share = n / 2.0
    assert (left["weight"], left["pending"], left["examples"]) == (0.0, 0.0, 0)
    assert sorted(left["rows"]) == [0]
    assert sorted(right["rows"]) == [0, 1]
    first, other, category = (left["rows"][0][f] for f in range(3))
    exact = truncnorm(-math.inf, (10.0 - 5.5) / 5.5, loc=5.5, scale=5.5)
    assert [first["n"], first["mean"], first["m2"]] == pytest.approx([n, exact.mean(), n * exact.var()])
    assert (first["lo"], first["hi"]) == (0.0, 10.0)
    assert [other["n"], other["mean"], other["m2"]] == pytest.approx([n, 6.0, 2.0 * share])
    assert (other["lo"], other["hi"]) == (5.0, 7.0)
    assert category == pytest.approx({0: share, 1: share})
    v0 = np.var([0.0, 11.0, 11.0])
    assert first["bayes_var"] == pytest.approx((first["m2"] + v0) / (n + 1.0))
    # Class 1 lies above the threshold: the right child takes its row as it was, the category of which counts nothing.
    whole = right["rows"][1]
    assert (whole[0]["n"], whole[0]["mean"], whole[0]["lo"], whole[0]["hi"], whole[2]) == (2.0, 11.0, 11.0, 11.0, {})


@pytest.mark.parametrize("nominal", ["multiway", "binary"])
def test_nominal_warm_start_by_hand(nominal):
    tree = plant(
        n_numeric=1,
        n_nominal=2,
        grace_period=5.0,
        split_confidence=0.99,
        tie_threshold=2.0,
        warm_start=True,
        nominal_splits=nominal,
        k=3,
    )
    rows = (([1.0], [4, 0], 0), ([2.0], [4, 1], 0), ([NAN], [2, 1], 1), ([1.5], [3, 1], 1), ([1.2], [2, MISSING], 2))
    for numeric, codes, y in rows:
        teach(tree, numeric, codes, y)
    children = tree.root["children"]
    if nominal == "multiway":
        assert tree.structure()[:2] == ("nominal", 1)
        assert {b: sorted(child["rows"]) for b, child in children.items()} == {2: [1, 2], 3: [1], 4: [0]}
        assert (children[2]["rows"][1][1], children[2]["rows"][1][2]) == ({2: 1.0}, {1: 1.0})
        assert (children[4]["rows"][0][1], children[4]["rows"][0][2]) == ({4: 2.0}, {0: 1.0, 1: 1.0})
        assert children[2]["rows"][1][0]["n"] == 0.5  # 1.5 was counted once; half of the class goes each way
    else:
        # Code 4 is all of class 0: it gains most, H(2/5, 2/5, 1/5) - 3/5 H(2/3, 1/3).
        assert tree.structure()[:3] == ("binary", 1, 4)
        assert {b: sorted(child["rows"]) for b, child in children.items()} == {0: [0], 1: [1, 2]}
        assert children[0]["rows"][0][1] == {4: 2.0}
        assert children[1]["rows"][1][1] == {2: 1.0, 3: 1.0}
        assert children[1]["rows"][1][0]["n"] == 1.0


@pytest.mark.parametrize("seed", range(6))
def test_children_share_out_what_the_leaf_had(seed):
    """Weights and sums of every feature are those of the split leaf, for every class that counted the split feature."""
    stream = random_stream(seed + 600)
    tree = reference.HoeffdingTree(
        stream.k,
        *stream.counts,
        RunningMoments(stream.counts[0]),
        grace_period=1e9,
        split_confidence=0.9,
        tie_threshold=9.0,
        warm_start=True,
    )
    for t in range(len(stream.y)):
        teach(tree, *stream.row(t), int(stream.y[t]))
    split = tree._attempt(tree.root)
    assert split is not None
    for c, row in tree.root["rows"].items():
        parts = [child["rows"][c] for child in split["children"].values() if c in child["rows"]]
        assert parts
        for f in tree.numeric_used:
            assert sum(part[f]["n"] for part in parts) == pytest.approx(row[f]["n"], abs=1e-5)
            assert all(part[f]["lo"] <= part[f]["mean"] <= part[f]["hi"] for part in parts if part[f]["n"] > 0.0)
        for f in tree.nominal_used:
            for code, count in row[f].items():
                assert sum(part[f].get(code, 0.0) for part in parts) == pytest.approx(count, abs=1e-5)


def test_warm_leaf_measures_merit_by_all_its_weight_and_the_bound_by_its_own():
    """Inherited weight 100, own weight 4: the bound is that of 4, and a feature counted 4 of 104 gains little."""
    for warm_start, expected in ((False, "numeric"), (True, "leaf")):
        tree = plant(grace_period=1e9, split_confidence=0.9, warm_start=warm_start)
        tree.root["class_weight"] = [50.0, 50.0]
        for x, y in ((0.0, 0), (0.0, 0), (11.0, 1), (11.0, 1)):
            teach(tree, [x], [], y)
        found = tree._attempt(tree.root)  # merit 1 or 4/104; bound sqrt(ln(1/.9)/8) = .11
        assert (found or tree.root)["kind"] == expected


# Binary splits and mixed leaves by hand


def test_binary_split_missing_and_new_values_by_hand():
    tree = plant(n_numeric=0, n_nominal=1, grace_period=4.0, nominal_splits="binary")
    for code, y in ((2, 0), (0, 1), (0, 1), (MISSING, 0)):
        teach(tree, [], [code], y)
    # Codes 0 and 2 tell the same story: the lower one is asked for.
    assert tree.structure() == ("binary", 0, 0, ("leaf", [0.0, 2.0]), ("leaf", [1.0, 0.0]))
    assert [argmax(tree.predict_proba([], [code])) for code in (0, 1, 2, 7, MISSING)] == [1, 0, 0, 0, 1]
    teach(tree, [], [7], 0, 0.5)
    assert tree.structure()[4] == ("leaf", [1.5, 0.0])
    assert tree.nodes == 3


def test_binary_split_needs_a_hundredth_on_each_side():
    for light, kind in ((0.9, "leaf"), (1.1, "binary")):
        tree = plant(n_numeric=0, n_nominal=1, grace_period=100.0, tie_threshold=9.0, nominal_splits="binary")
        teach(tree, [], [1], 0, light)
        teach(tree, [], [0], 1, 100.0 - light)
        assert tree.structure()[0] == kind


def test_mixed_leaf_by_hand():
    tree = plant(n_numeric=1, n_nominal=0, grace_period=100.0, leaf_prediction="mixed", k=3)
    assert tree.predict_proba([0.0], []) == pytest.approx([1 / 3] * 3)
    for x, y in ((0.0, 0), (1.0, 0), (9.0, 1)):
        teach(tree, [x], [], y)
    both = np.add(tree._majority(tree.root), tree._naive_bayes(tree.root, [9.0], [])) / 2.0
    assert tree.predict_proba([9.0], []) == pytest.approx(both)
    assert tree._majority(tree.root) == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    assert (tree.root["right_majority"], tree.root["right_bayes"]) == (0.0, 0.0)


# The linear learner by hand


def test_linear_learner_by_hand():
    """Values 1 and 3: one standard deviation above the mean 2 is 1. AdaGrad's first step is the whole step."""
    moments = RunningMoments(1)
    learner = SoftmaxRegression(2, moments, step=0.2)
    moments.update([1.0])
    learner.predict_proba([1.0], [4])
    learner.update([1.0], [4], 0, 3.0)
    assert learner.weights[0] == pytest.approx({"bias": 0.2, ("nominal", 0, 4): 0.2})  # nothing varied: no input
    moments.update([3.0])
    p = learner.predict_proba([3.0], [MISSING])
    assert p[0] == pytest.approx(1.0 / (1.0 + math.exp(-0.4)))
    moments.update([77.0])  # does not change the inputs of an example already voted on
    learner.update([3.0], [MISSING], 1, 0.5)
    moments.__init__(1)
    for x in (1.0, 3.0):
        moments.update([x])
    g = 0.5 * p[0]
    assert learner.weights[0]["numeric", 0] == pytest.approx(-0.2)
    assert learner.weights[0]["bias"] == pytest.approx(0.2 - 0.2 * g / math.hypot(1.5, g))
    assert learner.weights[1]["nominal", 0, 4] == pytest.approx(-0.2)
    assert learner._inputs([99.0], [MISSING]) == {"bias": 1.0, ("numeric", 0): 5.0}
    assert learner._inputs([NAN], [MISSING]) == {"bias": 1.0}
    before = [dict(w) for w in learner.weights]
    learner.update([3.0], [4], 1, 0.0)
    assert learner.weights == before


def test_products_by_hand():
    """Two numeric columns one standard deviation from their means, codes 3 and 20 (which has the place of 4)."""
    moments = RunningMoments(2)
    for x in ([1.0, 4.0], [3.0, 8.0]):
        moments.update(x)
    learner = SoftmaxRegression(2, moments, products=6)
    found = learner._inputs([3.0, 4.0], [3, 20])
    a, b, c, d = ("numeric", 0), ("numeric", 1), ("nominal", 0, 3), ("nominal", 1, 4)
    assert {e[1:]: value for e, value in found.items() if e[0] == "product"} == {
        (a, a): 1.0,
        (a, b): -1.0,
        (b, b): 1.0,
        (a, c): 1.0,
        (b, c): -1.0,
        (a, d): 1.0,
    }
    assert [e for e in learner._inputs([NAN, 4.0], [3, MISSING]) if e[0] == "product"] == [
        ("product", b, b),
        ("product", b, c),
    ]


@few
@given(raw=st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6), y=st.integers(0, 2), w=st.floats(0.1, 4.0))
def test_linear_learner_descends_its_weighted_cross_entropy(raw, y, w):
    """g_c z_e is the derivative of -w log p_y in W[c][e]."""
    moments = RunningMoments(1)
    for x in (0.0, 1.0, 5.0):
        moments.update([x])
    learner = SoftmaxRegression(3, moments)
    for c in range(3):
        learner.weights[c] = {"bias": raw[c], ("numeric", 0): raw[3 + c]}
    h, found = 1e-6, []
    for c in range(3):
        for e in ("bias", ("numeric", 0)):
            at = learner.weights[c][e]
            ends = []
            for moved in (at + h, at - h):
                learner.weights[c][e] = moved
                ends.append(-w * math.log(learner.predict_proba([5.0], [])[y]))
            learner.weights[c][e] = at
            found.append((ends[0] - ends[1]) / (2.0 * h))
    learner.update([5.0], [], y, w)
    squares = [learner.squares[c][e] for c in range(3) for e in ("bias", ("numeric", 0))]
    assert squares == pytest.approx([d**2 for d in found], rel=1e-5, abs=1e-7)


# The options of AdaBoost.OLM by hand


class Says:
    """A learner that always says the same distribution, and remembers its training weights."""

    def __init__(self, p: Sequence[float]) -> None:
        self.p, self.weights = list(p), []

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        return self.p

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        self.weights.append(w)


def test_calibration_by_hand():
    """Decisions (.1, .3), y = 1: the slope is p_0 (.1 - .3), after one of 1 that was there at the start."""
    booster = reference.AdaBoostOLM(
        2, [Says([0.25, 0.75])], RunningMoments(0), loss="softmax", vote="probability", first_weight=0.4, calibrate=True
    )
    booster.round([], [], 1, 0.0, 0.5)
    slope = -0.5 * 0.2 / (1.0 + math.exp(0.2))
    assert booster.slopes == pytest.approx([slope])
    assert booster.u == pytest.approx(-0.2 * slope / math.hypot(1.0, slope))
    factor = math.exp(booster.u) * booster.alpha[0]
    assert booster.decision_function([], []) == pytest.approx([0.25 * factor, 0.75 * factor])


@pytest.mark.plain
@few
@given(state=states, log_factor=st.floats(-2.0, 2.0))
def test_the_factor_descends_the_log_loss(state, log_factor):
    """Its slope is the derivative of -log softmax(e^u s)(y) in u."""
    from edgewise.loop.calibration import LOG_FACTOR, SQUARES, apply_temperature, learn_temperature

    scores, label, _ = state

    def loss(u: float) -> float:
        return -math.log(max(olm.softmax([math.exp(u) * s for s in scores])[label], 1e-300))

    slope = (loss(log_factor + 1e-5) - loss(log_factor - 1e-5)) / 2e-5
    temperature, said = np.array([[log_factor], [0.0]]), np.array(scores)
    apply_temperature(temperature, said)
    np.testing.assert_allclose(said, np.exp(log_factor) * np.array(scores), rtol=1e-12)
    learn_temperature(temperature, said, label, 1.0, np.zeros(len(scores)))
    assert math.sqrt(temperature[SQUARES, 0]) == pytest.approx(abs(slope), rel=1e-4, abs=1e-6)
    if abs(slope) > 1e-6:
        assert temperature[LOG_FACTOR, 0] == pytest.approx(log_factor - math.copysign(0.2, slope))


def test_calibration_changes_no_guess():
    """Labels, experts and learners are the same; probabilities are those of scores times one factor."""
    from edgewise import AdaBoostOLM

    stream = random_stream(953, weighted=True)
    found = []
    for calibrate in (False, True):
        model = AdaBoostOLM(mixed_committee(953, stream), 6, random_state=0, **RECIPE | {"calibrate": calibrate})
        guesses = model.prequential(stream.table(), stream.y, sample_weight=stream.weights)
        found.append((guesses, model.predict(stream.table()), np.log(model.predict_proba(stream.table()))))
    for plain, calibrated in zip(found[0][:2], found[1][:2], strict=True):
        np.testing.assert_array_equal(plain, calibrated)
    apart = [logs[:, 1:] - logs[:, :1] for *_, logs in found]
    factor = math.exp(model._ensemble.committee.temperature[0, 0])
    assert factor != pytest.approx(1.0)
    np.testing.assert_allclose(apart[1], factor * apart[0], rtol=1e-7, atol=1e-9)


def test_probability_votes_by_hand():
    """k = 2, softmax loss, one learner of (1/4, 3/4): C(1) = (1/2, -1/2), edge 1/2, slope at .4 along h."""
    booster = reference.AdaBoostOLM(
        2, [Says([0.25, 0.75])], RunningMoments(0), loss="softmax", vote="probability", first_weight=0.4
    )
    assert booster.decision_function([], []) == pytest.approx([0.1, 0.3])
    first = booster.round([], [], 1, 0.0)
    assert (first.prediction, first.votes, first.importances, first.learner_weights) == (1, [1], [0.5], [0.4])
    wrong = 1.0 / (1.0 + math.exp(0.2))
    assert booster.alpha == pytest.approx([0.4 + 2.0 * math.sqrt(2.0) * wrong * 0.5])
    assert booster.edges() == pytest.approx([0.5])


def test_power_and_normalization_by_hand():
    """The scores of the first learner are always 0: its w is 1/2 throughout; the second sees what the first moved."""
    learners = [Scripted(2, [1, 1, 1]), Scripted(2, [1, 1, 1])]
    booster = reference.AdaBoostOLM(
        2,
        learners,
        RunningMoments(0),
        vote="argmax",
        importance_power=0.5,
        normalize_importance=True,
        scales=[3.0, 1.0],
    )
    assert booster.round([], [], 1, 0.0).importances == pytest.approx([1.0, 1.0])
    moved = 1.0 / (1.0 + math.exp(math.sqrt(2.0)))
    u = [math.sqrt(0.5), math.sqrt(moved)]
    second = booster.round([], [], 1, 0.0, sample_weight=0.25)
    assert second.importances == pytest.approx([1.0, u[1] / ((u[0] + u[1]) / 2.0)])
    assert learners[0].weights == pytest.approx([3.0, 0.75])
    assert booster.round([], [], 1, 0.0, sample_weight=0.0).importances == [0.0, 0.0]
    assert [len(normalizer.powers) for normalizer in booster.normalizers] == [2, 2]
    assert olm.Normalizer(1.0, True)(0.0) == 0.0


def test_weight_range_by_hand():
    booster = reference.AdaBoostOLM(
        2,
        [Scripted(2, [0, 1]), Scripted(2, [1, 1])],
        RunningMoments(0),
        vote="argmax",
        weight_range=(0.0, 0.5),
        first_weight=0.1,
    )
    booster.round([], [], 1, 0.0)
    # Learner 1 votes wrong: its slope is 1/(1 + e^-.1), the step .5/4 of the paper's. Learner 2 then sees scores
    # (.1, .1) after its right vote: slope -1/2.
    assert booster.alpha == pytest.approx([0.0, 0.1 + 0.125 * 2.0 * math.sqrt(2.0) * 0.5])


def test_best_expert_by_hand():
    booster = reference.AdaBoostOLM(
        3,
        [Scripted(3, [0, 0, 0]), Scripted(3, [2, 2, 2])],
        RunningMoments(0),
        vote="argmax",
        follow="best",
        first_weight=0.1,
    )
    booster.alpha = [0.1, 0.3]
    first = booster.round([], [], 2, 0.0)
    assert (first.expert_labels, first.prediction) == ([0, 2], 0)  # none has made a mistake: the first is followed
    assert booster.mistakes == [1.0, 0.0]
    booster.alpha = [0.1, 0.3]
    assert booster.round([], [], 0, 0.0).prediction == 2


# Everything switched off is the paper


def spelled_out(**changes: Any) -> Any:
    import edgewise as ew

    tree = ew.HoeffdingTree(
        grace_period=(5, 20),
        split_confidence=ew.LogUniform(0.01, 0.9),
        tie_threshold=ew.LogUniform(0.01, 0.9),
        leaf_prediction="majority",
        importance_scale=(5, 200),
        max_features=None,
        max_nodes=None,
        nominal_splits="multiway",
        warm_start=False,
    )
    return ew.AdaBoostOLM(tree, **PAPER | changes)


@pytest.mark.parametrize("name", ["balance", "car", "mixed"])
def test_paper_preset_is_the_foundation(name):
    """Bit for bit the spelled-out setting, and what was recorded before there was any option.

    Recorded numbers are compared to 1e-12, since the exponential function may round differently elsewhere; labels,
    sizes of trees and mistakes have no such excuse.
    """
    import edgewise as ew

    X, y = make_paper.streams()[name]
    size = {"n_estimators": make_paper.LEARNERS, "random_state": make_paper.SEED}
    preset, spelled = ew.AdaBoostOLM.preset("paper", **size), spelled_out(**size)
    for got, expected in zip(preset.trace(X, y), spelled.trace(X, y), strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(preset.decision_function(X), spelled.decision_function(X))

    got = make_paper.measured(ew.AdaBoostOLM.preset("paper", **size), X, y)
    recorded = json.loads(Path(make_paper.__file__).with_name("paper.json").read_text())[name]
    assert got.keys() == recorded.keys()
    for key in ("rows", "accuracy", "guesses", "nodes", "expert_mistakes"):
        assert got[key] == recorded[key]
    for key in ("learner_weights", "edges", "decisions"):
        np.testing.assert_allclose(got[key], recorded[key], rtol=1e-12, atol=1e-12)
