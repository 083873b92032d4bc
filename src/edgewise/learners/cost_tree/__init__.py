"""A greedy tree that minimizes a cost matrix: binned once, grown best first, each leaf answering its cheapest label.

One file per concern: `binning` (values to codes, and features in bundles), `splitting` (sums of costs by bin, and the
best split of a node), `growing` (the tree, and rows ready for many trees).

Mukherjee and Schapire, "A Theory of Multiclass Boosting" (NIPS 2010), Section 5, call such a learner Greedy: it
minimizes C . 1_h, the sum over rows of the cost of the answer.
"""
