"""Models as files: `model.save(path)`, `edgewise.load(path)`. docs/how-to/saving.md has the format.

A header tells format, version of the library, class, parameters, features and the shape of the state; arrays are
members of their own. One file per concern: `archive` (the zip, its limits, arrays), `values` (JSON), `declared` (what a
file may name and hold), `forests` (whether nodes form trees), and one for each family of models.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgewise import __version__
from edgewise.data.table import Feature
from edgewise.persist.archive import FORMAT, VERSION, ModelFileError, read_archive, write_archive
from edgewise.persist.declared import FAMILIES, MODELS, name_of
from edgewise.persist.values import Reader, Writer, checked_feature, checked_names, parts_of, with_parameters

__all__ = ["ModelFileError", "load", "save"]

KEYS = ("format", "version", "edgewise", "class", "features", "parameters", "state", "sha256")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, which takes the place of one that may be there.

    Nothing is written unless the whole model can be: ValueError if it holds what is not edgewise's own, as learners of
    other libraries or functions.
    """
    name = name_of(type(model), MODELS)
    if name is None:
        raise ValueError(
            f"a {type(model).__module__}.{type(model).__qualname__} cannot be saved: only models of edgewise itself "
            f"can, and no subclass of them: {', '.join(sorted(MODELS))}"
        )
    family = importlib.import_module(f"edgewise.persist.{FAMILIES[name]}")
    parameters, state = parts_of(model)
    writer, features = Writer(), None
    if hasattr(model, family.STARTED):
        features = [
            {"name": str(name), "categories": None if categories is None else list(map(str, categories))}
            for name, categories in family.features_of(model)
        ]
    stored_parameters = writer.named(parameters)
    if features is not None:
        state = family.stored_state(model, state)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "edgewise": __version__,
        "class": name,
        "features": features,
        "parameters": stored_parameters,
        "state": writer.named(state),
    }
    # What has been put together again is checked as a file's content is, so that a file that is written can be read.
    rebuilt = _built(header | {"sha256": ""}, writer.arrays)
    if features is not None:
        family.check_unchanged(model, rebuilt)
    write_archive(Path(path), header, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a file, which continues bit for bit where the saved one stopped.

    No code in the file is run, and nothing is imported that the file names: its names are looked up in a table of
    edgewise's own classes. `ModelFileError`, a ValueError, for a file that is truncated, altered, oversized, foreign or
    of a newer format.

    Parameters
    ----------
    path : str or path
        Where the file is.

    Returns
    -------
    model
        Of the class that was saved.
    """
    where = Path(path)
    header, members = read_archive(where)

    try:
        return _built(header, members)
    except (ImportError, MemoryError, ModelFileError):
        raise
    except Exception as error:  # whatever the library's own checks say of such parameters, the file is at fault
        told = (str(error).splitlines() or [""])[0][:300]
        reason = told if isinstance(error, ValueError) else f"{type(error).__name__}: {told}"
        raise ModelFileError(f"{where}: altered or damaged, its parts do not fit together: {reason}") from None


def _built(header: dict[str, Any], arrays: Sequence[bytearray | np.ndarray]) -> Any:
    """The model that a header of format 1 tells of; ValueError, or what its own checks raise, if it tells of none."""
    if header.keys() != set(KEYS):
        raise ValueError(f"a header has {', '.join(KEYS)}; this one has {str(list(header))[:200]}")
    reader = Reader(arrays)
    with np.errstate(all="ignore"):
        model = with_parameters(header["class"], MODELS, reader.named(header["parameters"]))
        state = checked_names(type(model), reader.named(header["state"]))
        if len(reader.used) != len(arrays):
            raise ValueError(f"{len(arrays)} arrays, of which {len(reader.used)} are used")
        if header["features"] is not None:
            family = importlib.import_module(f"edgewise.persist.{FAMILIES[header['class']]}")
            family.restore(model, _read_features(header["features"]), state)
        elif state:
            raise ValueError("a model that has seen no features has learned nothing")
    return model


def _read_features(stored: Any) -> tuple[Feature, ...]:
    """The columns that a header tells of."""
    features = []
    for column in stored if isinstance(stored, list) else [None]:
        if not isinstance(column, dict) or column.keys() != {"name", "categories"}:
            raise ValueError(f"no feature: {str(column)[:80]}")
        categories = column["categories"]
        features.append(
            checked_feature(column["name"], tuple(categories) if isinstance(categories, list) else categories)
        )
    return tuple(features)
