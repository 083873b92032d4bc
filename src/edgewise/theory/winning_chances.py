"""The chance that a label wins, exactly: eq. (16) of Jung, Goetz, Tewari, "Online Multiclass Boosting" (NeurIPS 2017).

**How (16) is evaluated.** Label r wins if each other label l is drawn less than x + c_l times, where x counts the draws
of r and c_l = s(r) - s(l) is its lead over l. With E_c(z) the first c terms of the exponential series,

    1 - phi_m(s) = m! [z^m] G(z),    G(z) = sum_x (right z)^x / x! * prod_l E_{x + c_l}(wrong z).

The coefficient is Cauchy's integral, and on 2J points of a circle |z| = rho near m the sum over the points is exact up
to the coefficients of order m +- 2J, m +- 4J, ..., which J makes negligible. All coefficients are positive and bounded
by those of exp(z), so that rounding costs no more than about sqrt(2 pi m) units in the last place of 1. Values of E_c
and of its powers are tabulated for a few radii, scaled by exp(-wrong rho) so that nothing overflows.

**Few labels**: up to k = 4 there is another way. (16) is summed as it stands, over the draws of r and of one other
label; the last two share the other draws like coins.
"""

from __future__ import annotations

import numpy as np

from edgewise._compile import kernel, subroutine
from edgewise.theory.potential_tables import NEGLIGIBLE, Potentials


@subroutine
def winning_chances(p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int) -> tuple[float, float]:
    """E[1{label wins}] and E[(X / E[X] - 1) 1{label wins}] from votes + e_extra, X being the draws of `label`."""
    n_leads = 0
    own = int(votes[label]) + (label == extra)
    for l in range(p.k):
        lead = own - int(votes[l]) - (l == extra)
        if lead < p.free[draws] and l != label:
            n_leads = _count(p, n_leads, lead)
    first, stop = _own_draws(p, draws, n_leads)
    if p.direct:
        wins, tilted = _add_up(p, draws, n_leads, first, stop)
    else:
        wins, tilted = _integrate(p, draws, n_leads, first, stop)
    return wins + p.tails[draws, stop], tilted + p.tails[draws - 1, stop - 1] - p.tails[draws, stop]


@kernel
def _count(p: Potentials, n_leads: int, lead: int) -> int:
    """Add a label to the sorted groups of equal leads; returns the number of groups."""
    i = n_leads
    while i > 0 and p.leads[i - 1] > lead:
        i -= 1
    if i > 0 and p.leads[i - 1] == lead:
        p.sizes[i - 1] += 1
        return n_leads
    for j in range(n_leads, i, -1):
        p.leads[j] = p.leads[j - 1]
        p.sizes[j] = p.sizes[j - 1]
    p.leads[i] = lead
    p.sizes[i] = 1
    return n_leads + 1


