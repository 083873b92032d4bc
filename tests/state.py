"""The whole state of a model in a form that can be compared: trees by what they hold, not by where in the pools."""

from __future__ import annotations

import numpy as np

from edgewise.boosting.state import arrays
from edgewise.learners.forest.layout import LEAF, children
from edgewise.learners.regression_forest.layout import LEAF_FIELDS


def forest_state(forest):
    def of(node):
        if forest.kind[node] == LEAF:
            leaf = forest.child[node]
            rows = [
                None
                if row < 0
                else (forest.gauss[row].tolist(), float(forest.constant[row]), forest.counts[row].tolist())
                for row in forest.row[leaf]
            ]
            return (forest.class_weight[leaf].tolist(), forest.tally[leaf].tolist(), int(forest.examples[leaf]), rows)
        below = children(forest, node)
        return (
            int(forest.kind[node]),
            int(forest.feature[node]),
            float(forest.threshold[node]),
            below.index(forest.fallback[node]),
            [of(child) for child in below],
        )

    return [of(int(root)) for root in forest.root], forest.n_nodes.tolist(), forest.moments.tolist()


def gradient_state(model):
    """The state of a streaming gradient booster."""
    state = model._state
    forest = state.forest

    def of(node):
        first = forest.child[node]
        if forest.kind[node] == LEAF:
            return tuple(getattr(forest, field)[first].tolist() for field in LEAF_FIELDS)
        own = tuple(getattr(forest, field)[node].item() for field in ("kind", "feature", "threshold", "depth"))
        return (*own, int(forest.fallback[node] - first), of(first), of(first + 1))

    parts = (*state.progress, *state.bank, forest.n_nodes, forest.moments)
    return [[part.tolist() for part in parts], [of(int(root)) for root in forest.root], model.rounds_]


def model_state(model):
    if hasattr(model, "_state"):
        return gradient_state(model)
    return [
        (
            *(part.tolist() for part in ensemble.committee),
            forest_state(ensemble.forest),
            *(array.tolist() for array in arrays(ensemble.bank)),
            *(part.tolist() for part in ensemble.memory),
            *(part.tolist() for part in getattr(ensemble, "calibration", ())),
            *(array.tolist() for array in arrays(ensemble.own)),
        )
        for ensemble in model._ensembles
    ] + [model.rounds_, getattr(model, "mistakes_", None), model._rng.bit_generator.state]


def same(a, b):
    """Equality that takes NaN for equal to NaN."""
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a == b or (a != a and b != b)
