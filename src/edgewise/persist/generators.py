"""Random state: NumPy's generators as the numbers behind them, with the seed from which children are spawned."""

from __future__ import annotations

from typing import Any

import numpy as np

BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# Places in a buffer that NumPy itself takes without a check: name -> largest place.
PLACES = {"pos": 624, "buffer_pos": 4}


def generator_state(generator: np.random.Generator | np.random.RandomState) -> dict[str, Any]:
    """All that a generator remembers, as plain values and arrays; ValueError for a kind that NumPy does not have."""
    bits = generator._bit_generator if isinstance(generator, np.random.RandomState) else generator.bit_generator
    kind, seed = type(bits).__name__, getattr(bits, "seed_seq", None)
    known = kind in BIT_GENERATORS and type(bits) is getattr(np.random, kind)
    seeded = type(seed) is np.random.SeedSequence or (seed is None and kind == "MT19937")
    if not known or not seeded:
        raise ValueError(f"{generator!r}: only generators of NumPy, seeded by its SeedSequence, can be saved")
    stored = generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else bits.state
    spawning = None
    if seed is not None:
        entropy: Any = seed.entropy
        spawning = {
            "entropy": list(map(int, entropy)) if np.ndim(entropy) else int(entropy),
            "spawn_key": list(map(int, seed.spawn_key)),
            "pool_size": int(seed.pool_size),
            "n_children_spawned": int(seed.n_children_spawned),
        }
    return {"kind": kind, "state": _plain(stored), "seed": spawning}


def restored_generator(stored: Any, *, legacy: bool) -> np.random.Generator | np.random.RandomState:
    """The generator again, `legacy` a RandomState; ValueError or TypeError for what is no state of one."""
    kind, seed = stored["kind"], stored["seed"]
    if kind not in BIT_GENERATORS:
        raise ValueError(f"no generator of NumPy: {str(kind)[:40]!r}")
    if seed is None:
        if kind != "MT19937":
            raise ValueError(f"a {kind} without its seed")
        bits = np.random.RandomState(0)._bit_generator  # as RandomState seeds its own: there is no SeedSequence
    else:
        if type(seed["pool_size"]) is not int or not 4 <= seed["pool_size"] <= 64:
            raise ValueError(f"pool_size {seed['pool_size']!r} of a SeedSequence")
        sequence = np.random.SeedSequence(
            seed["entropy"],
            spawn_key=tuple(seed["spawn_key"]),
            pool_size=seed["pool_size"],
            n_children_spawned=seed["n_children_spawned"],
        )
        bits = getattr(np.random, kind)(sequence)
    state = stored["state"]
    _check_like(_plain(bits.state), {key: state[key] for key in bits.state})
    if legacy:
        if type(state["has_gauss"]) is not int or not np.isfinite(float(state["gauss"])):
            raise ValueError("the state of a RandomState")
        generator = np.random.RandomState(bits)
        generator.set_state(state)
        return generator
    bits.state = state
    return np.random.Generator(bits)


def _plain(state: Any) -> Any:
    """The state as dictionaries of whole numbers, floats, text and arrays."""
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    if isinstance(state, np.integer | np.floating):
        return state.item()
    return state


def _check_like(known: Any, state: Any, name: str = "") -> None:
    """ValueError unless a state is built as that of a new generator is: same names, types, dtypes and shapes."""
    if type(state) is not type(known):
        raise ValueError(f"{name or 'state'} of a generator: {type(state).__name__}")
    if isinstance(known, dict):
        if state.keys() != known.keys():
            raise ValueError(f"the state of a generator has {', '.join(known)}")
        for key in known:
            _check_like(known[key], state[key], key)
    elif isinstance(known, np.ndarray):
        if state.dtype != known.dtype or state.shape != known.shape:
            raise ValueError(f"{name} of a generator: dtype {state.dtype}, shape {state.shape}")
    elif isinstance(known, str):
        if state != known:
            raise ValueError(f"{name} of a generator: {state[:40]!r}")
    elif state < 0 or (name in PLACES and state > PLACES[name]):
        raise ValueError(f"{name}={state} of a generator")
