"""OnlineBMR and Ada.OLMR: Algorithms 1 to 3 of Jung and Tewari, *Online boosting algorithms for multi-label ranking*,
AISTATS 2018.

| paper | here |
|---|---|
| k, N, gamma | `k`, `len(learners)`, `edge` |
| Y_t | `Y`, a collection of labels |
| L_rnk^Y, L_hinge^Y, L_log^Y, with w_Y | `rank_loss`, `hinge_loss`, `logistic_loss` of `ranking_losses` |
| u_gamma^Y | `set_baseline`; gamma is at most 1/|Y| |
| phi_t^i(s), (1) | `set_potential` |
| c_t^i, line 10: (2) and (8) | `potential_costs`, `logistic_costs` |
| h_t^i, s_t^j, i_t | `vote_of`, `scores`, `_follow` |
| f', line 9 | logistic costs at s^i, times h^i |
| v_t^i, line 13 | exp(-`losses`) |
| gamma_i, after (9) | `edges` |

Learners have `predict_proba`, and `update_set`, which is given the importance of every label: max c - c[l] for a
relevant one, c[r] - min c for an irrelevant one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from edgewise.reference.adaboost_olm import hedge_weights
from edgewise.reference.learner import RunningMoments, argmax
from edgewise.reference.online_mbbm import add_vote, potential
from edgewise.reference.ranking_losses import LOSSES, Labels, Scores, logistic_costs, rank_loss

# Costs


def set_baseline(k: int, Y: Labels, edge: float) -> list[float]:
    """u_gamma^Y, with a = (1 - gamma |Y|)/k for irrelevant labels and a + gamma for relevant ones."""
    edge = min(edge, 1.0 / len(Y))
    a = (1.0 - edge * len(Y)) / k
    return [a + edge if l in Y else a for l in range(k)]


def set_potential(loss: str, m: int, s: Scores, Y: Labels, edge: float) -> float:
    """phi^m(s) of (1): the loss to expect of m further votes drawn from the baseline."""
    return potential(lambda state: LOSSES[loss](state, Y), set_baseline(len(s), Y, edge))(m, tuple(s))


def potential_costs(loss: str, m: int, s: Scores, Y: Labels, edge: float) -> list[float]:
    """c[l] = phi^m(s + e_l) of (2), with m learners to go."""
    phi = potential(lambda state: LOSSES[loss](state, Y), set_baseline(len(s), Y, edge))
    return [phi(m, add_vote(tuple(s), l)) for l in range(len(s))]


def vote_of(form: str, p: Sequence[float], cut: float, chances: Sequence[float]) -> list[float]:
    """h of Section 2.1: e_l, the mean of e_l over the labels whose chance is above `cut`, or p itself."""
    if form == "distribution":
        return list(p)
    chosen = {l for l, chance in enumerate(chances) if chance > cut} if form == "set" else set()
    chosen = chosen or {argmax(p)}
    return [1.0 / len(chosen) if l in chosen else 0.0 for l in range(len(p))]


# The boosters


class RankingRound(NamedTuple):
    """One round: the scores followed, the learners' votes and their cost vectors (none if nothing was learned)."""

    scores: list[float]
    votes: list[list[float]]
    costs: list[list[float]]


