"""The exponential function for loops over many values, and whole parts.

`exp` is a kernel without a call or a branch, so that a loop over it vectorizes: 26 exponentials take the time of 6
calls. For single values the standard library's is faster. It is right to less than one unit in the last place, and the
same operation for operation however a loop is arranged.
"""

from __future__ import annotations

import numpy as np

from edgewise.kernels.compile import inlined, noinline

ROUNDING = 6755399441055744.0  # 1.5 * 2**52: added to a small number, it leaves its whole part in the last bits
MANY = 8  # values from which on a loop over `exp` is faster than calls
LOWEST, HIGHEST = -708.0, 709.0  # exp of these is a normal number; beyond them it stays what it is there
PER_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has zeros at its end


@inlined
def exp(x):
    """e**x, for x from LOWEST to HIGHEST: 2**n times a polynomial of what is left, which is at most ln(2)/2."""
    x = min(max(x, LOWEST), HIGHEST)
    shifted = x * PER_LN2 + ROUNDING
    n = shifted - ROUNDING
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (0.5 + r * (1.0 / 6.0)) + r2 * ((1.0 / 24.0) + r * (1.0 / 120.0))
    middle = ((1.0 / 720.0) + r * (1.0 / 5040.0)) + r2 * ((1.0 / 40320.0) + r * (1.0 / 362880.0))
    high = ((1.0 / 3628800.0) + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    p = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)))
    # 2**n in two factors: 2**1024 would be too large
    power = np.int64((np.float64(shifted).view(np.int64) + 1022) << 52).view(np.float64)
    return p * power * 2.0


@noinline
def exp_apart(x):
    """`exp` for a single value, in a loop that is long already."""
    return exp(x)


@inlined
def index(i: int) -> int:
    """i as an unsigned integer, for which compiled code has no branch for negative indices."""
    return np.uintp(i)  # type: ignore[return-value]


@inlined
def whole_part(x: float) -> int:
    """int(x), for which compiled code would call a function."""
    return np.int64(x)  # type: ignore[return-value]
