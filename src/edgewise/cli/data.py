"""`edgewise data`: the data sets, where they are, and whether they are whole."""

from __future__ import annotations

import click

from edgewise.cli.errors import RunFailed, debug_option, reading_input, words_of


@click.group()
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
    from edgewise.streams import datasets

    rows = []
    for name in datasets.names():
        about = datasets.info(name)
        rows.append((name, f"{about.rows:,}", about.features, about.classes, datasets.where(name)))
    print_table(("name", "rows", "features", "classes", "where"), rows, right=("rows", "features", "classes"))


@data.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@debug_option
def fetch(names: tuple[str, ...]) -> None:
    """Download data sets into the cache (nothing happens for those already here)."""
    from edgewise.streams import datasets

    for name in _known(names):
        try:
            datasets.fetch(name)
        except (OSError, ValueError) as error:
            raise RunFailed(f"{name}: {words_of(error)}") from error
        click.echo(f"{name}: {datasets.where(name)}")


@data.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@debug_option
def check(names: tuple[str, ...]) -> None:
    """Compare data files with their checksums, all that are here or those named."""
    from edgewise.streams import datasets

    for name in _known(names):
        click.echo(f"{name}: {datasets.check(name)}")


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    from edgewise.evaluation.models import suggestion
    from edgewise.streams import datasets

    known = datasets.names()
    with reading_input():
        for name in names:
            if name not in known:
                raise ValueError(f"unknown data set {name!r}; {suggestion(name, known)}")
    return names
