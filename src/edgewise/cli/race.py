"""`edgewise race`: models against each other on streams; `edgewise draw`: the picture again from saved runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from edgewise.cli.errors import BadInput, RunFailed, debug_option, message_of, reading_input, writing

if TYPE_CHECKING:
    from edgewise.cli.sources import Source
    from edgewise.evaluation.models import ModelSpec
    from edgewise.evaluation.runs import StreamRun

DEFAULT_MODELS = "olm,mbbm,oza,trees"
DEFAULT_RANKERS = "bmr-rank,bmr-hinge,olmr"  # for multi-label data
DEFAULT_BANDITS = "adabandit,banditbbm,binbandit,olm,mbbm"  # with --bandit: the bandits, and models that see the labels
DEFAULT_OUT = "race-results"
RUNS, PICTURE = "runs.json", "curves.png"

AT_LEAST_1 = click.IntRange(min=1)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ANY_PATH = click.Path(path_type=Path)

RACE_EPILOG = """\b
Examples:
  edgewise race car
  edgewise race car nursery --models olm,mbbm:0.05,trees --seeds 5
  edgewise race letter --rows 5000 --learners 30 --preset paper
  edgewise race my.csv --header --target label --categorical color,size
  edgewise race yeast --models olmr,bmr-hinge:0.05
  edgewise race car --bandit --rate 0.1 --learners 20
  edgewise race car --peers
  edgewise race letter --models olm,capymoa-arf --rows 5000 --learners 30
  edgewise race --from race-results/runs.json
