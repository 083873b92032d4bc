"""What threads are worth: wall time of 100 learners by one thread over that by several, and whether results agree.

    python -m benchmarks.speed.threads [--jobs 2] [--chunk-size 256] [--models all] [--repeats 3] [--quick]

Trees, rows and their order are those of `boosters.py`; the defaults of AdaBoostOLM and gradient boosting are measured
as well, with `--models all`. Each repeat runs all numbers of threads one after the other; the best of the repeats
counts. Wall time, since that is what threads are for: the machine must have nothing else to do, and its load is written
down. CPU time beside it tells what handing chunks around costs.

Writes results/threads.json and results/threads.md.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import edgewise as ew
from benchmarks.shared import measuring
from benchmarks.shared.contender import Rows
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import machine, write
from benchmarks.shared.streams import TREES, N, booster, saved_stream, tree
from edgewise.models.stream_ensemble import CHUNK_ROWS

ROWS, QUICK_ROWS = 20_000, 1_500
STREAMS = ("movement", "covertype")
MODELS: dict[str, Callable[..., Any]] = {
    "AdaBoostOLM": booster,
    "OnlineMBBM": lambda **kw: ew.OnlineMBBM(tree(), **N, **kw),
    "AdaBoostOLM, its defaults": lambda **kw: ew.AdaBoostOLM(**N, **kw),
    "gradient boosting": lambda **kw: ew.StreamingGradientBoostingClassifier(**N, **kw),
}


def timed(what: Callable[[], np.ndarray]) -> tuple[float, float, np.ndarray]:
    """Wall seconds, CPU seconds of all threads, and what came out."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = what()
    return time.perf_counter() - wall, time.process_time() - cpu, answer


def measure(name: str, X: ew.Table, y: np.ndarray, jobs: list[int], size: int, repeats: int) -> dict[str, Any]:
    """Best wall and CPU seconds by number of threads, of learning (`prequential`) and of predicting the same rows."""
    MODELS[name](n_jobs=max(jobs)).prequential(X[:600], y[:600], classes=np.unique(y))  # compiles what is not on disk
    seconds: dict[str, dict[int, list[tuple[float, float]]]] = {"learn": {}, "predict": {}}
    answers: dict[int, list[np.ndarray]] = {}
    for _ in range(repeats):
        for n_jobs in jobs:
            model = MODELS[name](n_jobs=n_jobs, chunk_size=size)
            learn = timed(lambda model=model: model.prequential(X, y))  # type: ignore[misc]
            predict = timed(lambda model=model: model.predict_proba(X))  # type: ignore[misc]
            answers[n_jobs] = [learn[2], predict[2], model.learner_weights_, model.n_nodes_]
            for part, told in (("learn", learn), ("predict", predict)):
                seconds[part].setdefault(n_jobs, []).append(told[:2])
    same = all(np.array_equal(a, b) for other in jobs for a, b in zip(answers[jobs[0]], answers[other], strict=True))
    best = {
        part: {
            n_jobs: {"wall_s": min(runs)[0], "cpu_s": min(cpu for _, cpu in runs)} for n_jobs, runs in by_jobs.items()
        }
        for part, by_jobs in seconds.items()
    }
    return {"same": same, **best}


def page(report: dict[str, Any]) -> str:
    jobs = report["jobs"]
    lines = []
    for record in report["results"]:
        for part in ("learn", "predict"):
            by_jobs = {int(n_jobs): told for n_jobs, told in record[part].items()}
            one = by_jobs[1]
            lines.append(
                [
                    f"{record['data']}, {record['model']}: {part}",
                    *(f"{by_jobs[n]['wall_s']:.2f}" for n in jobs),
                    *(f"{one['wall_s'] / by_jobs[n]['wall_s']:.2f}" for n in jobs[1:]),
                    *(f"{by_jobs[n]['cpu_s'] / one['cpu_s']:.2f}" for n in jobs[1:]),
                    "yes" if record["same"] else "NO",
                ]
            )
    header = [
        f"{report['rows']:,} rows, {TREES['trees']} learners",
        *(f"wall s, {n} thread{'s' * (n > 1)}" for n in jobs),
        *(f"times as fast, {n}" for n in jobs[1:]),
        *(f"CPU time, {n} over 1" for n in jobs[1:]),
        "same results",
    ]
    return (
        "# Threads\n\nMade by `benchmarks/speed/threads.py`, which tells how it is measured.\n\n"
        f"{grid(header, lines)}\n\n"
        f"{report['machine']['cpu']}, {report['cores']} cores; programs that wanted to run when it began: "
        f"{report['load']:.1f}; chunks of {report['chunk_size']} rows; best of {report['repeats']}.\n"
    )


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[2], help="numbers of threads beside 1")
    parser.add_argument("--chunk-size", type=int, default=CHUNK_ROWS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a few rows, one repeat: does everything run?")
    parser.add_argument(
        "--models", default=",".join(("AdaBoostOLM", "OnlineMBBM")), help=f"some of {'; '.join(MODELS)}, or all"
    )
    arguments = parser.parse_args()
    names = list(MODELS) if arguments.models == "all" else arguments.models.split(",")
    rows = QUICK_ROWS if arguments.quick else ROWS
    report: dict[str, Any] = {
        "machine": machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "rows": rows,
        "jobs": [1, *arguments.jobs],
        "chunk_size": arguments.chunk_size,
        "repeats": 1 if arguments.quick else arguments.repeats,
        "results": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        for data in STREAMS:
            saved = Rows.read(saved_stream(data, rows, Path(folder)))
            X, y = saved.table(), saved.answers
            for name in names:
                told = measure(name, X, y, report["jobs"], report["chunk_size"], report["repeats"])
                report["results"].append({"data": data, "model": name, **told})
                print(page(report | {"results": report["results"][-1:]}))
    write("threads-quick" if arguments.quick else "threads", report, page(report))


if __name__ == "__main__":
    main()
