"""Values as JSON and arrays, and back: what parameters and states are made of.

| value                                   | in the header                                                     |
|-----------------------------------------|-------------------------------------------------------------------|
| None, bool, int, str, finite float      | as JSON has them                                                  |
| other floats                            | {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}             |
| list                                    | [...]                                                             |
| tuple, dict with names as keys          | {"tuple": [...]}, {"dict": {...}}                                 |
| array                                   | {"array": member, "dtype": ..., "shape": [...]}                   |
| array of objects (text and numbers)     | {"cells": [...], "shape": [...]}                                  |
| a single number or text of NumPy        | {"scalar": value, "dtype": ...}                                   |
| named tuple in `RECORDS`                | {"record": name, "fields": {...}}                                 |
| object in `SETTINGS`                    | {"object": name, "parameters": {...}}                             |
| one of the last two that was met before | {"again": its place among them}                                   |
| Table                                   | {"table": [...features], "values": array}                         |
| Generator, RandomState                  | {"generator": ...}, {"random_state": ...}                         |

An array is a member of its own and is used once: no two arrays of a model share memory. Settings and bins may be
shared, and are again when they are read: learners of one setting are drawn together, and trees know their bins by
identity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table
from edgewise.persist.archive import DTYPE, checked_dtype, checked_shape, from_member
from edgewise.persist.declared import MODELS, RECORDS, SETTINGS, class_named, in_code, in_file, name_of

DEEPEST = 40
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# Places in a buffer of a generator that NumPy itself takes without a check: name -> largest place.
PLACES = {"pos": 624, "buffer_pos": 4}


class Writer:
    """Takes values apart; the arrays met are in `arrays`."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._met: dict[int, tuple[int, Any]] = {}  # by identity; what was met is held, so that none is met again

    def named(self, values: dict[str, Any], place: str = "") -> dict[str, Any]:
        """Values by name, in order of their names: the same model gives the same file."""
        return {name: self.value(values[name], f"{place}{name}") for name in sorted(values)}

    def value(self, value: Any, place: str) -> Any:
        """One value; ValueError, which names `place`, for one that a file cannot hold."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is list:
            return [self.value(item, f"{place}[{i}]") for i, item in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.value(item, f"{place}[{i}]") for i, item in enumerate(value)]}
        if type(value) is dict and all(type(key) is str for key in value):
            return {"dict": {key: self.value(item, f"{place}.{key}") for key, item in value.items()}}
        if isinstance(value, np.ndarray):
            return self._array(value, place)
        if isinstance(value, np.generic) and value.dtype.kind in "biufU":
            return {"scalar": self.value(value.item(), place), "dtype": value.dtype.str}
        if isinstance(value, Table):
            features = [self.value(feature, place) for feature in value.features]
            return {"table": features, "values": self._array(value.values, place)}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            kind = "random_state" if isinstance(value, np.random.RandomState) else "generator"
            return {kind: self.value(generator_state(value), place)}
        if id(value) in self._met:
            return {"again": self._met[id(value)][0]}
        if (name := name_of(type(value), RECORDS)) is not None:
            stored = {"record": name, "fields": self.named(in_file(name, value._asdict()), f"{place}.")}
        elif (name := name_of(type(value), SETTINGS)) is not None:
            stored = {"object": name, "parameters": self.named(parts_of(value)[0], f"{place}.")}
        else:
            raise ValueError(
                f"{place}={str(value)[:80]}: a {type(value).__module__}.{type(value).__qualname__} cannot be saved; a "
                "model file holds settings and learners of edgewise itself, numbers, text and arrays, and never code"
            )
        self._met[id(value)] = (len(self._met), value)
        return stored

    def _array(self, array: np.ndarray, place: str) -> dict[str, Any]:
        shape = list(array.shape)
        if array.dtype.kind == "O":
            return {"cells": [self.value(cell, place) for cell in array.ravel().tolist()], "shape": shape}
        if not DTYPE.fullmatch(array.dtype.str):
            raise ValueError(f"{place}: an array of dtype {array.dtype} cannot be saved")
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1, "dtype": array.dtype.str, "shape": shape}


class Reader:
    """Puts values together from a header, and arrays or members of a file; ValueError for what no writer writes."""

    def __init__(self, arrays: Sequence[bytearray | np.ndarray]) -> None:
        self._arrays = arrays
        self.used: set[int] = set()  # arrays that were asked for
        self._met: list[Any] = []

    def named(self, stored: Any, depth: int = 0) -> dict[str, Any]:
        """Values by name."""
        if not isinstance(stored, dict):
            raise ValueError(f"values by name are needed, not {str(stored)[:80]}")
        return {name: self.value(value, depth + 1) for name, value in stored.items()}

    def value(self, stored: Any, depth: int = 0) -> Any:
        """One value."""
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
        if stored is None or type(stored) in (bool, int, float, str):
            return stored
        if isinstance(stored, list):
            return [self.value(item, depth + 1) for item in stored]
        match sorted(stored.items()):
            case [("float", name)]:
                return SPECIAL[name]
            case [("tuple", list(items))]:
                return tuple(self.value(items, depth))
            case [("dict", values)]:
                return self.named(values, depth)
            case [("array", member), ("dtype", dtype), ("shape", shape)]:
                if type(member) is not int or not 0 <= member < len(self._arrays) or member in self.used:
                    raise ValueError(f"array {str(member)[:40]}: there is no such member, or it is used twice")
                self.used.add(member)
                found, of_dtype, sizes = self._arrays[member], checked_dtype(dtype), checked_shape(shape)
                return found if isinstance(found, np.ndarray) else from_member(found, of_dtype, sizes)
            case [("cells", list(items)), ("shape", shape)]:
                cells, sizes = self.value(items, depth), checked_shape(shape)
                if math.prod(sizes) != len(cells) or any(isinstance(cell, np.ndarray | list) for cell in cells):
                    raise ValueError(f"{len(cells)} cells for an array of shape {sizes}")
                array = np.empty(len(cells), object)
                array[:] = cells
                return array.reshape(sizes)
            case [("dtype", name), ("scalar", inner)]:
                value, dtype = self.value(inner, depth + 1), checked_dtype(name)
                if type(value) not in (bool, int, float, str) or dtype.kind not in "biufU" or dtype.itemsize > 1 << 20:
                    raise ValueError(f"no number or text of NumPy: {str(stored)[:80]}")
                return np.array(value, dtype)[()]
            case [("table", list(items)), ("values", inner)]:
                features, values = self.value(items, depth), self.value(inner, depth + 1)
                if not all(isinstance(feature, Feature) for feature in features) or not isinstance(values, np.ndarray):
                    raise ValueError("no table")
                return Table(values, features)
            case [("generator" | "random_state" as name, state)]:
                return restored_generator(self.value(state, depth + 1), legacy=name == "random_state")
            case [("fields", inner), ("record", name)]:
                record: Any = class_named(name, RECORDS)
                fields = in_code(name, self.named(inner, depth))
                if fields.keys() != set(record._fields):
                    raise ValueError(f"a {name} has {', '.join(record._fields)}; not {str(list(fields))[:80]}")
                self._met.append(checked_feature(**fields) if record is Feature else record(**fields))
                return self._met[-1]
            case [("object", name), ("parameters", inner)]:
                self._met.append(with_parameters(name, SETTINGS, self.named(inner, depth)))
                return self._met[-1]
            case [("again", place)] if type(place) is int and 0 <= place < len(self._met):
                return self._met[place]
        raise ValueError(f"no value of a model file: {str(stored)[:80]}")


def checked_feature(name: Any, categories: Any) -> Feature:
    """A column; ValueError unless it has a name and, if it is nominal, distinct names of categories."""
    if type(name) is not str:
        raise ValueError(f"no name of a feature: {str(name)[:80]}")
    if categories is not None:
        if not isinstance(categories, tuple) or not all(type(category) is str for category in categories):
            raise ValueError(f"categories of {name[:40]!r} that are no names")
        if len(set(categories)) != len(categories):
            raise ValueError(f"categories of {name[:40]!r} that are not distinct")
    return Feature(name, categories)


# -- objects -----------------------------------------------------------------------------------------------------------


def parameter_names(kind: type[Any]) -> list[str]:
    """The names of a constructor's arguments."""
    return list(kind._get_param_names() if hasattr(kind, "_get_param_names") else kind._defaults())


