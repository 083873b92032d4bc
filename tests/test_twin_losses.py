"""The losses' kernels against formulas typed in from the paper, finite differences and the paper's own claims."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.reference import adaboost_olm as reference
from edgewise.theory import losses as kernels
from edgewise.theory.experts import smallest, voted

CODES = {"logistic": kernels.LOGISTIC, "exponential": kernels.EXPONENTIAL, "square_hinge": kernels.SQUARE_HINGE}
pytestmark = pytest.mark.plain
every_loss = pytest.mark.parametrize("loss", reference.LOSSES)

score = st.floats(-8.0, 8.0)
states = st.integers(2, 6).flatmap(
    lambda k: st.tuples(st.lists(score, min_size=k, max_size=k), st.integers(0, k - 1), st.integers(0, k - 1))
)
few = settings(max_examples=60, deadline=None)


def array(scores: list[float]) -> np.ndarray:
    return np.array(scores, dtype=np.float64)


def test_names_are_distinct():
    assert len(set(CODES.values())) == 3


@every_loss
@few
@given(state=states)
def test_values(loss, state):
    scores, label, _ = state
    got = kernels.loss_value(CODES[loss], array(scores), label)
    assert got == pytest.approx(reference.surrogate_loss(loss, scores, label), rel=1e-12, abs=1e-14)


@every_loss
@few
@given(state=states)
def test_cost_rows(loss, state):
    scores, label, _ = state
    expected = reference.cost_matrix(loss, scores)[label]
    row = np.full(len(scores), np.nan)
    kernels.cost_row(CODES[loss], array(scores), label, row)
    assert row == pytest.approx(expected, rel=1e-12, abs=1e-14)


@every_loss
@few
@given(state=states)
def test_cost_rows_keep_the_constraints_of_section_4_2(loss, state):
    scores, label, _ = state
    row = np.full(len(scores), np.nan)
    kernels.cost_row(CODES[loss], array(scores), label, row)
    size = np.abs(row).max()
    assert abs(row.sum()) <= 1e-12 * size
    assert row[label] == row.min()
    assert np.all(np.abs(row) <= -row[label])
    assert np.all(np.delete(row, label) >= 0.0)


@every_loss
@few
@given(state=states, raw=st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6))
def test_expected_costs(loss, state, raw):
    scores, _, _ = state
    k = len(scores)
    p = [x / sum(raw[:k]) for x in raw[:k]]
    matrix = reference.cost_matrix(loss, scores)
    expected = [sum(p[r] * matrix[r][l] for r in range(k)) for l in range(k)]
    out = np.full(k, np.nan)
    kernels.expected_costs(CODES[loss], array(scores), array(p), out, np.full(k, np.nan))
    size = max(abs(entry) for row in matrix for entry in row)
    assert out == pytest.approx(expected, rel=1e-12, abs=1e-13 * size)


@every_loss
@few
@given(state=states, alpha=st.floats(-2.0, 2.0))
def test_derivative_in_the_learner_weight_is_an_entry_of_the_moved_cost_row(loss, state, alpha):
    scores, label, vote = state
    moved = array(scores)
    moved[vote] += alpha
    row = np.zeros(len(scores))
    kernels.cost_row(CODES[loss], moved, label, row)
    got = row[vote]
    # Square hinge can cancel to a small number: s + alpha rounds before the difference is taken.
    assert got == pytest.approx(reference.derivative(loss, scores, label, vote, alpha), rel=1e-12, abs=1e-13)


@every_loss
@few
@given(state=states, alpha=st.floats(-2.0, 2.0))
def test_derivative_agrees_with_differences_of_the_loss(loss, state, alpha):
    scores, label, vote = state
    h = 1e-5

    def f(a: float) -> float:
        moved = array(scores)
        moved[vote] += a
        return kernels.loss_value(CODES[loss], moved, label)

    slope = (f(alpha + h) - f(alpha - h)) / (2.0 * h)
    expected = reference.derivative(loss, scores, label, vote, alpha)
    # Truncation is h^2 f'''/6 or, at the kink of the hinge, (k - 1) h / 4; rounding is eps f / h.
    tolerance = 1e-9 * max(1.0, abs(expected)) + 1e-10 * f(alpha)
    if loss == "square_hinge":
        tolerance += 5 * h / 4
    assert slope == pytest.approx(expected, abs=tolerance)


@every_loss
@few
@given(k=st.integers(2, 26), n=st.integers(1, 20), i=st.integers(0, 19), t=st.integers(1, 10**6))
def test_step_sizes_and_feasible_sets(loss, k, n, i, t):
    i = i % n
    got = kernels.step_size(CODES[loss], k, n, i, t)
    assert got == pytest.approx(reference.step_size(loss, k, n, i + 1, t), rel=1e-13)
    assert kernels.feasible(CODES[loss], n) == pytest.approx(reference.feasible_bound(loss, n), rel=1e-15)


def test_by_hand():
    zeros = np.zeros(3)
    row = np.zeros(3)
    kernels.cost_row(kernels.LOGISTIC, zeros, 1, row)
    assert row.tolist() == [0.5, -1.0, 0.5]
    kernels.cost_row(kernels.EXPONENTIAL, zeros, 2, row)
    assert row.tolist() == [1.0, 1.0, -2.0]
    kernels.cost_row(kernels.SQUARE_HINGE, np.array([0.5, 0.0, -2.0]), 1, row)
    assert row.tolist() == [1.5, -1.5, 0.0]
    assert kernels.loss_value(kernels.LOGISTIC, zeros, 0) == pytest.approx(2 * math.log(2))
    assert kernels.loss_value(kernels.EXPONENTIAL, zeros, 0) == 2.0
    assert kernels.loss_value(kernels.SQUARE_HINGE, np.array([0.5, 0.0, -2.0]), 1) == 1.125
    assert kernels.step_size(kernels.LOGISTIC, 3, 7, 4, 4) == pytest.approx(math.sqrt(2) / 2)
    assert kernels.step_size(kernels.EXPONENTIAL, 2, 7, 0, 1) == pytest.approx(2 * math.sqrt(2) / math.e)
    assert kernels.step_size(kernels.SQUARE_HINGE, 3, 4, 0, 1) == pytest.approx(math.sqrt(2) * 0.5 / 4)
    assert kernels.feasible(kernels.SQUARE_HINGE, 16) == 0.25
    assert kernels.feasible(kernels.LOGISTIC, 16) == kernels.feasible(kernels.EXPONENTIAL, 16) == 2.0


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="Python's exp raises where compiled code gives inf")
def test_logistic_survives_scores_far_apart():
    """alpha up to 2 and hundreds of learners: exp of the gap overflows where the loss itself is harmless."""
    scores = np.array([0.0, 1000.0])
    assert kernels.loss_value(kernels.LOGISTIC, scores, 0) == pytest.approx(1000.0)
    assert kernels.loss_value(kernels.LOGISTIC, scores, 1) == 0.0
    row = np.zeros(2)
    kernels.cost_row(kernels.LOGISTIC, scores, 0, row)
    assert row.tolist() == [-1.0, 1.0]
    kernels.cost_row(kernels.LOGISTIC, scores, 1, row)
    assert row.tolist() == [0.0, 0.0]


votes = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.floats(-2.0, 2.0)), max_size=120)


def costs_after(k: int, label: int, cast: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    """The cost row that is carried from vote to vote, from scores of 0 on, and the scores at its end."""
    scores, odds, row = np.zeros(k), np.ones(k), np.full(k, 0.5)
    for vote, alpha in cast:
        scores[vote] += alpha
        factor = math.exp(alpha if vote == label else -alpha)
        assert kernels.costs_after_vote(scores, label, vote, factor, odds, row) == row[vote]
    return scores, row


@few
@given(k=st.integers(2, 6), label=st.integers(0, 5), cast=votes)
def test_cost_rows_carried_from_vote_to_vote(k, label, cast):
    label %= k
    cast = [(label if right else vote % k, alpha) for right, vote, alpha in cast]
    scores, row = costs_after(k, label, cast)
    if cast:
        assert row == pytest.approx(reference.cost_matrix("logistic", scores.tolist())[label], rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cost_rows_far_beyond_what_odds_can_hold_and_back(sign, k):
    """Odds of exp(2000) are not a number; once the scores are back where they were, so is the cost row."""
    away, back = [(1, 2.0 * sign)] * 1000, [(1, -2.0 * sign)] * 999
    _, far = costs_after(k, 1, away)
    expected = [0.0] * k if sign > 0.0 else [1.0, 1.0 - k, 1.0][:k]
    assert far == pytest.approx(expected, rel=1e-15, abs=1e-300)
    scores, near = costs_after(k, 1, away + back)
    assert near == pytest.approx(reference.cost_matrix("logistic", scores.tolist())[1], rel=1e-11)
    other = k - 1 if k > 2 else 0
    _, wrong = costs_after(k, 1, [(other, 2.0 * sign)] * 1000 + [(other, -2.0 * sign)] * 999)
    expected_scores = [2.0 * sign if l == other else 0.0 for l in range(k)]
    assert wrong == pytest.approx(reference.cost_matrix("logistic", expected_scores)[1], rel=1e-11)


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
