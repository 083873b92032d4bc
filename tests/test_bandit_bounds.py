"""Each step of the bandit bounds holds: by enumeration over what may be shown, and on simulated runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise
from edgewise.theory.bandits import (
    adaptive_bandit_bound,
    bandit_majority_bound,
    excess_noise,
    explored_mistakes,
    hedge_factor,
    largest_loss,
    theory_rate,
)
from edgewise.theory.potentials import asymptotic_error
from tests.small_streams import mixed_stream


def shown_probability(label, guess, rate, k):
    """p of (2)."""
    return 1.0 - rate if label == guess else rate / (k - 1)


def estimated_loss(k, y, guess, shown, rate):
    """The estimate (4), as it is printed."""
    p = shown_probability(shown, guess, rate, k)
    return np.array(
        [
            (shown == y) * (y != i) * (guess != i) / p + (shown == guess) * (guess != y) * (guess == i) / p
            for i in range(k)
        ]
    )


@pytest.mark.parametrize("rate", [0.001, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("k", range(2, 7))
def test_largest_loss_is_attained(k, rate):
    losses = [estimated_loss(k, y, guess, shown, rate) for y in range(k) for guess in range(k) for shown in range(k)]
    assert np.max(losses) == pytest.approx(largest_loss(k, np.array([rate]))[0], rel=1e-12)


@pytest.mark.parametrize("follow", ["draw", "vote"])
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 7), rate=st.floats(0.001, 0.9), sharp=st.floats(0.05, 3.0))
@settings(max_examples=60, deadline=None)
def test_hedge_loses_weight_at_least_as_fast_as_the_guess_errs(follow, seed, k, rate, sharp):
    """docs/bandits.md, section 4: the expected fall of the sum of weights, over the draws of guess and shown label."""
    mass = np.random.default_rng(seed).dirichlet(np.full(k, sharp))  # Hedge's weight on each label
    y = 0
    guesses = mass if follow == "draw" else np.eye(k)[np.argmax(mass)]
    fall = sum(
        guesses[guess]
        * shown_probability(shown, guess, rate, k)
        * mass
        @ -np.expm1(-estimated_loss(k, y, guess, shown, rate))
        for guess in range(k)
        for shown in range(k)
    )
    assert 1.0 - guesses[y] <= hedge_factor(follow, k, rate) * fall * (1.0 + 1e-9)


def test_the_factors_of_hedge_are_attained():
    """All weight on wrong labels, spread evenly: the guess errs for sure, and the weights fall least."""
    k, rate = 6, 1e-9
    mass = np.array([0.0] + [1.0 / (k - 1)] * (k - 1))
    fall = sum(
        mass[guess]
        * shown_probability(shown, guess, rate, k)
        * mass
        @ -np.expm1(-estimated_loss(k, 0, guess, shown, rate))
        for guess in range(k)
        for shown in range(k)
    )
    assert 1.0 / fall == pytest.approx(hedge_factor("draw", k, rate), rel=1e-6)
    assert hedge_factor("draw", 2, 0.0) == pytest.approx(1.0 / (1.0 - math.exp(-1.0)))
    assert hedge_factor("best", 3, 0.1) == math.inf


def hedge_mistakes(k, n_experts, rate, rounds, rng):
    """Rounds of Hedge on the estimate (4); expert 0 is always right, the others spread over the wrong labels."""
    losses = np.zeros(n_experts)
    wrong = 0
    for _ in range(rounds):
        y = rng.integers(k)
        labels = (y + 1 + rng.integers(0, k - 1, n_experts)) % k
        labels[0] = y
        weights = np.exp(-(losses - losses.min()))
        guess = labels[rng.choice(n_experts, p=weights / weights.sum())]
        others = [label for label in range(k) if label != guess]
        shown = guess if rng.random() >= rate else others[rng.integers(k - 1)]
        losses += estimated_loss(k, y, guess, shown, rate)[labels]
        wrong += guess != y
    return wrong


def test_hedge_on_estimates_keeps_our_factor_and_breaks_the_papers():
    """With an expert that never errs, (14) allows 2 ln N mistakes on average; ours, (k - 1) ln N / fall, is kept."""
    k, n_experts, rate = 10, 100, 0.05
    runs = [hedge_mistakes(k, n_experts, rate, 300, np.random.default_rng(seed)) for seed in range(40)]
    error = np.std(runs, ddof=1) / math.sqrt(len(runs))
    assert np.mean(runs) + 4 * error < hedge_factor("draw", k, rate) * math.log(n_experts)
    assert np.mean(runs) - 4 * error > 2.0 * math.log(n_experts)


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("k", range(2, 7))
def test_noise_of_an_estimated_excess(k, rate):
    """A round's excess is the error less phi; its estimate, over all that may be shown, is unbiased and this wide."""
    phi = 0.3
    widest = 0.0
    for tie in (False, True):
        for y in range(k):
            errors = np.ones(k)  # loss (2) were r the label; a tie is an error for all
            errors[0] = tie
            values = [(1.0 - estimated_loss(k, y, 0, shown, rate)) @ (errors - phi) for shown in range(k)]
            chances = [shown_probability(shown, 0, rate, k) for shown in range(k)]
            assert np.dot(chances, values) == pytest.approx(errors[y] - phi, abs=1e-9)
            widest = max(widest, np.ptp(values))
    width = excess_noise(k, np.array([rate]), risk=math.exp(-2.0))  # sqrt(ln(1/risk) / 2) is 1
    assert widest <= width * (1.0 + 1e-12)
    assert excess_noise(k, np.full(100, rate), math.exp(-2.0)) == pytest.approx(10.0 * width)


