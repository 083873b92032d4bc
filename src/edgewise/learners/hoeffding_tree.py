"""Configuration of Hoeffding trees for labels and for real targets; ranges of parameters are drawn from per tree."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from edgewise.learners.forest.layout import LEAF_MODES, NO_LIMIT
from edgewise.learners.weak_learner import Learner
from edgewise.parameters import Allowed, declares, with_parameters

NOMINAL_SPLITS = {"multiway": False, "binary": True}
NO_DEPTH_LIMIT = np.iinfo(np.int32).max


class LogUniform(NamedTuple):
    """A range whose logarithm is drawn uniformly."""

    low: float
    high: float


Range = float | tuple[float, float] | LogUniform


class Bounds(NamedTuple):
    """The interval that a value, or both ends of a range, must lie in; open unless an end is allowed as well."""

    least: float = 0.0
    most: float = math.inf
    or_equal: bool = False  # to `least`
    or_infinite: bool = False


class TreeParameters(NamedTuple):
    """What was drawn for each learner; learners that are no trees have NaN, and importance scale 1."""

    grace_period: np.ndarray
    split_confidence: np.ndarray
    tie_threshold: np.ndarray
    importance_scale: np.ndarray
    features: np.ndarray  # Boolean [learners, features]


class RegressionTreeParameters(NamedTuple):
    """What was drawn for each tree."""

    grace_period: np.ndarray
    split_confidence: np.ndarray
    tie_threshold: np.ndarray
    least_gain: np.ndarray
    smoothing: np.ndarray
    memory: np.ndarray
    max_depth: np.ndarray
    features: np.ndarray  # Boolean [trees, features]


@declares
class TreeLearner(Learner):
    """Parameters that trees of both kinds have, and the draws of those that may be ranges.

    Parameters
    ----------
    grace_period : float, pair or LogUniform
        Weight that a leaf sees between two attempts to split.
    split_confidence : float, pair or LogUniform
        delta of the Hoeffding bound, in (0, 1).
    tie_threshold : float, pair or LogUniform
        Split once the bound is below this, however small the gap.
    max_features : float, optional
        How many features a tree may use, drawn per tree: a count, a share in (0, 1], or None for all.
    """

    grace_period: Range = 50
    split_confidence: Range = 0.01
    tie_threshold: Range = 0.05

    # parameters that may be ranges, in the order in which they are drawn
    _ranges: ClassVar[dict[str, Bounds]] = {
        "grace_period": Bounds(),
        "split_confidence": Bounds(most=1.0),
        "tie_threshold": Bounds(or_equal=True),
    }

    def check(self) -> None:
        """Raise ValueError for a setting that no tree can have."""
        super().check()
        for name, bounds in self._ranges.items():
            check_range(name, getattr(self, name), bounds)

    def draw(self, n_trees: int, n_features: int, rng: np.random.Generator) -> Any:
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
        TreeParameters or RegressionTreeParameters
            Arrays with an entry for each tree.
        """
        values = {name: drawn(getattr(self, name), n_trees, rng, whole=name == "grace_period") for name in self._ranges}
        wanted = self.get_params(deep=False)["max_features"]
        return self._record(feature_subsets(wanted, n_trees, n_features, rng), **values)

    def _record(self, features: np.ndarray, **values: np.ndarray) -> Any:
        raise TypeError(f"{type(self).__name__} does not say what its parameters are kept in")


MAX_FEATURES = Allowed("a positive count, a share in (0, 1], or None", above=0.0, none=True)


@with_parameters(leaf_prediction=LEAF_MODES, nominal_splits=NOMINAL_SPLITS, max_features=MAX_FEATURES)
class HoeffdingTree(TreeLearner):
    """A Hoeffding tree (VFDT, Domingos and Hulten 2000) as weak learner.

    grace_period, split_confidence, tie_threshold and importance_scale may be a (low, high) pair or a `LogUniform`:
    each tree then draws its own.

    Parameters
    ----------
    leaf_prediction : str
        "majority", "naive_bayes", "adaptive" (the better of the two so far, per leaf) or "mixed" (the mean of their
        probabilities).
    nominal_splits : str
        "multiway" (a branch for each category) or "binary" (one category against the rest).
    warm_start : bool
        Whether children begin with their share of what the leaf has counted, instead of its class weights only.
    importance_scale : float, pair or LogUniform
        Factor on the importance that the booster passes; trees see weight, and grace counts weight.
    max_nodes : int, optional
        Cap on the nodes of a tree, or None.
    """

    leaf_prediction: str = "adaptive"
    nominal_splits: str = "multiway"
    warm_start: bool = False
    importance_scale: Range = 1.0
    max_features: float | None = None
    max_nodes: int | None = None

    _ranges: ClassVar[dict[str, Bounds]] = {**TreeLearner._ranges, "importance_scale": Bounds()}

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
        super().check()
        if self.max_nodes is not None and self.max_nodes < 1:
            raise ValueError(f"max_nodes={self.max_nodes!r}: a tree has at least 1 node")

    def _record(self, features: np.ndarray, **values: np.ndarray) -> TreeParameters:
        if type(self.importance_scale) is tuple:
            # the first tree gets the least, as in the authors' code
            values["importance_scale"][0] = self.importance_scale[0]
        return TreeParameters(**values, features=features)

    def kernel_settings(self) -> tuple[int, bool, bool, int]:
        """Leaf mode, binary nominal splits, warm start and node cap, as the kernels take them.

        Returns
        -------
        tuple
            Four numbers.
        """
        limit = NO_LIMIT if self.max_nodes is None else self.max_nodes
        return LEAF_MODES[self.leaf_prediction], NOMINAL_SPLITS[self.nominal_splits], self.warm_start, limit


