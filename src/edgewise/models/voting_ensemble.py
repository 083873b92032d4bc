"""Ensembles whose learners vote for labels: their state, its limits, and the two ways of the papers to weigh votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY
from functools import cache
from typing import Any, ClassVar

import numpy as np

from edgewise.learners.forest.layout import with_categories
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.label_markov_chain import LabelMarkovChain
from edgewise.learners.linear import SoftmaxRegression, bank_with_categories
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.loop.calibration import make_temperature
from edgewise.loop.custom_learners import states_with_categories
from edgewise.loop.inputs import Columns
from edgewise.loop.members import Member, assemble, draw, external_bank, members, within_budget
from edgewise.loop.state import BoosterState, Ensemble, arrays
from edgewise.models.stream_ensemble import CHUNK_ROWS, StreamEnsemble
from edgewise.parameters import declares
from edgewise.theory.bounds import adaptive_edges, majority_edges
from edgewise.theory.potential_tables import shared_out, zero_one_potentials


@declares
class VotingParameters:
    """Parameters of classifiers and rankers."""

    estimator: Member | Sequence[Member] | None = None
    n_estimators: int = 100
    _: KW_ONLY
    max_bytes: int | None = None
    chunk_size: int = CHUNK_ROWS
    n_jobs: int | None = None
    random_state: Any = None


class VotingEnsemble(StreamEnsemble):
    """An ensemble whose learners vote for labels."""

    # learned
    restarts_: list[tuple[int, int]]  # (round, learner) of every tree that began anew
    _ensembles: list[Any]

    _threaded = HoeffdingTree | SoftmaxRegression | LabelMarkovChain | PrecomputedVotes
    # whether a tree stands for k trees, each telling one class from the rest
    _in_groups: ClassVar[bool] = False

    @classmethod
    def _preset(cls, name: str) -> dict[str, Any]:
        return {"estimator": HoeffdingTree.preset(name)}

    # -- what a booster adds ---------------------------------------------------------------------------------------

    _plan: Callable[[int], Any]  # of k labels: which booster this is, as the kernels of its game take it

    def _first_weight(self) -> float:
        """Learner weights before the first round."""
        return 1.0

    def _n_experts(self) -> int:
        """How many experts there are: the first i learners together, for every i."""
        return self.n_estimators

    def _draws(self, plan: Any) -> int:
        """Uniform random numbers that a round needs."""
        return 0

    def _potentials(self, k: int) -> Any:
        """Tables of the potentials that costs come from; the smallest there are for a booster without potentials."""
        return no_potentials()

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def learner_weights_(self) -> np.ndarray:
        """alpha: how much each learner's vote counts."""
        return self._each(lambda committee: committee.weight.copy())

    def _each(self, of: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Something of every learner, from what the booster remembers of it."""
        self._started()
        return of(self._ensemble.committee)

    # -- state -----------------------------------------------------------------------------------------------------

    @property
    def _states(self) -> list[Any]:  # type: ignore[override]
        return self._ensembles

    @property
    def _ensemble(self) -> Any:
        return self._ensembles[0]

    def _members(self) -> list[Any]:
        return members(self._chosen(), self.n_estimators, self._in_groups)

    def _begin(self, columns: Columns, k: int, learners: list[Any] | None = None) -> None:
        """Draw the learners' parameters and make the state."""
        learners = learners or self._members()
        for_learners, self._rng = np.random.default_rng(self.random_state).spawn(2)
        self.parameters_ = draw(learners, len(columns.names), for_learners)
        self._columns = columns
        self.rounds_ = 0
        self.restarts_ = []
        self._n_blocks = self._blocks(k)
        self._interrupted = False
        try:
            self._ensembles = self._limited(self._new_ensembles(k, learners))
        except Exception:
            del self._columns  # a model that could not begin has not begun
            raise

    def _new_ensembles(self, k: int, learners: list[Any] | None = None) -> list[Any]:
        """The state for k labels that has learned nothing: one ensemble, or several side by side."""
        return [self._new_ensemble(self._plan(k), learners or self._members())]

    def _new_ensemble(self, plan: Any, learners: list[Any]) -> Any:
        n = self.n_estimators
        kinds, forests, bank, memory, own = assemble(
            learners, self.parameters_, self._columns, plan.n_labels, self._in_groups, self._n_blocks
        )
        committee = BoosterState(
            np.full(n, float(self._first_weight())),
            np.zeros(self._n_experts()),
            np.zeros((n, 2)),
            np.zeros(n),
            np.zeros((n, 3)),
            make_temperature(),
        )
        potentials = shared_out(self._potentials(plan.n_labels), self._n_blocks)
        external = external_bank(learners, self._columns, self._rng)
        return Ensemble(plan, kinds, committee, forests, bank, memory, potentials, external, own)

    def _limited(self, ensembles: list[Any]) -> list[Any]:
        """The ensembles with limits to their trees, as `max_bytes` asks for."""
        if self.max_bytes is None:
            return ensembles
        tables = sum(array.nbytes for array in arrays(self._potentials(ensembles[0].plan.n_labels)))
        return within_budget(ensembles, self.max_bytes, tables)

    def _add_categories(self, columns: Columns) -> None:
        """Take in categories that came up after the first call."""
        if columns.categories == self._columns.categories:
            return
        learners = self._members()
        self._ensembles = self._limited(
            [
                ensemble._replace(
                    forests=[with_categories(forest, columns.n_categories) for forest in ensemble.forests],
                    bank=bank_with_categories(ensemble.bank, columns.n_categories),
                    external=ensemble.external.with_categories(columns.categories),
                    own=states_with_categories(ensemble.own, learners, columns, ensemble.plan.n_labels),
                )
                for ensemble in self._ensembles
            ]
        )
        self._columns = columns

    def _parts(self, learned: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Cut rows into chunks: the rows of each, and uniform random numbers for those of them that are learned."""
        draws = self._draws(self._ensemble.plan)
        for part in self._cuts(learned.size):
            uniforms = np.zeros((part.stop - part.start, max(1, draws)))
            if draws:
                uniforms[learned[part]] = self._rng.random((int(learned[part].sum()), draws))
            yield part, uniforms


class AdaptiveEnsemble(VotingEnsemble):
    """Learner weights follow what the learners show, by gradient descent; Hedge weighs the experts."""

    # parameters
    weight_range: tuple[float, float] | None
    first_weight: float
    _range_words: ClassVar[str] = "a (low, high) pair with low < high"

    def _weight_range(self) -> tuple[float, float]:
        """The feasible set of learner weights."""
        assert self.weight_range is not None
        return self.weight_range

    def _check(self) -> list[Any]:
        learners = super()._check()
        low, high = self._weight_range()
        if not low < high:
            raise ValueError(f"weight_range={self.weight_range!r}: {self._range_words}")
        if not low <= self.first_weight <= high:
            raise ValueError(f"first_weight={self.first_weight!r}: a number in [{low}, {high}], the weight range")
        return learners

    def _first_weight(self) -> float:
        return self.first_weight

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        return softmax(decisions)

    @property
    def edges_(self) -> np.ndarray:
        """Empirical edges gamma_i of the learners, for bandits their estimates; 0 before the first round."""
        return self._each(lambda committee: adaptive_edges(committee.costs))

    @property
    def expert_weights_(self) -> np.ndarray:
        """Hedge weights of the experts, as probabilities of being followed."""
        return self._each(lambda committee: softmax(-committee.mistakes[None, :])[0])


class MajorityEnsemble(VotingEnsemble):
    """All votes count alike, and the majority of all learners decides."""

    @property
    def edges_(self) -> np.ndarray:
        """Edges that the learners showed: gamma_i = 1 - k sum(w D(vote)) / sum(w); for bandits, estimates of both."""
        self._started()
        committee = self._ensemble.committee
        return majority_edges(committee.costs, committee.importance, self._ensemble.plan.n_labels)

    @property
    def expert_weights_(self) -> np.ndarray:
        """All weight is on the last expert."""
        self._started()
        return np.eye(self._ensemble.learners.kind.size)[-1]


@cache
def no_potentials() -> Any:
    """The smallest tables there are."""
    return zero_one_potentials(2, 1, 0.1, 1)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities proportional to exp(scores), row by row."""
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


def shares_of(scores: np.ndarray) -> np.ndarray:
    """Scores that are not negative as shares of their sum, row by row; uniform where all are 0."""
    total = scores.sum(axis=1, keepdims=True)
    return np.divide(scores, total, out=np.full(scores.shape, 1.0 / scores.shape[1]), where=total > 0.0)
