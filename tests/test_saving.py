"""Saving and loading: every model continues bit for bit, and what cannot be saved or read is told clearly."""

from __future__ import annotations

import doctest
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.data.table import Feature, Table
from edgewise.persist import ModelFileError, declared, online
from edgewise.persist.archive import canonical, digest, npy_bytes, read_archive
from edgewise.persist.values import BIT_GENERATORS, Reader, Writer, generator_state, restored_generator
from tests.saved_models import FEW, MODELS, NETWORKS, WARM, given_votes, learn, says

ROOT = Path(__file__).parent.parent
# Defaults that were others when files of format 1 were recorded.
CHUNKED = ("AdaOLMR", "OnlineBMR", "OnlineMBBM", "OzaBoost", "StreamingGradientBoosting")
DEFAULTS_THEN = {name: {"importance_power": 0.5, "chunk_size": 256} for name in ("AdaBoostOLM", "OneVsAllOLM")}
DEFAULTS_THEN |= {name + kind: {"chunk_size": 256} for name in CHUNKED for kind in ("", "Classifier", "Regressor")}
FORMAT_1 = sorted((Path(__file__).parent / "files" / "format-1").glob("*.edgewise"))


def same(a, b) -> bool:
    return len(a) == len(b) and all(
        x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True)
    )


def shown(model) -> str:
    return re.sub(" at 0x[0-9A-F]+", "", repr(model))


def saved(model, folder: Path) -> bytes:
    path = folder / "again.edgewise"
    model.save(path)
    return path.read_bytes()


def rewritten(path: Path, change) -> None:
    """Change header and arrays of a file by hand, and make its digest right again."""
    header, members = read_archive(path)
    arrays = [bytes(member) for member in members]
    change(header, arrays)
    header["sha256"] = digest(header, arrays)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", canonical(header))
        for i, array in enumerate(arrays):
            file.writestr(f"{i}.npy", array)


# -- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_continues_bit_for_bit(name, tmp_path):
    model = learn(MODELS[name](), 60, seed=0)
    model.save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert type(loaded) is type(model)
    assert shown(loaded) == shown(model)
    assert same(says(model, seed=5), says(loaded, seed=5))
    # After both went on, everything that they remember is the same, too.
    assert saved(model, tmp_path) == saved(loaded, tmp_path)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_continue_bit_for_bit(name, tmp_path):
    pytest.importorskip("torch")
    model = learn(NETWORKS[name](), 60, seed=0)
    model.save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert same(says(model, seed=5), says(loaded, seed=5))
    assert saved(model, tmp_path) == saved(loaded, tmp_path)


@pytest.mark.plain
@pytest.mark.parametrize("name", ["AdaBoostOLM", "BanditBBM", "Regressor", "AdaOLMR", "SAMME"])
def test_saving_changes_nothing(name, tmp_path):
    model, other = learn(MODELS[name](), 40, seed=2), learn(MODELS[name](), 40, seed=2)
    before = pickle.dumps(model._rng) if hasattr(model, "_rng") else b""
    first = saved(model, tmp_path)
    assert (pickle.dumps(model._rng) if hasattr(model, "_rng") else b"") == before
    assert saved(model, tmp_path) == first == saved(other, tmp_path)
    assert same(says(model, seed=3), says(other, seed=3))


@pytest.mark.plain
def test_fitting_again_is_the_same(tmp_path):
    """Random state given as a generator, and one setting for several learners, are kept as they were."""
    for name in ("AdaBoostOLM, paper", "AdaBoostOLM, list", "AdaBoostMM"):
        model = learn(MODELS[name](), 40, seed=2)
        model.save(tmp_path / "model.edgewise")
        loaded = ew.load(tmp_path / "model.edgewise")
        table = Table(np.random.default_rng(1).normal(size=(30, 2)), (Feature("a"), Feature("b")))
        y = np.arange(30) % 3
        assert same([model.fit(table, y).predict_proba(table)], [loaded.fit(table, y).predict_proba(table)])
        assert saved(model, tmp_path) == saved(loaded, tmp_path)


@pytest.mark.plain
@pytest.mark.parametrize("name", MODELS)
def test_models_that_have_learned_nothing(name, tmp_path):
    model = MODELS[name]()
    model.save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert shown(loaded) == shown(model)
    if name != "Regressor, huber":  # has no seed
        assert same(says(learn(model, 30, 1), 2), says(learn(loaded, 30, 1), 2))


