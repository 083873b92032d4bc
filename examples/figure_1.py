"""Figure 1 of Jung, Goetz, Tewari 2017: the asymptotic error phi_N^1(0) against the number of labels.

python examples/figure_1.py --out figure-1.png
"""

from __future__ import annotations

import argparse

from edgewise.theory.potentials import asymptotic_error

N_LEARNERS = 20
EDGES = (0.01, 0.1)
LABELS = range(2, 61)


def draw(out: str) -> None:
    """Two panels, one for each edge, into the PNG file `out`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, edge in zip(figure.subplots(1, 2), EDGES, strict=True):
        axes.plot(LABELS, [asymptotic_error(k, N_LEARNERS, edge) for k in LABELS])
        axes.set(xlabel="labels k", ylabel="asymptotic error", title=f"{N_LEARNERS} learners, edge {edge}")
    figure.savefig(out, format="png", dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="figure-1.png", help="where to write the picture (default: figure-1.png)")
    chosen = parser.parse_args().out
    draw(chosen)
    print(chosen)
