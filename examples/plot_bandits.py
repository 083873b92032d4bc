"""
Told only right or wrong
========================

A bandit shows one label and hears whether it was right; which label would have been right it never hears. This is
what that costs, on the Car data seen four times over in random order.
"""

import numpy as np

import edgewise as ew

X, y = ew.datasets.load("car")
rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), 4))
X, y = X[rows], y[rows]

models = {
    "told the label": ew.AdaBoostOLM(n_estimators=10, random_state=1),
    "AdaBandit": ew.AdaBandit(n_estimators=10, exploration=0.05, random_state=1),
    "BinBandit": ew.BinBandit(n_estimators=4, exploration=0.05, random_state=1),
}
right = {name: model.prequential(X, y) == y for name, model in models.items()}
ew.plot.learning_curves(right, title="Car four times, exploration .05")

# %%
# A decision by itself: the label, and how likely it was to be shown.

bandit = models["AdaBandit"]
decision = bandit.decide(X[:1])
bandit.feedback(decision, correct=bool(decision.label == y[0]))
print(decision.label, round(decision.propensity, 3))
