"""Threads change nothing: learners in blocks that work at once give the numbers of one thread, bit for bit."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.linear_model import Perceptron

import edgewise as ew
from edgewise.loop import pipeline
from edgewise.loop.pipeline import blocks, n_threads, run_tasks
from edgewise.persist.archive import ModelFileError, read_archive
from edgewise.theory.potential_tables import shared_out, zero_one_potentials
from edgewise.theory.potentials import importance
from edgewise.theory.regression_losses import SquaredLoss
from tests.estimators import BANDITS, EAGER, ONLINE, REGRESSION, examples
from tests.small_streams import mixed_stream
from tests.state import model_state, same
from tests.test_saving import rewritten

FULL = [name for name in ONLINE if name not in BANDITS]
N = 9  # not a multiple of any number of blocks
LABEL_MEMORY = [ew.SoftmaxRegression(), ew.LabelMarkovChain(), ew.HoeffdingTree(5, 0.3, 0.9)]
# Every kind of learner, vote and rule that blocks may treat otherwise than a single list of trees.
OTHERS = {
    "defaults": lambda **kw: ew.AdaBoostOLM(None, N, random_state=1, **kw),
    "drift": lambda **kw: ew.AdaBoostOLM(LABEL_MEMORY, N, drift="restart", follow="draw", random_state=1, **kw),
    "single experts": lambda **kw: ew.AdaBoostOLM(LABEL_MEMORY, N, single_experts=True, random_state=1, **kw),
    "no trees": lambda **kw: ew.AdaBoostOLM([ew.SoftmaxRegression(), ew.BinaryRelevance()], N, random_state=1, **kw),
    "cost votes": lambda **kw: ew.OnlineMBBM(EAGER, N, edge=0.3, vote="cost", random_state=1, **kw),
    "residual": lambda **kw: ew.StreamingGradientBoostingClassifier(
        [REGRESSION, ew.RidgeRegression(), REGRESSION], N, loss="hinge", learning_rate=0.3, random_state=1, **kw
    ),
}


def booster(name, **settings):
    if name in OTHERS:
        return OTHERS[name](**settings)
    kind = ONLINE[name]
    return kind.make(estimator=kind.learner, n_estimators=N, random_state=1, **settings)


def stream(name, n=430):
    return examples(name if name in ONLINE else "AdaBoostOLM", n)


def learn(model, name, X, y):
    """Predict, then learn, further rows; every class is known from the start."""
    labels = {"classes": ["class0", "class1", "class2"]} if y.dtype.kind in "UO" else {}
    return model.prequential(X, y, **labels)


def seen(model, X):
    """All that can be asked of a model."""
    asked = [model.predict(X), model.learner_weights_, model.n_nodes_]
    numbers = ("edges_", "expert_mistakes_", "rank_loss_", "expert_losses_", "loss_sum_")
    asked += [getattr(model, name) for name in numbers if hasattr(model, name)]
    asked += [getattr(model, name)(X) for name in ("decision_function", "predict_proba") if hasattr(model, name)]
    return asked


def assert_same(model, other, X):
    for a, b in zip(seen(model, X), seen(other, X), strict=True):
        np.testing.assert_array_equal(a, b)
    assert same(model_state(model), model_state(other))
    for learner in range(N):
        try:
            tree = other.structure(learner)
        except ValueError:
            continue
        assert same(model.structure(learner), tree)
        assert same(model.structure(learner - N), tree)


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("name", [*FULL, *OTHERS])
def test_threads_change_nothing(name, n_jobs):
    """Chunks of 1, 7 and 256 rows, several of each, by one thread and by more."""
    X, y = stream(name)
    one, many = booster(name), booster(name, n_jobs=n_jobs)
    expected = learn(one, name, X, y)
    told = []
    for size, part in ((1, slice(0, 30)), (7, slice(30, 130)), (256, slice(130, 430))):
        many.set_params(chunk_size=size)
        told.append(learn(many, name, X[part], y[part]))
    np.testing.assert_array_equal(np.concatenate(told), expected)
    assert many._n_blocks > 1 or n_threads(-1) == 1
    if name != "no trees":
        assert one.n_nodes_.sum() > 2 * one.n_nodes_.size, "trees must grow, or nothing is tested"
    assert_same(many.set_params(chunk_size=50), one, X)


@pytest.mark.parametrize("share", [0.16, 0.8, None])
def test_blocks_that_see_other_codes_gather_their_own(share):
    """Rows gathered for one block are good for the next only if its first tree sees the same of Car's six columns."""
    X, y = ew.datasets.load("car")
    order = np.random.default_rng(2).permutation(len(y))[:500]
    X, y = X[order], y[order]
    tree = ew.HoeffdingTree((5, 30), 0.1, 0.3, leaf_prediction="adaptive", max_features=share)
    one, many = (ew.OnlineMBBM(tree, 60, random_state=4, chunk_size=100, n_jobs=n) for n in (1, 6))
    np.testing.assert_array_equal(many.prequential(X, y), one.prequential(X, y))
    assert many._n_blocks == 12
    assert same(model_state(many), model_state(one))


