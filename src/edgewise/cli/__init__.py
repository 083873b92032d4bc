"""The `edgewise` command. Only click is imported until a command runs, so that help answers at once."""

from edgewise.cli.app import main

__all__ = ["main"]
