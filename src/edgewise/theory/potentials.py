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
| D_t^i              | `cheapest_label`           | eq. (5), with m = N - i: its rows, weighted by chances         |
| phi_N^1(0)         | `asymptotic_error`         | Theorem 2, Figure 1                                            |

**Importance in one pass.** By (3) the sum over k labels in line 11 is [phi_{m+1}(s) - phi_m(s + e_r)] / wrong. With X
the draws of r among m + 1, weighting by X / E[X] gives one of these draws to r for certain, hence

    w = E[(X / E[X] - 1) * 1{r wins}] / wrong,    E[X] = right (m + 1),

and `importance` costs as much as one potential: both come from one sum, and the memo keeps both for a state. A state is
(draws, multiset of leads), so that the state that a vote leads to is the one that the next learner needs.
"""

from __future__ import annotations

import numpy as np

from edgewise.kernels.compile import entry_point, inlined, noinline
from edgewise.theory.elementary import whole_part
from edgewise.theory.losses import argmin_cost
from edgewise.theory.potential_tables import Potentials, zero_one_potentials
from edgewise.theory.winning_chances import LOST, memo_place, memo_place_after, state_keys

# Importances and row sums of costs below this are rounding errors of two potentials that agree, and count as 0.
RESOLUTION = 1e-12
# Expected costs that differ by more than this differ after rounding, too.
CLEAR = 1e-9


def asymptotic_error(k: int, n_learners: int, edge: float) -> float:
    """phi_N^1(0), the asymptotic error rate of Theorem 2, bounded by Lemma 9 and drawn in Figure 1."""
    tables = zero_one_potentials(k, n_learners, edge, memo_bits=0)
    return float(potential(tables, n_learners, 0, np.zeros(k)))


@entry_point
def potential(p: Potentials, m: int, label: int, votes: np.ndarray) -> float:
    """phi_m^label(votes) of eq. (3), with m learners to go, 0 <= m <= n_learners."""
    return potential_after(p, m, label, votes, -1)


@inlined
def potential_after(p: Potentials, m: int, label: int, votes: np.ndarray, extra: int) -> float:
    """phi_m^label(votes + e_extra): the cost C(label, extra) of eq. (4)."""
    return _loss_at(p, memo_place(p, m, label, votes, extra))


@inlined
def importance(p: Potentials, m: int, label: int, votes: np.ndarray) -> float:
    """w of Algorithm 1, line 11, for the learner after which m remain, 0 <= m < n_learners."""
    return _weight_at(p, memo_place(p, m + 1, label, votes, -1))


@noinline
def importance_and_excess(
    p: Potentials, m: int, label: int, votes: np.ndarray, vote: int, state: np.ndarray
) -> tuple[float, float]:
    """The `importance` for a learner after which m remain, and C(label, vote) - C(label, label) of its vote.

    `state` has the potential and the importance at the votes so far, as the learner before left them there; it becomes
    those after this vote. C(label, label) is the potential before the vote less `wrong` times the importance.
    """
    if m + 1 == p.n_learners:
        _fill_state(p, m + 1, label, votes, -1, state)
    weight = state[1]
    excess = p.wrong * weight - state[0]
    _fill_state(p, m, label, votes, vote, state)
    return weight, 0.0 if vote == label else excess + state[0]


@noinline
def _fill_state(p: Potentials, draws: int, label: int, votes: np.ndarray, extra: int, state: np.ndarray) -> None:
    """Fill `state` with potential and importance at votes + e_extra."""
    place = memo_place(p, draws, label, votes, extra)
    state[0] = _loss_at(p, place)
    state[1] = _weight_at(p, place)


@inlined
def _loss_at(p: Potentials, place: int) -> float:
    if place < 0:
        return 1.0 if place == LOST else 0.0
    return min(max(1.0 - p.memo_values[place, 0], 0.0), 1.0)


@inlined
def _weight_at(p: Potentials, place: int) -> float:
    if place < 0:
        return 0.0
    weight = p.memo_values[place, 1] / p.wrong
    return weight if weight > RESOLUTION else 0.0


@inlined
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


@noinline
def _costs_of_kind(p: Potentials, m: int, votes: np.ndarray, n_kinds: int, kind: int) -> float:
    """C(r, l) - C(r, r) of eq. (4) into `p.kind_costs`, by the kind of l, with r of this kind; 1/w, or 0 if w is 0."""
    r = p.members[1, kind]
    least = potential_after(p, m, r, votes, r)
    own = whole_part(votes[r])
    key, check, low = state_keys(p, m, r, votes, -1, own)
    weight = 0.0
    for other in range(n_kinds):
        size = p.members[0, other] - (other == kind)
        # A potential is at most 1: with a larger least one, the weight stays below the resolution.
        if size > 0 and least < 1.0 - RESOLUTION / p.k:
            l = p.members[2 if other == kind else 1, other]
            cost = _loss_at(p, memo_place_after(p, m, r, votes, own, l, key, check, low))
            p.kind_costs[other] = max(cost - least, 0.0)
            weight += size * p.kind_costs[other]
    return 1.0 / weight if weight > RESOLUTION else 0.0


@noinline
def _begin_rows(p: Potentials, m: int, votes: np.ndarray, n_kinds: int) -> float:
    """For every kind of the true label: C(r, r) of eq. (4), 1/w (0 if w is 0) and the keys of the votes for it.

    The state before the vote knows both (`importance_and_excess`), with errors of up to RESOLUTION: what these make of
    the sum of all rows of D is returned.
    """
    blurred = 0.0
    for kind in range(n_kinds):
        r = p.members[1, kind]
        p.least[kind] = p.scales[kind] = 0.0
        place = memo_place(p, m + 1, r, votes, -1) if p.kind_chances[kind] > 0.0 else LOST
        if place >= 0 and p.memo_values[place, 1] > 0.5 * RESOLUTION * p.wrong:
            blurred += p.kind_chances[kind] * min(1.0, RESOLUTION * p.wrong / p.memo_values[place, 1])
            if _weight_at(p, place) > 0.0:
                p.scales[kind] = 1.0 / _weight_at(p, place)
                p.least[kind] = _loss_at(p, place) - p.wrong * _weight_at(p, place)
                key, check, low = state_keys(p, m, r, votes, -1, whole_part(votes[r]))
                p.row_keys[kind, 0] = key
                p.row_keys[kind, 1] = check
                p.row_keys[kind, 2] = low
    return blurred


@noinline
def _column(p: Potentials, m: int, votes: np.ndarray, n_kinds: int, kind: int) -> float:
    """D(r, l) of eq. (5) for l of this kind into `p.kind_costs`, by the kind of r; their sum, weighted by chances."""
    total = 0.0
    for of_right in range(n_kinds):
        p.kind_costs[of_right] = 0.0
        if p.scales[of_right] > 0.0 and p.members[0, kind] - (of_right == kind) > 0:
            r, l = p.members[1, of_right], p.members[2 if of_right == kind else 1, kind]
            key, check, low = p.row_keys[of_right, 0], p.row_keys[of_right, 1], p.row_keys[of_right, 2]
            cost = _loss_at(p, memo_place_after(p, m, r, votes, whole_part(votes[r]), l, key, check, low))
            p.kind_costs[of_right] = max(cost - p.least[of_right], 0.0) * p.scales[of_right]
        total += p.kind_chances[of_right] * p.kind_costs[of_right]
    return total


@inlined
def _decided(p: Potentials, m: int, votes: np.ndarray) -> bool:
    """Whether the leading label wins whatever the next vote is: then all of D is 0."""
    first = second = -1.0
    for l in range(p.k):
        second = max(second, min(first, votes[l]))
        first = max(first, votes[l])
    return first - second >= max(p.free[m] + 1, p.own_stop[m])


@noinline
def cheapest_label(p: Potentials, m: int, votes: np.ndarray, chances: np.ndarray, costs: np.ndarray) -> int:
    """The label l for which the sum over r of chances(r) D(r, l) is least; `costs` is a workspace."""
    if _decided(p, m, votes):
        return 0
    n_kinds = _kinds_of(p, votes)
    for kind in range(n_kinds):
        p.kind_chances[kind] = 0.0
    for l in range(p.k):
        p.kind_chances[p.kinds[l]] += chances[l]
    best = _cheapest_by_columns(p, m, votes, chances, costs, n_kinds)
    return best if best >= 0 else _cheapest_by_rows(p, m, votes, chances, costs, n_kinds)


@noinline
def _cheapest_by_columns(
    p: Potentials, m: int, votes: np.ndarray, chances: np.ndarray, costs: np.ndarray, n_kinds: int
) -> int:
    """The cheapest label, or -1 if rounding might decide which one is.

    D(r, l) grows with the votes of l: one more vote for l is the worse for r, the further l is ahead (docs/theory.md).
    So a column of D, that of all labels with the same votes, bounds the costs of labels with more votes from below, and
    as a rule two or three columns settle which label is cheapest.
    """
    for kind in range(n_kinds):
        p.tops[kind] = 0.0
        p.bounds[kind] = 0.0
    for l in range(p.k):
        costs[l] = np.inf
        p.tops[p.kinds[l]] = max(p.tops[p.kinds[l]], chances[l])
    clear = CLEAR + 2.0 * _begin_rows(p, m, votes, n_kinds)
    least = np.inf
    for _ in range(n_kinds):
        kind = _next_kind(p, votes, n_kinds, least + clear)
        if kind < 0:
            break
        total = _column(p, m, votes, n_kinds, kind)
        own = p.kind_costs[kind]
        p.bounds[kind] = np.inf
        least = min(least, total - p.tops[kind] * own)
        for other in range(n_kinds):
            if votes[p.members[1, other]] > votes[p.members[1, kind]]:
                p.bounds[other] = max(p.bounds[other], total - p.tops[other] * p.kind_costs[other])
        for l in range(p.k):
            if p.kinds[l] == kind:
                costs[l] = total - chances[l] * own
    best = 0
    for l in range(1, p.k):
        if costs[l] < costs[best]:
            best = l
    for l in range(p.k):
        equal = p.kinds[l] == p.kinds[best] and chances[l] == chances[best]
        if costs[l] <= costs[best] + clear and not equal:
            return -1
    return best


@noinline
def _cheapest_by_rows(
    p: Potentials, m: int, votes: np.ndarray, chances: np.ndarray, costs: np.ndarray, n_kinds: int
) -> int:
    """The cheapest label from all of D, each row divided by its sum; ties (up to rounding) go to the lowest label."""
    for l in range(p.k):
        costs[l] = 0.0
    for kind in range(n_kinds):
        scale = _costs_of_kind(p, m, votes, n_kinds, kind)
        for l in range(p.k):
            of_others = p.kind_chances[kind] - chances[l] if p.kinds[l] == kind else p.kind_chances[kind]
            costs[l] += of_others * scale * p.kind_costs[p.kinds[l]]
    return argmin_cost(costs)


@inlined
def _next_kind(p: Potentials, votes: np.ndarray, n_kinds: int, limit: float) -> int:
    """The kind whose labels may cost least, of several the one with the fewest votes; -1 if all cost more than that."""
    best = -1
    for kind in range(n_kinds):
        if p.bounds[kind] <= limit and p.bounds[kind] < np.inf:
            fewer = best >= 0 and votes[p.members[1, kind]] < votes[p.members[1, best]]
            if best < 0 or p.bounds[kind] < p.bounds[best] or (p.bounds[kind] == p.bounds[best] and fewer):
                best = kind
    return best


@entry_point
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
        first = p.members[1, kind]
        own = whole_part(votes[first])
        key, check, low = state_keys(p, m, first, votes, -1, own)
        for other in range(n_kinds):
            p.kind_costs[other] = 0.0
            if p.members[0, other] - (other == kind) > 0:
                l = p.members[2 if other == kind else 1, other]
                place = memo_place_after(p, m, first, votes, own, l, key, check, low)
                p.kind_costs[other] = _loss_at(p, place)
        for l in range(p.k):
            of_others = total - kept[l] if p.kinds[l] == kind else total
            costs[l] += of_others * p.kind_costs[p.kinds[l]]
    right = 0.0
    for kind in range(n_kinds):
        r = p.members[1, kind]
        least = potential_after(p, m, r, votes, r)
        for l in range(p.k):
            if p.kinds[l] == kind:
                costs[l] += kept[l] * least
                right += kept[l] * least
    return right
