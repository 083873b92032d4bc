"""Say which tests `make test` left out for want of something that is not installed, and how to get it."""

from __future__ import annotations

import importlib.util
import shutil
import sys

OPTIONAL = (
    ("torch", "the networks", "make neural"),
    ("capymoa", "CapyMOA as a peer", 'pip install -e ".[peers]", with Java'),
    ("vowpalwabbit", "Vowpal Wabbit as a peer", 'pip install -e ".[peers]"'),
)


def main() -> None:
    missing = [(what, how) for module, what, how in OPTIONAL if importlib.util.find_spec(module) is None]
    if not shutil.which("chromium"):
        missing.append(("the report in a browser", "install Chromium"))
    for what, how in missing:
        sys.stdout.write(f"left out: the tests of {what} ({how})\n")


if __name__ == "__main__":
    main()
