"""Own learners and rules: the worked examples against plain Python, the promises of the others, compiled for true."""

from __future__ import annotations

import copy
import pickle
import runpy
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import edgewise as ew
from edgewise import reference
from edgewise.evaluation.ranking_measures import rank_loss
from edgewise.loop.extending import fingerprint, specialize
from edgewise.loop.online_loop import process_chunk
from edgewise.loop.state import NOTHING
from edgewise.reference import RunningMoments
from examples.own_learner import Centroids, NearestCentroid
from examples.own_rule import OSBoost, Smooth
from tests.own_examples import Centroid
from tests.own_examples import OSBoost as PlainOSBoost
from tests.small_streams import mixed_stream
from tests.state import model_state, same
from tests.test_twin_boosters import assert_close, assert_same_rounds, run
from tests.test_twin_recipe import twins
from tests.test_twin_tree import random_stream

ROOT = Path(__file__).parents[1]
compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs compiled code")

SMOOTHING = 1.0


class Counts(NamedTuple):
    """A second kind of own learner: how often each label came, whatever the features."""

    seen: np.ndarray

    def predict_proba(self, i, x, p):
        for r in range(p.size):
            p[r] = share(self.seen[i], r)

    def update(self, i, x, p, label, w):
        self.seen[i, label] += w


def share(seen, r):
    total = 0.0
    for count in seen:
        total += count + SMOOTHING
    return (seen[r] + SMOOTHING) / total


class LabelShares(ew.WeakLearner):
    @classmethod
    def make(cls, learners, n_labels, n_numeric, categories):
        return Counts(np.zeros((len(learners), n_labels)))


def mixed_learners(*more: Any) -> list[Any]:
    """Own learners among ours; the last fills up."""
    return [NearestCentroid(), *more, ew.SoftmaxRegression(), NearestCentroid(8.0), ew.HoeffdingTree(5, 0.3, 0.9)]


def plain_learners(
    stream: Any, moments: RunningMoments, model: Any, estimators: list[Any]
) -> tuple[list[Any], list[float]]:
    """Plain twins of centroids, linear learners and trees."""
    stand_ins = [ew.SoftmaxRegression() if isinstance(e, NearestCentroid) else e for e in estimators]
    learners, scales = twins(stream, moments, model, stand_ins)
    for i, estimator in enumerate(estimators[: model.n_estimators]):
        if isinstance(estimator, NearestCentroid):
            learners[i] = Centroid(stream.k, moments, estimator.sharpness)
    return learners, scales


# The worked examples against plain Python


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(4))
def test_own_learner_in_a_mixed_committee(seed):
    stream = random_stream(seed, weighted=True, n=60)
    estimators = [NearestCentroid(), ew.SoftmaxRegression(), NearestCentroid(0.3), ew.HoeffdingTree((1, 6), 0.3, 0.9)]
    options: dict[str, Any] = {"loss": "logistic", "vote": "probability", "follow": "vote", "first_weight": 0.1}
    model = ew.AdaBoostOLM(
        estimators, 5, **options, importance_power=1.0, normalize_importance=False, weight_range=None,
        random_state=seed, chunk_size=7,
    )  # fmt: skip
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = RunningMoments(stream.counts[0])
    learners, scales = plain_learners(stream, moments, model, estimators)
    booster = reference.AdaBoostOLM(stream.k, learners, moments, scales=scales, **options)
    assert_same_rounds(trace, run(stream, booster, [0.0] * len(stream.y)))
    assert_close(model.learner_weights_, booster.alpha)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(4))
def test_own_rule_with_trees(seed):
    stream = random_stream(seed, weighted=True, n=80)
    tree = ew.HoeffdingTree((1, 6), 0.3, 0.9, importance_scale=(0.5, 4.0))
    model = OSBoost(tree, 5, edge=0.2, random_state=seed, chunk_size=9)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = RunningMoments(stream.counts[0])
    learners, scales = twins(stream, moments, model, [tree])
    booster = PlainOSBoost(stream.k, learners, moments, 0.2, scales)
    rounds = run(stream, booster)
    assert_same_rounds(trace, rounds)
    importances = stream.weights[:, None] * np.array([r.importances for r in rounds])
    right = np.array([r.votes for r in rounds]) == np.asarray(stream.y)[:, None]
    assert_close(model.memory_.total, importances.sum(axis=0))
    assert_close(model.memory_.right, (importances * right).sum(axis=0))
    assert (importances < stream.weights[:, None]).any()  # the rule does weigh


# What holds for our own learners and rules holds here


MODELS = {
    "learners": lambda **kw: ew.AdaBoostOLM(mixed_learners(), 7, random_state=3, **kw),
    "rule": lambda **kw: OSBoost(mixed_learners(LabelShares()), 7, random_state=3, **kw),
}


