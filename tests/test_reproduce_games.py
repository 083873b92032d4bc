"""How cells of 001, 002 and 004 are played: the rows they see, what they measure, and the bounds they stand beside."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import edgewise
from edgewise.data import datasets
from edgewise.evaluation.ranking_measures import rank_loss
from edgewise.reference import ranking as reference
from edgewise.reproduction import cache, declarations
from edgewise.reproduction.games import Job, batch, game_of, labels, networks, potentials, regret
from edgewise.reproduction.planning import Options, lines_of
from edgewise.reproduction.results import reproductions
from edgewise.reproduction.running import Run
from edgewise.theory import regression_losses
from edgewise.theory.ranking import pair_table


def need(name):
    if datasets.where(name) == "not here":
        pytest.skip(f"{name} is not here; set EDGEWISE_DATA to a folder that holds it")


# -- declarations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["001/table-1", "001/table-3", "002/figure-1", "002/figure-2", "002/table-1", "004/figure-1"]
)
def test_every_job_has_a_game_and_what_it_needs(name):
    declared = declarations.declarations()[name]
    for options in (Options(), Options(quick=True)):
        jobs = [job for line in lines_of(declared, options) for job in line.jobs]
        assert jobs
        assert all(callable(game_of(job.game)) for job in jobs)
        assert all(job.data is None or job.data in datasets.names() for job in jobs)


def test_each_set_has_the_edges_of_footnote_4():
    declared = declarations.declarations()["001/table-3"]
    edges = {}
    for line in lines_of(declared, Options()):
        if line.jobs and line.algorithm.name.startswith("BMR ."):
            edges.setdefault(line.data.name, []).append(line.jobs[0].model["edge"])
    assert edges["yeast"] == edges["emotions (shuffled)"] == [0.2, 0.1, 0.01, 0.001]
    assert edges["m-reduced"] == edges["mediamill"] == [0.05, 0.01, 0.005, 0.001]


def test_sizes_of_figure_1_and_the_trees_of_figure_2():
    known = declarations.declarations()
    leaves = {
        line.jobs[0].model["estimator"]["max_leaves"]
        for line in lines_of(known["004/figure-1"], Options())
        if line.algorithm.name.startswith("MM,")
    }
    assert leaves == {5, 10, 20, 50, 100, 200, 500, 1000}
    first = {job for line in lines_of(known["004/figure-1"], Options()) for job in map(str, line.jobs)}
    second = {job for line in lines_of(known["004/figure-2"], Options()) for job in map(str, line.jobs)}
    assert second < first  # nothing is run twice


NEEDY = """
id = "x/table-1"
title = "Needs something"
paper = "Nobody"
what = "A test."
game = "pair_potentials"
seeds = 2

[measures.start]
title = "phi"
better = "lower"

[[data]]
name = "here"
settings = {loss = "rank", labels = 3, relevant = 1}

