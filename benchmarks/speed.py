"""Speed of 100 boosted Hoeffding trees: edgewise beside CapyMOA and river. See README.md for what is compared and how.

    python benchmarks/speed.py [--quick] [--repeats 3] [--data car,letter] [--contenders edgewise.AdaBoostOLM,...]

Writes results/speed.json after every measurement and results/speed.md at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import speed_report

import edgewise
from edgewise.evaluation.measures import last_fifth

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".venv-peers" / "bin" / "python"

# The same for every contender. Confidence and tie threshold are the defaults of MOA and river; the grace period is
# shorter than their 200, because most of these streams are short.
TREES = {"trees": 100, "grace_period": 50, "split_confidence": 1e-7, "tie_threshold": 0.05, "seed": 1}

# Rows of each stream, and how many of them river gets: it would need hours for all.
STREAMS = {
    "car": (1728, 1728),
    "nursery": (12960, 2000),
    "mushroom": (8124, 2000),
    "movement": (20000, 2000),
    "letter": (20000, 1000),
    "isolet-50": (7797, 1000),
    "electricity": (20000, 1000),
    "covertype": (20000, 1000),
}
QUICK_ROWS = (500, 100)

OURS = ("edgewise.AdaBoostOLM", "edgewise.OnlineMBBM", "edgewise.OzaBoost")
MOA = ("capymoa.OzaBoost", "capymoa.OnlineSmoothBoost")
RIVER = "river.AdaBoostClassifier"
VOTES = ("argmax", "cost")

# CPU seconds of untimed runs before the timed ones: Java compiles as it goes, and its first run over Car takes ten
# times as long as its twentieth. Ours takes one run (compiled kernels are loaded from disk), river none.
WARMUP_S = {"edgewise": 1e-9, "capymoa": 10.0, "river": 0.0}


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


@cache
def load(data: str) -> tuple[Any, np.ndarray]:
    return edgewise.datasets.load(data)


def save_rows(data: str, rows: int, folder: Path) -> Path:
    """The first rows of the stream in the order of seed 1, for all contenders."""
    path = folder / f"{data}-{rows}.npz"
    if not path.exists():
        table, y = load(data)
        classes, labels = np.unique(y, return_inverse=True)
        order = np.random.default_rng(1).permutation(len(labels))[:rows]
        sizes = [len(feature.categories or ()) for feature in table.features]
        np.savez(path, values=table.values[order], labels=labels[order], n_categories=sizes, n_classes=classes.size)
    return path


def measure(what: Measurement, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The best of some processes: short runs differ more between processes than within one. River's are not short."""
    processes = PROCESSES if what.rows < SHORT and what.contender != RIVER and not settings["quick"] else 1
    return min((measure_once(what, settings, folder) for _ in range(processes)), key=itemgetter("best_cpu_s"))


def measure_once(what: Measurement, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    library = what.contender.partition(".")[0]
    rows, job, answer = save_rows(what.data, what.rows, folder), folder / "job.json", folder / "answer.json"
    python = sys.executable if library == "edgewise" else str(PEERS)
    order = {"contender": what.contender, "options": what.options, "rows": str(rows), "answer": str(answer)}
    job.write_text(json.dumps(order | settings | {"warmup_s": WARMUP_S[library]}))
    # One thread each; the folder catches what a library may leave in the current one.
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([python, str(HERE / "contender.py"), str(job)], cwd=folder, env=environment, check=True)
    found = json.loads(answer.read_text())
    with np.load(rows) as held:
        hits = np.asarray(found["guesses"]) == held["labels"]
    best = min(found["cpu_s"])
    return {
        **what._asdict(),
        "cpu_s": found["cpu_s"],
        "best_cpu_s": best,
        "rows_per_cpu_s": what.rows / best,
        "first_cpu_s": (found["warmup_cpu_s"] + found["cpu_s"])[0],
        "all": float(hits.mean()),
        "last_fifth": last_fifth(hits),
        "versions": found["versions"],
    }


def machine() -> dict[str, str]:
    """The kind of machine: no names, no paths."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    return {"cpu": cpu, "system": f"{platform.system()} {platform.machine()}", "python": platform.python_version()}


def chosen(text: str | None, known: tuple[str, ...], option: str) -> list[str]:
    names = list(known) if text is None else text.split(",")
    for name in names:
        if name not in known:
            raise SystemExit(f"{option} {name}: not one of {', '.join(known)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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

    path = HERE / "results" / ("speed-quick.json" if arguments.quick else "speed.json")
    path.parent.mkdir(exist_ok=True)
    report: dict[str, Any] = {"machine": machine(), "settings": settings, "results": []}
    if path.exists():
        # Results of the same machine and settings are kept, so that some contenders can be measured again.
        earlier = json.loads(path.read_text())
        if all(earlier[part] == report[part] for part in ("machine", "settings")):
            report = earlier
    with tempfile.TemporaryDirectory() as folder:
        for name in set(OURS) & set(contenders):
            # Kernels are compiled and kept on disk once: not part of anybody's first run.
            measure_once(Measurement(name, data[0], 20, {}), settings, Path(folder))
        for what in plan(data, contenders, arguments.quick):
            result = measure(what, settings, Path(folder))
            kept = [r for r in report["results"] if any(r[name] != value for name, value in what._asdict().items())]
            report["results"] = [*kept, result]
            path.write_text(json.dumps(report, indent=1) + "\n")
            print(
                f"{what.data:10} {what.rows:6} rows  {speed_report.label(result):34} "
                f"{result['best_cpu_s']:9.3f} CPU s  {result['rows_per_cpu_s']:9.0f} rows/s  "
                f"{result['all']:.3f} / {result['last_fifth']:.3f}",
                flush=True,
            )
    path.with_suffix(".md").write_text(speed_report.markdown(report))


if __name__ == "__main__":
    main()
