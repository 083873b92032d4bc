"""From the learners that a user names to the arrays of an ensemble, and to their share of `max_bytes`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from edgewise.learners.external import (
    CLASSIFIER,
    LARGEST_SEED,
    REGRESSOR,
    ExternalBank,
    ExternalLearner,
    RiverLearner,
    RowReader,
    ScikitLearner,
    as_member,
)
from edgewise.learners.forest.capacity import least_bytes, limited
from edgewise.learners.forest.layout import Forest, make_forest
from edgewise.learners.hoeffding_tree import HoeffdingTree, RegressionTree, RegressionTreeParameters, TreeParameters
from edgewise.learners.label_markov_chain import LabelMarkovChain, MarkovBank, make_markov
from edgewise.learners.linear import (
    BinaryRelevance,
    LinearBank,
    RidgeBank,
    RidgeRegression,
    SoftmaxRegression,
    make_bank,
    make_ridge,
)
from edgewise.learners.regression_forest.layout import RegressionForest, make_regression_forest
from edgewise.learners.weak_learner import PrecomputedVotes, WeakLearner
from edgewise.loop import gradient_loop
from edgewise.loop.custom_learners import custom_classes, make_states
from edgewise.loop.gradient_loop import OBJECT, RIDGE, RowLearner
from edgewise.loop.inputs import Columns
from edgewise.loop.pipeline import blocks
from edgewise.loop.state import (
    BINARY,
    EXTERNAL,
    GROUP,
    LINEAR,
    MARKOV,
    OWN,
    PRECOMPUTED,
    TREE,
    Custom,
    Learners,
    arrays,
)

Compiled = HoeffdingTree | SoftmaxRegression | LabelMarkovChain | PrecomputedVotes | WeakLearner
Member = Compiled | ExternalLearner | RiverLearner | ScikitLearner
CompiledGradient = RegressionTree | RidgeRegression
GradientMember = CompiledGradient | ExternalLearner | RowLearner

KINDS: dict[type, int] = {
    HoeffdingTree: TREE,
    SoftmaxRegression: LINEAR,
    BinaryRelevance: BINARY,
    LabelMarkovChain: MARKOV,
    PrecomputedVotes: PRECOMPUTED,
    ExternalLearner: EXTERNAL,
}
# Learners of any other class are Python objects.
GRADIENT_KINDS: dict[type, int] = {
    RegressionTree: gradient_loop.TREE,
    RidgeRegression: RIDGE,
    ExternalLearner: gradient_loop.EXTERNAL,
}


def members(estimator: Member | Sequence[Member], n: int, in_groups: bool = False) -> list[Member]:
    """The n learners in order: those of a list, the last one repeated to fill up.

    `in_groups`: a learner stands for k learners, each telling one class from the rest.
    """
    listed = _listed(estimator, lambda learner: as_member(learner, CLASSIFIER), Compiled)
    for learner in listed:
        if not isinstance(learner, Compiled | ExternalLearner):
            raise ValueError(
                f"estimator={learner!r}: a HoeffdingTree, a SoftmaxRegression, a BinaryRelevance, a LabelMarkovChain, "
                "a WeakLearner of your own, a classifier of river or one with partial_fit, or a list of them"
            )
        learner.check()
        if in_groups and not isinstance(learner, HoeffdingTree):
            raise ValueError(f"estimator={learner!r}: a HoeffdingTree, of which every class has a group")
    if len({isinstance(learner, PrecomputedVotes) for learner in listed}) > 1:
        raise ValueError("estimator: PrecomputedVotes cannot be mixed with learners that learn")
    return _filled(listed, n)


def gradient_members(estimator: Any, n: int) -> list[GradientMember]:
    """The n learners of gradients in order: those of a list, the last one repeated to fill up."""
    listed = _listed(estimator, lambda learner: as_member(learner, REGRESSOR), CompiledGradient)
    for learner in listed:
        if isinstance(learner, CompiledGradient | ExternalLearner):
            learner.check()
        elif not all(callable(getattr(learner, name, None)) for name in ("predict_one", "learn_one")):
            raise ValueError(
                f"estimator={learner!r}: a RegressionTree, a RidgeRegression, a regressor of river or one with "
                "partial_fit, an object with predict_one and learn_one, or a list of them"
            )
    if len({learner.bins for learner in listed if isinstance(learner, RegressionTree)}) > 1:
        raise ValueError("estimator: the trees of one ensemble must have the same number of bins")
    return _filled(listed, n)


def _listed(estimator: Any, adapt: Callable[[Any], Any], compiled: Any) -> list[Any]:
    learners = estimator if isinstance(estimator, Sequence) else [estimator]
    if not learners:
        raise ValueError("estimator=[]: at least one weak learner")
    return [learner if isinstance(learner, compiled) else adapt(learner) for learner in learners]


def _filled(learners: list[Any], n: int) -> list[Any]:
    return learners[:n] + [learners[-1]] * (n - len(learners))


def draw(learners: list[Member], n_features: int, rng: np.random.Generator) -> TreeParameters:
    """Parameters of every learner; learners of one configuration that follow each other draw together."""
    parts = []
    for learner, count in _runs(learners):
        if isinstance(learner, HoeffdingTree):
            parts.append(learner.draw(count, n_features, rng))
        else:
            none = np.full(count, np.nan)
            parts.append(TreeParameters(none, none, none, np.ones(count), np.ones((count, n_features), bool)))
    return TreeParameters(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def draw_trees(
    learners: list[GradientMember], n_features: int, rng: np.random.Generator
) -> RegressionTreeParameters | None:
    """Parameters of every regression tree, drawn as by `draw`; None without trees."""
    parts = [
        learner.draw(count, n_features, rng)
        for learner, count in _runs(learners)
        if isinstance(learner, RegressionTree)
    ]
    if not parts:
        return None
    return RegressionTreeParameters(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def _runs(learners: list[Any]) -> list[tuple[Any, int]]:
    """Each learner with the number of times that it is repeated in a row."""
    repeated = [list(run) for _, run in groupby(learners, key=id)]
    return [(run[0], len(run)) for run in repeated]


def _count_up(slot: np.ndarray, chosen: np.ndarray, step: int = 1) -> None:
    """Give the chosen learners the slots 0, step, 2 step, ..."""
    slot[chosen] = np.arange(chosen.sum()) * step


def assemble(
    learners: list[Member], drawn: TreeParameters, columns: Columns, k: int, in_groups: bool, n_blocks: int
) -> tuple[Learners, list[Forest], LinearBank, MarkovBank, Custom]:
    """The ensemble's arrays, with a forest for each block of learners (`pipeline`).

    `in_groups`: a tree stands for k trees, each telling one class from the rest.
    """
    own = {of_class: OWN + number for number, of_class in enumerate(custom_classes(learners))}
    kind = np.array([(KINDS | own)[type(learner)] for learner in learners], np.int64)
    is_tree = kind == TREE
    if in_groups:
        kind[:] = GROUP
    slot = np.arange(len(learners))
    forests = []
    for block in blocks(len(learners), n_blocks):
        part = slice(block.start, block.stop)
        _count_up(slot[part], is_tree[part], k if in_groups else 1)
        of_block = TreeParameters(*(field[part] for field in drawn))
        forests.append(forest_of(learners[part], of_block, columns, k, in_groups))
    for same_bank in ((LINEAR, BINARY), (MARKOV,), (EXTERNAL,), *((number,) for number in own.values())):
        _count_up(slot, np.isin(kind, same_bank))
    linear = [learner for learner in learners if isinstance(learner, SoftmaxRegression)]
    bank = make_bank(linear, k, int((~columns.nominal).sum()), columns.n_categories)
    memory = make_markov([learner for learner in learners if isinstance(learner, LabelMarkovChain)], k)
    return Learners(kind, slot, drawn.importance_scale), forests, bank, memory, make_states(learners, columns, k)


def forest_of(learners: list[Member], drawn: TreeParameters, columns: Columns, k: int, in_groups: bool) -> Forest:
    """The trees among learners that follow each other, as one forest."""
    group = k if in_groups else 1
    trees = [learner for learner in learners if isinstance(learner, HoeffdingTree)] or [HoeffdingTree()]
    # Learners without trees have one that is never asked, so that the kernels need no second form.
    chosen = [i for i, learner in enumerate(learners) if isinstance(learner, HoeffdingTree)] or [0]
    each = np.repeat(chosen, group)
    mode, binary, warm, max_nodes = np.repeat(
        np.array([tree.kernel_settings() for tree in trees], np.int64), group, axis=0
    ).T
    return make_forest(
        n_labels=2 if in_groups else k,
        mode=mode,
        binary=binary,
        warm=warm,
        max_nodes=max_nodes,
        grace=drawn.grace_period[each],
        confidence=drawn.split_confidence[each],
        tie=drawn.tie_threshold[each],
        numeric=drawn.features[each][:, ~columns.nominal],
        nominal=drawn.features[each][:, columns.nominal],
        n_numeric=int((~columns.nominal).sum()),
        categories=columns.n_categories,
    )


def external_bank(
    learners: Sequence[object], columns: Columns, rng: np.random.Generator, each: int = 1
) -> ExternalBank:
    """Copies of the learners of other libraries, `each` for every one, with seeds of their own."""
    external = [learner for learner in learners if isinstance(learner, ExternalLearner) for _ in range(each)]
    copies = tuple(learner.copied(int(rng.integers(LARGEST_SEED))) for learner in external)
    return ExternalBank(copies, RowReader.of(columns.names, columns.nominal, columns.categories))


def check_external(learners: Sequence[object], numeric: np.ndarray, k: int) -> None:
    """ValueError if one of the learners of other libraries cannot take these rows, or k labels."""
    for learner in dict.fromkeys(learner for learner in learners if isinstance(learner, ExternalLearner)):
        learner.check_rows(numeric, k)


def assemble_gradient(
    learners: list[GradientMember],
    drawn: RegressionTreeParameters | None,
    columns: Columns,
    n_outputs: int,
    n_blocks: int,
) -> tuple[gradient_loop.Learners, list[RegressionForest], RidgeBank, tuple[RowLearner, ...]]:
    """The ensemble's arrays, with a forest for each block, and a copy of each learner that is a Python object."""
    kind = np.array([GRADIENT_KINDS.get(type(learner), OBJECT) for learner in learners])
    slot = np.zeros(len(learners), np.int64)
    for of_kind in (RIDGE, OBJECT, gradient_loop.EXTERNAL):
        _count_up(slot, kind == of_kind)
    bins = {learner.bins for learner in learners if isinstance(learner, RegressionTree)} or {2}
    if drawn is None:
        # A forest without trees keeps the moments of the columns.
        drawn = RegressionTree().draw(0, len(columns.names), np.random.default_rng(0))
    forests, made = [], 0
    for block in blocks(len(learners), n_blocks):
        part = slice(block.start, block.stop)
        is_tree = kind[part] == gradient_loop.TREE
        _count_up(slot[part], is_tree)
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
                n_bins=min(bins),
                categories=columns.n_categories,
            )
        )
    ridges = [learner for learner in learners if isinstance(learner, RidgeRegression)]
    bank = make_ridge(ridges, n_outputs, int((~columns.nominal).sum()), columns.n_categories)
    objects = [learner for learner in learners if not isinstance(learner, CompiledGradient | ExternalLearner)]
    return gradient_loop.Learners(kind, slot), forests, bank, tuple(copy.deepcopy(learner) for learner in objects)


