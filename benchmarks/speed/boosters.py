"""Speed of 100 boosted Hoeffding trees: edgewise beside CapyMOA and river. See README.md for what is compared and how.

    python -m benchmarks.speed.boosters [--quick] [--repeats 3] [--data car,letter] [--contenders edgewise.AdaBoostOLM]

Writes results/speed.json after every measurement and results/speed.md at the end.
"""

from __future__ import annotations

import sys
import tempfile
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shared import measuring
from benchmarks.shared.cells import chosen
from benchmarks.shared.measuring import PEERS, found, in_process, machine, write
from benchmarks.shared.streams import STREAMS, TREES, saved_stream
from edgewise.evaluation.measures import last_fifth

Result = dict[str, Any]

QUICK_ROWS = (500, 100)

OURS = ("edgewise.AdaBoostOLM", "edgewise.OnlineMBBM", "edgewise.OzaBoost")
MOA = ("capymoa.OzaBoost", "capymoa.OnlineSmoothBoost")
RIVER = "river.AdaBoostClassifier"
VOTES = ("argmax", "cost")

# CPU seconds of untimed runs before the timed ones: Java compiles as it goes, and its first run over Car takes ten
# times as long as its twentieth. Ours takes one run (compiled kernels are loaded from disk), river none.
WARMUP_S = {"edgewise": 1e-9, "capymoa": 10.0, "river": 0.0}

# Short runs are repeated until they took so many CPU seconds together: on a shared machine the same 30 milliseconds
# take half as long again for a second or two.
TIMED_S = 5.0

# Where a process's memory lies changes a run of 30 milliseconds by a third, so short streams are timed in several.
SHORT, PROCESSES = 2000, 4


class Measurement(NamedTuple):
    """What to measure: a contender with its options, on the first `rows` of a stream."""

    contender: str
    data: str
    rows: int
    options: dict[str, Any]


def plan(data: list[str], contenders: list[str], quick: bool) -> list[Measurement]:
    """Contenders of one stream follow one another, so that a busy machine slows all of them alike."""
    measurements = []
    for name in data:
        many, few = QUICK_ROWS if quick else STREAMS[name]
        measurements += [Measurement(contender, name, many, {}) for contender in OURS + MOA]
        if name == "isolet-50":
            measurements += [Measurement(ours, name, many, {"vote": vote}) for vote in VOTES for ours in OURS[:2]]
        if few != many:
            measurements += [Measurement(ours, name, few, {}) for ours in OURS]
        measurements.append(Measurement(RIVER, name, few, {}))
    return [m for m in measurements if m.contender in contenders]


