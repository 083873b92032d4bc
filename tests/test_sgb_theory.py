"""What the theorems of Hu et al. 2017 say, on runs: the counterexample of Appendix D, and bounds beside regrets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import edgewise as ew
from edgewise.models.streaming_gradient_boosting import class_targets
from edgewise.theory import bounds as gb
from edgewise.theory import regression_losses as rl
from tests.small_streams import mixed_stream
from tests.test_sgb_twins import real_stream


class TwoKinks:
    """2 |y_1| + |y_2| + regularization ||y||^2: the loss of Appendix D, made strongly convex; least at 0."""

    smoothness = math.inf
    domain = None

    def __init__(self, regularization=0.0):
        self.regularization = regularization
        self.strong_convexity = 2.0 * regularization

    def value(self, predictions, targets):
        return np.abs(predictions) @ [2.0, 1.0] + self.regularization * (predictions**2).sum(axis=1)

    def gradient(self, predictions, targets):
        side = np.where(predictions >= 0.0, 1.0, -1.0)  # one of the four subgradients, as the paper has it
        return side * [2.0, 1.0] + 2.0 * self.regularization * predictions

    def least(self, targets):
        return np.zeros(len(targets))


class OneCoordinate:
    """Appendix D's learner: follow the leader among (a, 0) and (0, a); `keep` is what a round leaves of the last."""

    def __init__(self, keep=1.0):
        self.keep, self.count, self.total = keep, 0.0, np.zeros(2)

    def predict_one(self, row):
        h = np.zeros(2)
        if self.count:
            # coordinate j, with a = mean_j, takes count mean_j^2 off the squared loss
            mean = self.total / self.count
            j = int(np.argmax(np.abs(mean)))
            h[j] = mean[j]
        return h

    def learn_one(self, row, target, weight):
        self.count = self.keep * self.count + weight
        self.total = self.keep * self.total + weight * target


