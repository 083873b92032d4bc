"""The two ways of boosting gradients, over the votes of all N learners on a mini-batch at once.

Hu, Sun, Venkatraman, Hebert and Bagnell, "Gradient Boosting on Stochastic Data Streams" (AISTATS 2017), Algorithms 1
and 2. Nothing here is differentiated: votes come in detached.

| paper          | here                                                                  |
|----------------|-----------------------------------------------------------------------|
| h_t^i(x_t)     | votes[i - 1], of the N learners, [N, rows, m]                         |
| y_t^i          | partial sums[i], i = 0..N, [N + 1, rows, m]                           |
| nabla_i^t      | gradients[i - 1] = gradient of the loss at y^{i-1}                    |
| Delta_i^t      | residual: sum over k <= i of nabla_k - h_k                            |
| what h_i fits  | targets[i - 1]                                                        |
| eta            | learning_rate (Algorithm 1); 1/(lambda i) in Algorithm 2              |
| Pi_Y           | projection onto the ball of `radius` around 0 (no projection if None) |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

Gradient = Callable[[Tensor], Tensor]  # from scores to the gradient of the loss there


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
