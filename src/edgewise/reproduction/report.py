"""Reproductions as one HTML file: tables, curves, what departs from the papers and what is missing.

The file needs no network and no script. Nothing in it is folded away; a cell that is worse than the paper's is marked
in words and color, in its table and in the summary on top. Partial results make a partial page, which says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

from edgewise.reproduction.charts import line_chart
from edgewise.reproduction.declarations import LOWER
from edgewise.reproduction.results import Cell, Curve, Reproduction, as_json
from edgewise.reproduction.tables import (
    HEADINGS,
    MARK,
    NONE,
    Numbers,
    beside,
    by_measure,
    made_with,
    notices,
    verdict,
)

TITLE = "The papers' tables and figures, reproduced"
KINDS = {
    "learning": "Learning curves",
    "edge": "Edges of the learners over time",
    "weight": "Weights of the learners over time",
    "bound": "Bounds and what they bound",
    "cost": "Cost curves",
    "error": "Error curves",
}
FEWEST, MOST = 3, 4  # decimals
MOST_COLUMNS = 12  # that fit on a printed page
WORSE, MISSING = "worse", "–"
MINUS = str.maketrans("-", "−")


def html(reproductions: Sequence[Reproduction]) -> str:
    """The page. Its data hold all numbers of the tables; the points of the curves are in results.json."""
    folder = files("edgewise.reproduction")
    data = as_json([each._replace(curves=[]) for each in reproductions])
    return Template(folder.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        title=escape(TITLE),
        style=folder.joinpath("page.css").read_text(encoding="utf-8"),
        summary=_summary(reproductions),
        sections="\n".join(map(_section, reproductions)),
        # "</" in a string would end the element; "<\/" is the same string.
        data=json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"),
    )


# -- the page --------------------------------------------------------------------------------------------------------


def _summary(reproductions: Sequence[Reproduction]) -> str:
    """What was compared, what is worse, cell by cell, and where to find everything."""
    compared = sum(cell.difference is not None for each in reproductions for cell in each.cells)
    worse = [(each, cell) for each in reproductions for cell in each.worse]
    parts = [
        f"<p><strong>{compared:,}</strong> {'value' if compared == 1 else 'values'} of the papers beside ours, in "
        f"{len(reproductions)} {'table' if len(reproductions) == 1 else 'tables'} and figures. "
        f"<strong{' class=worse' if worse else ''}>{len(worse):,}</strong> of ours "
        f"{'is' if len(worse) == 1 else 'are'} worse than the paper's by more than two standard errors; with one seed, "
        "by anything at all.</p>"
    ]
    quick = ", ".join(each.id for each in reproductions if each.environment.quick)
    if quick:
        parts.append(
            f"<p class=banner><strong>A quick run, not the papers' settings.</strong> {escape(quick)} had fewer rows, "
            "seeds or learners, as told there: their numbers say that everything runs, and little else.</p>"
        )
    unfinished = ", ".join(each.id for each in reproductions if not each.complete)
    if unfinished:
        parts.append(
            f"<p class=banner><strong>Not whole.</strong> Runs are missing in {escape(unfinished)}: the same command "
            "continues what was interrupted, and what could not be run is told there.</p>"
        )
    head = ("table or figure", "worse", "of compared", "cells", "CPU s")
    contents = _table("Tables and figures", head, "".join(map(_contents_row, reproductions)))
    parts.append(f'<nav aria-label="Tables and figures">{contents}</nav>')
    if worse:
        parts.append(f"<h2>Worse than the paper</h2>{_list((_worse(*found) for found in worse), ' id=worse')}")
    return "\n".join(parts)


def _contents_row(each: Reproduction) -> str:
    marks = {"not whole": not each.complete, "quick": bool(each.environment.quick)}
    name = _link(each) + f" {escape(each.title)}"
    name += "".join(f" <span class=worse>{mark}</span>" for mark, shown in marks.items() if shown)
    compared = sum(cell.difference is not None for cell in each.cells)
    return (
        f"<tr><th scope=row>{name}<td{' class=worse' if each.worse else ''}>{len(each.worse)}<td>{compared}"
        f"<td>{len(each.cells)}<td>{each.environment.cpu_seconds:,.0f}</tr>"
    )


def _worse(each: Reproduction, cell: Cell) -> str:
    numbers = Printed(by_measure(each)[cell.measure])
    where = f"{_link(each)}, {escape(cell.data)}, {escape(cell.algorithm)} ({escape(cell.measure)})"
    ours, paper = (_spread(text) for text in numbers.row(cell)[2:4])
    return f"{where}: <span class=worse>{ours}</span>, paper {paper}"


def _section(each: Reproduction) -> str:
    shown = [_tables(each), _curves(each.curves)]
    if "figure" in each.id:  # what the paper shows comes first
        shown.reverse()
    banners = [f"<p class=banner>{escape(notice)}</p>" for notice in notices(each)]
    settings = "".join(f"<dt>{escape(name)}<dd>{escape(words)}" for name, words in each.settings.items())
    departures = _list(map(escape, each.departures))
    return "\n".join(
        (
            f'<section id="{_anchor(each)}"><p class=unit>{escape(each.id)}</p><h2>{escape(each.title)}</h2>',
            f"<p class=citation>{escape(each.paper)}</p><p>{escape(each.what)}</p>",
            *banners,
            *shown,
            f"<h3>Where this departs from the paper</h3>{departures}" if each.departures else "",
            f"<h3>Settings</h3><dl>{settings}</dl>",
            f"<h3>Where it ran</h3><p>{escape(made_with(each))}</p></section>",
        )
    )


def _link(each: Reproduction) -> str:
    return f'<a href="#{_anchor(each)}">{escape(each.id)}</a>'


def _anchor(each: Reproduction) -> str:
    return escape(each.id.replace("/", "-"))


def _list(items: Iterable[str], attributes: str = "") -> str:
    return f"<ul{attributes}>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


# -- tables ----------------------------------------------------------------------------------------------------------


class Printed(Numbers):
    """Numbers as papers print them: so many decimals, without the zero in front."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.places = decimals(cells)

    def value(self, value: float, cell: Cell | None = None) -> str:
        return figure(value, self.places)

    def change(self, value: float, cell: Cell | None = None) -> str:
        return f"{value:.{self.places}f}".removeprefix("0") if value < 1.0 else figure(value, self.places)

    def seconds(self, value: float) -> str:
        return super().seconds(value) if value >= 1.0 else f"{value:.2g}"


