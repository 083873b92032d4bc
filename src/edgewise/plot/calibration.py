"""Whether probabilities can be taken at their word: the reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.evaluation import measures
from edgewise.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = "#b5d9ee"


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
    p = np.asarray(probabilities, dtype=np.float64)
    truth = np.asarray(labels)
    if p.ndim not in (1, 2) or p.size == 0 or truth.shape != p.shape[:1]:
        raise ValueError(f"probabilities of shape {p.shape} and labels of shape {truth.shape}: [n, k] or [n], and [n]")
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities: numbers in [0, 1] are needed")
    if p.ndim == 1:
        if not np.isin(truth, (0, 1)).all():
            raise ValueError("labels: True or False (1 or 0) for each probability of a yes")
        sure, right, words = p, truth.astype(bool), ("probability of a yes", "share of yes")
    else:
        sure, right = p.max(axis=1), p.argmax(axis=1) == _codes(truth, classes, p.shape[1])
        words = "probability of the likeliest label", "share of rows where it was right"
    found = measures.reliability(sure, right, bins)
    ax = style.axes(ax, 5.6, 5.0)
    ax.plot([0, 1], [0, 1], **style.REFERENCE | {"zorder": 3})
    ax.text(
        0.03,
        0.045,
        "as often right as sure",
        fontsize=style.SMALL * style.scale(ax),
        color=style.FAINT,
        rotation=45,
        rotation_mode="anchor",
        transform_rotates_text=True,
    )
    there = found.rows > 0
    share, rows = found.right[there], found.rows[there]
    ax.bar(np.flatnonzero(there) / bins, share, 1 / bins, align="edge", color=BARS, edgecolor="white")
    ax.errorbar(
        found.sure[there],
        share,
        np.sqrt(share * (1 - share) / rows),
        fmt="o",
        color=style.COLORS[0],
        markersize=4,
        linewidth=1.2,
    )
    for place, count in zip(np.flatnonzero(there), rows, strict=True):
        ax.annotate(
            _short(count),
            xy=((place + 0.5) / bins, 0),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=style.SMALL * style.scale(ax),
            color=style.INK,
        )
    style.frame(ax, *words)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.015)
    facts = (
        f"{sure.size:,} rows, counted in the bars; dots: means ± standard error; calibration error {found.error:.3f}"
    )
    return style.finish(ax, title, facts)


def _codes(truth: np.ndarray, classes: Any, k: int) -> np.ndarray:
    names = np.unique(truth) if classes is None else np.asarray(classes)
    if names.size != k:
        raise ValueError(f"classes={names.tolist()!r}: probabilities have {k} columns; pass classes=model.classes_")
    return measures.label_codes(truth, names)


def _short(count: int) -> str:
    """A number in at most four letters."""
    if count < 1000:
        return str(count)
    power, letter = (1e6, "m") if count >= 999_500 else (1e3, "k")
    return f"{count / power:.{1 if count < 9.95 * power else 0}f}{letter}"
