"""Columns of 0 and 1 as numbers and as categories -> results/binary_columns.md and docs/how-to/own-data.md

    python -m benchmarks.accuracy.binary_columns

Rows are the first 20,000 in the order of seed 1, as in `boosters.py`; every row is predicted, then learned.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import edgewise as ew
from benchmarks.shared import measuring
from benchmarks.shared.grid import figure, grid, update, with_table
from benchmarks.shared.measuring import TOP, best_cpu, found, machine, write
from benchmarks.shared.streams import N, booster, stream
from edgewise.evaluation.measures import last_fifth

NAME = "binary_columns"
PAGE = TOP / "docs" / "how-to" / "own-data.md"
STREAMS, ROWS, REPEATS = ("covertype", "a9a"), 20_000, 3


MODELS: dict[str, Callable[[], Any]] = {
    "one tree, naive-Bayes leaves": lambda: booster("naive_bayes", n_estimators=1),
    "AdaBoostOLM, 100 trees with adaptive leaves": booster,
    "AdaBoostOLM()": lambda: ew.AdaBoostOLM(**N),
}


def measured(data: str, make: Callable[[], Any], nominal: bool) -> dict[str, Any]:
    table, labels, classes = stream(data, 1, ROWS)
    if nominal:
        table = ew.as_table(table, categorical_features=table.binary_columns)
    hits = make().prequential(table, labels, classes=classes) == labels  # and the kernels are there
    used = best_cpu(lambda: make().prequential(table, labels, classes=classes), REPEATS)
    columns = sum(feature.categories is not None for feature in table.features)
    return {"all": float(hits.mean()), "last_fifth": last_fifth(hits), "cpu_s": used, "nominal": columns}


def table_of(cells: list[dict[str, Any]]) -> str:
    lines = []
    for cell in cells:
        numbers, categories = cell["numbers"], cell["categories"]
        accuracies = [f"{figure(way['all'])} / {figure(way['last_fifth'])}" for way in (numbers, categories)]
        ratio = f"{categories['cpu_s'] / numbers['cpu_s']:.2f}"
        lines.append([f"{cell['data']}, {cell['model']}", *accuracies, ratio])
    return grid(["accuracy, all rows / last fifth", "as numbers", "as categories", "CPU time, ratio"], lines)


def filled(page: str) -> str:
    """The page with the table of the results."""
    return with_table(page, "binary", table_of(found(f"{NAME}.json")["cells"]))


def main() -> None:
    measuring.parser(__doc__).parse_args()
    cells = []
    for data in STREAMS:
        for name, make in MODELS.items():
            numbers, categories = (measured(data, make, nominal) for nominal in (False, True))
            cells.append({"data": data, "model": name, "numbers": numbers, "categories": categories})
            print(json.dumps(cells[-1]), flush=True)
    columns = " and ".join(f"{cell['categories']['nominal']} of {cell['data']}" for cell in cells[:: len(MODELS)])
    page = (
        f"# Columns of 0 and 1\n\nAs numbers and as categories: {columns}. {ROWS:,} shuffled rows, predicted, then "
        f"learned; CPU time is the best of {REPEATS}. Made by `benchmarks/accuracy/binary_columns.py`.\n\n"
        f"{table_of(cells)}\n"
    )
    write(NAME, {"machine": machine(), "cells": cells}, page)
    update(PAGE, filled)


if __name__ == "__main__":
    main()
