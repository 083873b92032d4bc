"""The bandit boosters one example at a time, as Zhang, Jung and Tewari 2018 print their pseudocode.

| source | here |
|---|---|
| (2), (3), (4) | `distribution`, `simple_estimate`, `estimate` |
| (5), with a cost matrix whose column r is the cost vector if r is right | `random_costs` |
| label and importance of B.3 | `lesson` |
| Algorithm 1; 3; 2 | `Bandit`; `AdaBandit`; `BanditBBM` |
| Chen, Lin and Lu 2014 as `edgewise.models.bin_bandit` tells | `BinBandit` |

`decide` plays lines 4 to 10 of Algorithm 1 and `feedback` lines 11 to 17, perhaps later. Between the two a decision is
a dictionary. Where votes are cast long before, a learner is asked again before it learns, since it learns by its own
knowledge of now, and only what the booster makes of votes is of then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from edgewise.reference import hedge, losses
from edgewise.reference.adaboost_olm import Learner, cheapest, plus_one, potential
from edgewise.reference.hoeffding_tree import Moments, argmax


def distribution(guess: int, rate: Any, k: int) -> list[Any]:
    """p_t of (2)."""
    return [1 - rate if l == guess else rate / (k - 1) for l in range(k)]


def estimate(k: int, y: int, guess: int, shown: int, p: Sequence[Any]) -> list[Any]:
    """l-hat of (4), term by term."""
    return [
        (shown == y) * (y != i) * (guess != i) / p[shown] + (shown == guess) * (guess != y) * (guess == i) / p[shown]
        for i in range(k)
    ]


def simple_estimate(k: int, y: int, shown: int, p: Sequence[Any]) -> list[Any]:
    """l-hat of (3)."""
    return [(shown == y) / p[shown] * (1 if i != shown else 0) for i in range(k)]


def random_costs(matrix: Sequence[Sequence[Any]], lhat: Sequence[Any]) -> list[Any]:
    """C (1 - l-hat) of (5); matrix[l][r] is what l costs if r is right."""
    return [sum(row[r] * (1 - lhat[r]) for r in range(len(row))) for row in matrix]


def explore(guess: int, rate: float, k: int, u: float) -> int:
    """A draw from (2): below `rate`, u picks one of the other labels."""
    if u >= rate:
        return guess
    return [l for l in range(k) if l != guess][int(u / rate * (k - 1))]


def tame(costs: Sequence[float], clip: float | None, grain: float | None) -> list[float]:
    """Costs clipped and rounded, halves upwards."""
    if clip is not None:
        costs = [max(-clip, min(clip, c)) for c in costs]
    return [math.floor(c / grain + 0.5) * grain for c in costs] if grain else list(costs)


def lesson(costs: Sequence[float], known: int | None, u: float) -> tuple[int, float]:
    """Label and importance: the right label if it is known and costs least, else one of the cheapest."""
    least = min(costs)
    minima = [l for l in range(len(costs)) if costs[l] <= least + 1e-9 * max(1.0, abs(least))]
    label = known if known in minima else minima[int(u * len(minima))]
    assert label is not None
    return label, max(0.0, sum(c - costs[label] for c in costs))


class Bandit:
    """Algorithm 1; a booster adds how votes are weighed, and what is learned."""

    def __init__(
        self,
        k: int,
        learners: Sequence[Learner],
        moments: Moments,
        *,
        scales: Sequence[float],
        simple: bool = False,
        clip: float | None = None,
        grain: float | None = None,
        bound: float = 1.0,
    ) -> None:
        self.k, self.learners, self.moments, self.scales = k, learners, moments, scales
        self.simple, self.clip, self.grain, self.bound = simple, clip, grain, bound
        self.losses = [0.0] * len(learners)
        self.t = 0

    def decide(self, numeric: Sequence[float], nominal: Sequence[int], rate: float, uniforms: Sequence[float]) -> dict:
        d = {"numeric": numeric, "nominal": nominal, "rate": rate, "uniforms": uniforms, **self.vote(numeric, nominal)}
        d["guess"] = self.follow(d, uniforms[0])
        d["shown"] = explore(d["guess"], rate, self.k, uniforms[1])
        return d

    def feedback(self, d: dict, y: int) -> None:
        """Learn; y stands for what is told: whether the shown label is right."""
        d["correct"] = d["shown"] == y
        p = distribution(d["guess"], d["rate"], self.k)
        if self.simple:
            lhat = simple_estimate(self.k, y, d["shown"], p)
        else:
            lhat = estimate(self.k, y, d["guess"], d["shown"], p)
        for learner in self.learners:
            learner.vote(d["numeric"], d["nominal"])
        self.moments.learn(d["numeric"])
        self.t += 1
        d["taught"], d["importances"] = [], []
        for i, learner in enumerate(self.learners):
            costs = random_costs(self.cost_matrix(i, d), lhat)
            known = d["shown"] if d["correct"] else None
            label, w = lesson(tame(costs, self.clip, self.grain), known, d["uniforms"][2 + i])
            w = self.importance(i, w / self.bound)
            d["taught"].append(label)
            d["importances"].append(w)
            self.move(i, d, lhat)
            self.losses[i] += lhat[d["experts"][i]]
            learner.learn(d["numeric"], d["nominal"], label, w * self.scales[i])

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict:
        raise NotImplementedError

    def follow(self, d: dict, u: float) -> int:
        raise NotImplementedError

    def cost_matrix(self, i: int, d: dict) -> list[list[float]]:
        """matrix[l][r] for learner i = 0, ..., N - 1."""
        raise NotImplementedError

    def importance(self, i: int, w: float) -> float:
        return w

    def move(self, i: int, d: dict, lhat: Sequence[float]) -> None:
        """Line 13 for learner i."""


class AdaBandit(Bandit):
    """Algorithm 3, and what may be changed in it: see `edgewise.AdaBandit`."""

    def __init__(
        self,
        *args: Any,
        loss: str = "logistic",
        vote: str = "argmax",
        follow: str = "draw",
        full_step: bool = False,
        power: float = 1.0,
        normalize: bool = False,
        weight_range: tuple[float, float] = (-2.0, 2.0),
        first_weight: float = 0.0,
        **further: Any,
    ) -> None:
        super().__init__(*args, **further)
        self.loss, self.how, self.whom, self.full_step = loss, vote, follow, full_step
        self.power, self.normalize = power, normalize
        self.low, self.high = weight_range
        n = len(self.learners)
        self.alpha = [first_weight] * n
        self.powers: list[list[float]] = [[] for _ in range(n)]

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict:
        votes, directions, scores = [], [], [[0.0] * self.k]
        for i, learner in enumerate(self.learners):
            p = learner.vote(numeric, nominal)
            l = cheapest(p, losses.cost_matrix(self.loss, scores[i])) if self.how == "cost" else argmax(p)
            h = p if self.how == "probability" else [1.0 if r == l else 0.0 for r in range(self.k)]
            votes.append(l)
            directions.append(h)
            scores.append([s + self.alpha[i] * x for s, x in zip(scores[i], h, strict=True)])
        experts = [argmax(s) for s in scores[1:]]
        return {
            "votes": votes,
            "directions": directions,
            "scores": scores,
            "experts": experts,
            "alpha": list(self.alpha),
        }

    def follow(self, d: dict, u: float) -> int:
        if self.whom == "best":
            return d["experts"][self.losses.index(min(self.losses))]
        least = min(self.losses)
        v = [math.exp(least - loss) for loss in self.losses]
        if self.whom == "draw":
            return d["experts"][hedge.draw(v, u)]
        return hedge.weighted_vote(v, d["experts"], self.k)

    def cost_matrix(self, i: int, d: dict) -> list[list[float]]:
        by_right = losses.cost_matrix(self.loss, d["scores"][i])
        return [[by_right[r][l] for r in range(self.k)] for l in range(self.k)]

    def importance(self, i: int, w: float) -> float:
        self.powers[i].append(w**self.power)
        if not self.normalize:
            return self.powers[i][-1]
        mean = sum(self.powers[i]) / len(self.powers[i])
        return self.powers[i][-1] / mean if mean > 0.0 else 0.0

    def move(self, i: int, d: dict, lhat: Sequence[float]) -> None:
        """(11), with the derivative of f-hat summed over the labels."""
        slopes = [
            losses.derivative_along(self.loss, d["scores"][i], j, d["directions"][i], d["alpha"][i])
            for j in range(self.k)
        ]
        slope = sum(slopes[j] * (1.0 - lhat[j]) for j in range(self.k))
        eta = d["rate"] / (self.k**2 * math.sqrt(self.t))
        if self.full_step:
            eta = (self.high - self.low) / 4.0 * losses.step_size(self.loss, self.k, len(self.learners), i + 1, self.t)
        self.alpha[i] = max(self.low, min(self.high, self.alpha[i] - eta * slope))


class BanditBBM(Bandit):
    """Algorithm 2, with the potentials of recursion (3) of Jung et al. 2017."""

    def __init__(self, *args: Any, edge: float, **further: Any) -> None:
        super().__init__(*args, **further)
        self.edge = Fraction(edge)
        self.memo: dict[tuple, Fraction] = {}

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict:
        votes, scores = [], [(0,) * self.k]
        for learner in self.learners:
            votes.append(argmax(learner.vote(numeric, nominal)))
            scores.append(plus_one(scores[-1], votes[-1]))
        experts = [argmax(s) for s in scores[1:]]
        return {"votes": votes, "scores": scores, "experts": experts, "alpha": [1.0] * len(votes)}

    def follow(self, d: dict, u: float) -> int:
        return d["experts"][-1]

    def cost_matrix(self, i: int, d: dict) -> list[list[float]]:
        to_go, s = len(self.learners) - 1 - i, d["scores"][i]
        return [
            [float(potential(to_go, r, plus_one(s, l), self.edge, self.memo)) for r in range(self.k)]
            for l in range(self.k)
        ]


class BinBandit:
    """Groups of binary learners: learners[i][r] is the i-th that tells class r from the rest."""

    def __init__(
        self,
        k: int,
        learners: Sequence[Sequence[Learner]],
        moments: Moments,
        *,
        scales: Sequence[float],
        edge: float,
        step: float,
    ) -> None:
        self.k, self.learners, self.moments, self.scales = k, learners, moments, scales
        self.gamma, self.theta, self.step = edge, edge / (2.0 + edge), step
        self.alpha = [[1.0 / len(learners)] * k for _ in learners]

    def decide(self, numeric: Sequence[float], nominal: Sequence[int], rate: float, uniforms: Sequence[float]) -> dict:
        h = [[2.0 * learner.vote(numeric, nominal)[1] - 1.0 for learner in group] for group in self.learners]
        margins = [[0.0] * self.k]
        for i in range(len(h)):
            margins.append([margins[i][r] + self.alpha[i][r] * h[i][r] for r in range(self.k)])
        guess = argmax(margins[-1])
        return {
            "numeric": numeric,
            "nominal": nominal,
            "rate": rate,
            "h": h,
            "experts": [argmax(m) for m in margins[1:]],
            "guess": guess,
            "shown": explore(guess, rate, self.k, uniforms[1]),
        }

    def feedback(self, d: dict, y: int) -> None:
        r = d["shown"]
        d["correct"] = r == y
        sign = 1.0 if d["correct"] else -1.0
        odds = 1.0 / distribution(d["guess"], d["rate"], self.k)[r]
        h = [row[r] for row in d["h"]]
        margin = sum(self.alpha[i][r] * h[i] for i in range(len(h)))
        self.moments.learn(d["numeric"])
        d["taught"], d["importances"] = [], []
        for i, group in enumerate(self.learners):
            z = sum(sign * h[j] - self.theta for j in range(i))
            w = odds * min((1.0 - self.gamma) ** (z / 2.0), 1.0)
            d["taught"].append(int(d["correct"]))
            d["importances"].append(w)
            group[r].learn(d["numeric"], d["nominal"], int(d["correct"]), w * self.scales[i])
        if sign * margin < self.theta:
            grown = [self.alpha[i][r] * math.exp(self.step * sign * h[i]) for i in range(len(h))]
            for i in range(len(h)):
                self.alpha[i][r] = grown[i] / sum(grown)
