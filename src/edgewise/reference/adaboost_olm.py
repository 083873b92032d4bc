"""Adaboost.OLM: Algorithm 2 of Jung, Goetz and Tewari, *Online multiclass boosting*, NIPS 2017, with its losses.

| paper | here |
|---|---|
| k, N | `k`, `len(learners)` |
| L^r(s), (8), (36), (39) | `surrogate_loss` |
| C(r, l), (9), (37), (40) | `cost_matrix` |
| f'(alpha), (10) with its sign corrected, (38), (41) | `derivative`, `derivative_along` |
| w^i(t), line 14 with C(y, y) in place of C(y, l), as Section 4.2 has it | `importance` |
| F = [-c, c], eta_t^i | `feasible_bound` gives c, `step_size` |
| v_t^i, line 15; i_t, line 10 | `hedge_weights`, `draw_expert` |
| l_t^i, s_t^i, y_t^i | `votes`, `scores`, `experts` |
| alpha_t^i | `alpha` |
| gamma_i, Section 4.2 | `edges` |

The losses (36) to (41) are those of Appendix D. The softmax loss -log softmax(s)_r is not in the paper: its cost row
softmax(s) - e_r is its gradient, its step that of F = [-2, 2] and gradients of at most 1 in each learner weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from edgewise.reference.learner import Learner, Round, RunningMoments, argmax, argmin_cost, unit_vector

LOSSES = ("logistic", "exponential", "square_hinge")
SOFTMAX = "softmax"


# Losses


def softmax(scores: Sequence[float]) -> list[float]:
    """e^s(l) over the sum of e^s."""
    e = [math.exp(s - max(scores)) for s in scores]
    return [x / sum(e) for x in e]


def surrogate_loss(loss: str, scores: Sequence[float], label: int) -> float:
    """L^r(s) with r = label: (8), (36), (39), or the softmax loss."""
    if loss == SOFTMAX:
        return math.log(sum(math.exp(s - scores[label]) for s in scores))
    total = 0.0
    for l in range(len(scores)):
        if l == label:
            continue
        gap = scores[l] - scores[label]
        if loss == "logistic":
            total += math.log(1.0 + math.exp(gap))
        elif loss == "exponential":
            total += math.exp(gap)
        else:
            total += 0.5 * max(0.0, gap + 1.0) ** 2
    return total


def cost_matrix(loss: str, scores: Sequence[float]) -> list[list[float]]:
    """C(r, l) for every true label r and vote l: (9), (37), (40), or the gradient of the softmax loss."""
    k = len(scores)
    if loss == SOFTMAX:
        shares = softmax(scores)
        return [[shares[l] - (1.0 if l == r else 0.0) for l in range(k)] for r in range(k)]
    matrix = [[0.0] * k for _ in range(k)]
    for r in range(k):
        for l in range(k):
            if l == r:
                continue
            if loss == "logistic":
                matrix[r][l] = 1.0 / (1.0 + math.exp(scores[r] - scores[l]))
            elif loss == "exponential":
                matrix[r][l] = math.exp(scores[l] - scores[r])
            else:
                matrix[r][l] = max(0.0, scores[l] - scores[r] + 1.0)
        matrix[r][r] = -sum(matrix[r][j] for j in range(k) if j != r)
    return matrix


def derivative(loss: str, scores: Sequence[float], label: int, vote: int, alpha: float) -> float:
    """f'(alpha) of f(alpha) = L^label(scores + alpha e_vote)."""
    if loss == SOFTMAX:
        return derivative_along(loss, scores, label, unit_vector(len(scores), vote), alpha)
    s, y = scores, label
    others = [j for j in range(len(s)) if j != y]
    if vote != y:
        if loss == "logistic":
            return 1.0 / (1.0 + math.exp(s[y] - s[vote] - alpha))
        if loss == "exponential":
            return math.exp(s[vote] + alpha - s[y])
        return max(0.0, s[vote] + alpha - s[y] + 1.0)
    if loss == "logistic":
        return -sum(1.0 / (1.0 + math.exp(s[y] + alpha - s[j])) for j in others)
    if loss == "exponential":
        return -sum(math.exp(s[j] - alpha - s[y]) for j in others)
    return -sum(max(0.0, s[j] - alpha - s[y] + 1.0) for j in others)


def derivative_along(loss: str, scores: Sequence[float], label: int, h: Sequence[float], alpha: float) -> float:
    """f'(alpha) of f(alpha) = L^label(scores + alpha h): the gradient there, which is the cost row, along h."""
    row = cost_matrix(loss, [s + alpha * x for s, x in zip(scores, h, strict=True)])[label]
    return sum(cost * x for cost, x in zip(row, h, strict=True))


def importance(loss: str, scores: Sequence[float], label: int) -> float:
    """w^i(t) of line 14: minus the cost of the right vote; the paper's losses divide it by k - 1."""
    w = -cost_matrix(loss, scores)[label][label]
    return w if loss == SOFTMAX else w / (len(scores) - 1)


