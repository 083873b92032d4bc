"""Learning curves: a line per model, and of saved runs over several streams a panel per stream."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.evaluation import measures
from edgewise.evaluation.runs import StreamRun
from edgewise.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
# A point of fewer rows is mostly noise: at an accuracy of .9, 150 rows have a standard error of .024.
SMOOTH_ROWS, MOST_WINDOWS = 150, 5


class Line(NamedTuple):
    """A model in a panel: the mean over seeds of its recent accuracy (or loss), and that mean's standard error."""

    name: str
    rows: np.ndarray
    middle: np.ndarray
    error: np.ndarray | None
    restarts: list[int]


class Panel(NamedTuple):
    """The picture of one stream."""

    title: str
    facts: str
    measure: str
    rows: int
    window: int
    lines: list[Line]
    reference: tuple[str, float] | None


def learning_curves(
    runs: StreamRun | Sequence[StreamRun] | Mapping[str, Any], *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw how well models did while they learned: a point is the mean over the last few windows of rows.

    Parameters
    ----------
    runs : runs or mapping
        Runs of `edgewise.evaluation` over one stream, of which those of one model and several seeds become one line
        with its standard error; or a mapping from names to runs, or to one number for each row: whether the row was
        guessed right (`guesses == y`), or the loss suffered.
    ax : Axes, optional
        Where to draw; a new figure if None.
    title : str, optional
        By default the name of the stream.

    Returns
    -------
    Axes
        Those drawn on.
    """
    panel = _panel_of(runs)
    if title is not None:
        panel = panel._replace(title=title)
    looks = {line.name: style.look(number) for number, line in enumerate(panel.lines)}
    ax = style.axes(ax)
    return style.finish(ax, panel.title, panel.facts, _draw(ax, panel, looks))


def draw(runs: Sequence[StreamRun], path: str | os.PathLike[str]) -> Path:
    """Draw the learning curves of runs to a PNG, SVG or PDF file, with a panel for each stream.

    Parameters
    ----------
    runs : sequence of runs
        What `edgewise.evaluation` gave.
    path : str or path
        Where to write; the ending gives the format.

    Returns
    -------
    Path
        Where it was written.
    """
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise ValueError(f"{target}: a picture's name ends in {', '.join(FORMATS)}")
    panels = [_of_runs(group) for group in _streams(runs).values()]
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    names = dict.fromkeys(line.name for panel in panels for line in panel.lines)
    looks = {name: style.look(number) for number, name in enumerate(names)}
    columns = 1 if len(panels) == 1 else 2 if len(panels) <= 4 else 3
    lines = math.ceil(len(panels) / columns)
    width, height = (8.0, 4.6) if columns == 1 else (5.6 * columns, 3.6 * lines + 0.5)
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1))
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    ends = [_draw(ax, panel, looks) for ax, panel in zip(axes, panels, strict=False)]
    for ax, panel, of_panel in zip(axes, panels, ends, strict=False):
        style.finish(ax, panel.title, panel.facts, of_panel)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=160)
    return target


# -- panels and lines -----------------------------------------------------------------------------------------------


def _panel_of(runs: Any) -> Panel:
    """One panel from whatever `learning_curves` takes."""
    if isinstance(runs, Mapping) and not any(isinstance(run, StreamRun) for run in runs.values()):
        return _of_hits(runs)
    if isinstance(runs, Mapping):
        runs = [replace(run, model=name) for name, run in runs.items()]
    streams = _streams([runs] if isinstance(runs, StreamRun) else runs)
    if len(streams) > 1:
        names = ", ".join(f"{data or 'no name'} ({rows} rows, {order})" for data, rows, order in streams)
        raise ValueError(f"runs over {len(streams)} streams: {names}; one picture shows one of them, `draw` all")
    return _of_runs(next(iter(streams.values())))


def _streams(runs: Sequence[StreamRun]) -> dict[tuple[str, int, str], list[StreamRun]]:
    streams: dict[tuple[str, int, str], list[StreamRun]] = {}
    for run in runs:
        streams.setdefault((run.data, run.rows, run.order), []).append(run)
    if not streams:
        raise ValueError("no runs: there is nothing to draw")
    return streams


def _of_runs(runs: Sequence[StreamRun]) -> Panel:
    """Runs over one stream; those that differ in the seed alone are one line."""
    groups: dict[tuple[str, int | None], list[StreamRun]] = {}
    for run in runs:
        groups.setdefault((run.model, run.learners), []).append(run)
    several_sizes = len({learners for _, learners in groups}) > 1
    lines = [
        _line(f"{model}, {learners} learners" if several_sizes else model, group)
        for (model, learners), group in groups.items()
    ]
    first = runs[0]
    seeds = len(groups[(first.model, first.learners)])
    facts = f"{first.rows:,} rows {'shuffled' if first.order == 'shuffled' else 'in file order'}"
    facts += "" if several_sizes or first.learners is None else f", {first.learners} learners"
    facts += ", | a learner began anew" if any(run.restarts for run in runs) else ""
    facts += f", mean of {seeds} seeds ± standard error" if seeds > 1 else ""
    window = round(_width(len(first.curve.rows), first.rows) * first.rows / len(first.curve.rows))
    return Panel(first.data or "learning curve", facts, first.measure, first.rows, window, lines, first.reference)


def _of_hits(named: Mapping[str, Any]) -> Panel:
    """One number for each row and name."""
    if not named:
        raise ValueError("no runs: there is nothing to draw")
    lines, longest, window = [], 0, 0
    for name, values in named.items():
        hits = np.asarray(values, dtype=np.float64)
        if hits.ndim != 1 or hits.size == 0:
            raise ValueError(f"{name}: an array of shape {hits.shape}; one number for each row is needed")
        if not np.isfinite(hits).all():
            raise ValueError(f"{name}: row {int(np.argmin(np.isfinite(hits)))} is no finite number")
        rows, windowed, _ = measures.learning_curve(hits)
        lines.append(Line(name, rows, _recent(rows, windowed), None, []))
        longest = max(longest, hits.size)
        window = max(window, round(_width(rows.size, hits.size) * hits.size / rows.size))
    right = all(set(np.unique(np.asarray(values))) <= {0, 1} for values in named.values())
    title, measure = "learning curve" if len(lines) == 1 else "learning curves", "accuracy" if right else "loss"
    return Panel(title, f"{longest:,} rows", measure, longest, window, lines, None)


def _line(name: str, group: Sequence[StreamRun]) -> Line:
    recent = np.array([_recent(np.array(run.curve.rows), np.array(run.curve.windowed)) for run in group])
    error = np.std(recent, axis=0, ddof=1) / math.sqrt(len(group)) if len(group) > 1 else None
    restarts = [row for run in group for row in run.restarts]
    return Line(name, np.array(group[0].curve.rows), np.mean(recent, axis=0), error, restarts)


def _recent(rows: np.ndarray, windowed: np.ndarray) -> np.ndarray:
    """The measure over the last few windows, those of the start over as many as there are."""
    ends = np.concatenate([[0], rows])
    sums = np.concatenate([[0.0], np.cumsum(windowed * np.diff(ends))])
    last = np.arange(1, ends.size)
    first = np.maximum(last - _width(rows.size, int(rows[-1])), 0)
    return (sums[last] - sums[first]) / (ends[last] - ends[first])


def _width(windows: int, rows: int) -> int:
    """Windows that make a point."""
    return min(MOST_WINDOWS, math.ceil(SMOOTH_ROWS * windows / rows))


# -- drawing ---------------------------------------------------------------------------------------------------------


def _draw(ax: Axes, panel: Panel, looks: dict[str, dict[str, Any]]) -> list[style.End]:
    """Draw a panel; the ends of its lines, which are named when the layout is known."""
    ends = []
    for line in panel.lines:
        look = looks[line.name]
        color = look["color"]
        ax.plot(line.rows, line.middle, linewidth=1.6, solid_capstyle="round", label=line.name, **look)
        if line.error is not None:
            low, high = line.middle - line.error, line.middle + line.error
            ax.fill_between(line.rows, low, high, color=color, alpha=0.15, linewidth=0)
        if line.restarts:  # marks along the bottom
            marks = {"transform": ax.get_xaxis_transform(), "color": color, "markersize": 5, "alpha": 0.35}
            ax.plot(line.restarts, np.full(len(line.restarts), 0.012), "|", **marks)
        ends.append(style.End(line.name, float(line.rows[-1]), float(line.middle[-1]), color, look["linestyle"]))
    style.frame(ax, "rows learned", f"{panel.measure} over the last {panel.window} rows")
    style.count_rows(ax, panel.rows)
    _scale(ax, panel)
    return ends


def _scale(ax: Axes, panel: Panel) -> None:
    """Heights from a little below the lowest point to the highest, and the reference to compare with."""
    points = [
        line.middle + side * (line.error if line.error is not None else 0.0) for line in panel.lines for side in (-1, 1)
    ]
    if panel.reference is not None:
        words, height = panel.reference
        points.append(np.array([height]))
        style.level(ax, height, words)
    lowest, highest = min(float(each.min()) for each in points), max(float(each.max()) for each in points)
    if lowest < 0.0 or highest > 1.0:
        return  # a loss without natural limits: matplotlib's own margins
    bottom = max(0.0, math.floor(20 * lowest - 0.5) / 20)
    top = min(1.0, math.ceil(20 * highest) / 20)
    if top <= bottom:
        bottom, top = max(0.0, bottom - 0.05), min(1.0, top + 0.05)
    # A line at 1 should not be cut in half by the frame.
    ax.set_ylim(bottom, top + 0.015 * (top - bottom))
