"""What docs/batch.md says is so: its example prints what it shows, its tables are those of the result files."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
PAGE = (TOP / "docs" / "batch.md").read_text()
RESULTS = TOP / "benchmarks" / "results"


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    ((example, shown),) = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "docs/batch.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_tables_are_those_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOP))
    report = importlib.import_module("benchmarks.accuracy.batch_report")
    records = report.cells.complete("batch")
    speed = json.loads((RESULTS / "batch_speed.json").read_text())
    assert report.filled(PAGE, records, speed) == PAGE
    assert report.markdown(records, speed) == (RESULTS / "batch.md").read_text()


def test_links_and_pictures_exist() -> None:
    titles = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^## (.+)$", PAGE, re.M)
    }
    targets = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert targets
    for target in targets:
        if target.startswith("#"):
            assert target[1:] in titles
        else:
            assert (TOP / "docs" / target).exists(), target
