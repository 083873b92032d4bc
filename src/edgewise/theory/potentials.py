"""Exact potentials of the multiclass 0-1 loss, and the costs and importances that follow from them.

Jung, Goetz, Tewari: "Online Multiclass Boosting" (NeurIPS 2017), Section 3 and Appendix B.2.

| paper              | here                       | meaning                                                        |
|--------------------|----------------------------|----------------------------------------------------------------|
| N, k, gamma        | `n_learners`, `k`, `edge`  |                                                                |
| u_gamma^r          | `right`, `wrong`           | chance that the baseline draws r, and each other label         |
| r                  | `label`                    | the true label                                                 |
| s                  | `votes`                    | how many learners voted for each label so far                  |
| phi_m^r(s)         | `potential`                | expected 0-1 loss, eq. (3) and (16), with m learners to go     |
| w^i(t)             | `importance`               | Algorithm 1, line 11, with m = N - i                           |
| D_t^i              | `normalized_costs`         | eq. (5), with m = N - i                                        |
| phi_N^1(0)         | `asymptotic_error`         | Theorem 2, Figure 1                                            |

**How (16) is evaluated.** Label r wins if each other label l is drawn less than x + c_l times, where x counts the draws
of r and c_l = s(r) - s(l) is its lead over l. With E_c(z) the first c terms of the exponential series,

    1 - phi_m(s) = m! [z^m] G(z),    G(z) = sum_x (right z)^x / x! * prod_l E_{x + c_l}(wrong z).

The coefficient is Cauchy's integral, and on 2J points of a circle |z| = rho near m the sum over the points is exact up
to the coefficients of order m +- 2J, m +- 4J, ..., which J makes negligible. All coefficients are positive and bounded
by those of exp(z), so that rounding costs no more than about sqrt(2 pi m) units in the last place of 1. Values of E_c
and of its powers are tabulated for a few radii, scaled by exp(-wrong rho) so that nothing overflows.

**Importance in one pass.** By (3) the sum over k labels in line 11 is [phi_{m+1}(s) - phi_m(s + e_r)] / wrong. With X
the draws of r among m + 1, weighting by X / E[X] gives one of these draws to r for certain, hence

    w = E[(X / E[X] - 1) * 1{r wins}] / wrong,    E[X] = right (m + 1),

and `importance` costs as much as one potential.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise._compile import kernel, routine

# Chances and coefficients that are left out: as small as the rounding error of a potential.
NEGLIGIBLE = 1e-15
# Importances and row sums of costs below this are rounding errors of two potentials that agree, and count as 0.
RESOLUTION = 1e-12
# Bytes that the powers of the truncated exponentials may take; more powers save multiplications.
POWERS_BUDGET = 32 << 20


class Potentials(NamedTuple):
    """Tables for fixed (k, n_learners, edge), with the memo and the scratch space: threads need theirs (`shared_out`).

    Circles are numbered by g. Complex tables are flat, with the real parts in [0] and the imaginary parts in [1].
    """

    k: int
    n_learners: int
    right: float
    wrong: float
    free: np.ndarray  # [draws]: a label that may be drawn this often is no constraint (negligible chance)
    own_first: np.ndarray  # [draws]: fewer draws of the true label are negligible
    own_stop: np.ndarray  # [draws]: this many draws of the true label, or more, are negligible
    tails: np.ndarray  # [draws, x]: chance of x or more draws of the true label
    others: np.ndarray  # [draws, x]: bound on the chance that some other label is drawn x times or more
    circle: np.ndarray  # [draws]: which circle
    points: np.ndarray  # [g]: number of points in the upper half plane, J
    caps: np.ndarray  # [g]: number of different caps
    own_at: np.ndarray  # [g]: where the circle begins in `own`
    own: np.ndarray  # [2, (g, x, point)]: (right z)^x / x!
    whole_at: np.ndarray  # [g]: where the circle begins in `whole`
    whole: np.ndarray  # [2, (g, n, point)]: exp(wrong z)^n, for labels that are no constraint
    factors_at: np.ndarray  # [g]: where the circle begins in `factors`
    factors: np.ndarray  # [2, (g, n - 1, c - 1, point)]: E_c(wrong z)^n
    powers: int  # n goes up to this
    turns_at: np.ndarray  # [draws]: where the row of draws begins in `turns`
    turns: np.ndarray  # [2, (draws, point)]: draws! z^-draws / J
    hashes: np.ndarray  # [2, n_learners + lead]: a state's two keys are sums of these, for any order of the labels
    salts: np.ndarray  # [2, tilt, draws]
    memo_keys: np.ndarray  # [slot, 2]
    memo_values: np.ndarray  # [slot]
    leads: np.ndarray  # [k] scratch: distinct leads, increasing
    sizes: np.ndarray  # [k] scratch: number of labels with this lead
    product: np.ndarray  # [2, (x, point)] scratch
    total: np.ndarray  # [2, point] scratch
    kinds: np.ndarray  # [k] scratch: labels with equal votes are of one kind
    members: np.ndarray  # [3, k] scratch: size, first and second label of each kind
    kind_costs: np.ndarray  # [k] scratch


def zero_one_potentials(k: int, n_learners: int, edge: float, memo_bits: int = 18) -> Potentials:
    """Tables for `k` labels, `n_learners` learners and the edge gamma; 2**memo_bits results are kept for reuse."""
    if k < 2:
        raise ValueError(f"k={k}: at least 2 labels are needed")
    if n_learners < 1:
        raise ValueError(f"n_learners={n_learners}: an ensemble needs at least 1 weak learner")
    if not 0.0 < edge < 1.0:
        raise ValueError(f"edge={edge}: the edge gamma lies strictly between 0 and 1")
    if not 0 <= memo_bits <= 30:
        raise ValueError(f"memo_bits={memo_bits}: from 0 to 30 bits are allowed")
    wrong = (1.0 - edge) / k
    right = wrong + edge

    mass = _binomial(n_learners, right)
    tails = _tails(mass)
    own_first = (np.cumsum(mass, axis=1) < NEGLIGIBLE).sum(axis=1)
    own_stop = (tails >= NEGLIGIBLE).sum(axis=1)
    others = (k - 1) * _tails(_binomial(n_learners, wrong))
    free = (others >= NEGLIGIBLE).sum(axis=1)

    circle = np.zeros(n_learners + 1, np.int64)
    turns: list[np.ndarray] = [np.zeros(0)]
    own: list[np.ndarray] = []
    whole: list[np.ndarray] = []
    series: list[np.ndarray] = []
    for g, (first, last) in enumerate(_runs(n_learners)):
        circle[first : last + 1] = g
        # Below the middle: the Poisson weights, which bound the coefficients left out, fall off more slowly upwards.
        radius = 0.45 * (first + last)
        n = _enough_points(first, last, radius)
        exponent = radius * (_unit_powers(n, 2)[1] - 1.0)
        for draws, turn in enumerate(_unit_powers(n, last + 1).conj()):
            if draws >= first:
                # The scale is that for which exp(z), the case without constraints, has the value 1.
                turns.append(turn / (np.exp(exponent) * turn).real.sum())
        own.append(_terms(n, right * radius, int(own_stop[last])))
        whole.append(np.exp(wrong * np.arange(k)[:, None] * exponent))
        # Two labels: (16) is a binomial tail and no factor is ever looked up.
        series.append(_terms(n, wrong * radius, max(int(free[last]) - 1, 1) if k > 2 else 1).cumsum(axis=0))

    size = sum(16 * partial.size for partial in series)
    powers = max(1, min(k - 1, POWERS_BUDGET // size))
    factors = [np.cumprod(np.repeat(rows[None], powers, axis=0), axis=0) for rows in series]
    caps, points = np.array([rows.shape for rows in series]).T.copy()

    draw = np.random.default_rng(0)
    # So small that no sum of k of them and a salt overflows.
    largest = (1 << 62) // (k + 1)
    return Potentials(
        k=k,
        n_learners=n_learners,
        right=right,
        wrong=wrong,
        free=free,
        own_first=own_first,
        own_stop=own_stop,
        tails=tails,
        others=others,
        circle=circle,
        points=points,
        caps=caps,
        own_at=_starts(own),
        own=_join(own),
        whole_at=_starts(whole),
        whole=_join(whole),
        factors_at=_starts(factors),
        factors=_join(factors),
        powers=powers,
        turns_at=_starts(turns),
        turns=_join(turns),
        hashes=draw.integers(largest, size=(2, 2 * n_learners + 2)),
        salts=draw.integers(largest, size=(2, 2, n_learners + 1)),
        memo_keys=np.full((1 << memo_bits, 2), -1, np.int64),
        memo_values=np.zeros(1 << memo_bits),
        leads=np.zeros(k, np.int64),
        sizes=np.zeros(k, np.int64),
        product=np.zeros((2, max(table.size for table in own))),
        total=np.zeros((2, points.max())),
        kinds=np.zeros(k, np.int64),
        members=np.zeros((3, k), np.int64),
        kind_costs=np.zeros(k),
    )


def shared_out(potentials: Potentials, n: int) -> tuple[Potentials, ...]:
    """The same tables n times, with a memo and scratch space each: for n threads. All memos together are as large."""
    if n == 1:
        return (potentials,)
    slots = max(1, potentials.memo_values.size >> (n - 1).bit_length())
    fields = ("leads", "sizes", "product", "total", "kinds", "members", "kind_costs")
    rooms: dict[str, np.ndarray] = {name: getattr(potentials, name) for name in fields}
    several = []
    for _ in range(n):
        own: dict[str, Any] = {name: np.zeros(room.shape, room.dtype) for name, room in rooms.items()}
        own |= {"memo_keys": np.full((slots, 2), -1, np.int64), "memo_values": np.zeros(slots)}
        several.append(potentials._replace(**own))
    return tuple(several)


def asymptotic_error(k: int, n_learners: int, edge: float) -> float:
    """phi_N^1(0), the asymptotic error rate of Theorem 2, bounded by Lemma 9 and drawn in Figure 1."""
    tables = zero_one_potentials(k, n_learners, edge, memo_bits=0)
    return float(potential(tables, n_learners, 0, np.zeros(k)))


@routine
def potential(p: Potentials, m: int, label: int, votes: np.ndarray) -> float:
    """phi_m^label(votes) of eq. (3), with m learners to go, 0 <= m <= n_learners."""
    return min(max(1.0 - _when_winning(p, m, 0, label, votes, -1), 0.0), 1.0)


@routine
def potential_after(p: Potentials, m: int, label: int, votes: np.ndarray, extra: int) -> float:
    """phi_m^label(votes + e_extra): the cost C(label, extra) of eq. (4)."""
    return min(max(1.0 - _when_winning(p, m, 0, label, votes, extra), 0.0), 1.0)


@routine
def importance(p: Potentials, m: int, label: int, votes: np.ndarray) -> float:
    """w of Algorithm 1, line 11, for the learner after which m remain, 0 <= m < n_learners."""
    weight = _when_winning(p, m + 1, 1, label, votes, -1) / p.wrong
    return weight if weight > RESOLUTION else 0.0


@kernel
def _kinds_of(p: Potentials, votes: np.ndarray) -> int:
    """Sort labels with equal votes into kinds; their number. Fills `p.kinds` and `p.members`."""
    n_kinds = 0
    for l in range(p.k):
        kind = 0
        while kind < n_kinds and votes[p.members[1, kind]] != votes[l]:
            kind += 1
        if kind == n_kinds:
            n_kinds += 1
            p.members[0, kind] = 0
        if p.members[0, kind] < 2:
            p.members[1 + p.members[0, kind], kind] = l
        p.members[0, kind] += 1
        p.kinds[l] = kind
    return n_kinds


@routine
def normalized_costs(p: Potentials, m: int, votes: np.ndarray, costs: np.ndarray) -> None:
    """D(r, l) of eq. (5) for all r and l into `costs`, for the learner after which m remain; 0 in a row whose w is 0.

    Labels with equal votes have equal costs, so one potential per pair of vote counts is enough.
    """
    n_kinds = _kinds_of(p, votes)
    for kind in range(n_kinds):
        r = p.members[1, kind]
        least = potential_after(p, m, r, votes, r)
        weight = 0.0
        for other in range(n_kinds):
            size = p.members[0, other] - (other == kind)
            # A potential is at most 1: with a larger least one, the weight stays below the resolution.
            if size > 0 and least < 1.0 - RESOLUTION / p.k:
                l = p.members[2 if other == kind else 1, other]
                p.kind_costs[other] = max(potential_after(p, m, r, votes, l) - least, 0.0)
                weight += size * p.kind_costs[other]
        scale = 1.0 / weight if weight > RESOLUTION else 0.0
        for row in range(p.k):
            if p.kinds[row] == kind:
                for l in range(p.k):
                    costs[row, l] = 0.0 if l == row else scale * p.kind_costs[p.kinds[l]]


@routine
def mixed_costs(p: Potentials, m: int, votes: np.ndarray, kept: np.ndarray, costs: np.ndarray) -> float:
    """sum over r of kept(r) phi_m^r(votes + e_l) into `costs`, for every l; gives the sum over r for l = r.

    With `kept` an estimate of which label is right: the random cost vector (5) from the cost matrix (9) of Zhang, Jung
    and Tewari 2018, and the estimate of what the right label costs. One potential per pair of vote counts is enough.
    """
    n_kinds = _kinds_of(p, votes)
    for l in range(p.k):
        costs[l] = 0.0
    for kind in range(n_kinds):
        total = 0.0
        for r in range(p.k):
            if p.kinds[r] == kind:
                total += kept[r]
        for other in range(n_kinds):
            p.kind_costs[other] = 0.0
            if p.members[0, other] - (other == kind) > 0:
                l = p.members[2 if other == kind else 1, other]
                p.kind_costs[other] = potential_after(p, m, p.members[1, kind], votes, l)
        for l in range(p.k):
            of_others = total - kept[l] if p.kinds[l] == kind else total
            costs[l] += of_others * p.kind_costs[p.kinds[l]]
    right = 0.0
    for kind in range(n_kinds):
        r = p.members[1, kind]
        own = potential_after(p, m, r, votes, r)
        for l in range(p.k):
            if p.kinds[l] == kind:
                costs[l] += kept[l] * own
                right += kept[l] * own
    return right


@routine
def _when_winning(p: Potentials, draws: int, tilt: int, label: int, votes: np.ndarray, extra: int) -> float:
    """E[h(X) 1{label wins}] from votes + e_extra, X being how often `label` is drawn in `draws` draws of the baseline.

    tilt = 0: h = 1. tilt = 1: h(X) = X / E[X] - 1. Depends on (draws, tilt, multiset of leads) alone: the memo's key.
    """
    most = -np.inf
    for l in range(p.k):
        if l != label:
            most = max(most, votes[l] + (l == extra))
    own = int(votes[label]) + (label == extra)
    lowest = own - int(most)
    if 1 - lowest >= p.own_stop[draws]:
        return 0.0
    free = p.free[draws]
    if lowest >= free:
        return 1.0 - tilt

    key, check = p.salts[0, tilt, draws], p.salts[1, tilt, draws]
    for l in range(p.k):
        lead = own - int(votes[l]) - (l == extra)
        if lead < free and l != label:
            key += p.hashes[0, p.n_learners + lead]
            check += p.hashes[1, p.n_learners + lead]
    slot = key & (p.memo_values.size - 1)
    if p.memo_keys[slot, 0] == key and p.memo_keys[slot, 1] == check:
        return p.memo_values[slot]

    n_leads = 0
    for l in range(p.k):
        lead = own - int(votes[l]) - (l == extra)
        if lead < free and l != label:
            n_leads = _count(p, n_leads, lead)
    value = _integrate(p, draws, tilt, n_leads)
    p.memo_keys[slot, 0] = key
    p.memo_keys[slot, 1] = check
    p.memo_values[slot] = value
    return value


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


@kernel
def _integrate(p: Potentials, draws: int, tilt: int, n_leads: int) -> float:
    """E[h(X) 1{label wins}] as the coefficient of G, for the groups in `leads` and `sizes`."""
    free = p.free[draws]
    bounded = 0
    room = 0
    for i in range(n_leads):
        bounded += p.sizes[i]
        room += p.sizes[i] * (p.leads[i] - 1)
    unbounded = p.k - 1 - bounded
    first = max(p.own_first[draws], 1 - p.leads[0])
    if unbounded == 0:
        # The others can take no more than k - 1 times x - 1, plus their leads, of the draws - x.
        first = max(first, -((room - draws) // p.k))
    # From here on no other label can catch up, or it is negligible that r is drawn so often and yet one does.
    stop = min(free - p.leads[0], (draws - p.leads[0]) // 2 + 1, p.own_stop[draws])
    while stop > max(first, 1) and p.tails[draws, stop - 1] * p.others[draws, p.leads[0] + stop - 1] < NEGLIGIBLE:
        stop -= 1
    stop = max(stop, first)

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

    real, imag = p.total[0, :n], p.total[1, :n]
    real[:] = 0.0
    imag[:] = 0.0
    whole = unbounded
    below = n_leads
    for x in range(first, stop):
        while p.leads[below - 1] + x >= free:
            below -= 1
            whole += p.sizes[below]
        weight = x / (p.right * draws) - 1.0 if tilt == 1 else 1.0
        start = n * (x - first)
        a, b = p.product[0, start : start + n], p.product[1, start : start + n]
        start = p.whole_at[g] + n * whole
        c, d = p.whole[0, start : start + n], p.whole[1, start : start + n]
        for j in range(n):
            real[j] += weight * (a[j] * c[j] - b[j] * d[j])
            imag[j] += weight * (a[j] * d[j] + b[j] * c[j])
    value = 0.0
    start = p.turns_at[draws]
    for j in range(n):
        value += real[j] * p.turns[0, start + j] - imag[j] * p.turns[1, start + j]
    if tilt == 1:
        return value + p.tails[draws - 1, stop - 1] - p.tails[draws, stop]
    return value + p.tails[draws, stop]


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


def _binomial(n: int, chance: float) -> np.ndarray:
    """[draws, x]: the chance of x successes, x from 0 to n + 1."""
    mass = np.zeros((n + 1, n + 2))
    mass[0, 0] = 1.0
    for draws in range(1, n + 1):
        mass[draws] = (1.0 - chance) * mass[draws - 1]
        mass[draws, 1:] += chance * mass[draws - 1, :-1]
    return mass


def _tails(mass: np.ndarray) -> np.ndarray:
    """[draws, x]: the chance of x or more."""
    return np.ascontiguousarray(np.cumsum(mass[:, ::-1], axis=1)[:, ::-1])


def _runs(n: int) -> list[tuple[int, int]]:
    """Runs of 1..n that share a circle: the middle is within half a standard deviation, sqrt(m), of all."""
    runs: list[tuple[int, int]] = []
    first = 1
    while first <= n:
        last = min(first + int(math.sqrt(first)), n)
        runs.append((first, last))
        first = last + 1
    return runs


def _enough_points(first: int, last: int, radius: float) -> int:
    """J, a multiple of 4, for the coefficients first..last.

    The sum over 2J points also picks up the coefficients m + 2J and m - 2J, which are bounded by those of exp(z).
    """

    def log_weight(m: int) -> float:
        return m * math.log(radius) - math.lgamma(m + 1)

    limit = math.log(NEGLIGIBLE)
    n = 4
    while any(
        log_weight(other) - log_weight(m) > limit
        for m in (first, last)
        for other in (m - 2 * n, m + 2 * n)
        if other >= 0
    ):
        n += 4
    return n


def _unit_powers(n: int, orders: int) -> np.ndarray:
    """[i, j]: the i-th power of point j of the unit circle's upper half, i < orders."""
    angles = np.arange(orders)[:, None] * (2 * np.arange(n) + 1) % (4 * n)
    return np.exp(1j * np.pi / (2 * n) * angles)


def _terms(n: int, radius: float, orders: int) -> np.ndarray:
    """[i, j]: z^i / i! * exp(-radius) at point j of the circle, i < orders: Poisson weights with a phase."""
    # From the mode outwards and divided by their sum: exp(-radius) itself may underflow.
    mode = int(radius)
    order = np.arange(1, max(orders, mode + 12 * int(math.sqrt(mode)) + 40))
    below = np.cumprod(order[:mode][::-1] / radius)[::-1]
    above = np.cumprod(radius / order[mode:])
    weights = np.concatenate([below, [1.0], above])
    return (weights / weights.sum())[:orders, None] * _unit_powers(n, orders)


def _join(tables: list[np.ndarray]) -> np.ndarray:
    """[2, :]: the real parts and the imaginary parts of all tables, one after the other."""
    flat = np.concatenate([table.ravel() for table in tables])
    return np.stack([flat.real, flat.imag])


def _starts(tables: list[np.ndarray]) -> np.ndarray:
    """Where each table begins after they are joined."""
    return np.concatenate([[0], np.cumsum([table.size for table in tables])[:-1]]).astype(np.int64)
