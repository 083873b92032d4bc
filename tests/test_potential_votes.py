"""Potentials on their way into a booster: states learner after learner, and the cheapest label."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.reference import online_mbbm as reference
from edgewise.theory import potentials as fast
from edgewise.theory.losses import argmin_cost
from edgewise.theory.potential_tables import Potentials, zero_one_potentials
from tests.test_potentials import as_votes, cost_rows, late_state, states

EDGES = (0.001, 0.1, 0.3, 0.9)


# -- few labels -------------------------------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("edge", EDGES)
def test_few_labels_are_those_of_the_recursion(k: int, edge: float) -> None:
    phi = reference.zero_one_potential(k, edge)
    p = zero_one_potentials(k, 6, edge, memo_bits=8)
    for i, state in enumerate(states(k, 6, 12)):
        label = i % k
        for m in range(7):
            assert fast.potential(p, m, label, as_votes(state)) == pytest.approx(phi(m, label, state), abs=1e-13)
            if m < 6:
                weight = fast.importance(p, m, label, as_votes(state))
                assert weight == pytest.approx(reference.importance(phi, m, label, state), abs=1e-12)


@pytest.mark.parametrize("edge", [Fraction(1, 100), Fraction(1, 10), Fraction(3, 10)])
@pytest.mark.parametrize("k", [3, 4, 5])
def test_few_labels_and_100_learners_are_exact(k: int, edge: Fraction) -> None:
    p = zero_one_potentials(k, 100, float(edge))
    for m in (100, 81, 60, 37, 9):
        _, state = late_state(k, 100, m, seed=m)
        for r in range(k):
            exact = float(reference.potential_sum(edge, m, r, state))
            assert fast.potential(p, m, r, as_votes(state)) == pytest.approx(exact, abs=2e-14)


@pytest.mark.plain
def test_votes_far_apart_are_decided_without_a_table() -> None:
    """More votes than learners: nothing may be read beyond the tables."""
    p = zero_one_potentials(3, 5, 0.2, memo_bits=2)
    for votes, label, error in (((900, 0, 0), 0, 0.0), ((900, 0, 0), 2, 1.0), ((0, 900, 899), 0, 1.0)):
        for m in range(6):
            assert fast.potential(p, m, label, as_votes(votes)) == error
    assert (p.memo_keys == 0).all()


# -- learner after learner --------------------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("k", [3, 5])
def test_a_state_is_one_however_it_is_reached(k: int) -> None:
    """The memo finds what one more vote leads to under the votes that have it already."""
    p = zero_one_potentials(k, 12, 0.1, memo_bits=10)
    for state in states(k, 3, 15, seed=6):
        for extra in range(k):
            after = fast.potential_after(p, 6, 0, as_votes(state), extra)
            written = int(p.memo_next[0])
            assert fast.potential(p, 6, 0, as_votes(reference.add_vote(state, extra))) == after
            assert p.memo_next[0] == written
    assert written > 10


@pytest.mark.plain
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("edge", EDGES)
def test_learners_in_turn_are_judged_as_each_alone(k: int, edge: float) -> None:
    """Line 11 and eq. (4) for every learner, from what the learner before left; also once the example is decided."""
    n, phi = 6, reference.zero_one_potential(k, edge)
    p = zero_one_potentials(k, n, edge, memo_bits=6)
    draw = np.random.default_rng(k)
    for first, skill in ((-1, 0.2), (0, 0.6), (1, 0.6), (0, 1.0), (1, 0.0)):
        state, votes = np.full(2, np.nan), np.zeros(k)
        label = draw.integers(k)
        for i in range(n):
            m = n - 1 - i
            vote = int(label if draw.random() < skill else draw.integers(k))
            vote = vote if i > 1 or first < 0 else first
            counts = tuple(int(count) for count in votes)
            weight, excess = fast.importance_and_excess(p, m, label, votes, vote, state)
            assert weight == pytest.approx(reference.importance(phi, m, label, counts), abs=1e-12)
            costs = [phi(m, label, tuple(c + (l == r) for l, c in enumerate(counts))) for r in (vote, label)]
            assert excess == pytest.approx(costs[0] - costs[1], abs=2e-13)
            assert excess == 0.0 or vote != label
            votes[vote] += 1
            assert state[0] == pytest.approx(phi(m, label, tuple(int(count) for count in votes)), abs=1e-13)


# -- the cheapest label -----------------------------------------------------------------------------------------------


def some_chances(draw: np.random.Generator, k: int) -> np.ndarray:
    """Sharp ones, flat ones, ones with ties and ones with zeros."""
    chances = draw.dirichlet(np.full(k, draw.choice([0.05, 1.0, 50.0])))
    kind = draw.integers(4)
    if kind == 0:
        chances = np.full(k, 1.0 / k)
    elif kind == 1:
        chances[draw.integers(k)] = 0.0
        chances = chances / chances.sum() if chances.any() else np.full(k, 1.0 / k)
    return chances


@pytest.mark.plain
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("edge", [0.1, 0.6])
def test_the_cheapest_label_is_that_of_all_rows(k: int, edge: float) -> None:
    phi = reference.zero_one_potential(k, edge)
    p = zero_one_potentials(k, 6, edge, memo_bits=6)
    draw = np.random.default_rng(k)
    chosen = set()
    for state in states(k, 5, 25, seed=3):
        for m in (0, 2, 5):
            chances = some_chances(draw, k)
            best = fast.cheapest_label(p, m, as_votes(state), chances, np.empty(k))
            expected = reference.expected_costs(phi, m, state, chances.tolist())
            assert expected[best] == pytest.approx(min(expected), abs=1e-9)
            assert all(expected[l] > expected[best] - 1e-9 for l in range(best))
            chosen.add(best)
    assert chosen == set(range(k))


TABLES = {k: zero_one_potentials(k, 100, 0.1, memo_bits=14) for k in (2, 4, 7, 20)}


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(TABLES)), st.integers(0, 99), st.integers(0, 2**32 - 1))
def test_rows_left_out_never_change_the_vote(k: int, m: int, seed: int) -> None:
    """Against all rows of D, in the states of a real run: clear ones, contested ones and ones that are decided."""
    p = TABLES[k]
    draw = np.random.default_rng(seed)
    votes = draw.multinomial(99 - m, draw.dirichlet(np.full(k, draw.choice([0.1, 1.0, 100.0])))).astype(float)
    chances = some_chances(draw, k)
    matrix = cost_rows(p, m, votes)
    # A matrix that is 0 was perhaps not even computed.
    assert matrix.any() or all(fast.importance(p, m, r, votes) < 1e-11 for r in range(k))
    costs = np.array([sum(chances[r] * matrix[r, l] for r in range(k)) for l in range(k)])
    assert fast.cheapest_label(p, m, votes, chances, np.empty(k)) == argmin_cost(costs)


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("edge", [Fraction(1, 100), Fraction(3, 10)])
def test_one_more_vote_is_worse_the_further_its_label_is_ahead(k: int, edge: Fraction) -> None:
    """What bounds columns of D (docs/theory.md, 2), in whole numbers."""
    strict = 0
    for state in states(k, 5, 20, seed=4):
        for m in (0, 1, 3, 6):
            order = sorted(range(1, k), key=lambda l: state[l])
            losses = [reference.potential_sum(edge, m, 0, reference.add_vote(state, l)) for l in order]
            assert losses == sorted(losses)
            strict += losses[0] < losses[-1]
    assert strict >= 10


def sorted_out(p: Potentials, votes: np.ndarray, chances: np.ndarray) -> int:
    """Labels by kind, with their chances, as `cheapest_label` begins; how many kinds."""
    n_kinds = fast._kinds_of(p, votes)
    p.kind_chances[:] = np.bincount(p.kinds, chances, minlength=p.k)
    return n_kinds


def test_few_columns_settle_most_votes() -> None:
    """In states of a real run and with chances of all sorts, most votes need less than half of all potentials."""
    draw = np.random.default_rng(5)
    open_games = settled = asked = all_of_them = 0
    for seed in range(80):
        m = int(draw.integers(5, 90))
        _, state = late_state(26, 100, m + 1, seed)
        votes, chances, costs = as_votes(state), draw.dirichlet(np.ones(26)), np.empty(26)
        p = zero_one_potentials(26, 100, 0.1, memo_bits=10)
        if fast._decided(p, m, votes):
            continue
        open_games += 1
        by_columns = fast._cheapest_by_columns(p, m, votes, chances, costs, sorted_out(p, votes, chances))
        asked += int(p.memo_next[0])
        p = zero_one_potentials(26, 100, 0.1, memo_bits=10)
        by_rows = fast._cheapest_by_rows(p, m, votes, chances, costs, sorted_out(p, votes, chances))
        all_of_them += int(p.memo_next[0])
        assert by_columns in (-1, by_rows)
        settled += by_columns >= 0
    assert open_games > 40
    assert settled > 0.8 * open_games
    assert asked < 0.5 * all_of_them


def test_what_rounding_might_decide_is_left_to_whole_rows() -> None:
    """Labels of different kinds that cost the same; of equal ones of the same kind it is the first."""
    p = zero_one_potentials(3, 20, 0.1, memo_bits=10)
    votes = np.array([3.0, 3.0, 5.0])
    for chances, best in ((np.array([0.25, 0.25, 0.5]), 2), (np.array([0.4, 0.4, 0.2]), 0)):
        kinds = sorted_out(p, votes, chances)
        assert fast._cheapest_by_columns(p, 10, votes, chances, np.empty(3), kinds) == best
    # of two labels, the cost of each is the chance of the other
    p = zero_one_potentials(2, 20, 0.1, memo_bits=10)
    votes, chances = np.array([3.0, 5.0]), np.array([0.5, 0.5])
    assert fast._cheapest_by_columns(p, 10, votes, chances, np.empty(2), sorted_out(p, votes, chances)) == -1
    assert fast.cheapest_label(p, 10, votes, chances, np.empty(2)) == 0


@pytest.mark.plain
def test_a_decided_game_asks_for_no_potential() -> None:
    phi = reference.zero_one_potential(3, 0.1)
    p = zero_one_potentials(3, 9, 0.1, memo_bits=2)
    for votes, m in (((1, 6, 0), 3), ((1, 7, 1), 0), ((0, 2, 0), 0)):
        assert fast.cheapest_label(p, m, as_votes(votes), np.array([0.1, 0.2, 0.7]), np.empty(3)) == 0
        assert not np.any(reference.normalized_costs(phi, m, votes))
    assert (p.memo_keys == 0).all()
    # one vote less of a lead, and the vote counts
    assert fast.cheapest_label(p, 3, as_votes((1, 5, 0)), np.array([0.1, 0.2, 0.7]), np.empty(3)) != 0
