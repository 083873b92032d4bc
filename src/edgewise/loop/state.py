"""The values that boosters of single labels and of label sets are made of, and the codes that stand in them.

All are NamedTuples of arrays. Nothing else is remembered between calls, so that saving, copying and counting memory are
each one piece of code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from edgewise.kernels.state import state
from edgewise.learners.external import ExternalBank
from edgewise.learners.forest.layout import Forest
from edgewise.learners.forest.splitting import SplitWorkspace, make_split_workspace
from edgewise.learners.label_markov_chain import MarkovBank
from edgewise.learners.linear import LinearBank
from edgewise.learners.newton import Present, make_present
from edgewise.loop.calibration import Calibration
from edgewise.theory.potential_tables import Potentials
from edgewise.theory.ranking import PairPotentials


class Custom(NamedTuple):
    """The states of a user's own learners and rule."""

    learners: tuple[Any, ...]  # (state of the first class, (state of the second, (..., ())))
    rule: Any  # NamedTuple of arrays; a bare () where the rule is one of ours


NOTHING = Custom((), ())


class Round(NamedTuple):
    """The feedback of one round."""

    number: int  # t, from 1
    label: int
    weight: float  # of the example, as the user gave it
    uniforms: np.ndarray  # random numbers of this round, as many as the rule asked for


GRADIENT, POTENTIAL, POISSON, UNIFORM, OWN_RULE = 0, 1, 2, 3, 4
COST, ARGMAX, PROBABILITY = 0, 1, 2
LABEL_VOTES = {"cost": COST, "argmax": ARGMAX}
VOTES = {**LABEL_VOTES, "probability": PROBABILITY}
# Kinds of learner: a tree, a group of one-against-rest trees, votes given with the example, a linear learner, a memory
# of labels, a linear learner per label, a learner of another library.
TREE, GROUP, PRECOMPUTED, LINEAR, MARKOV, BINARY, EXTERNAL = 0, 1, 2, 3, 4, 5, 6
# Kinds from this number on are a user's own (`edgewise.loop.extending`), one for each class in order.
OWN = 16
# Columns of BoosterState.costs; POISSON keeps the weight of right and of wrong votes there.
OF_VOTE, OF_RIGHT = 0, 1
RIGHT, WRONG = 0, 1
FOR, PLACE = 0, 1  # Workspace.gathered


@state
class BoosterConfig(NamedTuple):
    """The settings of a booster of single labels."""

    n_labels: int
    rule: int
    loss: int
    vote: int
    follow: int
    importance_bound: float  # w* of Algorithm 1
    # GRADIENT only
    importance_power: float
    normalize_importance: bool
    weight_low: float  # feasible set of learner weights
    weight_high: float
    restart: bool  # whether trees whose error rises begin anew
    calibrate: bool = False  # whether scores are sharpened
    single_experts: bool = False  # whether every learner alone is an expert too


@state
class Learners(NamedTuple):
    """The learners in order: kind, where each one's state is (tree, linear learner or column), factor on importance.

    Trees are counted in the forest of their block.
    """

    kind: np.ndarray
    slot: np.ndarray
    scale: np.ndarray


@state
class BoosterState(NamedTuple):
    """The state of the booster itself, per learner or expert."""

    weight: np.ndarray  # alpha
    mistakes: np.ndarray  # [E] of expert i, the first i learners together; of N + i, learner i alone, if E = 2N
    costs: np.ndarray  # [N, 2] sums over rounds: cost of the vote, cost of the right label
    importance: np.ndarray  # sum over rounds, before it is normalized
    errors: np.ndarray  # [N, 3] error over about FAST and SLOW examples, and examples since the tree began
    temperature: np.ndarray  # [2, 1] `calibration`: logarithm of the factor on scores, and what its steps depend on


@state
class Chunk(NamedTuple):
    """Examples in order. A label of -1 means: vote, do not learn."""

    numeric: np.ndarray
    nominal: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    rounds: np.ndarray  # t, from 1
    contexts: np.ndarray  # the labels before each example, as `label_markov_chain` numbers them
    uniforms: np.ndarray  # [n, 1] for the Hedge draw, [n, N] for POISSON
    means: np.ndarray  # [n + 1] running mean and variance of each numeric column before each example, and at the end
    variances: np.ndarray


