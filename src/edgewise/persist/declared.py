"""What a model file may name and hold: the tables of `declared.toml`, and checks of all that a file holds against them.

Only relations that no declaration can express have functions of their own: those of trees are in `forests`.
"""

from __future__ import annotations

import importlib
import operator
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _modules(names: dict[str, list[str]]) -> dict[str, str]:
    return {name: module for module, of_module in names.items() for name in of_module}


# Models that `load` gives back, and the module of `edgewise.persist` that takes each apart.
MODELS = {name: module for family in TABLES["models"].values() for name, module in _modules(family).items()}
FAMILIES = {name: family for family, names in TABLES["models"].items() for name in _modules(names)}
SETTINGS = _modules(TABLES["settings"])
RECORDS = _modules(TABLES["records"])
RENAMED: dict[str, str] = TABLES["renamed"]


def class_named(name: Any, table: dict[str, str]) -> type[Any]:
    """The class that a file names; ValueError for a name that is not in the table."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"{str(name)[:80]!r} is not among the classes that a model file may name")
    return getattr(importlib.import_module(table[name]), RENAMED.get(name, name))


def name_of(kind: type[Any], table: dict[str, str]) -> str | None:
    """The name in a file of this very class; subclasses have none."""
    known = (name for name, module in table.items() if module == kind.__module__)
    return next((name for name in known if RENAMED.get(name, name) == kind.__name__), None)


def in_file(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """Values by the names that the fields of a class have in a file."""
    old = {new: field.partition(".")[2] for field, new in RENAMED.items() if field.startswith(f"{kind}.")}
    return {old.get(name, name): value for name, value in values.items()}


def in_code(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """Values by the names that the fields of a class have in the code."""
    return {RENAMED.get(f"{kind}.{name}", name): value for name, value in values.items()}


# -- states ------------------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """What a field of a state must be: an array, or another state."""

    optional: bool
    state: str  # which; "" for an array, "any" for what is not looked at here
    blocks: bool  # whether there is a state for each block of learners
    dtype: np.dtype[Any] | None
    shape: tuple[str, ...]
    limits: tuple[tuple[str, str], ...]  # signs, and numbers or names of sizes


BEFORE = {"<": ">", "<=": ">="}  # a limit that stands before the array
INSIDE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def parsed(text: str) -> Field:
    """A field from its declaration, as "0 <= i4[leaves, labels] < rows"."""
    optional, blocks = text.startswith("optional "), text.startswith("blocks of ")
    text = text.removeprefix("optional ").removeprefix("blocks of ")
    found = re.fullmatch(r"(?:(\S+) (<=?) )?([a-z]\d)\[(.*)\](?: (<=?) (.+))?", text)
    if found is None:
        return Field(optional, text, blocks, None, (), ())
    low, before, dtype, shape, after, high = found.groups()
    limits = tuple(limit for limit in ((before and BEFORE[before], low), (after, high)) if limit[0])
    return Field(optional, "", False, np.dtype(dtype), tuple(filter(None, shape.split(", "))), limits)


STATES = {kind: {name: parsed(text) for name, text in of.items()} for kind, of in TABLES["states"].items()}


def check(kind: str, stored: Any, sizes: dict[str, int], place: str = "") -> None:
    """ValueError unless a state is as declared; `sizes` that are not known yet are added as its arrays have them.

    Blocks, which have sizes of their own, are not looked into.
    """
    fields = STATES[kind]
    needed = {name for name, of in fields.items() if of.state != "any" and not of.optional}
    if not isinstance(stored, dict) or not needed <= stored.keys() <= fields.keys():
        raise ValueError(f"{place or 'the state'}: a {kind} is made of {', '.join(fields)}")
    held = {name: of for name, of in fields.items() if name in stored and of.state != "any"}
    for name, of in held.items():
        if not of.state:
            check_shape(f"{place}{name}", stored[name], of, sizes)
        elif not of.blocks:
            check(of.state, stored[name], sizes, f"{place}{name}.")
    for name, of in held.items():  # once all sizes are known
        for sign, limit in of.limits:
            inside = INSIDE[sign](stored[name], _size(limit, 0, sizes))
            if not inside.all():
                raise ValueError(f"{place}{name} holds {stored[name][~inside][0]}: numbers {sign} {limit} fit")


def check_shape(place: str, array: Any, of: Field, sizes: dict[str, int]) -> None:
    """ValueError unless an array has the dtype and the shape declared."""
    is_array = isinstance(array, np.ndarray)
    found = array.shape if is_array and array.ndim == len(of.shape) else (0,) * len(of.shape)
    needed = tuple(_size(size, n, sizes) for size, n in zip(of.shape, found, strict=True))
    if not is_array or array.dtype != of.dtype or array.shape != needed:
        has = f"shape {array.shape} and dtype {array.dtype}" if is_array else str(array)[:40]
        raise ValueError(f"{place} has {has}: shape {needed} and dtype {of.dtype} are needed")


def _size(size: str, found: int, sizes: dict[str, int]) -> int:
    """The number that a declared size stands for."""
    more, _, name = size.rpartition(" + ")
    if name.lstrip("-").isdigit():
        return int(name)
    return int(more or 0) + sizes.setdefault(name, found - int(more or 0))


def stored_arrays(kind: str, state: Any) -> dict[str, Any]:
    """The arrays of a state that a file holds, by their names there."""
    stored: dict[str, Any] = {}
    for name, of in STATES[kind].items():
        if of.state == "any":
            continue
        value = getattr(state, RENAMED.get(f"{kind}.{name}", name))
        if of.blocks:
            parts = [stored_arrays(of.state, part) for part in value]
            stored[name] = parts if len(parts) > 1 else parts[0]
        else:
            stored[name] = stored_arrays(of.state, value) if of.state else value
    if kind == "Forest":  # without what fills up a vector of the processor
        stored["gauss"] = np.ascontiguousarray(state.gauss[..., : state.numeric.shape[1]])
    return stored


def filled(kind: str, template: Any, stored: Any) -> Any:
    """The template with the arrays of a file."""
    changes: dict[str, Any] = {}
    for name, of in STATES[kind].items():
        if of.state == "any" or name not in stored:
            continue
        code, value = RENAMED.get(f"{kind}.{name}", name), stored[name]
        known = getattr(template, code)
        if of.blocks:
            parts = zip(known, value if isinstance(value, list) else [value], strict=True)
            changes[code] = [filled(of.state, part, of_part) for part, of_part in parts]
        elif of.state:
            changes[code] = filled(of.state, known, value)
        elif value.shape != known.shape and "Forest" not in kind:  # forests grow
            raise ValueError(f"{name} has shape {value.shape}: {known.shape} is needed")
        else:
            changes[code] = np.require(value, requirements=["C", "A", "W"])
    return template._replace(**changes)


# -- attributes of models ----------------------------------------------------------------------------------------------

ATTRIBUTES = {name: needed for needed, names in TABLES["attributes"].items() for name in names}


def _is_whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and least <= value < 1 << 53  # sums of it stay exact


def _is_names(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1


def _is_pairs(value: Any) -> bool:
    pairs = value if isinstance(value, list) else [None]
    return all(isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_whole, pair)) for pair in pairs)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(_is_plain, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OU"
    return value is None or type(value) in (bool, int, float, str)


IS: dict[str, Callable[[Any], bool]] = {
    "a whole number of at least 0": _is_whole,
    "a whole number of at least 1": partial(_is_whole, least=1),
    "a whole number of at least -1": partial(_is_whole, least=-1),
    "true or false": lambda value: type(value) is bool,
    "the names of the labels": _is_names,
    "at least 2 labels, sorted and distinct": lambda value: (
        _is_names(value) and value.size >= 2 and np.array_equal(np.unique(value), value)
    ),
    "a generator": lambda value: isinstance(value, np.random.Generator),
    "pairs of a round and a learner": _is_pairs,
    "a number or text, or made of them": _is_plain,
}


def checked(name: str, value: Any) -> Any:
    """The value of an attribute; ValueError unless it is as declared."""
    needed = ATTRIBUTES.get(name, "a number or text, or made of them")
    if needed not in IS:
        check_shape(name, value, parsed(needed), {})
    elif not IS[needed](value):
        raise ValueError(f"{name[:40]}={str(value)[:40]}: {needed}, is needed")
    return value


def take(model: Any, state: dict[str, Any], needed: Iterable[str]) -> None:
    """Set attributes of a model, of which some are needed; ValueError unless they are as declared."""
    for name in needed:
        if name not in state:
            raise ValueError(f"{name}: a {type(model).__name__} needs it")
    for name, value in state.items():
        setattr(model, name, checked(name, value))
