"""The edges that learners showed: how much better than random guessing their votes were, by the costs counted."""

from __future__ import annotations

import numpy as np

from edgewise.loop.state import OF_RIGHT, OF_VOTE


def adaptive_edges(costs: np.ndarray) -> np.ndarray:
    """gamma_i = sum C(vote) / sum C(right), of costs [N, 2] that sum to 0 over the labels; 0 before the first round."""
    of_vote, of_right = costs[:, OF_VOTE], costs[:, OF_RIGHT]
    return np.divide(of_vote, of_right, out=np.zeros(of_vote.size), where=of_right < 0.0)


def majority_edges(costs: np.ndarray, importance: np.ndarray, k: int) -> np.ndarray:
    """gamma_i = 1 - k sum(w D(vote)) / sum(w), of costs [N, 2] that are 0 for the right label; 0 at the start."""
    share = np.divide(costs[:, OF_VOTE], importance, out=np.full(importance.size, 1.0 / k), where=importance > 0.0)
    return 1.0 - k * share
