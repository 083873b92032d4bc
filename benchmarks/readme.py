"""Fill the tables of README.md from the files in results/, between `<!-- table: NAME -->` and `<!-- end -->`.

    python benchmarks/readme.py              rewrite the tables
    python benchmarks/readme.py --check      change nothing; exit code 1 if a table is out of date
    python benchmarks/readme.py --picture    race on Car and keep the picture as docs/pictures/race-car.png

| table    | from                                     | written by      |
|----------|------------------------------------------|-----------------|
| accuracy | results/paper_tables.jsonl, jung2017.csv | paper_tables.py |
| speed    | results/speed.json                       | speed.py        |
| defaults | results/defaults.jsonl                   | defaults.py     |
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import defaults_report
import paper_report
import speed_report
from cells import Record, parse
from grid import NONE, figure, grid, values

from edgewise.evaluation.racing import mean

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
PICTURE = HERE.parent / "docs" / "pictures" / "race-car.png"
RACE = ("race", "car", "--seeds", "5")

MEASURES = {"last_fifth": "Last fifth of the rows (the paper's Table 3)", "all": "All rows (Table 4)"}
# Our name -> the paper's, and how the README calls it.
SETS = {
    "balance": ("Balance", "Balance"),
    "mice-zero": ("Mice", "Mice"),
    "car": ("Cars", "Cars, nominal"),
    "car-numeric": ("Cars", "Cars, 2 numeric"),
    "mushroom": ("Mushroom", "Mushroom"),
    "nursery-4": ("Nursery", "Nursery"),
    "isolet-50": ("ISOLET", "ISOLET"),
    "movement": ("Movement", "Movement"),
}
EDGES = ("MB .3", "MB .1", "MB .05", "MB .01", "MB .001")
COLUMNS = {
    "DT": ("DT",),
    "OLB": ("OLB",),
    "AdaOLM": ("AdaOLM",),
    "best MB": EDGES,
    "OvA": ("OvA",),
    "AdaOVA": ("AdaOVA",),
}


def accuracy(cells: list[Record]) -> str:
    """Ours beside the paper's Tables 3 and 4. "best MB" is the best of five edges, by its mean over seeds."""
    used = paper_report.newest([cell for cell in cells if cell["complete"]])
    if not used:
        return ""
    published = paper_report.paper_values()
    blocks, differences, errors = [], [], []
    for measure, title in MEASURES.items():
        lines = []
        for data, (paper_name, shown) in SETS.items():
            row = []
            for algorithms in COLUMNS.values():
                groups = [values(used, measure, data=data, algorithm=name) for name in algorithms]
                theirs = max(published[paper_name, name][measure] for name in algorithms)
                if all(groups):
                    ours = max((mean(group) for group in groups), key=lambda found: found.value)
                    differences.append(ours.value - theirs)
                    errors += [] if ours.error is None else [ours.error]
                    row.append(f"{figure(ours.value)} ({figure(theirs)})")
                else:
                    row.append(f"{NONE} ({figure(theirs)})")
            lines.append([shown, *row])
        blocks.append(f"{title}, ours and, in parentheses, the paper's:\n\n" + grid(["data", *COLUMNS], lines))
    below = sum(difference < -paper_report.BELOW for difference in differences)
    above = sum(difference > paper_report.BELOW for difference in differences)
    seeds = span(len({c["seed"] for c in used if c["data"] == data}) for data in SETS if values(used, "all", data=data))
    spread = f" Standard errors of ours are at most {figure(max(errors))}." if errors else ""
    blocks.append(
        f"Means over {seeds}.{spread} Of {len(differences)} values, {above} are more than "
        f"{paper_report.BELOW:g} above the paper's, {below} more than that below."
    )
    return "\n\n".join(blocks)


