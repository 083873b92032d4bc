"""Fill the tables of README.md from the files in results/, between `<!-- table: NAME -->` and `<!-- end -->`.

    python -m benchmarks.pages.readme              rewrite the tables
    python -m benchmarks.pages.readme --check      change nothing; exit code 1 if a table is out of date
    python -m benchmarks.pages.readme --picture    race on Car and keep the picture as docs/pictures/race-car.png

BLOCKS says which file a table is made from.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.accuracy import defaults_report, peers_report
from benchmarks.papers.report import KEPT, load
from benchmarks.shared import grid as tables
from benchmarks.shared.cells import Record, known
from benchmarks.shared.grid import NONE, figure, grid, values, with_table
from benchmarks.shared.measuring import RESULTS, TOP
from benchmarks.speed import boosters
from edgewise.evaluation.racing import mean
from edgewise.reproduction.results import Cell, Reproduction

README = TOP / "README.md"
PICTURE = TOP / "docs" / "pictures" / "race-car.png"
RACE = ("race", "car", "--seeds", "5")

TABLES = {
    "000/table-3": "Last fifth of the rows (the paper's Table 3)",
    "000/table-4": "All rows (Table 4)",
}
EDGES = ("MB .3", "MB .1", "MB .05", "MB .01", "MB .001")
SINGLE = ("DT", "OLB", "AdaOLM", "OvA", "AdaOVA")
COLUMNS = {name: (name,) for name in SINGLE[:3]} | {"best MB": EDGES} | {name: (name,) for name in SINGLE[3:]}


def full(found: list[Reproduction]) -> list[Reproduction]:
    """Without those of a quick run, which say little of the papers."""
    return [each for each in found if not each.environment.quick]


def papers(found: list[Reproduction]) -> str:
    """Every table and figure: how many values were compared, and how many of ours are worse."""
    used = full(found)
    if not used:
        return ""
    lines = []
    for each in used:
        compared = sum(cell.difference is not None for cell in each.cells)
        name = each.title if each.complete else f"{each.title} (not whole)"
        minutes = f"{each.environment.cpu_seconds / 60:.1f}"
        lines.append([f"`{each.id}`", name, str(compared), str(len(each.worse)), minutes])
    header = ["", "table or figure", "values compared", "worse", "CPU minutes"]
    versions = {name: version for each in used for name, version in each.environment.versions.items()}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    machines = " and ".join(dict.fromkeys(each.environment.machine for each in used if each.environment.machine))
    return (
        grid(header, lines).replace("| --- | ---: |", "| --- | --- |", 1)
        + "\n\nWorse: by more than two standard errors over seeds, or at all with one seed. Figures print no values to "
        f"compare with. Tables of one paper share runs. {machines}; {told}."
    )


def accuracy(found: list[Reproduction]) -> str:
    """Ours beside the paper's Tables 3 and 4. "best MB" is the best of five edges, by its mean over seeds."""
    both = {each.id: each for each in full(found) if each.id in TABLES}
    if len(both) < len(TABLES):
        return ""
    blocks, seeds = [], set()
    for name, title in TABLES.items():
        cells = {(cell.data, cell.algorithm): cell for cell in both[name].cells}
        lines = []
        for data in dict.fromkeys(cell.data for cell in both[name].cells):
            row = [best(cells, data, algorithms) for algorithms in COLUMNS.values()]
            beside = cells[data, "AdaOLM"].defaults
            lines.append([data, *row, NONE if beside is None else figure(beside.mean)])
            seeds |= {cell.ours.seeds for (of, _), cell in cells.items() if of == data and cell.ours is not None}
        header = ["data", *COLUMNS, "our defaults"]
        blocks.append(f"{title}, ours and, in parentheses, the paper's:\n\n" + grid(header, lines))
    compared = [cell for each in both.values() for cell in each.cells if cell.difference is not None]
    worse = [cell for cell in compared if cell.worse]
    told = ", ".join(f"{cell.algorithm} on {cell.data} ({cell.measure})" for cell in worse)
    blocks.append(
        f"Means over {span(seeds)}. Of {len(compared)} values, with every edge of MB by itself, {len(worse)} are worse "
        f"than the paper's by more than two standard errors{': ' if told else ''}{told}."
    )
    return "\n\n".join(blocks)


def best(cells: dict[tuple[str, str], Cell], data: str, algorithms: Sequence[str]) -> str:
    """The best of some algorithms beside the paper's best; none of ours unless all have run."""
    group = [cells[data, name] for name in algorithms]
    theirs = [cell.paper for cell in group if cell.paper is not None]
    ours = [cell.ours.mean for cell in group if cell.ours is not None]
    shown = figure(max(ours)) if len(ours) == len(group) else NONE
    return f"{shown} ({figure(max(theirs)) if theirs else NONE})"


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
            return boosters.times(min(theirs) / ours["best_cpu_s"]) if theirs and ours else NONE

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
        f"{settings['trees']} Hoeffding trees with equal settings, equal rows, one thread, best of at least "
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
    read: Callable[[Path], Any]
    make: Callable[[Any], str]


REPRODUCTION = KEPT.relative_to(RESULTS).as_posix()
BLOCKS = {
    "papers": Block(REPRODUCTION, load, papers),
    "accuracy": Block(REPRODUCTION, load, accuracy),
    "speed": Block("speed.json", lambda path: json.loads(path.read_text()), speed),
    "defaults": Block("defaults.jsonl", known, defaults),
    "peers": Block("peers.jsonl", known, peers_report.headline),
    "streams": Block("peers.jsonl", known, peers_report.in_order),
}


def filled(text: str, results: Path = RESULTS) -> str:
    """The README's text with every table as the results have it."""
    for name, block in BLOCKS.items():
        path = results / block.source
        table = block.make(block.read(path)) if path.exists() else ""
        table = table or f"*Not here yet: `benchmarks/results/{block.source}` is missing or incomplete.*"
        text = with_table(text, name, table)
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
    parser = tables.options(__doc__)
    parser.add_argument("--picture", action="store_true", help="also make docs/pictures/race-car.png")
    arguments = parser.parse_args()
    tables.update(README, filled, check=arguments.check, script="benchmarks.pages.readme")
    if arguments.picture:
        draw_picture()


if __name__ == "__main__":
    main()
