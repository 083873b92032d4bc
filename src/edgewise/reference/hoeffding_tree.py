"""The Hoeffding tree (Domingos and Hulten 2000) as nested dicts of plain floats: slow, and meant to be read.

A node is a dict. A leaf holds, for every class learned since it was made, a row of statistics per feature; a split
holds its children by branch. Numeric features have ids 0, 1, ...; nominal ones follow.

| option | meaning |
|---|---|
| `nominal="binary"` | a nominal split asks for one code (branch 0) against the rest (branch 1) |
| `leaf="mixed"` | a leaf says the mean of its majority and naive-Bayes distributions |
| `warm_start=True` | the leaves of a split start with their share of the statistics of the leaf that was split |
| `max_rows` | above so many rows of statistics, the leaves that promise least keep class weights only: they sleep |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

MISSING = -1
CANDIDATES = 10
LEAST = 1e-6  # weight of a class that makes a row in a new leaf
Node = dict[str, Any]


class Moments:
    """Unweighted running mean and variance of every numeric feature, shared by the trees of a forest."""

    def __init__(self, n_numeric: int) -> None:
        self.seen = [{"count": 0, "mean": 0.0, "m2": 0.0} for _ in range(n_numeric)]

    def learn(self, numeric: Sequence[float]) -> None:
        for x, moment in zip(numeric, self.seen, strict=True):
            if not math.isnan(x):
                moment["count"] += 1
                delta = x - moment["mean"]
                moment["mean"] += delta / moment["count"]
                moment["m2"] += delta * (x - moment["mean"])

    def mean(self, f: int) -> float:
        return self.seen[f]["mean"]

    def variance(self, f: int) -> float:
        moment = self.seen[f]
        return moment["m2"] / moment["count"] if moment["count"] else 0.0


def argmax(values: Sequence[float]) -> int:
    """Lowest index of the largest value."""
    best = 0
    for index in range(1, len(values)):
        if values[index] > values[best]:
            best = index
    return best


def entropy(class_weights: Iterable[float]) -> float:
    """Entropy in bits of a dictionary of class weights."""
    present = [w for w in class_weights if w > 0.0]
    total = sum(present)
    return -sum(w / total * math.log2(w / total) for w in present)


def normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_density(z: float) -> float:
    return math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi)


def new_leaf(class_weight: Sequence[float]) -> Node:
    return {
        "kind": "leaf",
        "class_weight": list(class_weight),
        "weight": 0.0,
        "examples": 0,
        "pending": 0.0,
        "right_majority": 0.0,
        "right_bayes": 0.0,
        "rows": {},
        "asleep": False,
    }


def promise(leaf: Node) -> float:
    """Weight of a leaf that is not of its heaviest class."""
    return sum(leaf["class_weight"]) - max(leaf["class_weight"])


def leaves_below(node: Node) -> list[Node]:
    """All leaves, from left to right."""
    if node["kind"] == "leaf":
        return [node]
    return [leaf for _, child in sorted(node["children"].items()) for leaf in leaves_below(child)]


class Tree:
    """One Hoeffding tree over `n_labels` classes; `features` are the ids it may use (None: all)."""

    def __init__(
        self,
        n_labels: int,
        n_numeric: int,
        n_nominal: int,
        moments: Moments,
        *,
        grace: float,
        delta: float,
        tie: float,
        leaf: str = "adaptive",
        features: Iterable[int] | None = None,
        max_nodes: float | None = None,
        max_rows: float | None = None,
        nominal: str = "multiway",
        warm_start: bool = False,
    ) -> None:
        self.k = n_labels
        self.n_numeric = n_numeric
        self.moments = moments
        self.grace, self.delta, self.tie, self.leaf = grace, delta, tie, leaf
        self.nominal, self.warm_start = nominal, warm_start
        used = set(range(n_numeric + n_nominal)) if features is None else set(features)
        self.numeric_used = [f for f in range(n_numeric) if f in used]
        self.nominal_used = [f for f in range(n_numeric, n_numeric + n_nominal) if f in used]
        self.max_nodes = math.inf if max_nodes is None else max_nodes
        self.max_rows = math.inf if max_rows is None else max_rows
        self.nodes = 1
        self.root = new_leaf([0.0] * n_labels)

    # What the tree says

    def vote(self, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        """The distribution over labels for an example; nothing changes."""
        node = self.root
        while node["kind"] != "leaf":
            branch = self.branch(node, numeric, nominal)
            node = node["children"].get(branch, node["children"][node["default"]])
        mode = self.leaf
        if mode == "mixed":
            both = zip(self.majority(node), self.naive_bayes(node, numeric, nominal), strict=True)
            return [(a + b) / 2.0 for a, b in both]
        if mode == "adaptive":
            mode = "naive_bayes" if node["right_bayes"] >= node["right_majority"] else "majority"
        return self.naive_bayes(node, numeric, nominal) if mode == "naive_bayes" else self.majority(node)

    def branch(self, node: Node, numeric: Sequence[float], nominal: Sequence[int]) -> int:
        """The branch of a split that an example asks for; it may not exist for a nominal value."""
        f = node["feature"]
        if node["kind"] == "numeric":
            if math.isnan(numeric[f]):
                return node["default"]
            return 0 if numeric[f] <= node["threshold"] else 1
        code = nominal[f - self.n_numeric]
        return node["default"] if code == MISSING else self.follows(node, code)

    def majority(self, node: Node) -> list[float]:
        total = sum(node["class_weight"])
        return [(c + 1.0) / (total + self.k) for c in node["class_weight"]]

    def naive_bayes(self, node: Node, numeric: Sequence[float], nominal: Sequence[int]) -> list[float]:
        rows = node["rows"]
        if not rows:
            return self.majority(node)
        logs = {}
        for c, row in rows.items():
            log = math.log(node["class_weight"][c])
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
        total = sum(node["class_weight"])
        return [(total * q.get(c, 0.0) + 1.0) / (total + self.k) for c in range(self.k)]

    # Learning

    def learn(self, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
        """Learn one example; the shared moments must hold it already."""
        if w <= 0.0:
            return
        parent, key, leaf, fresh = self.find(numeric, nominal)
        if not fresh and self.leaf == "adaptive":
            if argmax(self.majority(leaf)) == y:
                leaf["right_majority"] += w
            if argmax(self.naive_bayes(leaf, numeric, nominal)) == y:
                leaf["right_bayes"] += w
        leaf["class_weight"][y] += w
        if leaf["asleep"]:
            self.stir(leaf)
            return
        leaf["weight"] += w
        leaf["examples"] += 1
        leaf["pending"] += w
        self.update_row(leaf, numeric, nominal, y, w)
        may_split = leaf["examples"] >= 2 and len(leaf["rows"]) >= 2 and self.nodes + 2 <= self.max_nodes
        if leaf["pending"] >= self.grace and may_split:
            split = self.attempt(leaf)
            leaf["pending"] = 0.0
            if split is not None:
                self.nodes += len(split["children"])
                if parent is None:
                    self.root = split
                else:
                    parent["children"][key] = split
        self.shed_rows()

    # Sleep

    def with_rows(self) -> list[Node]:
        return [leaf for leaf in leaves_below(self.root) if leaf["rows"]]

    def shed_rows(self) -> None:
        """Above the limit: the least promising leaves sleep, all but one if need be, until an eighth of it is free."""
        held = sum(len(leaf["rows"]) for leaf in self.with_rows())
        if held <= self.max_rows:
            return
        for leaf in sorted(self.with_rows(), key=promise)[:-1]:
            if held > self.max_rows - self.max_rows // 8:
                held -= len(leaf["rows"])
                leaf |= new_leaf(leaf["class_weight"]) | {"asleep": True, "known_promise": promise(leaf)}

    def stir(self, leaf: Node) -> None:
        """A sleeping leaf wakes if it promises a grace period more than when last asked, and more than some other."""
        if promise(leaf) >= leaf["known_promise"] + self.grace:
            leaf["known_promise"] = promise(leaf)
            others = [promise(other) for other in self.with_rows()]
            leaf["asleep"] = bool(others) and min(others) >= promise(leaf)

    def find(self, numeric: Sequence[float], nominal: Sequence[int]) -> tuple[Node | None, int | None, Node, bool]:
        """The leaf of an example with the place where it hangs, made now if its nominal value has no child yet."""
        parent, key, node = None, None, self.root
        while node["kind"] != "leaf":
            branch = self.branch(node, numeric, nominal)
            if branch not in node["children"]:
                if self.nodes < self.max_nodes:
                    node["children"][branch] = new_leaf([0.0] * self.k)
                    self.nodes += 1
                    return node, branch, node["children"][branch], True
                branch = node["default"]
            parent, key, node = node, branch, node["children"][branch]
        return parent, key, node, False

    def update_row(self, leaf: Node, numeric: Sequence[float], nominal: Sequence[int], y: int, w: float) -> None:
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
            self.remember(f, s)
        for f in self.nominal_used:
            code = nominal[f - self.n_numeric]
            if code != MISSING:
                row[f][code] = row[f].get(code, 0.0) + w

    def remember(self, f: int, s: Node) -> None:
        """Mean and variance that naive Bayes will use until the row is learned again."""
        v0 = self.moments.variance(f)
        if v0 <= 0.0:
            # Nothing varied so far, so m2 is 0 as well: said here, because a rounded m2 may be 1e-17.
            s["bayes_mean"], s["bayes_var"] = self.moments.mean(f), 0.0
        elif s["n"] > 0.0:
            s["bayes_mean"] = s["mean"]
            s["bayes_var"] = max((s["m2"] + v0) / (s["n"] + 1.0), 0.001 * v0)
        else:
            s["bayes_mean"], s["bayes_var"] = self.moments.mean(f), v0

    # Splitting

    def attempt(self, leaf: Node) -> Node | None:
        """The split node that takes the leaf's place, or None when the Hoeffding bound forbids it."""
        rows = {c: leaf["rows"][c] for c in sorted(leaf["rows"])}
        candidates = []
        for f in self.numeric_used:
            for threshold, branches in numeric_candidates({c: row[f] for c, row in rows.items()}):
                candidates.append(("numeric", f, threshold, branches))
        size = sum(leaf["class_weight"]) if self.warm_start else leaf["weight"]
        for f in self.nominal_used:
            counts = {c: row[f] for c, row in rows.items()}
            if self.nominal == "multiway":
                candidates.append(("nominal", f, None, nominal_candidate(counts)))
            else:
                candidates += [("binary", f, code, branches) for code, branches in best_code(counts, size)]

        best, chosen = 0.0, None
        best_of_feature: dict[int, float] = {}
        for candidate in candidates:
            _, f, _, branches = candidate
            gain = merit(branches, size)
            if gain is None:
                continue
            best_of_feature[f] = max(gain, best_of_feature.get(f, 0.0))
            if gain > best + 1e-12:
                best, chosen = gain, candidate
        if chosen is None:
            return None
        kind, feature, where, branches = chosen
        second = max([0.0] + [gain for f, gain in best_of_feature.items() if f != feature])
        eps = math.sqrt(math.log2(len(rows)) ** 2 * math.log(1.0 / self.delta) / (2.0 * leaf["weight"]))
        if not (best - second > eps or eps < self.tie):
            return None
        if self.nodes + len(branches) > self.max_nodes:
            return None
        inherited = {b: [branches[b].get(c, 0.0) for c in range(self.k)] for b in branches}
        default = min(branches)
        for b in sorted(branches):
            if sum(inherited[b]) > sum(inherited[default]):
                default = b
        split = {
            "kind": kind,
            "feature": feature,
            "code" if kind == "binary" else "threshold": where,
            "children": {b: new_leaf(inherited[b]) for b in sorted(branches)},
            "default": default,
        }
        if self.warm_start:
            for b, child in split["children"].items():
                child["rows"] = self.inherited_rows(rows, split, b, branches[b])
        return split

    def inherited_rows(self, rows: dict[int, Node], split: Node, b: int, weights: dict[int, float]) -> dict[int, Node]:
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
                self.remember(f, new[f])
            for f in self.nominal_used:
                if f == at:
                    new[f] = {v: count for v, count in row[f].items() if self.follows(split, v) == b}
                else:
                    new[f] = {v: count * share for v, count in row[f].items()}
            inherited[c] = new
        return inherited

    def follows(self, split: Node, code: int) -> int:
        """The branch of a nominal split that a code takes."""
        if split["kind"] == "binary":
            return 0 if code == split["code"] else 1
        return code

    # Looking at it

    def structure(self) -> tuple[Any, ...]:
        """Nested tuples of splits and of the leaves' class weights."""
        return describe(self.root)


