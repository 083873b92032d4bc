"""N networks as one model: against N separate torch modules, and against the algorithms written out row by row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the extra neural (torch)")

from edgewise.neural.batch_boosting import BatchBoostedNetworks, Convergence, batch_units, streaming_units  # noqa: E402
from edgewise.neural.ensemble import NetworkEnsemble, RecordedStep  # noqa: E402
from edgewise.neural.rules import (  # noqa: E402
    LOSSES,
    Residual,
    Smooth,
    loss_convexity,
    loss_gradient,
    loss_value,
    onto_ball,
)
from edgewise.neural.weak_networks import ConvolutionNetwork, DenseNetwork  # noqa: E402
from tests import separate_networks as separate  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def examples(rows: int, inputs: int, outputs: int, kind: str, dtype: Any = torch.float64) -> tuple[Any, Any]:
    """Rows, and targets of the kind that a loss compares scores with."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(rows, inputs))
    scores = np.tanh(x[:, :outputs] - x[:, outputs : 2 * outputs] * x[:, :1])
    if kind == "real":
        z = 3.0 * scores
    elif kind == "sign":
        z = np.where(scores > 0, 1.0, -1.0)
    else:
        z = (scores.argmax(axis=1)[:, None] == np.arange(outputs)).astype(float)
    return torch.tensor(x, dtype=dtype), torch.tensor(z, dtype=dtype)


