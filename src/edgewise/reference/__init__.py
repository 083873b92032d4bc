"""Every algorithm of the five papers in plain Python, straight from the pseudocode: for reading, and for comparing.

Lists, dictionaries and loops; nothing here is fast. The compiled models of `edgewise` are tested against these, round
by round. Each module opens with a table from the paper's letters to the names used here.

| paper | algorithm | here |
|---|---|---|
| Jung, Goetz, Tewari 2017 | Algorithm 1, OnlineMBBM | `OnlineMBBM` |
| | potentials, (3) and (16) | `potential`, `zero_one_potential`, `potential_sum` |
| | Algorithm 2, Adaboost.OLM; losses of Appendix D | `AdaBoostOLM`; in its module `surrogate_loss`, `cost_matrix` |
| | AdaOVA, Appendix E | `AdaBoostOLM` over learners `OneVsAllGroup` |
| Jung, Tewari 2018 | Algorithms 1 and 2, OnlineBMR | `OnlineBMR` |
| | Algorithms 1 and 3, Ada.OLMR | `AdaOLMR` |
| | losses and their gradient | module `ranking_losses` |
| Hu et al. 2017 | Algorithm 1, for smooth losses | `StreamingGradientBoosting` |
| | Algorithms 2 and 3, residual projection | `ResidualGradientBoosting` |
| Zhang, Jung, Tewari 2019 | Algorithms 1 and 2, BanditBBM | `BanditBBM` |
| | Algorithms 1 and 3, AdaBandit | `AdaBandit` |
| | what they are compared with (Chen, Lin, Lu 2014) | `bandits.BinBandit` |
| Mukherjee, Schapire 2010 | the OS strategy | `optimal_strategy` |
| | the adaptive algorithm, AdaBoost.MM | `adaboost_mm` |
| | what it is compared with | `adaboost_m1`, `adaboost_mh`, `samme` |
| Oza 2005 | online boosting | `OzaBoost` |
| Domingos, Hulten 2000 | the Hoeffding tree, alone and side by side | `HoeffdingTree`, `HoeffdingForest` |

Further weak learners are in the modules `linear`, `regression_tree` and `cost_tree`.

>>> from edgewise.reference import AdaBoostOLM, HoeffdingTree, RunningMoments
>>> moments = RunningMoments(n_numeric=1)
>>> trees = [HoeffdingTree(2, 1, 0, moments, grace_period=5.0) for _ in range(3)]
>>> booster = AdaBoostOLM(2, trees, moments)
>>> for t in range(40):
...     played = booster.round(numeric=[t % 10], nominal=[], y=int(t % 10 > 4), uniform=0.5)
>>> played.prediction, [round(alpha, 2) for alpha in booster.alpha]
(1, [2.0, -1.17, -0.43])
"""

from edgewise.reference.adaboost_olm import AdaBoostOLM
from edgewise.reference.bandits import AdaBandit, BanditBBM
from edgewise.reference.baselines import HoeffdingForest, OneVsAllGroup, OzaBoost
from edgewise.reference.batch import (
    BatchRound,
    adaboost_m1,
    adaboost_mh,
    adaboost_mm,
    optimal_strategy,
    samme,
)
from edgewise.reference.hoeffding_tree import HoeffdingTree
from edgewise.reference.learner import Round, RunningMoments
from edgewise.reference.online_mbbm import OnlineMBBM, potential, potential_sum, zero_one_potential
from edgewise.reference.ranking import AdaOLMR, OnlineBMR, RankingRound
from edgewise.reference.streaming_gradient_boosting import (
    GradientRound,
    ResidualGradientBoosting,
    StreamingGradientBoosting,
)

__all__ = [
    "AdaBandit",
    "AdaBoostOLM",
    "AdaOLMR",
    "BanditBBM",
    "BatchRound",
    "GradientRound",
    "HoeffdingForest",
    "HoeffdingTree",
    "OneVsAllGroup",
    "OnlineBMR",
    "OnlineMBBM",
    "OzaBoost",
    "RankingRound",
    "ResidualGradientBoosting",
    "Round",
    "RunningMoments",
    "StreamingGradientBoosting",
    "adaboost_m1",
    "adaboost_mh",
    "adaboost_mm",
    "optimal_strategy",
    "potential",
    "potential_sum",
    "samme",
    "zero_one_potential",
]
