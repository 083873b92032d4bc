"""The worked examples of own code, one example at a time and straight from their definitions.

| source | here |
|---|---|
| examples/own_learner.py: the nearest centroid | `Centroid` |
| Chen, Lin and Lu 2012, OSBoost, with right and wrong for +1 and -1 | `OSBoost` |
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgewise.reference.adaboost_olm import softmax
from edgewise.reference.learner import MISSING, Learner, Round, RunningMoments, argmax


class Centroid:
    """Remembers every example; a centroid is the weighted mean of those of its label."""

    def __init__(self, k: int, moments: RunningMoments, sharpness: float) -> None:
        self.k, self.moments, self.sharpness = k, moments, sharpness
        self.examples: list[list[tuple[list[float], list[int], float]]] = [[] for _ in range(k)]

    def mean(self, r: int, f: int) -> float:
        """A mean moves by w/(w of all examples of the label so far), also past those where the value is missing."""
        mean = total = 0.0
        for numeric, _, w in self.examples[r]:
            total += w
            if not math.isnan(numeric[f]):
                mean = (1.0 - w / total) * mean + w / total * numeric[f]
        return mean

    def share(self, r: int, c: int, code: int) -> float:
        share = total = 0.0
        for _, nominal, w in self.examples[r]:
            total += w
            if nominal[c] != MISSING:
                share = (1.0 - w / total) * share + w / total * (nominal[c] == code)
        return share

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        logits = []
        for r in range(self.k):
            distance = 0.0
            for f, x in enumerate(numeric):
                if not math.isnan(x) and self.moments.variance(f) > 0.0:
                    distance += (x - self.mean(r, f)) ** 2 / self.moments.variance(f)
            for c, code in enumerate(nominal):
                if code != MISSING:
                    distance += (1.0 - self.share(r, c, code)) ** 2
            logits.append(-self.sharpness * distance)
        return softmax(logits)

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        if w > 0.0:
            self.examples[y].append((list(numeric), list(nominal), w))


class OSBoost:
    """z is summed up learner by learner, as printed."""

    def __init__(
        self, k: int, learners: Sequence[Learner], moments: RunningMoments, edge: float, scales: Sequence[float]
    ) -> None:
        self.k, self.learners, self.moments, self.edge, self.scales = k, learners, moments, edge, scales
        self.mistakes = [0.0] * len(learners)

    def round(self, numeric: Sequence[float], nominal: Sequence[int], y: int, sample_weight: float = 1.0) -> Round:
        n = len(self.learners)
        theta = self.edge / (2.0 + self.edge)
        votes = [argmax(learner.predict_proba(numeric, nominal)) for learner in self.learners]
        experts = [argmax([votes[: i + 1].count(l) for l in range(self.k)]) for i in range(n)]
        before = list(self.mistakes)
        importances = [0.0] * n
        if sample_weight > 0.0:
            self.moments.update(numeric)
            z = 0.0
            for i, learner in enumerate(self.learners):
                importances[i] = min((1.0 - self.edge) ** (z / 2.0), 1.0)
                learner.update(numeric, nominal, y, sample_weight * importances[i] * self.scales[i])
                z += (1.0 if votes[i] == y else -1.0) - theta
                self.mistakes[i] += sample_weight * (experts[i] != y)
        return Round(experts[-1], votes, importances, [1.0 / n] * n, experts, before)
