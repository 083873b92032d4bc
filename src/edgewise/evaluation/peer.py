"""A learner of another library as an entry to a race: the same rows, predicted, then learned, one after the other.

A peer gets what it needs to be at its best before the clock starts: rows in its own form, nominal features as nominal,
all classes known. Its votes are made probabilities by their shares. A vote that is no number counts as 0, and where all
votes are 0 the probabilities are uniform.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from edgewise.data.table import Feature, Table, as_table
from edgewise.data.targets import first_classes, label_codes
from edgewise.models.stream_classifier import shares_of
from edgewise.parameters import Parameterized

WARM_UP_ROWS = 300


class Answers(NamedTuple):
    """What a model said of rows before it learned them; not every model gives probabilities."""

    guesses: np.ndarray
    probabilities: np.ndarray | None


class Peer(Parameterized):
    """What the adapters share: checking, the schema, and votes as probabilities. The first rows fix the columns."""

    classes_: np.ndarray
    features_: tuple[Feature, ...]

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the labels predicted."""
        return self.ready(X, y, classes)().guesses

    def prequential_proba(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the probabilities [n, k] predicted."""
        probabilities = self.ready(X, y, classes)().probabilities
        assert probabilities is not None
        return probabilities

    def ready(self, X: Any, y: Any, classes: Any = None) -> Callable[[], Answers]:
        """The rows in the library's own form: what is left to do is to predict and learn them, once."""
        table, labels = as_table(X), np.asarray(y)
        if not hasattr(self, "classes_"):
            known = first_classes(classes, labels)
            self._start(table.features, known)
            self.classes_, self.features_ = known, table.features
        elif table.features != self.features_:
            raise ValueError(f"{type(self).__name__}: these rows have other columns or categories than the first ones")
        codes = label_codes(labels, self.classes_)
        rows = self._rows(table, codes)

        def play() -> Answers:
            with uncollected():
                guesses, votes = self._play(rows, codes)
            return Answers(self.classes_[guesses], shares_of(np.where(np.isfinite(votes), votes, 0.0)))

        return play

    def warm_up(self, X: Any, y: Any, classes: Any) -> None:
        """Without touching this model, have done what is done only once: nothing, but where code is compiled."""

    def _start(self, features: tuple[Feature, ...], classes: np.ndarray) -> None:
        """Make the library's own model."""
        raise TypeError(f"{type(self).__name__} does not say how to make its model")

    def _rows(self, table: Table, codes: np.ndarray) -> Any:
        """Rows as the library likes them best."""
        raise TypeError(f"{type(self).__name__} does not say how to take rows")

    def _play(self, rows: Any, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Label codes guessed, and votes [n, k]."""
        raise TypeError(f"{type(self).__name__} does not say how to predict and learn")


@contextmanager
def uncollected() -> Iterator[None]:
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
