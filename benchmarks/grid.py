"""Tables in Markdown, and numbers as they stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
