"""Boosted networks: weights and Adam's moments as arrays. Only a file of this family needs PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgewise.data.table import Feature
from edgewise.neural import load_torch
from edgewise.neural.streaming_networks import StreamingNetworksClassifier
from edgewise.neural.weak_networks import ConvolutionNetwork, DenseNetwork
from edgewise.persist.declared import STATES, check, take

STARTED = "_ensemble"  # an attribute of every started model
MOMENTS = ("exp_avg", "exp_avg_sq")


def features_of(model: Any) -> tuple[Feature, ...]:
    """The columns of a started model."""
    return tuple(model._features)


def stored_state(model: Any, held: dict[str, Any]) -> dict[str, Any]:
    """What a file holds of a started model beside its parameters and its features, given all of its attributes."""
    state = {name: value for name, value in held.items() if name != "_features"}
    ensemble, moments = model._ensemble, {}
    parameters = dict(ensemble.networks.named_parameters())
    for name, parameter in parameters.items():
        of_adam = ensemble.adam.state.get(parameter, {})
        if of_adam and of_adam.keys() != {*MOMENTS, "step"}:
            raise ValueError(
                f"Adam remembers {', '.join(map(str, of_adam))}: this version of PyTorch is not known here"
            )
        moments[name] = {key: _array(of_adam[key]) for key in (*MOMENTS, "step") if of_adam}
    state["_ensemble"] = {
        "weights": {name: _array(parameter) for name, parameter in parameters.items()},
        "moments": moments,
        "energies": {name: _array(getattr(ensemble, name)) for name in STATES["Energies"]},
    }
    return state


def check_unchanged(model: Any, rebuilt: Any) -> None:
    """ValueError if a model is not as its parameters say: what a file leaves out would be lost."""
    for name in ("rule", "loss", "regularization"):
        if getattr(model._ensemble, name) != getattr(rebuilt._ensemble, name):
            raise ValueError(
                f"this model cannot be saved: its parameters no longer tell how it came to be ({name}); they were "
                "changed after it had begun to learn"
            )


def restore(model: Any, features: tuple[Feature, ...], state: dict[str, Any]) -> None:
    """Make of a model that has its parameters the one that was saved; ValueError unless all parts fit together."""
    torch = load_torch()
    stored = state.pop("_ensemble")
    model._check()
    model._features = features
    is_classifier = isinstance(model, StreamingNetworksClassifier)
    take(model, state, ("n_features_in_", "rows_", *(("classes_",) if is_classifier else ("_flat", "_width"))))
    if not features or model.n_features_in_ != len(features):
        raise ValueError(f"n_features_in_={model.n_features_in_}, but {len(features)} features")
    m = model._width if not is_classifier else 1 if model.classes_.size == 2 else model.classes_.size
    d = sum(1 if feature.categories is None else len(feature.categories) for feature in features)
    _check_arrays(model, stored, d, m)
    ensemble = model._begin(d, m)

    def tensor(array: np.ndarray) -> Any:
        return torch.from_numpy(array.copy()).to(ensemble.device)

    for name, parameter in ensemble.networks.named_parameters():
        parameter.data.copy_(tensor(stored["weights"][name]))
        if stored["moments"][name]:
            ensemble.adam.state[parameter] = {key: tensor(array) for key, array in stored["moments"][name].items()}
    for name in STATES["Energies"]:
        getattr(ensemble, name).copy_(tensor(stored["energies"][name]))
    model._ensemble = ensemble


def _array(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def _check_arrays(model: Any, stored: Any, d: int, m: int) -> None:
    """ValueError unless all arrays are as declared: sizes are known before room for any is made."""
    network, n = DenseNetwork() if model.estimator is None else model.estimator, model.n_estimators
    if not isinstance(network, DenseNetwork | ConvolutionNetwork):
        raise ValueError(f"estimator={str(network)[:80]}: a DenseNetwork or a ConvolutionNetwork is needed")
    network.check(d)
    kind, sizes = "DenseNetwork", {"N": n, "d": d, "m": m}
    if isinstance(network, DenseNetwork):
        sizes["h"] = network.hidden
    else:
        depth, *sides = network.image
        places = math.prod((side - network.kernel) // network.stride + 1 for side in sides)
        kind = "ConvolutionNetwork"
        sizes |= {"channels": n * network.channels, "depth": depth, "kernel": network.kernel}
        sizes["h"] = network.channels * places
    check(kind, stored["weights"], sizes, "weights ")
    check("Energies", stored["energies"], sizes, "energies ")
    if stored["moments"].keys() != stored["weights"].keys():
        raise ValueError("moments of other weights than there are")
    moments = [held for held in stored["moments"].values() if held]
    for held in moments:
        check("Moments", held, {}, "moments ")
    for name in MOMENTS if moments else ():
        check(kind, {weight: held[name] for weight, held in stored["moments"].items()}, sizes, f"{name} ")
