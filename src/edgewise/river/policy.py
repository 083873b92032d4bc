"""Bandit boosters as contextual policies of river.

A policy of river is told which arm was pulled in which context, and its reward; a bandit booster wants to know which
of its decisions was right.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from river import bandit

from edgewise.loop.decisions import Decision
from edgewise.river.adapter import Adapter
from edgewise.river.features import plain
from edgewise.river.late import padded


class BoostedPolicy(Adapter, bandit.base.ContextualPolicy):
    """Features may come late. The arms of the first pull are those of all: a booster of k labels cannot leave one out.

    `update` is for the latest decision that pulled this arm in this context. What was pulled without a decision
    (river's burn-in, someone else's pulls) counts in the policy's statistics and is not learned: with what probability
    the booster would have pulled that arm is not known.
    """

    additions = ("reward_obj", "burn_in", "features")

    def _open(self, params: dict[str, Any]) -> None:
        super()._open(params)
        bandit.base.ContextualPolicy.__init__(self, params["reward_obj"], None, params["burn_in"])

    def _pull(self, arm_ids: list[Any], context: Mapping[Hashable, Any] | None) -> Any:  # type: ignore[override]
        model, x = self.model, dict(context or {})
        if self._started and set(arm_ids) != set(model.classes_.tolist()):
            raise ValueError(f"arm_ids={list(arm_ids)!r}: this policy was started with {model.classes_.tolist()!r}")
        rows = self._row_to_learn(x)
        if not self._started:
            model._open(rows, list(arm_ids))
        rates = model._rates(model.classes_.size, model.decisions_, 1)
        uniforms = model._rng.random((1, 2 + model.n_estimators))
        return plain(model._decide(rows, rates, uniforms, [x])[0].label)

    def update(
        self, arm_id: Any, context: Mapping[Hashable, Any] | None, *reward_args: Any, **reward_kwargs: Any
    ) -> None:
        """Tell the reward of an arm in a context: 1 for right, 0 for wrong.

        Parameters
        ----------
        arm_id : label
            The arm that was pulled.
        context : dict
            Feature name -> value, as given to `pull`.
        *reward_args, **reward_kwargs : any
            What `reward_obj` takes: by default the reward.
        """
        (reward,) = [*reward_args, *reward_kwargs.values()]
        if reward not in (0, 1):
            raise ValueError(f"reward={reward!r}: a boosted policy learns from right (1) or wrong (0)")
        super().update(arm_id, context, *reward_args, **reward_kwargs)
        x = dict(context or {})
        for decision in reversed(self._waiting().values()):
            if decision.label == arm_id and decision.features == x:
                self.model.feedback(decision, bool(reward))
                break

    def _waiting(self) -> dict[int, Decision]:
        """Decisions without feedback, the oldest first."""
        return self.model._pending.waiting if self._started else {}

    def _admit(self, news: Iterable[tuple[Hashable, Any]]) -> None:
        """Decisions that wait for feedback get the new columns as well: their contexts did not have them."""
        super()._admit(news)
        waiting = self._waiting()
        for key, decision in waiting.items():
            new_numeric = self._features.n_numeric - decision.numeric.shape[1]
            new_nominal = len(self._features.codes) - decision.nominal.shape[1]
            waiting[key] = decision._replace(
                numeric=padded(decision.numeric, 1, new_numeric, np.nan),
                nominal=padded(decision.nominal, 1, new_nominal, -1),
            )
