"""Kernels of the rank and the logistic loss against the formulas of the paper and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from edgewise.reference import ranking_losses as reference
from edgewise.theory.ranking import logistic_costs, rank_loss

pytestmark = pytest.mark.plain


def random_cases(n=30, ties=False):
    rng = np.random.default_rng(5)
    for _ in range(n):
        k = int(rng.integers(2, 9))
        s = rng.integers(0, 3, k).astype(float) if ties else rng.normal(0.0, 3.0, k)
        yield s, int(rng.integers(1, k))


def gradient(s: np.ndarray, size: int) -> np.ndarray:
    costs = np.zeros(s.size)
    logistic_costs(s, size, np.zeros(s.size), costs)
    return costs


@pytest.mark.parametrize("ties", [False, True])
def test_rank_loss(ties):
    for s, size in random_cases(ties=ties):
        assert rank_loss(s, size) == pytest.approx(reference.rank_loss(s.tolist(), set(range(size))), abs=1e-15)
    assert rank_loss(np.zeros(7), 3) == 0.5


def test_logistic_costs_are_the_gradient():
    for s, size in random_cases():
        costs = gradient(s, size)
        Y = set(range(size))
        np.testing.assert_allclose(costs, reference.logistic_costs(s.tolist(), Y), rtol=1e-12, atol=1e-15)
        for l in range(s.size):
            step = np.eye(s.size)[l] * 1e-5
            rise = reference.logistic_loss((s + step).tolist(), Y) - reference.logistic_loss((s - step).tolist(), Y)
            assert costs[l] == pytest.approx(rise / 2e-5, abs=1e-9)


def test_logistic_costs_keep_their_sign_and_sum_to_0():
    for s, size in random_cases():
        costs = gradient(s, size)
        assert (costs[:size] < 0.0).all()
        assert (costs[size:] > 0.0).all()
        assert abs(costs.sum()) < 1e-15
        assert -costs[:size].sum() <= 1.0  # w^i[t] of (9)


def test_scores_far_apart():
    """Differences of up to 680 are exact, larger ones do no harm."""
    s = np.array([300.0, -300.0, 300.0, 299.0])
    np.testing.assert_allclose(gradient(s, 1), reference.logistic_costs(s.tolist(), {0}), rtol=1e-12)
    far = gradient(np.array([1e6, -1e6, 0.0, 1e6]), 2)
    assert np.isfinite(far).all()
    assert far[1] == pytest.approx(-0.5)