"""


class RaceOptions(NamedTuple):
    """The arguments and options of `edgewise race`."""

    data: tuple[str, ...]
    models: str | None
    learners: int
    seeds: int
    bandit: bool
    rate: float | None
    peers: bool
    rows: int | None
    preset: str | None
    order: str | None
    out: Path | None
    target: str | None
    categorical: str | None
    labels: Path | None
    header: bool | None
    chunk_rows: int
    saved: Path | None


@click.command(epilog=RACE_EPILOG, short_help="Compare models on streams of examples.")
@click.argument("data", nargs=-1, metavar="DATA...")
@click.option(
    "--models",
    "-m",
    metavar="NAMES",
    help=f"Who races (see 'edgewise models'). [default: {DEFAULT_MODELS}; multi-label data: {DEFAULT_RANKERS}; "
    f"--bandit: {DEFAULT_BANDITS}]",
)
@click.option(
    "--learners", "-n", metavar="N", type=AT_LEAST_1, default=100, show_default=True, help="Weak learners per model."
)
@click.option(
    "--seeds",
    metavar="K",
    type=AT_LEAST_1,
    default=1,
    show_default=True,
    help="Repeat with seeds 1 to K: other shuffles, other random choices.",
)
@click.option(
    "--bandit",
    is_flag=True,
    help=f"Bandits, which are told only right or wrong: {DEFAULT_BANDITS}, and Vowpal Wabbit's where it is here.",
)
@click.option(
    "--rate",
    metavar="RHO",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="How often a bandit shows another label than its guess. [default: each model's own]",
)
@click.option(
    "--peers",
    is_flag=True,
    help="Also the learners of CapyMOA, river and Vowpal Wabbit (see 'edgewise models'), as far as they are here.",
)
@click.option("--rows", metavar="R", type=AT_LEAST_1, help="Stop after so many rows.")
@click.option("--preset", type=click.Choice(["paper"]), help="Settings of the paper instead of edgewise's defaults.")
@click.option(
    "--order",
    type=click.Choice(["shuffled", "file"]),
    help="Order of the rows. [default: shuffled; data in time order stay in order]",
)
@click.option("--out", type=ANY_PATH, metavar="DIR", help=f"Folder for {RUNS} and {PICTURE}. [default: {DEFAULT_OUT}]")
@click.option(
    "--target", metavar="COLUMN", help="Your file: the label's column, a name or a number from 0. [default: the last]"
)
@click.option(
    "--categorical",
    metavar="COLUMNS",
    help="Your file: columns of numbers that are really categories, as a,b,c; 0/1 stands for all of only 0 and 1.",
)
@click.option(
    "--labels", metavar="XML", type=FILE, help="Your file: it is a MULAN ARFF, and this file names its labels."
)
@click.option("--header/--no-header", default=None, help="Your file: whether line 1 names the columns.")
@click.option(
    "--chunk-rows", metavar="R", type=AT_LEAST_1, default=500, show_default=True, help="Rows between reports."
)
@click.option("--from", "saved", type=FILE, help="Run nothing: show and draw the runs in this file again.")
@debug_option
def race(**given: Any) -> None:
    """Compare models on streams of examples.

    DATA is the name of a data set (see 'edgewise data list') or a file of your own. Every row is guessed, then learned.
    The race ends in a table, a picture of the learning curves, and a JSON file of all runs. The accuracy of a bandit is
    that of the labels it shows, exploration included.
    """
    from edgewise.evaluation.runs import load_runs

    options = RaceOptions(**given)
    if options.saved is not None:
        if options.data:
            raise BadInput("--from shows saved runs: it takes no DATA")
        with reading_input():
            runs = load_runs(options.saved)
        _finish(runs, (options.out or options.saved.parent) / PICTURE, options.saved)
        return
    if not options.data:
        raise click.UsageError("no DATA given: name a data set or a file, for instance 'edgewise race car'")
    line_ups = _line_ups(options)
    folder = options.out or Path(DEFAULT_OUT)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for source, specs in line_ups:
        _race_on(source, specs, options, runs, folder / RUNS)
    _finish(runs, folder / PICTURE, folder / RUNS)


@click.command(short_help="Draw saved runs again.")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="RUNS.json...")
@click.option("--out", type=ANY_PATH, default=Path(PICTURE), show_default=True, help="The picture: .png, .svg or .pdf.")
@debug_option
def draw(files: tuple[Path, ...], out: Path) -> None:
    """Draw the learning curves of saved runs, from one file or several together.

    \b
    Example:
      edgewise draw race-results/runs.json --out car.svg
    """
    from edgewise.evaluation.runs import load_runs

    with reading_input():
        runs = [run for file in files for run in load_runs(file)]
    _draw(runs, out)
    click.echo(out)


def _line_ups(options: RaceOptions) -> list[tuple[Source, list[ModelSpec]]]:
    """Every stream with the models that race on it."""
    from edgewise.cli.sources import parse_sources

    chosen = None if options.models is None else _parse_models(options.models, options.preset)
    about_a_file = {name: getattr(options, name) for name in ("target", "categorical", "header", "labels")}
    with reading_input():
        sources = parse_sources(options.data, **about_a_file)
        given = options.header is not None or options.target or options.categorical or options.labels
        if given and all(source.path is None for source in sources):
            raise ValueError(
                "--target, --categorical, --labels and --header are about a file of yours; DATA names none"
            )
    line_ups = [(source, _fitting(source, chosen, options)) for source in sources]
    if options.peers or (options.bandit and chosen is None):
        peers = _peers_here(sources, options.bandit)
        line_ups = [(source, list(dict.fromkeys([*specs, *peers]))) for source, specs in line_ups]
    if options.rate is not None:
        line_ups = [(source, [replace(spec, rate=options.rate) for spec in specs]) for source, specs in line_ups]
    return line_ups


def _parse_models(text: str, preset: str | None) -> list[ModelSpec]:
    from edgewise.evaluation.models import KNOWN, ModelSpec

    names = [name for name in text.split(",") if name.strip()]
    if not names:
        raise BadInput(f"--models {text!r} names no model")
    with reading_input():
        specs = list(dict.fromkeys(ModelSpec.parse(name, preset) for name in names))
    for spec in specs:
        lacking = KNOWN[spec.name].missing()
        if lacking is not None:
            raise BadInput(f"{spec}: {lacking}")
    return specs


def _fitting(source: Source, chosen: list[ModelSpec] | None, options: RaceOptions) -> list[ModelSpec]:
    """The models asked for, which must fit the data, or those that fit it."""
    from edgewise.evaluation.models import KNOWN

    if options.bandit and source.multi_label:
        raise BadInput(f"--bandit plays for single labels, and {source.name} has label sets")
    if chosen is None:
        fitting = DEFAULT_RANKERS if source.multi_label else DEFAULT_BANDITS if options.bandit else DEFAULT_MODELS
        return _parse_models(fitting, options.preset)
    for spec in chosen:
        if KNOWN[spec.name].ranks != source.multi_label:
            needs, has = ("label sets", "single labels") if KNOWN[spec.name].ranks else ("single labels", "label sets")
            names = ", ".join(name for name, entry in KNOWN.items() if entry.ranks == source.multi_label)
            raise BadInput(f"{spec} learns from {needs}, and {source.name} has {has}; models for those: {names}")
    return chosen


def _peers_here(sources: list[Source], bandit: bool) -> list[ModelSpec]:
    """The peers that play the same game and can race here; the others are named on stderr."""
    from edgewise.evaluation.models import PEERS, ModelSpec

    for source in sources:
        if source.multi_label:
            raise BadInput(f"--peers: they learn from single labels, and {source.name} has label sets")
    reasons: dict[str | None, list[str]] = {}
    for name, entry in PEERS.items():
        if entry.bandit == bandit:
            reasons.setdefault(entry.missing(), []).append(name)
    here = reasons.pop(None, [])
    for reason, names in reasons.items():
        click.echo(f"without {', '.join(names)}: {reason}", err=True)
    return [ModelSpec(name) for name in here]


def _load(source: Source) -> tuple[Any, Any]:
    """A file of the user's that cannot be read is bad input; a data set that cannot be had is a failure."""
    from edgewise.cli.sources import advice, load_source

    try:
        X, y = load_source(source)
    except (ValueError, OSError) as error:
        raise (RunFailed if source.path is None else BadInput)(message_of(error)) from error
    hint = advice(source, X)
    if hint is not None:
        click.echo(hint, err=True)
    return X, y


