"""The command's root: its help, and one policy for errors.

An error is one line on stderr. Exit codes: 0 done, 1 the run failed, 2 bad usage or input, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

import edgewise
from edgewise.cli.data import data
from edgewise.cli.errors import BadInput, debug_option
from edgewise.cli.models import models
from edgewise.cli.race import draw, race
from edgewise.cli.reproduce import reproduce
from edgewise.cli.warmup import warmup

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
        extra.update(standalone_mode=False, obj={"debug": False})
        try:
            code = super().main(args, prog_name or "edgewise", **extra)
        except (click.Abort, KeyboardInterrupt):
            self._say("stopped", extra["obj"])
            sys.exit(130)
        except click.UsageError as error:
            at = error.ctx.command_path if error.ctx else "edgewise"
            hint = "" if isinstance(error, BadInput) else f" (see '{at} --help')"
            self._say(error.format_message() + hint, extra["obj"])
            sys.exit(2)
        except click.ClickException as error:
            self._say(error.format_message(), extra["obj"])
            sys.exit(error.exit_code)
        except Exception as error:  # whatever is left is a fault of the run, and still gets its one line
            self._say(f"{type(error).__name__}: {error}", extra["obj"])
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of use, not of the alphabet

    @staticmethod
    def _say(message: str, settings: dict[str, bool]) -> None:
        if settings["debug"]:
            click.echo(traceback.format_exc(), err=True, nl=False)
        click.echo(f"edgewise: error: {' '.join(message.split())}", err=True)


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


for command in (race, draw, data, models, reproduce, warmup):
    main.add_command(command)