[[algorithm]]
name = "needy"
needs = "no_such_module"
settings = {edge = 0.1, learners = 2}
"""


def test_what_is_kept_needs_nothing_more(tmp_path, monkeypatch):
    """A run that was made elsewhere is shown where it could not be made."""
    monkeypatch.setenv("EDGEWISE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "needy.toml").write_text(NEEDY)
    declared = list(declarations.read(tmp_path).values())
    run = Run(declared, Options())
    assert run.tasks == []
    assert [(gone.what, gone.how) for gone in run.plans[0].missing] == [
        ("no_such_module, for here", "pip install no_such_module")
    ]
    jobs = [job for line in lines_of(declared[0], Options()) for job in line.jobs]
    for kept, job in enumerate(jobs, 1):
        code = cache.code_version("pair_potentials")
        cache.keep(cache.key(job, ""), job, potentials.play_pairs(job), code)
        run = Run(declared, Options())
        assert len(run.kept) == kept
        assert run.pending == []
        assert len(run.plans[0].missing) == (kept < len(jobs))
    (whole,) = reproductions(run)
    assert whole.complete
    assert whole.cells[0].ours.seeds == 2


# -- Table 1 of 001 --------------------------------------------------------------------------------------------------


def test_printed_bounds_are_those_of_the_formulas():
    declared = declarations.declarations()["001/table-1"]
    printed = declared.printed["start"]
    assert len(printed) == 10
    for (data, algorithm), value in printed.items():
        edge = float(algorithm.removeprefix("edge "))
        assert value == pytest.approx((1 if data == "rank loss" else 101) * math.exp(-(edge**2) * 100 / 2), rel=1e-6)
        assert potentials.start_bound(data.split()[0], edge, 100) == pytest.approx(value, rel=1e-6)
    assert set(declared.printed["weight"].values()) == {2.0}


@pytest.mark.parametrize("loss", ["rank", "hinge"])
@pytest.mark.parametrize(("k", "size", "edge"), [(2, 1, 0.3), (3, 1, 0.1), (4, 2, 0.2)])
def test_exact_values_against_the_definition(loss, k, size, edge):
    """phi^N(0) by recursion; no state that votes can reach has a larger weight, and some nearly have it."""
    n, Y = 4, set(range(size))
    job = Job(
        "pair_potentials", None, {}, {"loss": loss, "labels": k, "relevant": size, "edge": edge, "learners": n}, 1, None
    )
    found = potentials.play_pairs(job).measures
    assert found["start"] == pytest.approx(reference.set_potential(loss, n, [0] * k, Y, edge), abs=1e-12)
    steps = pair_table(loss, n, k, size, edge)[1]
    largest = []
    for i in range(1, n + 1):
        weights = []
        for votes in itertools.product(range(k), repeat=i - 1):
            scores = [votes.count(label) for label in range(k)]
            costs = reference.potential_costs(loss, n - i, scores, Y, edge)
            weights.append(max(costs) - min(costs))
        largest.append(potentials.largest_weight(steps[n - i], i - 1, k, size))
        assert max(weights) <= largest[-1] + 1e-12
        if k > 2:  # with two labels the difference of their votes is odd or even, as their sum is
            assert max(weights) > 0.7 * largest[-1]
        if i == 1:  # one state only
            assert max(weights) == pytest.approx(largest[-1], abs=1e-12)
    assert found["weight"] == pytest.approx(max(largest))


# -- label sets ------------------------------------------------------------------------------------------------------


def ranked(order, seed=1, rows=None):
    model = {"class": "AdaOLMR", "preset": "paper", "n_estimators": 3}
    return Job("ranking", "emotions", model, {"order": order, "inside": True}, seed, rows)


def test_training_rows_come_first_in_every_order():
    need("emotions")
    table, Y = datasets.load("emotions")
    X, sets, train = labels.label_sets_of(ranked("file"))
    assert train == 391
    assert np.array_equal(X.values, table.values)
    assert np.array_equal(sets, Y)
    shuffled = [labels.label_sets_of(ranked("shuffled", seed)) for seed in (1, 2)]
    for X, _, train in shuffled:
        assert train == 391
        assert not np.array_equal(X.values, table.values)
        for part in (slice(None, 391), slice(391, None)):
            assert sorted(map(tuple, X.values[part])) == sorted(map(tuple, table.values[part]))
    assert not np.array_equal(shuffled[0][0].values, shuffled[1][0].values)
    assert labels.label_sets_of(ranked("file", rows=59))[2] == 39  # a tenth of each part
    assert len(labels.label_sets_of(ranked("file", rows=59))[1]) == 59


def test_only_test_rows_count_and_curves_end_where_the_model_does():
    need("emotions")
    job = ranked("file", rows=120)
    X, Y, train = labels.label_sets_of(job)
    record = labels.play_ranking(job)
    model = edgewise.AdaOLMR.preset("paper", n_estimators=3, random_state=1)
    scores = model.prequential(X, Y)
    assert record.measures["rank_loss"] == pytest.approx(rank_loss(Y[train:], scores[train:]).mean(), abs=1e-12)
    by_kind = {curve["kind"]: curve["series"] for curve in record.curves}
    assert [line["y"][-1] for line in by_kind["edge"]] == pytest.approx(model.edges_[:2], rel=1e-4)
    suffered = next(line for line in by_kind["bound"] if line["name"] == "suffered")
    assert suffered["y"][-1] == pytest.approx(model.rank_loss_, rel=1e-4)


# -- batch boosting --------------------------------------------------------------------------------------------------


def boosted(split, data="balance", rows=None, seed=1):
    model = {"class": "AdaBoostMM", "estimator": {"class": "CostTree", "max_leaves": 5}}
    return Job("batch", data, model, {"split": split, "rounds": 6, "watch": True}, seed, rows)


@pytest.mark.parametrize(
    ("split", "rows", "sizes"), [(0.8, None, (500, 125)), ([100, 50], None, (100, 50)), (0.8, 125, (100, 25))]
)
def test_rows_are_parted(split, rows, sizes):
    parts = batch.split(boosted(split, rows=rows))
    assert (len(parts.train_labels), len(parts.test_labels)) == sizes
    train, test = ({tuple(row) for row in part.values} for part in (parts.train, parts.test))
    assert not train & test  # all rows of balance differ


def test_errors_are_those_of_the_booster_round_by_round():
    job = boosted(0.8)
    record = batch.play(job)
    parts = batch.split(job)
    model = edgewise.AdaBoostMM(edgewise.CostTree(5), n_estimators=6, random_state=1).fit(
        parts.train, parts.train_labels
    )
    assert record.measures["test_error"] == pytest.approx(1 - model.score(parts.test, parts.test_labels))
    (line,) = next(curve for curve in record.curves if curve["kind"] == "error")["series"]
    expected = [(guess != parts.test_labels).mean() for guess in model.staged_predict(parts.test)]
    assert dict(zip(line["x"], line["y"], strict=True)) == pytest.approx(
        {float(i): error for i, error in enumerate(expected, 1)}, rel=1e-4
    )


def test_a_booster_that_stopped_keeps_its_error_and_has_no_further_edges():
    values = batch._until(np.array([1, 2, 5, 9]), [0.5, 0.25])
    assert values[:2].tolist() == [0.5, 0.25]
    assert np.isnan(values[2:]).all()


# -- regret ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "best"),
    [
        (regression_losses.SquaredLoss(), 2.0),
        (regression_losses.AbsoluteLoss(), 1.0),
        (regression_losses.SquaredLoss(0.5), 1.0),
    ],
)
def test_the_best_constant(loss, best):
    assert regret.best_constant(loss, np.array([0.0, 1.0, 5.0])) == pytest.approx(best, abs=1e-5)


def test_regret_is_the_loss_above_that_of_a_deep_tree():
    need("abalone")
    settings = {"loss": {"class": "SquaredLoss"}, "order": "shuffled", "depth": 3}
    settings |= {"step": 0.1, "learners": [1, 3], "over_time": 3}
    record = regret.play(Job("regret", "abalone", {}, settings, 1, 600))
    table, targets, loss = regret.problem("abalone", "shuffled", 600, '{"class": "SquaredLoss"}')
    tree = edgewise.RegressionTree(max_depth=3, least_gain=15.0, smoothing=100.0)
    model = edgewise.StreamingGradientBoostingRegressor(tree, 3, loss=loss, learning_rate=0.1, random_state=1)
    guesses = model.prequential(table, targets)
    star = regret.star_loss("abalone", "shuffled", 600, '{"class": "SquaredLoss"}', 600)
    assert 0.0 <= star < 0.1 * 0.5 * targets.var()
    expected = 0.5 * np.mean((guesses - targets) ** 2) - star
    assert record.measures["regret_3"] == pytest.approx(expected, abs=1e-9)
    assert record.curves[1]["series"][0]["y"][-1] == pytest.approx(expected, rel=1e-4)  # over time, at the end


# -- networks --------------------------------------------------------------------------------------------------------


def test_a_run_stands_at_the_last_point_that_it_has_reached():
    run = networks.Descent([2000.0, 10_000.0, 40_000.0], [3.0, 2.0, 1.0])
    found = dict(zip(networks.GRID, networks.on_grid(run), strict=True))
    at = {units: value for units, value in found.items() if 1000 <= units <= 200_000}
    assert all(np.isnan(value) for units, value in at.items() if units < 1999 or units > 80_001)
    assert {value for units, value in at.items() if 2001 <= units <= 9_999} == {3.0}
    assert found[networks.GRID[12]] == 2.0  # 10,000
    assert {value for units, value in at.items() if 40_001 <= units <= 79_999} == {1.0}


def test_nominal_features_become_a_column_for_each_value():
    table, _ = datasets.load("car")
    found = networks.columns(table)
    assert found.shape == (1728, 21)
    assert set(np.unique(found)) == {0.0, 1.0}
    assert (found.sum(axis=1) == 6).all()


@pytest.mark.parametrize("way", ["base", "batch", "streaming"])
def test_networks_learn(way):
    pytest.importorskip("torch")
    need("abalone")
    declared = declarations.declarations()["002/table-1"]
    abalone = next(data for data in declared.data if data.name == "Abalone")
    settings = dict(abalone.settings) | {"way": way, "learners": 3, "epochs": 2, "longest": 2}
    record = networks.play(Job("networks", "abalone", {}, settings, 1, 400))
    _, y = datasets.load("abalone")
    assert 0.0 < record.measures["test_loss"] < 0.5 * np.mean(y**2)  # saying 0 of all
    again = networks.play(Job("networks", "abalone", {}, settings, 1, 400))
    assert again.measures["test_loss"] == record.measures["test_loss"]
