"""Weak-learning conditions: the program and its dual against the definitions, the paper's examples and theorems."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.theory import conditions
from edgewise.theory.conditions import CONDITIONS, EDGE_OVER_RANDOM, M1, MH, MR, SAMME, Condition, HypothesisSpace
from tests import condition_programs as programs


def random_space(seed: int, skill: float = 0.5) -> HypothesisSpace:
    """A small space whose hypotheses are right on a share `skill` of the examples, and beyond that by chance."""
    rng = np.random.default_rng(seed)
    k, n, m = int(rng.integers(2, 5)), int(rng.integers(2, 6)), int(rng.integers(1, 7))
    labels = rng.integers(k, size=n)
    labels[:2] = rng.permutation(k)[:2]
    predictions = np.where(rng.random((m, n)) < skill, labels, rng.integers(k, size=(m, n)))
    return HypothesisSpace(predictions, labels, k)


def baseline_of(condition: Condition, space: HypothesisSpace, edge: float) -> np.ndarray:
    rows = [programs.condition_baseline(condition.name, space.n_classes, int(y), edge) for y in space.labels]
    return np.array(rows)


def excess(space: HypothesisSpace, costs: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """C . (1_h - B) for each h, spelled out."""
    return np.array([(costs * (programs.indicator(h, space.n_classes) - baseline)).sum() for h in space.predictions])


# ---- against the definitions


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("seed", range(30))
def test_largest_edge_is_where_cost_matrices_begin_to_win(condition: Condition, seed: int) -> None:
    space = random_space(seed)
    best = conditions.largest_edge(space, condition)
    for step in (-1e-4, 1e-4):
        baseline = baseline_of(condition, space, best.value + step)
        won = programs.violation(condition.name, space.predictions, space.labels, baseline)
        assert (won > 1e-6) == (step > 0)


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("seed", range(30))
def test_both_sides_of_the_duality_are_shown(condition: Condition, seed: int) -> None:
    """The mixture attains the edge and the cost matrix forbids more: together they prove the value."""
    space = random_space(seed)
    best = conditions.largest_edge(space, condition)
    assert best.mixture.min() >= 0.0
    assert best.mixture.sum() == pytest.approx(1.0, abs=1e-12)
    assert programs.in_cone(condition.name, best.costs, space.labels)
    for edge in (best.value, best.value + 0.01, best.value + 0.5):
        beaten = excess(space, best.costs, baseline_of(condition, space, edge))
        assert beaten.min() == pytest.approx(edge - best.value, abs=1e-8)
    # No cost matrix of the cone can set the mixture back: try many of them.
    rng = np.random.default_rng(seed)
    rays = condition.rays(space.n_classes)
    baseline = baseline_of(condition, space, best.value)
    difference = space.votes(best.mixture) - baseline
    for _ in range(20):
        by_rank = rng.exponential(size=(space.n_examples, len(rays))) @ rays
        costs = np.array([np.roll(row, y) for row, y in zip(by_rank, space.labels, strict=True)])
        assert programs.in_cone(condition.name, costs, space.labels)
        assert (costs * difference).sum() <= 1e-8


@given(seed=st.integers(0, 10**6), edge=st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_verdict_agrees_with_the_definition(seed: int, edge: float) -> None:
    space = random_space(seed, skill=0.7)
    for condition in CONDITIONS.values():
        verdict = conditions.check(space, condition, edge=edge)
        if abs(verdict.slack) < 1e-6:
            continue  # on the border, where the solvers' rounding decides
        assert verdict.holds == programs.holds(condition.name, space.predictions, space.labels, space.n_classes, edge)
        assert (verdict.costs is None) == verdict.holds
        assert (verdict.mixture is None) != verdict.holds
        if verdict.costs is not None:
            assert programs.in_cone(condition.name, verdict.costs, space.labels)
            assert excess(space, verdict.costs, baseline_of(condition, space, edge)).min() > 0.0


@pytest.mark.parametrize("seed", range(12))
def test_margin_and_wrong_votes_against_a_grid_of_mixtures(seed: int) -> None:
    space = random_space(seed, skill=0.6)
    space = HypothesisSpace(space.predictions[:3], space.labels, space.n_classes)
    k = space.n_classes
    grid = programs.grid_mixtures(len(space.predictions), 60)
    best = conditions.boostability(space).margin
    seen = max(programs.margin(space.predictions, space.labels, k, mixture) for mixture in grid)
    # A point of the simplex has a grid point with every weight within 1/60 of its own.
    assert seen - 1e-9 <= best <= seen + 2 * 3 / 60
    found = min(programs.largest_wrong_vote(space.predictions, space.labels, k, mixture) for mixture in grid)
    value = conditions.largest_edge(space).value
    assert 1 - k * found - 1e-9 <= value <= 1 - k * (found - 3 / 60)


@given(seed=st.integers(0, 10**6), skill=st.floats(0.0, 1.0))
@settings(max_examples=80, deadline=None)
def test_closed_forms_of_the_other_edges(seed: int, skill: float) -> None:
    space = random_space(seed, skill)
    k = space.n_classes
    mh = conditions.largest_edge(space, MH).value
    right = (1 + mh) / 2  # the largest smallest right-label vote
    assert conditions.largest_edge(space, M1).value == pytest.approx(mh, abs=1e-8)
    assert conditions.largest_edge(space, SAMME).value == pytest.approx((k * right - 1) / (k - 1), abs=1e-8)
    eor = conditions.largest_edge(space).value
    margin = conditions.boostability(space).margin
    assert max(mh, eor) <= margin + 1e-8  # both ask for more than condition (3) does
    if k == 2:
        assert eor == pytest.approx(margin, abs=1e-8)
        assert eor == pytest.approx(conditions.largest_edge(space, SAMME).value, abs=1e-8)


# ---- the paper's examples


SAMME_EXAMPLE = HypothesisSpace(np.array([[0, 0], [1, 1]]), np.array([0, 1]), 3)


def test_samme_is_too_weak() -> None:
    """Two examples, two constant hypotheses, three labels: nothing to boost, and SAMME is content up to gamma 1/4."""
    edge = conditions.largest_edge(SAMME_EXAMPLE, SAMME)
    assert edge.value == pytest.approx(0.25, abs=1e-12)
    assert conditions.check(SAMME_EXAMPLE, SAMME, edge=0.2).holds
    assert not conditions.check(SAMME_EXAMPLE, SAMME, edge=0.26).holds
    answer = conditions.boostability(SAMME_EXAMPLE)
    assert not answer.boostable
    assert answer.margin == pytest.approx(0.0, abs=1e-12)
    for condition in (EDGE_OVER_RANDOM, MH, M1, MR):
        assert not conditions.check(SAMME_EXAMPLE, condition, edge=0.01).holds


def test_samme_example_fails_on_the_cost_matrix_of_the_paper() -> None:
    printed = np.array([[-1.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    assert programs.in_cone("edge over random", printed, SAMME_EXAMPLE.labels)
    for edge in (0.01, 0.3, 0.9):
        assert (excess(SAMME_EXAMPLE, printed, baseline_of(EDGE_OVER_RANDOM, SAMME_EXAMPLE, edge)) > 0).all()


def subset_space(k: int, n: int, right: int, every_way: bool) -> HypothesisSpace:
    """For every subset of `right` examples, hypotheses right on just those; elsewhere wrong in every way, or in one."""
    labels = np.arange(n) % k
    rows = []
    for subset in combinations(range(n), right):
        others = [i for i in range(n) if i not in subset]
        ways = product(range(1, k), repeat=len(others)) if every_way else [[1] * len(others)]
        for way in ways:
            row = labels.copy()
            row[others] = (row[others] + np.array(way)) % k
            rows.append(row)
    return HypothesisSpace(np.array(rows), labels, k)


@pytest.mark.parametrize(("k", "n", "right"), [(3, 4, 2), (4, 4, 2), (4, 5, 2)])
def test_mh_is_too_strong(k: int, n: int, right: int) -> None:
    space = subset_space(k, n, right, every_way=True)
    share = right / n
    edge = (k * share - 1) / (k - 1)  # share = (1 - gamma)/k + gamma
    assert conditions.largest_edge(space).value == pytest.approx(edge, abs=1e-9)
    assert conditions.boostability(space).boostable
    assert conditions.largest_edge(space, MH).value == pytest.approx(2 * share - 1, abs=1e-9)
    for gamma in (0.01, edge):
        verdict = conditions.check(space, MH, edge=gamma)
        assert not verdict.holds
        # The paper's cost matrix, -1 on right labels: m (1/2 + gamma/2 - share) above the baseline, for every h.
        costs = -programs.indicator(space.labels, k)
        told = excess(space, costs, baseline_of(MH, space, gamma))
        np.testing.assert_allclose(told, n * (0.5 + gamma / 2 - share), atol=1e-12)


def test_mh_example_needs_errors_spread_over_the_wrong_labels() -> None:
    """The paper leaves open what its classifiers predict where they err; with one wrong label the example is lost."""
    space = subset_space(4, 4, 2, every_way=False)
    assert conditions.largest_edge(space).value < 0
    assert not conditions.boostability(space).boostable


THIRDS = HypothesisSpace(np.array([[0, 1, 0], [0, 2, 2], [1, 1, 2]]), np.array([0, 1, 2]), 3)


def test_mh_does_not_imply_the_uniform_condition() -> None:
    """Each hypothesis errs on one example of three: a third of the votes on one wrong label is all that U_0 allows."""
    assert conditions.largest_edge(THIRDS, MH).value == pytest.approx(1 / 3, abs=1e-12)
    assert conditions.largest_edge(THIRDS).value == pytest.approx(0.0, abs=1e-12)
    assert not conditions.check(THIRDS, edge=0.01).holds
    assert conditions.boostability(THIRDS).margin == pytest.approx(1 / 3, abs=1e-12)


# ---- Theorems 1 to 3


def random_baseline(space: HypothesisSpace, rng: np.random.Generator, edge: float) -> np.ndarray:
    """A member of B_gamma^eor: on each example a mixture of corners that all hold one common wrong label."""
    rows = []
    for y in space.labels:
        corners = programs.edge_over_random_corners(space.n_classes, int(y), edge)
        common = (int(y) + 1 + int(rng.integers(space.n_classes - 1))) % space.n_classes
        corners = [corner for corner in corners if corner[common] > 0]
        rows.append(rng.dirichlet(np.ones(len(corners))) @ np.array(corners))
    return np.array(rows)


def test_theorem_1_any_edge_over_random_condition_suffices() -> None:
    rng = np.random.default_rng(5)
    met = 0
    for seed in range(150):
        space = random_space(seed, skill=0.75)
        edge = float(rng.uniform(0.02, 0.4))
        baseline = random_baseline(space, rng, edge)
        verdict = conditions.check_baseline(space, baseline)
        assert verdict.edge == pytest.approx(edge, abs=1e-9)
        won = programs.violation("edge over random", space.predictions, space.labels, baseline)
        if abs(verdict.slack) > 1e-6:
            assert verdict.holds == (won <= 1e-8)
        if verdict.holds:
            met += 1
            assert conditions.boostability(space).margin >= edge - 1e-9
        else:
            assert verdict.costs is not None
            assert programs.in_cone("edge over random", verdict.costs, space.labels)
            assert excess(space, verdict.costs, baseline).min() > 0
    assert 15 < met < 135  # both outcomes were seen


def test_theorem_2_a_boostable_space_meets_one_of_them() -> None:
    boostable = 0
    for seed in range(120):
        space = random_space(seed, skill=0.7)
        answer = conditions.boostability(space)
        assert answer.boostable == (answer.baseline is not None) == (answer.costs is None)
        if answer.baseline is None:
            continue
        boostable += 1
        assert answer.baseline.min() >= -1e-12
        np.testing.assert_allclose(answer.baseline.sum(axis=1), 1.0, atol=1e-12)
        for row, y in zip(answer.baseline, space.labels, strict=True):
            assert row[y] - np.delete(row, y).max() == pytest.approx(answer.margin, abs=1e-9)
        assert programs.violation("edge over random", space.predictions, space.labels, answer.baseline) <= 1e-8
        assert conditions.check_baseline(space, answer.baseline).holds
    assert 20 < boostable < 110


def test_some_boostable_space_fails_the_uniform_condition() -> None:
    """Each single edge-over-random condition is too strong, as the paper says; here for every U_gamma."""
    found = [
        space
        for space in map(random_space, range(200))
        if conditions.boostability(space).boostable and conditions.largest_edge(space).value < -1e-6
    ]
    assert found
    for space in found[:5]:
        assert conditions.check_baseline(space, conditions.boostability(space).baseline).holds


@pytest.mark.parametrize("seed", range(40))
def test_theorem_3_mr_is_condition_3_is_boostability(seed: int) -> None:
    """MR's condition at gamma/2 is condition (3) at gamma: the paper's matrix has gamma where gamma/2 is meant."""
    space = random_space(seed, skill=0.7)
    margin = conditions.boostability(space).margin
    for edge in (0.05, 0.3, margin - 1e-3, margin + 1e-3):
        if not 0 < edge < 1 or abs(edge - margin) < 1e-6:
            continue
        held = programs.worst_baseline_violation(space.predictions, space.labels, space.n_classes, edge) <= 1e-8
        assert held == (margin >= edge)
        assert held == conditions.check(space, MR, edge=edge / 2).holds


def test_theorem_3_as_printed_asks_for_twice_the_margin() -> None:
    space = THIRDS
    assert conditions.boostability(space).margin == pytest.approx(1 / 3)
    assert programs.worst_baseline_violation(space.predictions, space.labels, 3, 0.3) <= 1e-8
    assert programs.holds("AdaBoost.MR", space.predictions, space.labels, 3, 0.15)
    assert not programs.holds("AdaBoost.MR", space.predictions, space.labels, 3, 0.3)


@given(seed=st.integers(0, 10**6), skill=st.floats(0.0, 0.8))
@settings(max_examples=60, deadline=None)
def test_what_is_not_boostable_comes_with_a_proof(seed: int, skill: float) -> None:
    space = random_space(seed, skill)
    answer = conditions.boostability(space)
    reached = programs.margin(space.predictions, space.labels, space.n_classes, answer.mixture)
    assert reached == pytest.approx(answer.margin, abs=1e-9)
    if answer.boostable:
        guesses = space.votes(answer.mixture).argmax(axis=1)
        assert guesses.tolist() == space.labels.tolist()
    else:
        assert answer.costs is not None
        assert programs.in_cone("AdaBoost.MR", answer.costs, space.labels)
        assert np.abs(answer.costs).max() > 1e-3
        assert space.costs_of_hypotheses(answer.costs).min() >= -1e-9


# ---- what is said, and what is refused


def test_answers_can_be_read() -> None:
    assert str(conditions.boostability(SAMME_EXAMPLE)).startswith("not boostable: the best margin is ")
    assert str(conditions.largest_edge(SAMME_EXAMPLE, SAMME)) == "SAMME: holds up to gamma = 0.25"
    assert str(conditions.largest_edge(SAMME_EXAMPLE, MH)) == "AdaBoost.MH: holds for no gamma > 0"
    assert str(conditions.check(SAMME_EXAMPLE, SAMME, edge=0.15)) == "SAMME at gamma = 0.15: holds, with 0.1 to spare"
    assert str(conditions.check(SAMME_EXAMPLE, SAMME, edge=0.5)) == "SAMME at gamma = 0.5: fails by 0.25"
    perfect = HypothesisSpace(np.array([[0, 1]]), np.array([0, 1]), 2)
    assert str(conditions.boostability(perfect)) == "boostable with margin 1, by a mixture of 1 hypotheses"
    assert conditions.report(perfect).count("\n") == len(CONDITIONS)


@pytest.mark.parametrize(
    ("predictions", "labels", "k", "told"),
    [
        ([[0, 3]], [0, 1], 3, r"^predictions\[0, 1\]=3: labels in 0 \.\. 2 are allowed"),
        ([[0, -1]], [0, 1], 3, r"^predictions\[0, 1\]=-1: labels in 0"),
        ([[0, 1]], [0, 5], 3, r"^labels\[1\]=5: labels in 0 \.\. 2"),
        ([[0.0, 1.0]], [0, 1], 3, r"^predictions of type float64: integers in 0"),
        ([0, 1], [0, 1], 3, r"^predictions of shape \(2,\): a filled array of 2"),
        ([[0, 1, 1]], [0, 1], 3, r"^predictions for 3 examples and 2 labels"),
        ([[1, 1]], [1, 1], 3, r"^labels are all 1: at least 2 classes"),
        ([[0, 0]], [0, 0], 1, r"^n_classes=1: an integer of at least 2"),
        (np.empty((0, 2), int), [0, 1], 3, r"^predictions of shape \(0, 2\)"),
        ([[]], [], 3, r"^labels of shape \(0,\)"),
    ],
)
def test_bad_spaces(predictions: list[list[int]], labels: list[int], k: int, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        HypothesisSpace(np.array(predictions), np.array(labels), k)


@pytest.mark.parametrize("edge", [0.0, 1.0, -0.5, 2.0, float("nan")])
def test_bad_edges(edge: float) -> None:
    with pytest.raises(ValueError, match=r"^edge=.*: a number in \(0, 1\) is allowed"):
        conditions.check(SAMME_EXAMPLE, edge=edge)


@pytest.mark.parametrize(
    ("baseline", "told"),
    [
        (np.full((2, 2), 0.5), r"^baseline of shape \(2, 2\): \(2, 3\) is needed"),
        (np.full((2, 3), 0.5), "^baseline: every row must be a distribution"),
        (np.array([[1.5, -0.5, 0], [0, 1, 0]]), "^baseline: every row must be a distribution"),
        (np.array([[np.nan, 0.5, 0.5], [0, 1, 0]]), "^baseline: every row must be a distribution"),
        (np.full((2, 3), 1 / 3), "^baseline: the right labels lead by 0 to 0"),
        (np.array([[0.6, 0.4, 0.0], [0, 1, 0]]), "^baseline: the right labels lead by 0.2 to 1"),
    ],
)
def test_bad_baselines(baseline: np.ndarray, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        conditions.check_baseline(SAMME_EXAMPLE, baseline)