@pytest.mark.plain
def test_categories_that_come_late(tmp_path):
    """Room that was made for more categories than there are is kept."""
    nominal = (Feature("color", tuple("rgbxyz")), Feature("size", tuple("SLMNO")))
    late = Table(np.array([[0.1, 0.2, 3.0, 4.0]] * 4), (Feature("weight"), Feature("length"), *nominal))
    for name in ("AdaBoostOLM, list", "Regressor"):
        model = learn(MODELS[name](), 40, seed=0)
        model.partial_fit(late, np.array(["no", "yes"] * 2) if "Ada" in name else np.arange(4.0))
        model.save(tmp_path / "model.edgewise")
        loaded = ew.load(tmp_path / "model.edgewise")
        assert same(says(model, seed=5), says(loaded, seed=5))


@pytest.mark.plain
def test_trees_that_began_anew(tmp_path):
    """A forest with nodes that no tree has any more."""
    model = ew.AdaBoostOLM(WARM, FEW, drift="restart", random_state=0)
    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = np.where((X[:, 0] > 0) ^ (np.arange(1000) >= 600), "yes", "no")
    at = 600
    model.partial_fit(X[:at], y[:at])
    while at < 1000 and model._ensemble.forests[0].used[0] == model.n_nodes_.sum():
        model.partial_fit(X[at : at + 10], y[at : at + 10])
        at += 10
    assert at < 1000
    assert model.restarts_
    model.save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert loaded.restarts_ == model.restarts_
    assert same([model.prequential(X[:300], y[:300])], [loaded.prequential(X[:300], y[:300])])


def test_first_weights_that_are_whole_numbers(tmp_path):
    model = learn(ew.AdaBoostOLM(WARM, FEW, first_weight=1, random_state=0), 40, seed=0)
    model.save(tmp_path / "model.edgewise")
    same_weights = learn(ew.AdaBoostOLM(WARM, FEW, first_weight=1.0, random_state=0), 40, seed=0).learner_weights_
    assert same([ew.load(tmp_path / "model.edgewise").learner_weights_], [same_weights])


@pytest.mark.plain
def test_votes_that_are_given(tmp_path):
    model, votes, y = given_votes()
    model.partial_fit(votes[:20], y[:20], classes=range(3)).save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert same([model.prequential(votes[20:], y[20:])], [loaded.prequential(votes[20:], y[20:])])


