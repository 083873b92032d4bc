"""OnlineBMR and Ada.OLMR as Algorithms 1 to 3 of Jung and Tewari 2018 print them: slow, and meant to be read.

| paper | here |
|---|---|
| L_rank^Y, L_hinge^Y, L_log^Y | `loss`, with w_Y |
| u_gamma^Y | `baseline`; gamma is at most 1/|Y| |
| phi_t^i(s), (1) | `potential`, by the recursion |
| c_t^i, (2) and (8) | `potential_costs`, `logistic_costs` |

A set of labels is a Python set. Learners have `vote`, a distribution, and `learn_set`, which is given the importance of
every label: max c - c[l] for a relevant one, c[r] - min c for an irrelevant one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from edgewise.reference.hoeffding_tree import Moments, Tree, argmax
from edgewise.reference.linear import SoftmaxRegression

# Losses and costs


def pairs(k: int, Y: Collection[int]) -> list[tuple[int, int]]:
    return [(l, r) for l in range(k) if l in Y for r in range(k) if r not in Y]


def loss(name: str, s: Sequence[float], Y: Collection[int]) -> float:
    total = 0.0
    for l, r in pairs(len(s), Y):
        if name == "rank":
            total += 1.0 if s[l] < s[r] else 0.5 if s[l] == s[r] else 0.0
        elif name == "hinge":
            total += max(1.0 + s[r] - s[l], 0.0)
        else:
            total += math.log(1.0 + math.exp(s[r] - s[l]))
    return total / len(pairs(len(s), Y))


def logistic_costs(s: Sequence[float], Y: Collection[int]) -> list[float]:
    """Gradient (8)."""
    c = [0.0] * len(s)
    for l, r in pairs(len(s), Y):
        slope = 1.0 / (1.0 + math.exp(s[l] - s[r])) / len(pairs(len(s), Y))
        c[l] -= slope
        c[r] += slope
    return c


def baseline(k: int, Y: Collection[int], gamma: float) -> list[float]:
    gamma = min(gamma, 1.0 / len(Y))
    a = (1.0 - gamma * len(Y)) / k
    return [a + gamma if l in Y else a for l in range(k)]


def potential(name: str, i: int, s: Sequence[float], Y: Collection[int], gamma: float) -> float:
    """phi^i(s) by (1). States that differ by the order of draws only are one state."""
    u = baseline(len(s), Y, gamma)
    known: dict[tuple[int, ...], float] = {}

    def phi(drawn: tuple[int, ...]) -> float:
        if drawn not in known:
            if sum(drawn) == i:
                known[drawn] = loss(name, [x + n for x, n in zip(s, drawn, strict=True)], Y)
            else:
                known[drawn] = sum(u[l] * phi(tuple(n + (j == l) for j, n in enumerate(drawn))) for l in range(len(s)))
        return known[drawn]

    return phi((0,) * len(s))


def potential_costs(name: str, i: int, s: Sequence[float], Y: Collection[int], gamma: float) -> list[float]:
    """(2) with i learners to go."""
    return [potential(name, i, [x + (j == l) for j, x in enumerate(s)], Y, gamma) for l in range(len(s))]


# Votes and learners


def vote_of(form: str, p: Sequence[float], cut: float, chances: Sequence[float]) -> list[float]:
    """h of Section 2.1: e_l, the mean of e_l over a set, or p itself. `chances` above `cut` make the set."""
    if form == "distribution":
        return list(p)
    named = {l for l, chance in enumerate(chances) if chance > cut} if form == "set" else set()
    named = named or {argmax(p)}
    return [1.0 / len(named) if l in named else 0.0 for l in range(len(p))]


class SetTree(Tree):
    """A tree that takes the relevant labels of an example one by one; its record counts what it said before them."""

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        node = self.root
        while node["kind"] != "leaf":
            branch = self.branch(node, numeric, nominal)
            node = node["children"].get(branch, node["children"][node["default"]])
        self.spoken = node, argmax(self.majority(node)), argmax(self.naive_bayes(node, numeric, nominal))
        return super().vote(numeric, nominal)

    def learn_set(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Collection[int], gains: Sequence[float]
    ) -> None:
        leaf_mode = self.leaf
        for y in sorted(Y):
            if gains[y] <= 0.0:
                continue
            _, _, leaf, fresh = self.find(numeric, nominal)
            spoke, majority, bayes = self.spoken
            if leaf_mode == "adaptive" and leaf is spoke and not fresh:
                leaf["right_majority"] += gains[y] if majority == y else 0.0
                leaf["right_bayes"] += gains[y] if bayes == y else 0.0
            self.leaf = "counted already"
            self.learn(numeric, nominal, y, gains[y])
            self.leaf = leaf_mode


class SetSoftmax(SoftmaxRegression):
    """One AdaGrad step on sum over relevant l of gains[l] times the log loss of l."""

    binary = False

    def learn_set(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Collection[int], gains: Sequence[float]
    ) -> None:
        z = self.spoken
        p = self.probabilities(z)
        for c in range(self.k):
            if self.binary:
                g = gains[c] * (p[c] - (1.0 if c in Y else 0.0))
            else:
                g = sum(gains[l] * (p[c] - (1.0 if c == l else 0.0)) for l in Y)
            for e, value in z.items():
                self.squares[c][e] = self.squares[c].get(e, 0.0) + (g * value) ** 2
                if self.squares[c][e] > 0.0:
                    step = self.step * g * value / math.sqrt(self.squares[c][e])
                    self.weights[c][e] = self.weights[c].get(e, 0.0) - step


class SetLogistic(SetSoftmax):
    """A logistic regression per label."""

    binary = True

    def probabilities(self, z: dict[Any, float]) -> list[float]:
        logits = [sum(self.weights[c].get(e, 0.0) * value for e, value in z.items()) for c in range(self.k)]
        return [1.0 / (1.0 + math.exp(-x)) for x in logits]

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        self.chances = super().vote(numeric, nominal)
        return [chance / sum(self.chances) for chance in self.chances]


# The boosters


class Round(NamedTuple):
    scores: list[float]  # of the expert followed
    votes: list[list[float]]
    costs: list[list[float]]


class Ranker:
    """Algorithm 1. `forms` and `scales` are the vote format and the importance constant of each learner.

    `normalize` divides importances by the mean, over rounds, of the mean over relevant labels; not in the paper.
    """

    normalize = False

    def __init__(
        self, k: int, learners: Sequence[Any], moments: Moments, forms: Sequence[str], scales: Sequence[float]
    ) -> None:
        n = len(learners)
        self.k, self.n, self.learners, self.moments = k, n, learners, moments
        self.forms, self.scales = forms, scales
        self.alpha = [1.0] * n
        self.losses = [0.0] * n
        self.vote_costs, self.relevant_costs, self.excess = [0.0] * n, [0.0] * n, [0.0] * n
        self.importances: list[list[float]] = [[] for _ in range(n)]
        self.loss = 0.0
        self.t = 0

    def votes(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[list[float]]:
        votes = []
        for learner, form in zip(self.learners, self.forms, strict=True):
            p = learner.vote(numeric, nominal)
            binary = isinstance(learner, SetLogistic)
            votes.append(vote_of(form, p, 0.5 if binary else 1.0 / self.k, learner.chances if binary else p))
        return votes

    def experts(self, votes: Sequence[Sequence[float]]) -> list[list[float]]:
        """s^0, ..., s^N."""
        scores = [[0.0] * self.k]
        for alpha, h in zip(self.alpha, votes, strict=True):
            scores.append([s + alpha * x for s, x in zip(scores[-1], h, strict=True)])
        return scores

    def round(
        self,
        numeric: Sequence[float],
        nominal: Sequence[int],
        Y: Collection[int],
        uniform: float = 0.0,
        weight: float = 1.0,
    ) -> Round:
        votes = self.votes(numeric, nominal)
        scores = self.experts(votes)
        if weight == 0.0 or len(Y) in (0, self.k):
            return Round(self.sure(scores), votes, [])
        followed = self.follow(scores, uniform)
        self.t += 1
        self.loss += weight * loss("rank", followed, Y)
        self.moments.learn(numeric)
        costs = [self.costs(i, scores[i], Y) for i in range(self.n)]
        for i, (c, h) in enumerate(zip(costs, votes, strict=True)):
            cost = sum(x * y for x, y in zip(c, h, strict=True))
            even = sum(c) / self.k
            self.vote_costs[i] += weight * (cost - even)
            self.relevant_costs[i] += weight * sum(c[l] - even for l in Y)
            self.beyond(i, weight * cost, [weight * x for x in c], Y)
            # Labels with equal votes cost the same, but the recursion adds in another order for each: trees must see
            # them as equal, or the last bit would decide between them.
            gains = [round(max(c) - c[l] if l in Y else c[l] - min(c), 13) for l in range(self.k)]
            self.importances[i].append(sum(gains[l] for l in Y) / len(Y))
            if self.normalize:
                mean = sum(self.importances[i]) / self.t
                gains = [gain / mean if mean > 1e-12 else 0.0 for gain in gains]
            self.learners[i].learn_set(numeric, nominal, Y, [weight * self.scales[i] * gain for gain in gains])
        self.move(scores, votes, Y, weight)
        return Round(followed, votes, costs)

    def edges(self) -> list[float]:
        return [a / b if b < 0.0 else 0.0 for a, b in zip(self.vote_costs, self.relevant_costs, strict=True)]

    def beyond(self, i: int, cost: float, costs: Sequence[float], Y: Collection[int]) -> None:
        pass

    def move(self, scores: Any, votes: Any, Y: Collection[int], weight: float) -> None:
        pass


class OnlineBMR(Ranker):
    """Algorithm 2."""

    def __init__(self, *args: Any, loss: str, edge: float) -> None:
        super().__init__(*args)
        self.name, self.edge = loss, edge
        self.start = 0.0

    def follow(self, scores: list[list[float]], uniform: float) -> list[float]:
        return scores[-1]

    def sure(self, scores: list[list[float]]) -> list[float]:
        return scores[-1]

    def costs(self, i: int, s: list[float], Y: Collection[int]) -> list[float]:
        return potential_costs(self.name, self.n - 1 - i, s, Y, self.edge)

    def beyond(self, i: int, cost: float, costs: Sequence[float], Y: Collection[int]) -> None:
        self.excess[i] += cost - sum(c * u for c, u in zip(costs, baseline(self.k, Y, self.edge), strict=True))

    def move(self, scores: Any, votes: Any, Y: Collection[int], weight: float) -> None:
        self.start += weight * potential(self.name, self.n, [0.0] * self.k, Y, self.edge)


class AdaOLMR(Ranker):
    """Algorithm 3; `how` is "draw", "mean" or "best"."""

    def __init__(self, *args: Any, how: str) -> None:
        super().__init__(*args)
        self.how = how
        self.alpha = [0.0] * self.n

    def follow(self, scores: list[list[float]], uniform: float) -> list[float]:
        if self.how != "draw":
            return self.sure(scores)
        v = [math.exp(-x) for x in self.losses]
        chosen = 0
        for i in range(self.n):  # the draw among the first i experts, for i = 1, ..., N
            chance = v[i] / sum(v[: i + 1])
            if uniform < chance:
                chosen, uniform = i, uniform / chance
            else:
                uniform = (uniform - chance) / (1.0 - chance)
        return scores[1 + chosen]

    def sure(self, scores: list[list[float]]) -> list[float]:
        if self.how == "best":
            return scores[1 + self.losses.index(min(self.losses))]
        v = [math.exp(-x) for x in self.losses]
        return [sum(v[i] * scores[1 + i][l] for i in range(self.n)) / sum(v) for l in range(self.k)]

    def costs(self, i: int, s: list[float], Y: Collection[int]) -> list[float]:
        return logistic_costs(s, Y)

    def move(self, scores: Any, votes: Any, Y: Collection[int], weight: float) -> None:
        for i in range(self.n):
            slope = sum(c * x for c, x in zip(logistic_costs(scores[i + 1], Y), votes[i], strict=True))
            self.alpha[i] = max(-2.0, min(2.0, self.alpha[i] - weight * slope / math.sqrt(self.t)))
            self.losses[i] += weight * loss("rank", scores[i + 1], Y)


class Curves:
    """A logistic curve per label over scores less their mean, in units of their root mean square so far."""

    def __init__(self, k: int) -> None:
        self.a, self.b = [1.0] * k, [0.0] * k
        self.squares = [[0.0, 0.0] for _ in range(k)]
        self.seen: list[float] = []  # squared distances to the mean

    def inputs(self, scores: Sequence[float]) -> list[float]:
        mean = sum(scores) / len(scores)
        unit = math.sqrt(sum(self.seen) / len(self.seen)) if sum(self.seen) > 0.0 else 1.0
        return [max(-5.0, min(5.0, (s - mean) / unit)) for s in scores]

    def say(self, scores: Sequence[float]) -> list[float]:
        z = self.inputs(scores)
        return [1.0 / (1.0 + math.exp(-(a * x + b))) for a, x, b in zip(self.a, z, self.b, strict=True)]

    def learn(self, scores: Sequence[float], Y: Collection[int], weight: float) -> None:
        z, p = self.inputs(scores), self.say(scores)
        for l in range(len(scores)):
            error = weight * (p[l] - (1.0 if l in Y else 0.0))
            for c, slope in enumerate((error * z[l], error)):
                self.squares[l][c] += slope**2
                step = 0.2 * slope / math.sqrt(self.squares[l][c]) if self.squares[l][c] > 0.0 else 0.0
                self.a[l] -= step if c == 0 else 0.0
                self.b[l] -= step if c == 1 else 0.0
        mean = sum(scores) / len(scores)
        self.seen += [(s - mean) ** 2 for s in scores]
