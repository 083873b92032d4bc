"""Names of columns, remembered from a model's first rows and checked ever after, worded as scikit-learn words it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from edgewise.data.table import Table, array_name, is_frame

MOST_NAMES = 5


def has_names(X: Any) -> bool:
    """Whether the columns of X have names: a frame's if all are text, a table's unless they are those of arrays."""
    if isinstance(X, Table):
        return any(feature.name != array_name(column) for column, feature in enumerate(X.features))
    if not is_frame(X):
        return False
    import narwhals as nw

    return all(isinstance(name, str) for name in nw.from_native(X, eager_only=True).columns)


def check_width(table: Table) -> None:
    """ValueError if a table that a model is to be started with has no columns."""
    if table.shape[1] == 0:
        raise ValueError(f"X has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")


def check_names(
    model: str, known: Sequence[str], known_named: bool, given: Sequence[str], given_named: bool | None
) -> None:
    """ValueError unless the columns given are those that `model` was started with; a warning if one side has no names.

    Names are compared where both sides have them; the number of columns always. None: no names are asked for.
    """
    if known_named and given_named and tuple(known) != tuple(given):
        raise ValueError(_difference(known, given))
    if len(given) != len(known):
        names = f": {', '.join(known[:MOST_NAMES])}{', ...' if len(known) > MOST_NAMES else ''}" if known_named else ""
        raise ValueError(f"X has {len(given)} features, but {model} is expecting {len(known)} features as input{names}")
    if known_named and given_named is False:
        _warn(f"X does not have valid feature names, but {model} was fitted with feature names")
    elif given_named and not known_named:
        _warn(f"X has feature names, but {model} was fitted without feature names")


def _difference(known: Sequence[str], given: Sequence[str]) -> str:
    lines = ["The feature names should match those that were passed during fit."]
    for heading, names in (
        ("Feature names unseen at fit time:", set(given).difference(known)),
        ("Feature names seen at fit time, yet now missing:", set(known).difference(given)),
    ):
        if names:
            lines += [heading, *(f"- {name}" for name in sorted(names)[:MOST_NAMES])]
            lines += ["- ..."] if len(names) > MOST_NAMES else []
    if len(lines) == 1:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=7)  # the caller of predict or partial_fit
