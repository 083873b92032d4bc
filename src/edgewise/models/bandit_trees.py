"""The trees of Zhang, Jung and Tewari 2018: their text names VFDT only, their script sets the rest by data set.

| preset         | data sets                       | trees                                                       |
|----------------|---------------------------------|-------------------------------------------------------------|
| "paper"        | Balance, Car, Nursery, Movement | those of Jung et al. 2017, without the factor on importance |
| "paper-mice"   | Mice                            | grace 300, ties broken early                                |
| "paper-isolet" | Isolet                          | the same; importances are scaled down (end of B.3)          |
"""

from __future__ import annotations

from edgewise.learners.hoeffding_tree import HoeffdingTree
from edgewise.learners.ranges import LogUniform

MANY_CLASSES = {
    "grace_period": (300, 301),
    "split_confidence": LogUniform(1e-11, 1e-10),
    "tie_threshold": LogUniform(0.7, 0.8),
}
TREES = {"paper": {}, "paper-mice": MANY_CLASSES, "paper-isolet": MANY_CLASSES}


def bandit_tree(preset: str, importance_scale: float) -> HoeffdingTree:
    """The weak learner of a preset."""
    if preset not in TREES:
        raise ValueError(f"preset={preset!r}: the presets are {', '.join(map(repr, TREES))}")
    return HoeffdingTree.preset("paper", importance_scale=importance_scale, **TREES[preset])