@pytest.mark.plain
@pytest.mark.parametrize("name", MODELS)
def test_chunks_change_nothing(name):
    X, y = mixed_stream(90)
    whole = MODELS[name](chunk_size=90)
    guesses = whole.prequential(X, y)
    for chunk_size in (1, 7):
        model = MODELS[name](chunk_size=chunk_size)
        again = [*model.prequential(X[:40], y[:40], classes=np.unique(y)), *model.prequential(X[40:], y[40:])]
        assert guesses.tolist() == again
        assert same(model_state(whole), model_state(model))


@pytest.mark.plain
@pytest.mark.parametrize("name", MODELS)
def test_a_copy_continues_alike(name):
    X, y = mixed_stream(80)
    model = MODELS[name]()
    model.partial_fit(X[:50], y[:50], classes=np.unique(y))
    before = model_state(model)
    model.predict(X)
    assert same(before, model_state(model))
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    model.partial_fit(X[50:], y[50:])
    for other in copies:
        assert same(before, model_state(other))
        other.partial_fit(X[50:], y[50:])
        assert same(model_state(model), model_state(other))


@pytest.mark.plain
def test_memory_counts_own_arrays():
    X, y = mixed_stream(30)
    sizes = []
    for n in (1, 3):
        model = ew.AdaBoostOLM(NearestCentroid(), n, random_state=0).partial_fit(X, y)
        sizes.append(model.nbytes)
    # 3 labels: sharpness, weight, 3 numeric columns, 2 nominal ones of 4 categories
    of_a_learner = 8 * (1 + 3 + 9 + 24)
    of_its_place = (sizes[1] - sizes[0]) / 2 - of_a_learner
    assert 0 < of_its_place < of_a_learner


@pytest.mark.plain
def test_rows_of_weight_zero_teach_nothing():
    X, y = mixed_stream(60)
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    model, kept = MODELS["rule"](), MODELS["rule"]()
    model.partial_fit(X, y, sample_weight=weights)
    kept.partial_fit(X[weights > 0], y[weights > 0])
    assert same(model_state(model), model_state(kept))


class GrowingCentroid(NearestCentroid):
    @classmethod
    def widened(cls, state, fresh):
        fresh.share[..., : state.share.shape[3]] = state.share
        return state._replace(share=fresh.share)


@pytest.mark.plain
def test_categories_that_come_later():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    colors = np.array(["red", "green", "blue"], object)[y + (np.arange(60) >= 30)]
    X = np.column_stack([colors, rng.normal(size=60)])
    late = ew.AdaBoostOLM(GrowingCentroid(), 3, random_state=0)
    fixed = ew.AdaBoostOLM(NearestCentroid(), 3, random_state=0)
    for model in (late, fixed):
        model.partial_fit(frame(X[:30]), y[:30])
    before = model_state(fixed)
    with pytest.raises(ValueError, match=r"categories that NearestCentroid was not made for.*define widened"):
        fixed.partial_fit(frame(X[30:]), y[30:])
    assert same(before, model_state(fixed))
    fixed.partial_fit(frame(X[:30]), y[:30])  # and it goes on
    early = ew.AdaBoostOLM(NearestCentroid(), 3, random_state=0)
    early.partial_fit(frame(X, 3)[:30], y[:30])
    late.partial_fit(frame(X[30:]), y[30:])
    early.partial_fit(frame(X, 3)[30:], y[30:])
    assert late.predict_proba(frame(X)).tolist() == early.predict_proba(frame(X)).tolist()


def frame(X, n_colors=None):
    """A Table with a nominal and a numeric column; categories are those that occur, or the first n_colors."""
    from edgewise.data.table import Feature, Table

    known = ("green", "red", "blue")
    names = known[:n_colors] if n_colors else tuple(name for name in known if name in X[:, 0])
    codes = [float(names.index(name)) for name in X[:, 0]]
    return Table(np.column_stack([codes, X[:, 1].astype(float)]), (Feature("color", names), Feature("size", None)))


# The other games


@pytest.mark.plain
@pytest.mark.slow
def test_own_learners_rank_label_sets():
    X, y = mixed_stream(80)
    Y = np.stack([y == "class0", y != "class2", y == "class2"], axis=1).astype(int)
    runs = []
    for chunk_size in (80, 7):
        model = ew.AdaOLMR([NearestCentroid(), ew.SoftmaxRegression()], 4, random_state=0, chunk_size=chunk_size)
        runs.append(model.prequential(X, Y))
    assert np.array_equal(runs[0], runs[1])
    alone = ew.AdaOLMR(LabelShares(), 1, random_state=0)
    assert rank_loss(Y == 1, runs[0]).mean() < 0.8 * rank_loss(Y == 1, alone.prequential(X, Y)).mean()


