"""The pages under docs/: their code prints what they say, their links lead somewhere, no public name is left out."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import runpy
from pathlib import Path

import pytest

import edgewise as ew
from tests.pasted import OPTIONS, blocks, paste

TOP = Path(__file__).resolve().parent.parent
DOCS, EXAMPLES = TOP / "docs", TOP / "examples"
MADE = ("_build", "gallery", "results", "generated")  # folders that the build makes
PAGES = sorted(page for page in DOCS.rglob("*.md") if not set(page.relative_to(DOCS).parts) & set(MADE))
# The tutorial is pasted by test_newcomer.py, the two others by the tests of what they are about.
PASTED_ELSEWHERE = {"tutorial.md", "river.md", "saving.md"}
PROMPTS = [page for page in PAGES if "\n>>> " in page.read_text() and page.name not in PASTED_ELSEWHERE]
ALGORITHMS = sorted(page for page in (DOCS / "algorithms").glob("*.md") if page.name != "index.md")


def name_of(page: Path) -> str:
    return page.relative_to(TOP).as_posix()


@pytest.fixture
def public_names(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("public_names")


# -- code ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PROMPTS, ids=name_of)
def test_pages_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [block for block in blocks(page.read_text()) if ">>>" in block.code]
    assert found
    assert paste(name_of(page), found) == []


MODULES = sorted(path for path in (TOP / "src" / "edgewise").rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_docstrings_print_what_they_say(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = ".".join(path.relative_to(TOP / "src").with_suffix("").parts)
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert tried
    assert not failed


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_draw(path, monkeypatch):
    """Every script of the gallery runs, and each of its pictures shows data."""
    import matplotlib.pyplot as plt

    plt.close("all")
    try:
        runpy.run_path(str(path), run_name="__main__")
        assert plt.get_fignums()
        for number in plt.get_fignums():
            for ax in plt.figure(number).axes:
                assert ax.has_data()
    finally:
        plt.close("all")
    title, underline = (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[:2]
    assert underline == "=" * len(title)


# -- names -----------------------------------------------------------------------------------------------------------


def test_every_public_name_is_documented(public_names):
    assert public_names.problems() == []


def test_what_is_not_documented_is_noticed(public_names):
    def undescribed(self, rows, weight):
        return rows * weight

    def lacking(text, others=None):
        return list(public_names.lacking("f", undescribed, text, others or {}))

    assert lacking(None) == ["f: no docstring"]
    assert lacking("Words.") == ["f: does not describe rows", "f: does not describe weight"]
    section = "Words.\n\nParameters\n----------\nrows : array\n    Rows.\n"
    assert lacking(section) == ["f: does not describe weight"]
    assert lacking(section + "weight, height : float\n    More.\n") == ["f: describes height, which is no parameter"]
    undescribed.__annotations__["return"] = "float"
    section += "weight : float\n    More.\n"
    assert lacking(section) == ["f: has no section Returns"]
    assert lacking(section + "\nReturns\n-------\nfloat\n    Product.\n") == []

    class Other:
        __doc__ = section

    undescribed.__annotations__["return"] = "None"
    assert lacking("Words. Parameters are those of `Other`.", {"Other": Other}) == []
    assert lacking("Words. Parameters are those of `Other`.") != []


def test_a_name_that_the_reference_lacks_is_noticed(public_names, monkeypatch, tmp_path):
    monkeypatch.setattr(public_names, "API", tmp_path)
    assert "edgewise.AdaBoostOLM: is not in docs/api" in public_names.problems()


def test_every_booster_has_its_page():
    told = "\n".join(page.read_text() for page in ALGORITHMS)
    boosters = {name for name in ew.__all__ if hasattr(getattr(ew, name), "fit")} - {"CostTree", "BoostingRule"}
    assert {"AdaBoostOLM", "AdaBoostMM", "StreamingNetworksRegressor"} <= boosters
    assert boosters <= set(re.findall(r"\{py:class\}`edgewise\.(\w+)`", told))


@pytest.mark.parametrize("page", ALGORITHMS, ids=name_of)
def test_an_algorithm_is_told_whole(page):
    """What it assumes, guarantees and costs, when to use it, and the paper's equations."""
    text = page.read_text()
    for word in ("Assumes", "Use it", "Guarantees", "Costs"):
        assert re.search(rf"\*\*{word}|^## {word}", text, re.MULTILINE), word
    assert "$$" in text


# -- links and numbers -----------------------------------------------------------------------------------------------


def anchors(page: Path) -> list[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", [TOP / "README.md", *PAGES], ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        there = (page.parent / path).resolve() if path else page
        if there.parent == DOCS / "gallery":  # made by the build, from the examples
            there = EXAMPLES / ("GALLERY_HEADER.rst" if there.stem == "index" else f"{there.stem}.py")
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def test_pages_in_the_trees_exist():
    """Every page is in one table of contents, and every entry of one is a page."""
    listed = []
    for page in PAGES:
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            listed += [(page.parent / f"{entry}.md").relative_to(DOCS).as_posix() for entry in entries]
    listed = [entry for entry in listed if entry not in ("gallery/index.md", "results/*.md")]
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES if page != DOCS / "index.md")


def test_the_tables_of_which_model_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP))
    which_model = importlib.import_module("benchmarks.pages.which_model")
    if not (TOP / "benchmarks" / "results").exists():
        pytest.skip("benchmarks/results is not here: nothing to compare the tables with")
    page = (DOCS / "which-model.md").read_text()
    assert which_model.filled(page) == page
    assert which_model.filled(page.replace("| car |", "| cars |")) == page


def test_the_table_of_binary_columns_is_that_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP))
    binary_columns = importlib.import_module("benchmarks.accuracy.binary_columns")
    if not (TOP / "benchmarks" / "results").exists():
        pytest.skip("benchmarks/results is not here: nothing to compare the table with")
    page = binary_columns.PAGE.read_text()
    assert binary_columns.filled(page) == page
    assert binary_columns.filled(page.replace("| covertype,", "| covertypes,")) == page
