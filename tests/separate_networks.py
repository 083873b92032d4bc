"""Boosted networks the slow way: N torch modules in a list, each with its own Adam; the rules row by row."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import nn

from edgewise.neural.rules import Residual, Smooth
from edgewise.neural.weak_networks import DenseNetwork

ACTIVATIONS = {"sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "leaky_relu": nn.LeakyReLU}


def separate_modules(networks: Any, network: Any) -> list[nn.Sequential]:
    """Each of the stacked networks as a module of its own, with a copy of its parameters."""
    modules = []
    for i in range(len(networks.weight_out)):
        out = nn.Linear(*networks.weight_out.shape[1:])
        if isinstance(network, DenseNetwork):
            first: Any = nn.Linear(*networks.weight_in.shape[1:])
            weight, bias = networks.weight_in[i].T, networks.bias_in[i, 0]
            layers = [first, ACTIVATIONS[network.activation](), out]
        else:
            first = nn.Conv2d(network.image[0], network.channels, network.kernel, network.stride)
            mine = slice(i * network.channels, (i + 1) * network.channels)
            weight, bias = networks.weight_in[mine], networks.bias_in[mine]
            layers = [
                nn.Unflatten(1, network.image), first, ACTIVATIONS[network.activation](), nn.Flatten(), out
            ]  # fmt: skip
        module = nn.Sequential(*layers).to(weight.dtype)
        with torch.no_grad():
            first.weight.copy_(weight)
            first.bias.copy_(bias)
            out.weight.copy_(networks.weight_out[i].T)
            out.bias.copy_(networks.bias_out[i, 0])
        modules.append(module)
    return modules


def gradient(loss: str, y: list[float], z: list[float], regularization: float) -> list[float]:
    """The (sub)gradient at one point, from the definition of the loss."""
    if loss == "squared":
        found = [a - b for a, b in zip(y, z, strict=True)]
    elif loss == "absolute":
        found = [math.copysign(1.0, a - b) if a != b else 0.0 for a, b in zip(y, z, strict=True)]
    elif loss == "logistic":
        found = [-b / (1.0 + math.exp(b * a)) for a, b in zip(y, z, strict=True)]
    elif loss == "hinge":
        found = [-b if b * a < 1.0 else 0.0 for a, b in zip(y, z, strict=True)]
    else:
        total = sum(math.exp(a) for a in y)
        found = [math.exp(a) / total - b for a, b in zip(y, z, strict=True)]
    return [g + 2.0 * regularization * a for g, a in zip(found, y, strict=True)]


class Run(NamedTuple):
    sums: list[list[float]]  # y^0..y^N
    targets: list[list[float]]  # of learners 1..N
    prediction: list[float]


def boost_row(
    rule: Smooth | Residual, votes: list[list[float]], z: list[float], loss: str, regularization: float
) -> Run:
    """One row through Algorithm 1 or Algorithm 2, line by line."""
    sums = [[0.0] * len(z)]
    for i, vote in enumerate(votes, 1):
        eta = rule.learning_rate if isinstance(rule, Smooth) else 1.0 / (rule.convexity * i)
        y = [a - eta * h for a, h in zip(sums[-1], vote, strict=True)]
        if isinstance(rule, Residual) and rule.radius is not None:
            norm = math.sqrt(sum(a * a for a in y))
            if norm > rule.radius:
                y = [a * rule.radius / norm for a in y]
        sums.append(y)
    targets = []
    delta = [0.0] * len(z)
    for i, vote in enumerate(votes, 1):
        target = gradient(loss, sums[i - 1], z, regularization)
        if isinstance(rule, Residual):
            target = [d + g for d, g in zip(delta, target, strict=True)]
            delta = [t - h for t, h in zip(target, vote, strict=True)]
        targets.append(target)
    if isinstance(rule, Smooth):
        return Run(sums, targets, sums[-1])
    n = len(votes)
    return Run(sums, targets, [sum(y[output] for y in sums[:n]) / n for output in range(len(z))])


class SeparateNetworks:
    """Modules that vote and learn one after the other."""

    def __init__(
        self, modules: list[nn.Sequential], rule: Smooth | Residual, loss: str, regularization: float, adam_step: float
    ) -> None:
        self.modules, self.rule, self.loss, self.regularization = modules, rule, loss, regularization
        self.adams = [torch.optim.Adam(module.parameters(), lr=adam_step) for module in modules]
        self.missed, self.wanted = [0.0] * len(modules), [0.0] * len(modules)

    def votes(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([module(x) for module in self.modules])

    def step(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        """Predictions of the rows, then one Adam step of each module on the mean of its square losses."""
        said = [module(x).tolist() for module in self.modules]
        runs = [
            boost_row(self.rule, [votes[row] for votes in said], z[row].tolist(), self.loss, self.regularization)
            for row in range(len(x))
        ]
        for i, (module, adam) in enumerate(zip(self.modules, self.adams, strict=True)):
            target = torch.tensor([run.targets[i] for run in runs], dtype=x.dtype)
            adam.zero_grad()
            missed = ((target - module(x)) ** 2).sum(1)
            missed.mean().backward()
            adam.step()
            self.missed[i] += float(missed.detach().sum())
            self.wanted[i] += float((target**2).sum())
        return torch.tensor([run.prediction for run in runs], dtype=x.dtype)

    def edges(self) -> torch.Tensor:
        pairs = zip(self.missed, self.wanted, strict=True)
        return torch.tensor([1.0 - missed / wanted for missed, wanted in pairs], dtype=torch.float64)