def describe(node: Node) -> tuple[Any, ...]:
    if node["kind"] == "leaf":
        return ("leaf", list(node["class_weight"]))
    if node["kind"] == "numeric":
        left, right = node["children"][0], node["children"][1]
        return ("numeric", node["feature"], node["threshold"], describe(left), describe(right))
    if node["kind"] == "binary":
        equal, rest = node["children"][0], node["children"][1]
        return ("binary", node["feature"], node["code"], describe(equal), describe(rest))
    return ("nominal", node["feature"], {b: describe(child) for b, child in sorted(node["children"].items())})


def numeric_candidates(stats: dict[int, dict[str, float]]) -> list[tuple[float, dict[int, dict[int, float]]]]:
    """Ten thresholds between the extremes, each with {branch: {class: weight}}."""
    seen = {c: s for c, s in stats.items() if s["n"] > 0.0}
    if not seen:
        return []
    lo, hi = min(s["lo"] for s in seen.values()), max(s["hi"] for s in seen.values())
    if not lo < hi:
        return []
    found = []
    for j in range(1, CANDIDATES + 1):
        t = lo + (hi - lo) * j / (CANDIDATES + 1)
        left = {c: weight_below(t, s) for c, s in seen.items()}
        right = {c: s["n"] - left[c] for c, s in seen.items()}
        found.append((t, {0: left, 1: right}))
    return found


