"""A weak learner of your own in compiled Python: the nearest centroid, boosted alone and together with trees."""

from typing import NamedTuple

import numpy as np

import edgewise as ew
from edgewise.theory.losses import softmax


class Centroids(NamedTuple):
    """What the learners know: for each learner and label a mean, and the share of each category."""

    sharpness: np.ndarray  # [learner]
    weight: np.ndarray  # [learner, label]
    mean: np.ndarray  # [learner, label, numeric column]
    share: np.ndarray  # [learner, label, nominal column, category]

    def predict_proba(self, i, x, p):
        for r in range(p.size):
            p[r] = 0.0
            for f in range(x.numeric.size):
                if x.variances[f] > 0.0 and not np.isnan(x.numeric[f]):
                    p[r] -= self.sharpness[i] * (x.numeric[f] - self.mean[i, r, f]) ** 2 / x.variances[f]
            for c in range(x.nominal.size):
                if x.nominal[c] >= 0:
                    p[r] -= self.sharpness[i] * (1.0 - self.share[i, r, c, x.nominal[c]]) ** 2
        softmax(p, p)

    def update(self, i, x, p, label, w):
        self.weight[i, label] += w
        step = w / self.weight[i, label]
        for f in range(x.numeric.size):
            if not np.isnan(x.numeric[f]):
                self.mean[i, label, f] += step * (x.numeric[f] - self.mean[i, label, f])
        for c in range(x.nominal.size):
            if x.nominal[c] >= 0:
                for v in range(self.share.shape[3]):
                    self.share[i, label, c, v] += step * ((v == x.nominal[c]) - self.share[i, label, c, v])


class NearestCentroid(ew.WeakLearner):
    def __init__(self, sharpness=2.0):
        self.sharpness = sharpness

    @classmethod
    def make(cls, learners, n_labels, n_numeric, categories):
        weight, mean = np.zeros((len(learners), n_labels)), np.zeros((len(learners), n_labels, n_numeric))
        share = np.zeros((*weight.shape, len(categories), max(categories, default=0)))
        return Centroids(np.array([float(learner.sharpness) for learner in learners]), weight, mean, share)


if __name__ == "__main__":
    X, y = ew.datasets.load("car")
    both = [NearestCentroid(), NearestCentroid(8.0), ew.HoeffdingTree()]
    for name, learner in {"centroids": NearestCentroid(), "trees": ew.HoeffdingTree(), "both": both}.items():
        guesses = ew.AdaBoostOLM(learner, n_estimators=20, random_state=1).prequential(X, y)
        print(f"{name:<9} {np.mean(guesses == y):.3f}")
