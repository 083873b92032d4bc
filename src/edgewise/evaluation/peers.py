"""Learners of CapyMOA, river and Vowpal Wabbit in a race: the same rows, predicted, then learned, one after the other.

A peer gets what it needs to be at its best before the clock starts: rows in its own form, nominal features as nominal,
all classes known. Its votes are made probabilities by their shares. A vote that is no number counts as 0, and where all
votes are 0 the probabilities are uniform. The libraries are those of the extra `peers`; CapyMOA also needs Java 17.
"""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np

from edgewise.data.table import Feature, Table, as_table
from edgewise.data.targets import first_classes, label_codes
from edgewise.models.voting_ensemble import shares_of
from edgewise.parameters import Parameterized

WARM_UP_ROWS = 300

# One collector thread, and a young generation so large that collections are rare.
JVM = "-Xmx8g -Xmn1g -Xss10M -XX:+UseSerialGC"
WARM_UP_SECONDS = 5.0  # of CPU: Java compiles while it runs
# Learners of CapyMOA and the argument that sets the size; one without is a single learner.
CAPYMOA_SIZES = {
    "OzaBoost": "boosting_iterations",
    "OnlineSmoothBoost": "boosting_iterations",
    "StreamingGradientBoostedTrees": "boosting_iterations",
    "AdaptiveRandomForestClassifier": "ensemble_size",
    "StreamingRandomPatches": "ensemble_size",
    "LeveragingBagging": "ensemble_size",
    "HoeffdingTree": None,
}
RIVER_FORESTS = {"ARFClassifier": "forest", "SRPClassifier": "ensemble", "LeveragingBaggingClassifier": "ensemble"}
EXPLORERS = {
    "squarecb": "--squarecb",  # Foster and Rakhlin 2020: the more a label is worth by the model, the likelier
    "epsilon": "--epsilon {rate}",  # as (2) of Zhang et al. 2018, but that all labels share the rate
}
# What would end or split a feature in Vowpal Wabbit's text.
RESERVED = str.maketrans({" ": "_", ":": "_", "|": "_", "\t": "_", "\n": "_", "\r": "_"})


class Answers(NamedTuple):
    """What a model predicted for rows before it learned them; not every model gives probabilities."""

    guesses: np.ndarray
    probabilities: np.ndarray | None


class Peer(Parameterized):
    """What the adapters share: checking, the schema, and votes as probabilities. The first rows fix the columns.

    An adapter has `_start`, which makes the library's own model, `_rows`, which brings rows into the library's own
    form, and `_run`, which predicts and learns them and gives the label codes guessed and the votes [n, k]. It has the
    library's own defaults, but for `n_estimators`, the number of its learners, and `random_state`, its seed.
    """

    classes_: np.ndarray
    features_: tuple[Feature, ...]
    _start: Callable[[tuple[Feature, ...], np.ndarray], None]
    _rows: Callable[[Table, np.ndarray], Any]
    _run: Callable[[Any, np.ndarray], tuple[np.ndarray, np.ndarray]]

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the labels predicted."""
        return self.prepare_run(X, y, classes)().guesses

    def prequential_proba(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the probabilities [n, k] predicted."""
        probabilities = self.prepare_run(X, y, classes)().probabilities
        assert probabilities is not None
        return probabilities

    def prepare_run(self, X: Any, y: Any, classes: Any = None) -> Callable[[], Answers]:
        """Bring the rows into the library's own form; what is returned predicts and learns them, once."""
        table, labels = as_table(X), np.asarray(y)
        if not hasattr(self, "classes_"):
            known = first_classes(classes, labels)
            self._start(table.features, known)
            self.classes_, self.features_ = known, table.features
        elif table.features != self.features_:
            raise ValueError(f"{type(self).__name__}: these rows have other columns or categories than the first ones")
        codes = label_codes(labels, self.classes_)
        rows = self._rows(table, codes)

        def run() -> Answers:
            with garbage_collector_off():
                guesses, votes = self._run(rows, codes)
            return Answers(self.classes_[guesses], shares_of(np.where(np.isfinite(votes), votes, 0.0)))

        return run

    def warm_up(self, X: Any, y: Any, classes: Any) -> None:
        """Do, with a model of its own, what is done once and not timed: nothing, but where code is compiled."""


