"""Sums of costs over the rows of a node, by feature and bin: in whole numbers, so that they are exact.

Costs are turned into whole numbers once for each tree, as finely as 61 bits allow for the sum over all rows. Then the
order of additions does not matter: a sibling's histogram is that of the parent less that of the child, to the last bit,
and two splits that cost the same are found to cost the same. The rounding of a sum is below n / 2^60 of the total cost,
less than that of adding up n floating-point numbers.

Only differences within a row matter for the choice of a label: each row is counted from its cheapest label. Columns of
a row: k costs, its mass (the cost of its dearest label), and 1, so that rows are counted along.
"""

from __future__ import annotations

import math

from edgewise.kernels.compile import entry_point, inlined
from edgewise.learners.cost_tree.bundles import FEW_ROWS, spread

# Sums stay below 2^BITS.
BITS = 61
# Sums that differ by less, 2^-45 of the total, are equal: costs bring rounding errors of their own.
TIE = 1 << 16
# Rows whose costs are added feature by feature while they are in cache; 128 to 2,048 measured alike.
BLOCK = 512


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
    """hist[start + code]: sums over rows[first:last]. `block` and `joint` are working room."""
    width = whole.shape[1]
    few = last - first < FEW_ROWS
    _clear(hist)
    if not few:
        _clear(joint)
    for begin in range(first, last, BLOCK):
        size = min(BLOCK, last - begin)
        for r in range(size):
            i = rows[begin + r]
            for l in range(width):
                block[r, l] = whole[i, l]
        if few:
            for f in range(codes.shape[0]):
                _add(codes[f], rows, begin, size, block, hist, bins.start[f])
        else:
            for g in range(bundles.codes.shape[0]):
                if bundles.members_at[g + 1] - bundles.members_at[g] > 1:
                    _add(bundles.codes[g], rows, begin, size, block, joint, bundles.joint_at[g])
                else:
                    f = bundles.members[bundles.members_at[g]]
                    _add(codes[f], rows, begin, size, block, hist, bins.start[f])
    if not few:
        spread(bundles, bins, joint, hist)


@inlined
def _clear(sums):
    for c in range(sums.shape[0]):
        for l in range(sums.shape[1]):
            sums[c, l] = 0


@inlined
def _add(codes, rows, begin, size, block, sums, start):
    """Add a block of rows to the sums of their codes."""
    for r in range(size):
        c = start + codes[rows[begin + r]]
        for l in range(block.shape[1]):
            sums[c, l] += block[r, l]


@entry_point
def subtract(hist, child):
    """The sibling's histogram in place of the parent's."""
    for c in range(hist.shape[0]):
        for l in range(hist.shape[1]):
            hist[c, l] -= child[c, l]
