"""The learners alone, without boosting: every tree sees every example, the mean of their distributions decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.loop.members import Member
from edgewise.loop.state import ARGMAX, UNIFORM, Plan
from edgewise.models.stream_classifier import StreamClassifier
from edgewise.models.stream_ensemble import CHUNK_ROWS


class HoeffdingForest(StreamClassifier):
    """N Hoeffding trees that learn independently: the papers' baseline, and what boosting must beat.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        A `HoeffdingTree` (default settings if None); ranges and feature subsets make the trees differ.
    n_estimators : int
        Number of trees.
    max_bytes : int, optional
        Most bytes that the model may take; at the limit, leaves that promise little give up their statistics
        (docs/how-to/memory.md). None: no limit.
    chunk_size : int
        Rows that go through the trees together; never changes a result.
    n_jobs : int, optional
        Threads that learners are shared out to, -1 for one on each core; never changes a result
        (docs/how-to/threads.md).
    random_state : int or Generator, optional
        Seed, or numpy Generator.
    """

    def __init__(
        self,
        estimator: Member | Sequence[Member] | None = None,
        n_estimators: int = 100,
        *,
        max_bytes: int | None = None,
        chunk_size: int = CHUNK_ROWS,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_bytes = max_bytes
        self.chunk_size = chunk_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """The paper's trees on unweighted examples.

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
        return cls(**{"estimator": HoeffdingTree.preset(name, importance_scale=1.0)} | changes)

    def _plan(self, k: int) -> Plan:
        return Plan(k, UNIFORM, 0, ARGMAX, 0, 1.0, 1.0, False, 0.0, 0.0, False)

    def _first_weight(self) -> float:
        return 1.0 / self.n_estimators

    def prequential_votes(self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Predict, then learn, row by row; each tree's own prediction [n, trees], as places in `classes_`.

        Parameters
        ----------
        X : array, frame or Table
            Rows, as `edgewise.as_table` takes them.
        y : array
            The label of each row.
        classes : array, optional
            All labels that may come; by default those in y. Needed in the first call only.
        sample_weight : array, optional
            The weight of each row; 1 by default.

        Returns
        -------
        array
            Places in `classes_`, [n, trees].
        """
        votes: list[np.ndarray] = []
        self._learn(X, y, classes, sample_weight, lambda guesses, trace, chunk: votes.append(trace.votes.T))
        return np.concatenate(votes)
