"""When a tree should begin anew: its recent error has risen far above its error over a longer time."""

from __future__ import annotations

import math

from edgewise.kernels.compile import inlined

# The error over about FAST examples is compared with that over about SLOW; ALARM is a number of standard errors.
FAST, SLOW, ALARM = 100.0, 2000.0, 4.0
ERROR_FAST, ERROR_SLOW, AGE = 0, 1, 2


@inlined
def drifted(errors, wrong):
    """Count one prediction of a tree; whether its error has risen so much that the tree should begin anew.

    Two running means of the error are kept, over about FAST and about SLOW examples. They agree but for chance unless
    the stream changed: FAST examples have a standard error of sqrt(e(1 - e)/FAST). Only a tree's own past counts, so
    that the order of learners and rounds may still be exchanged.
    """
    errors[AGE] += 1.0
    miss = 1.0 if wrong else 0.0
    errors[ERROR_FAST] += (miss - errors[ERROR_FAST]) / min(errors[AGE], FAST)
    errors[ERROR_SLOW] += (miss - errors[ERROR_SLOW]) / min(errors[AGE], SLOW)
    slow = errors[ERROR_SLOW]
    if errors[AGE] < 3.0 * FAST or errors[ERROR_FAST] <= slow + ALARM * math.sqrt(slow * (1.0 - slow) / FAST):
        return False
    errors[ERROR_FAST] = errors[ERROR_SLOW] = errors[AGE] = 0.0
    return True