def weight_below(t: float, s: dict[str, float]) -> float:
    """How much of a class's weight lies at or below t, its values taken as normal within what was seen."""
    if t < s["lo"]:
        return 0.0
    if t >= s["hi"]:
        return s["n"]
    sd = math.sqrt(s["m2"] / s["n"])
    if sd == 0.0:
        return s["n"] if t >= s["mean"] else 0.0
    return s["n"] * normal_cdf((t - s["mean"]) / sd)


def below(t: float, s: Node, n: float) -> Node:
    """Statistics at or below t of a normal sample within [lo, hi]; n is their weight."""
    if t >= s["hi"]:
        return s | {"n": n}
    sd, z = standardized(t, s)
    r = normal_density(z) / normal_cdf(z)
    # With sd = 0 all the weight is here, r = 0 and z infinite: the product tends to 0.
    variance = sd**2 * max(1.0 - (z * r if r > 0.0 else 0.0) - r**2, 0.0)
    return {"n": n, "mean": min(max(s["mean"] - sd * r, s["lo"]), t), "m2": n * variance, "lo": s["lo"], "hi": t}


def above(t: float, s: Node, n: float) -> Node:
    """Statistics above t of a normal sample within [lo, hi]; n is their weight."""
    if t < s["lo"]:
        return s | {"n": n}
    sd, z = standardized(t, s)
    r = normal_density(z) / normal_cdf(-z)  # the same as 1 - normal_cdf(z), without cancellation
    variance = sd**2 * max(1.0 + (z * r if r > 0.0 else 0.0) - r**2, 0.0)
    return {"n": n, "mean": min(max(s["mean"] + sd * r, t), s["hi"]), "m2": n * variance, "lo": t, "hi": s["hi"]}