@pytest.mark.plain
@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2]),
        np.array([0.5, -1.0, 1e300]),
        np.array(["ä", "b", "日本"]),
        np.array(["ä", "b", "日本"], object),
        np.array([True, False, True]),
        np.array(["2020-01-01", "2021-05-05", "1999-01-01"], "datetime64[D]"),
        np.array([1, 2, 3], ">i2"),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_every_kind(labels, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = labels[np.arange(30) % 3]
    model = ew.HoeffdingForest(n_estimators=2, random_state=0).partial_fit(X, y, classes=labels)
    model.save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert loaded.classes_.dtype == model.classes_.dtype.newbyteorder("=")
    assert (loaded.prequential(X, y) == model.prequential(X, y)).all()


# -- decisions that wait ---------------------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("name", ["AdaBandit", "BanditBBM", "BinBandit"])
def test_feedback_after_loading(name, tmp_path):
    model = learn(MODELS[name](), 30, seed=0)
    model.save(tmp_path / "model.edgewise")
    loaded = ew.load(tmp_path / "model.edgewise")
    assert [decision.id for decision in loaded.pending_] == [decision.id for decision in model.pending_]
    for ours, theirs in zip(model.pending_, loaded.pending_, strict=True):
        assert theirs.label == ours.label
        assert type(theirs.label) is type(ours.label)
        assert theirs.propensity == ours.propensity
        assert np.array_equal(theirs.probabilities, ours.probabilities)
        assert theirs.features == ours.features
    late = model.pending_[0]
    assert model.feedback(late, correct=False)
    assert loaded.feedback(late.id, correct=False)
    assert not loaded.feedback(late.id, correct=False)
    assert loaded.repeated_ == 1
    with pytest.raises(ValueError, match="unknown to this model"):
        loaded.feedback(10**6, correct=True)
    model.repeated_ = 1
    assert same(says(model, seed=1), says(loaded, seed=1))


@pytest.mark.plain
@pytest.mark.parametrize("given", ["rows", "lists", "mixed"])
def test_examples_of_decisions_as_they_were_given(given, tmp_path):
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = ew.AdaBandit(n_estimators=2, random_state=0).partial_fit(X, list("aabbab"))
    if given == "rows":
        model.decide_many(X)
    elif given == "lists":
        model.decide_many(X.tolist())
    else:
        model.decide(X[0])
        model.decide(X.tolist()[1])
        model.decide_many(Table(X[2:3], (Feature("x0"), Feature("x1"))))
    model.save(tmp_path / "model.edgewise")
    for ours, theirs in zip(model.pending_, ew.load(tmp_path / "model.edgewise").pending_, strict=True):
        assert type(theirs.features) is type(ours.features)
        assert np.all(theirs.features == ours.features)


# -- values ----------------------------------------------------------------------------------------------------------

VALUES = [
    None,
    True,
    -(2**130),
    0.1 + 0.2,
    -0.0,
    float("inf"),
    float("-inf"),
    5e-324,
    "ü\n\u2028\ud7ff",
    [1, [2.0, "3"], []],
    (1, (2, ()), [3]),
    {"a": {"b": (1,)}, "": None},
    np.float32(0.1),
    np.int64(3),
    np.str_("x"),
    np.bool_(True),
    ew.LogUniform(0.1, 2.0),
    np.arange(6.0).reshape(2, 3).T,
    np.zeros((0, 3), np.int8),
    np.array(1.5),
    np.array([["a", None], [1, 2.5]], object),
]


@pytest.mark.plain
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value):
    writer = Writer()
    stored = json.loads(json.dumps(writer.value(value, "value"), allow_nan=False))
    again = Reader(writer.arrays).value(stored)
    assert type(again) is type(value)
    assert repr(again) == repr(value)


@pytest.mark.plain
def test_nan_comes_back():
    stored = Writer().value(float("nan"), "value")
    assert np.isnan(Reader([]).value(stored))


@pytest.mark.plain
@pytest.mark.parametrize("kind", BIT_GENERATORS)
def test_generators_come_back(kind):
    """The stream of numbers, the half that was drawn, and the children to be spawned."""
    generator = np.random.Generator(getattr(np.random, kind)(np.random.SeedSequence(7, spawn_key=(2,))))
    generator.random(5)
    generator.integers(10, size=3, dtype=np.uint32)
    generator.spawn(2)
    again = restored_generator(generator_state(generator), legacy=False)
    for child, other in zip([generator, *generator.spawn(2)], [again, *again.spawn(2)], strict=True):
        assert np.array_equal(child.random(700), other.random(700))
        assert np.array_equal(child.integers(9, size=7, dtype=np.uint32), other.integers(9, size=7, dtype=np.uint32))


@pytest.mark.plain
def test_legacy_random_state_comes_back():
    generator = np.random.RandomState(3)
    generator.normal(size=3)
    again = restored_generator(generator_state(generator), legacy=True)
    assert np.array_equal(generator.normal(size=9), again.normal(size=9))


@pytest.mark.plain
@pytest.mark.parametrize("kind", ["MT19937", "Philox"])
def test_places_in_the_buffers_of_generators_are_checked(kind):
    """NumPy takes them as they are, and would read beside the buffer."""
    stored = generator_state(np.random.Generator(getattr(np.random, kind)(1)))
    part, name = (stored["state"]["state"], "pos") if kind == "MT19937" else (stored["state"], "buffer_pos")
    for place in (-1, 10**6):
        part[name] = place
        with pytest.raises(ValueError, match=name):
            restored_generator(stored, legacy=False)


# -- what cannot be saved --------------------------------------------------------------------------------------------


class OwnBooster(ew.OzaBoost):
    pass


class OwnTree(ew.HoeffdingTree):
    pass


class OwnLearner:
    def predict_one(self, row):
        return np.zeros(1)

    def learn_one(self, row, target, weight):
        pass


