"""The whole state of a model in a form that can be compared: trees by what they hold, not by where in the pools."""

from __future__ import annotations

import numpy as np

from edgewise.learners.forest.layout import LEAF, children
from edgewise.learners.regression_forest.layout import LEAF_FIELDS
from edgewise.loop.pipeline import blocks
from edgewise.loop.state import GROUP, TREE, arrays


def forest_state(forest):
    """Every tree; of a row's columns those that the tree has, whatever other trees of the forest have."""

    def of(tree, node):
        if forest.kind[node] == LEAF:
            leaf, m, slots = forest.child[node], (forest.numeric[tree] >= 0).sum(), forest.offset[tree, -1]
            rows = [
                None
                if row < 0
                else (
                    forest.gauss[row, :, :m].tolist(),
                    float(forest.constant[row]),
                    forest.counts[row, :slots].tolist(),
                    float(forest.complete[row]),
                )
                for row in forest.row[leaf]
            ]
            sums = (int(forest.majority[leaf]), bool(forest.has_missing[leaf]), float(forest.complete_sum[leaf]))
            weights, leaf_counters = forest.class_weight[leaf].tolist(), forest.leaf_counters[leaf].tolist()
            return (weights, leaf_counters, int(forest.examples[leaf]), rows, *sums)
        below = children(forest, node)
        return (
            int(forest.kind[node]),
            int(forest.feature[node]),
            float(forest.threshold[node]),
            below.index(forest.fallback[node]),
            [of(tree, child) for child in below],
        )

    return [(of(tree, int(root)), int(forest.n_nodes[tree])) for tree, root in enumerate(forest.root)]


def forest_states(forests, kinds):
    """The trees of all blocks, leaving out those that stand in for none, and the moments of the columns."""
    with_trees = [
        np.isin(kinds[block.start : block.stop], (TREE, GROUP)).any() for block in blocks(len(kinds), len(forests))
    ]
    of_blocks = zip(forests, with_trees, strict=True)
    return [tree for forest, some in of_blocks if some for tree in forest_state(forest)], forests[0].moments.tolist()


def gradient_state(model):
    """The state of a streaming gradient booster."""
    state = model._state

    def of(forest, tree, node):
        first = forest.child[node]
        if forest.kind[node] == LEAF:
            m, slots = (forest.numeric[tree] >= 0).sum(), forest.offset[tree, -1]
            width = {"bins": m, "low": m, "density": m, "slots": slots}
            fields = ((field, getattr(forest, field)[first]) for field in LEAF_FIELDS)
            return tuple((held[: width[field]] if field in width else held).tolist() for field, held in fields)
        own = tuple(getattr(forest, field)[node].item() for field in ("kind", "feature", "threshold", "depth"))
        below = (of(forest, tree, child) for child in (first, first + 1))
        return (*own, int(forest.fallback[node] - first), *below)

    parts = (*state.progress, *state.bank, model.n_nodes_, state.forests[0].moments)
    trees = [of(forest, tree, int(root)) for forest in state.forests for tree, root in enumerate(forest.root)]
    return [[part.tolist() for part in parts], trees, model.rounds_]


def model_state(model):
    if hasattr(model, "_state"):
        return gradient_state(model)
    return [
        (
            *(part.tolist() for part in ensemble.committee),
            forest_states(ensemble.forests, ensemble.learners.kind),
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
