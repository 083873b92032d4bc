"""Sums of costs over the rows of a node, by feature and bin: in whole numbers, so that they are exact.

Costs are turned into whole numbers once for each tree, as finely as 62 bits allow for the sum over all rows. Then the
order of additions does not matter: a sibling's histogram is that of the parent less that of the child, to the last bit,
and two splits that cost the same are found to cost the same. The rounding is below n / 2^62 of the total cost, less than
that of adding up n floating-point numbers.

Only differences within a row matter for the choice of a label: each row is counted from its cheapest label. Columns of a
row: k costs, its mass (the cost of its dearest label), and 1, so that rows are counted along.
"""

from __future__ import annotations

import math

from edgewise._compile import kernel, routine

# Sums stay below 2^BITS, and those of two children below 2^63.
BITS = 61
# Rows whose costs are added feature by feature while they are in cache; 128 to 2,048 measured alike.
BLOCK = 512


@routine
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


@routine
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


@routine
def fill_histogram(whole, codes, rows, first, last, bins, common, totals, block, hist):
    """hist[start + code]: sums over rows[first:last]; `totals` are their sums over all codes."""
    width = whole.shape[1]
    for c in range(hist.shape[0]):
        for l in range(width):
            hist[c, l] = 0
    for begin in range(first, last, BLOCK):
        size = min(BLOCK, last - begin)
        for r in range(size):
            i = rows[begin + r]
            for l in range(width):
                block[r, l] = whole[i, l]
        for f in range(codes.shape[0]):
            _add(codes[f], rows, begin, size, bins.start[f], common[f], block, hist)
    for f in range(codes.shape[0]):
        if common[f] >= 0:
            rest = bins.start[f] + common[f]
            for l in range(width):
                hist[rest, l] = totals[l]
            for c in range(bins.start[f], bins.start[f + 1]):
                if c != rest:
                    for l in range(width):
                        hist[rest, l] -= hist[c, l]


@kernel
def _add(codes, rows, begin, size, start, common, block, hist):
    """Add a block of rows to one feature's part, but for those with the common code."""
    width = block.shape[1]
    if common < 0:
        for r in range(size):
            c = start + codes[rows[begin + r]]
            for l in range(width):
                hist[c, l] += block[r, l]
    else:
        for r in range(size):
            code = codes[rows[begin + r]]
            if code != common:
                for l in range(width):
                    hist[start + code, l] += block[r, l]


@routine
def subtract(hist, child):
    """The sibling's histogram in place of the parent's."""
    for c in range(hist.shape[0]):
        for l in range(hist.shape[1]):
            hist[c, l] -= child[c, l]
