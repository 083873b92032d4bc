"""Time one contender on one stream of rows: `python -m benchmarks.shared.contender JOB.json`.

The job names the contender, an .npz file with the rows and a file for the answer; `measuring.in_process` writes it and
picks the Python: the project's own for edgewise, that of `.venv-peers`, which has no edgewise, for the peers. One clock
for all: CPU seconds, user and system, of all threads of the process, with the rows in memory, in the form that the
library likes best, beforehand.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shared.measuring import cpu

# One collector thread, and a young generation so large that collections are rare.
JVM = "-Xmx8g -Xmn1g -Xss10M -XX:+UseSerialGC"


class Rows(NamedTuple):
    """A stream: nominal columns hold category codes, `n_categories` is 0 for a numeric column, NaN is missing.

    Answers are codes of classes, or real targets where there are no classes.
    """

    values: np.ndarray
    answers: np.ndarray
    n_categories: np.ndarray
    n_classes: int

    @classmethod
    def read(cls, path: str | Path) -> Rows:
        """The rows of a file of `streams.save_rows`."""
        with np.load(path) as held:
            return cls(held["values"], held["answers"], held["n_categories"], int(held["n_classes"]))

    def table(self) -> Any:
        """The examples as an `edgewise.Table`."""
        import edgewise
        from edgewise.data.table import Feature

        features = [
            Feature(f"a{column}", tuple(f"v{value}" for value in range(size)) if size else None)
            for column, size in enumerate(self.n_categories)
        ]
        return edgewise.Table(self.values, features)


Play = Callable[[], tuple[float, np.ndarray]]  # a fresh model predicts, then learns, every row: CPU seconds, guesses


def edgewise_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
    import edgewise
    from benchmarks.shared.streams import N, booster, tree

    table, classes = rows.table(), np.arange(rows.n_classes)

    def play() -> tuple[float, np.ndarray]:
        if name == "AdaBoostOLM":
            model = booster(**job["options"])
        else:
            model = getattr(edgewise, name)(**{"estimator": tree()} | N | job["options"])
        return cpu(model.prequential, table, rows.answers, classes=classes)

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
    write_arff(arff, rows.values, rows.n_categories, ("class", classes), [f"c{label}" for label in rows.answers])
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
        used, results = cpu(prequential_evaluation, stream, learner, optimise=True, store_predictions=True)
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
    labels = rows.answers.tolist()

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

        def learn() -> np.ndarray:
            guesses = np.full(len(labels), -1, dtype=np.int64)
            for t, (x, y) in enumerate(zip(examples, labels, strict=True)):
                guess = model.predict_one(x)
                if guess is not None:
                    guesses[t] = guess
                model.learn_one(x, y)
            return guesses

        return cpu(learn)

    return play


def versions(library: str) -> dict[str, str]:
    if library == "capymoa":
        import jpype

        return {"CapyMOA": version("capymoa"), "Java": str(jpype.java.lang.System.getProperty("java.version"))}
    if library == "edgewise":
        return {name: version(name) for name in ("edgewise", "numba", "numpy")}
    return {library: version(library)}


PLAYS = {"edgewise": edgewise_play, "capymoa": capymoa_play, "river": river_play}


def main(path: str, plays: dict[str, Callable[[str, Rows, dict[str, Any]], Play]] = PLAYS) -> None:
    """Do the job of a file: untimed runs until they took `warmup_s`, then `repeats` runs or more, until `timed_s`."""
    job = json.loads(Path(path).read_text())
    library, _, name = job["contender"].partition(".")
    # JPype runs Python's garbage collector on a thread of its own after every collection in Java: that nearly doubles
    # the CPU time of CapyMOA and has nothing to do with learning. Nothing here makes cycles.
    gc.disable()
    play = plays[library](name, Rows.read(job["rows"]), job)
    warmup: list[float] = []
    while sum(warmup) < job.get("warmup_s", 0.0):
        warmup.append(play()[0])
    runs: list[Any] = []
    while len(runs) < job["repeats"] or sum(used for used, _ in runs) < job.get("timed_s", 0.0):
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
