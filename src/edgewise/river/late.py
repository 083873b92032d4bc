"""Places for features, categories and labels that come late, in the arrays of a model that has learned already.

A late feature counts as one that was missing so far, which loses nothing: but for the rounding of sums over features,
the model is the one that would have known the column from the start. Only trees that use a random part of the features
differ: such a tree draws a part of all the columns that there are now, and takes from it those that are new.

A late label cannot be exact, since the loss of a booster speaks of all labels: until the label comes the model is one
of fewer labels, from then on of one more, and what was learned so far stays.

| learner                            | a late label finds                                                        |
|------------------------------------|---------------------------------------------------------------------------|
| Hoeffding tree                     | leaves in which it has no weight                                          |
| linear                             | coefficients of 0                                                         |
| label memory                       | contexts that it never followed                                           |
| group of one-against-rest trees    | a tree of one leaf, which holds the weight of all examples, as the rest   |
| one booster for each class         | a booster of new learners, weighed as those of the others are on average  |
| regression tree, ridge regression  | an output that was 0; the one output of two classes becomes two, mirrored |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgewise.learners.forest.capacity import capacity_demand, enlarged
from edgewise.learners.forest.layout import (
    GROWING,
    LEAF,
    LEAVES,
    NODES,
    Forest,
    column_lists,
    nodes_below,
    slot_offsets,
    statistics_width,
    with_categories,
    with_features,
    with_gaps,
)
from edgewise.learners.hoeffding_tree import HoeffdingTree, RegressionTree, feature_subsets
from edgewise.learners.label_markov_chain import MarkovBank
from edgewise.learners.linear import LinearBank, RidgeBank, bank_with_categories, input_offsets, ridge_with_categories
from edgewise.learners.newton import newton_with_inputs
from edgewise.learners.products import products_with_columns
from edgewise.learners.regression_forest.layout import SQUARES, SUMS, forest_with_categories
from edgewise.loop.gradient_loop import ROUNDS, GradientEnsemble, Progress
from edgewise.loop.inputs import Columns
from edgewise.loop.state import GROUP, Ensemble
from edgewise.theory.projections import region_of


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
    lists = ("code_totals", "counts") if isinstance(forest, Forest) else ("bins", "slots", "low", "density")
    for field in lists:
        array = getattr(forest, field)
        in_slots = field in ("code_totals", "counts", "slots")
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


def add_labels(model: Any, k: int) -> None:
    """Let a model of fewer labels have k of them; classes_ or labels_ are the caller's."""
    if hasattr(model, "_state"):
        model._state, model._n_outputs = _with_outputs(model, k)
        return
    made = model._new_ensembles(k)
    if len(made) > 1:
        known = model._ensembles
        model._ensembles = model._limited(known + _with_experience(made[len(known) :], known))
        return
    state, blank = model._ensemble, made[0]
    (forest,) = state.forests
    more = k - state.plan.n_labels
    changes: dict[str, Any] = {"plan": blank.plan, "potentials": blank.potentials}
    if (state.learners.kind == GROUP).any():
        changes["learners"] = blank.learners
        changes["forests"] = [_with_trees(forest, state.plan.n_labels, more)]
    else:
        wider = {"class_weight": padded(forest.class_weight, 1, more), "row": padded(forest.row, 1, more, -1)}
        changes["forests"] = [forest._replace(**wider)]
    products, newton = state.bank.products, state.bank.newton
    changes["bank"] = state.bank._replace(
        weights=padded(state.bank.weights, 1, more),
        squares=padded(state.bank.squares, 1, more),
        products=products._replace(
            weights=padded(products.weights, 2, more), squares=padded(products.squares, 2, more)
        ),
        newton=newton._replace(weights=padded(newton.weights, 2, more)),
    )
    changes["memory"] = _with_contexts(state.memory, state.plan.n_labels, k)
    if hasattr(state, "calibration"):
        curve, squares = blank.calibration.curve.copy(), blank.calibration.squares.copy()
        curve[:-more], squares[:-more] = state.calibration.curve, state.calibration.squares
        changes["calibration"] = state.calibration._replace(curve=curve, squares=squares)
    model._ensembles = model._limited([state._replace(**changes)])