CASES = {
    "one sigmoid unit, squared": (DenseNetwork(1, "sigmoid"), 6, 1, "real", "squared", 0.0, Smooth(0.3)),
    "leaky units, softmax": (DenseNetwork(4, "leaky_relu"), 8, 3, "class", "softmax", 0.01, Smooth(0.8)),
    "convolution, softmax": (
        ConvolutionNetwork((2, 7, 6), 3, 3, activation="sigmoid"), 84, 3, "class", "softmax", 0.0, Smooth(1.0)
    ),
    "residual, absolute": (DenseNetwork(2, "tanh"), 6, 2, "real", "absolute", 0.1, Residual(0.2, radius=2.0)),
    "residual, hinge": (DenseNetwork(2, "tanh"), 6, 1, "sign", "hinge", 0.1, Residual(0.2)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_batched_networks_are_separate_modules(case: str) -> None:
    """200 mini-batches: the same votes and parameters as N modules in a list, each with its own Adam, in turn."""
    n, rows, batch = 4, 64, 8
    network, inputs, outputs, kind, loss, regularization, rule = CASES[case]
    x, z = examples(rows, inputs, outputs, kind)
    networks = network.build(n, inputs, outputs, seed=3).double()
    modules = separate.separate_modules(networks, network)
    ensemble = NetworkEnsemble(networks, n, rule, loss, regularization, 0.01, CPU)
    twin = separate.SeparateNetworks(modules, rule, loss, regularization, adam_step=0.01)
    for step in range(200):
        chosen = torch.arange(step * batch, (step + 1) * batch) % rows
        guess = ensemble.step(x[chosen], z[chosen])
        expected = twin.step(x[chosen], z[chosen])
        assert torch.allclose(guess, expected, rtol=0, atol=1e-5)
    assert torch.allclose(ensemble.networks(x), twin.votes(x), rtol=0, atol=1e-5)
    assert torch.allclose(ensemble.edges, twin.edges(), rtol=0, atol=1e-5)
    start = network.build(n, inputs, outputs, seed=3).double()
    assert (ensemble.networks(x) - start(x)).abs().max() > 0.05, "nothing was learned: the test compares nothing"


def test_batched_networks_are_separate_modules_in_single_precision() -> None:
    n, inputs, outputs = 8, 10, 1
    network = DenseNetwork(1, "sigmoid")
    x, z = examples(320, inputs, outputs, "real", torch.float32)
    networks = network.build(n, inputs, outputs, seed=3)
    twin = separate.SeparateNetworks(separate.separate_modules(networks, network), Smooth(0.3), "squared", 0.0, 0.01)
    ensemble = NetworkEnsemble(networks, n, Smooth(0.3), "squared", 0.0, 0.01, CPU)
    for step in range(200):
        chosen = torch.arange(step * 32, (step + 1) * 32) % 320
        ensemble.step(x[chosen], z[chosen])
        twin.step(x[chosen], z[chosen])
    assert torch.allclose(ensemble.networks(x), twin.votes(x), rtol=0, atol=1e-5)


@pytest.mark.parametrize("rule", [Smooth(0.4), Residual(0.5), Residual(0.5, radius=1.5), Residual(2.0, radius=0.0)])
@pytest.mark.parametrize("loss", ["squared", "absolute", "softmax"])
def test_rules_are_the_algorithms(rule: Any, loss: str) -> None:
    """Partial sums, targets and prediction of all rows and learners at once, against loops over both."""
    votes = torch.randn((6, 9, 3), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    _, z = examples(9, 6, 3, "class" if loss == "softmax" else "real")
    sums = rule.partial_sums(votes)
    targets = rule.targets(votes, sums, lambda y: loss_gradient(loss, y, z, 0.1))
    for row in range(9):
        run = separate.boost_row(rule, votes[:, row].tolist(), z[row].tolist(), loss, 0.1)
        np.testing.assert_allclose(sums[:, row], run.partial_sums, rtol=0, atol=1e-12)
        np.testing.assert_allclose(targets[:, row], run.targets, rtol=0, atol=1e-12)
        np.testing.assert_allclose(rule.prediction(sums)[row], run.prediction, rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_by_finite_differences(loss: str) -> None:
    """And convexity and smoothness by sampling pairs of points, as (2) defines them."""
    kind = {"logistic": "sign", "hinge": "sign", "softmax": "class"}.get(loss, "real")
    outputs = 1 if kind == "sign" else 3
    chance = torch.Generator().manual_seed(2)
    _, z = examples(400, 6, outputs, kind)
    y, other = (4.0 * torch.randn((400, outputs), dtype=torch.float64, generator=chance) for _ in range(2))
    found = loss_gradient(loss, y, z, 0.05)
    for output in range(outputs):
        h = torch.zeros(outputs, dtype=torch.float64)
        h[output] = 1e-6
        slope = (loss_value(loss, y + h, z, 0.05) - loss_value(loss, y - h, z, 0.05)) / 2e-6
        assert torch.allclose(found[:, output], slope, rtol=0, atol=1e-6)
    gap = loss_value(loss, other, z, 0.05) - loss_value(loss, y, z, 0.05) - (found * (other - y)).sum(-1)
    square = 0.5 * (other - y).square().sum(-1)
    assert (gap >= loss_convexity(loss, 0.05) * square - 1e-9).all()
    smoothness = LOSSES[loss].smoothness + 2 * 0.05
    assert (gap <= smoothness * square + 1e-9).all()
    if LOSSES[loss].smoothness == float("inf"):  # then no small number would do
        assert (gap / square).max() > 0.5


def test_projection_onto_the_ball() -> None:
    y = torch.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]], dtype=torch.float64)
    expected = torch.tensor([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]], dtype=torch.float64)
    assert torch.allclose(onto_ball(y, 1.0), expected)
    assert torch.equal(onto_ball(y, 0.0), torch.zeros_like(y))


def test_convolution_is_that_of_torch() -> None:
    """Parameters start where those of Conv2d and Linear do: within +-1/sqrt(inputs of a unit), and not all near 0."""
    network = ConvolutionNetwork((1, 28, 28))
    networks = network.build(3, 784, 10, seed=1)
    assert networks.weight_in.shape == (15, 1, 5, 5)
    assert networks.weight_out.shape == (3, 5 * 12 * 12, 10)
    for weight, inputs in ((networks.weight_in, 25), (networks.weight_out, 720)):
        assert 0.9 * inputs**-0.5 < weight.abs().max() <= inputs**-0.5
    assert torch.equal(networks.weight_in, network.build(3, 784, 10, seed=1).weight_in)
    assert not torch.equal(networks.weight_in, network.build(3, 784, 10, seed=2).weight_in)


def test_unit_costs_of_section_6() -> None:
    """3 T N, and T_B (sum of i) + 2 T_B N."""
    assert streaming_units(1000, 8) == 3 * 1000 * 8
    assert sum(batch_units(50, i) for i in range(1, 21)) == 50 * sum(range(1, 21)) + 2 * 50 * 20


