"""Learners of other libraries: river's, and estimators with scikit-learn's `partial_fit`.

The object that a user gives never learns: each learner of an ensemble is a copy of it, which predicts and learns one
row at a time. Neither library is imported before a user brings an object of it: objects are known by their methods.

| what               | river                                       | scikit-learn                                      |
|--------------------|---------------------------------------------|---------------------------------------------------|
| copy               | `clone`, with every `seed` drawn            | `sklearn.base.clone`, every `random_state` drawn  |
| distribution       | `predict_proba_one`, else all on the label  | `predict_proba`, else all on the label            |
| labels             | their places 0, 1, ... in the order of the booster's classes                                    |
| importance         | `learn_one(x, y, w=)`                       | `partial_fit(X, y, sample_weight=)`               |
| ... not taken      | the row is learned Poisson(importance) times, whose mean is the importance                      |
| before learning    | a classifier finds all labels equally likely, a regressor predicts 0                            |
| no probabilities   | (nothing, NaN, all 0): all labels are equally likely                                            |

**Examples as these learners read them**

| library      | numeric column    | nominal column                                  | missing value                  |
|--------------|-------------------|-------------------------------------------------|--------------------------------|
| river        | name -> float     | name -> category, text                          | the name is left out           |
| scikit-learn | a column of float | a column of 0 and 1 for each category, in order | NaN; 0 in all of its columns   |

River learners meet categories as they come up. The number of inputs of a scikit-learn estimator cannot change, so
categories that come up after the first call have no column: such a cell is read as missing.
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

CLASSIFIER, REGRESSOR = "classifier", "regressor"
LARGEST_SEED = 2**31 - 1


class RowReader(NamedTuple):
    """What the columns of a model mean: `names` and `nominal` for each, `categories` and `widths` for nominal ones."""

    names: tuple[str, ...]
    nominal: np.ndarray
    categories: tuple[tuple[str, ...], ...]
    widths: tuple[int, ...]  # categories of the first call

    @classmethod
    def of(cls, names: tuple[str, ...], nominal: np.ndarray, categories: tuple[tuple[str, ...], ...]) -> Self:
        return cls(names, nominal, categories, tuple(len(values) for values in categories))

    def read(self, numeric: np.ndarray, codes: np.ndarray) -> ExternalRows:
        """Rows as kernels take them, to be read by others."""
        return ExternalRows(self, numeric, codes)


class ExternalRows:
    """Rows in the form of either library, made when first needed and then shared by all learners."""

    def __init__(self, reader: RowReader, numeric: np.ndarray, codes: np.ndarray) -> None:
        self.reader, self.numeric, self.codes = reader, numeric, codes

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each row, for river."""
        values = iter(self.reader.categories)
        columns: list[list[Any]] = []
        numbers, codes = iter(self.numeric.T.tolist()), iter(self.codes.T.tolist())
        for nominal in self.reader.nominal:
            if nominal:
                known = dict(enumerate(next(values)))
                columns.append([known.get(code) for code in next(codes)])
            else:
                columns.append([None if x != x else x for x in next(numbers)])
        return [
            {name: value for name, value in zip(self.reader.names, row, strict=True) if value is not None}
            for row in zip(*columns, strict=True)
        ]

    @cached_property
    def matrix(self) -> np.ndarray:
        """All rows as numbers, for scikit-learn."""
        widths = iter(self.reader.widths)
        numbers, codes = iter(self.numeric.T), iter(self.codes.T)
        return np.column_stack(
            [
                next(codes)[:, None] == np.arange(next(widths)) if nominal else next(numbers)
                for nominal in self.reader.nominal
            ]
        ).astype(np.float64, copy=False)


