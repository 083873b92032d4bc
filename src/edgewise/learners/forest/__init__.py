"""N Hoeffding trees (Domingos and Hulten 2000) as one value: arrays only, compiled kernels.

layout: the arrays. capacity: how they grow, within a budget. statistics: what a leaf counts, and what children inherit.
distribution: what a leaf predicts. merits: what a split gains, exactly; gain_bounds: the same within a proven error,
for less. splitting: the best split, and whether the Hoeffding bound allows it. growing: routing, learning, splitting.
"""
