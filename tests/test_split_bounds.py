"""Split attempts look only at candidates that can decide, and decide as if they looked at all (`forest.splitting`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from edgewise.learners.forest import gain_bounds, merits, splitting
from edgewise.learners.forest.layout import HIGH, LOW, MEAN, SEEN, SQUARES, WEIGHT, Forest, make_forest
from edgewise.reference import split_search

M, C, CODES = 9, 3, 4  # numeric features, nominal features and the codes of each, of the leaves made here
LEAVES = 2500


def empty_leaf(k: int, m: int, c: int, *, warm: bool, binary: bool, delta: float, tie: float) -> Forest:
    """A forest of one leaf, without any example."""
    one = np.ones(1)
    forest = make_forest(
        n_labels=k,
        mode=one,
        binary=one * binary,
        warm=one * warm,
        max_nodes=one * 100,
        grace=one,
        confidence=one * delta,
        tie=one * tie,
        numeric=np.ones((1, m), bool),
        nominal=np.ones((1, c), bool),
        n_numeric=m,
        categories=np.full(c, CODES),
    )
    return forest._replace(
        gauss=np.zeros((k, *forest.gauss.shape[1:])), counts=np.zeros((k, forest.counts.shape[1])), complete=np.zeros(k)
    )


def fill(forest: Forest, X: np.ndarray, codes: np.ndarray, y: np.ndarray, w: np.ndarray) -> None:
    """Let the leaf have learned these examples; NaN and code -1 are missing."""
    for r in np.unique(y):
        forest.row[0, r] = r
        of = y == r
        forest.class_weight[0, r] = w[of].sum()
        for j in range(X.shape[1]):
            x, wx = X[of, j], w[of]
            wx, x = wx[~np.isnan(x)], x[~np.isnan(x)]
            mean = np.average(x, weights=wx) if len(x) else 0.0
            least, most = (x.min(), x.max()) if len(x) else (math.inf, -math.inf)
            forest.gauss[r, : HIGH + 1, j] = wx.sum(), mean, (wx * (x - mean) ** 2).sum(), least, most
        for j in range(codes.shape[1]):
            first, last = forest.offset[0, j], forest.offset[0, j + 1] - 1
            for v in range(CODES):
                forest.counts[r, first + v] = w[of & (codes[:, j] == v)].sum()
            forest.counts[r, last] = w[of & (codes[:, j] >= 0)].sum()
    forest.n_rows[0] = len(np.unique(y))
    forest.leaf_counters[0, SEEN] = w.sum()


def random_leaf(seed: int) -> Forest:
    """Leaves as streams make them, and the oddest that arithmetic allows."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.choice([2, 3, 8])), int(rng.integers(2, 40))
    delta, tie = rng.choice([0.1, 1e-7, 0.9]), rng.choice([0.0, 0.05, 0.5, 0.9])
    forest = empty_leaf(k, M, C, warm=rng.random() < 0.5, binary=rng.random() < 0.7, delta=delta, tie=tie)
    y = np.concatenate([[0, 1], rng.integers(0, k, n)])
    X = rng.normal(size=(n + 2, M)) + rng.choice([0.0, 0.5, 3.0]) * rng.normal(size=(k, M))[y]
    codes = np.where(
        rng.random((n + 2, C)) < 0.6, (y[:, None] + np.arange(C)) % CODES, rng.integers(0, CODES, (n + 2, C))
    )
    w = 10.0 ** rng.choice([0.0, -8.0, 8.0]) * np.where(rng.random() < 0.5, 1.0, rng.exponential(size=n + 2))
    w = np.broadcast_to(w, n + 2) * np.where(rng.random(n + 2) < rng.choice([0.0, 0.3]), 1e-6, 1.0)
    odd = rng.choice(["none", "none", "integers", "missing", "shift", "scale", "equal", "flat"])
    if odd == "integers":
        X = np.round(2.0 * X)
    if odd == "missing":
        X[rng.random(X.shape) < 0.4] = math.nan
        codes[rng.random(codes.shape) < 0.4] = -1
    if odd == "shift":
        X += 10.0 ** rng.integers(6, 17)
    if odd == "scale":
        X *= 10.0 ** rng.integers(-300, 150, M)
    if odd == "equal":
        X[:, 1:] = X[:, :1] * rng.choice([1.0, -1.0, 2.0], M - 1)
        codes[:, 1:] = codes[:, :1]
    if odd == "flat":
        X[:, rng.random(M) < 0.7] = 7.3
    fill(forest, X, codes, y, w)
    if rng.random() < 0.3:
        # what cutting Gaussians leaves to children: no width, or a mean at an end
        at = rng.random((k, M)) < 0.3
        forest.gauss[:, SQUARES, :M][at] = rng.choice([0.0, -1e-18, 5e-324])
        at = (rng.random((k, M)) < 0.2) & (forest.gauss[:, WEIGHT, :M] > 0.0)
        forest.gauss[:, MEAN, :M][at] = forest.gauss[:, LOW, :M][at]
    if rng.random() < 0.3:
        forest.leaf_counters[0, SEEN] *= rng.uniform(0.01, 1.0)
    if rng.random() < 0.3:
        forest.class_weight[0] *= rng.uniform(0.5, 3.0)
    return forest