def _with_experience(made: list[Ensemble], known: list[Ensemble]) -> list[Ensemble]:
    """New boosters in late rounds: learner weights and mean importances go on from where the others are on average.

    Steps and means are relative to the number of rounds, so that a booster that began with nothing would weigh its
    first examples by a factor of that size. The moments of columns are the same for all boosters.
    """
    committees = [state.committee for state in known]
    for state in made:
        for field, others in zip(state.committee, zip(*committees, strict=True), strict=True):
            field[:] = np.mean(others, axis=0)
        state.forests[0].moments[:] = known[0].forests[0].moments
    return made


def _with_contexts(memory: MarkovBank, known: int, k: int) -> MarkovBank:
    """Label memories over k labels; the context "no label" is the last one, and moves."""
    n, more = memory.decay.size, k - known
    contexts = memory.counts.reshape(n, known + 1, known + 1, known) if n else np.zeros((0, 1, 1, known))
    if n:
        contexts = padded(padded(contexts, 1, more, at=known), 2, more, at=known)
    counts = padded(contexts, 3, more).reshape(n, -1 if n else 1, k)
    return memory._replace(counts=counts, recent=np.where(memory.recent == known, k, memory.recent))


def _with_trees(forest: Forest, known: int, more: int) -> Forest:
    """The forest of groups of `known` trees with `more` trees in each: one leaf, which has seen only the rest."""
    groups = forest.root.size // known
    forest = enlarged(forest, groups * more, capacity_demand(forest))
    after = (known * (np.arange(groups) + 1)).repeat(more)
    changes = {}
    for field in Forest._fields[: Forest._fields.index("kind")]:
        if field != "categories":  # all others have an entry for each tree, the same for all trees of a group
            array = getattr(forest, field)
            changes[field] = np.insert(array, after, array[after - 1], axis=0)
    for place in (after + np.arange(after.size)).tolist():
        first = int(forest.root[place // (known + more) * known])
        leaves = [forest.child[node] for node in nodes_below(forest, first) if forest.kind[node] == LEAF]
        node = forest.used[NODES]
        forest.used[NODES] += 1
        forest.used[LEAVES] -= 1
        leaf = forest.free_leaves[forest.used[LEAVES]]
        changes["root"][place], changes["n_nodes"][place], changes["tree_rows"][place] = node, 1, 0
        forest.kind[node], forest.child[node] = LEAF, leaf
        for field in GROWING[LEAVES]:
            getattr(forest, field)[leaf] = -1 if field == "row" else 0
        forest.class_weight[leaf, 0] = forest.class_weight[leaves].sum()
    return forest._replace(**changes)


def _with_outputs(model: Any, k: int) -> tuple[GradientEnsemble, int]:
    """The state of a gradient booster for k classes, and its outputs: the old ones go on as they are."""
    state: GradientEnsemble = model._state
    old = model._n_outputs
    # one output for two classes stands for two of opposite sign, which have twice the squared norm
    mapping = np.array([[-1.0, 1.0]]) if old == 1 else np.eye(old)
    factor = 2.0 if old == 1 else 1.0
    late = mapping.shape[1]
    mapping = padded(mapping, 1, k - late)

    def mapped(cells: np.ndarray, first: int) -> np.ndarray:
        """Numbers of which those from `first` on are one for each output."""
        return np.concatenate([cells[..., :first], cells[..., first:] @ mapping], axis=-1)

    (forest,), bank, progress = state.forests, state.bank, state.progress
    total = mapped(forest.total, SUMS)
    total[:, SQUARES] *= factor
    start = state.steps.start @ mapping
    start[late:] = model.start if np.ndim(model.start) == 0 else 0.0
    totals = progress.totals * factor
    totals[ROUNDS] = progress.totals[ROUNDS]
    largest = progress.extremes * np.array([factor, np.sqrt(factor)])
    return (
        state._replace(
            steps=state.steps._replace(start=start, region=region_of(model._loss().domain, k)),
            progress=Progress(progress.learners * factor, progress.losses * factor, totals, largest),
            forests=[
                forest._replace(
                    sums=forest.sums @ mapping, total=total, bins=mapped(forest.bins, 1), slots=mapped(forest.slots, 1)
                )
            ],
            bank=bank._replace(
                weights=np.ascontiguousarray(np.swapaxes(mapped(np.swapaxes(bank.weights, 1, 2), 0), 1, 2)),
                averages=np.ascontiguousarray(np.swapaxes(mapped(np.swapaxes(bank.averages, 1, 2), 0), 1, 2)),
            ),
        ),
        k,
    )
