"""Cells of `defaults.py` as pages of Markdown: the defaults beside the best peer and the prototype, and the recipe
without each part."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import peers_report
from benchmarks.shared import cells
from benchmarks.shared.grid import NONE, figure, grid, signed, values, with_error
from edgewise.evaluation.racing import Mean, mean

Record = dict[str, Any]

REFERENCES = Path(__file__).with_name("references.csv")
PEER, PROTOTYPE = "best peer", "prototype"
BELOW = 0.005  # a cell further than this below the prototype is marked
MARK = "▼"
NOTHING = "nothing"  # what is switched off in the full recipe
ACCURACIES = {"all": "all rows", "last_fifth": "last fifth"}


def references() -> dict[tuple[str, str], dict[str, float]]:
    """(data, who) -> accuracies, on the rows in the order of seed 1: the prototype's on record, and the best peer's."""
    with REFERENCES.open(newline="") as file:
        recorded = {
            (row["data"], row["who"]): {name: float(row[name]) for name in ACCURACIES} for row in csv.DictReader(file)
        }
    return recorded | {(data, PEER): found for data, found in peers_report.best_peers().items()}


def newest(records: Sequence[Record]) -> list[Record]:
    """One record for each cell: the last one written."""
    return cells.newest(records, "data", "off", "learners", "seed")


def line(record: Record) -> str:
    """A cell as it finishes."""
    off = "" if record["off"] == NOTHING else f"{record['off']:28}"
    return (
        f"{record['data']:11} {off} {record['learners']:3} learners, seed {record['seed']}  all {record['all']:.3f}  "
        f"last {record['last_fifth']:.3f}  log-loss {record['log_loss']:.3f}  {record['cpu_s']:6.1f} CPU s"
    )


def kernels(records: Sequence[Record]) -> str:
    """A warning, as the end of a paragraph, if the cells were not all run with the same code."""
    warning = cells.versions(records)
    return f" {warning}" if warning else ""


def span(records: Sequence[Record], name: str) -> str:
    """The values of an entry, as "1 to 3"."""
    found = sorted({record[name] for record in records})
    return f"{found[0]} to {found[-1]}" if len(found) > 1 else str(found[0])


# -- the defaults ------------------------------------------------------------------------------------------------------


def defaults(records: Sequence[Record], same_order: Sequence[Record]) -> str:
    """The page: `records` in an order for each seed, `same_order` all in that of seed 1."""
    used = newest(records)
    if not used:
        return "# The defaults\n\nNo cell has been run yet.\n"
    sets = list(dict.fromkeys(record["data"] for record in used))
    counts = sorted({record["learners"] for record in used})
    blocks = [
        "# The defaults: `AdaBoostOLM(n_estimators=N)`",
        "One setting for all data. Every row is predicted, then learned; rows in the order "
        f"`numpy.random.default_rng(seed).permutation(n)[:20000]`. Mean over seeds {span(used, 'seed')} ± standard "
        f"error. Best peer: the best of CapyMOA, river and Vowpal Wabbit by that measure ([all of them](peers.md)). "
        "The prototype (100 learners) was recorded before the library. Both are on the order of seed 1 only; the last "
        f"columns therefore compare the same rows, and so does the last table. {MARK} marks ours more than {BELOW:g} "
        f"below the prototype.{kernels(used)}",
    ]
    for measure, title in ACCURACIES.items():
        blocks += [f"## Accuracy, {title}", accuracies(used, measure, sets, counts)]
    blocks += [
        "## Probabilities and time",
        "Log-loss in nats and expected calibration error of the likeliest label (10 bins), of the probabilities "
        "predicted before each row was learned; CPU seconds of one thread, predicting them included; means over seeds.",
        probabilities(used, sets, counts),
    ]
    if same_order:
        fixed = newest(same_order)
        blocks += [
            "## The same rows as the prototype",
            f"{span(fixed, 'learners')} learners, every set in the order of seed 1; random states "
            f"{span(fixed, 'seed')}, mean ± standard error.{kernels(fixed)}",
            on_the_same_rows(fixed),
        ]
    return "\n\n".join(blocks) + "\n"


def accuracies(used: Sequence[Record], measure: str, sets: Sequence[str], counts: Sequence[int]) -> str:
    reference, most = references(), counts[-1]
    lines: list[list[str]] = []
    differences: dict[str, list[float]] = {PEER: [], PROTOTYPE: []}
    for data in sets:
        others = {who: reference[data, who][measure] for who in (PEER, PROTOTYPE) if (data, who) in reference}
        prototype = others.get(PROTOTYPE, -math.inf)
        found = [values(used, measure, data=data, learners=n) for n in counts]
        own = [ours(mean(group), prototype) if group else NONE for group in found]
        first = values(used, measure, data=data, learners=most, seed=1)
        compared, same_rows = [NONE] * 2, [NONE] * 2
        for place, who in enumerate((PEER, PROTOTYPE)):
            other = others.get(who)
            if other is None:
                continue
            if found[-1]:
                differences[who].append(mean(found[-1]).value - other)
                compared[place] = signed(differences[who][-1])
            if first:
                same_rows[place] = signed(first[0] - other)
        shown = [figure(others[who]) if who in others else NONE for who in (PEER, PROTOTYPE)]
        lines.append([data, *shown, *own, *compared, *same_rows])
    means = [signed(float(np.mean(found))) if found else NONE for found in differences.values()]
    lines.append(["mean", *[""] * (2 + len(counts)), *means, "", ""])
    own = [f"N = {n}" for n in counts]
    less = [f"{most} less peer", f"{most} less prototype"]
    return grid(["data", PEER, PROTOTYPE, *own, *less, *(f"{title}, seed 1" for title in less)], lines)


def on_the_same_rows(used: Sequence[Record]) -> str:
    reference = references()
    lines = []
    for data in dict.fromkeys(record["data"] for record in used):
        lines.append([data])
        for who in (PEER, PROTOTYPE):
            found = reference.get((data, who))
            lines[-1].append(" / ".join(figure(found[name]) for name in ACCURACIES) if found else NONE)
        for name in ACCURACIES:
            prototype = reference.get((data, PROTOTYPE), {}).get(name, -math.inf)
            lines[-1].append(ours(mean(values(used, name, data=data)), prototype))
    return grid(["data", PEER, PROTOTYPE, *(f"ours, {title}" for title in ACCURACIES.values())], lines)


def ours(found: Mean, prototype: float) -> str:
    mark = f" {MARK}" if found.value - prototype < -BELOW else ""
    return with_error(found) + mark


def probabilities(used: Sequence[Record], sets: Sequence[str], counts: Sequence[int]) -> str:
    measures = {"log_loss": ("log-loss", figure), "calibration_error": ("calibration", figure), "cpu_s": ("s", seconds)}
    lines = []
    for data in sets:
        row = [data, f"{max(values(used, 'rows', data=data)):,}"]
        for measure, (_, shown) in measures.items():
            for n in counts:
                group = values(used, measure, data=data, learners=n)
                row.append(shown(mean(group).value) if group else NONE)
        lines.append(row)
    return grid(["data", "rows", *(f"{title}, {n}" for title, _ in measures.values() for n in counts)], lines)


def seconds(value: float) -> str:
    return f"{value:.1f}"


# -- the recipe without each part --------------------------------------------------------------------------------------

COMPARED = {**ACCURACIES, "log_loss": "log-loss"}
BETTER = {"all": 1, "last_fifth": 1, "log_loss": -1}  # whether more is better
NOISE = 2.0  # standard errors that a difference must exceed to be called measurable


Runs = dict[tuple[str, int], Record]  # by data set and seed


def ablation(records: Sequence[Record]) -> str:
    used = newest(records)
    by_part: dict[str, Runs] = {}
    for record in used:
        by_part.setdefault(record["off"], {})[record["data"], record["seed"]] = record
    full = by_part.pop(NOTHING, {})
    if not full:
        return "# The recipe without each of its parts\n\nThe full recipe has not been run yet.\n"
    sets = list(dict.fromkeys(data for data, _ in full))
    compared = {part: {key: runs[key] for key in runs if key in full} for part, runs in by_part.items()}
    compared = {part: runs for part, runs in compared.items() if runs}
    header = ["switched off", "all rows", "last fifth", "calibration", "time"]
    header += [*(f"change, {title}" for title in COMPARED.values()), "the part gains in", "and costs in"]
    lines = [[NOTHING, *levels(full, full), *[""] * (len(COMPARED) + 2)]]
    lines += [[part, *levels(runs, full), *changes(runs, full)] for part, runs in compared.items()]
    by_set = []
    for part, runs in compared.items():
        row = [[runs[key]["all"] - full[key]["all"] for key in runs if key[0] == data] for data in sets]
        by_set.append([part, *(signed(mean(group).value) if group else NONE for group in row)])
    intro = (
        f"`AdaBoostOLM` with {span(used, 'learners')} learners and one part switched off at a time; means over "
        f"{len(sets)} data sets of at most {max(record['rows'] for record in used):,} rows and seeds "
        f"{span(used, 'seed')}. Changes are against the full recipe on the same rows with the same seed, ± the "
        "standard error that comes from the shuffles. A part gains (costs) where switching it off makes things worse "
        f"(better) by more than {NOISE:g} standard errors; of {len(compared) * len(COMPARED)} comparisons, a few do so "
        f"by chance. Time: CPU time over that of the full recipe.{kernels(used)}"
    )
    by_set_title = "## Change of accuracy over all rows, by data set"
    blocks = ["# The recipe without each of its parts", intro, grid(header, lines)]
    return "\n\n".join([*blocks, by_set_title, grid(["switched off", *sets], by_set)]) + "\n"


def levels(runs: Runs, full: Runs) -> list[str]:
    """Accuracies and calibration error of a part's runs, and their time over that of the full recipe."""
    records = list(runs.values())
    means = [over_sets(records, name) for name in (*ACCURACIES, "calibration_error")]
    time = sum(record["cpu_s"] for record in records) / sum(full[key]["cpu_s"] for key in runs)
    return [*map(figure, means), f"{time:.2f}"]


