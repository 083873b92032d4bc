"""Pair potentials against recursion (1) of Jung and Tewari 2018, and what the paper asks of costs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.reference import ranking as reference
from edgewise.theory.ranking import PAIR_LOSSES, pair_potentials, potential_costs, with_sizes

GAMMAS = (0.01, 0.2, 0.45, 0.9)


def costs_of(loss: str, n: int, to_go: int, s: np.ndarray, size: int, edge: float) -> np.ndarray:
    """Costs of the library, where the first `size` labels are relevant."""
    potentials = with_sizes(pair_potentials(s.size, n, edge), loss, np.array([size]))
    costs = np.zeros(s.size)
    potential_costs(potentials, to_go, s.astype(float), size, costs)
    return costs


def scores_for(loss: str, i: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Scores that i learners can have made: whole ones for the rank loss, real ones for the hinge loss."""
    if loss == "rank":
        return rng.multinomial(i, np.full(k, 1.0 / k)).astype(float)
    return sum((rng.dirichlet(np.full(k, 0.3)) for _ in range(i)), np.zeros(k))


@pytest.mark.plain
@pytest.mark.parametrize("loss", PAIR_LOSSES)
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_costs_are_those_of_the_recursion(loss, k, gamma):
    """Up to the potential without a further vote, which all labels share."""
    rng = np.random.default_rng(k)
    n = 5
    for size in range(1, k):
        for i in range(n):
            s = scores_for(loss, i, k, rng)
            to_go = n - 1 - i
            Y = set(range(size))
            here = reference.set_potential(loss, to_go, s.tolist(), Y, gamma)
            expected = np.array(reference.potential_costs(loss, to_go, s.tolist(), Y, gamma)) - here
            np.testing.assert_allclose(costs_of(loss, n, to_go, s, size, gamma), expected, rtol=0.0, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("loss", PAIR_LOSSES)
@pytest.mark.parametrize("gamma", GAMMAS)
def test_first_potential_is_that_of_the_recursion_and_below_table_1(loss, gamma):
    for k, n in ((2, 6), (4, 5)):
        sizes = np.arange(1, k)
        potentials = with_sizes(pair_potentials(k, n, gamma), loss, sizes)
        for size in sizes:
            start = potentials.start[potentials.slot[size]]
            expected = reference.set_potential(loss, n, [0.0] * k, set(range(size)), gamma)
            assert start == pytest.approx(expected, abs=1e-12)
            capped = min(gamma, 1.0 / size)
            assert potentials.edge[size] == capped
            lemma = math.exp(-(capped**2) * n / 2.0) * (1.0 if loss == "rank" else n + 1.0)
            assert start <= lemma + 1e-12


def trinomial(m: int, d: int, up: float, down: float) -> float:
    """P(D = d) after m draws, as a sum over the number of steps down."""
    total = 0.0
    for j in range(max(0, -d), (m - d) // 2 + 1):
        rest = m - 2 * j - d
        logs = math.lgamma(m + 1) - math.lgamma(j + d + 1) - math.lgamma(j + 1) - math.lgamma(rest + 1)
        total += math.exp(logs + (j + d) * math.log(up) + j * math.log(down) + rest * math.log(1.0 - up - down))
    return total


@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_tables_at_full_size(loss):
    """N = 100, k = 101: the closed form of the walk, not the convolution that makes the tables."""
    n, k, size, gamma = 100, 101, 4, 0.05
    potentials = with_sizes(pair_potentials(k, n, gamma), loss, np.array([size]))
    a = (1.0 - gamma * size) / k
    for to_go in (0, 1, 40, 99):
        p = {d: trinomial(to_go, d, a, a + gamma) if to_go else float(d == 0) for d in range(-n - 3, n + 4)}
        row = potentials.steps[0, to_go]
        for delta in range(-n - 1, n + 2):
            if loss == "rank":
                step = 0.5 * (p[-delta] + p[-delta - 1])
            else:
                step = sum(x for d, x in p.items() if d >= -delta - 1)
            assert row[n + 2 + delta] == pytest.approx(step, abs=1e-11)


def test_tables_are_made_once_and_only_for_sizes_that_come_up():
    first = with_sizes(pair_potentials(20, 10, 0.1), "hinge", np.array([3, 3, 7]))
    assert first.steps.shape == (2, 10, 25)
    assert with_sizes(first, "hinge", np.array([7])) is first
    both = with_sizes(first, "hinge", np.array([1, 3]))
    assert both.start.size == 3
    np.testing.assert_array_equal(both.steps[:2], first.steps)
    np.testing.assert_array_equal(both.slot[[1, 3, 7]], [2, 0, 1])


@settings(max_examples=200, deadline=None)
@given(data=st.data(), loss=st.sampled_from(PAIR_LOSSES), gamma=st.floats(0.001, 0.999), i=st.integers(0, 19))
def test_costs_are_ordered_as_c_eor_demands(data, loss, gamma, i):
    """Every relevant label costs at most what an irrelevant one does; max - min is at most Lemma 9's 2."""
    k = data.draw(st.integers(2, 9))
    size = data.draw(st.integers(1, k - 1))
    s = scores_for(loss, i, k, np.random.default_rng(data.draw(st.integers(0, 2**32))))
    costs = costs_of(loss, 20, 19 - i, s, size, gamma)
    assert costs[:size].max() <= costs[size:].min() + 1e-12
    assert costs.max() - costs.min() <= 2.0 + 1e-12
    assert (costs[:size] <= 1e-12).all()
    assert (costs[size:] >= -1e-12).all()


def test_more_learners_to_go_never_reach_outside_the_tables():
    """Scores at the ends of what is possible, with rounding: one label has all votes."""
    n, k = 50, 4
    for i in range(n):
        for size, top in combinations(range(1, k), 2):
            s = np.zeros(k)
            for _ in range(i):
                s[top] += 0.1 + 0.2 + 0.7  # a little more than 1
            costs = costs_of("hinge", n, n - 1 - i, s, size, 0.1)
            assert np.isfinite(costs).all()
            assert np.abs(costs).max() <= 1.0 + 1e-12
