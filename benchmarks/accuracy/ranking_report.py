"""Cells of `ranking.py` as a page of Markdown and a picture: every edge, peers, and speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.shared import cells
from benchmarks.shared.grid import NONE, figure, grid
from benchmarks.shared.measuring import TOP, found
from edgewise.evaluation.racing import Mean, mean
from edgewise.reproduction.declarations import declarations

Record = dict[str, Any]

PICTURE = TOP / "docs" / "pictures" / "ranking.png"
NAMES = {"emotions": "emotions", "scene": "scene", "yeast": "yeast", "mediamill_reduced": "m-reduced"}
BEST = {
    "BMR hinge": "best BMR hinge",
    "BMR 3-10": "best BMR hinge, 3-10",
    "BMR 10-30": "best BMR hinge, 10-30",
    "BMR rank": "best BMR rank",
}


class Line(NamedTuple):
    """A model on a data set: rank loss on the test rows, and what else was measured, over its seeds."""

    order: str
    data: str
    model: str
    edge: str
    rank_loss: Mean
    one_error: float
    coverage: float
    average_precision: float
    cpu_s: float
    seeds: int


def line(cell: Record) -> str:
    """A cell as it finishes."""
    words = f"{cell['order']:8} {cell['data']:17} {cell['model']:22} seed {cell['seed']:2}"
    return f"{words}  rank loss {cell['rank_loss']:.4f}  {cell['cpu_s']:8.1f} CPU s"


def summarized(records: Sequence[Record]) -> list[Line]:
    """One line for each data set and model, edges apart; the newest record of a cell counts."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for cell in cells.newest(records, "order", "data", "model", "seed"):
        groups.setdefault((cell["order"], cell["data"], cell["model"]), []).append(cell)
    lines = []
    for (order, data, model), group in groups.items():
        name, _, edge = model.rpartition(" ")
        name, edge = (name, edge) if name in BEST else (model, "")
        one_error, coverage, precision, cpu_s = (
            mean([cell[key] for cell in group]).value for key in ("one_error", "coverage", "average_precision", "cpu_s")
        )
        losses = mean([cell["rank_loss"] for cell in group])
        lines.append(Line(order, data, name, edge, losses, one_error, coverage, precision, cpu_s, len(group)))
    return lines


def best(lines: Sequence[Line], order: str, data: str, model: str) -> Line | None:
    """The model on the data set, with its best edge in hindsight, as in the paper."""
    runs = [line for line in lines if (line.order, line.data, line.model) == (order, data, model)]
    return min(runs, key=lambda line: line.rank_loss.value) if runs else None


def four(value: Mean) -> str:
    error = "" if value.error is None else f" ± {figure(value.error, 4)}"
    return figure(value.value, 4) + error


def paragraph(text: str) -> str:
    return " ".join(text.split())


def edges(lines: Sequence[Line]) -> str:
    blocks = []
    for model, votes in (
        ("BMR hinge", "distributions"),
        ("BMR 3-10", "distributions, factors on importances from (3, 10), as the authors'"),
        ("BMR 10-30", "distributions, factors on importances from (10, 30)"),
        ("BMR rank", "single labels"),
    ):
        rows = []
        for data, shown in NAMES.items():
            of_file = [x for x in lines if (x.order, x.data, x.model) == ("file", data, model)]
            for line in sorted(of_file, key=lambda line: -float(line.edge)):
                same = [x for x in lines if (x.order, *x[1:4]) == ("shuffled", *line[1:4])]
                shuffled = four(same[0].rank_loss) if same else NONE
                rows.append([f"{shown}, {line.edge}", four(line.rank_loss), shuffled, f"{line.cpu_s:.1f}"])
        if rows:
            words = f"Potentials of the {'rank' if model == 'BMR rank' else 'hinge'} loss, votes are {votes}:"
            blocks.append(f"{words}\n\n{grid(['data, edge', 'file order', 'shuffled', 'CPU s'], rows)}")
    return "## Every edge\n\n" + "\n\n".join(blocks)


def on_shuffled_rows(lines: Sequence[Line], data: str) -> list[Line]:
    """Every model once, with its best edge, best first."""
    models = dict.fromkeys(line.model for line in lines if line.data == data)
    known = [line for model in models if (line := best(lines, "shuffled", data, model))]
    return sorted(known, key=lambda line: line.rank_loss.value)


def peers(lines: Sequence[Line]) -> str:
    blocks = []
    for data, shown in NAMES.items():
        rows = []
        for line in on_shuffled_rows(lines, data):
            edge = f", edge {line.edge}" if line.edge else ""
            in_file_order = best(lines, "file", data, line.model)
            rows.append(
                [
                    called(line.model) + edge,
                    four(line.rank_loss),
                    figure(line.one_error),
                    f"{line.coverage:.2f}",
                    figure(line.average_precision),
                    f"{line.cpu_s:.1f}",
                    str(line.seeds),
                    figure(in_file_order.rank_loss.value, 4) if in_file_order else NONE,
                ]
            )
        if rows:
            header = ["model", "rank loss", "one-error", "coverage", "precision", "CPU s", "seeds", "file order"]
            blocks.append(f"### {shown}\n\n{grid(header, rows)}")
    words = paragraph("""
        All measures are on the test rows, shuffled; the last column is the rank loss in file order. Streams (edgewise,
        river, scikit-learn's SGD): every row is ranked, then learned, one row at a time, training rows first. Batch:
        scikit-learn on all training rows at once, then the test rows without learning them, which is not the same task:
        it may look at the training rows as often as it likes, and gets nothing from the test rows. BR is binary
        relevance, one model for each label. Peers have their libraries' defaults, but river's trees try to split after
        50 examples; ours have the preset `paper` unless it says defaults. Not every model ran on every set, nor with
        every edge: a best edge here may be the best of one or two.
    """)
    return f"## Peers on the same rows\n\n{words}\n\n" + "\n\n".join(blocks)


