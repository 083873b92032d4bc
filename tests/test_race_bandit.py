"""`edgewise race --bandit`: who races, with which exploration rate, and Vowpal Wabbit where it is installed."""

from __future__ import annotations

import importlib.machinery
import sys
import types

import numpy as np
import pytest

import edgewise
from edgewise.data.table import Feature, Table
from edgewise.evaluation import models, peers
from edgewise.evaluation.models import MODELS, ModelSpec
from edgewise.evaluation.peers import RunningScale, VowpalWabbitBandit, example_texts
from edgewise.evaluation.runs import load_runs
from tests.small_races import fruit, race

BANDITS = ["adabandit", "banditbbm", "binbandit"]
TOLD = ["olm", "mbbm"]


class Workspace:
    """Stands in for Vowpal Wabbit: chooses label 2 of 3 most of the time, and remembers what it is told."""

    made: list[Workspace]

    def __init__(self, arguments: str) -> None:
        self.arguments = arguments
        self.learned: list[str] = []
        Workspace.made.append(self)

    def predict(self, example: str) -> list[float]:
        return [0.1, 0.8, 0.1]

    def learn(self, example: str) -> None:
        self.learned.append(example)


@pytest.fixture
def stand_in(monkeypatch):
    module = types.ModuleType("vowpalwabbit")
    module.__spec__ = importlib.machinery.ModuleSpec("vowpalwabbit", None)
    module.Workspace = Workspace
    Workspace.made = []
    monkeypatch.setitem(sys.modules, "vowpalwabbit", module)
    return Workspace.made


@pytest.fixture
def csv(tmp_path):
    return fruit(tmp_path)


def test_bandits_beside_those_that_are_told_the_labels(csv, monkeypatch):
    monkeypatch.setattr(models, "_installed", lambda library: False)
    result = race(csv, "--bandit")
    assert result.exit_code == 0, result.output
    lacking = "without vw-squarecb, vw-epsilon: vowpalwabbit is not installed (pip install edgewise[peers])\n"
    assert lacking in result.stderr
    runs = load_runs(csv.parent / "out" / "runs.json")
    assert [run.model for run in runs] == BANDITS + TOLD
    assert all(run.rows == 90 for run in runs)
    for name in BANDITS + TOLD:
        assert f"\n{name} " in result.stdout


def test_vowpal_wabbit_races_along_where_it_is_installed(csv, stand_in):
    result = race(csv, "--bandit", "--rate", "0.2", "--rows", "60")
    assert result.exit_code == 0, result.output
    assert "without" not in result.stderr
    runs = {run.model: run for run in load_runs(csv.parent / "out" / "runs.json")}
    assert list(runs) == [*BANDITS, *TOLD, "vw-squarecb", "vw-epsilon"]
    assert result.stdout.count("fruit.csv: 60 rows") == 1, "one table for all"
    # once to warm up, once to race, for each of the two
    assert [len(workspace.learned) for workspace in stand_in] == [50, 60, 50, 60]
    assert "--cb_explore 3 --squarecb " in stand_in[1].arguments
    assert "--cb_explore 3 --epsilon 0.2 " in stand_in[3].arguments
    assert runs["vw-squarecb"].learners is None


def test_models_that_were_named_race_alone(csv, stand_in):
    result = race(csv, "--bandit", "--models", "adabandit,olm", "--rows", "40")
    assert result.exit_code == 0, result.output
    assert [run.model for run in load_runs(csv.parent / "out" / "runs.json")] == ["adabandit", "olm"]
    assert stand_in == []


def test_the_rate_reaches_bandits_only():
    for name in BANDITS:
        assert ModelSpec(name, rate=0.25).make(3, 1).exploration == 0.25
        own = getattr(edgewise, MODELS[name].estimator)().exploration
        assert ModelSpec(name).make(3, 1).exploration == own
        assert ModelSpec(name, preset="paper", rate=0.25).make(3, 1).exploration == 0.25
    assert not hasattr(ModelSpec("olm", rate=0.25).make(3, 1), "exploration")
    assert ModelSpec("vw-epsilon", rate=0.25).make(3, 1).exploration == 0.25
    assert ModelSpec.parse("banditbbm:0.2").make(3, 1).edge == 0.2


@pytest.mark.parametrize("rate", ["0", "1", "-0.1", "often"])
def test_a_rate_that_is_none(csv, rate):
    result = race(csv, "--bandit", "--rate", rate)
    assert result.exit_code == 2
    assert "--rate" in result.stderr
    assert not (csv.parent / "out").exists()


