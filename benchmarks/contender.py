"""Time one contender on one stream of rows: `python contender.py JOB.json`.

The job names the contender, an .npz file with the rows and a file for the answer; `speed.py` writes it and picks the
Python: the project's own for edgewise, that of `.venv-peers` for the peers. One clock for all: CPU seconds, user and
system, of all threads of the process, with the rows in memory, in the form that the library likes best, beforehand.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# One collector thread, and a young generation so large that collections are rare.
JVM = "-Xmx8g -Xmn1g -Xss10M -XX:+UseSerialGC"

# Short runs are repeated until they took so many CPU seconds together: on a shared machine the same 30 milliseconds
# take half as long again for a second or two.
TIMED_S = 5.0


class Rows(NamedTuple):
    """A stream: nominal columns hold category codes, `n_categories` is 0 for a numeric column, NaN is missing."""

    values: np.ndarray
    labels: np.ndarray
    n_categories: np.ndarray
    n_classes: int


Play = Callable[[], tuple[float, np.ndarray]]  # a fresh model predicts, then learns, every row: CPU seconds, guesses


def edgewise_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
    import edgewise
    from edgewise.data.table import Feature

    features = [
        Feature(f"a{column}", tuple(f"v{value}" for value in range(size)) if size else None)
        for column, size in enumerate(rows.n_categories)
    ]
    table = edgewise.Table(rows.values, features)
    classes = np.arange(rows.n_classes)

    def play() -> tuple[float, np.ndarray]:
        tree = edgewise.HoeffdingTree(
            grace_period=job["grace_period"],
            split_confidence=job["split_confidence"],
            tie_threshold=job["tie_threshold"],
            leaf_prediction="adaptive",
        )
        settings = {"estimator": tree, "n_estimators": job["trees"], "random_state": job["seed"]}
        settings |= job["options"]
        if name == "AdaBoostOLM":  # Algorithm 2 on the same trees, each voting for its likeliest label
            model = edgewise.AdaBoostOLM.preset("paper", **{"vote": "argmax"} | settings)
        else:
            model = getattr(edgewise, name)(**settings)
        before = time.process_time()
        guesses = model.prequential(table, rows.labels, classes=classes)
        return time.process_time() - before, guesses

    return play


def write_arff(
    path: Path, values: np.ndarray, n_categories: np.ndarray, answer: tuple[str, str], answers: Sequence[str]
) -> None:
    """Rows as an ARFF file. `answer` is the name and kind of the last column, `answers` its cells."""

    def cell(column: int, value: float) -> str:
        if np.isnan(value):
            return "?"
        return f"v{int(value)}" if n_categories[column] else repr(float(value))

    lines = ["@relation rows"]
    for column, size in enumerate(n_categories):
        kind = "{" + ",".join(f"v{value}" for value in range(size)) + "}" if size else "numeric"
        lines.append(f"@attribute a{column} {kind}")
    lines += [f"@attribute {answer[0]} {answer[1]}", "@data"]
    for row, last in zip(values, answers, strict=True):
        lines.append(",".join([*(cell(column, value) for column, value in enumerate(row)), last]))
    path.write_text("\n".join(lines) + "\n")


def capymoa_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
    """MOA's loop and learners, wholly inside Java (`optimise=True`), over instances that Java holds in memory."""
    os.environ["CAPYMOA_JVM_ARGS"] = JVM
    import capymoa.classifier
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import ARFFStream
    from com.yahoo.labs.samoa.instances import Instances
    from moa.streams import CachedInstancesStream

    arff = Path(job["rows"]).with_suffix(".arff")
    classes = "{" + ",".join(f"c{label}" for label in range(rows.n_classes)) + "}"
    write_arff(arff, rows.values, rows.n_categories, ("class", classes), [f"c{label}" for label in rows.labels])
    stream = ARFFStream(arff)
    read = stream.moa_stream
    held = Instances(read.getHeader(), 0)
    while read.hasMoreInstances():
        held.add(read.nextInstance().getData())
    stream.moa_stream = CachedInstancesStream(held)
    tree = (
        f"trees.HoeffdingTree -g {job['grace_period']} -c {job['split_confidence']} -t {job['tie_threshold']}"
        " -l NBAdaptive"
    )

    def play() -> tuple[float, np.ndarray]:
        learner = getattr(capymoa.classifier, name)(
            schema=stream.get_schema(), random_seed=job["seed"], base_learner=tree, boosting_iterations=job["trees"]
        )
        before = time.process_time()
        results = prequential_evaluation(stream, learner, optimise=True, store_predictions=True)
        used = time.process_time() - before
        return used, np.asarray(results.predictions()).astype(np.int64)

    return play


def river_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
    from river import ensemble, tree

    nominal = [f"a{column}" for column, size in enumerate(rows.n_categories) if size]
    examples = [
        {
            f"a{column}": f"v{int(value)}" if rows.n_categories[column] else float(value)
            for column, value in enumerate(values)
            if not np.isnan(value)
        }
        for values in rows.values
    ]
    labels = rows.labels.tolist()

    def play() -> tuple[float, np.ndarray]:
        model = getattr(ensemble, name)(
            tree.HoeffdingTreeClassifier(
                grace_period=job["grace_period"],
                delta=job["split_confidence"],
                tau=job["tie_threshold"],
                leaf_prediction="nba",
                nominal_attributes=nominal,
            ),
            n_models=job["trees"],
            seed=job["seed"],
        )
        guesses = np.full(len(labels), -1, dtype=np.int64)
        before = time.process_time()
        for t, (x, y) in enumerate(zip(examples, labels, strict=True)):
            guess = model.predict_one(x)
            if guess is not None:
                guesses[t] = guess
            model.learn_one(x, y)
        return time.process_time() - before, guesses

    return play


def versions(library: str) -> dict[str, str]:
    if library == "capymoa":
        import jpype

        return {"CapyMOA": version("capymoa"), "Java": str(jpype.java.lang.System.getProperty("java.version"))}
    if library == "edgewise":
        return {name: version(name) for name in ("edgewise", "numba", "numpy")}
    return {library: version(library)}


def main(path: str) -> None:
    job = json.loads(Path(path).read_text())
    with np.load(job["rows"]) as held:
        rows = Rows(held["values"], held["labels"], held["n_categories"], int(held["n_classes"]))
    library, _, name = job["contender"].partition(".")
    # JPype runs Python's garbage collector on a thread of its own after every collection in Java: that nearly doubles
    # the CPU time of CapyMOA and has nothing to do with learning. Nothing here makes cycles.
    gc.disable()
    if library == "edgewise":
        play = edgewise_play(name, rows, job)
    elif library == "capymoa":
        play = capymoa_play(name, rows, job)
    else:
        play = river_play(name, rows, job)
    warmup = []
    while sum(warmup) < job["warmup_s"]:
        warmup.append(play()[0])
    runs: list[Any] = []
    while len(runs) < job["repeats"] or sum(used for used, _ in runs) < TIMED_S:
        runs.append(play())
    answer = {
        "warmup_cpu_s": warmup,
        "cpu_s": [used for used, _ in runs],
        "guesses": runs[0][1].tolist(),
        "versions": versions(library),
    }
    Path(job["answer"]).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
