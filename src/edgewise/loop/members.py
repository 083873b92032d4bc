"""From the learners that a user names to the arrays of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgewise.learners.external import (
    CLASSIFIER,
    LARGEST_SEED,
    ExternalBank,
    ExternalLearner,
    RiverLearner,
    RowReader,
    ScikitLearner,
    as_member,
)
from edgewise.learners.forest.layout import Forest, make_forest
from edgewise.learners.hoeffding_tree import HoeffdingTree, TreeParameters
from edgewise.learners.label_markov_chain import LabelMarkovChain, MarkovBank, make_markov
from edgewise.learners.linear import BinaryRelevance, LinearBank, SoftmaxRegression, make_bank
from edgewise.learners.weak_learner import PrecomputedVotes, WeakLearner
from edgewise.loop.custom import Custom
from edgewise.loop.custom_learners import custom_classes, make_states
from edgewise.loop.inputs import Columns
from edgewise.loop.pipeline import blocks
from edgewise.loop.state import BINARY, EXTERNAL, GROUP, LINEAR, MARKOV, OWN, PRECOMPUTED, TREE, Learners

Compiled = HoeffdingTree | SoftmaxRegression | LabelMarkovChain | PrecomputedVotes | WeakLearner
Member = Compiled | ExternalLearner | RiverLearner | ScikitLearner


def members(estimator: Member | Sequence[Member], n: int, in_groups: bool = False) -> list[Member]:
    """The n learners in order: those of a list, the last one repeated to fill up.

    `in_groups`: a learner stands for k learners, each telling one class from the rest.
    """
    listed = estimator if isinstance(estimator, Sequence) else [estimator]
    given = [learner if isinstance(learner, Compiled) else as_member(learner, CLASSIFIER) for learner in listed]
    if not given:
        raise ValueError("estimator=[]: at least one weak learner")
    for learner in given:
        if not isinstance(learner, Compiled | ExternalLearner):
            raise ValueError(
                f"estimator={learner!r}: a HoeffdingTree, a SoftmaxRegression, a BinaryRelevance, a LabelMarkovChain, "
                "a WeakLearner of your own, a classifier of river or one with partial_fit, or a list of them"
            )
        learner.check()
        if in_groups and not isinstance(learner, HoeffdingTree):
            raise ValueError(f"estimator={learner!r}: a HoeffdingTree, of which every class has a group")
    if len({isinstance(learner, PrecomputedVotes) for learner in given}) > 1:
        raise ValueError("estimator: PrecomputedVotes cannot be mixed with learners that learn")
    return given[:n] + [given[-1]] * (n - len(given))


def draw(learners: list[Member], n_features: int, rng: np.random.Generator) -> TreeParameters:
    """Parameters of every learner; learners of one configuration that follow each other draw together."""
    parts = []
    first = 0
    while first < len(learners):
        last = first
        while last < len(learners) and learners[last] is learners[first]:
            last += 1
        learner, count = learners[first], last - first
        if isinstance(learner, HoeffdingTree):
            parts.append(learner.draw(count, n_features, rng))
        else:
            none = np.full(count, np.nan)
            parts.append(TreeParameters(none, none, none, np.ones(count), np.ones((count, n_features), bool)))
        first = last
    return TreeParameters(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def assemble(
    learners: list[Member], drawn: TreeParameters, columns: Columns, k: int, in_groups: bool, n_blocks: int
) -> tuple[Learners, list[Forest], LinearBank, MarkovBank, Custom]:
    """The ensemble's arrays, with a forest for each block of learners (`pipeline`).

    `in_groups`: a tree stands for k trees, each telling one class from the rest.
    """
    kinds: dict[type, int] = {
        HoeffdingTree: TREE,
        SoftmaxRegression: LINEAR,
        BinaryRelevance: BINARY,
        LabelMarkovChain: MARKOV,
        PrecomputedVotes: PRECOMPUTED,
        ExternalLearner: EXTERNAL,
    }
    kinds |= {own: OWN + number for number, own in enumerate(custom_classes(learners))}
    kind = np.array([kinds[type(learner)] for learner in learners], np.int64)
    is_tree = kind == TREE
    if in_groups:
        kind[:] = GROUP
    slot = np.arange(len(learners))
    forests = []
    for block in blocks(len(learners), n_blocks):
        part = slice(block.start, block.stop)
        slot[part][is_tree[part]] = np.arange(is_tree[part].sum()) * (k if in_groups else 1)
        of_block = TreeParameters(*(field[part] for field in drawn))
        forests.append(forest_of(learners[part], of_block, columns, k, in_groups))
    for others in (
        (LINEAR, BINARY),
        (MARKOV,),
        (EXTERNAL,),
        *((number,) for number in kinds.values() if number >= OWN),
    ):
        held = np.isin(kind, others)
        slot[held] = np.arange(held.sum())
    linear = [learner for learner in learners if isinstance(learner, SoftmaxRegression)]
    bank = make_bank(linear, k, int((~columns.nominal).sum()), columns.n_categories)
    memory = make_markov([learner for learner in learners if isinstance(learner, LabelMarkovChain)], k)
    return Learners(kind, slot, drawn.importance_scale), forests, bank, memory, make_states(learners, columns, k)


def forest_of(learners: list[Member], drawn: TreeParameters, columns: Columns, k: int, in_groups: bool) -> Forest:
    """The trees among learners that follow each other, as one forest."""
    group = k if in_groups else 1
    trees = [learner for learner in learners if isinstance(learner, HoeffdingTree)] or [HoeffdingTree()]
    # Learners without trees have one that nobody asks, so that the kernels need no second form.
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
