"""The boosters one example at a time, as their pseudocode is printed.

| source | here |
|---|---|
| Jung, Goetz and Tewari 2017, Algorithm 2 (line 14 with C(y, y)), Appendix D; options | `AdaBoostOLM` |
| the same, Algorithm 1 with the potentials of recursion (3) | `OnlineMBBM` |
| Oza 2005, Figure 2 | `OzaBoost` |
| AdaOVA of the same paper's Appendix E: k binary trees are one learner | `OneVsAllGroup` |
| trees side by side | `HoeffdingForest` |

A learner is anything with `vote(numeric, nominal) -> distribution` and `learn(numeric, nominal, y, w)`. Every booster
offers `round(numeric, nominal, y, ...)`: predict, learn, and return a `Round`. A row of weight 0 is predicted,
by the weighted vote of the experts where Hedge would draw one, and otherwise never happened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from edgewise.reference import hedge, losses
from edgewise.reference.hoeffding_tree import Moments, Tree, argmax


class Learner(Protocol):
    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]: ...

    def learn(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None: ...


class Round(NamedTuple):
    """What happened at one round; lists have one entry per learner, or expert (as a rule, as many)."""

    guess: int
    votes: list[int]
    importances: list[float]
    learner_weights: list[float]
    expert_labels: list[int]
    expert_losses: list[float]


class OneVsAllGroup:
    """k binary trees as one multiclass learner: label 1 of tree c means class c."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.trees = trees

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        positive = [tree.vote(numeric, nominal)[1] for tree in self.trees]
        return [p / sum(positive) for p in positive]

    def learn(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        for c, tree in enumerate(self.trees):
            tree.learn(numeric, nominal, 1 if y == c else 0, w)


def cheapest(p: Sequence[float], costs: Sequence[Sequence[float]]) -> int:
    """argmin over l of sum_r p_r C(r, l); a later label must be cheaper by more than 1e-12."""
    k = len(p)
    best, best_cost = 0, math.inf
    for l in range(k):
        cost = sum(p[r] * costs[r][l] for r in range(k))
        if cost < best_cost - 1e-12:
            best, best_cost = l, cost
    return best


class AdaBoostOLM:
    """Algorithm 2 with any of the losses, and what may be changed in it.

    | option | meaning; the paper's |
    |---|---|
    | `vote` | "probability": a learner adds its distribution to the scores; "cost" |
    | `follow` | "best": the expert of fewest mistakes; "draw" |
    | `single_experts` | every learner alone is an expert too, after those of the first i learners; False |
    | `power`, `normalize` | learner i is taught w^power, divided by its mean over the rounds so far; 1, False |
    | `weight_range` | where learner weights are kept; None: F of the loss |
    | `first_weight` | learner weights before round 1; 0 |
    | `calibrate` | decisions are multiplied by e^u, where u descends the log loss of their softmax; False |
    """

    def __init__(
        self,
        k: int,
        learners: Sequence[Learner],
        moments: Moments,
        *,
        scales: Sequence[float] | None = None,
        loss: str = "logistic",
        vote: str = "cost",
        follow: str = "draw",
        power: float = 1.0,
        normalize: bool = False,
        weight_range: tuple[float, float] | None = None,
        first_weight: float = 0.0,
        calibrate: bool = False,
        single_experts: bool = False,
    ) -> None:
        n = len(learners)
        self.k, self.learners, self.moments = k, learners, moments
        self.single_experts = single_experts
        self.scales = [1.0] * n if scales is None else scales
        self.calibrate = calibrate
        self.u, self.slopes = 0.0, []
        self.loss, self.vote, self.follow = loss, vote, follow
        c = losses.feasible(loss, n)
        self.low, self.high = (-c, c) if weight_range is None else weight_range
        self.power, self.normalize = power, normalize
        self.powers: list[list[float]] = [[] for _ in range(n)]  # w^power of every round, by learner
        self.alpha = [first_weight] * n
        self.mistakes = [0.0] * (2 * n if single_experts else n)
        self.right_costs = [0.0] * n
        self.vote_costs = [0.0] * n
        self.t = 0

    def round(
        self, numeric: Sequence[float], nominal: Sequence[int], y: int, uniform: float, sample_weight: float = 1.0
    ) -> Round:
        n = len(self.learners)
        alpha, mistakes = list(self.alpha), list(self.mistakes)
        votes, directions, scores = self.votes(numeric, nominal)
        experts = [argmax(s) for s in scores[1:]]
        if self.single_experts:
            experts += votes

        v = hedge.weights(mistakes)
        if self.follow == "best":
            guess = experts[mistakes.index(min(mistakes))]
        elif self.follow == "draw" and sample_weight > 0.0:
            guess = experts[hedge.draw(v, uniform)]
        else:
            guess = hedge.weighted_vote(v, experts, self.k)

        if sample_weight <= 0.0:
            return Round(guess, votes, [0.0] * n, alpha, experts, mistakes)
        if self.calibrate:
            self.learn_factor(self.decisions(numeric, nominal), y, sample_weight)
        self.moments.learn(numeric)
        self.t += 1
        importances = []
        for i in range(n):
            row = losses.cost_matrix(self.loss, scores[i])[y]
            if self.vote == "probability":
                slope = losses.derivative_along(self.loss, scores[i], y, directions[i], alpha[i])
            else:
                slope = losses.derivative(self.loss, scores[i], y, votes[i], alpha[i])
            # the paper's step is for its own feasible set; it grows with the diameter
            diameter = (self.high - self.low) / (2.0 * losses.feasible(self.loss, n))
            eta = diameter * losses.step_size(self.loss, self.k, n, i + 1, self.t)
            self.alpha[i] = max(self.low, min(self.high, alpha[i] - eta * slope * sample_weight))
            importance = self.importance(i, losses.importance(self.loss, scores[i], y))
            self.learners[i].learn(numeric, nominal, y, importance * self.scales[i] * sample_weight)
            importances.append(importance)
            self.right_costs[i] += sample_weight * row[y]
            self.vote_costs[i] += sample_weight * sum(c * h for c, h in zip(row, directions[i], strict=True))
        for j, label in enumerate(experts):
            if label != y:
                self.mistakes[j] += sample_weight
        return Round(guess, votes, importances, alpha, experts, mistakes)

    def votes(
        self, numeric: Sequence[float], nominal: Sequence[int]
    ) -> tuple[list[int], list[list[float]], list[list[float]]]:
        """Every learner's label, what it adds to the scores per unit of its weight, and s^0, s^1, ..., s^N."""
        votes, directions, scores = [], [], [[0.0] * self.k]
        for i, learner in enumerate(self.learners):
            p = learner.vote(numeric, nominal)
            if self.vote == "cost":
                l = cheapest(p, losses.cost_matrix(self.loss, scores[i]))
            else:
                l = argmax(p)
            h = p if self.vote == "probability" else [1.0 if r == l else 0.0 for r in range(self.k)]
            votes.append(l)
            directions.append(h)
            scores.append([s + self.alpha[i] * x for s, x in zip(scores[i], h, strict=True)])
        return votes, directions, scores

    def importance(self, i: int, w: float) -> float:
        """What learner i is taught with, before its own constant and the weight of the example."""
        u = w**self.power
        self.powers[i].append(u)
        if not self.normalize:
            return u
        mean = sum(self.powers[i]) / len(self.powers[i])
        return u / mean if mean > 0.0 else 0.0

    def decisions(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """The experts' scores averaged with the weights of Hedge, times the factor; nothing changes.

        The scores of a learner alone are what it adds to those of the learners before it.
        """
        _, directions, scores = self.votes(numeric, nominal)
        of_experts = scores[1:]
        if self.single_experts:
            of_experts += [[a * x for x in h] for a, h in zip(self.alpha, directions, strict=True)]
        v = hedge.weights(self.mistakes)
        means = [sum(a * s[l] for a, s in zip(v, of_experts, strict=True)) / sum(v) for l in range(self.k)]
        return [math.exp(self.u) * mean for mean in means]

    def learn_factor(self, decisions: Sequence[float], y: int, sample_weight: float) -> None:
        """AdaGrad's step of u: the loss of decisions e^u m has the derivative sum_l (p_l - [l = y]) e^u m_l in u.

        A slope of 1 counts as seen at the start, or steps would follow the rounding of scores that are equal.
        """
        p = losses.softmax(decisions)
        slope = sum((p[l] - (l == y)) * decisions[l] for l in range(self.k)) * sample_weight
        self.slopes.append(slope)
        self.u -= 0.2 * slope / math.sqrt(1.0 + sum(g**2 for g in self.slopes))

    def edges(self) -> list[float]:
        """gamma_i = sum_t <C(y_t), h_t> / sum_t C(y_t, y_t), Section 4.2; h_t = e_l for a vote for label l."""
        return [a / b for a, b in zip(self.vote_costs, self.right_costs, strict=True)]


def potential(m: int, label: int, votes: tuple[int, ...], edge: Fraction, memo: dict[tuple, Fraction]) -> Fraction:
    """phi_m^label(votes) of recursion (3) under the 0-1 loss (2), k = len(votes).

    In rational numbers, because (5) asks whether a weight is exactly 0 before it divides by it.
    """
    if (m, label, votes) not in memo:
        k = len(votes)
        if m == 0:
            result = Fraction(max(votes[l] for l in range(k) if l != label) >= votes[label])
        else:
            result = Fraction(0)
            for l in range(k):
                u = (1 - edge) / k + (edge if l == label else 0)
                result += u * potential(m - 1, label, plus_one(votes, l), edge, memo)
        memo[m, label, votes] = result
    return memo[m, label, votes]


def plus_one(votes: tuple[int, ...], l: int) -> tuple[int, ...]:
    return votes[:l] + (votes[l] + 1,) + votes[l + 1 :]


class OnlineMBBM:
    """Algorithm 1 under the 0-1 loss; `w_star` is the bound w^{i*} on the weights (the trivial one is k)."""

    def __init__(
        self,
        k: int,
        learners: Sequence[Learner],
        moments: Moments,
        *,
        edge: float,
        w_star: float | None = None,
        scales: Sequence[float] | None = None,
        vote: str = "cost",
    ) -> None:
        self.k, self.learners, self.moments, self.vote = k, learners, moments, vote
        self.edge = Fraction(edge)
        self.w_star = float(k) if w_star is None else w_star
        self.scales = [1.0] * len(learners) if scales is None else scales
        self.mistakes = [0.0] * len(learners)
        self.memo: dict[tuple, Fraction] = {}

    def costs(self, i: int, votes: tuple[int, ...]) -> tuple[list[list[float]], list[float]]:
        """D of (5) and its weights, one per row r, for learner i = 1..N when the first i - 1 voted `votes`."""
        k, to_go = self.k, len(self.learners) - i
        matrix, weights = [], []
        for r in range(k):
            phi = [potential(to_go, r, plus_one(votes, l), self.edge, self.memo) for l in range(k)]
            excess = [phi[l] - phi[r] for l in range(k)]
            w = sum(excess)
            matrix.append([float(e / w) for e in excess] if w > 0 else [0.0] * k)
            weights.append(float(w))
        return matrix, weights

    def round(self, numeric: Sequence[float], nominal: Sequence[int], y: int, sample_weight: float = 1.0) -> Round:
        n = len(self.learners)
        mistakes = list(self.mistakes)
        scores = [(0,) * self.k]
        votes, experts = [], []
        for i in range(n):
            p = self.learners[i].vote(numeric, nominal)
            matrix, _ = self.costs(i + 1, scores[i])
            l = cheapest(p, matrix) if self.vote == "cost" else argmax(p)
            votes.append(l)
            scores.append(plus_one(scores[i], l))
            experts.append(argmax(scores[-1]))
        guess = experts[-1]

        if sample_weight <= 0.0:
            return Round(guess, votes, [0.0] * n, [1.0] * n, experts, mistakes)
        self.moments.learn(numeric)
        importances = []
        for i in range(n):
            _, weights = self.costs(i + 1, scores[i])
            importance = weights[y] / self.w_star
            self.learners[i].learn(numeric, nominal, y, importance * self.scales[i] * sample_weight)
            importances.append(importance)
            if experts[i] != y:
                self.mistakes[i] += sample_weight
        return Round(guess, votes, importances, [1.0] * n, experts, mistakes)


def poisson(rate: float, uniform: float) -> int:
    """The smallest j with P(Poisson(rate) <= j) > uniform."""
    j, term = 0, math.exp(-rate)
    cdf = term
    while cdf <= uniform and term > 0.0:
        j += 1
        term *= rate / j
        cdf += term
    return j


class OzaBoost:
    """Online boosting of Oza 2005: every learner takes Poisson(lambda) copies of the example."""

    def __init__(
        self, k: int, learners: Sequence[Learner], moments: Moments, *, scales: Sequence[float] | None = None
    ) -> None:
        n = len(learners)
        self.k, self.learners, self.moments = k, learners, moments
        self.scales = [1.0] * n if scales is None else scales
        self.right = [0.0] * n
        self.wrong = [0.0] * n
        self.mistakes = [0.0] * n

    def weight(self, i: int) -> float:
        total = self.right[i] + self.wrong[i]
        if total == 0.0:
            return 0.0
        e = min(max(self.wrong[i] / total, 1e-10), 1.0 - 1e-10)
        return max(0.0, math.log((1.0 - e) / e))

    def round(
        self,
        numeric: Sequence[float],
        nominal: Sequence[int],
        y: int,
        uniforms: Sequence[float],
        sample_weight: float = 1.0,
    ) -> Round:
        n = len(self.learners)
        mistakes = list(self.mistakes)
        weights = [self.weight(i) for i in range(n)]
        votes, experts = [], []
        scores = [0.0] * self.k
        for i in range(n):
            votes.append(argmax(self.learners[i].vote(numeric, nominal)))
            scores[votes[i]] += weights[i]
            experts.append(argmax(scores))
        guess = argmax(scores)

        if sample_weight <= 0.0:
            return Round(guess, votes, [0.0] * n, weights, experts, mistakes)
        self.moments.learn(numeric)
        rate = 1.0
        importances = []
        for i in range(n):
            copies = poisson(rate, uniforms[i])
            self.learners[i].learn(numeric, nominal, y, copies * self.scales[i] * sample_weight)
            importances.append(float(copies))
            if votes[i] == y:
                self.right[i] += rate
                rate *= (self.right[i] + self.wrong[i]) / (2.0 * self.right[i])
            else:
                self.wrong[i] += rate
                rate *= (self.right[i] + self.wrong[i]) / (2.0 * self.wrong[i])
            if experts[i] != y:
                self.mistakes[i] += sample_weight
        return Round(guess, votes, importances, weights, experts, mistakes)


class HoeffdingForest:
    """Trees that learn every example with weight scale_i; the prediction is the argmax of their mean distribution."""

    def __init__(
        self, k: int, learners: Sequence[Learner], moments: Moments, *, scales: Sequence[float] | None = None
    ) -> None:
        self.k, self.learners, self.moments = k, learners, moments
        self.scales = [1.0] * len(learners) if scales is None else scales
        self.mistakes = [0.0] * len(learners)

    def round(self, numeric: Sequence[float], nominal: Sequence[int], y: int, sample_weight: float = 1.0) -> Round:
        n = len(self.learners)
        mistakes = list(self.mistakes)
        votes, experts = [], []
        total = [0.0] * self.k
        for learner in self.learners:
            p = learner.vote(numeric, nominal)
            total = [a + b for a, b in zip(total, p, strict=True)]
            votes.append(argmax(p))
            experts.append(argmax([a / len(votes) for a in total]))
        guess = argmax([a / n for a in total])

        if sample_weight <= 0.0:
            return Round(guess, votes, [0.0] * n, [1.0] * n, experts, mistakes)
        self.moments.learn(numeric)
        for i, learner in enumerate(self.learners):
            learner.learn(numeric, nominal, y, self.scales[i] * sample_weight)
            if experts[i] != y:
                self.mistakes[i] += sample_weight
        return Round(guess, votes, [1.0] * n, [1.0] * n, experts, mistakes)
