"""N Hoeffding trees (Domingos and Hulten 2000) as one value: arrays only, compiled kernels.

layout: the arrays, making and growing them. statistics: what a leaf keeps of its examples. distribution: what a leaf
says of an example. splitting: which split is best, and whether the Hoeffding bound allows it; merits: what a split
gains, exactly; guessing: the same within a proven error, for less. growing: routing, learning, splitting. structure: a
tree as nested tuples, for people and tests.
"""
