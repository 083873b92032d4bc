"""Learners of other libraries in a race: what they are told, what is made of their votes, and what is said of those
that are not here."""

from __future__ import annotations

import importlib.machinery
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import edgewise
from edgewise.cli import main
from edgewise.data.table import Feature, Table
from edgewise.evaluation import models
from edgewise.evaluation.measures import label_codes, log_loss
from edgewise.evaluation.models import KNOWN, MODELS, PEERS, ModelSpec
from edgewise.evaluation.peers import CAPYMOA_SIZES, RIVER_FORESTS, Peer, RiverPeer, VowpalWabbitPeer
from edgewise.evaluation.prequential import evaluate
from edgewise.evaluation.racing import summarize
from edgewise.evaluation.runs import load_runs, save_runs
from tests.small_races import fruit, race
from tests.small_streams import mixed_stream as stream


class Echo(Peer):
    """Votes what it is given, row by row; remembers the labels it learned."""

    votes: np.ndarray

    def __init__(self, votes=None):
        self.votes = votes

    def _start(self, features, classes):
        self.learned = []

    def _rows(self, table, codes):
        return list(table.values)

    def _run(self, rows, codes):
        first = len(self.learned)
        self.learned += codes.tolist()
        votes = self.votes[first : first + len(rows)]
        return np.nan_to_num(votes).argmax(axis=1), votes


@pytest.fixture
def csv(tmp_path):
    return fruit(tmp_path)


# -- who is here ---------------------------------------------------------------------------------------------------


def test_names_of_peers_are_not_those_of_ours():
    assert not set(MODELS) & set(PEERS)
    assert {**MODELS, **PEERS} == KNOWN
    assert {entry.library for entry in PEERS.values()} == {"capymoa", "river", "vowpalwabbit"}
    assert all(entry.library is None for entry in MODELS.values())


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_is_made_without_its_library(name, monkeypatch):
    """Only its first rows need it."""
    for library in ("capymoa", "river", "vowpalwabbit"):
        monkeypatch.setitem(sys.modules, library, None)
    model = ModelSpec.parse(name).make(7, 3)
    assert model.random_state == 3
    assert getattr(model, "n_estimators", None) == (7 if PEERS[name].sized else None)
    with pytest.raises((ImportError, ValueError)):
        model.prequential(np.zeros((2, 1)), np.array([0, 1]))


def test_a_peer_that_is_not_installed(csv, monkeypatch):
    monkeypatch.setattr(models, "_installed", lambda library: False)
    result = race(csv, "--models", "olm,capymoa-arf")
    assert result.exit_code == 2
    assert "capymoa-arf: capymoa is not installed (pip install edgewise[peers])" in result.stderr
    assert not (csv.parent / "out").exists()
    lines = CliRunner().invoke(main, ["models"]).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("river-arf ")]
    assert line.endswith("river is not installed (pip install edgewise[peers])")


def test_capymoa_without_java(csv, monkeypatch, tmp_path):
    monkeypatch.setattr(models, "_installed", lambda library: True)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    result = race(csv, "--models", "capymoa-arf")
    assert result.exit_code == 2
    assert "capymoa-arf: CapyMOA needs Java 17 or newer" in result.stderr
    assert KNOWN["river-arf"].missing() is None
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert KNOWN["capymoa-arf"].missing() is None


def test_peers_that_are_here_race_along(csv, monkeypatch):
    """With --peers: river's, which the tests have; the others are named with what they lack."""
    monkeypatch.setattr(models, "_installed", lambda library: library == "river")
    result = race(csv, "--models", "olm", "--peers", "--rows", "60")
    assert result.exit_code == 0, result.output
    runs = load_runs(csv.parent / "out" / "runs.json")
    assert [run.model for run in runs] == ["olm", "river-arf", "river-srp", "river-lb"]
    assert all((run.rows, run.learners) == (60, 3) and run.log_loss > 0.0 for run in runs)
    assert "without capymoa-tree, capymoa-oza" in result.stderr
    assert "without vw, vw-pairs: vowpalwabbit is not installed (pip install edgewise[peers])\n" in result.stderr
    assert "squarecb" not in result.stderr, "bandits play another game"


def test_without_asking_no_peer_races(csv):
    result = race(csv, "--rows", "40")
    assert result.exit_code == 0, result.output
    assert not {run.model for run in load_runs(csv.parent / "out" / "runs.json")} & set(PEERS)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--models", "river-arf@paper"), "river-arf is not edgewise's and has no preset"),
        (("--models", "river-arf:0.1"), "takes no edge"),
        (("--models", "river-aff"), "did you mean river-arf"),
    ],
)
def test_what_a_peer_does_not_take(csv, args, words):
    result = race(csv, *args)
    assert result.exit_code == 2
    assert words in result.stderr


