"""What the user sees of a reproduction: the table as it fills up, and the finished tables.

On a terminal the table is alive; in a pipe or a file there is a line for every run that ends.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from edgewise.cli.show import compiled_before, console, print_table
from edgewise.reproduction.assembling import Assembly
from edgewise.reproduction.results import Cell, Reproduction
from edgewise.reproduction.running import Finished, Guess, Plan, Run
from edgewise.reproduction.tables import HEADINGS, MARK, beside, by_measure, figure, made_with, notices, row, verdict

REDRAWN = 0.5  # seconds between two pictures of the table


class Progress:
    """Progress on stderr: runs done, time left, and the table of the run that ended last."""

    def __init__(self, run: Run, workers: int) -> None:
        self._run = run
        self._workers = workers
        self._guess = Guess(run)
        self._console = console(stderr=True)
        self._begun = len(run.pending)
        self._ended = 0
        self._plan = run.plans[0]
        self._drawn = 0.0
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> Progress:
        run = self._run
        for what, how in dict.fromkeys(each for plan in run.plans for each in plan.missing):
            self._say(f"without {what}: {how}")
        if run.outdated:
            self._say(f"{run.outdated} kept runs are of another version of the code: they are run again")
        self._say(f"{self._begun} runs to make, {len(run.kept)} are there, {self._workers} at a time")
        if self._begun and not compiled_before():
            self._say("compiling for this machine: takes half a minute, the first time only")
        if self._console.is_terminal and self._begun:
            self._live.start()
            self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def finished(self, finished: Finished) -> None:
        self._ended += 1
        if finished.kept is not None:
            self._guess.learn(finished.task, finished.kept.record.seconds)
        self._plan, place = self._place(finished)
        if finished.error is not None or not self._console.is_terminal:
            self._say(self._line(finished, place))
        if self._console.is_terminal and time.monotonic() - self._drawn > REDRAWN:
            self._draw()

    def _say(self, text: str) -> None:
        self._console.print(Text(writable(text, self._console)))

    def _place(self, finished: Finished) -> tuple[Plan, str]:
        """The declaration that a task belongs to (the first, if several), and its place in the table."""
        for plan in self._run.plans:
            for (data, algorithm), tasks in plan.tasks.items():
                if any(task.key == finished.task.key for task in tasks):
                    return plan, f"{plan.declared.id} {data}, {algorithm}, seed {finished.task.job.seed}"
        raise LookupError(finished.task.key)

    def _line(self, finished: Finished, place: str) -> str:
        told = f"[{self._ended} of {self._begun}, {left_words(self._guess.left(self._workers))} left] {place}: "
        if finished.kept is None:
            return f"{told}FAILED, {finished.error}"
        record = finished.kept.record
        names = [measure.name for measure in self._plan.declared.measures if measure.name in record.measures]
        values = [f"{name} {record.measures[name]:.4g}" for name in names]
        return told + ", ".join([*values, f"{record.seconds:.1f} s CPU"])

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        words = f"{self._ended} of {self._begun} runs, {left_words(self._guess.left(self._workers))} left"
        found = Assembly(self._plan, self._run).reproduction()
        parts: list[Text | Table] = [Text(words, "bold"), Text(f"{found.id}: {found.title}", "dim")]
        tables = by_measure(found)
        if tables:
            parts.append(filling(next(iter(tables.values()))))
        self._live.update(Group(*parts), refresh=True)


def filling(cells: Sequence[Cell]) -> Table:
    """Data sets down, algorithms across: ours so far, marked where worse than the paper's."""
    sets = dict.fromkeys(cell.data for cell in cells)
    names = list(dict.fromkeys(cell.algorithm for cell in cells))
    known = {(cell.data, cell.algorithm): cell for cell in cells}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("", *names):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for data in sets:
        line = [Text(data)]
        for name in names:
            cell = known.get((data, name))
            if cell is None or cell.ours is None:
                line.append(Text("." if cell else "", "dim"))
            else:
                style = "" if cell.ours.seeds == cell.planned_seeds else "dim"
                line.append(Text(figure(cell.ours.mean, cell) + (MARK if cell.worse else ""), style))
        table.add_row(*line)
    return table


def left_words(seconds: float) -> str:
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def print_reproductions(found: Sequence[Reproduction]) -> None:
    """Every table, then what it was made with."""
    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(Text(writable(text, out), style))

    for each in found:
        say(f"{each.id}: {each.title}", "bold")
        say(each.paper, "dim")
        for notice in notices(each):
            say(notice, "bold")
        for measure, cells in by_measure(each).items():
            say(f"{measure}, {cells[0].better} is better", "dim")
            rows = [[writable(text, out) for text in row(cell)] for cell in cells]
            print_table(HEADINGS, rows, right=HEADINGS[2:])
        if each.cells:
            say(" ".join(word for word in (verdict(each), beside(each)) if word))
        else:
            say(f"{len(each.curves)} curves: in the report")
        say(made_with(each), "dim")
        out.print()


def writable(text: str, out: Console) -> str:
    """The signs of the tables as the terminal can show them."""
    utf = out.encoding.lower().startswith("utf")
    return text if utf else text.replace("±", "+-").replace(MARK, "(!)").encode("ascii", "replace").decode()
