"""The compiled rankers against their pseudocode, row by row.

Labels of one row come with equal importance, so ties between labels and between splits are more common than for single
labels: about one stream in twenty has one that only the last bits of a sum decide. Seeds are of streams without.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise import reference
from edgewise.reference import RunningMoments
from edgewise.reference import linear as plain
from edgewise.reference.ranking import LabelCurves
from tests.test_twin_boosters import assert_close
from tests.test_twin_tree import Stream, assert_same_structure, random_stream


def stream_of_sets(seed: int) -> tuple[Stream, np.ndarray]:
    """Weighted rows with label sets that follow their features; some have none or all labels."""
    stream = random_stream(seed, weighted=True, n=70)
    rng = np.random.default_rng(seed + 7)
    Y = rng.random((70, stream.k)) < 0.3
    Y[np.arange(70), stream.y] = True
    lone = rng.random(70) < 0.06
    Y[lone] = rng.random((lone.sum(), 1)) < 0.5
    return stream, Y.astype(int)


def plain_tree(
    stream: Stream, moments: RunningMoments, parameters: Any, i: int, settings: dict[str, Any]
) -> reference.HoeffdingTree:
    used = [f for f, column in enumerate(stream.columns) if parameters.features[i, column]]
    return reference.HoeffdingTree(
        stream.k,
        *stream.counts,
        moments,
        grace_period=float(parameters.grace_period[i]),
        split_confidence=float(parameters.split_confidence[i]),
        tie_threshold=float(parameters.tie_threshold[i]),
        leaf_prediction=settings["leaf_prediction"],
        features=used,
        warm_start=settings.get("warm_start", False),
        nominal_splits=settings.get("nominal_splits", "multiway"),
    )


def plain_learners(model: Any, stream: Stream, moments: RunningMoments) -> list[Any]:
    """The plain learner of each member, with the constants that the library drew."""
    made: list[Any] = []
    for i, member in enumerate(model._members()):
        if isinstance(member, ew.HoeffdingTree):
            made.append(plain_tree(stream, moments, model.parameters_, i, member.get_params()))
        elif isinstance(member, ew.BinaryRelevance):
            made.append(plain.BinaryRelevance(stream.k, moments))
        else:
            made.append(plain.SoftmaxRegression(stream.k, moments))
    return made


def tree(seed: int) -> ew.HoeffdingTree:
    return ew.HoeffdingTree(
        grace_period=(1, 6),
        split_confidence=(0.05, 0.9),
        tie_threshold=(0.1, 0.9),
        leaf_prediction=("majority", "naive_bayes", "adaptive")[seed % 3],
        importance_scale=(2.0, 12.0),
        max_features=0.8,
    )


def compare(model: Any, make: Any, stream: Stream, Y: np.ndarray, forms: list[str], seed: int) -> Any:
    """Every row through both, the state compared after each; the plain booster."""
    uniforms = iter(np.random.default_rng(seed).spawn(2)[1].random(len(Y)))
    draws = getattr(model, "follow", "") == "draw"
    table, twin, curves = stream.table(), None, LabelCurves(stream.k)
    for t in range(len(Y)):
        labels = set(np.flatnonzero(Y[t]).tolist())
        weight = float(stream.weights[t])
        learned = weight > 0.0 and 0 < len(labels) < stream.k
        if twin is None:
            # the first row is there to make the model draw its constants
            probe = type(model)(**model.get_params(deep=False))
            probe.partial_fit(table[:1], Y[:1])
            moments = RunningMoments(stream.counts[0])
            learners = plain_learners(probe, stream, moments)
            twin = make(stream.k, learners, moments, forms, probe.parameters_.importance_scale.tolist())
            twin.normalize_importance = model.normalize_importance
        numeric, nominal = stream.row(t)
        sure = twin.decision_function(numeric, nominal)
        if t:
            assert_close(model.decision_function(table[t : t + 1])[0], sure)
            assert_close(model.predict_proba(table[t : t + 1])[0], curves.predict_proba(sure))
        round_ = twin.round(numeric, nominal, labels, next(uniforms) if learned and draws else 0.0, weight)
        if learned:
            curves.update(sure, labels, weight)
        scores = model.prequential(table[t : t + 1], Y[t : t + 1], sample_weight=stream.weights[t : t + 1])
        assert_close(scores[0], round_.scores)
        assert_close(model.learner_weights_, twin.alpha)
        assert_close(model.edges_, twin.edges())
        assert model.rank_loss_ == pytest.approx(twin.loss, rel=1e-9, abs=1e-12)
    assert model.rounds_ == twin.t > 30
    assert model.skipped_ == (np.isin(Y.sum(axis=1), (0, stream.k))).sum()
    for i, learner in enumerate(twin.learners):
        if isinstance(learner, reference.HoeffdingTree):
            assert_same_structure(model.structure(i), learner.structure(), stream.columns)
    return twin


SEEDS = [pytest.param(0, marks=pytest.mark.plain), 1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("loss", "vote"), [("rank", "label"), ("hinge", "distribution"), ("hinge", "set")])
def test_online_bmr_is_algorithm_2(seed, loss, vote):
    stream, Y = stream_of_sets(320 + seed)
    n = 1 + seed % 4
    model = ew.OnlineBMR(tree(seed), n, edge=0.15, loss=loss, vote=vote, normalize_importance=False, random_state=seed)

    def make(*args: Any) -> reference.OnlineBMR:
        return reference.OnlineBMR(*args, loss_name=loss, edge=0.15)

    twin = compare(model, make, stream, Y, [vote] * n, seed)
    assert_close(model._ensemble.committee.excess, twin.excess)
    assert model.bound().value == pytest.approx(twin.start + sum(twin.excess), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("follow", "vote"), [("draw", "distribution"), ("mean", "label"), ("best", "set")])
def test_ada_olmr_is_algorithm_3(seed, follow, vote):
    stream, Y = stream_of_sets(400 + seed)
    n = 2 + seed % 5
    model = ew.AdaOLMR(tree(seed), n, vote=vote, follow=follow, normalize_importance=False, random_state=seed)

    def make(*args: Any) -> reference.AdaOLMR:
        return reference.AdaOLMR(*args, follow=follow)

    twin = compare(model, make, stream, Y, [vote] * n, seed)
    assert_close(model.expert_losses_, twin.losses)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("booster", ["bmr", "olmr"])
def test_learners_of_every_kind_and_format_in_one_ensemble(seed, booster):
    """Softmax regression votes a distribution, logistic regressions a set, one tree a label, one its distribution.

    Importances are normalized.
    """
    stream, Y = stream_of_sets(520 + seed)
    kinds = [ew.SoftmaxRegression(), ew.BinaryRelevance(), tree(seed), tree(seed)]
    forms = ["distribution", "set", "label", "distribution"]
    if booster == "bmr":
        model: Any = ew.OnlineBMR(kinds, 4, edge=0.1, vote=forms, random_state=seed)
        compare(model, lambda *a: reference.OnlineBMR(*a, loss_name="hinge", edge=0.1), stream, Y, forms, seed)
    else:
        model = ew.AdaOLMR(kinds, 4, vote=forms, random_state=seed)
        compare(model, lambda *a: reference.AdaOLMR(*a, follow="draw"), stream, Y, forms, seed)


def test_the_streams_make_trees_split_between_labels_of_one_row():
    """Else the twin tests would not see the case that the second label of a row meets a tree that has just split."""
    split_within = 0
    for seed in range(6):
        stream, Y = stream_of_sets(300 + seed)
        model = ew.OnlineBMR(tree(seed), 3, random_state=seed)
        model.partial_fit(stream.table()[:1], Y[:1])
        moments = RunningMoments(stream.counts[0])
        learner = plain_tree(stream, moments, model.parameters_, 1, tree(seed).get_params())
        for t in range(len(Y)):
            numeric, nominal = stream.row(t)
            learner.predict_proba(numeric, nominal)
            moments.update(numeric)
            labels = np.flatnonzero(Y[t])
            for place, y in enumerate(labels):
                before = learner.nodes
                learner.update_set(numeric, nominal, {int(y)}, [3.0] * stream.k)
                split_within += learner.nodes > before and place < len(labels) - 1
    assert split_within > 5
