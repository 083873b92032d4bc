"""Draw docs/pictures/house.svg: the packages of edgewise, what imports what, and the way of one chunk of examples.

python docs/draw_house.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams |= {"svg.hashsalt": "house", "svg.fonttype": "none"}  # the same small file every time
import matplotlib.pyplot as plt  # noqa: E402

FILE = Path(__file__).parent / "pictures" / "house.svg"
# Layers from the top; whoever stands higher imports from below, never the other way.
LAYERS = (
    (("cli", "the command line"), ("river", "river's estimators")),
    (("reproduction", "the papers' tables, run again"), ("plot", "pictures")),
    (("evaluation", "races, measures, peers"), ("persist", "models as files")),
    (("models", "online boosters"), ("batch", "batch boosters"), ("neural", "boosted networks")),
    (("loop", "the online loop; loop/rules: one file per rule"),),
    (("learners", "trees, linear learners, ..."),),
    (("theory", "potentials, losses, bounds"), ("data", "tables, files"), ("reference", "the papers in plain Python")),
    (("kernels", "how kernels are compiled"),),
)
STEPS = (
    "models: check X and y, encode columns",
    "loop.pipeline: cut into chunks, share out blocks to threads",
    "loop.online_loop: for each learner, for each row",
    "learners: predict",
    "loop.rules: cost, importance, weights move",
    "learners: update",
    "loop.online_loop: Hedge follows an expert",
)


def main() -> None:
    figure, (house, way) = plt.subplots(1, 2, figsize=(11, 5.2), width_ratios=(3, 2))
    for level, rooms in enumerate(LAYERS):
        width = 1.0 / len(rooms)
        for place, (name, what) in enumerate(rooms):
            x, y = place * width, len(LAYERS) - level
            box = plt.Rectangle((x + 0.005, y), width - 0.01, 0.82, facecolor="#eef3fa", edgecolor="#4269a5")
            house.add_patch(box)
            house.text(x + width / 2, y + 0.53, name, ha="center", va="center", weight="bold", fontsize=10)
            house.text(x + width / 2, y + 0.22, what, ha="center", va="center", fontsize=7.5)
    house.set(xlim=(0, 1), ylim=(0.9, len(LAYERS) + 1.1), title="imports go down")
    for i, step in enumerate(STEPS):
        way.text(
            0.5, len(STEPS) - i, step, ha="center", va="center", fontsize=8.5, bbox={"fc": "#fdf3e7", "ec": "#b9772e"}
        )
        if i + 1 < len(STEPS):
            way.annotate(
                "", (0.5, len(STEPS) - i - 0.72), (0.5, len(STEPS) - i - 0.28), arrowprops={"arrowstyle": "->"}
            )
    way.set(xlim=(0, 1), ylim=(0.4, len(STEPS) + 0.6), title="the way of a chunk of examples")
    for axes in (house, way):
        axes.axis("off")
    figure.tight_layout()
    figure.savefig(FILE, metadata={"Date": None})


if __name__ == "__main__":
    main()