@pytest.mark.plain
@pytest.mark.parametrize("name", ["AdaBoostOLM", "OneVsAllOLM", "OnlineBMR", "StreamingGradientBoostingRegressor"])
def test_threads_change_nothing_in_plain_python(name):
    X, y = stream(name, 60)
    one, many = booster(name), booster(name, n_jobs=3, chunk_size=7)
    np.testing.assert_array_equal(learn(many, name, X, y), learn(one, name, X, y))
    assert_same(many, one, X)


@pytest.mark.parametrize("name", [*FULL, "defaults", "single experts"])
def test_a_model_goes_on_from_a_file_by_any_number_of_threads(name, tmp_path):
    X, y = stream(name, 240)
    whole = booster(name)
    expected = learn(whole, name, X, y)
    for first, later in ((2, None), (2, 3), (None, 2)):
        begun = booster(name, n_jobs=first, chunk_size=40)
        learn(begun, name, X[:120], y[:120])
        begun.save(tmp_path / "model.edgewise")
        loaded = ew.load(tmp_path / "model.edgewise").set_params(n_jobs=later)
        assert loaded._n_blocks == begun._n_blocks
        np.testing.assert_array_equal(learn(loaded, name, X[120:], y[120:]), expected[120:])
        assert_same(loaded, whole, X)
        copied = pickle.loads(pickle.dumps(copy.deepcopy(begun)))
        np.testing.assert_array_equal(learn(copied, name, X[120:], y[120:]), expected[120:])


@pytest.mark.plain
def test_files_of_blocks(tmp_path):
    """One block is stored as ever; a list of forests must be as long as the file says, and each must fit."""
    path = tmp_path / "model.edgewise"
    X, y = stream("AdaBoostOLM", 30)
    found = {}
    for n_jobs in (1, 2):
        booster("AdaBoostOLM", n_jobs=n_jobs, chunk_size=10).fit(X, y).save(path)
        found[n_jobs] = read_archive(path)[0]["state"]["_ensembles"][0]["dict"]["forest"]
    assert found[1].keys() == {"dict"}
    assert [part.keys() for part in found[2]] == [{"dict"}] * 4
    original = path.read_bytes()

    def forests(header):
        return header["state"]["_ensembles"][0]["dict"]["forest"]

    for change in (
        lambda header, _: header["state"].update(_n_blocks=7),
        lambda header, _: header["state"].update(_n_blocks=10**6),
        lambda header, _: header["state"].update(_n_blocks=0),
        lambda header, _: header["state"].pop("_n_blocks"),
        lambda header, _: forests(header).reverse(),
        lambda header, _: header["parameters"].update(n_jobs="all"),
    ):
        path.write_bytes(original)
        ew.load(path)
        rewritten(path, change)
        with pytest.raises(ModelFileError):
            ew.load(path)


@pytest.mark.parametrize("name", FULL)
def test_the_number_of_threads_may_change_midway(name):
    X, y = stream(name, 240)
    whole = booster(name)
    expected = learn(whole, name, X, y)
    for first, later in ((None, 2), (2, None), (2, 3)):
        model = booster(name, n_jobs=first, chunk_size=40)
        begin = learn(model, name, X[:120], y[:120])
        rest = learn(model.set_params(n_jobs=later), name, X[120:], y[120:])
        np.testing.assert_array_equal(np.concatenate([begin, rest]), expected)
        assert_same(model, whole, X)


