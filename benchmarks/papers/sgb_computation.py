"""Streaming against batch gradient boosting on Abalone: which settings, chosen without test rows, and what each costs.

    python -m benchmarks.papers.sgb_computation            choose (about ten CPU minutes)
    python -m benchmarks.papers.sgb_computation --report   the page, and the picture of the reproduction's runs

The splits are those of `edgewise reproduce 002/table-1`: 90% of the rows to train. The training rows of each are split
again, three times, 90% to train and 10% to compare settings by; the test rows are not looked at. The choice:

1. Batch boosting (40 networks, each trained until it converges): no setting ends with a lower loss than L. Of those
   that come within 2% of L, the one that does so with the least computation, by the mean of their curves.
2. Streaming boosting: the least budget with a setting that ends within 2% of the end of that batch boosting, a standard
   error over splits included; of the settings of that budget the one with the lowest loss.

Networks run in the loops of `sgb_loops`, which are first checked against those of the reproduction. Since a row that
tests one split is in the training rows of others, both choices are also made for each split by its own rows alone, and
tested there.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.report import reproduced
from benchmarks.papers.sgb_loops import Batch, Convergence, Rows, State, Streaming, half_square, learn, predict
from benchmarks.shared import measuring
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import TOP, found, write
from edgewise.data import datasets
from edgewise.neural.batch_boosting import streaming_units
from edgewise.reproduction.games import load
from edgewise.reproduction.games import networks as game

NAME = "sgb_computation"
PICTURE = TOP / "docs" / "pictures" / "sgb-computation.png"
SPLITS, INNER = 10, 3
WITHIN = 1.02
BUDGETS = (2.0e6, 2.5e6, 3.0e6, 3.5e6, 4.0e6)  # units on all training rows of a split
UNITS = 10.0 ** (np.arange(240, 385) / 48)

BATCH = [
    Batch(40, step, size, Convergence(1e-3, patience, 100))
    for size, step, patience in itertools.product((16, 32, 128), (0.02, 0.05, 0.1), (3, 8, 20))
]
FALLING = [
    Batch(40, step, size, Convergence(), falling)
    for size, step, falling in itertools.product((16, 32, 128), (0.02, 0.05, 0.1), (10, 20, 40))
]
STREAMING = [
    Streaming(n, eta, step, size)
    for n, eta, (step, size) in itertools.product(
        (8, 12, 16, 20), (0.5, 0.7, 1.0), ((0.05, 4), (0.05, 8), (0.1, 8), (0.1, 16))
    )
]


def parts(table: np.ndarray, targets: np.ndarray, split: int) -> tuple[Rows, Rows]:
    """Training and test rows of a split, as the reproduction has them but for the scale."""
    train, test = np.split(datasets.order(len(targets), split), [round(game.TRAIN_SHARE * len(targets))])
    return Rows(table[train], targets[train]), Rows(table[test], targets[test])


def halves(rows: Rows, seed: int) -> tuple[Rows, Rows]:
    """Nine tenths of the rows and the rest, by chance."""
    order = np.random.default_rng(seed).permutation(len(rows.z))
    train, rest = np.split(order, [round(game.TRAIN_SHARE * len(order))])
    return Rows(rows.x[train], rows.z[train]), Rows(rows.x[rest], rows.z[rest])


def standardized(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Both by the means and deviations of the first."""
    mean, scale = train.x.mean(axis=0), train.x.std(axis=0)
    return Rows((train.x - mean) / scale, train.z), Rows((test.x - mean) / scale, test.z)


