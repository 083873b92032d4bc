"""The compiled boosters against their pseudocode, vote by vote, and that pseudocode against hand computations.

Labels must agree exactly. Rows carry random weights, so that two labels are equally likely to a tree only where both
sides find them exactly equal; about one stream in 500 still has a tie that only the last bit of a sum decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from edgewise import reference
from edgewise.reference import RunningMoments
from edgewise.reference.adaboost_olm import LOSSES, draw_expert, hedge_weights, weighted_vote
from edgewise.reference.baselines import poisson
from edgewise.reference.learner import argmin_cost
from edgewise.reference.online_mbbm import importance, normalized_costs, zero_one_potential
from tests.test_twin_tree import LEAVES, Stream, assert_same_structure, plain_trees, random_stream

# The library against the pseudocode


def drawn_tree(seed: int, stream: Stream) -> tuple[Any, dict[str, Any]]:
    """A tree configuration with ranges, and what the plain trees must know beyond the drawn constants."""
    from edgewise import HoeffdingTree

    rng = np.random.default_rng(seed + 2000)
    leaf = LEAVES[seed % 3]
    max_nodes = None if rng.random() < 0.7 else int(rng.integers(3, 12))
    width = sum(stream.counts)
    tree = HoeffdingTree(
        grace_period=(1, 6),
        split_confidence=(0.05, 0.9),
        tie_threshold=(0.1, 0.9),
        leaf_prediction=leaf,
        importance_scale=(0.5, 5.0),
        max_features=None if rng.random() < 0.6 else int(rng.integers(1, width + 1)),
        max_nodes=max_nodes,
    )
    return tree, {"leaf": leaf, "max_nodes": max_nodes}


def learners(seed: int) -> int:
    return 1 + seed % 6


def assert_same_rounds(trace: Any, rounds: Sequence[reference.Round]) -> None:
    """Labels exactly, numbers to 1e-9."""
    assert trace.votes.tolist() == [r.votes for r in rounds]
    assert trace.guesses.tolist() == [r.prediction for r in rounds]
    assert trace.expert_labels.tolist() == [r.expert_labels for r in rounds]
    assert_close(trace.importances, [r.importances for r in rounds])
    assert_close(trace.learner_weights, [r.learner_weights for r in rounds])
    assert_close(trace.expert_losses, [r.expert_losses for r in rounds])


def assert_close(got: np.ndarray, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def assert_same_trees(model: Any, trees: Sequence[Any], columns: list[int], per_learner: int = 1) -> None:
    for i, tree in enumerate(trees):
        assert_same_structure(model.structure(*divmod(i, per_learner)), tree.structure(), columns)


def run(stream: Stream, booster: Any, extra: Any = None) -> list[reference.Round]:
    """Every row of the stream through a plain booster; `extra` holds the uniforms of each round, if it wants any."""
    rounds = []
    for t in range(len(stream.y)):
        draws = () if extra is None else (extra[t],)
        rounds.append(booster.round(*stream.row(t), int(stream.y[t]), *draws, sample_weight=float(stream.weights[t])))
    return rounds


@pytest.mark.parametrize("follow", ["draw", "vote"])
@pytest.mark.parametrize("vote", ["cost", "argmax"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2, 3])
def test_adaboost_olm(seed, loss, vote, follow):
    from edgewise import AdaBoostOLM

    seed = 100 + seed + 4 * LOSSES.index(loss) + 17 * (vote == "cost") + 31 * (follow == "draw")
    stream = random_stream(seed, weighted=True)
    tree, known = drawn_tree(seed, stream)
    model = AdaBoostOLM.preset(
        "paper",
        estimator=tree,
        n_estimators=learners(seed),
        loss=loss,
        vote=vote,
        follow=follow,
        random_state=seed,
    )
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    trees = plain_trees(stream, moments, model.parameters_, **known)
    scales = model.parameters_.importance_scale.tolist()
    booster = reference.AdaBoostOLM(stream.k, trees, moments, scales=scales, loss=loss, vote=vote, follow=follow)
    assert_same_rounds(trace, run(stream, booster, trace.uniforms[:, 0].tolist()))
    assert_same_trees(model, trees, stream.columns)
    assert_close(model.learner_weights_, booster.alpha)
    assert_close(model.edges_, booster.edges())


@pytest.mark.parametrize("vote", ["cost", "argmax"])
@pytest.mark.parametrize("edge", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2, 3])
def test_online_mbbm(seed, edge, vote):
    from edgewise import OnlineMBBM

    seed = 200 + seed + int(100 * edge) + 17 * (vote == "cost")
    stream = random_stream(seed, weighted=True)
    tree, known = drawn_tree(seed, stream)
    model = OnlineMBBM(tree, learners(seed), edge=edge, vote=vote, random_state=seed)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    trees = plain_trees(stream, moments, model.parameters_, **known)
    scales = model.parameters_.importance_scale.tolist()
    booster = reference.OnlineMBBM(stream.k, trees, moments, edge=edge, scales=scales, vote=vote)
    assert_same_rounds(trace, run(stream, booster))
    assert_same_trees(model, trees, stream.columns)


@pytest.mark.parametrize("seed", [pytest.param(s, marks=pytest.mark.plain) if s < 3 else s for s in range(10)])
def test_oza_boost(seed):
    from edgewise import OzaBoost

    seed = 300 + seed
    stream = random_stream(seed, weighted=True)
    tree, known = drawn_tree(seed, stream)
    model = OzaBoost(tree, learners(seed), random_state=seed)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    trees = plain_trees(stream, moments, model.parameters_, **known)
    booster = reference.OzaBoost(stream.k, trees, moments, scales=model.parameters_.importance_scale.tolist())
    assert_same_rounds(trace, run(stream, booster, trace.uniforms.tolist()))
    assert_same_trees(model, trees, stream.columns)


@pytest.mark.parametrize("vote", ["cost", "argmax"])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.plain), 1, 2, 3, 4])
def test_ada_ova(seed, vote):
    from edgewise import AdaOVA

    seed = 400 + seed + 17 * (vote == "cost")
    stream = random_stream(seed, weighted=True)
    tree, known = drawn_tree(seed, stream)
    model = AdaOVA.preset("paper", estimator=tree, n_estimators=learners(seed), vote=vote, random_state=seed)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    kits = [plain_trees(stream, moments, model.parameters_, labels=2, **known) for _ in range(stream.k)]
    groups = [reference.OneVsAllGroup([kit[i] for kit in kits]) for i in range(learners(seed))]
    scales = model.parameters_.importance_scale.tolist()
    booster = reference.AdaBoostOLM(stream.k, groups, moments, scales=scales, vote=vote)
    assert_same_rounds(trace, run(stream, booster, trace.uniforms[:, 0].tolist()))
    assert_same_trees(model, [tree for group in groups for tree in group.learners], stream.columns, stream.k)


@pytest.mark.parametrize("seed", range(6))
def test_hoeffding_forest(seed):
    from edgewise import HoeffdingForest

    seed = 498 + seed  # every third tree has majority leaves, where unit weights leave no tie to rounding
    stream = random_stream(seed, weighted=seed % 3 != 0)
    tree, known = drawn_tree(seed, stream)
    model = HoeffdingForest(tree, learners(seed), random_state=seed)
    guesses = model.prequential(stream.table(), stream.y, sample_weight=stream.weights)

    moments = RunningMoments(stream.counts[0])
    trees = plain_trees(stream, moments, model.parameters_, **known)
    booster = reference.HoeffdingForest(stream.k, trees, moments, scales=model.parameters_.importance_scale.tolist())
    rounds = run(stream, booster)
    assert guesses.tolist() == [r.prediction for r in rounds]
    if seed % 3 == 0:  # prequential_votes takes no weights
        again = HoeffdingForest(tree, learners(seed), random_state=seed)
        assert again.prequential_votes(stream.table(), stream.y).tolist() == [r.votes for r in rounds]
    assert_same_trees(model, trees, stream.columns)


# The pseudocode against hand computations


class Scripted:
    """A learner that votes what it is told, with all its mass, and remembers its training weights."""

    def __init__(self, k: int, votes: Sequence[int]) -> None:
        self.k, self.votes, self.weights = k, list(votes), []

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        said = self.votes[len(self.weights)]
        return [1.0 if l == said else 0.0 for l in range(self.k)]

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        self.weights.append(w)


def test_adaboost_olm_by_hand():
    """k = 2, one learner, right then wrong: alpha 0 -> sqrt 2 -> less."""
    learner = Scripted(2, [1, 0, 0])
    booster = reference.AdaBoostOLM(2, [learner], RunningMoments(0), vote="argmax", scales=[3.0])
    first = booster.round([], [], 1, 0.5)
    assert first == reference.Round(0, [1], [0.5], [0.0], [0], [0.0])  # a tie of zeros: expert says the lowest label
    assert booster.alpha == pytest.approx([math.sqrt(2.0)])  # slope -1/2, step 2 sqrt 2
    second = booster.round([], [], 1, 0.5)
    slope = 1.0 / (1.0 + math.exp(-math.sqrt(2.0)))
    assert second.expert_labels == [0]
    assert booster.alpha == pytest.approx([math.sqrt(2.0) - 2.0 * slope])
    assert booster.mistakes == [2.0]
    assert learner.weights == [1.5, 1.5]
    assert booster.edges() == pytest.approx([0.0])


def test_adaboost_olm_second_learner_sees_the_scores_of_the_first():
    booster = reference.AdaBoostOLM(3, [Scripted(3, [2, 2]), Scripted(3, [0, 1])], RunningMoments(0), vote="argmax")
    booster.round([], [], 2, 0.0)
    # Learner 1 was right: slope -(1/2 + 1/2), step sqrt 2. Learner 2 was wrong: slope 1/2.
    assert booster.alpha == pytest.approx([math.sqrt(2.0), -math.sqrt(0.5)])
    second = booster.round([], [], 2, 0.0)
    assert second.importances == pytest.approx([0.5, 1.0 / (1.0 + math.exp(math.sqrt(2.0)))])
    assert second.expert_labels == [2, 2]


def test_sample_weight_counts_as_often():
    booster = reference.AdaBoostOLM(2, [Scripted(2, [0])], RunningMoments(0), vote="argmax", scales=[2.0])
    booster.round([], [], 1, 0.0, sample_weight=0.25)
    assert booster.learners[0].weights == [0.25]
    assert booster.mistakes == [0.25]
    assert booster.alpha == pytest.approx([-math.sqrt(2.0) / 4.0])


def test_cost_sensitive_vote_by_hand():
    """Nothing is known (uniform p) and expert 1 leans to label 0: voting for another label is cheapest."""
    assert argmin_cost([0.5, 0.5], [[-1.0, 1.0], [1.0, -1.0]]) == 0
    assert argmin_cost([0.4, 0.6], [[-1.0, 1.0], [1.0, -1.0]]) == 1
    assert argmin_cost([0.4, 0.6], [[-2.0, 2.0], [1.0, -1.0]]) == 0
    assert argmin_cost([1.0], [[0.0]]) == 0
    assert argmin_cost([0.5, 0.5], [[0.0, 0.0], [0.0, -1e-12]]) == 0  # within rounding: the lower label stays


def test_hedge_by_hand():
    v = hedge_weights([0.0, math.log(2.0), math.log(4.0)])
    assert v == pytest.approx([1.0, 0.5, 0.25])
    assert [draw_expert(v, u) for u in (0.0, 0.57, 0.58, 0.85, 0.86, 0.999)] == [0, 0, 1, 1, 2, 2]
    assert draw_expert([0.0, 1.0], 0.0) == 1
    assert weighted_vote(v, [0, 1, 1], 3) == 0
    assert weighted_vote([1.0, 1.0], [2, 1], 3) == 1


def test_mbbm_potentials_by_hand():
    """k = 2, edge g: the right label is drawn with p = (1 + g)/2 and must win strictly."""
    edge = Fraction(1, 10)
    p = (1 + edge) / 2
    phi = zero_one_potential(2, edge)
    assert phi(0, 0, (0, 0)) == 1
    assert phi(1, 0, (0, 0)) == 1 - p
    assert phi(3, 1, (0, 0)) == 1 - (p**3 + 3 * p**2 * (1 - p))


def test_mbbm_by_hand():
    """k = 2, N = 2: learner 2's weight is 1 while its vote decides, and importances are divided by w* = 2."""
    booster = reference.OnlineMBBM(
        2, [Scripted(2, [1, 0]), Scripted(2, [1, 1])], RunningMoments(0), edge=0.2, vote="argmax"
    )
    first = booster.round([], [], 1)
    # Learner 1: one vote to go, p = .6. phi_1(e_0) = 1, phi_1(e_1) = 1 - .6 = .4.
    assert first.importances == pytest.approx([0.6 / 2, 1.0 / 2])
    assert first.prediction == 1
    second = booster.round([], [], 1)
    assert second.importances == pytest.approx([0.6 / 2, 0.0])  # a tie at best is an error: learner 2 cannot help
    assert second.prediction == 0


