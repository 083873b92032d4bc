"""Edges and weights over time: a line per learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 7  # so many lines get a color and a name each
MOST_POINTS = 400
SETTLED = 0.1  # share of the rows after which all values are to be seen


def edges(of: Any, *, rows: Any = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the edges of the learners over time: how much better than random guessing each was up to then.

    Parameters
    ----------
    of : Course or array
        What `edgewise.watch` gave, or an array [points, N].
    rows : array, optional
        Rows learned at each point of an array; by default 1, 2, ...
    ax : Axes, optional
        Where to draw; a new figure if None.
    title : str, optional
        By default the name of the model.

    Returns
    -------
    Axes
        Those drawn on.
    """
    return _lines(of, "edges", rows, ax, title, "learner", "edge", ("random guessing", 0.0))


def weights(of: Any, *, rows: Any = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the learner weights over time: how much each learner's vote counts.

    Parameters are those of `edges`; `of` may also be the history that `model.trace` gave.

    Returns
    -------
    Axes
        Those drawn on.
    """
    return _lines(of, "learner_weights", rows, ax, title, "learner", "learner weight")


def expert_weights(of: Any, *, rows: Any = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the weights of the experts over time: how much the first i learners together count.

    Where learners alone are experts too (`AdaBoostOLM.single_experts`), they follow after those.

    Parameters are those of `edges`.

    Returns
    -------
    Axes
        Those drawn on.
    """
    return _lines(of, "expert_weights", rows, ax, title, "expert", "expert weight")


def _lines(
    of: Any,
    field: str,
    rows: Any,
    ax: Axes | None,
    title: str | None,
    who: str,
    measure: str,
    reference: tuple[str, float] | None = None,
) -> Axes:
    x, values = _values(of, field, rows)
    n = values.shape[1]
    ax = style.axes(ax)
    looks = [style.look(i) for i in range(n)] if n <= FEW else [_shade(i, n) for i in range(n)]
    for i, each in enumerate(looks):
        ax.plot(x, values[:, i], label=f"{who} {i + 1}", **{"linewidth": 1.6} | each)
    facts = f"{n} {who}{'s' if n > 1 else ''}"
    named = [(f"{who} {i + 1}", values[:, i], looks[i]["color"]) for i in (range(n) if n <= FEW else (0, n - 1))]
    if n > FEW:
        middle = np.median(values, axis=1)
        ax.plot(x, middle, linewidth=2.2, color=style.INK, label="median")
        named.append(("median", middle, style.INK))
        facts += ", from dark for the first to bright for the last; black: their median"
    if reference is not None:
        ax.axhline(reference[1], **style.REFERENCE)
        named.append((reference[0], np.full(len(x), reference[1]), style.FAINT))
    style.frame(ax, "rows learned", measure)
    # What the first few rows show is noise, and would press the rest together.
    settled = values[x >= SETTLED * x[-1]]
    low, high = (min(settled.min(), 0.0), max(settled.max(), 0.0))
    margin = 0.04 * (high - low) or 0.1
    ax.set_ylim(low - margin, high + margin)
    style.count_rows(ax, float(x[-1]))
    ends = [style.End(name, float(x[-1]), float(line[-1]), color) for name, line, color in named]
    heading = getattr(of, "model", measure + "s") if title is None else title
    return style.finish(ax, heading, facts, ends)


def _values(of: Any, field: str, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows learned [p] and values [p, N]; of a long history, points at equal distances."""
    if hasattr(type(of), f"{field}_"):
        raise TypeError(
            f"{type(of).__name__}: a model knows its {field} as they are now (`{field}_`); "
            "to see them over time, draw what edgewise.watch(model, X, y) gives"
        )
    given = getattr(of, field, of)
    if given is None:
        raise ValueError(f"{of.model} has no {field.replace('_', ' ')}")
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"{field} of shape {values.shape}: a row for each point in time, a column for each of them")
    x = np.asarray(getattr(of, "rows", np.arange(1, len(values) + 1)) if rows is None else rows)
    if x.shape != (len(values),):
        raise ValueError(f"rows of shape {x.shape}: {len(values)} points need a row number each")
    picked = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).round().astype(np.int64))
    return x[picked], values[picked]


def _shade(number: int, of: int) -> dict[str, Any]:
    """Thin lines from dark to bright; the brightest of the color map would be too faint on white."""
    from matplotlib import colormaps

    return {"color": colormaps["viridis"](0.8 * number / (of - 1)), "linewidth": 0.8, "alpha": 0.75}
