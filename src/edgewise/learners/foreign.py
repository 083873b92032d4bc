"""Learners of other libraries as weak learners: river's, and estimators with scikit-learn's `partial_fit`.

Every learner of an ensemble is a copy of its own (`ForeignCopy`), made of the object that the user names, which is
never taught itself. A copy answers and learns one row at a time, in Python. Neither library is imported before a user
brings an object of it: objects are known by what they can do.

| what               | river                                       | scikit-learn                                      |
|--------------------|---------------------------------------------|---------------------------------------------------|
| copy               | `clone`, with every `seed` drawn            | `sklearn.base.clone`, every `random_state` drawn  |
| distribution       | `predict_proba_one`, else all on the label  | `predict_proba`, else all on the label            |
| labels             | their places 0, 1, ... in the order of the booster's classes                                    |
| importance         | `learn_one(x, y, w=)`                       | `partial_fit(X, y, sample_weight=)`               |
| ... not taken      | the row is learned Poisson(importance) times, whose mean is the importance                      |
| before any lesson  | a classifier finds all labels equally likely, a regressor says 0                                |
| no probabilities   | (nothing, NaN, all 0): all labels are equally likely                                            |
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from edgewise.learners.foreign_rows import ForeignRows, RowReader

LARGEST_SEED = 2**31 - 1
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


class Foreign:
    """A learner of another library as a user names it: the original of the copies that an ensemble teaches."""

    def __init__(self, original: RiverLearner | ScikitLearner, wanted: str) -> None:
        self.original, self.wanted = original, wanted

    @property
    def name(self) -> str:
        return type(self.original).__name__

    def check(self) -> None:
        """ValueError unless this is a classifier, or a regressor, as wanted."""
        if isinstance(self.original, ScikitLearner):
            found = _scikit_task(self.original)
        else:
            found = _river_task(self.original)
        if found != self.wanted:
            told = "neither classifier nor regressor" if found is None else f"a {found}"
            raise ValueError(f"estimator={self.name}(...) is {told}: this booster needs a {self.wanted}")

    def check_rows(self, numeric: np.ndarray, n_labels: int) -> None:
        """ValueError if the learner is known not to take missing numbers, or so many labels."""
        if isinstance(self.original, ScikitLearner):
            missing = np.argwhere(np.isnan(numeric)) if not _takes_missing(self.original) else ()
            if len(missing):
                raise ValueError(f"X has a missing value in row {missing[0][0]}: {self.name} takes none")
        elif self.wanted == CLASSIFIER and n_labels > 2 and not getattr(self.original, "_multiclass", True):
            raise ValueError(
                f"estimator={self.name}(...) tells two classes apart: there are {n_labels}; river.multiclass has "
                "wrappers for more"
            )

    def copied(self, seed: int) -> ForeignCopy:
        return (ScikitCopy if isinstance(self.original, ScikitLearner) else RiverCopy)(self.original, seed)


def as_member(learner: Any, wanted: str) -> Any:
    """A learner of another library as member of an ensemble; anything else as it is."""
    if isinstance(learner, type):
        return learner
    river = hasattr(learner, "predict_proba_one") or _is_of(learner, "river")
    if isinstance(learner, ScikitLearner) or (isinstance(learner, RiverLearner) and river):
        return Foreign(learner, wanted)
    return learner


class ForeignCopy(ABC):
    """One learner: a model, the random numbers it is taught with, and whether it has learned anything."""

    takes_importance: bool

    def __init__(self, original: Any, seed: int) -> None:
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.model = self.fresh(original)
        self.has_learned = False

    @abstractmethod
    def fresh(self, original: Any) -> Any:
        """A model that has learned nothing, with seeds of its own."""

    @abstractmethod
    def probabilities(self, rows: ForeignRows, t: int, p: np.ndarray) -> None:
        """Write what the model says of row t into p, which is 0."""

    @abstractmethod
    def value(self, rows: ForeignRows, t: int) -> float:
        """The number that the model predicts for row t."""

    @abstractmethod
    def teach(self, rows: ForeignRows, t: int, y: Any, k: int, w: float) -> None:
        """Let the model learn row t once; k is the number of labels, 0 for a regressor."""

    def says(self, rows: ForeignRows, t: int, p: np.ndarray) -> None:
        """Fill p with a classifier's distribution over the labels; an even one where it has none."""
        p[:] = 0.0
        if self.has_learned:
            with self.named():
                self.probabilities(rows, t, p)
        total = p.sum()
        # Some know no probabilities until they have seen every class: scikit-learn's naive Bayes says NaN until then.
        if 0.0 < total < np.inf and p.min() >= 0.0:
            p /= total
        else:
            p[:] = 1.0 / p.size

    def predicts(self, rows: ForeignRows, t: int) -> float:
        """What a regressor says."""
        if not self.has_learned:
            return 0.0
        with self.named():
            said = self.value(rows, t)
            if not np.isfinite(said):
                raise ValueError(f"it predicts {said}")
        return said

    def learns(self, rows: ForeignRows, t: int, y: Any, k: int, w: float) -> None:
        """Learn that y is right of row t, with importance w."""
        times = 1 if self.takes_importance else self.random.poisson(w)
        for _ in range(times):
            with self.named():
                self.teach(rows, t, y, k, w)
            self.has_learned = True

    @contextmanager
    def named(self) -> Iterator[None]:
        """Pass an error of the model on, with its name."""
        try:
            yield
        except Exception as error:
            raise ValueError(f"learner {type(self.model).__name__}: {error}") from error


