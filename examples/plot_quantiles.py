"""
Quantiles of a stream of numbers
================================

Streaming gradient boosting follows any convex loss. With the quantile loss it learns a level that a share of the
targets stays below. Each prediction was made before its row was learned. The loss has a kink, so it goes with
Algorithm 2, which needs a regularization; that draws predictions to 0, and the domain keeps the first ones within
reason. The shares come out about right; the curves are rough.
"""

import matplotlib.pyplot as plt
import numpy as np

import edgewise as ew
from edgewise.theory.projections import Box
from edgewise.theory.regression_losses import QuantileLoss

rng = np.random.default_rng(1)
x = rng.uniform(-3, 3, 6000)
y = np.sin(2 * x) + (0.1 + 0.15 * np.abs(x)) * rng.standard_normal(x.size)

figure, ax = plt.subplots(figsize=(8, 4))
ax.plot(x[-800:], y[-800:], ".", color="0.8", markersize=4)
for level in (0.1, 0.5, 0.9):
    loss = QuantileLoss(level, regularization=0.1, domain=Box(-3.0, 3.0))
    trees = ew.RegressionTree(grace_period=20, max_depth=4, smoothing=20.0)
    model = ew.StreamingGradientBoostingRegressor(trees, 10, loss=loss, random_state=1)
    guesses = model.prequential(x[:, None], y)
    print(f"level {level}: {np.mean(y[3000:] <= guesses[3000:]):.2f} of the targets are below")
    last = np.argsort(x[-800:])
    ax.plot(x[-800:][last], guesses[-800:][last], label=f"level {level}")
_ = ax.legend(frameon=False)
