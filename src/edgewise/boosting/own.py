"""What a user's own learners and rule remember, and where the rule enters the game.

`own_importance` and `own_learner_weight` are what the learners alone do: every example counts for every learner. For an
own rule `extending` puts its `importance` and its `learner_weight` (`edgewise.boosting.boosting_rule`) in their place.
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
def own_importance(memory, i, scores, now):
    """The importance of this round's example for learner i."""
    return 1.0


@kernel
def own_learner_weight(memory, weights, i, scores, vote, p, now):
    """The weight of learner i moves."""
