"""Learners whose votes are given with the example: learner i votes the class whose number is in column i.

Appendix B.3 of Jung et al. 2017 builds weak learners of exactly known edge in this way; so do the tests.
"""

from __future__ import annotations

from edgewise.parameters import Parameterized


class PrecomputedVotes(Parameterized):
    """Learner i votes the class code in numeric column i and learns nothing."""

    def __init__(self) -> None:
        pass

    def check(self) -> None:
        pass
