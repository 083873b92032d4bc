"""Search for better defaults of `AdaBoostOLM`: candidates on some data sets, the choice among them reported on others.

    python -m benchmarks.studies.study [--data car,letter] [--candidates "start;before"] [--jobs 1] [--table]

Every candidate is run with 30 learners on CHOICE, and only those of FINALISTS with 10, 30 and 100 learners on all sets:
nothing was chosen by looking at HELD_OUT. Rows and seeds are those of `defaults.py`, at most 5,000 rows. Cells are kept
in results/study.jsonl and continued like those of the defaults; the page is results/study.md. It also has what Hedge
would have made of other experts and other weights, which needs no runs of its own: experts do not act on learners.
"""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import edgewise
from benchmarks.accuracy.defaults import measured
from benchmarks.shared import cells
from benchmarks.shared.measuring import RESULTS
from benchmarks.shared.streams import stream
from benchmarks.studies import study_report
from benchmarks.studies.study_report import BEFORE, CHOSEN
from edgewise.evaluation.measures import label_codes
from edgewise.learners.hoeffding_tree import LogUniform

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


def settings_of(candidate: dict[str, Any]) -> dict[str, Any]:
    """The settings of `AdaBoostOLM` that a candidate of candidates.toml stands for."""
    settings = DECLARED["common"] | candidate
    change, names = settings.pop("change", {}), settings.pop("learners")
    learners = []
    for name in names:
        own = DECLARED["learners"][name] | change.get(name, {})
        kind = getattr(edgewise, own["kind"])
        if kind is edgewise.HoeffdingTree:
            own = DECLARED["trees"] | own
        learners.append(kind(**{key: value_of(value) for key, value in own.items() if key != "kind"}))
    return settings | {"weight_range": tuple(settings["weight_range"]), "estimator": learners}


def value_of(value: Any) -> Any:
    if isinstance(value, dict):
        return LogUniform(*value["log_uniform"])
    return None if value == "none" else value


DECLARED = tomllib.loads(Path(__file__).with_name("candidates.toml").read_text())
CANDIDATES = {name: settings_of(candidate) for name, candidate in DECLARED["candidates"].items()}


def run(cell: Cell, rows: int | None) -> cells.Record:
    found = measured(cell.data, cell.learners, cell.seed, CANDIDATES[cell.candidate], rows, ROWS)
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
    model = edgewise.AdaBoostOLM(n_estimators=cell.learners, random_state=cell.seed, **CANDIDATES[CHOSEN])
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
