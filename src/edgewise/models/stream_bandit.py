"""Bandit boosters: decisions, feedback, replay of labelled streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from edgewise.data.table import as_table
from edgewise.data.targets import first_classes, known_classes, label_array, label_codes
from edgewise.learners.hoeffding_tree import HoeffdingTree, LogUniform
from edgewise.learners.label_markov_chain import LabelMarkovChain
from edgewise.loop.bandit_loop import LEARNING, SCORING, VOTING, RoundRecord, make_record, play, run_rounds
from edgewise.loop.decisions import Decision, Pending
from edgewise.loop.inputs import RawRows, as_rows
from edgewise.loop.members import Member
from edgewise.loop.state import PRECOMPUTED, Chunk
from edgewise.models.stream_classifier import LabelPredictor
from edgewise.models.stream_ensemble import Rows
from edgewise.models.voting_ensemble import VotingEnsemble
from edgewise.parameters import declares
from edgewise.theory.bandits import theory_rate
from edgewise.theory.experts import VOTE

# Rounds that one compiled call plays. Any number gives the same result.
ROUNDS = 64

Exploration = float | str | Callable[[int], float]
MANY_CLASSES = {
    "grace_period": (300, 301),
    "split_confidence": LogUniform(1e-11, 1e-10),
    "tie_threshold": LogUniform(0.7, 0.8),
}
TREES = {"paper": {}, "paper-mice": MANY_CLASSES, "paper-isolet": MANY_CLASSES}


class BanditHistory(NamedTuple):
    """A replay seen from inside: arrays over rounds and learners (see `RoundRecord`)."""

    shown: np.ndarray
    guesses: np.ndarray
    correct: np.ndarray
    rates: np.ndarray
    votes: np.ndarray
    experts: np.ndarray
    learner_weights: np.ndarray
    taught: np.ndarray
    importances: np.ndarray
    uniforms: np.ndarray


@declares
class BanditParameters:
    """Parameters of all bandits.

    Parameters
    ----------
    chunk_size : int
        Rounds that one compiled call plays; never changes a result.
    """

    estimator: Member | Sequence[Member] | None = None
    n_estimators: int = 20
    _: KW_ONLY
    max_pending: int = 1000
    max_bytes: int | None = None
    chunk_size: int = ROUNDS
    random_state: Any = None


class StreamBandit(BanditParameters, LabelPredictor, VotingEnsemble):
    """An ensemble that shows a label, is told right or wrong, and learns from that alone.

    `decide` and `feedback` are for the world; `prequential` replays a labelled stream and is the same, number for
    number, as deciding and giving feedback row by row.
    """

    # parameter that every bandit booster has
    exploration: Exploration
    # learned; mistakes_ are wrong labels shown, where feedback came
    decisions_: int  # labels shown
    expired_: int  # decisions that got no feedback in time
    repeated_: int  # feedback for decisions that had theirs

    _game: ClassVar[Callable[..., int]] = staticmethod(run_rounds)

    # -- deciding and learning ---------------------------------------------------------------------------------------

    def decide(self, x: Any, *, classes: Any = None) -> Decision:
        """The label to show for one example, a row or a table of one row. The first call needs `classes`.

        A row is a sequence of numbers, or anything that as the one row of an array has the columns of the model.

        Parameters
        ----------
        x : sequence or table of one row
            The example.
        classes : array, optional
            All labels that may be shown. The first call needs them.

        Returns
        -------
        Decision
            Label, propensity, probabilities, features and id.
        """
        if classes is None and self._is_plain(x):
            rows = Rows(self._columns, np.array(x[None, :]), np.zeros((1, 0), np.int32))
            uniforms = self._rng.random((1, 2 + self.n_estimators))
            return self._decide(rows, self._rates(self.classes_.size, self.decisions_, 1), uniforms, [x])[0]
        if hasattr(x, "shape") and len(x.shape) == 2:
            if len(x) != 1:
                raise ValueError(f"x has {len(x)} rows: decide takes 1, decide_many any number")
            return self.decide_many(x, classes=classes)[0]
        # a row of numbers and text must not become text
        row = np.asarray(x, dtype=None if isinstance(x, np.ndarray) else object)[None, :]
        return self._decide_all(RawRows(as_table(row), None), row, classes)[0]

    def decide_many(self, X: Any, *, classes: Any = None) -> list[Decision]:
        """The labels to show for many examples, none of them learned before the last is decided.

        Parameters are those of `decide`, with:

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.

        Returns
        -------
        list of Decision
            A decision for each row.
        """
        examples = as_rows(X)
        return self._decide_all(examples, X if isinstance(X, np.ndarray | list | tuple) else examples.table, classes)

    def feedback(self, decision: Decision | int, correct: bool) -> bool:
        """Learn whether the label of a decision was right; True if learned, False if it was known (`repeated_`).

        Parameters
        ----------
        decision : Decision or int
            The decision, or its id.
        correct : bool
            Whether the label shown was right.

        Returns
        -------
        bool
            Whether something was learned.
        """
        self._started()
        if not isinstance(correct, bool | np.bool_) and correct not in (0, 1):
            raise ValueError(f"correct={correct!r}: True if the label was right, False if it was wrong")
        found = self._pending.find(decision)
        if found is None:
            self.repeated_ += 1
            return False
        self._pending.remove(found)
        self.rounds_ += 1
        found.cast.correct[0] = bool(correct)
        row = Rows(self._columns, found.numeric, found.nominal)
        self._ensembles[0] = self._play(self._ensemble, row, found.cast, LEARNING, self.rounds_)
        self.mistakes_ += not correct
        return True

    def prequential(self, X: Any, y: Any, *, classes: Any = None) -> np.ndarray:
        """Replay a labelled stream as a bandit: show, hear right or wrong, learn, row by row; the labels shown.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        classes : array, optional
            All labels that may come; by default those in y. Needed in the first call only.

        Returns
        -------
        array
            The labels [n] that were shown.
        """
        shown = [cast.shown for cast in self._replay(X, y, classes)]
        return self.classes_[np.concatenate(shown) if shown else np.zeros(0, np.int64)]

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Replay further rows. The first call fixes the columns and the classes (`classes`, or those in y).

        Parameters are those of `prequential`.
        """
        self.prequential(X, y, classes=classes)
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then replay these rows in their order.

        Parameters are those of `prequential`.
        """
        return self._fit(X, y)

    def trace(self, X: Any, y: Any, *, classes: Any = None) -> BanditHistory:
        """Like `prequential`, but tells everything that happened.

        Parameters are those of `prequential`.

        Returns
        -------
        BanditHistory
            A record of arrays, one row for each round.
        """
        casts = list(self._replay(X, y, classes))
        if not casts:
            raise ValueError("X has 0 rows: there is nothing to trace")
        whole = RoundRecord(*(np.concatenate(field) for field in zip(*casts, strict=True)))._asdict()
        whole["learner_weights"] = whole["weights"]
        return BanditHistory(**{name: whole[name] for name in BanditHistory._fields})

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of `predict`.

        Parameters are those of `prequential`.

        Returns
        -------
        float
            The share of rows whose prediction is right.
        """
        return float(np.mean(self.predict(X) == np.asarray(y)))

    # -- what can be seen --------------------------------------------------------------------------------------------

    @property
    def pending_(self) -> list[Decision]:
        """Decisions that wait for feedback, oldest first."""
        self._started()
        return list(self._pending.waiting.values())

    @property
    def expert_losses_(self) -> np.ndarray:
        """Estimated mistakes of each expert, the first i learners together."""
        return self._each(lambda committee: committee.mistakes.copy())

    # -- what a booster adds -----------------------------------------------------------------------------------------

    def _decaying_rates(self, k: int, rounds: np.ndarray) -> Any:
        """The exploration rates of rounds where the theory sets them."""
        return theory_rate(k, self.n_estimators, rounds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # It is told right or wrong, not the label, so that it learns slower than a classifier.
        tags.classifier_tags.poor_score = True
        return tags

    # -- inside ------------------------------------------------------------------------------------------------------

    def _check(self) -> list[Any]:
        learners = super()._check()
        if isinstance(self.exploration, str):
            if self.exploration != "decaying":
                raise ValueError(f"exploration={self.exploration!r}: a rate in (0, 1), 'decaying', or a function of t")
        elif not callable(self.exploration):
            _check_rate(self.exploration, "exploration")
        if any(isinstance(learner, LabelMarkovChain) for learner in learners):
            raise ValueError("estimator: a LabelMarkovChain learns from labels, which a bandit is not told")
        return learners

    def _draws(self, plan: Any) -> int:
        return 2 + self.n_estimators

    def _rates(self, k: int, first: int, n: int) -> np.ndarray:
        """Exploration rates of the n decisions after the first so many."""
        numbers = np.arange(first + 1, first + n + 1)
        if isinstance(self.exploration, str):
            return np.asarray(self._decaying_rates(k, numbers), float).reshape(n)
        if not callable(self.exploration):
            return np.full(n, float(self.exploration))
        rates = np.array([float(self.exploration(int(t))) for t in numbers])
        for t in np.flatnonzero(~((rates > 0.0) & (rates < 1.0))):
            _check_rate(rates[t].item(), f"exploration({numbers[t]})")
        return rates

    def _classes(self, classes: Any, labels: np.ndarray | None = None) -> np.ndarray:
        """The classes of the model, checked against those that are given now."""
        if hasattr(self, "classes_"):
            return known_classes(self, classes)
        if classes is None and labels is None:
            raise ValueError("classes=None: the first decision needs the labels to choose from")
        return first_classes(classes, np.zeros(0) if labels is None else labels)

    def _open(self, rows: Rows, classes: Any, learners: list[Any] | None = None) -> None:
        """Start the model with these rows and classes, or take in the categories that are new in the rows."""
        if hasattr(self, "_columns"):
            self._add_categories(rows.columns)
            return
        known = self._classes(classes)
        self._begin(rows.columns, known.size, learners)
        self.classes_ = known
        self.mistakes_ = self.decisions_ = self.expired_ = self.repeated_ = 0
        self._pending = Pending()

    def _is_plain(self, x: Any) -> bool:
        """Whether x is a row of numbers that needs no closer look: no nominal columns, nothing infinite."""
        if not isinstance(x, np.ndarray) or x.dtype != np.float64 or not hasattr(self, "_columns"):
            return False
        columns = self._columns
        if x.shape != (len(columns.names),) or columns.categories or self._ensemble.learners.kind[0] == PRECOMPUTED:
            return False
        if self._ensemble.external.copies:
            return False  # they may not take missing values
        return not np.isinf(x).any()

    def _play(
        self, ensemble: Any, rows: Rows, cast: RoundRecord, parts: int, first: int = 0, labels: Any = None
    ) -> Any:
        """Vote or learn in the rounds of these rows, the first of which is number `first` of those that are learned."""
        n, width = rows.numeric.shape
        none, moments = np.zeros(n, np.int64), np.zeros((2, n + 1, width))
        rounds = np.arange(first, first + n) if parts & LEARNING else none
        codes = none if labels is None else labels
        chunk = Chunk(rows.numeric, rows.nominal, codes, np.ones(n), rounds, none, np.zeros((n, 1)), *moments)
        return play(self._game, ensemble, chunk, cast, parts)

    def _decide_all(self, examples: RawRows, features: Any, classes: Any) -> list[Decision]:
        """Decisions on all examples; `features` are the same rows as they were given."""
        learners = self._check()
        known = self._classes(classes)
        rows = self._rows(examples, known.size, learners)
        n = len(examples.table)
        rates = self._rates(known.size, getattr(self, "decisions_", 0), n)
        self._open(rows, known, learners)
        return [
            decision
            for part, uniforms in self._parts(np.ones(n, bool))
            for decision in self._decide(rows.part(part), rates[part], uniforms, features[part])
        ]

    def _decide(self, rows: Rows, rates: np.ndarray, uniforms: np.ndarray, given: Any) -> list[Decision]:
        """Decisions on a chunk of rows."""
        plan, n_learners = self._ensemble.plan, self._ensemble.learners.kind.size
        cast = make_record(plan, len(rates), n_learners, rates, uniforms)
        self._play(self._ensemble, rows, cast, VOTING)
        return [self._made(given[t], rows, cast, t) for t in range(len(rates))]

    def _made(self, features: Any, rows: Rows, cast: RoundRecord, t: int) -> Decision:
        """The decision of row t of a chunk, kept until its feedback comes."""
        one = slice(t, t + 1)
        probabilities = np.full(self.classes_.size, cast.rates[t] / (self.classes_.size - 1))
        probabilities[cast.guesses[t]] = 1.0 - cast.rates[t]
        shown = cast.shown[t]
        decision = Decision(
            self._pending.next_id,
            self.classes_[shown],
            float(probabilities[shown]),
            probabilities,
            features,
            rows.numeric[one],
            rows.nominal[one],
            cast if len(cast.shown) == 1 else RoundRecord(*(field[one].copy() for field in cast)),
        )
        self.decisions_ += 1
        self.expired_ += self._pending.add(decision, self.max_pending)
        return decision

    def _replay(self, X: Any, y: Any, classes: Any) -> Iterator[RoundRecord]:
        """Check everything, so that bad input leaves the model as it was; then play in chunks, giving each."""
        learners = self._check()
        X = as_rows(X)
        labels = label_array(y, len(X.table))
        known = self._classes(classes, labels)
        codes = label_codes(labels, known)
        rows = self._rows(X, known.size, learners)
        rates = self._rates(known.size, getattr(self, "decisions_", 0), len(codes))
        self._open(rows, known, learners)
        plan, n_learners = self._ensemble.plan, self._ensemble.learners.kind.size
        for part, uniforms in self._parts(np.ones(len(codes), bool)):
            size = len(uniforms)
            cast = make_record(plan, size, n_learners, rates[part], uniforms)
            self._ensembles[0] = self._play(
                self._ensemble, rows.part(part), cast, VOTING | LEARNING, self.rounds_ + 1, codes[part]
            )
            self.rounds_ += size
            self.decisions_ += size
            self.mistakes_ += int((~cast.correct).sum())
            yield cast

    def _vote(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The guesses for rows, and the scores [n, k] behind them; nothing changes."""
        self._started()
        rows = self._rows(X, self.classes_.size, learning=False)
        n, n_learners = len(rows.numeric), self._ensemble.learners.kind.size
        ensemble = self._ensemble._replace(plan=self._ensemble.plan._replace(follow=VOTE))
        guesses, scores = np.zeros(n, np.int64), np.zeros((n, self.classes_.size))
        for part in self._cuts(n):
            size = part.stop - part.start
            cast = make_record(ensemble.plan, size, n_learners, np.zeros(size), np.ones((size, 2 + n_learners)))
            self._play(ensemble, rows.part(part), cast, VOTING | SCORING)
            guesses[part], scores[part] = cast.guesses, cast.mean
        return guesses, scores


def bandit_tree(preset: str) -> HoeffdingTree:
    """The weak learner of a preset.

    The text of Zhang, Jung and Tewari 2018 names VFDT only, their script sets the rest by data set.

    | preset         | data sets                       | trees                                                       |
    |----------------|---------------------------------|-------------------------------------------------------------|
    | "paper"        | Balance, Car, Nursery, Movement | those of Jung et al. 2017, without the factor on importance |
    | "paper-mice"   | Mice                            | grace 300, ties broken early                                |
    | "paper-isolet" | Isolet                          | the same; importances are scaled down (end of B.3)          |
    """
    if preset not in TREES:
        raise ValueError(f"preset={preset!r}: the presets are {', '.join(map(repr, TREES))}")
    return HoeffdingTree.preset("paper", importance_scale=1.0, **TREES[preset])


def cost_limits(clip: float | None, grain: float | None) -> tuple[float, float]:
    """`cost_clip` and `cost_grain` as kernels take them."""
    return math.inf if clip is None else float(clip), 0.0 if grain is None else float(grain)


def _check_rate(rate: Any, name: str) -> None:
    if not isinstance(rate, Real) or not 0.0 < float(rate) < 1.0:
        raise ValueError(f"{name}={rate!r}: an exploration rate lies strictly between 0 and 1")
