"""Room for features and labels that come late: the arrays of a model that has learned already, made larger.

A late feature counts as one that was missing so far, which is exact: the model is the same, number for number, as one
that knew the column from the start, but for trees that use a random part of the features. These draw a part of all the
columns that there are now, and take from it those that are new.

A late label is not exact, since the loss of a booster speaks of all labels: until it comes the model is one of fewer
labels, from then on of one more, and what was learned so far stays.

| learner          | a late label finds                                                        |
|------------------|---------------------------------------------------------------------------|
| Hoeffding tree   | leaves in which it has no weight                                          |
| linear           | coefficients of 0                                                         |
| label memory     | contexts that it never followed                                           |
| group of trees   | a tree with one leaf, which holds the weight of all examples, as the rest |
| one against rest | a new booster                                                             |
| regression tree, | an output that was 0; the one output of two classes becomes two, mirrored |
| ridge regression |                                                                           |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.boosting.gradient_schema import GradientEnsemble
from edgewise.boosting.inputs import Columns
from edgewise.boosting.state import GROUP
from edgewise.learners.forest.layout import (
    GROWING,
    HIGH,
    LEAF,
    LEAVES,
    LOW,
    NODES,
    Forest,
    column_lists,
    enlarged,
    nodes_below,
    room_needed,
    slot_offsets,
    with_categories,
)
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.label_memory import MemoryBank
from edgewise.learners.linear import LinearBank, bank_with_categories, input_offsets
from edgewise.learners.ranges import feature_subsets
from edgewise.learners.regression_forest.layout import SQUARES, SUMS, RegressionForest, forest_with_categories
from edgewise.learners.regression_tree import RegressionTree
from edgewise.learners.ridge import RidgeBank, ridge_with_categories
from edgewise.theory.projections import region_of


def padded(array: np.ndarray, axis: int, count: int, fill: float = 0.0, at: int | None = None) -> np.ndarray:
    """The array with `count` more entries along an axis, at its end or before place `at`."""
    shape = list(array.shape)
    shape[axis] = count
    place = array.shape[axis] if at is None else at
    before, after = np.split(array, [place], axis=axis)
    return np.ascontiguousarray(np.concatenate([before, np.full(shape, fill, array.dtype), after], axis=axis))


# -- features ------------------------------------------------------------------------------------------------------


def add_categories(model: Any, columns: Columns) -> None:
    """Make room for categories that came up after the first example; forests have some to spare."""
    sizes = columns.n_categories

    def widened(state: Any) -> Any:
        in_trees, in_bank = with_categories, bank_with_categories
        if isinstance(state, GradientEnsemble):
            in_trees, in_bank = forest_with_categories, ridge_with_categories  # type: ignore[assignment]
        forest = in_trees(state.forest, sizes) if (sizes > state.forest.categories).any() else state.forest
        return state._replace(forest=forest, bank=in_bank(state.bank, sizes))

    _change(model, widened)
    model._columns = columns


def add_columns(model: Any, columns: Columns, rng: np.random.Generator) -> None:
    """Give the model columns that it does not have yet: those of `columns` after its own."""
    known = len(model._columns.names)
    trees = [learner for learner in model._members() if isinstance(learner, HoeffdingTree | RegressionTree)]
    is_tree = [isinstance(learner, HoeffdingTree | RegressionTree) for learner in model._members()]
    of_trees = np.ones((len(trees), len(columns.names)), bool)
    for row, tree in zip(of_trees, trees, strict=True):
        row[:] = feature_subsets(tree.max_features, 1, row.size, rng)[0]
    name = "tree_parameters_" if hasattr(model, "tree_parameters_") else "parameters_"
    drawn = getattr(model, name)
    if drawn is not None:
        new = np.ones((len(drawn.features), len(columns.names) - known), bool)
        new[np.flatnonzero(is_tree) if name == "parameters_" else slice(None)] = of_trees[:, known:]
        drawn = drawn._replace(features=np.concatenate([drawn.features, new], axis=1))
        setattr(model, name, drawn)
        of_trees = drawn.features[is_tree] if name == "parameters_" else drawn.features
    _change(model, lambda state: _with_columns(state, of_trees, columns))
    model._columns = columns


def _with_columns(state: Any, of_trees: np.ndarray, columns: Columns) -> Any:
    forest, bank = state.forest, state.bank
    used = of_trees if len(of_trees) else np.ones((1, len(columns.names)), bool)
    each = used.repeat(forest.root.size // len(used), axis=0) if forest.root.size else used[:0]
    numeric, nominal = each[:, ~columns.nominal], each[:, columns.nominal]
    new_numeric = int((~columns.nominal).sum()) - forest.moments.shape[1]
    fresh = columns.n_categories[forest.categories.size :]
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
    lists = ("gauss", "margin", "counts") if isinstance(forest, Forest) else ("bins", "slots", "low", "density")
    for field in lists:
        array = getattr(forest, field)
        axis = 2 if field == "gauss" else 1
        in_slots = field in ("margin", "counts", "slots")
        width = int(offset[:, -1].max(initial=0)) if in_slots else changes["numeric"].shape[1]
        changes[field] = padded(array, axis, max(0, width - array.shape[axis]))
    if isinstance(forest, Forest):
        known = forest.gauss.shape[2]
        changes["gauss"][:, LOW, known:] = np.inf
        changes["gauss"][:, HIGH, known:] = -np.inf
    sizes = np.concatenate([np.diff(bank.offset), fresh])
    return state._replace(forest=forest._replace(**changes), bank=_with_inputs(bank, new_numeric, sizes))


def _with_inputs(bank: LinearBank | RidgeBank, new_numeric: int, sizes: np.ndarray) -> LinearBank | RidgeBank:
    """The bank with inputs for more columns: numeric ones before the bias, nominal ones at the end."""
    bias = int(bank.offset[0]) - 1
    offset = input_offsets(bias + new_numeric, sizes)
    places = np.arange(int(bank.offset[-1]))
    places[bias:] += new_numeric
    changes: dict[str, Any] = {"offset": offset}
    for field in ("weights", "squares", "averages"):
        if hasattr(bank, field):
            old = getattr(bank, field)
            changes[field] = np.zeros((*old.shape[:2], int(offset[-1])))
            changes[field][..., places] = old
    if isinstance(bank, RidgeBank):
        # an input that was always 0 has left the inverse as it began
        changes["inverse"] = np.eye(int(offset[-1])) / bank.regularization[:, None, None]
        for old, new in zip(bank.inverse, changes["inverse"], strict=True):
            new[np.ix_(places, places)] = old
    return bank._replace(**changes)


# -- labels --------------------------------------------------------------------------------------------------------


def add_labels(model: Any, k: int) -> None:
    """Let a model of fewer labels have k of them; classes_ or labels_ are the caller's."""
    if hasattr(model, "_state"):
        model._state, model._n_outputs = _with_outputs(model, k)
        return
    made = model._new_ensembles(k)
    if len(made) > 1:
        model._ensembles += made[len(model._ensembles) :]
        return
    state, blank = model._ensemble, made[0]
    more = k - state.plan.n_labels
    changes: dict[str, Any] = {"plan": blank.plan, "potentials": blank.potentials}
    if (state.learners.kind == GROUP).any():
        changes["learners"] = blank.learners
        changes["forest"] = _with_trees(state.forest, state.plan.n_labels, more)
    else:
        changes["forest"] = state.forest._replace(
            class_weight=padded(state.forest.class_weight, 1, more), row=padded(state.forest.row, 1, more, -1)
        )
    changes["bank"] = state.bank._replace(
        weights=padded(state.bank.weights, 1, more), squares=padded(state.bank.squares, 1, more)
    )
    changes["memory"] = _with_contexts(state.memory, state.plan.n_labels, k)
    if hasattr(state, "calibration"):
        curve, squares = blank.calibration.curve.copy(), blank.calibration.squares.copy()
        curve[:-more], squares[:-more] = state.calibration.curve, state.calibration.squares
        changes["calibration"] = state.calibration._replace(curve=curve, squares=squares)
    model._ensembles[0] = state._replace(**changes)