def check_loops(train: Rows, test: Rows) -> float:
    """How far the loops are from the reproduction's networks after two epochs, same start and order of rows."""
    import torch

    from edgewise.neural.weak_networks import DenseNetwork

    how = {"learners": 4, "learning_rate": 0.5, "adam_step": 0.05, "batch_size": 16, "epochs": 2}
    single = [
        game.Examples(*(torch.from_numpy(a.astype(np.float32)) for a in (rows.x, rows.z[:, None])))
        for rows in (train, test)
    ]
    theirs = game.stream(DenseNetwork(1, "sigmoid"), "squared", how, *single, 3)
    layers = DenseNetwork(1, "sigmoid").build(4, train.x.shape[1], 1, 3)
    stacked = [layers.weight_in, layers.bias_in, layers.weight_out, layers.bias_out]
    state = State.of(np.hstack([layer.detach().numpy().reshape(4, -1) for layer in stacked]).astype(np.float64))
    chance = torch.Generator().manual_seed(3)
    for step in (0.05, 0.025):
        order = torch.randperm(len(train.z), generator=chance).numpy()
        learn(train, order, 16, state, 0.5, step)
    return abs(half_square(predict(test.x, state, 0.5), test.z) / theirs.losses[-1] - 1.0)


def curve(setting: Batch, train: Rows, test: Rows, seed: int) -> list[float]:
    """The loss after each of UNITS, then that at the end."""
    units, losses = map(np.array, zip(*setting.descent(train, test, seed), strict=True))
    reached = np.searchsorted(units, UNITS * (1 + 1e-9)) - 1
    return [*np.where(reached >= 0, losses[reached], np.inf).tolist(), float(losses[-1])]


def ended(setting: Streaming, epochs: int) -> Callable[[Rows, Rows, int], float]:
    """The loss at the end, as a function of training rows, test rows and seed."""
    return lambda train, test, seed: setting.loss(train, test, epochs, seed)


def within(curve_: np.ndarray, target: float) -> float:
    """The computation from which on the mean curve stays at or below the target; infinite if it does not."""
    above = np.flatnonzero(~(curve_[:-1] <= target))
    after = above[-1] + 1 if above.size else 0
    return float(UNITS[after]) if after < len(UNITS) else float("inf")


def choose_batch(curves: np.ndarray) -> tuple[int, float]:
    """Which of BATCH by curves [settings, points], and the lowest loss that any ends with."""
    lowest = curves[:, -1].min()
    return int(np.argmin([within(each, WITHIN * lowest) for each in curves])), float(lowest)


def against(ends: np.ndarray, losses: np.ndarray) -> tuple[int, float, float]:
    """The best of STREAMING by losses [settings, splits], how far above batch boosting it is, its standard error."""
    best = int(losses.mean(axis=1).argmin())
    gap = (losses[best] - ends) / ends.mean()
    return best, float(gap.mean()), float(gap.std(ddof=1) / SPLITS**0.5)


def choose() -> dict[str, Any]:
    data, targets = load("abalone")
    table = game.columns(data)
    splits = [parts(table, targets.astype(np.float64), split) for split in range(SPLITS)]
    off = check_loops(*standardized(*splits[0]))
    assert off < 1e-3, f"the loops are off the reproduction's networks by {off}"
    inner = [
        [standardized(*halves(train, SPLITS * k + s)) for k in range(INNER)] for s, (train, _) in enumerate(splits)
    ]
    all_rows = len(splits[0][0].z)

    def over_splits(run: Any) -> np.ndarray:
        """The mean over the inner splits of each split, [SPLITS, ...]."""
        return np.array([np.mean([run(*pair, k) for k, pair in enumerate(pairs)], axis=0) for pairs in inner])

    began = time.process_time()
    batch, falling = (
        np.stack([over_splits(partial(curve, s)) for s in settings], axis=1) for settings in (BATCH, FALLING)
    )
    print(f"batch boosting: {time.process_time() - began:.0f} s", flush=True)
    # An inner split has fewer rows than the split: the same epochs, so the same share of the computation.
    streaming = np.array(
        [[over_splits(ended(s, s.epochs(all_rows, u))) for s in STREAMING] for u in BUDGETS]
    )  # [budgets, settings, splits]
    print(f"with streaming boosting: {time.process_time() - began:.0f} s", flush=True)

    best_batch, lowest = choose_batch(batch.mean(axis=0))
    ends = batch[:, best_batch, -1]
    best = [against(ends, each) for each in streaming]
    budget = next((b for b, (_, gap, error) in enumerate(best) if gap + error <= WITHIN - 1), len(BUDGETS) - 1)

    def said(setting: Batch, each: np.ndarray) -> dict[str, Any]:
        how = {"learners": setting.learners, "adam_step": setting.adam_step, "batch_size": setting.batch_size}
        how |= {"falling": setting.falling} if setting.falling else {"patience": setting.convergence.patience}
        reached = {"own": within(each, WITHIN * each[-1]), "lowest": within(each, WITHIN * lowest)}
        # Strict JSON has no infinity.
        return how | {"end": each[-1]} | {of: at if np.isfinite(at) else None for of, at in reached.items()}

    return {
        "loops_off": off,
        "lowest": lowest,
        "batch": [said(s, each) for s, each in zip(BATCH, batch.mean(axis=0), strict=True)],
        "falling": [said(s, each) for s, each in zip(FALLING, falling.mean(axis=0), strict=True)],
        "best_streaming": [
            {
                "budget": u,
                "epochs": STREAMING[i].epochs(all_rows, u),
                **STREAMING[i]._asdict(),
                "end": streaming[b, i].mean(),
                "gap": gap,
                "error": error,
            }
            for b, (u, (i, gap, error)) in enumerate(zip(BUDGETS, best, strict=True))
        ],
        "chosen_batch": best_batch,
        "chosen_budget": budget,
        "tested": outcome([tested(splits[s], best_batch, best[budget][0], BUDGETS[budget], s) for s in range(SPLITS)]),
        "tested_by_own_rows": outcome(
            [
                tested(splits[s], choose_batch(batch[s])[0], int(streaming[budget, :, s].argmin()), BUDGETS[budget], s)
                for s in range(SPLITS)
            ]
        ),
        "seconds": time.process_time() - began,
    }


