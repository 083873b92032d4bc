"""A small model of every kind that can be saved, how each learns, and what it says: for the tests of files."""

from __future__ import annotations

import numpy as np

import edgewise as ew
from edgewise.data.table import Feature, Table
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.models.gradient_stream import GradientStream
from edgewise.models.stream_bandit import StreamBandit
from edgewise.models.stream_ranker import StreamRanker
from edgewise.theory.projections import Ball, Box
from edgewise.theory.regression_losses import HuberLoss, LogisticLoss, SquaredLoss

TREE = ew.HoeffdingTree(grace_period=(5, 9), tie_threshold=0.5, leaf_prediction="adaptive", max_features=0.7)
WARM = ew.HoeffdingTree(grace_period=5, tie_threshold=0.5, leaf_prediction="mixed", warm_start=True)
FEW = 3

MODELS = {
    "AdaBoostOLM": lambda: ew.AdaBoostOLM(n_estimators=FEW, random_state=1),
    "AdaBoostOLM, drift": lambda: ew.AdaBoostOLM(n_estimators=4, drift="restart", random_state=1),
    "AdaBoostOLM, paper": lambda: ew.AdaBoostOLM.preset(
        "paper", n_estimators=FEW, random_state=np.random.Generator(np.random.Philox(3))
    ),
    "AdaBoostOLM, list": lambda: ew.AdaBoostOLM(
        [TREE, TREE, ew.BinaryRelevance(), ew.LabelMarkovChain(0.9), WARM], 5, follow="draw", random_state=1
    ),
    "AdaBoostOLM, threads": lambda: ew.AdaBoostOLM(
        [ew.SoftmaxRegression(), TREE, WARM], 5, chunk_size=8, n_jobs=2, random_state=1
    ),
    "AdaBoostOLM, single experts": lambda: ew.AdaBoostOLM(
        [ew.SoftmaxRegression(), TREE, WARM], 5, follow="draw", single_experts=True, random_state=1
    ),
    "AdaOVA": lambda: ew.AdaOVA(n_estimators=2, random_state=1),
    "OneVsAllOLM": lambda: ew.OneVsAllOLM(n_estimators=2, random_state=1),
    "OnlineMBBM": lambda: ew.OnlineMBBM(TREE, FEW, random_state=1),
    "OnlineMBBM, cost": lambda: ew.OnlineMBBM(WARM, FEW, vote="cost", edge=0.2, random_state=1),
    "OzaBoost": lambda: ew.OzaBoost(TREE, FEW, random_state=1),
    "HoeffdingForest": lambda: ew.HoeffdingForest(TREE, np.int64(FEW), random_state=np.int32(1)),
    "AdaOLMR": lambda: ew.AdaOLMR(n_estimators=FEW, random_state=1),
    "OnlineBMR": lambda: ew.OnlineBMR(n_estimators=FEW, random_state=1),
    "OnlineBMR, rank": lambda: ew.OnlineBMR(WARM, FEW, loss="rank", vote=["label"], random_state=1),
    "AdaBandit": lambda: ew.AdaBandit(n_estimators=FEW, exploration=0.2, random_state=1),
    "BanditBBM": lambda: ew.BanditBBM(WARM, FEW, exploration=0.2, max_pending=4, random_state=1),
    "BinBandit": lambda: ew.BinBandit(n_estimators=2, exploration="decaying", random_state=1),
    "Regressor": lambda: ew.StreamingGradientBoostingRegressor(
        [ew.RidgeRegression(), ew.RegressionTree(grace_period=5, least_gain=0.1, max_features=0.7)], FEW, random_state=1
    ),
    "Regressor, residual": lambda: ew.StreamingGradientBoostingRegressor(
        ew.RidgeRegression(),
        FEW,
        loss=SquaredLoss(0.1, Box(np.array([-50.0, -5.0]), 50.0)),
        rule="residual",
        final="average",
    ),
    "Regressor, threads": lambda: ew.StreamingGradientBoostingRegressor(
        [ew.RidgeRegression(), ew.RegressionTree(grace_period=5, least_gain=0.1, max_features=0.7)],
        5,
        chunk_size=8,
        n_jobs=2,
        random_state=1,
    ),
    "Regressor, huber": lambda: ew.StreamingGradientBoostingRegressor(n_estimators=FEW, loss=HuberLoss(2.0)),
    "Classifier": lambda: ew.StreamingGradientBoostingClassifier(n_estimators=FEW, random_state=1),
    "Classifier, ball": lambda: ew.StreamingGradientBoostingClassifier(
        n_estimators=2, loss=LogisticLoss(0.0, Ball(3.0)), random_state=1
    ),
    "AdaBoostMM": lambda: ew.AdaBoostMM(ew.CostTree(4), FEW, np.random.RandomState(1), weighting="loss"),
    "AdaBoostM1": lambda: ew.AdaBoostM1(n_estimators=FEW),
    "AdaBoostMH": lambda: ew.AdaBoostMH(ew.CostTree(3, categorical_features=[0]), FEW),
    "SAMME": lambda: ew.SAMME(n_estimators=FEW),
    "OptimalStrategy": lambda: ew.OptimalStrategy(n_estimators=FEW, edge=[0.1, 0.2, 0.1], loss="exponential"),
    "CostTree": lambda: ew.CostTree(6),
}
NETWORKS = {
    "NetworksClassifier": lambda: ew.StreamingNetworksClassifier(FEW, batch_size=8),
    "NetworksRegressor": lambda: ew.StreamingNetworksRegressor(
        2, estimator=ew.ConvolutionNetwork((1, 2, 2), 2, 2, 1), rule="residual", batch_size=8
    ),
}


