"""AdaBoost.M1: Freund and Schapire, "Experiments with a new boosting algorithm" (ICML 1996)."""

from __future__ import annotations

from edgewise.batch.adaptive import AdaptiveBooster


class AdaBoostM1(AdaptiveBooster):
    """AdaBoost.M1: asks of each learner a weighted error below 1/2, whatever the number of classes, and stops else.

    Every wrong label of an example costs the same, its weight D(i). `edges_` are 1 - 2 error, and `bounds_` the product
    of sqrt(1 - edge^2) = 2 sqrt(error (1 - error)), which the training error never exceeds. Parameters and attributes
    are those of `AdaBoostMM`. If the first learner already errs too much, it is kept alone.
    """
