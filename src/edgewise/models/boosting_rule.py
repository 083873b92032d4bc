"""A booster by a user's own rule: the loop of `online_loop`, with importances and weights in the user's code."""

from __future__ import annotations

from typing import Any

from edgewise.loop.custom_learners import RULE_METHODS, check_state, try_rule
from edgewise.loop.state import ARGMAX, OWN_RULE, PROBABILITY, BoosterConfig
from edgewise.models.stream_classifier import StreamClassifier
from edgewise.parameters import Allowed

FORMS = {"argmax": ARGMAX, "probability": PROBABILITY}


class BoostingRule(StreamClassifier):
    """A boosting rule of your own: the class holds its parameters, `memory` gives what the rule remembers.

    A subclass has the parameters `estimator`, `n_estimators`, `chunk_size` and `random_state`, and its own. What it
    remembers is a NamedTuple of arrays. Its class has two methods in the subset of Python that Numba compiles; they
    may not make arrays:

    `importance(self, i, scores, now)` gives the importance of the example for learner i, from the scores of the
    learners before it and the `Round`.
    `learner_weight(self, i, scores, vote, p, now)` gives the weight that learner i's votes have from the next round
    on, from the scores with its vote for the label `vote`, and its distribution p.

    In between, the scores take the vote times the learner's weight: on one label, or, with `vote = "probability"`, on
    each as the learner's distribution has it. The last learner's scores decide.
    """

    vote: str = "argmax"
    _allowed = StreamClassifier._allowed | {"vote": Allowed(f"one of {', '.join(FORMS)}", FORMS)}

    def check(self) -> None:
        """ValueError where a parameter is not allowed."""

    def memory(self, n_labels: int) -> Any:
        """What the rule remembers, before the first round.

        Parameters
        ----------
        n_labels : int
            Number of labels.

        Returns
        -------
        NamedTuple of arrays
            The memory.
        """
        raise TypeError(f"{type(self).__name__} does not say what it remembers: define memory()")

    def first_weight(self) -> float:
        """Learner weights before the first round.

        Returns
        -------
        float
            One weight for all; 1 as it stands.
        """
        return 1.0

    def draws(self) -> int:
        """Uniform random numbers that a round needs.

        Returns
        -------
        int
            How many; 0 as it stands.
        """
        return 0

    @property
    def memory_(self) -> Any:
        """What the rule remembers by now."""
        self._started()
        return self._ensemble.own.rule

    def _check(self) -> list[Any]:
        learners = super()._check()
        self.check()
        return learners

    def _plan(self, k: int) -> BoosterConfig:
        return BoosterConfig(k, OWN_RULE, 0, FORMS[self.vote], 0, 1.0, 1.0, False, 0.0, 0.0, False)

    def _threads(self) -> int:
        return 1  # what a rule remembers may be of all learners together

    def _first_weight(self) -> float:
        return self.first_weight()

    def _draws(self, plan: BoosterConfig) -> int:
        return self.draws()

    def _new_ensemble(self, plan: BoosterConfig, learners: list[Any]) -> Any:
        memory = self.memory(plan.n_labels)
        check_state(memory, f"{type(self).__name__}.memory()", RULE_METHODS)
        try_rule(memory, self.n_estimators, plan.n_labels, self.draws())
        ensemble = super()._new_ensemble(plan, learners)
        return ensemble._replace(own=ensemble.own._replace(rule=memory))