@pytest.mark.plain
@pytest.mark.parametrize(
    ("model", "told"),
    [
        (OwnBooster(n_estimators=2), "OwnBooster cannot be saved: only models of edgewise itself"),
        (ew.OzaBoost([ew.HoeffdingTree(), OwnTree()], 2), r"estimator\[1\]=OwnTree\(\).*cannot be saved"),
        (ew.AdaBandit(exploration=lambda t: 0.1), "exploration=.*function cannot be saved"),
        (ew.StreamingGradientBoostingRegressor(OwnLearner()), "estimator=.*OwnLearner cannot be saved"),
        (ew.OzaBoost(random_state=object()), "random_state=.*object cannot be saved"),
    ],
    ids=["subclass", "learner", "function", "object", "random_state"],
)
def test_what_is_not_ours_is_refused_before_anything_is_written(model, told, tmp_path):
    path = tmp_path / "model.edgewise"
    path.write_text("old")
    with pytest.raises(ValueError, match=told):
        model.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.plain
def test_learners_of_others_in_a_batch_booster(tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    X = np.random.default_rng(0).normal(size=(30, 2))
    model = ew.SAMME(DecisionTreeClassifier(max_depth=1), 2).fit(X, np.arange(30) % 3)
    with pytest.raises(ValueError, match=r"estimator=.*DecisionTreeClassifier cannot be saved"):
        model.save(tmp_path / "model.edgewise")


@pytest.mark.plain
def test_parameters_that_were_changed_after_learning_began(tmp_path):
    """A file could not tell which of the two is meant."""
    model = learn(MODELS["AdaBoostOLM"](), 20, seed=0).set_params(weight_range=(0.0, 2.0))
    with pytest.raises(ValueError, match=r"parameters no longer tell how it came to be \(plan\)"):
        model.save(tmp_path / "model.edgewise")
    model = learn(MODELS["Regressor"](), 20, seed=0).set_params(learning_rate=0.3)
    with pytest.raises(ValueError, match=r"parameters no longer tell how it came to be \(steps\)"):
        model.save(tmp_path / "model.edgewise")
    model = learn(MODELS["OnlineMBBM"](), 20, seed=0).set_params(edge=0.3)
    with pytest.raises(ValueError, match=r"parameters no longer tell how it came to be \(potentials\)"):
        model.save(tmp_path / "model.edgewise")


def test_every_model_and_setting_of_the_package_is_in_the_table():
    """A new estimator must be added to `edgewise/persist/declared.toml`, or named here."""
    others = {"DecisionLog", "LogUniform", "ModelFileError", "Table"}
    for_subclasses = {"BoostingRule", "WeakLearner"}  # a user's own code is not saved
    public = {name for name in ew.__all__ if isinstance(getattr(ew, name), type)} - others - for_subclasses
    assert {name for name in public if hasattr(getattr(ew, name), "save")} == set(declared.MODELS)
    assert public <= set(declared.MODELS) | {declared.RENAMED.get(name, name) for name in declared.SETTINGS}
    for table in (declared.MODELS, declared.SETTINGS, declared.RECORDS):
        for name in table:
            assert declared.class_named(name, table).__name__ == declared.RENAMED.get(name, name)


@pytest.mark.plain
def test_names_in_files_outlive_names_in_the_code(tmp_path, monkeypatch):
    """A class, a parameter and an attribute that are called otherwise in files."""
    monkeypatch.setitem(declared.SETTINGS, "OldTree", declared.SETTINGS["HoeffdingTree"])
    monkeypatch.delitem(declared.SETTINGS, "HoeffdingTree")
    renamed = {"OldTree": "HoeffdingTree", "OldTree.patience": "grace_period", "OzaBoost.size": "n_estimators"}
    for old, new in (renamed | {"Model.turns": "rounds_"}).items():
        monkeypatch.setitem(declared.RENAMED, old, new)
    model = learn(MODELS["OzaBoost"](), 40, seed=0)
    model.save(tmp_path / "model.edgewise")
    header, _ = read_archive(tmp_path / "model.edgewise")
    assert header["parameters"]["size"] == FEW
    assert header["parameters"]["estimator"]["object"] == "OldTree"
    assert header["parameters"]["estimator"]["parameters"]["patience"] == {"tuple": [5, 9]}
    assert header["state"]["turns"] == 40
    loaded = ew.load(tmp_path / "model.edgewise")
    assert shown(loaded) == shown(model)
    assert same(says(model, seed=5), says(loaded, seed=5))


@pytest.mark.plain
def test_what_is_declared():
    """Dtype, shape in named sizes, and range."""
    fields = {"weights": declared.parsed("f8[N, 2]"), "places": declared.parsed("optional -1 <= i4[N] < 1 + k")}
    assert [field.optional for field in fields.values()] == [False, True]
    for weights, places, told in (
        (np.zeros((3, 2)), np.array([-1, 0, 4], np.int32), None),
        (np.zeros((3, 2)), None, None),
        (np.zeros((3, 2)), np.array([-1, 0, 5], np.int32), "places holds 5: numbers < 1 [+] k fit"),
        (np.zeros((3, 2)), np.array([-2, 0, 4], np.int32), "places holds -2: numbers >= -1 fit"),
        (
            np.zeros((3, 2)),
            np.zeros(2, np.int32),
            r"places has shape \(2,\) .*: shape \(3,\) and dtype int32 are needed",
        ),
        (np.zeros((3, 2)), np.zeros(3), "places has shape .* and dtype float64: shape .* and dtype int32 are needed"),
        (np.zeros((3, 1)), None, r"weights has shape \(3, 1\) .*: shape \(3, 2\) and dtype float64 are needed"),
        (None, np.zeros(3, np.int32), "the state: a Thing is made of weights, places"),
    ):
        stored = {name: array for name, array in (("weights", weights), ("places", places)) if array is not None}
        declared.STATES["Thing"] = fields
        try:
            with pytest.raises(ValueError, match=told) if told else nullcontext():
                declared.check("Thing", stored, {"k": 4})
        finally:
            del declared.STATES["Thing"]


@pytest.mark.plain
@pytest.mark.parametrize("name", [name for name in MODELS if hasattr(MODELS[name](), "partial_fit")])
def test_sizes_of_arrays_follow_from_settings(name, tmp_path, monkeypatch):
    """A size that a file may choose is that of a pool, or of decisions that wait."""
    chosen = set()

    def watched(kind, stored, sizes, place=""):
        known = sizes.keys() | {"N"}
        declared.check(kind, stored, sizes, place)
        chosen.update(sizes.keys() - known)

    monkeypatch.setattr(online, "check", watched)
    learn(MODELS[name](), 40, seed=0).save(tmp_path / "model.edgewise")
    assert chosen <= {"nodes", "links", "leaves", "rows", "slots", "decisions"}
    assert {"nodes", "leaves"} <= chosen


# -- files that are not as they were written -------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.edgewise"
    learn(MODELS["AdaBoostOLM"](), 30, seed=0).save(path)
    return path


def told(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        ew.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.plain
def test_truncated_files(file):
    whole = file.read_bytes()
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        assert "truncated, altered or no model file" in told(file)


@pytest.mark.plain
def test_any_changed_byte_is_noticed(file):
    whole, content = file.read_bytes(), read_archive(file)
    rng = np.random.default_rng(0)
    noticed = 0
    for place in rng.integers(0, len(whole), 150):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.integers(8)
        file.write_bytes(changed)
        try:
            # What zip keeps about members (dates, attributes) may change, and nothing that they hold.
            assert read_archive(file) == content
        except ModelFileError:
            noticed += 1
    assert noticed > 120


@pytest.mark.plain
def test_foreign_files(tmp_path):
    path = tmp_path / "model.edgewise"
    for content in (b"", b"hello", pickle.dumps([1]), json.dumps({"format": "edgewise-model"}).encode()):
        path.write_bytes(content)
        assert "no model file" in told(path)
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("mimetype", "application/epub+zip")
    assert "not a model of edgewise" in told(path)
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("header.json", "{}")
    assert "not a model of edgewise" in told(path)
    with pytest.raises(FileNotFoundError):
        ew.load(tmp_path / "nowhere.edgewise")


@pytest.mark.plain
def test_a_newer_format_names_the_edgewise_that_is_needed(file):
    header, _ = read_archive(file)
    with zipfile.ZipFile(file, "w") as newer:
        newer.writestr("header.json", canonical(header | {"version": 2, "edgewise": "3.1.4", "more": "things"}))
        newer.writestr("picture.png", b"")
    assert "format 2, written by edgewise 3.1.4" in told(file)
    assert "install edgewise 3.1.4 or newer" in told(file)


@pytest.mark.plain
def test_members_that_do_not_belong(file):
    whole = file.read_bytes()
    for name in ("../evil.npy", "/etc/passwd", "header.json", "0.npy", "x.pkl", "sub/"):
        file.write_bytes(whole)
        repeated = name in ("header.json", "0.npy")
        warned = pytest.warns(UserWarning, match="Duplicate") if repeated else nullcontext()
        with warned, zipfile.ZipFile(file, "a") as more:
            more.writestr(name, b"x")
        assert "belongs" in told(file)


@pytest.mark.plain
def test_compressed_members_are_refused(file):
    """A file of a few bytes must not unfold into one that fills the memory."""
    header, _ = read_archive(file)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("header.json", canonical(header), zipfile.ZIP_STORED)
        bomb.writestr("0.npy", bytes(50 << 20))
    assert file.stat().st_size < 1 << 20
    assert "compressed" in told(file)


@pytest.mark.plain
def test_sizes_are_checked_before_room_is_made(file):
    """Arrays, learners, columns and classes that a small file only speaks of."""
    original = file.read_bytes()

    def attempt(change) -> str:
        file.write_bytes(original)
        rewritten(file, change)
        return told(file)

    def larger(header, arrays):
        first = next(value for value in walk(header["state"]) if isinstance(value, dict) and "array" in value)
        first["shape"] = [1 << 40]
        arrays[first["array"]] = b"".join(npy_bytes(np.zeros(0)))

    assert "as the header says" in attempt(larger)
    assert "shape (1000000000000,)" in attempt(lambda header, _: header["parameters"].update(n_estimators=10**12))
    many = [{"name": f"x{i}", "categories": None} for i in range(10**4)]
    assert "fit together" in attempt(lambda header, _: header.update(features=many))
    assert "nested" in attempt(lambda header, _: header["state"].update(deep=_nested(60)))
    with zipfile.ZipFile(file, "w") as deep:
        deep.writestr("header.json", b'{"format":"edgewise-model","state":' + b"[" * 10**6)
    assert "no model file" in told(file)


def walk(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)


def _nested(depth: int):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.plain
@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.update({"class": "OzaBoost"}),
        lambda header: header.update({"class": "os.system"}),
        lambda header: header.update({"class": ["AdaBoostOLM"]}),
        lambda header: header.update(features=None),
        lambda header: header.update(more=1),
        lambda header: header["parameters"].update(estimator={"object": "subprocess.Popen", "parameters": {}}),
        lambda header: header["parameters"].update(estimator={"object": "AdaBoostOLM", "parameters": {}}),
        lambda header: header["parameters"].update(estimator={"record": "Forest", "fields": {}}),
        lambda header: header["parameters"].update(loss="unknown"),
        lambda header: header["parameters"].update(chunk_size=0),
        lambda header: header["parameters"].update(single_experts=True),
        lambda header: header["parameters"].update(other=1),
        lambda header: header["state"].update(predict=1),
        lambda header: header["state"].update(__class__=1),
        lambda header: header["state"].update(rounds_=-1),
        lambda header: header["state"].update(rounds_="many"),
        lambda header: header["state"].pop("rounds_"),
        lambda header: header["state"].pop("mistakes_"),
        lambda header: header["state"].pop("_rng"),
        lambda header: header["state"].pop("classes_"),
        lambda header: header["state"].update(
            _rng={"generator": {"dict": {"kind": "Popen", "state": {}, "seed": None}}}
        ),
        lambda header: header["state"].update(_ensembles=[]),
    ],
    ids=range(22),
)
def test_headers_changed_by_hand(change, file):
    rewritten(file, lambda header, _: change(header))
    assert "fit together" in told(file)


