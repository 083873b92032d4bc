"""Estimates from right and wrong: unbiased by enumeration, and the kernels against the printed formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from edgewise.reference import bandits as reference
from edgewise.reference.adaboost_olm import cost_matrix
from edgewise.reference.online_mbbm import add_vote, zero_one_potential
from edgewise.theory.bandits import (
    FULL,
    SIMPLE,
    estimate,
    explored,
    propensity,
    random_costs,
    right_cost,
    surplus,
    tamed,
    taught_label,
)
from edgewise.theory.losses import LOSSES
from edgewise.theory.potentials import mixed_costs, zero_one_potentials

pytestmark = pytest.mark.plain
CASES = [(k, y, guess) for k in range(2, 7) for y in range(k) for guess in range(k)]


@pytest.mark.parametrize(("k", "y", "guess"), CASES)
def test_the_estimates_average_to_the_zero_one_loss_exactly(k, y, guess):
    """Lemma A.1 by enumeration in rational numbers, and the kernel beside the formula for every draw."""
    for rate in (Fraction(1, 1000), Fraction(1, 10), Fraction(9, 10)):
        p = reference.distribution(guess, rate, k)
        assert sum(p) == 1
        truth = [Fraction(i != y) for i in range(k)]
        full = [reference.loss_estimate(k, y, guess, shown, p) for shown in range(k)]
        simple = [reference.simple_loss_estimate(k, y, shown, p) for shown in range(k)]
        for kind, estimates in ((FULL, full), (SIMPLE, simple)):
            average = [sum(p[shown] * estimates[shown][i] for shown in range(k)) for i in range(k)]
            assert average == truth
            for shown in range(k):
                kept = np.zeros(k)
                estimate(kind, guess, shown, shown == y, float(rate), kept)
                np.testing.assert_allclose(kept, [float(1 - e) for e in estimates[shown]], rtol=1e-13)
                assert propensity(guess, float(rate), k, shown) == pytest.approx(float(p[shown]), rel=1e-15)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("kind", [FULL, SIMPLE])
def test_random_costs_average_to_the_true_ones(loss, kind):
    rng = np.random.default_rng(1)
    for _ in range(40):
        k = int(rng.integers(2, 7))
        y, guess, rate = int(rng.integers(k)), int(rng.integers(k)), float(rng.uniform(0.01, 0.9))
        scores = rng.normal(0, 2, k)
        truth = cost_matrix(loss, scores.tolist())[y]
        kept, out, room = np.zeros((3, k))
        mean, mean_right = np.zeros(k), 0.0
        for shown in range(k):
            estimate(kind, guess, shown, shown == y, rate, kept)
            random_costs(LOSSES[loss], scores, kept, out, room)
            share = propensity(guess, rate, k, shown)
            mean += share * out
            mean_right += share * right_cost(LOSSES[loss], scores, kept, room)
            matrix = np.array(cost_matrix(loss, scores.tolist()))
            np.testing.assert_allclose(out, reference.random_costs(matrix.T, 1.0 - kept), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(mean, truth, rtol=1e-9, atol=1e-9)
        assert mean_right == pytest.approx(truth[y], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_costs_from_potentials_average_to_the_true_ones(seed):
    rng = np.random.default_rng(seed)
    k, n, edge = int(rng.integers(2, 5)), 6, float(rng.uniform(0.05, 0.4))
    tables, phi = zero_one_potentials(k, n, edge, 8), zero_one_potential(k, edge)
    for _ in range(12):
        to_go = int(rng.integers(0, n))
        votes = tuple(int(v) for v in rng.multinomial(n - 1 - to_go, np.full(k, 1.0 / k)))
        kept, costs = rng.normal(0, 3, k), np.zeros(k)
        right = mixed_costs(tables, to_go, np.array(votes, float), kept, costs)
        matrix = [[phi(to_go, r, add_vote(votes, l)) for r in range(k)] for l in range(k)]
        np.testing.assert_allclose(costs, reference.random_costs(matrix, 1.0 - kept), atol=1e-11)
        assert right == pytest.approx(sum(kept[r] * matrix[r][r] for r in range(k)), abs=1e-11)
        y, guess, rate, mean = int(rng.integers(k)), int(rng.integers(k)), 0.2, np.zeros(k)
        for shown in range(k):
            estimate(FULL, guess, shown, shown == y, rate, kept)
            mixed_costs(tables, to_go, np.array(votes, float), kept, costs)
            mean += propensity(guess, rate, k, shown) * costs
        np.testing.assert_allclose(mean, [matrix[l][y] for l in range(k)], atol=1e-11)


def test_exploration_shows_every_label_as_often_as_its_propensity():
    k, rate, n = 5, 0.4, 4000
    for guess in range(k):
        shown = np.array([explored(guess, rate, k, (i + 0.5) / n) for i in range(n)])
        counts = np.bincount(shown, minlength=k) / n
        np.testing.assert_allclose(counts, reference.distribution(guess, rate, k), atol=1e-12)
    assert explored(1, 0.5, 3, math.nextafter(0.5, 0.0)) == 2
    assert explored(1, 0.5, 2, math.nextafter(0.5, 0.0)) == 0


def test_costs_are_clipped_and_rounded():
    out = np.zeros(4)
    tamed(np.array([-250.0, 0.126, -0.125, 99.999]), 100.0, 0.01, out)
    np.testing.assert_allclose(out, [-100.0, 0.13, -0.12, 100.0])
    assert out.tolist() == reference.clip_and_round([-250.0, 0.126, -0.125, 99.999], 100.0, 0.01)
    tamed(np.array([-250.0, 0.126, -0.125, 99.999]), math.inf, 0.0, out)
    assert out.tolist() == [-250.0, 0.126, -0.125, 99.999]


def test_the_lesson_of_a_cost_vector():
    costs = np.array([0.5, -0.5, 2.0, -0.5])
    assert taught_label(costs, 3, True, 0.0) == 3, "the right label, since it is among the cheapest"
    assert taught_label(costs, 0, True, 0.0) == 1, "the right label costs more than others"
    assert [taught_label(costs, 3, False, u) for u in (0.0, 0.49, 0.5, 0.999)] == [1, 1, 3, 3]
    assert surplus(costs, 1) == pytest.approx(1.0 + 2.5)
    nearly = np.array([0.5, -0.5, 2.0, -0.5 - 1e-13])
    assert taught_label(nearly, 1, True, 0.9) == 1, "rounding errors do not break a tie"
