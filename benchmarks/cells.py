"""Cells of a long measurement: one JSON line each, written as they finish, so that an interrupted run continues.

A cell is a named tuple (data set, what is run on it, seed, ...); its record holds these names and what was measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import edgewise
from edgewise.kernels import compile

Record = dict[str, Any]
Cell = TypeVar("Cell", bound=tuple[Any, ...])

RESULTS = Path(__file__).resolve().parent / "results"


def parse(text: str) -> list[Record]:
    """Whole lines: a run that was cut off may have left half a line at the end."""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def known(path: Path) -> list[Record]:
    return parse(path.read_text()) if path.exists() else []


def append(path: Path, record: Record) -> None:
    path.parent.mkdir(exist_ok=True)
    cut_off = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write("\n" * cut_off + json.dumps(record) + "\n")


def missing(cells: Sequence[Cell], path: Path, rows: int | None) -> list[Cell]:
    """The cells that the file does not hold, complete or with so many rows."""
    records = [record for record in known(path) if record["complete"] or record["rows"] == rows]
    fields: tuple[str, ...] = getattr(cells[0], "_fields", ()) if cells else ()
    done = {tuple(record[name] for name in fields) for record in records}
    return [cell for cell in cells if tuple(cell) not in done]


def run_all(
    cells: Sequence[Cell], run: Callable[[Cell], Record], path: Path, line: Callable[[Record], str], jobs: int = 1
) -> None:
    """Run the cells, `jobs` at a time; keep the record of each in the file and print a line of it."""
    # Spawned, not forked: Numba and its threads do not survive a fork.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed(pool.submit(run, cell) for cell in cells):
                append(path, future.result())
                print(line(future.result()), flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # or the cells still waiting would all be run first
            raise


def command(description: str | None, data: Sequence[str], algorithms: Sequence[str], seeds: str, page: str) -> Any:
    """The options of a script that fills a table of cells."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help=f"some of {','.join(data)}")
    parser.add_argument("--algorithms", help=f"some of {','.join(algorithms)}")
    parser.add_argument("--seeds", type=int, help=f"shuffles of each set ({seeds})")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, each in a process of its own")
    parser.add_argument("--rows", type=int, help="only the first so many rows, to try things out; not in the tables")
    parser.add_argument("--again", action="store_true", help="also run cells that are already there; the newest counts")
    parser.add_argument("--table", action="store_true", help=f"run nothing, only write {page}")
    return parser.parse_args()


def chosen(text: str | None, known: Sequence[str], option: str, separator: str = ",") -> list[str]:
    """The names that an option lists, or all of them."""
    names = list(known) if text is None else text.split(separator)
    for name in names:
        if name not in known:
            raise SystemExit(f"{option} {name}: not one of {', '.join(known)}")
    return names


@cache
def load(data: str) -> tuple[Any, np.ndarray]:
    table, y = edgewise.datasets.load(data)
    return table, np.asarray(y)


def stream(data: str, seed: int, rows: int | None) -> tuple[Any, np.ndarray, np.ndarray]:
    """Examples and labels in the order of a seed, and the classes of all rows."""
    table, labels = load(data)
    return *edgewise.datasets.shuffled(table, labels, seed, rows), np.unique(labels)


def stamp() -> Record:
    """What a cell was run with."""
    return {"version": edgewise.__version__, "kernels": Path(compile.CACHE).name}
