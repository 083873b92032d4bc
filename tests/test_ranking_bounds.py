"""What Theorem 2, Corollary 3 and the corrected Theorem 5 say of label rankings holds on runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.reference import ranking_losses as reference
from edgewise.theory.bounds import adaptive_rank_bound, progress
from edgewise.theory.ranking import pair_potentials, with_sizes
from tests.label_streams import label_set_stream

TREE = ew.HoeffdingTree(grace_period=5, tie_threshold=0.5, importance_scale=5.0)


def votes_with_edge(n: int, k: int, size: int, edges: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Label sets of one size, and labels drawn from u_gamma^Y, gamma = edges[i] for learner i."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, k), int)
    for t in range(n):
        Y[t, rng.choice(k, size, replace=False)] = 1
    a = (1.0 - edges * size) / k
    cut = rng.random((n, edges.size))
    relevant = rng.random((n, edges.size)) < (a + edges) * size
    inside = np.array([np.flatnonzero(row) for row in Y])
    outside = np.array([np.flatnonzero(row == 0) for row in Y])
    rows = np.arange(n)[:, None]
    votes = np.where(relevant, inside[rows, (cut * size).astype(int)], outside[rows, (cut * (k - size)).astype(int)])
    return votes.astype(float), Y


def losses(name: str, scores: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.array(
        [reference.LOSSES[name](s.tolist(), set(np.flatnonzero(y))) for s, y in zip(scores, Y, strict=True)]
    )


@pytest.mark.parametrize("edge", [0.02, 0.15, 0.6])
def test_theorem_2_is_an_identity_for_label_votes_and_the_rank_loss(edge):
    X, Y = label_set_stream(300)
    model = ew.OnlineBMR(TREE, 12, loss="rank", edge=edge, random_state=1)
    model.prequential(X, Y)
    bound = model.bound()
    assert bound.value == pytest.approx(model.rank_loss_, abs=1e-8)
    assert bound.loss == model.rank_loss_ > 10.0


@pytest.mark.parametrize("edge", [0.02, 0.15, 0.6])
@pytest.mark.parametrize("vote", ["label", "set", "distribution"])
def test_theorem_2_bounds_the_hinge_loss_of_votes_of_any_format(edge, vote):
    X, Y = label_set_stream(300, one_sided=0.0)
    model = ew.OnlineBMR(TREE, 12, edge=edge, vote=vote, random_state=1)
    scores = model.prequential(X, Y)
    hinge = losses("hinge", scores, Y).sum()
    value = model.bound().value
    assert value >= hinge - 1e-8 if vote != "label" else value == pytest.approx(hinge, abs=1e-8)
    assert hinge >= losses("rank", scores, Y).sum() == pytest.approx(model.rank_loss_)


@pytest.mark.parametrize(("k", "size", "n_learners", "edge"), [(4, 1, 25, 0.2), (5, 2, 20, 0.2), (8, 3, 30, 0.15)])
def test_learners_of_exactly_the_assumed_edge_lose_what_the_potential_says(k, size, n_learners, edge):
    """Corollary 3 with equality in the mean: rank loss phi^N(0), below exp(-gamma^2 N / 2); with more edge, less."""
    n = 3000
    start = with_sizes(pair_potentials(k, n_learners, edge), "rank", np.array([size])).start[0]
    assert start <= math.exp(-(edge**2) * n_learners / 2.0)
    for factor in (1.0, 1.5):
        votes, Y = votes_with_edge(n, k, size, np.full(n_learners, factor * edge), seed=k)
        model = ew.OnlineBMR(PrecomputedVotes(), n_learners, edge=edge, loss="rank")
        lost = losses("rank", model.prequential(votes, Y), Y)
        margin = 3.0 * lost.std() / math.sqrt(n)
        bound = model.bound()
        assert bound.leading == pytest.approx(start)
        assert bound.value == pytest.approx(lost.sum(), abs=1e-7)
        if factor == 1.0:
            assert abs(lost.mean() - start) <= margin
        else:
            assert lost.mean() < start - margin


def test_edges_of_simulated_learners_are_found():
    """Both rankers measure the edge that votes were drawn with; a learner below random has a negative one."""
    k, size, n = 5, 2, 4000
    edges = np.array([0.3, 0.0, -0.15, 0.2, 0.1])
    votes, Y = votes_with_edge(n, k, size, edges, seed=3)
    for model in (ew.OnlineBMR(PrecomputedVotes(), 5, edge=0.1), ew.AdaOLMR(PrecomputedVotes(), 5, random_state=0)):
        model.partial_fit(votes, Y)
        np.testing.assert_allclose(model.edges_, edges, rtol=0.0, atol=0.05)
    weights = model.learner_weights_
    assert weights[2] < 0.0 < weights[3]
    assert np.argmax(weights) == 0


@pytest.mark.parametrize("seed", range(4))
def test_theorem_5_corrected_holds_for_experts_and_draws(seed):
    """Strong learners and many rounds, or the bound would say nothing."""
    k, size = 4, 1 + seed % 2
    edges = np.full(12, 0.9 / size if seed < 2 else 0.7 / size)
    votes, Y = votes_with_edge(12_000, k, size, edges, seed)
    model = ew.AdaOLMR(PrecomputedVotes(), 12, random_state=seed)
    model.partial_fit(votes, Y)
    bound = model.bound()
    assert bound.best_expert == model.expert_losses_[:-1].min()
    assert bound.best_expert <= bound.expert_value
    assert bound.loss <= bound.value
    if size == 1 and seed < 2:
        assert bound.expert_value < 0.5 * bound.rounds, "the bound must say something, or nothing is tested"


def test_only_the_drawn_expert_has_a_bound():
    X, Y = label_set_stream(120)
    for follow in ("mean", "best"):
        bound = ew.AdaOLMR(TREE, 6, follow=follow, random_state=0).partial_fit(X, Y).bound()
        assert bound.value == math.inf
        assert bound.expert_value is not None
        assert "the bound says nothing yet" in str(bound)
    alone = ew.AdaOLMR(TREE, 1, random_state=0).partial_fit(X, Y).bound()
    assert alone.value == math.inf  # W_1 is known, so expert 1 gets no bound from learner 1


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(-1.0, 1.0)), min_size=1, max_size=8), st.floats(-2.0, 2.0))
def test_the_inequality_that_replaces_jensen(terms, alpha):
    """sum a_j (exp(-alpha b_j) - 1) <= cosh(alpha) - 1 - gamma sinh(alpha), and its minimum is -g_F(gamma)."""
    a = np.array([x for x, _ in terms]) / sum(x for x, _ in terms)
    b = np.array([x for _, x in terms])
    gamma = float(a @ b)
    left = float(a @ np.expm1(-alpha * b))
    assert left <= math.cosh(alpha) - 1.0 - gamma * math.sinh(alpha) + 1e-12
    assert left >= math.expm1(-alpha * gamma) - 1e-12  # Jensen's direction, against the paper's
    grid = np.linspace(-2.0, 2.0, 401)
    best = min(float(a @ np.expm1(-x * b)) for x in grid)
    assert best <= -float(progress(np.array([gamma]), -2.0, 2.0)[0]) + 1e-4


def test_the_printed_step_17_is_wrong():
    """A learner that is right with weight .55 and wrong with .45: gamma = .1, but no alpha gains gamma/2."""
    grid = np.linspace(-2.0, 2.0, 4001)
    gain = -(0.55 * np.expm1(-grid) + 0.45 * np.expm1(grid)).min()
    assert gain == pytest.approx(1.0 - math.sqrt(1.0 - 0.1**2), abs=1e-6)
    assert gain < 0.1 / 2.0


def test_constants_of_theorem_5():
    edges = np.array([0.5, 0.5, -0.5])
    g = 1.0 - math.sqrt(0.75)
    bound = adaptive_rank_bound(
        follow="draw", rounds=100, loss=3.0, edges=edges, expert_losses=np.array([7.0, 5.0, 4.0])
    )
    expected = ((2.0 * math.log(2.0) - g) * 100.0 + 18.0 * 3.0 * 10.0) / (2.0 * g)
    assert bound.expert_value == pytest.approx(expected)
    assert bound.best_expert == 5.0
    hedge = (expected + math.log(3.0)) / (1.0 - math.exp(-1.0)) + math.sqrt(50.0 * math.log(20.0))
    assert bound.value == pytest.approx(hedge)
    assert bound.leading == pytest.approx((2.0 * math.log(2.0) - g) / (2.0 * g) / (1.0 - math.exp(-1.0)))