FIELDS = [
    ("root", lambda a: a.fill(-1)),
    ("root", lambda a: a.fill(10**6)),
    ("child", lambda a: a.fill(2**31 - 1)),
    ("child", lambda a: a.fill(0)),
    ("child", lambda a: a.fill(-5)),
    ("kind", lambda a: a.fill(9)),
    ("kind", lambda a: a.fill(1)),
    ("feature", lambda a: a.fill(1000)),
    ("feature", lambda a: a.fill(-1)),
    ("fallback", lambda a: a.fill(0)),
    ("row", lambda a: a.fill(10**6)),
    ("row", lambda a: a.fill(0)),
    ("n_rows", lambda a: a.fill(77)),
    ("free_rows", lambda a: a.fill(-3)),
    ("free_leaves", lambda a: a.fill(0)),
    ("used", lambda a: a.fill(10**9)),
    ("used", lambda a: a.fill(-1)),
    ("n_nodes", lambda a: a.fill(2)),
    ("categories", lambda a: a.fill(0)),
    ("recent", lambda a: a.fill(99)),
]


@pytest.mark.plain
@pytest.mark.parametrize(("name", "change"), FIELDS, ids=[f"{name}{i}" for i, (name, _) in enumerate(FIELDS)])
def test_places_that_kernels_would_trust_are_checked(name, change, tmp_path):
    path = tmp_path / "model.edgewise"
    learn(MODELS["AdaBoostOLM, paper"](), 60, seed=0).save(path)

    def alter(header, arrays):
        ensemble = header["state"]["_ensembles"][0]["dict"]
        where = (ensemble["memory"] if name == "recent" else ensemble["forest"])["dict"][name]
        array = np.load(io.BytesIO(arrays[where["array"]])).copy()
        change(array)
        arrays[where["array"]] = b"".join(npy_bytes(array))

    rewritten(path, alter)
    assert "fit" in told(path) or "places" in told(path)


