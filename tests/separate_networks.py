"""Boosted networks as N torch modules, each with its own Adam; the rules are of `edgewise.reference`, row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from edgewise.neural.rules import Residual, Smooth
from edgewise.neural.weak_networks import DenseNetwork
from edgewise.reference import GradientRound, ResidualGradientBoosting, RunningMoments, StreamingGradientBoosting

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


class Fixed:
    """A learner that votes what it is given, and does not learn."""

    def __init__(self, vote: list[float]) -> None:
        self.vote = np.array(vote)

    def predict(self, numeric: Any, nominal: Any) -> np.ndarray:
        return self.vote

    def update(self, *example: Any) -> None:
        pass


def boost_row(
    rule: Smooth | Residual, votes: list[list[float]], z: list[float], loss: str, regularization: float
) -> GradientRound:
    """One row through Algorithm 1 or Algorithm 2."""

    def slope(y: np.ndarray, target: list[float]) -> np.ndarray:
        return np.array(gradient(loss, y.tolist(), target, regularization))

    def project(y: np.ndarray) -> np.ndarray:
        norm = np.linalg.norm(y)
        return y if isinstance(rule, Smooth) or rule.radius is None or norm <= rule.radius else y * rule.radius / norm

    learners, start = [Fixed(vote) for vote in votes], np.zeros(len(z))
    if isinstance(rule, Smooth):
        rates = [rule.learning_rate] * len(votes)
        return StreamingGradientBoosting(learners, rates, start, slope, RunningMoments(0)).round([], [], z)
    rates = [1.0 / (rule.convexity * i) for i in range(1, len(votes) + 1)]
    return ResidualGradientBoosting(learners, rates, start, slope, RunningMoments(0), project).round([], [], z)


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
        outputs = [module(x).tolist() for module in self.modules]
        runs = [
            boost_row(self.rule, [votes[row] for votes in outputs], z[row].tolist(), self.loss, self.regularization)
            for row in range(len(x))
        ]
        for i, (module, adam) in enumerate(zip(self.modules, self.adams, strict=True)):
            target = torch.tensor(np.array([run.targets[i] for run in runs]), dtype=x.dtype)
            adam.zero_grad()
            missed = ((target - module(x)) ** 2).sum(1)
            missed.mean().backward()
            adam.step()
            self.missed[i] += float(missed.detach().sum())
            self.wanted[i] += float((target**2).sum())
        return torch.tensor(np.array([run.prediction for run in runs]), dtype=x.dtype)

    def edges(self) -> torch.Tensor:
        pairs = zip(self.missed, self.wanted, strict=True)
        return torch.tensor([1.0 - missed / wanted for missed, wanted in pairs], dtype=torch.float64)