def test_mbbm_costs_are_in_the_simplex():
    booster = reference.OnlineMBBM(4, [Scripted(4, [])] * 5, RunningMoments(0), edge=0.1)
    for to_go, votes in ((4, (0, 0, 0, 0)), (2, (1, 1, 0, 0)), (0, (2, 2, 0, 0))):
        matrix = normalized_costs(booster.phi, to_go, votes)
        weights = [importance(booster.phi, to_go, r, votes) for r in range(4)]
        for r in range(4):
            assert matrix[r][r] == 0.0
            assert min(matrix[r]) >= 0.0
            assert sum(matrix[r]) == pytest.approx(1.0 if weights[r] > 0 else 0.0)
    assert weights[2] == 0.0


def test_poisson_by_hand():
    e = math.exp(-1.0)
    assert [poisson(1.0, u) for u in (0.0, e - 1e-9, e + 1e-9, 2 * e + 1e-9, 2.5 * e + 1e-9)] == [0, 0, 1, 2, 3]
    draws = [poisson(2.5, u) for u in (np.arange(4000) + 0.5) / 4000]
    assert np.mean(draws) == pytest.approx(2.5, abs=0.01)
    assert np.var(draws) == pytest.approx(2.5, abs=0.03)


def test_oza_boost_by_hand():
    """Learner 1 wrong, learner 2 right: lambda 1 -> 1/2 each time, as in Figure 2."""
    booster = reference.OzaBoost(2, [Scripted(2, [0, 0, 0]), Scripted(2, [1, 0, 1])], RunningMoments(0))
    first = booster.round([], [], 1, [0.5, 0.5])
    assert first.learner_weights == [0.0, 0.0]
    assert first.importances == [1.0, 0.0]  # CDF of Poisson(1/2) at 0 is .61
    assert (booster.right, booster.wrong) == ([0.0, 0.5], [1.0, 0.0])
    booster.round([], [], 0, [0.5, 0.5])
    # Learner 1: right 1, wrong 1, so lambda stays 1; learner 2: right 1/2 + 1 of 3/2.
    assert (booster.right, booster.wrong) == ([1.0, 1.5], [1.0, 0.0])
    third = booster.round([], [], 1, [0.5, 0.5])
    assert third.learner_weights == pytest.approx([0.0, math.log((1 - 1e-10) / 1e-10)])
    assert third.prediction == 1


def test_one_vs_all_group_by_hand():
    class Fixed:
        def __init__(self, positive: float) -> None:
            self.positive, self.learned = positive, []

        def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
            return [1.0 - self.positive, self.positive]

        def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
            self.learned.append((y, w))

    trees = [Fixed(0.2), Fixed(0.5), Fixed(0.1)]
    group = reference.OneVsAllGroup(trees)
    assert group.predict_proba([], []) == pytest.approx([0.25, 0.625, 0.125])
    group.update([], [], 2, 0.7)
    assert [tree.learned for tree in trees] == [[(0, 0.7)], [(0, 0.7)], [(1, 0.7)]]
