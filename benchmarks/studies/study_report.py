"""Cells of `study.py` as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.accuracy.defaults_report import COMPARED, NOISE, Runs, kernels, mean_change, over_sets, span
from benchmarks.shared.cells import newest
from benchmarks.shared.grid import NONE, figure, grid, signed

Record = dict[str, Any]

BEFORE, START = "before", "start"
CHOSEN = "both linear learners by Newton steps, .6 of the features"
EXPERTS = "experts"  # cells that look at ways to follow the experts


def line(record: Record) -> str:
    """A cell as it finishes."""
    name = f"{record['data']:11} {record['candidate']:40} {record['learners']:3} learners, seed {record['seed']}"
    if record["candidate"] == EXPERTS:
        return name
    figures = f"all {record['all']:.3f}  last {record['last_fifth']:.3f}  log-loss {record['log_loss']:.3f}"
    return f"{name}  {figures}  {record['cpu_s']:6.1f} CPU s"


def runs_of(records: Sequence[Record], sets: Sequence[str], candidate: str, learners: int) -> Runs:
    return {
        (r["data"], r["seed"]): r
        for r in records
        if r["candidate"] == candidate and r["learners"] == learners and r["data"] in sets
    }


def study(records: Sequence[Record], choice: Sequence[str], held_out: Sequence[str], few: int) -> str:
    used = newest(records, "data", "candidate", "learners", "seed")
    cells = [record for record in used if record["candidate"] != EXPERTS]
    if not cells:
        return "# Search for better defaults\n\nNo cell has been run yet.\n"
    blocks = [
        "# Search for better defaults",
        f"`AdaBoostOLM` on at most {max(r['rows'] for r in cells):,} rows of each set, seeds {span(cells, 'seed')}. "
        f'"{BEFORE}": the recipe that the library began with; "{START}": with a linear learner that has products of '
        f'columns, and with calibrated probabilities; "{CHOSEN}" became the defaults. Changes are against "{START}" '
        "on the same rows with the same seed, ± "
        "the standard error that comes from the shuffles; bold where they exceed "
        f"{NOISE:g} standard errors.{kernels(cells)}",
        f"## Candidates, {few} learners, on the sets that the choice was made on",
        f"{', '.join(choice)}. Means over sets; with so many comparisons, a few exceed their error by chance.",
        candidates(cells, choice, few),
        "## Change of accuracy over all rows, by data set",
        by_set(cells, choice, few),
        f'## "{BEFORE}" → "{CHOSEN}", on sets that the choice was not made on',
        comparison(cells, held_out),
        "## The same on the sets of the choice",
        comparison(cells, choice),
        "## How many learners",
        f'"{CHOSEN}" on all sets: ratios to the most learners, geometric means over sets.',
        sizes(cells, [*choice, *held_out]),
    ]
    experts = [record for record in used if record["candidate"] == EXPERTS]
    if experts:
        blocks += ["## Other ways to follow the experts", following(experts)]
    return "\n\n".join(blocks) + "\n"


def change(runs: Runs, base: Runs, measure: str) -> str:
    """Mean change of a measure, bold where it is measurable."""
    found = mean_change([(key[0], runs[key][measure] - base[key][measure]) for key in runs if key in base])
    if found.error is None:
        return signed(found.value, 4)
    text = f"{signed(found.value, 4)} ± {figure(found.error, 4)}"
    return f"**{text}**" if abs(found.value) > NOISE * found.error else text


def candidates(cells: Sequence[Record], sets: Sequence[str], few: int) -> str:
    base = runs_of(cells, sets, START, few)
    lines = []
    for name in dict.fromkeys(record["candidate"] for record in cells):
        runs = {key: record for key, record in runs_of(cells, sets, name, few).items() if key in base}
        if not runs:
            continue
        found = list(runs.values())
        levels = [figure(over_sets(found, measure), 4) for measure in COMPARED]
        time = sum(r["cpu_s"] for r in found) / sum(base[key]["cpu_s"] for key in runs)
        changes = [""] * len(COMPARED) if name == START else [change(runs, base, measure) for measure in COMPARED]
        lines.append([name, *levels, f"{time:.2f}", *changes])
    titles = list(COMPARED.values())
    return grid(["candidate", *titles, "time", *(f"change, {title}" for title in titles)], lines)


def by_set(cells: Sequence[Record], sets: Sequence[str], few: int) -> str:
    base = runs_of(cells, sets, START, few)
    lines = []
    for name in dict.fromkeys(record["candidate"] for record in cells):
        runs = runs_of(cells, sets, name, few)
        if name == START or not runs:
            continue
        groups = [
            [runs[key]["all"] - base[key]["all"] for key in runs if key in base and key[0] == data] for data in sets
        ]
        lines.append([name, *(signed(float(np.mean(group))) if group else NONE for group in groups)])
    return grid(["candidate", *sets], lines)


def comparison(cells: Sequence[Record], sets: Sequence[str]) -> str:
    """Before and now, set by set, for every number of learners."""
    lines = []
    counts = sorted({r["learners"] for r in cells if r["candidate"] == BEFORE and r["data"] in sets})
    for n in counts:
        before, now = (runs_of(cells, sets, name, n) for name in (BEFORE, CHOSEN))
        for data in sets:
            old = [record for key, record in before.items() if key[0] == data and key in now]
            new = [record for key, record in now.items() if key[0] == data and key in before]
            if old:
                pairs = [
                    f"{figure(over_sets(old, measure))} → {figure(over_sets(new, measure))}"
                    for measure in (*COMPARED, "calibration_error")
                ]
                time = sum(r["cpu_s"] for r in new) / sum(r["cpu_s"] for r in old)
                lines.append([str(n), data, *pairs, f"{time:.2f}"])
        shared = {key: now[key] for key in now if key in before}
        if shared:
            means = [change(shared, before, measure) for measure in (*COMPARED, "calibration_error")]
            lines.append([str(n), "mean change", *means, ""])
    return grid(["N", "data", *COMPARED.values(), "calibration", "time"], lines)


def sizes(cells: Sequence[Record], sets: Sequence[str]) -> str:
    """What fewer learners cost and save."""
    counts = sorted({r["learners"] for r in cells if r["candidate"] == CHOSEN}, reverse=True)
    measures = {"mistakes": lambda r: 1.0 - r["all"], "log-loss": lambda r: r["log_loss"], "time": lambda r: r["cpu_s"]}
    runs = {n: runs_of(cells, sets, CHOSEN, n) for n in counts}
    lines = []
    for n in counts:
        row = [str(n)]
        for measure in measures.values():
            means = [
                [np.mean([measure(r) for key, r in runs[of].items() if key[0] == data]) for data in sets]
                for of in (n, counts[0])
            ]
            row.append(f"{np.exp(np.mean(np.log(means[0]) - np.log(means[1]))):.2f}")
        lines.append(row)
    return grid(["learners", *measures], lines)


def following(records: Sequence[Record]) -> str:
    """Ways to follow the experts of the same runs: accuracy over all rows and the last fifth."""
    sets = list(dict.fromkeys(record["data"] for record in records))
    lines = []
    for way in records[0]["ways"]:
        row = [way]
        for data in sets:
            for seeds in (range(1, 4), range(1, 7)):
                found = [r["ways"][way] for r in records if r["data"] == data and r["seed"] in seeds]
                row.append(" / ".join(figure(value) for value in np.mean(found, axis=0)))
        lines.append(row)
    for name in dict.fromkeys(name for record in records for name in record["batch"]):
        row = [f"{name}, last fifth only"]
        for data in sets:
            for seeds in (range(1, 4), range(1, 7)):
                found = [r["batch"] for r in records if r["data"] == data and r["seed"] in seeds]
                row.append(figure(float(np.mean([one[name] for one in found]))) if all(found) else NONE)
        lines.append(row)
    intro = (
        f"{records[0]['learners']} learners, all rows; accuracy over all rows / last fifth. Experts do not act on "
        "learners, so that all of this comes from the same runs. In hindsight: the expert with the fewest mistakes "
        "over all rows. Batch models have seen the first four fifths."
    )
    header = ["way", *(f"{data}, seeds {seeds}" for data in sets for seeds in ("1-3", "1-6"))]
    return f"{intro}\n\n{grid(header, lines)}"
