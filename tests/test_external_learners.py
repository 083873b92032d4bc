"""Learners of river and scikit-learn in one ensemble with ours: against plain Python, and what all learners promise."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

import edgewise as ew
from edgewise import reference
from edgewise.data.table import Feature, Table
from edgewise.learners.external import RowReader
from edgewise.reference import RunningMoments
from edgewise.reference.linear import RidgeRegression
from tests import external_learners as external
from tests.small_streams import mixed_stream
from tests.state import model_state, same
from tests.test_bandit_twins import assert_same_rounds as assert_same_bandit_rounds
from tests.test_bandit_twins import replay
from tests.test_sgb_twins import real_stream
from tests.test_twin_boosters import assert_close, assert_same_rounds, run
from tests.test_twin_ranking import stream_of_sets
from tests.test_twin_tree import Stream, random_stream

linear_model = pytest.importorskip("river.linear_model", reason="river is not installed")
from river import compose, multiclass, naive_bayes, preprocessing, tree  # noqa: E402

STEP = {"learning_rate": "constant", "eta0": 0.05}
OWN = ew.HoeffdingTree(grace_period=(2, 6), split_confidence=0.5, tie_threshold=0.5, importance_scale=(1.0, 3.0))


def river_tree() -> Any:
    return tree.HoeffdingTreeClassifier(grace_period=10, delta=0.3, leaf_prediction="mc")


def log_regression() -> SGDClassifier:
    return SGDClassifier(loss="log_loss", **STEP)


def numbers_only() -> Any:
    """A pipeline of river's, of which no part takes an importance."""
    return compose.SelectType(float) | naive_bayes.GaussianNB()


def committee() -> list[Any]:
    """River's tree, ours, scikit-learn's linear model, ours, and a pipeline of river's that takes no importance."""
    return [river_tree(), OWN, log_regression(), OWN, numbers_only()]


def complete(stream: Stream) -> Stream:
    """The stream with no number missing, which scikit-learn's linear model would not take; categories may be."""
    numeric = ~np.array(stream.is_nominal)
    values = np.where(np.isnan(stream.values) & numeric, 0.0, stream.values)
    return stream._replace(values=values)


def columns_of(stream: Stream) -> list[tuple[str, tuple[str, ...] | None]]:
    return [(feature.name, feature.categories) for feature in stream.table().features]


def plain_learners(model: Any, stream: Stream, moments: RunningMoments) -> list[Any]:
    """The plain learner of each member of a started model, with the constants and seeds that the library drew."""
    drawn = model.parameters_
    copies = iter(model._ensemble.external.copies)
    made: list[Any] = []
    kinds = {
        tree.HoeffdingTreeClassifier: external.River,
        compose.Pipeline: external.RiverWithoutWeights,
        SGDClassifier: external.Scikit,
    }
    fresh = {
        tree.HoeffdingTreeClassifier: river_tree,
        compose.Pipeline: numbers_only,
        SGDClassifier: log_regression,
    }
    for i in range(model.n_estimators):
        estimator = model.estimator[min(i, len(model.estimator) - 1)]
        if not isinstance(estimator, ew.HoeffdingTree):
            seed, kind = next(copies).seed, type(estimator)
            made.append(kinds[kind](fresh[kind](), stream.k, columns_of(stream), seed))
            continue
        made.append(
            reference.HoeffdingTree(
                stream.k,
                *stream.counts,
                moments,
                grace_period=float(drawn.grace_period[i]),
                split_confidence=float(drawn.split_confidence[i]),
                tie_threshold=float(drawn.tie_threshold[i]),
                leaf_prediction=estimator.leaf_prediction,
                features=list(range(len(stream.columns))),
            )
        )
    return made


# Single labels against plain Python

SEEDS = [pytest.param(0, marks=pytest.mark.plain), 1]


@pytest.mark.parametrize("vote", ["probability", "argmax", "cost"])
@pytest.mark.parametrize("seed", SEEDS)
def test_adaboost_olm(seed, vote):
    stream = complete(random_stream(900 + seed, weighted=True))
    follow = "draw" if seed == 1 else "vote"
    settings = {"loss": "logistic", "vote": vote, "follow": follow}
    model = ew.AdaBoostOLM(committee(), 7, random_state=seed, chunk_size=16, **settings)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = RunningMoments(stream.counts[0])
    twin = reference.AdaBoostOLM(
        stream.k,
        plain_learners(model, stream, moments),
        moments,
        scales=model.parameters_.importance_scale.tolist(),
        importance_power=model.importance_power,
        normalize_importance=True,
        weight_range=(0.0, 4.0),
        first_weight=0.1,
        **settings,
    )
    assert_same_rounds(trace, run(stream, twin, trace.uniforms[:, 0].tolist()))
    assert_close(model.learner_weights_, twin.alpha)
    assert_close(model.edges_, twin.edges())


