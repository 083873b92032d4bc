"""From what users give to what batch boosters learn from, checked once, with scikit-learn's own checks and messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from edgewise.data.table import Feature, Table, as_table, recode

TEXT_OR_NUMBER = (str, Real, type(None))


class Examples(NamedTuple):
    """Training rows of positive weight."""

    table: Table
    labels: np.ndarray  # [n]: the place of the label among `classes`
    weights: np.ndarray  # [n], their sum 1
    classes: np.ndarray
    weighted: bool  # whether weights were given


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Put the estimator back as it was if fitting fails: scikit-learn notes the columns before all is checked."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def read_rows(estimator: BaseEstimator, X: Any, *, reset: bool) -> Table:
    """A table of X: anything that `as_table` takes; `reset` in fit, where the columns are remembered."""
    if isinstance(X, Table) or hasattr(X, "columns") or _has_text(X):
        if not isinstance(X, Table):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        table = as_table(X)
        if isinstance(X, Table):
            # Tables have a shape and nothing else that scikit-learn looks for.
            validate_data(estimator, table.values, reset=reset, skip_check_array=True)
    else:
        table = as_table(
            validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", order="C")
        )
    if min(table.shape) < 1:
        raise ValueError(f"X has {len(table)} rows and {table.shape[1]} features: at least 1 of each is needed")
    infinite = np.argwhere(np.isinf(table.values))
    if infinite.size:
        row, column = infinite[0]
        raise ValueError(
            f"X has an infinite value in row {row}, column {table.feature_names[column]!r}: "
            "numbers must be finite, or NaN where missing"
        )
    return table


def read_examples(estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any) -> Examples:
    """Rows, labels and weights for `fit`; rows of weight 0 are left out."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    table = read_rows(estimator, X, reset=True)
    labels = column_or_1d(y, warn=True)
    if labels.size != len(table):
        raise ValueError(f"y has {labels.size} labels: one for each of the {len(table)} rows of X is needed")
    check_classification_targets(labels)
    weights = _check_sample_weight(sample_weight, table.values[:, :1], dtype=np.float64, ensure_non_negative=True)
    counted = weights > 0.0
    if not counted.any():
        raise ValueError("the sample_weight of every row is zero: there is nothing to learn from")
    if not counted.all():
        table, labels, weights = table[counted], labels[counted], weights[counted]
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y has {classes.size} class ({classes.tolist()!r}): at least 2 classes are needed to tell apart"
        )
    return Examples(table, codes.astype(np.int64), weights / weights.sum(), classes, sample_weight is not None)


def in_columns(table: Table, features: tuple[Feature, ...]) -> Table:
    """The table in the codes of known columns; an unknown category counts as missing."""
    names = tuple(feature.name for feature in features)
    if table.feature_names != names and sorted(table.feature_names) == sorted(names):
        raise ValueError(f"X has its columns in another order: this model was fitted with {', '.join(names)}")
    # A column that is missing throughout fits either kind.
    absent = np.isnan(table.values).all(axis=0)
    kinds = [known if gone else given for known, given, gone in zip(features, table.features, absent, strict=True)]
    named = [Feature(known.name, given.categories) for known, given in zip(features, kinds, strict=True)]
    return recode(Table(table.values, named), features)


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """ValueError unless `value` is a whole number from `least` to `most`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        reach = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r}: a whole number {reach} is needed")


def _has_text(X: Any) -> bool:
    """Whether X is an array or list with text among its cells, and nothing but text, numbers and None."""
    if hasattr(X, "toarray") or (isinstance(X, np.ndarray) and X.dtype.kind not in "OU"):
        return False
    try:
        cells = np.asarray(X, dtype=object)
    except ValueError:
        return False
    kinds = set(map(type, cells.ravel())) if cells.ndim == 2 else set()
    return any(issubclass(kind, str) for kind in kinds) and all(issubclass(kind, TEXT_OR_NUMBER) for kind in kinds)