def is_batch(model) -> bool:
    return not hasattr(model, "partial_fit")


def rows(model, n: int, seed: int) -> Table:
    """Rows of the columns that a model was started with, else of two numeric and two nominal ones."""
    features = features_of(model)
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, len(features)))
    for column, feature in enumerate(features):
        if feature.categories is not None:
            values[:, column] = rng.integers(0, max(1, len(feature.categories)), n) if feature.categories else np.nan
    if not isinstance(model, ew.StreamingNetworksClassifier | ew.StreamingNetworksRegressor):
        values[rng.random(values.shape) < 0.05] = np.nan
    return Table(values, features)


def features_of(model) -> tuple[Feature, ...]:
    for name in ("features_", "_features"):
        if hasattr(model, name):
            return getattr(model, name)
    if hasattr(model, "_columns"):
        from edgewise.persist.online import features_of

        return features_of(model)
    if isinstance(model, ew.StreamingNetworksRegressor):
        return tuple(Feature(f"x{j}") for j in range(4))
    nominal = [Feature("color", ("red", "green", "blue")), Feature("size", ("S", "L"))]
    return (Feature("weight"), Feature("length"), *nominal)


def targets(model, table: Table, seed: int):
    """Labels, label sets or numbers that the rows tell something of."""
    rng = np.random.default_rng(seed + 1)
    hidden = np.nan_to_num(table.values).sum(axis=1) + 0.3 * rng.normal(size=len(table))
    if isinstance(model, StreamRanker):
        k = model.labels_.size if hasattr(model, "labels_") else 4
        relevant = (hidden[:, None] + rng.normal(size=(len(table), k)) > np.arange(k)).astype(int)
        return relevant
    if isinstance(model, ew.StreamingNetworksRegressor):
        return hidden
    if isinstance(model, GradientStream) and not isinstance(model, ew.StreamingGradientBoostingClassifier):
        return hidden if model.final == "last" else np.stack([hidden, -hidden], axis=1)
    classes = getattr(model, "classes_", np.array(["no", "perhaps", "yes"]))
    codes = np.clip(np.floor(hidden / 2.0 + classes.size / 2.0), 0, classes.size - 1).astype(int)
    return classes[codes]


def learn(model, n: int, seed: int):
    """Let a model learn n rows; a bandit is also left with decisions that wait. Gives the model."""
    table = rows(model, n, seed)
    y = targets(model, table, seed)
    if is_batch(model):
        return model.fit(table, y)
    if isinstance(model, StreamRanker | GradientStream | StreamBandit) or hasattr(model, "prequential"):
        started = hasattr(model, "classes_")
        classes = {"classes": ["no", "perhaps", "yes"]} if _has_classes(model) and not started else {}
        model.partial_fit(table, y, **classes)
    if isinstance(model, StreamBandit):
        decisions = model.decide_many(rows(model, 3, seed + 7))
        model.decide_many(rows(model, 2, seed + 8))
        model.feedback(decisions[1], correct=True)
    return model


def says(model, seed: int, n: int = 12) -> list[np.ndarray]:
    """What a model says of rows, and of further rows while it learns them."""
    table = rows(model, n, seed)
    y = targets(model, table, seed)
    said = [model.predict(table)]
    if hasattr(model, "predict_proba"):
        said.append(model.predict_proba(table))
    if is_batch(model):
        return said
    said.append(np.asarray(model.prequential(table, y)))
    if isinstance(model, StreamBandit):
        said.append(np.array([model.feedback(decision, decision.id % 2 == 0) for decision in model.pending_]))
    return [*said, model.predict(table)]


def given_votes():
    """A booster of votes that come with the rows, and rows for it."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 40)
    votes = np.where(rng.random((40, FEW)) < 0.6, y[:, None], rng.integers(0, 3, (40, FEW))).astype(float)
    return ew.OnlineMBBM(PrecomputedVotes(), FEW), votes, y


def _has_classes(model) -> bool:
    regressors = (StreamRanker, ew.StreamingGradientBoostingRegressor, ew.StreamingNetworksRegressor)
    return not isinstance(model, regressors)
