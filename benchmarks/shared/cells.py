"""Cells of a long measurement: one JSON line each, written as they finish, so that an interrupted run continues.

A cell is a named tuple (data set, what is run on it, seed, ...); its record holds these names and what was measured.
When a run is finished the file is made small: the newest record of each cell, cells that differ in the seed alone on
one line, and ten digits of a number. Accuracies keep all digits: they are often equal, and pages show the sign of a
difference.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import edgewise
from benchmarks.shared import measuring
from benchmarks.shared.measuring import RESULTS
from edgewise.kernels import compile

Record = dict[str, Any]
Cell = TypeVar("Cell", bound=tuple[Any, ...])

CELLS = "cells"  # in a line of several cells: the entries that differ, a list for each


# -- the file ----------------------------------------------------------------------------------------------------------


def known(path: Path) -> list[Record]:
    """All records of a file. A run that was cut off may have left half a line at the end."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return [record for line in lines for record in unpacked(line)]


def complete(name: str) -> list[Record]:
    """The records of results/NAME.jsonl that have all rows."""
    return [record for record in known(RESULTS / f"{name}.jsonl") if record["complete"]]


def newest(records: Sequence[Record], *fields: str) -> list[Record]:
    """One record for each cell: the last one written."""
    return list({tuple(record[name] for name in fields): record for record in records}.values())


def append(path: Path, record: Record) -> None:
    path.parent.mkdir(exist_ok=True)
    cut_off = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write("\n" * cut_off + json.dumps(record) + "\n")


def unpacked(line: Record) -> list[Record]:
    """The records of a line."""
    if CELLS not in line:
        return [line]
    shared = {name: value for name, value in line.items() if name != CELLS}
    columns = line[CELLS]
    return [shared | dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def packed(records: Sequence[Record]) -> Record:
    """Records of several cells as one line."""
    if len(records) == 1:
        return {name: rounded(name, value) for name, value in records[0].items()}
    shared = {
        name: rounded(name, value)
        for name, value in records[0].items()
        if all(name in record and record[name] == value for record in records)
    }
    names = dict.fromkeys(name for record in records for name in record if name not in shared)
    return shared | {CELLS: {name: [rounded(name, record.get(name)) for record in records] for name in names}}


def rounded(name: str, value: Any) -> Any:
    if isinstance(value, float) and name not in ("all", "last_fifth"):
        return float(f"{value:.10g}")
    return value


def make_small(path: Path, fields: Sequence[str], in_a_line: Sequence[str] = ("seed",)) -> None:
    """Write a file anew with the newest record of each cell; cells that differ in some fields alone go on one line."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in newest(known(path), *fields, "complete", "rows"):
        groups.setdefault(tuple(record[name] for name in fields if name not in in_a_line), []).append(record)
    partial = path.with_name(path.name + ".part")
    partial.write_text("".join(json.dumps(packed(group)) + "\n" for group in groups.values()))
    partial.replace(path)


# -- running -----------------------------------------------------------------------------------------------------------


def options(description: str | None, *, seeds: int | None = None, jobs: bool = True, rows: bool = True) -> Any:
    """A parser with the options of every script that fills a table of cells."""
    parser = measuring.parser(description)
    parser.set_defaults(jobs=1, rows=None)
    parser.add_argument("--data", help="some of the data sets, as a,b")
    if seeds is not None:
        parser.add_argument("--seeds", type=int, default=seeds, help=f"shuffles or random states ({seeds})")
    if jobs:
        parser.add_argument("--jobs", type=int, default=1, help="cells at a time, each in a process of its own")
    if rows:
        parser.add_argument("--rows", type=int, help="only the first so many, to try things out; on no page")
    parser.add_argument("--again", action="store_true", help="also run cells that are already there; the newest counts")
    parser.add_argument("--table", action="store_true", help="run nothing, only write the page")
    return parser


def chosen(text: str | None, known: Sequence[str], option: str, separator: str = ",") -> list[str]:
    """The names that an option lists, or all of them."""
    names = list(known) if text is None else text.split(separator)
    for name in names:
        if name not in known:
            raise SystemExit(f"{option} {name}: not one of {', '.join(known)}")
    return names


def missing(cells: Sequence[Cell], path: Path, rows: int | None) -> list[Cell]:
    """The cells that the file does not hold, complete or with so many rows."""
    records = [record for record in known(path) if record["complete"] or record["rows"] == rows]
    fields: tuple[str, ...] = getattr(cells[0], "_fields", ()) if cells else ()
    done = {tuple(record[name] for name in fields) for record in records}
    return [cell for cell in cells if tuple(cell) not in done]


def fill(
    cells: Sequence[Cell],
    run: Callable[[Cell], Record],
    path: Path,
    line: Callable[[Record], str],
    arguments: argparse.Namespace,
    in_a_line: Sequence[str] = ("seed",),
) -> None:
    """Run the cells that the file does not hold, unless only the page is asked for; print a line of each."""
    if arguments.table:
        return
    left = list(cells) if arguments.again else missing(cells, path, arguments.rows)
    print(f"{len(left)} cells to run, {len(cells) - len(left)} already there", flush=True)
    # Spawned, not forked: Numba and its threads do not survive a fork.
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed(pool.submit(run, cell) for cell in left):
                append(path, future.result())
                print(line(future.result()), flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # or the cells still waiting would all be run first
            raise
    if left:
        make_small(path, getattr(left[0], "_fields", ()), in_a_line)


def stamp() -> Record:
    """What a cell was run with."""
    return {"version": edgewise.__version__, "kernels": Path(compile.CACHE).name}


def versions(records: Sequence[Record]) -> str:
    """A warning if the cells were not all run with the same code."""
    found = {(record["version"], record["kernels"]) for record in records}
    return f"The cells come from {len(found)} versions of the kernels." if len(found) > 1 else ""
