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
from edgewise.persist.classes import RECORDS, SETTINGS, class_named, name_of
from edgewise.persist.generators import generator_state, restored_generator
from edgewise.persist.npy import can_hold, checked_dtype, checked_shape

DEEPEST = 40
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
Fetch = Callable[[int, np.dtype[Any], tuple[int, ...]], np.ndarray]


def parameter_names(kind: type[Any]) -> list[str]:
    """The names of a constructor's arguments."""
    return list(kind._get_param_names() if hasattr(kind, "_get_param_names") else kind._defaults())


def parts_of(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of an object, and the rest of what it holds."""
    names = parameter_names(type(value))
    held = vars(value)
    return {name: held[name] for name in names}, {name: held[name] for name in held if name not in names}


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
        if not can_hold(array.dtype):
            raise ValueError(f"{place}: an array of dtype {array.dtype} cannot be saved")
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1, "dtype": array.dtype.str, "shape": shape}

    def _named_class(self, value: Any, place: str) -> dict[str, Any]:
        if id(value) in self._met:
            return {"again": self._met[id(value)][0]}
        record, kind = name_of(value, RECORDS), name_of(value, SETTINGS)
        if record is None and kind is None:
            raise ValueError(
                f"{place}={str(value)[:80]}: a {type(value).__module__}.{type(value).__qualname__} cannot be saved; a "
                "model file holds settings and learners of edgewise itself, numbers, text and arrays, and never code"
            )
        if record is not None:
            stored: dict[str, Any] = {"record": record, "fields": self.named(value._asdict(), f"{place}.")}
        else:
            stored = {"object": kind, "parameters": self.named(parts_of(value)[0], f"{place}.")}
        self._met[id(value)] = (len(self._met), value)
        return stored


class Reader:
    """Puts values together from a header, and arrays that `fetch` gives; ValueError for what no writer writes."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._used: set[int] = set()
        self._met: list[Any] = []

    @property
    def n_used(self) -> int:
        """How many arrays were asked for."""
        return len(self._used)

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
        for name, read in self._forms.items():
            if name in stored:
                return read(self, stored, depth)
        raise ValueError(f"no value: {str(stored)[:80]}")

    def _float(self, stored: dict[str, Any], depth: int) -> float:
        return SPECIAL[_only(stored, "float")["float"]]

    def _tuple(self, stored: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.value(_listed(_only(stored, "tuple")["tuple"]), depth))

    def _dict(self, stored: dict[str, Any], depth: int) -> dict[str, Any]:
        return self.named(_only(stored, "dict")["dict"], depth)

    def _array(self, stored: dict[str, Any], depth: int) -> np.ndarray:
        _only(stored, "array", "dtype", "shape")
        dtype, shape = checked_dtype(stored["dtype"]), checked_shape(stored["shape"])
        member = stored["array"]
        if type(member) is not int or member in self._used:
            raise ValueError(f"array {str(member)[:40]}: not a member, or used twice")
        array = self._fetch(member, dtype, shape)
        self._used.add(member)
        return array

    def _cells(self, stored: dict[str, Any], depth: int) -> np.ndarray:
        cells = self.value(_listed(_only(stored, "cells", "shape")["cells"]), depth)
        shape = checked_shape(stored["shape"])
        if math.prod(shape) != len(cells) or any(isinstance(cell, np.ndarray | list) for cell in cells):
            raise ValueError(f"{len(cells)} cells for an array of shape {shape}")
        array = np.empty(len(cells), object)
        array[:] = cells
        return array.reshape(shape)

    def _scalar(self, stored: dict[str, Any], depth: int) -> Any:
        dtype = checked_dtype(_only(stored, "scalar", "dtype")["dtype"])
        value = self.value(stored["scalar"], depth + 1)
        if dtype.kind not in "biufU" or type(value) not in (bool, int, float, str) or dtype.itemsize > 1 << 20:
            raise ValueError(f"no number or text of NumPy: {str(stored)[:80]}")
        return np.array(value, dtype)[()]

    def _table(self, stored: dict[str, Any], depth: int) -> Table:
        _only(stored, "table", "values")
        features = [self.value(feature, depth + 1) for feature in _listed(stored["table"])]
        values = self.value(stored["values"], depth + 1)
        if not all(isinstance(feature, Feature) for feature in features) or not isinstance(values, np.ndarray):
            raise ValueError("no table")
        return Table(values, features)

    def _generator(self, stored: dict[str, Any], depth: int) -> Any:
        return restored_generator(self.value(_only(stored, "generator")["generator"], depth + 1), legacy=False)

    def _random_state(self, stored: dict[str, Any], depth: int) -> Any:
        return restored_generator(self.value(_only(stored, "random_state")["random_state"], depth + 1), legacy=True)

    def _record(self, stored: dict[str, Any], depth: int) -> Any:
        kind: Any = class_named(_only(stored, "record", "fields")["record"], RECORDS)
        fields = self.named(stored["fields"], depth)
        if fields.keys() != set(kind._fields):
            raise ValueError(f"a {kind.__name__} has {', '.join(kind._fields)}; the file has {str(list(fields))[:80]}")
        record = checked_feature(**fields) if kind is Feature else kind(**fields)
        self._met.append(record)
        return record

    def _object(self, stored: dict[str, Any], depth: int) -> Any:
        kind = class_named(_only(stored, "object", "parameters")["object"], SETTINGS)
        made = with_parameters(kind, self.named(stored["parameters"], depth))
        self._met.append(made)
        return made

    def _again(self, stored: dict[str, Any], depth: int) -> Any:
        place = _only(stored, "again")["again"]
        if type(place) is not int or not 0 <= place < len(self._met):
            raise ValueError(f"{str(place)[:40]}: nothing was met before at this place")
        return self._met[place]

    _forms: dict[str, Callable[[Reader, dict[str, Any], int], Any]] = {  # noqa: RUF012
        "float": _float,
        "tuple": _tuple,
        "dict": _dict,
        "array": _array,
        "cells": _cells,
        "scalar": _scalar,
        "table": _table,
        "generator": _generator,
        "random_state": _random_state,
        "record": _record,
        "object": _object,
        "again": _again,
    }


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


def with_parameters(kind: type[Any], parameters: dict[str, Any]) -> Any:
    """An object with these parameters. One that came to the class after the file was written has its default."""
    known = parameter_names(kind)
    for name in parameters:
        if name not in known:
            raise ValueError(f"{kind.__name__} has no parameter {name[:40]!r}")
    return kind(**parameters)


def checked_names(kind: type[Any], state: dict[str, Any]) -> dict[str, Any]:
    """A state whose names are those of attributes, and hide nothing that the class defines but plain defaults."""
    for name, value in state.items():
        default = getattr(kind, name, None)
        hides = hasattr(kind, name) and (
            type(default) not in (bool, int, float, str) or type(value) is not type(default)
        )
        if hides or not name.isidentifier() or name.startswith("__") or name in parameter_names(kind):
            raise ValueError(f"{name[:40]!r} is no part of the state of a {kind.__name__}")
    return state


def _only(stored: dict[str, Any], *names: str) -> dict[str, Any]:
    if stored.keys() != set(names):
        raise ValueError(f"{', '.join(names)} alone are needed, not {str(list(stored))[:80]}")
    return stored


def _listed(stored: Any) -> list[Any]:
    if not isinstance(stored, list):
        raise ValueError(f"a list is needed, not {str(stored)[:80]}")
    return stored
