"""Copies of other libraries' learners, one for each learner of an ensemble: asked and taught one row at a time.

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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np

from edgewise.learners.external_rows import ExternalRows, RowReader

LARGEST_SEED = 2**31 - 1


class ExternalCopy(ABC):
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
    def probabilities(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
        """Write what the model says of row t into p, which is 0."""

    @abstractmethod
    def value(self, rows: ExternalRows, t: int) -> float:
        """The number that the model predicts for row t."""

    @abstractmethod
    def teach(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
        """Let the model learn row t once; k is the number of labels, 0 for a regressor."""

    def predict_proba(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
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

    def predicts(self, rows: ExternalRows, t: int) -> float:
        """What a regressor says."""
        if not self.has_learned:
            return 0.0
        with self.named():
            said = self.value(rows, t)
            if not np.isfinite(said):
                raise ValueError(f"it predicts {said}")
        return said

    def update(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
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


class RiverCopy(ExternalCopy):
    """A copy of a river model."""

    def fresh(self, original: Any) -> Any:
        self.takes_importance = "w" in inspect.signature(last_step(original).learn_one).parameters
        if not hasattr(original, "clone"):
            return copy.deepcopy(original)
        return original.clone(river_seeds(original, self.random))

    def probabilities(self, rows: ExternalRows, t: int, p: np.ndarray) -> None:
        try:
            said = self.model.predict_proba_one(rows.dicts[t])
        except NotImplementedError:
            label = self.model.predict_one(rows.dicts[t])
            said = {} if label is None else {label: 1.0}
        for label, chance in said.items():
            p[int(label)] = chance

    def value(self, rows: ExternalRows, t: int) -> float:
        return float(self.model.predict_one(rows.dicts[t]))

    def teach(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
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

    def teach(self, rows: ExternalRows, t: int, y: Any, k: int, w: float) -> None:
        named: dict[str, Any] = {"sample_weight": np.array([w])} if self.takes_importance else {}
        if self.takes_classes:
            named["classes"] = np.arange(k)
        self.model.partial_fit(rows.matrix[t : t + 1], np.array([y]), **named)


class ExternalBank(NamedTuple):
    """The foreign learners of an ensemble, in order, and how they read rows."""

    copies: tuple[ExternalCopy, ...]
    reader: RowReader

    def with_categories(self, categories: tuple[tuple[str, ...], ...]) -> Self:
        """The bank with more categories of nominal columns."""
        return self._replace(reader=self.reader._replace(categories=categories))

    def predict_proba(self, slot: int, rows: ExternalRows, t: int, predicted: np.ndarray) -> None:
        """Write down what a learner says of row t, where kernels find it."""
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