def plain_rows(forest: Forest, m: int = M, c: int = C) -> dict[int, Any]:
    """The leaf's statistics as the plain search reads them."""
    rows: dict[int, Any] = {}
    for label, row in enumerate(forest.row[0]):
        if row >= 0:
            fields = zip(
                ("n", "mean", "m2", "lo", "hi"), forest.gauss[row, [WEIGHT, MEAN, SQUARES, LOW, HIGH]], strict=True
            )
            columns = {name: column.tolist() for name, column in fields}
            rows[label] = {j: {name: column[j] for name, column in columns.items()} for j in range(m)}
            for j in range(c):
                counts = forest.counts[row, forest.offset[0, j] : forest.offset[0, j + 1] - 1].tolist()
                rows[label][m + j] = {v: count for v, count in enumerate(counts) if count > 0.0}
    return rows


def leaf_weight(forest: Forest) -> float:
    return float(forest.class_weight[0].sum() if forest.warm[0] else forest.leaf_counters[0, SEEN])


def search_all(forest: Forest, m: int = M, c: int = C) -> tuple[int, float]:
    """Feature and threshold or code by looking at every candidate; (-1, 0) if the leaf should not split yet."""
    seen, confidence = float(forest.leaf_counters[0, SEEN]), float(forest.log_confidence[0])
    bound = split_search.hoeffding_bound(int(forest.n_rows[0]), confidence, seen)
    kind = "binary" if forest.binary[0] else "multiway"
    rows = plain_rows(forest, m, c)
    split = split_search.best_split(rows, m, kind, leaf_weight(forest), bound, float(forest.tie[0]))
    return (-1, 0.0) if split is None else (split.feature, float(split.place or 0.0))


def merits_of(forest: Forest, j: int, candidates: Any) -> list[float]:
    """The merit of each candidate split on feature j; -inf where a branch is too light."""
    of_class = {label: row[j] for label, row in plain_rows(forest).items()}
    found = [split_search.merit(branches, leaf_weight(forest)) for _, branches in candidates(of_class)]
    return [-math.inf if merit is None else merit for merit in found]


def splitting_is_compiled() -> bool:
    return hasattr(splitting.best_split, "py_func")


def plain(function: Any) -> Any:
    """A kernel as Python runs it."""
    return getattr(function, "py_func", function)


def decide(forest: Forest, m: int = M, c: int = C) -> tuple[int, float]:
    feature, where = splitting.best_split(forest, 0, 0, m, c, splitting.make_split_workspace(forest))
    return int(feature), float(where)


@pytest.mark.plain
@pytest.mark.parametrize("part", range(5))
def test_decides_as_the_search_over_all_candidates(part):
    made = set()
    for seed in range(part, LEAVES if splitting_is_compiled() else 100, 5):
        forest = random_leaf(seed)
        expected = search_all(forest)
        assert decide(forest) == expected, seed
        made.add((expected[0] >= 0, expected[0] >= M))
    # No split, numeric and nominal splits were all asked for, or the comparison says nothing.
    assert made == {(False, False), (True, False), (True, True)}