def play_appendix_d(learner, rule, n_learners, rate, rounds):
    """Mean regret over the second half of the rounds, the predictions there, and the model."""
    loss = TwoKinks(0.5)
    model = ew.StreamingGradientBoostingRegressor(
        learner, n_learners, loss=loss, rule=rule, learning_rate=rate, start=[1.5, 1.0]
    )
    X, u = np.zeros((rounds, 1)), np.zeros((rounds, 2))
    tail = model.prequential(X, u)[rounds // 2 :]
    return loss.value(tail, u[: len(tail)]).mean(), tail, model


def test_appendix_d_algorithm_1_never_moves_the_second_coordinate():
    """Its regret is at least b T, however many learners there are and however long it runs.

    The step must keep the first coordinate from crossing 0: where its gradient changes sign from round to round its
    mean vanishes, and the leader is (0, a) after all. The paper's "no matter what the sequence" leaves this out.
    """
    for n_learners in (2, 10, 50):
        for rounds in (50, 200):
            regret, tail, model = play_appendix_d(OneCoordinate(), "smooth", n_learners, 0.4 / n_learners, rounds)
            np.testing.assert_array_equal(tail[:, 1], 1.0)
            assert (tail[:, 0] > 0.0).all()
            assert regret >= 1.0
            assert model.loss_sum_ >= rounds * 1.0


def test_appendix_d_algorithm_2_comes_closer_with_every_doubling_of_the_learners():
    """The learners remember the last round only: all rounds are alike, so learner i is settled after i of them.

    (Leaders of all rounds settle too, but the i-th averages what i - 1 unsettled ones made it see.)
    """
    regrets = []
    for n_learners in (8, 16, 32, 64, 128):
        regret, tail, model = play_appendix_d(OneCoordinate(0.0), "residual", n_learners, None, 4 * n_learners)
        regrets.append(regret)
        assert np.abs(tail[:, 1]).max() < 0.9, "the residual must move the second coordinate"
        assert model.bound().theorem == "Theorem 5.2"
    assert all(later < 0.75 * earlier for earlier, later in itertools.pairwise(regrets)), regrets
    assert regrets[-1] < 0.1
    leaders, _, _ = play_appendix_d(OneCoordinate(), "residual", 16, None, 300)
    assert leaders < 0.5


def test_theorem_5_1_is_an_equality_for_the_squared_loss():
    X, u = real_stream(250)
    model = ew.StreamingGradientBoostingRegressor(n_estimators=12, random_state=0)
    model.prequential(X, u)
    bound = model.bound()
    assert bound.regret == pytest.approx(model.loss_sum_ / 250)
    assert bound.value == pytest.approx(bound.regret, rel=1e-9)


@pytest.mark.parametrize(
    ("loss", "k"), [(rl.LogisticLoss(0.05), 2), (rl.SoftmaxLoss(0.05), 3), (rl.LogisticLoss(0.02), 3)]
)
def test_theorem_5_1_holds_for_measured_sums(loss, k):
    X, y = mixed_stream(400, k=k)
    model = ew.StreamingGradientBoostingClassifier(n_estimators=10, loss=loss, random_state=0)
    model.prequential(X, y)
    bound = model.bound()
    assert 0.0 < bound.regret <= bound.value < math.inf
    least = loss.least(class_targets(np.zeros(1, int), k, loss))[0]
    assert bound.regret == pytest.approx(model.loss_sum_ / 400 - least)


@pytest.mark.parametrize("edge", [0.1, 0.5, 0.9])
def test_learners_of_known_edge_shrink_the_regret_as_theorem_5_1_promises(edge):
    """Each learner says the gradient and noise of just the size that Definition 4.1 allows."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=(2000, 2))
    y = np.zeros((2000, 2))
    loss = rl.SquaredLoss()
    rate = gb.step_from_edge(edge, 1.0)
    largest = loss.value(y, u).max()
    for n in range(1, 40):
        nabla = loss.gradient(y, u)
        noise = rng.normal(size=nabla.shape)
        noise *= math.sqrt((1.0 - edge) * (nabla**2).sum() / (noise**2).sum())
        h = nabla - noise
        assert 1.0 - ((nabla - h) ** 2).sum() / (nabla**2).sum() == pytest.approx(edge)
        y = y - rate * h
        assert loss.value(y, u).mean() <= gb.smooth_rate(edge, n, 1.0, 1.0, largest)


def test_the_step_of_equation_28_is_taken_from_the_edge():
    X, u = real_stream(30)
    model = ew.StreamingGradientBoostingRegressor(n_estimators=3, edge=0.5, loss="huber").fit(X, u)
    np.testing.assert_allclose(model.learning_rates_, 0.5 / (8.0 - 2.0))
    # eq. (29) at this step: C = 1 - gamma^2 lambda / (beta (16 - 8 gamma))
    of_target, edge = 7.0, 0.5
    of_error = (1.0 - edge) * of_target
    worst = gb.shrinkage(of_target, of_error, (4.0 - 2.0 * edge) * of_target, gb.step_from_edge(edge, 2.0), 0.3, 2.0)
    assert worst <= 1.0 - edge**2 * 0.3 / (2.0 * (16.0 - 8.0 * edge))


@pytest.mark.parametrize("edge", [0.2, 0.5, 0.9])
def test_learners_of_known_edge_keep_theorem_5_2_and_lemma_c_1(edge):
    """The same for Algorithm 2 and a loss with a kink; norms of residuals and predictions stay below Lemma C.1 too."""
    rng = np.random.default_rng(2)
    rounds = 500
    u = rng.normal(size=(rounds, 2))
    loss = rl.AbsoluteLoss(0.5)
    y, residual, mean = np.zeros((3, rounds, 2))
    largest, said, left = 0.0, [], []
    for n in range(1, 60):
        nabla = loss.gradient(y, u)
        largest = max(largest, np.linalg.norm(nabla, axis=1).max())
        goal = residual + nabla
        noise = rng.normal(size=goal.shape)
        noise *= math.sqrt((1.0 - edge) * (goal**2).sum() / (noise**2).sum())
        h = goal - noise
        mean += (y - mean) / n  # of y^0..y^(n-1)
        y = y - h / (loss.strong_convexity * n)
        residual = goal - h
        said.append((h**2).sum())
        left.append((residual**2).sum())
        regret = (loss.value(mean, u) - loss.least(u)).mean()
        assert regret <= gb.residual_rate(edge, n, loss.strong_convexity, largest)
    c = 2.0 / edge - 1.0
    assert max(said) <= 4.0 * c * c * largest**2 * rounds
    assert max(left) <= c * c * largest**2 * rounds


@pytest.mark.parametrize("edge", [0.01, 0.3, 1.0])
def test_the_last_step_of_lemma_c_1_needs_another_argument(edge):
    """(4 - 2 gamma)(1 + c)^2 <= 4 c^2 is false; the triangle inequality gives what it was meant to show."""
    c = 2.0 / edge - 1.0
    assert (4.0 - 2.0 * edge) * (1.0 + c) ** 2 > 4.0 * c * c
    exact = (1.0 - edge + math.sqrt(1.0 - edge)) / edge
    assert exact**2 == pytest.approx((1.0 - edge) * (1.0 + exact) ** 2)
    assert (1.0 + 2.0 * exact) ** 2 <= 4.0 * c * c + 1e-9


def test_a_run_with_fewer_learners_is_the_beginning_of_one_with_more():
    X, u = real_stream(250)

    def losses(n):
        model = ew.StreamingGradientBoostingRegressor(ew.RegressionTree(20), n, random_state=0)
        model.prequential(X, u)
        return model.expert_losses_

    np.testing.assert_array_equal(losses(9)[:5], losses(4))


def test_bounds_that_say_nothing_are_infinite_and_say_so():
    assert gb.residual_rate(0.0, 10, 1.0, 1.0) == math.inf
    assert gb.residual_rate(0.5, 10, 0.0, 1.0) == math.inf
    told = str(gb.RegretBound("Theorem 5.2", 10, 0.5, math.inf, -0.1))
    assert "says nothing" in told
    assert "0.5" in told
