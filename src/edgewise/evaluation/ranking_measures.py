"""How good a ranking of labels was: measures of scores [n, k] against an indicator matrix Y [n, k] of relevant labels.

A pair is a relevant label l and an irrelevant label r of the same row; w_Y = 1 / (number of pairs of the row). The
losses are those of Jung and Tewari, Online Boosting Algorithms for Multi-label Ranking, AISTATS 2018, Section 3:

    rank      w_Y * sum over pairs of 1(s_l < s_r) + 1(s_l = s_r) / 2
    hinge     w_Y * sum over pairs of max(0, 1 + s_r - s_l)
    logistic  w_Y * sum over pairs of log(1 + exp(s_r - s_l))

A row without pairs (no label relevant, or all) can not be ranked wrongly: its losses and its one-error are 0 and its
precision is 1, and `RankingMeasures.without_pairs` counts such rows. scikit-learn does the same, with one difference
in the rank loss: its `label_ranking_loss` counts a tie as a whole error, not as half of one; without ties the two
agree. Coverage and average precision are `coverage_error` and `label_ranking_average_precision_score`, ties included:
both put a label below all others of the same score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from edgewise.loop.inputs import indicator

BLOCK = 1 << 20  # score differences held at once


class RankingMeasures(NamedTuple):
    """Means over all rows; `without_pairs` of the `rows` had no relevant label or only relevant ones."""

    rank_loss: float
    hinge: float
    logistic: float
    one_error: float
    coverage: float
    average_precision: float
    rows: int
    without_pairs: int


def measure_ranking(Y: Any, scores: Any) -> RankingMeasures:
    """All measures at once; Y is dense or scipy sparse.

    Parameters
    ----------
    Y : array or sparse matrix
        Label sets as an indicator matrix [n, k].
    scores : array
        Scores [n, k].

    Returns
    -------
    RankingMeasures
        Means over the rows.

    Examples
    --------
    >>> measured = measure_ranking([[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.2, 0.8, 0.3]])
    >>> measured.rank_loss, measured.one_error, measured.coverage
    (0.25, 0.0, 2.0)
    """
    relevant, s = checked(Y, scores)
    if len(s) == 0:
        raise ValueError("no rows: there is nothing to measure")
    means = {name: float(measure(relevant, s).mean()) for name, measure in BY_ROW.items()}
    return RankingMeasures(**means, rows=len(s), without_pairs=int(np.count_nonzero(~has_pairs(relevant))))


def rank_loss(Y: Any, scores: Any) -> np.ndarray:
    """Share of the pairs of each row in the wrong order, ties counting half."""
    return _pair_means(*checked(Y, scores), lambda gap: (gap > 0) + 0.5 * (gap == 0))


def hinge_loss(Y: Any, scores: Any) -> np.ndarray:
    """Mean over the pairs of each row of max(0, 1 + s_r - s_l)."""
    return _pair_means(*checked(Y, scores), lambda gap: np.maximum(0.0, 1.0 + gap))


def logistic_loss(Y: Any, scores: Any) -> np.ndarray:
    """Mean over the pairs of each row of log(1 + exp(s_r - s_l))."""
    return _pair_means(*checked(Y, scores), lambda gap: np.logaddexp(0.0, gap))


def one_error(Y: Any, scores: Any) -> np.ndarray:
    """1 where the label of the highest score, the lowest such label on a tie, is irrelevant."""
    relevant, s = checked(Y, scores)
    top = relevant[np.arange(len(s)), s.argmax(axis=1)]
    return np.where(has_pairs(relevant), ~top, False).astype(np.float64)


def coverage(Y: Any, scores: Any) -> np.ndarray:
    """How many labels a reader of the ranking goes through to meet all relevant ones: at best |Y|, at worst k.

    That is 1 more than in Tsoumakas, Katakis and Vlahavas, Mining multi-label data, 2010, as in scikit-learn, so that
    it is 0 for a row without relevant labels.
    """
    relevant, s = checked(Y, scores)
    lowest = np.where(relevant, s, np.inf).min(axis=1)
    return np.count_nonzero(s >= lowest[:, None], axis=1).astype(np.float64)


def average_precision(Y: Any, scores: Any) -> np.ndarray:
    """Mean over the relevant labels l of a row of the share of relevant ones among the labels scored s_l or more."""
    relevant, s = checked(Y, scores)
    order = np.argsort(-s, axis=1, kind="stable")
    ranked = np.take_along_axis(s, order, axis=1)
    hits = np.cumsum(np.take_along_axis(relevant, order, axis=1), axis=1)
    # The place of the last label with the same score: the first later place with a lower one, less 1.
    k = s.shape[1]
    ends = np.where(ranked[:, :-1] > ranked[:, 1:], np.arange(k - 1), k)
    ends = np.column_stack([ends, np.full(len(s), k - 1)])
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    precision = np.take_along_axis(hits, last, axis=1) / (last + 1)
    total = np.where(np.take_along_axis(relevant, order, axis=1), precision, 0.0).sum(axis=1)
    return np.where(has_pairs(relevant), total / np.maximum(1, hits[:, -1]), 1.0)


BY_ROW: dict[str, Callable[[Any, Any], np.ndarray]] = {
    "rank_loss": rank_loss,
    "hinge": hinge_loss,
    "logistic": logistic_loss,
    "one_error": one_error,
    "coverage": coverage,
    "average_precision": average_precision,
}


def has_pairs(relevant: np.ndarray) -> np.ndarray:
    """Whether a row has both relevant and irrelevant labels."""
    count = np.count_nonzero(relevant, axis=1)
    return (count > 0) & (count < relevant.shape[1])


def checked(Y: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Y as a Boolean array and scores as float64, both [n, k]."""
    s = np.asarray(scores, dtype=np.float64)
    relevant = indicator(Y, len(s), None)
    if relevant.shape != s.shape:
        raise ValueError(f"Y has shape {relevant.shape} and scores {s.shape}: expected the same, [rows, labels]")
    if not np.isfinite(s).all():
        row, label = np.argwhere(~np.isfinite(s))[0]
        raise ValueError(f"scores have {s[row, label]} in row {row}, label {label}: expected finite numbers")
    return relevant, s


def _pair_means(relevant: np.ndarray, s: np.ndarray, loss: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The mean of loss(s_r - s_l) over the pairs of each row, 0 where there are none: O(|Y| k) per row."""
    n, k = s.shape
    rows, labels = np.nonzero(relevant)
    sums = np.zeros(n)
    for start in range(0, rows.size, max(1, BLOCK // k)):
        some = slice(start, start + max(1, BLOCK // k))
        losses = loss(s[rows[some]] - s[rows[some], labels[some]][:, None])
        losses[relevant[rows[some]]] = 0.0
        sums += np.bincount(rows[some], losses.sum(axis=1), minlength=n)
    count = np.count_nonzero(relevant, axis=1)
    return sums / np.maximum(1, count * (k - count))
