"""The fast potentials against recursion (3), exact arithmetic and what the paper proves of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from edgewise.reference import online_mbbm as reference
from edgewise.theory import potential_tables, winning_chances
from edgewise.theory import potentials as fast

EDGES = (0.001, 0.1, 0.3, 0.9)


def states(k: int, highest: int, n: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Random votes, among them many ties; the first has none at all."""
    draw = np.random.default_rng(seed)
    return [(0,) * k] + [tuple(draw.integers(0, draw.integers(1, highest + 2), k).tolist()) for _ in range(n)]


def as_votes(state: tuple[int, ...]) -> np.ndarray:
    return np.array(state, float)


def cost_rows(p: potential_tables.Potentials, m: int, votes: np.ndarray) -> np.ndarray:
    """D(r, l) of eq. (5), from the costs of eq. (4); a row of weight 0 is 0."""
    rows = np.array([[fast.potential_after(p, m, r, votes, l) for l in range(p.k)] for r in range(p.k)])
    rows = np.maximum(rows - np.diag(rows)[:, None], 0.0)
    weights = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, weights, out=np.zeros_like(rows), where=weights > fast.RESOLUTION)


def late_state(k: int, n_learners: int, m: int, seed: int) -> tuple[int, tuple[int, ...]]:
    """A true label and votes of n_learners - m learners that are right about 4 times in 10."""
    draw = np.random.default_rng(seed)
    chances = 0.6 * draw.dirichlet(np.full(k, 0.3))
    label = int(draw.integers(k))
    chances[label] += 0.4
    return label, tuple(draw.multinomial(n_learners - m, chances / chances.sum()).tolist())


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("edge", EDGES)
def test_potentials_are_those_of_the_recursion(k: int, edge: float) -> None:
    phi = reference.zero_one_potential(k, edge)
    p = fast.zero_one_potentials(k, 8, edge)
    for i, state in enumerate(states(k, 8, 60)):
        label = i % k
        for m in range(9):
            assert fast.potential(p, m, label, as_votes(state)) == pytest.approx(phi(m, label, state), abs=1e-12)


@pytest.mark.plain
def test_tables_of_all_settings_are_of_one_type() -> None:
    """A kernel is compiled once for all of them: a compilation takes far longer than a short stream."""
    import numba

    made = [fast.zero_one_potentials(k, n, 0.1) for k, n in ((2, 1), (4, 10), (9, 3))]
    assert len({numba.typeof(tables) for tables in made}) == 1


def test_votes_are_read_and_never_written() -> None:
    phi = reference.zero_one_potential(3, 0.2)
    p = fast.zero_one_potentials(3, 5, 0.2, memo_bits=4)
    votes = np.array([1.0, 2.0, 0.0])
    for m in range(5):
        for label in range(3):
            for extra in range(3):
                after = fast.potential_after(p, m, label, votes, extra)
                assert after == pytest.approx(phi(m, label, reference.add_vote((1, 2, 0), extra)), abs=1e-12)
            weight = fast.importance(p, m, label, votes)
            assert weight == pytest.approx(reference.importance(phi, m, label, (1, 2, 0)), abs=1e-12)
    cost_rows(p, 2, votes)
    assert votes.tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize("edge", [Fraction(1, 100), Fraction(1, 10), Fraction(3, 10)])
@pytest.mark.parametrize("m", [100, 81, 60, 37, 9])
def test_potentials_of_100_learners_and_26_labels_are_exact(edge: Fraction, m: int) -> None:
    p = fast.zero_one_potentials(26, 100, float(edge))
    label, state = late_state(26, 100, m, seed=m)
    for r in {label, int(np.argmax(state))} if m < 100 else {label}:
        exact = float(reference.potential_sum(edge, m, r, state))
        assert fast.potential(p, m, r, as_votes(state)) == pytest.approx(exact, abs=1e-13)


@pytest.mark.plain
def test_two_labels_are_a_binomial_tail() -> None:
    p = fast.zero_one_potentials(2, 30, 0.1, memo_bits=4)
    for m in (1, 2, 17, 30):
        for lead in range(-6, 7):
            votes = np.array([max(lead, 0), max(-lead, 0)], float)
            needed = (m - lead) // 2 + 1
            expected = stats.binom.cdf(needed - 1, m, 0.55)
            assert fast.potential(p, m, 0, votes) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("edge", [0.01, 0.3, 0.97])
