"""Fill the tables of docs/which-model.md from the files in results/, between `<!-- table: NAME -->` and `<!-- end -->`.

    python -m benchmarks.pages.which_model             rewrite the tables
    python -m benchmarks.pages.which_model --check     change nothing; exit code 1 if a table is out of date

Each table has a function of its name.
"""

from __future__ import annotations

import re

from benchmarks.accuracy import batch_report, defaults_report, ranking_report
from benchmarks.shared import grid as tables
from benchmarks.shared.cells import complete, known
from benchmarks.shared.grid import NONE, figure, grid, values, with_tables
from benchmarks.shared.measuring import RESULTS, TOP, found
from edgewise.evaluation.racing import mean

PAGE = TOP / "docs" / "which-model.md"


def labels() -> str:
    """Accuracy of the defaults over all rows, by number of learners, beside the best peer."""
    used = defaults_report.newest(complete("defaults"))
    peers, counts = defaults_report.references(), sorted({cell["learners"] for cell in used})
    lines = []
    for data, rows in dict.fromkeys((cell["data"], cell["rows"]) for cell in used):
        peer = peers.get((data, defaults_report.PEER))
        ours = [figure(mean(values(used, "all", data=data, learners=n)).value) for n in counts]
        seconds = mean(values(used, "cpu_s", data=data, learners=counts[-1])).value
        lines.append([data, f"{rows:,}", figure(peer["all"]) if peer else NONE, *ours, f"{seconds:.1f}"])
    header = ["data", "rows", "best peer", *(f"{n} learners" for n in counts), f"CPU s, {counts[-1]} learners"]
    return grid(header, lines)


def trees() -> str:
    """Boosters of equal trees: accuracy over all rows, and rows per CPU second, on the longest run of each stream."""
    report = found("speed.json")
    plain = {(r["data"], r["rows"], r["contender"]): r for r in report["results"] if not r["options"]}
    models = ["AdaBoostOLM", "OnlineMBBM", "OzaBoost"]
    lines = []
    for data in dict.fromkeys(data for data, _, _ in plain):
        rows = max(n for name, n, _ in plain if name == data)
        runs = [plain[data, rows, f"edgewise.{model}"] for model in models]
        lines.append([data, *(f"{figure(r['all'])}, {r['rows_per_cpu_s']:,.0f}" for r in runs)])
    return grid(["data", *(f"`{model}`" for model in models)], lines)


def drift() -> str:
    """The lines of 100 learners, as they stand in results/drift.md."""
    cells = [re.split(r" *\| *", line)[1:-1] for line in (RESULTS / "drift.md").read_text().splitlines() if "|" in line]
    header = ["data, model", "rows", "all rows", "last fifth", "CPU s", "memory, MB"]
    places = [cells[0].index(name) for name in header]
    chosen = [cell for cell in cells[2:] if cell[cells[0].index("learners")] == "100"]
    return grid(header, [[cell[place] for place in places] for cell in chosen])


def rankings() -> str:
    """Rank loss on the test rows, shuffled: the defaults beside the best streaming peer."""
    shuffled = [cell for cell in complete("ranking") if cell["order"] == "shuffled"]
    known = {(line.data, line.model): line for line in ranking_report.summarized(shuffled)}
    lines = []
    for data, name in ranking_report.NAMES.items():
        peers = [line for (of, model), line in known.items() if of == data and model.startswith(("river", "sklearn"))]
        best = min(peers, key=lambda line: line.rank_loss.value)
        ours = [known[data, model] for model in ("AdaOLMR defaults", "BMR defaults")]
        shown = [f"{figure(each.rank_loss.value, 4)}, {each.cpu_s:.1f} s" for each in ours]
        lines.append([name, *shown, f"{figure(best.rank_loss.value, 4)} ({best.model})"])
    return grid(["data", "`AdaOLMR()`", "`OnlineBMR()`", "best streaming peer"], lines)


def bandits() -> str:
    """Microseconds of CPU time for a round."""
    models = found("bandit_speed.json")["models"]
    lines = [[name, f"{each['single_us']:.0f}", f"{each['replay_us']:.0f}"] for name, each in models.items()]
    return grid(["", "decide, then feedback, us", "a round of a replay, us"], lines)


def gradients() -> str:
    """Prequential RMSE beside the best online peer, and batch boosting on the last fifth."""
    runs = {(cell["contender"], cell["data"]): cell for cell in known(RESULTS / "sgb_peers.jsonl")}
    lines = []
    for data in dict.fromkeys(data for _, data in runs):
        peers = [
            cell["all"]
            for (who, of), cell in runs.items()
            if of == data and who.startswith(("river", "capymoa")) and cell.get("all")
        ]
        ours, batch = runs["edgewise.50", data], runs.get(("sklearn.HistGradientBoostingRegressor", data))
        last = f"{batch['last_fifth']:.4g}" if batch else NONE
        rate = f"{ours['rows'] / ours['cpu_s']:,.0f}"
        lines.append([data, f"{ours['all']:.4g}", f"{min(peers):.4g}", f"{ours['last_fifth']:.4g}", last, rate])
    header = ["data", "ours, all rows", "best online peer", "ours, last fifth", "batch boosting", "rows per CPU s"]
    return grid(header, lines)


def batch() -> str:
    """Test error with trees of 5 leaves."""
    used = batch_report.newest(complete("batch"))
    return batch_report.small_trees(used).split("\n\n", 1)[1]


TABLES = (labels, trees, drift, rankings, bandits, gradients, batch)  # by name


def filled(text: str) -> str:
    """The page's text with every table as the results have it."""
    return with_tables(text, {make.__name__: make() for make in TABLES})


def main() -> None:
    arguments = tables.options(__doc__).parse_args()
    tables.update(PAGE, filled, check=arguments.check, script="benchmarks.pages.which_model")


if __name__ == "__main__":
    main()
