"""What the theory says of a run holds on runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import edgewise as ew
from edgewise.learners.given_votes import GivenVotes
from edgewise.theory.bounds import adaptive_bound
from edgewise.theory.potentials import asymptotic_error
from tests.small_streams import mixed_stream


def votes_with_edge(n, k, n_learners, edge, seed):
    """Labels, and votes drawn from u_gamma of the label (Appendix B.3)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    votes = np.where(rng.random((n, n_learners)) < edge, y[:, None], rng.integers(0, k, (n, n_learners)))
    return votes.astype(float), y


@pytest.mark.parametrize("vote", ["argmax", "cost"])
def test_theorem_2_is_an_identity_with_the_measured_excess(vote):
    """Summing (15): the errors, a tie counted as one, are phi_N(0) T plus what votes cost beyond the edge."""
    X, y = mixed_stream(400, k=4)
    model = ew.OnlineMBBM(ew.HoeffdingTree(grace_period=5, tie_threshold=0.5), 9, edge=0.15, vote=vote, random_state=1)
    history = model.trace(X, y)
    codes = np.searchsorted(model.classes_, y)
    scores = np.stack([(history.votes == r).sum(axis=1) for r in range(4)], axis=1)
    right = scores[np.arange(400), codes]
    scores[np.arange(400), codes] = -1
    losses = (scores.max(axis=1) >= right).sum()
    bound = model.bound()
    assert bound.value == pytest.approx(losses, abs=1e-8)
    assert bound.mistakes <= bound.value + 1e-8
    assert bound.leading == asymptotic_error(4, 9, 0.15)


@pytest.mark.parametrize(("k", "n", "edge"), [(2, 21, 0.2), (3, 30, 0.2), (5, 25, 0.3), (10, 40, 0.15)])
def test_online_mbbm_with_exact_edges_errs_as_often_as_the_potential_says(k, n, edge):
    votes, y = votes_with_edge(4000, k, n, edge, seed=k)
    model = ew.OnlineMBBM(GivenVotes(), n, edge=edge)
    scores = model.trace(votes, y)
    counts = np.stack([(scores.votes == r).sum(axis=1) for r in range(k)], axis=1)
    right = counts[np.arange(y.size), y]
    counts[np.arange(y.size), y] = -1
    rate = (counts.max(axis=1) >= right).mean()
    expected = asymptotic_error(k, n, edge)
    assert abs(rate - expected) <= 3.0 * math.sqrt(expected * (1.0 - expected) / y.size)
    assert (scores.guesses != y).mean() <= rate


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("edge", [0.1, 0.4, 0.9])
def test_edges_of_learners_of_known_edge_and_theorem_5(edge, seed):
    """gamma_i of a learner that votes from u_gamma is about gamma, and the proof's bound on the best expert holds."""
    votes, y = votes_with_edge(3000, 4, 30, edge, seed)
    model = ew.AdaBoostOLM(GivenVotes(), 30, vote="argmax", random_state=seed)
    model.prequential(votes, y)
    assert abs(model.edges_[0] - edge) < 0.06
    bound = model.bound()
    assert bound.best_expert == model.expert_mistakes_.min()
    assert bound.best_expert <= bound.expert_value
    assert bound.mistakes <= bound.value


@pytest.mark.parametrize("loss", ["logistic", "square_hinge"])
def test_bound_on_the_best_expert_holds_for_trees(loss):
    X, y = mixed_stream(500, k=3, seed=4)
    model = ew.AdaBoostOLM(ew.HoeffdingTree(grace_period=5, tie_threshold=0.5), 12, loss=loss, random_state=1)
    model.prequential(X, y)
    bound = model.bound()
    assert bound.best_expert <= bound.expert_value
    assert (np.abs(model.edges_) <= 1.0).all()
    assert "mistakes in 500 rounds" in str(bound)


def test_theorem_5_leading_term():
    """8 (k - 1) ln 2 T / sum gamma^2 up to the factor of Hedge: 1/(1 - 1/e) instead of the paper's 2."""
    bound = adaptive_bound("logistic", k=5, rounds=10**12, edges=np.full(50, 0.5), mistakes=0, best_expert=0.0)
    paper = 8 * 4 * math.log(2) / (50 * 0.25)
    assert bound.leading == pytest.approx(paper / 2 / (1 - math.exp(-1)))
    assert bound.value / 10**12 == pytest.approx(bound.leading, rel=1e-3)


def test_no_edge_no_bound():
    assert adaptive_bound("logistic", k=3, rounds=9, edges=np.zeros(4), mistakes=1, best_expert=1.0).value == math.inf
