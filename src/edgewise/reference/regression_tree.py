"""An online regression tree that keeps every example it counts, and measures variances from them directly.

After Ikonomovska, Gama and Dzeroski, *Learning model trees from evolving data streams*, 2011, with constant leaves.

| idea | here |
|---|---|
| leaf | examples counted since it was made, and a mean with a past it may have inherited |
| bin | place of a value in the leaf's own grid, 3 standard deviations around the mean in `bins` cells, ends open |
| split | the cut between bins, or the code against the rest, that lowers the sum of squared errors most |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.reference.learner import RunningMoments


def squared_error(examples: list[tuple[np.ndarray, float]]) -> float:
    """Sum of weighted squared distances from the weighted mean."""
    weight = sum(w for _, w in examples)
    if weight <= 0.0:
        return 0.0
    mean = sum(w * u for u, w in examples) / weight
    return float(sum(w * ((u - mean) ** 2).sum() for u, w in examples))


Held = list[tuple[int, np.ndarray, float]]  # bin or code, target and weight of every example counted


class Node:
    """A leaf, until `split` says how it was split: kind, column, place where, heavier child, children."""

    def __init__(self, depth: int, m: int) -> None:
        self.depth = depth
        self.mass, self.sums = 0.0, np.zeros(m)
        self.counted: list[tuple[np.ndarray, float]] = []  # target and weight of each example
        self.pending = 0.0
        self.grids: dict[int, tuple[float, float]] = {}  # numeric feature -> first edge, bins per unit
        self.held: dict[tuple[str, int], Held] = {}  # by kind and column
        self.split: tuple[str, int, float, int, list[Node]] | None = None


def parts(held: Held, kind: str, place: int) -> tuple[Held, Held]:
    """The examples up to a bin and above it, or of a code and of all others."""
    left = [one for one in held if (one[0] <= place if kind == "numeric" else one[0] == place)]
    return left, [one for one in held if (one[0] > place if kind == "numeric" else one[0] != place)]


def error_of(held: Held) -> float:
    return squared_error([(u, w) for _, u, w in held])


def gain(held: Held, kind: str, place: int) -> float:
    """How much a split lowers the sum of squared errors; 0 where a side has less than a hundredth of the weight."""
    left, right = parts(held, kind, place)
    weights = [sum(w for *_, w in side) for side in (left, right)]
    if min(weights) < 0.01 * sum(weights) or min(weights) <= 0.0:
        return 0.0
    return error_of(left + right) - error_of(left) - error_of(right)


@dataclass
class RegressionTree:
    """A tree for vectors of m targets; options as in `edgewise.RegressionTree`."""

    m: int
    numeric: list[int]  # columns that the tree may use
    nominal: list[int]
    moments: RunningMoments  # must have counted an example before the tree learns it
    grace_period: float
    split_confidence: float
    tie_threshold: float
    least_gain: float
    max_depth: float
    smoothing: float
    memory: float
    bins: int

    def __post_init__(self) -> None:
        self.root = Node(0, self.m)

    def predict(self, numeric: Sequence[float], nominal: Sequence[int]) -> np.ndarray:
        """The mean of the leaf of an example, with `smoothing` more weight at 0."""
        return self._mean(self._leaf(numeric, nominal))

    def update(self, numeric: Sequence[float], nominal: Sequence[int], u: np.ndarray, w: float) -> None:
        """Learn target u of an example with weight w."""
        leaf = self._leaf(numeric, nominal)
        keep = 1.0 - w / max(self.memory, w)
        leaf.mass = keep * leaf.mass + w
        leaf.sums = keep * leaf.sums + w * u
        leaf.counted.append((u, w))
        leaf.pending += w
        seen = sum(weight for _, weight in leaf.counted)
        for f in self.numeric:
            if f not in leaf.grids and seen >= 16.0 and self.moments.variance(f) > 0.0:
                leaf.grids[f] = self._grid(self.moments.means[f], self.moments.variance(f))
            if f in leaf.grids and not math.isnan(numeric[f]):
                first_edge, density = leaf.grids[f]
                place = int(min(max((numeric[f] - first_edge) * density, 0.0), self.bins - 1.0))
                leaf.held.setdefault(("numeric", f), []).append((place, u, w))
        for f in self.nominal:
            if nominal[f] >= 0:
                leaf.held.setdefault(("binary", f), []).append((int(nominal[f]), u, w))
        if leaf.pending >= self.grace_period and leaf.depth < self.max_depth:
            leaf.pending = 0.0
            self._attempt(leaf, seen)

    def structure(self) -> tuple[Any, ...]:
        """Nested tuples of splits and of the leaves' means."""
        return self._describe(self.root)

    def _describe(self, node: Node) -> tuple[Any, ...]:
        if node.split is None:
            return ("leaf", self._mean(node).tolist())
        kind, column, where, _, children = node.split
        return (kind, column, where, *map(self._describe, children))

    def _mean(self, leaf: Node) -> np.ndarray:
        weight = leaf.mass + self.smoothing
        return leaf.sums / weight if weight > 0.0 else np.zeros(self.m)

    def _leaf(self, numeric: Sequence[float], nominal: Sequence[int]) -> Node:
        node = self.root
        while node.split is not None:
            kind, column, where, heavier, children = node.split
            if kind == "numeric":
                node = children[heavier if math.isnan(numeric[column]) else int(numeric[column] >= where)]
            else:
                node = children[heavier if nominal[column] < 0 else int(nominal[column] != where)]
        return node

    def _grid(self, mean: float, variance: float) -> tuple[float, float]:
        width = math.sqrt(variance)
        return mean - 3.0 * width, self.bins / (6.0 * width)

    def _attempt(self, leaf: Node, seen: float) -> None:
        error = squared_error(leaf.counted)
        if error <= 0.0:
            return
        best: list[tuple[float, str, int, int]] = []  # of each feature: gain, kind, column, bin or code
        for kind, f in [("numeric", f) for f in self.numeric] + [("binary", f) for f in self.nominal]:
            held = leaf.held.get((kind, f), [])
            top = (0.0, kind, f, -1)
            for place in sorted({place for place, _, _ in held}):
                if gain(held, kind, place) > top[0] + 1e-12:
                    top = (gain(held, kind, place), kind, f, place)
            best.append(top)
        gains = [top[0] for top in best]
        if not gains or max(gains) <= 0.0:
            return
        first = gains.index(max(gains))
        second = max([0.0, *(other for f, other in enumerate(gains) if f != first)])
        bound = math.sqrt(math.log(1.0 / self.split_confidence) / (2.0 * seen))
        if gains[first] * seen < self.least_gain * error:
            return
        if (gains[first] - second) / error > bound or bound < self.tie_threshold:
            self._split(leaf, *best[first][1:])

    def _split(self, leaf: Node, kind: str, f: int, place: int) -> None:
        limit = min(1.0, self.memory / sum(w for _, w in leaf.counted))
        children, weights = [], []
        for side, part in enumerate(parts(leaf.held[kind, f], kind, place)):
            child = Node(leaf.depth + 1, self.m)
            weights.append(sum(w for *_, w in part))
            child.mass = limit * weights[-1]
            child.sums = limit * sum((w * u for _, u, w in part), np.zeros(self.m))
            for g, (low, density) in leaf.grids.items():
                cells = leaf.held.get(("numeric", g), [])
                if kind == "numeric" and g == f:
                    cells = parts(cells, kind, place)[side]
                weight = sum(w for *_, w in cells)
                if weight > 0.0:
                    mean = sum(w * (at + 0.5) for at, _, w in cells) / weight
                    variance = sum(w * (at + 0.5 - mean) ** 2 for at, _, w in cells) / weight + 1.0 / 12.0
                    child.grids[g] = self._grid(low + mean / density, variance / density**2)
            children.append(child)
        low, density = leaf.grids[f] if kind == "numeric" else (0.0, 1.0)
        where = low + (place + 1.0) / density if kind == "numeric" else float(place)
        leaf.split = kind, f, where, int(weights[1] > weights[0]), children
