"""Tables for the exact potentials of the 0-1 loss: what `potentials` looks up, made once for (k, n_learners, edge).

Jung, Goetz, Tewari: "Online Multiclass Boosting" (NeurIPS 2017), eq. (16). How it is evaluated: `winning_chances`.

| paper              | here                       | meaning                                                        |
|--------------------|----------------------------|----------------------------------------------------------------|
| N, k, gamma        | `n_learners`, `k`, `edge`  |                                                                |
| u_gamma^r          | `right`, `wrong`           | chance that the baseline draws r, and each other label         |

For N = 100 the tables take 1 to 5 MB: they grow with N^2, and with k up to `POWERS_BUDGET`. The memo takes 36 bytes for
each of its 2**memo_bits places, 9 MB as a rule (`COST_MEMO_BITS`: 38 MB, where costs of many labels are needed), of
which no more is used than states come up: a new one takes the place of the oldest.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from edgewise.kernels.simd import BROAD, round_up_8
from edgewise.kernels.state import state

# Memo where the costs of several votes are needed: a larger one keeps them until they are needed again.
COST_MEMO_BITS = 20
# Slots of the memo that are in use before any state is there, and how many times as many once they are nearly full.
FIRST_SLOTS, MORE_SLOTS = 1 << 12, 4
# Tables of up to so many learners are kept for the next model: they are small, and it takes a while to make them.
MOST_KEPT = 200
# Chances and coefficients that are left out: as small as the rounding error of a potential.
NEGLIGIBLE = 1e-15
# Bytes that the powers of the truncated exponentials may take; more powers save multiplications.
POWERS_BUDGET = 32 << 20


@state
class Potentials(NamedTuple):
    """Tables for fixed (k, n_learners, edge), with the memo and the workspace: threads need theirs (`shared_out`).

    Circles are numbered by g. Complex tables are flat, with the real parts in [0] and the imaginary parts in [1].
    """

    k: int
    n_learners: int
    right: float
    wrong: float
    free: np.ndarray  # [draws]: a label that may be drawn this often is no constraint (negligible chance)
    own_first: np.ndarray  # [draws]: fewer draws of the true label are negligible
    own_stop: np.ndarray  # [draws]: this many draws of the true label, or more, are negligible
    mass: np.ndarray  # [draws, x]: chance of x draws of the true label
    tilted: np.ndarray  # [draws, x]: that times x / E[x] - 1
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
    # the memo
    hashes: np.ndarray  # [2, n_learners + lead]: a state's two keys are sums of these, for any order of the labels
    salts: np.ndarray  # [2, draws]
    memo_index: np.ndarray  # [slot]: where a state is that has this slot, or one beside it
    memo_mask: np.ndarray  # [1]: the bits of a key that say its slot; slots up to there are in use
    memo_next: np.ndarray  # [1]: the place to be written next; the oldest state is there once all places are taken
    memo_keys: np.ndarray  # [place, 2]: 0 if nothing is there
    memo_values: np.ndarray  # [place, 2]: chance to win, and the same tilted
    # the workspace
    leads: np.ndarray  # [k]: distinct leads, increasing
    sizes: np.ndarray  # [k]: number of labels with this lead
    # [k]: factors of G: where they begin, from which x on they are left out, and how many labels they are of
    factor_at: np.ndarray
    factor_stop: np.ndarray
    factor_size: np.ndarray
    total: np.ndarray  # [2, point]: sums over x
    kinds: np.ndarray  # [k]: labels with equal votes are of one kind
    members: np.ndarray  # [3, k]: size, first and second label of each kind
    # by kind
    kind_costs: np.ndarray  # [k]
    kind_chances: np.ndarray  # [k]: of all its labels together
    tops: np.ndarray  # [k]: of the likeliest
    bounds: np.ndarray  # [k]: what its labels cost at least
    least: np.ndarray  # [k]: C(r, r), with r of this kind
    scales: np.ndarray  # [k]: 1/w
    row_keys: np.ndarray  # [k, 3]: the keys of the votes, and the least lead


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
    make = _tables if n_learners <= MOST_KEPT else _tables.__wrapped__
    return _with_memo(make(k, n_learners, float(edge)), 1 << memo_bits)


@lru_cache(maxsize=4)
def _tables(k: int, n_learners: int, edge: float) -> Potentials:
    """The tables, which are never written to, with the smallest memo."""
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
    powers = max(1, min(k - 1, POWERS_BUDGET // max(size, 1)))
    factors = [np.cumprod(np.repeat(rows[None], powers, axis=0), axis=0) for rows in series]
    caps, points = np.array([rows.shape for rows in series], np.int64).reshape(-1, 2).T.copy()

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
        mass=mass,
        tilted=_tilted(mass, right),
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
        hashes=draw.integers(1, largest, size=(2, 2 * n_learners + 2)),
        salts=draw.integers(1, largest, size=(2, n_learners + 1)),
        **_empty_memo(1),
        **_workspace(k, round_up_8(points.max(initial=0))),
    )


def shared_out(potentials: Potentials, n: int) -> tuple[Potentials, ...]:
    """The same tables n times, with a memo and a workspace each: for n threads. All memos together are as large."""
    if n == 1:
        return (potentials,)
    places = max(1, potentials.memo_index.size >> (n - 1).bit_length())
    return tuple(_with_memo(potentials, places) for _ in range(n))


def _with_memo(potentials: Potentials, places: int) -> Potentials:
    """The same tables, with an empty memo and a workspace of their own."""
    own = _workspace(potentials.k, potentials.total.shape[1])
    return potentials._replace(**own, **_empty_memo(places))


def _workspace(k: int, width: int) -> dict[str, Any]:
    """The workspace, for k labels and circles of up to `width` points."""
    whole = ("leads", "sizes", "factor_at", "factor_stop", "factor_size", "kinds")
    real = ("kind_costs", "kind_chances", "tops", "bounds", "least", "scales")
    return {
        **{name: np.zeros(k, np.int64) for name in whole},
        **{name: np.zeros(k) for name in real},
        "total": np.zeros((2, width)),
        "members": np.zeros((3, k), np.int64),
        "row_keys": np.zeros((k, 3), np.int64),
    }


def _empty_memo(places: int) -> dict[str, Any]:
    """The memo with no state in it.

    States are written one after the other, so that memory is touched no further than states go, and those that one
    learner asks for lie together. So few slots are in use at first that they stay in the cache.
    """
    return {
        "memo_index": np.zeros(places, np.int32),
        "memo_mask": np.array([min(places, FIRST_SLOTS) - 1]),
        "memo_next": np.zeros(1, np.int64),
        "memo_keys": np.zeros((places, 2), np.int64),
        "memo_values": np.zeros((places, 2)),
    }


def _tilted(mass: np.ndarray, chance: float) -> np.ndarray:
    """[draws, x]: a binomial chance times x / E[x] - 1."""
    draws, x = (np.arange(n) for n in mass.shape)
    return mass * (x / (chance * np.maximum(draws, 1)[:, None]) - 1.0)


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
    return np.exp(1j * np.pi / (2 * n) * np.arange(4 * n))[angles]


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
    """[2, :]: the real parts and the imaginary parts of all tables, one after the other, and eight zeros."""
    flat = np.concatenate([*(table.ravel() for table in tables), np.zeros(BROAD)])
    return np.stack([flat.real, flat.imag])


def _starts(tables: list[np.ndarray]) -> np.ndarray:
    """Where each table begins after they are joined."""
    return np.concatenate([[0], np.cumsum([table.size for table in tables])[:-1]]).astype(np.int64)
