"""One chunk of rows for any model, made ready before a clock starts: what is left is to predict and learn them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgewise.data.table import Table
from edgewise.evaluation.peer import Answers, Peer
from edgewise.models.stream_classifier import StreamClassifier


def ready(model: Any, table: Table, y: np.ndarray, classes: np.ndarray) -> Callable[[], Answers]:
    """What predicts and learns these rows, to be called once; probabilities where the model gives them."""
    if isinstance(model, Peer):
        return model.ready(table, y, classes)
    if isinstance(model, StreamClassifier):

        def both() -> Answers:
            # Guesses are the experts' vote, probabilities come from their scores: one pass gives both.
            guesses, decisions = model._learn(table, y, classes, None, in_scores=True)
            return Answers(model.classes_[guesses], model._probabilities(decisions))

        return both
    return lambda: Answers(np.asarray(model.prequential(table, y, classes=classes)), None)
