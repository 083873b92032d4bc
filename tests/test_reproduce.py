"""Reproductions: declared, run in cells, kept, interrupted and continued, compared with the papers."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import edgewise
from edgewise.cli import main
from edgewise.data import datasets, storage
from edgewise.kernels import compile
from edgewise.reproduction import cache, declarations, results, tables
from edgewise.reproduction.games import Job, game_of, make
from edgewise.reproduction.planning import Options, describe_quick, lines_of
from edgewise.reproduction.results import Cell, Measured, reproductions
from edgewise.reproduction.running import Run

SMALL = """
id = "{id}"
title = "Two cells"
paper = "Nobody, Nowhere"
what = "A test."
departures = ["It is small."]
game = "labels"
curves = ["learning"]

[measures.all]
title = "accuracy"
better = "higher"

[[data]]
name = "Balance"
load = "balance"
settings = {{copies = {copies}}}

[[algorithm]]
name = "Oza"
model = {{class = "OzaBoost", n_estimators = {learners}}}
settings = {{copies = 1}}

[[algorithm]]
name = "OLM"
model = {{class = "AdaBoostOLM", preset = "paper", n_estimators = {learners}}}

[quick]
rows = 50
learners = 2

[printed.Balance]
Oza = 0.999
OLM = 0.001
"""


@pytest.fixture
def papers(tmp_path, monkeypatch):
    """A folder with one declaration of two cells, and a cache of its own."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return declare(tmp_path, SMALL.format(id="x/table-1", copies=1, learners=3))


def declare(folder: Path, text: str) -> Path:
    (folder / "papers").mkdir(exist_ok=True)
    (folder / "papers" / "x.toml").write_text(text)
    return folder / "papers"


def run_of(papers: Path, **options) -> Run:
    return Run(list(declarations.read(papers).values()), Options(**options))


def finished(papers: Path, **options) -> Run:
    run = run_of(papers, **options)
    run.work(1, lambda _: None)
    return run


def kept_files() -> list[Path]:
    return sorted(cache.folder().glob("*.json"))


def invoke(*args: str):
    return CliRunner().invoke(main, ["reproduce", *args])


# -- a whole run, and one that is interrupted --------------------------------------------------------------------------


