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

from edgewise.models import (
    ada_bandit,
    ada_olmr,
    adaboost_olm,
    bandit_bbm,
    bin_bandit,
    hoeffding_forest,
    one_vs_all,
    online_bmr,
    online_mbbm,
    oza_boost,
    streaming_gradient_boosting,
)
from edgewise.river.adapter import Adapter, adapter
from edgewise.river.classifier import BoosterClassifier, GradientClassifier, OneVsAllClassifier
from edgewise.river.multi_label import StreamingMultiLabelClassifier
from edgewise.river.policy import BoostedPolicy
from edgewise.river.regressor import StreamingRegressor

KINDS: dict[type, type[Adapter]] = {
    adaboost_olm.AdaBoostOLM: BoosterClassifier,
    one_vs_all.AdaOVA: BoosterClassifier,
    hoeffding_forest.HoeffdingForest: BoosterClassifier,
    one_vs_all.OneVsAllOLM: OneVsAllClassifier,
    online_mbbm.OnlineMBBM: BoosterClassifier,
    oza_boost.OzaBoost: BoosterClassifier,
    streaming_gradient_boosting.StreamingGradientBoostingClassifier: GradientClassifier,
    streaming_gradient_boosting.StreamingGradientBoostingRegressor: StreamingRegressor,
    ada_olmr.AdaOLMR: StreamingMultiLabelClassifier,
    online_bmr.OnlineBMR: StreamingMultiLabelClassifier,
    ada_bandit.AdaBandit: BoostedPolicy,
    bandit_bbm.BanditBBM: BoostedPolicy,
    bin_bandit.BinBandit: BoostedPolicy,
}
MODELS = {core.__name__: adapter(kind, core) for core, kind in KINDS.items()}
globals().update(MODELS)

__all__ = sorted(MODELS)
