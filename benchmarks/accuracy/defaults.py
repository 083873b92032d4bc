"""What the defaults are worth: plain `AdaBoostOLM(n_estimators=N)` on nine data sets, and without each of its parts.

    python -m benchmarks.accuracy.defaults [--learners 10,30,100] [--data car,letter] [--seeds 3] [--table]
    python -m benchmarks.accuracy.defaults --same-order [--data ...] [--seeds 3] [--table]
    python -m benchmarks.accuracy.defaults --ablate [--parts "hard votes,no linear learners"] [--data ...] [--table]

The seed sets the order of the rows, `numpy.random.default_rng(seed).permutation(n)[:20000]` (5,000 rows with --ablate),
and the random state; with --same-order, for 100 learners, the random state alone: the rows keep the order of seed 1,
which the prototype and the peers had. Finished cells are appended to results/defaults.jsonl, same_order.jsonl or
ablation.jsonl, and a cell found there is not run again: an interrupted run continues. Pages: results/defaults.md and
results/ablation.md.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy import defaults_report
from benchmarks.accuracy.defaults_report import NOTHING
from benchmarks.shared import cells
from benchmarks.shared.measuring import RESULTS, cpu
from benchmarks.shared.streams import load, stream
from edgewise import AdaBoostOLM, HoeffdingTree, SoftmaxRegression
from edgewise.evaluation.measures import calibration_error, label_codes, log_loss

DATA = ("balance", "car", "nursery", "mushroom", "movement", "isolet-50", "letter", "mice", "electricity")
LEARNERS = (10, 30, 100)


class Measurement(NamedTuple):
    """Which cells belong together: their file, the rows of a stream, how many seeds, and the order if it is fixed."""

    name: str
    rows: int
    seeds: int
    order: int | None = None


DEFAULTS = Measurement("defaults", 20_000, 3)
SAME_ORDER = Measurement("same_order", 20_000, 3, order=1)
ABLATION = Measurement("ablation", 5_000, 2)
ABLATION_LEARNERS = 30


class Cell(NamedTuple):
    data: str
    off: str  # the part of the recipe that is switched off
    learners: int
    seed: int


def recipe() -> list[Any]:
    """The default learners: those that are no trees, and eager trees last."""
    return list(AdaBoostOLM()._default_estimator())


def trees_with(**changes: Any) -> dict[str, Any]:
    """The default learners with other settings of all trees."""
    return {"estimator": [changed(m, **changes) if isinstance(m, HoeffdingTree) else m for m in recipe()]}


def eager_with(**changes: Any) -> dict[str, Any]:
    """The default learners with other settings of the trees that fill up."""
    return {"estimator": [*recipe()[:-1], changed(recipe()[-1], **changes)]}


def changed(tree: HoeffdingTree, **changes: Any) -> HoeffdingTree:
    return HoeffdingTree(**tree.get_params() | changes)


def steps_by_adagrad(learner: Any) -> Any:
    if not isinstance(learner, SoftmaxRegression):
        return learner
    # AdaGrad's own default step: the learners' is for the few inputs that Newton steps leave over
    return SoftmaxRegression(**learner.get_params() | {"newton": 0, "step": SoftmaxRegression().step})


SCALES = recipe()[-1].importance_scale

# What is switched off -> settings of AdaBoostOLM that differ from the defaults.
PARTS: dict[str, dict[str, Any]] = {
    NOTHING: {},
    "calm trees instead of eager": eager_with(grace_period=200, split_confidence=0.01, tie_threshold=0.05),
    "majority leaves": trees_with(leaf_prediction="majority"),
    "cold start": trees_with(warm_start=False),
    "multiway nominal splits": trees_with(nominal_splits="multiway"),
    # So small a power makes all importances equal; normalized, they are 1.
    "unweighted trees": {"importance_power": 1e-9},
    "raw importance": {"importance_power": 1.0, "normalize_importance": False},
    # The middle of the range on its logarithmic scale: only the spread goes, not the weight.
    "one importance scale": eager_with(importance_scale=math.sqrt(SCALES.low * SCALES.high)),
    "no linear learners": {"estimator": [m for m in recipe() if isinstance(m, HoeffdingTree)]},
    "no products of columns": {"estimator": [m for m in recipe() if not getattr(m, "products", 0)]},
    "no Newton steps": {"estimator": [steps_by_adagrad(m) for m in recipe()]},
    "hard votes": {"vote": "argmax"},
    "the paper's F and start": {"weight_range": (-2.0, 2.0), "first_weight": 0.0},
    "all features": eager_with(max_features=None),
    "logistic loss": {"loss": "logistic"},
    "follow a drawn expert": {"follow": "draw"},
    "follow the best expert": {"follow": "best"},
    "plain softmax of scores": {"calibrate": False},
}


def run(cell: Cell, rows: int | None, most: int, order: int | None) -> cells.Record:
    """One cell of the defaults or of their parts."""
    return {**cell._asdict(), **measured(cell.data, cell.learners, cell.seed, PARTS[cell.off], rows, most, order)}


def measured(
    data: str,
    learners: int,
    seed: int,
    changes: dict[str, Any],
    rows: int | None,
    most: int,
    order: int | None = None,
) -> cells.Record:
    """Accuracy over all rows and over the last fifth, measures of the probabilities, and CPU seconds."""
    X, y, classes = stream(data, order or seed, min(rows or most, most))
    settings = {"n_estimators": learners, "random_state": seed, **changes}
    AdaBoostOLM(**settings).prequential_proba(X[:10], y[:10], classes=classes)  # compiles the kernels or loads them
    model = AdaBoostOLM(**settings)
    # Cutting a stream changes no result. The model counts the mistakes of its guesses, which are the experts' vote and
    # not always the label with the largest probability.
    last = -(-len(y) // 5)
    early_s, early = cpu(model.prequential_proba, X[:-last], y[:-last], classes=classes)
    early_mistakes = model.mistakes_
    late_s, late = cpu(model.prequential_proba, X[-last:], y[-last:])
    p, codes = np.concatenate([early, late]), label_codes(y, classes)
    return {
        "rows": len(y),
        "complete": len(y) == min(most, len(load(data)[1])),
        "all": 1.0 - model.mistakes_ / len(y),
        "last_fifth": 1.0 - (model.mistakes_ - early_mistakes) / last,
        "log_loss": log_loss(p, codes),
        "calibration_error": calibration_error(p, codes),
        "cpu_s": early_s + late_s,
        **cells.stamp(),
    }


def main() -> None:
    parser = cells.options(__doc__)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--ablate", action="store_true", help="30 learners without each part, instead of the defaults")
    kinds.add_argument("--same-order", action="store_true", help="rows in the order of seed 1, whatever the seed")
    parser.add_argument("--seeds", type=int, help=f"shuffles ({DEFAULTS.seeds}; with --ablate {ABLATION.seeds})")
    parser.add_argument("--learners", help=f"some of {','.join(map(str, LEARNERS))}; for the defaults alone")
    parser.add_argument("--parts", help=f"with --ablate, some of {','.join(PARTS)}")
    arguments = parser.parse_args()
    if arguments.learners and (arguments.ablate or arguments.same_order):
        parser.error("--learners goes without --ablate and --same-order")
    if arguments.parts and not arguments.ablate:
        parser.error("--parts goes with --ablate")

    measurement = ABLATION if arguments.ablate else SAME_ORDER if arguments.same_order else DEFAULTS
    if arguments.ablate:
        models = [(part, ABLATION_LEARNERS) for part in cells.chosen(arguments.parts, list(PARTS), "--parts")]
    else:
        most = str(LEARNERS[-1]) if arguments.same_order else arguments.learners
        models = [(NOTHING, int(n)) for n in cells.chosen(most, [str(n) for n in LEARNERS], "--learners")]
    sets = cells.chosen(arguments.data, DATA, "--data")
    # Seed by seed, so that an unfinished run has something of everything.
    seeds = range(1, (arguments.seeds or measurement.seeds) + 1)
    planned = [Cell(data, *model, seed) for seed in seeds for data in sets for model in models]
    play = partial(run, rows=arguments.rows, most=measurement.rows, order=measurement.order)
    cells.fill(planned, play, RESULTS / f"{measurement.name}.jsonl", defaults_report.line, arguments, ("data", "seed"))
    if arguments.ablate:
        (RESULTS / "ablation.md").write_text(defaults_report.ablation(cells.complete(ABLATION.name)))
    else:
        page = defaults_report.defaults(*(cells.complete(each.name) for each in (DEFAULTS, SAME_ORDER)))
        (RESULTS / "defaults.md").write_text(page)


if __name__ == "__main__":
    main()
