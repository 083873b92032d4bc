"""Boosting with guarantees: weak learners become strong ones, one example at a time."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# Name -> module. Resolved on first use, so that `import edgewise` and `edgewise --help` stay light.
_HOMES = {
    "AdaBandit": "edgewise.boosting.ada_bandit",
    "AdaBoostM1": "edgewise.batch.adaboost_m1",
    "AdaBoostMH": "edgewise.batch.adaboost_mh",
    "AdaBoostMM": "edgewise.batch.adaboost_mm",
    "AdaBoostOLM": "edgewise.boosting.adaboost_olm",
    "AdaOLMR": "edgewise.boosting.ada_olmr",
    "AdaOVA": "edgewise.boosting.one_vs_all",
    "BanditBBM": "edgewise.boosting.bandit_bbm",
    "BinBandit": "edgewise.boosting.bin_bandit",
    "BinaryRelevance": "edgewise.learners.linear",
    "BoostingRule": "edgewise.boosting.boosting_rule",
    "ConvolutionNetwork": "edgewise.neural.weak_networks",
    "CostTree": "edgewise.batch.cost_tree",
    "DecisionLog": "edgewise.evaluation.decision_log",
    "DenseNetwork": "edgewise.neural.weak_networks",
    "HoeffdingForest": "edgewise.boosting.hoeffding_forest",
    "HoeffdingTree": "edgewise.learners.hoeffding_tree",
    "LabelMemory": "edgewise.learners.label_memory",
    "LogUniform": "edgewise.learners.ranges",
    "ModelFileError": "edgewise.saving.archive",
    "OneVsAllOLM": "edgewise.boosting.one_vs_all",
    "OnlineBMR": "edgewise.boosting.online_bmr",
    "OnlineMBBM": "edgewise.boosting.online_mbbm",
    "OptimalStrategy": "edgewise.batch.optimal_strategy",
    "OzaBoost": "edgewise.boosting.oza_boost",
    "RegressionTree": "edgewise.learners.regression_tree",
    "RidgeRegression": "edgewise.learners.ridge",
    "SAMME": "edgewise.batch.samme",
    "SoftmaxRegression": "edgewise.learners.linear",
    "StreamingGradientBoostingClassifier": "edgewise.boosting.streaming_gradient_boosting",
    "StreamingGradientBoostingRegressor": "edgewise.boosting.streaming_gradient_boosting",
    "StreamingNetworksClassifier": "edgewise.neural.streaming_networks",
    "StreamingNetworksRegressor": "edgewise.neural.streaming_networks",
    "Table": "edgewise.streams.table",
    "WeakLearner": "edgewise.learners.weak_learner",
    "as_table": "edgewise.streams.table",
    "datasets": "edgewise.streams.datasets",
    "load": "edgewise.saving.models",
    "off_policy": "edgewise.evaluation.off_policy",
    "plot": "edgewise.plot",
    "read": "edgewise.streams.files",
    "read_log": "edgewise.evaluation.decision_log",
    "read_mulan": "edgewise.streams.mulan",
    "stream": "edgewise.streams.files",
    "watch": "edgewise.evaluation.watching",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'edgewise' has no attribute {name!r}")
    module = importlib.import_module(_HOMES[name])
    value = module if module.__name__.rpartition(".")[2] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