@state
class ChunkBuffers(NamedTuple):
    """Results of a chunk per example and learner; by learner first, as the loop goes."""

    scores: np.ndarray  # [n, k] of the expert reached so far
    costs: np.ndarray  # [n, k] GRADIENT: cost row at these scores
    odds: np.ndarray  # [n, k] GRADIENT, logistic loss: what cost rows are made of, see `costs_after_vote`
    steps: np.ndarray  # [n] GRADIENT: how far learner weights move, but for a factor
    factors: np.ndarray  # [N] GRADIENT: each learner's factor
    rate: np.ndarray  # [n] POISSON: lambda
    ahead: np.ndarray  # [n, 2] POTENTIAL: potential and importance at the votes so far
    mean: np.ndarray  # [n, k] GRADIENT: scores of the experts so far, summed with their Hedge weights
    total: np.ndarray  # [n, 2] sum of these weights, and the least loss that they are relative to
    # [N, n] what learners did, or [0, n] where not needed: vote, alpha as used in this round, importance
    votes: np.ndarray
    learner_weights: np.ndarray
    importances: np.ndarray
    expert_labels: np.ndarray  # [E, n]
    expert_losses: np.ndarray  # mistakes before this round
    restarts: np.ndarray  # [N, n] whether the tree began anew after this example


@state
class Workspace(NamedTuple):
    """Arrays that one kernel call works with."""

    # What a tree sees of each row of a chunk, if several see the same, and in a place more of the row in hand, if not
    x: np.ndarray  # [places, numeric features in fours]
    codes: np.ndarray  # [places, nominal features]
    slots: np.ndarray  # [places, 2, codes that are not missing] where they are counted, and their features' sums
    # [places, 4] numeric features, nominal ones, whether no numeric value is missing, codes that are not missing
    shape: np.ndarray
    gathered: np.ndarray  # [2] FOR which tree all rows were, or -1; PLACE of the row in hand
    evidence: np.ndarray
    shares: np.ndarray
    scalings: np.ndarray
    split: SplitWorkspace
    p: np.ndarray
    tree_p: np.ndarray
    inputs: np.ndarray
    present: Present
    node: np.ndarray
    reached: np.ndarray
    majority: np.ndarray
    bayes: np.ndarray
    costs: np.ndarray
    slopes: np.ndarray
    alone: np.ndarray  # [k] scores of one learner
    # [foreign learners, k] their distributions, which Python writes before a kernel asks; and the importance with which
    # they are to learn each label, which Python hands on
    predicted: np.ndarray
    targets: np.ndarray


def make_workspace(forest: Forest, bank: LinearBank, k: int, n_external: int, rows: int = 0) -> Workspace:
    """A workspace for chunks of as many rows; 0 if each tree gathers rows for itself."""
    per_tree = forest.row.shape[1]
    labels = max(k, per_tree)
    return Workspace(
        x=np.empty((rows + 1, forest.gauss.shape[2])),
        codes=np.empty((rows + 1, forest.nominal.shape[1]), np.int32),
        slots=np.empty((rows + 1, 2, forest.nominal.shape[1]), np.uintp),
        shape=np.empty((rows + 1, 4), np.int64),
        gathered=np.array([-1, 0]),
        evidence=np.zeros(labels),
        shares=np.zeros(forest.nominal.shape[1]),
        scalings=np.zeros(labels, np.int64),
        split=make_split_workspace(forest),
        p=np.zeros(k),
        tree_p=np.zeros(per_tree),
        inputs=np.zeros(forest.moments.shape[1] + 1),
        present=make_present(bank),
        node=np.zeros(k, np.int64),
        reached=np.zeros(k, np.int64),
        majority=np.zeros(k, np.int64),
        bayes=np.zeros(k, np.int64),
        costs=np.zeros(k),
        slopes=np.zeros(k),
        alone=np.zeros(k),
        predicted=np.zeros((n_external, k)),
        targets=np.zeros((n_external, k)),
    )