def test_a_thousand_learners(edge: float) -> None:
    p = fast.zero_one_potentials(3, 1000, edge)
    wrong = (1 - edge) / 3
    for m, state in ((1000, (0, 0, 0)), (700, (100, 110, 90)), (400, (150, 220, 230)), (31, (330, 325, 314))):
        x = np.arange(m + 1)
        # Given x, the second label's draws are binomial; both others must stay below.
        most = x + state[0] - state[1] - 1
        least = (m - x) - (x + state[0] - state[2] - 1)
        between = stats.binom.cdf(most, m - x, 0.5) - stats.binom.cdf(least - 1, m - x, 0.5)
        wins = stats.binom.pmf(x, m, wrong + edge) @ np.where(most >= least, between, 0.0)
        assert fast.potential(p, m, 0, as_votes(state)) == pytest.approx(1 - wins, abs=1e-11)


def test_a_hundred_labels_and_a_thousand_learners() -> None:
    """At equal votes the others are 99 equal factors: convolve truncated Poisson weights, all of them positive."""
    k, m, edge = 100, 1000, 0.02
    p = fast.zero_one_potentials(k, m, edge)
    assert sum(np.asarray(table).nbytes for table in p) < 200e6
    wrong = (1 - edge) / k
    wins = 0.0
    for x in range(1, 90):
        word = np.ones(1)
        letter = stats.poisson.pmf(np.arange(x), m * wrong)
        for bit in f"{k - 1:b}":
            word = np.convolve(word, word)[: m + 1]
            if bit == "1":
                word = np.convolve(word, letter)[: m + 1]
        if word.size > m - x:
            wins += stats.poisson.pmf(x, m * (wrong + edge)) * word[m - x] / stats.poisson.pmf(m, m)
    assert 0.01 < wins < 0.99
    assert fast.potential(p, m, 7, np.zeros(k)) == pytest.approx(1 - wins, abs=1e-11)


def test_tables_are_shared_and_memos_are_not() -> None:
    first, second = (fast.zero_one_potentials(5, 20, 0.1, memo_bits=6) for _ in range(2))
    assert first.mass is second.mass
    fast.potential(first, 20, 0, np.zeros(5))
    assert first.memo_keys.any()
    assert not second.memo_keys.any()
    written = [name for name in first._fields if name.startswith("memo") or name in ("leads", "factor_at", "row_keys")]
    assert not any(np.shares_memory(getattr(first, name), getattr(second, name)) for name in written)
    large = [fast.zero_one_potentials(2, potential_tables.MOST_KEPT + 1, 0.1, memo_bits=0) for _ in range(2)]
    assert large[0].mass is not large[1].mass


def test_few_tabulated_powers_give_the_same_potentials(monkeypatch: pytest.MonkeyPatch) -> None:
    many = fast.zero_one_potentials(12, 60, 0.05)
    monkeypatch.setattr(potential_tables, "POWERS_BUDGET", 1 << 20)
    monkeypatch.setattr(potential_tables, "MOST_KEPT", 0)
    few = fast.zero_one_potentials(12, 60, 0.05)
    assert few.powers < many.powers == 11
    for m in (60, 41, 20, 3):
        label, state = late_state(12, 60, m, seed=m)
        expected = fast.potential(many, m, label, as_votes(state))
        assert fast.potential(few, m, label, as_votes(state)) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize(("k", "n_learners"), [(2, 50), (5, 50), (26, 100)])
@pytest.mark.parametrize("edge", [0.01, 0.1, 0.3])
def test_importance_is_the_sum_of_cost_differences(k: int, n_learners: int, edge: float) -> None:
    """Algorithm 1, line 11, with k + 1 potentials; and the two potentials of the telescoped form."""
    p = fast.zero_one_potentials(k, n_learners, edge)
    positive = 0
    for m in range(0, n_learners, 7):
        for seed in range(6):
            label, state = late_state(k, n_learners, m + 1, seed)
            votes = as_votes(state)
            if seed % 2:
                label = (label + 1) % k
            weight = fast.importance(p, m, label, votes)
            least = fast.potential_after(p, m, label, votes, label)
            explicit = sum(fast.potential_after(p, m, label, votes, l) - least for l in range(k))
            telescoped = k / (1 - edge) * (fast.potential(p, m + 1, label, votes) - least)
            assert weight == pytest.approx(explicit, abs=2e-12)
            assert weight == pytest.approx(telescoped, abs=2e-12)
            assert weight >= 0
            positive += weight > 1e-6
    assert positive >= 10


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("edge", EDGES)
def test_normalized_costs_are_those_of_equation_5(k: int, edge: float) -> None:
    phi = reference.zero_one_potential(k, edge)
    p = fast.zero_one_potentials(k, 8, edge)
    for state in states(k, 4, 25, seed=1):
        for m in (0, 1, 4, 7):
            costs = cost_rows(p, m, as_votes(state))
            expected = reference.normalized_costs(phi, m, state)
            for r in range(k):
                # Of a weight near the resolution only a few digits are left.
                if reference.importance(phi, m, r, state) > 1e-6:
                    assert costs[r] == pytest.approx(expected[r], abs=1e-8)


