"""Reproductions as text: rows for every kind of table, words that go with them, a page of Markdown, a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from edgewise.reproduction.declarations import LOWER
from edgewise.reproduction.results import Cell, Measured, Reproduction

MARK, NONE = "▼", "-"
HEADINGS = (
    "data", "algorithm", "ours", "paper", "difference", "seeds", "s, ours", "s, paper", "defaults", "s, defaults",
)  # fmt: skip


class Numbers:
    """Numbers as the terminal and Markdown show them."""

    def value(self, value: float, cell: Cell) -> str:
        """With as many digits as papers print: accuracies three, losses four, seconds fewer."""
        if abs(value) >= 100.0:
            return f"{value:,.0f}"
        if cell.better != LOWER:
            return f"{value:.3f}"
        return f"{value:.1f}" if abs(value) >= 2.0 and "seconds" in cell.measure else f"{value:.4f}"

    def change(self, value: float, cell: Cell) -> str:
        """A standard error or a difference, without its sign."""
        return self.value(value, cell)

    def seconds(self, value: float) -> str:
        return f"{value:,.0f}" if value >= 100.0 else f"{value:.1f}"

    def measured(self, found: Measured | None, cell: Cell) -> str:
        """A mean ± its standard error."""
        if found is None:
            return NONE
        error = "" if found.error is None else f" ± {self.change(found.error, cell)}"
        return self.value(found.mean, cell) + error

    def row(self, cell: Cell) -> list[str]:
        """A cell under HEADINGS."""

        def seconds(value: float | None) -> str:
            return NONE if value is None else self.seconds(value)

        difference = NONE
        if cell.difference is not None:
            sign = "+" if cell.difference >= 0 else "-"
            difference = f"{sign}{self.change(abs(cell.difference), cell)}{f' {MARK}' if cell.worse else ''}"
        done = cell.ours.seeds if cell.ours else 0
        return [
            cell.data,
            cell.algorithm + (f" ({cell.note})" if cell.note else ""),
            self.measured(cell.ours, cell),
            NONE if cell.paper is None else self.value(cell.paper, cell),
            difference,
            str(done) if done == cell.planned_seeds else f"{done} of {cell.planned_seeds}",
            seconds(cell.ours.seconds if cell.ours else None),
            seconds(cell.paper_seconds),
            self.measured(cell.defaults, cell),
            seconds(cell.defaults.seconds if cell.defaults else None),
        ]


TEXT = Numbers()


def by_measure(found: Reproduction) -> dict[str, list[Cell]]:
    """The cells of each measure: a table each."""
    tables: dict[str, list[Cell]] = {}
    for cell in found.cells:
        tables.setdefault(cell.measure, []).append(cell)
    return tables


def verdict(found: Reproduction) -> str:
    """How many cells are worse than the paper's."""
    compared = [cell for cell in found.cells if cell.difference is not None]
    if not compared:
        printed = any(cell.paper is not None for cell in found.cells)
        return "Nothing to compare with the paper's values yet." if printed else "The paper prints no values."
    worse = f"{len(found.worse)} of {len(compared)} values are worse than the paper's by more than two standard errors"
    single = "" if all(cell.ours and cell.ours.seeds > 1 for cell in compared) else "; with one seed, worse at all"
    return f"{worse} ({MARK}{single})."


def beside(found: Reproduction) -> str:
    """What the columns of the defaults hold, in words; "" if there are none."""
    names = list(dict.fromkeys(cell.defaults_name for cell in found.cells if cell.defaults_name))
    if len(names) < 2:
        return f"Defaults: {names[0]}." if names else ""
    users = {name: [c.algorithm for c in found.cells if c.defaults_name == name] for name in names}
    return "Defaults: " + "; ".join(f"{name} beside {', '.join(dict.fromkeys(users[name]))}" for name in names) + "."


def notices(found: Reproduction) -> list[str]:
    """What must not be overlooked."""
    notes = [f"QUICK run, not the paper's setting: {found.environment.quick}."] if found.environment.quick else []
    notes += [] if found.complete else ["Incomplete: some runs are not there yet or could not be made."]
    return notes + [f"Missing: {each.what}: {each.how}" for each in found.missing]


def markdown(reproductions: Sequence[Reproduction]) -> str:
    """One page with everything but the curves."""
    blocks = ["# The papers' tables and figures, ours beside theirs"]
    for found in reproductions:
        blocks += [f"## {found.id}: {found.title}", f"{found.paper}.", found.what]
        blocks += [f"**{notice}**" for notice in notices(found)]
        blocks += ["Departures from the paper:\n\n" + "\n".join(f"- {each}" for each in found.departures)]
        if found.cells:
            blocks.append(" ".join(filter(None, (verdict(found), "Mean over seeds ± standard error.", beside(found)))))
        for measure, cells in by_measure(found).items():
            blocks += [f"### {measure}, {cells[0].better} is better", _grid([TEXT.row(cell) for cell in cells])]
        if found.curves:
            kinds = ", ".join(dict.fromkeys(curve.kind for curve in found.curves))
            blocks.append(f"{len(found.curves)} curves ({kinds}) are in the report and in the JSON file.")
        blocks += ["Settings:\n\n" + "\n".join(f"- {name}: {words}" for name, words in found.settings.items())]
        blocks.append(made_with(found))
    return "\n\n".join(blocks) + "\n"


def made_with(found: Reproduction) -> str:
    """Machine, versions and time."""
    where = found.environment
    if not where.date:
        return "Nothing has run yet."
    versions = ", ".join(f"{name} {version}" for name, version in where.versions.items())
    return (
        f"{where.cpu_seconds / 60:.1f} CPU minutes of learning on {where.machine}; {versions}; "
        f"kernels {where.kernels}; last run {where.date}."
    )


def comma_separated(reproductions: Sequence[Reproduction]) -> str:
    """A line for every cell, all digits."""
    names = (
        "id", "data", "algorithm", "measure", "better", "ours", "standard error", "seeds", "planned seeds", "paper",
        "difference", "worse", "seconds", "paper seconds", "defaults", "defaults standard error", "defaults seconds",
        "defaults name", "note", "quick",
    )  # fmt: skip
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(names)
    none = Measured(float("nan"), None, 0, None)
    for found in reproductions:
        for cell in found.cells:
            ours, defaults = cell.ours or none, cell.defaults or none
            values = [
                found.id, cell.data, cell.algorithm, cell.measure, cell.better, ours.mean, ours.error, ours.seeds,
                cell.planned_seeds, cell.paper, cell.difference, cell.worse, ours.seconds, cell.paper_seconds,
                defaults.mean, defaults.error, defaults.seconds, cell.defaults_name, cell.note,
                found.environment.quick,
            ]  # fmt: skip
            lines.writerow(["" if value is None or value != value else value for value in values])
    return out.getvalue()


def _grid(rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * 2 + ["---:"] * (len(HEADINGS) - 2)
    return "\n".join("| " + " | ".join(line) + " |" for line in [HEADINGS, rule, *rows])
