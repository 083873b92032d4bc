"""Speed of the bandits: a replay of Movement with 20 learners, and deciding and learning one example at a time.

    python -m benchmarks.speed.bandits [--repeats 3]

Times are CPU time, the best of the repeats. Writes results/bandit_speed.json and results/bandit_speed.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import edgewise
from benchmarks.shared import measuring
from benchmarks.shared.cells import stamp
from benchmarks.shared.grid import grid
from benchmarks.shared.measuring import best_cpu, cpu, write
from benchmarks.shared.streams import stream

LEARNERS = 20
CLASSES, FEATURES, ROUNDS, WARM_UP = 5, 12, 2000, 1000
MODELS: dict[str, Callable[[], Any]] = {
    "AdaBandit": lambda: edgewise.AdaBandit(n_estimators=LEARNERS, random_state=1),
    'AdaBandit, preset "paper"': lambda: edgewise.AdaBandit.preset("paper", n_estimators=LEARNERS, random_state=1),
    "BanditBBM": lambda: edgewise.BanditBBM(n_estimators=LEARNERS, random_state=1),
    "BinBandit, 4 learners for each class": lambda: edgewise.BinBandit(n_estimators=4, random_state=1),
}


def replay_seconds(make: Callable[[], Any], repeats: int) -> float:
    """CPU seconds of a replay of all rows of Movement."""
    X, y, classes = stream("movement", 1, None)
    make().prequential(X[:10], y[:10], classes=classes)  # compiles the kernels or loads them from disk
    return best_cpu(lambda: make().prequential(X, y, classes=classes), repeats)


def round_microseconds(make: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """CPU microseconds of a decision and its feedback, one at a time, after a warm-up; and of a round of a replay."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, CLASSES, WARM_UP + ROUNDS)
    X = rng.normal(size=(y.size, FEATURES)) + y[:, None] * rng.uniform(0.2, 0.8, FEATURES)

    def one_at_a_time(model: Any) -> None:
        for t in range(WARM_UP, y.size):
            decision = model.decide(X[t])
            model.feedback(decision, decision.label == y[t])

    single = replay = np.inf
    for _ in range(repeats):
        one, many = make(), make()
        for model in (one, many):
            model.prequential(X[:WARM_UP], y[:WARM_UP], classes=range(CLASSES))
        single = min(single, cpu(one_at_a_time, one)[0])
        replay = min(replay, cpu(many.prequential, X[WARM_UP:], y[WARM_UP:])[0])
    return 1e6 * single / ROUNDS, 1e6 * replay / ROUNDS


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    measured = {}
    for name, make in MODELS.items():
        single, replay = round_microseconds(make, repeats)
        seconds = replay_seconds(make, 1)
        measured[name] = {"single_us": single, "replay_us": replay, "movement_s": seconds}
        print(
            f"{name}: {single:.0f} us one at a time, {replay:.0f} us in a replay; Movement {seconds:.1f} s", flush=True
        )
    lines = [
        [name, f"{m['single_us']:.0f}", f"{m['replay_us']:.0f}", f"{m['movement_s']:.1f}"]
        for name, m in measured.items()
    ]
    header = ["", "decide + feedback, us", "a round of a replay, us", "Movement, 165,632 rows, s"]
    told = (
        f"CPU time of one thread, {LEARNERS} learners. The microseconds are of {FEATURES} numeric features and "
        f"{CLASSES} classes, after {WARM_UP:,} rounds."
    )
    page = f"# Speed of the bandits\n\n{told}\n\n{grid(header, lines)}\n"
    write("bandit_speed", {"models": measured, **stamp()}, page)


if __name__ == "__main__":
    main()
