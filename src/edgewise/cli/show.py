"""What the user sees: the progress of a race, and tables.

On a terminal there are colors and a live bar; in a pipe or a file, plain lines. NO_COLOR is respected (by rich).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from edgewise.evaluation.models import Entry
from edgewise.evaluation.racing import Mean, Step, Summary
from edgewise.evaluation.runs import RankingRun, StreamRun


def console(stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    # A pipe has no width: nothing is folded there.
    return Console(file=stream, highlight=False, soft_wrap=not stream.isatty())


class RaceProgress:
    """Progress on stderr: a live bar on a terminal, elsewhere a line per finished run."""

    def __init__(self, laps: int) -> None:
        self.model = ""
        self._console = console(stderr=True)
        self._laps = laps
        self._lap = 0
        self._task: TaskID | None = None
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[so_far]}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
            expand=True,
        )

    def __enter__(self) -> RaceProgress:
        if not compiled_before():
            self._console.print(Text("compiling for this machine: takes half a minute, the first time only", "dim"))
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, step: Step) -> None:
        self.model = step.model
        so_far = "" if math.isnan(step.so_far) else f"{step.so_far:.3f}"
        if self._task is None or step.done == 0:
            self._lap += 1
            self._close()
            words = f"{step.data} {step.model} seed {step.seed} ({self._lap} of {self._laps})"
            self._task = self._bar.add_task(words, total=step.total, so_far=so_far)
        self._bar.update(self._task, completed=step.done, so_far=so_far)

    def finish(self, run: StreamRun) -> None:
        self._close()
        if not self._console.is_terminal:
            words = f"{run.data} {run.model} seed {run.seed}: {run.rows} rows, {run.measure} {run.overall:.3f}"
            self._console.print(Text(f"{words}, last fifth {run.last_fifth:.3f}, {run.cpu_seconds:.1f} s CPU"))

    def _close(self) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None


def print_summary(summary: Sequence[Summary]) -> None:
    """A table per stream, the best figure of each quality column in bold; rankers are ranked by their rank loss."""
    out = console()
    streams: dict[tuple[type, str, int, str, int | None, int], list[Summary]] = {}
    boosted = {line.data: line.learners for line in summary if line.learners is not None}
    for line in summary:
        learners = line.learners or boosted.get(line.data)  # a model without learners stands beside the others
        streams.setdefault((line.kind, line.data, line.rows, line.order, learners, line.seeds), []).append(line)
    for (_, data, rows, order, learners, seeds), lines in streams.items():
        facts = f"{rows:,} rows {'shuffled' if order == 'shuffled' else 'in file order'}"
        facts += "" if learners is None else f", {learners} learners"
        facts += f", {seeds} seeds: mean {_sign(out)} standard error" if seeds > 1 else ""
        out.print(Text.assemble((data, "bold"), f": {facts}"))
        qualities = lines[0].kind.qualities
        if lines[0].kind is RankingRun:
            lines = sorted(lines, key=lambda line: line.qualities["rank_loss"].value)
        names = ("model", *(quality.heading for quality in qualities), "rows/s", "memory")
        print_table(names, _summary_rows(lines, _sign(out)), right=names[1:])
        out.print()
    out.print(Text("rows/s: rows guessed and learned per second of CPU time, compiling left out", "dim"))


def print_models(models: Mapping[str, Entry], peers: Mapping[str, Entry]) -> None:
    rows = [(name, entry.algorithm, entry.description) for name, entry in models.items()]
    print_table(("model", "algorithm", "what it is"), rows)
    console().print()
    theirs = [(name, entry.algorithm, entry.description, entry.missing() or "yes") for name, entry in peers.items()]
    print_table(("peer", "algorithm", "whose it is", "can race here"), theirs)


def print_table(names: Sequence[str], rows: Sequence[Sequence[str | Text]], right: Sequence[str] = ()) -> None:
    """A table without frame; columns named in `right` hold numbers. In a pipe, aligned lines of any length."""
    out = console()
    if not out.is_terminal:
        widths = [max(len(row[column]) for row in [names, *rows]) for column in range(len(names))]
        for row in [names, *rows]:
            cells = [
                str(cell).rjust(width) if name in right else str(cell).ljust(width)
                for cell, width, name in zip(row, widths, names, strict=True)
            ]
            out.print(Text("  ".join(cells).rstrip()))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if name in right else "left", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    out.print(table)


def size(count: float) -> str:
    """Bytes for people: 1.5 MB."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _summary_rows(lines: Sequence[Summary], sign: str) -> list[list[str | Text]]:
    best = {}
    for quality in lines[0].kind.qualities:
        found = [line.qualities[quality.field].value for line in lines if quality.field in line.qualities]
        best[quality.field] = quality.best(found) if found else None
    rows: list[list[str | Text]] = []
    for line in lines:
        cells: list[str | Text] = [line.model]
        for field, top in best.items():
            value = line.qualities.get(field)
            style = "bold" if value is not None and value.value == top else ""
            cells.append(Text("-" if value is None else _with_error(value, sign), style))
        memory = "-" if line.model_bytes is None else size(line.model_bytes.value)
        rows.append([*cells, f"{line.rows_per_second.value:,.0f}", memory])
    return rows


def compiled_before() -> bool:
    """Whether compiled kernels of these very sources are on disk (some at least), or none are needed."""
    import numba

    from edgewise.kernels.compile import CACHE

    without = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
    return without or any(Path(CACHE).rglob("*.nbi"))


def _with_error(mean: Mean, sign: str) -> str:
    error = "" if mean.error is None else f" {sign}{mean.error:.3f}".replace("0.", ".")
    return f"{mean.value:.3f}{error}"


def _sign(out: Console) -> str:
    return "±" if out.encoding.lower().startswith("utf") else "+-"
