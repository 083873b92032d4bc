"""Cells of `batch.py` as tables: the page results/batch.md, and the tables of docs/batch.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.shared import cells
from benchmarks.shared.grid import NONE, figure, grid, with_error, with_tables
from edgewise.evaluation.racing import Mean, mean

Record = dict[str, Any]

DATA = ("connect-4", "covertype", "letter", "pendigits", "poker", "satimage")
NAMES = {
    "MM": "AdaBoostMM",
    "M1": "AdaBoostM1",
    "MH": "AdaBoostMH",
    "SAMME": "SAMME (scikit-learn)",
    "MM loss": 'AdaBoostMM, weighting="loss"',
}
OURS = ("MM", "M1", "MH")  # the paper's
BOUNDED = ("MM", "MM loss")  # whose bound is checked in every round
SMALL, STUMP = 5, 2
LARGE = 200  # leaves of Figure 2's trees; C4.5's have hundreds on these sets


def newest(records: Sequence[Record]) -> list[Record]:
    """One record for each data set, algorithm, size and seed: the last one written."""
    return cells.newest(records, "data", "algorithm", "leaves", "seed")


def of(records: Sequence[Record], data: str, algorithm: str, leaves: int) -> list[Record]:
    return [r for r in records if (r["data"], r["algorithm"], r["leaves"]) == (data, algorithm, leaves)]


def error(records: Sequence[Record], data: str, algorithm: str, leaves: int) -> Mean | None:
    found = [r["test_error"] for r in of(records, data, algorithm, leaves)]
    return mean(found) if found else None


def shown(found: Mean | None) -> str:
    return NONE if found is None else with_error(found)


def line(record: Record) -> str:
    """A cell as it finishes."""
    held = {True: "  bound held", False: "  BOUND BROKEN", None: ""}[record.get("bound_held")]
    return (
        f"{record['data']:10} {record['algorithm']:6} {record['leaves']:4} leaves seed {record['seed']}  "
        f"{record['stages']:4} rounds  test error {record['test_error']:.4f}  {record['cpu_s']:7.1f} CPU s{held}"
    )


def speed_line(record: Record) -> str:
    seconds = min(record["cpu_s"]) / record["stages"]
    return f"{record['data']:10} {record['algorithm']:6} {record['stages']:4} rounds  {1000 * seconds:8.2f} ms a round"


def below(records: Sequence[Record], peer: str) -> tuple[int, int]:
    """Sets on which AdaBoostMM's error is below a peer's with the smallest trees, and sets where both are known."""
    pairs = [(error(records, data, "MM", SMALL), error(records, data, peer, SMALL)) for data in DATA]
    known = [(ours.value, theirs.value) for ours, theirs in pairs if ours and theirs]
    return sum(ours < theirs for ours, theirs in known), len(known)


def small_trees(records: Sequence[Record]) -> str:
    """Figure 1(b)'s right end: 5 leaves, 500 rounds. Bold: the lowest with the weights that the papers print."""
    lines = []
    for data in DATA:
        runs = [r for r in records if r["data"] == data and r["leaves"] == SMALL]
        if not runs:
            continue
        found = {name: error(records, data, name, SMALL) for name in NAMES}
        least = min(m.value for name, m in found.items() if m and name != "MM loss")
        errors = [f"**{shown(m)}**" if m and m.value == least else shown(m) for m in found.values()]
        stopped = sorted({r["stages"] for r in runs if r["algorithm"] == "M1"})
        rounds = " to ".join(map(str, dict.fromkeys((stopped[0], stopped[-1])))) if stopped else NONE
        seeds = len({r["seed"] for r in runs})
        sizes = f"{runs[0]['rows']:,} / {runs[0]['test_rows']:,}"
        lines.append([data, sizes, *errors, rounds, str(seeds)])
    told = ", ".join("{}'s on {} of {}".format(NAMES[peer], *below(records, peer)) for peer in ("M1", "MH", "SAMME"))
    header = ["data", "train / test rows", *NAMES.values(), "rounds of M1", "seeds"]
    title = (
        f"Test error, trees of {SMALL} leaves, 500 rounds. With the paper's weights, AdaBoostMM is below {told} sets."
    )
    return f"{title}\n\n{grid(header, lines)}"


