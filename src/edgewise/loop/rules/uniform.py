"""The learners alone: every vote and every example counts alike. A user's own rule takes this place (`extending`)."""

from __future__ import annotations

from edgewise.kernels.compile import merged
from edgewise.loop.rules.votes import add_vote


@merged
def uniform_step(plan, committee, rule, i, scores, vote, p, chunk, t):
    """Scores take the vote; importance 1."""
    add_vote(plan, scores, vote, p, committee.weight[i])
    return 1.0
