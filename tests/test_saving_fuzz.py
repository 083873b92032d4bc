"""Mutated model files never crash, hang or fill the memory: each gives the clear error, or a model that works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HANG = 1500  # seconds after which a process is taken to hang
ALLOWED = {
    "accident, refused",
    "accident, works",
    "accident, unlearned",
    "forged, refused",
    "forged, works",
    "forged, unlearned",
}


def fuzz(first: int, count: int) -> dict[str, int]:
    """What became of `count` mutated files (`tests.fuzz_saving`)."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-m", "tests.fuzz_saving", str(first), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    assert counts.keys() <= ALLOWED, done.stderr[-3000:]
    assert sum(counts.values()) == count
    # Mutations that are never refused, or always, would show nothing.
    assert counts["accident, refused"] > 0.9 * count / 2
    assert counts["forged, refused"] > 0.4 * count / 2
    assert counts["forged, works"] > 0.05 * count / 2
    return counts


@pytest.mark.plain
def test_mutated_files():
    fuzz(0, 600)


@pytest.mark.slow
def test_many_mutated_files():
    fuzz(600, 12_000)