def large_trees(records: Sequence[Record]) -> str:
    """Figure 2: M1 and MM with large trees, MH with stumps."""
    columns = {"MM": ("MM", LARGE), "M1": ("M1", LARGE), "MH, stumps": ("MH", STUMP)}
    lines = [[data, *(shown(error(records, data, *which)) for which in columns.values())] for data in DATA]
    title = f"Test error after 500 rounds (Figure 2), trees of {LARGE} leaves for MM and M1, stumps for MH."
    return f"{title}\n\n{grid(['data', *columns], lines)}"


def by_size(records: Sequence[Record]) -> str:
    """Figure 1(a) in numbers; seed 1, which has all sizes."""
    first = [r for r in records if r["seed"] == 1 and r["leaves"] != STUMP]
    sizes = sorted({r["leaves"] for r in first})
    lines = []
    for data in DATA:
        for name in OURS:
            found = [error(first, data, name, size) for size in sizes]
            if any(found):
                lines.append([f"{data}, {name}", *(NONE if m is None else figure(m.value) for m in found)])
    return f"Test error after 500 rounds by leaves (Figure 1a), seed 1.\n\n{grid(['leaves', *map(str, sizes)], lines)}"


def bounds(records: Sequence[Record]) -> str:
    runs = [r for r in records if r["algorithm"] in BOUNDED]
    rounds = sum(r["stages"] for r in runs)
    broken = sum(not r["bound_held"] for r in runs)
    return (
        f"The training error exceeded its bound, `bounds_`, in some round of {broken} of "
        f"{len(runs)} runs of AdaBoostMM ({rounds:,} rounds)."
    )


def speed_table(speed: dict[str, Any]) -> str:
    lines = []
    for record in speed["measured"]:
        (peer,) = [r for r in speed["measured"] if (r["data"], r["algorithm"]) == (record["data"], "SAMME")]
        own, theirs = (min(r["cpu_s"]) / r["stages"] for r in (record, peer))
        size = f"{record['rows']:,} x {record['features']}"
        rounds = f"{record['stages']}" + (f" of {record['rounds']}" if record["stages"] != record["rounds"] else "")
        name = NAMES[record["algorithm"]]
        ratio = "1" if record is peer else f"{theirs / own:.1f}"
        lines.append([f"{record['data']}, {name}", size, rounds, f"{1000 * own:.1f}", ratio])
    machine = speed["machine"]
    repeats = len(speed["measured"][0]["cpu_s"])
    title = (
        f"Training with trees of {SMALL} leaves, CPU time of one thread, best of {repeats}, contenders in turn in one "
        f"process. {machine['cpu']}, Python {machine['python']}, scikit-learn {speed['scikit-learn']}."
    )
    header = ["data, booster", "rows x features", "rounds", "ms a round", "times as fast as SAMME"]
    return f"{title}\n\n{grid(header, lines)}"


def kernels(records: Sequence[Record]) -> str:
    versions = {r["kernels"] for r in records if r["algorithm"] != "SAMME"}
    return f"The cells come from {len(versions)} versions of the kernels." if len(versions) > 1 else ""


def markdown(records: Sequence[Record], speed: dict[str, Any] | None) -> str:
    used = newest(records)
    blocks = ["# Batch boosting: Figures 1 and 2 of Mukherjee and Schapire 2010, and scikit-learn"]
    if used:
        blocks += [small_trees(used), bounds(used), large_trees(used), by_size(used), kernels(used)]
    if speed:
        blocks.append(speed_table(speed))
    return "\n\n".join(block for block in blocks if block) + "\n"


def filled(text: str, records: Sequence[Record], speed: dict[str, Any] | None) -> str:
    """The text of docs/batch.md with its tables, each from `<!-- table: NAME -->` to `<!-- end -->`."""
    used = newest(records)
    tables = {"small": small_trees(used), "large": large_trees(used), "sizes": by_size(used), "bounds": bounds(used)}
    tables["speed"] = speed_table(speed) if speed else "*Not measured yet.*"
    return with_tables(text, tables)