@pytest.mark.parametrize(("loss", "weights"), [("logistic", (-2.0, 2.0)), ("softmax", (0.0, 4.0))])
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 6), rate=st.floats(0.005, 0.6))
@settings(max_examples=40, deadline=None)
def test_estimated_slopes_stay_within_what_the_regret_uses(loss, weights, seed, k, rate):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.0, 4.0, k)
    if loss == "logistic":
        costs = 1.0 / (1.0 + np.exp(scores[None, :] - scores[:, None]))  # [l, r]
        np.fill_diagonal(costs, 0.0)
        np.fill_diagonal(costs, -costs.sum(axis=0))
        steepest = 2.0 * (k - 1)
    else:
        share = np.exp(scores - scores.max())
        costs = (share / share.sum())[:, None] - np.eye(k)
        steepest = k - 1.0
    limit = steepest * largest_loss(k, np.array([rate]))[0]
    for y in range(k):
        for shown in range(k):
            assert np.abs(costs @ (1.0 - estimated_loss(k, y, 0, shown, rate))).max() <= limit * (1.0 + 1e-12)


def test_theorem_3_3_in_the_form_of_the_paper():
    """With constant rate and Algorithm 3's steps: the terms as Appendix A.4 has them, ours never above."""
    k, n, t, rate, risk = 5, 20, 40_000, 0.1, 0.05
    edges = np.full(n, 0.3)
    bound = adaptive_bandit_bound(
        "logistic",
        follow="draw",
        weight_range=(-2.0, 2.0),
        k=k,
        rates=np.full(t, rate),
        edges=edges,
        mistakes=7,
        risk=risk,
    )
    squares = float((edges**2).sum())
    log = math.log((4 * n + 2) / risk)
    # |f'| <= 2 k^2 / rho: gradient descent 8 + 4, martingales 8 |f'| sqrt(ln / 2)
    regret = (12.0 + 16.0 * math.sqrt(0.5 * log)) * k * k / rate * math.sqrt(t)
    paper_expert = (4.0 * (k - 1) * math.log(2.0) * t + 4.0 * n * regret) / squares
    assert 0.4 * paper_expert < bound.expert_value < paper_expert
    factor = hedge_factor("draw", k, rate)
    noise = (1.0 + k / rate) * math.sqrt(0.5 * t * log)
    paper_value = factor * (paper_expert + math.log(n) + noise) + rate * t + math.sqrt(0.5 * t * log)
    assert bound.expert_value < bound.value < paper_value
    assert bound.leading < factor * 4.0 * (k - 1) * math.log(2.0) / squares + rate
    assert (bound.theorem, bound.rounds, bound.mistakes, bound.best_expert) == ("Theorem 3.3", t, 7, None)