@pytest.mark.parametrize("seed", SEEDS)
def test_online_mbbm(seed):
    stream = complete(random_stream(920 + seed, weighted=True))
    model = ew.OnlineMBBM(committee(), 5, edge=0.2, random_state=seed)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = RunningMoments(stream.counts[0])
    scales = model.parameters_.importance_scale.tolist()
    learners = plain_learners(model, stream, moments)
    twin = reference.OnlineMBBM(stream.k, learners, moments, edge=0.2, scales=scales, vote="argmax")
    assert_same_rounds(trace, run(stream, twin))


@pytest.mark.parametrize("booster", ["OzaBoost", "HoeffdingForest"])
@pytest.mark.parametrize("seed", SEEDS)
def test_baselines(seed, booster):
    stream = complete(random_stream(940 + seed, weighted=True))
    model = getattr(ew, booster)(committee(), 6, random_state=seed)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = RunningMoments(stream.counts[0])
    scales = model.parameters_.importance_scale.tolist()
    twin = getattr(reference, booster)(stream.k, plain_learners(model, stream, moments), moments, scales=scales)
    rounds = run(stream, twin, trace.uniforms.tolist() if booster == "OzaBoost" else None)
    assert trace.guesses.tolist() == [r.prediction for r in rounds]
    assert trace.votes.tolist() == [r.votes for r in rounds]


@pytest.mark.parametrize("name", ["car", "balance"])
def test_an_ensemble_of_three_libraries_on_data(name):
    """River's Hoeffding tree, scikit-learn's SGDClassifier and our forest: guesses as the plain loop makes them."""
    X, y = ew.datasets.load(name)
    order = np.random.default_rng(0).permutation(len(y))[:200]
    X, y = X[order], y[order]
    classes, codes = np.unique(y, return_inverse=True)
    nominal = [feature.categories is not None for feature in X.features]
    sizes = [len(feature.categories or ()) for feature in X.features]
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    stream = Stream(X.values, nominal, sizes, codes, classes.size, weights)
    model = ew.AdaBoostOLM([river_tree(), log_regression(), OWN], 8, random_state=2)
    trace = model.trace(X, y, sample_weight=weights)
    moments = RunningMoments(stream.counts[0])
    learners = plain_learners(model, stream, moments)
    for learner in learners[:2]:
        learner.columns = [(feature.name, feature.categories) for feature in X.features]
    twin = reference.AdaBoostOLM(
        stream.k,
        learners,
        moments,
        scales=model.parameters_.importance_scale.tolist(),
        loss="softmax",
        vote="probability",
        follow="vote",
        importance_power=model.importance_power,
        normalize_importance=True,
        weight_range=(0.0, 4.0),
        first_weight=0.1,
    )
    rounds = run(stream, twin, trace.uniforms[:, 0].tolist())
    assert trace.guesses.tolist() == [r.prediction for r in rounds]
    assert trace.votes.tolist() == [r.votes for r in rounds]
    alone = [np.mean(trace.votes[:, i] == codes) for i in range(8)]
    assert np.mean(trace.guesses == codes) > np.median(alone)


def test_one_against_rest_teaches_two_labels():
    """k boosters of two labels each: river's logistic regression, which knows no more than two, is at home there."""
    table, y = mixed_stream(120, k=3)
    model = ew.OneVsAllOLM([compose.SelectType(float) | linear_model.LogisticRegression(), OWN], 3, random_state=0)
    whole = model.prequential(table, y)
    assert np.mean(whole == y) > 0.4
    assert len({copied.seed for ensemble in model._ensembles for copied in ensemble.external.copies}) == 3


# The other games against plain Python


