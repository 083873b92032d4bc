"""What a user's own weak learner is made of: a configuration, and a state that speaks and learns in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from edgewise.parameters import Parameterized


class Example(NamedTuple):
    """One example, as a learner sees it."""

    numeric: np.ndarray  # NaN where missing
    nominal: np.ndarray  # codes below the number of categories, -1 where missing
    means: np.ndarray  # running mean and variance of each numeric column over the examples before this one
    variances: np.ndarray


class WeakLearner(Parameterized):
    """A weak learner of your own: the class holds its parameters, `make` gives the state that all of its kind share.

    A state is a NamedTuple of arrays, the first axis of which is the learner. Its class has two methods in the subset
    of Python that Numba compiles; they may not make arrays:

    `predict_proba(self, i, x, p)` fills p with learner i's distribution over the labels, for the `Example` x.
    `update(self, i, x, p, label, w)` teaches learner i that x, of which it has just said p, has this label, with
    importance w > 0.
    """

    def __init__(self) -> None:
        """A learner without parameters."""

    def check(self) -> None:
        """ValueError where a parameter is not allowed."""

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
