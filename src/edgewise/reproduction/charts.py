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
MOST_POINTS = 240
WIDE = 50.0  # values further apart than this get a logarithmic axis
LETTER = 6.2  # width of a letter of the labels, about

Points = Sequence[tuple[float, float]]
Series = tuple[str, Sequence[float], Sequence[float | None]]  # name, x, y (None: no point)


class Axis(NamedTuple):
    """Numbers to places: low at `start`, high at `stop`."""

    low: float
    high: float
    log: bool
    start: float
    stop: float

    def place(self, value: float) -> float:
        low, high, at = (
            (math.log(v) for v in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        return self.start + (at - low) / (high - low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.log else _even_ticks(self.low, self.high)


def line_chart(title: str, x_label: str, y_label: str, series: Sequence[Series]) -> str:
    """A figure: the picture, what it shows in words, and a legend where there is more than one series."""
    kept = [(name, _thinned(_finite(xs, ys))) for name, xs, ys in series]
    drawn = [(name, points) for name, points in kept if points]
    empty = [name for name, points in kept if not points]
    note = f"<p class=note>No points: {escape(', '.join(empty))}.</p>" if empty else ""
    if not drawn:
        return f"<figure><figcaption>{escape(title)}</figcaption>{note}</figure>"
    x = _axis([p[0] for _, points in drawn for p in points], LEFT, WIDTH - RIGHT, spread=_geometric(drawn))
    values = [p[1] for _, points in drawn for p in points]
    y = _axis(values, HEIGHT - BOTTOM, TOP, spread=_wide(values))
    told = escape(_words(title, x_label, y_label, drawn))
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{told}">',
        *_frame(x, y, x_label, y_label),
        *(_line(number, points, x, y) for number, (_, points) in enumerate(drawn)),
        "</svg>",
    ]
    many = " class=many" if len(drawn) > MANY else ""
    return f"<figure{many}><figcaption>{escape(title)}</figcaption>{''.join(parts)}{_legend(drawn)}{note}</figure>"


def _finite(xs: Sequence[float], ys: Sequence[float | None]) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in zip(xs, ys, strict=True) if b is not None and math.isfinite(b)]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most so many points as can be seen, the last always among them."""
    step = -(-len(points) // MOST_POINTS)
    return points if step <= 1 else [*points[:-1:step], points[-1]]


def _geometric(drawn: Sequence[tuple[str, Points]]) -> bool:
    """Whether the x of the longest series are spaced by factors rather than by differences."""
    at = np.array([p[0] for p in max((points for _, points in drawn), key=len)])
    if at.size < 3 or at.min() <= 0.0:
        return False
    middle, low, high = np.median(at), at.min(), at.max()
    return bool(abs(math.log(middle / math.sqrt(low * high))) < abs(math.log(2.0 * middle / (low + high))))


def _wide(values: Sequence[float]) -> bool:
    return min(values) > 0.0 and max(values) > WIDE * min(values)


def _axis(values: Sequence[float], start: float, stop: float, *, spread: bool) -> Axis:
    low, high = min(values), max(values)
    if spread:
        return Axis(low, high if high > low else 2.0 * low, True, start, stop)
    if high == low:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    margin = 0.04 * (high - low) if start > stop else 0.0  # y only
    return Axis(low - margin, high + margin, False, start, stop)


def _even_ticks(low: float, high: float, most: int = 6) -> list[float]:
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Powers of ten; between them 2 and 5 where there are few, fewer powers where there are many."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside = (1.0 - 1e-9) * low, (1.0 + 1e-9) * high
    for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        ticks = [f * 10.0**e for e in exponents for f in factors if inside[0] <= f * 10.0**e <= inside[1]]
        if len(ticks) <= most:
            return ticks if len(ticks) > 1 else _even_ticks(low, high)
    return ticks[:: -(-len(ticks) // most)]


def number(value: float) -> str:
    """A tick's label: plain digits where they are short."""
    size = abs(value)
    if size and not 1e-4 <= size < 1e5:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.4f}".rstrip("0").rstrip(".") if size < 1000 else f"{value:,.0f}"


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> list[str]:
    """Grid, tick labels and the names of the axes."""
    parts, last_end = [], -math.inf
    for tick in y.ticks():
        at = y.place(tick)
        parts.append(f'<path class=grid d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor=end>{number(tick)}</text>')
    for tick in x.ticks():
        at, label = x.place(tick), number(tick)
        half = 0.5 * LETTER * len(label)
        if at - half < last_end + 4 or at + half > WIDTH:  # labels may not touch
            continue
        last_end = at + half
        parts.append(f'<path class=grid d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor=middle>{label}</text>')
    middle = 0.5 * (TOP + HEIGHT - BOTTOM)
    parts.append(
        f'<text class=axis x="{0.5 * (LEFT + WIDTH - RIGHT):.1f}" y="{HEIGHT - 6}" text-anchor=middle>'
        f"{escape(x_label)}</text>"
        f'<text class=axis transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor=middle>'
        f"{escape(y_label)}</text>"
    )
    return parts


def _line(number: int, points: Points, x: Axis, y: Axis) -> str:
    places = [f"{x.place(a):.1f} {y.place(b):.1f}" for a, b in points]
    if len(places) == 1:
        across, down = places[0].split()
        return f'<circle class="{_look(number)}" cx="{across}" cy="{down}" r=3 />'
    return f'<path class="{_look(number)}" d="M{"L".join(places)}"/>'


def _look(number: int) -> str:
    return f"line c{number % LOOKS} d{number // LOOKS % 3}"


def _legend(drawn: Sequence[tuple[str, Points]]) -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 22 8" aria-hidden=true><path class="{_look(number)}" d="M0 4H22"/></svg>'
        f"{escape(name)}</li>"
        for number, (name, _) in enumerate(drawn)
    )
    return f"<ul class=legend>{items}</ul>"


def _words(title: str, x_label: str, y_label: str, drawn: Sequence[tuple[str, Points]]) -> str:
    """What a reader who can not see the picture is told: where every series starts and ends."""
    told = "; ".join(f"{name} from {points[0][1]:.4g} to {points[-1][1]:.4g}" for name, points in drawn)
    return f"{title}: {y_label} against {x_label}. {told}."
