"""Figures 1(a), 1(b) and 2 from the cells of `batch.py`, in the paper's colors: MM solid, M1 dashed, MH dotted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.batch_report import DATA, LARGE, NAMES, OURS, SMALL, STUMP, error, of
from edgewise.plot.style import COLORS, FAINT, INK

LOOKS: dict[str, dict[str, Any]] = {
    "MM": {"color": COLORS[1], "linestyle": "-"},
    "M1": {"color": COLORS[6], "linestyle": (0, (5, 2))},
    "MH": {"color": COLORS[0], "linestyle": (0, (1.5, 1.5))},
    "SAMME": {"color": COLORS[2], "linestyle": "-"},
    "MM loss": {"color": COLORS[5], "linestyle": "-"},
}


def draw(records: Sequence[dict[str, Any]], curve: Sequence[int], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def rounds(ax: Any, data: str) -> None:
        for name, look in LOOKS.items():
            found = of(records, data, name, SMALL)
            if found:
                errors = np.mean([record["test_errors"] for record in found], axis=0)
                ax.plot(curve, errors, label=NAMES[name], linewidth=1.6, **look)
                stopped = max(record["stages"] for record in found)
                if stopped < curve[-1]:
                    ax.plot(stopped, np.interp(stopped, curve, errors), "o", color=look["color"], markersize=4)
        _log_axis(ax, "rounds")

    def sizes(ax: Any, data: str) -> None:
        first = [r for r in records if r["seed"] == 1 and r["leaves"] != STUMP]
        for name in OURS:
            known = sorted({r["leaves"] for r in first if (r["data"], r["algorithm"]) == (data, name)})
            errors = [m.value for size in known if (m := error(first, data, name, size))]
            ax.plot(known, errors, label=NAMES[name], marker="o", markersize=3, linewidth=1.6, **LOOKS[name])
        _log_axis(ax, "most leaves")

    title = f"Test error with trees of {SMALL} leaves, by rounds (a dot: the last round of a booster that stopped)"
    _panels(rounds, title, folder / "batch-rounds.png")
    _panels(sizes, "Test error after 500 rounds, by size of the trees", folder / "batch-sizes.png")
    _bars(records, folder / "batch-final.png")


def _panels(panel: Callable[[Any, str], None], title: str, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 6.0), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    for ax, data in zip(axes, DATA, strict=True):
        panel(ax, data)
        ax.set_title(data, loc="left", fontsize=11, fontweight="bold", color=INK)
        _plain(ax)
    figure.suptitle(title, fontsize=12, color=INK)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, dpi=100)


def _bars(records: Sequence[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    ax = figure.subplots()
    for step, (name, leaves) in enumerate((("M1", LARGE), ("MH", STUMP), ("MM", LARGE))):
        found = [error(records, data, name, leaves) for data in DATA]
        heights = [m.value if m else 0.0 for m in found]
        told = f"{NAMES[name]}, {'stumps' if leaves == STUMP else f'{leaves} leaves'}"
        ax.bar(np.arange(len(DATA)) + 0.27 * (step - 1), heights, 0.25, color=LOOKS[name]["color"], label=told)
    ax.set_xticks(range(len(DATA)), DATA)
    ax.set_title("Test error after 500 rounds", loc="left", fontsize=11, fontweight="bold", color=INK)
    ax.legend(frameon=False)
    _plain(ax)
    figure.savefig(path, dpi=100)


def _log_axis(ax: Any, label: str) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel(label, color=INK)


def _plain(ax: Any) -> None:
    ax.set_ylim(bottom=0)
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelsize=9, length=3, color=FAINT)
