"""What the README says is so: its example runs, its names exist, its tables are those of the result files."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.reproduction.results import HIGHER, Cell, Environment, Measured, Reproduction, save

TOP = Path(__file__).resolve().parent.parent
README = (TOP / "README.md").read_text()
PAGES = [TOP / "README.md", TOP / "docs" / "theory.md", TOP / "docs" / "reproduction.md"]


@pytest.fixture
def readme(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP))
    return importlib.import_module("benchmarks.pages.readme")


def block(text, name):
    return text.split(f"<!-- table: {name} -->\n")[1].split("\n<!-- end -->")[0]


def test_the_example_runs_as_it_is(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    model, y = names["model"], names["y"]
    assert model.rounds_ == len(names["guesses"]) == 1500
    assert (names["guesses"] == y[:1500]).mean() > max(np.unique(y, return_counts=True)[1]) / len(y)
    printed = capsys.readouterr().out
    assert "mistakes in 1500 rounds" in printed


def test_classes_and_commands_exist():
    table = README.split("## Algorithms")[1].split("\n\n")[1]
    classes = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert {"AdaBoostOLM", "OnlineMBBM"} <= set(classes)
    for name in classes:
        assert isinstance(getattr(ew, name), type)
    from edgewise.cli import main

    commands = re.findall(r"^edgewise (\w+)", README.split("## Command line")[1].split("```")[1], re.MULTILINE)
    assert "race" in commands
    for command in commands:
        assert command in main.commands
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in (TOP / "Makefile").read_text()


def test_attributes_that_the_readme_promises():
    model = ew.AdaBoostOLM(n_estimators=3, random_state=1)
    X, y = ew.datasets.shuffled(*ew.datasets.load("balance"), seed=1, rows=60)
    model.prequential(X, y)
    for name in re.findall(r"`model\.(\w+)", README):
        getattr(model, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        if path.startswith("http"):
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def test_every_file_named_is_there():
    for name in re.findall(r"`((?:benchmarks|docs|examples)/[\w/.-]+\.(?:py|png|md))", README):
        assert (TOP / name).exists(), name


@pytest.mark.parametrize("name", ["papers", "accuracy", "speed", "defaults", "peers", "streams"])
def test_tables_are_up_to_date(readme, name):
    path = TOP / "benchmarks" / "results" / readme.BLOCKS[name].source
    if not path.exists():
        pytest.skip(f"no {path.name}: nothing to compare the table with")
    assert block(README, name) == block(readme.filled(README), name)


def run(name, learners, seed, whole, last, complete=True):
    numbers = {"all": whole, "last_fifth": last, "log_loss": 0.25, "cpu_s": 1.0, "rows": 100}
    return {"data": name, "off": "nothing", "learners": learners, "seed": seed, "complete": complete, **numbers}


def reproduction(name, values, quick=None):
    """A table of one data set: algorithm -> ours and the paper's, ours None where it has not run."""
    cells = [
        Cell(
            "Balance",
            algorithm,
            "accuracy",
            HIGHER,
            None if ours is None else Measured(ours, 0.01, 2, 1.0),
            paper,
            None,
            2,
            Measured(0.88, 0.01, 3, 0.1),
            "AdaBoostOLM()",
        )
        for algorithm, (ours, paper) in values.items()
    ]
    where = Environment("a machine", {"Python": "3.11"}, "0123", quick, 90.0, "2026-01-02")
    return Reproduction(name, f"Title of {name}", "a paper", "what", [], {}, cells, [], [], where, not quick)


def first_paper(quick=None, **changes):
    values = {name: (0.9, 0.8) for name in ("DT", "OLB", "AdaOLM", "OvA", "AdaOVA")}
    values |= {f"MB {edge}": (0.7, 0.6) for edge in (".3", ".1", ".05", ".01", ".001")}
    values |= changes
    return [reproduction(name, values, quick) for name in ("000/table-3", "000/table-4")]


def keep(found, folder):
    """As `benchmarks/papers/report.py` keeps a run."""
    (folder / "reproduction").mkdir()
    save(found, folder / "results.json")
    text = (folder / "results.json").read_bytes()
    (folder / "reproduction" / "results.json.gz").write_bytes(gzip.compress(text))