def test_theorem_3_3_where_it_says_nothing():
    setting = {"k": 3, "rates": np.full(100, 0.1), "mistakes": 5}
    worthless = np.zeros(4)
    for loss, follow, weights, edges in (
        ("logistic", "draw", (-2.0, 2.0), worthless),
        ("exponential", "draw", (-2.0, 2.0), worthless + 0.5),
        ("logistic", "best", (-2.0, 2.0), worthless + 0.5),
        ("logistic", "draw", (1.0, 2.0), worthless + 0.5),
    ):
        bound = adaptive_bandit_bound(loss, follow=follow, weight_range=weights, edges=edges, **setting)
        assert bound.value == math.inf
    assert "says nothing yet" in str(bound)


def test_larger_steps_are_better_where_rates_are_small():
    """Algorithm 3's step at rho = .001 hardly moves the weights; the bound knows."""
    t = 10_000
    rates = np.full(t, 0.001)
    setting = {"follow": "draw", "weight_range": (-2.0, 2.0), "k": 2, "rates": rates, "edges": np.full(9, 0.4)}
    paper = adaptive_bandit_bound("logistic", mistakes=0, **setting)
    full = adaptive_bandit_bound("logistic", mistakes=0, steps=2.0 / np.sqrt(np.arange(1, t + 1)), **setting)
    assert full.value < 0.1 * paper.value


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("k", "edge", "rate"), [(2, 0.2, 0.05), (4, 0.3, 0.02), (6, 0.25, 0.2)])
def test_theorem_3_2_on_learners_of_known_edge(k, edge, rate, seed):
    """Majority of votes drawn from u_gamma, explored: mistakes stay below the bound, and not far below."""
    rng = np.random.default_rng(seed)
    n, t = 25, 20_000
    y = rng.integers(0, k, t)
    votes = np.where(rng.random((t, n)) < edge, y[:, None], rng.integers(0, k, (t, n)))
    counts = np.stack([(votes == label).sum(axis=1) for label in range(k)], axis=1)
    guesses = counts.argmax(axis=1)
    right = counts[np.arange(t), y]
    counts[np.arange(t), y] = -1
    errors = int((counts.max(axis=1) >= right).sum())  # a tie is an error
    strayed = rng.random(t) < rate
    shown = np.where(strayed, (guesses + 1 + rng.integers(0, k - 1, t)) % k, guesses)
    excess = errors - asymptotic_error(k, n, edge) * t  # what the costs of all learners telescope to
    mistakes = int((shown != y).sum())
    bound = bandit_majority_bound(
        k=k, n_learners=n, edge=edge, rates=np.full(t, rate), excess=excess, mistakes=mistakes, risk=1e-4
    )
    assert bound.mistakes <= bound.value
    assert bound.value - errors == pytest.approx(explored_mistakes(np.full(t, rate), 1e-4))
    assert bound.value <= mistakes + 0.25 * t
    assert bound.leading == pytest.approx(asymptotic_error(k, n, edge) + rate)
    assert str(bound).startswith(f"Theorem 3.2: {mistakes} mistakes in 20000 rounds; at most ")


@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_theorem_3_2_on_a_run_of_the_booster(rate):
    """What the random costs add up to over all learners is the estimated error less phi, round by round."""
    X, y = mixed_stream(300, k=4)
    n, k, edge = 6, 4, 0.15
    model = edgewise.BanditBBM(edgewise.HoeffdingTree(grace_period=5), n, edge=edge, exploration=rate, random_state=3)
    history = model.trace(X, y)
    phi = asymptotic_error(k, n, edge)
    codes = np.searchsorted(model.classes_, y)
    excess = 0.0
    for t in range(300):
        counts = np.bincount(history.votes[t], minlength=k)
        errors = np.array([np.delete(counts, r).max() >= counts[r] for r in range(k)])
        kept = 1.0 - estimated_loss(k, codes[t], history.guesses[t], history.shown[t], rate)
        excess += kept @ (errors - phi)
    rates = np.full(300, rate)
    bound = model.bound(risk=0.1)
    expected = phi * 300 + excess + excess_noise(k, rates, 0.05) + explored_mistakes(rates, 0.05)
    assert bound.value == pytest.approx(expected, rel=1e-9)
    assert bound.mistakes == (model.classes_[history.shown] != y).sum() <= bound.value


