"""Streaming against batch gradient boosting of networks: Table 1 and Figure 2 of Hu et al. 2017 (AISTATS).

    python benchmarks/sgb_networks.py [--data abalone,a9a,mnist] [--device cpu] [--seeds 5] [--out benchmarks/results]

Needs torch (the extra neural) and the data in EDGEWISE_DATA. Writes one sgb_networks_DATA.json per set; then
`sgb_networks_report.py` makes the page and the picture. README.md says what is measured.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from edgewise.neural import losses
from edgewise.neural.batch_boosting import BatchBoostedNetworks, Convergence, streaming_units
from edgewise.neural.ensemble import NetworkEnsemble
from edgewise.neural.rules import Smooth
from edgewise.neural.torch_extra import device_of
from edgewise.neural.weak_networks import ConvolutionNetwork, DenseNetwork, WeakNetwork
from edgewise.streams import datasets, idx_files
from edgewise.streams.table import Table

RESULTS = Path(__file__).resolve().parent / "results"
ONE_UNIT = DenseNetwork(1, "sigmoid")
CONVOLUTION = ConvolutionNetwork(activation="sigmoid")  # tanh, the same networks with another start, is far worse here


@dataclass(frozen=True)
class Settings:
    """How one kind of boosting is run on one set: the network, N, eta, Adam, mini-batches.

    `epochs` is for streaming, whose Adam step falls to 0 in a straight line; `convergence` is for batch.
    """

    network: WeakNetwork
    learners: int
    learning_rate: float
    adam_step: float
    batch_size: int
    epochs: int = 0
    convergence: Convergence = field(default_factory=Convergence)


class Problem(NamedTuple):
    """A data set as the paper uses it. The lists of settings are candidates, told apart on held-out training rows."""

    loss: str
    regularization: float
    streaming: list[Settings]
    batch: list[Settings]


def grid(base: Settings, **choices: list[Any]) -> list[Settings]:
    return [replace(base, **dict(zip(choices, chosen, strict=True))) for chosen in itertools.product(*choices.values())]


PROBLEMS = {
    # Settings of Abalone were found on splits 100 to 103, those of A9A on held-out training rows.
    "abalone": Problem(
        "squared",
        0.0,
        [Settings(ONE_UNIT, 20, 0.5, 0.05, 16, 60)],
        [Settings(ONE_UNIT, 40, 1.0, 0.05, 128, convergence=Convergence(patience=8))],
    ),
    "a9a": Problem("logistic", 0.0, [Settings(ONE_UNIT, 8, 1.0, 0.01, 64, 5)], [Settings(ONE_UNIT, 8, 1.0, 0.01, 256)]),
    "mnist": Problem(
        "softmax",
        0.0,
        grid(Settings(CONVOLUTION, 64, 1.0, 0.003, 32, 40), learning_rate=[1.0, 2.0]),
        grid(
            Settings(CONVOLUTION, 48, 1.0, 0.003, 128, convergence=Convergence(longest=20)),
            learning_rate=[0.25, 0.5, 1.0, 2.0],
        ),
    ),
}


class Examples(NamedTuple):
    """Rows and what a loss compares scores with, on the device."""

    x: Tensor
    z: Tensor

    def __getitem__(self, rows: Any) -> Examples:  # type: ignore[override]
        return Examples(self.x[rows], self.z[rows])

    def __len__(self) -> int:
        return len(self.x)


def columns_of(table: Table) -> np.ndarray:
    """Numeric features as they are, nominal ones one-hot."""
    parts = [
        column[:, None] if feature.categories is None else column[:, None] == np.arange(len(feature.categories))
        for feature, column in zip(table.features, table.values.T, strict=True)
    ]
    return np.hstack(parts).astype(np.float64)


def load(data: str, seed: int, device: torch.device) -> tuple[Examples, Examples]:
    """Training and test part. Abalone has none: 90 % of the rows, drawn by the seed, and the rest."""
    if data == "mnist":
        parts = []
        for part in ("train", "t10k"):
            paths = [datasets.path_of(f"{part}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1")]
            pixels, digits = idx_files.read_images(*paths)
            parts.append((pixels.reshape(len(pixels), -1) / np.float32(255), np.eye(10, dtype=np.float32)[digits]))
        (x, z), (test_x, test_z) = parts
        mean, scale = x.mean(), x.std()  # one number each, so that an image stays an image
    elif data == "a9a":
        (table, y), (test_table, test_y) = datasets.load_parts("a9a")
        x, z, test_x, test_z = columns_of(table), y[:, None], columns_of(test_table), test_y[:, None]
        mean, scale = np.float64(0), np.float64(1)  # all features are 0 or 1
    else:
        table, y = datasets.load(data)
        rows = columns_of(table)
        order = datasets.order(len(y), seed)
        train, test = np.split(order, [round(0.9 * len(y))])
        x, z, test_x, test_z = rows[train], y[train, None], rows[test], y[test, None]
        mean, scale = x.mean(axis=0), x.std(axis=0)

    def on_device(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32)).to(device)

    return (
        Examples(on_device((x - mean) / scale), on_device(z)),
        Examples(on_device((test_x - mean) / scale), on_device(test_z)),
    )


def test_loss(problem: Problem, scores: Tensor, z: Tensor) -> float:
    """What Table 1 reports: half the squared error, or the share of wrong labels."""
    if problem.loss == "squared":
        return float(losses.value("squared", scores, z, 0.0).mean())
    if problem.loss == "softmax":
        return float((scores.argmax(1) != z.argmax(1)).float().mean())
    return float(((scores > 0) != (z > 0)).float().mean())


def in_batches(rows: int, batch_size: int, chance: torch.Generator, device: torch.device) -> Tensor:
    """An epoch of shuffled mini-batches; the few rows that do not fill the last one wait for another epoch."""
    order = torch.randperm(rows, generator=chance, device=device)
    return order[: rows // batch_size * batch_size].view(-1, batch_size)


def stream(problem: Problem, settings: Settings, train: Examples, test: Examples, seed: int) -> dict[str, Any]:
    """Streaming boosting (Algorithm 1): the test loss against the computation spent."""
    device = train.x.device
    torch.manual_seed(seed)
    ensemble = NetworkEnsemble(
        settings.network.build(settings.learners, train.x.shape[1], train.z.shape[1], seed),
        settings.learners,
        Smooth(settings.learning_rate),
        problem.loss,
        problem.regularization,
        settings.adam_step,
        device,
    )
    chance = torch.Generator(device).manual_seed(seed)
    samples, curve, start = 0, [], time.perf_counter()
    for epoch in range(settings.epochs):
        batches = in_batches(len(train), settings.batch_size, chance, device)
        # Within the first epoch the loss falls fastest: look at it after 1/8, 1/4 and 1/2 of the mini-batches.
        cuts = [len(batches) // 8, len(batches) // 4, len(batches) // 2] if epoch == 0 else []
        for part in torch.tensor_split(batches, cuts):
            ensemble.set_adam_step(settings.adam_step * (1.0 - epoch / settings.epochs))
            ensemble.learn(train.x, train.z, part)
            samples += part.numel()
            found = test_loss(problem, ensemble.predict(test.x), test.z)
            curve.append((streaming_units(samples, settings.learners), found))
    seconds = time.perf_counter() - start
    edges = ensemble.edges.tolist()
    return {"loss": curve[-1][1], "units": curve[-1][0], "curve": curve, "seconds": seconds, "edges": edges}


def boost(problem: Problem, settings: Settings, train: Examples, test: Examples, seed: int) -> dict[str, Any]:
    """Batch boosting: the same, and where learners were added."""
    boosted = BatchBoostedNetworks(
        settings.network,
        train.x,
        train.z,
        loss=problem.loss,
        learning_rate=settings.learning_rate,
        adam_step=settings.adam_step,
        batch_size=settings.batch_size,
        regularization=problem.regularization,
        random_state=seed,
    )
    curve, added, epochs, start = [], [], [], time.perf_counter()
    before = torch.zeros_like(test.z)
    for _ in range(settings.learners):
        spent = 0
        for units in boosted.add(settings.convergence):
            spent += 1
            curve.append((units, test_loss(problem, before + boosted.learners[-1].predict(test.x), test.z)))
        before += boosted.learners[-1].predict(test.x)
        added.append(boosted.units)
        epochs.append(spent)
    seconds = time.perf_counter() - start
    return {
        "loss": curve[-1][1], "units": curve[-1][0], "curve": curve, "added": added, "epochs": epochs,
        "seconds": seconds,
    }  # fmt: skip


def choose(
    run: Any, problem: Problem, candidates: list[Settings], train: Examples, log: list[dict[str, Any]]
) -> Settings:
    """The candidate with the least loss on the last sixth of the training rows, learned from the others."""
    if len(candidates) == 1:
        return candidates[0]
    held_out = len(train) // 6
    for candidate in candidates:
        found = run(problem, candidate, train[:-held_out], train[-held_out:], seed=1000)
        log.append({"kind": run.__name__, **plain(candidate), "loss": found["loss"], "seconds": found["seconds"]})
        print(f"  {run.__name__} {candidate}: held-out {found['loss']:.4f} in {found['seconds']:.0f} s", flush=True)
    tried = [entry["loss"] for entry in log if entry["kind"] == run.__name__]
    return candidates[int(np.argmin(tried))]


def plain(settings: Settings) -> dict[str, Any]:
    """Settings as JSON."""
    return asdict(settings) | {"network": repr(settings.network), "convergence": settings.convergence._asdict()}


def shortened(problem: Problem) -> Problem:
    """The same with two learners and two epochs: does everything run?"""

    def short(settings: Settings) -> Settings:
        return replace(settings, learners=2, epochs=2, convergence=Convergence(longest=2))

    return problem._replace(
        streaming=[short(settings) for settings in problem.streaming[:2]],
        batch=[short(settings) for settings in problem.batch[:2]],
    )


def measure(data: str, device: torch.device, seeds: int, quick: bool, path: Path) -> None:
    """Base learner, batch and streaming boosting on one set, for several seeds; the file is written after each."""
    problem = shortened(PROBLEMS[data]) if quick else PROBLEMS[data]
    few = slice(0, 2000 if quick else None)
    train, test = (part[few] for part in load(data, 0, device))
    tried: list[dict[str, Any]] = []
    streaming = choose(stream, problem, problem.streaming, train, tried)
    batch = choose(boost, problem, problem.batch, train, tried)
    base = replace(batch, learners=1, learning_rate=1.0)
    runs: list[dict[str, Any]] = []
    record = {
        "data": data,
        "loss": problem.loss,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "rows": [len(train), len(test)],
        "settings": {"streaming": plain(streaming), "batch": plain(batch), "base": plain(base)},
        "tried": tried,
        "runs": runs,
    }
    for seed in range(seeds):
        train, test = (part[few] for part in load(data, seed, device))
        run = {
            "base": boost(problem, base, train, test, seed),
            "batch": boost(problem, batch, train, test, seed),
            "streaming": stream(problem, streaming, train, test, seed),
        }
        runs.append({"seed": seed, **run})
        told = ", ".join(f"{kind} {found['loss']:.4f} ({found['units']:.3g} units)" for kind, found in run.items())
        print(f"{data}, seed {seed}: {told}", flush=True)
        path.write_text(json.dumps(record) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(PROBLEMS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a few rows and learners: does everything run?")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    chosen = options.data.split(",")
    for name in chosen:
        if name not in PROBLEMS:
            raise SystemExit(f"--data {name}: not one of {', '.join(PROBLEMS)}")
    if options.device == "cpu":
        torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        path = options.out / f"sgb_networks_{name}.json"
        measure(name, device_of(options.device), options.seeds, options.quick, path)


if __name__ == "__main__":
    main()