@pytest.mark.plain
@pytest.mark.slow
def test_own_learners_under_bandit_feedback():
    X, y = mixed_stream(300)
    model = ew.AdaBandit([NearestCentroid(), ew.SoftmaxRegression()], 4, random_state=0, exploration=0.2)
    shown = model.prequential(X, y)
    assert np.mean(shown[150:] == y[150:]) > 0.45  # 1/3 by chance


# Compiled speed: no Python runs for a row


@compiled_only
def test_no_python_call_per_row():
    X, y = mixed_stream(400)
    # no trees: their forest is enlarged from Python, now and then
    model = OSBoost([NearestCentroid(), LabelShares(), ew.SoftmaxRegression()], 7, chunk_size=1000)
    model.partial_fit(X[:20], y[:20], classes=np.unique(y))
    theirs = {f.__code__ for f in (Centroids.predict_proba, Centroids.update, Smooth.importance, Smooth.learner_weight)}

    def calls(rows: int) -> int:
        """Calls of Python functions while so many rows are learned."""
        seen: list[Any] = []
        numeric = model._rows(X[:rows], 3)
        codes = np.searchsorted(model.classes_, y[:rows])
        sys.setprofile(lambda frame, event, _: seen.append(frame.f_code) if event == "call" else None)
        try:
            model._run(numeric, codes, np.ones(rows), np.arange(1, rows + 1), None, False)
        finally:
            sys.setprofile(None)
        assert not theirs.intersection(seen)
        return len(seen)

    assert calls(40) == calls(400) > 0
    loop, _ = specialize(process_chunk, model._ensemble.own)
    assert loop is not process_chunk
    assert len(loop.nopython_signatures) == 1


class Forgetful(NamedTuple):
    """A rule that remembers nothing."""

    def importance(self, i, scores, now):
        return 1.0

    def learner_weight(self, i, scores, vote, p, now):
        return 1.0


def test_our_loop_is_left_alone():
    assert specialize(process_chunk, NOTHING) == (process_chunk, NOTHING)
    assert specialize(process_chunk, NOTHING._replace(rule=Forgetful()))[0] is not process_chunk


# Code on disk is found by what it computes


def twice(x):
    return 2.0 * x


def a_function(x):
    return twice(x) + SMOOTHING


def another_helper(monkeypatch):
    monkeypatch.setitem(globals(), "twice", lambda x: 3.0 * x)


def another_constant(monkeypatch):
    monkeypatch.setitem(globals(), "SMOOTHING", 2.0)


def another_module(monkeypatch):
    """A script that is also imported: compiled code of the module cannot be loaded where there is only the script."""
    monkeypatch.setattr(a_function, "__module__", "__main__")


@pytest.mark.plain
@pytest.mark.parametrize("change", [another_helper, another_constant, another_module])
def test_what_a_function_names_is_in_its_key(monkeypatch, change):
    before = fingerprint([a_function])
    assert before == fingerprint([a_function])
    change(monkeypatch)
    assert before != fingerprint([a_function])


@pytest.mark.plain
def test_what_cannot_be_told_by_its_text_has_no_key(monkeypatch):
    monkeypatch.setitem(globals(), "SMOOTHING", np.ones(3))
    assert fingerprint([a_function]) is None
    assert fingerprint([("a", "b")]) != fingerprint([("a",), "b"])


# Errors at the edge


class Broken(NearestCentroid):
    """Makes a state whose class is swapped by the tests."""

    state: Any = None

    @classmethod
    def make(cls, learners, n_labels, n_numeric, categories):
        return cls.state


def bad_state(**methods: Any) -> Any:
    """A state with these methods in the place of good ones."""

    class Bad(NamedTuple):
        seen: np.ndarray

    for name, method in ({"predict_proba": Counts.predict_proba, "update": Counts.update} | methods).items():
        setattr(Bad, name, method)
    return Bad(np.zeros((2, 3)))


def imports(self, i, x, p, label, w):
    import math

    self.seen[i, label] += math.sqrt(w)


def makes_an_array(self, i, x, p):
    shares = np.ones(p.size) / p.size
    for r in range(p.size):
        p[r] = shares[r]


def says_too_much(self, i, x, p):
    for r in range(p.size):
        p[r] = 1.0


def looks_too_far(self, i, x, p, label, w):
    self.seen[i, label + 3] += w


