"""A core model as an estimator of river: what all kinds of model share, and the class made from a core's constructor.

`adapter(kind, core)` makes the river class of a core class. Its constructor takes what the core's takes, `random_state`
under river's name `seed`, and what the kind of model adds. The kinds are in `kinds` and `policy`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from edgewise.data.targets import weight_array
from edgewise.learners.hoeffding_tree import HoeffdingTree, RegressionTree
from edgewise.learners.label_markov_chain import LabelMarkovChain
from edgewise.learners.linear import RidgeRegression, SoftmaxRegression
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.models.stream_ensemble import Rows
from edgewise.river.features import Column, Features, plain
from edgewise.river.late import add_categories, add_columns

# Learners whose state can be given features, categories and labels that come late.
GROWING = HoeffdingTree | SoftmaxRegression | LabelMarkovChain | PrecomputedVotes | RegressionTree | RidgeRegression


class Addition(NamedTuple):
    """A parameter that the river class of a core model has and the core does not."""

    default: Any
    doc: str


LATE = "where they are known. Others may still come; see `edgewise.river.late`."
ADDITIONS = {
    "classes": Addition(None, f"list, optional\n    The classes, {LATE}"),
    "labels": Addition(None, f"list, optional\n    The labels, {LATE}"),
    "reward_obj": Addition(
        None, "optional\n    As in river's policies. Rewards must be 1 (or True) for right and 0 for wrong."
    ),
    "burn_in": Addition(0, "int\n    As in river's policies."),
    "features": Addition(
        None,
        "dict, optional\n    Feature name -> `float`, `str` or the list of its categories: the first columns of the "
        "model,\n    in this order.",
    ),
}


class Adapter:
    """A core model behind river's interface: `model` is the core model itself."""

    core: ClassVar[Any]
    model: Any
    features: Mapping[Hashable, Any] | None
    seed: int | None
    # names among `ADDITIONS`
    additions: ClassVar[tuple[str, ...]] = ("features",)

    def _open(self, params: dict[str, Any]) -> None:
        """Make the core model, which has learned nothing yet."""
        vars(self).update(params)
        settings = {name: value for name, value in params.items() if name not in self.additions and name != "seed"}
        self.model = self.core(random_state=self.seed, **settings)
        self.model._check()
        self._can_grow = all(isinstance(learner, GROWING) for learner in self.model._members())
        self._features = Features(self.features)
        self._rng: np.random.Generator | None = None

    @property
    def _started(self) -> bool:
        return hasattr(self.model, "_columns")

    def _admit(self, news: Iterable[tuple[Hashable, Any]]) -> None:
        """Give places to features and categories that are new."""
        self._features.admit(news)
        if not self._started:
            return
        columns, known = self._features.columns(), self.model._columns
        if len(columns.names) > len(known.names):
            if self._rng is None:
                # the core has the first two children of the seed
                self._rng = np.random.default_rng(self.seed).spawn(3)[2]
            add_columns(self.model, columns, self._rng)
        if columns.categories[: len(known.categories)] != known.categories:
            if self._can_grow:
                add_categories(self.model, columns)
            else:
                self.model._add_categories(columns)

    def _check_late(self, what: str, late: Iterable[Any]) -> None:
        """ValueError where learners that are not ours would have to change their shape."""
        if self._started and not self._can_grow:
            for name in late:
                raise ValueError(
                    f"{what} {name!r} came late: only learners of edgewise can grow, declare all of them in the "
                    "constructor"
                )

    def _row(self, x: Mapping[Hashable, Any]) -> Rows:
        """One example to predict."""
        numeric, nominal, _ = self._features.read(x)
        return Rows(self.model._columns, numeric, nominal)

    def _row_to_learn(self, x: Mapping[Hashable, Any]) -> Rows:
        """One example to learn; what is new in it gets its place."""
        numeric, nominal, news = self._features.read(x)
        if news:
            self._check_late("feature", (name for name, _ in news if name not in self._features.place))
            self._admit(news)
            numeric, nominal, _ = self._features.read(x)
        return Rows(self.model._columns if self._started else self._features.columns(), numeric, nominal)

    def _encode(self, columns: list[Column], part: slice) -> Rows:
        """Some rows of a frame."""
        numeric, nominal = self._features.encode(columns, part)
        return Rows(self.model._columns if self._started else self._features.columns(), numeric, nominal)

    def _parts(self, columns: list[Column], n: int, breaks: Iterable[int]) -> Iterator[slice]:
        """Cut n rows of a frame before each of `breaks`, and before each in which something first comes up.

        So a frame is learned as its rows would be; what is new in a part has its place when the part is given.
        """
        news = self._features.news(columns)
        late = (name for some in news.values() for name, _ in some if name not in self._features.place)
        self._check_late("feature", late)
        for start, stop in pairwise([*sorted({0, *news, *breaks}), n]):
            if start in news:
                self._admit(news[start])
            if start < stop:
                yield slice(start, stop)