@subroutine
def _own_draws(p: Potentials, draws: int, n_leads: int) -> tuple[int, int]:
    """The numbers x of draws of the true label that have to be summed over: from the first to before the second.

    With fewer it loses, or they are negligible; with more it wins, or it is negligible that it does not.
    """
    bounded = 0
    room = 0
    for i in range(n_leads):
        bounded += p.sizes[i]
        room += p.sizes[i] * (p.leads[i] - 1)
    first = max(p.own_first[draws], 1 - p.leads[0])
    if bounded == p.k - 1:
        # The others can take no more than k - 1 times x - 1, plus their leads, of the draws - x.
        first = max(first, -((room - draws) // p.k))
    # From here on no other label can catch up, or it is negligible that r is drawn so often and yet one does.
    stop = min(p.free[draws] - p.leads[0], (draws - p.leads[0]) // 2 + 1, p.own_stop[draws])
    while stop > max(first, 1) and p.tails[draws, stop - 1] * p.others[draws, p.leads[0] + stop - 1] < NEGLIGIBLE:
        stop -= 1
    return first, max(stop, first)


@subroutine
def _lead(p: Potentials, n_leads: int, rank: int, free: int) -> int:
    """The lead of the label of this rank, from the least lead on; `free` if it is no constraint."""
    for i in range(n_leads):
        rank -= p.sizes[i]
        if rank < 0:
            return p.leads[i]
    return free


@subroutine
def _add_up(p: Potentials, draws: int, n_leads: int, first: int, stop: int) -> tuple[float, float]:
    """The two expectations of `winning_chances`, less what `stop` leaves out, by summing over the draws of two labels.

    Given x draws of the true label and j of the one of least lead, the last two share what is left like coins: with n
    tosses, less than b heads and less than c tails have chance P(heads < b) + P(heads < c) - 1, if that is positive.
    """
    highest = p.below.shape[0] - 1
    b_lead, c_lead = _lead(p, n_leads, p.k - 3, highest), _lead(p, n_leads, p.k - 2, highest)
    wins = tilted = 0.0
    for x in range(first, stop):
        left = draws - x
        b, c = p.below[min(x + b_lead, highest)], p.below[min(x + c_lead, highest)]
        within = 0.0
        for j in range(min(x + p.leads[0], left + 1) if p.k == 4 else 1):
            within += p.third[left, j] * max(b[left - j] + c[left - j] - 1.0, 0.0)
        wins += p.mass[draws, x] * within
        tilted += (x / (p.right * draws) - 1.0) * p.mass[draws, x] * within
    return wins, tilted


@subroutine
def _integrate(p: Potentials, draws: int, n_leads: int, first: int, stop: int) -> tuple[float, float]:
    """The two expectations of `winning_chances`, less what `stop` leaves out, as coefficients of G."""
    free = p.free[draws]
    whole = p.k - 1
    for i in range(n_leads):
        whole -= p.sizes[i]
    g = p.circle[draws]
    n = p.points[g]
    # The rows of one group, for x after x, lie one after the other: one long loop. Slices, because Numba vectorizes no
    # loop whose index it cannot see to be positive.
    begun = False
    for i in range(n_leads):
        length = n * (min(stop, free - p.leads[i]) - first)
        times = p.sizes[i]
        while times > 0 and length > 0:
            power = min(times, p.powers)
            start = p.factors_at[g] + n * ((power - 1) * p.caps[g] + p.leads[i] + first - 1)
            c, d = p.factors[0, start : start + length], p.factors[1, start : start + length]
            real, imag = p.product[0, :length], p.product[1, :length]
            if begun:
                _multiply(real, imag, c, d)
            else:
                start = p.own_at[g] + n * first
                _set_product(real, imag, p.own[0, start : start + length], p.own[1, start : start + length], c, d)
                begun = True
            times -= power

    for i in range(4):
        for j in range(n):
            p.total[i, j] = 0.0
    below = n_leads
    for x in range(first, stop):
        while p.leads[below - 1] + x >= free:
            below -= 1
            whole += p.sizes[below]
        start = n * (x - first)
        a, b = p.product[0, start : start + n], p.product[1, start : start + n]
        if whole > 0:
            start = p.whole_at[g] + n * whole
            _multiply(a, b, p.whole[0, start : start + n], p.whole[1, start : start + n])
        tilt = x / (p.right * draws) - 1.0
        _add(p.total[0, :n], p.total[2, :n], tilt, a)
        _add(p.total[1, :n], p.total[3, :n], tilt, b)
    start = p.turns_at[draws]
    c, d = p.turns[0, start : start + n], p.turns[1, start : start + n]
    wins = tilted = 0.0
    for j in range(n):
        wins += p.total[0, j] * c[j] - p.total[1, j] * d[j]
        tilted += p.total[2, j] * c[j] - p.total[3, j] * d[j]
    return wins, tilted


@kernel
def _add(total: np.ndarray, tilted: np.ndarray, tilt: float, a: np.ndarray) -> None:
    """Add a to `total`, and tilt times a to `tilted`."""
    for j in range(total.size):
        total[j] += a[j]
        tilted[j] += tilt * a[j]


@kernel
def _set_product(
    real: np.ndarray, imag: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray
) -> None:
    """(a + i b)(c + i d) into real + i imag, apart from them in memory."""
    for j in range(real.size):
        real[j] = a[j] * c[j] - b[j] * d[j]
        imag[j] = a[j] * d[j] + b[j] * c[j]


@kernel
def _multiply(real: np.ndarray, imag: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    """Multiply real + i imag by c + i d."""
    for j in range(real.size):
        a, b = real[j], imag[j]
        real[j] = a * c[j] - b * d[j]
        imag[j] = a * d[j] + b * c[j]
