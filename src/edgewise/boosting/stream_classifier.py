"""What all online boosters share towards their users: checking, chunks, predictions, and the state between calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from edgewise.boosting.inputs import (
    Columns,
    checked_columns,
    class_array,
    columns_of,
    encode,
    label_array,
    label_codes,
    weight_array,
)
from edgewise.boosting.members import Member, assemble, draw, members
from edgewise.boosting.schema import run
from edgewise.boosting.state import GIVEN, LINEAR, MEMORY, Chunk, Committee, Ensemble, Plan, Trace
from edgewise.learners.forest.layout import with_categories
from edgewise.learners.forest.structure import structure
from edgewise.learners.given_votes import GivenVotes
from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.linear import bank_with_categories
from edgewise.parameters import Parameterized
from edgewise.streams.table import as_table
from edgewise.theory.potentials import zero_one_potentials

# Rows that go through the learners together. Any number gives the same result; this one keeps a chunk in cache.
CHUNK_ROWS = 256


class History(NamedTuple):
    """A prequential run seen from inside: arrays over rows and learners (see `Trace`)."""

    guesses: np.ndarray
    votes: np.ndarray
    importances: np.ndarray
    learner_weights: np.ndarray
    expert_labels: np.ndarray
    expert_losses: np.ndarray
    uniforms: np.ndarray


class StreamClassifier(Parameterized):
    """An ensemble that predicts and learns, one example after the other.

    Learning many rows in one call is the same, number for number, as learning them one by one.
    """

    # parameters that every booster has
    estimator: Member | Sequence[Member] | None
    n_estimators: int
    chunk_size: int
    random_state: Any
    # learned
    classes_: np.ndarray
    rounds_: int
    mistakes_: int
    restarts_: list[tuple[int, int]]  # (round, learner) of every tree that began anew

    # whether a tree stands for k trees, each telling one class from the rest
    _in_groups: ClassVar[bool] = False

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The booster with the setting of a paper: "paper" is Jung, Goetz and Tewari 2017, Appendix E."""
        tree = {"estimator": HoeffdingTree.preset(name)}
        return cls(**tree | changes)

    # -- what a booster adds ---------------------------------------------------------------------------------------

    def _plan(self, k: int) -> Plan:
        raise TypeError(f"{type(self).__name__} does not say how it boosts")

    def _first_weight(self) -> float:
        """Learner weights before the first round."""
        return 1.0

    def _draws(self, plan: Plan) -> int:
        """Uniform random numbers that a round needs."""
        return 0

    def _edge(self) -> float:
        """Edge that the potentials assume; only OnlineMBBM has one."""
        return 0.0

    # -- learning and predicting -----------------------------------------------------------------------------------

    def prequential(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the predictions."""
        guesses, _ = self._learn(X, y, classes, sample_weight)
        return self.classes_[guesses]

    def prequential_proba(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; the probabilities [n, k] that were predicted."""
        _, decisions = self._learn(X, y, classes, sample_weight, in_scores=True)
        return self._probabilities(decisions)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn further rows. The first call fixes the columns and the classes (`classes`, or those in y)."""
        self._learn(X, y, classes, sample_weight)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn these rows in their order."""
        fresh = type(self)(**self.get_params(deep=False))
        fresh._learn(X, y, None, sample_weight)
        self.__dict__.update(fresh.__dict__)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row. Never random: where Hedge would draw an expert, the experts' weighted vote decides."""
        guesses, _ = self._vote(X)
        return self.classes_[guesses]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores [n, k] behind the predictions; for two classes, second minus first, as in scikit-learn."""
        _, decisions = self._vote(X)
        return decisions[:, 1] - decisions[:, 0] if decisions.shape[1] == 2 else decisions

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [n, k] of the classes."""
        _, decisions = self._vote(X)
        return self._probabilities(decisions)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of `predict`."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def trace(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> History:
        """Like `prequential`, but tells everything that happened: votes, importances, weights, experts."""
        pieces: list[History] = []

        def keep(guesses: np.ndarray, trace: Trace, chunk: Chunk) -> None:
            pieces.append(
                History(
                    guesses,
                    trace.votes.T,
                    trace.importances.T,
                    trace.learner_weights.T,
                    trace.expert_labels.T,
                    trace.expert_losses.T,
                    chunk.uniforms,
                )
            )

        self._learn(X, y, classes, sample_weight, keep)
        if not pieces:
            n_learners = self._ensemble.learners.kind.size
            draws = max(1, self._draws(self._ensemble.plan))
            none, no_labels = np.zeros((0, n_learners)), np.zeros((0, n_learners), np.int32)
            guesses, uniforms = np.zeros(0, np.int64), np.zeros((0, draws))
            return History(guesses, no_labels, none, none, no_labels, none, uniforms)
        return History(*(np.concatenate(field) for field in zip(*pieces, strict=True)))

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        return len(self._started().names)

    @property
    def feature_names_in_(self) -> np.ndarray:
        return np.array(self._started().names, object)

    @property
    def learner_weights_(self) -> np.ndarray:
        """alpha: how much each learner's vote counts."""
        return self._each(lambda committee: committee.weight.copy())

    @property
    def expert_mistakes_(self) -> np.ndarray:
        """Mistakes of each expert, the first i learners together."""
        return self._each(lambda committee: committee.mistakes.copy())

    @property
    def nbytes(self) -> int:
        """Bytes of the model's arrays."""
        if not hasattr(self, "_columns"):
            return 0
        return sum(
            array.nbytes
            for ensemble in self._ensembles
            for part in ensemble
            for array in part
            if isinstance(array, np.ndarray)
        )

    @property
    def n_nodes_(self) -> np.ndarray:
        """Nodes of each tree; learners that are no trees are left out."""
        self._started()
        return np.concatenate([ensemble.forest.n_nodes for ensemble in self._ensembles])

    def structure(self, learner: int, of_class: int = 0) -> tuple[Any, ...]:
        """The tree of one learner as nested tuples: see `edgewise.learners.forest.structure`; columns are those of X.

        `of_class` picks the tree where the learner is a group with a tree for each class.
        """
        columns = self._started()
        learners = self._ensemble.learners
        if learners.kind[learner] in (GIVEN, LINEAR, MEMORY):
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

    def _each(self, of: Callable[[Committee], np.ndarray]) -> np.ndarray:
        """Something of every learner, from what the booster remembers of it."""
        self._started()
        return of(self._ensemble.committee)

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _ensemble(self) -> Ensemble:
        return self._ensembles[0]

    def _started(self) -> Columns:
        if not hasattr(self, "_columns"):
            raise ValueError(
                f"this {type(self).__name__} has learned nothing yet: call prequential, partial_fit or fit first"
            )
        return self._columns

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
        return members(self._default_estimator() if self.estimator is None else self.estimator, self.n_estimators)

    def _start(self, columns: Columns, classes: np.ndarray) -> None:
        """Draw the learners' parameters and make the state."""
        for_learners, self._rng = np.random.default_rng(self.random_state).spawn(2)
        self.parameters_ = draw(self._members(), len(columns.names), for_learners)
        self._columns = columns
        self.classes_ = classes
        self.rounds_ = 0
        self.mistakes_ = 0
        self.restarts_ = []
        self._ensembles = self._new_ensembles(classes.size)

    def _new_ensembles(self, k: int) -> list[Ensemble]:
        return [self._new_ensemble(self._plan(k))]

    def _new_ensemble(self, plan: Plan) -> Ensemble:
        n = self.n_estimators
        learners, forest, bank, memory = assemble(
            self._members(), self.parameters_, self._columns, plan.n_labels, self._in_groups
        )
        return Ensemble(
            plan,
            learners,
            Committee(np.full(n, self._first_weight()), np.zeros(n), np.zeros((n, 2)), np.zeros(n), np.zeros((n, 3))),
            forest,
            bank,
            memory,
            zero_one_potentials(plan.n_labels, n, self._edge()) if self._edge() else zero_one_potentials(2, 1, 0.1, 1),
        )

    def _learn(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, keep: Any = None, in_scores: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Check everything first, so that bad input leaves the model as it was; then learn in chunks."""
        self._check()
        table = as_table(X)
        labels = label_array(y, len(table))
        weights = weight_array(sample_weight, len(table))
        started = hasattr(self, "_columns")
        if started:
            columns = checked_columns(self._columns, table)
            known = self.classes_
            given = known if classes is None else np.unique(np.asarray(classes))
            if not np.array_equal(given, known):
                raise ValueError(f"classes={given.tolist()!r}: this model was started with {known.tolist()!r}")
        else:
            columns = columns_of(table)
            known = class_array(labels if classes is None else classes)
        codes = label_codes(labels, known)
        numeric, nominal = encode(columns, table)
        if isinstance(self._members()[0], GivenVotes):
            check_votes(numeric, self.n_estimators, known.size)
        if not started:
            self._start(columns, known)
        elif columns.categories != self._columns.categories:
            self._columns = columns
            self._ensembles = [
                ensemble._replace(
                    forest=with_categories(ensemble.forest, columns.n_categories),
                    bank=bank_with_categories(ensemble.bank, columns.n_categories),
                )
                for ensemble in self._ensembles
            ]
        codes = np.where(weights > 0.0, codes, -1)
        rounds = self.rounds_ + np.cumsum(codes >= 0)
        guesses, decisions = self._run(numeric, nominal, codes, weights, rounds, keep, in_scores)
        self.rounds_ += int((codes >= 0).sum())
        self.mistakes_ += int(((guesses != codes) & (codes >= 0)).sum())
        return guesses, decisions

    def _vote(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        columns = self._started()
        table = as_table(X)
        checked_columns(columns, table)
        numeric, nominal = encode(columns, table)
        if self._ensemble.learners.kind[0] == GIVEN:
            check_votes(numeric, self.n_estimators, self.classes_.size)
        n = len(table)
        return self._run(numeric, nominal, np.full(n, -1), np.ones(n), np.zeros(n, np.int64), None, True)

    def _run(
        self,
        numeric: np.ndarray,
        nominal: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray,
        rounds: np.ndarray,
        keep: Any,
        in_scores: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Send rows through the ensemble, chunk by chunk."""
        n = codes.size
        guesses, decisions = np.zeros(n, np.int64), np.zeros((n, self.classes_.size))
        draws = self._draws(self._ensemble.plan)
        for first in range(0, n, self.chunk_size):
            part = slice(first, min(n, first + self.chunk_size))
            size = part.stop - part.start
            learned = codes[part] >= 0
            uniforms = np.zeros((size, max(1, draws)))
            if draws:
                uniforms[learned] = self._rng.random((int(learned.sum()), draws))
            chunk = Chunk(
                numeric[part],
                nominal[part],
                codes[part],
                weights[part],
                rounds[part],
                np.zeros(size, np.int64),
                uniforms,
                np.zeros((size + 1, numeric.shape[1])),
                np.zeros((size + 1, numeric.shape[1])),
            )
            guesses[part], decisions[part], trace = self._run_chunk(chunk, in_scores)
            self.restarts_ += [(int(rounds[part][t]), int(i)) for t, i in np.argwhere(trace.restarts.T)]
            if keep is not None:
                keep(guesses[part], trace, chunk)
        return guesses, decisions

    def _run_chunk(self, chunk: Chunk, in_scores: bool) -> tuple[np.ndarray, np.ndarray, Trace]:
        self._ensembles[0], trace, guesses, decisions = run(self._ensembles[0], chunk, in_scores)
        return guesses, decisions, trace

    def _probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Shares of the scores, which are sums of non-negative votes; uniform where nobody voted."""
        total = decisions.sum(axis=1, keepdims=True)
        return np.divide(decisions, total, out=np.full(decisions.shape, 1.0 / decisions.shape[1]), where=total > 0.0)


def check_votes(numeric: np.ndarray, n: int, k: int) -> None:
    """ValueError unless there is a vote for each of n learners, and each is the number of a class."""
    if numeric.shape[1] != n:
        raise ValueError(f"X has {numeric.shape[1]} numeric columns: GivenVotes needs one for each of {n} learners")
    wrong = np.argwhere(~((numeric == np.floor(numeric)) & (numeric >= 0) & (numeric < k)))
    if wrong.size:
        row, column = wrong[0]
        raise ValueError(f"the vote {numeric[row, column]} in row {row}, column {column}: a whole number below {k}")


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities proportional to exp(scores), row by row."""
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)
