"""Streaming gradient boosters of numbers: settings, steps, state, and what a run tells.

`learning_rate` is eta of Algorithm 1, one for all learners or one for each; `edge` takes eq. (28) instead. The default
steps 1/beta for the first learner, which is linear, and a part of it for the trees that follow: the proof of Theorem
5.1 allows a step of its own for each learner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from edgewise.data.targets import weight_array
from edgewise.learners.hoeffding_tree import RegressionTree
from edgewise.learners.linear import RidgeRegression, ridge_with_categories
from edgewise.learners.regression_forest.layout import forest_with_categories, regression_structure
from edgewise.loop.gradient_loop import (
    LEAST,
    PREDICTED,
    RESIDUAL,
    ROUNDS,
    RULES,
    SMOOTH,
    TREE,
    Examples,
    GradientEnsemble,
    Progress,
    Steps,
    check_shapes,
    run,
)
from edgewise.loop.inputs import Columns
from edgewise.loop.members import GradientMember, assemble_gradient, draw_trees, external_bank, gradient_members
from edgewise.loop.pipeline import ChunkTask
from edgewise.models.stream_ensemble import CHUNK_ROWS, Rows, StreamEnsemble
from edgewise.parameters import Allowed, with_parameters
from edgewise.theory.bounds import RegretBound, edges_of, residual_bound, smooth_bound, step_from_edge
from edgewise.theory.projections import region_of
from edgewise.theory.regression_losses import Loss

# Found on Abalone, electricity prices and elevations (benchmarks/results/sgb_defaults.md).
DEFAULT_TREE = RegressionTree(least_gain=8.0, max_depth=10, smoothing=20.0, memory=200.0, max_features=0.5)
SHRINKAGE = 0.1  # of 1/beta: the step of all learners but the first


@with_parameters(
    rule=Allowed(f"one of {', '.join(RULES)}, or None for what the loss needs", RULES, none=True),
    edge=Allowed("a number in (0, 1]", above=0.0, below=math.nextafter(1.0, 2.0), none=True),
    final=("last", "average"),
)
class GradientStream(StreamEnsemble):
    """What regressor and classifier share: predict, then learn, one example after the other.

    Learning many rows in one call is the same, number for number, as learning them one by one.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        The weak learner, or a list of which the last fills up: `RegressionTree`, `RidgeRegression`, or any object with
        `predict_one` and `learn_one`. None: a linear learner, then trees on random feature subsets.
    loss : str or loss, optional
        A loss by its name, a loss object, or a loss of your own (see `Loss`).
    rule : str, optional
        "smooth" (Algorithm 1) or "residual" (Algorithm 2, for losses with a kink); None: what the loss needs.
    learning_rate : float or list of floats, optional
        eta, one for all learners, or a list of which the last fills up. None: 1/(lambda i) for Algorithm 2; for
        Algorithm 1 a tenth of 1/beta, and 1/beta for the first learner where `estimator` is None.
    edge : float, optional
        Take the step of Theorem 5.1 for learners of this edge instead.
    start : float or list of floats
        y_0, the prediction before the first learner: a number, or one for each output.
    final : str
        What `predict` asks: the "last" hypothesis of each learner, or the "average" over all rounds (line 16 of
        Algorithm 1), which linear learners can give.
    """

    estimator: Any = None
    n_estimators: int = 50
    _: KW_ONLY
    loss: Any = None
    rule: str | None = None
    learning_rate: float | Sequence[float] | None = None
    edge: float | None = None
    start: float | Sequence[float] = 0.0
    final: str = "last"
    chunk_size: int = CHUNK_ROWS
    n_jobs: int | None = None
    random_state: Any = None

    _threaded = RegressionTree | RidgeRegression

    # -- what can be seen ------------------------------------------------------------------------------------------

    @property
    def edges_(self) -> np.ndarray:
        """Empirical edges gamma_i of the learners (Definition 4.1); 0 before the first round."""
        self._started()
        return edges_of(self._state.progress.learners)

    @property
    def learner_weights_(self) -> np.ndarray:
        """What each learner's prediction is multiplied by: -eta_i."""
        return -self.learning_rates_

    @property
    def learning_rates_(self) -> np.ndarray:
        """eta_i of each learner."""
        self._started()
        return self._state.steps.rates.copy()

    @property
    def expert_losses_(self) -> np.ndarray:
        """Sum over rounds of the loss of y^0..y^N: a run with fewer learners is the beginning of this one."""
        self._started()
        return self._state.progress.losses.copy()

    @property
    def loss_sum_(self) -> float:
        """Sum over rounds of the loss of the predictions."""
        self._started()
        return float(self._state.progress.totals[PREDICTED])

    def bound(self) -> RegretBound:
        """What Theorem 5.1 or 5.2 says of this run, beside the mean regret against the best prediction of each row.

        Returns
        -------
        RegretBound
            The bound beside what was measured; printing it tells both.
        """
        self._started()
        loss, steps, progress = self._loss(), self._state.steps, self._state.progress
        rounds = float(progress.totals[ROUNDS])
        if rounds <= 0.0:
            raise ValueError(f"this {type(self).__name__} has learned no row yet: there is nothing to bound")
        if not hasattr(loss, "least"):
            raise ValueError(f"loss={loss!r} does not say what its least value is: there is no regret to bound")
        least = progress.totals[LEAST]
        regret = (progress.totals[PREDICTED] - least) / rounds
        if steps.rule == RESIDUAL:
            return residual_bound(
                sums=progress.learners,
                strong_convexity=loss.strong_convexity,
                largest_gradient=float(progress.extremes[1]),
                regret=regret,
                rounds=rounds,
            )
        return smooth_bound(
            sums=progress.learners,
            rates=steps.rates,
            strong_convexity=loss.strong_convexity,
            smoothness=loss.smoothness,
            first_regret=(progress.losses[0] - least) / rounds,
            regret=regret,
            rounds=rounds,
        )

    def _tree(self, forest: Any, learners: Any, learner: int, of_class: int) -> tuple[Any, ...]:
        if learners.kind[learner] != TREE:
            raise ValueError(f"learner {learner} is no tree")
        return regression_structure(forest, int(learners.slot[learner]))

    # -- settings --------------------------------------------------------------------------------------------------

    def _loss(self) -> Loss:
        """The loss of a model that has been started."""
        raise TypeError(f"{type(self).__name__} does not say what its loss is")

    def _default_estimator(self) -> Any:
        return [RidgeRegression(), DEFAULT_TREE]

    def _members(self) -> list[GradientMember]:
        return gradient_members(self._chosen(), self.n_estimators)

    def _check_steps(self, loss: Loss, n_outputs: int) -> list[GradientMember]:
        """The learners in order; ValueError for settings with which nothing can be learned."""
        learners = self._check()
        if self.final == "average" and not all(isinstance(learner, RidgeRegression) for learner in learners):
            raise ValueError(
                "final='average': only RidgeRegression learners can average what they said over all rounds"
            )
        if self.edge is not None and self.learning_rate is not None:
            raise ValueError(f"edge={self.edge!r}, learning_rate={self.learning_rate!r}: give one of them")
        start = np.asarray(self.start, float)
        if start.shape not in ((), (n_outputs,)) or not np.isfinite(start).all():
            raise ValueError(f"start={self.start!r}: a finite number, or one for each of {n_outputs} outputs")
        self._rates(loss)
        region_of(loss.domain, n_outputs)
        check_shapes(loss, n_outputs)
        return learners

    def _rule(self, loss: Loss) -> int:
        if self.rule is None:
            return SMOOTH if math.isfinite(loss.smoothness) else RESIDUAL
        return RULES[self.rule]

    def _rates(self, loss: Loss) -> np.ndarray:
        """eta_i of every learner."""
        n = self.n_estimators
        if self.learning_rate is not None:
            given = np.atleast_1d(np.asarray(self.learning_rate, float))
            if given.ndim != 1 or given.size == 0 or not (np.isfinite(given) & (given > 0.0)).all():
                raise ValueError(f"learning_rate={self.learning_rate!r}: a positive number, or a list of them")
            return given[np.minimum(np.arange(n), given.size - 1)]
        if self._rule(loss) == RESIDUAL:
            if not loss.strong_convexity > 0.0:
                raise ValueError(
                    f"loss={loss!r} is not strongly convex: the step 1/(lambda i) of Algorithm 2 needs a loss with "
                    "regularization above 0, or give learning_rate"
                )
            return 1.0 / (loss.strong_convexity * np.arange(1, n + 1))
        if not math.isfinite(loss.smoothness):
            raise ValueError(f"loss={loss!r} is not smooth: give learning_rate, or take rule='residual'")
        if self.edge is not None:
            return np.full(n, step_from_edge(self.edge, loss.smoothness))
        shares = np.full(n, SHRINKAGE)
        if self.estimator is None:
            shares[0] = 1.0
        return shares / loss.smoothness

    # -- state -----------------------------------------------------------------------------------------------------

    @property
    def _states(self) -> list[Any]:  # type: ignore[override]
        return [self._state]

    def _start(self, loss: Loss, columns: Columns, k: int) -> None:
        """Draw the learners' parameters and make the state for k outputs."""
        rng = np.random.default_rng(self.random_state)
        self.tree_parameters_ = draw_trees(self._members(), len(columns.names), rng)
        self._n_blocks = self._blocks(k)
        self._interrupted = False
        self._state = self._new_state(loss, columns, k, rng)
        self._columns = columns
        self._n_outputs = k
        self.rounds_ = 0

    def _new_state(self, loss: Loss, columns: Columns, k: int, rng: np.random.Generator) -> GradientEnsemble:
        """A state that has learned nothing, of learners whose parameters are drawn; `rng` seeds foreign learners."""
        steps = Steps(
            self._rule(loss),
            self._rates(loss),
            np.broadcast_to(np.asarray(self.start, float), k).copy(),
            region_of(loss.domain, k),
        )
        n, learners = self.n_estimators, self._members()
        progress = Progress(np.zeros((n, 3)), np.zeros(n + 1), np.zeros(3), np.zeros(2))
        kinds, forests, bank, objects = assemble_gradient(learners, self.tree_parameters_, columns, k, self._n_blocks)
        external = external_bank(learners, columns, rng, each=k)
        return GradientEnsemble(steps, kinds, progress, forests, bank, objects, external)

    def _add_categories(self, columns: Columns) -> None:
        """Take in categories that came up after the first call."""
        if columns.categories == self._columns.categories:
            return
        self._columns = columns
        self._state = self._state._replace(
            forests=[forest_with_categories(forest, columns.n_categories) for forest in self._state.forests],
            bank=ridge_with_categories(self._state.bank, columns.n_categories),
            external=self._state.external.with_categories(columns.categories),
        )

    def _learn_targets(self, X: Any, targets: np.ndarray, sample_weight: Any, loss: Loss) -> np.ndarray:
        """Check everything first, so that bad input leaves the model as it was; then learn in chunks."""
        k = targets.shape[1]
        learners = self._check_steps(loss, k)
        weights = weight_array(sample_weight, len(targets))
        rows = self._rows(X, k, learners)
        if hasattr(self, "_columns"):
            self._add_categories(rows.columns)
        else:
            self._start(loss, rows.columns, k)
        predictions = self._run(loss, rows, targets, weights)
        self.rounds_ += int((weights > 0.0).sum())
        return predictions

    def _predictions(self, X: Any) -> np.ndarray:
        """Predictions [n, m] of rows that are not learned."""
        self._started()
        rows = self._rows(X, self._n_outputs, learning=False)
        n = len(rows.numeric)
        return self._run(self._loss(), rows, np.zeros((n, self._n_outputs)), np.zeros(n), self.final == "average")

    def _run(
        self, loss: Loss, rows: Rows, targets: np.ndarray, weights: np.ndarray, averaged: bool = False
    ) -> np.ndarray:
        """Send rows through the ensemble, chunk by chunk."""
        n, width = rows.numeric.shape
        predictions = np.zeros((n, self._n_outputs))

        def task(part: slice) -> ChunkTask:
            numeric, nominal, learned = rows.numeric[part], rows.nominal[part], weights[part]
            moments = np.zeros((2, len(numeric) + 1, width))
            examples = Examples(numeric, nominal, targets[part], learned, np.where(learned > 0.0, 0, -1), *moments)
            predictions[part] = yield from run(self._state, loss, examples, averaged=averaged)

        self._flow(map(task, self._cuts(n)), weights > 0.0)
        return predictions
