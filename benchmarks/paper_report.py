"""Cells of `paper_tables.py` beside the paper's values (jung2017.csv, Tables 3 to 5), as a page of Markdown."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edgewise.evaluation.racing import Mean, mean

PAPER = Path(__file__).with_name("jung2017.csv")
BELOW = 0.02  # a cell further than this below the paper is marked
MARK = "▼"


def paper_values() -> dict[tuple[str, str], dict[str, float]]:
    with PAPER.open(newline="") as file:
        return {
            (row["data"], row["algorithm"]): {name: float(row[name]) for name in ("last_fifth", "all", "seconds")}
            for row in csv.DictReader(file)
        }


def newest(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One record for each data set, algorithm and seed: the last one written."""
    return list({(cell["data"], cell["algorithm"], cell["seed"]): cell for cell in cells}.values())


def line(cell: dict[str, Any]) -> str:
    """A cell as it finishes."""
    return (
        f"{cell['data']:11} {cell['algorithm']:8} seed {cell['seed']}  "
        f"last {cell['last_fifth']:.3f}  all {cell['all']:.3f}  {cell['cpu_s']:8.1f} CPU s"
    )


def accuracy(ours: Mean, paper: float) -> str:
    """Three cells of the table: ours with its standard error, the paper's, the difference."""
    error = f" ± {ours.error:.3f}" if ours.error is not None else ""
    difference = ours.value - paper
    mark = f" {MARK}" if difference < -BELOW else ""
    return f"{ours.value:.3f}{error} | {paper:.3f} | {difference:+.3f}{mark}"


def markdown(cells: Sequence[dict[str, Any]], paper_names: Mapping[str, str]) -> str:
    """`paper_names` maps our names of data sets to the paper's, in the order of the table."""
    published = paper_values()
    used = newest(cells)
    lines, marked = [], 0
    for data, paper_name in paper_names.items():
        for algorithm in dict.fromkeys(name for _, name in published):
            group = [cell for cell in used if (cell["data"], cell["algorithm"]) == (data, algorithm)]
            if not group:
                continue
            paper = published[paper_name, algorithm]
            last, whole, seconds = (mean([c[name] for c in group]) for name in ("last_fifth", "all", "cpu_s"))
            measured = f"{accuracy(last, paper['last_fifth'])} | {accuracy(whole, paper['all'])}"
            marked += measured.count(MARK)
            lines.append(
                f"| {data} | {algorithm} | {measured} | {seconds.value:.1f} | {paper['seconds']:.0f} | {len(group)} |"
            )
    kernels = {(cell["version"], cell["kernels"]) for cell in used}
    mixed = f" The cells come from {len(kernels)} versions of the kernels." if len(kernels) > 1 else ""
    return "\n".join(
        [
            "# Tables 3, 4 and 5 of Jung, Goetz, Tewari 2017, and ours\n",
            f"Preset `paper`, 100 trees (OvA, AdaOVA: 100 per class). Mean over seeds ± standard error. {MARK} marks a "
            f"value more than {BELOW} below the paper's: {marked} of {2 * len(lines)}.{mixed} DT is the best of 100 "
            "trees in hindsight, chosen separately for each measure; its time is that of all 100. Ours are CPU "
            "seconds of one thread of this machine, the paper's are of a 2.27 GHz Xeon E7-4860.\n",
            "| data | algorithm | last fifth, ours | paper | difference | all rows, ours | paper | difference "
            "| s, ours | s, paper | seeds |",
            "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
            *lines,
            "",
        ]
    )