def test_peers_do_not_rank(tmp_path):
    result = CliRunner().invoke(main, ["race", "yeast", "--peers", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "--peers: they learn from single labels, and yeast has label sets" in result.stderr


def test_the_preset_of_a_race_is_for_ours():
    assert ModelSpec.parse("river-arf", "paper").preset is None
    assert ModelSpec.parse("olm", "paper").preset == "paper"


# -- votes ---------------------------------------------------------------------------------------------------------


def test_votes_become_probabilities():
    votes = np.array([[2.0, 6.0, 0.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 3.0], [np.nan] * 3, [np.inf, 1.0, 0.0]])
    y = np.array(["a", "b", "c", "a", "b"])
    p = Echo(votes).prequential_proba(np.zeros((5, 1)), y, classes=["a", "b", "c"])
    third = [1 / 3] * 3
    np.testing.assert_allclose(p, [[0.25, 0.75, 0.0], third, [0.0, 0.25, 0.75], third, [0.0, 1.0, 0.0]])


def test_a_run_of_a_peer_however_it_is_cut():
    X, y = np.arange(40.0)[:, None], np.array([0, 1] * 20)
    votes = np.random.default_rng(1).random((40, 2))
    expected = votes / votes.sum(axis=1, keepdims=True)
    for chunk_rows in (1, 7, 40):
        model = Echo(votes)
        run = evaluate(model, X, y, chunk_rows=chunk_rows)
        assert model.learned == y.tolist(), "every row once: warming up is another's business"
        assert run.accuracy == np.mean(votes.argmax(axis=1) == y)
        assert run.log_loss == pytest.approx(log_loss(expected, y))


def test_other_columns_than_the_first():
    model = Echo(np.ones((4, 2)))
    model.prequential(np.zeros((2, 3)), np.array([0, 1]))
    with pytest.raises(ValueError, match="other columns or categories than the first"):
        model.prequential(np.zeros((2, 2)), np.array([0, 1]))


# -- log-loss of a run ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["olm", "mbbm", "oza", "trees", "ova"])
def test_log_loss_and_guesses_of_ours(name):
    X, y = stream(120, seed=2)
    classes = np.unique(y)
    run = evaluate(ModelSpec.parse(name).make(4, 1), X, y)
    p = ModelSpec.parse(name).make(4, 1).prequential_proba(X, y, classes=classes)
    assert run.log_loss == pytest.approx(log_loss(p, label_codes(np.asarray(y), classes)))
    guesses = ModelSpec.parse(name).make(4, 1).prequential(X, y, classes=classes)
    assert run.accuracy == np.mean(guesses == y)


def test_runs_without_log_loss(tmp_path):
    """A bandit gives no probabilities; files of old have none; a summary leaves it out."""
    X, y = stream(60, seed=2)
    with_loss, without = (evaluate(ModelSpec.parse(name).make(3, 1), X, y) for name in ("olm", "adabandit"))
    assert without.log_loss is None
    assert [set(line.qualities) for line in summarize([with_loss, without])] == [
        {"accuracy", "last_fifth", "kappa", "log_loss"},
        {"accuracy", "last_fifth", "kappa"},
    ]
    path = tmp_path / "runs.json"
    save_runs([with_loss, without], path)
    assert load_runs(path) == [with_loss, without]
    document = json.loads(path.read_text())
    del document["runs"][0]["log_loss"]
    path.write_text(json.dumps(document))
    assert load_runs(path)[0].log_loss is None
    shown = CliRunner().invoke(main, ["race", "--from", str(path)])
    assert shown.exit_code == 0, shown.output
    assert [line.split()[4] for line in shown.stdout.splitlines()[2:4]] == ["-", "-"]


# -- river ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", RIVER_FORESTS)
def test_river_learns_only_from_the_past(learner):
    X, y = stream(80, seed=3)
    labels, classes = np.asarray(y), np.unique(y)
    flipped = labels.copy()
    flipped[50] = classes[(label_codes(labels, classes)[50] + 1) % classes.size]
    one, other = (RiverPeer(learner, 3, 1).prequential_proba(X, given, classes=classes) for given in (labels, flipped))
    np.testing.assert_array_equal(one[:51], other[:51])
    assert not np.array_equal(one[51:], other[51:])
    np.testing.assert_allclose(one.sum(axis=1), 1.0)


def test_river_by_hand():
    """The adapter's guesses are those of river's own loop."""
    from river import forest

    table = Table(
        np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, np.nan], [0.5, 1.0]] * 20),
        [Feature("size"), Feature("color", ("red", "blue"))],
    )
    y = np.array([0, 1, 1, 0] * 20)
    model, expected = forest.ARFClassifier(n_models=3, seed=1), []
    for size, color, label in zip(table.values[:, 0], table.values[:, 1], y.tolist(), strict=True):
        x = {"a0": size} if size == size else {}
        if color == color:
            x["a1"] = ("red", "blue")[int(color)]
        expected.append(model.predict_proba_one(x).get(1, 0.0))
        model.learn_one(x, label)
    p = RiverPeer("ARFClassifier", 3, 1).prequential_proba(table, y)
    np.testing.assert_allclose(p[1:, 1], expected[1:])
    assert p[0].tolist() == [0.5, 0.5]


def test_a_forest_that_river_has_not():
    with pytest.raises(ValueError, match="learner='Forest': one of ARFClassifier"):
        RiverPeer("Forest").prequential(np.zeros((2, 1)), np.array([0, 1]))


