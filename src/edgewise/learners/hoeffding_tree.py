"""Configuration of Hoeffding trees: what each tree of an ensemble may do, drawn per tree where a range is given."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.learners.forest.layout import LEAF_MODES, NO_LIMIT
from edgewise.learners.ranges import LogUniform, Range, check_range, drawn, feature_subsets
from edgewise.parameters import Parameterized

NOMINAL_SPLITS = {"multiway": False, "binary": True}


class TreeParameters(NamedTuple):
    """What was drawn for each learner; learners that are no trees have NaN, and importance scale 1."""

    grace_period: np.ndarray
    split_confidence: np.ndarray
    tie_threshold: np.ndarray
    importance_scale: np.ndarray
    features: np.ndarray  # Boolean [learners, features]


class HoeffdingTree(Parameterized):
    """A Hoeffding tree (VFDT, Domingos and Hulten 2000) as weak learner.

    grace_period, split_confidence, tie_threshold and importance_scale may be a (low, high) pair or a `LogUniform`:
    each tree then draws its own.

    Parameters
    ----------
    grace_period : float, pair or LogUniform
        Weight that a leaf sees between two attempts to split.
    split_confidence : float, pair or LogUniform
        delta of the Hoeffding bound, in (0, 1).
    tie_threshold : float, pair or LogUniform
        Split once the bound is below this, however small the gap.
    leaf_prediction : str
        "majority", "naive_bayes", "adaptive" (the better of the two so far, per leaf) or "mixed" (the mean of their
        probabilities).
    nominal_splits : str
        "multiway" (a branch for each category) or "binary" (one category against the rest).
    warm_start : bool
        Whether children begin with their share of what the leaf knew, instead of its class weights only.
    importance_scale : float, pair or LogUniform
        Factor on the importance that the booster passes; trees see weight, and grace counts weight.
    max_features : float, optional
        How many features a tree may use, drawn per tree: a count, a share in (0, 1], or None for all.
    max_nodes : int, optional
        Cap on the nodes of a tree, or None.
    """

    def __init__(
        self,
        grace_period: Range = 50,
        split_confidence: Range = 0.01,
        tie_threshold: Range = 0.05,
        leaf_prediction: str = "adaptive",
        nominal_splits: str = "multiway",
        warm_start: bool = False,
        importance_scale: Range = 1.0,
        max_features: float | None = None,
        max_nodes: int | None = None,
    ) -> None:
        self.grace_period = grace_period
        self.split_confidence = split_confidence
        self.tie_threshold = tie_threshold
        self.leaf_prediction = leaf_prediction
        self.nominal_splits = nominal_splits
        self.warm_start = warm_start
        self.importance_scale = importance_scale
        self.max_features = max_features
        self.max_nodes = max_nodes

    @classmethod
    def preset(cls, name: str, **changes: Any) -> HoeffdingTree:
        """The setting of a paper. "paper": Jung et al. 2017, Appendix E, with what their code adds to it.

        Parameters
        ----------
        name : str
            Name of the setting: "paper".
        **changes : any
            Parameters of the constructor that differ from it.

        Returns
        -------
        model
            A new model with this setting.
        """
        if name != "paper":
            raise ValueError(f"preset={name!r}: the presets are 'paper'")
        settings: dict[str, Any] = {
            "grace_period": (5, 20),
            "split_confidence": LogUniform(0.01, 0.9),
            "tie_threshold": LogUniform(0.01, 0.9),
            "leaf_prediction": "majority",
            "importance_scale": (5, 200),
        }
        return cls(**settings | changes)

    def check(self) -> None:
        """Raise ValueError for a setting that no tree can have."""
        check_range("grace_period", self.grace_period, 0.0, math.inf)
        check_range("split_confidence", self.split_confidence, 0.0, 1.0)
        check_range("tie_threshold", self.tie_threshold, 0.0, math.inf, or_equal=True)
        check_range("importance_scale", self.importance_scale, 0.0, math.inf)
        for name, allowed in (("leaf_prediction", LEAF_MODES), ("nominal_splits", NOMINAL_SPLITS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r}: one of {', '.join(allowed)}")
        if self.max_nodes is not None and self.max_nodes < 1:
            raise ValueError(f"max_nodes={self.max_nodes!r}: a tree has at least 1 node")
        if self.max_features is not None and not self.max_features > 0:
            raise ValueError(f"max_features={self.max_features!r}: a positive count, a share in (0, 1], or None")

    def draw(self, n_trees: int, n_features: int, rng: np.random.Generator) -> TreeParameters:
        """Parameters of each tree.

        Parameters
        ----------
        n_trees : int
            How many trees.
        n_features : int
            How many features there are.
        rng : Generator
            Where the draws come from.

        Returns
        -------
        TreeParameters
            Arrays with an entry for each tree.
        """
        grace = drawn(self.grace_period, n_trees, rng, whole=True)
        confidence = drawn(self.split_confidence, n_trees, rng)
        tie = drawn(self.tie_threshold, n_trees, rng)
        scale = drawn(self.importance_scale, n_trees, rng)
        if type(self.importance_scale) is tuple:
            scale[0] = self.importance_scale[0]  # the first tree gets the least, as in the authors' code
        features = feature_subsets(self.max_features, n_trees, n_features, rng)
        return TreeParameters(grace, confidence, tie, scale, features)

    def kernel_settings(self) -> tuple[int, bool, bool, int]:
        """Leaf mode, binary nominal splits, warm start and node cap, as the kernels take them.

        Returns
        -------
        tuple
            Four numbers.
        """
        limit = NO_LIMIT if self.max_nodes is None else self.max_nodes
        return LEAF_MODES[self.leaf_prediction], NOMINAL_SPLITS[self.nominal_splits], self.warm_start, limit


def eager_tree(max_features: int | float) -> HoeffdingTree:
    """The tree of the boosters' defaults: it splits early, and children begin with what their parent knew.

    Found by experiment: what each setting is worth is in benchmarks/results/ablation.md.
    """
    return HoeffdingTree(
        grace_period=10,
        split_confidence=0.1,
        tie_threshold=0.5,
        leaf_prediction="mixed",
        nominal_splits="binary",
        warm_start=True,
        max_features=max_features,
        importance_scale=LogUniform(0.5, 4.0),
    )
