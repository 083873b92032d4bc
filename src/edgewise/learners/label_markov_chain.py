"""A learner that looks at no feature, only at the labels that came before: a Markov chain of order 2, forgetting.

On streams whose labels come in runs (electricity prices, network traffic) the last labels tell more than any feature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.state import state
from edgewise.learners.weak_learner import Learner
from edgewise.parameters import with_parameters


@with_parameters()
class LabelMarkovChain(Learner):
    """Predicts from the last two labels.

    Parameters
    ----------
    decay : float
        What remains of a context's counts each time it comes up again.
    """

    decay: float = 0.995

    def check(self) -> None:
        """Raise ValueError for a setting that is not allowed."""
        if not 0.0 < self.decay <= 1.0:
            raise ValueError(f"decay={self.decay!r}: a number in (0, 1]")


@state
class MarkovBank(NamedTuple):
    """n label Markov chains over k labels."""

    decay: np.ndarray  # [n]
    counts: np.ndarray  # [n, contexts, k] weight of each label after each context
    recent: np.ndarray  # [2] the last label and the one before; k where there was none


def make_markov(learners: list[LabelMarkovChain], k: int) -> MarkovBank:
    """Chains that have seen nothing."""
    contexts = (k + 1) ** 2 if learners else 1
    decay = np.array([learner.decay for learner in learners], float)
    return MarkovBank(decay, np.zeros((len(learners), contexts, k)), np.full(2, k, np.int64))


@inlined
def next_context(memory, label, k):
    """The context before an example, given its label (-1: none, it leaves no trace)."""
    context = memory.recent[0] * (k + 1) + memory.recent[1]
    if label >= 0:
        memory.recent[1] = memory.recent[0]
        memory.recent[0] = label
    return context


@noinline
def markov_predict_proba(memory, i, context, p):
    """Fill p with the shares of the labels that followed this context, one pseudo-example for each class added."""
    counts = memory.counts[i, context]
    total = 0.0
    for r in range(p.size):
        total += counts[r]
    for r in range(p.size):
        p[r] = (counts[r] + 1.0) / (total + p.size)


@noinline
def markov_update(memory, i, context, label, w):
    """Count the label that followed this context, once the counts before it have decayed."""
    counts = memory.counts[i, context]
    for r in range(counts.size):
        counts[r] *= memory.decay[i]
    counts[label] += w