# -- Vowpal Wabbit -------------------------------------------------------------------------------------------------


class Workspace:
    made: list[Workspace]

    def __init__(self, arguments):
        self.arguments, self.learned = arguments, []
        Workspace.made.append(self)

    def predict(self, example):
        assert not example[0].isdigit(), "the label is not told before it is learned"
        return [0.2, 0.5, 0.3]

    def learn(self, example):
        self.learned.append(example)


def test_what_vowpal_wabbit_is_told(monkeypatch):
    module = types.ModuleType("vowpalwabbit")
    module.__spec__ = importlib.machinery.ModuleSpec("vowpalwabbit", None)
    module.Workspace = Workspace
    Workspace.made = []
    monkeypatch.setitem(sys.modules, "vowpalwabbit", module)
    table = Table(np.array([[0.0], [1.0], [0.0]]), [Feature("color", ("red", "blue"))])
    y = np.array(["c", "a", "b"])
    model = VowpalWabbitPeer(pairs=True, random_state=4)
    np.testing.assert_allclose(model.prequential_proba(table, y), [[0.2, 0.5, 0.3]] * 3)
    (workspace,) = Workspace.made
    assert workspace.learned == ["3 | f0=red", "1 | f0=blue", "2 | f0=red"]
    assert workspace.arguments == "--oaa 3 --loss_function logistic --probabilities -q :: --random_seed 4 --quiet"
    VowpalWabbitPeer().prequential(table, y)
    assert "-q" not in Workspace.made[1].arguments.split()


@pytest.mark.parametrize(("data", "right"), [("car", 0.8), ("balance", 0.8)])
def test_the_real_vowpal_wabbit_learns(data, right):
    pytest.importorskip("vowpalwabbit", reason="Vowpal Wabbit is not installed (extra `peers`)")
    table, labels = edgewise.datasets.shuffled(*edgewise.datasets.load(data), 1)
    run = evaluate(ModelSpec.parse("vw").make(1, 1), table, labels)
    assert run.last_fifth > right
    assert run.log_loss < 0.6
    assert run.learners is None


# -- CapyMOA -------------------------------------------------------------------------------------------------------


@pytest.fixture
def capymoa():
    lacking = KNOWN["capymoa-arf"].missing()
    if lacking is not None:
        pytest.skip(lacking)
    return pytest.importorskip("capymoa")


@pytest.fixture
def cold(monkeypatch):
    """Nothing here claims a time."""
    monkeypatch.setattr("edgewise.evaluation.peers.WARM_UP_SECONDS", 0.0)


@pytest.mark.parametrize("name", [name for name, entry in PEERS.items() if entry.library == "capymoa"])
def test_capymoa_learns_categories_numbers_and_holes(capymoa, cold, name):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, 400)
    values = np.column_stack([rng.normal(kind, 0.3), kind % 2])
    if name != "capymoa-sgbt":  # stops with a NullPointerException in Java where a number is missing
        values[::17, 0] = np.nan
    table = Table(values, [Feature("size"), Feature("color", ("red", "blue"))])
    run = evaluate(ModelSpec.parse(name).make(5, 1), table, np.array(["a", "b", "c"])[kind])
    assert run.last_fifth > 0.7
    assert run.learners == (5 if PEERS[name].sized else None)


def test_capymoa_guesses_as_in_its_own_loop(capymoa, cold):
    """MOA's loop inside Java (`optimise=True`) over the same rows, from an ARFF file."""
    from capymoa.classifier import AdaptiveRandomForestClassifier
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import ARFFStream

    X, y = edgewise.datasets.shuffled(*edgewise.datasets.load("car"), 1, 400)
    classes = np.unique(edgewise.datasets.load("car")[1])
    codes = label_codes(y, classes)
    guesses = ModelSpec.parse("capymoa-arf").make(5, 1).prequential(X, y, classes=classes)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "car.arff"
        lines = ["@relation car"]
        for number, feature in enumerate(X.features):
            lines.append(f"@attribute a{number} {{{','.join(f'v{c}' for c in range(len(feature.categories)))}}}")
        lines += [f"@attribute class {{{','.join(f'c{c}' for c in range(classes.size))}}}", "@data"]
        for row, code in zip(X.values.astype(int), codes, strict=True):
            lines.append(",".join([*(f"v{value}" for value in row), f"c{code}"]))
        path.write_text("\n".join(lines) + "\n")
        own = ARFFStream(path)
        learner = AdaptiveRandomForestClassifier(own.get_schema(), random_seed=1, ensemble_size=5)
        results = prequential_evaluation(own, learner, optimise=True, store_predictions=True)
    np.testing.assert_array_equal(label_codes(guesses, classes), np.asarray(results.predictions(), dtype=int))


def test_a_learner_that_capymoa_has_not():
    with pytest.raises(ValueError, match="learner='Forest': one of OzaBoost"):
        ModelSpec.parse("capymoa-arf").make(3, 1).set_params(learner="Forest").prequential(
            np.zeros((2, 1)), np.array([0, 1])
        )
    assert {entry.settings["learner"] for entry in PEERS.values() if entry.library == "capymoa"} == set(CAPYMOA_SIZES)
