"""What boosting is compared with: Oza's online boosting, trees side by side, and one binary learner for each label.

| source | here |
|---|---|
| Oza, *Online bagging and boosting*, 2005, Figure 2 | `OzaBoost` |
| lambda_m^sc, lambda_m^sw; epsilon_m; lambda_d | `right`, `wrong`; in `OzaBoost.learner_weight`; `rate` |
| Jung, Goetz and Tewari 2017, Appendix E: AdaOVA is Adaboost.OLM over groups of k binary learners | `OneVsAllGroup` |
| the papers' trees alone | `HoeffdingForest` |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from edgewise.reference.learner import Learner, Round, RunningMoments, argmax


def poisson(rate: float, uniform: float) -> int:
    """A Poisson variate by inversion: the smallest j with P(Poisson(rate) <= j) > uniform."""
    j, term = 0, math.exp(-rate)
    cdf = term
    while cdf <= uniform and term > 0.0:
        j += 1
        term *= rate / j
        cdf += term
    return j


@dataclass
class OzaBoost:
    """Oza's online boosting: every learner takes Poisson(lambda) copies of the example."""

    k: int  # number of labels
    learners: Sequence[Learner]
    moments: RunningMoments  # shared by the learners; every learned example is counted
    scales: Sequence[float] | None = None  # a further factor on the importance, for each learner

    def __post_init__(self) -> None:
        n = len(self.learners)
        self.right, self.wrong, self.mistakes = [0.0] * n, [0.0] * n, [0.0] * n

    def learner_weight(self, i: int) -> float:
        """log((1 - epsilon)/epsilon) of learner i; a learner that is wrong more often than right does not vote.

        Parameters
        ----------
        i : int
            The learner, from 0.

        Returns
        -------
        float
        """
        total = self.right[i] + self.wrong[i]
        if total == 0.0:
            return 0.0
        epsilon = min(max(self.wrong[i] / total, 1e-10), 1.0 - 1e-10)
        return max(0.0, math.log((1.0 - epsilon) / epsilon))

    def round(
        self,
        numeric: Sequence[float],
        nominal: Sequence[int],
        y: int,
        uniforms: Sequence[float],
        sample_weight: float = 1.0,
    ) -> Round:
        """Predict an example, then learn it.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        y : int
            The label, used after the prediction only.
        uniforms : sequence of float
            A draw from [0, 1) for each learner.
        sample_weight : float
            Weight of the example; with 0 it is predicted only.

        Returns
        -------
        Round
        """
        n = len(self.learners)
        mistakes = list(self.mistakes)
        weights = [self.learner_weight(i) for i in range(n)]
        votes, experts = [], []
        scores = [0.0] * self.k
        for i, learner in enumerate(self.learners):
            votes.append(argmax(learner.predict_proba(numeric, nominal)))
            scores[votes[i]] += weights[i]
            experts.append(argmax(scores))
        prediction = argmax(scores)

        if sample_weight <= 0.0:
            return Round(prediction, votes, [0.0] * n, weights, experts, mistakes)
        self.moments.update(numeric)
        rate = 1.0
        importances = []
        for i, learner in enumerate(self.learners):
            copies = poisson(rate, uniforms[i])
            scale = 1.0 if self.scales is None else self.scales[i]
            learner.update(numeric, nominal, y, copies * scale * sample_weight)
            importances.append(float(copies))
            if votes[i] == y:
                self.right[i] += rate
                rate *= (self.right[i] + self.wrong[i]) / (2.0 * self.right[i])
            else:
                self.wrong[i] += rate
                rate *= (self.right[i] + self.wrong[i]) / (2.0 * self.wrong[i])
            if experts[i] != y:
                self.mistakes[i] += sample_weight
        return Round(prediction, votes, importances, weights, experts, mistakes)


@dataclass
class HoeffdingForest:
    """Trees that learn every example; the prediction is the argmax of their mean distribution."""

    k: int  # number of labels
    learners: Sequence[Learner]
    moments: RunningMoments  # shared by the learners; every learned example is counted
    scales: Sequence[float] | None = None  # the weight of an example, for each learner

    def __post_init__(self) -> None:
        self.mistakes = [0.0] * len(self.learners)

    def round(self, numeric: Sequence[float], nominal: Sequence[int], y: int, sample_weight: float = 1.0) -> Round:
        """Predict an example, then learn it.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        y : int
            The label, used after the prediction only.
        sample_weight : float
            Weight of the example; with 0 it is predicted only.

        Returns
        -------
        Round
        """
        n = len(self.learners)
        mistakes = list(self.mistakes)
        votes, experts = [], []
        total = [0.0] * self.k
        for learner in self.learners:
            p = learner.predict_proba(numeric, nominal)
            total = [a + b for a, b in zip(total, p, strict=True)]
            votes.append(argmax(p))
            experts.append(argmax([a / len(votes) for a in total]))

        if sample_weight <= 0.0:
            return Round(experts[-1], votes, [0.0] * n, [1.0] * n, experts, mistakes)
        self.moments.update(numeric)
        for i, learner in enumerate(self.learners):
            scale = 1.0 if self.scales is None else self.scales[i]
            learner.update(numeric, nominal, y, scale * sample_weight)
            if experts[i] != y:
                self.mistakes[i] += sample_weight
        return Round(experts[-1], votes, [1.0] * n, [1.0] * n, experts, mistakes)


@dataclass
class OneVsAllGroup:
    """k binary learners as one multiclass learner: label 1 of learner c means class c."""

    learners: Sequence[Learner]

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """Their probabilities of label 1, divided by their sum.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.

        Returns
        -------
        list of float
        """
        positive = [learner.predict_proba(numeric, nominal)[1] for learner in self.learners]
        return [p / sum(positive) for p in positive]

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        """Let every binary learner learn whether the label is its own.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        y, w : int, float
            Its label and weight.
        """
        for c, learner in enumerate(self.learners):
            learner.update(numeric, nominal, int(y == c), w)
