"""The split of a Hoeffding tree's leaf, by information gain: every candidate tried, in order.

Statistics of a class in a leaf are a dictionary by feature: of a numeric one `{"n", "mean", "m2", "lo", "hi"}` (weight,
mean, sum of squared distances from it, least and largest value), of a nominal one the weight of each code. A candidate
sends a part of every class to each of its branches: `{branch: {class: weight}}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Stats = dict[str, float]
Row = dict[int, Any]  # Stats of numeric features and dictionaries by code of nominal ones
Branches = dict[int, dict[int, float]]

THRESHOLDS = 10  # candidates for a numeric feature
LEAST_BRANCH = 0.01  # share of the weight that two branches must have
TIE = 1e-12  # a later candidate must gain more by this much


class Split(NamedTuple):
    """A split: `place` is the threshold ("numeric": at most it, or more), the code ("binary": it, or not), or None."""

    kind: str
    feature: int
    place: float | None
    branches: Branches


def entropy(class_weights: Iterable[float]) -> float:
    """Entropy of class weights in bits."""
    present = [w for w in class_weights if w > 0.0]
    total = sum(present)
    return -sum(w / total * math.log2(w / total) for w in present)


def merit(branches: Branches, leaf_weight: float) -> float | None:
    """Information gain over what the feature counted, scaled by its share of the leaf; None if not a candidate."""
    sizes = {b: sum(weights.values()) for b, weights in branches.items()}
    counted = sum(sizes.values())
    if sum(size > 0.0 and size >= LEAST_BRANCH * counted for size in sizes.values()) < 2:
        return None
    totals: dict[int, float] = {}
    for weights in branches.values():
        for c, weight in weights.items():
            totals[c] = totals.get(c, 0.0) + weight
    remaining = sum(sizes[b] / counted * entropy(branches[b].values()) for b in branches)
    return counted / leaf_weight * (entropy(totals.values()) - remaining)


def thresholds(stats: dict[int, Stats]) -> list[tuple[float | None, Branches]]:
    """Ten thresholds between the extremes of a numeric feature, each with its branches 0 and 1."""
    seen = {c: s for c, s in stats.items() if s["n"] > 0.0}
    lo, hi = min((s["lo"] for s in seen.values()), default=0.0), max((s["hi"] for s in seen.values()), default=0.0)
    if not lo < hi:
        return []
    found: list[tuple[float | None, Branches]] = []
    for j in range(1, THRESHOLDS + 1):
        t = lo + (hi - lo) * j / (THRESHOLDS + 1)
        left = {c: weight_below(t, s) for c, s in seen.items()}
        right = {c: s["n"] - left[c] for c, s in seen.items()}
        found.append((t, {0: left, 1: right}))
    return found


def multiway(counts: dict[int, dict[int, float]]) -> Branches:
    """A branch for every code of a nominal feature that came up."""
    branches: Branches = {}
    for c, by_code in counts.items():
        for code, weight in by_code.items():
            branches.setdefault(code, {})[c] = weight
    return branches


def codes_against_rest(counts: dict[int, dict[int, float]]) -> list[tuple[float | None, Branches]]:
    """Every code of a nominal feature (branch 0) against the others (branch 1)."""
    found: list[tuple[float | None, Branches]] = []
    for code, equal in sorted(multiway(counts).items()):
        rest = {c: sum(n for other, n in by_code.items() if other != code) for c, by_code in counts.items()}
        found.append((code, {0: equal, 1: rest}))
    return found


def best_candidate(
    candidates: Sequence[tuple[float | None, Branches]], leaf_weight: float
) -> tuple[float, float | None, Branches]:
    """Merit, place and branches of a feature's first candidate that none beats by more than TIE; merit 0 if none."""
    best: tuple[float, float | None, Branches] = (0.0, None, {})
    for place, branches in candidates:
        gain = merit(branches, leaf_weight)
        if gain is not None and gain > best[0] + TIE:
            best = gain, place, branches
    return best


def best_split(
    rows: dict[int, Row], n_numeric: int, nominal_splits: str, leaf_weight: float, bound: float, tie_threshold: float
) -> Split | None:
    """The split of best merit, or None if the second feature's merit is within the bound and the bound is no tie.

    Features below `n_numeric` are numeric. `leaf_weight` is the weight that merits are shares of, `bound` Hoeffding's.
    """
    splits: list[tuple[float, Split]] = []  # the best of each feature
    for f in sorted(next(iter(rows.values()))):
        of_class = {c: rows[c][f] for c in sorted(rows)}
        if f < n_numeric:
            kind, candidates = "numeric", thresholds(of_class)
        elif nominal_splits == "binary":
            kind, candidates = "binary", codes_against_rest(of_class)
        else:
            kind, candidates = "nominal", [(None, multiway(of_class))]
        gain, place, branches = best_candidate(candidates, leaf_weight)
        splits.append((gain, Split(kind, f, place, branches)))
    best, chosen = 0.0, None
    for gain, split in splits:
        if gain > best + TIE:
            best, chosen = gain, split
    if chosen is None:
        return None
    second = max([0.0] + [gain for gain, split in splits if split.feature != chosen.feature])
    return chosen if best - second > bound or bound < tie_threshold else None


def hoeffding_bound(n_classes: int, confidence: float, weight: float) -> float:
    """sqrt(R^2 ln(1/delta) / (2 n)) with R = log2 of the classes present, ln(1/delta) = `confidence`, n = `weight`."""
    return math.log2(n_classes) * math.sqrt(confidence / (2.0 * weight))


# The values of a class, taken as normal within what was seen


def normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_density(z: float) -> float:
    return math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)


def standardized(t: float, s: Stats) -> tuple[float, float]:
    """Standard deviation, and t in standard deviations from the mean."""
    sd = math.sqrt(max(s["m2"], 0.0) / s["n"])
    if sd == 0.0:
        return 0.0, math.inf if t >= s["mean"] else -math.inf
    return sd, (t - s["mean"]) / sd


def weight_below(t: float, s: Stats) -> float:
    """How much of the weight lies at or below t."""
    if t < s["lo"]:
        return 0.0
    if t >= s["hi"]:
        return s["n"]
    return s["n"] * normal_cdf(standardized(t, s)[1])


def below(t: float, s: Stats, n: float) -> Stats:
    """Statistics at or below t; n is their weight."""
    if t >= s["hi"]:
        return s | {"n": n}
    sd, z = standardized(t, s)
    r = normal_density(z) / normal_cdf(z)
    # With sd = 0 all the weight is here, r = 0 and z infinite: the product tends to 0.
    variance = sd**2 * max(1.0 - (z * r if r > 0.0 else 0.0) - r**2, 0.0)
    return {"n": n, "mean": min(max(s["mean"] - sd * r, s["lo"]), t), "m2": n * variance, "lo": s["lo"], "hi": t}


def above(t: float, s: Stats, n: float) -> Stats:
    """Statistics above t; n is their weight."""
    if t < s["lo"]:
        return s | {"n": n}
    sd, z = standardized(t, s)
    r = normal_density(z) / normal_cdf(-z)  # the same as 1 - normal_cdf(z), without cancellation
    variance = sd**2 * max(1.0 + (z * r if r > 0.0 else 0.0) - r**2, 0.0)
    return {"n": n, "mean": min(max(s["mean"] + sd * r, t), s["hi"]), "m2": n * variance, "lo": t, "hi": s["hi"]}