def measure(what: Measurement, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The best of some processes: short runs differ more between processes than within one. River's are not short."""
    processes = PROCESSES if what.rows < SHORT and what.contender != RIVER and not settings["quick"] else 1
    return min((measure_once(what, settings, folder) for _ in range(processes)), key=itemgetter("best_cpu_s"))


def measure_once(what: Measurement, settings: dict[str, Any], folder: Path) -> Result:
    library = what.contender.partition(".")[0]
    rows = saved_stream(what.data, what.rows, folder)
    job = {"contender": what.contender, "options": what.options, "rows": str(rows)} | settings
    job |= {"warmup_s": WARMUP_S[library], "timed_s": TIMED_S}
    told = in_process("benchmarks.shared.contender", job, folder, sys.executable if library == "edgewise" else PEERS)
    with np.load(rows) as held:
        hits = np.asarray(told["guesses"]) == held["answers"]
    seconds = told["cpu_s"]
    return {
        **what._asdict(),
        "runs": len(seconds),
        "best_cpu_s": min(seconds),
        "best_of_3_cpu_s": min(seconds[:3]),
        "median_cpu_s": median(seconds),
        "rows_per_cpu_s": what.rows / min(seconds),
        "first_cpu_s": (told["warmup_cpu_s"] + seconds)[0],
        "all": float(hits.mean()),
        "last_fifth": last_fifth(hits),
        "versions": told["versions"],
    }


# -- the page ----------------------------------------------------------------------------------------------------------


def label(result: Result) -> str:
    options = ", ".join(f"{name}={value}" for name, value in result["options"].items())
    name = result["contender"].replace(".", " ").replace("capymoa", "CapyMOA")
    return f"{name} ({options})" if options else name


def times(value: float) -> str:
    """A ratio to two figures, more where it is large."""
    return f"{value:.2g}x" if value < 10 else f"{value:.0f}x"


def markdown(report: dict[str, Any]) -> str:
    results = report["results"]
    blocks = [heading(report), ratios(results), potentials(results), measurements(results)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def heading(report: dict[str, Any]) -> str:
    machine, settings = report["machine"], report["settings"]
    versions: dict[str, str] = {}
    for result in report["results"]:
        versions |= result["versions"]
    quick = " **Quick run: too few rows for figures to quote.**" if settings["quick"] else ""
    return (
        f"# Speed of {settings['trees']} boosted Hoeffding trees\n\n"
        f"{machine['cpu']}, {machine['system']}, Python {machine['python']}; "
        f"{', '.join(f'{name} {number}' for name, number in sorted(versions.items()))}. One thread; CPU seconds of all "
        f"threads of the process, after warming up, best of at least {settings['repeats']} runs: of as many as take "
        f"{TIMED_S:g} s, so that short ones are tried more often. All trees: grace period "
        f"{settings['grace_period']}, split confidence {settings['split_confidence']:g}, tie threshold "
        f"{settings['tie_threshold']:g}, adaptive naive-Bayes leaves. Predict, then learn, every row.{quick}"
    )


def ratios(results: list[Result]) -> str:
    """How many times the rows per CPU second of each peer ours takes, on the same rows."""
    plain = {(r["data"], r["rows"], r["contender"]): r for r in results if not r["options"]}
    lines = []
    for (data, rows, contender), peer in plain.items():
        ours = [plain.get((data, rows, name)) for name in OURS]
        if contender in OURS or not any(ours):
            continue
        cells = [times(peer["best_cpu_s"] / own["best_cpu_s"]) if own else "" for own in ours]
        lines.append(f"| {data} | {rows} | {label(peer)} | {' | '.join(cells)} |")
    header = ["data", "rows", "peer", *(name.partition(".")[2] for name in OURS)]
    return section("CPU time of a peer over ours, same rows", header, lines)


def potentials(results: list[Result]) -> str:
    """What the exact potentials of OnlineMBBM cost beside AdaBoost.OLM: all rows of each set, and votes by cost.

    On short streams the ratio depends on how runs are summed up, so there are three ways.
    """
    runs: dict[tuple[str, int, str], dict[str, Result]] = {}
    for r in results:
        of_set = runs.setdefault((r["data"], r["rows"], r["options"].get("vote", "argmax")), {})
        of_set.setdefault(r["contender"], r)
    lines = []
    for (data, rows, vote), of_set in runs.items():
        most = max(n for name, n, _ in runs if name == data)
        if rows == most and OURS[0] in of_set and OURS[1] in of_set:
            olm, mbbm = of_set[OURS[0]], of_set[OURS[1]]
            ratios = [mbbm[name] / olm[name] for name in ("best_cpu_s", "best_of_3_cpu_s", "median_cpu_s")]
            cells = [f"{olm['best_cpu_s']:.4f}", f"{mbbm['best_cpu_s']:.4f}", *(f"{ratio:.2f}" for ratio in ratios)]
            lines.append(f"| {data} | {rows} | {vote} | {' | '.join(cells)} |")
    header = [
        "data",
        "rows",
        "vote",
        "AdaBoostOLM, CPU s",
        "OnlineMBBM, CPU s",
        "ratio",
        "of 3 runs each",
        "of medians",
    ]
    return section("OnlineMBBM beside AdaBoostOLM", header, lines)


def measurements(results: list[Result]) -> str:
    lines = []
    for r in sorted(results, key=lambda r: (r["data"], -r["rows"])):
        lines.append(
            f"| {r['data']} | {r['rows']} | {label(r)} | {r['best_cpu_s']:.3f} | {r['rows_per_cpu_s']:.0f} "
            f"| {r['first_cpu_s']:.3f} | {r['all']:.3f} | {r['last_fifth']:.3f} |"
        )
    header = ["data", "rows", "contender", "CPU s", "rows per CPU s", "first run, CPU s", "accuracy", "last fifth"]
    about = (
        'Accuracy is prequential. "First run" is the first in a fresh process: Java has compiled nothing yet, ours '
        "loads its compiled kernels from disk.\n\n"
    )
    return section("All measurements", header, lines, about)


def section(title: str, header: list[str], lines: list[str], about: str = "") -> str:
    """A table under a heading, whose first and third columns are text; nothing without lines."""
    rule = "|---|---:|---|" + "---:|" * (len(header) - 3)
    return "\n".join([f"## {title}\n\n{about}| {' | '.join(header)} |", rule, *lines]) if lines else ""


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="a few hundred rows, one repeat: does everything run?")
    parser.add_argument("--repeats", type=int, help="timed runs, of which the best counts (3; quick: 1)")
    parser.add_argument("--data", help=f"some of {','.join(STREAMS)}")
    parser.add_argument("--contenders", help=f"some of {','.join((*OURS, *MOA, RIVER))}")
    arguments = parser.parse_args()
    data = chosen(arguments.data, tuple(STREAMS), "--data")
    contenders = chosen(arguments.contenders, (*OURS, *MOA, RIVER), "--contenders")
    if not PEERS.exists() and set(contenders) - set(OURS):
        raise SystemExit("no .venv-peers: `make bench` makes it (or choose --contenders of edgewise only)")
    settings = TREES | {"repeats": arguments.repeats or (1 if arguments.quick else 3), "quick": arguments.quick}

    name = "speed-quick" if arguments.quick else "speed"
    report: dict[str, Any] = {"machine": machine(), "settings": settings, "results": []}
    # Results of the same machine and settings are kept, so that some contenders can be measured again.
    earlier = found(f"{name}.json")
    if earlier and all(earlier[part] == report[part] for part in ("machine", "settings")):
        report = earlier
    with tempfile.TemporaryDirectory() as folder:
        for ours in set(OURS) & set(contenders):
            # Kernels are compiled and kept on disk once: not part of anybody's first run.
            measure_once(Measurement(ours, data[0], 20, {}), settings, Path(folder))
        for what in plan(data, contenders, arguments.quick):
            result = measure(what, settings, Path(folder))
            kept = [r for r in report["results"] if any(r[field] != value for field, value in what._asdict().items())]
            report["results"] = [*kept, result]
            write(name, report, markdown(report))
            print(
                f"{what.data:10} {what.rows:6} rows  {label(result):34} "
                f"{result['best_cpu_s']:9.3f} CPU s  {result['rows_per_cpu_s']:9.0f} rows/s  "
                f"{result['all']:.3f} / {result['last_fifth']:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
