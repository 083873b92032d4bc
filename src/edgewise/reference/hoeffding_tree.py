"""The Hoeffding tree (Domingos and Hulten, *Mining high-speed data streams*, KDD 2000) as nested dictionaries.

A node is a dictionary. A leaf holds, for every class learned since it was made, a row of statistics per feature (see
`edgewise.reference.split_search`); a split holds its children by branch. Numeric features have ids 0, 1, ...; nominal
ones follow.

| paper | here |
|---|---|
| n_min | `grace_period`, counted in weight |
| delta, tau | `split_confidence`, `tie_threshold` |
| G(X_a) - G(X_b) > epsilon, or epsilon < tau | `split_search.best_split` |
| deactivated leaves, Section 3 | `max_rows`: above so many rows of statistics, the leaves of least promise keep none |
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from edgewise.reference.learner import MISSING, RunningMoments, argmax
from edgewise.reference.split_search import above, below, best_split, hoeffding_bound

LEAST = 1e-6  # weight of a class that makes a row in a new leaf
Node = dict[Any, Any]


def new_leaf(class_weight: Sequence[float]) -> Node:
    """A leaf that starts with these weights of the classes; `pending` is the weight since the last split attempt."""
    return {
        "kind": "leaf",
        "class_weight": list(class_weight),
        "weight": 0.0,
        "examples": 0,
        "pending": 0.0,
        "right_majority": 0.0,
        "right_bayes": 0.0,
        "rows": {},
        "deactivated": False,
    }


def promise(leaf: Node) -> float:
    """Weight of a leaf that is not of its heaviest class."""
    return sum(leaf["class_weight"]) - max(leaf["class_weight"])


def leaves_below(node: Node) -> list[Node]:
    """All leaves, from left to right."""
    if node["kind"] == "leaf":
        return [node]
    return [leaf for _, child in sorted(node["children"].items()) for leaf in leaves_below(child)]


@dataclass
class HoeffdingTree:
    """One Hoeffding tree; options as in `edgewise.HoeffdingTree`."""

    k: int  # number of labels
    n_numeric: int
    n_nominal: int
    moments: RunningMoments  # must have counted an example before the tree learns it
    grace_period: float = 200.0
    split_confidence: float = 1e-7
    tie_threshold: float = 0.05
    leaf_prediction: str = "adaptive"  # "majority", "naive_bayes", the better of the two so far, or "mixed": their mean
    features: Iterable[int] | None = None  # ids of those that the tree may use
    max_nodes: float | None = None
    max_rows: float | None = None
    nominal_splits: str = (
        "multiway"  # a branch for each code; "binary": one code (branch 0) against the rest (branch 1)
    )
    warm_start: bool = False  # new leaves start with their share of the statistics of the leaf that was split

    def __post_init__(self) -> None:
        n = self.n_numeric + self.n_nominal
        used = set(range(n)) if self.features is None else set(self.features)
        self.numeric_used = [f for f in range(self.n_numeric) if f in used]
        self.nominal_used = [f for f in range(self.n_numeric, n) if f in used]
        self.nodes = 1
        self.root = new_leaf([0.0] * self.k)

    def predict_proba(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """The distribution over labels in the leaf of an example; nothing changes.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.

        Returns
        -------
        list of float
        """
        leaf = self._leaf(numeric, nominal)
        mode = self.leaf_prediction
        if mode == "mixed":
            both = zip(self._majority(leaf), self._naive_bayes(leaf, numeric, nominal), strict=True)
            return [(a + b) / 2.0 for a, b in both]
        if mode == "adaptive":
            mode = "naive_bayes" if leaf["right_bayes"] >= leaf["right_majority"] else "majority"
        return self._naive_bayes(leaf, numeric, nominal) if mode == "naive_bayes" else self._majority(leaf)

    def update(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        """Learn one example.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        y, w : int, float
            Its label and weight; with weight 0 it leaves no trace.
        """
        if w <= 0.0:
            return
        parent, branch, leaf, fresh = self._place(numeric, nominal)
        if not fresh and self.leaf_prediction == "adaptive":
            self._count_right(leaf, self._predicted(leaf, numeric, nominal), y, w)
        self._learn(parent, branch, leaf, numeric, nominal, y, w)

    def update_set(
        self, numeric: Sequence[float], nominal: Sequence[int], Y: Collection[int], gains: Sequence[float]
    ) -> None:
        """Learn the relevant labels of an example one by one.

        An adaptive leaf counts for each of them what it predicted before the first.

        Parameters
        ----------
        numeric, nominal : sequence
            Features of the example.
        Y, gains : collection of int, sequence of float
            The relevant labels, and the importance of every label.
        """
        first = self._leaf(numeric, nominal)
        predicted = self._predicted(first, numeric, nominal)
        for y in sorted(Y):
            if gains[y] > 0.0:
                parent, branch, leaf, fresh = self._place(numeric, nominal)
                if self.leaf_prediction == "adaptive" and leaf is first and not fresh:
                    self._count_right(leaf, predicted, y, gains[y])
                self._learn(parent, branch, leaf, numeric, nominal, y, gains[y])

    def structure(self) -> tuple[Any, ...]:
        """Nested tuples of splits and of the leaves' class weights, in the form of `edgewise` models.

        Returns
        -------
        tuple
        """
        return describe(self.root)

    # The way down

    def _branch(self, split: Node, numeric: Sequence[float], nominal: Sequence[int]) -> int:
        """The branch of a split that an example takes; it may not exist for a nominal value."""
        f = split["feature"]
        if split["kind"] == "numeric":
            if math.isnan(numeric[f]):
                return split["default"]
            return 0 if numeric[f] <= split["threshold"] else 1
        code = nominal[f - self.n_numeric]
        return split["default"] if code == MISSING else self._branch_of_code(split, code)

    def _branch_of_code(self, split: Node, code: int) -> int:
        if split["kind"] == "binary":
            return 0 if code == split["code"] else 1
        return code

    def _leaf(self, numeric: Sequence[float], nominal: Sequence[int]) -> Node:
        node = self.root
        while node["kind"] != "leaf":
            branch = self._branch(node, numeric, nominal)
            node = node["children"].get(branch, node["children"][node["default"]])
        return node

    def _place(self, numeric: Sequence[float], nominal: Sequence[int]) -> tuple[Node | None, int | None, Node, bool]:
        """Parent, branch and leaf of an example; the leaf is made now if its nominal value has no child yet."""
        parent, key, node = None, None, self.root
        while node["kind"] != "leaf":
            branch = self._branch(node, numeric, nominal)
            if branch not in node["children"]:
                if self.max_nodes is None or self.nodes < self.max_nodes:
                    node["children"][branch] = new_leaf([0.0] * self.k)
                    self.nodes += 1
                    return node, branch, node["children"][branch], True
                branch = node["default"]
            parent, key, node = node, branch, node["children"][branch]
        return parent, key, node, False

    # What a leaf predicts

    def _majority(self, leaf: Node) -> list[float]:
        total = sum(leaf["class_weight"])
        return [(c + 1.0) / (total + self.k) for c in leaf["class_weight"]]

    def _naive_bayes(self, leaf: Node, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        rows = leaf["rows"]
        if not rows:
            return self._majority(leaf)
        logs = {}
        for c, row in rows.items():
            log = math.log(leaf["class_weight"][c])
            for f in self.numeric_used:
                x, mean, var = numeric[f], row[f]["bayes_mean"], row[f]["bayes_var"]
                if not math.isnan(x) and var > 0.0:
                    log += -math.log(var) / 2.0 - (x - mean) ** 2 / (2.0 * var)
            for f in self.nominal_used:
                code = nominal[f - self.n_numeric]
                n_v = sum(other[f].get(code, 0.0) for other in rows.values())
                if code != MISSING and n_v > 0.0:
                    n_f = sum(sum(other[f].values()) for other in rows.values())
                    n_c = sum(row[f].values())
                    log += math.log((row[f].get(code, 0.0) + n_v / n_f) / (n_c + 1.0))
            logs[c] = log
        top = max(logs.values())
        shares = {c: math.exp(log - top) for c, log in logs.items()}
        q = {c: share / sum(shares.values()) for c, share in shares.items()}
        total = sum(leaf["class_weight"])
        return [(total * q.get(c, 0.0) + 1.0) / (total + self.k) for c in range(self.k)]

    def _predicted(self, leaf: Node, numeric: Sequence[float], nominal: Sequence[int]) -> tuple[int, int]:
        """The labels that majority and naive Bayes predict."""
        return argmax(self._majority(leaf)), argmax(self._naive_bayes(leaf, numeric, nominal))

    def _count_right(self, leaf: Node, predicted: tuple[int, int], y: int, w: float) -> None:
        majority, bayes = predicted
        leaf["right_majority"] += w if majority == y else 0.0
        leaf["right_bayes"] += w if bayes == y else 0.0

    # Learning

    def _learn(
        self,
        parent: Node | None,
        branch: int | None,
        leaf: Node,
        numeric: Sequence[float],
        nominal: Sequence[int],
        y: int,
        w: float,
    ) -> None:
        leaf["class_weight"][y] += w
        if leaf["deactivated"]:
            self._reactivate(leaf)
            return
        leaf["weight"] += w
        leaf["examples"] += 1
        leaf["pending"] += w
        self._update_row(leaf, numeric, nominal, y, w)
        enough = leaf["pending"] >= self.grace_period and leaf["examples"] >= 2 and len(leaf["rows"]) >= 2
        if enough and (self.max_nodes is None or self.nodes + 2 <= self.max_nodes):
            split = self._attempt(leaf)
            leaf["pending"] = 0.0
            if split is not None:
                self.nodes += len(split["children"])
                if parent is None:
                    self.root = split
                else:
                    parent["children"][branch] = split
        if self.max_rows is not None:
            self._deactivate(self.max_rows)

    def _update_row(self, leaf: Node, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        if y not in leaf["rows"]:
            row: Node = {
                f: {"n": 0.0, "mean": 0.0, "m2": 0.0, "lo": math.inf, "hi": -math.inf} for f in self.numeric_used
            }
            row.update({f: {} for f in self.nominal_used})
            leaf["rows"][y] = row
        row = leaf["rows"][y]
        for f in self.numeric_used:
            x, s = numeric[f], row[f]
            if not math.isnan(x):
                s["n"] += w
                delta = x - s["mean"]
                s["mean"] += delta * w / s["n"]
                s["m2"] += w * delta * (x - s["mean"])
                s["lo"], s["hi"] = min(s["lo"], x), max(s["hi"], x)
            self._keep_for_bayes(f, s)
        for f in self.nominal_used:
            code = nominal[f - self.n_numeric]
            if code != MISSING:
                row[f][code] = row[f].get(code, 0.0) + w

    def _keep_for_bayes(self, f: int, s: Node) -> None:
        """Mean and variance that naive Bayes uses until the row changes."""
        v0 = self.moments.variance(f)
        if v0 <= 0.0:
            # Nothing varied so far, so m2 is 0 as well: said here, because a rounded m2 may be 1e-17.
            s["bayes_mean"], s["bayes_var"] = self.moments.means[f], 0.0
        elif s["n"] > 0.0:
            s["bayes_mean"] = s["mean"]
            s["bayes_var"] = max((s["m2"] + v0) / (s["n"] + 1.0), 0.001 * v0)
        else:
            s["bayes_mean"], s["bayes_var"] = self.moments.means[f], v0

    def _attempt(self, leaf: Node) -> Node | None:
        """The split node that takes the leaf's place, or None when the Hoeffding bound or `max_nodes` forbids it."""
        rows = {c: leaf["rows"][c] for c in sorted(leaf["rows"])}
        bound = hoeffding_bound(len(rows), math.log(1.0 / self.split_confidence), leaf["weight"])
        size = sum(leaf["class_weight"]) if self.warm_start else leaf["weight"]
        found = best_split(rows, self.n_numeric, self.nominal_splits, size, bound, self.tie_threshold)
        if found is None or (self.max_nodes is not None and self.nodes + len(found.branches) > self.max_nodes):
            return None
        branches = {b: found.branches[b] for b in sorted(found.branches)}
        inherited = {b: [of.get(c, 0.0) for c in range(self.k)] for b, of in branches.items()}
        split: Node = {
            "kind": found.kind,
            "feature": found.feature,
            "code" if found.kind == "binary" else "threshold": found.place,
            "children": {b: new_leaf(class_weight) for b, class_weight in inherited.items()},
            "default": max(branches, key=lambda b: sum(inherited[b])),
        }
        if self.warm_start:
            for b, child in split["children"].items():
                child["rows"] = self._inherited_rows(rows, split, b, branches[b])
        return split

    def _inherited_rows(self, rows: dict[int, Node], split: Node, b: int, weights: dict[int, float]) -> dict[int, Node]:
        """Rows of the new leaf at branch b, which takes `weights` {class: weight} of the leaf that was split."""
        inherited = {}
        for c, row in rows.items():
            if weights.get(c, 0.0) <= LEAST:
                continue
            at = split["feature"]
            counted = row[at]["n"] if split["kind"] == "numeric" else sum(row[at].values())
            share = weights[c] / counted
            new: Node = {}
            for f in self.numeric_used:
                if f == at:
                    new[f] = (below if b == 0 else above)(split["threshold"], row[f], weights[c])
                else:
                    new[f] = row[f] | {"n": row[f]["n"] * share, "m2": row[f]["m2"] * share}
                self._keep_for_bayes(f, new[f])
            for f in self.nominal_used:
                if f == at:
                    new[f] = {v: count for v, count in row[f].items() if self._branch_of_code(split, v) == b}
                else:
                    new[f] = {v: count * share for v, count in row[f].items()}
            inherited[c] = new
        return inherited

    # Deactivated leaves

    def _with_rows(self) -> list[Node]:
        return [leaf for leaf in leaves_below(self.root) if leaf["rows"]]

    def _deactivate(self, max_rows: float) -> None:
        """Above the limit, deactivate the leaves of least promise, all but one if need be, until an eighth is free."""
        held = sum(len(leaf["rows"]) for leaf in self._with_rows())
        if held <= max_rows:
            return
        for leaf in sorted(self._with_rows(), key=promise)[:-1]:
            if held > max_rows - max_rows // 8:
                held -= len(leaf["rows"])
                leaf |= new_leaf(leaf["class_weight"]) | {"deactivated": True, "known_promise": promise(leaf)}

    def _reactivate(self, leaf: Node) -> None:
        """Wake a leaf that promises a grace period more than when last asked, and more than some other."""
        if promise(leaf) >= leaf["known_promise"] + self.grace_period:
            leaf["known_promise"] = promise(leaf)
            others = [promise(other) for other in self._with_rows()]
            leaf["deactivated"] = bool(others) and min(others) >= promise(leaf)


def describe(node: Node) -> tuple[Any, ...]:
    """A node and all below it as nested tuples."""
    if node["kind"] == "leaf":
        return ("leaf", list(node["class_weight"]))
    children = {b: describe(child) for b, child in sorted(node["children"].items())}
    if node["kind"] == "nominal":
        return ("nominal", node["feature"], children)
    place = node["code"] if node["kind"] == "binary" else node["threshold"]
    return (node["kind"], node["feature"], place, children[0], children[1])