def test_chains_of_ties_keep_their_order():
    """Copies of one feature whose merits differ by fractions of TIE: leaving some out must not change who is first.

    At this distance the last bits of a merit decide, so the search over all is made with the same kernel.
    """
    m, later = 40, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        forest = empty_leaf(3, m, 0, warm=False, binary=True, delta=0.9, tie=1.0)
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 20)])
        fill(forest, np.repeat(rng.normal(size=(23, 1)) + y[:, None], m, axis=1), np.zeros((23, 0)), y, np.ones(23))
        forest.gauss[:, MEAN, :m] *= 1.0 + 3e-12 * rng.normal(size=(3, m))
        room = splitting.make_split_workspace(forest)
        n = splitting.sum_up(forest.gauss, forest.row[0], m, room)
        room.guesses[:] = math.inf
        found = [merits.numeric_merit(forest.gauss, room, n, j, 23.0, -math.inf) for j in range(m)]
        assert np.ptp([merit for merit, _ in found]) < 1e-10
        best, expected = 0.0, (-1, 0.0)
        for j, (merit, threshold) in enumerate(found):
            if merit > best + merits.TIE:
                best, expected = merit, (j, threshold)
        later += expected[0] > 0
        assert decide(forest, m, 0) == expected, seed
    assert later > 30  # else no chain was there


