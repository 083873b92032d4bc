"""Print the lower bounds of pyproject.toml as exact requirements: `numpy>=1.26` becomes `numpy==1.26.0`.

    pip install $(python tests/lowest.py)

`make test-lowest` makes an environment of them and runs the tests that touch each dependency. The extra `test` counts
as well, less what only checks the source, and river, which asks for newer releases than edgewise does.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

LEFT_OUT = {"ruff", "mypy", "import-linter", "river"}


def lowest(requirement: str) -> str:
    """The requirement at its lower bound, with the three numbers that a first release has."""
    found = re.fullmatch(r"([\w.-]+)\s*>=\s*(\d+(?:\.\d+)*)", requirement)
    if found is None:
        raise ValueError(f"{requirement!r}: a name and one lower bound (>=) are expected")
    name, numbers = found[1], found[2].split(".")
    return f"{name}=={'.'.join(numbers + ['0'] * (3 - len(numbers)))}"


def main() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    wanted = [lowest(each) for each in project["dependencies"] + project["optional-dependencies"]["test"]]
    sys.stdout.write("\n".join(each for each in wanted if each.partition("==")[0] not in LEFT_OUT) + "\n")


if __name__ == "__main__":
    main()