@pytest.mark.parametrize("booster", ["OnlineBMR", "AdaOLMR"])
@pytest.mark.parametrize("seed", SEEDS)
def test_label_sets(seed, booster):
    stream, Y = stream_of_sets(960 + seed)
    stream = complete(stream)
    settings = {"edge": 0.1} if booster == "OnlineBMR" else {"follow": "mean"}
    model = getattr(ew, booster)(committee(), 5, normalize_importance=False, random_state=seed, **settings)
    scores = model.prequential(stream.table(), Y, sample_weight=stream.weights)
    moments = RunningMoments(stream.counts[0])
    given = [stream.k, plain_learners(model, stream, moments), moments, ["distribution"] * 5]
    given.append(model.parameters_.importance_scale.tolist())
    if booster == "OnlineBMR":
        twin = reference.OnlineBMR(*given, loss_name="hinge", edge=0.1)
    else:
        twin = reference.AdaOLMR(*given, follow="mean")
        twin.alpha = [float(model._first_weight())] * 5
    for t in range(len(Y)):
        labels = set(np.flatnonzero(Y[t]).tolist())
        happened = twin.round(*stream.row(t), labels, weight=float(stream.weights[t]))
        np.testing.assert_allclose(scores[t], happened.scores, rtol=1e-7, atol=1e-9, err_msg=f"round {t}")
    assert_close(model.edges_, twin.edges())


BANDIT = {"weight_range": (0.01, 4.0), "cost_grain": 1e-6}


def ada_bandit_pair(seed: int, stream: Stream) -> tuple[ew.AdaBandit, reference.AdaBandit]:
    model = ew.AdaBandit(committee(), 5, exploration=0.2, random_state=seed, chunk_size=16, **BANDIT)
    model._begin(model._rows(stream.table(), stream.k).columns, stream.k)  # draws constants and seeds
    moments = RunningMoments(stream.counts[0])
    twin = reference.AdaBandit(
        stream.k,
        plain_learners(model, stream, moments),
        moments,
        scales=model.parameters_.importance_scale.tolist(),
        cost_clip=model.cost_clip,
        cost_grain=model.cost_grain,
        loss=model.loss,
        vote=model.vote,
        follow=model.follow,
        step=model.step,
        importance_power=model.importance_power,
        normalize_importance=model.normalize_importance,
        weight_range=model.weight_range,
        first_weight=model.first_weight,
    )
    return ew.AdaBandit(**model.get_params(deep=False)), twin


@pytest.mark.parametrize("seed", SEEDS)
def test_ada_bandit(seed):
    stream = complete(random_stream(980 + seed))
    model, twin = ada_bandit_pair(seed, stream)
    trace = model.trace(stream.table(), stream.y)
    assert_same_bandit_rounds(trace, replay(stream, twin, trace))
    assert_close(model.learner_weights_, twin.alpha)


def test_feedback_that_comes_late():
    """Five decisions, then their answers in the opposite order."""
    stream = complete(random_stream(990))
    model, twin = ada_bandit_pair(4, stream)
    table = stream.table()
    for first in range(0, 60, 5):
        waiting = []
        for t in range(first, first + 5):
            decision = model.decide(table[t : t + 1], classes=np.arange(stream.k))
            cast = decision.cast
            plain = twin.decide(*stream.row(t), float(cast.rates[0]), cast.uniforms[0].tolist())
            assert decision.label == plain["shown"]
            assert cast.votes[0].tolist() == plain["votes"]
            waiting.append((decision, plain, int(stream.y[t])))
        for decision, plain, y in reversed(waiting):
            model.feedback(decision, decision.label == y)
            twin.feedback(plain, plain["shown"] == y)
    assert_close(model.learner_weights_, twin.alpha)


class Outputs:
    """A plain regressor for each output."""

    def __init__(self, regressors: list[Any]) -> None:
        self.regressors = regressors

    def predict(self, numeric: Any, nominal: Any) -> np.ndarray:
        return np.array([one.value(numeric, nominal) for one in self.regressors])

    def update(self, numeric: Any, nominal: Any, target: np.ndarray, w: float) -> None:
        for one, y in zip(self.regressors, target, strict=True):
            one.update(numeric, nominal, float(y), w)


