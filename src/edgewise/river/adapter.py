"""What all adapters share: the core's constructor in river's words, and columns that come as the stream goes.

`adapter(kind, core)` makes the river class of a core class. Its constructor takes what the core's takes, `random_state`
under river's name `seed`, and what the kind of model adds. Everything else is the kind's: how labels are coded, how
rows are learned, and what is predicted.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from edgewise.learners.given_votes import GivenVotes
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.label_memory import LabelMemory
from edgewise.learners.linear import SoftmaxRegression
from edgewise.learners.regression_tree import RegressionTree
from edgewise.learners.ridge import RidgeRegression
from edgewise.loop.inputs import Columns
from edgewise.models.stream_ensemble import Rows
from edgewise.river.features import Column, Features
from edgewise.river.late_features import add_categories, add_columns

GROWING = HoeffdingTree | SoftmaxRegression | LabelMemory | GivenVotes | RegressionTree | RidgeRegression


class Adapter:
    """A core model behind river's interface: `model` is the core model itself."""

    core: ClassVar[Any]
    model: Any
    features: Mapping[Hashable, Any] | None
    seed: int | None
    # what a kind of model adds to the constructor: name -> default
    _additions: ClassVar[dict[str, Any]] = {"features": None}

    def _open(self, params: dict[str, Any]) -> None:
        """Make the core model, which has learned nothing yet."""
        for name, value in params.items():
            setattr(self, name, value)
        settings = {name: value for name, value in params.items() if name not in self._additions and name != "seed"}
        self.model = self.core(random_state=self.seed, **settings)
        self.model._check()
        self._can_grow = all(isinstance(learner, GROWING) for learner in self.model._members())
        self._features = Features(self.features)
        self._drawing: np.random.Generator | None = None

    @property
    def _started(self) -> bool:
        return hasattr(self.model, "_columns")

    def _admit(self, news: Iterable[tuple[Hashable, Any]]) -> None:
        """Make room for features and categories that are new."""
        self._features.admit(news)
        if not self._started:
            return
        columns, known = self._features.columns(), self.model._columns
        if len(columns.names) > len(known.names):
            if self._drawing is None:
                # the core has the first two children of the seed
                self._drawing = np.random.default_rng(self.seed).spawn(3)[2]
            add_columns(self.model, columns, self._drawing)
        if columns.categories[: len(known.categories)] != known.categories:
            if self._can_grow:
                add_categories(self.model, columns)
            else:
                self.model._widen(columns)

    def _check_late(self, what: str, names: Iterable[Any]) -> None:
        """ValueError where learners that are not ours would have to change their shape."""
        late = list(names) if self._started and not self._can_grow else []
        if late:
            raise ValueError(
                f"{what} {late[0]!r} came late: only learners of edgewise can grow, declare all of them in the "
                "constructor"
            )

    def _columns(self) -> Columns:
        return self.model._columns if self._started else self._features.columns()

    def _row(self, x: Mapping[Hashable, Any]) -> Rows:
        """An example that is asked about."""
        numeric, nominal, _ = self._features.read(x)
        return Rows(self.model._columns, numeric, nominal)

    def _row_to_learn(self, x: Mapping[Hashable, Any]) -> Rows:
        """An example that is learned; what is new in it gets its place."""
        numeric, nominal, news = self._features.read(x)
        if news:
            self._check_late("feature", (name for name, _ in news if name not in self._features.place))
            self._admit(news)
            numeric, nominal, _ = self._features.read(x)
        return Rows(self._columns(), numeric, nominal)

    def _rows(self, X: Any) -> Rows:
        """Examples that are asked about."""
        return self._encode(self._features.read_many(X), slice(0, len(X)))

    def _encode(self, columns: list[Column], part: slice) -> Rows:
        numeric, nominal = self._features.encode(columns, part)
        return Rows(self._columns(), numeric, nominal)

    def _parts(self, columns: list[Column], n: int, breaks: Iterable[int]) -> Iterator[slice]:
        """Cut n rows of a batch before each of `breaks`, and before each in which something first comes up.

        So a batch is learned as its rows would be; what is new in a part has its place when the part is given.
        """
        news = self._features.news(columns)
        late = (name for some in news.values() for name, _ in some if name not in self._features.place)
        self._check_late("feature", late)
        for start, stop in pairwise([*sorted({0, *news, *breaks}), n]):
            if start in news:
                self._admit(news[start])
            if start < stop:
                yield slice(start, stop)


def adapter(kind: type[Adapter], core: type) -> type[Adapter]:
    """The river class of a core class."""
    own = inspect.signature(core.__init__)  # type: ignore[misc]
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        p.replace(name="seed", annotation="int | None") if p.name == "random_state" else p
        for p in own.parameters.values()
        if p.name != "n_jobs"  # a row at a time has nothing to share out to threads
    ]
    parameters += [inspect.Parameter(name, keyword, default=value) for name, value in kind._additions.items()]
    signature = own.replace(parameters=parameters)

    def __init__(self: Adapter, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        self._open({name: value for name, value in bound.arguments.items() if name != "self"})

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # what river clones and shows
    doc = f"`edgewise.{core.__name__}` for river. Parameters are those of `edgewise.{core.__name__}`, with:"
    return type(
        core.__name__,
        (kind,),
        {"__init__": __init__, "__doc__": f"{doc}\n\n    {kind.__doc__}", "__module__": "edgewise.river", "core": core},
    )


def one_weight(w: float) -> np.ndarray:
    """The weight of one example."""
    if not 0.0 <= w < math.inf:
        raise ValueError(f"w={w!r}: a weight must be finite and not negative")
    return np.array([w], np.float64)


def is_absent(label: Any) -> bool:
    return label is None or label != label
