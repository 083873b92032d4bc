"""
Who learns faster?
==================

Four models go through the Car data. Each row is guessed, then learned, so every guess is about a row that the model
has not seen before. A point of a curve is the accuracy over the latest rows.
"""

from edgewise import AdaBoostOLM, HoeffdingForest, OnlineMBBM, OzaBoost, datasets, plot

X, y = datasets.shuffled(*datasets.load("car"), seed=1)

models = {
    "AdaBoostOLM": AdaBoostOLM(n_estimators=20, random_state=1),
    "OnlineMBBM": OnlineMBBM(n_estimators=20, edge=0.1, random_state=1),
    "OzaBoost": OzaBoost(n_estimators=20, random_state=1),
    "trees alone": HoeffdingForest(n_estimators=20, random_state=1),
}
right = {name: model.prequential(X, y) == y for name, model in models.items()}

# %%
# Each line's name stands at its end.

plot.learning_curves(right, title="Car, 20 learners")

# %%
# Over all rows:

for name, hits in right.items():
    print(f"{name:<12} {hits.mean():.3f}")
