"""Prequential runs: what they measure, that slicing changes nothing, and that a saved run draws the same picture."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, recall_score

from edgewise.evaluation import (
    MODELS,
    ModelSpec,
    Run,
    Step,
    evaluate,
    evaluate_stream,
    load_runs,
    race,
    save_runs,
    summarize,
)


class LastLabel:
    """A model with the interface of an estimator: guesses the label that it learned `lag` rows ago."""

    def __init__(self, n_estimators: int = 3, lag: int = 2, random_state: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.lag = lag
        self.random_state = random_state
        self.seen: list[Any] = []

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"n_estimators": self.n_estimators, "lag": self.lag, "random_state": self.random_state}

    def prequential(self, X: Any, y: np.ndarray, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        guesses = []
        for label in y:
            guesses.append(self.seen[-self.lag] if len(self.seen) >= self.lag else classes[0])
            self.seen.append(label)
        return np.array(guesses, dtype=np.asarray(y).dtype)

    @property
    def nbytes(self) -> int:
        return 8 * len(self.seen)


def stream(n: int = 333, k: int = 3, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Labels that tend to stay, so that the last label is a fair guess."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.random(n) < 0.2) % k
    return rng.normal(size=(n, 4)), np.array(["ant", "bee", "cat", "dog"])[:k][y]


def measured(run: Run) -> dict[str, Any]:
    """A run less what differs from one machine and moment to the next."""
    record = dataclasses.asdict(run)
    for name in ("cpu_seconds", "wall_seconds", "peak_bytes"):
        del record[name]
    return record


def test_measures_of_a_run() -> None:
    X, y = stream()
    guesses = LastLabel().prequential(X, y, classes=np.unique(y))
    run = evaluate(LastLabel(), X, y)
    hits = guesses == y
    assert run.rows == 333
    assert run.features == 4
    assert run.classes == ["ant", "bee", "cat"]
    assert run.learners == 3
    assert run.accuracy == pytest.approx(hits.mean())
    assert run.last_fifth == pytest.approx(hits[-67:].mean())
    assert run.kappa == pytest.approx(cohen_kappa_score(y, guesses))
    assert run.recall == pytest.approx(list(recall_score(y, guesses, average=None)))
    assert run.confusion[1][2] == np.sum((y == "bee") & (guesses == "cat"))
    assert run.curve.cumulative[-1] == run.accuracy
    assert run.model_bytes == 8 * 333
    assert run.peak_bytes is None or run.peak_bytes > 1_000_000


@pytest.mark.parametrize("chunk_rows", [1, 7, 50, 333, 10_000])
def test_slicing_changes_nothing(chunk_rows: int) -> None:
    X, y = stream()
    assert measured(evaluate(LastLabel(), X, y, chunk_rows=chunk_rows)) == measured(evaluate(LastLabel(), X, y))


def test_a_stream_of_chunks_is_read_once_and_equals_the_whole() -> None:
    X, y = stream()
    alive = []

    def chunks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        start = 0
        for length in (1, 0, 90, 2, 240):
            alive.append(start)
            yield X[start : start + length], y[start : start + length]
            start += length

    streamed = evaluate_stream(LastLabel(), chunks(), ["ant", "bee", "cat"])
    assert alive == [0, 1, 1, 91, 93]
    assert measured(streamed) == measured(evaluate(LastLabel(), X, y))


def test_warming_up_does_not_touch_the_model() -> None:
    X, y = stream(60)
    model = LastLabel()
    before = copy.deepcopy(model)
    evaluate(model, X, y)
    assert model.seen == list(y)
    before.prequential(X, y, classes=np.unique(y))
    assert model.seen == before.seen


def test_a_run_goes_on_where_the_model_was() -> None:
    X, y = stream(100)
    whole, model = LastLabel(), LastLabel()
    guesses = whole.prequential(X, y, classes=np.unique(y))
    evaluate(model, X[:60], y[:60], classes=np.unique(y))
    run = evaluate(model, X[60:], y[60:], classes=np.unique(y))
    assert run.accuracy == pytest.approx(np.mean(guesses[60:] == y[60:]))


def test_progress_reports_rows_and_accuracy_so_far() -> None:
    X, y = stream(100)
    reports: list[tuple[int, float]] = []
    run = evaluate(LastLabel(), X, y, chunk_rows=40, progress=lambda done, accuracy: reports.append((done, accuracy)))
    assert [done for done, _ in reports] == [40, 80, 100]
    assert reports[-1][1] == run.accuracy


def test_labels_of_other_kinds_and_classes_that_never_come() -> None:
    X, y = stream(50)
    numbers = evaluate(LastLabel(), X, np.where(y == "ant", 3, 7), classes=[3, 5, 7])
    assert numbers.classes == [3, 5, 7]
    assert numbers.recall[1] is None
    truths = evaluate(LastLabel(), X, y == "ant")
    assert truths.classes == [False, True]


@pytest.mark.parametrize(
    ("X", "y", "settings", "words"),
    [
        (np.zeros((3, 2)), ["a", "b"], {}, "3 rows need one label each"),
        (np.zeros((2, 2)), [["a"], ["b"]], {}, r"shape \(2, 1\)"),
        (np.zeros((2, 2)), ["a", "b"], {"chunk_rows": 0}, "chunk_rows=0: at least 1"),
        (np.zeros((2, 2)), ["a", "b"], {"classes": ["a", "c"]}, "label 'b'"),
        (np.zeros((0, 2)), [], {}, "no rows"),
    ],
)
def test_bad_input_is_named(X: Any, y: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        evaluate(LastLabel(), X, y, **settings)


def test_json_round_trip(tmp_path: Path) -> None:
    X, y = stream()
    run = evaluate(LastLabel(), X, y, classes=["ant", "bee", "cat", "dog"])
    run.save(tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json") == run
    other = evaluate(LastLabel(lag=1), X, y)
    save_runs([run, other], tmp_path / "deep" / "runs.json")
    assert load_runs(tmp_path / "deep" / "runs.json") == [run, other]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["runs.json"]


def test_json_is_strict_and_versioned(tmp_path: Path) -> None:
    X, y = stream(40)
    run = evaluate(LastLabel(), X, y, classes=["ant", "bee", "cat", "dog"])
    path = tmp_path / "run.json"
    run.save(path)

    def refuse(token: str) -> float:
        raise AssertionError(f"{token} is not JSON")

    document = json.loads(path.read_text(), parse_constant=refuse)
    assert (document["format"], document["version"]) == ("edgewise-runs", 1)
    with pytest.raises(ValueError, match="not JSON compliant"):
        dataclasses.replace(run, kappa=math.nan).save(tmp_path / "nan.json")
    assert not (tmp_path / "nan.json").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no json", "not a file of runs"),
        ("[1, 2]", "lacks"),
        ('{"format": "edgewise-runs", "version": 99, "runs": []}', "version 99"),
        ('{"format": "edgewise-runs", "version": 1}', "not a list"),
        ('{"format": "edgewise-runs", "version": 1, "runs": [{"model": "olm"}]}', "run 1: fields missing.*accuracy"),
        ('{"format": "edgewise-runs", "version": 1, "runs": [NaN]}', "NaN is not JSON"),
    ],
)
def test_files_that_are_no_runs(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "runs.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        load_runs(path)


def test_race_orders_seeds_and_summary() -> None:
    X, y = stream(200)
    steps: list[Step] = []
    result = race(
        {"two": lambda seed: LastLabel(lag=2, random_state=seed), "one": lambda seed: LastLabel(lag=1)},
        {"pets": (X, y)},
        seeds=[1, 2, 3],
        rows=150,
        progress=steps.append,
    )
    assert [(run.model, run.seed) for run in result.runs] == [
        (model, seed) for seed in (1, 2, 3) for model in ("two", "one")
    ]
    order = np.random.default_rng(2).permutation(200)[:150]
    alone = evaluate(LastLabel(lag=1), X[order], y[order], classes=np.unique(y))
    assert result.runs[3].accuracy == alone.accuracy
    assert result.runs[3].curve == alone.curve
    assert {run.order for run in result.runs} == {"shuffled"}
    one = result.summary[1]
    accuracies = [run.accuracy for run in result.runs if run.model == "one"]
    assert (one.model, one.seeds, one.rows) == ("one", 3, 150)
    assert one.qualities["accuracy"].value == pytest.approx(np.mean(accuracies))
    assert one.qualities["accuracy"].error == pytest.approx(np.std(accuracies, ddof=1) / np.sqrt(3))
    assert (steps[0].done, steps[0].total, steps[-1].done) == (0, 150, 150)
    assert summarize(result.runs[:1])[0].qualities["accuracy"].error is None


def test_race_in_file_order_keeps_the_rows() -> None:
    X, y = stream(200)
    result = race({"one": lambda seed: LastLabel(lag=1)}, {"pets": (X, y)}, seeds=[1, 2], order="file")
    assert [run.accuracy for run in result.runs] == [evaluate(LastLabel(lag=1), X, y).accuracy] * 2
    with pytest.raises(ValueError, match="order='random'"):
        race({"one": lambda seed: LastLabel()}, {"pets": (X, y)}, order="random")


@pytest.mark.parametrize(
    ("text", "preset", "name", "edge", "shown"),
    [
        ("olm", None, "olm", None, "olm"),
        (" mbbm:0.05 ", None, "mbbm", 0.05, "mbbm:0.05"),
        ("olm@paper", None, "olm", None, "olm@paper"),
        ("mbbm:.1", "paper", "mbbm", 0.1, "mbbm:0.1@paper"),
    ],
)
def test_model_names(text: str, preset: str | None, name: str, edge: float | None, shown: str) -> None:
    spec = ModelSpec.parse(text, preset)
    assert (spec.name, spec.edge, str(spec)) == (name, edge, shown)
    assert ModelSpec.parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mbm", "unknown model 'mbm'; did you mean mbbm"),
        ("qqq", "known: olm, olm-drift, olm-exponential"),
        ("olm:0.1", "olm takes no edge; those that do: mbbm"),
        ("mbbm:2", "'2' is not a number between 0 and 1"),
        ("mbbm:x", "'x' is not a number"),
        ("olm@fast", "unknown preset 'fast'; there is: paper"),
    ],
)
def test_wrong_model_names(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ModelSpec.parse(text)


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if not entry.ranks])
@pytest.mark.parametrize("preset", [None, "paper"])
def test_every_listed_model_runs(name: str, preset: str | None) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = np.array(["a", "b", "c"])[np.clip(np.round(X[:, 0]) + 1, 0, 2).astype(int)]
    run = evaluate(ModelSpec(name, preset=preset).make(4, seed=1), X, y)
    assert run.learners == 4
    assert sum(map(sum, run.confusion)) == 120
    assert run.model_bytes is not None
    assert run.model_bytes > 0
    sliced = evaluate(ModelSpec(name, preset=preset).make(4, seed=1), X, y, chunk_rows=17)
    assert measured(sliced) == measured(run)
