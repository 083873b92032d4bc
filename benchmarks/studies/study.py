"""Search for better defaults of `AdaBoostOLM`: candidates on some data sets, the choice among them reported on others.

    python -m benchmarks.studies.study [--data car,letter] [--candidates "start;before"] [--jobs 1] [--table]

Every candidate is run with 30 learners on CHOICE, and only those of FINALISTS with 10, 30 and 100 learners on all sets:
nothing was chosen by looking at HELD_OUT. Rows and seeds are those of `defaults.py`, at most 5,000 rows. Cells are kept
in results/study.jsonl and continued like those of the defaults; the page is results/study.md. It also has what Hedge
would have made of other experts and other weights, which needs no runs of its own: experts do not act on learners.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy.defaults import changed, measured
from benchmarks.shared import cells
from benchmarks.shared.measuring import RESULTS
from benchmarks.shared.streams import stream
from benchmarks.studies import study_report
from benchmarks.studies.study_report import BEFORE, CHOSEN, START
from edgewise import AdaBoostOLM, HoeffdingTree, SoftmaxRegression
from edgewise.evaluation.measures import label_codes
from edgewise.learners.ranges import LogUniform

CHOICE = ("balance", "car", "nursery", "mushroom", "movement", "isolet-50")
HELD_OUT = ("letter", "mice", "electricity", "pendigits", "satimage", "connect-4", "poker")
ROWS, SEEDS = 5_000, 3
FEW, LEARNERS = 30, (10, 30, 100)
FINALISTS = (BEFORE, CHOSEN)
# The experts are looked at on the two smallest sets, where following the wrong one costs most.
FOLLOWED, FOLLOWED_SEEDS, FOLLOWED_LEARNERS = ("balance", "car"), 6, 100


class Cell(NamedTuple):
    data: str
    candidate: str
    learners: int
    seed: int


# The learners that the search began with, written out: defaults may change after it.
linear, with_products = SoftmaxRegression(), SoftmaxRegression(products=500)
calm, eager = (
    HoeffdingTree(
        grace_period=grace,
        split_confidence=confidence,
        tie_threshold=tie,
        leaf_prediction="mixed",
        nominal_splits="binary",
        warm_start=True,
        importance_scale=scale,
        max_features=features,
    )
    for grace, confidence, tie, scale, features in (
        (200, 0.01, 0.05, 1.0, None),
        (10, 0.1, 0.5, LogUniform(0.5, 4.0), 0.7),
    )
)


def learners_are(*learners: Any) -> dict[str, Any]:
    return {"estimator": list(learners)}


def products_are(**changes: Any) -> dict[str, Any]:
    """The learners with another setting of the linear learner that has products."""
    return learners_are(linear, calm, SoftmaxRegression(**with_products.get_params() | changes), eager)


def eager_are(**changes: Any) -> dict[str, Any]:
    """The learners with other settings of the trees that fill up."""
    return learners_are(linear, calm, with_products, changed(eager, **changes))


def newton_is(*learners: Any, **changes: Any) -> dict[str, Any]:
    """The second search, from what the first one chose: Newton steps for the learner with products; NEWTON is it."""
    newton = SoftmaxRegression(**{"products": 500, "newton": 160, "curvature": 0.1, "reach": None, **changes})
    return {
        "importance_power": 0.7,
        **learners_are(*(newton if learner is NEWTON else learner for learner in learners)),
    }


def both_newton(features: float, first: SoftmaxRegression | None = None, **changes: Any) -> dict[str, Any]:
    """The third search, from what the second one chose: Newton steps for the first linear learner as well."""
    of_columns = {"step": 0.02, "newton": 240, "curvature": 0.25, "reach": None, **changes}
    with_products = SoftmaxRegression(step=0.02, products=500, newton=240, curvature=0.07, reach=8.0)
    trees = changed(most_eager, max_features=features)
    return {
        "importance_power": 0.7,
        **learners_are(first or SoftmaxRegression(**of_columns), with_products, trees),
    }


NEWTON = SoftmaxRegression()
most_eager = changed(eager, tie_threshold=0.9)

# What is tried -> settings that differ from COMMON.
COMMON: dict[str, Any] = {
    "loss": "softmax",
    "vote": "probability",
    "follow": "vote",
    "importance_power": 0.5,
    "normalize_importance": True,
    "weight_range": (0.0, 4.0),
    "first_weight": 0.1,
    "calibrate": True,
    **learners_are(linear, calm, with_products, eager),
}
CANDIDATES: dict[str, dict[str, Any]] = {
    START: {},
    BEFORE: {**learners_are(linear, calm, eager), "calibrate": False},
    "products before the calm tree": learners_are(linear, with_products, calm, eager),
    "products instead of the calm tree": learners_are(linear, with_products, eager),
    "products instead of the linear learner": learners_are(with_products, calm, eager),
    "products first, then the linear learner": learners_are(with_products, linear, calm, eager),
    "one linear learner and eager trees": learners_are(linear, eager),
    "two plain linear learners": learners_are(linear, calm, SoftmaxRegression(), eager),
    "at most 100 products": products_are(products=100),
    "at most 2,000 products": products_are(products=2000),
    "products, step .1": products_are(step=0.1),
    "products, step .4": products_are(step=0.4),
    "first linear learner, step .1": learners_are(SoftmaxRegression(0.1), calm, with_products, eager),
    "first linear learner, step .4": learners_are(SoftmaxRegression(0.4), calm, with_products, eager),
    "importance to the power .3": {"importance_power": 0.3},
    "importance to the power .7": {"importance_power": 0.7},
    "importance to the power 1": {"importance_power": 1.0},
    "square roots, not normalized": {"normalize_importance": False},
    "first weight 0": {"first_weight": 0.0},
    "first weight .5": {"first_weight": 0.5},
    "weights in [0, 2], half the step": {"weight_range": (0.0, 2.0)},
    "weights in [0, 8], twice the step": {"weight_range": (0.0, 8.0)},
    "logistic loss": {"loss": "logistic"},
    "grace period 5": eager_are(grace_period=5),
    "grace period 20": eager_are(grace_period=20),
    "tie threshold .3": eager_are(tie_threshold=0.3),
    "tie threshold .9": eager_are(tie_threshold=0.9),
    "split confidence .5": eager_are(split_confidence=0.5),
    "half of the features": eager_are(max_features=0.5),
    "all features": eager_are(max_features=None),
    "importance scales [1, 8]": eager_are(importance_scale=LogUniform(1.0, 8.0)),
    "importance scales [.25, 8]": eager_are(importance_scale=LogUniform(0.25, 8.0)),
    "naive-Bayes leaves": eager_are(leaf_prediction="naive_bayes"),
    "power .7, tie threshold .9": {"importance_power": 0.7, **eager_are(tie_threshold=0.9)},
    "power .7, tie threshold .9, no calm tree": {
        "importance_power": 0.7,
        **learners_are(linear, with_products, changed(eager, tie_threshold=0.9)),
    },
    "power .7, confidence .5": {"importance_power": 0.7, **eager_are(split_confidence=0.5)},
    "power .7, confidence .5, grace 20": {
        "importance_power": 0.7,
        **eager_are(split_confidence=0.5, grace_period=20),
    },
    "power .7, confidence .5, all features": {
        "importance_power": 0.7,
        **eager_are(split_confidence=0.5, max_features=None),
    },
    "power .7, confidence .5, scales [1, 8]": {
        "importance_power": 0.7,
        **eager_are(split_confidence=0.5, importance_scale=LogUniform(1.0, 8.0)),
    },
    "Newton steps": newton_is(linear, calm, NEWTON, most_eager),
    "Newton steps, curvature .05": newton_is(linear, calm, NEWTON, most_eager, curvature=0.05),
    "Newton steps, curvature .07": newton_is(linear, calm, NEWTON, most_eager, curvature=0.07),
    "Newton steps, curvature .2": newton_is(linear, calm, NEWTON, most_eager, curvature=0.2),
    "Newton steps for 80 inputs": newton_is(linear, calm, NEWTON, most_eager, newton=80),
    "Newton steps for 320 inputs": newton_is(linear, calm, NEWTON, most_eager, newton=320),
    "Newton steps, second": newton_is(linear, NEWTON, calm, most_eager),
    "Newton steps, second, curvature .07": newton_is(linear, NEWTON, calm, most_eager, curvature=0.07),
    "Newton steps, no calm tree": newton_is(linear, NEWTON, most_eager),
    "Newton steps, no calm tree, curvature .07": newton_is(linear, NEWTON, most_eager, curvature=0.07),
    "Newton steps, no calm tree, curvature .07, reach 8": newton_is(
        linear, NEWTON, most_eager, curvature=0.07, reach=8.0
    ),
    **{
        f"Newton steps, no calm tree, curvature {about}": newton_is(
            linear, NEWTON, most_eager, curvature=curvature, reach=reach
        )
        for about, curvature, reach in (
            (".07, reach 5", 0.07, 5.0),
            (".07, reach 12", 0.07, 12.0),
            (".05, reach 8", 0.05, 8.0),
            (".1, reach 8", 0.1, 8.0),
        )
    },
    "Newton steps first, no calm tree": newton_is(NEWTON, linear, most_eager),
    "Newton steps alone before the trees": newton_is(NEWTON, most_eager),
    "Newton steps for columns only": newton_is(linear, calm, NEWTON, most_eager, products=0),
    "Newton steps for 240 inputs, small steps for the rest": both_newton(0.7, first=linear),
    "the same, .6 of the features": both_newton(0.6, first=linear),
    "both linear learners by Newton steps": both_newton(0.7),
    CHOSEN: both_newton(0.6),
    "both by Newton steps, half of the features": both_newton(0.5),
    "both by Newton steps, .6, curvature .1": both_newton(0.6, curvature=0.1),
    "both by Newton steps, .6, curvature .5": both_newton(0.6, curvature=0.5),
    "both by Newton steps, .6, reach 8": both_newton(0.6, reach=8.0),
}


def run(cell: Cell, rows: int | None) -> cells.Record:
    found = measured(cell.data, cell.learners, cell.seed, COMMON | CANDIDATES[cell.candidate], rows, ROWS)
    return {**cell._asdict(), **found}


# -- what Hedge makes of other experts ---------------------------------------------------------------------------------


def followed(labels: np.ndarray, y: np.ndarray, rate: float = 1.0, discount: float = 1.0) -> np.ndarray:
    """Whether the weighted vote of experts is right, row by row; `labels` [rows, experts] is what they say.

    A mistake multiplies a weight by exp(-rate); old mistakes count less by the discount with every row.
    """
    losses, right = np.zeros(labels.shape[1]), np.zeros(len(y), bool)
    for t, said in enumerate(labels):
        weights = np.exp(-rate * (losses - losses.min()))
        right[t] = np.bincount(said, weights, minlength=int(y.max()) + 1).argmax() == y[t]
        losses = discount * losses + (said != y[t])
    return right


def batch(X: np.ndarray, y: np.ndarray, last: int) -> dict[str, float]:
    """Accuracy on the last rows of batch models that have seen all others: what there is to learn."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    regression = LogisticRegression(C=100.0, max_iter=2000)
    models = {
        "batch logistic regression": make_pipeline(StandardScaler(), regression),
        "batch gradient boosting": GradientBoostingClassifier(random_state=0),
        "batch logistic regression with products": make_pipeline(StandardScaler(), PolynomialFeatures(2), regression),
    }
    return {name: float(model.fit(X[:-last], y[:-last]).score(X[-last:], y[-last:])) for name, model in models.items()}


