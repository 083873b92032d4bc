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

from edgewise.reproduction import html_tables as tables
from edgewise.reproduction.charts import line_chart
from edgewise.reproduction.results import Cell, Curve, Reproduction, as_json

TITLE = "The papers' tables and figures, reproduced"
KINDS = {
    "learning": "Learning curves",
    "edge": "Edges of the learners over time",
    "weight": "Weights of the learners over time",
    "bound": "Bounds and what they bound",
    "cost": "Cost curves",
    "error": "Error curves",
}


def html(reproductions: Sequence[Reproduction]) -> str:
    """The page."""
    folder = files("edgewise.reproduction")
    return Template(folder.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        title=escape(TITLE),
        style=folder.joinpath("page.css").read_text(encoding="utf-8"),
        summary=_summary(reproductions),
        sections="\n".join(map(_section, reproductions)),
        # "</" in a string would end the element; "<\/" is the same string.
        data=json.dumps(as_json(reproductions), allow_nan=False).replace("</", "<\\/"),
    )


def _summary(reproductions: Sequence[Reproduction]) -> str:
    """What was compared, what is worse, cell by cell, and where to find everything."""
    compared = [cell for each in reproductions for cell in each.cells if cell.difference is not None]
    worse = [(each, cell) for each in reproductions for cell in each.worse]
    parts = [
        f"<p><strong>{len(compared):,}</strong> {_plural(len(compared), 'value')} of the papers beside ours, in "
        f"{len(reproductions)} {_plural(len(reproductions), 'table')} and figures. "
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
    rows = "".join(_contents_row(each) for each in reproductions)
    parts.append(
        '<nav aria-label="Tables and figures">'
        + tables.boxed(
            "Tables and figures",
            "<thead><tr><th scope=col>table or figure<th scope=col>worse<th scope=col>of compared<th scope=col>cells"
            f"<th scope=col>CPU s</tr></thead><tbody>{rows}</tbody>",
        )
        + "</nav>"
    )
    if worse:
        items = "".join(f"<li>{_worse_item(each, cell)}</li>" for each, cell in worse)
        parts.append(f"<h2>Worse than the paper</h2><ul id=worse>{items}</ul>")
    return "\n".join(parts)


def _contents_row(each: Reproduction) -> str:
    compared = sum(cell.difference is not None for cell in each.cells)
    worse = len(each.worse)
    name = f'<a href="#{_anchor(each.id)}">{escape(each.id)}</a> {escape(each.title)}'
    marks = "" if each.complete else " <span class=worse>not whole</span>"
    marks += " <span class=worse>quick</span>" if each.environment.quick else ""
    count = f"<td class=worse>{worse}" if worse else "<td>0"
    return (
        f"<tr><th scope=row>{name}{marks}{count}<td>{compared}<td>{len(each.cells)}"
        f"<td>{each.environment.cpu_seconds:,.0f}</tr>"
    )


def _worse_item(each: Reproduction, cell: Cell) -> str:
    assert cell.ours is not None
    assert cell.paper is not None
    places = tables.decimals([other for other in each.cells if other.measure == cell.measure])
    return (
        f'<a href="#{_anchor(each.id)}">{escape(each.id)}</a>, {escape(cell.data)}, {escape(cell.algorithm)} '
        f"({escape(cell.measure)}): <span class=worse>{tables.spread(cell.ours, places)}</span>, "
        f"paper {tables.figure(cell.paper, places)}"
    )


def _section(each: Reproduction) -> str:
    parts = [
        f'<section id="{_anchor(each.id)}"><p class=unit>{escape(each.id)}</p><h2>{escape(each.title)}</h2>',
        f"<p class=citation>{escape(each.paper)}</p><p>{escape(each.what)}</p>",
    ]
    if each.environment.quick:
        parts.append(
            f"<p class=banner><strong>Quick:</strong> {escape(each.environment.quick)}. These numbers are not "
            "comparable with the paper's.</p>"
        )
    if not each.complete:
        parts.append("<p class=banner><strong>Not whole:</strong> some runs of this table are missing.</p>")
    if each.missing:
        items = "".join(f"<li>{escape(gone.what)}: {escape(gone.how)}</li>" for gone in each.missing)
        parts.append(f"<h3>Missing</h3><ul class=missing>{items}</ul>")
    body = [_tables(each.cells), _curves(each.curves)]
    parts += reversed(body) if "figure" in each.id else body  # what the paper shows comes first
    if each.departures:
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in each.departures)
        parts.append(f"<h3>Where this departs from the paper</h3><ul>{items}</ul>")
    parts.append("<h3>Settings</h3>" + _terms(each.settings.items()))
    where = each.environment
    versions = ", ".join(f"{name} {version}" for name, version in where.versions.items())
    seconds = f"{where.cpu_seconds:,.0f} CPU seconds, runs found in the cache among them"
    terms = {"machine": where.machine, "versions": versions, "kernels": where.kernels, "time": seconds}
    parts.append("<h3>Where it ran</h3>" + _terms((terms | {"newest run": where.date}).items()) + "</section>")
    return "\n".join(parts)


def _tables(cells: Sequence[Cell]) -> str:
    found = []
    for measure in dict.fromkeys(cell.measure for cell in cells):
        of_measure = [cell for cell in cells if cell.measure == measure]
        found += [tables.glance(of_measure), tables.every_cell(of_measure)]
    return f"<div class=tables>{''.join(found)}</div>"


def _curves(curves: Sequence[Curve]) -> str:
    """The kinds in the order in which they come."""
    parts = []
    for kind in dict.fromkeys(curve.kind for curve in curves):
        drawn = [
            line_chart(
                ", ".join(filter(None, (curve.data, curve.algorithm))) or KINDS[kind],
                curve.x_label,
                curve.y_label,
                [(line.name, line.x, line.y) for line in curve.series],
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


def _terms(pairs: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}<dd>{escape(told)}" for name, told in pairs) + "</dl>"


def _anchor(name: str) -> str:
    return escape(name.replace("/", "-"), quote=True)


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
