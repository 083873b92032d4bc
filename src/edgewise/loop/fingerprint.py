"""A key for compiled code that is kept on disk: everything that decides what a user's functions compute."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

# What their functions do is fixed by versions that Numba's own key covers, or does not change.
FIXED_MODULES = ("math", "numpy", "numba", "edgewise")
PLAIN = (bool, int, float, str, bytes, type(None))


class _Unknown(Exception):
    """Something that no key can tell from its like."""


def fingerprint(values: Sequence[Any]) -> str | None:
    """The key of some functions and plain values; None if they name something that cannot be told by its text."""
    digest = hashlib.sha256()
    try:
        _add(digest, tuple(values), set())
    except _Unknown:
        return None
    return digest.hexdigest()[:16]


def _add(digest: Any, value: Any, seen: set[Any]) -> None:
    if isinstance(value, PLAIN):
        digest.update(f"{type(value).__name__} {value!r}\0".encode())
    elif type(value) in (tuple, frozenset):
        digest.update(f"{len(value)} parts\0".encode())
        for part in value if isinstance(value, tuple) else sorted(value, key=repr):
            _add(digest, part, seen)
    elif isinstance(value, CodeType):
        digest.update(value.co_code)
        for part in (
            value.co_argcount,
            value.co_consts,
            value.co_names,
            value.co_varnames,
            value.co_freevars,
            value.co_cellvars,
        ):
            _add(digest, part, seen)
    elif _home(value).partition(".")[0] in FIXED_MODULES:
        digest.update(f"{_home(value)} {getattr(value, '__qualname__', value)}\0".encode())
    elif hasattr(value, "py_func"):
        digest.update(f"{sorted(value.targetoptions.items())}\0".encode())
        _add(digest, value.py_func, seen)
    elif isinstance(value, FunctionType):
        if value not in seen:
            seen.add(value)
            _add_function(digest, value, seen)
    else:
        raise _Unknown


def _add_function(digest: Any, function: FunctionType, seen: set[Any]) -> None:
    # compiled code on disk imports the module that it was written in, so it is of use to that module alone
    digest.update(f"{function.__module__}\0".encode())
    _add(digest, function.__code__, seen)
    _add(digest, function.__defaults__, seen)
    for cell in function.__closure__ or ():
        _add(digest, cell.cell_contents, seen)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            digest.update(f"{name}\0".encode())
            _add(digest, function.__globals__[name], seen)


def _home(value: Any) -> str:
    """The module that a value is, or comes from."""
    return (value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)) or ""


def _names(code: CodeType) -> set[str]:
    """Every name that code and the functions inside it look up."""
    return set(code.co_names).union(*(_names(part) for part in code.co_consts if isinstance(part, CodeType)))
