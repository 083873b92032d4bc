"""The chance that a label wins, exactly, and the memo that keeps it.

Eq. (16) of Jung, Goetz, Tewari, "Online Multiclass Boosting" (NeurIPS 2017).

**How (16) is evaluated.** Label r wins if each other label l is drawn less than x + c_l times, where x counts the draws
of r and c_l = s(r) - s(l) is its lead over l. With E_c(z) the first c terms of the exponential series,

    1 - phi_m(s) = m! [z^m] G(z),    G(z) = sum_x (right z)^x / x! * prod_l E_{x + c_l}(wrong z).

The coefficient is Cauchy's integral, and on 2J points of a circle |z| = rho near m the sum over the points is exact up
to the coefficients of order m +- 2J, m +- 4J, ..., which J makes negligible. All coefficients are positive and bounded
by those of exp(z), so that rounding costs no more than about sqrt(2 pi m) units in the last place of 1. Values of E_c
and of its powers are tabulated for a few radii, scaled by exp(-wrong rho) so that nothing overflows.
"""

from __future__ import annotations

import numpy as np

from edgewise.kernels.compile import inlined, noinline
from edgewise.kernels.simd import BROAD, load8, splat8, store
from edgewise.theory.elementary import whole_part
from edgewise.theory.potential_tables import MORE_SLOTS, NEGLIGIBLE, Potentials

# Slots of the memo that a state may be found in: states that share one slot would push each other out again and again.
WAYS = 4
# States that need no place in the memo: the label can no longer win, or no longer lose.
LOST, WON = -1, -2


@noinline
def winning_chances(p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int) -> tuple[float, float]:
    """E[1{label wins}] and E[(X / E[X] - 1) 1{label wins}] from votes + e_extra, X being the draws of `label`."""
    n_leads = 0
    own = whole_part(votes[label]) + (label == extra)
    for l in range(p.k):
        lead = own - whole_part(votes[l]) - (l == extra)
        if lead < p.free[draws] and l != label:
            n_leads = _count(p, n_leads, lead)
    first, stop = _own_draws(p, draws, n_leads)
    wins, tilted = _integrate(p, draws, n_leads, first, stop)
    return wins + p.tails[draws, stop], tilted + p.tails[draws - 1, stop - 1] - p.tails[draws, stop]


@inlined
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


