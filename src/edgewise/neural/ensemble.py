"""N networks that boost one another, learning a mini-batch in one step for all of them.

A step: the votes of all networks, partial sums, what each network should have said (`rules`), the sum over networks of
||target - vote||^2, one backward pass, one Adam update of all parameters. Targets are constants, so the gradient of a
network's parameters is that of its own square loss: the step is the same as N steps of N networks, each with an Adam
of its own.

On a GPU a step is many short kernels, and launching them one by one from Python takes longer than running them: the
step is recorded once as a CUDA graph and replayed. Mini-batches are gathered on the device.

The parameters of the networks are stacked. The first layer of every network sees the same input, so the N first layers
are one wide layer; the second layers see each its own hidden units: one batched matrix multiplication over N. Each
parameter starts as PyTorch's `Linear` and `Conv2d` start it: uniform in +-1/sqrt(inputs of the unit).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from edgewise.neural.rules import Residual, Smooth, loss_gradient

if TYPE_CHECKING:
    from edgewise.neural.weak_networks import ConvolutionNetwork, DenseNetwork

# Steps run as usual before one is recorded: libraries choose their kernels, and Adam allocates its moments.
WARM_STEPS = 3
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "leaky_relu": nn.functional.leaky_relu,
}


def uniform(shape: tuple[int, ...], fan_in: int, generator: torch.Generator) -> nn.Parameter:
    """First weights, or biases, of units with so many inputs."""
    bound = fan_in**-0.5
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))


class DenseNetworks(nn.Module):
    """N networks of two layers: d inputs, h hidden units, m outputs each."""

    def __init__(self, kind: DenseNetwork, n: int, n_inputs: int, n_outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        hidden, self.activation = kind.hidden, ACTIVATIONS[kind.activation]
        self.weight_in = uniform((n, n_inputs, hidden), n_inputs, generator)
        self.bias_in = uniform((n, 1, hidden), n_inputs, generator)
        self.weight_out = uniform((n, hidden, n_outputs), hidden, generator)
        self.bias_out = uniform((n, 1, n_outputs), hidden, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs [N, rows, m] for rows [rows, d]."""
        hidden = self.activation(torch.baddbmm(self.bias_in, x.expand(len(self.weight_in), -1, -1), self.weight_in))
        return torch.baddbmm(self.bias_out, hidden, self.weight_out)


