"""`edgewise warmup`: compile ahead."""

from __future__ import annotations

import click

from edgewise.cli.errors import BadInput, debug_option


@click.command(short_help="Compile ahead, so that the first run does not wait.")
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
