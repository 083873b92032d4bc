"""Cells of `peers.py` as a page of Markdown, as tables of the README, and as the best peer of each data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.shared import cells
from benchmarks.shared.grid import NONE, figure, grid, millions
from edgewise.evaluation.models import KNOWN

Record = dict[str, Any]

SHUFFLED, FILE = "shuffled", "file"


class Measure(NamedTuple):
    """An entry of a record: its heading, how it is shown, and which of two values is better."""

    title: str
    show: Callable[[float], str]
    best: Callable[..., Any]


MEASURES = {
    "all": Measure("Accuracy, all rows", figure, max),
    "last_fifth": Measure("Accuracy, last fifth", figure, max),
    "log_loss": Measure("Log-loss", figure, min),
    "calibration_error": Measure("Expected calibration error", figure, min),
    "cpu_s": Measure("CPU seconds", lambda value: f"{value:,.1f}", min),
}


def line(record: Record) -> str:
    """A cell as it finishes."""
    where = f"{record['order']:8} {record['data']:11} {record['model']:15}"
    if record["used_learners"] is None:
        return f"{where} not run: {record.get('failed') or record['foreseen_s']}"
    told = "  ".join(f"{name} {record[name]:.3f}" for name in MEASURES)
    return f"{where} {record['used_learners']:3} learners  {told}"


def newest(records: Sequence[Record]) -> list[Record]:
    """One record for each cell: the last one written."""
    return cells.newest(records, "order", "data", "model", "learners")


def complete(order: str | None = None) -> list[Record]:
    return [r for r in newest(cells.complete("peers")) if order in (None, r["order"])]


def is_peer(record: Record) -> bool:
    return KNOWN[record["model"]].library is not None


def gives_probabilities(record: Record) -> bool:
    return record["model"] != "capymoa-sgbt"  # whose votes are labels


def of_peers(records: Sequence[Record], data: str) -> list[Record]:
    """The peers that ran on a data set."""
    return [r for r in records if r["data"] == data and is_peer(r) and r["used_learners"] is not None]


def best_peers() -> dict[str, dict[str, float]]:
    """Data set -> the best accuracies that any peer reached on the shuffled rows of seed 1."""
    records = complete(SHUFFLED)
    found = {data: of_peers(records, data) for data in dict.fromkeys(r["data"] for r in records)}
    return {
        data: {name: max(r[name] for r in peers) for name in ("all", "last_fifth")}
        for data, peers in found.items()
        if peers
    }


def name_of(record: Record) -> str:
    """A model, with its number of learners where that is not the one asked for or there are several."""
    few = record["used_learners"] not in (None, 1, 100) or not is_peer(record)
    return f"{record['model']} {record['used_learners']}" if few else record["model"]


# -- the page ----------------------------------------------------------------------------------------------------------


def page(records: Sequence[Record]) -> str:
    used = newest(records)
    if not used:
        return "# Beside other libraries\n\nNo cell has been run yet.\n"
    shuffled = [record for record in used if record["order"] == SHUFFLED]
    in_order = [record for record in used if record["order"] == FILE]
    blocks = ["# Beside other libraries", introduction(used)]
    if shuffled:
        blocks += ["## Shuffled", verdict(shuffled)]
        for name in MEASURES:
            blocks += [f"### {MEASURES[name].title}", by_set(shuffled, name)]
    if in_order:
        blocks += ["## In their own order", streams(in_order)]
    blocks += ["## Cells that were not run as planned", *odd(used)]
    return "\n\n".join(blocks) + "\n"


def introduction(used: Sequence[Record]) -> str:
    versions = {name: found for r in used for name, found in r["library_versions"].items()}
    told = ", ".join(f"{name} {found}" for name, found in sorted(versions.items()))
    kernels = {record["kernels"] for record in used if not is_peer(record)}
    mixed = f" Ours come from {len(kernels)} versions of the kernels." if len(kernels) > 1 else ""
    return (
        "Every row is predicted, then learned, by all models in the same order, that of seed 1: "
        "`numpy.random.default_rng(1).permutation(n)[:20000]`, or that of the file. `olm` is `AdaBoostOLM()` and "
        '`olm-drift` is `AdaBoostOLM(drift="restart")`, followed by the number of learners; peers have 100 learners, '
        "or 30 where it says so, and otherwise their own defaults (`edgewise models` says who they are); "
        "`capymoa-tree` and Vowpal Wabbit are single learners. Nominal features are nominal and all classes known to "
        "all. Log-loss in nats, a probability below 1e-15 counted as 1e-15; votes are made probabilities by their "
        "shares, uniform where all are 0, and a vote that is no number counts as 0; the votes of "
        "`capymoa-sgbt` are labels. CPU seconds of all threads, after Java ran untimed for 5 CPU seconds; rows are in "
        "each library's own form before the clock starts. One shuffle: differences of a few thousandths say little. "
        f"{told}.{mixed}"
    )


def verdict(shuffled: Sequence[Record]) -> str:
    """On how many sets ours with 100 learners is at or above every peer, and below in log-loss."""
    sets = list(dict.fromkeys(record["data"] for record in shuffled))
    counts = dict.fromkeys(("all", "last_fifth", "log_loss"), 0)
    behind: dict[str, list[str]] = {name: [] for name in counts}
    compared = 0
    for data in sets:
        own = [r for r in shuffled if (r["data"], r["model"], r["learners"]) == (data, "olm", 100)]
        peers = of_peers(shuffled, data)
        if not own or not peers:
            continue
        compared += 1
        for name in counts:
            rivals = [r for r in peers if name != "log_loss" or gives_probabilities(r)]
            top = MEASURES[name].best(rivals, key=lambda r, name=name: r[name])
            if MEASURES[name].best(own[0][name], top[name]) == own[0][name]:
                counts[name] += 1
            else:
                shown = (figure(own[0][name], 4), name_of(top), figure(top[name], 4))
                behind[name].append(f"{data} ({shown[0]}, {shown[1]} {shown[2]})")
    told = []
    for name, title in (("all", "accuracy over all rows"), ("last_fifth", "last fifth"), ("log_loss", "log-loss")):
        but = f"; not on {', '.join(behind[name])}" if behind[name] else ""
        told.append(f"- {title}: {counts[name]} of {compared}{but}")
    return "Sets on which `AdaBoostOLM()` with 100 learners is at least as good as every peer:\n\n" + "\n".join(told)


def by_set(shuffled: Sequence[Record], name: str) -> str:
    """One measure: a line for each model, a column for each data set, the best in bold; (30) marks fewer learners."""
    measure, sets = MEASURES[name], list(dict.fromkeys(record["data"] for record in shuffled))
    rows = list(dict.fromkeys((r["model"], r["learners"] if not is_peer(r) else None) for r in shuffled))
    order = {known_name: place for place, known_name in enumerate(KNOWN)}
    rows.sort(key=lambda row: (order[row[0]], row[1] or 0))
    found = {(r["model"], r["learners"] if not is_peer(r) else None, r["data"]): r for r in shuffled}
    best = {
        data: measure.best(r[name] for r in shuffled if r["data"] == data and r["used_learners"] is not None)
        for data in sets
    }
    lines = []
    for model, learners in rows:
        shown_cells = []
        for data in sets:
            record = found.get((model, learners, data))
            if record is None or record["used_learners"] is None:
                shown_cells.append(NONE)
                continue
            shown = measure.show(record[name])
            shown = f"**{shown}**" if shown == measure.show(best[data]) else shown
            shown_cells.append(shown + (" (30)" if is_peer(record) and record["used_learners"] == 30 else ""))
        lines.append([f"{model} {learners or ''}".strip(), *shown_cells])
    return grid(["", *sets], lines)


def streams(in_order: Sequence[Record]) -> str:
    """A line for each model; the ratio is CPU time over that of ours with as many learners."""
    lines = []
    for data in dict.fromkeys(record["data"] for record in in_order):
        here = [r for r in in_order if r["data"] == data and r["used_learners"] is not None]
        own = {r["learners"]: r for r in here if not is_peer(r)}
        for record in here:
            shown = [figure(record[name], 4) for name in ("all", "last_fifth", "log_loss")]
            ours = own.get(record["used_learners"])
            ratio = f"{record['cpu_s'] / ours['cpu_s']:.1f}x" if ours and is_peer(record) else ""
            memory = "" if record["bytes"] is None else millions(record["bytes"])
            lines.append(
                [f"{data}, {record['model']}", f"{record['rows']:,}", str(record["used_learners"]), *shown]
                + [f"{record['cpu_s']:,.1f}", ratio, memory]
            )
    header = ["data, model", "rows", "learners", "all rows", "last fifth", "log-loss", "CPU s", "over ours", "MB"]
    return grid(header, lines)


def odd(used: Sequence[Record]) -> list[str]:
    lines = []
    for record in used:
        what = f"{record['order']} {record['data']}, {record['model']}"
        foreseen = ", ".join(f"{n} learners would take {s:,} CPU s" for n, s in record["foreseen_s"].items())
        if record.get("failed"):
            lines.append(f"- {what}: stopped with {record['failed']}")
        elif record["used_learners"] is None:
            lines.append(f"- {what}: not run; {foreseen}")
        elif foreseen:
            lines.append(f"- {what}: run with {record['used_learners']}; {foreseen}")
    slow = {"river's forests, in Python": "river-", "`capymoa-sgbt`, a booster for each class": "capymoa-sgbt"}
    for who, start in slow.items():
        on = dict.fromkeys(r["data"] for r in used if r["model"].startswith(start) and r["used_learners"] is not None)
        lines.append(
            f"- {who}: only on {', '.join(on)}, because of the time" if on else f"- {who}: not run, because of the time"
        )
    return ["\n".join(lines)]


# -- tables of the README ----------------------------------------------------------------------------------------------


def headline(records: Sequence[Record]) -> str:
    """Ours with 10, 30 and 100 learners beside the best peer of each data set."""
    used = [r for r in newest(records) if r["complete"] and r["order"] == SHUFFLED]
    lines = []
    for data, rows in dict.fromkeys((r["data"], r["rows"]) for r in used):
        own = {r["learners"]: r for r in used if r["data"] == data and r["model"] == "olm"}
        peers = of_peers(used, data)
        if not peers or 100 not in own:
            continue
        top = max(peers, key=lambda r: (r["all"], r["last_fifth"]))
        sure = min((r for r in peers if gives_probabilities(r)), key=lambda r: r["log_loss"])
        accuracies = [two(own[n]) if n in own else NONE for n in (10, 30, 100)]
        lines.append(
            [data, f"{rows:,}", *accuracies, f"{two(top)} ({name_of(top)})", figure(own[100]["log_loss"])]
            + [f"{figure(sure['log_loss'])} ({name_of(sure)})"]
            + [" / ".join(f"{own[n]['cpu_s']:.1f}" if n in own else NONE for n in (10, 30, 100)), f"{top['cpu_s']:.1f}"]
        )
    if not lines:
        return ""
    header = ["data", "rows", *(f"`AdaBoostOLM`, {n}" for n in (10, 30, 100)), "best peer", "log-loss, 100"]
    header += ["best peer's", "CPU s, 10 / 30 / 100", "best peer's, for accuracy"]
    count = len({r["model"] for r in used if is_peer(r)})
    return (
        grid(header, lines)
        + "\n\nPrequential accuracy over all rows / over the last fifth, on the same shuffled rows; the "
        f"best of {count} learners of CapyMOA, river and Vowpal Wabbit over all rows, 100 trees each unless a number "
        "says otherwise. All of them: [benchmarks/results/peers.md](benchmarks/results/peers.md)."
    )


def in_order(records: Sequence[Record]) -> str:
    """Streams in their own order: ours with `drift="restart"` beside CapyMOA's forests."""
    used = [r for r in newest(records) if r["complete"] and r["order"] == FILE]
    return streams(used) if used else ""


def two(record: Record) -> str:
    return f"{figure(record['all'])} / {figure(record['last_fifth'])}"
