"""What leaves count of nominal features: complete examples once for all features, others feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.learners.forest.layout import LEAF, nodes_below, sum_slots, with_gaps
from edgewise.persist.declared import stored_arrays
from edgewise.persist.online import restored_ensemble
from tests.test_twin_recipe import PAPER, assert_same_run
from tests.test_twin_tree import Stream


def nominal_stream(seed: int, missing: float, n: int = 150, k: int = 3) -> Stream:
    """Three nominal features that tell of the label; the first rows lack all of them if any are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    sizes = [3, 2, 4]
    values = np.column_stack([(y * rng.integers(1, 4) + rng.integers(0, 2, n)) % size for size in sizes]).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    if missing:
        values[:6] = np.nan
    return Stream(values, [True] * 3, sizes, y, k, rng.uniform(0.3, 2.0, n))


def tree(**options: Any) -> Any:
    return ew.HoeffdingTree(grace_period=5, split_confidence=0.4, tie_threshold=0.3, **options)


def leaves_of(forest: Any) -> list[tuple[int, int]]:
    """Every leaf, with its tree."""
    return [
        (i, int(forest.child[node]))
        for i, root in enumerate(forest.root)
        for node in nodes_below(forest, int(root))
        if forest.kind[node] == LEAF
    ]


def check_sums(forest: Any) -> int:
    """Assert that sums are sums; how many statistics rows there are."""
    n_rows = 0
    for i, leaf in leaves_of(forest):
        rows, lasts = forest.row[leaf][forest.row[leaf] >= 0], sum_slots(forest, i)
        n_rows += rows.size
        for j, last in enumerate(lasts):
            codes = slice(forest.offset[i, j], last)
            shown = forest.complete[rows] + forest.counts[rows, last]
            np.testing.assert_allclose(forest.counts[rows, codes].sum(axis=1), shown, rtol=1e-9)
            np.testing.assert_allclose(
                forest.code_totals[leaf, codes], forest.counts[rows, codes].sum(axis=0), rtol=1e-9
            )
            np.testing.assert_allclose(forest.code_totals[leaf, last], forest.counts[rows, last].sum(), rtol=1e-9)
        np.testing.assert_allclose(forest.complete_sum[leaf], forest.complete[rows].sum(), rtol=1e-9)
        assert forest.has_missing[leaf] == (forest.code_totals[leaf, lasts] > 0.0).any()
        assert forest.majority[leaf] == forest.class_weight[leaf].argmax()
    return n_rows


@pytest.mark.plain
@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_trees_of_nominal_features_are_the_plain_ones(missing, warm_start, splits):
    for seed, leaf in ((1, "naive_bayes"), (2, "adaptive"), (3, "mixed")):
        learner = tree(leaf_prediction=leaf, warm_start=warm_start, nominal_splits=splits)
        assert_same_run(nominal_stream(seed, missing), [learner], 2, seed, **PAPER | {"vote": "argmax"})


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_sums_are_sums(missing, warm_start, splits):
    stream = nominal_stream(7, missing, 600)
    model = ew.AdaBoostOLM(tree(warm_start=warm_start, nominal_splits=splits, max_features=2), 5, random_state=1)
    model.partial_fit(stream.table(), stream.y, sample_weight=stream.weights)
    (forest,) = model._ensemble.forests
    assert (forest.n_nodes > 1).all()
    assert check_sums(forest) > 10
    has_missing = [bool(forest.has_missing[leaf]) for _, leaf in leaves_of(forest)]
    assert any(has_missing) if missing else not any(has_missing)
    assert forest.majority.any()


def in_sums(model: Any) -> dict[str, Any]:
    """What the first files of format 1 hold of a model: all weight in the sums of features."""
    stored = stored_arrays("Ensemble", model._ensemble)
    (forest,), held = model._ensemble.forests, stored["forest"]
    held |= {"counts": held["counts"].copy(), "margin": held["margin"].copy()}
    for i, leaf in leaves_of(forest):
        rows, slots = forest.row[leaf][forest.row[leaf] >= 0], sum_slots(forest, i)
        held["counts"][np.ix_(rows, slots)] += forest.complete[rows, None]
        held["margin"][leaf, slots] += forest.complete_sum[leaf]
    del held["complete"], held["complete_sum"]
    return stored


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_files_with_all_weight_in_sums(missing):
    stream = nominal_stream(11, missing, 300)
    make = lambda: ew.AdaBoostOLM(tree(), 4, random_state=1)  # noqa: E731
    model = make().partial_fit(stream.table(), stream.y)
    (template,) = make().partial_fit(stream.table()[:0], stream.y[:0], classes=np.arange(3))._ensembles
    restored = restored_ensemble("Ensemble", template, in_sums(model))
    (known,), (forest,) = model._ensemble.forests, restored.forests
    check_sums(forest)
    if not missing:
        np.testing.assert_array_equal(forest.complete, known.complete)
        np.testing.assert_array_equal(forest.counts, known.counts)
        np.testing.assert_array_equal(forest.code_totals, known.code_totals)
    before = model.predict_proba(stream.table())
    model._ensembles = [restored]
    np.testing.assert_allclose(model.predict_proba(stream.table()), before, rtol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_no_example_is_complete_before_a_new_column(missing):
    stream = nominal_stream(13, missing, 300)
    model = ew.AdaBoostOLM(tree(), 3, random_state=1).partial_fit(stream.table(), stream.y)
    before = model.predict_proba(stream.table())
    forest = with_gaps(model._ensemble.forests[0])
    check_sums(forest)
    assert not forest.complete.any()
    assert not forest.complete_sum.any()
    model._ensemble.forests[0] = forest
    np.testing.assert_allclose(model.predict_proba(stream.table()), before, rtol=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("y", [[1, 0], [0, 1], [2, 1, 1, 2, 0, 0], [0, 2, 1, 1, 2, 0]])
def test_of_classes_of_equal_weight_the_lowest_is_the_majority(y):
    model = ew.HoeffdingForest(ew.HoeffdingTree(grace_period=100), 1, random_state=1)
    for t, label in enumerate(y):
        model.partial_fit([[float(t)]], [label], classes=np.arange(3))
        check_sums(model._ensemble.forests[0])
    assert model._ensemble.forests[0].majority[0] == 0
