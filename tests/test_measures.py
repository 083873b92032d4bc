"""Measures agree with scikit-learn, and with counting by hand where scikit-learn has no such measure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix, log_loss, recall_score

from edgewise.evaluation import measures


@st.composite
def labelings(draw: st.DrawFn) -> tuple[int, np.ndarray, np.ndarray]:
    k = draw(st.integers(2, 6))
    n = draw(st.integers(1, 80))
    codes = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    return k, np.array(draw(codes)), np.array(draw(codes))


@settings(max_examples=60, deadline=None)
@given(labelings())
def test_confusion_accuracy_and_recall_agree_with_sklearn(case: tuple[int, np.ndarray, np.ndarray]) -> None:
    k, truth, guesses = case
    confusion = measures.count_confusion(truth, guesses, k)
    np.testing.assert_array_equal(confusion, confusion_matrix(truth, guesses, labels=range(k)))
    assert measures.accuracy(confusion) == pytest.approx(accuracy_score(truth, guesses), abs=1e-15)
    theirs = recall_score(truth, guesses, labels=range(k), average=None, zero_division=np.nan)
    ours = [np.nan if value is None else value for value in measures.recalls(confusion)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)


@settings(max_examples=60, deadline=None)
@given(labelings())
def test_kappa_agrees_with_sklearn_where_it_is_defined(case: tuple[int, np.ndarray, np.ndarray]) -> None:
    k, truth, guesses = case
    assume(len(set(truth) | set(guesses)) > 1)
    ours = measures.cohen_kappa(measures.count_confusion(truth, guesses, k))
    assert ours == pytest.approx(cohen_kappa_score(truth, guesses, labels=range(k)), abs=1e-12)


def test_kappa_is_zero_when_only_one_label_occurs() -> None:
    assert measures.cohen_kappa(np.array([[7, 0], [0, 0]])) == 0.0


def test_kappa_does_not_overflow_on_long_streams() -> None:
    half = 4_000_000_000
    assert measures.cohen_kappa(np.array([[half, 0], [0, half]])) == 1.0
    assert measures.cohen_kappa(np.array([[half, half], [half, half]])) == 0.0


def test_recall_of_a_class_that_never_came_is_none() -> None:
    assert measures.recalls(np.array([[3, 1], [0, 0]])) == [0.75, None]


@st.composite
def predictions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of anything between a guess and certainty, and labels that are likelier where they are higher."""
    k = draw(st.integers(2, 6))
    n = draw(st.integers(1, 80))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p = rng.dirichlet(np.full(k, draw(st.sampled_from([0.1, 1.0, 10.0]))), size=n) * (1 - 1e-6 * k) + 1e-6
    return p, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=k - 1)


@settings(max_examples=60, deadline=None)
@given(predictions())
def test_log_loss_agrees_with_sklearn(case: tuple[np.ndarray, np.ndarray]) -> None:
    p, codes = case
    assert measures.log_loss(p, codes) == pytest.approx(log_loss(codes, p, labels=range(p.shape[1])), rel=1e-9)


def test_log_loss_of_an_impossible_label_is_finite() -> None:
    p = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert measures.log_loss(p, np.array([0, 0])) == 0.0
    assert measures.log_loss(p, np.array([0, 1])) == pytest.approx(-np.log(1e-15) / 2)


@pytest.mark.parametrize("bins", [1, 2, 10, 15])
@settings(max_examples=30, deadline=None)
@given(predictions())
def test_calibration_error_agrees_with_going_through_the_bins(bins: int, case: tuple[np.ndarray, np.ndarray]) -> None:
    p, codes = case
    rows: dict[int, list[tuple[float, bool]]] = {}
    for row, code in zip(p.tolist(), codes.tolist(), strict=True):
        top = max(row)
        rows.setdefault(min(int(top * bins), bins - 1), []).append((top, row.index(top) == code))
    expected = 0.0
    for members in rows.values():
        confidences, hits = zip(*members, strict=True)
        expected += len(members) / len(codes) * abs(np.mean(hits) - np.mean(confidences))
    assert measures.calibration_error(p, codes, bins) == pytest.approx(expected, abs=1e-12)


def test_calibration_error_by_hand() -> None:
    """Two rows at .75 with one hit, two at 1 with two hits: the bins are off by .25 and by 0."""
    p = np.array([[0.75, 0.25], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0]])
    codes = np.array([0, 0, 0, 1])
    assert measures.calibration_error(p, codes) == pytest.approx(0.125)
    # In one bin, an overconfident half and an underconfident half cancel.
    p = np.array([[0.75, 0.25], [0.75, 0.25], [1.0, 0.0], [1.0, 0.0]])
    codes = np.array([0, 0, 0, 1])
    assert measures.calibration_error(p, codes) == pytest.approx((0.5 + 1.0) / 4)
    assert measures.calibration_error(p, codes, bins=1) == pytest.approx(0.125)
    with pytest.raises(ValueError, match=r"^bins=0: at least 1"):
        measures.calibration_error(p, codes, bins=0)


@pytest.mark.parametrize(("rows", "counted"), [(1, 1), (4, 1), (5, 1), (6, 2), (10, 2), (11, 3), (1728, 346)])
def test_last_fifth_is_the_last_fifth_rounded_up(rows: int, counted: int) -> None:
    hits = np.zeros(rows, dtype=np.uint8)
    hits[-counted:] = 1
    assert measures.last_fifth(hits) == 1.0
    hits[:] = 1
    hits[-counted] = 0
    assert measures.last_fifth(hits) == pytest.approx(1 - 1 / counted)


@pytest.mark.parametrize("rows", [1, 19, 20, 39, 40, 625, 1000, 1728, 12960])
def test_windows_cover_every_row_once_and_are_never_short(rows: int) -> None:
    hits = (np.random.default_rng(rows).random(rows) < 0.7).astype(np.uint8)
    ends, windowed, cumulative = measures.learning_curve(hits)
    starts = np.concatenate([[0], ends[:-1]])
    assert ends[-1] == rows
    assert len(ends) <= 50
    assert rows < 20 or min(ends - starts) >= 20
    assert max(ends - starts) - min(ends - starts) <= 1
    for start, end, recent, so_far in zip(starts, ends, windowed, cumulative, strict=True):
        assert recent == pytest.approx(hits[start:end].mean(), abs=1e-15)
        assert so_far == pytest.approx(hits[:end].mean(), abs=1e-15)


@pytest.mark.parametrize("classes", [np.array(["a", "bb", "c"]), np.array([-1, 3, 7]), np.array([False, True])])
def test_label_codes_are_positions_among_the_classes(classes: np.ndarray) -> None:
    picks = np.random.default_rng(3).integers(0, classes.size, size=40)
    np.testing.assert_array_equal(measures.label_codes(classes[picks], classes), picks)
    np.testing.assert_array_equal(measures.label_codes(classes[picks].astype(object), classes), picks)


def test_an_unknown_label_is_named() -> None:
    with pytest.raises(ValueError, match=r"^label 'z': not one of the 2 classes 'a', 'c'"):
        measures.label_codes(np.array(["a", "z"]), np.array(["a", "c"]))
    with pytest.raises(ValueError, match="'b'"):
        measures.label_codes(np.array(["b"]), np.array(["a", "c"]))
