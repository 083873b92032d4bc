"""
A stream that changes
=====================

Half way through, the columns of the Balance data change places: left becomes right, and what was learned is wrong.
With ``drift="restart"`` a tree begins anew when its recent error rises well above its long-run error.
"""

import numpy as np

import edgewise as ew

X, y = ew.datasets.load("balance")
rng = np.random.default_rng(1)
before, after = rng.integers(len(y), size=2000), rng.integers(len(y), size=2000)
values = np.concatenate([X.values[before], X.values[after][:, [2, 3, 0, 1]]])
labels = np.concatenate([y[before], y[after]])

right = {}
for name, drift in {"drift=None": None, 'drift="restart"': "restart"}.items():
    model = ew.AdaBoostOLM(n_estimators=20, drift=drift, random_state=1)
    right[name] = model.prequential(values, labels) == labels
    print(f"{name:<16} before {right[name][:2000].mean():.3f}, after {right[name][2000:].mean():.3f}")

# %%
# The change comes at row 2,000.

ax = ew.plot.learning_curves(right, title="Balance, turned around at row 2,000")
_ = ax.axvline(2000, color="0.7", linewidth=1, zorder=0)
