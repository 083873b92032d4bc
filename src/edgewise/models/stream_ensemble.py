"""What all online ensembles share, whatever the learners predict: columns, chunks, threads, checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from edgewise.data.targets import weight_array
from edgewise.estimator import Estimator
from edgewise.learners.forest.layout import structure
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.weak_learner import PrecomputedVotes
from edgewise.loop.inputs import Columns, as_rows, checked_columns, columns_of, encode
from edgewise.loop.members import check_external
from edgewise.loop.pipeline import BLOCKS_PER_THREAD, ChunkTask, blocks, n_threads, run_tasks
from edgewise.loop.state import GROUP, TREE, arrays
from edgewise.parameters import Allowed, Saveable, check_parameters, checks_of

# Rows that go through the learners together. Any number gives the same result; of fewer, what Python does between
# chunks is felt, and threads, which hand chunks from block to block, wait for each other.
CHUNK_ROWS = 1024


class Rows(NamedTuple):
    """Rows of X as kernels take them, and the columns they were read with."""

    columns: Columns
    numeric: np.ndarray
    nominal: np.ndarray

    def part(self, rows: slice) -> Rows:
        """The rows of a slice."""
        return Rows(self.columns, self.numeric[rows], self.nominal[rows])


class StreamEnsemble(Saveable, Estimator):
    """An ensemble of weak learners that predicts and learns, one example after the other."""

    # parameters; of those that do not offer the last two, too: one thread, no limit
    estimator: Any
    n_estimators: int
    chunk_size: int
    random_state: Any
    n_jobs: int | None = None
    max_bytes: int | None = None
    _allowed: ClassVar[dict[str, Allowed]] = checks_of("n_estimators", "chunk_size", "max_bytes")
    # learned
    rounds_: int
    _columns: Columns
    _n_blocks: int = 1  # of learners, as the model was begun: `pipeline`
    _interrupted: bool = False  # whether learning came to an end while some blocks were ahead of others

    # whether learners tell two labels apart, whatever the number of classes
    _binary: ClassVar[bool] = False
    # learners whose kernels may work without Python's lock, and that share nothing
    _threaded: ClassVar[Any]

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The booster with the setting of its paper; ValueError if there is none of this name.

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
        return cls(**cls._preset(name) | changes)

    # -- what a kind of booster adds -------------------------------------------------------------------------------

    @classmethod
    def _preset(cls, name: str) -> dict[str, Any]:
        """The parameters of a setting."""
        raise ValueError(f"preset={name!r}: {cls.__name__} has no presets")

    _members: Callable[[], list[Any]]  # the learners in order
    _states: list[Any]  # what the model has learned: NamedTuples of arrays

    def _default_estimator(self) -> Any:
        """The learner, or learners, where `estimator` is None."""
        return HoeffdingTree()

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
    def nbytes(self) -> int:
        """Bytes of the model's arrays; what learners of other libraries keep is not counted."""
        if not hasattr(self, "_columns"):
            return 0
        different = {id(array): array.nbytes for array in arrays(self._states)}  # blocks share tables of potentials
        return sum(different.values())

    @property
    def n_nodes_(self) -> np.ndarray:
        """Nodes of each tree; learners that are no trees are left out."""
        self._started()
        trees = [
            forest.n_nodes
            for state in self._states
            for block, forest in zip(self._blocks_of(state), state.forests, strict=True)
            if np.isin(state.learners.kind[block.start : block.stop], (TREE, GROUP)).any()
        ]
        return np.concatenate([np.zeros(0, np.int64), *trees])

    def structure(self, learner: int, of_class: int = 0) -> tuple[Any, ...]:
        """The tree of one learner as nested tuples: see `edgewise.learners.forest.layout`; columns are those of X.

        Parameters
        ----------
        learner : int
            Which learner, from 0.
        of_class : int
            Which tree of a group that has one for each class; other trees are of all classes, or outputs.

        Returns
        -------
        tuple
            The root, with its branches inside.
        """
        columns = self._started()
        state = self._states[0]
        nominal = np.flatnonzero(columns.nominal)
        place = {"numeric": np.flatnonzero(~columns.nominal), "nominal": nominal, "binary": nominal}

        def renamed(node: tuple[Any, ...]) -> tuple[Any, ...]:
            if node[0] == "leaf":
                return node
            column = int(place[node[0]][node[1]])
            if node[0] != "nominal":
                return (node[0], column, node[2], renamed(node[3]), renamed(node[4]))
            return (node[0], column, {code: renamed(child) for code, child in node[2].items()})

        number = range(state.learners.kind.size)[learner]
        every = zip(self._blocks_of(state), state.forests, strict=True)
        forest = next(forest for block, forest in every if number in block)
        return renamed(self._tree(forest, state.learners, learner, of_class))

    def _tree(self, forest: Any, learners: Any, learner: int, of_class: int) -> tuple[Any, ...]:
        """The tree of a learner, in a forest, with columns as kernels take them."""
        if learners.kind[learner] not in (TREE, GROUP):
            raise ValueError(f"learner {learner} is no tree")
        return structure(forest, int(learners.slot[learner]) + of_class)

    # -- checks ----------------------------------------------------------------------------------------------------

    def _started(self) -> Columns:
        """The columns of a model that has been started, and that may be asked."""
        if not hasattr(self, "_columns"):
            self._not_started()
        if self._interrupted:
            raise RuntimeError(
                f"this {type(self).__name__} was cut off while it learned: some of its learners have learned rows that "
                "others have not. Fit it anew, or load it from a file"
            )
        return self._columns

    def _check(self) -> list[Any]:
        """The learners in order; ValueError if a parameter is not allowed."""
        check_parameters(self)
        learners = self._members()
        n_threads(self.n_jobs)
        if self._interrupted:
            self._started()
        return learners

    # -- threads ---------------------------------------------------------------------------------------------------

    def _chosen(self) -> Any:
        """The learner, or learners, that were given or are taken by default."""
        return self._default_estimator() if self.estimator is None else self.estimator

    def _threads(self) -> int:
        """How many may work at once: one where a learner is not ours, or has Python code."""
        threads = n_threads(self.n_jobs)
        if threads == 1:
            return 1
        chosen = self._chosen()
        listed = chosen[: self.n_estimators] if isinstance(chosen, Sequence) else [chosen]
        return threads if all(isinstance(learner, self._threaded) for learner in listed) else 1

    def _blocks(self, k: int) -> int:
        """How many blocks the learners of a new model of k classes stand in."""
        threads = self._threads()
        return 1 if threads == 1 else min(int(self.n_estimators), BLOCKS_PER_THREAD * threads)

    def _blocks_of(self, state: Any) -> list[range]:
        """The learners of each block of a state."""
        return blocks(state.learners.kind.size, self._n_blocks)

    def _cuts(self, n: int) -> Iterator[slice]:
        """Cut n rows into chunks."""
        for first in range(0, n, self.chunk_size):
            yield slice(first, min(n, first + self.chunk_size))

    def _flow(self, tasks: Iterable[ChunkTask], learned: np.ndarray, *, in_order: bool = False) -> None:
        """Send the chunks of rows through the ensemble, by as many threads as may work at once.

        Chunks of which nothing is learned leave no trace, and may overtake each other unless they go `in_order`.
        """
        learning = bool(learned.any())
        threads = 1 if learned.size <= self.chunk_size else self._threads()
        try:
            run_tasks(tasks, threads, learning or in_order)
        except BaseException:
            self._interrupted = learning and threads > 1
            raise

    # -- rows ------------------------------------------------------------------------------------------------------

    def _rows(self, X: Any, k: int, learners: list[Any] | None = None, *, learning: bool = True) -> Rows:
        """X as kernels take it, checked against the columns of the first call and the learners; changes nothing.

        Rows that are only predicted bring no categories: what was never learned is missing there.
        """
        examples = as_rows(X)
        known = getattr(self, "_columns", None)
        columns = columns_of(examples) if known is None else checked_columns(known, examples, type(self).__name__)
        if known is not None and not learning:
            columns = known
        rows = Rows(columns, *encode(columns, examples.table))
        learners = learners or self._members()
        if isinstance(learners[0], PrecomputedVotes):
            check_votes(rows.numeric, self.n_estimators, k)
        check_external(learners, rows.numeric, 2 if self._binary else k)
        return rows

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then `partial_fit`."""
        X = as_rows(X)
        if not weight_array(sample_weight, len(X.table)).any():
            raise ValueError("nothing to learn from: X has 0 rows, or the sample_weight of every row is zero")
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._anew(lambda fresh: fresh.partial_fit(X, y, **weighted))


def check_votes(numeric: np.ndarray, n: int, k: int) -> None:
    """ValueError unless there is a vote for each of n learners, and each is the number of a class."""
    if numeric.shape[1] != n:
        raise ValueError(
            f"X has {numeric.shape[1]} numeric columns: PrecomputedVotes needs one for each of {n} learners"
        )
    wrong = np.argwhere(~((numeric == np.floor(numeric)) & (numeric >= 0) & (numeric < k)))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(f"the vote {numeric[row, column]} in row {row}, column {column}: a whole number below {k}")
