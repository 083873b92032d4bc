"""Hedge over experts (Freund and Schapire 1997) with step 1, as lines 10, 11 and 15 of Algorithm 2 use it."""

from __future__ import annotations

import math
from collections.abc import Sequence


def weights(mistakes: Sequence[float]) -> list[float]:
    """v_i = exp(-mistakes of expert i)."""
    return [math.exp(-m) for m in mistakes]


def draw(expert_weights: Sequence[float], uniform: float) -> int:
    """The first expert whose cumulative weight exceeds uniform * total."""
    goal = uniform * sum(expert_weights)
    cumulative = 0.0
    for i, v in enumerate(expert_weights):
        cumulative += v
        if cumulative > goal:
            return i
    return len(expert_weights) - 1


def weighted_vote(expert_weights: Sequence[float], labels: Sequence[int], k: int) -> int:
    """The label said with the largest weight; ties go to the lowest label."""
    said = [0.0] * k
    for v, label in zip(expert_weights, labels, strict=True):
        said[label] += v
    return said.index(max(said))
