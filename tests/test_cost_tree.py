"""The cost tree: bins, exact sums, splits, growth, against its twin and against exhaustive search."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.data.table import Feature, Table
from edgewise.learners.cost_tree import growing
from edgewise.learners.cost_tree.binning import bundle, encode, find_bins
from edgewise.learners.cost_tree.growing import BinnedTable, goes_left
from edgewise.learners.cost_tree.splitting import FEW_ROWS
from edgewise.reference import cost_tree as reference


def mixed_table(rng, n, missing=0.15):
    """Three numeric and two nominal features, of few and of many values."""
    values = np.column_stack(
        [
            rng.normal(size=n).round(1),
            rng.integers(0, 3, n),
            rng.exponential(size=n).round(2),
            rng.integers(0, 4, n),
            rng.integers(0, 2, n),
        ]
    ).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    kinds = (None, None, None, ("a", "b", "c", "d"), ("no", "yes"))
    return Table(values, [Feature(f"f{j}", kind) for j, kind in enumerate(kinds)])


def structure(tree, bins, node=0):
    """A compiled tree in the form of the twin's."""
    if tree.child[node] < 0:
        return ("leaf", int(tree.label[node]))
    f = int(tree.feature[node])
    sides = tuple(c for c in range(bins.n_bins[f] + 1) if goes_left(tree.in_left[node], c))
    child = int(tree.child[node])
    return ("split", f, sides, structure(tree, bins, child), structure(tree, bins, child + 1))


def twin_of(binned, costs, max_leaves, min_leaf=1):
    bins = binned.bins
    return reference.grow(
        binned.codes.tolist(), bins.n_bins.tolist(), bins.nominal.tolist(), costs.tolist(), max_leaves, min_leaf
    )


def random_costs(rng, n, k, kind):
    """Matrices as boosters hand them out, with ties and without."""
    labels = rng.integers(0, k, n)
    if kind == "zero_one":
        costs = np.ones((n, k))
        costs[np.arange(n), labels] = 0.0
    elif kind == "pairwise":
        costs = rng.lognormal(sigma=2.0, size=(n, k))
        costs[np.arange(n), labels] = 0.0
        costs[np.arange(n), labels] = -costs.sum(axis=1)
    else:
        costs = rng.integers(-2, 3, (n, k)).astype(float)
    return costs


# Bins


@pytest.mark.plain
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 3, 7, 255])
def test_thresholds_agree_with_the_twin(max_bins, weighted):
    rng = np.random.default_rng(max_bins)
    for _ in range(20):
        values = rng.integers(0, rng.integers(1, 40), 60) * 0.5
        values[rng.random(60) < 0.1] = np.nan
        weights = rng.integers(1, 4, 60).astype(float)
        bins = find_bins(Table(values[:, None], [Feature("x")]), max_bins, weights if weighted else None)
        expected = reference.thresholds(values.tolist(), weights if weighted else np.ones(60), max_bins)
        assert bins.cuts.tolist() == expected
        codes = encode(bins, Table(values[:, None], [Feature("x")]))[0]
        for value, code in zip(values, codes, strict=True):
            assert code == (len(expected) + 1 if math.isnan(value) else sum(cut < value for cut in expected))


@pytest.mark.plain
def test_bins_of_neighboring_floats_and_huge_values():
    values = np.array([1.0, np.nextafter(1.0, 2.0), 1.7e308, -1.7e308])
    table = Table(values[:, None], [Feature("x")])
    codes = encode(find_bins(table, 255), table)[0]
    assert codes.tolist() == [1, 2, 3, 0]


@pytest.mark.plain
def test_bins_are_of_about_equal_weight():
    values = np.random.default_rng(0).normal(size=10_000)
    table = Table(values[:, None], [Feature("x")])
    counts = np.bincount(encode(find_bins(table, 16), table)[0])
    assert counts.size == 16
    assert abs(counts - 625).max() <= 1


