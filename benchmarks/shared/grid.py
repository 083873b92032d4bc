"""Tables in Markdown, numbers as they stand in them, and pages whose tables come from results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.shared import measuring
from edgewise.evaluation.racing import Mean

NONE = "–"


def grid(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    rows = [header, ["---", *["---:"] * (len(header) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def figure(value: float, decimals: int = 3) -> str:
    """Decimals without the zero in front."""
    return f"{value:.{decimals}f}".removeprefix("0")


def signed(value: float, decimals: int = 3) -> str:
    """A difference, with its sign."""
    return f"{value:+.{decimals}f}".replace("0.", ".", 1)


def with_error(mean: Mean) -> str:
    return figure(mean.value) + ("" if mean.error is None else f" ± {figure(mean.error)}")


def millions(number: float, decimals: int = 0) -> str:
    """A number of bytes in megabytes, 10^6 bytes."""
    return f"{number / 1e6:,.{decimals}f}"


def values(records: Sequence[dict[str, Any]], measure: str, **wanted: Any) -> list[float]:
    """A measure of the records that have the wanted entries."""
    return [record[measure] for record in records if all(record[name] == value for name, value in wanted.items())]


def with_table(page: str, name: str, table: str) -> str:
    """The page with this table at its place, which begins with `<!-- table: NAME -->` and ends with `<!-- end -->`."""
    first, last = f"<!-- table: {name} -->\n", "\n<!-- end -->"
    parts = page.split(first)
    if len(parts) != 2 or last not in parts[1]:
        raise SystemExit(f"not exactly one place from '{first.strip()}' to '{last.strip()}'")
    return parts[0] + first + table + last + parts[1].split(last, 1)[1]


def with_tables(page: str, tables: dict[str, str]) -> str:
    for name, table in tables.items():
        page = with_table(page, name, table)
    return page


def update(page: Path, filled: Callable[[str], str], *, check: bool = False, script: str = "") -> None:
    """Write a page with its tables filled in; with `check`, change nothing and exit with 1 if one is out of date."""
    old = page.read_text()
    new = filled(old)
    if check:
        raise SystemExit(f"{page.name} is out of date: run python -m {script}" if new != old else 0)
    page.write_text(new)


def options(description: str | None) -> Any:
    """A parser for a script that fills the tables of a page from the results."""
    parser = measuring.parser(description)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a table is out of date")
    return parser
