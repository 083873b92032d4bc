"""`edgewise reproduce`: the papers' tables and figures, ours beside theirs."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from edgewise.cli.errors import BadInput, RunFailed, debug_option, reading_input, writing

if TYPE_CHECKING:
    from edgewise.reproduction.declarations import Declaration
    from edgewise.reproduction.running import Run

DEFAULT_OUT = "reproduction"
EPILOG = """\b
Examples:
  edgewise reproduce --list
  edgewise reproduce 000/table-3 --quick
  edgewise reproduce 000/table-3 --data Balance,Cars --seeds 2
  edgewise reproduce 003                 all of that paper
  edgewise reproduce all --jobs 2
"""


@click.command(epilog=EPILOG, short_help="The papers' tables and figures, ours beside theirs.")
@click.argument("ids", nargs=-1, metavar="[ID...|all]")
@click.option("--list", "listed", is_flag=True, help="Name the tables and figures, and run nothing.")
@click.option("--quick", is_flag=True, help="Fewer rows, seeds and learners: minutes instead of hours, and said so.")
@click.option("--seeds", metavar="K", type=click.IntRange(min=1), help="Seeds 1 to K. [default: as declared]")
@click.option(
    "--jobs",
    metavar="J",
    type=click.IntRange(min=1),
    help="Runs at a time, each in one thread. [default: one for each core]",
)
@click.option("--data", metavar="NAMES", help="Only these data sets, as a,b.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(DEFAULT_OUT),
    show_default=True,
    help="Folder for report.html, results.json, results.csv and results.md.",
)
@click.option(
    "--papers",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder with declarations of your own, instead of the papers'.",
)
@debug_option
def reproduce(
    ids: tuple[str, ...],
    listed: bool,
    quick: bool,
    seeds: int | None,
    jobs: int | None,
    data: str | None,
    out: Path,
    papers: Path | None,
) -> None:
    """Run the papers' experiments again: ours, the paper's value, the difference, the spread over seeds, the seconds.

    A run is a data set, an algorithm and a seed. Finished runs are kept in the cache (EDGEWISE_CACHE, else the user's):
    what was interrupted continues, what is finished is shown at once. A value worse than the paper's by more than two
    standard errors is marked.
    """
    from edgewise.cli.show import ReproductionProgress
    from edgewise.reproduction import declarations as declared

    with reading_input():
        known = declared.declarations() if papers is None else declared.read(papers)
        if listed:
            _list(known)
            return
        if not ids:
            raise ValueError(f"no ID given: all, or some of {', '.join(known)}")
        run = _planned(declared.choose(ids, known), quick, seeds, data)
    began = time.monotonic()
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    stopped = False
    workers = jobs or os.cpu_count() or 1
    try:
        with ReproductionProgress(run, workers) as progress:
            run.work(workers, progress.finished)
    except KeyboardInterrupt:
        stopped = True
    _finish(run, out, time.monotonic() - began)
    if stopped:
        raise click.Abort
    if run.failed:
        raise RunFailed(f"{len(run.failed)} runs failed: see 'Missing' above")


def _list(known: dict[str, Declaration]) -> None:
    from edgewise.cli.show import print_table
    from edgewise.reproduction.planning import Options, lines_of

    rows = []
    for each in known.values():
        runs = sum(len(line.jobs) for line in lines_of(each, Options()))
        rows.append((each.id, each.title, str(len(each.data)), str(runs)))
    print_table(("id", "what", "data sets", "runs"), rows, right=("data sets", "runs"))


def _planned(chosen: list[Declaration], quick: bool, seeds: int | None, data: str | None) -> Run:
    from edgewise.reproduction.planning import Options, check_data, sets_of
    from edgewise.reproduction.running import Run

    names = None if data is None else tuple(name for name in data.split(",") if name)
    if names is not None:
        if not names:
            raise BadInput(f"--data {data!r} names no data set")
        check_data(names, chosen)
    options = Options(quick, seeds, names)
    return Run([each for each in chosen if sets_of(each, options)], options)


def _finish(run: Run, out: Path, seconds: float) -> None:
    """Write and print what there is, also of a run that was stopped."""
    from edgewise.cli.show import print_reproductions
    from edgewise.reproduction import report, results, tables

    found = results.reproductions(run)
    with writing(out):
        results.save(found, out / "results.json")
        (out / "results.csv").write_text(tables.comma_separated(found), encoding="utf-8")
        (out / "results.md").write_text(tables.markdown(found), encoding="utf-8")
        (out / "report.html").write_text(report.html(found), encoding="utf-8")
    print_reproductions(found)
    learning = sum(kept.record.seconds for kept in run.kept.values())
    click.echo(
        f"{len(run.kept)} of {len(run.tasks)} runs, {learning / 60:.1f} CPU minutes of learning; "
        f"this call took {seconds / 60:.1f} minutes"
    )
    for name in ("report.html", "results.json", "results.csv", "results.md"):
        click.echo(out / name)
