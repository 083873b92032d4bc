"""The `edgewise` command: its help, one policy for errors, and the commands that are only a few lines.

Only click is imported until a command runs, so that help answers at once. An error is one line on stderr. Exit codes: 0
done, 1 the run failed, 2 bad usage or input, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

import edgewise
from edgewise.cli.errors import BadInput, RunFailed, debug_option, message_of, outcome, reading_input
from edgewise.cli.race import draw, race
from edgewise.cli.reproduce import reproduce

__all__ = ["main"]

EPILOG = """\b
Start here:
  edgewise race car                    compare four boosters on the bundled Car data
  edgewise race letter --models olm,oza --learners 50 --seeds 3
  edgewise race my.csv --header --target label
  edgewise data list                   the data sets and where they are
  edgewise reproduce --list            the papers' tables and figures
"""


class Commands(click.Group):
    """A group whose errors are one line each; `--debug` adds the traceback."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        settings = {"debug": False}
        try:
            code = super().main(args, prog_name or "edgewise", **extra, standalone_mode=False, obj=settings)
        except (Exception, KeyboardInterrupt) as error:
            message, code = outcome(error)
            if settings["debug"]:
                click.echo(traceback.format_exc(), err=True, nl=False)
            click.echo(f"edgewise: error: {' '.join(message.split())}", err=True)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of use, not of the alphabet


@click.group(
    "edgewise",
    cls=Commands,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(edgewise.__version__, prog_name="edgewise")
@debug_option
@click.pass_context
def main(context: click.Context) -> None:
    """Online boosting: many weak learners become one strong learner, one example at a time.

    Every row of a stream is guessed first and learned right after, so the accuracy you see is always on rows that the
    model had not seen.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


main.add_command(race)
main.add_command(draw)


@main.group()
@debug_option
def data() -> None:
    """Data sets: list them, fetch them, check them.

    A data set is looked for in the package itself (bundled), in the folder that the environment variable EDGEWISE_DATA
    names, and in the cache of earlier downloads.
    """


@data.command("list")
@debug_option
def list_() -> None:
    """List the data sets and where each is found."""
    from edgewise.cli.show import print_table
    from edgewise.data import datasets

    names = ("name", "rows", "features", "classes", "order", "where")
    rows = []
    for name in datasets.names():
        about = datasets.info(name)
        order = "time" if about.in_order else "any"
        classes = f"{about.classes} labels" if about.labels else str(about.classes or "real")
        rows.append((name, f"{about.rows:,}", str(about.features), classes, order, datasets.where(name)))
    print_table(names, rows, right=names[1:4])


@data.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@debug_option
def fetch(names: tuple[str, ...]) -> None:
    """Download data sets into the cache (nothing happens for those already here)."""
    from edgewise.data import datasets

    _check_names(names)
    for name in names:
        try:
            datasets.fetch(name)
        except (OSError, ValueError) as error:
            raise RunFailed(message_of(error)) from error
        click.echo(f"{name}: {datasets.where(name)}")


@data.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@debug_option
def check(names: tuple[str, ...]) -> None:
    """Compare data files with their checksums: all that are here, or those of the sets named."""
    from edgewise.data import datasets

    _check_names(names)
    bad = []
    for name in names or datasets.names():
        for file, state in datasets.check(name).items():
            if state == "missing" and not names:
                continue
            click.echo(f"{name}: {file}: {state}")
            if state == "missing" or state.startswith("changed"):
                bad.append(file)
    if bad:
        raise RunFailed(f"missing or changed: {', '.join(bad)}")


def _check_names(names: tuple[str, ...]) -> None:
    from edgewise.data import datasets
    from edgewise.evaluation.models import suggestion

    known = datasets.names()
    with reading_input():
        for name in names:
            if name not in known:
                raise ValueError(f"unknown data set {name!r}; {suggestion(name, known)}")


@main.command(short_help="List the models that can race.")
@debug_option
def models() -> None:
    """List the models that can race, and the published algorithm behind each.

    \b
    A model is asked for by name, with two optional additions:
      mbbm:0.05    an edge (OnlineMBBM, OnlineBMR and BanditBBM)
      olm@paper    the setting of the paper, instead of edgewise's defaults

    Peers are learners of other libraries: 'pip install edgewise[peers]' and, for CapyMOA, Java. They race when named,
    or all together with 'edgewise race DATA --peers'.
    """
    from edgewise.cli.show import print_table
    from edgewise.evaluation.models import MODELS, PEERS

    rows = [(name, entry.algorithm, entry.description) for name, entry in MODELS.items()]
    print_table(("model", "algorithm", "what it is"), rows)
    click.echo()
    theirs = [(name, entry.algorithm, entry.description, entry.missing() or "yes") for name, entry in PEERS.items()]
    print_table(("peer", "algorithm", "whose it is", "can race here"), theirs)


main.add_command(reproduce)


@main.command(short_help="Compile ahead, so that the first run does not wait.")
@click.argument("families", nargs=-1, metavar="[FAMILY...]")
@debug_option
def warmup(families: tuple[str, ...]) -> None:
    """Compile ahead, so that the first run does not wait; what is compiled already is only loaded.

    FAMILY is labels, rankings, bandits, numbers or batch; all of them if none is named. Compiled code is kept in the
    user's cache, or in the folder that NUMBA_CACHE_DIR names, apart for every version of edgewise.

    \b
    Example:
      edgewise warmup labels
    """
    import time

    from edgewise.cli.show import console
    from edgewise.evaluation.models import FAMILIES, compile_family
    from edgewise.kernels.compile import CACHE

    unknown = [name for name in families if name not in FAMILIES]
    if unknown:
        raise BadInput(f"no family {unknown[0]!r}: {', '.join(FAMILIES)}")
    screen = console(stderr=True)
    for family in dict.fromkeys(families or FAMILIES):
        began = time.perf_counter()
        with screen.status(family) as status:
            compile_family(family, lambda name, family=family: status.update(f"{family}: {name}"))  # type: ignore[misc]
        click.echo(f"{family:<9} {time.perf_counter() - began:6.1f} s")
    click.echo(f"compiled code: {CACHE}")
