"""Cells as HTML tables: at a glance as a paper prints them, and line by line with everything that is known."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from edgewise.reproduction.results import LOWER, Cell, Measured

NONE = "–"
MINUS = "−"
WORSE = "worse"
SPREAD = " ± is one standard error over seeds."
FEWEST, MOST = 3, 4  # decimals
MOST_COLUMNS = 12  # that fit on a printed page


def decimals(cells: Sequence[Cell]) -> int:
    """As many as the paper prints, within reason."""
    printed = [f"{cell.paper:.10g}".partition(".")[2] for cell in cells if cell.paper is not None]
    return min(MOST, max([FEWEST, *map(len, printed)]))


def figure(value: float, places: int) -> str:
    """Decimals without the zero in front; large and tiny numbers by their leading digits."""
    size = abs(value)
    if size >= 1e6 or 0.0 < size < 0.5 * 10.0**-places:
        text = f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e")
    elif size >= 1000.0:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{2 if size >= 10.0 else places}f}"
        if size < 1.0 and not text.lstrip("-").startswith("1"):
            text = text.replace("0.", ".", 1)
    return text.replace("-", MINUS)


def signed(value: float, places: int) -> str:
    """A difference, which is 0 where it is too small to show."""
    return ("+" if value >= 0.0 else MINUS) + (
        _fixed(abs(value), places) if abs(value) < 1.0 else figure(abs(value), places)
    )


def spread(measured: Measured, places: int) -> str:
    """A mean and its standard error."""
    mean = figure(measured.mean, places)
    if measured.error is None:
        return mean
    error = _fixed(measured.error, places) if measured.error < 1.0 else figure(measured.error, places)
    return f"{mean} <span class=spread>± {error}</span>"


def _fixed(value: float, places: int) -> str:
    return f"{value:.{places}f}".removeprefix("0")


def seconds(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.1f}" if value >= 1.0 else f"{value:.2g}"


def boxed(caption: str, rows: str, *, kind: str = "", note: str = "") -> str:
    """A table that scrolls in its box; the box can be reached by keyboard."""
    told = f" <span class=note>{note}</span>" if note else ""
    label = escape(caption, quote=True)
    return (
        f'<div class=box role=region tabindex=0 aria-label="{label}"><table class="{kind}">'
        f"<caption><div>{escape(caption)}{told}</div></caption>{rows}</table></div>"
    )


def glance(cells: Sequence[Cell]) -> str:
    """Data sets by algorithms, ours above the paper's, as papers print it; turned around where algorithms are many.
    Empty where there is only one of either."""
    sets = list(dict.fromkeys(cell.data for cell in cells))
    algorithms = list(dict.fromkeys(cell.algorithm for cell in cells))
    if len(sets) < 2 or len(algorithms) < 2:
        return ""
    places = decimals(cells)
    found = {(cell.data, cell.algorithm): cell for cell in cells}
    turned = len(algorithms) > MOST_COLUMNS
    across, down = (sets, algorithms) if turned else (algorithms, sets)
    head = "".join(f"<th scope=col>{escape(name)}" for name in across)
    rows = []
    for name in down:
        line = [found.get((other, name) if turned else (name, other)) for other in across]
        rows.append(f"<tr><th scope=row>{escape(name)}{''.join(_glance_cell(cell, places) for cell in line)}</tr>")
    printed = any(cell.paper is not None for cell in cells)
    note = f"{_direction(cells[0])}{' The first number is ours, the second the paper’s.' if printed else ''}"
    corner = "algorithm" if turned else "data"
    body = f"<thead><tr><th scope=col>{corner}{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return boxed(f"{_capital(cells[0].measure)}, at a glance", body, kind="glance", note=note)


def _glance_cell(cell: Cell | None, places: int) -> str:
    if cell is None or (cell.ours is None and cell.paper is None):
        return f"<td class=missing>{NONE}"
    ours = NONE if cell.ours is None else figure(cell.ours.mean, places)
    theirs = "" if cell.paper is None else f"<span class=theirs>{figure(cell.paper, places)}</span>"
    return f"<td class=bad><span class=worse>{ours} {WORSE}</span>{theirs}" if cell.worse else f"<td>{ours}{theirs}"


def every_cell(cells: Sequence[Cell]) -> str:
    """A line for each data set and algorithm. Columns that would be empty throughout are left out."""
    places = decimals(cells)
    printed = any(cell.paper is not None for cell in cells)
    timed = any(cell.paper_seconds is not None for cell in cells)
    with_defaults = any(cell.defaults is not None for cell in cells)
    noted = any(cell.note for cell in cells)
    columns = ["algorithm", "ours", *["paper", "difference"] * printed, "seeds", "CPU s"]
    columns += ["paper’s s"] * timed + ["defaults", "CPU s"] * with_defaults + ["note"] * noted
    body = []
    for data in dict.fromkeys(cell.data for cell in cells):
        lines = []
        for cell in (cell for cell in cells if cell.data == data):
            row = [_ours(cell, places)]
            if printed:
                row += [NONE if cell.paper is None else figure(cell.paper, places), _difference(cell, places)]
            row += [_seeds(cell), seconds(None if cell.ours is None else cell.ours.seconds)]
            row += [seconds(cell.paper_seconds)] * timed
            row += _defaults(cell, places) * with_defaults
            row += [escape(cell.note)] * noted
            keys = {"data": cell.data, "algorithm": cell.algorithm, "measure": cell.measure}
            marks = "".join(f' data-{key}="{escape(value, quote=True)}"' for key, value in keys.items())
            lines.append(
                f"<tr{' class=bad' if cell.worse else ''}{marks}><th scope=row>{escape(cell.algorithm)}"
                f"{''.join(f'<td>{value}' for value in row)}</tr>"
            )
        body.append(f"<tbody><tr><th scope=rowgroup colspan={len(columns)}>{escape(data)}</tr>{''.join(lines)}</tbody>")
    head = "".join(f"<th scope=col>{name}" for name in columns)
    caption = f"{_capital(cells[0].measure)}, every cell"
    return boxed(
        caption, f"<thead><tr>{head}</tr></thead>{''.join(body)}", kind="cells", note=_direction(cells[0]) + SPREAD
    )


def _ours(cell: Cell, places: int) -> str:
    return "not run" if cell.ours is None else spread(cell.ours, places)


def _difference(cell: Cell, places: int) -> str:
    if cell.difference is None:
        return NONE
    text = signed(cell.difference, places)
    if cell.worse:
        return f"<span class=worse>{text} {WORSE}</span>"
    better = cell.difference < 0.0 if cell.better == LOWER else cell.difference > 0.0
    return f"<span class=better>{text}</span>" if better else text


def _seeds(cell: Cell) -> str:
    done = 0 if cell.ours is None else cell.ours.seeds
    return str(done) if done == cell.planned_seeds else f"{done} of {cell.planned_seeds}"


def _defaults(cell: Cell, places: int) -> list[str]:
    if cell.defaults is None:
        return [NONE, NONE]
    name = f" <span class=spread>{escape(cell.defaults_name)}</span>" if cell.defaults_name else ""
    return [spread(cell.defaults, places) + name, seconds(cell.defaults.seconds)]


def _direction(cell: Cell) -> str:
    return "Lower is better." if cell.better == LOWER else "Higher is better."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