@contextmanager
def garbage_collector_off() -> Iterator[None]:
    """Without Python's garbage collector.

    The bridge to Java runs it on a thread of its own after every collection in Java: that nearly doubles the CPU time
    of CapyMOA and has nothing to do with learning. Objects by the million, as of river, slow it down as well.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class RiverPeer(Peer):
    """A forest of river, one of RIVER_FORESTS. A row is a dict, where categories are text and missing cells absent."""

    def __init__(
        self, learner: str = "ARFClassifier", n_estimators: int = 100, random_state: int | None = None
    ) -> None:
        self.learner = learner
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _start(self, features: tuple[Feature, ...], classes: np.ndarray) -> None:
        import river.ensemble
        import river.forest
        import river.tree

        if self.learner not in RIVER_FORESTS:
            raise ValueError(f"learner={self.learner!r}: one of {', '.join(RIVER_FORESTS)}")
        forest = getattr(getattr(river, RIVER_FORESTS[self.learner]), self.learner)
        trees = [river.tree.HoeffdingTreeClassifier()] if self.learner == "LeveragingBaggingClassifier" else []
        self._model = forest(*trees, n_models=self.n_estimators, seed=self.random_state)

    def _rows(self, table: Table, codes: np.ndarray) -> list[dict[str, Any]]:
        categories = [feature.categories for feature in table.features]
        return [
            {
                f"a{column}": value if names is None else names[int(value)]
                for column, (value, names) in enumerate(zip(values, categories, strict=True))
                if not math.isnan(value)
            }
            for values in table.values.tolist()
        ]

    def _run(self, rows: list[dict[str, Any]], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = self._model
        votes = np.zeros((len(rows), self.classes_.size))
        for row, (x, code) in enumerate(zip(rows, codes.tolist(), strict=True)):
            for label, vote in model.predict_proba_one(x).items():
                votes[row, label] = vote
            model.learn_one(x, code)
        return votes.argmax(axis=1), votes


class CapyMOAPeer(Peer):
    """A classifier of CapyMOA (MOA's, in Java).

    Rows become instances in Java before the clock starts. The loop over them is here, because MOA's own loop keeps
    guesses but no votes; its two calls into Java cost 4 to 8 microseconds a row (measured with MOA's majority class),
    where 100 trees cost 150 and more. `learner` is one of CAPYMOA_SIZES; a single one has no `n_estimators`.
    """

    # Learners that Java has compiled, for numeric features, nominal ones, or both.
    _warm: ClassVar[set[tuple[str, frozenset[bool]]]] = set()

    def __init__(
        self,
        learner: str = "AdaptiveRandomForestClassifier",
        n_estimators: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.learner = learner
        self.n_estimators = n_estimators
        self.random_state = random_state

    def warm_up(self, X: Any, y: Any, classes: Any) -> None:
        """Untimed models go over the rows until Java has compiled what it will: see `WARM_UP_SECONDS`."""
        kind = (self.learner, frozenset(feature.categories is None for feature in as_table(X).features))
        start = time.process_time()
        while kind not in self._warm:
            CapyMOAPeer(**self.get_params(deep=False)).prequential(X, y, classes=classes)
            if time.process_time() - start >= WARM_UP_SECONDS:
                self._warm.add(kind)

    def _start(self, features: tuple[Feature, ...], classes: np.ndarray) -> None:
        if self.learner not in CAPYMOA_SIZES:
            raise ValueError(f"learner={self.learner!r}: one of {', '.join(CAPYMOA_SIZES)}")
        os.environ.setdefault("CAPYMOA_JVM_ARGS", JVM)
        import capymoa.classifier
        from capymoa.stream import Schema

        self._header = _header(features, classes.size)
        settings: dict[str, Any] = {} if self.random_state is None else {"random_seed": int(self.random_state)}
        size = CAPYMOA_SIZES[self.learner]
        if size is not None and self.n_estimators is not None:
            settings[size] = self.n_estimators
        self._model = getattr(capymoa.classifier, self.learner)(schema=Schema(self._header), **settings).moa_learner

    def _rows(self, table: Table, codes: np.ndarray) -> list[Any]:
        from com.yahoo.labs.samoa.instances import DenseInstance
        from jpype import JArray
        from moa.core import InstanceExample

        examples = []
        for values in JArray.of(np.column_stack([table.values, codes]).astype(np.float64)):
            instance = DenseInstance(1.0, values)
            instance.setDataset(self._header)
            examples.append(InstanceExample(instance))
        return examples

    def _run(self, rows: list[Any], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        vote, learn = self._model.getVotesForInstance, self._model.trainOnInstance
        votes = np.zeros((len(rows), self.classes_.size))
        for row, example in enumerate(rows):
            found = np.asarray(vote(example))  # one for each class up to the last one seen
            votes[row, : found.size] = found
            learn(example)
        # As MOA's own maxIndex, which a vote that is no number can not win.
        return np.where(np.isnan(votes), -np.inf, votes).argmax(axis=1), votes


def _header(features: tuple[Feature, ...], n_classes: int) -> Any:
    """MOA's header of a stream: columns and classes, named by number, as not every name here is one in MOA."""
    from com.yahoo.labs.samoa.instances import Instances, InstancesHeader
    from java.io import StringReader

    def kind(letter: str, size: int) -> str:
        return "{" + ",".join(f"{letter}{number}" for number in range(size)) + "}"

    lines = ["@relation rows"]
    for column, feature in enumerate(features):
        what = "numeric" if feature.categories is None else kind("v", len(feature.categories))
        lines.append(f"@attribute a{column} {what}")
    lines += [f"@attribute class {kind('c', n_classes)}", "@data", ""]
    empty = Instances(StringReader("\n".join(lines)), 0, len(features) + 1)
    empty.setClassIndex(len(features))
    return InstancesHeader(empty)


class RunningScale:
    """Numbers less their mean, over their standard deviation, of all rows up to theirs; at most 5 in size."""

    def __init__(self) -> None:
        self._moments: np.ndarray | None = None  # count, sum and sum of squares by column

    def __call__(self, table: Table) -> Table:
        """The next rows, scaled."""
        numeric = [feature.categories is None for feature in table.features]
        values = table.values[:, numeric]
        if not len(table):
            return table
        if self._moments is None:
            first = np.nan_to_num(values[:1])  # subtracted from all, so that squares do not swamp the differences
            self._first, self._moments = first, np.zeros((3, values.shape[1]))
        here = ~np.isnan(values)
        shifted = np.where(here, values - self._first, 0.0)
        sums = np.cumsum([here, shifted, shifted**2], axis=1) + self._moments[:, None]
        self._moments = sums[:, -1]
        count = np.maximum(sums[0], 1.0)
        mean = sums[1] / count
        deviation = np.sqrt(np.maximum(sums[2] / count - mean**2, 0.0))
        scaled = np.where(deviation > 0.0, (shifted - mean) / np.where(deviation > 0.0, deviation, 1.0), 0.0)
        out = table.values.copy()
        out[:, numeric] = np.where(here, np.clip(scaled, -5.0, 5.0), np.nan)
        return Table(out, table.features)


class VowpalWabbitPeer(Peer):
    """Vowpal Wabbit's online linear model, one against all (`--oaa`), with the logistic loss: it gives probabilities.

    So that it is at its best, numbers are standardized by the rows so far, categories are features of their own, and
    missing values are left out. With `pairs` features are also taken in pairs (`-q ::`).
    """

    def __init__(self, pairs: bool = False, random_state: int | None = None) -> None:
        self.pairs = pairs
        self.random_state = random_state

    def _start(self, features: tuple[Feature, ...], classes: np.ndarray) -> None:
        seed = "" if self.random_state is None else f" --random_seed {int(self.random_state)}"
        pairs = " -q ::" if self.pairs else ""
        self._workspace = _workspace(f"--oaa {classes.size} --loss_function logistic --probabilities{pairs}{seed}")
        self._scale = RunningScale()

    def _rows(self, table: Table, codes: np.ndarray) -> list[str]:
        return example_texts(self._scale(table))

    def _run(self, rows: list[str], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        predict, learn = self._workspace.predict, self._workspace.learn
        votes = np.zeros((len(rows), self.classes_.size))
        for row, (text, code) in enumerate(zip(rows, codes.tolist(), strict=True)):
            votes[row] = predict(text)
            learn(f"{code + 1} {text}")
        return votes.argmax(axis=1), votes


class VowpalWabbitBandit(Parameterized):
    """A contextual bandit of Vowpal Wabbit (`--cb_explore`) that replays a labeled stream, as our bandits do.

    An action is a class and costs 1 if it is wrong. Features are prepared as for `VowpalWabbitPeer` and also taken in
    pairs (`-q ::`): without standardizing it hardly learns Mice; without pairs it has .83 of the last fifth of Car
    right instead of .94 (rows six times, rate .05). Costs are modeled by regression on the shown actions (`--cb_type
    mtr`, its default, which did best). `explorer` is one of EXPLORERS, `exploration` the rate of "epsilon".
    """

    def __init__(self, explorer: str = "squarecb", exploration: float = 0.05, random_state: Any = None) -> None:
        self.explorer = explorer
        self.exploration = exploration
        self.random_state = random_state

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Show a label, learn from right or wrong, row by row; the labels shown."""
        labels = np.asarray(y)
        if not hasattr(self, "classes_"):
            self._start(first_classes(classes, labels))
        codes = label_codes(labels, self.classes_)
        shown = np.zeros(codes.size, np.int64)
        for row, text in enumerate(example_texts(self._scale(as_table(X)))):
            probabilities = np.array(self._workspace.predict(text))
            action = int(np.searchsorted(probabilities.cumsum(), self._rng.random() * probabilities.sum(), "right"))
            shown[row] = action = min(action, self.classes_.size - 1)
            cost = float(action != codes[row])
            self._workspace.learn(f"{action + 1}:{cost}:{probabilities[action]} {text}")
        return self.classes_[shown]

    def _start(self, classes: np.ndarray) -> None:
        if self.explorer not in EXPLORERS:
            raise ValueError(f"explorer={self.explorer!r}: one of {', '.join(EXPLORERS)}")
        if not 0.0 < self.exploration < 1.0:
            raise ValueError(f"exploration={self.exploration!r}: a rate strictly between 0 and 1")
        how = EXPLORERS[self.explorer].format(rate=self.exploration)
        self._workspace = _workspace(f"--cb_explore {classes.size} {how} --cb_type mtr -q ::")
        self._scale = RunningScale()
        self._rng = np.random.default_rng(self.random_state)
        self.classes_ = classes


def example_texts(table: Table) -> list[str]:
    """Examples in Vowpal Wabbit's text: `| f0:2.5 f1=red`.

    A name that is a bare number would be taken as an index of the weights, where the actions' weights then overlap.
    """
    columns = []
    for number, feature in enumerate(table.features):
        values = table.values[:, number].tolist()
        if feature.categories is None:
            cells = ["" if math.isnan(value) else f" f{number}:{value!r}" for value in values]
        else:
            names = [f" f{number}={name.translate(RESERVED)}" for name in feature.categories]
            cells = ["" if math.isnan(value) else names[int(value)] for value in values]
        columns.append(cells)
    return ["|" + "".join(row) for row in zip(*columns, strict=True)]


def _workspace(arguments: str) -> Any:
    try:
        import vowpalwabbit
    except ImportError:
        raise ValueError("vowpalwabbit is not installed: pip install edgewise[peers]") from None
    return vowpalwabbit.Workspace(f"{arguments} --quiet")
