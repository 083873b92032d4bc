"""What the user sees: the progress of a race or a reproduction, and tables.

On a terminal there are colors and a live picture; in a pipe or a file, plain lines. NO_COLOR is respected (by rich).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from edgewise.evaluation.racing import Mean, Step, Summary
from edgewise.evaluation.runs import RankingRun, StreamRun

if TYPE_CHECKING:  # a race needs none of it
    from edgewise.reproduction.results import Cell, Reproduction
    from edgewise.reproduction.running import BoosterConfig, Finished, Run

REDRAWN = 0.5  # seconds between two pictures of a reproduction's table


# -- the terminal ----------------------------------------------------------------------------------------------------


def console(stderr: bool = False) -> Console:
    """The terminal, pipe or file behind stdout or stderr."""
    stream = sys.stderr if stderr else sys.stdout
    # A pipe has no width: nothing is folded there.
    return Console(file=stream, highlight=False, soft_wrap=not stream.isatty())


def say(out: Console, text: str, style: str = "") -> None:
    """Print a line, with the signs of the tables as the terminal can show them."""
    out.print(Text(writable(text, out), style))


def writable(text: str, out: Console) -> str:
    """The text with signs that the terminal can show."""
    if out.encoding.lower().startswith("utf"):
        return text
    from edgewise.reproduction.tables import MARK

    return text.replace("±", "+-").replace(MARK, "(!)").encode("ascii", "replace").decode()


def say_if_compiling(out: Console) -> None:
    """Announce that kernels will be compiled, if there are none of these very sources on disk."""
    import numba

    from edgewise.kernels.compile import CACHE

    uncompiled = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
    if not uncompiled and not any(Path(CACHE).rglob("*.nbi")):
        say(out, "compiling for this machine: takes half a minute, the first time only", "dim")


def print_table(names: Sequence[str], rows: Sequence[Sequence[str | Text]], right: Sequence[str] = ()) -> None:
    """A table without frame; columns named in `right` hold numbers. In a pipe, aligned lines of any length."""
    out = console()
    texts = [[cell if isinstance(cell, Text) else Text(writable(cell, out)) for cell in row] for row in rows]
    if out.is_terminal:
        out.print(_frameless(names, texts, right))
        return
    lines = [list(names), *([cell.plain for cell in row] for row in texts)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(line, widths, names, strict=True)
        ]
        out.print(Text("  ".join(cells).rstrip()))


def _frameless(
    names: Sequence[str], rows: Sequence[Sequence[Text]], right: Sequence[str], *, wrap: bool = True
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(names):
        table.add_column(name, justify="right" if name in right else "left", no_wrap=number == 0 or not wrap)
    for row in rows:
        table.add_row(*row)
    return table


# -- races -----------------------------------------------------------------------------------------------------------


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
        say_if_compiling(self._console)
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, step: Step) -> None:
        """Move the bar after a chunk of rows."""
        self.model = step.model
        so_far = "" if math.isnan(step.so_far) else f"{step.so_far:.3f}"
        if self._task is None or step.done == 0:
            self._lap += 1
            self._close()
            words = f"{step.data} {step.model} seed {step.seed} ({self._lap} of {self._laps})"
            self._task = self._bar.add_task(words, total=step.total, so_far=so_far)
        self._bar.update(self._task, completed=step.done, so_far=so_far)

    def finish(self, run: StreamRun) -> None:
        """Report a finished run."""
        self._close()
        if not self._console.is_terminal:
            words = f"{run.data} {run.model} seed {run.seed}: {run.rows} rows, {run.measure} {run.overall:.3f}"
            say(self._console, f"{words}, last fifth {run.last_fifth:.3f}, {run.cpu_seconds:.1f} s CPU")

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
    for (kind, data, rows, order, learners, seeds), lines in streams.items():
        facts = f"{rows:,} rows {'shuffled' if order == 'shuffled' else 'in file order'}"
        facts += "" if learners is None else f", {learners} learners"
        facts += f", {seeds} seeds: mean ± standard error" if seeds > 1 else ""
        out.print(Text.assemble((data, "bold"), writable(f": {facts}", out)))
        if kind is RankingRun:
            lines.sort(key=lambda line: line.qualities["rank_loss"].value)
        names = ("model", *(quality.heading for quality in lines[0].kind.qualities), "rows/s", "memory")
        print_table(names, _summary_rows(lines, out), right=names[1:])
        out.print()
    say(out, "rows/s: rows guessed and learned per second of CPU time, compiling left out", "dim")


def _summary_rows(lines: Sequence[Summary], out: Console) -> list[list[str | Text]]:
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
            cells.append(Text("-" if value is None else writable(_with_error(value), out), style))
        memory = "-" if line.model_bytes is None else size(line.model_bytes.value)
        rows.append([*cells, f"{line.rows_per_second.value:,.0f}", memory])
    return rows


def _with_error(mean: Mean) -> str:
    return f"{mean.value:.3f}" + ("" if mean.error is None else f" ±{mean.error:.3f}".replace("0.", "."))


def size(count: float) -> str:
    """Bytes for people: 1.5 MB."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


