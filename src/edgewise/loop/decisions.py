"""Decisions that wait for their feedback: a bounded number, of which the oldest expire."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from edgewise.estimator import writable
from edgewise.loop.bandit_loop import RoundRecord


class Decision(NamedTuple):
    """A label that was shown, and what is needed to learn from the answer."""

    id: int
    label: Any
    """The label to show: the guess, or another one that is explored."""
    propensity: float
    """With what probability this label was chosen."""
    probabilities: np.ndarray
    """Distribution (2) over `classes_`."""
    features: Any
    """The example as it was given."""
    numeric: np.ndarray
    nominal: np.ndarray
    cast: RoundRecord
    """The votes as they were cast, the guess, and the random numbers of the round."""


class Pending:
    """The decisions without feedback, oldest first.

    Ids are given in order, and the oldest decision expires first, so that all decisions up to the last expired one are
    settled, and one after it that does not wait was answered: no list of past ids is needed.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Decision] = {}
        self.next_id = 0
        self.last_expired = -1

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Feedback is written into the decision, whose arrays may come as read-only memory maps."""
        vars(self).update(writable(state))

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, decision: Decision, limit: int) -> int:
        """Keep a decision; how many older ones expired for it."""
        self.waiting[decision.id] = decision
        self.next_id = decision.id + 1
        expired = 0
        while len(self.waiting) > limit:
            self.last_expired = next(iter(self.waiting))
            del self.waiting[self.last_expired]
            expired += 1
        return expired

    def find(self, given: Decision | int) -> Decision | None:
        """The waiting decision of this id, or None if it was answered already; ValueError if there is no such."""
        number = given.id if isinstance(given, Decision) else given
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise ValueError(f"decision={given!r}: a Decision, or the id of one")
        if number in self.waiting:
            return self.waiting[int(number)]
        if not 0 <= number < self.next_id:
            known = f"ids from 0 to {self.next_id - 1} were given" if self.next_id else "none was made yet"
            raise ValueError(f"decision {number} is unknown to this model: {known}")
        if number <= self.last_expired:
            raise ValueError(
                f"decision {number} has expired: only the last decisions are kept (max_pending), those up to "
                f"{self.last_expired} are settled"
            )
        return None

    def remove(self, decision: Decision) -> None:
        del self.waiting[decision.id]