def _with_contexts(memory: MemoryBank, known: int, k: int) -> MemoryBank:
    """Label memories over k labels; the context "no label" is the last one, and moves."""
    n, more = memory.decay.size, k - known
    counts = np.zeros((0, 1, k))
    if n:
        counts = memory.counts.reshape(n, known + 1, known + 1, known)
        counts = padded(padded(padded(counts, 1, more, at=known), 2, more, at=known), 3, more)
        counts = counts.reshape(n, (k + 1) ** 2, k)
    return memory._replace(counts=counts, recent=np.where(memory.recent == known, k, memory.recent))


def _with_trees(forest: Forest, known: int, more: int) -> Forest:
    """The forest of groups of `known` trees with `more` trees in each: one leaf, which has seen only the rest."""
    groups = forest.root.size // known
    need = room_needed(forest)
    forest = enlarged(forest, groups * more, need)
    after = (np.arange(groups * known) + 1).reshape(groups, known)[:, -1].repeat(more)
    # what a tree is allowed is the same for all trees of a group
    per_tree = [field for field in Forest._fields[: Forest._fields.index("kind")] if field != "categories"]
    changes = {field: np.insert(getattr(forest, field), after, getattr(forest, field)[after - 1], 0) for field in per_tree}
    changes |= {field: getattr(forest, field).copy() for fields in GROWING.values() for field in fields}
    used = forest.used.copy()
    for place in (after + np.arange(after.size)).tolist():
        group = place // (known + more)
        leaves = [forest.child[n] for n in nodes_below(forest, int(forest.root[group * known])) if forest.kind[n] == LEAF]
        node = used[NODES]
        used[NODES] += 1
        used[LEAVES] -= 1
        leaf = forest.free_leaves[used[LEAVES]]
        changes["root"][place], changes["n_nodes"][place] = node, 1
        changes["kind"][node], changes["child"][node] = LEAF, leaf
        for field, clear in (("class_weight", 0), ("row", -1), ("tally", 0), ("margin", 0), ("examples", 0), ("n_rows", 0)):
            changes[field][leaf] = clear
        changes["class_weight"][leaf, 0] = forest.class_weight[leaves].sum()
    return forest._replace(used=used, **changes)


