"""How pictures look: colors, frame, title, and names at the ends of lines instead of a legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

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
# Points: of the title, of what stands below it, of names at line ends (the smallest where there are many).
TITLE, FACTS, NAMES, SMALLEST = 12.0, 9.0, 9.0, 6.0
LEADING = 1.3  # height of a line of text over its font size


class End(NamedTuple):
    """The right end of a line, where its name is written."""

    name: str
    x: float
    y: float
    color: Any


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


def frame(ax: Axes, x: str, y: str) -> None:
    """Axis labels, a light grid, no box."""
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FRAME)
    ax.tick_params(colors=INK, labelsize=9, length=3, color=FRAME, which="both")


def count_rows(ax: Axes, last: float) -> None:
    """An x axis of row numbers, from 0 to the last."""
    ax.set_xlim(0, last)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    # Six numbers with their commas need some four inches.
    ax.locator_params(axis="x", nbins=max(2, min(6, int(_points(ax)[0] / 45))))


def level(ax: Axes, y: float, words: str) -> None:
    """A faint line across the picture at a height to compare with, and what it is."""
    ax.axhline(y, **REFERENCE)
    ax.annotate(
        words,
        xy=(1, y),
        xycoords=ax.get_yaxis_transform(),
        xytext=(-2, -3),
        textcoords="offset points",
        fontsize=7.5,
        color=FAINT,
        ha="right",
        va="top",
    )


def finish(ax: Axes, title: str, facts: str, ends: Sequence[End] = ()) -> Axes:
    """Write the title and the names of lines where they fit, once the layout is known."""
    looks: dict[str, Any] = {"loc": "left", "fontsize": TITLE, "fontweight": "bold", "color": INK}
    ax.set_title(title, **looks, pad=18)
    # They take their room in the layout by their width; where they stand is known after it.
    names = [_name(ax, end) for end in ends]
    figure_of(ax).draw_without_rendering()
    width, height = _points(ax)
    # Letters are about 0.53 of the font size wide.
    lines = textwrap.wrap(facts, max(12, int(width / (0.53 * FACTS)))) or [""]
    ax.set_title(title, **looks, pad=6 + LEADING * FACTS * len(lines))
    told = ax.annotate(
        "\n".join(lines),
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 4),
        textcoords="offset points",
        fontsize=FACTS,
        color=FAINT,
        va="bottom",
        linespacing=LEADING * 0.9,
    )
    # A text that sticks out to the right would make the layout squeeze the picture.
    told.set_in_layout(False)
    if not ends:
        return ax
    size = min(NAMES, max(SMALLEST, (height - 2 * LEADING * FACTS) / (LEADING * len(ends))))
    gap = LEADING * size / height
    to_fraction = ax.transData + ax.transAxes.inverted()
    heights = [float(to_fraction.transform((end.x, end.y))[1]) for end in ends]
    for name, place in zip(names, spread(heights, gap, gap / 2, 1 - gap / 2), strict=True):
        name.set_position((name.get_position()[0], place))
        name.set_fontsize(size)
    return ax


def _name(ax: Axes, end: End) -> Any:
    return ax.annotate(
        end.name,
        xy=(end.x, end.y),
        xytext=(1.035, 0.5),
        textcoords="axes fraction",
        color=end.color,
        fontsize=NAMES,
        va="center",
        arrowprops={
            "arrowstyle": "-",
            "color": end.color,
            "linewidth": 0.7,
            "alpha": 0.6,
            "relpos": (0, 0.5),
            "shrinkA": 1,
            "shrinkB": 1,
        },
        annotation_clip=False,
    )


def _points(ax: Axes) -> tuple[float, float]:
    """Width and height of the Axes, in points."""
    box = ax.get_window_extent()
    return 72.0 * box.width / figure_of(ax).dpi, 72.0 * box.height / figure_of(ax).dpi


def spread(heights: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
    """Heights moved apart to at least `gap`, order kept, as little as possible, within bounds while they fit."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    # Neighbors that would overlap form a block around the mean of where its members want to be.
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([index])
        while len(blocks) > 1 and _low(blocks[-1], heights, gap) < _low(blocks[-2], heights, gap) + gap * len(
            blocks[-2]
        ):
            last = blocks.pop()
            blocks[-1] += last
    places = [0.0] * len(heights)
    for block in blocks:
        for step, index in enumerate(block):
            places[index] = _low(block, heights, gap) + gap * step
    floor, ceiling = bottom, top
    for index in order:
        places[index] = max(places[index], floor)
        floor = places[index] + gap
    for index in reversed(order):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - gap
    return places


def _low(block: Sequence[int], heights: Sequence[float], gap: float) -> float:
    return sum(heights[index] for index in block) / len(block) - gap * (len(block) - 1) / 2
