"""Finished runs, one small JSON file each, in the user's cache: found again by what decides their outcome.

A file is named by the job and the checksum of its data, and holds the version of the code that made it: of another
version, it is a run to be made again. Files appear whole or not at all, so a killed run loses only what was in flight.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import edgewise
from edgewise.data import datasets, storage
from edgewise.kernels import compile
from edgewise.reproduction import games
from edgewise.reproduction.games import Job, Record, game_of

VARIABLE = "EDGEWISE_CACHE"
PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "torch")


class Kept(NamedTuple):
    """A record, and where and with what it was made."""

    record: Record
    code: str
    machine: str
    versions: dict[str, str]
    kernels: str
    date: str


def folder() -> Path:
    """Where runs are kept: in the folder that EDGEWISE_CACHE names, else in the user's cache."""
    named = os.environ.get(VARIABLE)
    root = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "edgewise"
    return root / "reproduction"


def checksum(data: str | None) -> str:
    """SHA-256 of the files of a data set, downloaded if they are not here; OSError says how to get what cannot be."""
    if data is None:
        return ""
    files = storage.fetch_files(datasets.info(data))
    return _digest([storage.sha256_of(path, unpacked=False).encode() for _, _, path in files])


def key(job: Job, data_checksum: str) -> str:
    """What decides the outcome of a job, the code apart, as the name of its file."""
    return _digest([json.dumps([*job, data_checksum], sort_keys=True).encode()])


@cache
def code_version(game: str) -> str:
    """The code that decides the outcome of a game: the package, its kernels, the game, how data are prepared."""
    module = sys.modules[game_of(game).__module__]
    here = Path(__file__).parent.parent
    sources = [Path(inspect.getfile(module)), Path(games.__file__), Path(inspect.getfile(datasets))]
    for name in getattr(module, "SOURCES", ()):
        sources += sorted((here / name).rglob("*.py")) if (here / name).is_dir() else [here / name]
    return f"{edgewise.__version__} {kernels()} {_digest([path.read_bytes() for path in sources])[:16]}"


def kernels() -> str:
    """The hash of the sources of the compiled kernels."""
    return Path(compile.CACHE).name.removeprefix("kernels-")


def find(name: str) -> Kept | None:
    """What is kept under a key, by whichever version of the code; None if nothing whole is."""
    try:
        found = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))
        return Kept(Record(**found["record"]), *(found[field] for field in Kept._fields[1:]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(name: str, job: Job, record: Record, code: str) -> Kept:
    """Write the file of a finished run, at once."""
    kept = Kept(record, code, machine(), versions(), kernels(), datetime.now(UTC).isoformat(timespec="seconds"))
    text = json.dumps({"job": job._asdict(), **kept._asdict(), "record": record._asdict()}, allow_nan=False)
    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder(), suffix=".part", delete=False, encoding="utf-8") as file:
        file.write(text)
    os.replace(file.name, folder() / f"{name}.json")
    return kept


@cache
def machine() -> str:
    """Processor, cores and system, in words."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or "unknown processor"
    return f"{processor}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


@cache
def versions() -> dict[str, str]:
    """Python, edgewise, and what of the packages under it is installed."""
    found = {"Python": platform.python_version(), "edgewise": edgewise.__version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _digest(parts: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()
