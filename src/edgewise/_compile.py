"""How kernels are compiled: the one place that sets Numba's flags and the place of its on-disk cache.

Numba's cache does not notice a change in a callee in another file, so the cache folder is keyed by a hash of every
kernel source: an upgrade or an edit can never run stale code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from edgewise import _inner

# Numba's type stubs leave out its configuration and its internal options.
compiler: Any = numba

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent


def kernel_sources() -> list[Path]:
    """The files whose text decides what compiled kernels do."""
    rooms = ("theory", "learners", "boosting")
    own = [PACKAGE / name for name in ("_calm.py", "_compile.py", "_inner.py", "_lanes.py", "_states.py")]
    return own + sorted(path for room in rooms for path in (PACKAGE / room).rglob("*.py"))


def cache_folder() -> Path:
    """Where compiled kernels are kept: `NUMBA_CACHE_DIR` if set, else the user's cache, keyed by the sources."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "edgewise"
    digest = hashlib.sha256()
    for path in kernel_sources():
        digest.update(path.read_bytes())
    return root / f"kernels-{digest.hexdigest()[:16]}"


CACHE = str(cache_folder())


def kernel(function: Function) -> Function:
    """Compile a function that belongs inside the loop that calls it: see `routine`; the compiler always inlines it."""
    return _inner.inner(_compiled(function, forceinline=True, **_inner.INNER))


def subroutine(function: Function) -> Function:
    """Compile a function that kernels call and that stays apart from them: for what is long, or seldom needed."""
    return _inner.inner(_compiled(function, **_inner.INNER))


def part(function: Function) -> Function:
    """A kernel that is merged into its caller before anything is compiled.

    For what stands between a routine and its kernels: fields of states that it looks at are then looked at where the
    routine begins, once. Merging itself is slow in Numba: not for small and often called ones.
    """
    return _compiled(function, inline="always")


def routine(function: Function) -> Function:
    """Compile a function that Python calls: cached on disk, without the GIL, IEEE arithmetic in the written order.

    `error_model="numpy"` lets loops with a division vectorize; nothing here may rely on ZeroDivisionError.
    `_nrt=False` leaves out Numba's reference counting, which costs small kernels more in atomic increments than their
    work does. So a kernel may not make arrays; whoever calls it from Python gives it the room it needs.
    """
    return _compiled(function, **_inner.ROUTINE)


def in_memory(function: Function) -> Function:
    """A `kernel` that is not kept on disk: for code that the key of the cache does not cover."""
    return compiler.njit(nogil=True, error_model="numpy", _nrt=False, forceinline=True)(function)


def routine_in(folder: str) -> Callable[[Function], Function]:
    """`routine` for code that the key of the cache does not cover: kept in a folder of its own, below the cache's."""
    return lambda function: _compiled(function, str(Path(CACHE) / folder), **_inner.ROUTINE)


def _compiled(function: Function, folder: str = CACHE, **options: Any) -> Function:
    before = compiler.config.CACHE_DIR
    compiler.config.CACHE_DIR = folder
    try:
        return compiler.njit(cache=True, nogil=True, error_model="numpy", _nrt=False, **options)(function)
    finally:
        compiler.config.CACHE_DIR = before
