"""The losses and the two ways of boosting their gradients, over the votes of all N learners on a mini-batch at once.

Hu, Sun, Venkatraman, Hebert and Bagnell, "Gradient Boosting on Stochastic Data Streams" (AISTATS 2017), Algorithms 1
and 2, Section 6 and Appendix E. Nothing here is differentiated: votes come in detached, gradients in closed form.

| paper          | here                                                                  |
|----------------|-----------------------------------------------------------------------|
| h_t^i(x_t)     | votes[i - 1], of the N learners, [N, rows, m]                         |
| y_t^i          | partial sums[i], i = 0..N, [N + 1, rows, m]                           |
| nabla_i^t      | gradients[i - 1] = gradient of the loss at y^{i-1}                    |
| Delta_i^t      | residual: sum over k <= i of nabla_k - h_k                            |
| what h_i fits  | targets[i - 1]                                                        |
| eta            | learning_rate (Algorithm 1); 1/(lambda i) in Algorithm 2              |
| Pi_Y           | projection onto the ball of `radius` around 0 (no projection if None) |

Scores y are [..., rows, m], so that the gradients at all N partial sums come from one call; targets z are [rows, m]:
numbers for regression, +1 or -1 for two classes (m = 1), one-hot rows for more.

| loss     | value                          | (sub)gradient in y            | lambda | beta          |
|----------|--------------------------------|-------------------------------|--------|---------------|
| squared  | (y - z)^2 / 2                  | y - z                         | 1      | 1             |
| absolute | abs(y - z) + r y^2             | sign(y - z) + 2 r y           | 2 r    | none          |
| logistic | log(1 + exp(-z y)) + r y^2     | -z / (1 + exp(z y)) + 2 r y   | 2 r    | 1/4 + 2 r     |
| hinge    | max(0, 1 - z y) + r y^2        | -z [z y < 1] + 2 r y          | 2 r    | none          |
| softmax  | -log softmax(y)[z] + r y^2     | softmax(y) - z + 2 r y        | 2 r    | 1/2 + 2 r     |

r is the regularization (the paper's lambda in (57) and (61), whose second derivative is 2 r: (58) omits it).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

Gradient = Callable[[Tensor], Tensor]  # from scores to the gradient of the loss there


class Loss(NamedTuple):
    """A loss without its regularizer. `value` sums over outputs and keeps rows; `gradient` has the shape of y."""

    value: Callable[[Tensor, Tensor], Tensor]
    gradient: Callable[[Tensor, Tensor], Tensor]
    convexity: float  # lambda without regularization
    smoothness: float  # beta without regularization; infinite where the loss has kinks


LOSSES = {
    "squared": Loss(lambda y, z: (0.5 * (y - z) ** 2).sum(-1), lambda y, z: y - z, 1.0, 1.0),
    "absolute": Loss(lambda y, z: (y - z).abs().sum(-1), lambda y, z: torch.sign(y - z), 0.0, float("inf")),
    "logistic": Loss(
        lambda y, z: functional.softplus(-z * y).sum(-1), lambda y, z: -z * torch.sigmoid(-z * y), 0.0, 0.25
    ),
    "hinge": Loss(
        lambda y, z: torch.relu(1.0 - z * y).sum(-1), lambda y, z: -z * (z * y < 1.0).to(y.dtype), 0.0, float("inf")
    ),
    "softmax": Loss(
        lambda y, z: -(z * torch.log_softmax(y, -1)).sum(-1), lambda y, z: torch.softmax(y, -1) - z, 0.0, 0.5
    ),
}


def loss_value(loss: str, y: Tensor, z: Tensor, regularization: float) -> Tensor:
    """The loss of each row, [..., rows]."""
    return LOSSES[loss].value(y, z) + regularization * (y * y).sum(-1)


def loss_gradient(loss: str, y: Tensor, z: Tensor, regularization: float) -> Tensor:
    """The (sub)gradient at y, of the shape of y."""
    return LOSSES[loss].gradient(y, z) + 2.0 * regularization * y


def loss_convexity(loss: str, regularization: float) -> float:
    """lambda: the loss is this strongly convex."""
    return LOSSES[loss].convexity + 2.0 * regularization


class Smooth(NamedTuple):
    """Algorithm 1: learner i fits the gradient at y^{i-1}; the last partial sum predicts."""

    learning_rate: float

    def partial_sums(self, votes: Tensor) -> Tensor:
        """y^0..y^N: lines 4 to 7, with y^0 = 0."""
        start = torch.zeros_like(votes[:1])
        return torch.cat([start, -self.learning_rate * votes.cumsum(0)])

    def prediction(self, sums: Tensor) -> Tensor:
        """Line 8, and (7) with the last hypotheses in the place of their averages."""
        return sums[-1]

    def targets(self, votes: Tensor, sums: Tensor, gradient: Gradient) -> Tensor:
        """Lines 11 and 12."""
        return gradient(sums[:-1])


class Residual(NamedTuple):
    """Algorithm 2: learner i fits the gradient at y^{i-1} plus what learners before it missed.

    Line 8 of the paper divides N + 1 terms by N; its proof averages y^0..y^{N-1}, and so does this.
    """

    convexity: float
    radius: float | None = None

    def partial_sums(self, votes: Tensor) -> Tensor:
        """y^0..y^N: lines 4 to 7, with y^0 = 0 and steps 1/(lambda i)."""
        steps = 1.0 / (self.convexity * torch.arange(1, len(votes) + 1, dtype=votes.dtype, device=votes.device))
        moves = -steps[:, None, None] * votes
        start = torch.zeros_like(votes[:1])
        if self.radius is None:
            return torch.cat([start, moves.cumsum(0)])
        sums = [start[0]]
        for move in moves:
            sums.append(onto_ball(sums[-1] + move, self.radius))
        return torch.stack(sums)

    def prediction(self, sums: Tensor) -> Tensor:
        """Line 8, as the proof has it."""
        return sums[:-1].mean(0)

    def targets(self, votes: Tensor, sums: Tensor, gradient: Gradient) -> Tensor:
        """Lines 12 to 14: Delta_{i-1} is the sum of nabla_k - h_k over k < i."""
        gradients = gradient(sums[:-1])
        missed = gradients - votes
        return gradients + missed.cumsum(0) - missed


def onto_ball(y: Tensor, radius: float) -> Tensor:
    """The nearest point of norm at most `radius`, row by row."""
    norm = torch.linalg.vector_norm(y, dim=-1, keepdim=True)
    return y * torch.clamp(radius / torch.clamp(norm, min=torch.finfo(y.dtype).tiny), max=1.0)
