"""Resident memory of 100 boosted Hoeffding trees beside CapyMOA's, and what a budget of bytes makes of it.

    python -m benchmarks.speed.memory [--quick] [--only speed,defaults,budget]

Every measurement is a process of its own, which reads the rows from a file, makes ready (compiled code, Java), and
plays through the rows once. Resident sizes are those that the system gives for the process (VmRSS, VmHWM): Python,
compiled code, Java's heap and the rows are all in them; what playing adds is the difference to the moment before.
Writes results/memory.json after every measurement and results/memory.md at the end.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared import contender, measuring
from benchmarks.shared.measuring import PEERS, cpu, found, in_process, write

# Java as the speed benchmark starts it, and without its choice of a young generation of 1 GB.
JAVA = {"capymoa.OzaBoost": contender.JVM, "capymoa.OzaBoost, small heap": "-Xmx8g -Xss10M -XX:+UseSerialGC"}
MB = 1e6
ABOUT = """# Resident memory of 100 boosted trees

MB (10^6 bytes) of the whole process, as the system counts them. `edgewise.AdaBoostOLM` and CapyMOA have the trees of
the speed benchmark (README.md), `edgewise, defaults` is `AdaBoostOLM()`. *before*: Python, compiled code or Java, and
the rows. *peak*: the most at any moment; *added*: less *before*. Made by `benchmarks/speed/memory.py`.
"""
ABOUT_BUDGETS = """## A budget

`AdaBoostOLM(max_bytes=...)` beside no budget. *resident growth* is the peak less what was resident before; chunks on
their way are in it too.
"""

# What is measured: data, rows, and who plays with which budget (MB). CapyMOA gets the first rows of a stream only,
# since it would need half an hour for all: its trees grow with every row, so that it would not need less.
SPEED = [
    ("isolet-50", 7797, ["edgewise.AdaBoostOLM"]),
    ("isolet-50", 1500, list(JAVA)),
    ("covertype", 20000, ["edgewise.AdaBoostOLM"]),
    ("covertype", 5000, list(JAVA)),
    ("isolet", 7797, ["edgewise.AdaBoostOLM"]),
    ("isolet", 300, ["capymoa.OzaBoost, small heap"]),
    ("electricity", 45312, ["edgewise.AdaBoostOLM"]),
    ("electricity", 5000, ["capymoa.OzaBoost, small heap"]),
    ("covertype", 581012, ["edgewise.AdaBoostOLM"]),
]
DEFAULTS = [("isolet-50", 7797), ("covertype", 20000), ("covertype", 100000), ("electricity", 45312)]
BUDGETS = [
    ("covertype", 20000, (50, 100, 200, 400)),
    ("electricity", 45312, (25, 50, 100, 200)),
    ("isolet-50", 7797, (50, 100)),
]


def resident(name: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


# -- one process -------------------------------------------------------------------------------------------------------


def default_play(rows: contender.Rows, job: dict[str, Any], kept: list[Any]) -> contender.Play:
    """The defaults of AdaBoostOLM, with or without a budget."""
    import edgewise

    table, classes = rows.table(), np.arange(rows.n_classes)
    edgewise.AdaBoostOLM(random_state=0).partial_fit(table[:20], rows.answers[:20], classes=classes)

    def play() -> tuple[float, np.ndarray]:
        model = edgewise.AdaBoostOLM(random_state=job["seed"], max_bytes=job["max_bytes"])
        kept.append(model)
        return cpu(model.prequential, table, rows.answers, classes=classes)

    return play


def one(path: str) -> None:
    """Play through the rows of a job."""
    job = json.loads(Path(path).read_text())
    rows = contender.Rows.read(job["rows"])
    kept: list[Any] = []
    library, _, name = job["contender"].partition(".")
    if job["contender"] == "edgewise, defaults":
        play = default_play(rows, job, kept)
    elif library == "edgewise":
        few = rows._replace(values=rows.values[:20], answers=rows.answers[:20])
        contender.edgewise_play(name, few, job)()
        play = contender.edgewise_play(name, rows, job)
    else:
        contender.JVM = JAVA[job["contender"]]
        play = contender.capymoa_play("OzaBoost", rows, job)
    before = resident("VmRSS")
    used, guesses = play()
    answer = {
        "cpu_s": used,
        "accuracy": float(np.mean(guesses == rows.answers)),
        "before": before,
        "after": resident("VmRSS"),
        "peak": resident("VmHWM"),
        "nbytes": kept[0].nbytes if kept else None,
    }
    Path(job["answer"]).write_text(json.dumps(answer))


# -- all of them -------------------------------------------------------------------------------------------------------


def jobs(parts: list[str], quick: bool) -> list[dict[str, Any]]:
    """What is to be measured."""
    found = []
    if "speed" in parts:
        found += [(data, rows, who, None, "speed") for data, rows, everyone in SPEED for who in everyone]
    if "defaults" in parts:
        found += [(data, rows, "edgewise, defaults", None, "defaults") for data, rows in DEFAULTS]
    if "budget" in parts:
        found += [
            (data, rows, "edgewise, defaults", int(size * MB), "budget")
            for data, rows, budgets in BUDGETS
            for size in budgets
        ]
    names = ("data", "n_rows", "contender", "max_bytes", "part")
    described = [dict(zip(names, job, strict=True)) for job in found]
    return [job | {"n_rows": min(job["n_rows"], 300)} for job in described] if quick else described


def measured(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A job done in a process of its own."""
    from benchmarks.shared.streams import TREES, saved_stream

    rows = saved_stream(job["data"], job["n_rows"], folder)
    order = TREES | {"options": {}} | job | {"rows": str(rows)}
    python = sys.executable if job["contender"].startswith("edgewise") else PEERS
    return job | in_process("benchmarks.speed.memory", order, folder, python)