class ExternalCopy(ABC):
    """One learner: a model, its random numbers, and whether it has learned anything."""

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
    def probabilities(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
        """Write the model's probabilities for row t into p, which is 0."""

    @abstractmethod
    def value(self, rows: ExternalRows, t: int) -> float:
        """The number that the model predicts for row t."""

    @abstractmethod
    def learn_once(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
        """Let the model learn row t once; k is the number of labels, 0 for a regressor."""

    def predict_proba(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
        """Fill p with a classifier's distribution over the labels; an even one where it has none."""
        p[:] = 0.0
        if self.has_learned:
            with self.named():
                self.probabilities(rows, t, p)
        total = p.sum()
        # Some know no probabilities until they have seen every class: scikit-learn's naive Bayes gives NaN until then.
        if 0.0 < total < np.inf and p.min() >= 0.0:
            p /= total
        else:
            p[:] = 1.0 / p.size

    def predicts(self, rows: ExternalRows, t: int) -> float:
        """The number that a regressor predicts; 0 before it has learned anything."""
        if not self.has_learned:
            return 0.0
        with self.named():
            predicted = self.value(rows, t)
            if not np.isfinite(predicted):
                raise ValueError(f"it predicts {predicted}")
        return predicted

    def update(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
        """Learn that row t has label or target y, with importance w."""
        times = 1 if self.takes_importance else self.random.poisson(w)
        for _ in range(times):
            with self.named():
                self.learn_once(rows, t, y, k, w)
            self.has_learned = True

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the model in the errors that it raises."""
        try:
            yield
        except Exception as error:
            raise ValueError(f"learner {type(self.model).__name__}: {error}") from error


class RiverCopy(ExternalCopy):
    """A copy of a river model."""

    def fresh(self, original: Any) -> Any:
        self.takes_importance = "w" in inspect.signature(last_step(original).learn_one).parameters
        if not hasattr(original, "clone"):
            return copy.deepcopy(original)
        return original.clone(river_seeds(original, self.random))

    def probabilities(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
        try:
            predicted = self.model.predict_proba_one(rows.dicts[t])
        except NotImplementedError:
            label = self.model.predict_one(rows.dicts[t])
            predicted = {} if label is None else {label: 1.0}
        for label, chance in predicted.items():
            p[int(label)] = chance

    def value(self, rows: ExternalRows, t: int) -> float:
        return float(self.model.predict_one(rows.dicts[t]))

    def learn_once(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
        if self.takes_importance:
            self.model.learn_one(rows.dicts[t], y, w=w)
        else:
            self.model.learn_one(rows.dicts[t], y)


class ScikitCopy(ExternalCopy):
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

    def probabilities(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
        row = rows.matrix[t : t + 1]
        if hasattr(self.model, "predict_proba"):
            p[np.asarray(self.model.classes_, np.int64)] = self.model.predict_proba(row)[0]
        else:
            p[int(self.model.predict(row)[0])] = 1.0

    def value(self, rows: ExternalRows, t: int) -> float:
        return float(np.ravel(self.model.predict(rows.matrix[t : t + 1]))[0])

    def learn_once(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
        named: dict[str, Any] = {"sample_weight": np.array([w])} if self.takes_importance else {}
        if self.takes_classes:
            named["classes"] = np.arange(k)
        self.model.partial_fit(rows.matrix[t : t + 1], np.array([y]), **named)


class ExternalBank(NamedTuple):
    """The external learners of an ensemble, in order, and how they read rows."""

    copies: tuple[ExternalCopy, ...]
    reader: RowReader

    def with_categories(self, categories: tuple[tuple[str, ...], ...]) -> Self:
        """The bank with more categories of nominal columns."""
        return self._replace(reader=self.reader._replace(categories=categories))

    def predict_proba(self, slot: int, rows: ExternalRows, t: int, predicted: np.ndarray) -> None:
        """Write a learner's distribution for row t where kernels find it."""
        self.copies[slot].predict_proba(rows, t, predicted[slot])

    def update(self, slot: int, rows: ExternalRows, t: int, targets: np.ndarray) -> None:
        """Let a learner learn the labels of row t that kernels gave an importance, in order, and forget these."""
        for label in np.flatnonzero(targets[slot]):
            self.copies[slot].update(rows, t, int(label), targets.shape[1], float(targets[slot, label]))
        targets[slot] = 0.0


def last_step(model: Any) -> Any:
    """The model at the end of river's pipelines."""
    while isinstance(steps := getattr(model, "steps", None), dict) and steps:
        model = list(steps.values())[-1]
    return model


def river_seeds(model: Any, random: np.random.Generator) -> dict[str, Any]:
    """New seeds for a model and those inside of it, in the form that river's `clone` takes."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, dict):
        return {name: river_seeds(step, random) for name, step in steps.items()}
    found: dict[str, Any] = {}
    for name in inspect.signature(type(model)).parameters:
        inner = getattr(model, name, None)
        if name == "seed":
            found[name] = int(random.integers(LARGEST_SEED))
        elif not isinstance(inner, type) and hasattr(inner, "clone") and (seeds := river_seeds(inner, random)):
            found[name] = (type(inner), seeds)
    return found


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
    """A learner of another library as member of an ensemble: the original of the copies that learn."""

    def __init__(self, original: RiverLearner | ScikitLearner, wanted: str) -> None:
        self.original, self.wanted = original, wanted

    def __repr__(self) -> str:
        return f"{type(self.original).__name__}(...)"

    def check(self) -> None:
        """ValueError unless this is a classifier, or a regressor, as wanted."""
        task = scikit_task if isinstance(self.original, ScikitLearner) else river_task
        found = task(self.original)
        if found != self.wanted:
            kind = "neither classifier nor regressor" if found is None else f"a {found}"
            raise ValueError(f"estimator={self!r} is {kind}: this booster needs a {self.wanted}")

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
    """Whether an estimator takes NaN, by its own tags."""
    if not is_of(model, "sklearn"):
        return True
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)