def changes(runs: Runs, full: Runs) -> list[str]:
    """What switching a part off changes, and so what the part gains and costs."""
    shown: list[str] = []
    gains: list[str] = []
    costs: list[str] = []
    for measure, title in COMPARED.items():
        change = mean_change([(key[0], runs[key][measure] - full[key][measure]) for key in runs])
        shown.append(signed(change.value, 4) + ("" if change.error is None else f" ± {figure(change.error, 4)}"))
        if change.error is not None and abs(change.value) > NOISE * change.error:
            (gains if change.value * BETTER[measure] < 0 else costs).append(title)
    return [*shown, ", ".join(gains) or "nothing", ", ".join(costs)]


def over_sets(records: Sequence[Record], measure: str) -> float:
    """Mean over data sets of the means over seeds."""
    sets = dict.fromkeys(record["data"] for record in records)
    return float(np.mean([mean(values(records, measure, data=data)).value for data in sets]))


def mean_change(changes: Sequence[tuple[str, float]]) -> Mean:
    """Mean over data sets of the mean changes over seeds. The sets are fixed: only the seeds make the error."""
    groups = [
        [change for data, change in changes if data == name] for name in dict.fromkeys(name for name, _ in changes)
    ]
    means = [mean(group) for group in groups]
    value = float(np.mean([found.value for found in means]))
    if any(found.error is None for found in means):
        return Mean(value, None)
    return Mean(value, math.sqrt(sum(found.error**2 for found in means if found.error is not None)) / len(means))
