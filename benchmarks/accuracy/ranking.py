"""Rankers with every edge and other settings, beside peers on the same streams; the paper's table is reproduced apart.

    python -m benchmarks.accuracy.ranking [--data yeast] [--models AdaOLMR,"BMR hinge"] [--order file] [--peers]

As in the paper: the training rows, then the test rows; every row is ranked, then learned; the loss counts on the test
rows only. Order "file" is that of the authors' code, where a seed is the random state of the learners alone. But both
parts of scene are sorted by class, so that who trusts the latest labels is right by the order alone: in order
"shuffled" a seed also shuffles the rows of each part. A cell is one order, data set, model and seed; finished cells are
appended to results/ranking.jsonl, and a cell found there is not run again.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import edgewise
from benchmarks.accuracy import ranking_report
from benchmarks.shared import cells
from benchmarks.shared.measuring import PEERS, RESULTS, cpu, in_process
from benchmarks.shared.streams import load
from edgewise.evaluation.ranking_measures import measure_ranking

CELLS = RESULTS / "ranking.jsonl"
DATA = ("emotions", "scene", "yeast", "mediamill_reduced")
TREES = 100

# Footnote 4 of the paper.
FEW_LABELS, MANY_LABELS = (0.2, 0.1, 0.01, 0.001), (0.05, 0.01, 0.005, 0.001)

# The preset of OnlineBMR draws the trees' factors on importances from (6, 20); the authors' code has (3, 10).
BY_FACTORS = {
    f"BMR {low}-{high}": edgewise.HoeffdingTree.preset("paper", importance_scale=(low, high), max_features=20)
    for low, high in ((3, 10), (10, 30))
}

# A model -> the class, its preset, its settings, whether it is tried with every edge.
MODELS: dict[str, tuple[str, str | None, dict[str, Any], bool]] = {
    "AdaOLMR": ("AdaOLMR", "paper", {}, False),
    "BMR hinge": ("OnlineBMR", "paper", {}, True),
    **{name: ("OnlineBMR", "paper", {"estimator": tree}, True) for name, tree in BY_FACTORS.items()},
    "BMR rank": ("OnlineBMR", "paper", {"loss": "rank", "vote": "label"}, True),
    "AdaOLMR defaults": ("AdaOLMR", None, {}, False),
    "BMR defaults": ("OnlineBMR", None, {}, False),
}
# Models with one edge, for --models.
WITH_EDGE = tuple(
    f"{model} {edge:g}"
    for model, (*_, takes_edge) in MODELS.items()
    for edge in dict.fromkeys(FEW_LABELS + MANY_LABELS)
    if takes_edge
)
# Peers -> seeds. Those that learn in batch see the training rows only, all at once: their order means nothing.
LINEAR = {"river BR logistic": 3, "river chain logistic": 3}
BATCH = {"batch BR logistic": 1, "batch chains logistic": 1, "batch random forest": 3}
PEER_SEEDS = {**LINEAR, "river BR tree": 1, "river chain tree": 1, "river BR forest": 1, "sklearn BR SGD": 1, **BATCH}
TOO_SLOW = {("mediamill_reduced", "river BR forest")}  # 101 forests of 10 trees in Python
ORDERS = ("file", "shuffled")


class Cell(NamedTuple):
    """An edge is part of the model's name: "BMR hinge 0.01"."""

    order: str
    data: str
    model: str
    seed: int


def run(cell: Cell) -> cells.Record:
    table, Y = load(cell.data)
    train = edgewise.datasets.info(cell.data).train_rows
    assert train is not None
    if cell.order == "shuffled":
        rng = np.random.default_rng(cell.seed)
        order = np.concatenate([rng.permutation(train), train + rng.permutation(len(Y) - train)])
        table, Y = table[order], Y[order]
    scores, used, versions = peer(cell, table, Y, train) if cell.model in PEER_SEEDS else ours(cell, table, Y)
    on_test = measure_ranking(Y[train:], scores[train:])._asdict()
    return {
        **cell._asdict(),
        "rows": len(Y),
        "complete": True,
        **{name: on_test[name] for name in ("rank_loss", "one_error", "coverage", "average_precision")},
        "cpu_s": used,
        "versions": versions,
        **cells.stamp(),
    }