def tested(split: tuple[Rows, Rows], batch: int, streaming: int, budget: float, seed: int) -> dict[str, Any]:
    """One of BATCH and one of STREAMING on the test rows of a split."""
    train, test = standardized(*split)
    setting = STREAMING[streaming]
    epochs = setting.epochs(len(train.z), budget)
    whole = len(train.z) // setting.batch_size * setting.batch_size
    return {
        "units": epochs * streaming_units(whole, setting.learners),
        "streaming_loss": setting.loss(train, test, epochs, seed),
        "batch_curve": curve(BATCH[batch], train, test, seed),
    }


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--report", action="store_true", help="write the page and the picture from what is there")
    if not parser.parse_args().report:
        write(NAME, choose())
    write(NAME, found(f"{NAME}.json"), page(found(f"{NAME}.json")))
    draw(PICTURE)


def page(chosen: dict[str, Any]) -> str:
    """The results as Markdown."""
    batch = chosen["batch"][chosen["chosen_batch"]]
    near = min(chosen["falling"], key=lambda each: each["lowest"] or float("inf"))
    settings = [
        [
            *(str(each[name]) for name in ("batch_size", "adam_step", "patience")),
            *(f"{each['end']:.4f}", units(each["own"]), units(each["lowest"])),
        ]
        for each in sorted(chosen["batch"], key=lambda each: each["end"])
    ]
    budgets = [
        [
            units(each["budget"]) + (" (chosen)" if b == chosen["chosen_budget"] else ""),
            *(str(each[name]) for name in ("learners", "learning_rate", "adam_step", "batch_size", "epochs")),
            *(f"{each['end']:.4f}", f"{100 * each['gap']:.2f}%", f"{100 * each['error']:.2f}%"),
            f"{100 * (each['end'] / chosen['lowest'] - 1):.2f}%",
        ]
        for b, each in enumerate(chosen["best_streaming"])
    ]
    of_budgets = ["budget", "learners", "eta", "Adam's step", "mini-batch", "epochs", "loss at the end"]
    of_budgets += ["above batch boosting", "standard error", "above L"]
    blocks = [
        "# Streaming against batch boosting on Abalone: computation",
        "Made by `benchmarks/papers/sgb_computation.py`, which says how settings are chosen. Half the mean squared "
        "error; computation in predictions of one network. Training rows only, but for the last section.",
        "## Batch boosting: 40 networks, each trained until it converges",
        f"The lowest loss at the end of any setting is L = {chosen['lowest']:.4f}. Chosen: mini-batches of "
        f"{batch['batch_size']}, Adam's step {batch['adam_step']}, patience {batch['patience']}.",
        grid(["mini-batch", "Adam's step", "patience", "loss at the end", "within 2% of it at", "of L at"], settings),
        "With Adam's step falling to 0 over a fixed number of epochs for each network, which is not training until "
        f"convergence, the soonest to be within 2% of L is {near['falling']} epochs in mini-batches of "
        f"{near['batch_size']} with step {near['adam_step']}: {units(near['lowest'])}.",
        "## Streaming boosting: the best setting of each budget",
        grid(of_budgets, budgets),
        f"## Test rows of the {SPLITS} splits, in the same loops",
        "Settings chosen once for all splits: " + told(chosen["tested"]),
        "Settings chosen for each split by its own training rows: " + told(chosen["tested_by_own_rows"]),
    ]
    return "\n\n".join(blocks) + "\n"