def test_tables_of_the_papers(readme, tmp_path):
    """The best of five edges beside the paper's best, counts of what is worse, and the defaults."""
    changes = {"MB .05": (0.75, 0.65), "DT": (0.77, 0.8), "OLB": (None, 0.5)}
    found = first_paper(**changes)
    keep(found, tmp_path)
    text = readme.filled(README, tmp_path)
    accuracy, papers = block(text, "accuracy"), block(text, "papers")
    line = "| Balance | .770 (.800) | – (.500) | .900 (.800) | .750 (.650) | .900 (.800) | .900 (.800) | .880 |"
    assert accuracy.count(line) == 2
    assert "Of 18 values, with every edge of MB by itself, 2 are worse" in accuracy
    assert "DT on Balance (accuracy)" in accuracy
    assert "| `000/table-3` | Title of 000/table-3 | 9 | 1 | 1.5 |" in papers
    assert "a machine; Python 3.11." in papers
    assert readme.filled(text, tmp_path) == text


def test_an_edge_that_has_not_run_leaves_no_best_one(readme, tmp_path):
    keep(first_paper(**{"MB .3": (None, 0.9)}), tmp_path)
    assert "| .900 (.800) | – (.900) | .900 (.800) |" in block(readme.filled(README, tmp_path), "accuracy")


def test_a_quick_run_is_no_result(readme, tmp_path):
    keep(first_paper(quick="50 rows"), tmp_path)
    text = readme.filled(README, tmp_path)
    assert block(text, "accuracy").startswith("*Not here yet")
    assert block(text, "papers").startswith("*Not here yet")


def test_tables_from_made_up_results(readme, tmp_path):
    """Means over seeds, the newest of equal cells; twice changes nothing."""
    runs = [run("car", 10, 1, 0.0, 0.0), run("car", 10, 1, 0.5, 0.6), run("car", 10, 2, 0.7, 0.8)]
    runs += [run("car", 100, 1, 0.9, 1.0), run("car", 100, 2, 0.0, 0.0, complete=False), run("new", 10, 1, 0.1, 0.2)]
    (tmp_path / "defaults.jsonl").write_text("\n".join(map(json.dumps, runs)) + '\n{"data": "c')
    both = [{"contender": "capymoa.OzaBoost", "best_cpu_s": 3.0}, {"contender": "edgewise.OzaBoost", "best_cpu_s": 1.5}]
    report = {"machine": {"cpu": "a", "system": "b", "python": "c"}, "settings": {"trees": 100, "repeats": 3}}
    report["results"] = [found | {"data": "car", "rows": 1728, "options": {}} for found in both]
    (tmp_path / "speed.json").write_text(json.dumps(report))

    text = readme.filled(README, tmp_path)
    speed, defaults = (block(text, name) for name in ("speed", "defaults"))
    assert "| car | 1,728 | 2x | – | – | – |" in speed
    assert "| data | rows | AdaBoostOLM, 10 | AdaBoostOLM, 100 | log-loss, 100 learners | CPU s, 100 " in defaults
    assert "| car | 100 | .600 / .700 | .900 / 1.000 | .250 | 1.0 |" in defaults
    assert "| new | 100 | .100 / .200 | – | – | – |" in defaults
    assert "1 to 2 shuffles" in defaults
    assert readme.filled(text, tmp_path) == text


def test_without_results_the_tables_say_so(readme, tmp_path):
    text = readme.filled(README, tmp_path)
    for name, table in readme.BLOCKS.items():
        assert block(text, name) == f"*Not here yet: `benchmarks/results/{table.source}` is missing or incomplete.*"


def test_check_fails_on_a_changed_table(readme, tmp_path, monkeypatch):
    changed = tmp_path / "README.md"
    changed.write_text(readme.filled(README).replace("<!-- end -->", "| extra |\n<!-- end -->", 1))
    monkeypatch.setattr(readme, "README", changed)
    monkeypatch.setattr(sys, "argv", ["readme.py", "--check"])
    with pytest.raises(SystemExit) as stopped:
        readme.main()
    assert stopped.value.code
    monkeypatch.setattr(sys, "argv", ["readme.py"])
    readme.main()
    assert changed.read_text() == readme.filled(README)


def test_the_script_runs_on_its_own():
    command = [sys.executable, "-m", "benchmarks.pages.readme", "--help"]
    done = subprocess.run(command, cwd=TOP, capture_output=True)
    assert done.returncode == 0