def follow(cell: Cell, rows: int | None) -> cells.Record:
    """Accuracy over all rows and the last fifth, of ways to follow the experts of one run."""
    X, y, classes = stream(cell.data, cell.seed, rows)
    model = AdaBoostOLM(n_estimators=cell.learners, random_state=cell.seed, **COMMON | CANDIDATES[CHOSEN])
    history = model.trace(X, y, classes=classes)
    codes, experts, votes = label_codes(y, classes), history.expert_labels, history.votes
    singles = np.hstack([experts, votes])
    ways = {
        "as it is": history.guesses == codes,
        "rate .1": followed(experts, codes, 0.1),
        "rate .3": followed(experts, codes, 0.3),
        "rate 2": followed(experts, codes, 2.0),
        "mistakes fade, .999 a row": followed(experts, codes, 1.0, 0.999),
        "mistakes fade, .99 a row": followed(experts, codes, 1.0, 0.99),
        "every learner alone is an expert too": followed(singles, codes),
        "the same, and mistakes fade, .99 a row": followed(singles, codes, 1.0, 0.99),
        "the last expert": experts[:, -1] == codes,
        "the best expert in hindsight": experts[:, (experts != codes[:, None]).sum(axis=0).argmin()] == codes,
        "the linear learner alone": votes[:, 0] == codes,
        "the linear learner with products alone": votes[:, 1] == codes,
    }
    last = -(-len(y) // 5)
    return {
        **cell._asdict(),
        "rows": len(y),
        "complete": rows is None,
        "batch": batch(X.values, codes, last) if cell.data == "balance" else {},
        "ways": {name: [float(right.mean()), float(right[-last:].mean())] for name, right in ways.items()},
        **cells.stamp(),
    }


def play(cell: Cell, rows: int | None) -> cells.Record:
    return follow(cell, rows) if cell.candidate == study_report.EXPERTS else run(cell, rows)


def planned(candidates: list[str], sets: list[str], seeds: int) -> list[Cell]:
    """Seed by seed, so that an unfinished run has something of everything."""
    wanted = []
    for seed in range(1, max(seeds, FOLLOWED_SEEDS) + 1):
        for data in sets:
            for candidate in candidates if seed <= seeds else ():
                if data in CHOICE:
                    wanted.append(Cell(data, candidate, FEW, seed))
                if candidate in FINALISTS:
                    wanted += [Cell(data, candidate, n, seed) for n in LEARNERS]
            if data in FOLLOWED:
                wanted.append(Cell(data, study_report.EXPERTS, FOLLOWED_LEARNERS, seed))
    return list(dict.fromkeys(wanted))


def main() -> None:
    parser = cells.options(__doc__, seeds=SEEDS)
    parser.add_argument("--candidates", help=f"some of {';'.join(CANDIDATES)}")
    arguments = parser.parse_args()
    sets = cells.chosen(arguments.data, CHOICE + HELD_OUT, "--data")
    candidates = cells.chosen(arguments.candidates, list(CANDIDATES), "--candidates", ";")
    wanted = planned(candidates, sets, arguments.seeds)
    cells.fill(
        wanted,
        partial(play, rows=arguments.rows),
        RESULTS / "study.jsonl",
        study_report.line,
        arguments,
        ("data", "seed"),
    )
    (RESULTS / "study.md").write_text(study_report.study(cells.complete("study"), CHOICE, HELD_OUT, FEW))


if __name__ == "__main__":
    main()