def test_examples_in_the_text_of_vowpal_wabbit():
    features = [Feature("size"), Feature("color", ("dark red", "a|b:c"))]
    table = Table(np.array([[0.1, 0.0], [-2.0, 1.0], [np.nan, 0.0], [3e-7, np.nan]]), features)
    assert example_texts(table) == ["| f0:0.1 f1=dark_red", "| f0:-2.0 f1=a_b_c", "| f1=dark_red", "| f0:3e-07"]


def test_what_vowpal_wabbit_is_told(stand_in):
    n = 3000
    X, y = np.zeros((n, 1)), np.array(["a", "b", "c"] * (n // 3))
    model = VowpalWabbitBandit(random_state=1)
    shown = model.prequential(X[:2000], y[:2000], classes=["a", "b", "c"])
    shown = np.concatenate([shown, model.prequential(X[2000:], y[2000:])])
    (workspace,) = stand_in
    assert len(workspace.learned) == n
    told = [text.split(" ", 1)[0].split(":") for text in workspace.learned]
    assert [("a", "b", "c")[int(action) - 1] for action, _, _ in told] == shown.tolist()
    assert [cost == "0.0" for _, cost, _ in told] == (shown == y).tolist()
    assert {(action, float(p)) for action, _, p in told} == {("1", 0.1), ("2", 0.8), ("3", 0.1)}
    # labels are drawn from the probabilities: four standard deviations
    assert abs((shown == "b").mean() - 0.8) < 4 * np.sqrt(0.16 / n)


def test_numbers_are_standardized_by_the_rows_so_far():
    """Row by row, as by hand, however the rows are cut; missing numbers count for nothing, categories stay."""
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.normal(1e6, 3.0, 40), rng.normal(size=40), rng.integers(0, 2, 40)])
    values[rng.random(40) < 0.3, 1] = np.nan
    table = Table(values, [Feature("a"), Feature("b"), Feature("c", ("x", "y"))])
    expected = values.copy()
    for row in range(40):
        for column in range(2):
            seen = values[: row + 1, column]
            spread = np.nanstd(seen) if not np.isnan(seen).all() else 0.0
            if not np.isnan(values[row, column]):
                z = (values[row, column] - np.nanmean(seen)) / spread if spread > 0.0 else 0.0
                expected[row, column] = np.clip(z, -5.0, 5.0)
    whole, cut = RunningScale(), RunningScale()
    np.testing.assert_allclose(whole(table).values, expected, atol=1e-9)
    pieces = [cut(table[rows]).values for rows in (slice(0, 1), slice(1, 17), slice(17, 17), slice(17, 40))]
    np.testing.assert_allclose(np.concatenate(pieces), expected, atol=1e-9)


def test_errors_of_the_adapter(stand_in):
    X, y = np.zeros((2, 1)), np.array([0, 1])
    with pytest.raises(ValueError, match="explorer='bag': one of squarecb, epsilon"):
        VowpalWabbitBandit("bag").prequential(X, y)
    with pytest.raises(ValueError, match="exploration=0"):
        VowpalWabbitBandit(exploration=0.0).prequential(X, y)
    with pytest.raises(ValueError, match="class 2"):
        VowpalWabbitBandit().prequential(X, np.array([0, 2]), classes=[0, 1])


def test_vowpal_wabbit_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "vowpalwabbit", None)
    with pytest.raises(ValueError, match=r"vowpalwabbit is not installed: pip install edgewise\[peers\]"):
        VowpalWabbitBandit().prequential(np.zeros((2, 1)), np.array([0, 1]))


@pytest.mark.parametrize("explorer", peers.EXPLORERS)
@pytest.mark.parametrize(("data", "right"), [("car", 0.8), ("balance", 0.75)])
def test_the_real_vowpal_wabbit_learns(data, right, explorer):
    """Well above the most frequent class, .70 and .46: categories and numbers both arrive as they should."""
    pytest.importorskip("vowpalwabbit", reason="Vowpal Wabbit is not installed (extra `peers`)")
    table, labels = edgewise.datasets.shuffled(*edgewise.datasets.load(data), 1)
    shown = VowpalWabbitBandit(explorer, random_state=1).prequential(table, labels)
    late = slice(len(labels) // 2, None)
    assert np.mean(shown[late] == labels[late]) > right
