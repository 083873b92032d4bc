"""Losses of gradient boosting: gradients by finite differences, constants by sampling, least values by search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from edgewise.theory import regression_losses as rl
from edgewise.theory.projections import Ball, Box, project, region_of

LOSSES = {
    "squared": rl.SquaredLoss(),
    "squared+": rl.SquaredLoss(0.3),
    "absolute": rl.AbsoluteLoss(0.2),
    "huber": rl.HuberLoss(0.7),
    "huber+": rl.HuberLoss(0.7, 0.2),
    "quantile": rl.QuantileLoss(0.8, 0.1),
    "logistic": rl.LogisticLoss(0.05, Ball(3.0)),
    "logistic-free": rl.LogisticLoss(),
    "hinge": rl.HingeLoss(0.2),
    "softmax": rl.SoftmaxLoss(),
    "softmax+": rl.SoftmaxLoss(0.1),
}
NAMES = sorted(LOSSES)


def sample(name: str, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and targets that the loss is made for; logistic losses get one output within reach of the domain."""
    rng = np.random.default_rng(seed)
    if name.startswith(("logistic", "hinge")):
        return rng.uniform(-3.0, 3.0, (n, 1)), rng.choice([-1.0, 1.0], (n, 1))
    predictions = 2.0 * rng.normal(size=(n, 3))
    if name.startswith("softmax"):
        return predictions, np.eye(3)[rng.integers(0, 3, n)]
    return predictions, rng.normal(size=(n, 3))


