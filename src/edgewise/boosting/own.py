"""Where a user's own code enters the game: calls that do nothing here and that `extending` puts the user's code for.

| call                 | stands for                                                                  |
|----------------------|-----------------------------------------------------------------------------|
| `own_speaks`         | `speaks` of the state of an own learner (`edgewise.learners.weak_learner`)  |
| `own_learns`         | `learns` of it                                                              |
| `own_importance`     | `importance` of the memory of an own rule (`edgewise.boosting.boosting_rule`) |
| `own_learner_weight` | `learner_weight` of it                                                      |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise._compile import kernel


class Own(NamedTuple):
    """What a user's own learners and rule remember."""

    learners: tuple[Any, ...]  # (state of the first class, (state of the second, (..., ())))
    rule: Any  # NamedTuple of arrays; a bare () where the rule is one of ours


NOTHING = Own((), ())


class Round(NamedTuple):
    """What the feedback of one round is."""

    number: int  # t, from 1
    label: int
    weight: float  # of the example, as the user gave it
    uniforms: np.ndarray  # random numbers of this round, as many as the rule asked for


@kernel
def own_speaks(states, which, slot, x, p):
    """Nobody speaks: an ensemble without own learners never gets here."""


@kernel
def own_learns(states, which, slot, x, p, label, w):
    """Nobody learns."""


@kernel
def own_importance(memory, i, scores, now):
    return 0.0


@kernel
def own_learner_weight(memory, i, scores, vote, p, now):
    return 0.0
