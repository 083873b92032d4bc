"""`edgewise.theory.elementary` beside exact arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from edgewise.kernels.compile import entry_point
from edgewise.reference import adaboost_olm as reference
from edgewise.theory.elementary import HIGHEST, LOWEST, MANY, exp
from edgewise.theory.losses import LOGISTIC, cost_row


@entry_point
def exp_of_all(x, out):
    for i in range(x.size):
        out[i] = exp(x[i])


def exps(x):
    out = np.zeros(x.size)
    exp_of_all(x, out)
    return out


@pytest.mark.plain
def test_exp_is_right_to_less_than_one_unit_in_the_last_place(monkeypatch):
    monkeypatch.setattr(mp, "prec", 120)
    rng = np.random.default_rng(0)
    spread = [rng.uniform(LOWEST, HIGHEST, 500), rng.normal(size=500), 1e-8 * rng.normal(size=100)]
    edges = np.array([0.0, LOWEST, HIGHEST, 0.5 * math.log(2.0), -0.5 * math.log(2.0), 1e-320])
    x = np.concatenate([*spread, edges])
    for value, found in zip(x, exps(x), strict=True):
        exact = mp.exp(mpf(float(value)))
        assert abs(mpf(float(found)) - exact) < mpf(float(np.spacing(float(exact))))


@pytest.mark.plain
def test_exp_beyond_its_range_stays_what_it_is_at_the_end():
    assert exps(np.array([0.0, -0.0])).tolist() == [1.0, 1.0]
    found = exps(np.array([-np.inf, -1e5, LOWEST, HIGHEST, 1e5, np.inf]))
    assert found[0] == found[1] == found[2] > 0.0
    assert found[3] == found[4] == found[5] < np.inf
    assert math.isnan(exps(np.array([math.nan]))[0])


@pytest.mark.plain
def test_a_value_does_not_depend_on_its_place_in_a_loop():
    x = np.random.default_rng(1).normal(scale=20.0, size=67)
    whole = exps(x)
    for first, last in ((0, 1), (3, 10), (5, 22), (31, 67)):
        assert np.array_equal(exps(x[first:last].copy()), whole[first:last])


@pytest.mark.plain
@pytest.mark.parametrize("k", [MANY - 1, MANY, MANY + 1, 26])
def test_cost_rows_of_few_and_many_labels(k):
    rng = np.random.default_rng(k)
    for scale in (1.0, 30.0, 100.0):
        scores, label = rng.normal(scale=scale, size=k), int(rng.integers(k))
        found = np.zeros(k)
        cost_row(LOGISTIC, scores, label, found)
        exact = reference.cost_matrix("logistic", scores.tolist())[label]
        assert np.allclose(found, exact, rtol=1e-13, atol=1e-300)
