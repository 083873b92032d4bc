"""The chance that a label wins, for few labels: eq. (16) of Jung, Goetz, Tewari 2017, summed as it stands.

| paper  | here        | meaning                                                            |
|--------|-------------|--------------------------------------------------------------------|
| m      | `draws`     |                                                                    |
| x      | `x`         | draws of the true label; the other labels share n = m - x          |
| s      | `leads`     | s(r) - s(l), for each other label l                                |

Given x, label l must be drawn less than x + lead(l) = reach(l) - n times, where reach(l) = m + lead(l) is the lead that
the true label would have if it took all draws. **A vote for the true label changes no reach**: it takes one of the
draws and adds one to each lead. So the chances that n draws fit the other labels, one for each n, are a row that all
states share which votes for the true label lead through. Rows are kept, and a state is no more than a sum over a row.

The chances themselves are sums over the draws j that the labels before the last two have together; of two labels that
share some draws, each is as likely as the other, like coins. A row is worked out eight n at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import BROAD, load8, mask_tail, maximum, splat8, store
from edgewise.theory.elementary import whole_part
from edgewise.theory.potential_tables import Potentials

# Potentials.rows: the reaches that a row is for, and which of its eights have been worked out, from where to where.
KEY, FIRST, STOP = range(3)


@noinline
def add_up(p: Potentials, draws: int, n_leads: int, first: int, stop: int) -> tuple[float, float]:
    """The two expectations of `winning_chances` over the draws x of the true label from `first` to before `stop`."""
    # Rows begin with the most draws of the others, so that they go along with x.
    at = p.n_learners - draws
    row = p.fits[_row(p, draws, n_leads, at + first, at + stop)]
    wins = tilted = splat8(0.0)
    for x in range(first, stop, BROAD):
        fits = mask_tail(stop - x, load8(row, at + x), 0.0)
        wins = wins + fits * load8(p.mass[draws], x)
        tilted = tilted + fits * load8(p.tilted[draws], x)
    return _sum_of(p, wins), _sum_of(p, tilted)


@inlined
def _row(p: Potentials, draws: int, n_leads: int, begin: int, end: int) -> int:
    """Which row has the chances for these reaches, known at least from `begin` to before `end`."""
    key, slot = 0, 0
    for i in range(n_leads):
        reach = draws + p.leads[i]
        for _ in range(p.sizes[i]):
            key = key * (2 * p.n_learners + 1) + reach
            slot += p.hashes[0, reach]
    slot &= p.row_index.size - 1
    row, first, stop = whole_part(p.row_index[slot]), begin // BROAD, (end + BROAD - 1) // BROAD
    if p.rows[row, KEY] != key:
        row = p.row_next[0]
        p.row_next[0] = (row + 1) % p.fits.shape[0]
        p.row_index[slot] = row
        p.rows[row, KEY] = key
        p.rows[row, FIRST] = p.rows[row, STOP] = first
    if first < p.rows[row, FIRST]:
        _work_out(p, row, draws, n_leads, first, p.rows[row, FIRST])
        p.rows[row, FIRST] = first
    if stop > p.rows[row, STOP]:
        _work_out(p, row, draws, n_leads, p.rows[row, STOP], stop)
        p.rows[row, STOP] = stop
    return row


@noinline
def _work_out(p: Potentials, row: int, draws: int, n_leads: int, first: int, stop: int) -> None:
    """Chances that draws fit the other labels: those of a row from the `first` eight to before the eight at `stop`.

    The labels before the last two, a and perhaps b, have j of the draws, from `least` to before `most`.
    """
    a, b = _reach(p, draws, n_leads, 0), _reach(p, draws, n_leads, 1)
    y, z = _reach(p, draws, n_leads, p.k - 3), _reach(p, draws, n_leads, p.k - 2)
    for eight in range(first, stop):
        at = BROAD * eight
        n = p.n_learners - at  # of the first of the eight; of the last:
        n_least = max(n - BROAD + 1, 0)
        least, most = 0, 1
        if p.k > 3:
            least = max(0, 2 + 3 * n_least - y - z)
            most = min(n + 1, a - n_least if p.k == 4 else a + b - 2 * n_least - 1)
        fits = splat8(0.0)
        for j in range(least, most):
            chance = load8(p.split[j], at) * _both_fit(p.coins[max(y - j, 0)], p.coins[max(z - j, 0)], at + j, at + j)
            if p.k == 4:
                chance = mask_tail(j + 1 - a + n, 0.0, chance)
            elif p.k == 5:
                chance = chance * _both_fit(p.heads[j], p.heads[j], a + at, b + at)
            fits = fits + chance
        store(p.fits[row], at, fits)


@inlined
def _reach(p: Potentials, draws: int, n_leads: int, rank: int) -> int:
    """The reach over the label of this rank, from the least on; where it is no constraint, as far as can be."""
    for i in range(n_leads):
        rank -= p.sizes[i]
        if rank < 0:
            return draws + p.leads[i]
    return 2 * p.n_learners + 1


@inlined
def _both_fit(y: np.ndarray, z: np.ndarray, y_at: int, z_at: int) -> Any:
    """The chance that two labels that share some draws, like coins, both fit: of less than so many heads, and tails.

    Less than y heads and less than z tails have chance P(heads < y) + P(heads < z) - 1, if positive.
    """
    return maximum(load8(y, y_at) + load8(z, z_at) - 1.0, 0.0)


@inlined
def _sum_of(p: Potentials, x: Any) -> float:
    store(p.within, 0, x)
    total = 0.0
    for lane in range(BROAD):
        total += p.within[lane]
    return total
