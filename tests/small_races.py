"""The command in this process, and a small file of the user's to race on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from edgewise.cli import main


def invoke(*args: str) -> Result:
    """Run `edgewise` with these arguments."""
    return CliRunner().invoke(main, args)


def assert_one_line_error(result: Result, code: int, *words: str) -> None:
    """The command ended with this exit code and one line on stderr that holds these words."""
    assert result.exit_code == code
    assert result.stderr.startswith("edgewise: error: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


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
    return invoke("race", str(csv), "--header", "--learners", "3", "--out", out, *args)
