"""The parameters of weak learners; a user's own learner has these, and a state with compiled methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from edgewise.parameters import Parameterized, check_parameters


class Example(NamedTuple):
    """One example, as a learner sees it."""

    numeric: np.ndarray  # NaN where missing
    nominal: np.ndarray  # codes below the number of categories, -1 where missing
    means: np.ndarray  # running mean and variance of each numeric column over the examples before this one
    variances: np.ndarray


class Learner(Parameterized):
    """The parameters of a weak learner."""

    def __init__(self) -> None:
        """A learner without parameters."""

    def check(self) -> None:
        """ValueError where a parameter is not allowed."""
        check_parameters(self)


class PrecomputedVotes(Learner):
    """Learner i votes the class code in numeric column i and learns nothing.

    Appendix B.3 of Jung et al. 2017 builds weak learners of exactly known edge in this way; so do the tests.
    """


class WeakLearner(Learner):
    """A weak learner of your own: the class holds its parameters, `make` gives the state that all of its kind share.

    A state is a NamedTuple of arrays, the first axis of which is the learner. Its class has two methods in the subset
    of Python that Numba compiles; they may not make arrays:

    `predict_proba(self, i, x, p)` fills p with learner i's distribution over the labels, for the `Example` x.
    `update(self, i, x, p, label, w)` lets learner i learn, with importance w > 0, that x has this label; p is what
    `predict_proba` has just filled in.
    """

    @classmethod
    def make(cls, learners: Sequence[Self], n_labels: int, n_numeric: int, categories: np.ndarray) -> Any:
        """The state of these learners before the first example; `categories`: how many each nominal column has.

        Parameters
        ----------
        learners : list
            The learners of this class in the ensemble, in order.
        n_labels : int
            Number of labels.
        n_numeric : int
            Number of numeric columns.
        categories : array
            Number of categories of each nominal column.

        Returns
        -------
        NamedTuple of arrays
            The state.
        """
        raise TypeError(f"{cls.__name__} does not say how its state is made: define make()")

    @classmethod
    def widened(cls, state: Any, fresh: Any) -> Any:
        """`state` in the form of `fresh`, which `make` gave for more categories: those that came up later.

        As it stands, for learners whose arrays do not depend on the categories.

        Parameters
        ----------
        state : NamedTuple of arrays
            What was learned.
        fresh : NamedTuple of arrays
            A new state for more categories.

        Returns
        -------
        NamedTuple of arrays
            What was learned, in arrays of the new shapes.
        """
        if any(old.shape != new.shape for old, new in zip(state, fresh, strict=True)):
            raise ValueError(
                f"X has categories that {cls.__name__} was not made for: name all of them from the start, "
                "or define widened()"
            )
        return state