@pytest.mark.plain
@pytest.mark.parametrize("name", NAMES)
def test_gradient_by_finite_differences(name):
    loss = LOSSES[name]
    y, u = sample(name, 40)
    gradient = loss.gradient(y, u)
    h = 1e-6
    for r in range(y.shape[1]):
        step = np.zeros(y.shape)
        step[:, r] = h
        slope = (loss.value(y + step, u) - loss.value(y - step, u)) / (2.0 * h)
        np.testing.assert_allclose(gradient[:, r], slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_lambda_and_beta_by_sampling_eq_2(name):
    """Both sides of eq. (2) hold on 4,000 pairs, kinks included, and neither constant could be much better."""
    loss = LOSSES[name]
    y, u = sample(name, 4000)
    z, _ = sample(name, 4000, seed=1)
    scale = np.random.default_rng(2).choice([1.0, 0.1, 1e-3], len(y))[:, None]
    z = y + scale * (z - y)
    if not name.startswith("softmax"):
        y[:200] = u[:200]  # at the kink, where there is one, and a short way from it
        z[:200] = u[:200] + 1e-3 * z[:200]
    rest = loss.value(z, u) - loss.value(y, u) - (loss.gradient(y, u) * (z - y)).sum(axis=1)
    square = 0.5 * ((z - y) ** 2).sum(axis=1)
    close = square > 1e-12
    assert (rest >= loss.strong_convexity * square - 1e-9).all()
    assert rest[close].min() >= -1e-9
    ratio = rest[close] / square[close]
    if math.isfinite(loss.smoothness):
        assert (rest <= loss.smoothness * square + 1e-9).all()
        # near the steepest point the constant is reached; softmax only in one direction
        assert ratio.max() > (0.9 if name.startswith("softmax") else 0.98) * loss.smoothness
    else:
        assert ratio.max() > 100.0
    if name in ("logistic", "hinge", "absolute", "quantile", "huber+", "squared+"):
        assert ratio[square[close] > 1e-4].min() < 1.05 * loss.strong_convexity + 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_least_value(name):
    loss = LOSSES[name]
    _, u = sample(name, 6)
    found = loss.least(u)
    rng = np.random.default_rng(0)
    for row, least in zip(u, found, strict=True):
        trials = rng.normal(size=(4000, row.size)) * rng.choice([0.1, 1.0, 5.0], (4000, 1)) + row
        assert loss.value(trials, np.tile(row, (4000, 1))).min() >= least - 1e-12
        if row.size == 1:
            lowest = minimize_scalar(
                lambda y, row=row: float(loss.value(np.array([[y]]), row[None])[0]),
                bounds=(-60.0, 60.0),
                method="bounded",
                options={"xatol": 1e-10},
            ).fun
            assert lowest == pytest.approx(least, abs=1e-6)
    best = loss.minimizer(u)
    inside = np.isfinite(best).all(axis=1)
    if math.isfinite(loss.smoothness):
        np.testing.assert_allclose(loss.gradient(best[inside], u[inside]), 0.0, atol=1e-9)


def test_values_by_hand():
    y, u = np.array([[2.0, -1.0]]), np.array([[0.5, -1.2]])
    assert rl.SquaredLoss().value(y, u)[0] == pytest.approx(0.5 * (1.5**2 + 0.2**2))
    assert rl.AbsoluteLoss().value(y, u)[0] == pytest.approx(1.7)
    assert rl.HuberLoss(1.0).value(y, u)[0] == pytest.approx(1.0 + 0.02)
    assert rl.QuantileLoss(0.9).value(y, u)[0] == pytest.approx(0.1 * 1.7)
    assert rl.QuantileLoss(0.9).value(u, y)[0] == pytest.approx(0.9 * 1.7)
    assert rl.LogisticLoss(0.1).value(np.array([[2.0]]), np.array([[-1.0]]))[0] == pytest.approx(
        math.log(1.0 + math.exp(2.0)) + 0.4
    )
    assert rl.HingeLoss(0.1).value(np.array([[2.0]]), np.array([[-1.0]]))[0] == pytest.approx(3.4)
    assert rl.SoftmaxLoss().value(y, np.array([[0.0, 1.0]]))[0] == pytest.approx(math.log(1.0 + math.exp(3.0)))


@pytest.mark.plain
def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(0)
    points = 3.0 * rng.normal(size=(50, 2))
    for domain, inside in (
        (Ball(1.5), lambda p: np.linalg.norm(p, axis=1) <= 1.5 + 1e-12),
        (Box(-1.0, np.array([0.5, 2.0])), lambda p: ((p >= -1.0) & (p <= [0.5, 2.0])).all(axis=1)),
    ):
        moved = points.copy()
        project(region_of(domain, 2), moved)
        assert inside(moved).all()
        kept = inside(points)
        np.testing.assert_array_equal(moved[kept], points[kept])
        assert not kept.all()
        candidates = 2.0 * rng.normal(size=(2000, 2))
        candidates = candidates[inside(candidates)]
        for before, after in zip(points, moved, strict=True):
            assert np.linalg.norm(candidates - before, axis=1).min() >= np.linalg.norm(after - before) - 1e-9
    everything = points.copy()
    project(region_of(None, 2), everything)
    np.testing.assert_array_equal(everything, points)


@pytest.mark.parametrize(
    ("domain", "told"),
    [
        (Ball(0.0), "radius=0.0: the projection set is empty"),
        (Ball(-1.0), "radius=-1.0"),
        (Ball(math.nan), "radius=nan"),
        (Box(1.0, -1.0), "the projection set is empty"),
        (Box(math.nan, 1.0), "the projection set is empty"),
        (Box(np.zeros(3), 1.0), "low has shape"),
    ],
)
def test_a_set_that_is_empty_is_refused(domain, told):
    with pytest.raises(ValueError, match=told):
        region_of(domain, 2)


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        ("cubic", "loss='cubic': one of squared"),
        (object(), "has no value"),
        (rl.SquaredLoss(-1.0), "regularization=-1.0"),
        (rl.HuberLoss(0.0), "delta=0.0"),
        (rl.QuantileLoss(1.0), "level=1.0"),
    ],
)
def test_a_loss_that_is_none_is_refused(loss, told):
    with pytest.raises(ValueError, match=told):
        rl.checked_loss(loss, rl.REGRESSION_LOSSES)
