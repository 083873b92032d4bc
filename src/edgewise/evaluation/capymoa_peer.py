"""Learners of CapyMOA (MOA's, in Java) in a race; needs Java 17 or newer.

Rows become instances in Java before the clock starts. The loop over them is here, because MOA's own loop keeps guesses
but no votes; its two calls into Java cost 4 to 8 microseconds a row (measured with MOA's majority class), where 100
trees cost 150 and more.
"""

from __future__ import annotations

import os
import time
from typing import Any, ClassVar

import numpy as np

from edgewise.data.table import Feature, Table, as_table
from edgewise.evaluation.peer import Peer

# One collector thread, and a young generation so large that collections are rare.
JVM = "-Xmx8g -Xmn1g -Xss10M -XX:+UseSerialGC"
WARM_UP_SECONDS = 5.0  # of CPU: Java compiles while it runs

# The argument that sets the number of learners; one without is a single learner.
SIZES = {
    "OzaBoost": "boosting_iterations",
    "OnlineSmoothBoost": "boosting_iterations",
    "StreamingGradientBoostedTrees": "boosting_iterations",
    "AdaptiveRandomForestClassifier": "ensemble_size",
    "StreamingRandomPatches": "ensemble_size",
    "LeveragingBagging": "ensemble_size",
    "HoeffdingTree": None,
}


class CapyMOAPeer(Peer):
    """A classifier of CapyMOA with its own defaults.

    Parameters
    ----------
    learner : str
        Its class in `capymoa.classifier`.
    n_estimators : int, optional
        Number of learners; None for a single one.
    random_state : int, optional
        Its random seed.
    """

    # Learners that Java has compiled, for numeric features, nominal ones, or both.
    _warm: ClassVar[set[tuple[str, frozenset[bool]]]] = set()

    def __init__(
        self,
        learner: str = "AdaptiveRandomForestClassifier",
        n_estimators: int | None = 100,
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
        if self.learner not in SIZES:
            raise ValueError(f"learner={self.learner!r}: one of {', '.join(SIZES)}")
        os.environ.setdefault("CAPYMOA_JVM_ARGS", JVM)
        import capymoa.classifier
        from capymoa.stream import Schema

        self._header = _header(features, classes.size)
        settings: dict[str, Any] = {} if self.random_state is None else {"random_seed": int(self.random_state)}
        size = SIZES[self.learner]
        if size is not None:
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

    def _play(self, rows: list[Any], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        vote, learn = self._model.getVotesForInstance, self._model.trainOnInstance
        votes = np.zeros((len(rows), self.classes_.size))
        for row, example in enumerate(rows):
            found = np.asarray(vote(example))  # one for each class up to the last one seen
            votes[row, : found.size] = found
            learn(example)
        # As MOA's own maxIndex, which a vote that is no number can not win.
        return np.where(np.isnan(votes), -np.inf, votes).argmax(axis=1), votes


def _header(features: tuple[Feature, ...], n_classes: int) -> Any:
    """What MOA knows of a stream: the columns and the classes. Names in ours may not be names in theirs."""
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
