"""Room for features and categories that come late, in the arrays of a model that has learned already.

A late feature counts as one that was missing so far, which loses nothing: but for the rounding of sums over features,
the model is the one that would have known the column from the start. Only trees that use a random part of the features
differ: such a tree draws a part of all the columns that there are now, and takes from it those that are new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgewise.learners.forest.layout import (
    Forest,
    column_lists,
    slot_offsets,
    statistics_width,
    with_categories,
    with_features,
    with_gaps,
)
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.linear import LinearBank, bank_with_categories, input_offsets
from edgewise.learners.newton import newton_with_inputs
from edgewise.learners.products import products_with_columns
from edgewise.learners.ranges import feature_subsets
from edgewise.learners.regression_forest.layout import forest_with_categories
from edgewise.learners.regression_tree import RegressionTree
from edgewise.learners.ridge import RidgeBank, ridge_with_categories
from edgewise.loop.gradient_loop import GradientEnsemble
from edgewise.loop.inputs import Columns


def padded(array: np.ndarray, axis: int, count: int, fill: float = 0.0, at: int | None = None) -> np.ndarray:
    """The array with `count` more entries along an axis, at its end or before place `at`."""
    shape = list(array.shape)
    shape[axis] = count
    place = array.shape[axis] if at is None else at
    before, after = np.split(array, [place], axis=axis)
    return np.ascontiguousarray(np.concatenate([before, np.full(shape, fill, array.dtype), after], axis=axis))


def add_categories(model: Any, columns: Columns) -> None:
    """Make room for categories that came up after the first example; forests have some to spare."""
    sizes = columns.n_categories

    def widened(state: Any) -> Any:
        in_trees, in_bank = with_categories, bank_with_categories
        if isinstance(state, GradientEnsemble):
            in_trees, in_bank = forest_with_categories, ridge_with_categories  # type: ignore[assignment]
        (forest,) = state.forests
        if (sizes > forest.categories).any():
            forest = in_trees(forest, sizes)
        return state._replace(forests=[forest], bank=in_bank(state.bank, sizes))

    _change(model, widened)
    model._columns = columns


def add_columns(model: Any, columns: Columns, rng: np.random.Generator) -> None:
    """Give the model columns that it does not have yet: those of `columns` after its own."""
    known = len(model._columns.names)
    members = model._members()
    name = "parameters_"
    if hasattr(model, "tree_parameters_"):  # gradient boosters keep the parameters of their trees alone
        name = "tree_parameters_"
        members = [learner for learner in members if isinstance(learner, RegressionTree)]
    is_tree = np.array([isinstance(learner, HoeffdingTree | RegressionTree) for learner in members], bool)
    features = np.ones((len(members), len(columns.names)), bool)
    for i in np.flatnonzero(is_tree):
        features[i] = feature_subsets(members[i].max_features, 1, len(columns.names), rng)[0]
    drawn = getattr(model, name)
    if drawn is not None:
        features[:, :known] = drawn.features
        setattr(model, name, drawn._replace(features=features))
    _change(model, lambda state: _with_columns(state, features[is_tree], columns))
    model._columns = columns


def _with_columns(state: Any, of_trees: np.ndarray, columns: Columns) -> Any:
    """The state with more columns; `of_trees` [trees or groups of trees, columns] is what each may use."""
    (forest,), bank = state.forests, state.bank
    # an ensemble without trees may keep one that nobody asks
    used = of_trees if len(of_trees) else np.ones((1, len(columns.names)), bool)
    each = used.repeat(forest.root.size // len(used), axis=0)
    numeric, nominal = each[:, ~columns.nominal], each[:, columns.nominal]
    new_numeric = int((~columns.nominal).sum()) - forest.moments.shape[1]
    fresh = columns.n_categories[forest.categories.size :]
    if fresh.size and isinstance(forest, Forest):
        forest = with_gaps(forest)
    categories = np.concatenate([forest.categories, fresh])
    offset = slot_offsets(nominal, categories)
    changes: dict[str, Any] = {
        "numeric": column_lists(numeric),
        "nominal": column_lists(nominal),
        "categories": categories,
        "offset": offset,
        "moments": padded(forest.moments, 1, new_numeric),
    }
    # New columns come after all that a tree has, so that old features keep their places and old codes their slots.
    lists = ("margin", "counts") if isinstance(forest, Forest) else ("bins", "slots", "low", "density")
    for field in lists:
        array = getattr(forest, field)
        in_slots = field in ("margin", "counts", "slots")
        width = int(offset[:, -1].max(initial=0)) if in_slots else changes["numeric"].shape[1]
        changes[field] = padded(array, 1, max(0, width - array.shape[1]))
    if isinstance(forest, Forest):
        forest = with_features(forest, statistics_width(numeric))
    sizes = np.concatenate([np.diff(bank.offset), fresh])
    return state._replace(forests=[forest._replace(**changes)], bank=_with_inputs(bank, new_numeric, sizes))


def _with_inputs(bank: LinearBank | RidgeBank, new_numeric: int, sizes: np.ndarray) -> LinearBank | RidgeBank:
    """The bank with inputs for more columns: numeric ones before the bias, nominal ones at the end."""
    bias = int(bank.offset[0]) - 1
    offset = input_offsets(bias + new_numeric, sizes)
    places = np.arange(int(bank.offset[-1]))
    places[bias:] += new_numeric
    changes: dict[str, Any] = {"offset": offset}
    for field in ("weights", "squares", "averages", "ranks"):
        if hasattr(bank, field):
            old = getattr(bank, field)
            changes[field] = np.zeros((*old.shape[:-1], int(offset[-1])), old.dtype)
            changes[field][..., places] = old
    if isinstance(bank, LinearBank):
        products = products_with_columns(bank.products, bias + new_numeric, sizes.size)
        changes["products"] = products
        changes["newton"] = newton_with_inputs(bank.newton, int(offset[-1] + products.place[-1]))
    if isinstance(bank, RidgeBank):
        # an input that was always 0 has left the inverse as it began
        changes["inverse"] = np.eye(int(offset[-1])) / bank.regularization[:, None, None]
        for old, new in zip(bank.inverse, changes["inverse"], strict=True):
            new[np.ix_(places, places)] = old
    return bank._replace(**changes)


def _change(model: Any, change: Callable[[Any], Any]) -> None:
    """Replace every state of the model."""
    if hasattr(model, "_state"):
        model._state = change(model._state)
    else:
        model._ensembles = model._limited([change(state) for state in model._ensembles])
