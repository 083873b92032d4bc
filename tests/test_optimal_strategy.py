"""The optimal strategy: its potentials against the recurrence, Theorem 4 with simulated and real learners."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import edgewise as ew
from edgewise import reference
from edgewise.reference.batch import exponential_loss, minimax_potential
from edgewise.reference.online_mbbm import add_vote, baseline, zero_one_loss, zero_one_potential
from edgewise.theory.cost_matrices import (
    best_weight,
    exponential_potential,
    first_costs,
    growth,
    kappa,
    pairwise_step,
    prescribed_costs,
    zero_one_costs,
)
from edgewise.theory.potentials import potential, zero_one_potentials
from tests.simulated_learners import Grudging, Guessing
from tests.small_streams import mixed_stream
from tests.test_adaboost_mm import plain_learner

# Potentials are sums of terms of about 1; 1e-9 is the tolerance of the linear programs.
TIGHT = 1e-9


def cone_minimum(after, b):
    """The right hand side of eq. (4): min over c with c(1) <= c(l) of max over p with E_p c <= <b, c> of E_p after.

    The inner maximum is, by duality, min over lambda >= 0 of max over l of after(l) - lambda (c(l) - <b, c>), and
    lambda can be taken into c, for the c form a cone. What remains is one linear program in (v, c): min v such that
    v >= after(l) - c(l) + <b, c> for all l, and c(1) <= c(l).
    """
    k = len(after)
    rows, limits = [], []
    for l in range(k):
        rows.append([-1.0] + [b[j] - (j == l) for j in range(k)])
        limits.append(-after[l])
        if l > 0:
            rows.append([0.0, 1.0] + [-1.0 * (j == l) for j in range(1, k)])
            limits.append(0.0)
    done = linprog([1.0] + [0.0] * k, A_ub=rows, b_ub=limits, bounds=[(None, None)] * (k + 1))
    assert done.status == 0
    return done.fun


def states(k, most):
    """Vote counts of up to `most` votes."""
    if k == 1:
        return [(c,) for c in range(most + 1)]
    return [(c, *rest) for c in range(most + 1) for rest in states(k - 1, most - c)]


# Potentials: recurrence (4), Theorem 5, Lemma 1


@pytest.mark.parametrize(("k", "edge"), [(2, 0.3), (3, 0.1), (3, 0.6), (4, 0.2)])
def test_zero_one_potential_solves_the_recurrence(k, edge):
    rounds = 4 if k < 4 else 3
    phi = minimax_potential(lambda s: zero_one_loss(0, s), baseline(k, 0, edge), cone_minimum)
    tables = zero_one_potentials(k, rounds, edge)
    for s in states(k, 2):
        for t in range(rounds + 1 - sum(s)):
            assert potential(tables, t, 0, np.array(s)) == pytest.approx(phi(t, s), abs=TIGHT)


@pytest.mark.parametrize(("k", "edge", "eta"), [(2, 0.3, 0.5), (3, 0.1, 1.0), (3, 0.6, 0.2), (4, 0.2, 0.7)])
def test_exponential_potential_solves_the_recurrence(k, edge, eta):
    phi = minimax_potential(lambda s: exponential_loss(0, s, eta), baseline(k, 0, edge), cone_minimum)
    for s in states(k, 2):
        for t in range(4):
            assert exponential_potential(k, edge, eta, t, np.array(s), 0) == pytest.approx(phi(t, s), rel=TIGHT)


def test_kappa_is_the_papers():
    rng = np.random.default_rng(0)
    for _ in range(50):
        k, edge, weight = int(rng.integers(2, 20)), rng.uniform(0.01, 0.99), rng.uniform(0.01, 3.0)
        up, down = math.exp(weight), math.exp(-weight)
        printed = 1 + (1 - edge) / k * (up + down - 2) - (1 - down) * edge
        assert kappa(k, edge, weight) == pytest.approx(printed, rel=1e-12)
        b = baseline(k, 0, edge)
        assert growth(b[0], b[1], weight) == pytest.approx(sum(
            b[l] * math.exp(weight * ((l == 1) - (l == 0))) for l in range(k)
        ))  # fmt: skip
        best = best_weight(k, edge)
        assert kappa(k, edge, best) <= min(kappa(k, edge, best + step) for step in (-1e-4, 1e-4))


# Costs: Theorem 5, equations (5) and (6)


@pytest.mark.plain
def test_zero_one_costs_are_potentials_of_the_next_states():
    k, rounds, edge = 3, 6, 0.2
    phi = zero_one_potential(k, edge)
    tables = zero_one_potentials(k, rounds, edge)
    rng = np.random.default_rng(0)
    votes = np.array([rng.multinomial(m, [1 / k] * k) for m in rng.integers(0, 4, 30)]).astype(float)
    labels, weights, costs = rng.integers(0, k, 30), rng.random(30), np.zeros((30, k))
    for to_go in range(3):
        zero_one_costs(tables, to_go, votes, labels, weights, costs)
        for i in range(30):
            s, r = tuple(int(v) for v in votes[i]), int(labels[i])
            after = [phi(to_go, r, add_vote(s, l)) for l in range(k)]
            np.testing.assert_allclose(costs[i], weights[i] * (np.array(after) - after[r]), atol=1e-12)
            assert costs[i].min() == costs[i, r] == 0.0, "costs lie in C^eor"


@pytest.mark.plain
def test_exponential_costs_are_those_of_the_paper():
    """(6) from (7), and (6) up to a factor and a shift of each row the potentials of the next states."""
    rng = np.random.default_rng(1)
    n, k, eta, edge = 25, 4, 0.6, 0.15
    labels = rng.integers(0, k, n)
    pairwise, counts = first_costs(labels, np.ones(n), k, 1.0 - k, 1.0), np.zeros((n, k))
    for _ in range(5):
        votes = rng.integers(0, k, n)
        pairwise_step(pairwise, labels, votes, math.exp(eta), math.exp(-eta), 1.0)
        counts[np.arange(n), votes] += 1
    costs = np.zeros((n, k))
    prescribed_costs(pairwise, labels, math.expm1(eta), -math.expm1(-eta), costs)
    for i in range(n):
        y, gaps = labels[i], eta * (counts[i] - counts[i, labels[i]])
        wrong = [l for l in range(k) if l != y]
        printed = (math.exp(eta) - 1) * np.exp(gaps)
        printed[y] = (math.exp(-eta) - 1) * sum(math.exp(gaps[l]) for l in wrong)
        np.testing.assert_allclose(costs[i], printed, rtol=1e-12)
        to_go = 3
        after = [exponential_potential(k, edge, eta, to_go, counts[i] + np.eye(k)[l], y) for l in range(k)]
        now = exponential_potential(k, edge, eta, to_go, counts[i], y)
        np.testing.assert_allclose((np.array(after) - now) / kappa(k, edge, eta) ** to_go, printed, rtol=1e-9)


# The strategy


@pytest.mark.plain
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["zero_one", "exponential"])
@pytest.mark.parametrize(("k", "edge"), [(2, 0.3), (3, 0.1), (4, 0.2)])
def test_strategy_is_its_twin(k, edge, loss, weighted):
    """The same trees, edges, errors and average potentials."""
    X, y = mixed_stream(n=50, k=k, seed=k)
    labels = np.unique(y, return_inverse=True)[1].tolist()
    weights = np.random.default_rng(k).uniform(0.2, 3.0, 50) if weighted else np.ones(50)
    tree, rounds, eta = ew.CostTree(max_leaves=4, max_bins=6), 5, best_weight(k, edge)
    model = ew.OptimalStrategy(tree, rounds, edge, loss=loss).fit(X, y, sample_weight=weights if weighted else None)
    if loss == "zero_one":
        phi = zero_one_potential(k, Fraction(edge))
    else:
        of_label = [
            reference.potential(lambda s, r=r: exponential_loss(r, s, eta), baseline(k, r, edge)) for r in range(k)
        ]
        phi = lambda m, r, s: of_label[r](m, s)  # noqa: E731
    learner = plain_learner(tree, X, weights)
    played = reference.optimal_strategy(labels, k, weights.tolist(), learner, rounds, phi)
    assert len(model.estimators_) == len(played) > 1
    np.testing.assert_allclose(model.edges_, [r.edge for r in played], rtol=1e-9)
    np.testing.assert_allclose(model.train_errors_, [r.error for r in played], atol=1e-12)
    np.testing.assert_allclose(model.potentials_[1:], [r.bound for r in played], rtol=1e-9, atol=1e-15)
    for fitted, happened in zip(model.estimators_, played, strict=True):
        assert fitted.predict(X).tolist() == happened.votes


# Theorem 4


def never_rises(model):
    """In no round in which the learner kept the edge."""
    rises = np.diff(model.potentials_)
    return (rises[model.met_] <= 1e-12 * model.potentials_[0]).all()


def training_loss(model, X, y, sample_weight=None):
    """Of the final scores, straight from the definition."""
    scores = np.zeros((len(y), model.classes_.size))
    for learner, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        scores[np.arange(len(y)), learner.predict(X)] += alpha
    labels = np.searchsorted(model.classes_, y)
    right = scores[np.arange(len(y)), labels][:, None]
    others = np.delete(scores, 0, axis=1)
    for i, label in enumerate(labels):
        others[i] = np.delete(scores[i], label)
    losses = (others >= right).any(axis=1) if model.loss == "zero_one" else np.exp(others - right).sum(axis=1)
    return np.average(losses, weights=sample_weight)


@pytest.mark.parametrize("loss", ["zero_one", "exponential"])
@pytest.mark.parametrize(("k", "edge"), [(2, 0.2), (3, 0.1), (5, 0.3)])
def test_potential_never_rises_with_a_learner_of_the_edge(loss, k, edge):
    """The learner gives the edge and no more."""
    X, y = ew.as_table(np.arange(500.0)[:, None]), np.arange(500) % k
    model = ew.OptimalStrategy(Grudging(edge + 1e-9), 40, edge, loss=loss).fit(X, y)
    assert model.met_.all()
    assert never_rises(model)
    assert training_loss(model, X, y) == pytest.approx(model.potentials_[-1], rel=1e-9, abs=1e-12)
    assert model.train_errors_[-1] <= model.potentials_[-1] + 1e-12 <= model.potentials_[0] + 2e-12


@pytest.mark.parametrize(("k", "edge"), [(2, 0.2), (3, 0.1), (5, 0.3)])
def test_a_grudging_learner_leaves_what_theorem_4_promises(k, edge):
    """No booster can do better against such a learner when there are many examples: the promise is nearly exact.

    A round's condition is overshot by less than the cost of one example of 3,000, and there are 40 rounds.
    """
    X, y = np.arange(3000.0)[:, None], np.arange(3000) % k
    model = ew.OptimalStrategy(Grudging(edge + 1e-9), 40, edge).fit(X, y)
    assert model.potentials_[0] - 40 / 3000 < model.potentials_[-1] <= model.potentials_[0] + 1e-12


@pytest.mark.parametrize("loss", ["zero_one", "exponential"])
def test_a_learner_that_fails_is_told(loss):
    """Answers drawn with a smaller edge: the condition fails in rounds, and there alone may the potential rise."""
    X, y = ew.as_table(np.arange(400.0)[:, None]), np.arange(400) % 3
    model = ew.OptimalStrategy(Guessing(0.1), 50, 0.2, loss=loss, random_state=0).fit(X, y)
    assert not model.met_.all()
    assert never_rises(model)
    assert (np.diff(model.potentials_) > 0.0).any()
    assert training_loss(model, X, y) == pytest.approx(model.potentials_[-1], rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_and_weights_given_in_advance(weighted):
    """Equation (6): a falling sequence of edges, with the best weights and with others."""
    X, y = mixed_stream(n=300, k=4, seed=0)
    weights = np.random.default_rng(0).exponential(size=300) if weighted else None
    edges = np.linspace(0.3, 0.05, 30)
    for alphas in (None, 0.2, np.linspace(0.5, 0.1, 30)):
        model = ew.OptimalStrategy(ew.CostTree(4), 30, edges, loss="exponential", weights=alphas).fit(X, y, weights)
        given = [best_weight(4, edge) for edge in edges] if alphas is None else np.broadcast_to(alphas, 30)
        np.testing.assert_allclose(model.estimator_weights_, given)
        factors = [kappa(4, edge, alpha) for edge, alpha in zip(edges, given, strict=True)]
        assert model.potentials_[0] == pytest.approx(3 * math.prod(factors))
        assert never_rises(model)
        assert model.potentials_[-1] == pytest.approx(training_loss(model, X, y, weights), rel=1e-9)
        assert model.train_errors_[-1] <= model.potentials_[-1]
        # From round to round the loss moves by kappa at the edge that the learner had: Lemma 1 is an identity.
        losses = model.potentials_ / [math.prod(factors[t:]) for t in range(31)]
        moved = [kappa(4, edge, alpha) for edge, alpha in zip(model.edges_, given, strict=True)]
        np.testing.assert_allclose(losses[1:] / losses[:-1], moved, rtol=1e-9)


@pytest.mark.parametrize("loss", ["zero_one", "exponential"])
def test_theorem_4_on_real_data(loss):
    X, y = ew.datasets.load("car")
    model = ew.OptimalStrategy(ew.CostTree(5), 40, 0.15, loss=loss).fit(X, y)
    assert never_rises(model)
    assert model.met_.mean() > 0.8
    assert training_loss(model, X, y) == pytest.approx(model.potentials_[-1], rel=1e-9)
    if model.met_.all():
        assert model.train_errors_[-1] <= model.potentials_[0]


def test_play_ends_when_all_is_decided():
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    model = ew.OptimalStrategy(ew.CostTree(3), 20, 0.4).fit(X, y)
    assert model.stopped_ == "decided"
    assert 10 < len(model.estimators_) < 20
    assert model.potentials_[-1] == model.train_errors_[-1] == 0.0


def test_stages_and_probabilities():
    X, y = mixed_stream(n=200, k=3, seed=2)
    for loss in ("zero_one", "exponential"):
        model = ew.OptimalStrategy(ew.CostTree(4), 15, 0.1, loss=loss).fit(X, y)
        errors = [np.mean(stage != y) for stage in model.staged_predict(X)]
        np.testing.assert_allclose(errors, model.train_errors_, atol=1e-12)
        chances = model.predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).all()


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"edge": 0.0}, r"edge=0\.0: the edge gamma lies strictly between 0 and 1"),
        ({"edge": 1.0}, r"edge=1\.0"),
        ({"edge": -0.2}, r"edge=-0\.2"),
        ({"edge": float("nan")}, r"edge=nan"),
        ({"edge": "much"}, r"edge='much': a number, or one for each of the 5 rounds"),
        ({"edge": [0.1] * 4, "loss": "exponential"}, r"one for each of the 5 rounds"),
        ({"edge": [0.1] * 5}, r"a sequence of edges needs loss='exponential'"),
        ({"edge": [0.1, 0.1, 0.1, 0.1, 1.5], "loss": "exponential"}, r"strictly between 0 and 1"),
        ({"weights": 1.0}, r"weights=1\.0: with loss='zero_one' every vote counts 1"),
        ({"weights": -1.0, "loss": "exponential"}, r"weights=-1\.0: weights of votes are finite and above 0"),
        ({"weights": [1.0], "loss": "exponential"}, r"one for each of the 5 rounds"),
        ({"loss": "hinge"}, r"loss='hinge': one of zero_one, exponential is needed"),
        ({"n_estimators": 0}, r"n_estimators=0: a whole number of at least 1"),
        ({"estimator": "tree"}, r"estimator='tree': a weak learner takes costs"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ew.OptimalStrategy(**({"n_estimators": 5} | parameters)).fit([[0.0], [1.0]], [0, 1])


def test_one_class():
    with pytest.raises(ValueError, match="1 class"):
        ew.OptimalStrategy(n_estimators=3).fit([[0.0], [1.0]], [1, 1])
