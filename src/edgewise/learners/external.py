"""Learners of other libraries as users name them: river's, and estimators with scikit-learn's `partial_fit`.

The object that a user gives is never taught itself: see `external_copies` for what is. Neither library is imported
before a user brings an object of it: objects are known by what they can do.
"""

from __future__ import annotations

import inspect
from typing import Any, Protocol, runtime_checkable

import numpy as np

from edgewise.learners.external_copies import ExternalCopy, RiverCopy, ScikitCopy, last_step

CLASSIFIER, REGRESSOR = "classifier", "regressor"


@runtime_checkable
class RiverLearner(Protocol):
    """A classifier or regressor of river, or a pipeline that ends in one."""

    def learn_one(self, *args: Any, **named: Any) -> Any: ...

    def predict_one(self, *args: Any, **named: Any) -> Any: ...


@runtime_checkable
class ScikitLearner(Protocol):
    """A scikit-learn estimator that learns bit by bit."""

    def partial_fit(self, *args: Any, **named: Any) -> Any: ...

    def predict(self, *args: Any, **named: Any) -> Any: ...


class ExternalLearner:
    """A learner of another library as member of an ensemble: the original of the copies that are taught."""

    def __init__(self, original: RiverLearner | ScikitLearner, wanted: str) -> None:
        self.original, self.wanted = original, wanted

    def __repr__(self) -> str:
        return f"{type(self.original).__name__}(...)"

    def check(self) -> None:
        """ValueError unless this is a classifier, or a regressor, as wanted."""
        task = scikit_task if isinstance(self.original, ScikitLearner) else river_task
        found = task(self.original)
        if found != self.wanted:
            told = "neither classifier nor regressor" if found is None else f"a {found}"
            raise ValueError(f"estimator={self!r} is {told}: this booster needs a {self.wanted}")

    def check_rows(self, numeric: np.ndarray, n_labels: int) -> None:
        """ValueError if the learner is known not to take missing numbers, or so many labels."""
        if isinstance(self.original, ScikitLearner):
            missing = np.flatnonzero(np.isnan(numeric).any(axis=1))
            if missing.size and not takes_missing(self.original):
                raise ValueError(f"X has a missing value in row {missing[0]}: estimator={self!r} takes none")
        elif self.wanted == CLASSIFIER and n_labels > 2 and not getattr(self.original, "_multiclass", True):
            raise ValueError(
                f"estimator={self!r} tells two classes apart: there are {n_labels}; river.multiclass has wrappers "
                "for more"
            )

    def copied(self, seed: int) -> ExternalCopy:
        return (ScikitCopy if isinstance(self.original, ScikitLearner) else RiverCopy)(self.original, seed)


def as_member(learner: Any, wanted: str) -> Any:
    """A learner of another library as member of an ensemble; anything else as it is."""
    if isinstance(learner, type):
        return learner
    of_river = hasattr(learner, "predict_proba_one") or is_of(learner, "river")
    if isinstance(learner, ScikitLearner) or (isinstance(learner, RiverLearner) and of_river):
        return ExternalLearner(learner, wanted)
    return learner


def is_of(learner: Any, library: str) -> bool:
    """Whether an object's class is of a library, or made from one that is."""
    return any(base.__module__.partition(".")[0] == library for base in type(learner).__mro__)


def river_task(model: Any) -> str | None:
    last = last_step(model)
    if hasattr(last, "predict_proba_one"):
        return CLASSIFIER
    if is_of(last, "river"):
        from river.base import Regressor

        return REGRESSOR if isinstance(last, Regressor) else None
    return REGRESSOR


def scikit_task(model: Any) -> str | None:
    if is_of(model, "sklearn"):
        from sklearn.base import is_classifier, is_regressor

        return CLASSIFIER if is_classifier(model) else REGRESSOR if is_regressor(model) else None
    learns_classes = "classes" in inspect.signature(model.partial_fit).parameters
    return CLASSIFIER if learns_classes or hasattr(model, "predict_proba") else REGRESSOR


def takes_missing(model: Any) -> bool:
    """Whether an estimator takes NaN, as far as it tells."""
    if not is_of(model, "sklearn"):
        return True
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)