def test_theorem_3_3_on_a_run_of_the_booster():
    """`AdaBandit.bound` is the bound of its own rates, steps and edges; Algorithm 3's with the preset."""
    X, y = mixed_stream(200, k=3)
    for model, steps in (
        (edgewise.AdaBandit.preset("paper", n_estimators=4, exploration=0.2, random_state=1), None),
        (edgewise.AdaBandit(n_estimators=4, exploration=0.2, loss="logistic", random_state=1), "full"),
    ):
        shown = model.prequential(X, y)
        # with full feedback, eta_t = D / (G sqrt(2 t)), here D = 4 and G = k - 1
        pace = None if steps is None else math.sqrt(2.0) / np.sqrt(np.arange(1, 201))
        bound = model.bound()
        expected = adaptive_bandit_bound(
            "logistic",
            follow=model.follow,
            weight_range=model.weight_range,
            k=3,
            rates=np.full(200, 0.2),
            edges=np.clip(model.edges_, -1.0, 1.0),
            mistakes=int((shown != y).sum()),
            best_expert=float(model.expert_losses_.min()),
            steps=pace,
        )
        assert bound.mistakes == expected.mistakes
        assert bound.value == pytest.approx(expected.value, rel=1e-9)
        assert bound.best_expert <= bound.expert_value


def test_exploration_adds_what_it_should():
    """P(shown wrong) <= P(guess wrong) + rho: end of Appendix A.3, here for every k and chance."""
    for k in range(2, 7):
        for wrong in np.linspace(0.0, 1.0, 11):
            for rate in (0.01, 0.4, 1.0 - 1.0 / k):
                shown_wrong = wrong * (1.0 - rate / (k - 1)) + (1.0 - wrong) * rate
                assert shown_wrong <= wrong + rate
    assert explored_mistakes(np.full(100, 0.1), math.exp(-2.0)) == pytest.approx(10.0 + 10.0)


def test_rates_of_the_theory():
    """rho after Theorem 3.2 and after 3.3, with T for a constant rate and t for one that decays."""
    assert theory_rate(3, 16, 6250) == pytest.approx(3**1.75 * 2.0 / math.sqrt(6250))
    assert theory_rate(2, 8, 10**6, squared_edges=0.8) == pytest.approx(2 * 4.0 / (100 * 0.8 ** (1 / 3)))
    assert theory_rate(26, 20, 1000) == 1.0 - 1.0 / 26
    t = np.arange(1, 5001)
    for squares in (None, 2.0):
        decaying = theory_rate(3, 10, t, squares)
        assert decaying.shape == t.shape
        assert decaying[0] == 1.0 - 1.0 / 3
        assert (np.diff(decaying) <= 0.0).all()
        assert decaying[-1] == theory_rate(3, 10, 5000, squares)
    with pytest.raises(ValueError, match="squared_edges=0"):
        theory_rate(3, 10, 100, 0.0)


def test_the_rate_of_the_theory_is_the_best_constant_for_the_terms_it_balances():
    """2 rho T + k^{7/2} sqrt(N) / rho is least, up to the constant, at rho of the text: same order on both sides."""
    k, n, t = 3, 20, 10**6
    rate = theory_rate(k, n, t)
    terms = [2.0 * rate * t, k**3.5 * math.sqrt(n) / rate]
    assert terms[0] == pytest.approx(2.0 * terms[1])
    adaptive = theory_rate(k, n, t, squared_edges=1.5)
    assert adaptive * t == pytest.approx(k**3 * n**2 / (adaptive**2 * 1.5))
