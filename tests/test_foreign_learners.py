"""Learners of river and scikit-learn in one ensemble with ours: against plain Python, and what all learners promise."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

import edgewise as ew
from edgewise.learners.foreign_rows import RowReader
from edgewise.streams.table import Feature, Table
from tests.naive import bandit, boosters, foreign, ranking, sgb
from tests.naive.tree import Moments, Tree
from tests.small_streams import mixed_stream
from tests.state import model_state, same
from tests.test_bandit_twins import assert_same_rounds as assert_same_bandit_rounds
from tests.test_bandit_twins import replay
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


def plain_learners(model: Any, stream: Stream, moments: Moments, tree_class: type[Tree] = Tree) -> list[Any]:
    """The plain learner of each member of a started model, with the constants and seeds that the library drew."""
    drawn = model.parameters_
    copies = iter(model._ensemble.foreign.copies)
    made: list[Any] = []
    kinds = {
        tree.HoeffdingTreeClassifier: foreign.River,
        compose.Pipeline: foreign.RiverWithoutWeights,
        SGDClassifier: foreign.Scikit,
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
            tree_class(
                stream.k,
                *stream.counts,
                moments,
                grace=float(drawn.grace_period[i]),
                delta=float(drawn.split_confidence[i]),
                tie=float(drawn.tie_threshold[i]),
                leaf=estimator.leaf_prediction,
                features=list(range(len(stream.columns))),
            )
        )
    return made


# Single labels against plain Python

SEEDS = [pytest.param(0, marks=pytest.mark.plain), 1, 2]


@pytest.mark.parametrize("vote", ["probability", "argmax", "cost"])
@pytest.mark.parametrize("seed", SEEDS)
def test_adaboost_olm(seed, vote):
    stream = complete(random_stream(900 + seed, weighted=True))
    follow = "draw" if seed == 1 else "vote"
    settings = {"loss": "logistic", "vote": vote, "follow": follow}
    model = ew.AdaBoostOLM(committee(), 7, random_state=seed, chunk_size=16, **settings)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = Moments(stream.counts[0])
    twin = boosters.AdaBoostOLM(
        stream.k,
        plain_learners(model, stream, moments),
        moments,
        scales=model.parameters_.importance_scale.tolist(),
        power=0.5,
        normalize=True,
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
    moments = Moments(stream.counts[0])
    scales = model.parameters_.importance_scale.tolist()
    learners = plain_learners(model, stream, moments)
    twin = boosters.OnlineMBBM(stream.k, learners, moments, edge=0.2, scales=scales, vote="argmax")
    assert_same_rounds(trace, run(stream, twin))


@pytest.mark.parametrize("booster", ["OzaBoost", "HoeffdingForest"])
@pytest.mark.parametrize("seed", SEEDS)
def test_baselines(seed, booster):
    stream = complete(random_stream(940 + seed, weighted=True))
    model = getattr(ew, booster)(committee(), 6, random_state=seed)
    trace = model.trace(stream.table(), stream.y, sample_weight=stream.weights)
    moments = Moments(stream.counts[0])
    scales = model.parameters_.importance_scale.tolist()
    twin = getattr(boosters, booster)(stream.k, plain_learners(model, stream, moments), moments, scales=scales)
    rounds = run(stream, twin, trace.uniforms.tolist() if booster == "OzaBoost" else None)
    assert trace.guesses.tolist() == [r.guess for r in rounds]
    assert trace.votes.tolist() == [r.votes for r in rounds]


@pytest.mark.parametrize("name", ["car", "balance"])
def test_an_ensemble_of_three_libraries_on_data(name):
    """River's Hoeffding tree, scikit-learn's SGDClassifier and our forest: guesses as the plain loop makes them."""
    X, y = ew.datasets.load(name)
    order = np.random.default_rng(0).permutation(len(y))[:500]
    X, y = X[order], y[order]
    classes, codes = np.unique(y, return_inverse=True)
    nominal = [feature.categories is not None for feature in X.features]
    sizes = [len(feature.categories or ()) for feature in X.features]
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    stream = Stream(X.values, nominal, sizes, codes, classes.size, weights)
    model = ew.AdaBoostOLM([river_tree(), log_regression(), OWN], 8, random_state=2)
    trace = model.trace(X, y, sample_weight=weights)
    moments = Moments(stream.counts[0])
    learners = plain_learners(model, stream, moments)
    for learner in learners[:2]:
        learner.columns = [(feature.name, feature.categories) for feature in X.features]
    twin = boosters.AdaBoostOLM(
        stream.k,
        learners,
        moments,
        scales=model.parameters_.importance_scale.tolist(),
        loss="softmax",
        vote="probability",
        follow="vote",
        power=0.5,
        normalize=True,
        weight_range=(0.0, 4.0),
        first_weight=0.1,
    )
    rounds = run(stream, twin, trace.uniforms[:, 0].tolist())
    assert trace.guesses.tolist() == [r.guess for r in rounds]
    assert trace.votes.tolist() == [r.votes for r in rounds]
    alone = [np.mean(trace.votes[:, i] == codes) for i in range(8)]
    assert np.mean(trace.guesses == codes) > np.median(alone)


def test_one_against_rest_teaches_two_labels():
    """k boosters of two labels each: river's logistic regression, which knows no more than two, is at home there."""
    table, y = mixed_stream(120, k=3)
    model = ew.OneVsAllOLM([linear_model.LogisticRegression(), OWN], 3, random_state=0)
    whole = model.prequential(table, y)
    assert np.mean(whole == y) > 0.4
    assert len({copied.seed for ensemble in model._ensembles for copied in ensemble.foreign.copies}) == 3
