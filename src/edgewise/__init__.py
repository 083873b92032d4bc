"""Boosting with guarantees: weak learners become strong ones, one example at a time."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

__version__ = "0.1.0"

# Name -> module. Resolved on first use, so that `import edgewise` and `edgewise --help` stay light.
_HOMES = {
    "AdaBandit": "edgewise.models.ada_bandit",
    "AdaBoostM1": "edgewise.batch.adaptive",
    "AdaBoostMH": "edgewise.batch.adaptive",
    "AdaBoostMM": "edgewise.batch.adaptive",
    "AdaBoostOLM": "edgewise.models.adaboost_olm",
    "AdaOLMR": "edgewise.models.rankers",
    "AdaOVA": "edgewise.models.adaboost_olm",
    "BanditBBM": "edgewise.models.bandit_bbm",
    "BinBandit": "edgewise.models.bin_bandit",
    "BinaryRelevance": "edgewise.learners.linear",
    "BoostingRule": "edgewise.models.boosting_rule",
    "ConvolutionNetwork": "edgewise.neural.weak_networks",
    "CostTree": "edgewise.batch.weak_learners",
    "DecisionLog": "edgewise.evaluation.decision_log",
    "DenseNetwork": "edgewise.neural.weak_networks",
    "HoeffdingForest": "edgewise.models.baselines",
    "HoeffdingTree": "edgewise.learners.hoeffding_tree",
    "LabelMarkovChain": "edgewise.learners.label_markov_chain",
    "LogUniform": "edgewise.learners.hoeffding_tree",
    "ModelFileError": "edgewise.persist.archive",
    "OneVsAllOLM": "edgewise.models.adaboost_olm",
    "OnlineBMR": "edgewise.models.rankers",
    "OnlineMBBM": "edgewise.models.online_mbbm",
    "OptimalStrategy": "edgewise.batch.optimal_strategy",
    "OzaBoost": "edgewise.models.baselines",
    "RegressionTree": "edgewise.learners.hoeffding_tree",
    "RidgeRegression": "edgewise.learners.linear",
    "SAMME": "edgewise.batch.adaptive",
    "SoftmaxRegression": "edgewise.learners.linear",
    "StreamingGradientBoostingClassifier": "edgewise.models.streaming_gradient_boosting",
    "StreamingGradientBoostingRegressor": "edgewise.models.streaming_gradient_boosting",
    "StreamingNetworksClassifier": "edgewise.neural.streaming_networks",
    "StreamingNetworksRegressor": "edgewise.neural.streaming_networks",
    "Table": "edgewise.data.table",
    "WeakLearner": "edgewise.learners.weak_learner",
    "as_table": "edgewise.data.table",
    "datasets": "edgewise.data.datasets",
    "load": "edgewise.persist",
    "off_policy": "edgewise.evaluation.off_policy",
    "plot": "edgewise.plot",
    "read": "edgewise.data.files",
    "read_log": "edgewise.evaluation.decision_log",
    "read_mulan": "edgewise.data.files",
    "stream": "edgewise.data.files",
    "watch": "edgewise.evaluation.prequential",
}

# Names of earlier releases, kept for one more.
_RENAMED = {"LabelMemory": "LabelMarkovChain"}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(f"edgewise.{name} is edgewise.{_RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'edgewise' has no attribute {name!r}")
    module = importlib.import_module(_HOMES[name])
    value = module if module.__name__.rpartition(".")[2] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
