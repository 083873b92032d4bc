"""BinBandit with several steps of its exponentiated gradient, on the streams of `edgewise reproduce 003`.

    python -m benchmarks.papers.bin_bandit_step

Writes results/bin_bandit_step.json and .md. Orders 1 to 5 (Isolet 1 and 2) are those of the tables, the others are not.
"""

from __future__ import annotations

import numpy as np

from benchmarks.shared import measuring
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import write
from edgewise.reproduction import declarations
from edgewise.reproduction.games import labels
from edgewise.reproduction.planning import Options, lines_of

STEPS = (1e-9, 1.0, 1.5, 2.0, 2.5)  # the first as good as none: all learners of a class weigh the same
MEASURES = {"all": "003/table-2", "last_fifth": "003/table-1"}


def main() -> None:
    measuring.parser(__doc__).parse_args()
    found = []
    declared = declarations.declarations()
    for line in lines_of(declared["003/table-1"], Options()):
        if line.algorithm.name != "BinBandit":
            continue
        for step in STEPS:
            jobs = [
                job._replace(seed=seed, model=job.model | {"step": step})
                for job in line.jobs[:1]
                for seed in range(1, 2 * len(line.jobs) + 1)
            ]
            runs = [labels.play(job).measures for job in jobs]
            found.append({"data": line.data.name, "step": step} | {name: [r[name] for r in runs] for name in MEASURES})
            print(line.data.name, step, *(f"{np.mean(found[-1][name]):.3f}" for name in MEASURES), flush=True)
    printed = {name: declared[table].printed[name] for name, table in MEASURES.items()}
    page = (
        "# Steps of BinBandit\n\nMade by `benchmarks/papers/bin_bandit_step.py`: accuracy on all rows / on the "
        "last fifth, less the paper's. Means over 10 orders, Isolet 4; in brackets over the first half, which are "
        "those of `edgewise reproduce 003`.\n\n"
        + grid(
            ["data", *(f"step {step:g}" for step in STEPS)],
            [
                [data, *(_told(each, printed) for each in found if each["data"] == data)]
                for data in dict.fromkeys(each["data"] for each in found)
            ],
        )
        + "\n"
    )
    write("bin_bandit_step", found, page)


def _told(each: dict, printed: dict) -> str:
    theirs = {name: printed[name][each["data"].removesuffix(" (numeric)"), "BinBandit"] for name in MEASURES}
    whole = " / ".join(f"{np.mean(each[name]) - theirs[name]:+.3f}" for name in MEASURES)
    half = " / ".join(f"{np.mean(each[name][: len(each[name]) // 2]) - theirs[name]:+.3f}" for name in MEASURES)
    return f"{whole} ({half})"


if __name__ == "__main__":
    main()
