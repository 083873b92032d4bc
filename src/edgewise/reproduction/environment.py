"""The machine and the versions that a run was made with."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import edgewise

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "torch")


@cache
def machine() -> str:
    """Processor, cores and system, in words."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


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


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
