"""Batch boosters and their trees: what they learned, checked as far as their kernels need it."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.batch.booster import BatchBooster
from edgewise.batch.weak_learners import CostTree, encoded
from edgewise.data.table import Feature, Table
from edgewise.learners.cost_tree.binning import MOST_BINS, Bins
from edgewise.learners.cost_tree.growing import Tree
from edgewise.persist.checks import sorted_labels, take_plain, whole_number
from edgewise.persist.values import checked_names, parts_of, with_parameters

NUMBERS = ("edges_", "bounds_", "train_errors_", "potentials_")


def is_started(model: Any) -> bool:
    return hasattr(model, "features_")


def features_of(model: Any) -> tuple[Feature, ...]:
    """The columns of a fitted model."""
    return tuple(model.features_)


def state_of(model: Any) -> dict[str, Any]:
    """What a file holds of a fitted model beside its parameters and its features."""
    _, state = parts_of(model)
    del state["features_"]
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
    state["estimators_"] = [_grown(learner) for learner in model.estimators_]
    return state


def _grown(learner: CostTree) -> dict[str, Any]:
    parameters, state = parts_of(learner)
    del state["features_"]
    return {"parameters": parameters, "state": dict(sorted(state.items()))}


def restore(model: Any, features: tuple[Feature, ...], state: dict[str, Any]) -> None:
    """Make of a model that has its parameters the one that was saved; ValueError unless all parts fit together."""
    model.features_ = features
    model.classes_ = sorted_labels("classes_", state.pop("classes_"))
    model.n_features_in_ = whole_number("n_features_in_", state.pop("n_features_in_"))
    if model.n_features_in_ != len(features):
        raise ValueError(f"n_features_in_={model.n_features_in_}, but {len(features)} features")
    if isinstance(model, CostTree):
        _restore_tree(model, state)
    else:
        _restore_booster(model, state)
    take_plain(model, state)
    # Rows of these features must be rows for the trees: no row is enough to see it.
    encoded(getattr(model, "estimators_", [model])[0], Table(np.zeros((0, len(features))), features))


def _restore_tree(model: CostTree, state: dict[str, Any]) -> None:
    model._check()
    model.bins_, model.tree_ = state.pop("bins_"), state.pop("tree_")
    check_bins(model.bins_, model.features_)
    check_tree(model.tree_, len(model.features_), model.classes_.size)
    model.n_leaves_ = whole_number("n_leaves_", state.pop("n_leaves_"), 1)


def check_bins(bins: Any, features: tuple[Feature, ...]) -> None:
    """ValueError unless `fill_codes` stays inside the arrays of these bins."""
    d = len(features)
    dtypes = {"nominal": bool, "n_bins": np.int64, "start": np.int64, "cuts": np.float64, "cuts_at": np.int64}
    _need(isinstance(bins, Bins), "no bins")
    for name, dtype in dtypes.items():
        array = getattr(bins, name)
        _need(isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 1, f"{name} of the bins")
    _need((bins.nominal.size, bins.n_bins.size, bins.start.size, bins.cuts_at.size) == (d, d, d + 1, d + 1), "bins")
    _need([feature.categories is not None for feature in features] == bins.nominal.tolist(), "nominal features")
    _need(((bins.n_bins >= 0) & (bins.n_bins <= MOST_BINS)).all(), "a feature of too many bins")
    _need(np.array_equal(np.diff(bins.start), bins.n_bins + 1) and bins.start[0] == 0, "where bins start")
    steps = np.diff(bins.cuts_at)
    _need(bins.cuts_at[0] == 0 and (steps >= 0).all() and bins.cuts_at[-1] == bins.cuts.size, "where cuts are")
    _need(((steps < MOST_BINS) | bins.nominal).all(), "a feature of too many cuts")
    codes = bins.cuts[np.repeat(bins.nominal, steps)]
    _need(((codes >= -1.0) & (codes < MOST_BINS)).all(), "codes of categories")


def check_tree(tree: Any, n_features: int, k: int) -> None:
    """ValueError unless `fill_votes` stays inside the arrays of this tree, and comes to an end."""
    _need(isinstance(tree, Tree), "no tree")
    dtypes = {"feature": np.int32, "in_left": np.uint8, "child": np.int32, "label": np.int32}
    for name, dtype in dtypes.items():
        array = getattr(tree, name)
        _need(isinstance(array, np.ndarray) and array.dtype == dtype, f"{name} of a tree")
    nodes = tree.child.size
    shapes = (tree.feature.shape, tree.in_left.shape, tree.child.shape, tree.label.shape)
    _need(nodes >= 1 and shapes == ((nodes,), (nodes, 32), (nodes,), (nodes,)), "arrays of a tree")
    splits = np.flatnonzero(tree.child >= 0)
    child, feature = tree.child[splits].astype(np.int64), tree.feature[splits]
    _need(((child > splits) & (child + 1 < nodes)).all(), "a child that does not stand behind its parent")
    _need(((feature >= 0) & (feature < n_features)).all(), "a split asks for a feature that there is not")
    _need(((tree.label >= 0) & (tree.label < k)).all(), "a label that there is not")


def _restore_booster(model: BatchBooster, state: dict[str, Any]) -> None:
    model._check()
    _need(type(model._learner()) is CostTree, "they were grown by another learner than its estimator")
    learners, weights = state.pop("estimators_"), state.pop("estimator_weights_")
    features = state.pop("_tree_features")
    _need(isinstance(learners, list) and len(learners) > 0, "no learners")
    _need(isinstance(features, list) and len(features) == len(model.features_), "features of its trees")
    _need(all(isinstance(feature, Feature) for feature in features), "features of its trees")
    _numbers("estimator_weights_", weights)
    _need(weights.size == len(learners), "a weight for each learner")
    model.estimator_weights_ = weights
    model.estimators_ = [_learner(tuple(features), model.classes_.size, stored) for stored in learners]
    _need(len({id(learner.bins_) for learner in model.estimators_}) == 1, "trees of one booster share their bins")
    for name in NUMBERS:
        if name in state:
            _numbers(name, state[name])
            setattr(model, name, state.pop(name))
    if "met_" in state:
        met = state.pop("met_")
        _need(isinstance(met, np.ndarray) and met.dtype == bool and met.ndim == 1, "met_")
        setattr(model, "met_", met)  # noqa: B010  # of OptimalStrategy alone


def _learner(features: tuple[Feature, ...], k: int, stored: Any) -> CostTree:
    _need(isinstance(stored, dict) and stored.keys() == {"parameters", "state"}, "no tree")
    tree: CostTree = with_parameters(CostTree, stored["parameters"])
    state = dict(checked_names(CostTree, stored["state"]))
    tree.features_, tree.n_features_in_ = features, whole_number("n_features_in_", state.pop("n_features_in_"))
    tree.classes_ = state.pop("classes_")
    _need(isinstance(tree.classes_, np.ndarray) and np.array_equal(tree.classes_, np.arange(k)), "classes of a tree")
    _restore_tree(tree, state)
    take_plain(tree, state)
    return tree


def _numbers(name: str, value: Any) -> None:
    _need(isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1, name)


def _need(held: Any, message: str) -> None:
    if not held:
        raise ValueError(f"its trees do not fit together: {message}")