def standardized(t: float, s: Node) -> tuple[float, float]:
    sd = math.sqrt(s["m2"] / s["n"])
    if sd == 0.0:
        return 0.0, math.inf if t >= s["mean"] else -math.inf
    return sd, (t - s["mean"]) / sd


def best_code(counts: dict[int, dict[int, float]], leaf_weight: float) -> list[tuple[int, dict[int, dict[int, float]]]]:
    """The code that is best told from the rest, as one candidate (code, {branch: {class: weight}}), or no candidate."""
    by_value = nominal_candidate(counts)
    best, chosen = 0.0, []
    for code in sorted(by_value):
        rest = {c: sum(n for value, n in of.items() if value != code) for c, of in counts.items()}
        branches = {0: {c: by_value[code].get(c, 0.0) for c in counts}, 1: rest}
        if not sum(branches[0].values()) > 0.0 or not sum(rest.values()) > 0.0:
            continue
        gain = merit(branches, leaf_weight)
        if gain is not None and gain > best + 1e-12:
            best, chosen = gain, [(code, branches)]
    return chosen


def nominal_candidate(counts: dict[int, dict[int, float]]) -> dict[int, dict[int, float]]:
    """{value: {class: weight}} for every value seen."""
    branches: dict[int, dict[int, float]] = {}
    for c, by_value in counts.items():
        for value, weight in by_value.items():
            branches.setdefault(value, {})[c] = weight
    return branches


def merit(branches: dict[int, dict[int, float]], leaf_weight: float) -> float | None:
    """Information gain over what the feature counted, scaled by its share of the leaf; None if not a candidate."""
    sizes = {b: sum(weights.values()) for b, weights in branches.items()}
    n_f = sum(sizes.values())
    if sum(size >= 0.01 * n_f for size in sizes.values()) < 2:
        return None
    totals: dict[int, float] = {}
    for weights in branches.values():
        for c, weight in weights.items():
            totals[c] = totals.get(c, 0.0) + weight
    remaining = sum(sizes[b] / n_f * entropy(branches[b].values()) for b in branches)
    return n_f / leaf_weight * (entropy(totals.values()) - remaining)
