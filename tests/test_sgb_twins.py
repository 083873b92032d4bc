"""Streaming gradient boosting against plain Python: trees, ridge, Algorithms 1 to 3, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import edgewise as ew
from edgewise import reference
from edgewise.data.table import Feature, Table
from edgewise.reference import RunningMoments
from edgewise.reference.linear import RidgeRegression
from edgewise.reference.regression_tree import RegressionTree
from edgewise.theory import regression_losses as rl
from edgewise.theory.projections import Ball, Box


def real_stream(n=260, m=2, seed=0, missing=0.08):
    """Numeric and nominal features with missing values; targets with a step, a slope and a category in them."""
    rng = np.random.default_rng(seed)
    numeric = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2] + [0.0, 3.0, 10.0]
    nominal = rng.integers(0, 3, (n, 2)).astype(float)
    u = np.stack(
        [
            np.where(numeric[:, 0] > 0.3, 2.0, -1.0) + 0.3 * numeric[:, 1],
            np.where(nominal[:, 0] == 1, 1.5, 0.0) * np.where(numeric[:, 2] > 10.1, 1.0, -1.0),
        ],
        axis=1,
    )[:, :m] + 0.2 * rng.normal(size=(n, m))
    values = np.concatenate([numeric, nominal], axis=1)
    values[rng.random(values.shape) < missing] = np.nan
    features = [*(Feature(f"n{j}") for j in range(3)), *(Feature(f"c{j}", ("a", "b", "c")) for j in range(2))]
    return Table(values, features), u


TREE = {
    "grace_period": (12, 30),
    "split_confidence": 0.2,
    "tie_threshold": (0.05, 0.5),
    "least_gain": 3.0,
    "smoothing": (0.0, 4.0),
    "memory": (30.0, 500.0),
    "max_depth": 4,
    "max_features": 0.8,
    "bins": 8,
}


def twins(model, members, m, moments):
    """Plain learners with the constants that the library drew."""
    drawn = model.tree_parameters_
    learners = []
    tree = 0
    for i in range(model.n_estimators):
        member = members[min(i, len(members) - 1)]
        if isinstance(member, ew.RidgeRegression):
            learners.append(RidgeRegression(m, moments, (3, 3), member.regularization, member.clip))
            continue
        allowed = np.flatnonzero(drawn.features[tree])
        learners.append(
            RegressionTree(
                m,
                [int(f) for f in allowed if f < 3],
                [int(f) - 3 for f in allowed if f >= 3],
                moments,
                grace_period=drawn.grace_period[tree],
                split_confidence=drawn.split_confidence[tree],
                tie_threshold=drawn.tie_threshold[tree],
                least_gain=drawn.least_gain[tree],
                max_depth=drawn.max_depth[tree],
                smoothing=drawn.smoothing[tree],
                memory=drawn.memory[tree],
                bins=member.bins,
            )
        )
        tree += 1
    return learners


def assert_same_structure(got, expected, n_splits):
    assert got[0] == expected[0]
    if got[0] == "leaf":
        assert got[1] == pytest.approx(expected[1], rel=1e-8, abs=1e-8)
        return
    assert got[1] == expected[1] + (3 if got[0] == "binary" else 0)
    assert got[2] == pytest.approx(expected[2], rel=1e-9)
    n_splits.append(got[0])
    assert_same_structure(got[3], expected[3], n_splits)
    assert_same_structure(got[4], expected[4], n_splits)


def play(members, loss, rates, n=4, rule=None, weights=None, project=None, stream=None):
    """The library and the twin over one stream, compared round by round, then in what they hold."""
    X, u = real_stream() if stream is None else stream
    weights = np.ones(len(u)) if weights is None else weights
    model = ew.StreamingGradientBoostingRegressor(
        members, n, loss=loss, rule=rule, learning_rate=rates, start=0.25, chunk_size=64, random_state=5
    )
    predictions = model.prequential(X, u, sample_weight=weights)
    moments = RunningMoments(3)
    learners = twins(model, members, u.shape[1], moments)
    numeric = X.values[:, :3]
    nominal = np.where(np.isnan(X.values[:, 3:]), -1, X.values[:, 3:]).astype(int)
    etas = model.learning_rates_
    start = np.full(u.shape[1], 0.25)

    def gradient(y, target):
        return loss.gradient(y[None], target[None])[0]

    sums = np.zeros((n, 2))
    losses = np.zeros(n + 1)
    if project is None:
        twin = reference.StreamingGradientBoosting(learners, etas, start, gradient, moments)
    else:
        twin = reference.ResidualGradientBoosting(learners, etas, start, gradient, moments, project)
    for t in range(len(u)):
        happened = twin.round(numeric[t], nominal[t], u[t], weights[t])
        np.testing.assert_allclose(predictions[t], happened.prediction, rtol=1e-7, atol=1e-8, err_msg=f"round {t}")
        for i in range(n):
            sums[i, 0] += weights[t] * (happened.targets[i] ** 2).sum()
            sums[i, 1] += weights[t] * ((happened.targets[i] - happened.votes[i]) ** 2).sum()
        losses += [weights[t] * loss.value(y[None], u[t][None])[0] for y in happened.partial_sums]
    np.testing.assert_allclose(model.edges_, 1.0 - sums[:, 1] / sums[:, 0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.expert_losses_, losses, rtol=1e-8)
    splits: list[str] = []
    for i, learner in enumerate(learners):
        if isinstance(learner, RegressionTree):
            assert_same_structure(model.structure(i), learner.structure(), splits)
    return model, learners, splits


@pytest.mark.plain
@pytest.mark.parametrize("m", [1, 2])
def test_algorithm_1_with_trees_and_ridge(m):
    members = [ew.RidgeRegression(1.5, 3.0), ew.RegressionTree(**TREE)]
    _, _, splits = play(members, rl.SquaredLoss(), [0.7, 0.4], stream=real_stream(200, m))
    assert len(splits) > 3


def test_every_kind_of_split_is_compared():
    _, _, splits = play([ew.RegressionTree(**TREE)], rl.SquaredLoss(), 0.5, n=5, stream=real_stream(500))
    assert splits.count("numeric") > 5
    assert splits.count("binary") > 1


def test_rows_of_several_weights_and_none():
    X, u = real_stream(200, seed=3)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(u))
    members = [ew.RidgeRegression(), ew.RegressionTree(**TREE)]
    _, _, splits = play(members, rl.HuberLoss(1.0, 0.01), 0.5, weights=weights, stream=(X, u))
    assert splits


@pytest.mark.plain
def test_algorithm_2_in_a_ball():
    def project(y):
        norm = np.linalg.norm(y)
        return y if norm <= 1.2 else y * (1.2 / norm)

    loss = rl.AbsoluteLoss(0.2, Ball(1.2))
    model, _, splits = play([ew.RegressionTree(**TREE)], loss, None, project=project)
    np.testing.assert_allclose(model.learning_rates_, 1.0 / (0.4 * np.arange(1, 5)))
    assert splits


def test_algorithm_2_in_a_box_for_a_smooth_loss_too():
    loss = rl.SquaredLoss(0.0, Box(-0.5, 1.5))
    members = [ew.RidgeRegression(), ew.RegressionTree(**TREE)]
    play(members, loss, None, rule="residual", project=lambda y: np.clip(y, -0.5, 1.5))


def test_predicting_is_algorithm_3_with_the_last_hypotheses():
    X, u = real_stream(200)
    model = ew.StreamingGradientBoostingRegressor(
        ew.RegressionTree(**TREE), 5, loss=rl.QuantileLoss(0.7, 0.1), random_state=1
    ).partial_fit(X[:150], u[:150])
    asked = model.predict(X[150:])
    told = model.prequential(X[150:], u[150:], sample_weight=np.zeros(50))
    np.testing.assert_array_equal(asked, told)
    following = model.prequential(X[150:151], u[150:151])
    np.testing.assert_array_equal(following, asked[:1])


def test_final_average_is_the_mean_over_rounds_of_what_each_round_would_say():
    """Line 16 of Algorithm 1 for linear learners, once the columns' moments are those of the end."""
    X, u = real_stream(120, missing=0.0)
    members = [ew.RidgeRegression()]
    model, learners, _ = play(members, rl.SquaredLoss(), 0.5, n=3, stream=(X, u))
    model.set_params(final="average")
    numeric, nominal = X.values[:, :3], X.values[:, 3:].astype(int)
    expected = np.full(2, 0.25)
    for learner in learners:
        expected -= 0.5 * np.mean(
            [learner.inputs(numeric[119], nominal[119]) @ held for held in learner.history], axis=0
        )
    np.testing.assert_allclose(model.predict(X[119:])[0], expected, rtol=1e-7)
    assert not np.allclose(model.set_params(final="last").predict(X[119:])[0], expected, rtol=1e-3)
