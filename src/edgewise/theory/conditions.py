"""Weak-learning conditions of a finite space of hypotheses, decided by linear programming.

Mukherjee and Schapire, "A Theory of Multiclass Boosting", NIPS 2010, Sections 2 and 3. docs/batch.md has the proofs.

| paper | here |
|---|---|
| H, a hypothesis h in H | `HypothesisSpace`, a row of `predictions` |
| m examples, k labels | `n_examples`, `n_classes` |
| lambda | `mixture`, a distribution over the hypotheses |
| C, the cost matrix | `costs` [n_examples, n_classes] |
| condition (C, B), eq. (2) | `Condition`: the rays of the cone, and the baseline as a function of gamma |
| gamma | `edge` |

One program decides all. With votes F(i, l) = sum over h of lambda(h) 1[h(i) = l], the minimax theorem turns
"every cost matrix of the cone has a hypothesis that costs at most as much as B" into "some lambda has <g, F(i) - B(i)>
<= 0 for every ray g of the cone and every example i", and each baseline here is linear in gamma:

    maximize gamma over (lambda, gamma)  subject to  <g, F(i)> <= <g, B_0(i)> + gamma <g, D(i)>  for all g, i.

Its dual variables weigh the rays: the cost matrix that shows that no larger gamma holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

# Margins and edges closer to a threshold than this count as on it: ten times the accuracy asked of the solver.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class HypothesisSpace:
    """A finite space of hypotheses: what each predicts on each example. Labels are 0 .. n_classes - 1."""

    predictions: np.ndarray
    """[n_hypotheses, n_examples]"""
    labels: np.ndarray
    """[n_examples], of at least 2 classes"""
    n_classes: int

    def __post_init__(self) -> None:
        if int(self.n_classes) != self.n_classes or self.n_classes < 2:
            raise ValueError(f"n_classes={self.n_classes}: an integer of at least 2 is allowed")
        for name, dimensions in (("labels", 1), ("predictions", 2)):
            given = np.asarray(getattr(self, name))
            if given.ndim != dimensions or given.size == 0:
                raise ValueError(
                    f"{name} of shape {given.shape}: a filled array of {dimensions} dimension(s) is needed"
                )
            if given.dtype.kind not in "iu":
                raise ValueError(f"{name} of type {given.dtype}: integers in 0 .. {self.n_classes - 1} are allowed")
            outside = (given < 0) | (given >= self.n_classes)
            if outside.any():
                place = tuple(int(j) for j in np.argwhere(outside)[0])
                entry = f"{name}[{', '.join(map(str, place))}]={given[place]}"
                raise ValueError(f"{entry}: labels in 0 .. {self.n_classes - 1} are allowed")
            object.__setattr__(self, name, given.astype(np.int64))
        n = self.labels.size
        if self.predictions.shape[1] != n:
            raise ValueError(
                f"predictions for {self.predictions.shape[1]} examples and {n} labels: one of each is needed"
            )
        if np.unique(self.labels).size < 2:
            raise ValueError(f"labels are all {self.labels[0]}: at least 2 classes must occur")

    @property
    def n_examples(self) -> int:
        return self.labels.size

    def votes(self, mixture: np.ndarray) -> np.ndarray:
        """F(i, l), the share of the mixture that predicts l on example i."""
        total = np.zeros((self.n_examples, self.n_classes))
        for weight, row in zip(mixture, self.predictions, strict=True):
            total[np.arange(self.n_examples), row] += weight
        return total

    def costs_of_hypotheses(self, costs: np.ndarray) -> np.ndarray:
        """C . 1_h for every hypothesis h."""
        return costs[np.arange(self.n_examples), self.predictions].sum(axis=1)

    def columns(self) -> np.ndarray:
        """For each example the labels with the right one first: the paper's "the true label is always 1"."""
        return (self.labels[:, None] + np.arange(self.n_classes)) % self.n_classes


Rays = Callable[[int], np.ndarray]
Row = Callable[[int, float], np.ndarray]


@dataclass(frozen=True)
class Condition:
    """A pair (cone of cost matrices, baseline B_gamma) of eq. (2), each given by a row whose first label is right."""

    name: str
    rays: Rays = field(repr=False)
    """k -> [n_rays, k]. Every row of a cost matrix of the cone is a sum of these with weights >= 0 (for the
    edge-over-random cone: plus a constant, which costs every hypothesis and every distribution the same)."""
    baseline: Row = field(repr=False)
    """(k, gamma) -> [k]; linear in gamma."""


def _right(k: int) -> np.ndarray:
    return np.eye(k)[:1]


def _wrong(k: int) -> np.ndarray:
    return np.eye(k)[1:]


def _row(k: int, right: float, wrong: float) -> np.ndarray:
    return np.r_[right, np.full(k - 1, wrong)]


