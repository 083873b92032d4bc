"""Every algorithm of the five papers in plain Python, straight from the pseudocode: for reading, and for comparing.

Lists, dictionaries and loops; nothing here is fast. The compiled models of `edgewise` are tested against these, round
by round. Each module opens with a table from the paper's letters to the names used here.

| paper | algorithm | here |
|---|---|---|
| Jung, Goetz, Tewari 2017 | Algorithm 1, OnlineMBBM | `OnlineMBBM` |
| | potentials, (3) and (16) | `potential`, `zero_one_potential`, `potential_sum` |
| | Algorithm 2, Adaboost.OLM; losses of Appendix D | `AdaBoostOLM`, `surrogate_loss`, `cost_matrix` |
| | AdaOVA, Appendix E | `AdaBoostOLM` over learners `OneVsAllGroup` |
| Jung, Tewari 2018 | Algorithms 1 and 2, OnlineBMR | `OnlineBMR`, `potential_costs` |
| | Algorithms 1 and 3, Ada.OLMR | `AdaOLMR`, `logistic_costs` |
| | losses | `rank_loss`, `hinge_loss`, `logistic_loss` |
| Hu et al. 2017 | Algorithm 1, for smooth losses | `StreamingGradientBoosting` |
| | Algorithms 2 and 3, residual projection | `ResidualGradientBoosting` |
| Zhang, Jung, Tewari 2019 | Algorithms 1 and 2, BanditBBM | `BanditBBM` |
| | Algorithms 1 and 3, AdaBandit | `AdaBandit` |
| | what they are compared with (Chen, Lin, Lu 2014) | `BinBandit` |
| Mukherjee, Schapire 2010 | the OS strategy | `optimal_strategy` |
| | the adaptive algorithm, AdaBoost.MM | `adaboost_mm` |
| | what it is compared with | `adaboost_m1`, `adaboost_mh`, `samme` |
| | conditions of weak learning | module `conditions` |
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
(1, [2.0, 0.0, 0.0])
"""

from edgewise.reference.adaboost_olm import AdaBoostOLM, cost_matrix, surrogate_loss
from edgewise.reference.bandits import AdaBandit, BanditBBM, BinBandit
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
from edgewise.reference.ranking import AdaOLMR, OnlineBMR, RankingRound, potential_costs
from edgewise.reference.ranking_losses import hinge_loss, logistic_costs, logistic_loss, rank_loss
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
    "BinBandit",
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
    "cost_matrix",
    "hinge_loss",
    "logistic_costs",
    "logistic_loss",
    "optimal_strategy",
    "potential",
    "potential_costs",
    "potential_sum",
    "rank_loss",
    "samme",
    "surrogate_loss",
    "zero_one_potential",
]