PLACES = {
    "out of range": (("ranks",), lambda a: a.fill(10**6)),
    "below 0": (("ranks",), lambda a: a.fill(-(2**63))),
    "given twice": (("ranks",), lambda a: a.fill(1)),
    "of a product": (("products", "ranks"), lambda a: a.fill(10**6)),
    "more than there are": (("newton", "used"), lambda a: a.fill(10**6)),
    "fewer than 0": (("newton", "used"), lambda a: a.fill(-1)),
}


@pytest.mark.plain
@pytest.mark.parametrize("case", PLACES)
def test_places_of_inputs_that_take_newton_steps_are_checked(case, tmp_path):
    path, (fields, change) = tmp_path / "model.edgewise", PLACES[case]
    learn(MODELS["AdaBoostOLM, drift"](), 60, seed=0).save(path)

    def alter(header, arrays):
        where = header["state"]["_ensembles"][0]["dict"]["bank"]
        for field in fields:
            where = where["dict"][field]
        array = np.load(io.BytesIO(arrays[where["array"]])).copy()
        change(array)
        arrays[where["array"]] = b"".join(npy_bytes(array))

    rewritten(path, alter)
    assert "ranks of linear learner" in told(path)


@pytest.mark.parametrize("name", ["AdaBoostOLM, paper", "OnlineBMR", "BanditBBM", "Regressor"])
def test_floats_may_be_anything(name, tmp_path):
    """Kernels that compute a place from a float take any; a split without a branch is none."""
    path = tmp_path / "model.edgewise"
    learn(MODELS[name](), 40, seed=0).save(path)
    original = path.read_bytes()
    header, _ = read_archive(path)
    floats = [value for value in walk(header) if isinstance(value, dict) and value.get("dtype") == "<f8"]
    worked = 0
    for where in floats:
        for number in (np.nan, np.inf, -1.0, 0.0):
            path.write_bytes(original)
            filling = b"".join(npy_bytes(np.full(where["shape"], number)))
            rewritten(path, lambda _, arrays, where=where, filling=filling: arrays.__setitem__(where["array"], filling))
            try:
                model = ew.load(path)
            except ModelFileError:
                continue
            with np.errstate(all="ignore"):
                says(model, seed=3)
                learn(model, 40, seed=4)
            worked += 1
    assert worked > 40