def uniform_baseline(k: int, edge: float) -> np.ndarray:
    """A row of U_gamma, the edge-over-random baseline closest to uniform."""
    return _row(k, (1.0 - edge) / k + edge, (1.0 - edge) / k)


EDGE_OVER_RANDOM = Condition("edge over random", _wrong, uniform_baseline)
SAMME = Condition("SAMME", lambda k: _row(k, -1.0, 1.0)[None], uniform_baseline)
MH = Condition(
    "AdaBoost.MH",
    lambda k: np.vstack([-_right(k), _wrong(k)]),
    lambda k, edge: _row(k, (1.0 + edge) / 2, (1.0 - edge) / 2),
)
# The paper names M1's condition without writing it: error at most (1 - gamma)/2 under every distribution on examples.
M1 = Condition(
    "AdaBoost.M1",
    lambda k: _row(k, 0.0, 1.0)[None],
    lambda k, edge: _row(k, (1.0 + edge) / 2, (1.0 - edge) / 2 / (k - 1)),
)
MR = Condition("AdaBoost.MR", lambda k: _wrong(k) - _right(k), lambda k, edge: _row(k, edge, -edge))

CONDITIONS = {condition.name: condition for condition in (EDGE_OVER_RANDOM, SAMME, MH, M1, MR)}


@dataclass(frozen=True, eq=False)
class Edge:
    """The largest gamma at which a space meets a condition. Not above 0: it meets it for no gamma > 0."""

    condition: str
    value: float
    mixture: np.ndarray = field(repr=False)
    """Its votes meet the condition at `value`."""
    costs: np.ndarray = field(repr=False)
    """A cost matrix of the cone on which every hypothesis is at least gamma - `value` above B_gamma, at any gamma."""

    def __str__(self) -> str:
        holds = f"up to gamma = {self.value:.6g}" if self.value > TOLERANCE else "for no gamma > 0"
        return f"{self.condition}: holds {holds}"


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether a space meets a condition at one gamma, and why."""

    condition: str
    edge: float
    """The gamma asked about."""
    holds: bool
    slack: float
    """How far the condition is met (>= 0) or missed (< 0): in gamma, or in the votes of a baseline given."""
    mixture: np.ndarray | None = field(repr=False)
    """If it holds: a mixture of hypotheses whose votes are no worse than the baseline on any ray."""
    costs: np.ndarray | None = field(repr=False)
    """If not: a cost matrix of the cone on which every hypothesis costs more than the baseline."""

    def __str__(self) -> str:
        outcome = f"holds, with {self.slack:.3g} to spare" if self.holds else f"fails by {-self.slack:.3g}"
        return f"{self.condition} at gamma = {self.edge:.6g}: {outcome}"


@dataclass(frozen=True, eq=False)
class Boostability:
    """Whether some mixture of the space gives the right label of every example the most votes (Section 2)."""

    boostable: bool
    margin: float
    """Largest over mixtures of the smallest lead of a right label over a wrong one, in shares of the vote."""
    mixture: np.ndarray = field(repr=False)
    """A mixture with this margin."""
    baseline: np.ndarray | None = field(repr=False)
    """If boostable: the edge-over-random baseline of Theorem 2, with gamma = `margin`, that the space meets."""
    costs: np.ndarray | None = field(repr=False)
    """If not: a cost matrix, rows of sum 0 and costs >= 0 on wrong labels, on which no hypothesis costs less than 0."""

    def __str__(self) -> str:
        if self.boostable:
            used = int((self.mixture > 0.0).sum())
            return f"boostable with margin {self.margin:.6g}, by a mixture of {used} hypotheses"
        return f"not boostable: the best margin is {min(self.margin, 0.0):.6g}; a cost matrix shows it"


def largest_edge(space: HypothesisSpace, condition: Condition = EDGE_OVER_RANDOM) -> Edge:
    """The largest gamma for which the space meets the condition.

    For (C^eor, U_gamma) this is 1 - k min over lambda of the largest wrong-label vote; for SAMME, with c the largest
    over lambda of the smallest right-label vote, (k c - 1)/(k - 1); for MH and M1 2 c - 1; for MR half the margin.
    """
    k = space.n_classes
    start, end = condition.baseline(k, 0.0), condition.baseline(k, 1.0)
    value, mixture, costs = _solve(space, condition.rays(k), np.tile(start, (space.n_examples, 1)), end - start)
    return Edge(condition.name, value, mixture, costs)


def check(space: HypothesisSpace, condition: Condition = EDGE_OVER_RANDOM, *, edge: float) -> Verdict:
    """Whether the space meets the condition at gamma = `edge`."""
    if not 0.0 < edge < 1.0:
        raise ValueError(f"edge={edge}: a number in (0, 1) is allowed")
    best = largest_edge(space, condition)
    return _verdict(condition.name, edge, best.value - edge, best.mixture, best.costs)


def check_baseline(space: HypothesisSpace, baseline: np.ndarray) -> Verdict:
    """Whether the space meets the edge-over-random condition (C^eor, B) with the baseline B [n_examples, n_classes]."""
    given = np.asarray(baseline, dtype=np.float64)
    if given.shape != (space.n_examples, space.n_classes):
        raise ValueError(f"baseline of shape {given.shape}: {(space.n_examples, space.n_classes)} is needed")
    if not (given >= -TOLERANCE).all() or not (np.abs(given.sum(axis=1) - 1.0) <= TOLERANCE).all():
        raise ValueError("baseline: every row must be a distribution over the labels")
    rows = np.take_along_axis(given, space.columns(), axis=1)
    leads = rows[:, 0] - rows[:, 1:].max(axis=1)
    if np.ptp(leads) > TOLERANCE or leads[0] <= TOLERANCE:
        lead = f"the right labels lead by {leads.min():.6g} to {leads.max():.6g}"
        raise ValueError(f"baseline: {lead}; an edge over random is the same gamma > 0 on every example")
    k = space.n_classes
    slack, mixture, costs = _solve(space, EDGE_OVER_RANDOM.rays(k), rows, -_row(k, 0.0, 1.0))
    return _verdict(f"{EDGE_OVER_RANDOM.name}, baseline given", float(leads[0]), slack, mixture, costs)


def boostability(space: HypothesisSpace) -> Boostability:
    """Whether the space is boostable, and with what margin: MR's condition, by Theorem 3."""
    best = largest_edge(space, MR)
    margin = 2.0 * best.value
    if margin > TOLERANCE:
        return Boostability(True, margin, best.mixture, _meeting_baseline(space, best.mixture, margin), None)
    return Boostability(False, margin, best.mixture, None, best.costs)