def markdown(results: list[dict[str, Any]]) -> str:
    """The tables."""
    from benchmarks.shared.grid import figure, grid

    def size(number: int | None) -> str:
        return "" if number is None else f"{number / MB:,.0f}"

    beside, budgets = [], []
    for r in results:
        stream, added = [f"{r['data']}, {r['n_rows']:,} rows"], size(r["peak"] - r["before"])
        told = [figure(r["accuracy"], 4), f"{r['cpu_s']:.1f}"]
        if r["part"] != "budget":
            sizes = [size(r[name]) for name in ("before", "peak")]
            beside.append([*stream, r["contender"], *sizes, added, size(r["nbytes"]), *told])
        if r["part"] != "speed":
            budgets.append([*stream, size(r["max_bytes"]) or "none", size(r["nbytes"]), added, *told])
    first = grid(["data", "who", "before", "peak", "added", "model's arrays", "accuracy", "CPU s"], beside)
    header = ["data", "max_bytes", "nbytes", "resident growth", "accuracy", "CPU s"]
    return f"{ABOUT}\n{first}\n\n{ABOUT_BUDGETS}\n{grid(header, sorted(budgets, key=lambda line: line[0]))}\n"


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="300 rows: does everything run?")
    parser.add_argument("--only", default="speed,defaults,budget", help="parts, separated by commas")
    arguments = parser.parse_args()
    name, parts = "memory-quick" if arguments.quick else "memory", arguments.only.split(",")
    results = [r for r in found(f"{name}.json", []) if r["part"] not in parts]
    with tempfile.TemporaryDirectory() as folder:
        for job in jobs(parts, arguments.quick):
            results.append(measured(job, Path(folder)))
            write(name, results, markdown(results))
            print(results[-1], flush=True)


if __name__ == "__main__":
    # A job in a file: a process of `measured`.
    if sys.argv[1:] and sys.argv[1].endswith(".json"):
        one(sys.argv[1])
    else:
        main()
