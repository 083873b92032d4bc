"""What single attributes of a model may be in a file."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """ValueError unless `value` is a whole number, one that sums of it stay exact with."""
    if type(value) is not int or not least <= value < 1 << 53:
        raise ValueError(f"{name}={str(value)[:40]}: a whole number of at least {least} is needed")
    return value


def true_or_false(name: str, value: Any) -> bool:
    """ValueError unless `value` is a bool."""
    if type(value) is not bool:
        raise ValueError(f"{name}={str(value)[:40]}: true or false is needed")
    return value


def sorted_labels(name: str, value: Any) -> np.ndarray:
    """ValueError unless `value` is an array of at least 2 labels, sorted and distinct."""
    if (
        not isinstance(value, np.ndarray)
        or value.ndim != 1
        or value.size < 2
        or not np.array_equal(np.unique(value), value)
    ):
        raise ValueError(f"{name}: at least 2 labels, sorted and distinct, are needed")
    return value


def is_plain(value: Any) -> bool:
    """Whether a value is a number or text, or is made of them: nothing that a kernel could be given."""
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(is_plain, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OU"
    return value is None or type(value) in (bool, int, float, str)


def take_plain(model: Any, state: dict[str, Any]) -> None:
    """Set what is left of a state, if it is plain."""
    for name, value in state.items():
        if not is_plain(value):
            raise ValueError(f"{name[:40]!r} is no part of the state of a {type(model).__name__}")
        setattr(model, name, value)
