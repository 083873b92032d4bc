"""Trees that go through a chunk side by side (`boosting.lines`) do what they do one after the other, bit for bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import edgewise as ew
from edgewise.data.table import Feature
from edgewise.learners.forest.abreast import ABREAST
from edgewise.learners.forest.layout import LEAF
from edgewise.learners.forest.structure import structure
from edgewise.loop import lines
from edgewise.loop import online_loop as schema
from edgewise.loop.lines import LEAST_ROWS
from edgewise.theory import losses
from edgewise.theory.experts import smallest, voted

UNCOMPILED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


class Rows(NamedTuple):
    table: Any
    y: np.ndarray
    k: int
    weights: np.ndarray


def rows(seed: int, n: int = 200, k: int = 3, sizes: tuple[int, ...] = (3, 2, 4), rare: float = 0.0) -> Rows:
    """Nominal features that tell of the label; a share of the codes is drawn anew from many that are seldom seen."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    values = np.column_stack([(y * (j + 1) + rng.integers(0, 2, n)) % size for j, size in enumerate(sizes)])
    seldom = rng.random(values.shape) < rare
    values = np.where(seldom, np.asarray(sizes) + rng.integers(0, 30, values.shape), values)
    features = [Feature(f"a{j}", tuple(f"v{v}" for v in range(size + 30))) for j, size in enumerate(sizes)]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n, p=[0.02, 0.2, 0.68, 0.1])
    return Rows(ew.Table(values.astype(float), features), y, k, weights)


def trees(**options: Any) -> Any:
    return ew.HoeffdingTree(**{"grace_period": 20, "split_confidence": 1e-7, "tie_threshold": 0.01} | options)


def olm(**options: Any) -> Any:
    return ew.AdaBoostOLM.preset("paper", **{"vote": "argmax", "random_state": 1} | options)


def mbbm(**options: Any) -> Any:
    return ew.OnlineMBBM(**{"random_state": 1} | options)


def numbers(model: Any) -> dict[str, Any]:
    """All that a model has learned; statistics rows by leaf and class, wherever they are kept."""
    (forest,) = model._ensemble.forests
    found = dict(zip(model._ensemble.committee._fields, model._ensemble.committee, strict=True))
    for i, root in enumerate(forest.root):
        found[f"structure {i}"] = structure(forest, i)
        leaf = forest.child[root]
        if forest.kind[root] == LEAF:
            for name in ("class_weight", "majority", "tally", "margin", "complete_sum", "examples", "n_rows", "gapped"):
                found[f"{name} {i}"] = getattr(forest, name)[leaf]
            for r, row in enumerate(forest.row[leaf]):
                held = (forest.counts[row].tolist(), forest.complete[row]) if row >= 0 else None
                found[f"statistics {i} {r}"] = held
    return found


def assert_same(make: Any, stream: Rows, chunk_size: int = 1024, weights: np.ndarray | None = None) -> Any:
    """Learn in chunks that are too short for lines, and in longer ones; the second model."""
    models = [make(chunk_size=size) for size in (LEAST_ROWS - 1, chunk_size)]
    guesses = [
        model.prequential(stream.table, stream.y, classes=np.arange(stream.k), sample_weight=weights)
        for model in models
    ]
    np.testing.assert_array_equal(*guesses)
    expected, found = map(numbers, models)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        assert np.array_equal(found[name], value) if isinstance(value, np.ndarray) else found[name] == value, name
    np.testing.assert_array_equal(models[0].predict(stream.table), models[1].predict(stream.table))
    return models[1]


@pytest.mark.plain
@pytest.mark.parametrize("make", [olm, mbbm])
@pytest.mark.parametrize("leaf", ["majority", "naive_bayes", "adaptive", "mixed"])
@pytest.mark.parametrize("size", [2, ABREAST - 1, 2 * ABREAST + 3])
def test_lines_are_the_trees_one_by_one(make, leaf, size):
    learner = trees(leaf_prediction=leaf)
    assert_same(lambda **o: make(estimator=learner, n_estimators=size, **o), rows(size))


@pytest.mark.parametrize("make", [olm, mbbm])
@pytest.mark.parametrize("k", [2, 4, 5, 9])
@pytest.mark.parametrize("features", [1, 2, 5])
def test_lines_of_some_classes_and_features(make, k, features):
    stream = rows(k * features, 400, k, (3, 2, 4, 5, 2)[:features], rare=0.1)
    for chunk_size in (LEAST_ROWS, 77, 1024):
        assert_same(lambda **o: make(estimator=trees(), n_estimators=11, **o), stream, chunk_size)