class ConvolutionNetworks(nn.Module):
    """N networks of a convolution, an activation and a linear layer; a row is an image, channel by channel."""

    def __init__(
        self, kind: ConvolutionNetwork, n: int, n_inputs: int, n_outputs: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        (depth, height, width), kernel = kind.image, kind.kernel
        places = ((height - kernel) // kind.stride + 1) * ((width - kernel) // kind.stride + 1)
        fan_in, hidden = depth * kernel * kernel, kind.channels * places
        self.image, self.stride, self.n_networks = kind.image, kind.stride, n
        self.activation = ACTIVATIONS[kind.activation]
        self.weight_in = uniform((n * kind.channels, depth, kernel, kernel), fan_in, generator)
        self.bias_in = uniform((n * kind.channels,), fan_in, generator)
        self.weight_out = uniform((n, hidden, n_outputs), hidden, generator)
        self.bias_out = uniform((n, 1, n_outputs), hidden, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Outputs [N, rows, m] for rows [rows, depth * height * width]."""
        images = x.view(-1, *self.image)
        maps = nn.functional.conv2d(images, self.weight_in, self.bias_in, stride=self.stride)
        hidden = self.activation(maps).view(len(x), self.n_networks, -1).transpose(0, 1)
        return torch.baddbmm(self.bias_out, hidden, self.weight_out)


class NetworkEnsemble:
    """The state of streaming gradient boosting over networks: their parameters, Adam's moments, and their edges."""

    def __init__(
        self,
        networks: nn.Module,
        n_networks: int,
        rule: Smooth | Residual,
        loss: str,
        regularization: float,
        adam_step: float,
        device: torch.device,
        record: bool = True,
    ) -> None:
        self.networks, self.device = networks.to(device), device
        self.rule, self.loss, self.regularization = rule, loss, regularization
        recorded = record and device.type == "cuda"
        # A recorded step reads Adam's step size from the device, where it can be changed.
        size: Any = torch.tensor(adam_step, device=device) if recorded else adam_step
        self.adam = torch.optim.Adam(self.networks.parameters(), lr=size, fused=True, capturable=recorded)
        self.target_energy = torch.zeros(n_networks, dtype=torch.float64, device=device)
        self.missed_energy = torch.zeros(n_networks, dtype=torch.float64, device=device)
        self._recorded = RecordedStep(self) if recorded else None

    def set_adam_step(self, adam_step: float) -> None:
        """Adam's step size from now on."""
        for group in self.adam.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(adam_step)
            else:
                group["lr"] = adam_step

    def step(self, x: Tensor, z: Tensor) -> Tensor:
        """Learn a mini-batch; the predictions [rows, m] made before learning it."""
        self.adam.zero_grad(set_to_none=True)
        votes = self.networks(x)
        said = votes.detach()
        sums = self.rule.partial_sums(said)
        targets = self.rule.targets(said, sums, lambda y: loss_gradient(self.loss, y, z, self.regularization))
        missed = (targets - votes).square().sum(-1)
        missed.mean(1).sum().backward()
        self.adam.step()
        self.missed_energy += missed.detach().sum(1)
        self.target_energy += targets.square().sum((1, 2))
        return self.rule.prediction(sums)

    def learn(self, x: Tensor, z: Tensor, batches: Tensor, guesses: Tensor | None = None) -> None:
        """Learn rows of x and z in mini-batches, each a line of row numbers; their predictions go into `guesses`.

        Everything is on the device, and nothing here waits for it.
        """
        step = self.step if self._recorded is None else self._recorded
        for rows in batches:
            guess = step(x.index_select(0, rows), z.index_select(0, rows))
            if guesses is not None:
                guesses.index_copy_(0, rows, guess)

    @torch.no_grad()
    def partial_sums(self, x: Tensor) -> Tensor:
        """y^0..y^N of rows, [N + 1, rows, m]."""
        return self.rule.partial_sums(self.networks(x))

    @torch.no_grad()
    def predict(self, x: Tensor, rows_at_once: int = 2048) -> Tensor:
        """Predictions [rows, m]."""
        parts = [self.rule.prediction(self.partial_sums(part)) for part in x.split(rows_at_once)]
        return torch.cat(parts)

    def stop_recording(self) -> None:
        """Let go of the recorded step and its memory on the device; further steps run as usual."""
        self._recorded = None

    @property
    def edges(self) -> Tensor:
        """The edge of each learner over all rows learned, Definition 4.1: 1 - sum ||t - h||^2 / sum ||t||^2."""
        return 1.0 - self.missed_energy / self.target_energy

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_recorded": None if self._recorded is None else True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._recorded is not None:
            self._recorded = RecordedStep(self)


class RecordedStep:
    """A step as a CUDA graph, for mini-batches of the size that first came twice in a row; others run as usual."""

    def __init__(self, ensemble: NetworkEnsemble) -> None:
        self.ensemble = ensemble
        self.warm = 0
        self.shape: torch.Size | None = None
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, x: Tensor, z: Tensor) -> Tensor:
        if self.graph is None:
            repeated, self.shape = x.shape == self.shape, x.shape
            if self.warm < WARM_STEPS or not repeated:
                return self._warm_up(x, z)
            self._record(x, z)
        if x.shape != self.shape:
            return self.ensemble.step(x, z)
        self.x.copy_(x)
        self.z.copy_(z)
        assert self.graph is not None
        self.graph.replay()
        return self.guess

    def _warm_up(self, x: Tensor, z: Tensor) -> Tensor:
        """A step on a stream of its own, as recording demands of what goes before it."""
        self.warm += 1
        side = torch.cuda.Stream(self.ensemble.device)
        main = torch.cuda.current_stream(self.ensemble.device)
        side.wait_stream(main)
        with torch.cuda.stream(side):
            guess = self.ensemble.step(x, z)
        main.wait_stream(side)
        return guess

    def _record(self, x: Tensor, z: Tensor) -> None:
        self.x, self.z = x.clone(), z.clone()
        self.ensemble.adam.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.guess = self.ensemble.step(self.x, self.z)
