"""`edgewise models`: what can race."""

from __future__ import annotations

import click

from edgewise.cli.errors import debug_option


@click.command(short_help="List the models that can race.")
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
    from edgewise.cli.show import print_models
    from edgewise.evaluation.models import MODELS, PEERS

    print_models(MODELS, PEERS)
