"""What measurements share: the clock, processes of their own, the machine, and where results go."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import ONE_THREAD

TOP = Path(__file__).resolve().parents[2]
RESULTS = TOP / "benchmarks" / "results"
# A virtual environment with CapyMOA and river: `make bench` makes .venv-peers.
PEERS = Path(os.environ.get("EDGEWISE_PEERS", TOP / ".venv-peers")) / "bin" / "python"


def cpu(work: Callable[..., Any], *arguments: Any, **settings: Any) -> tuple[float, Any]:
    """CPU seconds, user and system, of all threads of this process during a call, and what the call returns."""
    before = time.process_time()
    answer = work(*arguments, **settings)
    return time.process_time() - before, answer


def best_cpu(work: Callable[[], Any], repeats: int = 1) -> float:
    """CPU seconds of the best of some runs."""
    return min((cpu(work)[0] for _ in range(repeats)), default=math.inf)


def in_alternation(work: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """CPU seconds of several pieces of work, all of them once, then again: a busy machine slows all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, run in work.items():
            seconds[name].append(cpu(run)[0])
    return seconds


def whole_process(command: list[str], **environment: str) -> tuple[dict[str, float], str]:
    """CPU and wall seconds of a process from its start to its end, in an empty folder; and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        around = os.environ | ONE_THREAD | environment
        done = subprocess.run(command, cwd=folder, env=around, check=True, stdout=subprocess.PIPE, text=True)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_s": used, "wall_s": wall}, done.stdout


def in_process(module: str, job: dict[str, Any], folder: Path, python: Path | str = sys.executable) -> dict[str, Any]:
    """What `python -m MODULE JOB.json` writes as JSON to the file that the job names as its `answer`."""
    order, answer = folder / "job.json", folder / "answer.json"
    order.write_text(json.dumps(job | {"answer": str(answer)}))
    # The folder catches what a library may leave in the current one.
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(TOP)}
    subprocess.run([str(python), "-m", module, str(order)], cwd=folder, env=environment, check=True)
    return json.loads(answer.read_text())


def machine() -> dict[str, str]:
    """The kind of machine: no names, no paths."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = models[0] if models else model
    return {"cpu": model, "system": f"{platform.system()} {platform.machine()}", "python": platform.python_version()}


def found(name: str, default: Any = None) -> Any:
    """The values of a file in results/, or the default where it is not there."""
    path = RESULTS / name
    return json.loads(path.read_text()) if path.exists() else default


def write(name: str, values: Any, page: str | None = None) -> None:
    """Write results/NAME.json and, where there is one, the page results/NAME.md."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(values, indent=1) + "\n")
    if page is not None:
        (RESULTS / f"{name}.md").write_text(page)


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser of options whose help is the docstring of a script."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