@dataclass
class Ranker:
    """Algorithm 1, the schema; boosters add lines 1, 6, 9, 10 and 13."""

    k: int  # number of labels
    learners: Sequence[Any]  # WL^1, ..., WL^N
    moments: RunningMoments  # shared by the learners; every learned example is counted
    forms: Sequence[str]  # what each learner votes: "label", "set" or "distribution"
    scales: Sequence[float]  # a factor on the importance, for each learner
    normalize_importance: bool = False  # divided by the mean, over rounds, of the mean over relevant labels

    def __post_init__(self) -> None:
        n = len(self.learners)
        self.n = n
        self.alpha = [self._first_weight()] * n  # line 1
        self.losses = [0.0] * n  # rank losses of the experts
        self.vote_costs, self.relevant_costs, self.excess = [0.0] * n, [0.0] * n, [0.0] * n
        self.importances: list[list[float]] = [[] for _ in range(n)]
        self.loss, self.start, self.t = 0.0, 0.0, 0

    def round(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Labels, uniform: float = 0.0, weight: float = 1.0
    ) -> RankingRound:
        """Rank the labels of an example, then learn which are relevant: lines 3 to 13.

        An example with no or all labels, and one of weight 0, is ranked only, and not by a draw.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        Y : collection of int
            The relevant labels, used after the ranking only.
        uniform : float
            A draw from [0, 1), where line 6 needs one.
        weight : float
            Weight of the example.

        Returns
        -------
        RankingRound
        """
        votes = self._votes(numeric, nominal)  # line 4
        scores = self._expert_scores(votes)  # line 5
        if weight == 0.0 or len(Y) in (0, self.k):
            return RankingRound(self._mean(scores), votes, [])
        followed = self._follow(scores, uniform)  # lines 6, 7
        self.t += 1
        self.loss += weight * rank_loss(followed, Y)
        self.moments.update(numeric)
        costs = [self._costs(i, scores[i], Y) for i in range(self.n)]  # line 10
        for i, (c, h) in enumerate(zip(costs, votes, strict=True)):  # lines 11, 12
            cost = sum(x * y for x, y in zip(c, h, strict=True))
            even = sum(c) / self.k
            self.vote_costs[i] += weight * (cost - even)
            self.relevant_costs[i] += weight * sum(c[l] - even for l in Y)
            # Labels with equal votes cost the same, but the recursion adds in another order for each: trees must see
            # them as equal, or the last bit would decide between them.
            gains = [round(max(c) - c[l] if l in Y else c[l] - min(c), 13) for l in range(self.k)]
            self.importances[i].append(sum(gains[l] for l in Y) / len(Y))
            if self.normalize_importance:
                mean = sum(self.importances[i]) / self.t
                gains = [gain / mean if mean > 1e-12 else 0.0 for gain in gains]
            self.learners[i].update_set(numeric, nominal, Y, [weight * self.scales[i] * gain for gain in gains])
        self._update(scores, votes, costs, Y, weight)
        return RankingRound(followed, votes, costs)

    def decision_function(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """Scores without a draw; nothing changes.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.

        Returns
        -------
        list of float
        """
        return self._mean(self._expert_scores(self._votes(numeric, nominal)))

    def edges(self) -> list[float]:
        """The empirical edges: the costs of the votes beyond an even vote's, over those of the relevant labels.

        Returns
        -------
        list of float
        """
        return [a / b if b < 0.0 else 0.0 for a, b in zip(self.vote_costs, self.relevant_costs, strict=True)]

    def _votes(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[list[float]]:
        votes = []
        for learner, form in zip(self.learners, self.forms, strict=True):
            p = learner.predict_proba(numeric, nominal)
            if hasattr(learner, "chances"):
                votes.append(vote_of(form, p, 0.5, learner.chances))
            else:
                votes.append(vote_of(form, p, 1.0 / self.k, p))
        return votes

    def _expert_scores(self, votes: Sequence[Sequence[float]]) -> list[list[float]]:
        """s^0, ..., s^N."""
        scores = [[0.0] * self.k]
        for alpha, h in zip(self.alpha, votes, strict=True):
            scores.append([s + alpha * x for s, x in zip(scores[-1], h, strict=True)])
        return scores

    def _first_weight(self) -> float:
        raise NotImplementedError

    def _follow(self, scores: list[list[float]], uniform: float) -> list[float]:
        raise NotImplementedError

    def _mean(self, scores: list[list[float]]) -> list[float]:
        """The scores to predict by where nothing is drawn."""
        raise NotImplementedError

    def _costs(self, i: int, s: list[float], Y: Labels) -> list[float]:
        """c of learner i = 0, ..., N - 1, which comes after scores s."""
        raise NotImplementedError

    def _update(self, scores: Any, votes: Any, costs: Any, Y: Labels, weight: float) -> None:
        raise NotImplementedError


@dataclass
class OnlineBMR(Ranker):
    """Algorithm 2."""

    loss_name: str = "hinge"  # or "rank"
    edge: float = 0.1  # gamma

    def _first_weight(self) -> float:
        return 1.0  # lines 1, 9

    def _follow(self, scores: list[list[float]], uniform: float) -> list[float]:
        return scores[-1]  # line 6

    def _mean(self, scores: list[list[float]]) -> list[float]:
        return scores[-1]

    def _costs(self, i: int, s: list[float], Y: Labels) -> list[float]:
        return potential_costs(self.loss_name, self.n - 1 - i, s, Y, self.edge)  # line 10

    def _update(self, scores: Any, votes: Any, costs: Any, Y: Labels, weight: float) -> None:
        """What Theorem 2 sums up: phi^N(0), and every learner's cost beyond the baseline's."""
        self.start += weight * set_potential(self.loss_name, self.n, [0.0] * self.k, Y, self.edge)
        u = set_baseline(self.k, Y, self.edge)
        for i, (c, h) in enumerate(zip(costs, votes, strict=True)):
            self.excess[i] += weight * sum(c[l] * (h[l] - u[l]) for l in range(self.k))


@dataclass
class AdaOLMR(Ranker):
    """Algorithm 3."""

    follow: str = "draw"  # by Hedge; "mean": scores averaged with Hedge's weights; "best": the least rank loss

    def _first_weight(self) -> float:
        return 0.0  # line 1

    def _follow(self, scores: list[list[float]], uniform: float) -> list[float]:
        if self.follow != "draw":
            return self._mean(scores)
        v = hedge_weights(self.losses)
        chosen = 0
        for i in range(self.n):  # line 6: the draw among the first i experts, for i = 1, ..., N
            chance = v[i] / sum(v[: i + 1])
            if uniform < chance:
                chosen, uniform = i, uniform / chance
            else:
                uniform = (uniform - chance) / (1.0 - chance)
        return scores[1 + chosen]

    def _mean(self, scores: list[list[float]]) -> list[float]:
        if self.follow == "best":
            return scores[1 + self.losses.index(min(self.losses))]
        v = hedge_weights(self.losses)
        return [sum(v[i] * scores[1 + i][l] for i in range(self.n)) / sum(v) for l in range(self.k)]

    def _costs(self, i: int, s: list[float], Y: Labels) -> list[float]:
        return logistic_costs(s, Y)  # line 10

    def _update(self, scores: Any, votes: Any, costs: Any, Y: Labels, weight: float) -> None:
        for i in range(self.n):
            slope = sum(c * x for c, x in zip(logistic_costs(scores[i + 1], Y), votes[i], strict=True))
            self.alpha[i] = max(-2.0, min(2.0, self.alpha[i] - weight * slope / math.sqrt(self.t)))  # line 9
            self.losses[i] += weight * rank_loss(scores[i + 1], Y)  # line 13


class LabelCurves:
    """Calibration: a logistic curve per label over scores less their mean, in units of their spread so far."""

    def __init__(self, k: int) -> None:
        self.a, self.b = [1.0] * k, [0.0] * k
        self.squares = [[0.0, 0.0] for _ in range(k)]
        self.seen: list[float] = []  # squared distances to the mean

    def inputs(self, scores: Scores) -> list[float]:
        mean = sum(scores) / len(scores)
        unit = math.sqrt(sum(self.seen) / len(self.seen)) if sum(self.seen) > 0.0 else 1.0
        return [max(-5.0, min(5.0, (s - mean) / unit)) for s in scores]

    def predict_proba(self, scores: Scores) -> list[float]:
        """Every label's chance to be relevant."""
        z = self.inputs(scores)
        return [1.0 / (1.0 + math.exp(-(a * x + b))) for a, x, b in zip(self.a, z, self.b, strict=True)]

    def update(self, scores: Scores, Y: Labels, weight: float) -> None:
        """An AdaGrad step of every curve on its log loss."""
        z, p = self.inputs(scores), self.predict_proba(scores)
        for l in range(len(scores)):
            error = weight * (p[l] - (l in Y))
            for c, slope in enumerate((error * z[l], error)):
                self.squares[l][c] += slope**2
                step = 0.2 * slope / math.sqrt(self.squares[l][c]) if self.squares[l][c] > 0.0 else 0.0
                self.a[l] -= step if c == 0 else 0.0
                self.b[l] -= step if c == 1 else 0.0
        mean = sum(scores) / len(scores)
        self.seen += [(s - mean) ** 2 for s in scores]
