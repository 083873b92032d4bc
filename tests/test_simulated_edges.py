"""Weak learners of known edge, Appendix B.3 of Jung, Goetz and Tewari 2017: what the theorems say must come out.

Learner i votes x_t(i), drawn from u_gamma^{y_t}: the true label with gamma more than an even share.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from edgewise import reference
from edgewise.reference import RunningMoments
from edgewise.reference.adaboost_olm import cost_matrix
from edgewise.theory.potentials import asymptotic_error
from tests.test_twin_boosters import Scripted, assert_close, assert_same_rounds

CASES = [(2, 1, 0.3), (2, 10, 0.1), (2, 25, 0.25), (3, 7, 0.2), (4, 20, 0.15), (8, 20, 0.1), (26, 30, 0.08)]


def draw_votes(k: int, n_learners: int, edge: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels [n] and votes [n, N]; conditionally independent given the label."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    uniform = rng.integers(0, k, (n, n_learners))
    return y, np.where(rng.random((n, n_learners)) < edge, y[:, None], uniform)


def counted(votes: np.ndarray, k: int) -> np.ndarray:
    """Votes per label, [n, k]."""
    return np.stack([(votes == l).sum(axis=1) for l in range(k)], axis=1)


def strict_loss(votes: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Loss (2) of the majority vote: a tie is an error."""
    counts = counted(votes, k).astype(float)
    rows = np.arange(len(y))
    own = counts[rows, y]
    counts[rows, y] = -1.0
    return counts.max(axis=1) >= own


@pytest.mark.parametrize(("k", "n_learners", "edge"), CASES)
def test_majority_vote_errs_at_the_rate_of_the_initial_potential(k, n_learners, edge):
    n = 60_000
    y, votes = draw_votes(k, n_learners, edge, n, seed=k + n_learners)
    rate = asymptotic_error(k, n_learners, edge)
    error = strict_loss(votes, y, k).mean()
    assert 0.0 < rate < 1.0
    assert abs(error - rate) <= 3.0 * math.sqrt(rate * (1.0 - rate) / n)


@pytest.mark.parametrize(("k", "n_learners", "edge"), [(2, 5, 0.2), (3, 6, 0.1), (5, 4, 0.3)])
def test_initial_potential_is_the_recursion(k, n_learners, edge):
    exact = reference.zero_one_potential(k, Fraction(edge))(n_learners, 0, (0,) * k)
    assert asymptotic_error(k, n_learners, edge) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("k", "n_learners", "edge"), [(2, 9, 0.2), (4, 12, 0.15), (8, 20, 0.1)])
def test_online_mbbm_reaches_the_rate_of_theorem_2(k, n_learners, edge):
    """With the edge known exactly the bound (6) holds with equality in the mean; with twice the edge, strictly."""
    from edgewise import OnlineMBBM
    from edgewise.learners.weak_learner import PrecomputedVotes

    n = 8_000
    rate = asymptotic_error(k, n_learners, edge)
    margin = 3.0 * math.sqrt(rate * (1.0 - rate) / n)
    for factor in (1, 2):
        y, votes = draw_votes(k, n_learners, factor * edge, n, seed=k)
        model = OnlineMBBM(PrecomputedVotes(), n_learners, edge=edge, vote="argmax", random_state=0)
        trace = model.trace(votes.astype(float), y, classes=np.arange(k))
        assert np.array_equal(trace.votes, votes)
        assert np.array_equal(trace.guesses, counted(votes, k).argmax(axis=1))
        # A tie broken for the lowest label may be right, so guesses err no more often than loss (2) counts.
        assert np.all((trace.guesses != y) <= strict_loss(votes, y, k))
        error = strict_loss(votes, y, k).mean()
        if factor == 1:
            assert abs(error - rate) <= margin
        else:
            assert error < rate - margin


@pytest.mark.parametrize(("k", "n_learners", "edge"), [(2, 6, 0.2), (3, 5, 0.1), (4, 4, 0.3)])
def test_online_mbbm_on_given_votes_is_algorithm_1(k, n_learners, edge):
    from edgewise import OnlineMBBM
    from edgewise.learners.weak_learner import PrecomputedVotes

    y, votes = draw_votes(k, n_learners, edge, 120, seed=7)
    model = OnlineMBBM(PrecomputedVotes(), n_learners, edge=edge, vote="argmax", random_state=0)
    trace = model.trace(votes.astype(float), y, classes=np.arange(k))
    scripts = [Scripted(k, votes[:, i].tolist()) for i in range(n_learners)]
    booster = reference.OnlineMBBM(k, scripts, RunningMoments(0), edge=edge, vote="argmax")
    assert_same_rounds(trace, [booster.round([], [], int(label)) for label in y])