def units(number: float | None) -> str:
    """Units in millions."""
    return "never" if number is None else f"{number / 1e6:.2f}e6"


def outcome(runs: list[dict[str, Any]]) -> dict[str, float | None]:
    """What streaming boosting ends with and costs beside batch boosting, over the splits; None where it never does."""
    curves = np.array([run["batch_curve"] for run in runs])
    batch, streaming = curves[:, -1], np.array([run["streaming_loss"] for run in runs])
    gap = (streaming - batch) / batch.mean()
    reached = within(curves.mean(axis=0), WITHIN * batch.mean())
    return {
        "batch_end": batch.mean(),
        "batch_units": reached if np.isfinite(reached) else None,
        "streaming_end": streaming.mean(),
        "gap": gap.mean(),
        "error": gap.std(ddof=1) / len(gap) ** 0.5,
        "streaming_units": float(np.mean([run["units"] for run in runs])),
    }


def told(found: dict[str, Any]) -> str:
    """An outcome in words."""
    return (
        f"batch boosting ends at {found['batch_end']:.4f} and is within 2% of that from {units(found['batch_units'])} "
        f"units on; streaming boosting ends at {found['streaming_end']:.4f}, {100 * found['gap']:+.2f}% "
        f"(standard error {100 * found['error']:.2f}%), after {units(found['streaming_units'])} units."
    )


def draw(path: Path) -> None:
    """Loss against computation: Abalone's curves of the reproduction of Figure 2."""
    from matplotlib.figure import Figure

    from edgewise.plot.style import COLORS, FAINT, INK

    figure_2 = next(each for each in reproduced() if each.id == "002/figure-2")
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    ax = figure.subplots()
    names = {"GB": ("batch boosting", COLORS[1]), "SGB": ("streaming boosting", COLORS[0])}
    for each in figure_2.curves:
        if each.data == "Abalone":
            name, color = names[each.algorithm]
            x, y = (np.array(side, dtype=float) for side in (each.series[0].x, each.series[0].y))
            # A curve stands at its last loss for a while after the end: draw it until the end.
            spent = next(c.ours.mean for c in figure_2.cells if (c.data, c.algorithm) == (each.data, each.algorithm))
            end = y[np.isfinite(y)][-1]
            inside = np.isfinite(y) & (x <= spent)
            ax.plot([*x[inside], spent], [*y[inside], end], color=color, linewidth=1.8, label=name)
            ax.plot(spent, end, "o", color=color, markersize=5)
            if each.algorithm == "GB":
                ax.axhline(WITHIN * end, color=FAINT, linewidth=1.0, linestyle=(0, (4, 3)))
                ax.annotate("2% above the end of batch boosting", (1.1e5, WITHIN * end), va="bottom", color=INK, size=9)
    ax.set(xscale="log", yscale="log", xlim=(1e5, 1e8), ylim=(2.0, 3.3))
    ax.set_xlabel("computation (predictions of one network)", color=INK)
    ax.set_ylabel("test loss (half the squared error)", color=INK)
    ax.set_yticks([2.0, 2.5, 3.0], labels=["2", "2.5", "3"])
    ax.minorticks_off()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