def called(model: str) -> str:
    """A model as it stands in tables."""
    if model.startswith(("AdaOLMR", "BMR")):
        return f"**edgewise {BEST.get(model, model)}**"
    return model


def speed() -> str:
    measured = found("ranking_speed.json")
    if measured is None:
        return ""
    report = {"paper": [], "synthetic": [], "leaves": [], **measured}
    rows = [[NAMES[r["data"]], r["model"], f"{r['best_cpu_s']:.2f}", f"{r['over_olmr']:.2f}"] for r in report["paper"]]
    first = grid(["data", "model", "CPU s", "times AdaOLMR"], rows)
    second, third = (
        grid(
            ["rows", "learners", "edge", "CPU s", "µs per row and learner"],
            [
                [
                    f"{r['rows']:,}",
                    str(r["learners"]),
                    f"{r['edge']:g}",
                    f"{r['cpu_s']:.1f}",
                    f"{1e6 * r['cpu_s'] / r['rows'] / r['learners']:.1f}",
                ]
                for r in report[part]
            ],
        )
        for part in ("synthetic", "leaves")
    )
    words = paragraph(f"""
        {report["machine"]["cpu"]}, one thread; CPU seconds, best of {report.get("repeats", 1)}; preset `paper`, 100
        trees. The paper needed 288,204 s for OnlineBMR on m-reduced.
    """)
    shape = paragraph("""
        A synthetic stream of mediamill's shape (120 features, 101 labels as frequent as those of m-reduced, 4.4
        relevant on average), OnlineBMR with the hinge loss, one run each:
    """)
    alone = paragraph("""
        Most of this is the trees' own, and the fewer the learners, the larger their importances and the more they
        split. The same with trees of a single leaf, which is what the booster itself costs:
    """)
    return f"## Speed\n\n{words}\n\n{first}\n\n{shape}\n\n{second}\n\n{alone}\n\n{third}"


def page(records: Sequence[Record]) -> str:
    lines, warning = summarized(records), cells.versions(records)
    head = (
        "# Multi-label ranking: edges, peers, and speed\n\nMade by `benchmarks/accuracy/ranking.py`. Table 3 of "
        f"Jung and Tewari 2018 is reproduced by `edgewise reproduce 001/table-3`.{f' {warning}' if warning else ''}"
    )
    return "\n\n".join(block for block in (head, edges(lines), peers(lines), speed()) if block) + "\n"


def draw(lines: Sequence[Line]) -> None:
    """Rank loss of every model on every data set, best on top, with the paper's values as lines."""
    from matplotlib.figure import Figure

    published = declarations()["001/table-3"].printed["rank_loss"]
    shown = {data: name for data, name in NAMES.items() if on_shuffled_rows(lines, data)}
    if not shown:
        return
    picture = Figure(figsize=(11, 3.4 * ((len(shown) + 1) // 2)), layout="constrained")
    axes = picture.subplots((len(shown) + 1) // 2, 2, squeeze=False).ravel()
    for ax, (data, name) in zip(axes, shown.items(), strict=False):
        chosen = on_shuffled_rows(lines, data)[::-1]
        for place, line in enumerate(chosen):
            ours = line.model.startswith(("AdaOLMR", "BMR"))
            color = "#0072B2" if ours else "#8a8a8a" if line.model.startswith("batch") else "#D55E00"
            ax.plot([0, line.rank_loss.value], [place, place], color=color, linewidth=1, alpha=0.35)
            ax.plot(line.rank_loss.value, place, "o", color=color, markersize=6)
        ax.set_yticks(range(len(chosen)), [BEST.get(line.model, line.model) for line in chosen], fontsize=8)
        for algorithm, style in (("Ada.OLMR", ":"), ("best BMR", "--")):
            value = published[name, algorithm]
            ax.axvline(value, color="#222222", linewidth=0.8, linestyle=style, label=f"paper: {algorithm}")
        lowest = min(line.rank_loss.value for line in chosen)
        highest = max(line.rank_loss.value for line in chosen)
        ax.set_xlim(max(0.0, lowest - 0.15 * (highest - lowest) - 0.005), highest + 0.05 * (highest - lowest) + 0.002)
        ax.set_title(name, loc="left", fontsize=11, fontweight="bold")
        ax.set_xlabel("rank loss on the test rows, shuffled", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="x", labelsize=8)
        ax.legend(fontsize=7, loc="upper right", frameon=False)
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    PICTURE.parent.mkdir(exist_ok=True)
    picture.savefig(PICTURE, dpi=130)
