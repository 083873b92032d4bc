"""Ours beside the streaming classifiers of CapyMOA, river and Vowpal Wabbit, on the same rows, in one run.

    python -m benchmarks.accuracy.peers [--orders shuffled,file] [--data car,letter] [--models olm,vw] [--table]

Needs the extra `peers` and Java. `shuffled`: nine data sets in the order `default_rng(1).permutation(n)[:20000]`;
`file`: streams in their own order. Every row is predicted, then learned. A cell that would take longer than --limit
CPU seconds with 100 learners is run with 30, or given up if that is too long as well; its record says so. Cells are
appended to results/peers.jsonl, and a cell found there is not run again. Page: results/peers.md.
"""

from __future__ import annotations

import time
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from benchmarks.accuracy import peers_report
from benchmarks.accuracy.peers_report import FILE, SHUFFLED
from benchmarks.shared import cells
from benchmarks.shared.measuring import RESULTS
from benchmarks.shared.streams import load
from benchmarks.shared.streams import stream as shuffled_stream
from edgewise.evaluation.measures import calibration_error, label_codes, last_fifth, log_loss
from edgewise.evaluation.models import KNOWN, ModelSpec
from edgewise.evaluation.prequential import prepare_run, warm_up

PATH = RESULTS / "peers.jsonl"
SEED = 1
# Cheapest first: an unfinished run has most of the table.
SETS = {
    SHUFFLED: ("balance", "car", "mice", "nursery", "mushroom", "electricity", "movement", "isolet-50", "letter"),
    FILE: ("electricity", "covertype", "kdd99"),
}
MOST_ROWS = {SHUFFLED: 20_000, FILE: 100_000}
WHOLE = ("electricity", "kdd99")  # in their own order, all rows
FORESTS = ("capymoa-lb", "capymoa-srp", "capymoa-arf")
RIVER = ("river-arf", "river-srp", "river-lb")
OURS = {SHUFFLED: (("olm", 10), ("olm", 30), ("olm", 100)), FILE: (("olm-drift", 30), ("olm-drift", 100))}
PEERS = {
    SHUFFLED: ("vw", "vw-pairs", "capymoa-tree", "capymoa-oza", "capymoa-smooth", *FORESTS, "capymoa-sgbt", *RIVER),
    FILE: FORESTS,
}
# Pure Python: hours on the larger sets, and the same algorithms as CapyMOA's.
RIVER_SETS = ("balance", "car")
LEARNERS, FEWER = 100, 30
LIMITS = {SHUFFLED: 360.0, FILE: 600.0}
TRIED = 8.0  # CPU seconds after which a cell's time is foreseen
CHUNK = 1000
LIBRARIES = {"capymoa": ("capymoa", "jpype1"), "river": ("river",), "vw": ("vowpalwabbit",)}


class Cell(NamedTuple):
    order: str
    data: str
    model: str
    learners: int
    seed: int


class TooLong(Exception):
    """A cell that would take so many seconds."""


def stream(cell: Cell, rows: int | None) -> tuple[Any, np.ndarray, np.ndarray]:
    table, labels = load(cell.data)
    classes = np.unique(labels)
    most = None if cell.order == FILE and cell.data in WHOLE else MOST_ROWS[cell.order]
    stop = min(count for count in (most, rows, len(labels)) if count is not None)
    if cell.order == FILE:
        return table[:stop], labels[:stop], classes
    return *shuffled_stream(cell.data, cell.seed, stop)[:2], classes


def play(model: Any, X: Any, y: np.ndarray, classes: np.ndarray, limit: float) -> tuple[float, np.ndarray, np.ndarray]:
    """CPU seconds, guesses and probabilities of one model; rows are made ready while the clock stands."""
    warm_up(model, X, y, classes=classes)
    used, guesses, probabilities = 0.0, [], []
    for start in range(0, len(y), CHUNK):
        part = slice(start, start + CHUNK)
        go = prepare_run(model, X[part], y[part], classes)
        before = time.process_time()
        answers = go()
        used += time.process_time() - before
        guesses.append(answers.guesses)
        probabilities.append(answers.probabilities)
        foreseen = used * len(y) / min(start + CHUNK, len(y))
        if used > TRIED and foreseen > limit:
            raise TooLong(foreseen)
    return used, np.concatenate(guesses), np.concatenate(probabilities)


def run(cell: Cell, rows: int | None, limit: float | None) -> cells.Record:
    X, y, classes = stream(cell, rows)
    record: cells.Record = {
        **cell._asdict(),
        "rows": len(y),
        "complete": len(y) == len(stream(cell, None)[1]),
        "library_versions": versions(cell.model),
        **cells.stamp(),
    }
    allowed = LIMITS[cell.order] if limit is None else limit
    foreseen = {}
    for learners in dict.fromkeys((cell.learners, min(cell.learners, FEWER))):
        model = ModelSpec.parse(cell.model).make(learners, cell.seed)
        try:
            used, guesses, p = play(model, X, y, classes, allowed)
        except TooLong as error:
            foreseen[str(learners)] = round(error.args[0])
            continue
        except Exception as error:  # of the library, mostly in Java: it says something about the peer
            if KNOWN[cell.model].library is None:
                raise
            return record | {"foreseen_s": foreseen, "used_learners": None, "failed": type(error).__name__}
        codes, hits = label_codes(y, classes), guesses == y
        return record | {
            "foreseen_s": foreseen,
            "used_learners": learners if KNOWN[cell.model].sized else 1,
            "all": float(hits.mean()),
            "last_fifth": last_fifth(hits),
            "log_loss": log_loss(p, codes),
            "calibration_error": calibration_error(p, codes),
            "cpu_s": used,
            "bytes": getattr(model, "nbytes", None),
        }
    return record | {"foreseen_s": foreseen, "used_learners": None}


def versions(model: str) -> dict[str, str]:
    found = {}
    for name in LIBRARIES.get(model.partition("-")[0], ()):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def planned(orders: list[str], data: str | None, models: str | None) -> list[Cell]:
    """Ours first, then the peers, cheap sets before dear ones; SGBT and river, the slowest, last."""
    found = []
    for order in orders:
        for name in SETS[order]:
            entries = [*OURS[order], *((peer, LEARNERS) for peer in PEERS[order])]
            found += [
                Cell(order, name, model, learners, SEED)
                for model, learners in entries
                if (data is None or name in data.split(","))
                and (models is None or model in models.split(","))
                and (model not in RIVER or name in RIVER_SETS)
            ]
    late = ("capymoa-sgbt", *RIVER)
    return sorted(found, key=lambda cell: late.index(cell.model) + 1 if cell.model in late else 0)


def main() -> None:
    parser = cells.options(__doc__, jobs=False)  # in one process: Java stays warm
    parser.add_argument("--orders", default=f"{SHUFFLED},{FILE}")
    parser.add_argument("--models", help="some of the models")
    parser.add_argument("--limit", type=float, help=f"CPU seconds of a cell ({LIMITS})")
    arguments = parser.parse_args()
    wanted = planned(cells.chosen(arguments.orders, (SHUFFLED, FILE), "--orders"), arguments.data, arguments.models)
    one = partial(run, rows=arguments.rows, limit=arguments.limit)
    cells.fill(wanted, one, PATH, peers_report.line, arguments)
    PATH.with_suffix(".md").write_text(peers_report.page(cells.complete("peers")))


if __name__ == "__main__":
    main()
