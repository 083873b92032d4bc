"""Streaming gradient boosting of small neural networks: N networks as one batched model, on a CPU or a GPU.

PyTorch comes with the extra `neural`; nothing here imports it before a model learns.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


def load_torch() -> ModuleType:
    """The module `torch`; ImportError with what to install if it is not there."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            'networks need PyTorch, which is not installed; it comes with the extra "neural": '
            'pip install "edgewise[neural]"'
        ) from error
    return torch


def device_of(name: Any) -> Any:
    """The torch device of that name; ValueError if there is no such device or it is not on this machine."""
    torch = load_torch()
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f'device={name!r}: expected "cpu", "cuda" or "cuda:0", "cuda:1" and so on') from None
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f'device={name!r}: networks run on "cpu" and "cuda" only')
    present = torch.cuda.device_count() if device.type == "cuda" else 1
    if (device.index or 0) >= present:
        raise ValueError(f"device={name!r}: PyTorch {torch.__version__} sees {present} CUDA devices on this machine")
    return device
