"""All that a model file may name: a fixed table in code, from the name in the file to a class of this package.

A name that is not here is refused, and nothing is imported for it. To let a further class of the package be saved, add
it here; what it is made of must be values that `values` knows.
"""

from __future__ import annotations

import importlib
from typing import Any

# Models that `load` gives back, by family: the module of `edgewise.persist` that takes them apart.
ONLINE = {
    "AdaBandit": "edgewise.models.ada_bandit",
    "AdaBoostOLM": "edgewise.models.adaboost_olm",
    "AdaOLMR": "edgewise.models.rankers",
    "AdaOVA": "edgewise.models.adaboost_olm",
    "BanditBBM": "edgewise.models.bandit_bbm",
    "BinBandit": "edgewise.models.bin_bandit",
    "HoeffdingForest": "edgewise.models.baselines",
    "OneVsAllOLM": "edgewise.models.adaboost_olm",
    "OnlineBMR": "edgewise.models.rankers",
    "OnlineMBBM": "edgewise.models.online_mbbm",
    "OzaBoost": "edgewise.models.baselines",
    "StreamingGradientBoostingClassifier": "edgewise.models.streaming_gradient_boosting",
    "StreamingGradientBoostingRegressor": "edgewise.models.streaming_gradient_boosting",
}
BATCH = {
    "AdaBoostM1": "edgewise.batch.adaptive",
    "AdaBoostMH": "edgewise.batch.adaptive",
    "AdaBoostMM": "edgewise.batch.adaptive",
    "CostTree": "edgewise.batch.weak_learners",
    "OptimalStrategy": "edgewise.batch.optimal_strategy",
    "SAMME": "edgewise.batch.adaptive",
}
NETWORKS = {
    "StreamingNetworksClassifier": "edgewise.neural.streaming_networks",
    "StreamingNetworksRegressor": "edgewise.neural.streaming_networks",
}
MODELS = ONLINE | BATCH | NETWORKS

# Objects that are their parameters: learners and losses as settings, and sets to project onto. A tree that is given to
# a booster is a setting, too: the booster learns with copies that know nothing.
SETTINGS = {
    "AbsoluteLoss": "edgewise.theory.regression_losses",
    "Ball": "edgewise.theory.projections",
    "BinaryRelevance": "edgewise.learners.linear",
    "Box": "edgewise.theory.projections",
    "ConvolutionNetwork": "edgewise.neural.weak_networks",
    "CostTree": "edgewise.batch.weak_learners",
    "DenseNetwork": "edgewise.neural.weak_networks",
    "GivenVotes": "edgewise.learners.given_votes",
    "HingeLoss": "edgewise.theory.regression_losses",
    "HoeffdingTree": "edgewise.learners.hoeffding_tree",
    "HuberLoss": "edgewise.theory.regression_losses",
    "LabelMemory": "edgewise.learners.label_memory",
    "LogisticLoss": "edgewise.theory.regression_losses",
    "QuantileLoss": "edgewise.theory.regression_losses",
    "RegressionTree": "edgewise.learners.regression_tree",
    "RidgeRegression": "edgewise.learners.ridge",
    "SoftmaxLoss": "edgewise.theory.regression_losses",
    "SoftmaxRegression": "edgewise.learners.linear",
    "SquaredLoss": "edgewise.theory.regression_losses",
}
# Named tuples that are values of their own. The tuples of a booster's state have no name in a file: see `states`.
RECORDS = {
    "Bins": "edgewise.learners.cost_tree.binning",
    "Feature": "edgewise.data.table",
    "LogUniform": "edgewise.learners.ranges",
    "RegressionTreeParameters": "edgewise.learners.regression_tree",
    "Tree": "edgewise.learners.cost_tree.growing",
    "TreeParameters": "edgewise.learners.hoeffding_tree",
}


def class_named(name: Any, table: dict[str, str]) -> type[Any]:
    """The class that a file names; ValueError for a name that is not in the table."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"{str(name)[:80]!r} is not among the classes that a model file may name")
    return getattr(importlib.import_module(table[name]), name)


def name_of(value: Any, table: dict[str, str]) -> str | None:
    """The name in the table of a value's very class: subclasses have none."""
    kind = type(value)
    return kind.__name__ if table.get(kind.__name__) == kind.__module__ else None