def speed(report: dict[str, Any]) -> str:
    """CPU time of the peers over ours, on equal rows; empty where a side was not measured."""
    plain = {(r["data"], r["rows"], r["contender"]): r for r in report["results"] if not r["options"]}
    sizes: dict[str, set[int]] = {}
    for data, rows, _ in plain:
        sizes.setdefault(data, set()).add(rows)
    moa = ("capymoa.OzaBoost", "capymoa.OnlineSmoothBoost")
    lines = []
    for data, counts in sizes.items():
        most = max(counts)
        with_river = [rows for rows in counts if (data, rows, "river.AdaBoostClassifier") in plain]

        def ratio(peers: Sequence[str], own: str, rows: int, data: str = data) -> str:
            theirs = [plain[data, rows, peer]["best_cpu_s"] for peer in peers if (data, rows, peer) in plain]
            ours = plain.get((data, rows, own))
            return speed_report.times(min(theirs) / ours["best_cpu_s"]) if theirs and ours else NONE

        river = [ratio(["river.AdaBoostClassifier"], "edgewise.AdaBoostOLM", rows) for rows in with_river]
        ratios = [
            ratio(moa[:1], "edgewise.OzaBoost", most),
            ratio(moa, "edgewise.AdaBoostOLM", most),
            ratio(moa, "edgewise.OnlineMBBM", most),
            f"{river[0]} ({with_river[0]:,} rows)" if river and river[0] != NONE else NONE,
        ]
        if any(cell != NONE for cell in ratios):
            lines.append([data, f"{most:,}", *ratios])
    if not lines:
        return ""
    header = [
        "data",
        "rows",
        "OzaBoost: CapyMOA's over ours",
        "CapyMOA's faster booster over `AdaBoostOLM`",
        "the same over `OnlineMBBM`",
        "river's AdaBoost over `AdaBoostOLM`",
    ]
    machine, settings = report["machine"], report["settings"]
    return (
        grid(header, lines) + f"\n\nCPU time of a peer divided by ours: above 1, edgewise is faster. "
        f"{settings['trees']} Hoeffding trees with equal settings, equal rows, one thread, best of "
        f"{settings['repeats']} after warming up; {machine['cpu']}, {machine['system']}, Python {machine['python']}."
    )


def defaults(cells: list[Record]) -> str:
    """Accuracy of the defaults by number of learners, and log-loss and time of the most."""
    used = defaults_report.newest([cell for cell in cells if cell["complete"]])
    if not used:
        return ""
    counts = sorted({cell["learners"] for cell in used})
    lines = []
    for data, rows in dict.fromkeys((cell["data"], cell["rows"]) for cell in used):
        line = [data, f"{rows:,}"]
        for n in counts:
            whole, last = (values(used, name, data=data, learners=n) for name in ("all", "last_fifth"))
            line.append(f"{figure(mean(whole).value)} / {figure(mean(last).value)}" if whole else NONE)
        loss, seconds = (values(used, name, data=data, learners=counts[-1]) for name in ("log_loss", "cpu_s"))
        line.append(figure(mean(loss).value) if loss else NONE)
        line.append(f"{mean(seconds).value:.1f}" if seconds else NONE)
        lines.append(line)
    header = ["data", "rows", *(f"AdaBoostOLM, {n}" for n in counts)]
    header += [f"log-loss, {counts[-1]} learners", f"CPU s, {counts[-1]} learners"]
    seeds = span(len(values(used, "all", data=cell["data"], learners=cell["learners"])) for cell in used)
    return grid(header, lines) + f"\n\nPrequential accuracy over all rows / over the last fifth; means over {seeds}."


class Block(NamedTuple):
    """A table of the README: the file it comes from, how that is read, and what makes the table."""

    source: str
    read: Callable[[str], Any]
    make: Callable[[Any], str]


BLOCKS = {
    "accuracy": Block("paper_tables.jsonl", parse, accuracy),
    "speed": Block("speed.json", json.loads, speed),
    "defaults": Block("defaults.jsonl", parse, defaults),
}


def filled(text: str, results: Path = HERE / "results") -> str:
    """The README's text with every table as the results have it."""
    for name, block in BLOCKS.items():
        path = results / block.source
        table = block.make(block.read(path.read_text())) if path.exists() else ""
        table = table or f"*Not here yet: `benchmarks/results/{block.source}` is missing or incomplete.*"
        first, last = f"<!-- table: {name} -->\n", "\n<!-- end -->"
        parts = text.split(first)
        if len(parts) != 2 or last not in parts[1]:
            raise SystemExit(f"README.md: not exactly one place from '{first.strip()}' to '{last.strip()}'")
        text = parts[0] + first + table + last + parts[1].split(last, 1)[1]
    return text


def draw_picture() -> None:
    """The picture of the README: a race as anyone can run it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("edgewise")), *RACE, "--out", folder]
        subprocess.run(command, check=True)
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(folder) / "curves.png", PICTURE)


def span(counts: Iterable[int]) -> str:
    found = sorted(set(counts))
    return f"{found[0]} to {found[-1]} shuffles" if len(found) > 1 else f"{found[0]} shuffle{'s' * (found[0] != 1)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a table is out of date")
    parser.add_argument("--picture", action="store_true", help="also make docs/pictures/race-car.png")
    arguments = parser.parse_args()
    old = README.read_text()
    new = filled(old)
    if arguments.check:
        raise SystemExit("README.md is out of date: run benchmarks/readme.py" if new != old else 0)
    if arguments.picture:
        draw_picture()
    README.write_text(new)


if __name__ == "__main__":
    main()