def decimals(cells: Sequence[Cell]) -> int:
    """As many as the paper prints, within reason."""
    printed = [f"{cell.paper:.10g}".partition(".")[2] for cell in cells if cell.paper is not None]
    return min(MOST, max([FEWEST, *map(len, printed)]))


def figure(value: float, places: int) -> str:
    """Decimals without the zero in front; large and tiny numbers by their leading digits."""
    size = abs(value)
    if size >= 1e6 or 0.0 < size < 0.5 * 10.0**-places:
        return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e").translate(MINUS)
    if size >= 1000.0:
        return f"{value:,.0f}".translate(MINUS)
    text = f"{value:.{2 if size >= 10.0 else places}f}"
    if size < 1.0 and not text.lstrip("-").startswith("1"):
        text = text.replace("0.", ".", 1)
    return text.translate(MINUS)


def _tables(each: Reproduction) -> str:
    """For each measure a table at a glance and one of every cell, with the words that go with them."""
    found = [table for cells in by_measure(each).values() for table in (glance(cells), every_cell(cells))]
    words = f"<p>{escape(' '.join(filter(None, (verdict(each), beside(each)))))}</p>" if each.cells else ""
    return f"{words}<div class=tables>{''.join(found)}</div>"


def glance(cells: Sequence[Cell]) -> str:
    """Data sets by algorithms, ours above the paper's, as papers print it; turned around where algorithms are many.
    Empty where there is only one of either."""
    sets = list(dict.fromkeys(cell.data for cell in cells))
    algorithms = list(dict.fromkeys(cell.algorithm for cell in cells))
    if len(sets) < 2 or len(algorithms) < 2:
        return ""
    turned = len(algorithms) > MOST_COLUMNS
    down, across = (algorithms, sets) if turned else (sets, algorithms)
    found = {(cell.algorithm, cell.data) if turned else (cell.data, cell.algorithm): cell for cell in cells}
    numbers = Printed(cells)
    rows = ""
    for name in down:
        rows += f"<tr><th scope=row>{escape(name)}"
        for cell in (found.get((name, other)) for other in across):
            ours = MISSING if cell is None or cell.ours is None else numbers.value(cell.ours.mean)
            rows += f"<td class=bad><span class=worse>{ours} {WORSE}</span>" if cell and cell.worse else f"<td>{ours}"
            if cell is not None and cell.paper is not None:
                rows += f"<span class=theirs>{numbers.value(cell.paper)}</span>"
        rows += "</tr>"
    note = " The first number is ours, the second the paper’s." if any(cell.paper is not None for cell in cells) else ""
    caption = f"{cells[0].measure}, at a glance"
    return _table(caption, ["algorithm" if turned else "data", *across], rows, "glance", _direction(cells) + note)