ERRORS = {
    "outside the subset": (lambda: bad_state(update=imports), TypeError, r"Bad\.update is not in the subset"),
    "makes an array": (
        lambda: bad_state(predict_proba=makes_an_array),
        TypeError,
        r"Bad\.predict_proba is not in the subset",
    ),
    "no distribution": (
        lambda: bad_state(predict_proba=says_too_much),
        ValueError,
        r"Bad\.predict_proba filled p with \[1\. 1\. 1",
    ),
    "out of range": (lambda: bad_state(update=looks_too_far), TypeError, r"Bad\.update failed .*: IndexError"),
    "no method": (lambda: bad_state(update=None), TypeError, r"Bad, which Broken\.make\(\) gave, has no method update"),
    "no tuple": (lambda: [np.zeros(3)], TypeError, r"Broken\.make\(\) gave a list: a NamedTuple of arrays"),
    "no array": (lambda: Counts([1.0]), TypeError, r"gave a list as 'seen': a C-contiguous array of numbers"),
    "objects": (lambda: Counts(np.array([None])), TypeError, r"gave a object array as 'seen'"),
}


@pytest.mark.plain
@pytest.mark.parametrize("name", ERRORS)
def test_a_learner_that_cannot_take_part(monkeypatch, name):
    if name in ("outside the subset", "makes an array") and numba.config.DISABLE_JIT:
        pytest.skip("plain Python takes it")
    state, error, message = ERRORS[name]
    monkeypatch.setattr(Broken, "state", state())
    X, y = mixed_stream(20)
    model = ew.AdaBoostOLM(Broken(), 2)
    with pytest.raises(error, match=message):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="has learned nothing yet"):
        model.predict(X)
    model.set_params(estimator=ew.HoeffdingTree()).partial_fit(X, y)


class Constant(OSBoost):
    """A rule that gives what the tests set."""

    gives: Any = None

    def memory(self, n_labels):
        return self.gives


class Given(NamedTuple):
    values: np.ndarray

    def importance(self, i, scores, now):
        return self.values[0]

    def learner_weight(self, i, scores, vote, p, now):
        return self.values[1]


@pytest.mark.plain
@pytest.mark.parametrize(
    ("memory", "error", "message"),
    [
        (Given(np.array([-1.0, 1.0])), ValueError, r"Given\.importance gave .*-1\.0.*: a number from 0 on"),
        (Given(np.array([1.0, np.inf])), ValueError, r"Given\.learner_weight gave .*inf"),
        (Given(np.zeros(1)), TypeError, r"Given\.learner_weight failed when tried out: IndexError"),
        (Counts(np.zeros(2)), TypeError, r"Counts, which Constant\.memory\(\) gave, has no method importance"),
        (None, TypeError, r"Constant\.memory\(\) gave a NoneType"),
    ],
)
def test_a_rule_that_cannot_take_part(monkeypatch, memory, error, message):
    monkeypatch.setattr(Constant, "gives", memory)
    X, y = mixed_stream(20)
    with pytest.raises(error, match=message):
        Constant(n_estimators=2).partial_fit(X, y)


@pytest.mark.plain
def test_what_is_left_undefined_says_so(monkeypatch):
    X, y = mixed_stream(20)
    assert repr(ew.AdaBoostOLM(LabelShares(), 2)) == "AdaBoostOLM(estimator=LabelShares(), n_estimators=2)"
    with pytest.raises(TypeError, match=r"WeakLearner does not say how its state is made: define make\(\)"):
        ew.AdaBoostOLM(ew.WeakLearner()).partial_fit(X, y)
    monkeypatch.setattr(OSBoost, "vote", "cost")
    with pytest.raises(ValueError, match="vote='cost': one of argmax, probability"):
        OSBoost().partial_fit(X, y)
    with pytest.raises(ValueError, match="of which every class has a group"):
        ew.AdaOVA(NearestCentroid(), 2).partial_fit(X, y)


# The page


@pytest.mark.parametrize("name", ["own_learner", "own_rule"])
def test_the_page_shows_the_example_and_what_it_prints(name, capsys):
    path = ROOT / "examples" / f"{name}.py"
    source = path.read_text()
    assert len(source.splitlines()) < 60
    page = (ROOT / "docs" / "how-to" / "extending.md").read_text()
    assert f"```python\n{source}```" in page
    runpy.run_path(str(path), run_name="__main__")
    assert f"```text\n{capsys.readouterr().out}```" in page


@pytest.mark.plain
def test_methods_may_have_the_names_of_earlier_releases(monkeypatch):
    old = bad_state(predict_proba=None, update=None)
    type(old).speaks, type(old).learns = Counts.predict_proba, Counts.update
    del type(old).predict_proba, type(old).update
    monkeypatch.setattr(Broken, "state", old)
    X, y = mixed_stream(20)
    with pytest.warns(DeprecationWarning, match=r"Bad\.speaks is predict_proba now"):
        guesses = ew.OzaBoost(Broken(), 2, random_state=1).prequential(X, y)
    monkeypatch.setattr(Broken, "state", Counts(np.zeros((2, 3))))
    np.testing.assert_array_equal(ew.OzaBoost(Broken(), 2, random_state=1).prequential(X, y), guesses)
