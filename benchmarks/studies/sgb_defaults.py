"""What the parts of the default gradient booster are worth: RMSE with each changed, on the streams of `sgb_peers.py`.

    python -m benchmarks.studies.sgb_defaults

Writes results/sgb_defaults.json and .md. The defaults were chosen on abalone, price and elevation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import edgewise as ew
from benchmarks.accuracy.sgb_peers import ROWS, rmse, stream
from benchmarks.shared import measuring
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import cpu, write
from edgewise.models.gradient_stream import DEFAULT_TREE, SHRINKAGE

LEARNERS = 50


def variants() -> dict[str, dict[str, Any]]:
    """Settings of the regressor by name."""

    def trees(**changes: Any) -> dict[str, Any]:
        tree = ew.RegressionTree(**DEFAULT_TREE.get_params() | changes)
        return {"estimator": [ew.RidgeRegression(), tree], "learning_rate": [1.0, SHRINKAGE]}

    def ridge(**changes: Any) -> dict[str, Any]:
        return trees() | {"estimator": [ew.RidgeRegression(**changes), DEFAULT_TREE]}

    return {
        "defaults": {},
        "linear learner alone": {"estimator": ew.RidgeRegression(), "n_estimators": 1, "learning_rate": 1.0},
        "trees alone": {"estimator": DEFAULT_TREE, "learning_rate": [1.0, SHRINKAGE]},
        "100 learners": {"n_estimators": 100},
        "10 learners": {"n_estimators": 10},
        "step .05": {"estimator": [ew.RidgeRegression(), DEFAULT_TREE], "learning_rate": [1.0, 0.05]},
        "step .2": {"estimator": [ew.RidgeRegression(), DEFAULT_TREE], "learning_rate": [1.0, 0.2]},
        "no smoothing": trees(smoothing=0.0),
        "smoothing 100": trees(smoothing=100.0),
        "memory without end": trees(memory=np.inf),
        "memory 50": trees(memory=50.0),
        "no least gain": trees(least_gain=0.0),
        "least gain 15": trees(least_gain=15.0),
        "all features": trees(max_features=None),
        "depth 4": trees(max_depth=4),
        "32 bins": trees(bins=32),
        "grace 200": trees(grace_period=200),
        "ridge clip 5": ridge(clip=5.0),
        "ridge regularization 30": ridge(regularization=30.0),
    }


def main() -> None:
    measuring.parser(__doc__).parse_args()
    records = []
    for name in ROWS:
        table, targets = stream(name)
        for variant, settings in variants().items():
            model = ew.StreamingGradientBoostingRegressor(**{"n_estimators": LEARNERS, "random_state": 1} | settings)
            used, guesses = cpu(model.prequential, table, targets)
            errors = guesses - targets
            last = errors[len(errors) - len(errors) // 5 :]
            record = {"data": name, "variant": variant, "all": rmse(errors), "last_fifth": rmse(last), "cpu_s": used}
            records.append(record)
            print(record, flush=True)
    lines = [
        [variant, *(f"{r['all']:.4g} / {r['last_fifth']:.4g}" for r in records if r["variant"] == variant)]
        for variant in variants()
    ]
    page = (
        "# Parts of the default gradient booster\n\nMade by `benchmarks/studies/sgb_defaults.py`: prequential RMSE "
        f"over all rows / over the last fifth, {LEARNERS} learners unless said otherwise.\n\n"
        + grid(["variant", *ROWS], lines)
        + "\n"
    )
    write("sgb_defaults", records, page)


if __name__ == "__main__":
    main()
