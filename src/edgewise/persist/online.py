"""Online boosters: classifiers, rankers, bandits and gradient boosters.

A booster makes its own state from its parameters, columns and classes. Most of it never changes: the plan, the kinds of
learners, the settings of every tree, tables of potentials. A file holds what learning changes (`declared`), and a
reader fills it into a state that the booster has just made, the *template*, once all arrays are known to have the
sizes that the template is about to have: so a small file cannot make a reader take much memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table
from edgewise.learners.hoeffding_tree import HoeffdingTree, RegressionTree
from edgewise.learners.label_markov_chain import LabelMarkovChain
from edgewise.learners.linear import RidgeRegression, SoftmaxRegression
from edgewise.learners.products import first_inputs, pairs_of_columns
from edgewise.learners.regression_forest.layout import ROOM
from edgewise.loop.bandit_loop import RoundRecord, make_record
from edgewise.loop.decisions import Decision, Pending
from edgewise.loop.inputs import Columns
from edgewise.loop.pipeline import blocks
from edgewise.loop.state import GRADIENT, POISSON, POTENTIAL
from edgewise.persist.declared import (
    ATTRIBUTES,
    MODELS,
    RECORDS,
    RENAMED,
    STATES,
    TABLES,
    check,
    checked,
    filled,
    in_code,
    in_file,
    name_of,
    stored_arrays,
    take,
)
from edgewise.persist.forests import checked_forest, checked_regression_forest, has_deactivated
from edgewise.persist.values import parameter_names

STARTED = "_columns"  # an attribute of every model that has a state
# Fields of a state that a file leaves out since they follow from what it holds, and the fill of `gauss`. There are no
# external learners: parameters that name one are refused.
DERIVED = ("offset", "tree_rows", "majority", "has_missing", "constant", "places", "gauss", "external")
# Tables of the exact 0-1 potentials grow faster than the square of the number of learners, and are made anew, whatever
# the size of the file: 70 MB, and some 200 MB on the way, at this number.
MOST_WITH_POTENTIALS, WITH_POTENTIALS = 1000, ("OnlineMBBM", "BanditBBM")


# -- taking apart ------------------------------------------------------------------------------------------------------


def features_of(model: Any) -> tuple[Feature, ...]:
    """The columns of a started model."""
    columns = model._started()
    categories = iter(columns.categories)
    pairs = zip(columns.names, columns.nominal, strict=True)
    return tuple(Feature(name, next(categories) if nominal else None) for name, nominal in pairs)


def stored_state(model: Any, held: dict[str, Any]) -> dict[str, Any]:
    """What a file holds of a started model beside its parameters and its features, given all of its attributes."""
    state = dict(held)
    state.pop("_interrupted", None)  # such a model cannot be saved
    columns = state.pop("_columns")
    state["_columns"] = dict(zip(columns._fields[3:], columns[3:], strict=True))
    # Defaults may change from version to version: these are the learners that the model was made of.
    state["_learners"] = model._default_estimator() if model.estimator is None else None
    kind = _kind(model)
    if kind == "GradientEnsemble":
        state["_state"] = stored_arrays(kind, model._state)
    else:
        state["_ensembles"] = [stored_arrays(kind, ensemble) for ensemble in model._ensembles]
    if "_pending" in state:
        state["_pending"] = _stored_pending(model._pending)
    return state


def _kind(model: Any) -> str:
    """Which state it has."""
    return TABLES["state_of"].get(name_of(type(model), MODELS), "Ensemble")


def check_unchanged(model: Any, rebuilt: Any) -> None:
    """ValueError if a model is not as its parameters say: what a file leaves out would be lost."""
    if _kind(model) == "GradientEnsemble":
        pairs = [(model._state, rebuilt._state)]
    else:
        pairs = list(zip(model._ensembles, rebuilt._ensembles, strict=True))
    for state, known in pairs:
        for name, value, other in zip(known._fields, state, known, strict=True):
            if name not in DERIVED and not _same(value, other, name == "potentials"):
                raise ValueError(
                    f"this model cannot be saved: its parameters no longer tell how it came to be ({name}); they were "
                    "changed after it had begun to learn"
                )


def _same(value: Any, known: Any, tables: bool = False) -> bool:
    """Whether two parts of a state are equal but for what is derived; of `tables`, what they were made for."""
    if value is known:
        return True
    if type(value) is not type(known):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype == known.dtype and np.array_equal(value, known, equal_nan=value.dtype.kind == "f")
    if not isinstance(value, tuple | list):
        return bool(value == known)
    names = getattr(known, "_fields", range(len(known)))
    return len(value) == len(known) and all(
        name in DERIVED
        or (tables and name != "edge" and isinstance(of_known, np.ndarray))
        or _same(part, of_known, tables)
        for name, part, of_known in zip(names, value, known, strict=True)
    )


# -- putting together --------------------------------------------------------------------------------------------------


def restore(model: Any, features: tuple[Feature, ...], state: dict[str, Any]) -> None:
    """Make of a model that has its parameters the one that was saved; ValueError unless all parts fit together."""
    rest = state.pop("_columns")
    if not features or not isinstance(rest, dict) or not rest.keys() <= set(Columns._fields[3:]):
        raise ValueError("no columns of a model")
    model._columns = Columns(
        tuple(feature.name for feature in features),
        np.array([feature.categories is not None for feature in features]),
        tuple(feature.categories for feature in features if feature.categories is not None),
        **{name: checked(name, value) for name, value in rest.items()},
    )
    n, n_blocks = model.n_estimators, checked("_n_blocks", state.get("_n_blocks", 1))
    if checked("n_estimators", n.item() if isinstance(n, np.integer) else n) < n_blocks:
        raise ValueError(f"_n_blocks={n_blocks}: there are {n} learners")
    # A model that makes the template, with the learners of the file.
    fresh, learners = copy(model), state.pop("_learners")
    if (learners is None) != (model.estimator is not None):
        raise ValueError("the learners are either given or the default ones")
    if learners is not None:
        fresh._default_estimator = lambda: learners
    fresh._n_blocks, fresh._rng = n_blocks, np.random.default_rng(0)
    annotated = {name for of in type(model).__mro__ for name in vars(of).get("__annotations__", ())}
    learned = annotated & ATTRIBUTES.keys() - parameter_names(type(model))
    needed = {name for name in learned if not hasattr(type(model), name)}
    if _kind(model) == "GradientEnsemble":
        drawn, stored = state.pop("tree_parameters_"), state.pop("_state")
        take(model, state, needed - {"restarts_"})
        fresh.tree_parameters_ = model.tree_parameters_ = drawn
        model._state = _gradient_state(model, fresh, stored)
        return
    drawn, stored = state.pop("parameters_"), state.pop("_ensembles")
    is_bandit = hasattr(model, "max_pending")
    pending = state.pop("_pending") if is_bandit else None
    take(model, state, needed | {"_rng"})
    fresh.parameters_ = model.parameters_ = drawn
    model._ensembles = model._limited(_ensembles(model, fresh, stored))
    if is_bandit:
        model._pending = _restored_pending(pending, model)


def _ensembles(model: Any, fresh: Any, stored: Any) -> list[Any]:
    """The states of a booster of labels or label sets; `fresh` makes the templates."""
    columns, n, kind, name = fresh._columns, fresh.n_estimators, _kind(model), name_of(type(model), MODELS)
    k = model.classes_.size
    n_ensembles, of_each = (k, 2) if name == "OneVsAllOLM" else (1, k)  # a booster of two classes for each class
    if not isinstance(stored, list) or len(stored) != n_ensembles:
        raise ValueError(f"_ensembles: {n_ensembles} are needed")
    if n > MOST_WITH_POTENTIALS and name in WITH_POTENTIALS:
        raise ValueError(f"n_estimators={n}: files of a {name} are for at most {MOST_WITH_POTENTIALS} learners")
    _check_drawn(fresh.parameters_, "TreeParameters", n, len(columns.names))
    sizes = _sizes(columns, n) | {"k": of_each, "experts": fresh._n_experts()}
    for one in stored:
        _check_ensemble(kind, one, fresh, sizes)
    fresh._check()
    if kind == "RankingEnsemble":
        fresh.labels_ = model.labels_
    ensembles = [
        restored_ensemble(kind, template, one) for template, one in zip(fresh._new_ensembles(k), stored, strict=True)
    ]
    if model.max_bytes is None and any(has_deactivated(forest) for one in ensembles for forest in one.forests):
        raise ValueError("max_bytes=None: its leaves sleep, which they do under a budget only")
    return ensembles


def _sizes(columns: Columns, n: int) -> dict[str, int]:
    """The sizes that follow from columns and the number of learners."""
    n_nominal, n_columns = len(columns.categories), len(columns.names)
    inputs = n_columns - n_nominal + 1 + int(columns.n_categories.sum())
    return {"N": n, "all columns": n_columns, "columns": n_columns - n_nominal, "nominal": n_nominal, "inputs": inputs}


def _check_drawn(drawn: Any, kind: str, n: int, n_columns: int) -> None:
    """ValueError unless drawn parameters are arrays of numbers, one for each of n learners."""
    if name_of(type(drawn), RECORDS) != kind:
        raise ValueError(f"the parameters that were drawn are no {kind}")
    check(kind, in_file(kind, drawn._asdict()), {"N": n, "all columns": n_columns}, "drawn ")


def _check_ensemble(kind: str, stored: Any, fresh: Any, sizes: dict[str, int]) -> None:
    """ValueError unless the arrays of a file are as declared, and as large as those of the template will be."""
    learners, k = fresh._members(), sizes["k"]
    linear = [learner for learner in learners if isinstance(learner, SoftmaxRegression)]
    newton = [learner.newton for learner in linear if learner.newton > 0]
    memories = sum(isinstance(learner, LabelMarkovChain) for learner in learners)
    pairs = pairs_of_columns(max((of.products for of in linear), default=0), sizes["columns"], sizes["nominal"])
    products = int(first_inputs(pairs)[-1])
    sizes = sizes | {
        "linear": len(linear),
        "products": products,
        "newton": len(newton),
        "places": min(max(newton, default=0), sizes["inputs"] + products),
        "memories": memories,
        "contexts": (k + 1) ** 2 if memories else 1,
    }
    check(kind, stored, sizes)
    for name in ("products", "newton"):
        if sizes[name] and name not in stored["bank"]:
            raise ValueError(f"bank: its learners have {name}")
    is_tree = np.array([isinstance(learner, HoeffdingTree) for learner in learners])
    group, labels = (k, 2) if fresh._in_groups else (1, k)
    for block, forest in _blocks(stored, fresh):
        # a block without trees has one that no learner asks
        allowed = fresh.parameters_.features[block][is_tree[block] if is_tree[block].any() else slice(1)]
        trees = len(allowed) * group
        least = {"nodes": 2 * trees, "leaves": 2 * trees, "rows": trees * min(labels, 4) + 2}
        _check_forest("Forest", forest, sizes | {"trees": trees, "labels": labels}, fresh._columns, allowed, least)


def _blocks(stored: Any, fresh: Any) -> Iterator[tuple[slice, Any]]:
    """The learners of each block, and the forest that a file holds of them."""
    forests = stored["forest"] if isinstance(stored["forest"], list) else [stored["forest"]]
    if len(forests) != fresh._n_blocks:
        raise ValueError(f"{len(forests)} forests for {fresh._n_blocks} blocks of learners")
    for block, forest in zip(blocks(fresh.n_estimators, fresh._n_blocks), forests, strict=True):
        yield slice(block.start, block.stop), forest


def _check_forest(
    kind: str, stored: Any, sizes: dict[str, int], columns: Columns, allowed: np.ndarray, least: dict[str, int]
) -> None:
    """ValueError unless a forest is as declared, with room for all categories and as much as a new one has.

    `allowed` [trees, columns] says which columns trees may use.
    """
    sizes["features"] = max(1, int(allowed[:, ~columns.nominal].sum(axis=1).max(initial=0)))
    check(kind, stored, sizes, "forest.")
    if (stored["categories"] < columns.n_categories).any():
        raise ValueError(f"forest.categories={stored['categories']}: the columns have {columns.n_categories}")
    slots = int((allowed[:, columns.nominal] @ (stored["categories"] + 1)).max(initial=0))
    if not slots <= sizes["slots"] <= max(1, slots):
        raise ValueError(f"{sizes['slots']} slots where its trees need {slots}")
    for pool, size in least.items():
        if sizes[pool] < size:
            raise ValueError(f"{sizes[pool]} {pool} where its trees need {size}")


def restored_ensemble(kind: str, template: Any, stored: Any) -> Any:
    """The template with the arrays of a file; ValueError unless they go together."""
    ensemble = filled(kind, template, stored)
    bank, newton = ensemble.bank, ensemble.bank.newton
    for i, slot in enumerate(newton.slot):  # inputs that take Newton steps have the places 1, 2, ... of their learner
        ranks = np.concatenate([bank.ranks[i], bank.products.ranks[i]])
        most = min(int(newton.most[i]), newton.weights.shape[1])
        used = int(newton.used[slot]) if slot >= 0 else 0
        if not (0 <= used <= most and np.array_equal(np.sort(ranks[ranks != 0]), np.arange(1, used + 1))):
            raise ValueError(f"ranks of linear learner {i}: places 1 to {used}, once each, are needed, at most {most}")
    rule = getattr(ensemble.plan, "rule", GRADIENT)
    if rule not in (GRADIENT, POISSON) and not np.array_equal(ensemble.committee.weight, template.committee.weight):
        raise ValueError("weight: the votes of this booster all count alike")
    forests = zip(ensemble.forests, template.forests, strict=True)
    return ensemble._replace(forests=[checked_forest(forest, known) for forest, known in forests])


def _gradient_state(model: Any, fresh: Any, stored: Any) -> Any:
    """The state of a gradient booster; `fresh` makes the template."""
    columns, n, m, drawn = fresh._columns, fresh.n_estimators, model._n_outputs, fresh.tree_parameters_
    sizes = _sizes(columns, n) | {"m": m, "experts": n + 1}
    check("Progress", stored["progress"], sizes)  # before a list of n learners is made
    learners = fresh._members()
    trees = [learner for learner in learners if isinstance(learner, RegressionTree)]
    sizes["ridges"] = sum(isinstance(learner, RidgeRegression) for learner in learners)
    sizes["bins"] = trees[0].bins if trees else 2
    check("GradientEnsemble", stored, sizes)
    is_tree = np.array([isinstance(learner, RegressionTree) for learner in learners])
    allowed = np.zeros((n, len(columns.names)), bool)
    if trees:
        _check_drawn(drawn, "RegressionTreeParameters", len(trees), len(columns.names))
        allowed[is_tree] = drawn.features
    elif drawn is not None:
        raise ValueError("parameters were drawn for trees, and there are none")
    for block, forest in _blocks(stored, fresh):
        of_block = allowed[block][is_tree[block]]
        least = {"nodes": len(of_block) + ROOM, "leaves": len(of_block) + ROOM}
        _check_forest("RegressionForest", forest, sizes | {"trees": len(of_block)}, columns, of_block, least)
    if hasattr(model, "classes_"):
        from edgewise.models.streaming_gradient_boosting import class_targets

        fresh.classes_ = model.classes_
        outputs = class_targets(np.zeros(0, np.int64), model.classes_.size, model._loss()).shape[1]
        if m != outputs:
            raise ValueError(f"{m} outputs where {model.classes_.size} classes have {outputs}")
    loss = fresh._loss()
    fresh._check_steps(loss, m)
    state = filled("GradientEnsemble", fresh._new_state(loss, columns, m, np.random.default_rng()), stored)
    return state._replace(forests=list(map(checked_regression_forest, state.forests)))


# -- bandit decisions that wait for feedback, as arrays over decisions -------------------------------------------------


def _stored_pending(pending: Pending) -> dict[str, Any]:
    """The decisions as arrays. Label, propensity and distribution follow from guess, shown label and exploration."""
    waiting = list(pending.waiting.values())
    joined = lambda rows: np.concatenate(rows) if rows else None  # noqa: E731
    return {
        "next_id": pending.next_id,
        "last_expired": pending.last_expired,
        "ids": np.array([decision.id for decision in waiting], np.int64),
        "features": _stacked([decision.features for decision in waiting]),
        "numeric": joined([decision.numeric for decision in waiting]),
        "nominal": joined([decision.nominal for decision in waiting]),
        "cast": {
            name: joined([getattr(decision.cast, code) for decision in waiting])
            for name, code in ((name, RENAMED.get(f"Cast.{name}", name)) for name in STATES["Cast"])
        },
    }


def _restored_pending(stored: Any, model: Any) -> Pending:
    """The decisions of a model whose state has been put back; ValueError unless they fit it."""
    pending = Pending()
    pending.next_id = checked("next_id", stored["next_id"])
    pending.last_expired = checked("last_expired", stored["last_expired"])
    ids = stored["ids"]
    if isinstance(ids, np.ndarray) and ids.dtype == np.int64 and ids.shape == (0,):
        return pending
    ensemble, columns, k, n_learners = model._ensemble, model._columns, model.classes_.size, model.n_estimators
    template = make_record(ensemble.plan, 1, n_learners, np.zeros(1), np.zeros((1, 2 + n_learners)))
    sizes = _sizes(columns, n_learners) | {"k": k, "shares": template.shares.shape[2]}
    check("Pending", stored, sizes, "pending ")
    n, numeric, nominal = ids.size, stored["numeric"], stored["nominal"]
    unknown = {name: np.repeat(array, n, axis=0) for name, array in template._asdict().items()}
    cast = RoundRecord(**unknown | in_code("Cast", stored["cast"]))
    features = stored["features"]
    in_order = (np.diff(ids) > 0).all() and ids[0] > pending.last_expired and ids[-1] < pending.next_id
    for held, message in (
        (in_order, "ids in order"),
        (not np.isinf(numeric).any(), "numbers are finite, or NaN"),
        ((nominal < columns.n_categories).all(), "codes of categories"),
        (
            getattr(ensemble.plan, "rule", None) != POTENTIAL or (cast.weights == 1.0).all(),
            "with potentials every vote counts 1",
        ),
        (isinstance(features, np.ndarray | Table | list) and len(features) == n, f"{n} examples"),
    ):
        if not held:
            raise ValueError(f"its pending decisions do not fit: {message}")
    # distribution (2) over the classes
    rates = cast.rates[:, None]
    probabilities = np.where(cast.guesses[:, None] == np.arange(k), 1.0 - rates, rates / (k - 1))
    for t, number in enumerate(ids.tolist()):
        one = slice(t, t + 1)
        pending.waiting[number] = Decision(
            number,
            model.classes_[cast.shown[t]],
            float(probabilities[t, cast.shown[t]]),
            probabilities[t].copy(),
            features[t],
            numeric[one].copy(),
            nominal[one].copy(),
            RoundRecord(*(field[one].copy() for field in cast)),
        )
    return pending


def _stacked(features: list[Any]) -> Any:
    """Examples as they were given: rows of one array, or of one table, together."""
    first = features[0] if features else None
    rows = [row for row in features if type(row) is np.ndarray and row.ndim == 1 and row.dtype.kind != "O"]
    if len(rows) == len(features) > 0 and len({(row.dtype, row.shape) for row in rows}) == 1:
        return np.stack(rows)
    tables = [row for row in features if isinstance(row, Table)]
    if isinstance(first, Table) and len(tables) == len(features) and len({table.features for table in tables}) == 1:
        return Table(np.concatenate([table.values for table in tables]), first.features)
    return features
