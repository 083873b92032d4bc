"""From the learners that a user names to the arrays of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgewise.boosting.inputs import Columns
from edgewise.boosting.own import Own
from edgewise.boosting.own_states import make_states, own_classes
from edgewise.boosting.state import BINARY, GIVEN, GROUP, LINEAR, MEMORY, OWN, TREE, Learners
from edgewise.learners.forest.layout import Forest, make_forest
from edgewise.learners.given_votes import GivenVotes
from edgewise.learners.hoeffding_tree import HoeffdingTree, TreeParameters
from edgewise.learners.label_memory import LabelMemory, MemoryBank, make_memory
from edgewise.learners.linear import BinaryRelevance, LinearBank, SoftmaxRegression, make_bank
from edgewise.learners.weak_learner import WeakLearner

Member = HoeffdingTree | SoftmaxRegression | LabelMemory | GivenVotes | WeakLearner


def members(estimator: Member | Sequence[Member], n: int) -> list[Member]:
    """The n learners in order: those of a list, the last one repeated to fill up."""
    given = list(estimator) if isinstance(estimator, Sequence) else [estimator]
    if not given:
        raise ValueError("estimator=[]: at least one weak learner")
    for learner in given:
        if not isinstance(learner, Member):
            raise ValueError(
                f"estimator={learner!r}: a HoeffdingTree, a SoftmaxRegression, a BinaryRelevance, a LabelMemory, "
                "a WeakLearner of your own, or a list of them"
            )
        learner.check()
    if len({isinstance(learner, GivenVotes) for learner in given}) > 1:
        raise ValueError("estimator: GivenVotes cannot be mixed with learners that learn")
    return [given[min(i, len(given) - 1)] for i in range(n)]


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
    learners: list[Member], drawn: TreeParameters, columns: Columns, k: int, in_groups: bool
) -> tuple[Learners, Forest, LinearBank, MemoryBank, Own]:
    """The ensemble's arrays. `in_groups`: a tree stands for k trees, each telling one class from the rest."""
    kinds: dict[type, int] = {
        HoeffdingTree: TREE,
        SoftmaxRegression: LINEAR,
        BinaryRelevance: BINARY,
        LabelMemory: MEMORY,
        GivenVotes: GIVEN,
    }
    kinds |= {own: OWN + number for number, own in enumerate(own_classes(learners))}
    kind = np.array([kinds[type(learner)] for learner in learners], np.int64)
    is_tree = kind == TREE
    group = k if in_groups else 1
    if in_groups:
        if not is_tree.all():
            raise ValueError("estimator: one-against-rest groups can only be made of HoeffdingTree learners")
        kind[:] = GROUP
    slot = np.arange(len(learners))
    slot[is_tree] = np.arange(is_tree.sum()) * group
    for others in ((LINEAR, BINARY), (MEMORY,), *((number,) for number in kinds.values() if number >= OWN)):
        held = np.isin(kind, others)
        slot[held] = np.arange(held.sum())
    trees = [learner for learner in learners if isinstance(learner, HoeffdingTree)] or [HoeffdingTree()]
    # An ensemble without trees keeps one that nobody asks, so that the kernels need no second form.
    chosen = np.flatnonzero(is_tree) if is_tree.any() else np.array([0])
    each = np.repeat(chosen, group)
    mode, binary, warm, max_nodes = np.repeat(
        np.array([tree.kernel_settings() for tree in trees], np.int64), group, axis=0
    ).T
    forest = make_forest(
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
    linear = [learner for learner in learners if isinstance(learner, SoftmaxRegression)]
    bank = make_bank(linear, k, int((~columns.nominal).sum()), columns.n_categories)
    memory = make_memory([learner for learner in learners if isinstance(learner, LabelMemory)], k)
    return Learners(kind, slot, drawn.importance_scale), forest, bank, memory, make_states(learners, columns, k)