def start(papers: Path, out: Path, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from edgewise.cli import main; main()", "reproduce", "all", "--jobs", "1"]
    return subprocess.Popen(
        [*command, "--papers", str(papers), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a suite that runs in the background is deaf to SIGINT, and its children would be
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        env={**os.environ, **environment},
    )


def without_times(path: Path) -> list[results.Reproduction]:
    """What was found, less what differs from run to run: seconds and dates."""

    def timeless(found: Measured | None) -> Measured | None:
        return found and found._replace(seconds=None)

    return [
        found._replace(
            cells=[cell._replace(ours=timeless(cell.ours), defaults=timeless(cell.defaults)) for cell in found.cells],
            environment=found.environment._replace(cpu_seconds=0.0, date=""),
        )
        for found in results.load(path)
    ]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_continues_and_ends_like_one_that_was_not(tmp_path, monkeypatch, how):
    papers = declare(tmp_path, SMALL.format(id="x/table-1", copies=120, learners=60))
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    process = start(papers, tmp_path / "out")
    deadline = time.monotonic() + 300
    while not kept_files() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(how)
    _, said = process.communicate()
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL), said
    (first,) = kept_files()  # the second cell was in flight
    made = first.stat().st_mtime_ns
    if how == signal.SIGINT:  # what there is was written
        (partial,) = results.load(tmp_path / "out" / "results.json")
        assert not partial.complete
        assert [cell.ours is None for cell in partial.cells] == [False, True]
        assert "Incomplete" in (tmp_path / "out" / "results.md").read_text()

    process = start(papers, tmp_path / "out")
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert "1 runs to make, 1 are there" in said
    assert len(kept_files()) == 2
    assert first.stat().st_mtime_ns == made

    process = start(papers, tmp_path / "whole", **{cache.VARIABLE: str(tmp_path / "other cache")})
    _, said = process.communicate()
    assert "2 runs to make, 0 are there" in said
    continued, whole = (without_times(tmp_path / name / "results.json") for name in ("out", "whole"))
    assert continued == whole
    assert whole[0].complete
    assert all(cell.ours for cell in whole[0].cells)
    assert whole[0].curves


def test_cells_are_what_the_boosters_do(papers):
    run = finished(papers)
    table, y = datasets.shuffled(*datasets.load("balance"), 1)
    model = edgewise.AdaBoostOLM.preset("paper", n_estimators=3, random_state=1)
    accuracy = float(np.mean(model.prequential(table, y) == y))
    (found,) = reproductions(run)
    olm = found.cells[1]
    assert (olm.algorithm, olm.ours.mean, olm.ours.seeds, olm.ours.error) == ("OLM", accuracy, 1, None)
    assert olm.difference == pytest.approx(accuracy - 0.001)
    assert [curve.algorithm for curve in found.curves] == ["Oza", "OLM"]


def test_inside_a_run(papers):
    """A second play in pieces gives the edges, weights and mistakes of the first."""
    job = Job("labels", "balance", {"class": "AdaBoostOLM", "n_estimators": 2}, {"inside": True}, 1, 200)
    record = game_of("labels")(job)
    model = make(job.model, random_state=1)
    model.partial_fit(*datasets.shuffled(*datasets.load("balance"), 1, 200), classes=["B", "L", "R"])
    curves = {curve["kind"]: curve["series"] for curve in record.curves}
    assert [line["y"][-1] for line in curves["edge"]] == pytest.approx(model.edges_, rel=1e-4)
    assert [line["y"][-1] for line in curves["weight"]] == pytest.approx(model.learner_weights_, rel=1e-4)
    bound, mistakes = curves["bound"]
    assert mistakes["y"][-1] == model.mistakes_ == round(200 * (1.0 - record.measures["all"]))
    assert bound["y"][-1] == pytest.approx(model.bound().value, rel=1e-4)


def test_seeds_give_mean_and_standard_error(papers):
    (found,) = reproductions(finished(papers, seeds=3))
    values = [kept["record"]["measures"]["all"] for kept in map(_json, kept_files()) if _is(kept, "OzaBoost")]
    oza = found.cells[0].ours
    assert len(set(values)) > 1
    assert oza == (pytest.approx(np.mean(values)), pytest.approx(np.std(values, ddof=1) / 3**0.5), 3, oza.seconds)


def _json(path: Path) -> dict:
    return json.loads(path.read_text())


def _is(kept: dict, name: str) -> bool:
    return kept["job"]["model"]["class"] == name


# -- the cache ---------------------------------------------------------------------------------------------------------


def test_a_second_call_runs_nothing(papers):
    finished(papers)
    again = run_of(papers)
    assert not again.pending
    assert not again.outdated


def test_a_changed_parameter_is_another_run(papers, tmp_path):
    finished(papers)
    declare(tmp_path, SMALL.format(id="x/table-1", copies=1, learners=4))
    assert len(run_of(papers).pending) == 2
    declare(tmp_path, SMALL.format(id="renamed/table-9", copies=1, learners=3).replace("Two cells", "Other words"))
    assert not run_of(papers).pending  # words decide nothing


def test_every_part_of_a_job_is_in_its_key():
    job = Job("labels", "balance", {"class": "OzaBoost"}, {}, 1, None)
    others = [
        job._replace(game="best_tree"),
        job._replace(data="car"),
        job._replace(model={"class": "OzaBoost", "n_estimators": 3}),
        job._replace(settings={"copies": 2}),
        job._replace(seed=2),
        job._replace(rows=10),
    ]
    keys = [cache.key(each, "sum") for each in (job, *others)] + [cache.key(job, "other sum")]
    assert len(set(keys)) == len(keys) == 8


def test_changed_data_are_another_run(papers, tmp_path, monkeypatch):
    finished(papers)
    changed = tmp_path / "balance-scale.data"
    lines = (storage.BUNDLED / "balance-scale.data").read_text().splitlines(keepends=True)
    changed.write_text("".join(lines[1:] + lines[:1]))
    monkeypatch.setattr(storage, "BUNDLED", tmp_path)
    run = run_of(papers)
    assert len(run.pending) == 2
    assert not run.outdated


@pytest.mark.parametrize("what", ["version", "kernels", "game"])
def test_another_version_of_the_code_is_run_again_and_said(papers, monkeypatch, tmp_path, what):
    finished(papers)
    cache.code_version.cache_clear()
    if what == "version":
        monkeypatch.setattr(edgewise, "__version__", "99")
    elif what == "kernels":
        monkeypatch.setattr(compile, "CACHE", "somewhere/kernels-0123")
    else:
        (tmp_path / "labels.py").write_text("# another game")
        monkeypatch.setattr(cache.inspect, "getfile", lambda _: str(tmp_path / "labels.py"))
    try:
        run = run_of(papers)
        assert (run.outdated, len(run.pending)) == (2, 2)
        told = invoke("all", "--papers", str(papers), "--out", str(tmp_path / "out"), "--jobs", "1")
        assert told.exit_code == 0, told.stderr
        assert "2 kept runs are of another version of the code: they are run again" in told.stderr
        assert not run_of(papers).pending
    finally:
        cache.code_version.cache_clear()


def test_half_a_file_is_no_record(papers):
    finished(papers)
    first = kept_files()[0]
    first.write_text(first.read_text()[:100])
    assert len(run_of(papers).pending) == 1


def test_tables_that_share_runs_run_them_once():
    known = declarations.declarations()
    chosen = [known[name] for name in ("000/table-3", "000/table-4", "000/table-5")]
    run = Run(chosen, Options(data=("Balance", "Cars")))
    assert len(run.tasks) == 2 * 11 * 5
    assert run.plans[0].tasks == run.plans[1].tasks == run.plans[2].tasks


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_an_unknown_table_is_told_with_those_there_are():
    told = invoke("000/table3")
    assert told.exit_code == 2
    assert "unknown table or figure '000/table3' (did you mean 000/table-3" in told.stderr
    assert "003/table-1" in told.stderr


def test_no_table_and_unknown_data_are_told(papers):
    assert "no ID given" in invoke().stderr
    told = invoke("000/table-3", "--data", "Balance,Nonsense")
    assert told.exit_code == 2
    assert "data 'Nonsense': not one of Balance, Mice" in told.stderr


def test_missing_data_are_told_and_the_others_run(papers, tmp_path, monkeypatch):
    more = '[[data]]\nname = "Mushroom"\nload = "mushroom"\n\n[[algorithm]]\nname = "Oza"'
    declare(tmp_path, SMALL.format(id="x/table-1", copies=1, learners=3).replace('[[algorithm]]\nname = "Oza"', more))
    monkeypatch.delenv(storage.VARIABLE, raising=False)
    monkeypatch.setattr(storage, "cache_folder", lambda: tmp_path / "nothing")

    def offline(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr("pooch.retrieve", offline)
    told = invoke("all", "--papers", str(papers), "--out", str(tmp_path / "out"), "--jobs", "1")
    assert told.exit_code == 0, told.stderr
    assert "without data set mushroom" in told.stderr
    assert "set EDGEWISE_DATA to it" in told.stderr
    assert "Missing: data set mushroom" in told.stdout
    (found,) = results.load(tmp_path / "out" / "results.json")
    assert [cell.ours is None for cell in found.cells] == [False, False, True, True]
    assert found.missing[0].what == "data set mushroom"
    assert not found.complete


def test_a_run_that_fails_is_told_and_the_others_go_on(papers, tmp_path):
    text = SMALL.format(id="x/table-1", copies=1, learners=3).replace(
        '"OzaBoost", n_estimators = 3', '"OzaBoost", n_estimators = 0'
    )
    declare(tmp_path, text)
    told = invoke("all", "--papers", str(papers), "--out", str(tmp_path / "out"), "--jobs", "1")
    assert told.exit_code == 1
    assert "FAILED, ValueError: n_estimators=0" in told.stderr
    (found,) = results.load(tmp_path / "out" / "results.json")
    assert [cell.ours is None for cell in found.cells] == [True, False]
    assert not found.complete
    assert len(kept_files()) == 1  # a failure is not kept


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("curves =", "curvs =", "'curvs' is not one of"),
        ('better = "higher"', 'better = "more"', "better is 'more'"),
        ("[printed.Balance]", "[printed.Balanse]", "printed Balanse, Oza: no such data set or algorithm"),
        ('game = "labels"', "", "'game' is missing"),
        ('id = "x/table-1"', 'id = "x/table-1"\nlike = "y"', "like = 'y', which is not declared"),
        ('id = "x/table-1"', "id = ", "x.toml: "),
    ],
)
def test_a_mistake_in_a_declaration_is_told(papers, tmp_path, old, new, words):
    declare(tmp_path, SMALL.format(id="x/table-1", copies=1, learners=3).replace(old, new))
    with pytest.raises(ValueError, match=r"x\.toml") as told:
        declarations.read(papers)
    assert words in str(told.value)