@pytest.mark.plain
def test_the_page_on_saving(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / "docs" / "how-to" / "saving.md"), module_relative=False)
    assert tried > 10
    assert failed == 0


@pytest.mark.plain
def test_members_are_plain_npy(file):
    """Any tool that knows zip and .npy can look into a file."""
    with zipfile.ZipFile(file) as content:
        header = json.loads(content.read("header.json"))
        assert header["class"] == "AdaBoostOLM"
        assert header["parameters"]["n_estimators"] == FEW
        assert [feature["name"] for feature in header["features"]] == ["weight", "length", "color", "size"]
        weight = header["state"]["_ensembles"][0]["dict"]["committee"]["dict"]["weight"]
        array = np.load(io.BytesIO(content.read(f"{weight['array']}.npy")), allow_pickle=False)
    assert np.array_equal(array, ew.load(file).learner_weights_)


# -- written whole or not at all -------------------------------------------------------------------------------------


@pytest.mark.plain
def test_an_error_at_any_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.edgewise"
    model = learn(MODELS["SAMME"](), 20, seed=0)
    model.save(path)
    old = path.read_bytes()
    learn(model, 20, seed=1)

    class Failing:
        """A file whose n-th call fails, as on a full disk."""

        def __init__(self, file, calls):
            self._file, self._calls = file, calls

        def __getattr__(self, name):
            value = getattr(self._file, name)
            if name not in ("write", "flush", "fileno"):
                return value

            def call(*arguments):
                if self._calls == 0:
                    raise OSError("No space left on device")
                self._calls -= 1
                return value(*arguments)

            return call

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self._file.close()

    open_file = Path.open
    failures = 0
    for calls in range(10**4):
        monkeypatch.setattr(Path, "open", lambda self, mode, calls=calls: Failing(open_file(self, mode), calls))
        try:
            model.save(path)
        except OSError:
            failures += 1
            assert path.read_bytes() == old
            assert list(tmp_path.iterdir()) == [path]
            continue
        finally:
            monkeypatch.undo()
        break
    assert failures > 20
    assert path.read_bytes() != old
    ew.load(path)


