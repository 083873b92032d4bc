"""Streaming against batch gradient boosting of small networks (Hu et al. 2017, Section 6.2): test loss by computation.

| setting                   | meaning                                                                                 |
|---------------------------|-----------------------------------------------------------------------------------------|
| way                       | which of the next three a run is                                                        |
| streaming                 | learners N, learning_rate eta, adam_step, batch_size, epochs                            |
| batch, base               | the same, but instead of epochs: tolerance, patience, longest (`Convergence`)           |
| loss                      | "squared", "logistic" or "softmax"                                                      |
| network                   | a class of edgewise and its arguments                                                   |
| scale                     | features are standardized by "columns", all by one number ("whole") or not ("none")     |
| device                    | "cpu" or "cuda"                                                                         |
| learners, epochs, longest | at most so many, in every way                                                           |

Streaming lets Adam's step fall to 0 in a straight line. Computation is counted in predictions of one learner, as in the
paper. Seeds count from 0 here, as in the runs that the settings were chosen by.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgewise.data import binary_files, datasets
from edgewise.reproduction.games import Job, Record, curve, load, make

if TYPE_CHECKING:
    from torch import Tensor

SOURCES = ("neural",)
LIMITS = ("learners", "epochs", "longest")
TRAIN_SHARE = 0.9  # of sets without a test part
GRID = 10.0 ** (np.arange(36, 121) / 12)  # units at which runs are compared, the same for all
STANDS = 2.0  # a run that ended stands at its last loss until so many times its units


class Examples(NamedTuple):
    """Rows and what a loss compares scores with, on the device."""

    x: Tensor
    z: Tensor


class Descent(NamedTuple):
    """How the test loss fell, and the units spent at each point."""

    units: list[float]
    losses: list[float]


def play(job: Job) -> Record:
    """Train on the training part, look at the test part from time to time."""
    import torch

    from edgewise.neural import device_of

    torch.set_num_threads(1)
    settings = job.settings
    how = {name: _at_most(name, value, settings) for name, value in settings[settings["way"]].items()}
    train, test = parts(job, device_of(settings["device"]))
    before = time.process_time()
    trained = stream if settings["way"] == "streaming" else boost
    run = trained(make(settings["network"]), settings["loss"], how, train, test, job.seed - 1)
    seconds = time.process_time() - before
    measures = {"test_loss": run.losses[-1], "units": run.units[-1], "seconds": seconds}
    label = "computation (predictions of one learner)"
    return Record(measures, seconds, [curve("cost", label, "test loss", [("test loss", GRID, on_grid(run))])])


def on_grid(run: Descent) -> np.ndarray:
    """The test loss after so many units: that of the last point reached, for a while after the end as well."""
    reached = np.searchsorted(run.units, GRID * (1 + 1e-9)) - 1
    known = (reached >= 0) & (run.units[-1] * STANDS >= GRID)
    return np.where(known, np.array(run.losses)[reached], np.nan)


def _at_most(name: str, value: Any, settings: dict[str, Any]) -> Any:
    return min(value, settings[name]) if name in LIMITS and name in settings else value


def parts(job: Job, device: Any) -> tuple[Examples, Examples]:
    """Training and test part; where the files have none, rows drawn by the seed."""
    import torch

    assert job.data is not None
    if job.data == "mnist":
        x, z, test_x, test_z = _mnist()
    elif datasets.info(job.data).train_rows is not None:
        (table, y), (test_table, test_y) = datasets.load_parts(job.data)
        x, z, test_x, test_z = columns(table), y[:, None], columns(test_table), test_y[:, None]
    else:
        table, y = load(job.data)
        rows = columns(table)
        train, test = np.split(datasets.order(len(y), job.seed - 1), [round(TRAIN_SHARE * len(y))])
        x, z, test_x, test_z = rows[train], y[train, None], rows[test], y[test, None]
    mean, scale = {
        "columns": lambda: (x.mean(axis=0), x.std(axis=0)),
        "whole": lambda: (x.mean(), x.std()),
        "none": lambda: (0.0, 1.0),
    }[job.settings["scale"]]()

    def on_device(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array[: job.rows], dtype=np.float32)).to(device)

    return (
        Examples(on_device((x - mean) / scale), on_device(z)),
        Examples(on_device((test_x - mean) / scale), on_device(test_z)),
    )


def _mnist() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images as rows of numbers from 0 to 1, labels one-hot; read from the files, since a `Table` has doubles."""
    found = []
    for part in ("train", "t10k"):
        images, labels = (datasets.path_of(f"{part}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
        pixels, digits = binary_files.read_images(images, labels)
        found += [pixels.reshape(len(pixels), -1) / np.float32(255), np.eye(10, dtype=np.float32)[digits]]
    return found[0], found[1], found[2], found[3]


def columns(table: Any) -> np.ndarray:
    """Numeric features as they are, nominal ones one-hot."""
    parts = [
        column[:, None] if feature.categories is None else column[:, None] == np.arange(len(feature.categories))
        for feature, column in zip(table.features, table.values.T, strict=True)
    ]
    return np.hstack(parts).astype(np.float64)


def test_loss(loss: str, scores: Tensor, z: Tensor) -> float:
    """What Table 1 reports: half the squared error, or the share of wrong labels."""
    from edgewise.neural.rules import loss_value

    if loss == "squared":
        return float(loss_value("squared", scores, z, 0.0).mean())
    if loss == "softmax":
        return float((scores.argmax(1) != z.argmax(1)).float().mean())
    return float(((scores > 0) != (z > 0)).float().mean())


def stream(network: Any, loss: str, how: dict[str, Any], train: Examples, test: Examples, seed: int) -> Descent:
    """Streaming boosting, Algorithm 1."""
    import torch

    from edgewise.neural.batch_boosting import streaming_units
    from edgewise.neural.ensemble import NetworkEnsemble
    from edgewise.neural.rules import Smooth

    device, n = train.x.device, how["learners"]
    torch.manual_seed(seed)
    networks = network.build(n, train.x.shape[1], train.z.shape[1], seed)
    ensemble = NetworkEnsemble(networks, n, Smooth(how["learning_rate"]), loss, 0.0, how["adam_step"], device)
    chance = torch.Generator(device).manual_seed(seed)
    samples, path = 0, Descent([], [])
    for epoch in range(how["epochs"]):
        # The few rows that do not fill the last mini-batch wait for another epoch.
        order = torch.randperm(len(train.x), generator=chance, device=device)
        batches = order[: len(order) // how["batch_size"] * how["batch_size"]].view(-1, how["batch_size"])
        # Within the first epoch the loss falls fastest: look at it after 1/8, 1/4 and 1/2 of the mini-batches.
        cuts = [len(batches) // 8, len(batches) // 4, len(batches) // 2] if epoch == 0 else []
        for part in torch.tensor_split(batches, cuts):
            ensemble.set_adam_step(how["adam_step"] * (1.0 - epoch / how["epochs"]))
            ensemble.learn(train.x, train.z, part)
            samples += part.numel()
            path.units.append(streaming_units(samples, n))
            path.losses.append(test_loss(loss, ensemble.predict(test.x), test.z))
    return path


def boost(network: Any, loss: str, how: dict[str, Any], train: Examples, test: Examples, seed: int) -> Descent:
    """Batch boosting: each network is trained until it converges, in turn."""
    import torch

    from edgewise.neural.batch_boosting import BatchBoostedNetworks, Convergence

    boosted = BatchBoostedNetworks(
        network,
        train.x,
        train.z,
        loss=loss,
        learning_rate=how["learning_rate"],
        adam_step=how["adam_step"],
        batch_size=how["batch_size"],
        random_state=seed,
    )
    convergence = Convergence(how["tolerance"], how["patience"], how["longest"])
    path, before = Descent([], []), torch.zeros_like(test.z)
    for _ in range(how["learners"]):
        for units in boosted.add(convergence):
            path.units.append(units)
            path.losses.append(test_loss(loss, before + boosted.learners[-1].predict(test.x), test.z))
        before += boosted.learners[-1].predict(test.x)
    return path
