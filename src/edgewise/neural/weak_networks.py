"""The kinds of network that can be boosted, as parameters: what one weak learner looks like."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from edgewise.parameters import Parameterized, with_parameters

if TYPE_CHECKING:
    from torch import nn

ACTIVATIONS = ("sigmoid", "tanh", "leaky_relu")


def positive(name: str, value: Any) -> None:
    """ValueError unless `value` is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name}={value!r}: expected a whole number, at least 1")


class WeakNetwork(Parameterized):
    """A kind of network: checks itself against the inputs, and builds N of its kind as one module."""

    activation: str

    def check(self, n_inputs: int) -> None:
        """Raise ValueError for a setting that is not allowed, or does not fit the input.

        Parameters
        ----------
        n_inputs : int
            Columns of the input.
        """
        self._check_sizes(n_inputs)
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"activation={self.activation!r}: expected one of {', '.join(ACTIVATIONS)}")

    def build(self, n_networks: int, n_inputs: int, n_outputs: int, seed: int) -> nn.Module:
        """N networks of this kind as one module of PyTorch.

        Parameters
        ----------
        n_networks : int
            N.
        n_inputs : int
            Columns of the input.
        n_outputs : int
            Outputs of each network.
        seed : int
            Of the first weights: drawn on the CPU, so that a seed gives the same networks on every device.

        Returns
        -------
        torch.nn.Module
            [rows, inputs] -> [N, rows, outputs].
        """
        import torch

        return self._module()(self, n_networks, n_inputs, n_outputs, torch.Generator().manual_seed(int(seed)))

    def _check_sizes(self, n_inputs: int) -> None:
        raise TypeError(f"{type(self).__name__} does not say which sizes it can have")

    def _module(self) -> Any:
        """The class of the module that `build` makes."""
        raise TypeError(f"{type(self).__name__} does not say what it builds")


@with_parameters()
class DenseNetwork(WeakNetwork):
    """Two layers: `hidden` units, then linear. `DenseNetwork(1, "sigmoid")` is the paper's for Abalone and A9A.

    Parameters
    ----------
    hidden : int
        Units of the first layer.
    activation : str
        "sigmoid", "tanh" or "leaky_relu".
    """

    hidden: int = 8
    activation: str = "tanh"

    def _check_sizes(self, n_inputs: int) -> None:
        positive("hidden", self.hidden)

    def _module(self) -> Any:
        from edgewise.neural.ensemble import DenseNetworks

        return DenseNetworks


@with_parameters()
class ConvolutionNetwork(WeakNetwork):
    """A convolution without padding, then linear. The defaults are the paper's learner for MNIST.

    With biases in both layers `tanh` makes the same networks as `sigmoid`, since sigmoid(a) = (1 + tanh(a / 2)) / 2;
    only where training starts, and so how it goes, is different.

    Parameters
    ----------
    image : tuple of int
        (channels, height, width) of the images that rows hold, channel by channel and line by line.
    channels : int
        Channels of the convolution.
    kernel : int
        Its height and width.
    stride : int
        Its step.
    activation : str
        "sigmoid", "tanh" or "leaky_relu".
    """

    image: tuple[int, int, int] = (1, 28, 28)
    channels: int = 5
    kernel: int = 5
    stride: int = 2
    activation: str = "sigmoid"

    def _check_sizes(self, n_inputs: int) -> None:
        for name in ("channels", "kernel", "stride"):
            positive(name, getattr(self, name))
        if len(self.image) != 3:
            raise ValueError(f"image={self.image!r}: expected (channels, height, width)")
        for size in self.image:
            positive("image", size)
        depth, height, width = self.image
        if depth * height * width != n_inputs:
            raise ValueError(
                f"image={self.image!r}: has {depth * height * width} values, but X has {n_inputs} features"
            )
        if self.kernel > min(height, width):
            raise ValueError(f"kernel={self.kernel}: larger than the image of {height} x {width}")

    def _module(self) -> Any:
        from edgewise.neural.ensemble import ConvolutionNetworks

        return ConvolutionNetworks
