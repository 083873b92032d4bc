"""Everything about the papers' tables and figures that is kept: the last full run of `edgewise reproduce all`.

    python -m benchmarks.papers.report                make report.html, results.csv and results.md from what is kept
    python -m benchmarks.papers.report --keep DIR     keep the run whose `--out` was DIR

The repository holds results/reproduction/results.json.gz, which has every number and curve, and results.md; the others
are made from them, beside them.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

from benchmarks.shared import measuring
from benchmarks.shared.measuring import RESULTS
from edgewise.reproduction import report, results, tables
from edgewise.reproduction.results import Reproduction

FOLDER = RESULTS / "reproduction"
KEPT = FOLDER / "results.json.gz"


def load(path: Path) -> list[Reproduction]:
    """The reproductions of a file, which may be compressed."""
    if path.suffix != ".gz":
        return results.load(path)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        return results.load(plain)


def reproduced() -> list[Reproduction]:
    """What is kept."""
    return load(KEPT)


def keep(folder: Path) -> None:
    """Keep the run of a folder. The same run gives the same bytes: no time is written into the file."""
    text = (folder / "results.json").read_bytes()
    json.loads(text)
    FOLDER.mkdir(parents=True, exist_ok=True)
    KEPT.write_bytes(gzip.compress(text, mtime=0))


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="the folder of a run of `edgewise reproduce`")
    arguments = parser.parse_args()
    if arguments.keep:
        keep(arguments.keep)
    found = reproduced()
    (FOLDER / "results.csv").write_text(tables.comma_separated(found))
    (FOLDER / "results.md").write_text(tables.markdown(found))
    (FOLDER / "report.html").write_text(report.html(found))


if __name__ == "__main__":
    main()
