"""One row through a booster of single labels, with as little around it as can be.

`online_loop.run` makes its working arrays anew and calls four kernels, which for a row at a time is most of the work:
passing the arrays of a state costs more than ten trees do. Here the arrays are kept from row to row and one kernel is
called. The numbers are those of `online_loop.run`.
"""

from __future__ import annotations

import numpy as np

from edgewise.kernels.compile import entry_point
from edgewise.learners.forest.capacity import capacity_demand, enlarged
from edgewise.loop.extending import specialize
from edgewise.loop.online_loop import follow_experts, process_chunk, run_contexts, run_moments
from edgewise.loop.state import FOR, GROUP, Chunk, Ensemble, LearnerStates, make_buffers, make_workspace

BEGIN = -1


@entry_point
def play_row(plan, learners, committee, potentials, states, demand, in_scores, chunk, trace, s, work, first):
    """`online_loop.run` for a chunk of one row: the learner to go on with once the forest is enlarged, N when done.

    `first` is that learner, or BEGIN.
    """
    if first == BEGIN:
        run_moments(states.forest, chunk)
        run_contexts(plan, learners.kind.size, states.memory, chunk, trace)
        for l in range(plan.n_labels):
            trace.scores[0, l] = 0.0
        for i in range(learners.kind.size):
            trace.restarts[i, 0] = False
        s.gathered[FOR] = -1
    start = max(first, 0)
    end = (learners.kind.size, 1)
    at, _ = process_chunk(
        plan, learners, committee, potentials, states, demand, in_scores, chunk, trace, s, (start, 0), end
    )
    if at == learners.kind.size:
        losses, gaps, weights, labels, shares, guesses, decisions = work
        follow_experts(plan, committee, chunk, trace, losses, gaps, weights, labels, shares, guesses, decisions)
    return at


class SingleRow:
    """The arrays that one row needs, for a booster whose columns, categories and labels stay as they are.

    Its learners must be in one block: one row has nothing to share out to threads.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        k, n_experts = ensemble.plan.n_labels, ensemble.committee.mistakes.size
        width = ensemble.forests[0].moments.shape[1]
        self.trace = make_buffers(1, ensemble.learners.kind.size, n_experts, k)
        self.scratch = make_workspace(ensemble.forests[0], ensemble.bank, k, 0, 1)
        self.demand = capacity_demand(ensemble.forests[0])
        self.trees = k if (ensemble.learners.kind == GROUP).any() else 1
        self.code, self.rounds, self.context = np.zeros((3, 1), np.int64)
        self.weight, self.uniforms = np.ones(1), np.zeros((1, 1))
        self.means, self.variances = np.zeros((2, 2, width))
        losses, gaps, weights = np.zeros(n_experts), np.zeros(n_experts), np.ones(n_experts)
        labels, shares = np.zeros(n_experts, np.int32), np.zeros(k)
        self.guesses, self.decisions = np.zeros(1, np.int64), np.zeros((1, k))
        self.work = (losses, gaps, weights, labels, shares, self.guesses, self.decisions)

    def play(
        self,
        ensemble: Ensemble,
        numeric: np.ndarray,
        nominal: np.ndarray,
        *,
        code: int = -1,
        weight: float = 1.0,
        rounds: int = 0,
        uniforms: np.ndarray | None = None,
        in_scores: bool = False,
    ) -> None:
        """Predict a row (`guesses`, `decisions`), then learn it where it has a code."""
        self.code[0], self.weight[0], self.rounds[0] = code, weight, rounds
        chunk = Chunk(
            numeric,
            nominal,
            self.code,
            self.weight,
            self.rounds,
            self.context,
            self.uniforms if uniforms is None else uniforms,
            self.means,
            self.variances,
        )
        (forest,), (potentials,) = ensemble.forests, ensemble.potentials
        n_learners = ensemble.learners.kind.size
        through, own = specialize(play_row, ensemble.own)
        at = BEGIN
        while at < n_learners:
            if at != BEGIN:
                forest = enlarged(forest, self.trees, self.demand)
            at = through(
                ensemble.plan,
                ensemble.learners,
                ensemble.committee,
                potentials,
                LearnerStates(forest, ensemble.bank, ensemble.memory, own),
                self.demand,
                in_scores,
                chunk,
                self.trace,
                self.scratch,
                self.work,
                at,
            )
        ensemble.forests[0] = forest