def _with_outputs(model: Any, k: int) -> tuple[GradientEnsemble, int]:
    """The state of a gradient booster for k classes, and its outputs: the old ones go on as they are."""
    state: GradientEnsemble = model._state
    old = model._n_outputs
    # one output for two classes stands for two of opposite sign, which have twice the squared norm
    mapping = np.array([[-1.0, 1.0]]) if old == 1 else np.eye(old)
    factor = 2.0 if old == 1 else 1.0
    mapping = padded(mapping, 1, k - mapping.shape[1])
    forest, bank, progress = state.forest, state.bank, state.progress
    total = np.concatenate([forest.total[:, :SUMS], forest.total[:, SUMS:] @ mapping], axis=1)
    total[:, SQUARES] *= factor
    changed: RegressionForest = forest._replace(
        sums=forest.sums @ mapping,
        total=total,
        bins=np.concatenate([forest.bins[..., :1], forest.bins[..., 1:] @ mapping], axis=-1),
        slots=np.concatenate([forest.slots[..., :1], forest.slots[..., 1:] @ mapping], axis=-1),
    )
    loss = model._loss()
    start = state.steps.start @ mapping
    if np.ndim(model.start) == 0:
        start[mapping.shape[1] - (k - max(2, old)) :] = model.start
    rounds = progress.totals[-1]
    totals = progress.totals * factor
    totals[-1] = rounds
    return (
        state._replace(
            steps=state.steps._replace(start=start, region=region_of(loss.domain, k)),
            progress=progress._replace(
                learners=progress.learners * factor,
                losses=progress.losses * factor,
                totals=totals,
                extremes=progress.extremes * np.array([factor, np.sqrt(factor)]),
            ),
            forest=changed,
            bank=bank._replace(
                weights=np.ascontiguousarray(np.einsum("nmi,mk->nki", bank.weights, mapping)),
                averages=np.ascontiguousarray(np.einsum("nmi,mk->nki", bank.averages, mapping)),
            ),
        ),
        k,
    )


def _change(model: Any, change: Any) -> None:
    """Replace every state of the model."""
    if hasattr(model, "_state"):
        model._state = change(model._state)
    else:
        model._ensembles = [change(state) for state in model._ensembles]