class RiverCopy(ForeignCopy):
    """A copy of a river model."""

    def fresh(self, original: Any) -> Any:
        self.takes_importance = "w" in inspect.signature(_last_step(original).learn_one).parameters
        if not hasattr(original, "clone"):
            return copy.deepcopy(original)
        return original.clone(_river_seeds(original, self.random))

    def probabilities(self, rows: ForeignRows, t: int, p: np.ndarray) -> None:
        try:
            said = self.model.predict_proba_one(rows.dicts[t])
        except NotImplementedError:
            label = self.model.predict_one(rows.dicts[t])
            said = {} if label is None else {label: 1.0}
        for label, chance in said.items():
            p[int(label)] = chance

    def value(self, rows: ForeignRows, t: int) -> float:
        return float(self.model.predict_one(rows.dicts[t]))

    def teach(self, rows: ForeignRows, t: int, y: Any, k: int, w: float) -> None:
        if self.takes_importance:
            self.model.learn_one(rows.dicts[t], y, w=w)
        else:
            self.model.learn_one(rows.dicts[t], y)


class ScikitCopy(ForeignCopy):
    """A copy of an estimator with `partial_fit`."""

    def fresh(self, original: Any) -> Any:
        accepted = inspect.signature(original.partial_fit).parameters
        self.takes_importance = "sample_weight" in accepted
        self.takes_classes = "classes" in accepted
        if not hasattr(original, "get_params"):
            return copy.deepcopy(original)
        from sklearn.base import clone

        model = clone(original)
        seeds = [name for name in sorted(model.get_params()) if name.rpartition("__")[2] == "random_state"]
        return model.set_params(**{name: int(self.random.integers(LARGEST_SEED)) for name in seeds})

    def probabilities(self, rows: ForeignRows, t: int, p: np.ndarray) -> None:
        row = rows.matrix[t : t + 1]
        if hasattr(self.model, "predict_proba"):
            p[np.asarray(self.model.classes_, np.int64)] = self.model.predict_proba(row)[0]
        else:
            p[int(self.model.predict(row)[0])] = 1.0

    def value(self, rows: ForeignRows, t: int) -> float:
        return float(np.ravel(self.model.predict(rows.matrix[t : t + 1]))[0])

    def teach(self, rows: ForeignRows, t: int, y: Any, k: int, w: float) -> None:
        named: dict[str, Any] = {"sample_weight": np.array([w])} if self.takes_importance else {}
        if self.takes_classes:
            named["classes"] = np.arange(k)
        self.model.partial_fit(rows.matrix[t : t + 1], np.array([y]), **named)


class ForeignBank(NamedTuple):
    """The foreign learners of an ensemble, in order, and how they read rows."""

    copies: tuple[ForeignCopy, ...]
    reader: RowReader

    def with_categories(self, categories: tuple[tuple[str, ...], ...]) -> Self:
        """The bank with more categories of nominal columns."""
        return self._replace(reader=self.reader._replace(categories=categories))

    def speaks(self, slot: int, rows: ForeignRows, t: int, said: np.ndarray) -> None:
        """Write down what a learner says of row t, where kernels find it."""
        self.copies[slot].says(rows, t, said[slot])

    def learns(self, slot: int, rows: ForeignRows, t: int, taught: np.ndarray) -> None:
        """Let a learner learn the labels of row t that kernels gave an importance, in order, and forget these."""
        for label in np.flatnonzero(taught[slot]):
            self.copies[slot].learns(rows, t, int(label), taught.shape[1], float(taught[slot, label]))
        taught[slot] = 0.0


def make_foreign_bank(members: Sequence[Any], each: int, reader: RowReader, random: np.random.Generator) -> ForeignBank:
    """Fresh copies, `each` for every foreign member."""
    foreign = [member for member in members if isinstance(member, Foreign) for _ in range(each)]
    return ForeignBank(tuple(member.copied(int(random.integers(LARGEST_SEED))) for member in foreign), reader)


def _is_of(learner: Any, library: str) -> bool:
    return any(base.__module__.partition(".")[0] == library for base in type(learner).__mro__)


def _last_step(model: Any) -> Any:
    """The model at the end of river's pipelines."""
    while isinstance(steps := getattr(model, "steps", None), dict) and steps:
        model = list(steps.values())[-1]
    return model


def _river_task(model: Any) -> str | None:
    last = _last_step(model)
    if hasattr(last, "predict_proba_one"):
        return CLASSIFIER
    if _is_of(last, "river"):
        from river.base import Regressor

        return REGRESSOR if isinstance(last, Regressor) else None
    return REGRESSOR


def _scikit_task(model: Any) -> str | None:
    if _is_of(model, "sklearn"):
        from sklearn.base import is_classifier, is_regressor

        return CLASSIFIER if is_classifier(model) else REGRESSOR if is_regressor(model) else None
    learns_classes = "classes" in inspect.signature(model.partial_fit).parameters
    return CLASSIFIER if learns_classes or hasattr(model, "predict_proba") else REGRESSOR


def _takes_missing(model: Any) -> bool:
    """Whether an estimator takes NaN, as far as it tells."""
    if not _is_of(model, "sklearn"):
        return True
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)


def _river_seeds(model: Any, random: np.random.Generator) -> dict[str, Any]:
    """New seeds for a model and those inside of it, in the form that river's `clone` takes."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, dict):
        return {name: _river_seeds(step, random) for name, step in steps.items()}
    found: dict[str, Any] = {}
    for name in inspect.signature(type(model)).parameters:
        inner = getattr(model, name, None)
        if name == "seed":
            found[name] = int(random.integers(LARGEST_SEED))
        elif not isinstance(inner, type) and hasattr(inner, "clone") and (seeds := _river_seeds(inner, random)):
            found[name] = (type(inner), seeds)
    return found
