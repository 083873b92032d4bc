"""What a model knows of itself: edges, weights and bounds over time, and how far its probabilities can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.evaluation import measures
from edgewise.plot import style
from edgewise.theory.bounds import Bound, RankBound, RegretBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 7  # so many lines get a color and a name each
MOST_POINTS = 400
SETTLED = 0.1  # share of the rows after which all values are to be seen
# What each kind of bound is about: its field, in words, and what no model can exceed.
SUFFERED = {
    Bound: ("mistakes", "mistakes", "every row wrong"),
    RankBound: ("loss", "rank loss", "every pair in the wrong order"),
    RegretBound: ("regret", "mean regret", None),
}
# From such a ratio of the bound to what was suffered on, a linear axis would show a line along the bottom.
FAR_APART = 8.0
BARS = "#b5d9ee"


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
    return _lines(of, "edges", "learner", rows, ax, title, ("random guessing", 0.0))


def weights(of: Any, *, rows: Any = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the learner weights over time: how much each learner's vote counts.

    Parameters are those of `edges`; `of` may also be the history that `model.trace` gave.

    Returns
    -------
    Axes
        Those drawn on.
    """
    return _lines(of, "learner_weights", "learner", rows, ax, title)


def expert_weights(of: Any, *, rows: Any = None, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the weights of the experts over time: how much the first i learners together count.

    Where learners alone are experts too (`AdaBoostOLM.single_experts`), they follow after those.

    Parameters are those of `edges`.

    Returns
    -------
    Axes
        Those drawn on.
    """
    return _lines(of, "expert_weights", "expert", rows, ax, title)


def bound(of: Any, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw what a theorem allows against what was suffered: mistakes, rank loss, or regret.

    The vertical axis is logarithmic where the two are far apart. Where the theorem says nothing (an infinite bound),
    nothing is drawn.

    Parameters are those of `edges`; `of` may also be a sequence of what `model.bound()` gave at several times.

    Returns
    -------
    Axes
        Those drawn on.
    """
    bounds = getattr(of, "bounds", of)
    if not bounds:
        raise ValueError(f"{getattr(of, 'model', 'no bounds')}: no theorem speaks of it, there is nothing to draw")
    last = bounds[-1]
    if type(last) not in SUFFERED:
        raise TypeError(f"{type(last).__name__}: not what model.bound() gives")
    field, words, most = SUFFERED[type(last)]

    def values(name: str) -> np.ndarray:
        found = np.array([getattr(each, name) for each in bounds], dtype=np.float64)  # None becomes nan
        return np.where(np.isfinite(found), found, np.nan)

    rows, suffered, allowed = values("rounds"), values(field), values("value")
    lines = {"bound": (allowed, style.COLORS[1]), words: (suffered, style.COLORS[0])}
    if getattr(last, "best_expert", None) is not None:
        lines["best expert"] = (values("best_expert"), style.COLORS[2])
    ax = style.axes(ax)
    for name, (line, color) in lines.items():
        ax.plot(rows, line, color=color, linewidth=1.6, label=name)
    # Far above the bound, the line would press the rest together.
    if most is not None and not np.nanmax(allowed, initial=0.0) < rows[-1] / 2:
        ax.plot(rows, rows, label=most, **style.REFERENCE)
        lines[most] = (rows, style.FAINT)
    style.frame(ax, "rows learned", words)
    style.count_rows(ax, rows[-1])
    known = np.isfinite(allowed)
    if known.any() and allowed[known][-1] > FAR_APART * suffered[known][-1] > 0.0:
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=min(0.0, float(suffered.min())))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    ends = []
    for name, (line, color) in lines.items():
        if (at := np.flatnonzero(np.isfinite(line))).size:
            ends.append(style.End(name, float(rows[at[-1]]), float(line[at[-1]]), color))
    heading = getattr(of, "model", f"{words} and their bound") if title is None else title
    return style.finish(ax, heading, str(last), ends)


