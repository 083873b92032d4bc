"""
How sure, how often right
=========================

A probability of .8 should be right eight times out of ten. These are probabilities that were predicted before the row
was learned, so nothing is left out for testing.
"""

import matplotlib.pyplot as plt

import edgewise as ew

X, y = ew.datasets.shuffled(*ew.datasets.load("car"), seed=1)
softmax = ew.AdaBoostOLM(n_estimators=20, random_state=1)
hard = ew.AdaBoostOLM(n_estimators=20, vote="argmax", random_state=1)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4))
for ax, (name, model) in zip(axes, {"votes are probabilities": softmax, "votes are labels": hard}.items(), strict=True):
    probabilities = model.prequential_proba(X, y)
    ew.plot.reliability(probabilities, y, classes=model.classes_, ax=ax, title=name)
    likeliest = model.classes_[probabilities.argmax(axis=1)]
    print(f"{name}: right {(likeliest == y).mean():.3f}, sure {probabilities.max(axis=1).mean():.3f}")