@pytest.mark.plain
def test_gradient_boosting():
    """Regressors of both libraries behind our ridge regression: an own copy for each of two outputs."""
    X, u = real_stream(90, missing=0.0)
    weights = np.random.default_rng(3).uniform(0.5, 1.5, len(u)) * (np.arange(len(u)) % 9 > 0)
    kinds = [(external.River, regression_tree), (external.Scikit, lambda: SGDRegressor(**STEP))]
    members = [ew.RidgeRegression(), *(make() for _, make in kinds)]
    model = ew.StreamingGradientBoostingRegressor(
        members, 3, loss="squared", learning_rate=0.3, chunk_size=32, random_state=5
    )
    predictions = model.prequential(X, u, sample_weight=weights)
    columns = [(feature.name, feature.categories) for feature in X.features]
    moments = RunningMoments(3)
    learners = [
        RidgeRegression(2, moments, (3, 3), members[0].regularization, members[0].clip),
        *(Outputs([kind(make(), 0, columns) for _ in range(2)]) for kind, make in kinds),
    ]
    numeric, nominal = X.values[:, :3], X.values[:, 3:].astype(int)
    loss = model._loss()
    gradient = lambda y, target: loss.gradient(y[None], target[None])[0]  # noqa: E731
    twin = reference.StreamingGradientBoosting(learners, model.learning_rates_, np.zeros(2), gradient, moments)
    for t in range(len(u)):
        happened = twin.round(numeric[t], nominal[t], u[t], float(weights[t]))
        np.testing.assert_allclose(predictions[t], happened.prediction, rtol=1e-7, atol=1e-8, err_msg=f"round {t}")


def regression_tree() -> Any:
    return tree.HoeffdingTreeRegressor(grace_period=20, leaf_prediction="mean")


# What every learner promises


def labels(**settings: Any) -> ew.AdaBoostOLM:
    return ew.AdaBoostOLM(committee(), 6, follow="draw", random_state=3, **settings)


def rankings(**settings: Any) -> ew.AdaOLMR:
    return ew.AdaOLMR(committee(), 5, random_state=3, **settings)


def bandits(**settings: Any) -> ew.AdaBandit:
    return ew.AdaBandit(committee(), 5, random_state=3, **settings)


def gradients(**settings: Any) -> ew.StreamingGradientBoostingClassifier:
    members = [ew.RidgeRegression(), regression_tree(), SGDRegressor(**STEP)]
    return ew.StreamingGradientBoostingClassifier(members, 3, random_state=3, **settings)


GAMES = {"labels": labels, "rankings": rankings, "bandits": bandits, "gradients": gradients}


def small_stream(game: str, n: int = 60) -> tuple[Table, np.ndarray]:
    stream = complete(random_stream(7, n=n))
    if game == "rankings":
        rng = np.random.default_rng(0)
        Y = (rng.random((n, stream.k)) < 0.3).astype(int)
        Y[np.arange(n), stream.y] = 1
        return stream.table(), Y
    return stream.table(), stream.y


def learned(model: Any, X: Table) -> Any:
    """Everything that can be seen of a model, what it would say included."""
    return [model_state(model), model.predict_proba(X[:12]).tolist()]


@pytest.mark.parametrize("game", GAMES)
def test_chunks_change_nothing(game):
    X, y = small_stream(game)
    seen = []
    for rows in (1, 7, len(y)):
        model = GAMES[game](chunk_size=rows)
        seen.append((model.prequential(X, y).tolist(), learned(model, X)))
    assert same(seen[0], seen[1])
    assert same(seen[0], seen[2])


@pytest.mark.parametrize("game", GAMES)
def test_calls_copies_and_predictions_change_nothing(game):
    """One call, and two with a prediction, a pickle and a deep copy in between."""
    X, y = small_stream(game)
    whole = GAMES[game]()
    guesses = whole.prequential(X, y)
    known = {} if game == "rankings" else {"classes": np.unique(y)}
    model = GAMES[game]()
    first = model.prequential(X[:40], y[:40], **known)
    model.predict(X[:20])
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model):
        rest = other.prequential(X[40:], y[40:])
        assert same(np.concatenate([first, rest]).tolist(), guesses.tolist())
        assert same(learned(other, X), learned(whole, X))


@pytest.mark.parametrize("game", GAMES)
def test_originals_are_never_taught(game):
    X, y = small_stream(game)
    model = GAMES[game]()
    before = pickle.dumps(model.estimator)
    model.prequential(X, y)
    assert pickle.dumps(model.estimator) == before


def test_seeds_are_drawn_for_every_copy_and_repeat():
    """Also those inside of pipelines and wrappers."""
    from river import ensemble
    from sklearn.neural_network import MLPClassifier

    X, y = small_stream("labels")
    bagging = ensemble.BaggingClassifier(river_tree(), n_models=2, seed=1)
    nested = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(
        ensemble.BaggingClassifier(linear_model.LogisticRegression(), n_models=2, seed=1)
    )
    numbers = Table(X.values[:, :2], [Feature("a"), Feature("b")])
    estimators = [bagging, nested, MLPClassifier((3,), random_state=1)]

    def run_of(seed: int) -> tuple[list[Any], list[Any]]:
        model = ew.AdaBoostOLM([*estimators, *estimators], 6, random_state=seed)
        guesses = model.prequential_proba(numbers, y)
        models = [copied.model for copied in model._ensemble.external.copies]
        seeds = [
            *(one.seed for one in models[::3]),
            *(one["OneVsRestClassifier"].classifier.seed for one in models[1::3]),
            *(one.random_state for one in models[2::3]),
        ]
        return seeds, guesses.tolist()

    seeds, guesses = run_of(4)
    assert len(set(seeds)) == 6
    assert run_of(4) == (seeds, guesses)
    other_seeds, other_guesses = run_of(5)
    assert not set(seeds) & set(other_seeds)
    assert guesses != other_guesses


