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

    for name in _known(names):
        try:
            datasets.fetch(name)
        except (OSError, ValueError) as error:
            raise RunFailed(words_of(error)) from error
        click.echo(f"{name}: {datasets.where(name)}")


@data.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@debug_option
def check(names: tuple[str, ...]) -> None:
    """Compare data files with their checksums: all that are here, or those of the sets named."""
    from edgewise.data import datasets

    bad = []
    for name in _known(names) or datasets.names():
        for file, state in datasets.check(name).items():
            if state == "missing" and not names:
                continue
            click.echo(f"{name}: {file}: {state}")
            if state == "missing" or state.startswith("changed"):
                bad.append(file)
    if bad:
        raise RunFailed(f"missing or changed: {', '.join(bad)}")


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    from edgewise.data import datasets
    from edgewise.evaluation.models import suggestion

    known = datasets.names()
    with reading_input():
        for name in names:
            if name not in known:
                raise ValueError(f"unknown data set {name!r}; {suggestion(name, known)}")
    return names
