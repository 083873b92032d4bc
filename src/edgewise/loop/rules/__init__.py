"""The rules of the papers, one file each: how costs come from scores, importances from costs, and how weights move.

| rule                 | booster          | where                                                        |
|----------------------|------------------|--------------------------------------------------------------|
| `online_mbbm`        | `OnlineMBBM`     | Jung, Goetz and Tewari 2017, Algorithm 1                     |
| `adaboost_olm`       | `AdaBoostOLM`    | Jung, Goetz and Tewari 2017, Algorithm 2                     |
| `oza_boost`          | `OzaBoost`       | Oza 2005, Figure 2                                           |
| `uniform`            | `HoeffdingForest`| the learners alone; the place of a user's own rule           |
| `online_bmr`         | `OnlineBMR`      | Jung and Tewari 2018, Algorithm 2                            |
| `ada_olmr`           | `AdaOLMR`        | Jung and Tewari 2018, Algorithm 3                            |
| `bandit_bbm`         | `BanditBBM`      | Zhang, Jung and Tewari 2018, Algorithm 2                     |
| `ada_bandit`         | `AdaBandit`      | Zhang, Jung and Tewari 2018, Algorithm 3                     |
| `bin_bandit`         | `BinBandit`      | Chen, Lin and Lu 2014                                        |

`votes`, `drift` and `experts` are the parts that they share. The loops over examples and learners that call a rule are
`edgewise.loop.online_loop`, `ranking_loop` and `bandit_loop`; streaming gradient boosting is all in `gradient_loop`.
"""
