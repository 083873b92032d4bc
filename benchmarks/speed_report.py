"""results/speed.json as a page of Markdown."""

from __future__ import annotations

from statistics import median
from typing import Any

from contender import TIMED_S

Result = dict[str, Any]

OURS = ("edgewise.AdaBoostOLM", "edgewise.OnlineMBBM", "edgewise.OzaBoost")


def label(result: Result) -> str:
    options = ", ".join(f"{name}={value}" for name, value in result["options"].items())
    name = result["contender"].replace(".", " ").replace("capymoa", "CapyMOA")
    return f"{name} ({options})" if options else name


def times(value: float) -> str:
    """A ratio to two figures, more where it is large."""
    return f"{value:.2g}x" if value < 10 else f"{value:.0f}x"


def markdown(report: dict[str, Any]) -> str:
    results = report["results"]
    blocks = [heading(report), ratios(results), potentials(results), measurements(results)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def heading(report: dict[str, Any]) -> str:
    machine, settings = report["machine"], report["settings"]
    versions: dict[str, str] = {}
    for result in report["results"]:
        versions |= result["versions"]
    quick = " **Quick run: too few rows for figures to quote.**" if settings["quick"] else ""
    return (
        f"# Speed of {settings['trees']} boosted Hoeffding trees\n\n"
        f"{machine['cpu']}, {machine['system']}, Python {machine['python']}; "
        f"{', '.join(f'{name} {number}' for name, number in sorted(versions.items()))}. One thread; CPU seconds of all "
        f"threads of the process, after warming up, best of at least {settings['repeats']} runs: of as many as take "
        f"{TIMED_S:g} s, so that short ones are tried more often. All trees: grace period "
        f"{settings['grace_period']}, split confidence {settings['split_confidence']:g}, tie threshold "
        f"{settings['tie_threshold']:g}, adaptive naive-Bayes leaves. Predict, then learn, every row.{quick}"
    )


def ratios(results: list[Result]) -> str:
    """How many times the rows per CPU second of each peer ours takes, on the same rows."""
    plain = {(r["data"], r["rows"], r["contender"]): r for r in results if not r["options"]}
    lines = []
    for (data, rows, contender), peer in plain.items():
        ours = [plain.get((data, rows, name)) for name in OURS]
        if contender in OURS or not any(ours):
            continue
        cells = [times(peer["best_cpu_s"] / own["best_cpu_s"]) if own else "" for own in ours]
        lines.append(f"| {data} | {rows} | {label(peer)} | {' | '.join(cells)} |")
    if not lines:
        return ""
    names = " | ".join(name.partition(".")[2] for name in OURS)
    return "\n".join(
        [
            "## CPU time of a peer over ours, same rows\n",
            f"| data | rows | peer | {names} |",
            "|---|---:|---|---:|---:|---:|",
            *lines,
        ]
    )


def potentials(results: list[Result]) -> str:
    """What the exact potentials of OnlineMBBM cost beside AdaBoost.OLM: all rows of each set, and votes by cost.

    On short streams the ratio hangs on how runs are summed up, so three ways are told.
    """
    found: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for r in results:
        of_set = found.setdefault((r["data"], r["rows"], r["options"].get("vote", "argmax")), {})
        of_set.setdefault(r["contender"], r["cpu_s"])
    lines = []
    for (data, rows, vote), runs in found.items():
        most = max(n for name, n, _ in found if name == data)
        if rows == most and OURS[0] in runs and OURS[1] in runs:
            olm, mbbm = runs[OURS[0]], runs[OURS[1]]
            ratios = [min(mbbm) / min(olm), min(mbbm[:3]) / min(olm[:3]), median(mbbm) / median(olm)]
            cells = [f"{min(olm):.4f}", f"{min(mbbm):.4f}", *(f"{ratio:.2f}" for ratio in ratios)]
            lines.append(f"| {data} | {rows} | {vote} | {' | '.join(cells)} |")
    if not lines:
        return ""
    return "\n".join(
        [
            "## OnlineMBBM beside AdaBoostOLM\n",
            "| data | rows | vote | AdaBoostOLM, CPU s | OnlineMBBM, CPU s | ratio | of 3 runs each | of medians |",
            "|---|---:|---|---:|---:|---:|---:|---:|",
            *lines,
        ]
    )


def measurements(results: list[Result]) -> str:
    lines = [
        "## All measurements\n",
        'Accuracy is prequential. "First run" is the first in a fresh process: Java has compiled nothing yet, '
        "ours loads its compiled kernels from disk.\n",
        "| data | rows | contender | CPU s | rows per CPU s | first run, CPU s | accuracy | last fifth |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for r in sorted(results, key=lambda r: (r["data"], -r["rows"])):
        lines.append(
            f"| {r['data']} | {r['rows']} | {label(r)} | {r['best_cpu_s']:.3f} | {r['rows_per_cpu_s']:.0f} "
            f"| {r['first_cpu_s']:.3f} | {r['all']:.3f} | {r['last_fifth']:.3f} |"
        )
    return "\n".join(lines)