def test_restarting_trees_leaves_foreign_learners_alone():
    """Labels change their meaning halfway: our trees begin anew, river's goes on as if nothing restarted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = ((X[:, 0] > 0) ^ (np.arange(900) > 450)).astype(int)
    votes = {}
    for drift in (None, "restart"):
        model = ew.AdaBoostOLM([river_tree(), ew.HoeffdingTree(50)], 3, drift=drift, random_state=0)
        votes[drift] = model.trace(X, y).votes
        assert {learner for _, learner in model.restarts_} <= {1, 2}
    assert model.restarts_
    np.testing.assert_array_equal(votes[None][:, 0], votes["restart"][:, 0])
    assert (votes[None][:, 1] != votes["restart"][:, 1]).any()


def test_a_booster_may_be_the_weak_learner_of_another():
    X, y = small_stream("labels", 40)
    inner = ew.AdaBoostOLM(OWN, 2)
    model = ew.AdaBoostOLM([inner, OWN], 2, random_state=0)
    guesses = model.prequential(X, y)
    assert not hasattr(inner, "classes_")
    (copied,) = model._ensemble.external.copies
    assert copied.model.rounds_ == 40
    assert guesses.tolist() == ew.AdaBoostOLM([inner, OWN], 2, random_state=0, chunk_size=9).prequential(X, y).tolist()


def test_only_our_own_bytes_are_counted():
    X, y = small_stream("labels")
    alone = ew.HoeffdingForest(OWN, 2, random_state=0).partial_fit(X, y)
    mixed = ew.HoeffdingForest([OWN, river_tree()], 2, random_state=0).partial_fit(X, y)
    assert 0 < mixed.nbytes < alone.nbytes + 1000


# How they read rows


def test_rows_as_either_library_reads_them():
    nominal = np.array([False, True, False])
    reader = RowReader.of(("a", "color", "b"), nominal, (("red", "green"),))
    numeric = np.array([[1.0, 2.0], [np.nan, -1.0]])
    codes = np.array([[1], [-1]])
    rows = reader.read(numeric, codes)
    assert rows.dicts == [{"a": 1.0, "color": "green", "b": 2.0}, {"b": -1.0}]
    np.testing.assert_array_equal(rows.matrix, [[1.0, 0.0, 1.0, 2.0], [np.nan, 0.0, 0.0, -1.0]])


def test_categories_that_come_up_later():
    """River meets them; scikit-learn, whose inputs are fixed, sees none of its categories."""
    reader = RowReader.of(("color",), np.array([True]), (("red", "green"),))
    wider = reader._replace(categories=(("red", "green", "blue"),))
    rows = wider.read(np.zeros((2, 0)), np.array([[2], [0]]))
    assert rows.dicts == [{"color": "blue"}, {"color": "red"}]
    np.testing.assert_array_equal(rows.matrix, [[0.0, 0.0], [1.0, 0.0]])

    X = np.array([["red"], ["green"]] * 10, object)
    y = np.array([0, 1] * 10)
    model = ew.AdaBoostOLM([river_tree(), log_regression(), OWN], 3, random_state=0).partial_fit(X, y)
    model.partial_fit(np.array([["blue"]] * 6, object), np.ones(6, int))
    assert model.predict(np.array([["red"], ["green"], ["blue"]], object)).tolist() == [0, 1, 1]
    assert model._ensemble.external.copies[0].model.predict_one({"color": "blue"}) == 1


def test_models_of_labels_alone_vote_for_them():
    """Neither predict_proba nor predict_proba_one: all on the label that they predict."""
    X, y = small_stream("labels")
    learners = [Perceptron(), multiclass.OneVsOneClassifier(linear_model.PAClassifier()), OWN]
    numbers = Table(X.values[:, :2], [Feature("a"), Feature("b")])
    model = ew.HoeffdingForest(learners, 3, random_state=0)
    model.partial_fit(numbers, y)
    for copied in model._ensemble.external.copies:
        p = np.empty(model.classes_.size)
        copied.predict_proba(model._ensemble.external.reader.read(numbers.values, np.zeros((len(y), 0), int)), 0, p)
        assert sorted(p)[-2:] == [0.0, 1.0]


# What is refused, and what is passed on


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ew.AdaBoostOLM(SGDRegressor(), 2), "SGDRegressor.* is a regressor: this booster needs a classifier"),
        (lambda: ew.AdaBandit(regression_tree(), 2), "is a regressor: this booster needs a classifier"),
        (lambda: ew.AdaBoostOLM(SGDClassifier, 2), "estimator=<class"),
        (lambda: ew.AdaBoostOLM([OWN, 3], 2), "estimator=3"),
        (
            lambda: ew.AdaOVA(river_tree(), 2),
            "HoeffdingTreeClassifier.*: a HoeffdingTree, of which every class has a group",
        ),
        (lambda: ew.BinBandit(river_tree(), 2), "of which every class has a group"),
        (lambda: ew.AdaBoostOLM(linear_model.LogisticRegression(), 2), "LogisticRegression.* tells two classes apart"),
        (
            lambda: ew.StreamingGradientBoostingClassifier(GaussianNB(), 2),
            "GaussianNB.* is a classifier: this booster needs a regressor",
        ),
        (lambda: ew.StreamingGradientBoostingClassifier(river_tree(), 2), "is a classifier"),
    ],
)
def test_what_cannot_be_a_member(make, told):
    X, y = mixed_stream(30, k=3, missing=0.0)
    model = make()
    with pytest.raises(ValueError, match=told):
        model.partial_fit(X, y)
    assert not hasattr(model, "rounds_")


def test_clusters_are_no_weak_learners():
    from sklearn.cluster import MiniBatchKMeans

    X, y = mixed_stream(30, missing=0.0)
    for model in (ew.AdaBoostOLM(MiniBatchKMeans(), 2), ew.StreamingGradientBoostingClassifier(MiniBatchKMeans(), 2)):
        with pytest.raises(ValueError, match="neither classifier nor regressor"):
            model.partial_fit(X, y)


@pytest.mark.parametrize("game", GAMES)
def test_missing_values_are_refused_before_anything_is_learned(game):
    """By scikit-learn's linear model; river's are not asked to take what is left out."""
    X, y = small_stream(game)
    holed = X.values.copy()
    numeric = next(j for j, feature in enumerate(X.features) if feature.categories is None)
    holed[50, numeric] = np.nan
    fresh = GAMES[game]()
    with pytest.raises(ValueError, match=r"missing value in row 50: estimator=SGD.* takes none"):
        fresh.partial_fit(Table(holed, X.features), y)
    assert not hasattr(fresh, "rounds_")
    model = GAMES[game]().partial_fit(X, y)
    before = learned(model, X)
    with pytest.raises(ValueError, match="missing value in row 50"):
        model.partial_fit(Table(holed, X.features), y)
    with pytest.raises(ValueError, match="missing value in row 50"):
        model.predict(Table(holed, X.features))
    assert same(learned(model, X), before)


class Failing(Perceptron):
    """Fails at a certain row."""

    def predict(self, X):
        if X[0, 0] == 100.0:
            raise RuntimeError("not today")
        return super().predict(X)


def test_errors_of_a_learner_name_it():
    X, y = small_stream("labels")
    values = X.values[:, :2].copy()
    values[20, 0] = 100.0
    numbers = Table(values, [Feature("a"), Feature("b")])
    with pytest.raises(ValueError, match="learner Failing: not today"):
        ew.AdaBoostOLM([OWN, Failing()], 2, random_state=0).prequential(numbers, y)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_who_says_nothing_votes_evenly():
    """Naive Bayes of scikit-learn has no probabilities before it has seen two rows of every class."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.array([0, 1] * 6)
    model = ew.HoeffdingForest(GaussianNB(), 1, random_state=0)
    for t in range(12):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        even = np.ptp(model.predict_proba(X)) == 0.0
        assert even == (t < 3)


def test_the_page_prints_what_it_shows(capsys):
    page = (Path(__file__).parent.parent / "docs" / "how-to" / "external-learners.md").read_text()
    ((example, shown),) = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "docs/how-to/external-learners.md", "exec"), {})
    assert capsys.readouterr().out == shown
