"""Curves as inline SVG: small enough for a phone at full size, with colors from the page's style sheet.

A series has a color and a dash pattern, by its place: `c0`, `c1`, ... in page.css, so that a picture follows light,
dark and print. The legend is HTML under the picture, which wraps where SVG text can not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 10, 40  # margins around the plot
MANY = 6  # series of which a line is drawn thinner
LOOKS = 8  # colors of page.css; further series have another dash pattern
TOLERANCE = 0.3  # pixels: points closer to the line between their neighbors are left out
WIDE = 50.0  # values further apart than this get a logarithmic axis
LETTER = 6.2  # width of a letter of the labels, about

Series = tuple[str, Sequence[float], Sequence[float | None]]  # name, x, y (None: no point)


class Axis(NamedTuple):
    """Numbers to places: low at `start`, high at `stop`."""

    low: float
    high: float
    log: bool
    start: float
    stop: float

    def place(self, values: np.ndarray) -> np.ndarray:
        """Where values are on the picture."""
        ends = np.array([self.low, self.high])
        (low, high), at = (np.log(ends), np.log(values)) if self.log else (ends, values)
        return np.round(self.start + (at - low) / (high - low) * (self.stop - self.start), 1)

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers within the axis; on a logarithmic one powers of ten, with 2 and 5 or 3 where those are few."""
        if not self.log:
            raw = (self.high - self.low) / most
            power = 10.0 ** math.floor(math.log10(raw))
            step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [number * step for number in range(first, last + 1)]
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
            found = [factor * 10.0**exponent for exponent in exponents for factor in factors]
            found = [tick for tick in found if (1.0 - 1e-9) * self.low <= tick <= (1.0 + 1e-9) * self.high]
            if len(found) <= most:
                return found if len(found) > 1 else self._replace(log=False).ticks()
        return found[:: -(-len(found) // most)]


def line_chart(title: str, x_label: str, y_label: str, series: Sequence[Series]) -> str:
    """A figure: the picture, what it shows in words, and a legend."""
    lines = [(name, _finite(xs, ys)) for name, xs, ys in series]
    drawn = [(name, points) for name, points in lines if len(points)]
    empty = [name for name, points in lines if not len(points)]
    note = f"<p class=note>No points: {escape(', '.join(empty))}.</p>" if empty else ""
    if not drawn:
        return f"<figure><figcaption>{escape(title)}</figcaption>{note}</figure>"
    x_values, y_values = np.concatenate([points for _, points in drawn]).T
    x = _axis(x_values, LEFT, WIDTH - RIGHT, log=_geometric(max((points[:, 0] for _, points in drawn), key=len)))
    y = _axis(y_values, HEIGHT - BOTTOM, TOP, log=y_values.min() > 0.0 and y_values.max() > WIDE * y_values.min())
    ends = "; ".join(f"{name} from {points[0, 1]:.4g} to {points[-1, 1]:.4g}" for name, points in drawn)
    paths = "".join(
        _line(number, x.place(points[:, 0]), y.place(points[:, 1])) for number, (_, points) in enumerate(drawn)
    )
    legend = "".join(
        f'<li><svg aria-hidden=true><path class="{_look(number)}" d="M0 4H22"/></svg>{escape(name)}</li>'
        for number, (name, _) in enumerate(drawn)
    )
    return (
        f"<figure{' class=many' if len(drawn) > MANY else ''}><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}: {escape(y_label)} against '
        f'{escape(x_label)}. {escape(ends)}.">{_frame(x, y, x_label, y_label)}{paths}</svg>'
        f"<ul class=legend>{legend}</ul>{note}</figure>"
    )


def number(value: float) -> str:
    """A tick's label: plain digits where they are short."""
    size = abs(value)
    if size and not 1e-4 <= size < 1e5:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.4f}".rstrip("0").rstrip(".") if size < 1000 else f"{value:,.0f}"


def _finite(xs: Sequence[float], ys: Sequence[float | None]) -> np.ndarray:
    """[n, 2] the points that there are."""
    points = np.array([(x, math.nan if y is None else y) for x, y in zip(xs, ys, strict=True)], dtype=float)
    return points.reshape(-1, 2)[np.isfinite(points.reshape(-1, 2)).all(axis=1)]


def _geometric(at: np.ndarray) -> bool:
    """Whether values are spaced by factors rather than by differences."""
    if at.size < 3 or at.min() <= 0.0:
        return False
    middle, low, high = np.median(at), at.min(), at.max()
    return bool(abs(math.log(middle / math.sqrt(low * high))) < abs(math.log(2.0 * middle / (low + high))))


def _axis(values: np.ndarray, start: float, stop: float, *, log: bool) -> Axis:
    low, high = float(values.min()), float(values.max())
    if log:
        return Axis(low, high if high > low else 2.0 * low, True, start, stop)
    if high == low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    margin = 0.04 * (high - low) if start > stop else 0.0  # y only
    return Axis(low - margin, high + margin, False, start, stop)


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> str:
    """Grid, tick labels and the names of the axes."""
    grid, labels, last_end = "", "", -math.inf
    for tick, at in zip(y.ticks(), y.place(np.array(y.ticks())), strict=True):
        grid += f"M{LEFT} {at:g}H{WIDTH - RIGHT}"
        labels += f'<text class=y x="{LEFT - 6}" y="{at + 4:.1f}">{number(tick)}</text>'
    for tick, at in zip(x.ticks(), x.place(np.array(x.ticks())), strict=True):
        half = 0.5 * LETTER * len(number(tick))
        if at - half < last_end + 4 or at + half > WIDTH:  # labels may not touch
            continue
        last_end = at + half
        grid += f"M{at:g} {TOP}V{HEIGHT - BOTTOM}"
        labels += f'<text x="{at:g}" y="{HEIGHT - BOTTOM + 15}">{number(tick)}</text>'
    across, down = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    return (
        f'<path class=grid d="{grid}"/>{labels}'
        f'<text class=axis x="{across:g}" y="{HEIGHT - 6}">{escape(x_label)}</text>'
        f'<text class=axis transform="translate(11 {down:g}) rotate(-90)">{escape(y_label)}</text>'
    )


def _line(number: int, across: np.ndarray, down: np.ndarray) -> str:
    if across.size == 1:
        return f'<circle class="{_look(number)}" cx="{across[0]:g}" cy="{down[0]:g}" r=3 />'
    shown = _needed(across, down)
    places = "L".join(f"{a:g} {b:g}" for a, b in zip(across[shown], down[shown], strict=True))
    return f'<path class="{_look(number)}" d="M{places}"/>'


def _needed(across: np.ndarray, down: np.ndarray) -> list[int]:
    """The points without which the line would change, the first and the last among them (Douglas and Peucker 1973)."""
    kept, open_parts = [across.size - 1], [(0, across.size - 1)]
    while open_parts:
        first, last = open_parts.pop()
        run, rise = across[last] - across[first], down[last] - down[first]
        apart = np.abs(run * (down[first:last] - down[first]) - rise * (across[first:last] - across[first]))
        middle = first + int(apart.argmax())
        if apart[middle - first] > TOLERANCE * math.hypot(run, rise):
            open_parts += [(first, middle), (middle, last)]
        else:
            kept.append(first)
    return sorted(kept)


def _look(number: int) -> str:
    return f"line c{number % LOOKS} d{number // LOOKS % 3}"