@pytest.mark.parametrize("edge", [0.01, 0.3])
def test_normalized_costs_keep_the_papers_constraints(edge: float) -> None:
    """C_1^eor of Section 2.2: nonnegative, zero on the diagonal, rows that sum to 1, or 0 where there is no weight."""
    p = fast.zero_one_potentials(26, 100, edge)
    sums = set()
    for m in (99, 70, 40, 12, 3, 0):
        _, state = late_state(26, 100, m + 1, seed=m)
        votes = as_votes(state)
        costs = cost_rows(p, m, votes)
        assert (costs >= 0).all()
        assert (np.diag(costs) == 0).all()
        for r in range(26):
            weight = fast.importance(p, m, r, votes)
            total = costs[r].sum()
            assert total == 0 or total == pytest.approx(1, abs=1e-12)
            if weight == 0 or weight > 1e-11:
                assert (total > 0) == (weight > 0)
            sums.add(round(total))
            if weight > 1e-4:
                l = int(np.argmax(np.delete(votes, r)))
                l += l >= r
                difference = fast.potential_after(p, m, r, votes, l) - fast.potential_after(p, m, r, votes, r)
                assert costs[r, l] == pytest.approx(difference / weight, abs=1e-8)
    assert sums == {0, 1}


@pytest.mark.plain
def test_normalized_costs_with_ties_small() -> None:
    phi = reference.zero_one_potential(4, 0.1)
    p = fast.zero_one_potentials(4, 4, 0.1, memo_bits=4)
    for state in ((0, 0, 0, 0), (1, 0, 1, 0), (2, 1, 0, 0), (0, 3, 0, 0)):
        costs = cost_rows(p, 2, as_votes(state))
        assert costs == pytest.approx(np.array(reference.normalized_costs(phi, 2, state)), abs=1e-11)


@pytest.mark.plain
def test_the_memo_never_changes_a_result() -> None:
    memos = [fast.zero_one_potentials(4, 12, 0.1, memo_bits=bits) for bits in (0, 4, 14)]
    for state in states(4, 3, 30, seed=2) * 2:
        for m in (3, 11):
            fresh = fast.zero_one_potentials(4, 12, 0.1, memo_bits=0)
            alone = [fast.potential(fresh, m, 1, as_votes(state)), fast.importance(fresh, m, 1, as_votes(state))]
            for p in memos:
                values = [fast.potential(p, m, 1, as_votes(state)), fast.importance(p, m, 1, as_votes(state))]
                assert values == alone


@pytest.mark.plain
def test_states_that_share_a_key_are_told_apart() -> None:
    """By their second key, here with no other first one than the number of labels that count."""
    p = fast.zero_one_potentials(4, 12, 0.1, memo_bits=4)
    p = p._replace(hashes=np.stack([np.ones_like(p.hashes[0]), p.hashes[1]]), salts=p.salts.copy())
    p.salts[0] = 1
    for state in states(4, 3, 30, seed=2) * 2:
        for m in (3, 11):
            fresh = fast.zero_one_potentials(4, 12, 0.1, memo_bits=0)
            assert fast.potential(p, m, 1, as_votes(state)) == fast.potential(fresh, m, 1, as_votes(state))