@pytest.mark.plain
@pytest.mark.parametrize("binary", [False, True])
def test_columns_that_name_the_same_codes_otherwise_tie(binary):
    """The merits of three columns with their codes renamed differ by rounding alone: the first is chosen."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        forest = empty_leaf(3, 0, C, warm=False, binary=binary, delta=0.9, tie=1.0)
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 20)])
        codes = np.where(rng.random(23) < 0.7, y, rng.integers(0, CODES, 23))
        renamed = np.stack([rng.permutation(CODES)[codes] for _ in range(C)], axis=1)
        fill(forest, np.zeros((23, 0)), renamed, y, rng.exponential(size=23))
        assert decide(forest, 0, C)[0] == 0


@pytest.mark.plain
def test_thresholds_that_tie_go_to_the_lowest():
    """Two classes around one mean: as much is told to its left as to its right, but for rounding."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        forest = empty_leaf(2, 1, 0, warm=False, binary=True, delta=0.9, tie=9.0)
        half = np.concatenate([rng.normal(size=9), 9.0 * rng.normal(size=9)])
        y = np.tile(np.arange(18) // 9, 2)
        fill(forest, np.concatenate([half, -half])[:, None], np.zeros((36, 0)), y, np.tile(rng.exponential(size=18), 2))
        found = decide(forest, 1, 0)
        assert found == search_all(forest, 1, 0)
        assert found[1] < 0.0


@pytest.mark.plain
@pytest.mark.parametrize("kind", ["below", "above", "binary", "multiway"])
@pytest.mark.parametrize(("share", "best"), [(0.997, 1), (1.0 - 5e-7, 1), (1.0 + 5e-7, 0), (1.003, 0)])
def test_a_branch_needs_a_hundredth_of_the_weight(kind, share, best):
    """The first feature tells the classes apart, one of which is nearly too light; the second tells a little."""
    m, c = (2, 0) if kind in ("below", "above") else (0, 2)
    y, halves = np.array([0, 0, 1]), np.array([0, 1, 1])
    apart = {"above": np.array([0.0, 0.5, 9.0]), "below": np.array([9.0, 8.5, 0.0])}.get(kind, y)
    X = np.stack([apart, halves], axis=1)
    forest = empty_leaf(2, m, c, warm=False, binary=kind == "binary", delta=0.9, tie=9.0)
    w = np.array([0.5 - 0.005 * share, 0.5 - 0.005 * share, 0.01 * share])
    fill(forest, X[:, :m], X[:, :c], y, w)
    assert decide(forest, m, c) == search_all(forest, m, c)
    assert decide(forest, m, c)[0] == best


@pytest.mark.plain
def test_the_gap_is_exact_where_it_decides():
    """A Hoeffding bound that the best merit's lead exceeds, or misses, by a hair: closer than any guess can tell."""
    compared = 0
    for seed in range(300 if splitting_is_compiled() else 60):
        forest = random_leaf(seed)
        merit = [max(0.0, *merits_of(forest, j, split_search.thresholds), 0.0) for j in range(M)]
        second, best = np.sort(merit)[-2:]
        if best - second > 1e-3:
            compared += 1
            for hair in (-1e-9, 1e-9):
                bound = (best - second) * (1.0 + hair)
                forest.log_confidence[0] = (
                    2.0 * forest.leaf_counters[0, SEEN] * (bound / math.log2(forest.n_rows[0])) ** 2
                )
                forest.tie[0] = 0.0
                assert (decide(forest, M, 0)[0] >= 0) == (hair < 0.0), seed
    assert compared > 30


@pytest.mark.plain
def test_guesses_hold_the_merits_between_them():
    closest = math.inf
    for seed in range(600 if splitting_is_compiled() else 60):
        forest = random_leaf(seed)
        room = splitting.make_split_workspace(forest)
        mass = leaf_weight(forest)
        n = splitting.sum_up(forest.gauss, forest.row[0], M, room)
        splitting.bound_merits(forest, 0, M, C, n, mass, room)
        for j in range(M):
            error = gain_bounds.NUMERIC_ERROR * room.totals[j] / mass * merits.BITS
            found = merits_of(forest, j, split_search.thresholds)
            for s, merit in enumerate(found):
                guess = room.guesses[s, j]
                if merit > -math.inf:
                    assert merit <= guess
                    if guess != math.inf:
                        assert guess - 2.0 * error <= merit
                        closest = min(closest, (guess - merit) / error, (merit - guess) / error + 2.0)
            if room.most[j] > gain_bounds.NO_CANDIDATE:
                assert room.least[j] <= max(0.0, *found) <= max(room.most[j], 0.0)
            else:
                assert all(merit == -math.inf for merit in found)
        for j in range(C if forest.binary[0] else 0):
            best = max(0.0, *merits_of(forest, M + j, split_search.codes_against_rest), 0.0)
            assert room.least[M + j] <= best <= max(room.most[M + j], 0.0)
    # The error is no more than a few times what is met: bounds far too wide would pass all of the above.
    assert closest < 0.8


@pytest.mark.plain
@pytest.mark.parametrize("all_codes", [0.0, 1e-17])
def test_a_code_that_outweighs_all_codes_by_rounding(all_codes):
    """What splits leave to a child is rounded code by code: no table may be read beyond its end for that."""
    forest = empty_leaf(3, 0, 1, warm=False, binary=True, delta=0.9, tie=9.0)
    y = np.array([0, 0, 1, 1, 2])
    fill(forest, np.zeros((5, 0)), np.array([0, 1, 1, 1, 0])[:, None], y, np.array([3.0, 2.0, 2.0, 2.0, 3e-17]))
    forest.counts[2, forest.offset[0, 1] - 1] = all_codes
    assert decide(forest, 0, 1) == search_all(forest, 0, 1) == (0, 0.0)


@pytest.mark.plain
def test_guesses_err_as_little_as_derived():
    """Each error that is printed holds on a fine grid, and is nearly reached."""
    special = pytest.importorskip("scipy.special")
    z = np.linspace(-8.0, 8.0, 160001)
    below, above = special.ndtr(z), special.ndtr(-z)
    mixed = special.xlogy(below, below) + special.xlogy(above, above)
    near = np.clip(z, -gain_bounds.LIMIT, gain_bounds.LIMIT)
    x = 2.0 * (near / gain_bounds.LIMIT) ** 2 - 1.0
    share, cut = 0.5 + near * np.polyval(gain_bounds.SHARE, x), np.polyval(gain_bounds.CUT, x)
    for guess, truth, error in ((share, below, gain_bounds.SHARE_ERROR), (cut, mixed, gain_bounds.CUT_ERROR)):
        assert 0.9 * error < np.abs(guess - truth).max() <= error
    f = np.linspace(1.0, 2.0, 100001)
    assert np.abs(np.polyval(gain_bounds.LOG, 2.0 * f - 3.0) - np.log(f)).max() > 0.9 * gain_bounds.LOG_ERROR
    p = np.linspace(gain_bounds.TOO_LIGHT, 1.0 - gain_bounds.TOO_LIGHT, 40000)
    guess = 0.0
    for of in (p, 1.0 - p):
        half, power = np.frexp(of)
        guess += of * ((power - 1) * math.log(2.0) + np.polyval(gain_bounds.LOG, 4.0 * half - 3.0))
    assert np.abs(guess - special.xlogy(p, p) - special.xlogy(1.0 - p, 1.0 - p)).max() <= gain_bounds.LOG_ERROR
    for least, error in (
        (merits.LEAST_BRANCH - gain_bounds.ROUNDING, gain_bounds.STEP_ERROR),
        (0.0, gain_bounds.CODE_ERROR),
    ):
        p = np.linspace(least, 1.0 - least, 400001)
        i = (p * gain_bounds.SHARES).astype(int)
        guess = gain_bounds.MIXING[i, 0] + (p * gain_bounds.SHARES - i) * gain_bounds.MIXING[i, 1]
        off = np.abs(guess - special.xlogy(p, p) - special.xlogy(1.0 - p, 1.0 - p)).max()
        assert 0.8 * error < off <= error


@pytest.mark.plain
@pytest.mark.parametrize(("tie", "share"), [(1.0, 0.03), (0.0, 0.0)])
def test_few_thresholds_are_worked_out(monkeypatch, tie, share):
    """Of 12 features with 10 thresholds each: next to none where a split is due, none where the bound forbids one."""
    asked = []

    def counted(gauss: np.ndarray, j: int, threshold: float) -> float:
        asked.append(threshold)
        return plain(weight_below)(gauss, j, threshold)

    weight_below = merits.weight_below
    monkeypatch.setattr(merits, "weight_below", counted)
    monkeypatch.setattr(splitting, "numeric_merit", plain(merits.numeric_merit))
    all_candidates = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        forest = empty_leaf(8, 12, 0, warm=False, binary=True, delta=0.1, tie=tie)
        y = np.arange(80) % 8
        X = rng.normal(size=(80, 12)) + 0.5 * rng.normal(size=(8, 12))[y]
        fill(forest, X, np.zeros((80, 0)), y, np.ones(80))
        found = plain(splitting.best_split)(forest, 0, 0, 12, 0, splitting.make_split_workspace(forest))
        assert (found[0] >= 0) == (tie == 1.0)
        all_candidates += 12 * merits.THRESHOLDS * 8
    assert (len(asked) > 0) == (tie == 1.0)
    assert len(asked) <= share * all_candidates


@pytest.mark.plain
def test_one_bit_is_the_most_that_two_branches_tell():
    """A Hoeffding bound above one bit: nothing is even guessed. Just below: a perfect split is made."""
    for weight, splits in ((0.26, False), (0.28, True)):
        forest = empty_leaf(2, 1, 0, warm=False, binary=True, delta=1e-7, tie=0.0)
        y = np.arange(30) % 2
        fill(forest, y[:, None] + 0.0, np.zeros((30, 0)), y, np.full(30, weight))
        bound = math.sqrt(math.log(1e7) / (2.0 * 30.0 * weight))
        assert (bound < 1.0) == splits
        room = splitting.make_split_workspace(forest)
        room.most[0] = 5.0  # a mark that a guess would write over
        assert (splitting.best_split(forest, 0, 0, 1, 0, room)[0] == 0) == splits
        assert (room.most[0] == 5.0) != splits


@pytest.mark.plain
@pytest.mark.parametrize(("tie", "feature"), [(0.5, -1), (0.7, 0)])
def test_a_feature_seen_in_half_the_rows_may_win_a_tie(tie, feature):
    """It gains half a bit, less than the bound of 0.6, which only a larger tie threshold overrules."""
    forest = empty_leaf(2, 1, 0, warm=False, binary=True, delta=0.5, tie=tie)
    y = np.arange(40) % 2
    fill(forest, np.where(np.arange(40) < 20, y, math.nan)[:, None], np.zeros((40, 0)), y, np.ones(40))
    forest.log_confidence[0] = 2.0 * 40.0 * 0.6**2
    assert decide(forest, 1, 0)[0] == feature
