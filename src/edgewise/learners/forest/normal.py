"""The standard normal distribution function, by table: split attempts spend most of their time here.

Around each of 32 points per unit the function is a Taylor polynomial of degree 6; its remainder there is below
(1/64)^7 max|He_6 phi|/7! < 3e-16, the rounding of the values themselves. Beyond 9 the tails are below 1.2e-19.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.kernels.compile import inlined
from edgewise.theory.elementary import whole_part

STEPS = 32
LIMIT = 9
CENTER = STEPS * LIMIT


def taylor_table() -> np.ndarray:
    """Row i: coefficients of the powers of z - z_i, z_i = i/STEPS - LIMIT."""
    table = np.zeros((2 * CENTER + 1, 8))
    for i in range(len(table)):
        z = (i - CENTER) / STEPS
        density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        table[i, 0] = 0.5 * math.erfc(-z * math.sqrt(0.5))
        hermite, last = 1.0, 0.0  # the j-th derivative of the density is (-1)^j He_j times the density
        for j in range(6):
            table[i, j + 1] = (-1) ** j * hermite * density / math.factorial(j + 1)
            hermite, last = z * hermite - j * last, hermite
    return table


TABLE = taylor_table()


@inlined
def normal_below(z):
    """P(Z <= z) for a standard normal Z, to 4e-16."""
    if not z > -LIMIT:  # NaN too: it has no place in the table
        return 0.0
    if z >= LIMIT:
        return 1.0
    i = whole_part(z * STEPS + (CENTER + 0.5))
    d = z - (i - CENTER) / STEPS
    a = TABLE[i]
    return a[0] + d * (a[1] + d * (a[2] + d * (a[3] + d * (a[4] + d * (a[5] + d * a[6])))))
