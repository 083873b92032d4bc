"""The page and the tables of benchmarks/accuracy/peers.py, from made-up cells."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP))
    return importlib.import_module("benchmarks.accuracy.peers_report")


def cell(data, model, learners, whole, last, loss, seconds, *, order="shuffled", used=None, **further):
    used = learners if used is None else used
    record = {"order": order, "data": data, "model": model, "learners": learners, "seed": 1, "rows": 1728}
    record |= {"complete": True, "library_versions": {}, "kernels": "k", "foreseen_s": {}, "used_learners": used}
    record |= {"all": whole, "last_fifth": last, "log_loss": loss, "calibration_error": 0.125, "cpu_s": seconds}
    return record | {"bytes": None} | further


CELLS = [
    cell("car", "olm", 10, 0.8, 0.85, 0.3, 0.1),
    cell("car", "olm", 100, 0.1, 0.1, 9.0, 9.0),
    cell("car", "olm", 100, 0.9, 0.95, 0.2, 1.0),  # run again
    cell("car", "capymoa-arf", 100, 0.88, 0.97, 0.5, 30.0, used=30, foreseen_s={"100": 400}),
    cell("car", "capymoa-sgbt", 100, 0.7, 0.7, 0.1, 50.0),
    cell("car", "vw", 100, 0.85, 0.86, 0.25, 0.5, used=1),
    cell("car", "river-srp", 100, 0.0, 0.0, 0.0, 0.0) | {"used_learners": None, "foreseen_s": {"100": 900, "30": 500}},
    cell("new", "olm", 100, 0.5, 0.5, 0.5, 1.0),
    cell("new", "capymoa-sgbt", 100, 0, 0, 0, 0, failed="NullPointerException") | {"used_learners": None},
    cell("electricity", "olm-drift", 30, 0.91, 0.92, 0.2, 2.0, order="file", bytes=3_000_000),
    cell("electricity", "olm-drift", 100, 0.93, 0.92, 0.2, 8.0, order="file"),
    cell("electricity", "capymoa-lb", 100, 0.9, 0.91, 0.4, 24.0, order="file", used=30),
    cell("electricity", "capymoa-arf", 100, 0.9, 0.91, 0.4, 60.0, order="file"),
]


def test_the_headline(report):
    """The newest cell counts; the best peer is that over all rows; labels as votes are no probabilities."""
    lines = report.headline(CELLS).splitlines()
    assert lines[2] == (
        "| car | 1,728 | .800 / .850 | – | .900 / .950 | .880 / .970 (capymoa-arf 30) | .200 | .250 (vw) | "
        "0.1 / – / 1.0 | 30.0 |"
    )
    assert not any(line.startswith("| new") for line in lines), "no peer ran there"
    assert report.headline([]) == ""


def test_ratios_are_of_as_many_learners(report):
    lines = report.in_order(CELLS).splitlines()[2:]
    assert [line.split(" | ")[-2] for line in lines] == ["", "", "12.0x", "7.5x"]
    assert lines[0].endswith("| 2.0 |  | 3 |")


def test_the_page(report):
    page = report.page(CELLS)
    assert "- accuracy over all rows: 1 of 1\n" in page
    assert "- last fifth: 0 of 1; not on car (.9500, capymoa-arf 30 .9700)\n" in page
    assert "- log-loss: 1 of 1\n" in page
    assert "| olm 100 | **.900** | **.500** |" in page
    assert "| capymoa-arf | .880 (30) | – |" in page
    assert "- shuffled car, capymoa-arf: run with 30; 100 learners would take 400 CPU s\n" in page
    assert "- shuffled car, river-srp: not run; 100 learners would take 900 CPU s, 30 learners would take 500" in page
    assert "- shuffled new, capymoa-sgbt: stopped with NullPointerException\n" in page


def test_the_best_peers(report, tmp_path, monkeypatch):
    path = tmp_path / "peers.jsonl"
    part = cell("car", "vw", 100, 1.0, 1.0, 0.0, 0.1) | {"complete": False}
    path.write_text("\n".join(map(json.dumps, [*CELLS, part])) + "\n")
    monkeypatch.setattr(report.cells, "RESULTS", tmp_path)
    assert report.best_peers() == {"car": {"all": 0.88, "last_fifth": 0.97}}


def test_every_model_of_the_plan_is_known(report):
    """And ours come first: they are the cheapest."""
    from edgewise.evaluation.models import KNOWN

    peers = importlib.import_module("benchmarks.accuracy.peers")
    planned = peers.planned(["shuffled", "file"], None, None)
    assert {cell.model for cell in planned} <= set(KNOWN)
    assert len(set(planned)) == len(planned)
    assert {cell.data for cell in planned if cell.model.startswith("river")} == set(peers.RIVER_SETS)
    assert planned[-1].model == "river-lb"
    only = peers.planned(["file"], "kdd99", "olm-drift")
    assert [(cell.data, cell.learners) for cell in only] == [("kdd99", 30), ("kdd99", 100)]


def test_a_file_made_small_holds_the_newest_of_each_cell(report, tmp_path):
    """Many cells on a line, read as they were; a trial of fewer rounds does not replace what is complete."""
    path, cells = tmp_path / "cells.jsonl", report.cells
    seeds = [cell("car", "olm", 10, 0.1 * seed, 0.5, 1 / 3, 1.0) | {"seed": seed} for seed in (1, 2)]
    again = seeds[0] | {"all": 0.1 + 0.2, "failed": "Error"}
    trial = seeds[0] | {"complete": False}
    for record in (*seeds, again, trial):
        cells.append(path, record)
    fields = ("order", "data", "model", "learners", "seed")
    cells.make_small(path, fields)
    (line,) = path.read_text().splitlines()
    assert len(line) < len(json.dumps(again)) * 2
    assert cells.known(path) == [
        each | {"log_loss": 0.3333333333} for each in (again, seeds[1] | {"failed": None}, trial | {"failed": None})
    ]
    cells.make_small(path, fields)
    assert path.read_text() == line + "\n"