def feasible_bound(loss: str, n_learners: int) -> float:
    """Half the width of F: 2, or c = 1/sqrt(N) of Theorem 13."""
    return 1.0 / math.sqrt(n_learners) if loss == "square_hinge" else 2.0


def step_size(loss: str, k: int, n_learners: int, i: int, t: int) -> float:
    """eta_t^i of learner i = 1..N at round t = 1, 2, ..."""
    if loss == SOFTMAX:
        return 2.0 * math.sqrt(2.0) / math.sqrt(t)
    if loss == "logistic":
        return 2.0 * math.sqrt(2.0) / ((k - 1) * math.sqrt(t))
    if loss == "exponential":
        return 2.0 * math.sqrt(2.0) / ((k - 1) * math.sqrt(t)) * math.exp(-i)
    c = 1.0 / math.sqrt(n_learners)
    return math.sqrt(2.0) * c / ((k - 1 + c * n_learners) * math.sqrt(t))


# Hedge (Freund and Schapire 1997) with step 1


def hedge_weights(mistakes: Sequence[float]) -> list[float]:
    """v_i = exp(-mistakes of expert i): line 15 of all rounds so far."""
    return [math.exp(-m) for m in mistakes]


def draw_expert(expert_weights: Sequence[float], uniform: float) -> int:
    """i_t of line 10: the first expert whose cumulative weight exceeds uniform * total."""
    goal = uniform * sum(expert_weights)
    cumulative = 0.0
    for i, v in enumerate(expert_weights):
        cumulative += v
        if cumulative > goal:
            return i
    return len(expert_weights) - 1


def weighted_vote(expert_weights: Sequence[float], labels: Sequence[int], k: int) -> int:
    """The label that the experts predict with the largest weight; ties go to the lowest label."""
    totals = [0.0] * k
    for v, label in zip(expert_weights, labels, strict=True):
        totals[label] += v
    return argmax(totals)


# The booster


def cast_votes(
    learners: Sequence[Learner],
    alpha: Sequence[float],
    k: int,
    loss: str,
    vote: str,
    numeric: Sequence[float],
    nominal: Sequence[int],
) -> tuple[list[int], list[list[float]], list[list[float]]]:
    """Lines 4 to 7: every learner's label, its vote h with s^i = s^{i-1} + alpha_i h, and s^0, s^1, ..., s^N."""
    votes, directions, scores = [], [], [[0.0] * k]
    for i, learner in enumerate(learners):
        p = learner.predict_proba(numeric, nominal)
        l = argmin_cost(p, cost_matrix(loss, scores[i])) if vote == "cost" else argmax(p)
        h = p if vote == "probability" else unit_vector(k, l)
        votes.append(l)
        directions.append(h)
        scores.append([s + alpha[i] * x for s, x in zip(scores[i], h, strict=True)])
    return votes, directions, scores


class Normalizer:
    """w^power, divided by its mean over the rounds so far if `normalize` is set: the importance of one learner."""

    def __init__(self, power: float, normalize: bool) -> None:
        self.power, self.normalize = power, normalize
        self.powers: list[float] = []

    def __call__(self, w: float) -> float:
        self.powers.append(w**self.power)
        if not self.normalize:
            return self.powers[-1]
        mean = sum(self.powers) / len(self.powers)
        return self.powers[-1] / mean if mean > 0.0 else 0.0


