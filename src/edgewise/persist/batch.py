"""Batch boosters and their trees: what they learned, checked as far as their kernels need it."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.batch.weak_learners import CostTree, encoded
from edgewise.data.table import Feature, Table
from edgewise.learners.cost_tree.binning import MOST_BINS, Bins
from edgewise.learners.cost_tree.growing import Tree
from edgewise.persist.declared import SETTINGS, check, in_file, take
from edgewise.persist.values import checked_names, parts_of, with_parameters

STARTED = "features_"  # an attribute of every fitted model


def features_of(model: Any) -> tuple[Feature, ...]:
    """The columns of a fitted model."""
    return tuple(model.features_)


def stored_state(model: Any, held: dict[str, Any]) -> dict[str, Any]:
    """What a file holds of a fitted model beside its parameters and its features, given all of its attributes."""
    state = {name: value for name, value in held.items() if name != "features_"}
    if isinstance(model, CostTree):
        return state
    for learner in model.estimators_:
        if type(learner) is not CostTree:
            raise ValueError(
                f"estimators_: a {type(learner).__module__}.{type(learner).__qualname__} cannot be saved; of learners "
                "only those of edgewise itself can"
            )
    # All trees of a booster have the same features; their own `categorical_features` may make them others than its.
    state["_tree_features"] = list(model.estimators_[0].features_)
    state["estimators_"] = []
    for learner in model.estimators_:
        parameters, of_tree = parts_of(learner)
        del of_tree["features_"]
        state["estimators_"].append({"parameters": parameters, "state": dict(sorted(of_tree.items()))})
    return state


def check_unchanged(model: Any, rebuilt: Any) -> None:
    """Nothing of a fitted model follows from parameters that may have been changed."""


def restore(model: Any, features: tuple[Feature, ...], state: dict[str, Any]) -> None:
    """Make of a model that has its parameters the one that was saved; ValueError unless all parts fit together."""
    model._check()
    model.features_ = features
    if isinstance(model, CostTree):
        _restore_tree(model, state)
    else:
        _need(type(model._learner()) is CostTree, "they were grown by another learner than its estimator")
        learners, of_trees = state.pop("estimators_"), state.pop("_tree_features")
        take(model, state, ("classes_", "n_features_in_", "estimator_weights_"))
        _need(
            isinstance(learners, list) and 0 < len(learners) == model.estimator_weights_.size, "a weight for each tree"
        )
        _need(isinstance(of_trees, list) and len(of_trees) == len(features), "features of its trees")
        _need(all(isinstance(feature, Feature) for feature in of_trees), "features of its trees")
        model.estimators_ = [_tree(tuple(of_trees), model.classes_.size, stored) for stored in learners]
        _need(len({id(learner.bins_) for learner in model.estimators_}) == 1, "trees of one booster share their bins")
    if model.n_features_in_ != len(features):
        raise ValueError(f"n_features_in_={model.n_features_in_}, but {len(features)} features")
    # Rows of these features must be rows for the trees: no row is enough to see it.
    encoded(getattr(model, "estimators_", [model])[0], Table(np.zeros((0, len(features))), features))


def _tree(features: tuple[Feature, ...], k: int, stored: Any) -> CostTree:
    """A tree of a booster, whose classes are those of the booster by number."""
    _need(isinstance(stored, dict) and stored.keys() == {"parameters", "state"}, "no tree")
    tree: CostTree = with_parameters("CostTree", SETTINGS, stored["parameters"])
    tree._check()
    tree.features_ = features
    _restore_tree(tree, checked_names(CostTree, stored["state"]))
    _need(np.array_equal(tree.classes_, np.arange(k)), "classes of a tree")
    return tree


def _restore_tree(model: CostTree, state: dict[str, Any]) -> None:
    model.bins_, model.tree_ = state.pop("bins_"), state.pop("tree_")
    take(model, state, ("classes_", "n_features_in_", "n_leaves_"))
    check_bins(model.bins_, model.features_)
    check_tree(model.tree_, len(model.features_), model.classes_.size)


def check_bins(bins: Any, features: tuple[Feature, ...]) -> None:
    """ValueError unless `fill_codes` stays inside the arrays of these bins."""
    _need(isinstance(bins, Bins), "no bins")
    check("Bins", in_file("Bins", bins._asdict()), {"d": len(features)}, "bins ")
    steps = np.diff(bins.cuts_at)
    _need([feature.categories is not None for feature in features] == bins.nominal.tolist(), "nominal features")
    _need(np.array_equal(np.diff(bins.start), bins.n_bins + 1) and bins.start[0] == 0, "where bins start")
    _need(bins.cuts_at[0] == 0 and (steps >= 0).all() and bins.cuts_at[-1] == bins.cuts.size, "where cuts are")
    _need(((steps < MOST_BINS) | bins.nominal).all(), "a feature of too many cuts")
    codes = bins.cuts[np.repeat(bins.nominal, steps)]
    _need(((codes >= -1.0) & (codes < MOST_BINS)).all(), "codes of categories")


def check_tree(tree: Any, n_features: int, k: int) -> None:
    """ValueError unless `fill_votes` stays inside the arrays of this tree, and comes to an end."""
    _need(isinstance(tree, Tree), "no tree")
    check("Tree", in_file("Tree", tree._asdict()), {"k": k}, "tree ")
    splits = np.flatnonzero(tree.child >= 0)
    child, feature = tree.child[splits].astype(np.int64), tree.feature[splits]
    _need(tree.child.size >= 1, "a tree without nodes")
    _need(((child > splits) & (child + 1 < tree.child.size)).all(), "a child that does not stand behind its parent")
    _need(((feature >= 0) & (feature < n_features)).all(), "a split is on a feature that there is not")


def _need(held: Any, message: str) -> None:
    if not held:
        raise ValueError(f"its trees do not fit together: {message}")
