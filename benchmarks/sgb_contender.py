"""One contender of `sgb_peers.py` over one stream of real targets, in a process of its own: guesses and CPU seconds.

    python benchmarks/sgb_contender.py JOB.json

Every contender predicts a row, then learns it; rows are in memory before the clock starts. Also holds how each library
is called.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from contender import write_arff

JVM = "-Xmx4g -Xss10M -XX:+UseSerialGC"
Play = Callable[[], tuple[float, np.ndarray]]


class Rows(NamedTuple):
    """A stream: nominal columns hold category codes, `n_categories` is 0 for a numeric column."""

    values: np.ndarray
    targets: np.ndarray
    n_categories: np.ndarray


def edgewise_play(name: str, rows: Rows, folder: Path) -> Play:
    """`name` is the number of learners, or trees and their number, as in "trees10"."""
    import edgewise as ew
    from edgewise.data.table import Feature
    from edgewise.models.gradient_stream import DEFAULT_TREE

    features = [
        Feature(f"a{column}", tuple(f"v{value}" for value in range(size)) if size else None)
        for column, size in enumerate(rows.n_categories)
    ]
    table = ew.Table(rows.values, features)

    def play() -> tuple[float, np.ndarray]:
        trees = name.startswith("trees")
        model = ew.StreamingGradientBoostingRegressor(
            DEFAULT_TREE if trees else None,
            int(name.removeprefix("trees")),
            learning_rate=(1.0, 0.1) if trees else None,  # the defaults' steps, with a tree in the place of the ridge
            random_state=1,
        )
        before = time.process_time()
        guesses = model.prequential(table, rows.targets)
        return time.process_time() - before, guesses

    return play


def capymoa_play(name: str, rows: Rows, folder: Path) -> Play:
    """The learner with CapyMOA's defaults. (In its own loop in Java the tree regressors said 0 throughout.)"""
    os.environ["CAPYMOA_JVM_ARGS"] = JVM
    import capymoa.regressor
    from capymoa.stream import ARFFStream

    targets = [repr(float(target)) for target in rows.targets]
    write_arff(folder / "rows.arff", rows.values, rows.n_categories, ("target", "numeric"), targets)

    def play() -> tuple[float, np.ndarray]:
        stream = ARFFStream(folder / "rows.arff")
        learner = getattr(capymoa.regressor, name)(schema=stream.get_schema())
        instances = []
        while stream.has_more_instances():
            instances.append(stream.next_instance())
        guesses = np.zeros(len(instances))
        before = time.process_time()
        for t, instance in enumerate(instances):
            guesses[t] = learner.predict(instance) or 0.0
            learner.train(instance)
        return time.process_time() - before, guesses

    return play


def river_play(name: str, rows: Rows, folder: Path) -> Play:
    """River's defaults; EWA over linear models of several step sizes and a Hoeffding tree.

    "scaled" in the name: features and target are standardized on the way, which river leaves to its users.

    Nominal columns are one-hot: the linear models in the leaves of river's trees take no text.
    """
    from river import ensemble, forest, linear_model, optim, preprocessing, tree

    def linear(step: float) -> Any:
        return preprocessing.StandardScaler() | linear_model.LinearRegression(optim.SGD(step), intercept_lr=step)

    makers: dict[str, Callable[[], Any]] = {
        "HoeffdingTreeRegressor": lambda: tree.HoeffdingTreeRegressor(),
        "ARFRegressor": lambda: forest.ARFRegressor(n_models=10, seed=1),
        "EWARegressor": lambda: ensemble.EWARegressor(
            [linear(0.001), linear(0.01), linear(0.05), tree.HoeffdingTreeRegressor()]
        ),
    }
    examples = []
    for values in rows.values:
        x = {}
        for column, (value, size) in enumerate(zip(values.tolist(), rows.n_categories, strict=True)):
            if size:
                x |= {f"a{column}={code}": float(value == code) for code in range(size)}
            elif not np.isnan(value):
                x[f"a{column}"] = value
        examples.append(x)
    targets = rows.targets.tolist()

    def play() -> tuple[float, np.ndarray]:
        model = makers[name.removesuffix("-scaled")]()
        if name.endswith("-scaled"):
            model = preprocessing.TargetStandardScaler(regressor=preprocessing.StandardScaler() | model)
        guesses = np.zeros(len(targets))
        before = time.process_time()
        for t, (x, y) in enumerate(zip(examples, targets, strict=True)):
            guesses[t] = model.predict_one(x) or 0.0
            model.learn_one(x, y)
        return time.process_time() - before, guesses

    return play


LIBRARIES = {"edgewise": edgewise_play, "capymoa": capymoa_play, "river": river_play}


def main(path: str) -> None:
    job = json.loads(Path(path).read_text())
    with np.load(job["rows"]) as held:
        rows = Rows(held["values"], held["targets"], held["n_categories"])
    library, _, name = job["contender"].partition(".")
    gc.disable()  # JPype would run it after every collection in Java; nothing here makes cycles
    play = LIBRARIES[library](name, rows, Path(path).parent)
    runs = [play() for _ in range(job["repeats"])]
    answer = {"cpu_s": [used for used, _ in runs], "guesses": runs[0][1].tolist()}
    Path(job["answer"]).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])
