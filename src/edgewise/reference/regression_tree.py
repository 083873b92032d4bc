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


class Leaf:
    def __init__(self, depth: int, m: int) -> None:
        self.depth = depth
        self.mass, self.sums = 0.0, np.zeros(m)
        self.counted: list[tuple[np.ndarray, float]] = []  # target and weight of each example
        self.pending = 0.0
        self.grids: dict[int, tuple[float, float]] = {}  # numeric feature -> first edge, bins per unit
        self.in_bins: dict[int, list[tuple[int, np.ndarray, float]]] = {}  # feature -> bin, target, weight
        self.in_codes: dict[int, list[tuple[int, np.ndarray, float]]] = {}


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
        self.root: Any = Leaf(0, self.m)

    def leaf_of(self, x: Sequence[float], codes: Sequence[int]) -> Leaf:
        node = self.root
        while isinstance(node, dict):
            node = node["children"][self.branch(node, x, codes)]
        return node

    def branch(self, node: dict[str, Any], x: Sequence[float], codes: Sequence[int]) -> int:
        if node["kind"] == "numeric":
            value = x[node["column"]]
            return node["heavier"] if math.isnan(value) else int(value >= node["cut"])
        code = codes[node["column"]]
        return node["heavier"] if code < 0 else int(code != node["cut"])

    def predict(self, x: Sequence[float], codes: Sequence[int]) -> np.ndarray:
        leaf = self.leaf_of(x, codes)
        weight = leaf.mass + self.smoothing
        return leaf.sums / weight if weight > 0.0 else np.zeros(self.m)

    def update(self, x: Sequence[float], codes: Sequence[int], u: np.ndarray, w: float) -> None:
        """Learn target u of an example with weight w."""
        leaf = self.leaf_of(x, codes)
        keep = 1.0 - w / max(self.memory, w)
        leaf.mass = keep * leaf.mass + w
        leaf.sums = keep * leaf.sums + w * u
        leaf.counted.append((u, w))
        leaf.pending += w
        seen = sum(weight for _, weight in leaf.counted)
        for f in self.numeric:
            if f not in leaf.grids and seen >= 16.0 and self.moments.variance(f) > 0.0:
                leaf.grids[f] = self.grid(self.moments.means[f], self.moments.variance(f))
            if f in leaf.grids and not math.isnan(x[f]):
                leaf.in_bins.setdefault(f, []).append((self.bin_of(leaf.grids[f], x[f]), u, w))
        for f in self.nominal:
            if codes[f] >= 0:
                leaf.in_codes.setdefault(f, []).append((int(codes[f]), u, w))
        if leaf.pending >= self.grace_period and leaf.depth < self.max_depth:
            leaf.pending = 0.0
            self.attempt(leaf, seen)

    def grid(self, mean: float, variance: float) -> tuple[float, float]:
        width = math.sqrt(variance)
        return mean - 3.0 * width, self.bins / (6.0 * width)

    def bin_of(self, grid: tuple[float, float], value: float) -> int:
        return int(min(max((value - grid[0]) * grid[1], 0.0), self.bins - 1.0))

    def attempt(self, leaf: Leaf, seen: float) -> None:
        error = squared_error(leaf.counted)
        if error <= 0.0:
            return
        best: list[tuple[float, str, int, int]] = []  # of each feature: gain, kind, column, bin or code
        for kind, features, held in (
            ("numeric", self.numeric, leaf.in_bins),
            ("binary", self.nominal, leaf.in_codes),
        ):
            for f in features:
                top = (0.0, kind, f, -1)
                for place in sorted({place for place, _, _ in held.get(f, [])}):
                    gain = self.gain(held[f], kind, place)
                    if gain > top[0] + 1e-12:
                        top = (gain, kind, f, place)
                best.append(top)
        gains = [top[0] for top in best]
        if not gains or max(gains) <= 0.0:
            return
        first = gains.index(max(gains))
        second = max([0.0, *(gain for f, gain in enumerate(gains) if f != first)])
        bound = math.sqrt(math.log(1.0 / self.split_confidence) / (2.0 * seen))
        if gains[first] * seen < self.least_gain * error:
            return
        if (gains[first] - second) / error > bound or bound < self.tie_threshold:
            self.split(leaf, *best[first][1:])

    def gain(self, held: list[tuple[int, np.ndarray, float]], kind: str, place: int) -> float:
        left = [(u, w) for at, u, w in held if (at <= place if kind == "numeric" else at == place)]
        right = [(u, w) for at, u, w in held if (at > place if kind == "numeric" else at != place)]
        weights = [sum(w for _, w in side) for side in (left, right)]
        if min(weights) < 0.01 * sum(weights) or min(weights) <= 0.0:
            return 0.0
        return squared_error(left + right) - squared_error(left) - squared_error(right)

    def split(self, leaf: Leaf, kind: str, f: int, place: int) -> None:
        held = leaf.in_bins[f] if kind == "numeric" else leaf.in_codes[f]
        children = []
        limit = min(1.0, self.memory / sum(w for _, w in leaf.counted))
        for side in (0, 1):
            child = Leaf(leaf.depth + 1, self.m)
            mine = [(u, w) for at, u, w in held if ((at > place) if kind == "numeric" else (at != place)) == bool(side)]
            child.mass = limit * sum(w for _, w in mine)
            child.sums = limit * sum((w * u for u, w in mine), np.zeros(self.m))
            for g, (low, density) in leaf.grids.items():
                cells = [(at, w) for at, _, w in leaf.in_bins.get(g, [])]
                if kind == "numeric" and g == f:
                    cells = [(at, w) for at, w in cells if (at > place) == bool(side)]
                weight = sum(w for _, w in cells)
                if weight > 0.0:
                    mean = sum(w * (at + 0.5) for at, w in cells) / weight
                    variance = sum(w * (at + 0.5 - mean) ** 2 for at, w in cells) / weight + 1.0 / 12.0
                    child.grids[g] = self.grid(low + mean / density, variance / density**2)
            children.append((child, sum(w for _, w in mine)))
        low, density = leaf.grids[f] if kind == "numeric" else (0.0, 1.0)
        node = {
            "kind": kind,
            "column": f,
            "cut": low + (place + 1.0) / density if kind == "numeric" else place,
            "heavier": 0 if children[0][1] >= children[1][1] else 1,
            "children": [child for child, _ in children],
        }
        self.replace(leaf, node)

    def replace(self, leaf: Leaf, node: dict[str, Any]) -> None:
        if self.root is leaf:
            self.root = node
            return
        pending = [self.root]
        while pending:
            at = pending.pop()
            for side, child in enumerate(at["children"]):
                if child is leaf:
                    at["children"][side] = node
                    return
                if isinstance(child, dict):
                    pending.append(child)

    def structure(self) -> tuple[Any, ...]:
        def of(node: Any) -> tuple[Any, ...]:
            if isinstance(node, dict):
                return (node["kind"], node["column"], node["cut"], *(of(child) for child in node["children"]))
            weight = node.mass + self.smoothing
            return ("leaf", (node.sums / weight if weight > 0.0 else node.sums).tolist())

        return of(self.root)
