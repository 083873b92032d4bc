"""The state of a booster: what of it a file holds, and how it is put back.

A booster makes its own state from its settings, its columns and its classes. Most of it never changes: the plan, the
kinds of learners, the settings of every tree, tables of potentials. A file holds what learning changes, by name and
without a class, and a reader fills it into a state that the booster has just made (the *template*). So shapes and
dtypes are compared with those that the kernels are about to be given, and all else is as the library itself makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# What learning changes, by class of state. A field that is not here must be as in the template.
STORED: dict[str, tuple[str, ...]] = {
    "Ensemble": ("committee", "forests", "bank", "memory"),
    "RankingEnsemble": ("committee", "forests", "bank", "memory", "calibration"),
    "GradientEnsemble": ("progress", "forests", "bank"),
    "Committee": ("weight", "mistakes", "costs", "importance", "errors", "sharpness"),
    "RankingCommittee": ("weight", "losses", "costs", "excess", "importance", "totals"),
    "Progress": ("learners", "losses", "totals", "extremes"),
    "LinearBank": ("weights", "squares", "products", "ranks", "newton"),
    "Products": ("weights", "squares", "ranks"),
    "Newton": ("used", "told", "weights", "inverse"),
    "MemoryBank": ("counts", "recent"),
    "RidgeBank": ("weights", "inverse", "averages", "rounds"),
    "Calibration": ("curve", "squares", "spread"),
    "Forest": (
        *("categories", "root", "n_nodes", "kind", "feature", "threshold", "child", "width", "fallback", "links"),
        *("class_weight", "row", "tally", "margin", "complete_sum", "examples", "n_rows"),
        *("gauss", "counts", "complete", "moments"),
        *("free_leaves", "free_rows", "used"),
    ),
    "RegressionForest": (
        *("categories", "root", "n_nodes", "kind", "feature", "threshold", "child", "fallback", "depth"),
        *("mass", "sums", "total", "low", "density", "bins", "slots", "moments", "free_leaves", "used"),
    ),
}
# Fields that have another name in a file. Learners in one block have one forest, and a file then holds it and no list.
NAMES = {"forests": "forest"}
# What the first files of format 1 do not hold: it then is as in the template.
LATER = {
    "Committee": ("sharpness",),
    "LinearBank": ("products", "ranks", "newton"),
    "Products": ("ranks",),
    "Forest": ("complete", "complete_sum"),
}
# What earlier files hold beside that: it follows from the rest.
EARLIER = {"Forest": ("constant",)}
# Follows from the rest: from `categories`, which may have grown, and from the leaves.
FOLLOWING = {
    "Forest": ("offset", "tree_rows", "majority", "gapped", "constant", "places"),
    "RegressionForest": ("offset",),
}
# Arrays that are longer than what they hold (`_lanes.in_fours`): of their last axis a file has as much as another's.
TRIMMED = {"gauss": "numeric"}
# Tables and memos: a function of the settings that grows as it is asked, to the same numbers.
TABLES = ("potentials",)
# Learners of other libraries: parameters that name one are refused, so that there are none.
OTHERS = ("foreign",)


def stored_state(state: Any) -> dict[str, Any]:
    """What a file holds of a state: arrays by name, in nested dictionaries."""
    stored: dict[str, Any] = {}
    for name in STORED[type(state).__name__]:
        value = getattr(state, name)
        if isinstance(value, list):
            parts = [stored_state(part) for part in value]
            stored[NAMES[name]] = parts if len(parts) > 1 else parts[0]
        elif name in TRIMMED:
            stored[name] = np.ascontiguousarray(value[..., : getattr(state, TRIMMED[name]).shape[-1]])
        else:
            stored[name] = value if isinstance(value, np.ndarray) else stored_state(value)
    return stored


def stored_forests(stored: Any) -> list[Any]:
    """The forests that a file holds of a state, block by block."""
    forests = stored["forest"]
    return forests if isinstance(forests, list) else [forests]


def filled(template: Any, stored: Any, place: str = "") -> Any:
    """The template with what a file holds; ValueError unless dtypes are the same, and shapes where they never grow."""
    kind = type(template).__name__
    names = [NAMES.get(name, name) for name in STORED[kind]]
    if not isinstance(stored, dict) or (stored.keys() - {*EARLIER.get(kind, ())}) | {*LATER.get(kind, ())} != {*names}:
        raise ValueError(f"{place or 'the state'}: a {kind} is made of {', '.join(names)}")
    grows = kind in FOLLOWING
    changes: dict[str, Any] = {}
    for name in STORED[kind]:
        if name in LATER.get(kind, ()) and name not in stored:
            continue
        known, value, here = getattr(template, name), stored[NAMES.get(name, name)], f"{place}{name}"
        if isinstance(known, list):
            parts = zip(known, stored_forests(stored), strict=True)
            changes[name] = [filled(part, of_part, f"{here}.") for part, of_part in parts]
            continue
        if not isinstance(known, np.ndarray):
            changes[name] = filled(known, value, f"{here}.")
            continue
        if not isinstance(value, np.ndarray) or value.dtype != known.dtype or value.ndim != known.ndim:
            raise ValueError(f"{here}: an array of dtype {known.dtype} with {known.ndim} dimensions is needed")
        if not grows and value.shape != known.shape:
            raise ValueError(f"{here} has shape {value.shape}: {known.shape} is needed")
        changes[name] = np.require(value, requirements=["C", "A", "W"])
    return template._replace(**changes)


def check_unchanged(state: Any, template: Any, place: str = "") -> None:
    """ValueError unless what a file leaves out is the same in a state and in the template of the same settings."""
    kind = type(template).__name__
    for name in template._fields:
        known, value, here = getattr(template, name), getattr(state, name), f"{place}{name}"
        if name in STORED.get(kind, ()):
            if isinstance(known, list):
                for part, of_part in zip(value, known, strict=True):
                    check_unchanged(part, of_part, f"{here}.")
            elif not isinstance(known, np.ndarray):
                check_unchanged(value, known, f"{here}.")
        elif name not in (*FOLLOWING.get(kind, ()), *OTHERS):
            same = _same_settings(value, known) if name in TABLES else _same(value, known)
            if not same:
                raise ValueError(
                    f"this model cannot be saved: its parameters no longer tell how it came to be ({here}); they were "
                    "changed after it had begun to learn"
                )


def _same_settings(value: Any, known: Any) -> bool:
    """Whether tables are for the same settings; there may be some for each block."""
    if type(known) is tuple:
        return type(value) is tuple and len(value) == len(known) and all(map(_same_settings, value, known))
    own = [name for name in known._fields if name == "edge" or not isinstance(getattr(known, name), np.ndarray)]
    return type(value) is type(known) and all(_same(getattr(value, name), getattr(known, name)) for name in own)


def _same(value: Any, known: Any) -> bool:
    if value is known:
        return True
    if type(value) is not type(known):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype == known.dtype and np.array_equal(value, known, equal_nan=value.dtype.kind == "f")
    if isinstance(value, tuple):
        return len(value) == len(known) and all(map(_same, value, known))
    return bool(value == known)
