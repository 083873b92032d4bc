"""The tables and figures that can be reproduced: one TOML file each in `papers/`, read and checked here.

A file says what the paper did and what it printed; no code belongs to a table. `papers/000-table-3.toml`:

    id = "000/table-3"
    title = "..."                           # of the table or figure
    paper = "..."                           # citation
    what = "..."                            # what it shows
    departures = ["..."]                    # from the paper, a sentence each
    like = "000/table-1"                    # optional: whatever this file leaves out is as in that one
    only = {data = ["Car"], algorithms = []} # optional: these of its sets and algorithms, if not all
    game = "labels"                         # how a cell is run: one of `games.GAMES`
    curves = ["learning"]                   # which of a run's curves are shown, of the kinds of `CURVE_KINDS`
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
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

PAPERS = Path(__file__).parent / "papers"
CURVE_KINDS = ("learning", "edge", "weight", "bound", "cost", "error")
HIGHER, LOWER = "higher", "lower"

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
    data: Sequence[str] | None = None
    settings: Mapping[str, Any] = {}


class Data(NamedTuple):
    """A data set of the table."""

    name: str
    seeds: int
    printed_as: str
    quick: Quick
    load: str | None = None
    preparation: str = ""
    needs: str | None = None
    settings: Mapping[str, Any] = {}
    changes: Mapping[str, Mapping[str, Any]] = {}  # `with` in the file: algorithm -> what differs in its model


class Algorithm(NamedTuple):
    """A column of the table; `defaults` names the one with this library's defaults that stands beside it."""

    name: str
    game: str
    model: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}
    data: Sequence[str] | None = None
    seeds: int | None = None
    needs: str | None = None
    best_of: Sequence[str] = ()
    defaults: str | None = None


Named = TypeVar("Named", Data, Algorithm)


class Across(NamedTuple):
    """A line whose points are algorithms: the mean of a measure at each x."""

    kind: str
    name: str
    curve: str
    x_label: str
    y_label: str
    measure: str
    points: Sequence[tuple[float, str]]


class Declaration(NamedTuple):
    """A table or figure of a paper, as it is to be run."""

    id: str
    title: str
    paper: str
    what: str
    departures: Sequence[str]
    curves: Sequence[str]
    measures: Sequence[Measure]
    data: Sequence[Data]
    algorithms: Sequence[Algorithm]
    defaults: Mapping[str, Algorithm]
    across: Sequence[Across]
    quick: Quick
    printed: Mapping[str, Printed]  # by measure
    paper_seconds: Printed


KEYS = (
    "id", "title", "paper", "what", "departures", "like", "only", "game", "curves", "seeds", "paper_seconds",
    "measures", "data", "algorithm", "defaults", "across", "quick",
)  # fmt: skip


def read(folder: Path = PAPERS) -> dict[str, Declaration]:
    """All declarations of a folder by id, in the order of their ids."""
    files: dict[str, tuple[Path, dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            text = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: {error}") from None
        files[text.get("id", path.stem)] = (path, text)
    texts = {name: text for name, (_, text) in files.items()}
    found = {}
    for name, (path, text) in sorted(files.items()):
        try:
            found[name] = _declaration(_inherited(text, texts))
        except (KeyError, TypeError, ValueError) as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"{path}: {reason}") from error
    return found


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


def _inherited(text: Mapping[str, Any], texts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A file's text with all but the printed values of the one named by `like`, and with the paper's seconds."""

    def other(key: str, about: Mapping[str, Any]) -> Mapping[str, Any]:
        if key in about and about[key] not in texts:
            raise ValueError(f"{key} = {about[key]!r}, which is not declared")
        return texts[about[key]] if key in about else {}

    like = {key: value for key, value in other("like", text).items() if not key.startswith("printed")}
    whole = like | dict(text)
    if "paper_seconds" in whole:
        whole["printed-seconds"] = other("paper_seconds", whole).get("printed", {})
    return whole


def _declaration(text: Mapping[str, Any]) -> Declaration:
    _check((key for key in text if not key.startswith("printed")), KEYS, "the file")
    only = text.get("only", {})
    _check(only, ("data", "algorithms"), "only")
    shared = {"game": text["game"]}
    defaults = {
        name: _entry(Algorithm, shared | {"name": name} | about, f"defaults {name}")
        for name, about in text.get("defaults", {}).items()
    }
    shared["defaults"] = next(iter(defaults), None)
    algorithms = [_entry(Algorithm, shared | about, f"algorithm {about.get('name')}") for about in text["algorithm"]]
    quick = text.get("quick", {})
    data = [
        _entry(
            Data,
            {"seeds": text.get("seeds", 1), "printed_as": about["name"]}
            | about
            | {"quick": _entry(Quick, quick | about.get("quick", {}), f"quick of {about['name']}")},
            f"data {about['name']}",
        )
        for about in text["data"]
    ]
    for each in data:
        _check(each.changes, [*(algorithm.name for algorithm in algorithms), *defaults], f"data {each.name}: with")
    measures = [
        _entry(Measure, {"name": name} | about, f"measure {name}") for name, about in text.get("measures", {}).items()
    ]
    keys = {each.name: f"printed-{each.name}" if number else "printed" for number, each in enumerate(measures)}
    declared = Declaration(
        text["id"],
        text["title"],
        text["paper"],
        text["what"],
        text.get("departures", ()),
        text.get("curves", ()),
        measures,
        _chosen(data, only.get("data")),
        _chosen(algorithms, only.get("algorithms")),
        defaults,
        [_entry(Across, about, f"across {about.get('name')}") for about in text.get("across", ())],
        _entry(Quick, quick, "quick"),
        {name: _printed(text.get(key, {})) for name, key in keys.items()},
        _printed(text.get("printed-seconds", {})),
    )
    _check_names(declared)
    return declared


def _entry(kind: Any, about: Mapping[str, Any], where: str) -> Any:
    """One entry of a file; a misspelt key would otherwise change a run without a word."""
    fields = {"with" if field == "changes" else field: field for field in kind._fields}  # `with` is Python's
    _check(about, fields, where)
    for key, field in fields.items():
        if key not in about and field not in kind._field_defaults:
            raise KeyError(key)
    return kind(**{fields[key]: value for key, value in about.items()})


def _check(names: Iterable[str], known: Iterable[str], where: str) -> None:
    """ValueError for a name that is not one of those known."""
    for name in names:
        if name not in known:
            raise ValueError(f"{where}: {name!r} is not one of {', '.join(sorted(known))}")


def _chosen(every: Sequence[Named], names: Sequence[str] | None) -> list[Named]:
    """Those with the names, or all of them."""
    _check(names or (), [each.name for each in every], "only")
    return [each for each in every if names is None or each.name in names]


def _printed(rows: Mapping[str, Mapping[str, float]]) -> Printed:
    return {(data, algorithm): float(value) for data, row in rows.items() for algorithm, value in row.items()}


def _check_names(declared: Declaration) -> None:
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
    _check((*declared.curves, *(each.kind for each in declared.across)), CURVE_KINDS, "curves")
    for each in declared.algorithms:
        _check(each.data or (), sets, f"algorithm {each.name}: data")
        _check(each.best_of, names, f"algorithm {each.name}: best_of")
        _check(filter(None, [each.defaults]), declared.defaults, f"algorithm {each.name}: defaults")
    for across in declared.across:
        _check((name for _, name in across.points), names, f"across {across.name}")
