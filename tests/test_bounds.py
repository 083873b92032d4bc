"""What the theory says of a run holds on runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import edgewise as ew
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.theory.bounds import adaptive_bound, progress
from edgewise.theory.losses import LOSSES, cost_row, loss_value
from edgewise.theory.potentials import asymptotic_error
from tests.small_streams import mixed_stream

SETTING = {"follow": "draw", "weight_range": (-2.0, 2.0), "k": 3, "mistakes": 0, "best_expert": 0.0}


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
    model = ew.OnlineMBBM(PrecomputedVotes(), n, edge=edge)
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
    model = ew.AdaBoostOLM.preset(
        "paper", estimator=PrecomputedVotes(), n_estimators=30, vote="argmax", random_state=seed
    )
    model.prequential(votes, y)
    assert abs(model.edges_[0] - edge) < 0.06
    bound = model.bound()
    assert bound.best_expert == model.expert_mistakes_.min()
    assert bound.best_expert <= bound.expert_value
    assert bound.mistakes <= bound.value


@pytest.mark.parametrize("loss", ["logistic", "square_hinge"])
def test_bound_on_the_best_expert_holds_for_trees(loss):
    X, y = mixed_stream(500, k=3, seed=4)
    tree = ew.HoeffdingTree(grace_period=5, tie_threshold=0.5)
    model = ew.AdaBoostOLM.preset("paper", estimator=tree, n_estimators=12, loss=loss, random_state=1)
    model.prequential(X, y)
    bound = model.bound()
    assert bound.best_expert <= bound.expert_value
    assert (np.abs(model.edges_) <= 1.0).all()
    assert "mistakes in 500 rounds" in str(bound)


def test_theorem_5_leading_term():
    """8 (k - 1) ln 2 T / sum gamma^2 up to the factor of Hedge: 1/(1 - 1/e) instead of the paper's 2."""
    bound = adaptive_bound("logistic", rounds=10**12, edges=np.full(50, 0.5), **{**SETTING, "k": 5})
    paper = 8 * 4 * math.log(2) / (50 * 0.25)
    sharper = 2 * (1 - math.sqrt(1 - 0.25)) / 0.25
    assert bound.leading == pytest.approx(paper / 2 / (1 - math.exp(-1)) / sharper)
    assert bound.value / 10**12 == pytest.approx(bound.leading, rel=1e-3)


def test_no_edge_no_bound():
    assert adaptive_bound("logistic", rounds=9, edges=np.zeros(4), **SETTING).value == math.inf


def test_progress_is_at_least_lemma_11():
    """On the paper's F for every edge; on [0, 4] for edges that are not negative. And it is a maximum over F."""
    edges = np.linspace(-1, 1, 401)
    assert (progress(edges, -2.0, 2.0) >= edges**2 / 2 - 1e-15).all()
    assert (progress(edges, 0.0, 4.0) >= np.maximum(edges, 0) ** 2 / 2 - 1e-15).all()
    grid = np.linspace(0.0, 4.0, 2001)
    best = (1 - np.cosh(grid) + edges[:, None] * np.sinh(grid)).max(axis=1)
    np.testing.assert_allclose(progress(edges, 0.0, 4.0), best, atol=1e-5)


@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_per_round_inequality_for_probability_votes(loss):
    """L(s + a h) - L(s) <= sum over labels of h times C (e^a - 1), or C (1 - e^-a) for the right label."""
    rng = np.random.default_rng(3)
    code = LOSSES[loss]
    for _ in range(2000):
        k = rng.integers(2, 8)
        s, h, a, y = rng.normal(0, 3, k), rng.dirichlet(np.full(k, 0.5)), rng.uniform(-2, 4), rng.integers(k)
        costs = np.zeros(k)
        cost_row(code, s, y, costs)
        factor = np.full(k, math.exp(a) - 1)
        factor[y] = 1 - math.exp(-a)
        change = loss_value(code, s + a * h, y) - loss_value(code, s, y)
        assert change <= (h * costs * factor).sum() + 1e-9


@pytest.mark.parametrize("follow", ["vote", "draw"])
@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_the_bound_holds_for_the_defaults_on_real_data(loss, follow):
    X, y = ew.datasets.shuffled(*ew.datasets.load("balance"), 1)
    model = ew.AdaBoostOLM(n_estimators=20, loss=loss, follow=follow, random_state=1)
    model.prequential(X, y)
    bound = model.bound()
    assert bound.best_expert <= bound.expert_value
    assert bound.mistakes <= bound.value
    assert model.edges_[0] > 0.3


def test_following_the_best_expert_has_no_bound():
    assert adaptive_bound("softmax", rounds=9, edges=np.ones(4), **{**SETTING, "follow": "best"}).value == math.inf


def test_one_vs_all_tells_of_every_class_and_has_no_bound():
    X, y = mixed_stream(200, k=4, seed=4)
    model = ew.OneVsAllOLM(n_estimators=5, random_state=1).fit(X, y)
    for told in (model.edges_, model.learner_weights_, model.expert_weights_, model.expert_mistakes_):
        assert told.shape == (4, 5)
    np.testing.assert_allclose(model.expert_weights_.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="OneVsAllOLM has no mistake bound"):
        model.bound()