@pytest.mark.plain
def test_rare_categories_share_a_bin_and_unknown_ones_are_missing():
    names = tuple(f"c{j}" for j in range(6))
    codes = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4], float)
    table = Table(codes[:, None], [Feature("x", names)])
    bins = find_bins(table, 4)
    given = Table(np.array([[0.0], [1], [2], [3], [4], [5], [np.nan]]), [Feature("x", names)])
    # the three heaviest keep a bin each; 3 and 4 share the fourth; 5 was never seen
    assert encode(bins, given)[0].tolist() == [0, 1, 2, 3, 3, 4, 4]


def test_more_categories_than_codes():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 400, 3000)
    X = np.array([[f"c{j}"] for j in column], object)
    y = column % 2
    tree = ew.CostTree(max_leaves=2).fit(X, y)
    counts = np.bincount(column)
    common = counts[column] > np.sort(counts)[-255]
    assert common.sum() > 1500
    assert (tree.predict(X)[common] == y[common]).all(), "one split parts any categories"


# Sums


@pytest.mark.plain
def test_bundles_hold_what_their_members_hold():
    rng = np.random.default_rng(3)
    sizes = [2, 2, 2, 3, 16, 16, 200, 1, 255]
    values = np.column_stack([rng.integers(0, size, 500) for size in sizes]).astype(float)
    values[::7, 3] = np.nan
    table = Table(values, [Feature(f"f{j}") for j in range(len(sizes))])
    bins = find_bins(table, 255)
    codes = encode(bins, table)
    bundles = bundle(bins, codes)
    assert sorted(bundles.members.tolist()) == list(range(len(sizes)))
    assert bundles.codes.shape[0] < len(sizes)
    for g, (first, last) in enumerate(itertools.pairwise(bundles.members_at)):
        for f in bundles.members[first:last]:
            inside = bundles.codes[g].astype(int) // bundles.stride[f] % bundles.n_codes[f]
            assert (inside == codes[f]).all()


@pytest.mark.parametrize("n", [FEW_ROWS - 1, FEW_ROWS, 3000])
def test_histograms_are_exact(n):
    rng = np.random.default_rng(n)
    binned = BinnedTable(find_bins(table := mixed_table(rng, n), 255), table.features, table)
    costs = random_costs(rng, n, 4, "pairwise")
    binned.grow(costs, 3, 1)
    work = binned._workspace
    rows = np.sort(rng.choice(n, size=n - 5, replace=False)).astype(np.int32)
    hist = np.zeros_like(work.pool[0])
    growing.fill_histogram(
        work.whole, binned.codes, binned.bundles, binned.bins, rows, 0, rows.size, work.block, work.joint, hist
    )
    expected = np.zeros_like(hist)
    for f in range(5):
        np.add.at(expected, binned.bins.start[f] + binned.codes[f, rows].astype(int), work.whole[rows])
    assert (hist == expected).all()
    assert work.whole[:, :4].sum(axis=0).max() < 2**61
    by_hand = np.array(reference.whole_costs(costs.tolist()))
    assert (work.whole[:, :4] == by_hand).all()


# Trees


@pytest.mark.plain
@pytest.mark.parametrize("kind", ["zero_one", "pairwise", "small"])
@pytest.mark.parametrize(("max_leaves", "min_leaf"), [(2, 1), (5, 1), (8, 4), (40, 1)])
def test_tree_is_the_twins(kind, max_leaves, min_leaf):
    for seed in range(4):
        rng = np.random.default_rng([seed, max_leaves])
        n, k = int(rng.integers(5, 60)), int(rng.integers(2, 5))
        table = mixed_table(rng, n)
        binned = BinnedTable(find_bins(table, 6), table.features, table)
        costs = random_costs(rng, n, k, kind)
        tree = binned.grow(costs, max_leaves, min_leaf)
        expected = twin_of(binned, costs, max_leaves, min_leaf)
        assert structure(tree, binned.bins) == expected
        votes = np.zeros(n, np.int64)
        growing.fill_votes(tree, binned.codes, votes)
        assert votes.tolist() == [reference.predict(expected, codes) for codes in binned.codes.T.tolist()]


