"""Bandit feedback: Algorithms 1 to 3 of Zhang, Jung and Tewari, *Online multiclass boosting with bandit feedback*,
AISTATS 2019, and the booster that they compare with.

| source | here |
|---|---|
| rho, p_t of (2) | `rate`, `distribution` |
| the estimate of the 0-1 loss, (3), (4) | `simple_loss_estimate`, `loss_estimate` |
| the random cost vector, (5) | `random_costs`; column r of the matrix is the cost vector if r is right |
| C_t^i, (9), (10) | `_cost_matrix` of `BanditBBM` and of `AdaBandit` |
| alpha_t^i, (11) | `alpha`, `AdaBandit._update_weight` |
| v_t^i, line 17 | exp(-`losses`) |
| label and importance that stand for a cost vector, Appendix B.3 | `target_and_importance` |
| Chen, Lin and Lu, *Boosting with online binary learners for the multiclass bandit problem*, ICML 2014 | `BinBandit` |

`decide` plays lines 4 to 10 of Algorithm 1 and `feedback` lines 11 to 17, perhaps later. Between the two a decision is
a dictionary. Where votes were cast long before, learners are asked again before they learn, since they learn by what
they know now; only what the booster makes of votes is of then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from edgewise.reference import adaboost_olm as olm
from edgewise.reference.learner import Learner, RunningMoments, argmax
from edgewise.reference.online_mbbm import add_vote, zero_one_potential


def distribution(guess: int, rate: Any, k: int) -> list[Any]:
    """p_t of (2)."""
    return [1 - rate if l == guess else rate / (k - 1) for l in range(k)]


def loss_estimate(k: int, y: int | None, guess: int, shown: int, p: Sequence[Any]) -> list[Any]:
    """l-hat of (4), term by term; y is any label that was not shown if the shown one is wrong."""
    return [
        (shown == y) * (y != i) * (guess != i) / p[shown] + (shown == guess) * (guess != y) * (guess == i) / p[shown]
        for i in range(k)
    ]


def simple_loss_estimate(k: int, y: int | None, shown: int, p: Sequence[Any]) -> list[Any]:
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


def clip_and_round(costs: Sequence[float], clip: float | None, grain: float | None) -> list[float]:
    """Costs clipped and rounded, halves upwards."""
    if clip is not None:
        costs = [max(-clip, min(clip, c)) for c in costs]
    return [math.floor(c / grain + 0.5) * grain for c in costs] if grain else list(costs)


def target_and_importance(costs: Sequence[float], known: int | None, u: float) -> tuple[int, float]:
    """Label and importance: the right label if it is known and costs least, else one of the cheapest."""
    least = min(costs)
    minima = [l for l in range(len(costs)) if costs[l] <= least + 1e-9 * max(1.0, abs(least))]
    label = known if known in minima else minima[int(u * len(minima))]
    assert label is not None
    return label, max(0.0, sum(c - costs[label] for c in costs))


@dataclass
class BanditBooster:
    """Algorithm 1; boosters add lines 2, 6, 7, 13, 14 and 17."""

    k: int  # number of labels
    learners: Sequence[Learner]  # WL^1, ..., WL^N
    moments: RunningMoments  # shared by the learners; every learned example is counted
    _: KW_ONLY
    scales: Sequence[float]  # a factor on the importance, for each learner
    estimate: str = "full"  # (4); "simple": (3)
    cost_clip: float | None = None  # bound of costs
    cost_grain: float | None = None  # costs are rounded to its multiples
    importance_bound: float = 1.0  # importances are divided by it

    def __post_init__(self) -> None:
        self.losses = [0.0] * len(self.learners)  # estimated mistakes of the experts
        self.t = 0

    def decide(self, numeric: Sequence[float], nominal: Sequence[int], rate: float, uniforms: Sequence[float]) -> dict:
        """Lines 4 to 10 for one example.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        rate : float
            rho.
        uniforms : sequence of float
            Draws from [0, 1): for line 7, for line 10, and one for each learner's target.

        Returns
        -------
        dict
            The decision: "guess" is the intermediate prediction, "shown" what is sent out.
        """
        cast = self._vote(numeric, nominal)  # lines 5, 6
        decision = {"numeric": numeric, "nominal": nominal, "rate": rate, "uniforms": uniforms, **cast}
        decision["guess"] = self._follow(decision, uniforms[0])  # lines 7, 8
        decision["shown"] = explore(decision["guess"], rate, self.k, uniforms[1])  # lines 9, 10
        return decision

    def feedback(self, decision: dict, correct: bool) -> None:
        """Lines 11 to 17.

        Parameters
        ----------
        decision : dict
            What `decide` returned; it takes up what is learned.
        correct : bool
            Whether the label that was shown is right.
        """
        k, guess, shown = self.k, decision["guess"], decision["shown"]
        decision["correct"] = correct  # line 11
        y = shown if correct else None
        p = distribution(guess, decision["rate"], k)
        lhat = (
            simple_loss_estimate(k, y, shown, p) if self.estimate == "simple" else loss_estimate(k, y, guess, shown, p)
        )
        for learner in self.learners:
            learner.predict_proba(decision["numeric"], decision["nominal"])
        self.moments.update(decision["numeric"])
        self.t += 1
        decision["targets"], decision["importances"] = [], []
        for i, learner in enumerate(self.learners):
            costs = random_costs(self._cost_matrix(i, decision), lhat)  # line 14
            costs = clip_and_round(costs, self.cost_clip, self.cost_grain)
            target, w = target_and_importance(costs, y, decision["uniforms"][2 + i])
            w = self._importance(i, w / self.importance_bound)
            decision["targets"].append(target)
            decision["importances"].append(w)
            self._update_weight(i, decision, lhat)  # line 13
            self.losses[i] += lhat[decision["experts"][i]]  # line 17
            learner.update(decision["numeric"], decision["nominal"], target, w * self.scales[i])  # lines 15, 16

    def _cost_matrix(self, i: int, decision: dict) -> list[list[float]]:
        """C of learner i = 0, ..., N - 1, as C[l][r]."""
        raise NotImplementedError

    def _vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict:
        raise NotImplementedError

    def _follow(self, decision: dict, uniform: float) -> int:
        raise NotImplementedError

    def _importance(self, i: int, w: float) -> float:
        return w

    def _update_weight(self, i: int, decision: dict, lhat: Sequence[float]) -> None:
        """Line 13 for learner i."""


@dataclass
class BanditBBM(BanditBooster):
    """Algorithm 2, with the potentials of OnlineMBBM."""

    _: KW_ONLY
    edge: float  # gamma

    def __post_init__(self) -> None:
        super().__post_init__()
        self.phi = zero_one_potential(self.k, Fraction(self.edge))

    def _vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict:
        votes = [argmax(learner.predict_proba(numeric, nominal)) for learner in self.learners]
        scores: list[tuple] = [(0,) * self.k]
        for l in votes:
            scores.append(add_vote(scores[-1], l))
        experts = [argmax(s) for s in scores[1:]]
        return {"votes": votes, "scores": scores, "experts": experts, "alpha": [1.0] * len(votes)}

    def _follow(self, decision: dict, uniform: float) -> int:
        return decision["experts"][-1]  # line 7

    def _cost_matrix(self, i: int, decision: dict) -> list[list[float]]:
        """C of (9)."""
        to_go, s, labels = len(self.learners) - 1 - i, decision["scores"][i], range(self.k)
        return [[float(self.phi(to_go, r, add_vote(s, l))) for r in labels] for l in labels]


@dataclass
class AdaBandit(BanditBooster):
    """Algorithm 3, with what the library allows to change in it; by default it is the paper's."""

    _: KW_ONLY
    loss: str = "logistic"
    vote: str = "argmax"  # or "cost", "probability": see `adaboost_olm.AdaBoostOLM`
    follow: str = "draw"  # or "vote", "best"
    step: str = "theory"  # that of (11); "full": that of Adaboost.OLM
    importance_power: float = 1.0
    normalize_importance: bool = False
    weight_range: tuple[float, float] = (-2.0, 2.0)  # F
    first_weight: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.learners)
        self.alpha = [self.first_weight] * n  # line 2
        self.normalizers = [olm.Normalizer(self.importance_power, self.normalize_importance) for _ in range(n)]

    def _vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> dict:
        alpha = list(self.alpha)
        cast = olm.cast_votes(self.learners, alpha, self.k, self.loss, self.vote, numeric, nominal)
        votes, directions, scores = cast
        experts = [argmax(s) for s in scores[1:]]
        return {"votes": votes, "directions": directions, "scores": scores, "experts": experts, "alpha": alpha}

    def _follow(self, decision: dict, uniform: float) -> int:
        least = min(self.losses)
        if self.follow == "best":
            return decision["experts"][self.losses.index(least)]
        v = olm.hedge_weights([loss - least for loss in self.losses])
        if self.follow == "draw":
            return decision["experts"][olm.draw_expert(v, uniform)]  # line 7
        return olm.weighted_vote(v, decision["experts"], self.k)

    def _cost_matrix(self, i: int, decision: dict) -> list[list[float]]:
        """C of (10)."""
        by_right = olm.cost_matrix(self.loss, decision["scores"][i])
        return [[by_right[r][l] for r in range(self.k)] for l in range(self.k)]

    def _importance(self, i: int, w: float) -> float:
        return self.normalizers[i](w)

    def _update_weight(self, i: int, decision: dict, lhat: Sequence[float]) -> None:
        """(11), with the derivative of f-hat summed over the labels."""
        s, h, alpha = decision["scores"][i], decision["directions"][i], decision["alpha"][i]
        slope = sum(olm.derivative_along(self.loss, s, j, h, alpha) * (1.0 - lhat[j]) for j in range(self.k))
        low, high = self.weight_range
        eta = decision["rate"] / (self.k**2 * math.sqrt(self.t))
        if self.step == "full":
            eta = (high - low) / 4.0 * olm.step_size(self.loss, self.k, len(self.learners), i + 1, self.t)
        self.alpha[i] = max(low, min(high, self.alpha[i] - eta * slope))


