"""OnlineMBBM: Algorithm 1 of Jung, Goetz and Tewari, *Online multiclass boosting*, NIPS 2017, and its potentials.

| paper | here |
|---|---|
| k, N, gamma | `k`, `len(learners)`, `edge` |
| L^r, (2) | `zero_one_loss` |
| u_gamma^r, Section 2.2 | `baseline` |
| phi_m^r, (3) | `potential`, `zero_one_potential` |
| D_t^i, (5) | `normalized_costs` |
| w^i(t), line 11 | `importance` |
| w^{i*}, line 1 | `importance_bound` |
| l_t^i, s_t^i | `votes`, `scores` |
| phi_m^r as a sum, (16) | `potential_sum` |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from edgewise.reference.learner import Learner, Round, RunningMoments, argmax, argmin_cost

State = tuple[Any, ...]  # scores or vote counts, one per label
Phi = Callable[[int, int, State], Any]


def zero_one_loss(label: int, votes: Sequence[float]) -> int:
    """L^label(votes), (2): 1 unless `label` is strictly ahead of all others."""
    return int(max(v for l, v in enumerate(votes) if l != label) >= votes[label])


def baseline(k: int, label: int, edge: Any) -> list[Any]:
    """u_gamma^label, Section 2.2: random guessing with an edge."""
    return [(1 - edge) / k + (edge if l == label else 0) for l in range(k)]


def add_vote(s: State, l: int) -> State:
    """s + e_l."""
    return s[:l] + (s[l] + 1,) + s[l + 1 :]


def potential(loss: Callable[[State], Any], chances: Sequence[Any]) -> Callable[[int, State], Any]:
    """Potential function of the recursion (3).

    phi_0(s) = L(s) and phi_{m+1}(s) = E phi_m(s + e_l) for l drawn from u: the loss to expect of m further votes.

    Parameters
    ----------
    loss : callable
        L, of a tuple of scores.
    chances : sequence of float or Fraction
        u, a probability for each label.

    Returns
    -------
    callable
        phi(m, s), which remembers its values.
    """
    known: dict[tuple[int, State], Any] = {}

    def phi(m: int, s: State) -> Any:
        if (m, s) not in known:
            if m == 0:
                known[m, s] = loss(s)
            else:
                known[m, s] = sum(chances[l] * phi(m - 1, add_vote(s, l)) for l in range(len(s)))
        return known[m, s]

    return phi


def zero_one_potential(k: int, edge: float | Fraction) -> Phi:
    """Potentials of the 0-1 loss (2) with votes drawn from the baseline u_gamma.

    Parameters
    ----------
    k : int
        Number of labels.
    edge : float or Fraction
        gamma. With a Fraction, potentials are Fractions without rounding.

    Returns
    -------
    callable
        phi(m, label, votes), phi_m^label(votes) of (3).
    """
    of_label = [potential(partial(zero_one_loss, r), baseline(k, r, edge)) for r in range(k)]
    return lambda m, label, votes: of_label[label](m, votes)


def potential_sum(edge: Fraction, m: int, label: int, votes: Sequence[int]) -> Fraction:
    """phi_m^label(votes) by (16), in whole numbers.

    Of m draws, x are the true label: count the words that the other m - x can spell, where letter l occurs less than
    x + s(label) - s(l) times.

    Parameters
    ----------
    edge : Fraction
        gamma.
    m : int
        Number of votes to come.
    label : int
        The true label.
    votes : sequence of int
        Votes so far, for each label.

    Returns
    -------
    Fraction
    """
    k = len(votes)
    wrong = (1 - edge) / k
    right = wrong + edge
    wins = Fraction(0)
    for x in range(m + 1):
        words = [1] + [0] * (m - x)
        for l, v in enumerate(votes):
            if l != label:
                cap = x + votes[label] - v
                words = [sum(math.comb(n, j) * words[n - j] for j in range(min(n + 1, cap))) for n in range(m - x + 1)]
        wins += math.comb(m, x) * right**x * wrong ** (m - x) * words[m - x]
    return 1 - wins


def importance(phi: Phi, m: int, label: int, votes: State) -> Any:
    """w of line 11: how much a vote can change with m votes to come."""
    return sum(phi(m, label, add_vote(votes, l)) - phi(m, label, add_vote(votes, label)) for l in range(len(votes)))


def normalized_costs(phi: Phi, m: int, votes: State) -> list[list[float]]:
    """D of (5), row by row: costs (4) less that of the right label, divided by their sum w; 0 where w is."""
    k = len(votes)
    rows = []
    for r in range(k):
        w = importance(phi, m, r, votes)
        cost = [phi(m, r, add_vote(votes, l)) - phi(m, r, add_vote(votes, r)) for l in range(k)]
        rows.append([float(c / w) for c in cost] if w > 0 else [0.0] * k)
    return rows


def expected_costs(phi: Phi, m: int, votes: State, chances: Sequence[float]) -> list[float]:
    """sum_r chances(r) D(r, l) for every l: the cost to expect of a vote for l."""
    rows = normalized_costs(phi, m, votes)
    return [sum(chance * row[l] for chance, row in zip(chances, rows, strict=True)) for l in range(len(votes))]


@dataclass
class OnlineMBBM:
    """Algorithm 1 under the 0-1 loss."""

    k: int  # number of labels
    learners: Sequence[Learner]  # WL^1, ..., WL^N
    moments: RunningMoments  # shared by the learners; every learned example is counted
    edge: float  # gamma
    importance_bound: float | None = None  # w^{i*}; None: k, the trivial bound of Appendix B.2
    scales: Sequence[float] | None = None  # a further factor on the importance, for each learner
    vote: str = "cost"  # the label of least expected cost; "argmax": the most likely label

    def __post_init__(self) -> None:
        self.mistakes = [0.0] * len(self.learners)
        # In rational numbers, because (5) asks whether a weight is exactly 0 before it divides by it.
        self.phi = zero_one_potential(self.k, Fraction(self.edge))

    def round(self, numeric: Sequence[float], nominal: Sequence[int], y: int, sample_weight: float = 1.0) -> Round:
        """Predict an example, then learn it: lines 3 to 13.

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
        scores: list[State] = [(0,) * self.k]  # line 4
        votes, experts = [], []
        for i, learner in enumerate(self.learners):  # lines 5 to 8
            p = learner.predict_proba(numeric, nominal)
            if self.vote == "cost":
                l = argmin_cost(p, normalized_costs(self.phi, n - 1 - i, scores[i]))
            else:
                l = argmax(p)
            votes.append(l)
            scores.append(add_vote(scores[i], l))
            experts.append(argmax(scores[-1]))
        prediction = experts[-1]  # line 9

        if sample_weight <= 0.0:
            return Round(prediction, votes, [0.0] * n, [1.0] * n, experts, mistakes)
        self.moments.update(numeric)
        bound = self.k if self.importance_bound is None else self.importance_bound
        importances = []
        for i, learner in enumerate(self.learners):  # lines 10 to 13
            w = float(importance(self.phi, n - 1 - i, y, scores[i])) / bound
            scale = 1.0 if self.scales is None else self.scales[i]
            learner.update(numeric, nominal, y, w * scale * sample_weight)
            importances.append(w)
            if experts[i] != y:
                self.mistakes[i] += sample_weight
        return Round(prediction, votes, importances, [1.0] * n, experts, mistakes)