def test_later_categories_find_room_in_every_block():
    X, y = mixed_stream(300, missing=0.0)
    late = X.values[:, 3] == 3.0
    order = np.concatenate([np.flatnonzero(~late)[:60], np.flatnonzero(late), np.flatnonzero(~late)[60:]])
    rows = X.values[order].astype(object)
    rows[:, 3] = ["abcd"[int(code)] for code in X.values[order, 3]]
    one, many = booster("AdaBoostOLM"), booster("AdaBoostOLM", n_jobs=2, chunk_size=16)
    for part in (slice(0, 60), slice(60, 300)):
        told = [model.prequential(rows[part], y[order][part], classes=np.unique(y)) for model in (one, many)]
        np.testing.assert_array_equal(*told)
    assert_same(many, one, rows)


def test_a_trace_is_in_the_order_of_rows():
    X, y = stream("defaults")
    for weights in (None, np.zeros(len(y))):
        told = [OTHERS["defaults"](n_jobs=n_jobs, chunk_size=9).trace(X, y, sample_weight=weights) for n_jobs in (1, 3)]
        for a, b in zip(*told, strict=True):
            np.testing.assert_array_equal(a, b)


# -- what n_jobs may be ----------------------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_what_is_no_number_of_threads(name, n_jobs):
    X, y = stream(name, 20)
    model = booster(name, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=f"n_jobs={n_jobs!r}: a number of threads"):
        learn(model, name, X, y)
    assert not hasattr(model, "_columns")
    model.set_params(n_jobs=2, chunk_size=5)
    learn(model, name, X, y)
    before = model_state(model)
    with pytest.raises(ValueError, match="n_jobs="):
        learn(model.set_params(n_jobs=n_jobs), name, X, y)
    with pytest.raises(ValueError, match="n_jobs="):
        model.predict(X)
    assert same(model_state(model), before)


