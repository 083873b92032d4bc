"""
What the theory says of a run
=============================

A booster measures the edge of each of its learners: 0 is guessing, 1 is never wrong, on the examples that the learner
was asked to care about. :func:`edgewise.watch` is ``prequential`` that looks at the model on the way.
"""

import matplotlib.pyplot as plt

import edgewise as ew

X, y = ew.datasets.shuffled(*ew.datasets.load("car"), seed=1)
model = ew.AdaBoostOLM(n_estimators=10, random_state=1)
course = ew.watch(model, X, y)

# %%
# The first two learners are linear, the others eager trees. Later learners get the examples that earlier ones found
# hard, so their edges are smaller.

figure, axes = plt.subplots(1, 2, figsize=(10, 4))
ew.plot.edges(course, ax=axes[0])
ew.plot.weights(course, ax=axes[1])

# %%
# OnlineMBBM knows how many mistakes are allowed: Theorem 2 holds for every run, with the excess that its learners
# showed.

majority = ew.OnlineMBBM(n_estimators=10, edge=0.2, random_state=1)
ew.plot.bound(ew.watch(majority, X, y))
print(majority.bound())
