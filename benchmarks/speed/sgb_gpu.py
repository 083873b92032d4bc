"""One epoch of MNIST with 16 boosted convolutions on a GPU: samples per second, the fused step against one module after
the other, and how long the device waited for the host.

    python -m benchmarks.speed.sgb_gpu [--device cuda] [--learners 16] [--batches 64,128,512] [--out benchmarks/results]

Needs torch (the extra neural) and MNIST in EDGEWISE_DATA. Writes sgb_gpu.json and sgb_gpu.md. With --device cpu --rows
1000 it runs anywhere, to try it out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.shared import measuring
from benchmarks.shared.grid import NONE, grid
from benchmarks.shared.measuring import RESULTS
from edgewise.neural import device_of
from edgewise.neural.ensemble import NetworkEnsemble
from edgewise.neural.rules import Smooth, loss_gradient
from edgewise.neural.weak_networks import ConvolutionNetwork
from edgewise.reproduction.games import Job
from edgewise.reproduction.games.networks import Examples, parts

ETA, ADAM_STEP = 1.0, 1e-3
NETWORK = ConvolutionNetwork(activation="sigmoid")
PROFILED_STEPS = 200  # some 10,000 kernels: enough to see, and quick to read
Step = Callable[[Tensor, Tensor], Tensor]


class OneAfterTheOther:
    """The same learners as separate torch modules, each with an Adam of its own, taken in turn."""

    def __init__(self, learners: int, device: torch.device, fused_adam: bool) -> None:
        self.modules = []
        stacked = NETWORK.build(learners, 784, 10, 0)
        for i in range(learners):
            module = nn.Sequential(nn.Conv2d(1, 5, 5, stride=2), nn.Sigmoid(), nn.Flatten(), nn.Linear(720, 10))
            with torch.no_grad():
                module[0].weight.copy_(stacked.weight_in[5 * i : 5 * i + 5])
                module[0].bias.copy_(stacked.bias_in[5 * i : 5 * i + 5])
                module[3].weight.copy_(stacked.weight_out[i].T)
                module[3].bias.copy_(stacked.bias_out[i, 0])
            self.modules.append(module.to(device))
        options = {"fused": True} if fused_adam else {}
        self.adams = [torch.optim.Adam(module.parameters(), lr=ADAM_STEP, **options) for module in self.modules]

    def step(self, x: Tensor, z: Tensor) -> Tensor:
        images = x.view(-1, 1, 28, 28)
        scores = torch.zeros_like(z)
        for module, adam in zip(self.modules, self.adams, strict=True):
            target = loss_gradient("softmax", scores, z, 0.0)
            adam.zero_grad(set_to_none=True)
            vote = module(images)
            (target - vote).square().sum(-1).mean().backward()
            adam.step()
            scores = scores - ETA * vote.detach()
        return scores


def ensemble(learners: int, device: torch.device, record: bool) -> NetworkEnsemble:
    networks = NETWORK.build(learners, 784, 10, 0)
    return NetworkEnsemble(networks, learners, Smooth(ETA), "softmax", 0.0, ADAM_STEP, device, record=record)


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def learn(step: Step, examples: Examples, batches: Tensor) -> None:
    for rows in batches:
        step(examples.x.index_select(0, rows), examples.z.index_select(0, rows))


def timed(run: Callable[[], None], device: torch.device, repeats: int) -> dict[str, float]:
    """The fastest of several runs: seconds in all, and until the host had handed over all of its work."""
    run()  # libraries choose their kernels, the step is recorded
    found = []
    for _ in range(repeats):
        wait(device)
        start = time.perf_counter()
        run()
        handed_over = time.perf_counter() - start
        wait(device)
        found.append((time.perf_counter() - start, handed_over))
    seconds, handed_over = min(found)
    return {"seconds": seconds, "handed_over_after": handed_over}


def idle_share(run: Callable[[], None], device: torch.device) -> dict[str, Any]:
    """From the profiler's record of every kernel: the share of the time between the first and the last kernel in which
    none ran, which is when the device waited for the host (all kernels are on one stream)."""
    if device.type != "cuda":
        return {"idle_share": None, "why": "no CUDA device"}
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run()
        wait(device)
    spans = sorted(
        (event.time_range.start, event.time_range.end)
        for event in profiler.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    )
    if not spans:
        return {"idle_share": None, "why": "the profiler saw no kernels"}
    busy, reached = 0.0, spans[0][0]
    for start, end in spans:
        busy += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    span = reached - spans[0][0]
    return {"idle_share": 1.0 - busy / span, "busy_s": busy * 1e-6, "span_s": span * 1e-6, "kernels": len(spans)}


def measure(examples: Examples, learners: int, batch_size: int, repeats: int) -> dict[str, Any]:
    """All ways of training on the same mini-batches."""
    device = examples.x.device
    order = torch.randperm(len(examples.x), generator=torch.Generator().manual_seed(0)).to(device)
    batches = order[: len(order) // batch_size * batch_size].view(-1, batch_size)
    recorded = ensemble(learners, device, record=True)
    plain = ensemble(learners, device, record=False)
    ways: dict[str, Callable[[], None]] = {
        "fused, recorded": lambda: recorded.learn(examples.x, examples.z, batches),
        "fused": lambda: plain.learn(examples.x, examples.z, batches),
    }
    for fused_adam in (True, False):
        modules = OneAfterTheOther(learners, device, fused_adam)
        name = "one after the other" + (", fused Adam" if fused_adam else "")
        ways[name] = lambda modules=modules: learn(modules.step, examples, batches)
    found: dict[str, Any] = {name: timed(run, device, repeats) for name, run in ways.items()}
    for entry in found.values():
        entry["samples_per_s"] = batches.numel() / entry["seconds"]
    few = batches[:PROFILED_STEPS]
    for name, learner in (("fused, recorded", recorded), ("fused", plain)):
        found[name] |= idle_share(lambda learner=learner: learner.learn(examples.x, examples.z, few), device)
    fastest = min(entry["seconds"] for name, entry in found.items() if name.startswith("one"))
    return {
        "batch_size": batch_size,
        "steps": len(batches),
        "ways": found,
        "times_faster": fastest / found["fused, recorded"]["seconds"],
        "times_faster_unrecorded": fastest / found["fused"]["seconds"],
    }


def agreement(examples: Examples, learners: int, steps: int = 50, batch_size: int = 128) -> float:
    """The largest difference between scores of the fused and of the separate learners after some steps."""
    device = examples.x.device
    batches = torch.arange(steps * batch_size, device=device).remainder(len(examples.x)).view(steps, batch_size)
    fused, modules = ensemble(learners, device, record=True), OneAfterTheOther(learners, device, True)
    fused.learn(examples.x, examples.z, batches)
    learn(modules.step, examples, batches)
    some = examples.x[:1000]
    with torch.no_grad():
        votes = torch.stack([module(some.view(-1, 1, 28, 28)) for module in modules.modules])
    return float((fused.predict(some) + ETA * votes.sum(0)).abs().max())


def page(record: dict[str, Any]) -> str:
    """The record as Markdown."""
    lines = []
    for measured in record["measured"]:
        for name, entry in measured["ways"].items():
            idle = NONE if entry.get("idle_share") is None else f"{entry['idle_share']:.1%}"
            waited = f"{entry['handed_over_after'] / entry['seconds']:.0%}"
            lines.append([f"{measured['batch_size']}, {name}", f"{entry['samples_per_s']:,.0f}", idle, waited])
        lines.append([f"{measured['batch_size']}, **faster**", f"**{measured['times_faster']:.1f} x**", "", ""])
    return (
        f"# One epoch of MNIST, {record['learners']} convolutions, {record['device']}\n\n"
        "Made by `benchmarks/speed/sgb_gpu.py`. "
        f"{record['rows']:,} rows; torch {record['torch']}. Idle: the share of the time in which no kernel ran, so the "
        "device waited for the host. Handed over: when, as a share of the run, the host had enqueued everything.\n\n"
        + grid(["mini-batch, way", "samples/s", "idle", "handed over"], lines)
        + "\n"
    )


def main() -> None:
    parser = measuring.parser(__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--learners", type=int, default=16)
    parser.add_argument("--batches", default="64,128,512")
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    device = device_of(options.device)
    job = Job("networks", "mnist", {}, {"scale": "whole"}, 1, options.rows)
    train, _ = parts(job, device)
    record: dict[str, Any] = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "torch": torch.__version__,
        "learners": options.learners,
        "rows": len(train.x),
        "agreement": agreement(train, options.learners),
        "measured": [],
    }
    for size in map(int, options.batches.split(",")):
        found = measure(train, options.learners, size, options.repeats)
        record["measured"].append(found)
        for name, entry in found["ways"].items():
            idle = f", idle {entry['idle_share']:.1%}" if entry.get("idle_share") is not None else ""
            print(f"batch {size}, {name}: {entry['samples_per_s']:,.0f} samples/s{idle}", flush=True)
        print(f"batch {size}: {found['times_faster']:.1f} times faster than one after the other", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "sgb_gpu.json").write_text(json.dumps(record, indent=1) + "\n")
    (options.out / "sgb_gpu.md").write_text(page(record))


if __name__ == "__main__":
    main()
