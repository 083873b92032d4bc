"""From the learners of gradients that a user names to the arrays of an ensemble."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.learners.external import REGRESSOR, ExternalLearner, as_member
from edgewise.learners.hoeffding_tree import RegressionTree, RegressionTreeParameters
from edgewise.learners.linear import RidgeBank, RidgeRegression, make_ridge
from edgewise.learners.regression_forest.layout import RegressionForest, make_regression_forest
from edgewise.loop.gradient_loop import EXTERNAL, OBJECT, RIDGE, TREE, Learners, RowLearner
from edgewise.loop.inputs import Columns
from edgewise.loop.pipeline import blocks

Custom = RegressionTree | RidgeRegression
GradientMember = Custom | ExternalLearner | RowLearner
ALLOWED = (
    "a RegressionTree, a RidgeRegression, a regressor of river or one with partial_fit, an object with predict_one and "
    "learn_one, or a list of them"
)


def gradient_members(estimator: Any, n: int) -> list[GradientMember]:
    """The n learners in order: those of a list, the last one repeated to fill up."""
    listed = estimator if isinstance(estimator, Sequence) else [estimator]
    given = [learner if isinstance(learner, Custom) else as_member(learner, REGRESSOR) for learner in listed]
    if not given:
        raise ValueError("estimator=[]: at least one weak learner")
    for learner in given:
        if isinstance(learner, Custom | ExternalLearner):
            learner.check()
        elif not all(callable(getattr(learner, name, None)) for name in ("predict_one", "learn_one")):
            raise ValueError(f"estimator={learner!r}: {ALLOWED}")
    if len({learner.bins for learner in given if isinstance(learner, RegressionTree)}) > 1:
        raise ValueError("estimator: the trees of one ensemble must have the same number of bins")
    return [given[min(i, len(given) - 1)] for i in range(n)]


def draw_trees(
    learners: list[GradientMember], n_features: int, rng: np.random.Generator
) -> RegressionTreeParameters | None:
    """Parameters of every tree; trees of one configuration that follow each other draw together. None: no trees."""
    parts = []
    first = 0
    while first < len(learners):
        last = first
        while last < len(learners) and learners[last] is learners[first]:
            last += 1
        learner = learners[first]
        if isinstance(learner, RegressionTree):
            parts.append(learner.draw(last - first, n_features, rng))
        first = last
    if not parts:
        return None
    return RegressionTreeParameters(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def assemble_gradient(
    learners: list[GradientMember],
    drawn: RegressionTreeParameters | None,
    columns: Columns,
    n_outputs: int,
    n_blocks: int,
) -> tuple[Learners, list[RegressionForest], RidgeBank, tuple[RowLearner, ...]]:
    """The ensemble's arrays, with a forest for each block, and a copy of each learner that is a Python object."""
    trees = [learner for learner in learners if isinstance(learner, RegressionTree)]
    ridges = [learner for learner in learners if isinstance(learner, RidgeRegression)]
    kinds = {RegressionTree: TREE, RidgeRegression: RIDGE, ExternalLearner: EXTERNAL}
    kind = np.array([kinds.get(type(learner), OBJECT) for learner in learners])
    objects = [learner for learner in learners if not isinstance(learner, Custom | ExternalLearner)]
    slot = np.zeros(len(learners), np.int64)
    for of_kind in (RIDGE, OBJECT, EXTERNAL):
        slot[kind == of_kind] = np.arange((kind == of_kind).sum())
    n_features = len(columns.names)
    if drawn is None:
        # An ensemble without trees keeps none, and the moments of its columns.
        drawn = RegressionTree().draw(0, n_features, np.random.default_rng(0))
    forests, made = [], 0
    for block in blocks(len(learners), n_blocks):
        is_tree = kind[block.start : block.stop] == TREE
        slot[block.start : block.stop][is_tree] = np.arange(is_tree.sum())
        of_block = RegressionTreeParameters(*(field[made : made + is_tree.sum()] for field in drawn))
        made += int(is_tree.sum())
        forests.append(
            make_regression_forest(
                n_outputs=n_outputs,
                grace=of_block.grace_period,
                confidence=of_block.split_confidence,
                tie=of_block.tie_threshold,
                least_gain=of_block.least_gain,
                max_depth=of_block.max_depth,
                smoothing=of_block.smoothing,
                memory=of_block.memory,
                numeric=of_block.features[:, ~columns.nominal],
                nominal=of_block.features[:, columns.nominal],
                n_bins=trees[0].bins if trees else 2,
                categories=columns.n_categories,
            )
        )
    bank = make_ridge(ridges, n_outputs, int((~columns.nominal).sum()), columns.n_categories)
    return Learners(kind, slot), forests, bank, tuple(copy.deepcopy(learner) for learner in objects)