@noinline
def _own_draws(p: Potentials, draws: int, n_leads: int) -> tuple[int, int]:
    """The numbers x of draws of the true label that have to be summed over: from the first to before the second.

    With fewer it loses, or they are negligible; with more it wins, or it is negligible that it does not.
    """
    bounded = 0
    most = 0
    for i in range(n_leads):
        bounded += p.sizes[i]
        most += p.sizes[i] * (p.leads[i] - 1)
    first = max(p.own_first[draws], 1 - p.leads[0])
    if bounded == p.k - 1:
        # The others can take no more than k - 1 times x - 1, plus their leads, of the draws - x.
        first = max(first, -((most - draws) // p.k))
    # From here on no other label can catch up, or it is negligible that r is drawn so often and yet one does.
    stop = min(p.free[draws] - p.leads[0], (draws - p.leads[0]) // 2 + 1, p.own_stop[draws])
    while stop > max(first, 1) and p.tails[draws, stop - 1] * p.others[draws, p.leads[0] + stop - 1] < NEGLIGIBLE:
        stop -= 1
    return first, max(stop, first)


@noinline
def _integrate(p: Potentials, draws: int, n_leads: int, first: int, stop: int) -> tuple[float, float]:
    """The two expectations of `winning_chances`, less what `stop` leaves out, as coefficients of G.

    Eight points of the circle at once; runs of x for which the same labels are a constraint, one after the other.
    """
    g = p.circle[draws]
    n, turn = p.points[g], p.turns_at[draws]
    n_factors, n_free = _find_factors(p, g, n_leads, p.free[draws])
    for j in range(0, n, BROAD):
        real = imag = tilted_real = tilted_imag = splat8(0.0)
        bounding, whole, x = n_factors, n_free, first
        while x < stop:
            while p.factor_stop[bounding - 1] <= x:
                bounding -= 1
                whole += p.factor_size[bounding]
            last = min(stop, p.factor_stop[bounding - 1])
            at = p.whole_at[g] + n * whole + j
            e, f = load8(p.whole[0], at), load8(p.whole[1], at)
            for y in range(x, last):
                at = p.own_at[g] + n * y + j
                a, b = load8(p.own[0], at), load8(p.own[1], at)
                for i in range(bounding):
                    at = p.factor_at[i] + n * y + j
                    c, d = load8(p.factors[0], at), load8(p.factors[1], at)
                    a, b = a * c - b * d, a * d + b * c
                if whole > 0:
                    a, b = a * e - b * f, a * f + b * e
                tilt = y / (p.right * draws) - 1.0
                real, imag = real + a, imag + b
                tilted_real, tilted_imag = tilted_real + tilt * a, tilted_imag + tilt * b
            x = last
        c, d = load8(p.turns[0], turn + j), load8(p.turns[1], turn + j)
        store(p.total[0], j, real * c - imag * d)
        store(p.total[1], j, tilted_real * c - tilted_imag * d)
    wins = tilted = 0.0
    for j in range(n):
        wins += p.total[0, j]
        tilted += p.total[1, j]
    return wins, tilted


@inlined
def _find_factors(p: Potentials, g: int, n_leads: int, free: int) -> tuple[int, int]:
    """Where the factors of G lie that belong to labels which are a constraint: their number, and that of other labels.

    `p.factor_at` is where the row of x = 0 would begin, `p.factor_stop` the x from which on labels are no constraint.
    """
    n_factors, whole = 0, p.k - 1
    for i in range(n_leads):
        times = p.sizes[i]
        whole -= times
        while times > 0:
            power = min(times, p.powers)
            p.factor_at[n_factors] = p.factors_at[g] + p.points[g] * ((power - 1) * p.caps[g] + p.leads[i] - 1)
            p.factor_stop[n_factors] = free - p.leads[i]
            p.factor_size[n_factors] = power
            n_factors += 1
            times -= power
    return n_factors, whole


@noinline
def memo_place(p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int) -> int:
    """The place in the memo of the state votes + e_extra with `draws` draws to go; LOST or WON where that is known.

    A state that the memo has costs one pass over the votes.
    """
    own = whole_part(votes[label]) + (label == extra)
    key, check, low = state_keys(p, draws, label, votes, extra, own)
    return _place_of(p, draws, label, votes, extra, key, check, low)


@inlined
def state_keys(p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int, own: int) -> tuple[int, int, int]:
    """The two keys of a state, votes + e_extra, in which `label` has `own` votes; and its least lead.

    Leads from `p.free` on are all the same: the label is no constraint. No further than to a lead that is LOST: that
    loop does not vectorize, which would take longer.
    """
    free, lost = p.free[draws], 1 - p.own_stop[draws]
    key, check, low = p.salts[0, draws], p.salts[1, draws], free
    for l in range(p.k):
        lead = own - whole_part(votes[l]) - (l == extra)
        lead = lead if lead < free and l != label else free
        low = lead if lead < low else low
        if low <= lost:
            break
        key += p.hashes[0, p.n_learners + lead]
        check += p.hashes[1, p.n_learners + lead]
    return key, check, low


@inlined
def memo_place_after(
    p: Potentials, draws: int, label: int, votes: np.ndarray, own: int, extra: int, key: int, check: int, low: int
) -> int:
    """`memo_place` after one more vote for another label than `label`, from the `state_keys` of the votes."""
    lead = own - whole_part(votes[extra])
    if lead <= p.free[draws]:
        key += p.hashes[0, p.n_learners + lead - 1] - p.hashes[0, p.n_learners + lead]
        check += p.hashes[1, p.n_learners + lead - 1] - p.hashes[1, p.n_learners + lead]
        low = min(low, lead - 1)
    return _place_of(p, draws, label, votes, extra, key, check, low)


@inlined
def _place_of(
    p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int, key: int, check: int, low: int
) -> int:
    """The place in the memo of a state of these keys and this least lead, which is computed if the memo lacks it."""
    if low <= 1 - p.own_stop[draws]:
        return LOST
    if low == p.free[draws]:
        return WON
    place = whole_part(p.memo_index[key & p.memo_mask[0]])
    if p.memo_keys[place, 0] != key or p.memo_keys[place, 1] != check:
        place = _remember(p, draws, label, votes, extra, key, check)
    return place


@noinline
def _remember(p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int, key: int, check: int) -> int:
    """The place of a state that its own slot does not have: from one of the three slots beside it, or computed now.

    It moves into its own slot. The state that was there goes to the other slot, or replaces the oldest beside it.
    """
    slot = key & p.memo_mask[0]
    place, oldest = -1, slot
    for way in range(1, min(WAYS, p.memo_mask[0] + 1)):
        other = slot ^ way
        held = whole_part(p.memo_index[other])
        if p.memo_keys[held, 0] == key and p.memo_keys[held, 1] == check:
            place, oldest = held, other
            break
        if oldest == slot or held < p.memo_index[oldest]:
            oldest = other
    if place < 0:
        place = p.memo_next[0]
        p.memo_next[0] = (place + 1) % p.memo_index.size
        p.memo_values[place, 0], p.memo_values[place, 1] = winning_chances(p, draws, label, votes, extra)
        p.memo_keys[place, 0] = key
        p.memo_keys[place, 1] = check
        if p.memo_mask[0] + 1 < p.memo_index.size and 4 * place > 3 * p.memo_mask[0]:
            _take_more_slots(p)
            return place
    p.memo_index[oldest] = p.memo_index[slot]
    p.memo_index[slot] = place
    return place


@noinline
def _take_more_slots(p: Potentials) -> None:
    """Let more slots of the memo be in use, and find a slot for every state anew: the longest unused of its own."""
    p.memo_mask[0] = min(MORE_SLOTS * (p.memo_mask[0] + 1), p.memo_index.size) - 1
    for slot in range(p.memo_mask[0] + 1):
        p.memo_index[slot] = 0
    for place in range(p.memo_next[0]):
        slot = p.memo_keys[place, 0] & p.memo_mask[0]
        free = slot
        for way in range(1, WAYS):
            if p.memo_index[slot ^ way] < p.memo_index[free]:
                free = slot ^ way
        p.memo_index[free] = place
