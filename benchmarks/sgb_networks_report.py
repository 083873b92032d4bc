"""results/sgb_networks_*.json and sgb_gpu.json as a page and a picture: Table 1 and Figure 2 of Hu et al. 2017.

python benchmarks/sgb_networks_report.py [--results benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, Any]
RESULTS = Path(__file__).resolve().parent / "results"
KINDS = ("base", "batch", "streaming")
# Table 1 of the paper, and what it reports.
PAPER = {
    "abalone": (8.2848, 2.1411, 2.1532),
    "a9a": (0.1547, 0.1579, 0.1523),
    "mnist": (0.163280, 0.019320, 0.016320),
}
MEASURES = {"squared": "half the mean squared error", "logistic": "error rate", "softmax": "error rate"}
WITHIN = 1.02  # "within 2 % of batch boosting"


def table(header: list[str], lines: list[list[str]]) -> str:
    """The first column is text, the others are numbers."""
    rows = [header, ["---", *["---:"] * (len(header) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def losses(record: Record, kind: str) -> np.ndarray:
    return np.array([run[kind]["loss"] for run in record["runs"]])


def with_error(values: np.ndarray) -> str:
    error = f" ± {values.std(ddof=1) / np.sqrt(values.size):.4f}" if values.size > 1 else ""
    return f"{values.mean():.4f}{error}"


def mean_curve(record: Record, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The test loss at given computation, mean over runs; a run stands at the last point that it has reached."""
    curves = [np.array(run[kind]["curve"]) for run in record["runs"]]
    first, last = max(curve[0, 0] for curve in curves), max(curve[-1, 0] for curve in curves)
    units = np.geomspace(first, last, 200)
    places = [np.maximum(np.searchsorted(curve[:, 0], units * (1 + 1e-9)) - 1, 0) for curve in curves]
    return units, np.mean([curve[place, 1] for curve, place in zip(curves, places, strict=True)], axis=0)


def reached(record: Record, kind: str, level: float) -> float | None:
    """Computation after which the mean test loss first was at most `level`."""
    units, found = mean_curve(record, kind)
    below = np.flatnonzero(found <= level)
    return float(units[below[0]]) if below.size else None


def number(units: float | None) -> str:
    return "never" if units is None else f"{units:.2g}"


def page(records: list[Record], gpu: Record | None) -> str:
    lines, costs = [], []
    for record in records:
        found = [losses(record, kind) for kind in KINDS]
        theirs = PAPER[record["data"]]
        own = [with_error(values) for values in found]
        lines.append([f"{record['data']}, {MEASURES[record['loss']]}", *own, *(f"{value:.4f}" for value in theirs)])
        ratio = found[2].mean() / found[1].mean()
        level = WITHIN * found[1].mean()
        spent = [np.mean([run[kind]["units"] for run in record["runs"]]) for kind in ("batch", "streaming")]
        first = [number(reached(record, kind, level)) for kind in ("batch", "streaming")]
        costs.append([record["data"], f"{ratio:.3f}", *(number(value) for value in spent), *first])
    parts = [
        "# Streaming and batch gradient boosting of networks",
        "Made by `sgb_networks_report.py` from `sgb_networks_*.json`. Table 1 of Hu et al. 2017 beside ours; ± is one "
        "standard error over runs (Abalone: over random splits of 90 % and 10 %).",
        table(
            ["set and measure", "base", "batch", "streaming", "paper: base", "batch", "streaming"],
            lines,
        ),
        "Computation, in predictions of one learner (Section 6.2): all of it, and what was spent until the mean test "
        f"loss first was within {WITHIN - 1:.0%} of where batch boosting ends.",
        table(
            [
                "set",
                "streaming / batch loss",
                "batch: all",
                "streaming: all",
                "batch: until within",
                "streaming: until",
            ],
            costs,
        ),
        "![Test loss against computation](sgb_networks.png)",
        "Settings:\n" + "\n".join(f"- {record['data']}: {settings(record)}" for record in records),
    ]
    if gpu is not None:
        parts += gpu_page(gpu)
    return "\n\n".join(parts) + "\n"


def settings(record: Record) -> str:
    told = []
    for kind in ("streaming", "batch"):
        chosen = record["settings"][kind]
        ending = f"{chosen['epochs']} epochs" if kind == "streaming" else f"converged by {chosen['convergence']}"
        told.append(
            f"{kind} {chosen['network']}, N = {chosen['learners']}, eta {chosen['learning_rate']}, "
            f"Adam {chosen['adam_step']}, mini-batches of {chosen['batch_size']}, {ending}"
        )
    return f"{'; '.join(told)}; {len(record['runs'])} runs on {record['device']}"


def gpu_page(gpu: Record) -> list[str]:
    lines = []
    for measured in gpu["measured"]:
        for name, entry in measured["ways"].items():
            idle = "–" if entry.get("idle_share") is None else f"{entry['idle_share']:.1%}"
            waited = f"{entry['handed_over_after'] / entry['seconds']:.0%}"
            lines.append([f"{measured['batch_size']}, {name}", f"{entry['samples_per_s']:,.0f}", idle, waited])
        lines.append([f"{measured['batch_size']}, **faster**", f"**{measured['times_faster']:.1f} x**", "", ""])
    return [
        f"## One epoch of MNIST, {gpu['learners']} convolutions, {gpu['device']}",
        f"{gpu['rows']:,} rows; torch {gpu['torch']}. Idle: the share of the time in which no kernel ran, so the "
        "device waited for the host. Handed over: when, as a share of the run, the host had enqueued everything.",
        table(["mini-batch, way", "samples/s", "idle", "handed over"], lines),
    ]


def picture(records: list[Record], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(records), figsize=(4.5 * len(records), 3.8), squeeze=False)
    for axis, record in zip(axes[0], records, strict=True):
        for kind, color in (("batch", "C1"), ("streaming", "C0")):
            axis.loglog(*mean_curve(record, kind), color=color, label=kind)
        added = np.mean([run["batch"]["added"] for run in record["runs"]], axis=0)  # where learners were added
        axis.plot(added, np.interp(added, *mean_curve(record, "batch")), ".", color="C1", ms=4)
        axis.set(title=record["data"], xlabel="computation (predictions of one learner)", ylabel="test loss")
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    files = [options.results / f"sgb_networks_{data}.json" for data in PAPER]
    records = [json.loads(file.read_text()) for file in files if file.exists()]
    gpu_file = options.results / "sgb_gpu.json"
    gpu = json.loads(gpu_file.read_text()) if gpu_file.exists() else None
    picture(records, options.results / "sgb_networks.png")
    (options.results / "sgb_networks.md").write_text(page(records, gpu))


if __name__ == "__main__":
    main()
