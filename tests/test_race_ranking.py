"""Races over label sets: what a run measures, that slicing changes nothing, and the command line from end to end."""

from __future__ import annotations

import dataclasses
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from edgewise.data import datasets
from edgewise.evaluation import (
    MODELS,
    ModelSpec,
    RankingRun,
    Run,
    evaluate,
    evaluate_ranking,
    load_runs,
    measure_ranking,
    race,
    save_runs,
    summarize,
)
from edgewise.evaluation.ranking_measures import rank_loss
from edgewise.plot import draw
from tests.small_races import assert_one_line_error, invoke

RANKERS = [name for name, entry in MODELS.items() if entry.ranks]


class Frequencies:
    """A model with the interface of a ranker: scores every label by how often it was relevant so far."""

    def __init__(self, n_estimators: int = 3, sign: int = 1, random_state: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.sign = sign
        self.random_state = random_state
        self.count: np.ndarray | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"n_estimators": self.n_estimators, "sign": self.sign, "random_state": self.random_state}

    def prequential(self, X: Any, Y: np.ndarray) -> np.ndarray:
        if self.count is None:
            self.count = np.zeros(Y.shape[1])
        scores = []
        for row in np.asarray(Y):
            scores.append(self.sign * self.count)
            self.count = self.count + row
        return np.array(scores)