def every_cell(cells: Sequence[Cell]) -> str:
    """A line for each data set and algorithm. Columns that would be empty throughout are left out."""
    numbers = Printed(cells)
    table = [numbers.row(cell) for cell in cells]
    used = [column for column in range(2, len(HEADINGS)) if any(row[column] != NONE for row in table) or column == 2]
    rows, above = "", None
    for cell, row in zip(cells, table, strict=True):
        if cell.data != above:
            rows += "</tbody><tbody>" if rows else ""
            rows += f"<tr><th scope=rowgroup colspan={1 + len(used)}>{escape(cell.data)}</tr>"
            above = cell.data
        keys = {"data": cell.data, "algorithm": cell.algorithm, "measure": cell.measure}
        marks = "".join(f' data-{key}="{escape(value)}"' for key, value in keys.items())
        rows += f"<tr{' class=bad' if cell.worse else ''}{marks}><th scope=row>{escape(row[1])}"
        for column in used:
            text = _spread(row[column])
            if HEADINGS[column] == "ours" and cell.ours is None:
                text = "not run"
            elif HEADINGS[column] == "difference" and cell.difference is not None:
                better = cell.difference != 0.0 and (cell.difference < 0.0) == (cell.better == LOWER)
                kind = WORSE if cell.worse else "better" if better else ""
                text = f"<span class={kind}>{text.replace(MARK, WORSE)}</span>" if kind else text
            rows += f"<td>{text}"
        rows += "</tr>"
    note = _direction(cells) + " ± is one standard error over seeds."
    return _table(f"{cells[0].measure}, every cell", [HEADINGS[column] for column in (1, *used)], rows, "cells", note)


def _table(caption: str, head: Sequence[str], rows: str, kind: str = "", note: str = "") -> str:
    """A table that scrolls in its box; the box can be reached by keyboard."""
    caption = escape(caption[:1].upper() + caption[1:])
    columns = "".join(f"<th scope=col>{escape(name)}" for name in head)
    return (
        f'<div class=box role=region tabindex=0 aria-label="{caption}"><table class="{kind}">'
        f"<caption><div>{caption}{f' <span class=note>{note}</span>' if note else ''}</div></caption>"
        f"<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _spread(text: str) -> str:
    """A number of a row, its standard error set apart."""
    mean, sign, error = text.partition(" ± ")
    if mean == NONE:
        return MISSING
    return mean.translate(MINUS) + (f" <span class=spread>± {error}</span>" if sign else "")


def _direction(cells: Sequence[Cell]) -> str:
    return "Lower is better." if cells[0].better == LOWER else "Higher is better."


# -- curves ----------------------------------------------------------------------------------------------------------


def _curves(curves: Sequence[Curve]) -> str:
    """The kinds in the order in which they come."""
    parts = []
    for kind in dict.fromkeys(curve.kind for curve in curves):
        drawn = [
            line_chart(
                ", ".join(filter(None, (curve.data, curve.algorithm))) or KINDS[kind],
                curve.x_label,
                curve.y_label,
                curve.series,
            )
            for curve in side_by_side([curve for curve in curves if curve.kind == kind])
        ]
        parts.append(f"<h3>{KINDS[kind]}</h3><div class=charts>{''.join(drawn)}</div>")
    return "".join(parts)


def side_by_side(curves: Sequence[Curve]) -> list[Curve]:
    """Curves of one line each, over the same axes and the same data, in one picture: a line for each algorithm."""
    pictures: dict[tuple[str, ...], Curve] = {}
    for curve in curves:
        alone = len(curve.series) == 1
        key = (curve.data, curve.x_label, curve.y_label, "" if alone else curve.algorithm)
        if not alone:
            pictures[key] = curve
            continue
        line = curve.series[0]._replace(name=curve.algorithm or curve.series[0].name)
        shared = pictures.get(key, curve._replace(algorithm="", series=[]))
        pictures[key] = shared._replace(series=[*shared.series, line])
    return list(pictures.values())
