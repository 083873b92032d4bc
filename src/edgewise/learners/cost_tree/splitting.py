"""The best split of a node: the two children's cheapest labels cost least, C . 1_h after the split.

**Numbers** are cut at a threshold, with what is missing on either side, or alone. **Categories** are parted in the best
way there is: if the children answer a and b, a category is best off on the side where it costs less, so that the best
split is the pair of labels with the least sum over categories of min(cost of a, cost of b). That is exact, in
O(categories * k^2), and needs no order of the categories. Missing is one more category.

**Splits without gain.** Cheapest labels are often the same on both sides and nothing is gained yet, though the next
split may gain (parity is the plain case). So equal gains, zero among them, go to the split that explains more of the
costs: the larger sum over children of |costs|^2 / mass, as in a regression tree on the rows of C. What is still equal
goes to the lowest feature and code. Gains are whole numbers; those within TIE of each other are equal.

Codes that no row of the node has go with the child of more rows.
"""

from __future__ import annotations

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.cost_tree.histograms import BITS, TIE

NO_SPLIT = -1 << 40
# Explained variations that differ by less, in units of the total cost, are equal.
EQUAL = 1e-9
UNIT = 2.0**-BITS


@inlined
def cheapest_label(totals):
    """The label of least cost; ties go to the lowest."""
    best = 0
    for l in range(1, totals.size - 2):
        if totals[l] < totals[best] - TIE:
            best = l
    return best


@inlined
def can_split(totals, min_leaf):
    """Whether there is anything to gain, and rows for two children."""
    return totals[cheapest_label(totals)] > TIE and totals[totals.size - 1] >= 2 * min_leaf


@inlined
def gain_of(totals, lowest, left, min_leaf):
    """What two children save on the cheapest single label, or NO_SPLIT if a child is too small."""
    k = totals.size - 2
    if left[k + 1] < min_leaf or totals[k + 1] - left[k + 1] < min_leaf:
        return NO_SPLIT
    one, other = left[0], totals[0] - left[0]
    for l in range(1, k):
        one = min(one, left[l])
        other = min(other, totals[l] - left[l])
    return lowest - one - other


@inlined
def explained(totals, left):
    """How much of the costs' variation lies between the children, in units of the total cost."""
    k = totals.size - 2
    here, there, whole = 0.0, 0.0, 0.0
    for l in range(k):
        a, b = UNIT * left[l], UNIT * (totals[l] - left[l])
        here += a * a
        there += b * b
        whole += (a + b) * (a + b)
    a, b = UNIT * left[k], UNIT * (totals[k] - left[k])
    value = -whole / (a + b)
    if a > 0.0:
        value += here / a
    if b > 0.0:
        value += there / b
    return value


@inlined
def is_better(gain, worth, than_gain, than_worth):
    """Whether a split is better than another: in gain, or with equal gain in what it explains."""
    return gain > than_gain + TIE or (gain >= than_gain - TIE and worth > than_worth + EQUAL)


@inlined
def _put(target, source):
    for l in range(target.size):
        target[l] = source[l]


@inlined
def _add(target, source, sign):
    for l in range(target.size):
        target[l] += sign * source[l]


@entry_point
def find_split(bins, hist, totals, min_leaf, left, sums, in_left):
    """The best split: (gain, explained, feature), or gain NO_SPLIT.

    Sums over the rows that go left come back in `left`, and bit c of `in_left` says that code c does. `sums` is room.
    """
    k = totals.size - 2
    lowest = totals[cheapest_label(totals)]
    gain, worth, feature, cut, takes_missing = NO_SPLIT, 0.0, -1, 0, False
    for f in range(bins.n_bins.size):
        start, n_bins = bins.start[f], bins.n_bins[f]
        if bins.nominal[f]:
            for a in range(k):
                for b in range(a + 1, k):
                    cost = 0
                    for c in range(start, start + n_bins + 1):
                        cost += min(hist[c, a], hist[c, b])
                    if lowest - cost > max(gain, 0) + TIE:
                        _sum_cheaper(hist, start, n_bins, a, b, sums)
                        found = gain_of(totals, lowest, sums, min_leaf)
                        if found > gain + TIE:
                            gain, worth, feature, cut = found, explained(totals, sums), f, -1 - (a * k + b)
                            _put(left, sums)
            for c in range(n_bins + 1):
                found = gain_of(totals, lowest, hist[start + c], min_leaf)
                if found >= gain - TIE and found != NO_SPLIT:
                    value = explained(totals, hist[start + c])
                    if is_better(found, value, gain, worth):
                        gain, worth, feature, cut = found, value, f, c
                        _put(left, hist[start + c])
        else:
            missing = hist[start + n_bins]
            sides = 2 if missing[k + 1] > 0 else 1
            for l in range(sums.size):
                sums[l] = 0
            for c in range(n_bins):
                # Without rows in the bin it is the same split as the one before.
                if hist[start + c, k + 1] > 0:
                    _add(sums, hist[start + c], 1)
                    for side in range(sides):
                        if side == 1:
                            _add(sums, missing, 1)
                        found = gain_of(totals, lowest, sums, min_leaf)
                        if found >= gain - TIE and found != NO_SPLIT:
                            value = explained(totals, sums)
                            if is_better(found, value, gain, worth):
                                gain, worth, feature, cut, takes_missing = found, value, f, c, side == 1
                                _put(left, sums)
                    if sides == 2:
                        _add(sums, missing, -1)
    if gain != NO_SPLIT:
        _mark(bins, hist, totals, left, feature, cut, takes_missing, in_left)
    return gain, worth, feature


@inlined
def _sum_cheaper(hist, start, n_bins, a, b, sums):
    """Sums over the categories for which a costs no more than b."""
    for l in range(sums.size):
        sums[l] = 0
    for c in range(start, start + n_bins + 1):
        if hist[c, a] <= hist[c, b] + TIE:
            _add(sums, hist[c], 1)


@inlined
def _mark(bins, hist, totals, left, feature, cut, takes_missing, in_left):
    """Set the bits of the codes that go left, for a threshold or a category (cut >= 0), or a pair of labels (below)."""
    start, n_bins, count = bins.start[feature], bins.n_bins[feature], totals.size - 1
    heavier = 2 * left[count] >= totals[count]
    k, pair = totals.size - 2, -1 - cut
    for b in range(in_left.size):
        in_left[b] = 0
    for c in range(n_bins + 1):
        here = hist[start + c]
        if bins.nominal[feature]:
            if here[count] == 0:
                goes = heavier
            elif cut >= 0:
                goes = c == cut
            else:
                goes = here[pair // k] <= here[pair % k] + TIE
        elif c < n_bins:
            goes = c <= cut
        else:
            goes = takes_missing if here[count] > 0 else heavier
        if goes:
            in_left[c >> 3] |= 1 << (c & 7)
