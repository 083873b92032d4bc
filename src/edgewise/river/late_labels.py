"""Room for labels that come late, in the arrays of a model that has learned already.

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

from typing import Any

import numpy as np

from edgewise.learners.forest.layout import GROWING, LEAF, LEAVES, NODES, Forest, enlarged, nodes_below, room_needed
from edgewise.learners.label_memory import MemoryBank
from edgewise.learners.regression_forest.layout import SQUARES, SUMS
from edgewise.loop.gradient_loop import ROUNDS, GradientEnsemble, Progress
from edgewise.loop.state import GROUP, Ensemble
from edgewise.river.late_features import padded
from edgewise.theory.projections import region_of


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


def _with_contexts(memory: MemoryBank, known: int, k: int) -> MemoryBank:
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
    forest = enlarged(forest, groups * more, room_needed(forest))
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
