"""Figure 1 of Hu et al. 2017: mean regret of streaming gradient boosting against N, T and the depth of the trees.

    python benchmarks/sgb_figure_1.py [--draw]      # --draw: page and picture from the saved results

A9A (its first 8,000 training rows) with the logistic loss plus .001 y^2 (Algorithm 1) and the hinge loss plus .5 y^2
(Algorithm 2); Abalone, in place of SLICE, with the squared loss (Algorithm 1) and the absolute loss plus .5 y^2
(Algorithm 2), on rings in standard deviations from their mean. f* is a regression tree of depth 15 fitted in hindsight
to the same rows, as in the paper; its leaves predict what is best for their rows. Steps: .1/beta (Algorithm 1),
1/(lambda i) within a ball (Algorithm 2).

Writes results/sgb_figure_1.json and .md, and docs/pictures/sgb-figure-1.png.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from grid import grid
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.tree import DecisionTreeRegressor

import edgewise as ew
from edgewise.plot.style import COLORS
from edgewise.theory import regression_losses as rl
from edgewise.theory.projections import Ball

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "sgb_figure_1.json"
PICTURE = HERE.parent / "docs" / "pictures" / "sgb-figure-1.png"
DEPTHS = (1, 3, 6, 10)
LEARNERS = (1, 2, 4, 8, 16, 32, 64)
CURVE = 50  # learners of the curves over T
SMOOTH = 0.1


def streams() -> dict[str, tuple[ew.Table, np.ndarray, Any, Any]]:
    """Rows, targets, the smooth loss and the loss with a kink."""
    a9a, signs = ew.datasets.load("a9a", rows=8000)
    abalone, rings = ew.datasets.shuffled(*ew.datasets.load("abalone"), 1)
    return {
        "A9A": (a9a, signs.astype(float), rl.LogisticLoss(0.001), rl.HingeLoss(0.5, Ball(2.0))),
        "Abalone": (abalone, (rings - rings.mean()) / rings.std(), rl.SquaredLoss(), rl.AbsoluteLoss(0.5, Ball(3.0))),
    }


def best_constant(loss: rl.CompiledLoss, targets: np.ndarray) -> float:
    """The prediction of least total loss for some targets, by ternary search."""
    low, high = -12.0, 12.0
    rows = targets[:, None]
    for _ in range(60):
        thirds = low + (high - low) / 3.0, high - (high - low) / 3.0
        totals = [loss.value(np.full(rows.shape, y), rows).sum() for y in thirds]
        low, high = (low, thirds[1]) if totals[0] < totals[1] else (thirds[0], high)
    return 0.5 * (low + high)


def comparator(loss: rl.CompiledLoss, X: np.ndarray, targets: np.ndarray) -> float:
    """Mean loss of f*."""
    leaves = DecisionTreeRegressor(max_depth=15, random_state=0).fit(X, targets).apply(X)
    total = 0.0
    for leaf in np.unique(leaves):
        mine = targets[leaves == leaf]
        best = np.full((mine.size, 1), best_constant(loss, mine))
        total += float(loss.value(best, mine[:, None]).sum())
    return total / targets.size


def dense(table: ew.Table) -> np.ndarray:
    """Features as f* takes them, nominal ones one-hot."""
    columns = []
    for column, feature in zip(table.values.T, table.features, strict=True):
        columns += (
            [column] if feature.categories is None else [column == code for code in range(len(feature.categories))]
        )
    return np.stack(columns, axis=1).astype(float)


def model_of(loss: Any, depth: int, n: int) -> ew.StreamingGradientBoostingRegressor:
    rate = SMOOTH / loss.smoothness if np.isfinite(loss.smoothness) else None
    tree = ew.RegressionTree(max_depth=depth, least_gain=15.0, smoothing=100.0)
    return ew.StreamingGradientBoostingRegressor(tree, n, loss=loss, learning_rate=rate, random_state=1)


def measure() -> list[dict[str, Any]]:
    """Mean regret for every stream, loss and depth, against N with all rows, and against T with CURVE learners."""
    records = []
    for name, (table, targets, smooth, kinked) in streams().items():
        X = dense(table)
        checkpoints = np.unique(np.geomspace(250, len(targets), 6).astype(int))
        for algorithm, loss in ((1, smooth), (2, kinked)):
            least = {int(t): comparator(loss, X[:t], targets[:t]) for t in checkpoints}
            last = int(checkpoints[-1])
            for depth in DEPTHS:
                if algorithm == 1:  # a run with fewer learners is the beginning of this one
                    model = model_of(loss, depth, LEARNERS[-1]).partial_fit(table, targets)
                    mean_loss = {n: model.expert_losses_[n] / last for n in LEARNERS}
                else:
                    mean_loss = {
                        n: model_of(loss, depth, n).partial_fit(table, targets).loss_sum_ / last for n in LEARNERS
                    }
                model = model_of(loss, depth, CURVE)
                over_time = {}
                for first, t in zip([0, *checkpoints[:-1]], checkpoints, strict=True):
                    model.partial_fit(table[first:t], targets[first:t])
                    over_time[int(t)] = float(model.loss_sum_ / t - least[int(t)])
                records.append(
                    {
                        "data": name,
                        "algorithm": algorithm,
                        "loss": repr(loss),
                        "depth": depth,
                        "by_learners": {n: float(value - least[last]) for n, value in mean_loss.items()},
                        "by_rows": over_time,
                        "mean_edge": float(model.edges_.mean()),
                        "least_edge": float(model.edges_.min()),
                        "comparator": least[last],
                        "bound": str(model.bound()),
                    }
                )
                print(records[-1], flush=True)
    return records


def draw(records: list[dict[str, Any]]) -> None:
    figure = Figure(figsize=(11.0, 8.4), layout="constrained")
    axes = figure.subplots(2, 4)
    panels = [(name, algorithm) for name in ("A9A", "Abalone") for algorithm in (1, 2)]
    for column, (name, algorithm) in enumerate(panels):
        for line, (part, label) in enumerate((("by_learners", "learners N"), ("by_rows", "rows T"))):
            ax = axes[line, column]
            for color, record in zip(
                COLORS, [r for r in records if (r["data"], r["algorithm"]) == (name, algorithm)], strict=False
            ):
                points = {float(at): value for at, value in record[part].items()}
                ax.plot(
                    list(points), list(points.values()), color=color, marker="o", ms=3, label=f"depth {record['depth']}"
                )
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_xticks([1, 4, 16, 64] if part == "by_learners" else [250, 1000, 4000])
            ax.xaxis.set_major_formatter("{x:.0f}")
            ax.xaxis.set_minor_locator(NullLocator())
            ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)))
            ax.yaxis.set_minor_locator(NullLocator())
            ax.yaxis.set_major_formatter("{x:.2f}")
            ax.set_xlabel(label)
            ax.set_title(f"{name}, Algorithm {algorithm}")
    axes[0, 0].set_ylabel("mean regret")
    axes[1, 0].set_ylabel("mean regret")
    axes[0, 0].legend()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def page(records: list[dict[str, Any]]) -> str:
    header = ["stream, loss, depth", *(f"N = {n}" for n in LEARNERS), "mean edge"]
    lines = [
        [
            f"{r['data']}, {r['loss']}, {r['depth']}",
            *(f"{value:.4f}" for value in r["by_learners"].values()),
            f"{r['mean_edge']:.3f}",
        ]
        for r in records
    ]
    times = [
        [f"{r['data']}, {r['loss']}, {r['depth']}", ", ".join(f"{t}: {v:.4f}" for t, v in r["by_rows"].items())]
        for r in records
    ]
    return (
        "\n\n".join(
            [
                "# Figure 1: mean regret against learners, rows and depth",
                "Made by `benchmarks/sgb_figure_1.py`. Regret is against a tree of depth 15 fitted in hindsight.",
                grid(header, lines),
                f"Against rows T, with {CURVE} learners:",
                grid(["stream, loss, depth", "T: mean regret"], times),
                "What the theorems say of the same runs, against the best prediction of each row:",
                grid(
                    ["stream, loss, depth", "bound"],
                    [[f"{r['data']}, {r['loss']}, {r['depth']}", r["bound"]] for r in records],
                ),
            ]
        )
        + "\n"
    )


def main() -> None:
    if "--draw" not in sys.argv[1:]:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(measure(), indent=1) + "\n")
    records = json.loads(RESULT.read_text())
    RESULT.with_suffix(".md").write_text(page(records))
    draw(records)


if __name__ == "__main__":
    main()
