"""The bytes that a booster may take, and what each of its trees has of them.

Every tree of all ensembles gets an equal share of what is left once all that does not grow is counted. Shares are a
function of the settings, the columns and the labels alone: neither the cut into chunks nor the number of threads, for
which learners stand in blocks with a forest each, can change what a tree does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.learners.forest.capacity import least_bytes, limited
from edgewise.learners.forest.layout import Forest
from edgewise.loop.pipeline import blocks
from edgewise.loop.state import GROUP, TREE, arrays


def within_budget(ensembles: list[Any], max_bytes: int | None, tables: int) -> list[Any]:
    """The ensembles with limits to their trees; ValueError if the budget is too small to begin with.

    `tables` is the bytes of an ensemble's potentials, as they are at the start.
    """
    if max_bytes is None:
        return ensembles
    counted = [forest for ensemble in ensembles for forest in forests_with_trees(ensemble)]
    trees, least = sum(forest.root.size for forest in counted), least_bytes(counted)
    others = sum(tables + bytes_of_others(ensemble) for ensemble in ensembles)
    if max_bytes < others + trees * least:
        raise ValueError(
            f"max_bytes={max_bytes!r}: this model needs at least {others + trees * least}, of which its {trees} trees "
            f"take {trees * least}"
        )
    share = (max_bytes - others) // trees
    return [
        ensemble._replace(
            forests=[limited(f, share, counted) if any(f is one for one in counted) else f for f in ensemble.forests]
        )
        for ensemble in ensembles
    ]


def forests_with_trees(ensemble: Any) -> list[Forest]:
    """The forests whose trees are learners: all, unless a block of learners has no tree."""
    kind = ensemble.learners.kind
    every = zip(blocks(kind.size, len(ensemble.forests)), ensemble.forests, strict=True)
    found = [forest for block, forest in every if np.isin(kind[block.start : block.stop], (TREE, GROUP)).any()]
    return found or ensemble.forests[:1]


def bytes_of_others(ensemble: Any) -> int:
    """Bytes of all that is neither a forest nor a table of potentials."""
    others = [part for name, part in ensemble._asdict().items() if name not in ("forests", "potentials")]
    return sum(array.nbytes for array in arrays(others))
