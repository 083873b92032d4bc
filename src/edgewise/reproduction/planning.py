"""From a declaration to the jobs that fill its table: data set x algorithm x seed, whole or cut by --quick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from edgewise.reproduction.declarations import Algorithm, Data, Declaration
from edgewise.reproduction.games import Job


class Options(NamedTuple):
    """What the user asked for."""

    quick: bool = False
    seeds: int | None = None  # None: as declared
    data: tuple[str, ...] | None = None  # names of the table or of `edgewise.datasets`; None: all


class Line(NamedTuple):
    """A data set and an algorithm (or a default) of a declaration, with its jobs, one for each seed."""

    data: Data
    algorithm: Algorithm
    jobs: tuple[Job, ...]


def sets_of(declared: Declaration, options: Options) -> list[Data]:
    """The data sets that are wanted."""
    if options.data is not None:
        return [each for each in declared.data if {each.name, each.load} & set(options.data)]
    cut = declared.quick.data if options.quick else None
    return [each for each in declared.data if not cut or each.name in cut]


def lines_of(declared: Declaration, options: Options) -> list[Line]:
    """Every data set with every algorithm that is run on it, then the defaults that stand beside them."""
    lines = []
    for data in sets_of(declared, options):
        played = [each for each in declared.algorithms if each.data is None or data.name in each.data]
        beside = dict.fromkeys(each.defaults for each in played if each.defaults)
        for algorithm in [*played, *(declared.defaults[name] for name in beside)]:
            jobs = () if algorithm.best_of else tuple(_jobs(data, algorithm, options))
            lines.append(Line(data, algorithm, jobs))
    return lines


def check_data(names: Sequence[str], chosen: Sequence[Declaration]) -> None:
    """ValueError for a name that no declaration has."""
    known = {each.name: each.load for declared in chosen for each in declared.data}
    for name in names:
        if name not in {*known, *known.values()}:
            raise ValueError(f"data {name!r}: not one of {', '.join(known)}")


def describe_quick(declared: Declaration, options: Options) -> str | None:
    """What was cut, in words."""
    if not options.quick:
        return None
    sets = sets_of(declared, options)
    cuts = []
    for quick in (each.quick for each in sets):
        limits = [f"at most {quick.rows:,} rows"] if quick.rows else []
        limits += [f"at most {quick.learners} learners"] if quick.learners else []
        limits += [f"{name} {value}" for name, value in quick.settings.items()]
        cuts.append(", ".join(limits))
    same = len(set(cuts)) == 1
    words = cuts[:1] if same else [f"{each.name}: {cut}" for each, cut in zip(sets, cuts, strict=True)]
    seeds = sorted({len(line.jobs) for line in lines_of(declared, options) if line.jobs})
    words.append(f"{' or '.join(map(str, seeds))} {'seed' if seeds == [1] else 'seeds'}")
    left_out = [each.name for each in sets_of(declared, options._replace(quick=False)) if each not in sets]
    words += [f"without {', '.join(left_out)}"] if left_out else []
    return "; ".join(filter(None, words))


def describe_model(model: Mapping[str, Any]) -> str:
    """A model as one would write it: AdaBoostOLM.preset('paper', n_estimators=100)."""
    arguments = [f"{name}={_word(value)}" for name, value in model.items() if name not in ("class", "preset")]
    if "preset" in model:
        return f"{model['class']}.preset({', '.join([repr(model['preset']), *arguments])})"
    return f"{model['class']}({', '.join(arguments)})"


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return describe_model(value) if "class" in value else str(dict(value))
    return f"({', '.join(_word(inner) for inner in value)})" if isinstance(value, list) else repr(value)


def _jobs(data: Data, algorithm: Algorithm, options: Options) -> Iterator[Job]:
    model = dict(algorithm.model) | dict(data.changes.get(algorithm.name, {}))
    settings = dict(data.settings) | dict(algorithm.settings)
    rows, seeds = None, min(data.seeds, algorithm.seeds or data.seeds)
    if options.quick:
        rows, seeds = data.quick.rows, min(seeds, data.quick.seeds or seeds)
        settings |= dict(data.quick.settings)
        if data.quick.learners and model:
            model["n_estimators"] = min(model.get("n_estimators", data.quick.learners), data.quick.learners)
    for seed in range(1, (options.seeds or seeds) + 1):
        yield Job(algorithm.game, data.load, model, settings, seed, rows)
