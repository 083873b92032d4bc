"""Exact potentials beside what the papers say of them. There is nothing random in these games.

`potentials`: the asymptotic error phi_N^1(0) of OnlineMBBM against the number of labels (Jung, Goetz and Tewari 2017,
Figure 1).

| setting  | meaning                        |
|----------|--------------------------------|
| learners | N                              |
| edge     | gamma                          |
| labels   | the smallest and the largest k |

`pair_potentials`: the two quantities that Table 1 of Jung and Tewari 2018 bounds, for label sets of one size.

| setting        | meaning                               |
|----------------|---------------------------------------|
| loss           | "rank" or "hinge"                     |
| labels         | k                                     |
| relevant       | how many of them, the size of Y       |
| edge, learners | gamma, N                              |

| measure | meaning                                                                                              |
|---------|------------------------------------------------------------------------------------------------------|
| start   | phi^N(0)                                                                                             |
| weight  | w^{i*} = max c[r] - c[l], the largest over learners i, with scores as far apart as i - 1 votes allow     |

A vote for r instead of l moves the pair (r, l) by two steps of the potential, and the pairs of r and of l with other
labels by one each. The maximum over scores is taken for each pair by itself: where scores cannot be so for all pairs at
once it is an upper bound.
"""

from __future__ import annotations

import math
import time

import numpy as np

from edgewise.reproduction.games import Job, Record, curve
from edgewise.theory.potentials import asymptotic_error
from edgewise.theory.ranking import pair_table


def play(job: Job) -> Record:
    """The asymptotic error for every number of labels."""
    n, edge, (low, high) = (job.settings[name] for name in ("learners", "edge", "labels"))
    asymptotic_error(2, 1, edge)  # compiles the kernels
    labels = range(low, high + 1)
    before = time.process_time()
    errors = [asymptotic_error(k, n, edge) for k in labels]
    seconds = time.process_time() - before
    lines = [(f"edge {edge:g}", labels, errors)]
    return Record({"seconds": seconds}, seconds, [curve("bound", "labels k", "asymptotic error", lines)])


def play_pairs(job: Job) -> Record:
    """The potential at the start and the largest weight, and both against learners."""
    loss, k, size, edge, n = (job.settings[name] for name in ("loss", "labels", "relevant", "edge", "learners"))
    before = time.process_time()
    start, steps = pair_table(loss, n, k, size, edge)
    weights = [largest_weight(steps[to_go], n - 1 - to_go, k, size) for to_go in range(n)]
    counts = np.unique(np.linspace(1, n, min(n, 25)).round().astype(int))
    starts = [pair_table(loss, int(count), k, size, edge)[0] for count in counts]
    seconds = time.process_time() - before
    bounds = [start_bound(loss, edge, int(count)) for count in counts]
    curves = [
        curve("bound", "learners N", "phi at the start", [("bound", counts, bounds), ("exact", counts, starts)]),
        curve("weight", "learners to go", "largest weight", [("exact", range(n), weights)]),
    ]
    return Record({"start": start, "weight": max(weights), "seconds": seconds}, seconds, curves)


def start_bound(loss: str, edge: float, n: int) -> float:
    """Table 1, first column: Lemmas 6 and 8."""
    return (1.0 if loss == "rank" else n + 1.0) * math.exp(-0.5 * edge * edge * n)


def largest_weight(steps: np.ndarray, votes: int, k: int, size: int) -> float:
    """w^{i*} after `votes` = i - 1 votes, from the steps of the pair potential with N - i learners to go."""
    zero = steps.size // 2
    apart = slice(zero - votes, zero + votes + 1)  # s[r] - s[l] of a pair
    of_r, of_l = steps[apart], steps[apart.start - 1 : apart.stop - 1]  # r one up; l one up
    total = (size - 1) * of_r.max() + (k - size - 1) * of_l.max() + (of_r + of_l).max()
    return float(total) / (size * (k - size))
