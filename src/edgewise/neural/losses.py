"""Losses of Section 6 and Appendix E of Hu et al. 2017 over tensors: values and (sub)gradients in closed form.

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


def value(loss: str, y: Tensor, z: Tensor, regularization: float) -> Tensor:
    """The loss of each row, [..., rows]."""
    return LOSSES[loss].value(y, z) + regularization * (y * y).sum(-1)


def gradient(loss: str, y: Tensor, z: Tensor, regularization: float) -> Tensor:
    """The (sub)gradient at y, of the shape of y."""
    return LOSSES[loss].gradient(y, z) + 2.0 * regularization * y


def convexity(loss: str, regularization: float) -> float:
    """lambda: the loss is this strongly convex."""
    return LOSSES[loss].convexity + 2.0 * regularization
