"""N small networks as one model: their parameters stacked, all of their outputs from two batched multiplications.

The first layer of every network sees the same input, so the N first layers are one wide layer. The second layers see
each its own hidden units: one batched matrix multiplication over N. Outputs are [N, rows, m].

Each parameter starts as PyTorch's `Linear` and `Conv2d` start it: uniform in +-1/sqrt(inputs of the unit).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "leaky_relu": nn.functional.leaky_relu,
}


def _uniform(shape: tuple[int, ...], fan_in: int, generator: torch.Generator) -> nn.Parameter:
    bound = fan_in**-0.5
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))


class DenseNetworks(nn.Module):
    """N networks of two layers: d inputs, h hidden units, m outputs each."""

    def __init__(
        self, n_networks: int, n_inputs: int, hidden: int, n_outputs: int, activation: str, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.weight_in = _uniform((n_networks, n_inputs, hidden), n_inputs, generator)
        self.bias_in = _uniform((n_networks, 1, hidden), n_inputs, generator)
        self.weight_out = _uniform((n_networks, hidden, n_outputs), hidden, generator)
        self.bias_out = _uniform((n_networks, 1, n_outputs), hidden, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs [N, rows, m] for rows [rows, d]."""
        hidden = self.activation(torch.baddbmm(self.bias_in, x.expand(len(self.weight_in), -1, -1), self.weight_in))
        return torch.baddbmm(self.bias_out, hidden, self.weight_out)


class ConvolutionNetworks(nn.Module):
    """N networks of a convolution, an activation and a linear layer; a row is an image, channel by channel."""

    def __init__(
        self,
        n_networks: int,
        image: tuple[int, int, int],
        channels: int,
        kernel: int,
        stride: int,
        n_outputs: int,
        activation: str,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        depth, height, width = image
        across = ((height - kernel) // stride + 1) * ((width - kernel) // stride + 1)
        seen = depth * kernel * kernel
        self.image, self.stride, self.n_networks = image, stride, n_networks
        self.activation = ACTIVATIONS[activation]
        self.weight_in = _uniform((n_networks * channels, depth, kernel, kernel), seen, generator)
        self.bias_in = _uniform((n_networks * channels,), seen, generator)
        self.weight_out = _uniform((n_networks, channels * across, n_outputs), channels * across, generator)
        self.bias_out = _uniform((n_networks, 1, n_outputs), channels * across, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs [N, rows, m] for rows [rows, depth * height * width]."""
        images = x.view(-1, *self.image)
        maps = nn.functional.conv2d(images, self.weight_in, self.bias_in, stride=self.stride)
        hidden = self.activation(maps).view(len(x), self.n_networks, -1).transpose(0, 1)
        return torch.baddbmm(self.bias_out, hidden, self.weight_out)


def generator(seed: Any) -> torch.Generator:
    """A source of random numbers on the CPU, so that a seed gives the same networks on every device."""
    return torch.Generator().manual_seed(int(seed))
