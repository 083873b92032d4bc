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
from collections.abc import Callable
from typing import Any

import numpy as np

from edgewise.data.table import Feature, Table
from edgewise.persist.archive import DTYPE, checked_dtype, checked_shape
from edgewise.persist.declared import MODELS, RECORDS, SETTINGS, class_named, in_code, in_file, name_of

DEEPEST = 40
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
Fetch = Callable[[int, np.dtype[Any], tuple[int, ...]], np.ndarray]
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
        return self._named_class(value, place)

    def _array(self, array: np.ndarray, place: str) -> dict[str, Any]:
        shape = list(array.shape)
        if array.dtype.kind == "O":
            return {"cells": [self.value(cell, place) for cell in array.ravel().tolist()], "shape": shape}
        if not DTYPE.fullmatch(array.dtype.str):
            raise ValueError(f"{place}: an array of dtype {array.dtype} cannot be saved")
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1, "dtype": array.dtype.str, "shape": shape}

    def _named_class(self, value: Any, place: str) -> dict[str, Any]:
        if id(value) in self._met:
            return {"again": self._met[id(value)][0]}
        record, kind = name_of(type(value), RECORDS), name_of(type(value), SETTINGS)
        if record is None and kind is None:
            raise ValueError(
                f"{place}={str(value)[:80]}: a {type(value).__module__}.{type(value).__qualname__} cannot be saved; a "
                "model file holds settings and learners of edgewise itself, numbers, text and arrays, and never code"
            )
        if record is not None:
            stored: dict[str, Any] = {
                "record": record,
                "fields": self.named(in_file(record, value._asdict()), f"{place}."),
            }
        else:
            stored = {"object": kind, "parameters": self.named(parts_of(value)[0], f"{place}.")}
        self._met[id(value)] = (len(self._met), value)
        return stored


class Reader:
    """Puts values together from a header, and arrays that `fetch` gives; ValueError for what no writer writes."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
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
            case [("array", int(member)), ("dtype", dtype), ("shape", shape)]:
                return self._array(member, checked_dtype(dtype), checked_shape(shape))
            case [("cells", list(cells)), ("shape", shape)]:
                return _cells(self.value(cells, depth), checked_shape(shape))
            case [("dtype", dtype), ("scalar", value)]:
                return _scalar(self.value(value, depth + 1), checked_dtype(dtype))
            case [("table", list(features)), ("values", values)]:
                return _table(self.value(features, depth), self.value(values, depth + 1))
            case [("generator", state)]:
                return restored_generator(self.value(state, depth + 1), legacy=False)
            case [("random_state", state)]:
                return restored_generator(self.value(state, depth + 1), legacy=True)
            case [("fields", fields), ("record", name)]:
                self._met.append(_record(name, self.named(fields, depth)))
                return self._met[-1]
            case [("object", name), ("parameters", parameters)]:
                self._met.append(with_parameters(name, SETTINGS, self.named(parameters, depth)))
                return self._met[-1]
            case [("again", int(place))] if place is not True and 0 <= place < len(self._met):
                return self._met[place]
        raise ValueError(f"no value of a model file: {str(stored)[:80]}")

    def _array(self, member: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
        if type(member) is not int or member in self.used:
            raise ValueError(f"array {str(member)[:40]}: not a member, or used twice")
        array = self._fetch(member, dtype, shape)
        self.used.add(member)
        return array


def _cells(cells: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    if math.prod(shape) != len(cells) or any(isinstance(cell, np.ndarray | list) for cell in cells):
        raise ValueError(f"{len(cells)} cells for an array of shape {shape}")
    array = np.empty(len(cells), object)
    array[:] = cells
    return array.reshape(shape)


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind not in "biufU" or type(value) not in (bool, int, float, str) or dtype.itemsize > 1 << 20:
        raise ValueError(f"no number or text of NumPy: {str(value)[:80]} of dtype {dtype}")
    return np.array(value, dtype)[()]


def _table(features: list[Any], values: Any) -> Table:
    if not all(isinstance(feature, Feature) for feature in features) or not isinstance(values, np.ndarray):
        raise ValueError("no table")
    return Table(values, features)


def _record(name: Any, fields: dict[str, Any]) -> Any:
    kind: Any = class_named(name, RECORDS)
    fields = in_code(name, fields)
    if fields.keys() != set(kind._fields):
        raise ValueError(f"a {name} has {', '.join(kind._fields)}; the file has {str(list(fields))[:80]}")
    return checked_feature(**fields) if kind is Feature else kind(**fields)


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
    kind, seed = stored["kind"], stored["seed"]
    if kind not in BIT_GENERATORS:
        raise ValueError(f"no generator of NumPy: {str(kind)[:40]!r}")
    if seed is None:
        if kind != "MT19937":
            raise ValueError(f"a {kind} without its seed")
        bits = np.random.RandomState(0)._bit_generator  # as RandomState seeds its own: there is no SeedSequence
    else:
        if type(seed["pool_size"]) is not int or not 4 <= seed["pool_size"] <= 64:
            raise ValueError(f"pool_size {seed['pool_size']!r} of a SeedSequence")
        sequence = np.random.SeedSequence(
            seed["entropy"],
            spawn_key=tuple(seed["spawn_key"]),
            pool_size=seed["pool_size"],
            n_children_spawned=seed["n_children_spawned"],
        )
        bits = getattr(np.random, kind)(sequence)
    state = stored["state"]
    _check_like(_plain(bits.state), {key: state[key] for key in bits.state})
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
    if isinstance(state, np.integer | np.floating):
        return state.item()
    return state


def _check_like(known: Any, state: Any, name: str = "") -> None:
    """ValueError unless a state is built as that of a new generator is: same names, types, dtypes and shapes."""
    if type(state) is not type(known):
        raise ValueError(f"{name or 'state'} of a generator: {type(state).__name__}")
    if isinstance(known, dict):
        if state.keys() != known.keys():
            raise ValueError(f"the state of a generator has {', '.join(known)}")
        for key in known:
            _check_like(known[key], state[key], key)
    elif isinstance(known, np.ndarray):
        if state.dtype != known.dtype or state.shape != known.shape:
            raise ValueError(f"{name} of a generator: dtype {state.dtype}, shape {state.shape}")
    elif isinstance(known, str):
        if state != known:
            raise ValueError(f"{name} of a generator: {state[:40]!r}")
    elif state < 0 or (name in PLACES and state > PLACES[name]):
        raise ValueError(f"{name}={state} of a generator")