# -- worse than the paper ----------------------------------------------------------------------------------------------


def cell(ours: float, error: float | None, paper: float | None, better: str = "higher") -> Cell:
    return Cell("d", "a", "m", better, Measured(ours, error, 1 if error is None else 5, 1.0), paper, None, 5)


@pytest.mark.parametrize(
    ("given", "worse"),
    [
        (cell(0.79, 0.004, 0.80), True),
        (cell(0.79, 0.006, 0.80), False),
        (cell(0.81, 0.001, 0.80), False),
        (cell(0.79, None, 0.80), True),
        (cell(0.80, None, 0.80), False),
        (cell(0.81, 0.004, 0.80, "lower"), True),
        (cell(0.79, 0.004, 0.80, "lower"), False),
        (cell(0.10, 0.004, None), False),
    ],
)
def test_worse_by_more_than_two_standard_errors(given, worse):
    assert given.worse is worse
    assert (tables.MARK in tables.TEXT.row(given)[4]) is worse


def test_a_mark_cannot_be_hidden(papers, tmp_path):
    out = tmp_path / "out"
    told = invoke("all", "--papers", str(papers), "--out", str(out), "--jobs", "1")
    assert told.exit_code == 0, told.stderr
    marked = [line for line in told.stdout.splitlines() if line.startswith("Balance") and tables.MARK in line]
    assert len(marked) == 1
    assert "Oza" in marked[0]
    assert "1 of 2 values are worse" in told.stdout
    assert "1 of 2 values are worse" in (out / "results.md").read_text()
    assert (out / "results.md").read_text().count(f" {tables.MARK} |") == 1
    lines = list(csv.DictReader((out / "results.csv").open()))
    assert [(line["algorithm"], line["worse"]) for line in lines] == [("Oza", "True"), ("OLM", "False")]
    plain = json.loads((out / "results.json").read_text())
    assert [each["worse"] for each in plain["reproductions"][0]["cells"]] == [True, False]
    plain["reproductions"][0]["cells"][0]["worse"] = False
    plain["reproductions"][0]["cells"][0]["difference"] = 1.0
    (out / "results.json").write_text(json.dumps(plain))
    (found,) = results.load(out / "results.json")
    assert [each.algorithm for each in found.worse] == ["Oza"]  # it follows from the numbers
    assert tables.MARK in tables.markdown([found])


