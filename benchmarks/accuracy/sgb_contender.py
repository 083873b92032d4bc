"""One contender of `sgb_peers.py` over one stream of real targets, in a process of its own: guesses and CPU seconds.

    python -m benchmarks.accuracy.sgb_contender JOB.json

How each library is called; the clock and the rows are those of `benchmarks.shared.contender`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.contender import Play, Rows, main, write_arff
from benchmarks.shared.measuring import cpu

JVM = "-Xmx4g -Xss10M -XX:+UseSerialGC"


def edgewise_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
    """`name` is the number of learners, or trees and their number, as in "trees10"."""
    import edgewise as ew
    from edgewise.models.gradient_stream import DEFAULT_TREE

    table = rows.table()

    def play() -> tuple[float, np.ndarray]:
        trees = name.startswith("trees")
        model = ew.StreamingGradientBoostingRegressor(
            DEFAULT_TREE if trees else None,
            int(name.removeprefix("trees")),
            learning_rate=(1.0, 0.1) if trees else None,  # the defaults' steps, with a tree in the place of the ridge
            random_state=1,
        )
        return cpu(model.prequential, table, rows.answers)

    return play


def capymoa_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
    """The learner with CapyMOA's defaults. (In its own loop in Java the tree regressors said 0 throughout.)"""
    os.environ["CAPYMOA_JVM_ARGS"] = JVM
    import capymoa.regressor
    from capymoa.stream import ARFFStream

    arff = Path(job["rows"]).with_suffix(".arff")
    targets = [repr(float(target)) for target in rows.answers]
    write_arff(arff, rows.values, rows.n_categories, ("target", "numeric"), targets)

    def play() -> tuple[float, np.ndarray]:
        stream = ARFFStream(arff)
        learner = getattr(capymoa.regressor, name)(schema=stream.get_schema())
        instances = []
        while stream.has_more_instances():
            instances.append(stream.next_instance())

        def learn() -> np.ndarray:
            guesses = np.zeros(len(instances))
            for t, instance in enumerate(instances):
                guesses[t] = learner.predict(instance) or 0.0
                learner.train(instance)
            return guesses

        return cpu(learn)

    return play


def river_play(name: str, rows: Rows, job: dict[str, Any]) -> Play:
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
    targets = rows.answers.tolist()

    def play() -> tuple[float, np.ndarray]:
        model = makers[name.removesuffix("-scaled")]()
        if name.endswith("-scaled"):
            model = preprocessing.TargetStandardScaler(regressor=preprocessing.StandardScaler() | model)

        def learn() -> np.ndarray:
            guesses = np.zeros(len(targets))
            for t, (x, y) in enumerate(zip(examples, targets, strict=True)):
                guesses[t] = model.predict_one(x) or 0.0
                model.learn_one(x, y)
            return guesses

        return cpu(learn)

    return play


if __name__ == "__main__":
    main(sys.argv[1], {"edgewise": edgewise_play, "capymoa": capymoa_play, "river": river_play})