@pytest.mark.plain
def test_numbers_of_threads(monkeypatch):
    monkeypatch.setattr(pipeline.os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert [n_threads(n) for n in (None, 1, 5, np.int32(3), -1, -2, -8, -20)] == [1, 1, 5, 3, 8, 7, 1, 1]


@pytest.mark.plain
def test_who_has_no_threads():
    from edgewise.models.boosting_rule import BoostingRule

    for name in BANDITS:
        assert "n_jobs" not in inspect.signature(getattr(ew, name)).parameters
    assert BoostingRule._threads(None) == 1


@pytest.mark.plain
def test_one_thread_makes_none(monkeypatch):
    """Neither for n_jobs=1, nor for rows that fit into one chunk, nor for learners that are not ours."""

    def refuse(*_, **__):
        raise AssertionError("a thread was made")

    monkeypatch.setattr(pipeline.threading, "Thread", refuse)
    X, y = stream("AdaBoostOLM", 30)
    numbers = np.nan_to_num(X.values[:, :3])
    for model, rows in (
        (booster("AdaBoostOLM", n_jobs=1, chunk_size=7), X),
        (booster("AdaBoostOLM", n_jobs=2), X),
        (ew.AdaBoostOLM([Perceptron(), EAGER], 3, random_state=0, n_jobs=2, chunk_size=7), numbers),
    ):
        model.prequential(rows, y, classes=np.unique(y))
        model.predict(rows)
    assert model._n_blocks == 1
    with pytest.raises(AssertionError, match="a thread was made"):
        booster("AdaBoostOLM", n_jobs=2, chunk_size=7).prequential(X, y)


def test_tables_of_potentials_are_counted_once():
    X, y = stream("OnlineMBBM", 60)
    sizes = []
    for n_jobs in (1, 2):
        model = ew.OnlineMBBM(EAGER, 60, n_jobs=n_jobs, random_state=1)
        model.partial_fit(X, y)
        sizes.append(model.nbytes)
    assert sizes[1] < 1.2 * sizes[0]


# -- blocks and their memos ------------------------------------------------------------------------------------------


@pytest.mark.plain
def test_blocks_are_all_learners_in_order():
    for n in (1, 2, 7, 9, 100):
        for n_blocks in range(1, n + 1):
            cut = blocks(n, n_blocks)
            assert [i for block in cut for i in block] == list(range(n))
            assert len(cut) == n_blocks
            assert {len(block) for block in cut} <= {n // n_blocks, -(-n // n_blocks)}


@pytest.mark.plain
def test_a_memo_of_its_own_gives_the_same_potentials():
    k, n = 4, 8
    whole = zero_one_potentials(k, n, 0.2, memo_bits=6)
    several = shared_out(whole, 3)
    assert shared_out(whole, 1) == (whole,)
    assert sum(one.memo_values.size for one in several) <= whole.memo_values.size
    assert several[0].factors is several[2].factors
    assert len({id(getattr(one, name)) for one in several for name in ("memo_keys", "leads", "factor_at")}) == 9
    rng = np.random.default_rng(0)
    for _ in range(200):
        votes = rng.multinomial(rng.integers(0, n), np.full(k, 1 / k)).astype(float)
        arguments = (n - 1 - int(votes.sum()), int(rng.integers(k)), votes)
        assert importance(several[rng.integers(3)], *arguments) == importance(whole, *arguments)


# -- the line of chunks ----------------------------------------------------------------------------------------------


@pytest.mark.plain
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n_blocks", [1, 2, 6])
def test_no_chunk_overtakes_another(threads, n_blocks):
    rng = np.random.default_rng(threads)
    pauses = rng.choice([0.0, 0.0, 0.001], (n_blocks, 40))
    done, ends, under_way, most = [0] * n_blocks, [], [0], [0]
    lock = threading.Lock()

    def task(c):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        for b in range(n_blocks):
            assert done[b] == c
            assert b == 0 or done[b - 1] > c
            time.sleep(pauses[b, c])
            done[b] += 1
            yield
        ends.append(c)
        with lock:
            under_way[0] -= 1

    run_tasks(map(task, range(40)), threads, in_order=True)
    assert ends == list(range(40))
    assert most[0] <= (1 if threads == 1 else 2 * threads)


@pytest.mark.plain
@pytest.mark.parametrize("in_order", [True, False])
def test_chunks_are_under_way_at_once(in_order):
    """Two steps wait for each other: one thread alone would wait for ever."""
    together = threading.Barrier(2, timeout=30)

    def task(c):
        if c == 1:
            together.wait()
        yield
        if c == 0:
            together.wait()
        yield

    run_tasks(map(task, range(6)), 2, in_order)


@pytest.mark.plain
def test_chunks_that_leave_nothing_behind_may_overtake_and_stay_few():
    lock, under_way, most = threading.Lock(), [0], [0]

    def task(c):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        yield
        with lock:
            under_way[0] -= 1

    made = []
    run_tasks((made.append(c) or task(c) for c in range(100)), 3, in_order=False)
    assert made == list(range(100))
    assert under_way[0] == 0
    assert most[0] <= 3


@pytest.mark.plain
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_ends_all(threads, in_order):
    started = []

    def task(c):
        started.append(c)
        yield
        if c == 7:
            raise KeyError("chunk 7")
        yield
        yield

    before = threading.active_count()
    with pytest.raises(KeyError, match="chunk 7"):
        run_tasks(map(task, range(1000)), threads, in_order)
    assert len(started) < 40
    assert threading.active_count() == before


# -- learning that is cut off ----------------------------------------------------------------------------------------


class Interrupting(SquaredLoss):
    """The squared loss until a target of 100 comes."""

    def __init__(self, what="error"):
        super().__init__()
        self.what = what

    def gradient(self, predictions, targets):
        if (targets == 100.0).any():
            if self.what == "error":
                raise ArithmeticError("100 is too much")
            if self.what == "signal":
                self.what = "signal sent"
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return super().gradient(predictions, targets)


def assert_cut_off(model, X, y, path):
    for ask in (
        lambda: model.predict(X),
        lambda: model.partial_fit(X, y),
        lambda: model.edges_,
        lambda: model.structure(0),
        lambda: model.save(path),
    ):
        with pytest.raises(RuntimeError, match="was cut off while it learned"):
            ask()
    assert not path.exists()


def cut_off_models(what):
    X, y = stream("StreamingGradientBoostingRegressor", 200)
    cut = y.copy()
    cut[120] = 100.0
    model = ew.StreamingGradientBoostingRegressor(
        REGRESSION, N, loss=Interrupting(what), n_jobs=2, chunk_size=10, random_state=1
    )
    return model, X, y, cut


@pytest.mark.plain
def test_an_error_in_a_thread_reaches_the_caller(tmp_path):
    model, X, y, cut = cut_off_models("error")
    with pytest.raises(ArithmeticError, match="100 is too much"):
        model.partial_fit(X, cut)
    assert_cut_off(model, X, y, tmp_path / "model.edgewise")
    assert model.nbytes > 0
    fresh = ew.StreamingGradientBoostingRegressor(REGRESSION, N, loss=Interrupting("error"), random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), fresh.predict(X))


@pytest.mark.plain
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interruption_ends_learning(tmp_path):
    assert threading.current_thread() is threading.main_thread(), "signals come to the main thread"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    model, X, y, cut = cut_off_models("signal")
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, cut)
    assert threading.active_count() == before
    assert_cut_off(model, X, y, tmp_path / "model.edgewise")