@dataclass
class AdaBoostOLM:
    """Algorithm 2, with what the library allows to change in it; by default it is the paper's."""

    k: int  # number of labels
    learners: Sequence[Learner]  # WL^1, ..., WL^N
    moments: RunningMoments  # shared by the learners; every learned example is counted
    scales: Sequence[float] | None = None  # a further factor on the importance, for each learner
    loss: str = "logistic"  # or "exponential", "square_hinge", "softmax"
    vote: str = "cost"  # a learner adds e_l for its label of least expected cost; "argmax": its most likely label;
    # "probability": its distribution
    follow: str = "draw"  # by Hedge; "vote": the weighted vote of all experts; "best": the expert of fewest mistakes
    importance_power: float = 1.0  # learners learn with w to this power,
    normalize_importance: bool = False  # divided by its mean over the rounds so far
    weight_range: tuple[float, float] | None = None  # F; None: that of the loss
    first_weight: float = 0.0  # learner weights before round 1
    calibrate: bool = False  # decisions are multiplied by e^u, where u descends the log loss of their softmax
    single_experts: bool = False  # every learner alone is an expert too, after those of the first i learners

    def __post_init__(self) -> None:
        n = len(self.learners)
        c = feasible_bound(self.loss, n)
        self.low, self.high = self.weight_range or (-c, c)
        self.alpha = [self.first_weight] * n  # line 1
        self.mistakes = [0.0] * (2 * n if self.single_experts else n)  # v = exp(-mistakes), so v_1 = 1
        self.normalizers = [Normalizer(self.importance_power, self.normalize_importance) for _ in range(n)]
        self.right_costs, self.vote_costs = [0.0] * n, [0.0] * n  # of the edges
        self.u = 0.0
        self.slopes: list[float] = []
        self.t = 0

    def round(
        self, numeric: Sequence[float], nominal: Sequence[int], y: int, uniform: float, sample_weight: float = 1.0
    ) -> Round:
        """Predict an example, then learn it: lines 3 to 16.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        y : int
            The label, used after the prediction only.
        uniform : float
            A draw from [0, 1), for line 10.
        sample_weight : float
            Weight of the example; with 0 it is predicted only, and not by a draw.

        Returns
        -------
        Round
        """
        n = len(self.learners)
        alpha, mistakes = list(self.alpha), list(self.mistakes)
        votes, directions, scores = self._votes(numeric, nominal)  # lines 4 to 7
        experts = [argmax(s) for s in scores[1:]]  # line 8
        if self.single_experts:
            experts += votes

        v = hedge_weights(mistakes)
        if self.follow == "best":
            prediction = experts[mistakes.index(min(mistakes))]
        elif self.follow == "draw" and sample_weight > 0.0:
            prediction = experts[draw_expert(v, uniform)]  # lines 10, 11
        else:
            prediction = weighted_vote(v, experts, self.k)

        if sample_weight <= 0.0:
            return Round(prediction, votes, [0.0] * n, alpha, experts, mistakes)
        if self.calibrate:
            self._update_factor(self.decision_function(numeric, nominal), y, sample_weight)
        self.moments.update(numeric)
        self.t += 1
        importances = []
        for i, learner in enumerate(self.learners):  # lines 12 to 16
            if self.vote == "probability":
                slope = derivative_along(self.loss, scores[i], y, directions[i], alpha[i])
            else:
                slope = derivative(self.loss, scores[i], y, votes[i], alpha[i])
            # The paper's step is for its own feasible set; it grows with the diameter.
            diameter = (self.high - self.low) / (2.0 * feasible_bound(self.loss, n))
            eta = diameter * step_size(self.loss, self.k, n, i + 1, self.t)
            self.alpha[i] = max(self.low, min(self.high, alpha[i] - eta * slope * sample_weight))  # line 13
            w = self.normalizers[i](importance(self.loss, scores[i], y))
            scale = 1.0 if self.scales is None else self.scales[i]
            learner.update(numeric, nominal, y, w * scale * sample_weight)  # line 14
            importances.append(w)
            row = cost_matrix(self.loss, scores[i])[y]
            self.right_costs[i] += sample_weight * row[y]
            self.vote_costs[i] += sample_weight * sum(c * h for c, h in zip(row, directions[i], strict=True))
        for j, label in enumerate(experts):  # line 15
            if label != y:
                self.mistakes[j] += sample_weight
        return Round(prediction, votes, importances, alpha, experts, mistakes)

    def decision_function(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """Mean of the experts' scores by the weights of Hedge, times the factor e^u.

        The scores of a learner alone are what it adds to those of the learners before it.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.

        Returns
        -------
        list of float
        """
        _, directions, scores = self._votes(numeric, nominal)
        of_experts = scores[1:]
        if self.single_experts:
            of_experts += [[a * x for x in h] for a, h in zip(self.alpha, directions, strict=True)]
        v = hedge_weights(self.mistakes)
        means = [sum(a * s[l] for a, s in zip(v, of_experts, strict=True)) / sum(v) for l in range(self.k)]
        return [math.exp(self.u) * mean for mean in means]

    def edges(self) -> list[float]:
        """gamma_i = sum_t <C(y_t), h_t> / sum_t C(y_t, y_t), with h_t = e_l for a vote for label l.

        Returns
        -------
        list of float
        """
        return [a / b for a, b in zip(self.vote_costs, self.right_costs, strict=True)]

    def _votes(
        self, numeric: Sequence[float], nominal: Sequence[int]
    ) -> tuple[list[int], list[list[float]], list[list[float]]]:
        return cast_votes(self.learners, self.alpha, self.k, self.loss, self.vote, numeric, nominal)

    def _update_factor(self, decisions: Sequence[float], y: int, sample_weight: float) -> None:
        """AdaGrad's step of u: the loss of decisions e^u m has the derivative sum_l (p_l - [l = y]) e^u m_l in u.

        A slope of 1 counts as seen at the start, or steps would follow the rounding of scores that are equal.
        """
        p = softmax(decisions)
        slope = sum((p[l] - (l == y)) * decisions[l] for l in range(self.k)) * sample_weight
        self.slopes.append(slope)
        self.u -= 0.2 * slope / math.sqrt(1.0 + sum(g**2 for g in self.slopes))
