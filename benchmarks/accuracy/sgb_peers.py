"""Streaming gradient boosting beside river, CapyMOA and batch boosting: prequential RMSE and CPU time.

    python -m benchmarks.accuracy.sgb_peers [--data abalone,price] [--contenders edgewise.50,...] [--again] [--table]

Streams (rows are the first of the stream; `seed 1` is the order `numpy.random.default_rng(1).permutation`):

| stream    | target                                   | from                                     | rows            |
|-----------|------------------------------------------|------------------------------------------|-----------------|
| abalone   | rings                                    | the 8 other columns                      | 4,177, seed 1   |
| price     | New South Wales price, next half-hour    | the 8 columns of this one                | 15,000, in order|
| elevation | elevation of a covertype cell            | the 53 other columns without the class   | 8,000, seed 1   |
| demand    | New South Wales demand, next half-hour   | the 8 columns of this one                | 10,000, in order|
| pen       | last y of a pen trajectory (pendigits)   | the 15 other coordinates                 | 10,000, seed 1  |

Defaults were chosen on the first three; demand and pen were not looked at before. Results go to
results/sgb_peers.jsonl as they come, and the page results/sgb_peers.md is made from them.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import edgewise as ew
from benchmarks.shared import cells
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import PEERS, RESULTS, in_process
from benchmarks.shared.streams import save_rows

CELLS = RESULTS / "sgb_peers.jsonl"

OURS = ("edgewise.10", "edgewise.trees1", "edgewise.trees10", "edgewise.50", "edgewise.100")
CAPYMOA = tuple(
    f"capymoa.{name}"
    for name in ("StreamingGradientBoostedRegression", "AdaptiveRandomForestRegressor", "SOKNL", "FIMTDD", "NoChange")
)
RIVER = tuple(
    f"river.{name}{how}"
    for name in ("HoeffdingTreeRegressor", "EWARegressor", "ARFRegressor")
    for how in ("", "-scaled")
)
BATCH = "sklearn.HistGradientBoostingRegressor"
CONTENDERS = (*OURS, BATCH, *CAPYMOA, *RIVER)
ROWS = {"abalone": 4177, "price": 15000, "elevation": 8000, "demand": 10000, "pen": 10000}


class Cell(NamedTuple):
    contender: str
    data: str


def stream(name: str) -> tuple[ew.Table, np.ndarray]:
    """The rows of a stream and their targets."""
    if name == "abalone":
        table, y = ew.datasets.load("abalone")
        order = ew.datasets.order(len(y), 1)
        return table[order], y[order].astype(float)
    if name in ("price", "demand"):
        table, _ = ew.datasets.load("electricity")
        column = table.feature_names.index("nswprice" if name == "price" else "nswdemand")
        return table[: ROWS[name]], table.values[1 : ROWS[name] + 1, column].copy()
    set_name, target = ("covertype", "Elevation") if name == "elevation" else ("pendigits", "y8")
    table, _ = ew.datasets.load(set_name)
    order = ew.datasets.order(len(table), 1, ROWS[name])
    column = table.feature_names.index(target)
    kept = [j for j in range(table.shape[1]) if j != column]
    return ew.Table(table.values[order][:, kept], [table.features[j] for j in kept]), table.values[order, column]


def rmse(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def run(cell: Cell, peers: str = str(PEERS)) -> cells.Record:
    table, targets = stream(cell.data)
    last = len(targets) - len(targets) // 5
    record: cells.Record = {**cell._asdict(), "rows": len(targets), "complete": True}
    if cell.contender == BATCH:
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(random_state=1).fit(table.values[:last], targets[:last])
        errors = model.predict(table.values[last:]) - targets[last:]
        return record | {"all": None, "last_fifth": rmse(errors), "cpu_s": None}
    ours = cell.contender in OURS
    with tempfile.TemporaryDirectory() as folder:
        rows = save_rows(Path(folder) / "rows.npz", table, targets)
        job = {"contender": cell.contender, "rows": str(rows), "repeats": 3 if ours else 1}
        # Kernels are compiled once: nobody's time.
        job["warmup_s"] = 1e-9 if ours else 0.0
        python = sys.executable if ours else peers
        told = in_process("benchmarks.accuracy.sgb_contender", job, Path(folder), python)
    errors = np.asarray(told["guesses"]) - targets
    return record | {"all": rmse(errors), "last_fifth": rmse(errors[last:]), "cpu_s": min(told["cpu_s"])}


def page() -> str:
    """The results as Markdown: a row for each contender, RMSE over all rows / over the last fifth, rows per second."""
    found = {(cell["contender"], cell["data"]): cell for cell in cells.known(CELLS)}
    names = [name for name in ROWS if any(key[1] == name for key in found)]

    def scores(contender: str, name: str) -> str:
        cell = found.get((contender, name))
        if cell is None:
            return ""
        both = ["" if cell[part] is None else f"{cell[part]:.4g}" for part in ("all", "last_fifth")]
        return " / ".join(both)

    def speed(contender: str, name: str) -> str:
        cell = found.get((contender, name))
        return "" if cell is None or cell["cpu_s"] is None else f"{cell['rows'] / cell['cpu_s']:,.0f}"

    shown = [contender for contender in CONTENDERS if any(key[0] == contender for key in found)]
    parts = [
        "# Streaming gradient boosting beside its peers",
        "Made by `benchmarks/accuracy/sgb_peers.py`, which says what the streams are. Prequential RMSE over all rows / "
        "over the last fifth; batch boosting is trained on the first four fifths and tested on the last. Defaults of "
        "every library; `edgewise.N` is `StreamingGradientBoostingRegressor` with N learners, `treesN` without its "
        "linear learner; `-scaled` standardizes features and target on the way, which river leaves to its users. Our "
        "defaults were chosen on abalone, price and elevation; demand and pen were held out.",
        grid(["contender", *names], [[contender, *(scores(contender, name) for name in names)] for contender in shown]),
        "Rows per CPU second, each contender in a process of its own, ours the best of 3 runs:",
        grid(["contender", *names], [[contender, *(speed(contender, name) for name in names)] for contender in shown]),
    ]
    for ours, theirs, told in (
        ("edgewise.trees10", "river.ARFRegressor", "10 trees here against river's ARFRegressor with 10 trees"),
        ("edgewise.trees1", "river.HoeffdingTreeRegressor", "one tree here against river's HoeffdingTreeRegressor"),
    ):
        ratios = [
            f"{name} {found[theirs, name]['cpu_s'] / found[ours, name]['cpu_s']:,.0f}x"
            for name in names
            if (ours, name) in found and (theirs, name) in found
        ]
        if ratios:
            parts.append(f"CPU time, {told}: {', '.join(ratios)}.")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = cells.options(__doc__, jobs=False, rows=False)
    parser.add_argument("--contenders", help=f"some of {','.join(CONTENDERS)}")
    parser.add_argument("--peers", default=str(PEERS), help="the Python that has river and CapyMOA")
    arguments = parser.parse_args()
    contenders = cells.chosen(arguments.contenders, CONTENDERS, "--contenders")
    planned = [Cell(who, data) for data in cells.chosen(arguments.data, tuple(ROWS), "--data") for who in contenders]
    cells.fill(planned, partial(run, peers=arguments.peers), CELLS, str, arguments)
    CELLS.with_suffix(".md").write_text(page())


if __name__ == "__main__":
    main()
