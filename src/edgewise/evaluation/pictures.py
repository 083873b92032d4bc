"""Learning curves of saved runs: a panel per stream, a line per model, labels at the lines' ends."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.evaluation.runs import StreamRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which color-blind readers can tell apart, less its yellow (too faint on white).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
FORMATS = (".png", ".svg", ".pdf")
INK, FAINT = "#222222", "#8a8a8a"
# A point of fewer rows is mostly noise: at an accuracy of .9, 150 rows have a standard error of .024.
SMOOTH_ROWS, MOST_WINDOWS = 150, 5


class Line(NamedTuple):
    """A model in a panel: the mean over seeds of its recent accuracy (or rank loss), and that mean's standard error."""

    label: str
    rows: np.ndarray
    middle: np.ndarray
    error: np.ndarray


def draw(runs: Sequence[StreamRun], path: str | os.PathLike[str]) -> Path:
    """Draw the learning curves of runs to a PNG, SVG or PDF file."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise ValueError(f"{target}: a picture's name ends in {', '.join(FORMATS)}")
    if not runs:
        raise ValueError("no runs: there is nothing to draw")
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    panels: dict[tuple[str, int, str], list[StreamRun]] = {}
    for run in runs:
        panels.setdefault((run.data, run.rows, run.order), []).append(run)
    looks = _looks(runs)
    columns = 1 if len(panels) == 1 else 2 if len(panels) <= 4 else 3
    lines = math.ceil(len(panels) / columns)
    width, height = (8.0, 4.6) if columns == 1 else (5.6 * columns, 3.6 * lines + 0.5)
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1))
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, group in zip(axes, panels.values(), strict=False):
        _panel(ax, group, looks)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=160)
    return target


def _panel(ax: Axes, runs: Sequence[StreamRun], looks: dict[tuple[str, int | None], dict[str, Any]]) -> None:
    groups: dict[tuple[str, int | None], list[StreamRun]] = {}
    for run in runs:
        groups.setdefault((run.model, run.learners), []).append(run)
    several_sizes = len({learners for _, learners in groups}) > 1
    ends = []
    for key, group in groups.items():
        line = _line(f"{key[0]}, {key[1]} learners" if several_sizes else key[0], group)
        ax.plot(line.rows, line.middle, linewidth=1.6, solid_capstyle="round", **looks[key])
        if len(group) > 1:
            color = looks[key]["color"]
            low, high = line.middle - line.error, line.middle + line.error
            ax.fill_between(line.rows, low, high, color=color, alpha=0.15, linewidth=0)
        restarts = [row for run in group for row in run.restarts]
        if restarts:
            # along the bottom, where learners began anew
            ax.plot(
                restarts,
                np.full(len(restarts), 0.012),
                "|",
                transform=ax.get_xaxis_transform(),
                color=looks[key]["color"],
                markersize=5,
                alpha=0.35,
            )
        ends.append((line, looks[key]["color"]))
    first = runs[0]
    _scale(ax, first, [line for line, _ in ends])
    _label_ends(ax, ends)
    seeds = len(groups[(first.model, first.learners)])
    facts = f"{first.rows:,} rows {'shuffled' if first.order == 'shuffled' else 'in file order'}"
    facts += "" if several_sizes or first.learners is None else f", {first.learners} learners"
    facts += ", | a learner began anew" if any(run.restarts for run in runs) else ""
    facts += f", mean of {seeds} seeds ± standard error" if seeds > 1 else ""
    ax.set_title(first.data or "learning curve", loc="left", fontsize=12, fontweight="bold", color=INK, pad=18)
    ax.text(0, 1.02, facts, transform=ax.transAxes, fontsize=9, color=FAINT, va="bottom")
    ax.set_xlabel("rows learned", color=INK)
    drawn = round(_windows_per_point(first) * first.rows / len(first.curve.rows))
    ax.set_ylabel(f"{first.measure} over the last {drawn} rows", color=INK)


def _line(label: str, group: Sequence[StreamRun]) -> Line:
    recent = np.array([_recent(run) for run in group])
    error = np.zeros(recent.shape[1])
    if len(group) > 1:
        error = np.std(recent, axis=0, ddof=1) / math.sqrt(len(group))
    return Line(label, np.array(group[0].curve.rows), np.mean(recent, axis=0), error)


def _scale(ax: Axes, first: StreamRun, lines: Sequence[Line]) -> None:
    """Axes, grid, and what the commonest class (or labels) would give as a line to compare with."""
    words, commonest = first.reference
    lowest = min(commonest, *(float((line.middle - line.error).min()) for line in lines))
    highest = max(commonest, *(float((line.middle + line.error).max()) for line in lines))
    bottom = max(0.0, math.floor(20 * lowest - 0.5) / 20)
    top = min(1.0, math.ceil(20 * highest) / 20)
    if top <= bottom:
        bottom, top = max(0.0, bottom - 0.05), min(1.0, top + 0.05)
    # A line at 1 should not be cut in half by the frame.
    ax.set_ylim(bottom, top + 0.015 * (top - bottom))
    ax.set_xlim(0, first.rows)
    ax.axhline(commonest, color=FAINT, linewidth=0.9, linestyle=(0, (2, 3)), zorder=1)
    ax.annotate(
        words,
        xy=(first.rows, commonest),
        xytext=(-2, -3),
        textcoords="offset points",
        fontsize=7.5,
        color=FAINT,
        ha="right",
        va="top",
    )
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color("#bbbbbb")
    ax.tick_params(colors=INK, labelsize=9, length=3, color="#bbbbbb")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.locator_params(axis="x", nbins=6)


def _label_ends(ax: Axes, ends: Sequence[tuple[Line, str]]) -> None:
    """Name each line at its right end, pushed apart where they would overlap."""
    bottom, top = ax.get_ylim()
    inches = float(ax.figure.get_size_inches()[1]) / max(1, ax.get_gridspec().nrows)  # type: ignore[union-attr]
    gap = (top - bottom) * 0.19 / (inches - 1.2)
    places = _spread([float(line.middle[-1]) for line, _ in ends], gap, bottom + gap / 2, top - gap / 2)
    for (line, color), place in zip(ends, places, strict=True):
        ax.annotate(
            line.label,
            xy=(float(line.rows[-1]), float(line.middle[-1])),
            xytext=(1.035, (place - bottom) / (top - bottom)),
            textcoords="axes fraction",
            color=color,
            fontsize=9,
            va="center",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.7, "alpha": 0.6, "shrinkA": 0, "shrinkB": 1},
            annotation_clip=False,
        )


def _spread(heights: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
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


def _looks(runs: Sequence[StreamRun]) -> dict[tuple[str, int | None], dict[str, Any]]:
    """Color and dashes of each model, the same in every panel."""
    keys = dict.fromkeys((run.model, run.learners) for run in runs)
    return {
        key: {"color": COLORS[i % len(COLORS)], "linestyle": STYLES[i // len(COLORS) % len(STYLES)]}
        for i, key in enumerate(keys)
    }


def _recent(run: StreamRun) -> np.ndarray:
    """The measure over the last few windows, those of the start over as many as there are."""
    width = _windows_per_point(run)
    ends = np.array([0, *run.curve.rows])
    sums = np.concatenate([[0.0], np.cumsum(run.curve.windowed * np.diff(ends))])
    last = np.arange(1, ends.size)
    first = np.maximum(last - width, 0)
    return (sums[last] - sums[first]) / (ends[last] - ends[first])


def _windows_per_point(run: StreamRun) -> int:
    return min(MOST_WINDOWS, math.ceil(SMOOTH_ROWS * len(run.curve.rows) / run.rows))
