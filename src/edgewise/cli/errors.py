"""The two kinds of errors a user meets, and the option that shows where one came from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


class BadInput(click.UsageError):
    """What was asked for cannot be: exit code 2."""


class RunFailed(click.ClickException):
    """What was asked for went wrong on the way: exit code 1."""

    exit_code = 1


@contextmanager
def reading_input() -> Iterator[None]:
    """What the library refuses in here, it refuses because of the user's input."""
    try:
        yield
    except (ValueError, KeyError, LookupError, OSError) as error:
        raise BadInput(message_of(error)) from error


@contextmanager
def writing(path: Any) -> Iterator[None]:
    """A file that cannot be written is a failure of the run, and the message names it."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"cannot write {path}: {error.strerror or error}") from error


def outcome(error: BaseException) -> tuple[str, int]:
    """The message of an error that ends a command, and the exit code."""
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return "stopped", 130
    if isinstance(error, click.UsageError):
        at = error.ctx.command_path if error.ctx else "edgewise"
        return error.format_message() + ("" if isinstance(error, BadInput) else f" (see '{at} --help')"), 2
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    return f"{type(error).__name__}: {error}", 1  # a fault of the run, and still one line


def message_of(error: BaseException) -> str:
    """An error as a user reads it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])  # str(KeyError) would quote the message
    return str(error) or type(error).__name__


def debug_option(command: Any) -> Any:
    """`--debug`, accepted before and after the name of a command."""

    def switch(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            context.find_root().obj["debug"] = True

    return click.option(
        "--debug",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=switch,
        help="Show the traceback of an error.",
    )(command)
