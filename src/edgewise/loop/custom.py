"""What a user's own learners and rule remember."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Custom(NamedTuple):
    """What a user's own learners and rule remember."""

    learners: tuple[Any, ...]  # (state of the first class, (state of the second, (..., ())))
    rule: Any  # NamedTuple of arrays; a bare () where the rule is one of ours


NOTHING = Custom((), ())


class Round(NamedTuple):
    """What the feedback of one round is."""

    number: int  # t, from 1
    label: int
    weight: float  # of the example, as the user gave it
    uniforms: np.ndarray  # random numbers of this round, as many as the rule asked for