@pytest.mark.plain
def test_states_that_share_a_slot_do_not_push_each_other_out() -> None:
    """As many states as there are slots beside each other, asked for in turn: each is worked out once."""
    p = fast.zero_one_potentials(4, 12, 0.1, memo_bits=4)
    p = p._replace(hashes=p.hashes // 16 * 16, salts=p.salts // 16 * 16)  # all of them have slot 0
    asked = [as_votes(state) for state in ((0, 0, 0, 0), (1, 0, 0, 0), (1, 1, 0, 0), (2, 1, 0, 0))]
    for votes in asked * 3:
        fast.potential(p, 8, 0, votes)
    assert p.memo_next[0] == winning_chances.WAYS == len(asked)
    fast.potential(p, 8, 0, as_votes((2, 1, 1, 0)))
    fast.potential(p, 8, 0, asked[3])
    assert p.memo_next[0] == 5
    fast.potential(p, 8, 0, asked[0])  # had to go, as the oldest
    assert p.memo_next[0] == 6


@pytest.mark.plain
def test_states_stay_while_more_slots_are_taken_into_use() -> None:
    """From four slots on: every state is still found, and none is another."""
    p = fast.zero_one_potentials(4, 12, 0.1, memo_bits=9)
    p.memo_mask[0] = 3
    asked = states(4, 3, 60, seed=4)
    for m in (3, 7, 11):
        for _ in range(3):
            for state in asked:
                fresh = fast.zero_one_potentials(4, 12, 0.1, memo_bits=0)
                assert fast.potential(p, m, 1, as_votes(state)) == fast.potential(fresh, m, 1, as_votes(state))
    n = p.memo_next[0]
    assert p.memo_mask[0] + 1 >= n > 48
    assert n == len(np.unique(p.memo_keys[:n], axis=0))


def test_a_crowded_memo_never_changes_a_result() -> None:
    crowded = fast.zero_one_potentials(26, 100, 0.1, memo_bits=4)
    roomy = fast.zero_one_potentials(26, 100, 0.1)
    pairs = []
    for m in range(99, 0, -3):
        for seed in range(40):
            label, state = late_state(26, 100, m + 1, seed)
            # The same multiset of leads, in another order, must be the same number too.
            turned = tuple(np.roll(state, 5).tolist())
            for votes, r in ((as_votes(state), label), (as_votes(turned), (label + 5) % 26)):
                pairs.append((fast.importance(crowded, m, r, votes), fast.importance(roomy, m, r, votes)))
                pairs.append((fast.potential(crowded, m, r, votes), fast.potential(roomy, m, r, votes)))
    values = np.array(pairs)
    assert np.array_equal(values[:, 0], values[:, 1])
    assert np.array_equal(values[0::4], values[2::4])
    assert (crowded.memo_keys > 0).all()


TABLES = {
    (k, edge): fast.zero_one_potentials(k, 40, edge, memo_bits=12) for k in (2, 3, 7, 20) for edge in (0.001, 0.1, 0.5)
}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_potentials_are_proper_probabilities(data: st.DataObject) -> None:
    """In [0, 1], decreasing in the votes of the true label, increasing in the others', and they obey (3)."""
    k, edge = data.draw(st.sampled_from(sorted(TABLES)))
    p = TABLES[k, edge]
    votes = np.array(data.draw(st.lists(st.integers(0, 12), min_size=k, max_size=k)), float)
    m = data.draw(st.integers(0, 39))
    label = data.draw(st.integers(0, k - 1))
    now = fast.potential(p, m, label, votes)
    after = np.array([fast.potential_after(p, m, label, votes, l) for l in range(k)])
    assert 0 <= now <= 1
    assert ((after >= 0) & (after <= 1)).all()
    assert after[label] <= now + 1e-12
    assert (np.delete(after, label) >= now - 1e-12).all()
    expected = np.array(reference.baseline(k, label, edge)) @ after
    assert fast.potential(p, m + 1, label, votes) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("edge", [Fraction(1, 100), Fraction(1, 10)])
def test_asymptotic_error_of_figure_1(edge: Fraction) -> None:
    errors = [fast.asymptotic_error(k, 20, float(edge)) for k in range(2, 61)]
    for k in (2, 3, 7, 20, 41, 60):
        assert errors[k - 2] == pytest.approx(float(reference.potential_sum(edge, 20, 0, (0,) * k)), abs=1e-13)
    # Appendix B.3: the left panel rises with k, the right one turns.
    rises = np.diff(errors) > 0
    assert rises.all() if edge == Fraction(1, 100) else rises[0] and not rises[-1]


@pytest.mark.parametrize("k", [2, 5, 26])
@pytest.mark.parametrize("edge", [0.05, 0.3, 0.6])
def test_lemma_9(k: int, edge: float) -> None:
    bounds = [(k - 1) * math.exp(-(edge**2) * n / 2) for n in (1, 10, 50, 150)]
    errors = [fast.asymptotic_error(k, n, edge) for n in (1, 10, 50, 150)]
    assert all(error <= bound + 1e-14 for error, bound in zip(errors, bounds, strict=True))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 10, 0.1), "k=1: at least 2"),
        ((3, 0, 0.1), "n_learners=0: an ensemble"),
        ((3, 10, 0.0), "edge=0.0: the edge"),
        ((3, 10, 1.0), "edge=1.0: the edge"),
        ((3, 10, float("nan")), "edge=nan: the edge"),
        ((3, 10, 0.1, -1), "memo_bits=-1: from 0"),
    ],
)
def test_arguments_are_checked(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fast.zero_one_potentials(*arguments)  # type: ignore[arg-type]