@pytest.mark.parametrize("make", [olm, mbbm])
@pytest.mark.parametrize("rare", [0.0, 0.05, 0.6])
def test_lines_where_products_are_too_small_for_a_number(make, rare):
    """Of 90 features, many with a code that a class hardly showed, products are as small as 1e-200."""
    stream = rows(3, 160, 3, (4,) * 90, rare)
    assert_same(lambda **o: make(estimator=trees(grace_period=1e6), n_estimators=9, **o), stream)


@pytest.mark.plain
@pytest.mark.parametrize("make", [olm, mbbm])
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("warm_start", [False, True])
def test_trees_leave_the_line_when_they_split(make, splits, warm_start):
    learner = trees(split_confidence=0.5, tie_threshold=0.5, nominal_splits=splits, warm_start=warm_start)
    model = assert_same(lambda **o: make(estimator=learner, n_estimators=12, **o), rows(1, 240), 90)
    assert (model.n_nodes_ > 1).any()


@pytest.mark.parametrize("make", [olm, mbbm])
def test_lines_of_weighted_rows_and_of_rows_that_do_not_count(make):
    stream = rows(4, 600)
    assert_same(lambda **o: make(estimator=trees(), n_estimators=10, **o), stream, weights=stream.weights)
    heavy = np.where(stream.weights > 0.0, stream.weights, 1.0)
    assert_same(lambda **o: make(estimator=trees(), n_estimators=10, **o), stream, weights=heavy)


@pytest.mark.plain
def test_lines_whose_odds_get_out_of_hand(monkeypatch):
    """So many sure learners that there are; or, where a constant can be changed, odds that are soon too large."""
    n = ABREAST + 3
    if UNCOMPILED:
        for module in (lines, losses):
            monkeypatch.setattr(module, "MOST_ODDS", 4.0)
    else:
        n = 400
    found: list[Any] = []
    alone = lines.one_by_one
    monkeypatch.setattr(lines, "one_by_one", lambda *known: found.append(known) or alone(*known))
    stream = rows(10, 120, k=2)
    sure = stream._replace(y=np.zeros(120, int))
    model = assert_same(lambda **o: olm(estimator=trees(), n_estimators=n, **o), sure)
    if UNCOMPILED:
        assert found
    else:
        assert np.exp(model.learner_weights_.sum()) > losses.MOST_ODDS


@pytest.mark.parametrize("options", [{"max_features": 2}, {"grace_period": (5, 40)}, {"importance_scale": (0.5, 2.0)}])
def test_lines_of_trees_that_differ(options):
    assert_same(lambda **o: olm(estimator=trees(**options), n_estimators=20, **o), rows(5, 300))


def test_lines_among_other_learners():
    kinds = [trees()] * 5 + [ew.LabelMemory()] + [trees(leaf_prediction="majority")] * 4 + [trees()] * 9
    assert_same(lambda **o: olm(estimator=kinds, n_estimators=len(kinds), **o), rows(6, 300))


def test_lines_under_a_budget():
    stream = rows(7, 500, rare=0.2)
    assert_same(lambda **o: olm(estimator=trees(), n_estimators=12, max_bytes=600_000, **o), stream)


def test_lines_on_threads():
    stream = rows(8, 3000)
    options = {"estimator": trees(), "n_estimators": 40}
    alone, two = (olm(n_jobs=jobs, chunk_size=200, **options).partial_fit(stream.table, stream.y) for jobs in (1, 2))
    np.testing.assert_array_equal(alone.predict_proba(stream.table), two.predict_proba(stream.table))
    np.testing.assert_array_equal(alone.learner_weights_, two.learner_weights_)


@pytest.mark.plain
@pytest.mark.parametrize("make", [olm, mbbm])
def test_single_leaves_go_in_lines(make, monkeypatch):
    """So that the tests above see lines at all; a compiled loop cannot be watched."""
    found: list[int] = []
    lined_up = schema.line_up
    monkeypatch.setattr(schema, "line_up", lambda *known: found.append(lined_up(*known)) or found[-1])
    stream = rows(9, 100)
    make(estimator=trees(), n_estimators=ABREAST + 5).partial_fit(stream.table, stream.y)
    assert not UNCOMPILED or sorted(set(found)) == [0, 5, ABREAST]  # 0: the forest is enlarged first


@pytest.mark.plain
@pytest.mark.parametrize("n", range(1, 14))
def test_least_and_heaviest_of_experts(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        losses = rng.integers(0, 9, n).astype(float)
        assert smallest(losses) == losses.min()
        weights, labels, shares = rng.random(n), rng.integers(0, 3, n).astype(np.int32), np.ones(3)
        expected = np.zeros(3)
        for label, weight in zip(labels, weights, strict=True):
            expected[label] += weight
        assert voted(weights, labels, shares) == expected.argmax()
        np.testing.assert_array_equal(shares, expected)
