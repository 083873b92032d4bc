"""From indicator matrices (arrays, frames, scipy sparse matrices) to the label sets that kernels take, checked once.

A vector of labels stands for label sets of one label each.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_vector(Y: Any) -> bool:
    """Whether Y has one label for each row; a column does not, but is an indicator matrix of one label."""
    return not hasattr(Y, "toarray") and np.asarray(Y).ndim == 1


def indicator(Y: Any, n: int, names: np.ndarray | None) -> np.ndarray:
    """Y as a Boolean [n, k] array; ValueError unless it is one of 0 and 1, as wide as the labels known (if any)."""
    found = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    if found.ndim != 2 or len(found) != n:
        raise ValueError(f"Y has shape {found.shape}: a row of 0 and 1 for each of the {n} rows of X is needed")
    if names is not None and found.shape[1] != names.size:
        raise ValueError(f"Y has {found.shape[1]} labels: this model was started with {names.size}")
    if found.shape[1] < 2:
        raise ValueError(f"Y has {found.shape[1]} labels: there are at least 2 to rank")
    relevant = found == 1
    wrong = np.argwhere(~(relevant | (found == 0)))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(f"Y has {found[row, column]!s} in row {row}, column {column}: 1 is relevant, 0 is not")
    return relevant.astype(bool)


def label_names(Y: Any, labels: Any, k: int) -> np.ndarray:
    """Names of the k labels: those given, those of a frame's columns, or their numbers."""
    if labels is None:
        labels = list(Y.columns) if hasattr(Y, "columns") else np.arange(k)
    names = np.asarray(labels)
    if names.shape != (k,) or len(set(names.tolist())) != k:
        raise ValueError(f"labels={labels!r}: a name of its own for each of the {k} labels of Y")
    return names


def ordered(relevant: np.ndarray) -> np.ndarray:
    """[n, k]: of every row, the relevant labels, then the others, each in increasing order."""
    return np.argsort(~relevant, axis=1, kind="stable").astype(np.int32)