def report(space: HypothesisSpace) -> str:
    """Boostability and the largest edge of every condition, a line each."""
    lines = [str(boostability(space)), *(str(largest_edge(space, condition)) for condition in CONDITIONS.values())]
    return "\n".join(lines)


def _verdict(name: str, edge: float, slack: float, mixture: np.ndarray, costs: np.ndarray) -> Verdict:
    holds = slack >= -TOLERANCE
    return Verdict(name, edge, holds, slack, mixture if holds else None, None if holds else costs)


def _meeting_baseline(space: HypothesisSpace, mixture: np.ndarray, margin: float) -> np.ndarray:
    """A baseline of edge exactly `margin` whose wrong labels get no less than the mixture gives them (Theorem 2).

    Where the right label leads by more, half the surplus goes to the strongest wrong label: its lead is then `margin`.
    """
    rows = np.take_along_axis(space.votes(mixture), space.columns(), axis=1)
    strongest = 1 + rows[:, 1:].argmax(axis=1)
    everyone = np.arange(space.n_examples)
    surplus = (rows[:, 0] - rows[everyone, strongest] - margin) / 2.0
    rows[:, 0] -= surplus
    rows[everyone, strongest] += surplus
    baseline = np.empty_like(rows)
    np.put_along_axis(baseline, space.columns(), rows, axis=1)
    return baseline


def _solve(
    space: HypothesisSpace, rays: np.ndarray, start: np.ndarray, direction: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Solve the program at the top of this file: gamma, lambda, and the cost matrix of the dual with C . D = -1.

    `rays` [r, k], `start` [n, k] and `direction` [k] have the right label first; the costs come back in label order.
    Gamma is computed anew from lambda, so it is what lambda attains, whatever the solver's rounding.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    n, k = space.n_examples, space.n_classes
    relative = (space.predictions - space.labels) % k
    m = len(relative)
    allowance = -rays @ direction  # what a unit of gamma takes from each ray's limit: > 0
    limits = start @ rays.T
    votes = vstack([csr_array(ray[relative].T) for ray in rays])
    matrix = hstack([votes, csr_array(np.repeat(allowance, n)[:, None])], format="csr")
    solution = linprog(
        np.r_[np.zeros(m), -1.0],
        A_ub=matrix,
        b_ub=limits.T.ravel(),
        A_eq=np.r_[np.ones(m), 0.0][None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * m + [(None, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.status != 0:
        raise ArithmeticError(f"the linear program of {n} examples and {m} hypotheses failed: {solution.message}")
    mixture = np.maximum(solution.x[:m], 0.0)
    mixture /= mixture.sum()
    slack = limits - (votes @ mixture).reshape(len(rays), n).T
    weights = np.maximum(-solution.ineqlin.marginals, 0.0).reshape(len(rays), n).T
    costs_by_rank = weights @ rays / (weights @ allowance).sum()
    costs = np.empty((n, k))
    np.put_along_axis(costs, space.columns(), costs_by_rank, axis=1)
    return float((slack / allowance).min()), mixture, costs