class Supervised(Adapter):
    """Learns the target of each row, of single examples or of frames."""

    # what is predicted before the first example
    _unknown: Any = None

    def _targets(self, y: Any, n: int | None) -> Any:
        """The targets of n rows, checked; None: of a single example."""
        raise TypeError(f"{type(self).__name__} does not say what it learns")

    def _first_seen(self, targets: Any) -> dict[Any, int]:
        """Labels that have not come up before -> the first row of each."""
        return {}

    def _learn(self, rows: Rows, targets: Any, weights: np.ndarray) -> None:
        """Learn rows, of which the first alone may have a label that is new."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def _predicted(self, rows: Rows) -> Any:
        """Predictions of a model that has started."""
        raise TypeError(f"{type(self).__name__} does not say what it predicts")

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        y : label or float
            Its class or its target.
        w : float
            Weight.
        """
        targets, weights = self._targets([y], None), one_weight(w)
        self._check_late("class", self._first_seen(targets))
        self._learn(self._row_to_learn(x), targets, weights)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of examples: the same, number for number, as one after the other.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.
        y : pandas.Series
            The label or the target of each row.
        w : array, optional
            The weight of each row; 1 by default.
        """
        targets, weights = self._targets(y, len(X)), weight_array(w, len(X))
        columns = self._features.read_many(X)
        first_seen = self._first_seen(targets)
        self._check_late("class", first_seen)
        for part in self._parts(columns, len(X), first_seen.values()):
            self._learn(self._encode(columns, part), targets[part], weights[part])

    def predict_one(self, x: Mapping[Hashable, Any], **kwargs: Any) -> Any:
        """The prediction; before the first example None for a class, `start` for a number.

        Parameters
        ----------
        x : dict
            Feature name -> value.
        **kwargs : any
            Not used; river passes some.

        Returns
        -------
        label or float
            The prediction.
        """
        return plain(self._predicted(self._row(x))[0]) if self._started else self._unknown

    def predict_many(self, X: Any) -> Any:
        """The prediction of every row of a frame, as a series.

        Parameters
        ----------
        X : pandas.DataFrame
            Rows.

        Returns
        -------
        pandas.Series
            Predictions.
        """
        import pandas as pd

        found = self._predicted(self._rows(X)) if self._started else np.full(len(X), self._unknown)
        return pd.Series(found, index=X.index)

    def _rows(self, X: Any) -> Rows:
        """The rows of a frame to predict."""
        return self._encode(self._features.read_many(X), slice(0, len(X)))


def adapter(kind: type[Adapter], core: type) -> type[Adapter]:
    """The river class of a core class."""
    own = inspect.signature(core.__init__)  # type: ignore[misc]
    parameters = [
        p.replace(name="seed", annotation="int | None") if p.name == "random_state" else p
        for p in own.parameters.values()
        if p.name != "n_jobs"  # a row at a time has nothing to share out to threads
    ]
    for name in kind.additions:
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=ADDITIONS[name].default))
    signature = own.replace(parameters=parameters)

    def __init__(self: Adapter, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        self._open({name: value for name, value in bound.arguments.items() if name != "self"})

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # what river clones and shows
    doc = [
        f"`edgewise.{core.__name__}` for river. Parameters are those of `edgewise.{core.__name__}`, with those below.",
        "",
        inspect.cleandoc(kind.__doc__ or ""),
        "",
        "Parameters",
        "----------",
        "seed : int, optional\n    The core's `random_state`.",
        *(f"{name} : {ADDITIONS[name].doc}" for name in kind.additions),
    ]
    members = {"__init__": __init__, "__doc__": "\n".join(doc), "__module__": "edgewise.river", "core": core}
    return type(core.__name__, (kind,), members)


def one_weight(w: float) -> np.ndarray:
    """The weight of one example."""
    if not 0.0 <= w < math.inf:
        raise ValueError(f"w={w!r}: a weight must be finite and not negative")
    return np.array([w], np.float64)
