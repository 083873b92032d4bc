"""The tables and figures that can be reproduced: one TOML file each in `papers/`, read and checked here.

A file says what the paper did and what it printed; no code belongs to a table. `papers/000-table-3.toml`:

    id = "000/table-3"
    title = "..."                           # of the table or figure
    paper = "..."                           # citation
    what = "..."                            # what it shows
    departures = ["..."]                    # from the paper, a sentence each
    like = "000/table-1"                    # optional: whatever this file leaves out is as in that one
    only = {data = ["Car"], algorithms = []} # optional: these of its sets and algorithms, if not all
    game = "labels"                         # how a cell is run: a module of `games`, see `games/__init__.py`
    curves = ["learning"]                   # which of a run's curves are shown, of the kinds of `results.CURVE_KINDS`
    seeds = 5                               # shuffles, unless a data set says otherwise
    paper_seconds = "000/table-5"           # optional: the declaration whose printed values are seconds; where a table
                                            # prints them itself they are in [printed-seconds.Balance]

    [measures.last_fifth]                   # a measure that the game reports ("seconds" is one), in the table's order
    title = "accuracy, last fifth"
    better = "higher"                       # or "lower"

    [[data]]
    name = "Balance"                        # as in the table
    load = "balance"                        # as `edgewise.datasets` calls it; none: the game needs no data
    preparation = "..."                     # in words
    seeds = 3                               # optional
    needs = "cuda"                          # optional: a module, or a CUDA device, without which it cannot run
    printed_as = "Cars"                     # optional: its line among the printed values, if not its name
    settings = {copies = 10}                # optional: for the game
    with.AdaBandit = {n_estimators = 15}    # optional: changes an algorithm's model on this set
    quick = {rows = 500}                    # optional: instead of the table's

    [[algorithm]]
    name = "DT"
    game = "best_tree"                      # optional: instead of the table's
    model = {class = "OnlineMBBM", preset = "paper", edge = 0.1}
    settings = {}                           # optional: for the game
    data = ["Balance"]                      # optional: only on these sets
    seeds = 1                               # optional: at most so many
    needs = "torch"                         # optional: a module without which it cannot run
    best_of = ["MB .3", "MB .1"]            # instead of a model: the best mean among these algorithms, set by set
    defaults = "AdaBoostOLM()"              # optional: which of the defaults below stands beside it

    [defaults."AdaBoostOLM()"]              # this library's defaults, as an algorithm; the first is every algorithm's
    model = {class = "AdaBoostOLM"}

    [[across]]                              # optional: a curve whose points are algorithms
    kind = "error"
    name = "MM"                             # of the line; those of the same `curve` share a picture
    curve = "test error by size of trees"
    x_label = "leaves"
    y_label = "test error"
    measure = "test_error"
    points = [[5, "MM 5"], [10, "MM 10"]]

    [quick]                                 # what --quick cuts
    rows = 1000
    seeds = 1
    learners = 20                           # at most so many, in every model
    data = ["Balance"]                      # only these sets
    settings = {rounds = 50}                # for the game

    [printed.Balance]                       # the paper's values of the first measure; of another: [printed-all.Balance]
    DT = 0.768

Inside a model, a table with `class` is made an object of edgewise (`preset` names its preset), a list becomes a tuple.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from edgewise.reproduction.results import CURVE_KINDS, HIGHER, LOWER

PAPERS = Path(__file__).parent / "papers"

Printed = Mapping[tuple[str, str], float]  # (data, algorithm) -> the paper's value


class Measure(NamedTuple):
    name: str
    title: str
    better: str


class Quick(NamedTuple):
    """What --quick leaves of a table."""

    rows: int | None = None
    seeds: int | None = None
    learners: int | None = None
    data: tuple[str, ...] | None = None
    settings: Mapping[str, Any] = {}


class Data(NamedTuple):
    """A data set of the table."""

    name: str
    load: str | None
    preparation: str
    seeds: int
    needs: str | None
    printed_as: str
    settings: Mapping[str, Any]
    changes: Mapping[str, Mapping[str, Any]]  # algorithm -> what differs in its model on this set
    quick: Quick


class Algorithm(NamedTuple):
    """A column of the table; `defaults` names the one with this library's defaults that stands beside it."""

    name: str
    game: str
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    data: tuple[str, ...] | None
    seeds: int | None
    needs: str | None
    best_of: tuple[str, ...]
    defaults: str | None


