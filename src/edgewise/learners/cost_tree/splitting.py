"""Sums of costs over the rows of a node, by feature and bin, and the best split that they show.

The best split is that after which the two children's cheapest labels cost least, C . 1_h.

**Whole numbers.** Costs are turned into whole numbers once for each tree, as finely as 61 bits allow for the sum over
all rows. Then the order of additions does not matter: a sibling's histogram is that of the parent less that of the
child, to the last bit, and two splits that cost the same are found to cost the same. The rounding of a sum is below
n / 2^60 of the total cost, less than that of adding up n floating-point numbers.

Only differences within a row matter for the choice of a label: each row is counted from its cheapest label. Columns of
a row: k costs, its mass (the cost of its dearest label), and 1, so that rows are counted along.

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

import math

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.cost_tree.binning import spread

# Sums stay below 2^BITS.
BITS = 61
# Sums that differ by less, 2^-45 of the total, are equal: costs bring rounding errors of their own.
TIE = 1 << 16
# Rows whose costs are added feature by feature while they are in cache; 128 to 2,048 measured alike.
BLOCK = 512
# For fewer rows, spreading the sums of bundles costs more than they save.
FEW_ROWS = 1024
NO_SPLIT = -1 << 40
# Explained variations that differ by less, in units of the total cost, are equal.
EQUAL = 1e-9
UNIT = 2.0**-BITS


@entry_point
def total_mass(costs):
    """Sum over rows of (dearest - cheapest label); NaN or infinite if a cost is."""
    total = 0.0
    unclean = 0.0
    for i in range(costs.shape[0]):
        low = high = costs[i, 0]
        for l in range(costs.shape[1]):
            low = min(low, costs[i, l])
            high = max(high, costs[i, l])
            unclean += costs[i, l] - costs[i, l]  # 0, or NaN
        total += high - low
    return total + unclean


@entry_point
def fill_whole(costs, total, whole):
    """Costs in whole numbers, with mass and count behind them; `total` is their `total_mass`, above 0."""
    k = costs.shape[1]
    scale = 2.0 ** min(BITS - math.ceil(math.log2(total)), 1000)
    for i in range(costs.shape[0]):
        low = costs[i, 0]
        for l in range(1, k):
            low = min(low, costs[i, l])
        mass = 0
        for l in range(k):
            whole[i, l] = int((costs[i, l] - low) * scale + 0.5)
            mass = max(mass, whole[i, l])
        whole[i, k] = mass
        whole[i, k + 1] = 1


@entry_point
def fill_histogram(whole, codes, bundles, bins, rows, first, last, block, joint, hist):
    """hist[start + code]: sums over rows[first:last]. `block` and `joint` are working arrays."""
    few = last - first < FEW_ROWS
    hist[:] = 0
    if not few:
        joint[:] = 0
    for begin in range(first, last, BLOCK):
        size = min(BLOCK, last - begin)
        for r in range(size):
            for l in range(whole.shape[1]):
                block[r, l] = whole[rows[begin + r], l]
        if few:
            for f in range(codes.shape[0]):
                add_block(codes[f], rows, begin, size, block, hist, bins.start[f])
        else:
            for g in range(bundles.codes.shape[0]):
                f = bundles.members[bundles.members_at[g]]
                if bundles.members_at[g + 1] - bundles.members_at[g] > 1:
                    add_block(bundles.codes[g], rows, begin, size, block, joint, bundles.joint_at[g])
                else:
                    add_block(codes[f], rows, begin, size, block, hist, bins.start[f])
    if not few:
        spread(bundles, bins, joint, hist)


@inlined
def add_block(codes, rows, begin, size, block, sums, start):
    """Add a block of rows to the sums of their codes."""
    for r in range(size):
        c = start + codes[rows[begin + r]]
        for l in range(block.shape[1]):
            sums[c, l] += block[r, l]


@inlined
def put(sums, others):
    """Set a row of sums to another one."""
    for l in range(sums.size):
        sums[l] = others[l]


@inlined
def add(sums, more, sign):
    """Add a row of sums, or take it away."""
    for l in range(sums.size):
        sums[l] += sign * more[l]


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
def try_split(totals, lowest, sums, min_leaf, gain, worth, left):
    """(whether the split that sends `sums` left is better, gain and worth of the better one); it is put into `left`."""
    found = gain_of(totals, lowest, sums, min_leaf)
    if found >= gain - TIE and found != NO_SPLIT:
        value = explained(totals, sums)
        if is_better(found, value, gain, worth):
            put(left, sums)
            return True, found, value
    return False, gain, worth


@entry_point
def find_split(bins, hist, totals, min_leaf, left, sums, in_left):
    """The best split: (gain, explained, feature), or gain NO_SPLIT.

    Sums over the rows that go left come back in `left`, and bit c of `in_left` says that code c does. `sums` is a
    working array.
    """
    k = totals.size - 2
    lowest = totals[cheapest_label(totals)]
    gain, worth, feature, cut, takes_missing = NO_SPLIT, 0.0, -1, 0, False
    for f in range(bins.n_bins.size):
        start, n_bins = bins.start[f], bins.n_bins[f]
        missing = hist[start + n_bins]
        if bins.nominal[f]:
            for a in range(k):
                for b in range(a + 1, k):
                    cost = 0
                    for c in range(start, start + n_bins + 1):
                        cost += min(hist[c, a], hist[c, b])
                    if lowest - cost > max(gain, 0) + TIE:
                        sum_cheaper(hist, start, n_bins, a, b, sums)
                        found = gain_of(totals, lowest, sums, min_leaf)
                        if found > gain + TIE:
                            gain, worth, feature, cut = found, explained(totals, sums), f, -1 - (a * k + b)
                            put(left, sums)
            for c in range(n_bins + 1):
                better, gain, worth = try_split(totals, lowest, hist[start + c], min_leaf, gain, worth, left)
                if better:
                    feature, cut = f, c
        else:
            sides = 2 if missing[k + 1] > 0 else 1
            sums[:] = 0
            for c in range(n_bins):
                # Without rows in the bin it is the same split as the one before.
                if hist[start + c, k + 1] > 0:
                    add(sums, hist[start + c], 1)
                    for side in range(sides):
                        if side == 1:
                            add(sums, missing, 1)
                        better, gain, worth = try_split(totals, lowest, sums, min_leaf, gain, worth, left)
                        if better:
                            feature, cut, takes_missing = f, c, side == 1
                    if sides == 2:
                        add(sums, missing, -1)
    if gain != NO_SPLIT:
        mark_left(bins, hist, totals, left, feature, cut, takes_missing, in_left)
    return gain, worth, feature


@inlined
def sum_cheaper(hist, start, n_bins, a, b, sums):
    """Sums over the categories for which a costs no more than b."""
    sums[:] = 0
    for c in range(start, start + n_bins + 1):
        if hist[c, a] <= hist[c, b] + TIE:
            add(sums, hist[c], 1)


@inlined
def mark_left(bins, hist, totals, left, feature, cut, takes_missing, in_left):
    """Set the bits of the codes that go left, for a threshold or a category (cut >= 0), or a pair of labels (below)."""
    start, n_bins, count = bins.start[feature], bins.n_bins[feature], totals.size - 1
    heavier = 2 * left[count] >= totals[count]
    k, pair = totals.size - 2, -1 - cut
    in_left[:] = 0
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
