"""The asymptotic error phi_N^1(0) of OnlineMBBM against the number of labels (Jung, Goetz and Tewari 2017, Figure 1).

| setting  | meaning                        |
|----------|--------------------------------|
| learners | N                              |
| edge     | gamma                          |
| labels   | the smallest and the largest k |
"""

from __future__ import annotations

import time

from edgewise.reproduction.games import Job, Record, curve
from edgewise.theory.potentials import asymptotic_error


def play(job: Job) -> Record:
    """Exact: there is nothing random in it."""
    n, edge, (low, high) = (job.settings[name] for name in ("learners", "edge", "labels"))
    asymptotic_error(2, 1, edge)  # compiles the kernels
    labels = range(low, high + 1)
    before = time.process_time()
    errors = {k: asymptotic_error(k, n, edge) for k in labels}
    seconds = time.process_time() - before
    line = (f"edge {edge:g}", list(labels), list(errors.values()))
    return Record({"seconds": seconds}, seconds, [curve("bound", "labels k", "asymptotic error", [line])])