def parts_of(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of an object, and the rest of what it holds, by their names in a file."""
    held = dict(vars(value))
    parameters = {name: held.pop(name) for name in parameter_names(type(value))}
    return in_file(name_of(type(value), MODELS | SETTINGS) or "", parameters), in_file("Model", held)


def with_parameters(name: Any, table: dict[str, str], parameters: dict[str, Any]) -> Any:
    """An object with these parameters. One that came to the class after the file was written has its default."""
    kind, parameters = class_named(name, table), in_code(name, parameters)
    known = parameter_names(kind)
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter[:40]!r}")
    return kind(**parameters)


def checked_names(kind: type[Any], stored: dict[str, Any]) -> dict[str, Any]:
    """A state whose names are those of attributes, and hide nothing that the class defines but plain defaults."""
    state = in_code("Model", stored)
    for name, value in state.items():
        default = getattr(kind, name, None)
        hides = hasattr(kind, name) and (
            type(default) not in (bool, int, float, str) or type(value) is not type(default)
        )
        if hides or not name.isidentifier() or name.startswith("__") or name in parameter_names(kind):
            raise ValueError(f"{name[:40]!r} is no part of the state of a {kind.__name__}")
    return state


# -- random state: NumPy's generators as the numbers behind them, with the seed from which children are spawned --------


def generator_state(generator: np.random.Generator | np.random.RandomState) -> dict[str, Any]:
    """All that a generator remembers, as plain values and arrays; ValueError for a kind that NumPy does not have."""
    bits = generator._bit_generator if isinstance(generator, np.random.RandomState) else generator.bit_generator
    kind, seed = type(bits).__name__, getattr(bits, "seed_seq", None)
    known = kind in BIT_GENERATORS and type(bits) is getattr(np.random, kind)
    seeded = type(seed) is np.random.SeedSequence or (seed is None and kind == "MT19937")
    if not known or not seeded:
        raise ValueError(f"{generator!r}: only generators of NumPy, seeded by its SeedSequence, can be saved")
    stored = generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else bits.state
    spawning = None
    if seed is not None:
        entropy: Any = seed.entropy
        spawning = {
            "entropy": list(map(int, entropy)) if np.ndim(entropy) else int(entropy),
            "spawn_key": list(map(int, seed.spawn_key)),
            "pool_size": int(seed.pool_size),
            "n_children_spawned": int(seed.n_children_spawned),
        }
    return {"kind": kind, "state": _plain(stored), "seed": spawning}


def restored_generator(stored: Any, *, legacy: bool) -> np.random.Generator | np.random.RandomState:
    """The generator again, `legacy` a RandomState; ValueError or TypeError for what is no state of one."""
    kind, seed, state = stored["kind"], stored["seed"], stored["state"]
    if kind not in BIT_GENERATORS or (seed is None and kind != "MT19937"):
        raise ValueError(f"no generator of NumPy, or one without its seed: {str(kind)[:40]!r}")
    if seed is None:
        bits = np.random.RandomState(0)._bit_generator  # as RandomState seeds its own: there is no SeedSequence
    else:
        size, children = seed["pool_size"], seed["n_children_spawned"]
        if type(size) is not int or not 4 <= size <= 64:
            raise ValueError(f"pool_size {size!r} of a SeedSequence")
        spawn_key = tuple(seed["spawn_key"])
        sequence = np.random.SeedSequence(
            seed["entropy"], spawn_key=spawn_key, pool_size=size, n_children_spawned=children
        )
        bits = getattr(np.random, kind)(sequence)
    needed, found = _form(bits.state), _form({key: state[key] for key in bits.state})
    if found != needed:
        raise ValueError(f"the state of a {kind} is like {needed}, not {str(found)[:200]}")
    if legacy:
        if type(state["has_gauss"]) is not int or not np.isfinite(float(state["gauss"])):
            raise ValueError("the state of a RandomState")
        generator = np.random.RandomState(bits)
        generator.set_state(state)
        return generator
    bits.state = state
    return np.random.Generator(bits)


def _plain(state: Any) -> Any:
    """The state as dictionaries of whole numbers, floats, text and arrays."""
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    return state.item() if isinstance(state, np.generic) else state


def _form(state: Any, name: str = "") -> Any:
    """How a state is built: names, text, dtypes and shapes, types of numbers and whether they are in their range."""
    if isinstance(state, dict):
        return {key: _form(value, key) for key, value in state.items()}
    if isinstance(state, np.ndarray):
        return str(state.dtype), state.shape
    number = _plain(state)
    return state if isinstance(state, str) else (type(number).__name__, 0 <= number <= PLACES.get(name, number))
