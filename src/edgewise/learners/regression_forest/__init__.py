"""Online regression trees with vector targets: n trees as one value of arrays.

`layout` has the arrays, `splitting` decides when and where a leaf splits, `growing` routes, speaks, learns and splits.
"""
