"""How Sphinx builds these pages: `make docs`, into docs/_build/html. Warnings are errors there."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

HERE = Path(__file__).parent
RESULTS = HERE.parent / "benchmarks" / "results"
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]
os.environ.setdefault("MPLBACKEND", "Agg")

import public_names  # noqa: E402

import edgewise  # noqa: E402

# `edgewise` gives these modules by attribute, under names of their own; autodoc imports what it documents.
sys.modules |= {f"edgewise.{name}": getattr(edgewise, name) for name in ("datasets", "off_policy")}

project = "edgewise"
author = "the edgewise developers"
copyright = author
version = release = edgewise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "api/generated/*.md"]
templates_path = ["_templates"]
default_role = "py:obj"
suppress_warnings = ["config.cache"]  # the gallery's settings hold a class, which cannot be pickled

highlight_language = "none"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "edgewise"
html_static_path = ["_static"]
html_css_files = ["edgewise.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "tutorial": [], "which-model": []}
# Formulas become MathML while the pages are built: they need no script and no network to be read.
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"own_",  # they stand whole in how-to/extending.md
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "remove_config_comments": True,
}


def mathml(writer, node, display: str) -> None:
    """Write a formula."""
    writer.body.append(convert(node.astext(), display=display))
    raise SkipNode


def make_results_pages(app: Sphinx) -> None:
    """A page for every result file: they lie outside of this folder."""
    folder = HERE / "results"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for found in sorted(RESULTS.glob("*.md")):
        shutil.copy(found, folder)


def link_results_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to result files go to their pages; of files that are not there yet, the words remain."""

    def page_of(link: re.Match[str]) -> str:
        text, name = link.groups()
        return f"[{text}](/results/{name})" if (RESULTS / name).exists() else text

    source[0] = re.sub(r"\[([^]]*)\]\((?:\.\./)+benchmarks/results/([\w.]+)\)", page_of, source[0])


def every_name_is_documented(app: Sphinx) -> None:
    missing = public_names.problems()
    if missing:
        raise ExtensionError("public names without documentation:\n" + "\n".join(missing))


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer(
        "mathml",
        (lambda writer, node: mathml(writer, node, "inline"), None),
        (lambda writer, node: mathml(writer, node, "block"), None),
    )
    app.connect("builder-inited", make_results_pages)
    app.connect("source-read", link_results_pages)
    app.connect("builder-inited", every_name_is_documented)
