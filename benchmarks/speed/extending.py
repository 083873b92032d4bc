"""Own learners and rules beside ours: rows per CPU second of 100 learners, and what the way in costs.

    python -m benchmarks.speed.extending [--repeats 5]

Two pairs compute the same, number for number: our linear learner, and it once more as an own learner; the learners
alone (`HoeffdingForest`), and once more as an own rule. Their ratio is the price of own code. Each repeat runs all
models one after the other; times are CPU time of one thread, the best of the repeats. The first call of a new own
learner compiles the loop; so much it took, and so much loading it from disk takes.

Writes results/extending.json, results/extending.md and the tables of docs/how-to/extending.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import edgewise as ew
from benchmarks.shared import measuring
from benchmarks.shared.cells import stamp
from benchmarks.shared.grid import figure, grid, update, with_table
from benchmarks.shared.measuring import TOP, found, in_alternation, write
from benchmarks.shared.streams import stream
from edgewise.kernels import compile
from edgewise.learners.linear import linear_update, make_bank, softmax_predict_proba

sys.path.insert(0, str(TOP / "examples"))

from own_learner import NearestCentroid
from own_rule import OSBoost

NAME, LEARNERS = "extending", 100
STREAMS = {"nursery": 12960, "letter": 4000}


class OwnBank(NamedTuple):
    """Our linear learner as an own one: the fields of a `LinearBank`, and working room."""

    step: np.ndarray
    clip: np.ndarray
    offset: np.ndarray
    weights: np.ndarray
    squares: np.ndarray
    inputs: np.ndarray
    slopes: np.ndarray

    def predict_proba(self, i, x, p):
        softmax_predict_proba(self, i, x.numeric, x.nominal, x.means, x.variances, self.inputs, p)

    def update(self, i, x, p, label, w):
        for r in range(p.size):
            self.slopes[r] = w * (p[r] - (1.0 if r == label else 0.0))
        linear_update(self, i, x.nominal, self.slopes, self.inputs)


class OwnSoftmaxRegression(ew.WeakLearner):
    def __init__(self, step: float = 0.2, clip: float = 5.0) -> None:
        self.step = step
        self.clip = clip

    @classmethod
    def make(cls, learners: Any, n_labels: int, n_numeric: int, categories: np.ndarray) -> OwnBank:
        return OwnBank(
            *make_bank(learners, n_labels, n_numeric, categories), np.zeros(n_numeric + 1), np.zeros(n_labels)
        )


class Alike(NamedTuple):
    """Every example counts for every learner, every learner counts alike."""

    share: np.ndarray

    def importance(self, i, scores, now):
        return 1.0

    def learner_weight(self, i, scores, vote, p, now):
        return self.share[0]


class OwnForest(ew.BoostingRule):
    vote = "probability"

    def __init__(
        self, estimator: Any = None, n_estimators: int = 100, *, chunk_size: int = 256, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.chunk_size = chunk_size
        self.random_state = random_state

    def memory(self, n_labels: int) -> Alike:
        return Alike(np.array([1.0 / self.n_estimators]))

    def first_weight(self) -> float:
        return 1.0 / self.n_estimators


TREE = ew.HoeffdingTree()
MODELS: dict[str, Callable[[], Any]] = {
    "AdaBoostOLM, linear": lambda: ew.AdaBoostOLM(ew.SoftmaxRegression(), LEARNERS, random_state=1),
    "AdaBoostOLM, linear as own learner": lambda: ew.AdaBoostOLM(OwnSoftmaxRegression(), LEARNERS, random_state=1),
    "AdaBoostOLM, own nearest centroid": lambda: ew.AdaBoostOLM(NearestCentroid(), LEARNERS, random_state=1),
    "AdaBoostOLM, trees": lambda: ew.AdaBoostOLM(TREE, LEARNERS, random_state=1),
    "HoeffdingForest": lambda: ew.HoeffdingForest(TREE, LEARNERS, random_state=1),
    "HoeffdingForest as own rule": lambda: OwnForest(TREE, LEARNERS, random_state=1),
    "own OSBoost, trees": lambda: OSBoost(TREE, LEARNERS, random_state=1),
}
SAME = {
    "linear learner": ("AdaBoostOLM, linear", "AdaBoostOLM, linear as own learner"),
    "forest": ("HoeffdingForest", "HoeffdingForest as own rule"),
}
FIRST_CALL = """
import time, sys
sys.path.insert(0, {examples!r})
import edgewise as ew
from own_learner import NearestCentroid
X, y = ew.datasets.load("car")
ew.AdaBoostOLM(n_estimators=3, random_state=1).prequential(X, y)
before = time.process_time()
ew.AdaBoostOLM(NearestCentroid(), 3, random_state=1).prequential(X, y)
print(time.process_time() - before)
"""


def measure(data: str, rows: int, repeats: int) -> dict[str, dict[str, float]]:
    """Best CPU seconds and accuracy of every model on the first rows of a shuffled stream."""
    X, y, classes = stream(data, 1, rows)
    guesses = {}
    for name, make in MODELS.items():
        guesses[name] = make().prequential(X, y, classes=classes)  # compiles, or loads from disk
    for ours, own in SAME.values():
        if not np.array_equal(guesses[ours], guesses[own]):
            raise SystemExit(f"{data}: {ours} and {own} differ")
    runs = {name: lambda make=make: make().prequential(X, y, classes=classes) for name, make in MODELS.items()}
    seconds = in_alternation(runs, repeats)
    return {name: {"seconds": min(seconds[name]), "accuracy": float(np.mean(guesses[name] == y))} for name in MODELS}


def first_calls() -> dict[str, float]:
    """CPU seconds of the first call of the own learner: never compiled before, then loaded in another process."""
    script = FIRST_CALL.format(examples=str(TOP / "examples"))
    ours = Path(compile.CACHE)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ours, Path(folder) / ours.name, ignore=shutil.ignore_patterns("own-*"))
        around = os.environ | {"NUMBA_CACHE_DIR": folder}
        times = [
            float(subprocess.run([sys.executable, "-c", script], env=around, check=True, capture_output=True).stdout)
            for _ in range(2)
        ]
    return {"compiled": times[0], "loaded": times[1]}


def tables(found: dict[str, Any]) -> str:
    header = ["100 learners, rows per CPU second (accuracy)", *(f"{data}, {rows:,}" for data, rows in STREAMS.items())]
    lines = [
        [
            name,
            *(
                f"{rows / found[data][name]['seconds']:,.0f} ({figure(found[data][name]['accuracy'])})"
                for data, rows in STREAMS.items()
            ),
        ]
        for name in MODELS
    ]
    ratios = [
        [
            f"time of the own {what}, ours = 1",
            *(f"{found[data][own]['seconds'] / found[data][ours]['seconds']:.2f}" for data in STREAMS),
        ]
        for what, (ours, own) in SAME.items()
    ]
    first = found["first_call"]
    told = (
        f"The first call of a new own learner compiles the loop: {first['compiled']:.0f} CPU seconds, once; "
        f"in later processes it is loaded from disk: {first['loaded']:.1f} s."
    )
    return f"{grid(header, lines + ratios)}\n\n{told}"


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="only the pages, from what was measured before")
    arguments = parser.parse_args()
    if arguments.table:
        report = found(NAME + ".json")
    else:
        report = {data: measure(data, rows, arguments.repeats) for data, rows in STREAMS.items()}
        report |= {"first_call": first_calls(), **stamp()}
    shown = tables(report)
    print(shown)
    write(NAME, report, f"# Own learners and rules\n\n{(__doc__ or '').split(chr(10) * 2)[2]}\n\n{shown}\n")
    update(TOP / "docs" / "how-to" / "extending.md", lambda page: with_table(page, "speed", shown))


if __name__ == "__main__":
    main()