def test_batch_boosting_lowers_the_loss_with_every_network() -> None:
    x, z = examples(640, 6, 1, "real", torch.float32)
    boosted = BatchBoostedNetworks(
        DenseNetwork(1, "sigmoid"), x, z, loss="squared", learning_rate=1.0, adam_step=0.05, batch_size=32
    )
    found = [float(loss_value("squared", boosted.scores, z, 0.0).mean())]
    units = 0
    for number in range(1, 5):
        epochs = 0
        for spent in boosted.add(Convergence(longest=30)):
            epochs += 1
            units += batch_units(640, number)
            assert spent == units
        assert 4 <= epochs <= 30
        assert torch.allclose(boosted.scores, boosted.predict(x), atol=1e-5)
        found.append(float(loss_value("squared", boosted.predict(x), z, 0.0).mean()))
    assert all(after < before for before, after in itertools.pairwise(found))
    assert found[-1] < 0.6 * found[0]


def test_recorded_steps_take_every_mini_batch_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which steps are replayed, and on what, without a GPU: a step played again in the place of a CUDA graph."""
    replayed = []

    class Graph:
        def __init__(self, step: RecordedStep) -> None:
            self.step = step

        def replay(self) -> None:
            replayed.append(len(self.step.x))
            self.step.guess = self.step.ensemble.step(self.step.x, self.step.z)

    def warm_up(step: RecordedStep, x: Any, z: Any) -> Any:
        step.warm += 1
        return step.ensemble.step(x, z)

    def record(step: RecordedStep, x: Any, z: Any) -> None:
        step.x, step.z, step.graph = torch.zeros_like(x), torch.zeros_like(z), Graph(step)

    monkeypatch.setattr(RecordedStep, "_warm_up", warm_up)
    monkeypatch.setattr(RecordedStep, "_record", record)
    x, z = examples(200, 6, 1, "real")
    both = [
        NetworkEnsemble(DenseNetwork(2).build(3, 6, 1, seed=3).double(), 3, Smooth(0.3), "squared", 0.0, 0.01, CPU)
        for _ in range(2)
    ]
    both[0]._recorded = RecordedStep(both[0])
    guesses = [torch.zeros_like(z) for _ in both]
    # Sizes of mini-batches: 16, 16, 16, 7 (the fourth, but not the same twice in a row), 16, 16, 16, 7, 16.
    for ensemble, guess in zip(both, guesses, strict=True):
        for start, size, count in ((0, 16, 3), (48, 7, 1), (55, 16, 3), (103, 7, 1), (110, 16, 1)):
            ensemble.learn(x, z, torch.arange(start, start + size * count).view(count, size), guess)
    assert replayed == [16, 16, 16]
    assert torch.equal(guesses[0], guesses[1])
    assert torch.equal(both[0].predict(x), both[1].predict(x))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("case", ["one sigmoid unit, squared", "residual, absolute"])
def test_a_recorded_step_is_the_step(case: str) -> None:
    """The same numbers from a CUDA graph and from single kernels, mini-batches of another size in between."""
    network, inputs, outputs, kind, loss, regularization, rule = CASES[case]
    x, z = (part.cuda() for part in examples(160, inputs, outputs, kind))
    both = [
        NetworkEnsemble(
            network.build(5, inputs, outputs, seed=3).double(), 5, rule, loss, regularization, 0.01,
            torch.device("cuda"), record=record,
        )
        for record in (True, False)
    ]  # fmt: skip
    for ensemble in both:
        for epoch in range(10):
            ensemble.set_adam_step(0.01 / (epoch + 1))
            ensemble.learn(x, z, torch.arange(144, device="cuda").view(-1, 16))
            ensemble.learn(x, z, torch.arange(144, 160, device="cuda").view(-1, 8))
    # A recorded step holds Adam's step size in single precision.
    assert torch.allclose(both[0].predict(x), both[1].predict(x), rtol=0, atol=1e-5)
    assert torch.allclose(both[0].edges, both[1].edges, rtol=0, atol=1e-5)