def make_buffers(n: int, n_learners: int, n_experts: int, k: int, kept: bool = False) -> ChunkBuffers:
    by_learner = (n_learners if kept else 0, n)  # written for every learner and example
    return ChunkBuffers(
        scores=np.zeros((n, k)),
        costs=np.zeros((n, k)),
        odds=np.zeros((n, k)),
        steps=np.zeros(n),
        factors=np.ones(n_learners),
        rate=np.zeros(n),
        ahead=np.zeros((n, 2)),
        mean=np.zeros((n, k)),
        total=np.zeros((n, 2)),
        votes=np.empty(by_learner, np.int32),
        learner_weights=np.empty(by_learner),
        importances=np.empty(by_learner),
        expert_labels=np.empty((n_experts, n), np.int32),
        expert_losses=np.empty((n_experts, n)),
        restarts=np.zeros((n_learners, n), bool),
    )


@state
class LearnerStates(NamedTuple):
    """The states of the learners, by kind."""

    forest: Forest
    bank: LinearBank
    memory: MarkovBank
    own: Custom = NOTHING


class Ensemble(NamedTuple):
    """The whole state of a booster: what learning changes."""

    plan: BoosterConfig
    learners: Learners
    committee: BoosterState
    forests: list[Forest]  # one for each block of learners (`pipeline`); the first has the moments of the columns
    bank: LinearBank
    memory: MarkovBank
    potentials: tuple[Potentials, ...]  # by block; tables and memo only: a function of the plan, not a memory
    external: ExternalBank
    own: Custom = NOTHING


def arrays(state: Any) -> Iterator[np.ndarray]:
    """Every array of a state, which is arrays and numbers in tuples and lists."""
    if isinstance(state, np.ndarray):
        yield state
    elif isinstance(state, tuple | list):
        for part in state:
            yield from arrays(part)


# How a learner's vote, a distribution over labels, is made of its prediction: Section 2.1 of the paper.
LABEL, SET, DISTRIBUTION = 0, 1, 2
VOTE_FORMATS = {"label": LABEL, "set": SET, "distribution": DISTRIBUTION}
# Which expert's scores are the prediction.
LAST, DRAWN, MEAN, BEST = 0, 1, 2, 3
RANKING_FOLLOW = {"draw": DRAWN, "mean": MEAN, "best": BEST}
# Entries of RankingState.totals: sums over rounds of the rank loss suffered and of phi_t^N(0).
SUFFERED, START = 0, 1


@state
class RankingConfig(NamedTuple):
    """The settings of a booster of label sets."""

    n_labels: int
    rule: int  # GRADIENT or POTENTIAL
    follow: int
    normalize_importance: bool
    weight_low: float  # feasible set of learner weights
    weight_high: float


@state
class RankingState(NamedTuple):
    """The state of the booster itself, per learner."""

    form: np.ndarray  # how each learner votes: LABEL, SET or DISTRIBUTION
    weight: np.ndarray  # alpha
    losses: np.ndarray  # rank loss of expert i, the first i learners together; Hedge's memory
    costs: np.ndarray  # [N, 2] sums over rounds, costs less their mean: of the vote, of the relevant labels
    excess: np.ndarray  # POTENTIAL: what votes cost beyond u_gamma^Y
    importance: np.ndarray  # sum over rounds of the mean importance of relevant labels, before it is normalized
    totals: np.ndarray  # [2] of the whole booster


@state
class RankingChunk(NamedTuple):
    """Examples in order, as `Chunk` but for label sets."""

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
    """Results carried from learner to learner, per example."""

    scores: np.ndarray  # [n, k] of the expert reached so far
    costs: np.ndarray  # [n, k] GRADIENT: costs at these scores
    mean: np.ndarray  # [n, k] GRADIENT: scores of the experts so far, summed with their Hedge weights
    total: np.ndarray  # [n, 2] sum of these weights, and the least loss that they are relative to
    followed: np.ndarray  # [n, k] DRAWN, BEST: scores of the expert chosen among those so far
    uniforms: np.ndarray  # [n] DRAWN: what is left of the uniform number


@state
class RankingWorkspace(NamedTuple):
    """Arrays that one kernel call works with, beside `Workspace`."""

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
    forests: list[Forest]  # one for each block of learners: see `Ensemble`
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
