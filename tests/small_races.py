"""A small file of the user's, and a race on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from edgewise.cli import main


def fruit(folder: Path) -> Path:
    """A file with a header: a number, a color, and the kind that they tell."""
    rng = np.random.default_rng(4)
    path = folder / "fruit.csv"
    lines = ["weight,color,kind"]
    for _ in range(90):
        kind = rng.integers(3)
        lines.append(f"{rng.normal(kind, 0.3):.4f},{('red', 'blue')[kind % 2]},{('apple', 'fig', 'plum')[kind]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def race(csv: Path, *args: str) -> Result:
    """`edgewise race` on it with three learners."""
    out = str(csv.parent / "out")
    return CliRunner().invoke(main, ["race", str(csv), "--header", "--learners", "3", "--out", out, *args])