def reliability(
    probabilities: Any,
    labels: Any,
    *,
    classes: Any = None,
    bins: int = 10,
    ax: Axes | None = None,
    title: str = "reliability",
) -> Axes:
    """Draw how often predictions were right against how sure the model was (DeGroot and Fienberg 1983).

    Rows are put into bins of equal width by the probability of their likeliest label. A bar is the share of its rows
    that were right, with its standard error at the mean probability; on the diagonal, the probabilities are true.

    Parameters
    ----------
    probabilities : array
        [n, k], as `predict_proba` or `prequential_proba` give them; or [n], of a yes.
    labels : array
        [n] the true labels; for probabilities of a yes, whether it was one.
    classes : array, optional
        [k] the labels of the columns, as `model.classes_`; by default those that occur, sorted.
    bins : int
        How many.
    ax : Axes, optional
        Where to draw; a new figure if None.
    title : str
        Above the picture.

    Returns
    -------
    Axes
        Those drawn on.
    """
    sure, right, words = _confidence(np.asarray(probabilities, dtype=np.float64), np.asarray(labels), classes)
    found = measures.reliability(sure, right, bins)
    ax = style.axes(ax, 5.6, 5.0)
    small: dict[str, Any] = {"fontsize": style.SMALL * style.scale(ax)}
    ax.plot([0, 1], [0, 1], **style.REFERENCE | {"zorder": 3})
    along: dict[str, Any] = {"rotation": 45, "rotation_mode": "anchor", "transform_rotates_text": True}
    ax.text(0.03, 0.045, "as often right as sure", color=style.FAINT, **small, **along)
    used = np.flatnonzero(found.rows > 0)
    share, rows = found.right[used], found.rows[used]
    ax.bar(used / bins, share, 1 / bins, align="edge", color=BARS, edgecolor="white")
    error = np.sqrt(share * (1 - share) / rows)
    ax.errorbar(found.sure[used], share, error, fmt="o", color=style.COLORS[0], markersize=4, linewidth=1.2)
    above: dict[str, Any] = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center", "color": style.INK}
    for place, count in zip(used, rows, strict=True):
        ax.annotate(_short(count), xy=((place + 0.5) / bins, 0), **above, **small)
    style.frame(ax, *words)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.015)
    facts = f"{sure.size:,} rows, counted in the bars; dots: means ± standard error"
    return style.finish(ax, title, f"{facts}; calibration error {found.error:.3f}")


def _lines(
    of: Any,
    field: str,
    who: str,
    rows: Any,
    ax: Axes | None,
    title: str | None,
    reference: tuple[str, float] | None = None,
) -> Axes:
    """A line for each learner or expert; of many, thin ones and their median."""
    x, values = _values(of, field, rows)
    n = values.shape[1]
    ax = style.axes(ax)
    looks = [style.look(i) if n <= FEW else _shade(i, n) for i in range(n)]
    for i, look in enumerate(looks):
        ax.plot(x, values[:, i], label=f"{who} {i + 1}", **{"linewidth": 1.6} | look)
    named = [(f"{who} {i + 1}", values[-1, i], looks[i]["color"]) for i in (range(n) if n <= FEW else (0, n - 1))]
    facts = f"{n} {who}{'s' if n > 1 else ''}"
    if n > FEW:
        middle = np.median(values, axis=1)
        ax.plot(x, middle, linewidth=2.2, color=style.INK, label="median")
        named.append(("median", middle[-1], style.INK))
        facts += ", from dark for the first to bright for the last; black: their median"
    if reference is not None:
        ax.axhline(reference[1], **style.REFERENCE)
        named.append((*reference, style.FAINT))
    measure = field.removesuffix("s").replace("_", " ")
    style.frame(ax, "rows learned", measure)
    # What the first few rows show is noise, and would press the rest together.
    settled = values[x >= SETTLED * x[-1]]
    low, high = min(settled.min(), 0.0), max(settled.max(), 0.0)
    margin = 0.04 * (high - low) or 0.1
    ax.set_ylim(low - margin, high + margin)
    style.count_rows(ax, x[-1])
    ends = [style.End(name, float(x[-1]), float(value), color) for name, value, color in named]
    return style.finish(ax, getattr(of, "model", f"{measure}s") if title is None else title, facts, ends)


def _values(of: Any, field: str, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows learned [p] and values [p, N]; of a long history, points at equal distances."""
    if hasattr(type(of), f"{field}_"):
        raise TypeError(
            f"{type(of).__name__}: a model knows its {field} as they are now (`{field}_`); "
            "to see them over time, draw what edgewise.watch(model, X, y) gives"
        )
    found = getattr(of, field, of)
    if found is None:
        raise ValueError(f"{of.model} has no {field.replace('_', ' ')}")
    values = np.asarray(found, dtype=np.float64)
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


def _confidence(p: np.ndarray, truth: np.ndarray, classes: Any) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """How sure the model was of each row, whether it was right, and both in words."""
    if p.ndim not in (1, 2) or p.size == 0 or truth.shape != p.shape[:1]:
        raise ValueError(f"probabilities of shape {p.shape} and labels of shape {truth.shape}: [n, k] or [n], and [n]")
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities: numbers in [0, 1] are needed")
    if p.ndim == 1:
        if not np.isin(truth, (0, 1)).all():
            raise ValueError("labels: True or False (1 or 0) for each probability of a yes")
        return p, truth.astype(bool), ("probability of a yes", "share of yes")
    names = np.unique(truth) if classes is None else np.asarray(classes)
    if names.size != p.shape[1]:
        columns = f"probabilities have {p.shape[1]} columns"
        raise ValueError(f"classes={names.tolist()!r}: {columns}; pass classes=model.classes_")
    right = p.argmax(axis=1) == measures.label_codes(truth, names)
    return p.max(axis=1), right, ("probability of the likeliest label", "share of rows where it was right")


def _short(count: int) -> str:
    """A number in at most four letters."""
    if count < 1000:
        return str(count)
    power, letter = (1e6, "m") if count >= 999_500 else (1e3, "k")
    return f"{count / power:.{1 if count < 9.95 * power else 0}f}{letter}"
