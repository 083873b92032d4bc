"""A boosting rule of your own in compiled Python: online SmoothBoost.

S.-T. Chen, H.-T. Lin, C.-J. Lu, "An online boosting algorithm with theoretical justifications" (ICML 2012), OSBoost.
The paper has two labels; here a vote y h is +1 where a learner names the right one of any number, else -1.

| paper        | here                                                        |
|--------------|-------------------------------------------------------------|
| gamma, theta | `edge`, and edge / (2 + edge)                               |
| z_t^i        | sum over the learners before i of y h - theta               |
| w_t^i        | importance min((1 - gamma)^(z/2), 1)                        |

Run: python examples/own_rule.py
"""

from typing import NamedTuple

import numpy as np

import edgewise as ew


class Smooth(NamedTuple):
    edge: np.ndarray  # [1]
    given: np.ndarray  # [learner] importance of this round
    total: np.ndarray  # [learner] importance of all rounds
    right: np.ndarray  # [learner] of it, where the learner was right

    def importance(self, i, scores, now):
        gamma = self.edge[0]
        votes = scores[now.label] * self.given.size  # each has weight 1/N
        z = 2.0 * votes - i - i * gamma / (2.0 + gamma)
        self.given[i] = min((1.0 - gamma) ** (z / 2.0), 1.0)
        return self.given[i]

    def learner_weight(self, i, scores, vote, p, now):
        self.total[i] += now.weight * self.given[i]
        self.right[i] += now.weight * self.given[i] * (vote == now.label)
        return 1.0 / self.given.size


class OSBoost(ew.BoostingRule):
    def __init__(self, estimator=None, n_estimators=100, *, edge=0.1, chunk_size=256, random_state=None):
        self.estimator, self.n_estimators, self.edge = estimator, n_estimators, edge
        self.chunk_size, self.random_state = chunk_size, random_state

    def memory(self, n_labels):
        return Smooth(np.array([float(self.edge)]), *np.zeros((3, self.n_estimators)))

    def first_weight(self):
        return 1.0 / self.n_estimators


if __name__ == "__main__":
    X, y = ew.datasets.load("car")
    model = OSBoost(n_estimators=20, random_state=1)
    print(f"accuracy {np.mean(model.prequential(X, y) == y):.3f}")
    print("edges", np.round(2.0 * model.memory_.right / model.memory_.total - 1.0, 2)[:5])
