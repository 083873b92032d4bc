"""A classification tree that is grown by a matrix of costs, best leaf first: the weak learner of batch boosting.

Every split is tried and every sum taken anew, in Python's whole numbers. As `edgewise.CostTree` is defined, costs are
rounded to 61 bits of their total, sums within TIE of each other are equal, and ties go to what explains more, then to
the lowest feature and code.

Features are codes: those of a numeric one count the thresholds below its value, and code `n_bins` is a missing value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

Whole = list[list[int]]  # costs in whole numbers, a row for each example
Split = tuple[int, float, int, set[int]]  # gain, explained, feature, codes that go left

TIE = 2**16
EQUAL = 1e-9


def thresholds(values: Sequence[float], weights: Sequence[float], max_bins: int) -> list[float]:
    """Midpoints between neighboring values, or between those where the mass passes i / max_bins of all."""
    mass: dict[float, float] = {}
    for value, weight in zip(values, weights, strict=True):
        if not math.isnan(value):
            mass[value] = mass.get(value, 0.0) + weight
    seen = sorted(mass)
    ends = set(range(len(seen) - 1))
    if len(seen) > max_bins:
        total, ends = sum(mass.values()), set()
        for i in range(1, max_bins):
            so_far, place = 0.0, 0
            while place < len(seen) - 1:
                so_far += mass[seen[place]]
                if so_far >= total * i / max_bins:
                    break
                place += 1
            ends.add(min(place, len(seen) - 2))
    return [(seen[e] + seen[e + 1]) / 2 for e in sorted(ends)]


def whole_costs(costs: Sequence[Sequence[float]]) -> Whole:
    """Rows counted from their cheapest label, in whole numbers whose sum over the dearest labels is below 2^61."""
    total = sum(max(row) - min(row) for row in costs)
    if total == 0:
        return [[0] * len(row) for row in costs]
    scale = 2.0 ** (61 - math.ceil(math.log2(total)))
    return [[int((cost - min(row)) * scale + 0.5) for cost in row] for row in costs]


class Node:
    """A leaf with its rows, its label and its best split; or, with children, a split."""

    def __init__(self, rows: list[int], whole: Whole) -> None:
        self.rows = rows
        k = len(whole[0])
        self.totals = [sum(whole[i][l] for i in rows) for l in range(k)]
        self.label = cheapest(self.totals)
        self.best: Split | None = None
        self.children: tuple[int, list[int], Node, Node] | None = None  # feature, codes that go left, left, right


def cheapest(totals: Sequence[int]) -> int:
    """The lowest label whose total is not beaten by more than TIE."""
    best = 0
    for l in range(1, len(totals)):
        if totals[l] < totals[best] - TIE:
            best = l
    return best


def better(one: Split, other: Split | None) -> bool:
    """Whether a split gains more, or as much and explains more."""
    if other is None or one[0] > other[0] + TIE:
        return True
    return one[0] >= other[0] - TIE and one[1] > other[1] + EQUAL


def explained(whole: Whole, left: list[int], right: list[int]) -> float:
    """How much more the parts explain than the whole; a part explains the sum of its squared totals over its mass."""
    value = 0.0
    for part, sign in ((left, 1), (right, 1), (left + right, -1)):
        mass = sum(max(whole[i]) for i in part) / 2**61
        if mass > 0:
            value += sign * sum((sum(whole[i][l] for i in part) / 2**61) ** 2 for l in range(len(whole[0]))) / mass
    return value


def candidates(
    node: Node, codes: Sequence[Sequence[int]], f: int, n_bins: int, nominal: bool, whole: Whole
) -> Iterator[tuple[set[int], int | None]]:
    """Sets of codes that go left, in the order in which they are tried, those for a pair of labels with their gain."""
    present = sorted({codes[f][i] for i in node.rows})
    sums = {c: [sum(whole[i][l] for i in node.rows if codes[f][i] == c) for l in range(len(whole[0]))] for c in present}
    if nominal:
        k = len(whole[0])
        for a in range(k):
            for b in range(a + 1, k):
                cost = sum(min(sums[c][a], sums[c][b]) for c in present)
                yield {c for c in present if sums[c][a] <= sums[c][b] + TIE}, node.totals[node.label] - cost
        for c in present:
            yield {c}, None
    else:
        missing = n_bins
        for c in [c for c in present if c < missing]:
            values = {v for v in present if v <= c}
            yield values, None
            if missing in present:
                yield values | {missing}, None


def search(
    node: Node,
    codes: Sequence[Sequence[int]],
    n_bins: Sequence[int],
    nominal: Sequence[bool],
    whole: Whole,
    min_leaf: int,
) -> None:
    """Find the node's best split."""
    if node.totals[node.label] <= TIE or len(node.rows) < 2 * min_leaf:
        return
    for f in range(len(codes)):
        for chosen, pair_gain in candidates(node, codes, f, n_bins[f], nominal[f], whole):
            best_gain = node.best[0] if node.best else None
            if pair_gain is not None and pair_gain <= max(best_gain or 0, 0) + TIE:
                continue
            left = [i for i in node.rows if codes[f][i] in chosen]
            right = [i for i in node.rows if codes[f][i] not in chosen]
            if min(len(left), len(right)) < min_leaf:
                continue
            answers = [min(sum(whole[i][l] for i in part) for l in range(len(whole[0]))) for part in (left, right)]
            split = (node.totals[node.label] - sum(answers), explained(whole, left, right), f, chosen)
            if pair_gain is not None and best_gain is not None and split[0] <= best_gain + TIE:
                continue
            if better(split, node.best):
                node.best = split