@pytest.fixture(scope="module")
def adaptive_run():
    """AdaBoost.OLM over learners of known edge: its trace, the labels and the votes."""
    from edgewise import AdaBoostOLM
    from edgewise.learners.weak_learner import PrecomputedVotes

    k, edges, n = 3, (0.5, 0.05, 0.3, 0.0, 0.4, 0.2), 6_000
    y, votes = draw_votes(k, len(edges), 0.0, n, seed=11)
    rng = np.random.default_rng(12)
    votes = np.where(rng.random(votes.shape) < np.array(edges), y[:, None], votes)
    model = AdaBoostOLM.preset("paper", estimator=PrecomputedVotes(), n_estimators=len(edges), random_state=5)
    trace = model.trace(votes.astype(float), y, classes=np.arange(k))
    return k, edges, y, votes, model, trace


def test_empirical_edges_are_the_true_ones(adaptive_run):
    """Cost rows sum to 0, so C(y, vote) has mean gamma * C(y, y): their sums differ by a martingale."""
    k, edges, y, votes, model, trace = adaptive_run
    assert np.array_equal(trace.votes, votes)
    right = -(k - 1) * trace.importances
    for i, edge in enumerate(edges):
        total = right[:, i].sum()
        scores = np.zeros((len(y), k))
        for j in range(i):
            scores[np.arange(len(y)), votes[:, j]] += trace.learner_weights[:, j]
        costs = np.array([cost_matrix("logistic", s)[label] for s, label in zip(scores.tolist(), y, strict=True)])
        assert_close(costs[np.arange(len(y)), y], right[:, i])
        paid = costs[np.arange(len(y)), votes[:, i]]
        steps = math.sqrt(((paid - edge * right[:, i]) ** 2).sum())
        assert model.edges_[i] == pytest.approx(paid.sum() / total, rel=1e-9)
        assert abs(model.edges_[i] - edge) <= 3.0 * steps / abs(total)


def test_learner_weights_keep_the_regret_of_section_4_2(adaptive_run):
    """sum f(alpha_t) - min over F of sum f(alpha) <= 4 sqrt 2 (k - 1) sqrt T, and the weights order as the edges do."""
    k, edges, y, votes, model, trace = adaptive_run
    rows = np.arange(len(y))
    scores = np.zeros((len(y), k))

    def total_loss(s: np.ndarray) -> float:
        gaps = s - s[rows, y][:, None]
        return float(np.logaddexp(0.0, gaps).sum() - len(y) * math.log(2.0))

    for i in range(len(edges)):
        fixed = []
        for alpha in np.linspace(-2.0, 2.0, 81):
            moved = scores.copy()
            moved[rows, votes[:, i]] += alpha
            fixed.append(total_loss(moved))
        before = total_loss(scores)
        scores[rows, votes[:, i]] += trace.learner_weights[:, i]
        suffered = total_loss(scores)
        assert suffered <= min(fixed) + 4.0 * math.sqrt(2.0) * (k - 1) * math.sqrt(len(y))
        if edges[i] >= 0.2:
            assert suffered < before
    assert np.argmax(model.learner_weights_) == np.argmax(edges)


def test_hedge_keeps_up_with_the_best_expert(adaptive_run):
    """Mean mistakes of Hedge with step 1 are at most (best + ln N) / (1 - 1/e); the draws scatter around that mean."""
    _, edges, y, _, _, trace = adaptive_run
    wrong = (trace.expert_labels != y[:, None]).astype(float)
    before = np.vstack([np.zeros(len(edges)), np.cumsum(wrong, axis=0)[:-1]])
    assert np.array_equal(trace.expert_losses, before)
    v = np.exp(before.min(axis=1, keepdims=True) - before)
    chance = (v * wrong).sum(axis=1) / v.sum(axis=1)
    best = wrong.sum(axis=0).min()
    assert chance.sum() <= (best + math.log(len(edges))) / (1.0 - math.exp(-1.0))
    spread = math.sqrt((chance * (1.0 - chance)).sum())
    assert abs((trace.guesses != y).sum() - chance.sum()) <= 3.0 * spread + 1e-9
