"""The values that a booster of label sets is made of: NamedTuples of arrays, beside those of `state`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.kernels.state import state
from edgewise.learners.external import ExternalBank
from edgewise.learners.forest.layout import Forest
from edgewise.learners.label_markov_chain import MarkovBank
from edgewise.learners.linear import LinearBank
from edgewise.loop.calibration import Calibration
from edgewise.loop.custom import NOTHING, Custom
from edgewise.loop.state import Learners
from edgewise.theory.ranking_potentials import PairPotentials

# How a learner's vote, a distribution over labels, is made of what it says: Section 2.1 of the paper.
LABEL, SET, DISTRIBUTION = 0, 1, 2
VOTE_FORMATS = {"label": LABEL, "set": SET, "distribution": DISTRIBUTION}
# Which expert's scores are the prediction.
LAST, DRAWN, MEAN, BEST = 0, 1, 2, 3
RANKING_FOLLOW = {"draw": DRAWN, "mean": MEAN, "best": BEST}
# Entries of RankingCommittee.totals: sums over rounds of the rank loss suffered and of phi_t^N(0).
SUFFERED, START = 0, 1


@state
class RankingConfig(NamedTuple):
    """Which booster this is."""

    n_labels: int
    rule: int  # GRADIENT or POTENTIAL
    follow: int
    normalize_importance: bool
    weight_low: float  # feasible set of learner weights
    weight_high: float


@state
class RankingState(NamedTuple):
    """What the booster itself remembers, per learner."""

    form: np.ndarray  # how each learner votes: LABEL, SET or DISTRIBUTION
    weight: np.ndarray  # alpha
    losses: np.ndarray  # rank loss of expert i, the first i learners together; Hedge's memory
    costs: np.ndarray  # [N, 2] sums over rounds, costs less their mean: of the vote, of the relevant labels
    excess: np.ndarray  # POTENTIAL: what votes cost beyond u_gamma^Y
    importance: np.ndarray  # sum over rounds of the mean importance of relevant labels, before it is normalized
    totals: np.ndarray  # [2] of the whole booster


@state
class RankingChunk(NamedTuple):
    """Examples in order, as `state.Chunk` but for label sets."""

    numeric: np.ndarray
    nominal: np.ndarray
    labels: np.ndarray  # how many labels are relevant; -1 means: vote, do not learn
    order: np.ndarray  # [n, k] the relevant labels, then the others, each in increasing order
    weights: np.ndarray
    rounds: np.ndarray  # t, from 1
    contexts: np.ndarray  # a memory of labels has no place here: all 0
    uniforms: np.ndarray  # [n, 1] for the Hedge draw
    means: np.ndarray  # [n + 1] running mean and variance of each numeric column before each example, and at the end
    variances: np.ndarray


@state
class RankingBuffers(NamedTuple):
    """What is carried from learner to learner, per example."""

    scores: np.ndarray  # [n, k] of the expert reached so far
    costs: np.ndarray  # [n, k] GRADIENT: costs at these scores
    mean: np.ndarray  # [n, k] GRADIENT: scores of the experts so far, summed with their Hedge weights
    total: np.ndarray  # [n, 2] sum of these weights, and the least loss that they are relative to
    followed: np.ndarray  # [n, k] DRAWN, BEST: scores of the expert chosen among those so far
    uniforms: np.ndarray  # [n] DRAWN: what is left of the uniform number


@state
class RankingWorkspace(NamedTuple):
    """Working room of one kernel call, beside `state.Workspace`."""

    vote: np.ndarray  # h
    scores: np.ndarray  # the scores of one example, relevant labels first
    costs: np.ndarray  # its costs, in the same order
    exps: np.ndarray
    gains: np.ndarray  # importance of each label


class RankingEnsemble(NamedTuple):
    """The whole state of a booster of label sets: what learning changes."""

    plan: RankingConfig
    learners: Learners
    committee: RankingState
    forests: list[Forest]  # one for each block of learners: see `state.Ensemble`
    bank: LinearBank
    memory: MarkovBank
    potentials: PairPotentials
    calibration: Calibration
    external: ExternalBank
    own: Custom = NOTHING


def make_ranking_buffers(chunk: RankingChunk) -> RankingBuffers:
    n, k = chunk.order.shape
    scores, costs, mean, followed = np.zeros((4, n, k))
    return RankingBuffers(scores, costs, mean, np.zeros((n, 2)), followed, chunk.uniforms[:, 0].copy())


def make_ranking_workspace(k: int) -> RankingWorkspace:
    return RankingWorkspace(*np.zeros((5, k)))
