"""Every online model as an estimator of river: `learn_one`, `predict_one`, pipelines, progressive evaluation.

    from edgewise.river import AdaBoostOLM
    model = preprocessing.StandardScaler() | AdaBoostOLM(n_estimators=30, seed=1)

The classes have the names and the parameters of the core's; `.model` is the core model inside, with its edges, weights
and bounds. docs/how-to/river.md tells what happens to features and classes that come late.
"""

from __future__ import annotations

try:
    import river as _river  # noqa: F401
except ImportError as absent:
    raise ImportError('edgewise.river needs river: pip install "edgewise[river]"') from absent

import edgewise
from edgewise.river import kinds
from edgewise.river.adapter import Adapter, adapter
from edgewise.river.policy import BoostedPolicy

KINDS: dict[str, type[Adapter]] = {
    "AdaBandit": BoostedPolicy,
    "AdaBoostOLM": kinds.BoosterClassifier,
    "AdaOLMR": kinds.MultiLabelClassifier,
    "AdaOVA": kinds.BoosterClassifier,
    "BanditBBM": BoostedPolicy,
    "BinBandit": BoostedPolicy,
    "HoeffdingForest": kinds.BoosterClassifier,
    "OneVsAllOLM": kinds.OneVsAllClassifier,
    "OnlineBMR": kinds.MultiLabelClassifier,
    "OnlineMBBM": kinds.BoosterClassifier,
    "OzaBoost": kinds.BoosterClassifier,
    "StreamingGradientBoostingClassifier": kinds.GradientClassifier,
    "StreamingGradientBoostingRegressor": kinds.Regressor,
}
MODELS = {name: adapter(kind, getattr(edgewise, name)) for name, kind in KINDS.items()}
globals().update(MODELS)

__all__ = sorted(MODELS)
