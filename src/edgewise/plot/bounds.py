"""The bound against what was suffered, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.plot import style
from edgewise.theory.bounds import Bound
from edgewise.theory.gradient_bounds import RegretBound
from edgewise.theory.ranking_bounds import RankBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What each kind of bound is about: its field, in words, and what no model can exceed.
SUFFERED = {
    Bound: ("mistakes", "mistakes", "every row wrong"),
    RankBound: ("loss", "rank loss", "every pair in the wrong order"),
    RegretBound: ("regret", "mean regret", None),
}
# From such a ratio of the bound to what was suffered on, a linear axis would show a line along the bottom.
FAR_APART = 8.0


def bound(of: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw what a theorem allows against what was suffered: mistakes, rank loss, or regret.

    The vertical axis is logarithmic where the two are far apart. Where the theorem says nothing (an infinite bound),
    nothing is drawn.

    Parameters
    ----------
    of : Course or array
        What `edgewise.watch` gave, or a sequence of what `model.bound()` gave at several times.
    ax : Axes, optional
        Where to draw; a new figure if None.
    title : str, optional
        By default the name of the model.

    Returns
    -------
    Axes
        Those drawn on.
    """
    bounds: Sequence[Any] = getattr(of, "bounds", of)
    if not bounds:
        raise ValueError(f"{getattr(of, 'model', 'no bounds')}: no theorem speaks of it, there is nothing to draw")
    last = bounds[-1]
    if type(last) not in SUFFERED:
        raise TypeError(f"{type(last).__name__}: not what model.bound() gives")
    field, words, most = SUFFERED[type(last)]
    rows = np.array([each.rounds for each in bounds], dtype=np.float64)
    suffered = np.array([getattr(each, field) for each in bounds], dtype=np.float64)
    allowed = np.array([each.value for each in bounds], dtype=np.float64)
    allowed[~np.isfinite(allowed)] = np.nan
    lines = [("bound", allowed, style.COLORS[1]), (words, suffered, style.COLORS[0])]
    if getattr(last, "best_expert", None) is not None:
        lines.append(("best expert", _of_expert(bounds), style.COLORS[2]))
    ax = style.axes(ax)
    for name, line, color in lines:
        ax.plot(rows, line, color=color, linewidth=1.6, label=name)
    named = [(name, line, color) for name, line, color in lines if np.isfinite(line).any()]
    # Far above the bound, the line would press the rest together.
    if most is not None and not np.nanmax(allowed, initial=0.0) < rows[-1] / 2:
        ax.plot(rows, rows, label=most, **style.REFERENCE)
        named.append((most, rows, style.FAINT))
    style.frame(ax, "rows learned", words)
    style.count_rows(ax, float(rows[-1]))
    _scale(ax, allowed, suffered)
    ends = [_end(name, rows, line, color) for name, line, color in named]
    heading = getattr(of, "model", f"{words} and their bound") if title is None else title
    return style.finish(ax, heading, str(last), ends)


def _scale(ax: Axes, allowed: np.ndarray, suffered: np.ndarray) -> None:
    """From 0, or in powers of ten where the two are far apart."""
    at = np.isfinite(allowed)
    if at.any() and allowed[at][-1] > FAR_APART * suffered[at][-1] > 0.0:
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=min(0.0, float(suffered.min())))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def _of_expert(bounds: Sequence[Any]) -> np.ndarray:
    return np.array([np.nan if each.best_expert is None else each.best_expert for each in bounds])


def _end(name: str, rows: np.ndarray, line: np.ndarray, color: str) -> style.End:
    last = np.flatnonzero(np.isfinite(line))[-1]
    return style.End(name, float(rows[last]), float(line[last]), color)