def test_a_terminal_that_cannot_show_the_marks(papers, tmp_path):
    process = start(papers, tmp_path / "out", PYTHONIOENCODING="ascii")
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    assert said.count("(!)") == 2  # the cell, and what the sign means


# -- quick, and what is declared ---------------------------------------------------------------------------------------


def test_quick_cuts_what_it_says(papers, tmp_path):
    (declared,) = declarations.read(papers).values()
    jobs = [job for line in lines_of(declared, Options(quick=True)) for job in line.jobs]
    assert [(job.rows, job.model["n_estimators"]) for job in jobs] == [(50, 2)] * 2
    said = "at most 50 rows, at most 2 learners; 1 seed"
    assert describe_quick(declared, Options(quick=True)) == said
    assert describe_quick(declared, Options()) is None
    told = invoke("all", "--papers", str(papers), "--out", str(tmp_path / "out"), "--jobs", "1", "--quick")
    for text in (told.stdout, *((tmp_path / "out" / f"results.{kind}").read_text() for kind in ("md", "csv", "json"))):
        assert said in text
    assert "QUICK" in told.stdout


def test_best_of_and_across(papers, tmp_path):
    more = """
[[algorithm]]
name = "best"
best_of = ["Oza", "OLM"]

[[across]]
kind = "error"
name = "line"
curve = "picture"
x_label = "x"
y_label = "y"
measure = "all"
points = [[1, "Oza"], [2, "OLM"]]

[quick]"""
    declare(tmp_path, SMALL.format(id="x/table-1", copies=1, learners=3).replace("[quick]", more))
    (found,) = reproductions(finished(papers))
    oza, olm, best = found.cells
    assert best.ours == max(oza.ours, olm.ours)
    assert best.note == f"best: {(oza if oza.ours > olm.ours else olm).algorithm}"
    assert found.curves[-1].series == [("line", [1, 2], [oza.ours.mean, olm.ours.mean])]


def test_every_declaration_can_be_run():
    known = declarations.declarations()
    assert {"000/table-3", "000/table-4", "000/table-5", "000/figure-1"} <= set(known)
    assert {"003/table-1", "003/table-2", "003/figure-1", "003/figure-2"} <= set(known)
    for declared in known.values():
        for line in lines_of(declared, Options()):
            assert line.data.load is None or line.data.load in datasets.names()
            for job in line.jobs[:1]:
                assert callable(game_of(job.game))
                json.dumps(job)
    for name in ("000/table-3", "003/table-1"):
        for line in lines_of(known[name], Options(quick=True)):
            make(line.jobs[0].model, random_state=1)


def test_the_list_names_them_all():
    told = invoke("--list")
    assert told.exit_code == 0
    for name, declared in declarations.declarations().items():
        assert f"{name} " in told.stdout
        assert declared.title in told.stdout


def test_figure_1_of_000():
    """Monotone with edge .01, not with edge .1, as the paper's caption says."""
    (found,) = [each for each in declarations.declarations().values() if each.id == "000/figure-1"]
    lines = {line.algorithm.name: game_of("potentials")(line.jobs[0]) for line in lines_of(found, Options())}
    rising = {name: np.diff(record.curves[0]["series"][0]["y"]) for name, record in lines.items()}
    assert np.all(rising["edge .01"] > 0)
    assert rising["edge .1"][0] > 0 > rising["edge .1"][-1]