@pytest.mark.plain
def test_a_writer_that_is_killed_leaves_the_old_file(file):
    """SIGKILL at some moment of some save."""
    whole = file.read_bytes()
    script = """
import io, sys
from pathlib import Path
import numpy as np
from edgewise.persist.archive import read_archive, write_archive
path = Path(sys.argv[1])
header, members = read_archive(path)
arrays = [np.load(io.BytesIO(member)) for member in members]
del header["sha256"]
while True:
    write_archive(path, header, arrays)
    print("written", flush=True)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    for delay in (0.0, 0.001, 0.003, 0.01):
        writer = subprocess.Popen([sys.executable, "-c", script, str(file)], stdout=subprocess.PIPE, env=environment)
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        assert file.read_bytes() == whole
    ew.load(file)


@pytest.mark.plain
def test_links_and_permissions_are_kept(tmp_path):
    (tmp_path / "deep").mkdir()
    link = tmp_path / "link.edgewise"
    link.symlink_to(tmp_path / "deep" / "model.edgewise")
    model = MODELS["SAMME"]()
    model.save(link)
    assert link.is_symlink()
    assert repr(ew.load(str(link))) == repr(model)
    plain = tmp_path / "plain"
    plain.write_text("")
    assert link.stat().st_mode == plain.stat().st_mode


# -- formats that were written before --------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("path", FORMAT_1, ids=lambda path: path.stem)
def test_files_of_format_1(path):
    """Files that edgewise 0.1.0 wrote load, and go on as it did: the numbers are those that were recorded then."""
    if path.stem.startswith("networks"):
        pytest.importorskip("torch")
    recorded = json.loads((path.parent / "recorded.json").read_text())[path.stem]
    model = ew.load(path)
    # A repr names what differs from the defaults of today: what was a default then is named by now.
    then = DEFAULTS_THEN.get(type(model).__name__, {})
    assert {name: getattr(model, name) for name in then} == then
    defaults_now = {name: model._defaults()[name] for name in then}
    told = type(model)(**model.get_params(deep=False) | defaults_now) if then else model
    shown_then = re.sub(" at 0x[0-9A-F]+", "", recorded["repr"])
    for old, new in declared.RENAMED.items():
        shown_then = re.sub(rf"\b{re.escape(old)}\(", f"{new}(", shown_then)
    assert shown(told) == shown_then
    for found, expected in zip(says(model, seed=11, n=6), recorded["says"], strict=True):
        if found.dtype.kind == "f":
            # The last digits of exp and log are the machine's.
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        else:
            assert found.tolist() == expected
