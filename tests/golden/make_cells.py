"""Golden hashes: what every model guesses, what it scores and every array of its state, for many small cells.

A cell is a model, a stream, and a way through it: whole, in small chunks, by two threads, or saved half-way and loaded.
Run `python -m tests.golden.make_cells` only when a change of results is meant; the commit then says which cells
changed, by how much and why.

Trees are hashed by what they hold, not by where in the pools it lies. Hashes are of exact numbers. The last bit of an
exponential depends on the processor and on the C library, so the file also has a hash of that arithmetic: where it
differs, `rounded` results are compared and hashes are not.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import edgewise as ew
from edgewise.models.gradient_stream import GradientStream
from edgewise.models.stream_bandit import StreamBandit
from edgewise.models.stream_ranker import StreamRanker
from tests.saved_models import MODELS, is_batch
from tests.small_streams import mixed_stream
from tests.state import model_state

FILE = Path(__file__).parent / "cells.json"
ROWS = 260
WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "chunks of 17": {"chunk_size": 17},
    "two threads": {"chunk_size": 40, "n_jobs": 2},
    "resumed": {},
}


def streams() -> dict[str, tuple[ew.Table, np.ndarray]]:
    """Numbers, categories, and both with missing values."""
    return {
        "balance": ew.datasets.shuffled(*ew.datasets.load("balance"), 3, ROWS),
        "car": ew.datasets.shuffled(*ew.datasets.load("car"), 3, ROWS),
        "mixed": mixed_stream(ROWS, seed=3),
    }


def cells() -> Iterator[tuple[str, str, str]]:
    """Model, stream and way of every cell."""
    for name, make in MODELS.items():
        model = make()
        for stream in streams():
            for way, settings in WAYS.items():
                batch = is_batch(model)
                if batch and (way != "whole" or stream == "mixed"):
                    continue
                if isinstance(model, ew.OptimalStrategy) and stream == "car":
                    continue  # its simplest learner has no edge there
                if settings.keys() <= model.get_params().keys():
                    yield name, stream, way


def target(model: Any, y: np.ndarray) -> np.ndarray:
    """The labels as a model takes them: as they are, as sets, or as numbers."""
    codes = np.unique(y, return_inverse=True)[1]
    if isinstance(model, StreamRanker):
        return (codes[:, None] >= np.arange(3)).astype(int)
    if isinstance(model, GradientStream) and not isinstance(model, ew.StreamingGradientBoostingClassifier):
        numbers = codes + np.sin(np.arange(len(y)))
        return numbers if model.final == "last" else np.stack([numbers, -numbers], axis=1)
    return y


def measured(name: str, X: ew.Table, y: np.ndarray, way: str) -> dict[str, Any]:
    """Hashes of what one cell gives, and a few numbers that tell how far a change goes."""
    model = MODELS[name]()
    model.set_params(**WAYS[way])
    if model.get_params().get("random_state", 1) is None:
        model.set_params(random_state=1)
    y = target(model, y)
    if is_batch(model):
        guesses = model.fit(X, y).predict(X)
    else:
        half = len(y) // 2
        guesses = [model.prequential(X[:half], y[:half])]
        if way == "resumed":
            model = resumed(model)
        guesses = np.concatenate([*guesses, model.prequential(X[half:], y[half:])])
        if isinstance(model, StreamBandit):
            for decision in model.decide_many(X[:3])[::-1]:
                model.feedback(decision, decision.id % 2 == 0)
    asked = [getattr(model, method) for method in ("predict_proba", "decision_function") if hasattr(model, method)]
    scores = [np.asarray(ask(X[:60])) for ask in asked] or [np.asarray(model.predict(X[:60]))]
    return {
        "guesses": digest(guesses),
        "scores": digest(*scores),
        "state": digest(
            *sorted(map(digest, arrays_of(model))) if is_batch(model) else marshal.dumps(model_state(model), 2)
        ),
        "rounded": [float(f"{float(np.mean(np.abs(numbers(part)))):.9g}") for part in (guesses, *scores)],
    }


def resumed(model: Any) -> Any:
    """The model as it comes back from a file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "half.edgewise")
        return ew.load(Path(folder) / "half.edgewise")


def arrays_of(value: Any, seen: set[int] | None = None) -> Iterator[np.ndarray]:
    """Every array of numbers that a model is made of, once, under whatever name."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from arrays_of(inner, seen)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from arrays_of(inner, seen)
    elif hasattr(value, "__dict__") and not isinstance(value, type | Callable):
        yield from arrays_of(vars(value), seen)


def digest(*parts: Any) -> str:
    """A short hash of arrays and text: shape, type and every bit."""
    total = hashlib.sha256()
    for part in parts:
        array = np.frombuffer(part, np.uint8) if isinstance(part, bytes) else np.asarray(part)
        text = "\n".join(map(str, array.ravel())).encode() if array.dtype.kind in "OUT" else array.tobytes()
        total.update(f"{array.shape}{array.dtype.kind}".encode() + text)
    return total.hexdigest()[:16]


def numbers(part: Any) -> np.ndarray:
    """Labels as the numbers of their places in order; numbers as they are."""
    array = np.asarray(part)
    return array if array.dtype.kind in "fiub" else np.unique(array, return_inverse=True)[1]


@njit
def _compiled_arithmetic(x: np.ndarray, out: np.ndarray) -> None:
    for i in range(x.size):
        out[i] = math.exp(x[i]) + math.log(1.0 + abs(x[i])) + math.erf(x[i])


def arithmetic() -> str:
    """A hash of exponentials and logarithms as this machine works them out, compiled and by NumPy."""
    x = np.linspace(-9.0, 9.0, 4001)
    out = np.zeros_like(x)
    _compiled_arithmetic(x, out)
    return digest(out, np.exp(x), np.log(np.abs(x) + 0.1), np.tanh(x))


def main() -> None:
    held = streams()
    found = {}
    for name, stream, way in cells():
        found[f"{name} | {stream} | {way}"] = measured(name, *held[stream], way)
        print(f"{name} | {stream} | {way}", file=sys.stderr)
    rows = ",\n".join(f" {json.dumps(cell)}: {json.dumps(result)}" for cell, result in found.items())
    FILE.write_text(f'{{"arithmetic": "{arithmetic()}",\n"cells": {{\n{rows}\n}}}}\n')


if __name__ == "__main__":
    main()
