"""A tree as nested tuples, for people and tests."""

from __future__ import annotations

from typing import Any

from edgewise.learners.forest.layout import BINARY, LEAF, NUMERIC, Forest


def structure(forest: Forest, tree: int) -> tuple[Any, ...]:
    """("numeric", column, threshold, left, right), ("nominal", column, {code: child}), ("binary", column, code, equal,
    rest) or ("leaf", class weights).

    `column` counts the numeric and the nominal columns apart, from 0 each.
    """

    def of(node: int) -> tuple[Any, ...]:
        first, j = int(forest.child[node]), forest.feature[node]
        if forest.kind[node] == LEAF:
            return ("leaf", forest.class_weight[first].tolist())
        if forest.kind[node] == NUMERIC:
            return ("numeric", int(forest.numeric[tree, j]), float(forest.threshold[node]), of(first), of(first + 1))
        if forest.kind[node] == BINARY:
            return ("binary", int(forest.nominal[tree, j]), int(forest.threshold[node]), of(first), of(first + 1))
        links = forest.links[first : first + forest.width[node]]
        return (
            "nominal",
            int(forest.nominal[tree, j]),
            {code: of(int(child)) for code, child in enumerate(links) if child >= 0},
        )

    return of(int(forest.root[tree]))
