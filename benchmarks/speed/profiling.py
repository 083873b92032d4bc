"""Where the time of 100 boosted Hoeffding trees goes, how it grows, and what memory bandwidth allows.

    python -m benchmarks.speed.profiling [--quick]

**Phases.** A model learns a stream. At some points of it, the next rows go through copies of the model that leave
something out, and once through a loop that only routes; every phase is a difference of two of these times, so that the
kernels measured are the ones in use, and nothing in them counts or stops a clock:

| phase            | time                                          | less                       |
|------------------|-----------------------------------------------|----------------------------|
| route            | finding the leaves of all rows in all trees   |                            |
| predict          | `predict`                                     | route                      |
| cost and weights | learning with importance 0: no learner learns | `predict`                  |
| learn            | learning with an endless grace period         | learning with importance 0 |
| split attempts   | learning                                      | learning with endless grace|

**Growth.** Rows per second on made streams while N, k, d or the number of rows changes and the rest stays.

**Roofline.** Bytes that one example touches in one tree, from the depth and the rows of the leaves it meets, beside
what a NumPy copy moves in the time that it takes.

Writes results/profile.json and results/profile.md.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import edgewise as ew
from benchmarks.shared import measuring
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import best_cpu, machine, write
from benchmarks.shared.streams import STREAMS as ROWS
from benchmarks.shared.streams import booster, stream
from edgewise.kernels.compile import in_memory
from edgewise.learners.forest.growing import next_node
from edgewise.learners.forest.layout import LEAF

STREAMS = {name: rows for name, (rows, _) in ROWS.items()}
# The default trees grow with every row, and are copied here: fewer rows.
DEFAULT_STREAMS = {"car": 1728, "letter": 6000, "isolet-50": 4000, "covertype": 6000, "electricity": 6000}
POINTS, SLICE = 3, 1024  # places in a stream where phases are measured, and rows for each
REPEATS = 3  # runs of each, of which the best counts
PHASES = ("route", "predict", "cost and weights", "learn", "split attempts")
BASE = {"N": 100, "k": 5, "d": 16, "rows": 2000}
GROWTH = {
    "N": (10, 30, 100, 300, 1000),
    "k": (2, 5, 10, 26, 100),
    "d": (4, 16, 64, 200, 600),
    "rows": (1000, 2000, 8000, 32000),
}


def default_booster() -> Any:
    return ew.AdaBoostOLM(random_state=1)


def forests(model: Any) -> list[Any]:
    """The forests of a model, by block of learners."""
    return [forest for ensemble in model._ensembles for forest in ensemble.forests]


# -- phases ------------------------------------------------------------------------------------------------------------


@in_memory
def route(forest, numeric, nominal, x, codes, met):
    """Find the leaf of every row in every tree; `met` counts steps, and classes seen by the leaves that were met."""
    for tree in range(forest.root.size):
        for t in range(numeric.shape[0]):
            for j in range(forest.numeric.shape[1]):
                if forest.numeric[tree, j] < 0:
                    break
                x[j] = numeric[t, forest.numeric[tree, j]]
            for j in range(forest.nominal.shape[1]):
                if forest.nominal[tree, j] < 0:
                    break
                codes[j] = nominal[t, forest.nominal[tree, j]]
            node = forest.root[tree]
            while forest.kind[node] != LEAF:
                following = next_node(forest, node, x, codes)
                node = following if following >= 0 else forest.fallback[node]
                met[0] += 1
            met[1] += forest.n_rows[forest.child[node]]


def route_all(model: Any, X: Any) -> tuple[Callable[[], None], np.ndarray]:
    """A function that routes all rows through all trees, and where it counts what it meets."""
    rows, met = model._rows(X, model.classes_.size, learning=False), np.zeros(2, np.int64)

    def work() -> None:
        for forest in forests(model):
            x, codes = np.zeros(forest.numeric.shape[1]), np.zeros(forest.nominal.shape[1], np.int32)
            route(forest, rows.numeric, rows.nominal, x, codes, met)

    return work, met


def without(model: Any, *, splits: bool, learning: bool) -> Any:
    """A copy of a model that leaves something out."""
    other = copy.deepcopy(model)
    if not splits:
        for forest in forests(other):
            forest.grace[:] = np.inf
    if not learning:
        for ensemble in other._ensembles:
            ensemble.learners.scale[:] = 0.0
    return other


def phases(name: str, make: Callable[[], Any], data: str, rows: int) -> dict[str, Any]:
    """CPU seconds of each phase over slices of a stream."""
    X, y, classes = stream(data, 1, rows)
    size = min(SLICE, rows // (2 * POINTS))
    model = make().partial_fit(X[:size], y[:size], classes=classes)
    total, met, examples = np.zeros(len(PHASES)), np.zeros(2), 0
    done = size
    for point in range(1, POINTS + 1):
        until = rows * point // POINTS - size
        model.partial_fit(X[done:until], y[done:until])
        part, labels = X[until : until + size], y[until : until + size]
        work, counts = route_all(model, part)
        work()  # compiles
        counts[:] = 0
        times = [best_cpu(work, REPEATS), best_cpu(partial(model.predict, part), REPEATS)]
        for splits, learning in ((False, False), (False, True), (True, True)):
            copies = [without(model, splits=splits, learning=learning) for _ in range(REPEATS)]
            times.append(min(best_cpu(partial(other.partial_fit, part, labels)) for other in copies))
        total += np.diff([0.0, *times])
        met += counts
        examples += size * sum(forest.root.size for forest in forests(model))
        done = until
    leaf = forests(model)[0]
    return {
        "model": name,
        "data": data,
        "rows": rows,
        "ns": dict(zip(PHASES, (total / examples * 1e9).tolist(), strict=True)),
        "depth": met[0] / examples,
        "classes": met[1] / examples,
        "numeric": int((leaf.numeric[0] >= 0).sum()),
        "nominal": int((leaf.nominal[0] >= 0).sum()),
        "labels": int(leaf.row.shape[1]),
    }


# -- growth ------------------------------------------------------------------------------------------------------------


def made(k: int, d: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes that overlap."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, k, rows)
    return rng.normal(size=(rows, d)) + rng.normal(size=(k, d))[y], y


def growth(quick: bool) -> list[dict[str, Any]]:
    """Rows per CPU second as one quantity grows."""
    found = []
    for name, values in GROWTH.items():
        for value in values[:2] if quick else values:
            size = BASE | {name: value}
            X, y = made(size["k"], size["d"], size["rows"])
            used = best_cpu(
                lambda X=X, y=y, size=size: booster(n_estimators=size["N"]).prequential(
                    X, y, classes=np.arange(size["k"])
                ),
                3,
            )
            found.append({"grows": name, **size, "cpu_s": used, "rows_per_cpu_s": size["rows"] / used})
            print(found[-1], flush=True)
    return found


# -- roofline ----------------------------------------------------------------------------------------------------------


def bandwidth(megabytes: int) -> float:
    """Bytes per second that a NumPy copy reads and writes."""
    source = np.ones(megabytes << 17)
    target = np.empty_like(source)
    rounds = max(1, 512 // megabytes)

    def work() -> None:
        for _ in range(rounds):
            np.copyto(target, source)

    return 2 * source.nbytes * rounds / best_cpu(work, 3)


def touched(phase: dict[str, Any]) -> dict[str, float]:
    """Bytes that one example touches in one tree, by phase; nodes count as the cache lines that they lie in."""
    m, c, k, classes = (phase[name] for name in ("numeric", "nominal", "labels", "classes"))
    return {
        "route": phase["depth"] * 4 * 64 + 12 * m + 8 * c,
        "predict": 12 * k + classes * (16 * m + 16 * c + 8) + 16 * c,
        # six numbers of every feature read and written, and the columns' means and variances read
        "learn": 2 * 48 * m + 16 * m + 2 * 32 * c + 2 * 8 + 2 * 40,
    }


# -- the report --------------------------------------------------------------------------------------------------------


def markdown(report: dict[str, Any]) -> str:
    machine = report["machine"]
    by_phase: dict[str, list[list[str]]] = {"speed": [], "defaults": []}
    roof = []
    far, near = report["bandwidth"]
    for r in report["phases"]:
        whole = sum(r["ns"].values())
        ns = dict(r["ns"])
        if r["model"] == "speed" and r["numeric"] == 0:
            ns["cost and weights"] += ns.pop("route") + ns.pop("predict")
        cells = [f"{ns[name]:.0f} ({ns[name] / whole:.0%})" if name in ns else "with cost" for name in PHASES]
        by_phase[r["model"]].append([r["data"], f"{r['rows']:,}", f"{whole:.0f}", *cells])
        total = sum(touched(r).values())
        bounds = [f"{total / pace * 1e9:.0f}" for pace in (far, near)]
        if r["model"] != "speed":
            continue
        roof.append([r["data"], f"{r['depth']:.1f}", f"{r['classes']:.1f}", f"{total:,.0f}", *bounds, f"{whole:.0f}"])
    parts = [
        "# Where the time goes",
        f"{machine['cpu']}, {machine['system']}, Python {machine['python']}. AdaBoostOLM with the trees of the speed "
        f"benchmark, N = {BASE['N']}, one thread; nanoseconds of CPU time per example and tree. How: the docstring of "
        "`benchmarks/speed/profiling.py`, which makes this page.",
        grid(["data", "rows", "all", *PHASES], by_phase["speed"]),
        "*With cost*: where all columns are nominal, trees that have not split learn side by side, which `predict` "
        "does not; so routing, predicting and cost are not told apart.",
        "The defaults, `AdaBoostOLM()`: eager trees that begin with what their parents knew.",
        grid(["data", "rows", "all", *PHASES], by_phase["defaults"]),
        "## Growth",
        f"Rows per CPU second on made streams of Gaussian classes; where nothing else is said N = {BASE['N']}, "
        f"k = {BASE['k']}, d = {BASE['d']}, {BASE['rows']:,} rows. *exponent*: of the time per row, from one line to "
        "the next (0: it does not grow; 1: in proportion).",
    ]
    for name in GROWTH:
        lines, before = [], None
        for r in (r for r in report["growth"] if r["grows"] == name):
            now = (math.log(r[name]), -math.log(r["rows_per_cpu_s"]))
            exponent = f"{(now[1] - before[1]) / (now[0] - before[0]):.2f}" if before else ""
            lines.append([f"{r[name]:,}", f"{r['rows_per_cpu_s']:,.0f}", exponent])
            before = now
        parts.append(grid([name, "rows per CPU s", "exponent"], lines))
    parts += [
        "## Roofline",
        f"A NumPy copy moves {far / 1e9:.1f} GB/s where the arrays are larger than the caches (256 MB) and "
        f"{near / 1e9:.1f} GB/s inside them (1 MB). *bytes*: what one example touches in one tree when it is routed "
        "(cache lines of nodes), predicted (means and precisions of the classes that its leaf has seen) and learned "
        "(six numbers a feature, read and written). *far*, *near*: nanoseconds that these bytes take at the two "
        "speeds; *measured*: nanoseconds of all phases.",
        grid(["data", "depth", "classes in the leaf", "bytes", "far, ns", "near, ns", "measured, ns"], roof),
        "A tree stays in the cache while a chunk goes through it, so that *near* is the bound that counts: time above "
        "it is arithmetic (exponentials, logarithms and divisions), not memory.",
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows: does everything run?")
    quick = parser.parse_args().quick
    report: dict[str, Any] = {"machine": machine(), "phases": []}
    booster(n_estimators=2).prequential(*made(3, 2, 40))  # kernels are loaded, or compiled
    for name, make, streams in (("speed", booster, STREAMS), ("defaults", default_booster, DEFAULT_STREAMS)):
        for data in ("car",) if quick else streams:
            report["phases"].append(phases(name, make, data, streams[data]))
            print(report["phases"][-1], flush=True)
    report["bandwidth"] = [bandwidth(256), bandwidth(1)]
    report["growth"] = growth(quick)
    write("profile-quick" if quick else "profile", report, markdown(report))


if __name__ == "__main__":
    main()