@with_parameters(max_features=MAX_FEATURES)
class RegressionTree(TreeLearner):
    """A Hoeffding regression tree with vector targets (Ikonomovska et al. 2011) as weak learner of gradient boosting.

    grace_period, split_confidence, tie_threshold, least_gain, smoothing and memory may be a (low, high) pair or a
    `LogUniform`: each tree then draws its own.

    Parameters
    ----------
    tie_threshold : float, pair or LogUniform
        Split once the bound is below this, however small the gap. The default is above the bound at the default
        grace period, so that `least_gain` alone decides: gaps between features hardly matter to a booster.
    least_gain : float, pair or LogUniform
        What a split must take off the squared error, in variances of one example; keeps noise from splitting.
    max_depth : int, optional
        Splits from the root to a leaf at most, or None.
    smoothing : float, pair or LogUniform
        Examples of target 0 that every leaf mean starts with.
    memory : float, pair or LogUniform
        Examples that a leaf mean remembers: gradients move as earlier learners improve. Infinite for all.
    bins : int
        Cells in which a leaf counts a numeric feature.
    """

    split_confidence = 0.05
    tie_threshold = 0.5
    least_gain: Range = 10.0
    max_depth: int | None = 6
    smoothing: Range = 1.0
    memory: Range = math.inf
    max_features: float | None = None
    bins: int = 16

    _ranges: ClassVar[dict[str, Bounds]] = {
        **TreeLearner._ranges,
        "least_gain": Bounds(or_equal=True),
        "smoothing": Bounds(or_equal=True),
        "memory": Bounds(or_infinite=True),
    }

    def check(self) -> None:
        """Raise ValueError for a setting that no tree can have."""
        super().check()
        if self.max_depth is not None and self.max_depth < 0:
            raise ValueError(f"max_depth={self.max_depth!r}: 0 or more, or None")
        if self.bins < 2:
            raise ValueError(f"bins={self.bins!r}: at least 2, or there is nothing to split")

    def _record(self, features: np.ndarray, **values: np.ndarray) -> RegressionTreeParameters:
        depth = np.full(features.shape[0], NO_DEPTH_LIMIT if self.max_depth is None else self.max_depth)
        return RegressionTreeParameters(**values, max_depth=depth, features=features)


def eager_tree(max_features: int | float) -> HoeffdingTree:
    """The tree of the boosters' defaults: it splits early, and children begin with what their parent has counted.

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


def check_range(name: str, value: Any, bounds: Bounds) -> None:
    """ValueError unless the value, or both ends of the range, lie within bounds."""
    least, most, or_equal, or_infinite = bounds
    if or_infinite and value == math.inf:
        return
    ends = value if isinstance(value, tuple) else (value, value)
    good = len(ends) == 2 and all(isinstance(end, Real) for end in ends)
    if not good or not ends[0] <= ends[1] < most or ends[0] < least or (ends[0] == least and not or_equal):
        raise ValueError(f"{name}={value!r}: a number, a (low, high) pair or a LogUniform between {least} and {most}")


def drawn(value: Range, n: int, rng: np.random.Generator, *, whole: bool = False) -> np.ndarray:
    """The value of each of n learners; `whole` draws whole numbers from a range with whole ends, both included."""
    if not isinstance(value, tuple):
        return np.full(n, float(value))
    low, high = value
    if isinstance(value, LogUniform):
        return np.exp(rng.uniform(math.log(low), math.log(high), n))
    if whole and float(low).is_integer() and float(high).is_integer():
        return rng.integers(int(low), int(high), n, endpoint=True).astype(float)
    return rng.uniform(low, high, n)


def feature_subsets(wanted: float | None, n_trees: int, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Which features each tree may use, Boolean [trees, features]: a count, a share in (0, 1], or None for all."""
    features = np.ones((n_trees, n_features), bool)
    if wanted is None:
        return features
    share = isinstance(wanted, float) and wanted <= 1.0
    count = min(n_features, max(1, math.ceil(wanted * n_features) if share else int(wanted)))
    if count < n_features:
        for tree in range(n_trees):
            features[tree] = False
            features[tree, rng.choice(n_features, count, replace=False)] = True
    return features
