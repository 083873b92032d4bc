"""How pictures look: colors, frame, title, and names at the ends of lines instead of a legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which color-blind readers can tell apart, less its yellow (too faint on white).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
INK, FAINT = "#222222", "#6f6f6f"
FRAME, GRID = "#bbbbbb", "#e6e6e6"
# A line to compare with, behind the others.
REFERENCE: dict[str, Any] = {"color": FAINT, "linewidth": 0.9, "linestyle": (0, (2, 3)), "zorder": 1}
# Font sizes in points; names at line ends shrink to the smallest where there are many.
TITLE, LABELS, FACTS, TICKS, NAMES, SMALL, SMALLEST = 12.0, 10.0, 9.0, 9.0, 9.0, 7.5, 6.0
LEADING, LETTER = 1.3, 0.56  # height of a line and width of a letter, over the font size
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue


class End(NamedTuple):
    """The right end of a line, where its name is written."""

    name: str
    x: float
    y: float
    color: Any
    dashes: Any = "-"


def axes(ax: Axes | None, width: float = 8.0, height: float = 4.6) -> Axes:
    """The Axes to draw on: those given, or new ones of so many inches."""
    if ax is None:
        import matplotlib.pyplot as plt
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        return plt.subplots(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1))[1]
    if figure_of(ax).get_layout_engine() is None:
        figure_of(ax).set_layout_engine("constrained")
    return ax


def figure_of(ax: Axes) -> Figure:
    """The whole figure, also of Axes in a subfigure."""
    figure: Any = ax.figure
    return figure.figure


def look(number: int) -> dict[str, Any]:
    """Color and dashes of line `number`: 21 that differ."""
    return {"color": COLORS[number % len(COLORS)], "linestyle": STYLES[number // len(COLORS) % len(STYLES)]}


def scale(ax: Axes) -> float:
    """By how much letters shrink where a picture has little room: 1 from five inches of its column of the figure on."""
    figure: Any = ax.figure
    spec = ax.get_subplotspec()
    if spec is None:
        inches = 1.3 * ax.get_window_extent().width / figure_of(ax).dpi
    else:
        inches = figure.bbox.width / figure_of(ax).dpi * len(spec.colspan) / spec.get_gridspec().ncols
    return float(min(1.0, max(0.65, inches / 5.0)))


def frame(ax: Axes, x: str, y: str) -> None:
    """Axis labels, a light grid, no box."""
    size = scale(ax)
    ax.set_xlabel(x, color=INK, fontsize=LABELS * size)
    ax.set_ylabel(y, color=INK, fontsize=LABELS * size)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FRAME)
    ax.tick_params(colors=INK, labelsize=TICKS * size, length=3, color=FRAME, which="both")


def count_rows(ax: Axes, last: float) -> None:
    """An x axis of row numbers, from 0 to the last."""
    ax.set_xlim(0, last)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def level(ax: Axes, y: float, words: str) -> None:
    """A faint line across the picture at a height to compare with, and what it is."""
    ax.axhline(y, **REFERENCE)
    place: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "xytext": (-2, -3), "textcoords": "offset points"}
    ax.annotate(words, xy=(1, y), **place, fontsize=SMALL * scale(ax), color=FAINT, ha="right", va="top")


def finish(ax: Axes, title: str, facts: str, ends: Sequence[End] = ()) -> Axes:
    """Write the title and the names of lines where they fit, once the layout is known."""
    size = scale(ax)
    looks: dict[str, Any] = {"loc": "left", "fontsize": TITLE * size, "fontweight": "bold", "color": INK}
    ax.set_title(title, **looks, pad=18 * size)
    # Names take their room in the layout by their width; where they stand is known after it.
    names = [_name(ax, end, NAMES * size) for end in ends]
    figure_of(ax).draw_without_rendering()
    point = figure_of(ax).dpi / 72.0
    box, around = ax.get_window_extent(), ax.get_tightbbox()
    width, height = box.width / point, box.height / point
    to_the_right = width if around is None else (around.x1 - box.x0) / point
    lines = textwrap.wrap(facts, max(16, int(to_the_right / (LETTER * FACTS * size))), max_lines=3, placeholder=" …")
    ax.set_title(title, **looks, pad=(6 + LEADING * FACTS * len(lines)) * size)
    below: dict[str, Any] = {"xycoords": "axes fraction", "xytext": (0, 4 * size), "textcoords": "offset points"}
    text = ax.annotate("\n".join(lines), xy=(0, 1), **below, fontsize=FACTS * size, color=FAINT, va="bottom")
    text.set_linespacing(LEADING * 0.9)
    # It stands below the title, which has left room for it; its width must not squeeze the picture.
    text.set_in_layout(False)
    widest = max(len(f"{ax.get_xlim()[1]:,.0f}"), len("0.0"))
    ax.locator_params(axis="x", nbins=max(2, min(6, int(width / ((LETTER * widest + 1.5) * TICKS * size)))))
    if ends:
        # Further lines of facts will take from the height.
        _place(ax, names, ends, size, height - LEADING * FACTS * size * max(0, len(lines) - 1))
    return ax


def _place(ax: Axes, names: Sequence[Any], ends: Sequence[End], size: float, height: float) -> None:
    """Put names beside the ends of their lines, pushed apart where they would overlap; `height` is that of the Axes."""
    letters = min(NAMES * size, max(SMALLEST * size, height / (LEADING * len(ends))))
    gap = LEADING * letters / height
    to_fraction = ax.transData + ax.transAxes.inverted()
    heights = [float(to_fraction.transform((end.x, end.y))[1]) for end in ends]
    for name, place in zip(names, spread(heights, gap, gap / 2, 1 - gap / 2), strict=True):
        name.set_position((name.get_position()[0], place))
        name.set_fontsize(letters)


def _name(ax: Axes, end: End, size: float) -> Any:
    line = {"arrowstyle": "-", "color": end.color, "linestyle": end.dashes, "linewidth": 0.8, "alpha": 0.7}
    return ax.annotate(
        end.name,
        xy=(end.x, end.y),
        xytext=(1.035, 0.5),
        textcoords="axes fraction",
        color=readable(end.color),
        fontsize=size,
        va="center",
        arrowprops=line | {"relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 1},
        annotation_clip=False,
    )


def readable(color: Any) -> tuple[float, float, float]:
    """The color, darkened until letters in it can be read on white: a contrast of 4.5 (WCAG 2.1, criterion 1.4.3)."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(color))
    while 1.05 / (0.05 + np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ LUMINANCE) < 4.5:
        rgb = 0.95 * rgb
    return tuple(rgb.tolist())


def spread(heights: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
    """Heights moved apart to at least `gap`, order kept, as little as possible, within bounds while they fit."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(order.size)
    # Less its step, each height has to be at least the one before: an isotonic regression.
    places = isotonic_regression(np.asarray(heights)[order] - steps).x + steps
    places = np.minimum(np.maximum(places, bottom + steps), top - steps[::-1])
    return [float(place) for place in places[np.argsort(order)]]