def grow(
    codes: Sequence[Sequence[int]],
    n_bins: Sequence[int],
    nominal: Sequence[bool],
    costs: Sequence[Sequence[float]],
    max_leaves: int,
    min_leaf: int,
) -> tuple[Any, ...]:
    """The tree as nested tuples: ("leaf", label) or ("split", feature, codes that go left, left, right)."""
    whole = whole_costs(costs)
    root = Node(list(range(len(costs))), whole)
    search(root, codes, n_bins, nominal, whole, min_leaf)
    leaves = [root]  # in the order in which they were made
    for _ in range(max_leaves - 1):
        chosen: Node | None = None
        for leaf in leaves:
            if leaf.best and better(leaf.best, chosen.best if chosen else None):
                chosen = leaf
        if chosen is None or chosen.best is None:
            break
        _, _, f, into_left = chosen.best
        present = {codes[f][i] for i in chosen.rows}
        left = [i for i in chosen.rows if codes[f][i] in into_left]
        right = [i for i in chosen.rows if codes[f][i] not in into_left]
        # Codes without rows: numbers by their threshold, the others with the child of more rows.
        heavier = 2 * len(left) >= len(chosen.rows)
        sides = set()
        for c in range(n_bins[f] + 1):
            if c in present:
                goes = c in into_left
            elif nominal[f] or c == n_bins[f]:
                goes = heavier
            else:
                goes = any(c < v for v in into_left if v < n_bins[f])
            if goes:
                sides.add(c)
        chosen.children = (f, sorted(sides), Node(left, whole), Node(right, whole))
        leaves.remove(chosen)
        for child in chosen.children[2:]:
            search(child, codes, n_bins, nominal, whole, min_leaf)
            leaves.append(child)
    return as_tuples(root)


def as_tuples(node: Node) -> tuple[Any, ...]:
    """A node and all below it as nested tuples."""
    if node.children is None:
        return ("leaf", node.label)
    f, sides, left, right = node.children
    return ("split", f, tuple(sides), as_tuples(left), as_tuples(right))


def predict(tree: tuple[Any, ...], row_codes: Sequence[int]) -> int:
    """The label for a row of codes, one for each feature."""
    while tree[0] == "split":
        tree = tree[3] if row_codes[tree[1]] in tree[2] else tree[4]
    return tree[1]
