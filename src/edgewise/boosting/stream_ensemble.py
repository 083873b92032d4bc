"""What all online boosters share: learners, columns, chunks, and the state between calls, whatever the feedback is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from edgewise.boosting.calibration import make_sharpness
from edgewise.boosting.inputs import Columns, checked_columns, columns_of, encode, given
from edgewise.boosting.members import Member, assemble, check_foreign, draw, foreign_bank, members
from edgewise.boosting.own_states import widened_states
from edgewise.boosting.state import GROUP, TREE, Committee, Ensemble, Plan, arrays
from edgewise.estimator import Estimator
from edgewise.learners.forest.layout import with_categories
from edgewise.learners.forest.structure import structure
from edgewise.learners.given_votes import GivenVotes
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.linear import bank_with_categories
from edgewise.parameters import Saveable
from edgewise.streams.targets import weight_array
from edgewise.theory.potentials import zero_one_potentials

# Rows that go through the learners together. Any number gives the same result; this one keeps a chunk in cache.
CHUNK_ROWS = 256


class Rows(NamedTuple):
    """Rows of X as kernels take them, and the columns they were read with."""

    columns: Columns
    numeric: np.ndarray
    nominal: np.ndarray


class StreamEnsemble(Saveable, Estimator):
    """An ensemble of weak learners that votes and learns, one example after the other."""

    # parameters that every booster has
    estimator: Member | Sequence[Member] | None
    n_estimators: int
    chunk_size: int
    random_state: Any
    # learned
    rounds_: int
    restarts_: list[tuple[int, int]]  # (round, learner) of every tree that began anew

    # whether a tree stands for k trees, each telling one class from the rest
    _in_groups: ClassVar[bool] = False

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The booster with the setting of a paper: "paper" is Jung, Goetz and Tewari 2017, Appendix E.

        Parameters
        ----------
        name : str
            Name of the setting: "paper".
        **changes : any
            Parameters of the constructor that differ from it.

        Returns
        -------
        model
            A new model with this setting.
        """
        tree = {"estimator": HoeffdingTree.preset(name)}
        return cls(**tree | changes)

    # -- what a booster adds ---------------------------------------------------------------------------------------

    def _plan(self, k: int) -> Any:
        """Which booster this is, as the kernels of its game take it."""
        raise TypeError(f"{type(self).__name__} does not say how it boosts")

    def _first_weight(self) -> float:
        """Learner weights before the first round."""
        return 1.0

    def _draws(self, plan: Any) -> int:
        """Uniform random numbers that a round needs."""
        return 0

    def _labels_apart(self, k: int) -> int:
        """How many labels a learner tells apart where there are k classes."""
        return k

    def _potentials(self, k: int) -> Any:
        """Tables of the potentials that costs come from; the smallest there are for a booster without potentials."""
        return zero_one_potentials(2, 1, 0.1, 1)

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """How many columns the rows have."""
        return len(self._started().names)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the columns, if they came with names."""
        columns = self._started()
        if not columns.named:
            raise AttributeError(f"this {type(self).__name__} was started with columns that have no names")
        return np.array(columns.names, object)

    @property
    def learner_weights_(self) -> np.ndarray:
        """alpha: how much each learner's vote counts."""
        return self._each(lambda committee: committee.weight.copy())

    @property
    def nbytes(self) -> int:
        """Bytes of the model's arrays; what learners of other libraries keep is not counted."""
        if not hasattr(self, "_columns"):
            return 0
        return sum(array.nbytes for array in arrays(self._ensembles))

    @property
    def n_nodes_(self) -> np.ndarray:
        """Nodes of each tree; learners that are no trees are left out."""
        self._started()
        return np.concatenate([ensemble.forest.n_nodes for ensemble in self._ensembles])

    def structure(self, learner: int, of_class: int = 0) -> tuple[Any, ...]:
        """The tree of one learner as nested tuples: see `edgewise.learners.forest.structure`; columns are those of X.

        `of_class` picks the tree where the learner is a group with a tree for each class.

        Parameters
        ----------
        learner : int
            Which learner, from 0.
        of_class : int
            Which tree of a group that has one for each class.

        Returns
        -------
        tuple
            The root, with its branches inside.
        """
        columns = self._started()
        learners = self._ensemble.learners
        if learners.kind[learner] not in (TREE, GROUP):
            raise ValueError(f"learner {learner} is no tree")
        nominal = np.flatnonzero(columns.nominal)
        place = {"numeric": np.flatnonzero(~columns.nominal), "nominal": nominal, "binary": nominal}

        def renamed(node: tuple[Any, ...]) -> tuple[Any, ...]:
            if node[0] == "leaf":
                return node
            column = int(place[node[0]][node[1]])
            if node[0] != "nominal":
                return (node[0], column, node[2], renamed(node[3]), renamed(node[4]))
            return (node[0], column, {code: renamed(child) for code, child in node[2].items()})

        return renamed(structure(self._ensemble.forest, int(learners.slot[learner]) + of_class))

    def _each(self, of: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Something of every learner, from what the booster remembers of it."""
        self._started()
        return of(self._ensemble.committee)

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _ensemble(self) -> Any:
        return self._ensembles[0]

    def _started(self) -> Columns:
        if not hasattr(self, "_columns"):
            self._not_started()
        return self._columns

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then `partial_fit`."""
        X = given(X)
        if not weight_array(sample_weight, len(X.table)).any():
            raise ValueError("nothing to learn from: X has 0 rows, or the sample_weight of every row is zero")
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._anew(lambda fresh: fresh.partial_fit(X, y, **weighted))

    def _check(self) -> None:
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 1:
            raise ValueError(f"n_estimators={self.n_estimators!r}: an ensemble needs at least 1 weak learner")
        if not isinstance(self.chunk_size, int | np.integer) or self.chunk_size < 1:
            raise ValueError(f"chunk_size={self.chunk_size!r}: at least 1 row")
        self._members()

    def _default_estimator(self) -> Member | Sequence[Member]:
        return HoeffdingTree()

    def _members(self) -> list[Member]:
        """The learners in order."""
        given = self._default_estimator() if self.estimator is None else self.estimator
        return members(given, self.n_estimators, self._in_groups)

    def _new_ensembles(self, k: int) -> list[Any]:
        return [self._new_ensemble(self._plan(k))]

    def _new_ensemble(self, plan: Plan) -> Ensemble:
        n = self.n_estimators
        learners, forest, bank, memory, own = assemble(
            self._members(), self.parameters_, self._columns, plan.n_labels, self._in_groups
        )
        return Ensemble(
            plan,
            learners,
            Committee(
                np.full(n, self._first_weight()),
                np.zeros(n),
                np.zeros((n, 2)),
                np.zeros(n),
                np.zeros((n, 3)),
                make_sharpness(),
            ),
            forest,
            bank,
            memory,
            self._potentials(plan.n_labels),
            foreign_bank(self._members(), self._columns, self._rng),
            own,
        )

    def _rows(self, X: Any, k: int, *, learning: bool = True) -> Rows:
        """X as kernels take it, checked against the columns of the first call; changes nothing.

        Rows that are only predicted bring no categories: what was never learned is missing there.
        """
        examples = given(X)
        known = getattr(self, "_columns", None)
        columns = columns_of(examples) if known is None else checked_columns(known, examples, type(self).__name__)
        if not learning:
            columns = self._started()
        rows = Rows(columns, *encode(columns, examples.table))
        learners = self._members()
        if isinstance(learners[0], GivenVotes):
            check_votes(rows.numeric, self.n_estimators, k)
        check_foreign(learners, rows.numeric, self._labels_apart(k))
        return rows

    def _begin(self, columns: Columns, k: int) -> None:
        """Draw the learners' parameters and make the state."""
        for_learners, self._rng = np.random.default_rng(self.random_state).spawn(2)
        self.parameters_ = draw(self._members(), len(columns.names), for_learners)
        self._columns = columns
        self.rounds_ = 0
        self.restarts_ = []
        try:
            self._ensembles = self._new_ensembles(k)
        except Exception:
            del self._columns  # a model that could not begin has not begun
            raise

    def _widen(self, columns: Columns) -> None:
        """Make room for categories that came up after the first call."""
        if columns.categories == self._columns.categories:
            return
        self._ensembles = [
            ensemble._replace(
                forest=with_categories(ensemble.forest, columns.n_categories),
                bank=bank_with_categories(ensemble.bank, columns.n_categories),
                foreign=ensemble.foreign.with_categories(columns.categories),
                own=widened_states(ensemble.own, self._members(), columns, ensemble.plan.n_labels),
            )
            for ensemble in self._ensembles
        ]
        self._columns = columns

    def _parts(self, learned: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Cut rows into chunks: the rows of each, and uniform random numbers for those of them that are learned."""
        draws = self._draws(self._ensemble.plan)
        for first in range(0, learned.size, self.chunk_size):
            part = slice(first, min(learned.size, first + self.chunk_size))
            uniforms = np.zeros((part.stop - part.start, max(1, draws)))
            if draws:
                uniforms[learned[part]] = self._rng.random((int(learned[part].sum()), draws))
            yield part, uniforms


def check_votes(numeric: np.ndarray, n: int, k: int) -> None:
    """ValueError unless there is a vote for each of n learners, and each is the number of a class."""
    if numeric.shape[1] != n:
        raise ValueError(f"X has {numeric.shape[1]} numeric columns: GivenVotes needs one for each of {n} learners")
    wrong = np.argwhere(~((numeric == np.floor(numeric)) & (numeric >= 0) & (numeric < k)))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(f"the vote {numeric[row, column]} in row {row}, column {column}: a whole number below {k}")
