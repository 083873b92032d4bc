"""Convex sets of predictions, and the nearest point of each: the projection of Algorithm 2, Hu et al. 2017, line 6."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import entry_point
from edgewise.parameters import Parameterized

EVERYTHING, BALL, BOX = 0, 1, 2


class Region(NamedTuple):
    """A set as kernels take it: its kind, the radius of a ball, the ends of a box for each output."""

    kind: int
    radius: float
    low: np.ndarray
    high: np.ndarray


class Ball(Parameterized):
    """All y with ||y|| <= radius."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def region(self, n_outputs: int) -> Region:
        if not self.radius > 0.0 or not math.isfinite(self.radius):
            raise ValueError(f"radius={self.radius!r}: the projection set is empty or has no inside; a positive number")
        return Region(BALL, float(self.radius), np.zeros(n_outputs), np.zeros(n_outputs))

    @property
    def reach(self) -> float:
        """The largest |y_r| in the set."""
        return self.radius


class Box(Parameterized):
    """All y with low <= y <= high, output by output; both may be numbers, or arrays with a number for each output."""

    def __init__(self, low: float | np.ndarray, high: float | np.ndarray) -> None:
        self.low = low
        self.high = high

    def region(self, n_outputs: int) -> Region:
        low, high = (np.asarray(end, float) for end in (self.low, self.high))
        for name, end in (("low", low), ("high", high)):
            if end.shape not in ((), (1,), (n_outputs,)):
                raise ValueError(f"{name} has shape {end.shape}: a number, or one for each of {n_outputs} outputs")
        low, high = (np.broadcast_to(end, n_outputs).copy() for end in (low, high))
        bad = np.flatnonzero(~(low <= high))
        if bad.size:
            raise ValueError(
                f"low={low[bad[0]]}, high={high[bad[0]]} of output {bad[0]}: the projection set is empty; "
                "low must not exceed high"
            )
        return Region(BOX, 0.0, low, high)

    @property
    def reach(self) -> float:
        """The largest |y_r| in the set."""
        return float(max(np.max(np.abs(self.low)), np.max(np.abs(self.high))))


ProjectionSet = Ball | Box | None


def region_of(domain: ProjectionSet, n_outputs: int) -> Region:
    """The set as kernels take it; None is all of space."""
    if domain is None:
        return Region(EVERYTHING, math.inf, np.zeros(n_outputs), np.zeros(n_outputs))
    return domain.region(n_outputs)


@entry_point
def project(region, predictions):
    """Move every row to the nearest point of the set."""
    n, m = predictions.shape
    for t in range(n):
        if region.kind == BOX:
            for r in range(m):
                predictions[t, r] = min(max(predictions[t, r], region.low[r]), region.high[r])
        elif region.kind == BALL:
            square = 0.0
            for r in range(m):
                square += predictions[t, r] * predictions[t, r]
            if square > region.radius * region.radius:
                shrink = region.radius / math.sqrt(square)
                for r in range(m):
                    predictions[t, r] *= shrink