def test_large_trees_in_little_room_are_the_same(monkeypatch):
    """Leaves without a kept histogram are added up anew."""
    rng = np.random.default_rng(5)
    table = mixed_table(rng, 4000)
    costs = random_costs(rng, 4000, 3, "pairwise")
    bins = find_bins(table, 255)
    roomy = BinnedTable(bins, table.features, table).grow(costs, 60, 2)
    monkeypatch.setattr(growing, "KEPT_BUDGET", 0)
    tight = BinnedTable(bins, table.features, table)
    again = tight.grow(costs, 60, 2)
    assert tight._workspace.pool.shape[0] == 3
    assert structure(roomy, bins) == structure(again, bins)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_rows_in_another_order_give_the_same_tree(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    table, costs = mixed_table(rng, n), random_costs(rng, n, 3, ["zero_one", "pairwise", "small"][seed % 3])
    order = rng.permutation(n)
    one = ew.CostTree(max_leaves=6).fit_costs(table, costs)
    other = ew.CostTree(max_leaves=6).fit_costs(table[order], costs[order])
    assert structure(one.tree_, one.bins_) == structure(other.tree_, other.bins_)


def paid(tree, X, costs):
    return costs[np.arange(len(costs)), tree.predict(X)].sum()


@pytest.mark.parametrize("seed", range(6))
def test_stumps_are_the_best_there_are(seed):
    """Two leaves: no threshold, no group of categories, no place of the missing is cheaper."""
    rng = np.random.default_rng(seed)
    table, costs = mixed_table(rng, 80), random_costs(rng, 80, 4, "pairwise")
    best = costs.sum(axis=0).min()
    for f, feature in enumerate(table.features):
        column = table.values[:, f]
        codes = np.where(np.isnan(column), -1.0, column)
        levels = np.unique(codes)
        if feature.categories is None:
            known = levels[levels >= -0.5] if not np.isnan(column).any() else np.unique(column[~np.isnan(column)])
            groups = [np.where(np.isnan(column), side, column <= cut) for cut in known for side in (False, True)]
        else:
            subsets = itertools.chain.from_iterable(
                itertools.combinations(levels, size) for size in range(1, len(levels))
            )
            groups = [np.isin(codes, subset) for subset in subsets]
        for left in groups:
            left = left.astype(bool)
            best = min(best, costs[left].sum(axis=0).min() + costs[~left].sum(axis=0).min())
    tree = ew.CostTree(max_leaves=2).fit_costs(table, costs)
    assert paid(tree, table, costs) == pytest.approx(best, rel=1e-12)


def test_more_leaves_cost_no_more():
    rng = np.random.default_rng(1)
    table, costs = mixed_table(rng, 300), random_costs(rng, 300, 4, "pairwise")
    costs_paid = [paid(ew.CostTree(max_leaves=m).fit_costs(table, costs), table, costs) for m in range(1, 30)]
    assert (np.diff(costs_paid) <= 1e-9 * abs(costs_paid[0])).all()
    assert costs_paid[0] == pytest.approx(costs.sum(axis=0).min())


def test_parity_is_learned_though_the_first_split_gains_nothing():
    X = np.array(list(itertools.product([0, 1], repeat=3)) * 4, float)
    y = (X[:, 0] + X[:, 1]).astype(int) % 2
    assert ew.CostTree(max_leaves=4).fit(X, y).score(X, y) == 1.0
    assert ew.CostTree(max_leaves=2).fit(X, y).score(X, y) == 0.5


def test_only_differences_within_a_row_matter():
    rng = np.random.default_rng(2)
    table, costs = mixed_table(rng, 100), rng.integers(0, 9, (100, 3)).astype(float)
    one = ew.CostTree(7).fit_costs(table, costs)
    other = ew.CostTree(7).fit_costs(table, 4.0 * (costs + rng.integers(-5, 5, (100, 1))))
    assert structure(one.tree_, one.bins_) == structure(other.tree_, other.bins_)


def test_costs_without_differences_and_tiny_ones():
    X = np.arange(10.0)[:, None]
    tree = ew.CostTree().fit_costs(X, np.ones((10, 3)))
    assert tree.n_leaves_ == 1
    assert (tree.predict(X) == 0).all()
    costs = np.zeros((10, 2))
    costs[:5, 0] = costs[5:, 1] = 1e-250
    assert (ew.CostTree().fit_costs(X, costs).predict(X) == [1] * 5 + [0] * 5).all()


def test_missing_and_unknown_at_prediction():
    """A feature never missing in training: the missing go with the child of more rows, unknown categories too."""
    X = np.array([["a", 1], ["a", 2], ["a", 3], ["b", 4]] * 5, object)
    y = np.array([0, 0, 0, 1] * 5)
    for columns in ([0], [1]):
        tree = ew.CostTree(max_leaves=2).fit(X[:, columns], y)
        assert tree.score(X[:, columns], y) == 1.0
        assert tree.predict(np.array([[None]] if columns == [1] else [["z"]], object)).tolist() == [0]


def test_prepared_rows_give_the_same_tree():
    rng = np.random.default_rng(4)
    table, tree = mixed_table(rng, 200), ew.CostTree(6)
    rows = tree.prepare(table)
    for kind in ("pairwise", "zero_one"):
        costs = random_costs(rng, 200, 3, kind)
        assert (
            ew.CostTree(6).fit_costs(rows, costs).predict(rows) == ew.CostTree(6).fit_costs(table, costs).predict(table)
        ).all()
    fitted = ew.CostTree(6).fit_costs(rows, costs)
    assert (fitted.predict(fitted.encode(table)) == fitted.predict(table)).all()
    with pytest.raises(ValueError, match="prepared with other bins"):
        fitted.predict(tree.prepare(table))


def test_categorical_features_of_an_array():
    """Codes 0 and 2 against 1 and 3: one split if they are categories, three if they are numbers."""
    X = np.arange(40.0)[:, None] % 4
    y = (X[:, 0] % 2).astype(int)
    assert ew.CostTree(2, categorical_features=[0]).fit(X, y).score(X, y) == 1.0
    assert ew.CostTree(2).fit(X, y).score(X, y) < 1.0
    # categories are known by name, whatever their order at prediction
    assert (ew.CostTree(2, categorical_features=[True]).fit(X, y).predict(X[::-1]) == y[::-1]).all()


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_leaves": 0}, r"max_leaves=0: a whole number of at least 1"),
        ({"max_leaves": 2.5}, r"max_leaves=2\.5"),
        ({"max_bins": 1}, r"max_bins=1: a whole number from 2 to 255"),
        ({"max_bins": 256}, r"max_bins=256"),
        ({"min_leaf": 0}, r"min_leaf=0"),
        ({"categorical_features": [7]}, r"categorical_features: 7 is neither a name nor a position below 2"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=message):
        ew.CostTree(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros(4), r"costs of shape \(4,\)"),
        (np.zeros((3, 2)), r"a row for each of the 4 rows of X"),
        (np.zeros((4, 1)), r"at least 2 labels"),
        (np.full((4, 2), np.nan), r"not finite"),
        (np.array([[0.0, np.inf]] * 4), r"not finite"),
    ],
)
def test_bad_costs(costs, message):
    with pytest.raises(ValueError, match=message):
        ew.CostTree().fit_costs(np.arange(8.0).reshape(4, 2), costs)


def test_bad_input_leaves_the_tree_as_it_was():
    X, y = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    tree = ew.CostTree(3).fit(X, y)
    before = tree.predict(X)
    with pytest.raises(ValueError, match="1 class"):
        tree.fit(np.zeros((4, 3)), [1] * 4)
    with pytest.raises(ValueError, match="not finite"):
        tree.fit_costs(np.zeros((4, 3)), np.full((4, 2), np.nan))
    assert tree.n_features_in_ == 2
    assert (tree.predict(X) == before).all()
    with pytest.raises(ValueError, match="3 features"):
        tree.predict(ew.as_table(np.zeros((4, 3))))
