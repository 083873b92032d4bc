"""Boosted networks: weights and Adam's moments as arrays. Only a file of this family needs PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgewise.data.table import Feature
from edgewise.neural import load_torch
from edgewise.neural.streaming_networks import StreamingNetworks, StreamingNetworksClassifier
from edgewise.neural.weak_networks import ConvolutionNetwork, DenseNetwork
from edgewise.persist.checks import sorted_labels, take_plain, true_or_false, whole_number
from edgewise.persist.values import parts_of

MOMENTS = ("exp_avg", "exp_avg_sq", "step")
ENERGIES = ("target_energy", "missed_energy")


def is_started(model: StreamingNetworks) -> bool:
    return hasattr(model, "_ensemble")


def features_of(model: StreamingNetworks) -> tuple[Feature, ...]:
    """The columns of a started model."""
    return tuple(model._features)


def state_of(model: StreamingNetworks) -> dict[str, Any]:
    """What a file holds of a started model beside its parameters and its features."""
    _, state = parts_of(model)
    del state["_features"]
    ensemble = model._ensemble
    moments = {}
    for name, parameter in ensemble.networks.named_parameters():
        held = ensemble.adam.state.get(parameter, {})
        if held and held.keys() != set(MOMENTS):
            raise ValueError(f"Adam remembers {', '.join(map(str, held))}: this version of PyTorch is not known here")
        moments[name] = {key: _array(held[key]) for key in MOMENTS if held}
    state["_ensemble"] = {
        "weights": {name: _array(parameter) for name, parameter in ensemble.networks.named_parameters()},
        "moments": moments,
        "energies": {name: _array(getattr(ensemble, name)) for name in ENERGIES},
    }
    return state


def check_told(model: StreamingNetworks, rebuilt: StreamingNetworks) -> None:
    """ValueError if a model is not what its parameters tell: what a file leaves out would be lost."""
    for name in ("rule", "loss", "regularization"):
        if getattr(model._ensemble, name) != getattr(rebuilt._ensemble, name):
            raise ValueError(
                f"this model cannot be saved: its parameters no longer tell how it came to be ({name}); they were "
                "changed after it had begun to learn"
            )


def restore(model: Any, features: tuple[Feature, ...], state: dict[str, Any]) -> None:
    """Make of a model that has its parameters the one that was saved; ValueError unless all parts fit together."""
    load_torch()
    stored = state.pop("_ensemble")
    model._check()
    model._features = features
    for name in ("n_features_in_", "rows_"):
        setattr(model, name, whole_number(name, state.pop(name)))
    if isinstance(model, StreamingNetworksClassifier):
        model.classes_ = sorted_labels("classes_", state.pop("classes_"))
        m = 1 if model.classes_.size == 2 else model.classes_.size
    else:
        model._flat = true_or_false("_flat", state.pop("_flat"))
        m = model._width = whole_number("_width", state.pop("_width"), 1)
    d = sum(1 if feature.categories is None else len(feature.categories) for feature in features)
    if not features or model.n_features_in_ != len(features):
        raise ValueError(f"n_features_in_={model.n_features_in_}, but {len(features)} features")
    shapes = _shapes(model, d, m)
    if {name: array.shape for name, array in stored["weights"].items()} != shapes:
        raise ValueError(f"weights of other shapes than {shapes}")
    ensemble = model._begin(d, m)
    for name, parameter in ensemble.networks.named_parameters():
        parameter.data.copy_(_like(stored["weights"][name], parameter, name))
        held = stored["moments"][name]
        if held:
            step = _like(held["step"], ensemble.target_energy.float()[0], "step")
            first, second = (_like(held[key], parameter, key) for key in MOMENTS[:2])
            ensemble.adam.state[parameter] = {"step": step, "exp_avg": first, "exp_avg_sq": second}
    for name in ENERGIES:
        energy = getattr(ensemble, name)
        energy.copy_(_like(stored["energies"][name], energy, name))
    model._ensemble = ensemble
    take_plain(model, state)


def _shapes(model: StreamingNetworks, d: int, m: int) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights, known before room for any is made."""
    network, n = DenseNetwork() if model.estimator is None else model.estimator, model.n_estimators
    if not isinstance(network, DenseNetwork | ConvolutionNetwork):
        raise ValueError(f"estimator={str(network)[:80]}: a DenseNetwork or a ConvolutionNetwork is needed")
    network.check(d)
    first: dict[str, tuple[int, ...]]
    if isinstance(network, DenseNetwork):
        hidden = network.hidden
        first = {"weight_in": (n, d, hidden), "bias_in": (n, 1, hidden)}
    else:
        depth, *sides = network.image
        hidden = network.channels * math.prod((side - network.kernel) // network.stride + 1 for side in sides)
        square = (network.kernel, network.kernel)
        first = {"weight_in": (n * network.channels, depth, *square), "bias_in": (n * network.channels,)}
    return first | {"weight_out": (n, hidden, m), "bias_out": (n, 1, m)}


def _array(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def _like(array: Any, known: Any, name: str) -> Any:
    """The array as a tensor of its own, where `known` is."""
    wanted = _array(known)
    if not isinstance(array, np.ndarray) or array.dtype != wanted.dtype or array.shape != wanted.shape:
        raise ValueError(f"{name} needs dtype {wanted.dtype} and shape {wanted.shape}")
    return load_torch().from_numpy(array.copy()).to(known.device)