Named = TypeVar("Named", Data, Algorithm)


class Across(NamedTuple):
    """A line whose points are algorithms: the mean of a measure at each x."""

    kind: str
    name: str
    curve: str
    x_label: str
    y_label: str
    measure: str
    points: tuple[tuple[float, str], ...]


class Declaration(NamedTuple):
    """A table or figure of a paper, as it is to be run."""

    id: str
    title: str
    paper: str
    what: str
    departures: tuple[str, ...]
    curves: tuple[str, ...]
    measures: tuple[Measure, ...]
    data: tuple[Data, ...]
    algorithms: tuple[Algorithm, ...]
    defaults: Mapping[str, Algorithm]
    across: tuple[Across, ...]
    quick: Quick
    printed: Mapping[str, Printed]  # by measure
    paper_seconds: Printed


def read(folder: Path = PAPERS) -> dict[str, Declaration]:
    """All declarations of a folder by id, in the order of their ids."""
    plain: dict[str, tuple[Path, dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            text = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: {error}") from None
        plain[text.get("id", path.stem)] = (path, text)
    found: dict[str, Declaration] = {}
    timed = {}
    for name, (path, text) in plain.items():
        like = text.get("like")
        if like is not None and like not in plain:
            raise ValueError(f"{path}: like = {like!r}, which is not declared")
        inherited = {} if like is None else plain[like][1]
        inherited = {key: value for key, value in inherited.items() if not key.startswith("printed")}  # a table's own
        timed[name] = (inherited | text).get("paper_seconds")
        try:
            found[name] = _declaration(inherited | text)
        except (KeyError, TypeError, ValueError) as error:
            said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"{path}: {said}") from error
    for name, other in timed.items():
        if other is not None:
            if other not in found:
                raise ValueError(f"{plain[name][0]}: paper_seconds = {other!r}, which is not declared")
            found[name] = found[name]._replace(paper_seconds=next(iter(found[other].printed.values())))
    return dict(sorted(found.items()))


@cache
def declarations() -> dict[str, Declaration]:
    """The tables and figures of the papers."""
    return read()


def choose(ids: Sequence[str], known: Mapping[str, Declaration]) -> list[Declaration]:
    """The declarations that are named; "all", or none named, is all of them; "000" is all of that paper."""
    if not ids or "all" in ids:
        return list(known.values())
    chosen: dict[str, Declaration] = {}
    for name in ids:
        matching = {key: each for key, each in known.items() if name in (key, key.partition("/")[0])}
        if not matching:
            close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
            hint = f" (did you mean {' or '.join(close)}?)" if close else ""
            raise ValueError(f"unknown table or figure {name!r}{hint}; there are {', '.join(known)}")
        chosen |= matching
    return list(chosen.values())


def _declaration(text: Mapping[str, Any]) -> Declaration:
    _only(text, {*_TOP, *(key for key in text if key.startswith("printed"))}, "the file")
    game, seeds = text["game"], text.get("seeds", 1)
    quick = _quick(text.get("quick", {}))
    measures = tuple(Measure(name, **about) for name, about in text.get("measures", {}).items())
    defaults = {
        name: _algorithm({"name": name} | about, game, None) for name, about in text.get("defaults", {}).items()
    }
    first = next(iter(defaults), None)
    _check_changes(text)
    only = text.get("only", {})
    _only(only, ("data", "algorithms"), "only")
    algorithms = _named([_algorithm(about, game, first) for about in text["algorithm"]], only.get("algorithms"))
    data = _named([_data(about, seeds, quick) for about in text["data"]], only.get("data"))
    across = tuple(
        Across(**about | {"points": tuple((x, name) for x, name in about["points"])})
        for about in text.get("across", ())
    )
    printed = {}
    for position, measure in enumerate(measures):
        printed[measure.name] = _values(text, "printed" if position == 0 else f"printed-{measure.name}")
    declared = Declaration(
        text["id"],
        text["title"],
        text["paper"],
        text["what"],
        tuple(text.get("departures", ())),
        tuple(text.get("curves", ())),
        measures,
        data,
        algorithms,
        defaults,
        across,
        quick,
        printed,
        _values(text, "printed-seconds"),
    )
    _check(declared)
    return declared


def _values(text: Mapping[str, Any], key: str) -> Printed:
    return {(d, a): float(value) for d, row in text.get(key, {}).items() for a, value in row.items()}


_TOP = (
    "id", "title", "paper", "what", "departures", "like", "only", "game", "curves", "seeds", "paper_seconds",
    "measures", "data", "algorithm", "defaults", "across", "quick",
)  # fmt: skip


def _named(every: Sequence[Named], names: Sequence[str] | None) -> tuple[Named, ...]:
    """Those with the names, or all of them."""
    known = [each.name for each in every]
    for name in names or ():
        if name not in known:
            raise ValueError(f"only: {name!r} is not one of {', '.join(known)}")
    return tuple(each for each in every if names is None or each.name in names)


def _data(about: Mapping[str, Any], seeds: int, quick: Quick) -> Data:
    known = ("name", "load", "preparation", "seeds", "needs", "printed_as", "settings", "with", "quick")
    _only(about, known, f"data {about.get('name')}")
    return Data(
        about["name"],
        about.get("load"),
        about.get("preparation", ""),
        about.get("seeds", seeds),
        about.get("needs"),
        about.get("printed_as", about["name"]),
        about.get("settings", {}),
        about.get("with", {}),
        quick._replace(**about.get("quick", {})),
    )


def _algorithm(about: Mapping[str, Any], game: str, defaults: str | None) -> Algorithm:
    known = ("name", "game", "model", "settings", "data", "seeds", "needs", "best_of", "defaults")
    _only(about, known, f"algorithm {about.get('name')}")
    return Algorithm(
        about["name"],
        about.get("game", game),
        about.get("model", {}),
        about.get("settings", {}),
        tuple(about["data"]) if "data" in about else None,
        about.get("seeds"),
        about.get("needs"),
        tuple(about.get("best_of", ())),
        about.get("defaults", defaults),
    )


def _quick(about: Mapping[str, Any]) -> Quick:
    _only(about, Quick._fields, "quick")
    return Quick(**about)


def _only(about: Mapping[str, Any], known: Sequence[str] | set[str], where: str) -> None:
    """A misspelt key would otherwise change a run without a word."""
    for key in about:
        if key not in known:
            raise ValueError(f"{where}: {key!r} is not one of {', '.join(sorted(known))}")


def _check_changes(text: Mapping[str, Any]) -> None:
    names = {*(about["name"] for about in text["algorithm"]), *text.get("defaults", {})}
    for about in text["data"]:
        for name in about.get("with", {}):
            if name not in names:
                raise ValueError(f"data {about['name']}: with.{name} is no algorithm")


def _check(declared: Declaration) -> None:
    """Names that point nowhere are mistakes in the file."""
    sets = {each.name for each in declared.data}
    lines = {each.printed_as for each in declared.data}
    names = {each.name for each in declared.algorithms}
    for measure in declared.measures:
        if measure.better not in (HIGHER, LOWER):
            raise ValueError(f"measure {measure.name}: better is {measure.better!r}, not {HIGHER} or {LOWER}")
        for line, column in declared.printed[measure.name]:
            if line not in lines or column not in names:
                raise ValueError(f"printed {line}, {column}: no such data set or algorithm")
    for kind in (*declared.curves, *(each.kind for each in declared.across)):
        if kind not in CURVE_KINDS:
            raise ValueError(f"curves: {kind!r} is not one of {', '.join(CURVE_KINDS)}")
    for algorithm in declared.algorithms:
        for name in algorithm.data or ():
            if name not in sets:
                raise ValueError(f"algorithm {algorithm.name}: data {name!r} is not declared")
        for name in algorithm.best_of:
            if name not in names:
                raise ValueError(f"algorithm {algorithm.name}: best_of {name!r} is no algorithm")
        if algorithm.defaults and algorithm.defaults not in declared.defaults:
            raise ValueError(f"algorithm {algorithm.name}: defaults {algorithm.defaults!r} is not declared")
    for across in declared.across:
        for _, name in across.points:
            if name not in names:
                raise ValueError(f"across {across.name}: {name!r} is no algorithm")
