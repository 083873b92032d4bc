"""Configuration of Hoeffding trees: what each tree of an ensemble may do, drawn per tree where a range is given."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from edgewise.learners.forest.layout import LEAF_MODES, Forest, make_forest
from edgewise.parameters import Parameterized

Range = float | tuple[float, float]


class TreeParameters(NamedTuple):
    """What was drawn for each tree."""

    grace_period: np.ndarray
    split_confidence: np.ndarray
    tie_threshold: np.ndarray
    importance_scale: np.ndarray
    features: np.ndarray  # Boolean [trees, features]


class HoeffdingTree(Parameterized):
    """A Hoeffding tree (VFDT, Domingos and Hulten 2000) as weak learner.

    Parameters
    ----------
    grace_period : weight that a leaf sees between two attempts to split.
    split_confidence : delta of the Hoeffding bound, in (0, 1).
    tie_threshold : split once the bound is below this, however small the gap.
    leaf_prediction : "majority", "naive_bayes" or "adaptive" (the better of the two so far, per leaf).
    importance_scale : factor on the importance that the booster passes; trees see weight, and grace counts weight.
    max_features : how many features a tree may use, drawn per tree: a count, a share in (0, 1], or None for all.
    max_nodes : cap on the nodes of a tree, or None.
    log_uniform : draw ranges of split_confidence and tie_threshold uniformly in the logarithm.

    A (low, high) pair for grace_period, split_confidence, tie_threshold or importance_scale is drawn anew per tree.
    """

    def __init__(
        self,
        grace_period: Range = 50,
        split_confidence: Range = 0.01,
        tie_threshold: Range = 0.05,
        leaf_prediction: str = "adaptive",
        importance_scale: Range = 1.0,
        max_features: float | None = None,
        max_nodes: int | None = None,
        log_uniform: bool = False,
    ) -> None:
        self.grace_period = grace_period
        self.split_confidence = split_confidence
        self.tie_threshold = tie_threshold
        self.leaf_prediction = leaf_prediction
        self.importance_scale = importance_scale
        self.max_features = max_features
        self.max_nodes = max_nodes
        self.log_uniform = log_uniform

    @classmethod
    def preset(cls, name: str, **changes: Any) -> HoeffdingTree:
        """The setting of a paper. "paper": Jung et al. 2017, Appendix E, with what their code adds to it."""
        if name != "paper":
            raise ValueError(f"preset={name!r}: the presets are 'paper'")
        settings: dict[str, Any] = {
            "grace_period": (5, 20),
            "split_confidence": (0.01, 0.9),
            "tie_threshold": (0.01, 0.9),
            "leaf_prediction": "majority",
            "importance_scale": (5, 200),
            "log_uniform": True,
        }
        return cls(**settings | changes)

    def check(self) -> None:
        """Raise ValueError for a setting that no tree can have."""
        positive = (0.0, math.inf)
        for name, (low, high) in {
            "grace_period": positive,
            "split_confidence": (0.0, 1.0),
            "tie_threshold": positive,
            "importance_scale": positive,
        }.items():
            ends = getattr(self, name) if isinstance(getattr(self, name), tuple) else (getattr(self, name),) * 2
            good = len(ends) == 2 and all(isinstance(end, Real) for end in ends)
            least = 0.0 if name == "tie_threshold" else np.nextafter(0.0, 1.0)
            if not good or not least <= ends[0] <= ends[1] < high:
                raise ValueError(
                    f"{name}={getattr(self, name)!r}: a number or a (low, high) pair between {low} and {high}"
                )
        if self.leaf_prediction not in LEAF_MODES:
            raise ValueError(f"leaf_prediction={self.leaf_prediction!r}: one of {', '.join(LEAF_MODES)}")
        if self.max_nodes is not None and self.max_nodes < 1:
            raise ValueError(f"max_nodes={self.max_nodes!r}: a tree has at least 1 node")
        if self.max_features is not None and not self.max_features > 0:
            raise ValueError(f"max_features={self.max_features!r}: a positive count, a share in (0, 1], or None")

    def draw(self, n_trees: int, n_features: int, rng: np.random.Generator) -> TreeParameters:
        """Parameters of each tree."""
        features = np.ones((n_trees, n_features), bool)
        chosen = self._features_per_tree(n_features)
        grace = self._drawn("grace_period", n_trees, rng)
        confidence = self._drawn("split_confidence", n_trees, rng)
        tie = self._drawn("tie_threshold", n_trees, rng)
        scale = self._drawn("importance_scale", n_trees, rng)
        if isinstance(self.importance_scale, tuple):
            scale[0] = self.importance_scale[0]  # the first learner gets the least, as in the authors' code
        if chosen < n_features:
            for tree in range(n_trees):
                features[tree] = False
                features[tree, rng.choice(n_features, chosen, replace=False)] = True
        return TreeParameters(grace, confidence, tie, scale, features)

    def _features_per_tree(self, n_features: int) -> int:
        wanted = self.max_features
        if wanted is None:
            return n_features
        share = isinstance(wanted, float) and wanted <= 1.0
        return min(n_features, max(1, math.ceil(wanted * n_features) if share else int(wanted)))

    def _drawn(self, name: str, n_trees: int, rng: np.random.Generator) -> np.ndarray:
        value = getattr(self, name)
        if not isinstance(value, tuple):
            return np.full(n_trees, float(value))
        low, high = value
        if name == "grace_period" and float(low).is_integer() and float(high).is_integer():
            return rng.integers(int(low), int(high), n_trees, endpoint=True).astype(float)
        if self.log_uniform and name in ("split_confidence", "tie_threshold"):
            return np.exp(rng.uniform(math.log(low), math.log(high), n_trees))
        return rng.uniform(low, high, n_trees)

    def forest(
        self, drawn: TreeParameters, nominal: np.ndarray, categories: np.ndarray, n_labels: int, group: int = 1
    ) -> Forest:
        """The forest of the drawn trees, `group` alike for each; `nominal` says which features are nominal."""
        each = np.repeat(np.arange(drawn.grace_period.size), group)
        return make_forest(
            n_labels=n_labels,
            mode=LEAF_MODES[self.leaf_prediction],
            grace=drawn.grace_period[each],
            confidence=drawn.split_confidence[each],
            tie=drawn.tie_threshold[each],
            numeric=drawn.features[each][:, ~nominal],
            nominal=drawn.features[each][:, nominal],
            n_numeric=int((~nominal).sum()),
            categories=categories,
            max_nodes=self.max_nodes,
        )