def ours(cell: Cell, table: Any, Y: np.ndarray) -> tuple[np.ndarray, float, dict[str, str]]:
    def model() -> Any:
        name, _, edge = cell.model.rpartition(" ")
        kind, preset, settings, takes_edge = MODELS.get(cell.model) or MODELS[name]
        settings = settings | {"n_estimators": TREES, "random_state": cell.seed}
        if takes_edge:
            settings["edge"] = float(edge)
        estimator = getattr(edgewise, kind)
        return estimator(**settings) if preset is None else estimator.preset(preset, **settings)

    model().prequential(table[:10], Y[:10])  # compiles the kernels or loads them from disk
    used, scores = cpu(model().prequential, table, Y)
    return scores, used, {}


def peer(cell: Cell, table: Any, Y: np.ndarray, train: int) -> tuple[np.ndarray, float, dict[str, str]]:
    """One of `ranking_peer.py`, in a process with the Python of .venv-peers."""
    with tempfile.TemporaryDirectory() as folder:
        rows, scores = (Path(folder) / name for name in ("rows.npz", "scores.npy"))
        np.savez(rows, X=table.values, Y=Y, train=train)
        job = {"model": cell.model, "seed": cell.seed, "rows": str(rows), "scores": str(scores)}
        told = in_process("benchmarks.accuracy.ranking_peer", job, Path(folder), PEERS)
        return np.load(scores), told["cpu_s"], told["versions"]


def plan(orders: list[str], data: list[str], models: list[str], seeds: int) -> list[Cell]:
    """Seed by seed, so that an unfinished run has something of everything."""
    planned = []
    for seed, order, name, model in product(range(1, seeds + 1), orders, data, models):
        edges = MANY_LABELS if edgewise.datasets.info(name).classes > 50 else FEW_LABELS
        if model in PEER_SEEDS:
            # In file order, linear models are enough to show what the order does; they know no chance.
            wanted = PEER_SEEDS[model] if order == "shuffled" else int(model in LINEAR)
            if seed <= wanted and (name, model) not in TOO_SLOW:
                planned.append(Cell(order, name, model, seed))
        elif model in MODELS and not MODELS[model][3]:
            planned.append(Cell(order, name, model, seed))
        else:
            wanted = [f"{model} {edge:g}" for edge in edges] if model in MODELS else [model]
            planned += [Cell(order, name, each, seed) for each in wanted]
    return planned


def main() -> None:
    parser = cells.options(__doc__, seeds=10, rows=False)
    parser.add_argument("--models", help=f"some of {','.join((*MODELS, *PEER_SEEDS))}; an edge may follow")
    parser.add_argument("--order", help=f"some of {','.join(ORDERS)}")
    parser.add_argument("--peers", action="store_true", help="run the peers instead of ours (needs .venv-peers)")
    arguments = parser.parse_args()

    models = list(PEER_SEEDS if arguments.peers else MODELS)
    if arguments.models:
        models = cells.chosen(arguments.models, (*MODELS, *WITH_EDGE, *PEER_SEEDS), "--models")
    orders = cells.chosen(arguments.order, ORDERS, "--order")
    planned = plan(orders, cells.chosen(arguments.data, DATA, "--data"), models, arguments.seeds)
    if any(model in PEER_SEEDS for model in models) and not (PEERS.exists() or arguments.table):
        raise SystemExit("no .venv-peers: `make bench` makes it, or EDGEWISE_PEERS names another")
    cells.fill(planned, run, CELLS, ranking_report.line, arguments)
    records = cells.known(CELLS)
    CELLS.with_suffix(".md").write_text(ranking_report.page(records))
    ranking_report.draw(ranking_report.summarized(records))


if __name__ == "__main__":
    main()