def stream(n: int = 333, k: int = 5, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Labels of very different frequencies, so that counting them is a fair ranking; some rows have none."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), (rng.random((n, k)) < np.linspace(0.1, 0.7, k)).astype(np.int8)


def measured(run: Any) -> dict[str, Any]:
    """A run less what differs from one machine and moment to the next."""
    record = dataclasses.asdict(run)
    for name in ("cpu_seconds", "wall_seconds", "peak_bytes"):
        del record[name]
    return record


def test_measures_of_a_run() -> None:
    X, Y = stream()
    scores = Frequencies().prequential(X, Y)
    losses = rank_loss(Y, scores)
    expected = measure_ranking(Y, scores)
    run = evaluate_ranking(Frequencies(), X, Y)
    assert (run.rows, run.features, run.labels, run.learners) == (333, 4, 5, 3)
    for name in ("rank_loss", "hinge", "logistic", "one_error", "coverage", "average_precision"):
        assert getattr(run, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert run.without_pairs == expected.without_pairs > 0
    assert run.last_fifth == pytest.approx(losses[-67:].mean())
    assert run.curve.cumulative[-1] == pytest.approx(run.rank_loss)
    assert run.curve.windowed[0] == pytest.approx(losses[: run.curve.rows[0]].mean())
    by_frequency = rank_loss(Y, np.tile(Y.sum(axis=0), (333, 1))).mean()
    assert run.reference == ("always the commonest labels first", pytest.approx(by_frequency))
    assert 0 < run.by_frequency < run.rank_loss < 0.5


@pytest.mark.parametrize("chunk_rows", [1, 7, 333, 10_000])
def test_slicing_changes_nothing(chunk_rows: int) -> None:
    X, Y = stream()
    whole = evaluate_ranking(Frequencies(), X, Y)
    assert measured(evaluate_ranking(Frequencies(), X, sparse.csr_array(Y), chunk_rows=chunk_rows)) == measured(whole)


def test_warming_up_does_not_touch_the_model_and_progress_tells_the_rank_loss() -> None:
    X, Y = stream(100)
    model = Frequencies()
    reports: list[tuple[int, float]] = []
    run = evaluate_ranking(model, X, Y, chunk_rows=40, progress=lambda done, loss: reports.append((done, loss)))
    assert model.count is not None
    assert model.count.tolist() == Y.sum(axis=0).tolist()
    assert [done for done, _ in reports] == [40, 80, 100]
    assert reports[-1][1] == run.rank_loss


@pytest.mark.parametrize(
    ("X", "Y", "settings", "words"),
    [
        (np.zeros((3, 2)), [[0, 1], [1, 0]], {}, r"Y has shape \(2, 2\): a row of 0 and 1 for each of the 3 rows"),
        (np.zeros((2, 2)), [0, 1], {}, r"Y has shape \(2,\)"),
        (np.zeros((2, 2)), [[0, 1], [1, 2]], {}, "Y has 2 in row 1"),
        (np.zeros((2, 2)), [[0, 1]] * 2, {"chunk_rows": 0}, "chunk_rows=0: at least 1"),
        (np.zeros((0, 2)), np.zeros((0, 2)), {}, "no rows"),
    ],
)
def test_bad_input_is_named(X: Any, Y: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        evaluate_ranking(Frequencies(), X, Y, **settings)


def test_runs_of_both_kinds_in_one_file(tmp_path: Path) -> None:
    X, Y = stream(60)
    ranking = evaluate_ranking(Frequencies(), X, Y)
    ranking.save(tmp_path / "one.json")
    assert RankingRun.load(tmp_path / "one.json") == ranking
    with pytest.raises(ValueError, match="holds a RankingRun, not a Run"):
        Run.load(tmp_path / "one.json")
    single = evaluate(ModelSpec("trees").make(2, 1), X, Y[:, 0])
    save_runs([ranking, single], tmp_path / "runs.json")
    assert load_runs(tmp_path / "runs.json") == [ranking, single]
    draw([ranking, single], tmp_path / "both.svg")
    picture = (tmp_path / "both.svg").read_text()
    assert picture.startswith("<?xml")
    document = json.loads((tmp_path / "runs.json").read_text())
    del document["runs"][0]["coverage"]
    (tmp_path / "runs.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="run 1: fields missing or unknown: coverage"):
        load_runs(tmp_path / "runs.json")


def test_race_over_label_sets() -> None:
    X, Y = stream(200)
    factories = {"worst": lambda seed: Frequencies(sign=-1), "best": lambda seed: Frequencies()}
    result = race(factories, {"sets": (X, sparse.csr_array(Y))}, seeds=[1, 2], rows=150)
    order = np.random.default_rng(2).permutation(200)[:150]
    assert measured(result.runs[3]) == measured(evaluate_ranking(Frequencies(), X[order], Y[order])) | {
        "model": "best",
        "data": "sets",
        "seed": 2,
        "order": "shuffled",
    }
    worst, best = summarize(result.runs)
    assert (worst.model, best.model, worst.seeds) == ("worst", "best", 2)
    assert best.qualities["rank_loss"].value == pytest.approx(np.mean([run.rank_loss for run in result.runs[1::2]]))
    assert worst.qualities["rank_loss"].value > 0.5 > best.qualities["rank_loss"].value


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    if datasets.where("emotions") == "not here":
        pytest.skip("emotions is not here; set EDGEWISE_DATA to a folder that holds it")
    page = (Path(__file__).parent.parent / "docs" / "ranking.md").read_text()
    example = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(example, "ranking.md", "exec"), names)
    assert names["scores"].shape == (593, 6)
    assert rank_loss(names["Y"], names["scores"]).mean() < 0.3
    assert "RankingMeasures(rank_loss=" in capsys.readouterr().out


# ---- the command line


@pytest.fixture
def music(tmp_path: Path) -> tuple[Path, Path]:
    """A MULAN file of which one label, "loud", follows from a feature."""
    rng = np.random.default_rng(3)
    names = ("soft", "loud", "fast")
    lines = ["@relation music", *(f"@attribute {name} {{0,1}}" for name in names), "@attribute a numeric"]
    lines += ["@attribute b {x,y}", "@data"]
    for _ in range(150):
        a = rng.normal()
        lines.append(f"{rng.integers(2)},{int(a > 0)},{int(rng.random() < 0.2)},{a:.4f},{'xy'[rng.integers(2)]}")
    (tmp_path / "music.arff").write_text("\n".join(lines) + "\n")
    tags = "".join(f'<label name="{name}"/>' for name in names)
    (tmp_path / "music.xml").write_text(f'<labels xmlns="http://mulan.sourceforge.net/labels">{tags}</labels>')
    return tmp_path / "music.arff", tmp_path / "music.xml"


def test_race_end_to_end(tmp_path: Path, music: tuple[Path, Path]) -> None:
    out = tmp_path / "out"
    arff, xml = map(str, music)
    result = invoke("race", arff, "--labels", xml, "--learners", "4", "--seeds", "2", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "music.arff: 150 rows shuffled, 4 learners, 2 seeds: mean ± standard error"
    headings = "model  rank loss  last fifth  one-error  coverage  precision  rows/s  memory"
    assert lines[1].split() == headings.split()
    runs = load_runs(out / "runs.json")
    assert {run.model for run in runs} == {"bmr-rank", "bmr-hinge", "olmr"}
    means = {model: np.mean([run.rank_loss for run in runs if run.model == model]) for model in RANKERS}
    # Ranked by rank loss, best first.
    assert [line.split()[0] for line in lines[2:5]] == sorted(means, key=means.__getitem__)
    assert lines[2].split()[1] == f"{min(means.values()):.3f}"
    picture = (out / "curves.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", picture[16:24]) >= (1000, 500)
    again = invoke("race", "--from", str(out / "runs.json"))
    assert again.stdout == result.stdout
    assert (out / "curves.png").read_bytes() == picture


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("preset", [None, "paper"])
def test_every_ranker_runs_and_learns(name: str, preset: str | None) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0, X[:, 1] > 1, X[:, 1] <= 1]).astype(np.int8)
    run = evaluate_ranking(ModelSpec(name, preset=preset).make(8, seed=1), X, Y)
    assert run.learners == 8
    assert run.model_bytes is not None
    assert run.model_bytes > 0
    assert run.last_fifth < run.by_frequency - 0.1, "better than the commonest labels first"
    sliced = evaluate_ranking(ModelSpec(name, preset=preset).make(8, seed=1), X, Y, chunk_rows=17)
    assert measured(sliced) == measured(run)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("car", "--models", "olmr"), ("olmr learns from label sets, and car has single labels", "olm, ", "trees")),
        (("emotions", "--models", "olm"), ("olm learns from single labels, and emotions has label sets", "olmr")),
        (("car", "--labels", "{xml}"), ("--labels", "a file of yours")),
        (("{arff}", "--labels", "{xml}", "--target", "a"), ("--labels is for MULAN files", "--target")),
        (("{arff}", "--labels", "none.xml"), ("none.xml",)),
        (("{arff}", "--labels", "{arff}"), ("music.arff, line 1", "not XML")),
        (("{arff}", "--models", "bmr-rank:2"), ("'2' is not a number between 0 and 1",)),
    ],
)
def test_bad_usage(tmp_path: Path, music: tuple[Path, Path], args: tuple[str, ...], words: tuple[str, ...]) -> None:
    filled = [arg.format(arff=music[0], xml=music[1]) for arg in args]
    assert_one_line_error(invoke("race", *filled, "--out", str(tmp_path / "out")), 2, *words)


def test_each_data_set_gets_the_models_that_fit_it(tmp_path: Path, music: tuple[Path, Path]) -> None:
    args = ("--labels", str(music[1]), "--learners", "2", "--rows", "40", "--out", str(tmp_path / "out"))
    result = invoke("race", "car", str(music[0]), *args)
    assert result.exit_code == 0, result.stderr
    found = {(run.data, run.model) for run in load_runs(tmp_path / "out" / "runs.json")}
    assert found == {("car", model) for model in ("olm", "mbbm", "oza", "trees")} | {
        ("music.arff", model) for model in ("bmr-rank", "bmr-hinge", "olmr")
    }


def test_data_list_shows_label_sets() -> None:
    lines = {line.split()[0]: line for line in invoke("data", "list").stdout.splitlines()}
    assert "14 labels" in lines["yeast"]
    assert "43,907" in lines["mediamill"]
