"""Columns of 0 and 1 as numbers and as categories -> results/binary_columns.md and docs/how-to/own-data.md

    python benchmarks/binary_columns.py

Rows are the first 20,000 in the order of seed 1, as in `speed.py`; every row is predicted, then learned.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import speed
from grid import figure, grid, with_table

import edgewise as ew
from edgewise.evaluation.measures import last_fifth

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "how-to" / "own-data.md"
RESULTS = HERE / "results" / "binary_columns.json"
STREAMS, ROWS, REPEATS = ("covertype", "a9a"), 20_000, 3
TREE = {name: speed.TREES[name] for name in ("grace_period", "split_confidence", "tie_threshold")}
N: dict[str, Any] = {"n_estimators": speed.TREES["trees"], "random_state": speed.TREES["seed"]}


def plain(leaf: str, **settings: Any) -> Any:
    tree = ew.HoeffdingTree(leaf_prediction=leaf, **TREE)
    return ew.AdaBoostOLM.preset("paper", estimator=tree, vote="argmax", **settings)


MODELS: dict[str, Callable[[], Any]] = {
    "one tree, naive-Bayes leaves": lambda: plain("naive_bayes", n_estimators=1, random_state=N["random_state"]),
    "AdaBoostOLM, 100 trees with adaptive leaves": lambda: plain("adaptive", **N),
    "AdaBoostOLM()": lambda: ew.AdaBoostOLM(**N),
}


def measure(data: str, make: Callable[[], Any], nominal: bool) -> dict[str, Any]:
    table, y = speed.load(data)
    order = np.random.default_rng(1).permutation(len(y))[:ROWS]
    table, labels = table[order], np.asarray(y)[order]
    if nominal:
        table = ew.as_table(table, categorical_features=table.binary_columns)
    make().prequential(table[:20], labels[:20], classes=np.unique(y))  # kernels are there
    used = []
    for _ in range(REPEATS):
        model, before = make(), time.process_time()
        hits = model.prequential(table, labels, classes=np.unique(y)) == labels
        used.append(time.process_time() - before)
    columns = sum(feature.categories is not None for feature in table.features)
    return {"all": float(hits.mean()), "last_fifth": last_fifth(hits), "cpu_s": min(used), "nominal": columns}


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
    return with_table(page, "binary", table_of(json.loads(RESULTS.read_text())["cells"]))


def main() -> None:
    cells = []
    for data in STREAMS:
        for name, make in MODELS.items():
            numbers, categories = (measure(data, make, nominal) for nominal in (False, True))
            cells.append({"data": data, "model": name, "numbers": numbers, "categories": categories})
            print(json.dumps(cells[-1]), flush=True)
    RESULTS.write_text(json.dumps({"machine": speed.machine(), "cells": cells}, indent=1) + "\n")
    columns = " and ".join(f"{cell['categories']['nominal']} of {cell['data']}" for cell in cells[:: len(MODELS)])
    RESULTS.with_suffix(".md").write_text(
        f"# Columns of 0 and 1\n\nAs numbers and as categories: {columns}. {ROWS:,} shuffled rows, predicted, then "
        f"learned; CPU time is the best of {REPEATS}. Made by `benchmarks/binary_columns.py`.\n\n{table_of(cells)}\n"
    )
    PAGE.write_text(filled(PAGE.read_text()))


if __name__ == "__main__":
    main()