# -- reproductions ---------------------------------------------------------------------------------------------------


class ReproductionProgress:
    """Progress on stderr: runs done and time left; on a terminal the table of the run that ended last, as it fills up,
    elsewhere a line for every run that ends."""

    def __init__(self, run: Run, workers: int) -> None:
        self._run = run
        self._workers = workers
        self._console = console(stderr=True)
        self._begun = len(run.pending)
        self._ended = 0
        self._drawn = 0.0
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> ReproductionProgress:
        run, out = self._run, self._console
        for what, how in dict.fromkeys(each for plan in run.plans for each in plan.missing):
            say(out, f"without {what}: {how}")
        if run.outdated:
            say(out, f"{run.outdated} kept runs are of another version of the code: they are run again")
        say(out, f"{self._begun} runs to make, {len(run.kept)} are there, {self._workers} at a time")
        if self._begun:
            say_if_compiling(out)
            if out.is_terminal:
                self._live.start()
                self._draw(run.plans[0])
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def finished(self, finished: Finished) -> None:
        """Report a run that has ended, in the table of the first declaration that it belongs to."""
        self._ended += 1
        plan, place = next(
            (plan, f"{plan.declared.id} {data}, {algorithm}, seed {finished.task.job.seed}")
            for plan in self._run.plans
            for (data, algorithm), tasks in plan.tasks.items()
            if any(task.key == finished.task.key for task in tasks)
        )
        done = f"[{self._ended} of {self._begun}, {self._left()} left]"
        if finished.kept is None:
            say(self._console, f"{done} {place}: FAILED, {finished.error}")
        elif not self._console.is_terminal:
            record = finished.kept.record
            names = [measure.name for measure in plan.declared.measures if measure.name in record.measures]
            values = [f"{name} {record.measures[name]:.4g}" for name in names]
            say(self._console, f"{done} {place}: {', '.join([*values, f'{record.seconds:.1f} s CPU'])}")
        if self._console.is_terminal and time.monotonic() - self._drawn > REDRAWN:
            self._draw(plan)

    def _left(self) -> str:
        return describe_time(self._run.seconds_left(self._workers))

    def _draw(self, plan: BoosterConfig) -> None:
        from edgewise.reproduction.results import reproduction_of
        from edgewise.reproduction.tables import by_measure

        self._drawn = time.monotonic()
        found = reproduction_of(plan, self._run)
        parts: list[Text | Table] = [
            Text(f"{self._ended} of {self._begun} runs, {self._left()} left", "bold"),
            Text(f"{found.id}: {found.title}", "dim"),
            *map(filling, list(by_measure(found).values())[:1]),
        ]
        self._live.update(Group(*parts), refresh=True)


def filling(cells: Sequence[Cell]) -> Table:
    """Data sets down, algorithms across: ours so far, marked where worse than the paper's."""
    from edgewise.reproduction.tables import MARK, TEXT

    names = list(dict.fromkeys(cell.algorithm for cell in cells))
    known = {(cell.data, cell.algorithm): cell for cell in cells}
    rows = []
    for data in dict.fromkeys(cell.data for cell in cells):
        row = [Text(data)]
        for cell in (known.get((data, name)) for name in names):
            if cell is None or cell.ours is None:
                row.append(Text("." if cell else "", "dim"))
            else:
                style = "" if cell.ours.seeds == cell.planned_seeds else "dim"
                row.append(Text(TEXT.value(cell.ours.mean, cell) + (MARK if cell.worse else ""), style))
        rows.append(row)
    return _frameless(["", *names], rows, names, wrap=False)


def describe_time(seconds: float) -> str:
    """A time as one would say it: 40 s, 12 min, 1 h 5 min."""
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def print_reproductions(found: Sequence[Reproduction]) -> None:
    """Every table, then what it was made with."""
    from edgewise.reproduction.tables import HEADINGS, TEXT, beside, by_measure, made_with, notices, verdict

    out = console()
    for each in found:
        say(out, f"{each.id}: {each.title}", "bold")
        say(out, each.paper, "dim")
        for notice in notices(each):
            say(out, notice, "bold")
        for measure, cells in by_measure(each).items():
            say(out, f"{measure}, {cells[0].better} is better", "dim")
            print_table(HEADINGS, [TEXT.row(cell) for cell in cells], right=HEADINGS[2:])
        if each.cells:
            say(out, " ".join(filter(None, (verdict(each), beside(each)))))
        else:
            say(out, f"{len(each.curves)} curves: in the report")
        say(out, made_with(each), "dim")
        out.print()