def _race_on(source: Source, specs: list[ModelSpec], options: RaceOptions, runs: list[StreamRun], saved: Path) -> None:
    """Race on one stream; every finished run is saved at once, so that Ctrl-C loses only the one under way."""
    from edgewise.cli.show import RaceProgress
    from edgewise.evaluation.racing import race_runs
    from edgewise.evaluation.runs import save_runs

    data = _load(source)
    models = {str(spec): (lambda seed, spec=spec: spec.make(options.learners, seed)) for spec in specs}
    with RaceProgress(len(models) * options.seeds) as progress:
        laps = race_runs(
            models,
            {source.name: data},
            range(1, options.seeds + 1),
            order=options.order or ("file" if source.in_order else "shuffled"),
            rows=options.rows,
            progress=progress.step,
            chunk_rows=options.chunk_rows,
        )
        while True:
            try:
                run = next(laps, None)
            except Exception as error:
                raise RunFailed(f"{source.name}, {progress.model}: {message_of(error)}") from error
            if run is None:
                return
            runs.append(run)
            with writing(saved):
                save_runs(runs, saved)
            progress.finish(run)


def _finish(runs: list[StreamRun], picture: Path, saved: Path) -> None:
    from edgewise.cli.show import print_summary
    from edgewise.evaluation.racing import summarize

    print_summary(summarize(runs))
    _draw(runs, picture)
    click.echo(f"learning curves: {picture}")
    click.echo(f"runs:            {saved}")


def _draw(runs: list[StreamRun], picture: Path) -> None:
    from edgewise.plot import draw as draw_runs

    with writing(picture):
        try:
            draw_runs(runs, picture)
        except ValueError as error:
            raise BadInput(message_of(error)) from error