def at_work():
    return [thread for thread in threading.enumerate() if thread.name.startswith("edgewise-")]


@pytest.mark.plain
def test_an_interruption_while_threads_start_leaves_none_at_work(monkeypatch):
    """Ctrl-C may come while a thread that is being started has begun already."""
    start, done = threading.Thread.start, []

    def interrupted(thread):
        start(thread)
        time.sleep(0.02)
        raise KeyboardInterrupt

    def task(chunk):
        for _ in range(3):
            time.sleep(0.003)
            done.append(chunk)
            yield

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_tasks(map(task, range(100)), 2, True)
    assert 0 < len(done) < 300
    assert not at_work()


@pytest.mark.plain
def test_an_interruption_while_threads_are_waited_for_leaves_none_at_work(monkeypatch):
    """After an error the others end their step first; whoever does not want to wait for that waits all the same."""
    join, interruptions, done = threading.Thread.join, [KeyboardInterrupt()], []

    def interrupted(thread):
        if interruptions:
            raise interruptions.pop()
        join(thread)

    def task(chunk):
        if threading.current_thread() is threading.main_thread():
            time.sleep(0.1)
            raise ArithmeticError("this comes first")
        time.sleep(0.3)
        done.append(chunk)
        yield

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", interrupted)
        with pytest.raises(ArithmeticError, match="this comes first"):
            run_tasks(map(task, range(9)), 2, False)
    assert not interruptions
    assert len(done) == 1
    assert not at_work()


@pytest.mark.plain
def test_a_classifier_that_is_cut_off(monkeypatch, tmp_path):
    """No room for a tree to grow in: the error of one block ends all."""

    X, y = stream("AdaBoostOLM", 120)
    model = booster("AdaBoostOLM", n_jobs=2, chunk_size=10)
    model.partial_fit(X[:30], y[:30], classes=np.unique(y))
    whole = copy.deepcopy(model)

    def no_room(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "enlarged", no_room)
        with pytest.raises(MemoryError, match="no room"):
            model.partial_fit(X[30:], y[30:])
        patch.setattr(pipeline, "make_workspace", no_room)
        with pytest.raises(MemoryError, match="no room"):
            whole.predict(X)
    assert_cut_off(model, X, y, tmp_path / "model.edgewise")
    whole.predict(X)  # predicting leaves a model as it was, whatever happens


@pytest.mark.plain
def test_learners_that_are_not_ours_stay_in_the_calling_thread():
    X, y = stream("StreamingGradientBoostingRegressor", 60)
    threads = set()

    class Mean:
        def __init__(self):
            self.sum = self.weight = 0.0

        def predict_one(self, row):
            threads.add(threading.current_thread())
            return np.array([self.sum / max(self.weight, 1.0)])

        def learn_one(self, row, target, weight):
            self.sum, self.weight = self.sum + weight * target[0], self.weight + weight

    told = []
    for n_jobs in (1, 3):
        learners = [Mean(), REGRESSION]
        model = ew.StreamingGradientBoostingRegressor(learners, 6, n_jobs=n_jobs, chunk_size=8, random_state=0)
        told.append(model.prequential(X, y))
    np.testing.assert_array_equal(*told)
    assert threads == {threading.current_thread()}
