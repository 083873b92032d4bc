"""Online regression trees with vector targets: n trees as one value of arrays."""
