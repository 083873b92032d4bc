"""How good a run was: measures over a confusion matrix (true label by guessed label), over hits (or losses), one a row,
and over the probabilities [n, k] that were predicted for n rows with label codes [n]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

WINDOWS = 50
SMALLEST_WINDOW = 20
LEAST_PROBABILITY = 1e-15


def label_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The position of each label in `classes`, which are sorted."""
    codes = np.searchsorted(classes, labels).clip(max=classes.size - 1)
    unknown = classes[codes] != labels
    if np.any(unknown):
        label = labels[unknown].tolist()[0]
        raise ValueError(f"label {label!r}: not one of the {classes.size} classes {_some(classes)}")
    return codes


def count_confusion(truth: np.ndarray, guesses: np.ndarray, n_classes: int) -> np.ndarray:
    """Rows of each (true, guessed) pair of label codes."""
    pairs = np.bincount(truth * n_classes + guesses, minlength=n_classes * n_classes)
    return pairs.reshape(n_classes, n_classes)


def accuracy(confusion: np.ndarray) -> float:
    """Share of the rows on the diagonal."""
    return float(np.trace(confusion) / confusion.sum())


def cohen_kappa(confusion: np.ndarray) -> float:
    """Agreement beyond chance (Cohen 1960); 0 where chance alone already agrees on every row."""
    rows = int(confusion.sum())
    # In integers, so that "chance agrees on every row" is decided exactly.
    by_chance = sum(int(a) * int(b) for a, b in zip(confusion.sum(axis=0), confusion.sum(axis=1), strict=True))
    if by_chance == rows * rows:
        return 0.0
    return (int(np.trace(confusion)) * rows - by_chance) / (rows * rows - by_chance)


def recalls(confusion: np.ndarray) -> list[float | None]:
    """Share of each class's rows that were guessed right; None for a class without rows."""
    totals = confusion.sum(axis=1)
    return [float(right / total) if total else None for right, total in zip(np.diag(confusion), totals, strict=True)]


def last_fifth(hits: np.ndarray) -> float:
    """Mean over the last fifth of the rows, rounded up: the last ceil(n / 5)."""
    return float(np.mean(hits[hits.size - -(-hits.size // 5) :]))


def learning_curve(hits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row numbers, mean of the hits in the window that ends there, mean of all rows up to there.

    The stream is cut into 50 windows of equal size (give or take a row), fewer where they would fall short of 20 rows.
    """
    windows = max(1, min(WINDOWS, hits.size // SMALLEST_WINDOW))
    edges = np.arange(windows + 1, dtype=np.int64) * hits.size // windows
    right = np.add.reduceat(hits, edges[:-1], dtype=np.float64)
    return edges[1:], right / np.diff(edges), np.cumsum(right) / edges[1:]


def log_losses(p: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """-ln p[true label] of each row. A probability below 1e-15 counts as 1e-15, so that no row's is infinite."""
    return -np.log(np.maximum(p[np.arange(codes.size), codes], LEAST_PROBABILITY))


def log_loss(p: np.ndarray, codes: np.ndarray) -> float:
    """Mean of `log_losses`."""
    return float(np.mean(log_losses(p, codes)))


class Reliability(NamedTuple):
    """Rows sorted into bins by how sure a model was of them; NaN for the means of an empty bin."""

    rows: np.ndarray
    sure: np.ndarray
    """Mean confidence of each bin's rows."""
    right: np.ndarray
    """Share of each bin's rows that were right."""

    @property
    def error(self) -> float:
        """Mean over rows of |accuracy - mean confidence| of the row's bin."""
        there = self.rows > 0
        return float((np.abs(self.right - self.sure)[there] * self.rows[there]).sum() / self.rows.sum())


def reliability(confidence: np.ndarray, hits: np.ndarray, bins: int = 10) -> Reliability:
    """Rows by confidence in bins [b/bins, (b + 1)/bins) of equal width, the last with its upper end."""
    if bins < 1:
        raise ValueError(f"bins={bins!r}: at least 1")
    bin_of_row = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    rows = np.bincount(bin_of_row, minlength=bins)
    sums = [np.bincount(bin_of_row, weights=each, minlength=bins) for each in (confidence, hits)]
    means = [np.divide(each, rows, out=np.full(bins, np.nan), where=rows > 0) for each in sums]
    return Reliability(rows, *means)


def calibration_error(p: np.ndarray, codes: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error of the likeliest label (Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017).

    The mean over rows of |accuracy - mean confidence| of the row's bin, see `reliability`; confidence is the largest
    probability of the row: 0 if labels given with confidence c are right in a share c of the cases. Ties go to the
    lowest label.
    """
    return reliability(p.max(axis=1), p.argmax(axis=1) == codes, bins).error


def _some(classes: np.ndarray, most: int = 8) -> str:
    shown = ", ".join(repr(label) for label in classes[:most].tolist())
    return shown if classes.size <= most else f"{shown}, ..."
