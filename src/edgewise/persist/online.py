"""Online boosters: classifiers, rankers, bandits and gradient boosters. See `states` for how a state is put back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from edgewise.data.table import Feature
from edgewise.learners.hoeffding_tree import HoeffdingTree, TreeParameters
from edgewise.learners.label_memory import LabelMemory
from edgewise.learners.linear import LinearBank, SoftmaxRegression
from edgewise.learners.products import first_inputs, pairs_of_columns
from edgewise.learners.regression_tree import RegressionTree, RegressionTreeParameters
from edgewise.learners.ridge import RidgeRegression
from edgewise.loop.inputs import Columns
from edgewise.loop.pipeline import blocks
from edgewise.loop.state import GRADIENT, POISSON
from edgewise.models.adaboost_olm import OneVsAllOLM
from edgewise.models.bandit_bbm import BanditBBM
from edgewise.models.gradient_stream import GradientStream
from edgewise.models.online_mbbm import OnlineMBBM
from edgewise.models.stream_bandit import StreamBandit
from edgewise.models.stream_ensemble import StreamEnsemble
from edgewise.models.stream_ranker import StreamRanker
from edgewise.models.streaming_gradient_boosting import StreamingGradientBoostingClassifier, class_targets
from edgewise.persist.checks import sorted_labels, take_plain, true_or_false, whole_number
from edgewise.persist.forests import checked_forest, checked_regression_forest, has_sleepers
from edgewise.persist.pending import restored_pending, stored_pending
from edgewise.persist.states import check_unchanged, filled, stored_forests, stored_state

COUNTS = ("rounds_", "mistakes_", "decisions_", "expired_", "repeated_", "skipped_")
# Tables of the exact 0-1 potentials grow faster than the square of the number of learners, and are made anew, whatever
# the size of the file: 70 MB, and some 200 MB on the way, at this number.
MOST_WITH_POTENTIALS = 1000


def is_started(model: StreamEnsemble) -> bool:
    return hasattr(model, "_columns")


# -- taking apart --------------------------------------------------------------------------------------------------


def features_of(model: StreamEnsemble) -> tuple[Feature, ...]:
    """The columns of a started model."""
    columns = model._started()
    categories = iter(columns.categories)
    pairs = zip(columns.names, columns.nominal, strict=True)
    return tuple(Feature(name, next(categories) if nominal else None) for name, nominal in pairs)


def state_of(model: Any) -> dict[str, Any]:
    """What a file holds of a started model beside its parameters and its features."""
    state = {name: value for name, value in vars(model).items() if name not in model._defaults()}
    state.pop("_interrupted", None)  # a model that was cut off cannot be saved
    columns = state.pop("_columns")
    state["_columns"] = dict(zip(columns._fields[3:], columns[3:], strict=True))
    # Defaults may change from version to version: these are the learners that the model was made of.
    state["_learners"] = model._default_estimator() if model.estimator is None else None
    if isinstance(model, GradientStream):
        state["_state"] = stored_state(model._state)
    else:
        state["_ensembles"] = [stored_state(ensemble) for ensemble in model._ensembles]
    if isinstance(model, StreamBandit):
        state["_pending"] = stored_pending(model._pending)
    return state


def check_told(model: Any, rebuilt: Any) -> None:
    """ValueError if a model is not what its parameters tell: what a file leaves out would be lost."""
    if isinstance(model, GradientStream) and isinstance(rebuilt, GradientStream):
        check_unchanged(model._state, rebuilt._state)
    else:
        for ensemble, template in zip(model._ensembles, rebuilt._ensembles, strict=True):
            check_unchanged(ensemble, template)


# -- putting together ----------------------------------------------------------------------------------------------


def restore(model: StreamEnsemble, features: tuple[Feature, ...], state: dict[str, Any]) -> None:
    """Make of a model that has its parameters the one that was saved; ValueError unless all parts fit together."""
    columns = _columns(features, state.pop("_columns"))
    learners = state.pop("_learners")
    if (learners is None) != (model.estimator is not None):
        raise ValueError("the learners are either given or the default ones")
    declared = {name for kind in type(model).__mro__ for name in vars(kind).get("__annotations__", ())}
    for name in COUNTS:
        if name in state or name in declared:
            setattr(model, name, whole_number(name, state.pop(name, None)))
    n = model.n_estimators
    whole_number("n_estimators", n.item() if isinstance(n, np.integer) else n, 1)
    n_blocks = whole_number("_n_blocks", state.pop("_n_blocks", 1), 1)
    if n_blocks > n:
        raise ValueError(f"_n_blocks={n_blocks}: there are {n} learners")
    fresh = type(model)(**model.get_params(deep=False))
    fresh._n_blocks = model._n_blocks = n_blocks
    if learners is not None:
        fresh._default_estimator = lambda: learners  # type: ignore[method-assign]
    fresh._columns = model._columns = columns
    if isinstance(model, GradientStream) and isinstance(fresh, GradientStream):
        _restore_gradient(model, fresh, state)
    else:
        _restore_ensembles(model, fresh, state)
    take_plain(model, state)


def _columns(features: tuple[Feature, ...], rest: Any) -> Columns:
    if not features or not isinstance(rest, dict) or not rest.keys() <= set(Columns._fields[3:]):
        raise ValueError("no columns of a model")
    return Columns(
        tuple(feature.name for feature in features),
        np.array([feature.categories is not None for feature in features]),
        tuple(feature.categories for feature in features if feature.categories is not None),
        **{name: true_or_false(name, value) for name, value in rest.items()},
    )


def _restore_ensembles(model: Any, fresh: Any, state: dict[str, Any]) -> None:
    columns, n = model._columns, model.n_estimators
    if isinstance(model, StreamRanker):
        names = state.pop("labels_")
        if not isinstance(names, np.ndarray) or names.ndim != 1:
            raise ValueError("labels_: the names of the labels are needed")
        model.labels_, k = names, names.size
    else:
        model.classes_ = sorted_labels("classes_", state.pop("classes_"))
        k = model.classes_.size
    model._rng, fresh._rng = state.pop("_rng"), np.random.default_rng(0)
    if not isinstance(model._rng, np.random.Generator):
        raise ValueError("_rng: a generator is needed")
    model.restarts_ = state.pop("restarts_")
    for pair in model.restarts_ if isinstance(model.restarts_, list) else [None]:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError("restarts_: pairs of a round and a learner are needed")
        for number in pair:
            whole_number("restarts_", number)
    stored = state.pop("_ensembles")
    if not isinstance(stored, list) or not stored:
        raise ValueError("_ensembles: at least 1 is needed")
    drawn = state.pop("parameters_")
    _check_drawn(drawn, TreeParameters, n, len(columns.names))
    fresh.parameters_ = model.parameters_ = drawn
    for one in stored:
        _check_sizes(fresh, one, n, k)
    fresh._check()
    if isinstance(model, StreamRanker):
        fresh.labels_ = model.labels_
    templates = fresh._new_ensembles(k)
    if len(stored) != len(templates):
        raise ValueError(f"{len(stored)} ensembles where {len(templates)} are needed")
    ensembles = [_ensemble(t, s, columns.n_categories) for t, s in zip(templates, stored, strict=True)]
    if model.max_bytes is None and any(has_sleepers(forest) for ensemble in ensembles for forest in ensemble.forests):
        raise ValueError("max_bytes=None: its leaves sleep, which they do under a budget only")
    model._ensembles = model._limited(ensembles)
    if isinstance(model, StreamBandit):
        model._pending = restored_pending(state.pop("_pending"), model)


def _ensemble(template: Any, stored: Any, n_categories: np.ndarray) -> Any:
    ensemble = filled(template, stored)
    k, recent = ensemble.plan.n_labels, ensemble.memory.recent
    if not ((recent >= 0) & (recent <= k)).all():
        raise ValueError(f"recent={recent.tolist()}: the last labels are places among {k} classes")
    check_places(ensemble.bank)
    rule = getattr(ensemble.plan, "rule", GRADIENT)
    if rule not in (GRADIENT, POISSON) and not np.array_equal(ensemble.committee.weight, template.committee.weight):
        raise ValueError("weight: the votes of this booster all count alike")
    pairs = zip(ensemble.forests, template.forests, strict=True)
    return ensemble._replace(forests=[checked_forest(forest, known, n_categories) for forest, known in pairs])


def check_places(bank: LinearBank) -> None:
    """ValueError unless the inputs that take Newton steps have the places 1, 2, ... of their learner."""
    for i, slot in enumerate(bank.newton.slot):
        ranks = np.concatenate([bank.ranks[i], bank.products.ranks[i]])
        most = min(int(bank.newton.most[i]), bank.newton.weights.shape[1])
        used = int(bank.newton.used[slot]) if slot >= 0 else 0
        if not (0 <= used <= most and np.array_equal(np.sort(ranks[ranks != 0]), np.arange(1, used + 1))):
            raise ValueError(f"ranks of linear learner {i}: places 1 to {used}, once each, are needed, at most {most}")


def _check_drawn(drawn: Any, kind: Any, n: int, n_features: int) -> None:
    """ValueError unless drawn parameters are arrays of numbers, one for each of n learners."""
    if not isinstance(drawn, kind):
        raise ValueError(f"the parameters that were drawn are no {kind.__name__}")
    for name, array in drawn._asdict().items():
        shape = (n, n_features) if name == "features" else (n,)
        wanted = {"features": bool, "max_depth": np.int64}.get(name, np.float64)
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != wanted:
            raise ValueError(f"{name} that was drawn needs dtype {np.dtype(wanted)} and shape {shape}")


def _check_sizes(fresh: Any, stored: Any, n: int, k: int) -> None:
    """ValueError unless the arrays of a file are as large as those that the booster is about to make.

    So a file that asks for more learners, columns or classes than it has arrays for is refused before room is made.
    """
    labels, columns = k, fresh._columns
    if stored["committee"]["weight"].shape[:1] != (n,):
        raise ValueError(f"{n} learners, but weights of shape {stored['committee']['weight'].shape}")
    if n > MOST_WITH_POTENTIALS and isinstance(fresh, OnlineMBBM | BanditBBM):
        raise ValueError(
            f"n_estimators={n}: files of a {type(fresh).__name__} are for at most {MOST_WITH_POTENTIALS} learners"
        )
    learners, group = fresh._members(), 1
    if fresh._in_groups:
        group, labels = k, 2
    elif isinstance(fresh, OneVsAllOLM):
        labels = k = 2  # k boosters of two classes each
    linear = [learner.products for learner in learners if isinstance(learner, SoftmaxRegression)]
    inputs = int((~columns.nominal).sum()) + 1 + int(columns.n_categories.sum())
    memories = sum(isinstance(learner, LabelMemory) for learner in learners)
    wanted: dict[str, tuple[Any, tuple[int, ...]]] = {
        "weights": (stored["bank"]["weights"].shape, (len(linear), k, inputs)),
        "counts": (stored["memory"]["counts"].shape, (memories, (k + 1) ** 2 if memories else 1, k)),
    }
    if "products" in stored["bank"]:
        n_numeric = columns.nominal.size - columns.n_categories.size
        pairs = pairs_of_columns(max(linear, default=0), n_numeric, columns.n_categories.size)
        shape = (len(linear), int(first_inputs(pairs)[-1]), k)
        wanted["products"] = (stored["bank"]["products"]["weights"].shape, shape)
    is_tree = np.array([isinstance(learner, HoeffdingTree) for learner in learners])
    used = fresh.parameters_.features[:, ~columns.nominal].sum(axis=1)
    for block, forest in _stored_blocks(stored, n, fresh._n_blocks):
        trees = max(1, is_tree[block].sum()) * group
        of_block = used[block][is_tree[block]] if is_tree[block].any() else used[block][:1]
        wanted |= {
            "root": (forest["root"].shape, (trees,)),
            "class_weight": (forest["class_weight"].shape[1:], (labels,)),
            "gauss": (forest["gauss"].shape[1:], (6, max(1, of_block.max()))),
        }
        for name, (found, needed) in wanted.items():
            if found != needed:
                raise ValueError(f"{name} has shape {found} where {needed} is needed")
        if len(forest["class_weight"]) < 2 * trees or len(forest["gauss"]) < trees * min(labels, 4) + 2:
            raise ValueError("fewer leaves or statistics than its trees need")


def _stored_blocks(stored: Any, n: int, n_blocks: int) -> Iterator[tuple[slice, Any]]:
    """The learners of each block, and the forest that a file holds of them."""
    forests = stored_forests(stored)
    if len(forests) != n_blocks:
        raise ValueError(f"{len(forests)} forests for {n_blocks} blocks of learners")
    for block, forest in zip(blocks(n, n_blocks), forests, strict=True):
        yield slice(block.start, block.stop), forest


def _restore_gradient(model: Any, fresh: Any, state: dict[str, Any]) -> None:
    columns, n = model._columns, model.n_estimators
    m = whole_number("_n_outputs", state.pop("_n_outputs"), 1)
    drawn, stored = state.pop("tree_parameters_"), state.pop("_state")
    if len(stored["progress"]["learners"]) != n:
        raise ValueError(f"{n} learners, but sums of {len(stored['progress']['learners'])}")
    learners = fresh._members()
    trees = sum(isinstance(learner, RegressionTree) for learner in learners)
    ridges = sum(isinstance(learner, RidgeRegression) for learner in learners)
    if trees:
        _check_drawn(drawn, RegressionTreeParameters, trees, len(columns.names))
    elif drawn is not None:
        raise ValueError("parameters were drawn for trees, and there are none")
    fresh.tree_parameters_ = model.tree_parameters_ = drawn
    inputs = int((~columns.nominal).sum()) + 1 + int(columns.n_categories.sum())
    n_bins = [learner.bins for learner in learners if isinstance(learner, RegressionTree)][:1] or [2]
    is_tree = np.array([isinstance(learner, RegressionTree) for learner in learners])
    used = np.zeros(n, np.int64)
    used[is_tree] = drawn.features[:, ~columns.nominal].sum(axis=1) if trees else 0
    of_bank = (stored["bank"]["weights"].shape, stored["bank"]["inverse"].shape)
    for block, forest in _stored_blocks(stored, n, fresh._n_blocks):
        trees = is_tree[block].sum()
        found = (*of_bank, forest["root"].shape, forest["bins"].shape[1:])
        width = max(1, used[block].max())
        needed = ((ridges, m, inputs), (ridges, inputs, inputs), (trees,), (width, n_bins[0], 1 + m))
        if found != needed or len(forest["bins"]) < trees:
            raise ValueError(f"arrays of shapes {found} where {needed} are needed")
    if isinstance(model, StreamingGradientBoostingClassifier):
        fresh.classes_ = model.classes_ = sorted_labels("classes_", state.pop("classes_"))
        outputs = class_targets(np.zeros(0, np.int64), model.classes_.size, model._loss()).shape[1]
        if m != outputs:
            raise ValueError(f"{m} outputs where {model.classes_.size} classes have {outputs}")
    else:
        model._flat = true_or_false("_flat", state.pop("_flat"))
    loss = fresh._loss()
    fresh._check_steps(loss, m)
    template = fresh._new_state(loss, columns, m, np.random.default_rng())
    filled_state = filled(template, stored)
    forests = [
        checked_regression_forest(forest, known, columns.n_categories)
        for forest, known in zip(filled_state.forests, template.forests, strict=True)
    ]
    model._state, model._n_outputs = filled_state._replace(forests=forests), m