def within_budget(ensembles: list[Any], max_bytes: int | None, tables: int) -> list[Any]:
    """The ensembles with limits to their trees; ValueError if the budget is too small to begin with.

    Every tree of all ensembles gets an equal share of what is left once all that does not grow is counted (`tables` are
    the bytes of an ensemble's potentials at the start). Shares depend on the settings, the columns and the labels
    alone: neither chunks nor threads, for which learners stand in blocks with a forest each, change what a tree does.
    """
    if max_bytes is None:
        return ensembles
    counted = [forest for ensemble in ensembles for forest in forests_with_trees(ensemble)]
    trees, least = sum(forest.root.size for forest in counted), least_bytes(counted)
    others = sum(tables + bytes_of_others(ensemble) for ensemble in ensembles)
    if max_bytes < others + trees * least:
        raise ValueError(
            f"max_bytes={max_bytes!r}: this model needs at least {others + trees * least}, of which its {trees} trees "
            f"take {trees * least}"
        )
    share = (max_bytes - others) // trees
    return [
        ensemble._replace(
            forests=[limited(f, share, counted) if any(f is one for one in counted) else f for f in ensemble.forests]
        )
        for ensemble in ensembles
    ]


def forests_with_trees(ensemble: Any) -> list[Forest]:
    """The forests whose trees are learners: all, unless a block of learners has no tree."""
    kind = ensemble.learners.kind
    every = zip(blocks(kind.size, len(ensemble.forests)), ensemble.forests, strict=True)
    found = [forest for block, forest in every if np.isin(kind[block.start : block.stop], (TREE, GROUP)).any()]
    return found or ensemble.forests[:1]


def bytes_of_others(ensemble: Any) -> int:
    """Bytes of all that is neither a forest nor a table of potentials."""
    others = [part for name, part in ensemble._asdict().items() if name not in ("forests", "potentials")]
    return sum(array.nbytes for array in arrays(others))