@dataclass
class BinBandit:
    """Groups of binary learners: learners[i][r] is the i-th that tells class r from the rest."""

    k: int  # number of labels
    learners: Sequence[Sequence[Learner]]
    moments: RunningMoments  # shared by the learners; every learned example is counted
    _: KW_ONLY
    scales: Sequence[float]  # a factor on the importance, for each group
    edge: float  # gamma
    step: float  # of exponentiated gradient

    def __post_init__(self) -> None:
        self.theta = self.edge / (2.0 + self.edge)
        self.alpha = [[1.0 / len(self.learners)] * self.k for _ in self.learners]

    def decide(self, numeric: Sequence[float], nominal: Sequence[int], rate: float, uniforms: Sequence[float]) -> dict:
        """Guess the class of the largest weighted vote, and explore by the second of the draws."""
        h = [[2.0 * learner.predict_proba(numeric, nominal)[1] - 1.0 for learner in group] for group in self.learners]
        scores = [[0.0] * self.k]
        for alpha, votes in zip(self.alpha, h, strict=True):
            scores.append([s + a * x for s, a, x in zip(scores[-1], alpha, votes, strict=True)])
        guess = argmax(scores[-1])
        shown = explore(guess, rate, self.k, uniforms[1])
        experts = [argmax(s) for s in scores[1:]]
        example = {"numeric": numeric, "nominal": nominal, "rate": rate}
        return example | {"h": h, "experts": experts, "guess": guess, "shown": shown}

    def feedback(self, decision: dict, correct: bool) -> None:
        """Let the learners of the class shown learn whether it is right."""
        r = decision["shown"]
        decision["correct"] = correct
        sign = 1.0 if correct else -1.0
        odds = 1.0 / distribution(decision["guess"], decision["rate"], self.k)[r]
        h = [row[r] for row in decision["h"]]
        lead = sum(self.alpha[i][r] * h[i] for i in range(len(h)))
        self.moments.update(decision["numeric"])
        decision["targets"], decision["importances"] = [int(correct)] * len(h), []
        for i, group in enumerate(self.learners):
            z = sum(sign * h[j] - self.theta for j in range(i))
            w = odds * min((1.0 - self.edge) ** (z / 2.0), 1.0)
            decision["importances"].append(w)
            group[r].update(decision["numeric"], decision["nominal"], int(correct), w * self.scales[i])
        if sign * lead < self.theta:
            grown = [self.alpha[i][r] * math.exp(self.step * sign * h[i]) for i in range(len(h))]
            for i in range(len(h)):
                self.alpha[i][r] = grown[i] / sum(grown)
