"""Paste the Python of a page into an interpreter and compare what is printed with what the page says.

    python tests/pasted.py PAGE.md

Blocks marked `python` share their names, from top to bottom. A block with prompts (`>>>`) is a doctest. A block without
prompts that is followed by a block of no language prints just that; else its output goes to this script's. The script
needs nothing but the standard library, so that it runs in an environment that holds only edgewise.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*^```(?:text)?\n(?P<printed>.*?)^```$)?", re.DOTALL | re.MULTILINE
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    line: int
    code: str
    printed: str | None


def blocks(text: str) -> list[Block]:
    """The Python blocks of a page, each with what the page says that it prints."""
    return [
        Block(text.count("\n", 0, found.start("code")) + 1, found["code"], found["printed"])
        for found in BLOCK.finditer(text)
    ]


def paste(page: str, found: list[Block]) -> list[str]:
    """Run the blocks; a complaint for each that prints something else."""
    names: dict[str, Any] = {"__name__": "__main__"}
    complaints: list[str] = []
    for block in found:
        where = f"{page}, line {block.line}"
        if ">>>" in block.code:
            test = doctest.DocTestParser().get_doctest(block.code, names, where, page, block.line - 1)
            runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
            # The names must live on in the next block.
            runner.run(test, out=complaints.append, clear_globs=False)
            names = test.globs
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block.code, where, "exec"), names)
        if block.printed is None:
            sys.stdout.write(out.getvalue())
        elif not doctest.OutputChecker().check_output(block.printed, out.getvalue(), OPTIONS):
            complaints.append(f"{where}: expected\n{block.printed}\ngot\n{out.getvalue()}")
    return complaints


if __name__ == "__main__":
    given = Path(sys.argv[1])
    sys.exit("\n".join(paste(given.name, blocks(given.read_text(encoding="utf-8")))) or 0)
