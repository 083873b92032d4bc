"""Measures of rankings: the definitions spelled out, scikit-learn's, and what must be so whatever the scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss

from edgewise.evaluation import ranking_measures as rm
from edgewise.reference import ranking_losses as reference

MEASURES = ["rank_loss", "hinge_loss", "logistic_loss", "one_error", "coverage", "average_precision"]


def random_rankings(seed: int, ties: bool, n: int = 200, k: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Label sets of every size, none and all among them; with ties, scores are whole numbers from 0 to 3."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, k)) < rng.random((n, 1))).astype(np.int8)
    Y[0], Y[1] = 0, 1
    scores = rng.integers(0, 4, (n, k)).astype(float) if ties else rng.normal(size=(n, k))
    return Y, scores


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("block", [1, 50, 1 << 20])
def test_measures_are_their_definitions(measure: str, ties: bool, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rm, "BLOCK", block)
    Y, scores = random_rankings(1, ties)
    spelled_out = [
        getattr(reference, measure)(s, set(np.flatnonzero(y))) for y, s in zip(Y, scores.tolist(), strict=True)
    ]
    np.testing.assert_allclose(getattr(rm, measure)(Y, scores), spelled_out, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_all_agree_with_scikit_learn(seed: int) -> None:
    Y, scores = random_rankings(seed, ties=False)
    assert rm.rank_loss(Y, scores).mean() == pytest.approx(label_ranking_loss(Y, scores), abs=1e-12)
    assert rm.coverage(Y, scores).mean() == pytest.approx(coverage_error(Y, scores), abs=1e-12)
    precision = label_ranking_average_precision_score(Y, scores)
    assert rm.average_precision(Y, scores).mean() == pytest.approx(precision, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_with_ties_scikit_learn_counts_whole_errors_in_the_rank_loss_only(seed: int) -> None:
    Y, scores = random_rankings(seed, ties=True)
    assert rm.coverage(Y, scores).mean() == pytest.approx(coverage_error(Y, scores), abs=1e-12)
    precision = label_ranking_average_precision_score(Y, scores)
    assert rm.average_precision(Y, scores).mean() == pytest.approx(precision, abs=1e-12)
    ours = rm.rank_loss(Y, scores).mean()
    assert ours < label_ranking_loss(Y, scores) - 0.01
    # Reversed scores make right pairs wrong and leave ties ties: their error is 1 - wrong, and ties are in both.
    counted = rm.has_pairs(Y.astype(bool))
    ties_as_errors = label_ranking_loss(Y[counted], scores[counted])
    ties_as_right = 1 - label_ranking_loss(Y[counted], -scores[counted])
    assert ours * len(Y) / counted.sum() == pytest.approx((ties_as_errors + ties_as_right) / 2, abs=1e-12)


def test_one_error_takes_the_lowest_label_of_a_tie() -> None:
    scores = [[2, 2, 1]] * 3
    assert rm.one_error([[1, 0, 0], [0, 1, 0], [0, 0, 1]], scores).tolist() == [0, 1, 1]


def test_rows_without_pairs_lose_nothing_and_are_counted() -> None:
    Y = np.array([[0, 0, 0], [1, 1, 1], [1, 0, 0]])
    scores = np.array([[3.0, 1, 2], [1, 2, 3], [0, 1, 2]])
    result = rm.measure_ranking(Y, scores)
    assert (result.rows, result.without_pairs) == (3, 2)
    assert result.rank_loss == pytest.approx(1 / 3)
    assert result.one_error == pytest.approx(1 / 3)
    assert result.hinge == pytest.approx((2 + 3) / 2 / 3)
    assert result.average_precision == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert rm.coverage(Y, scores).tolist() == [0, 3, 3]


def test_sparse_and_boolean_labels() -> None:
    Y, scores = random_rankings(3, ties=True)
    expected = rm.measure_ranking(Y, scores)
    for other in (sparse.csr_array(Y), sparse.coo_matrix(Y), Y.astype(bool), Y.astype(float), Y.tolist()):
        assert rm.measure_ranking(other, scores) == expected


def test_large_scores_do_not_overflow() -> None:
    with np.errstate(over="raise"):
        assert rm.logistic_loss([[1, 0]], [[-1e6, 1e6]]).tolist() == [2e6]
        assert rm.logistic_loss([[1, 0]], [[1e6, -1e6]]).tolist() == [0]


@given(
    arrays(np.int8, (4, 5), elements=st.integers(0, 1)),
    arrays(np.float64, (4, 5), elements=st.integers(-8, 8).map(lambda n: n / 4)),
)
def test_bounds_and_symmetries(Y: np.ndarray, scores: np.ndarray) -> None:
    loss, hinge, logistic = rm.rank_loss(Y, scores), rm.hinge_loss(Y, scores), rm.logistic_loss(Y, scores)
    assert ((loss >= 0) & (loss <= 1)).all()
    assert (hinge >= loss - 1e-12).all(), "the hinge loss is above the rank loss, ties included"
    assert (logistic >= np.log(2) * loss - 1e-12).all()
    counted = rm.has_pairs(Y.astype(bool))
    np.testing.assert_allclose((loss + rm.rank_loss(Y, -scores))[counted], 1, atol=1e-12)
    np.testing.assert_allclose(loss, rm.rank_loss(1 - Y, -scores), atol=1e-12)
    np.testing.assert_array_equal(loss, rm.rank_loss(Y, scores + 3))
    np.testing.assert_array_equal(loss, rm.rank_loss(Y, np.exp(scores)))
    assert (loss[~counted] == 0).all()
    assert (rm.coverage(Y, scores) >= Y.sum(axis=1)).all()


@pytest.mark.parametrize(
    ("Y", "scores", "words"),
    [
        ([[0, 1]], [[0.0, 1.0, 2.0]], r"Y has shape \(1, 2\) and scores \(1, 3\)"),
        ([[0, 1]], [[0.0, 1.0]] * 2, r"Y has shape \(1, 2\): a row of 0 and 1 for each of the 2 rows"),
        ([0, 1], [0.0, 1.0], r"Y has shape \(2,\)"),
        ([[0, 1], [2, 0]], [[0.0, 1.0]] * 2, "Y has 2 in row 1, column 0: 1 is relevant, 0 is not"),
        ([[0, 0.5]], [[0.0, 1.0]], "Y has 0.5 in row 0, column 1"),
        ([[0, np.nan]], [[0.0, 1.0]], "Y has nan in row 0, column 1"),
        ([[0, 1]], [[0.0, np.nan]], "scores have nan in row 0, label 1"),
        ([[0, 1]], [[np.inf, 1]], "scores have inf in row 0, label 0"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "no rows"),
        (np.zeros((2, 1)), np.zeros((2, 1)), "Y has 1 labels: there are at least 2 to rank"),
    ],
)
def test_bad_input_is_named(Y: object, scores: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rm.measure_ranking(Y, scores)
