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

from edgewise.kernels import link

# Numba's type stubs leave out its configuration and its internal options.
compiler: Any = numba

Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]


def kernel_sources() -> list[Path]:
    """The files whose text decides what compiled kernels do."""
    rooms = ("kernels", "theory", "learners", "loop")
    return sorted(path for room in rooms for path in (PACKAGE / room).rglob("*.py"))


def cache_folder() -> Path:
    """Where compiled kernels are kept: `NUMBA_CACHE_DIR` if set, else the user's cache, keyed by the sources."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "edgewise"
    digest = hashlib.sha256(f"{link.in_use()} {compiler.config.BOUNDSCHECK}".encode())
    for path in kernel_sources():
        digest.update(path.read_bytes())
    return root / f"kernels-{digest.hexdigest()[:16]}"


CACHE = str(cache_folder())


def inlined(function: Function) -> Function:
    """Compile a function that the compiler always inlines into its caller."""
    return link.inner(_compiled(function, forceinline=True, **link.INNER))


def noinline(function: Function) -> Function:
    """Compile a function that kernels call and that stays apart from them: for what is long, or seldom needed."""
    return link.inner(_compiled(function, **link.INNER))


def merged(function: Function) -> Function:
    """Compile a function that Numba merges into its caller before anything is compiled.

    For what stands between an entry point and its kernels: fields of states that it reads are then read once, where
    the entry point begins. Merging itself is slow in Numba: not for small and often called functions.
    """
    return _compiled(function, inline="always", **link.ENTRY)


def entry_point(function: Function) -> Function:
    """Compile a function that Python calls: cached on disk, without the GIL, IEEE arithmetic in the written order.

    `error_model="numpy"` lets loops with a division vectorize; nothing here may rely on ZeroDivisionError. A kernel
    makes no arrays (`link`): whoever calls it from Python gives it a workspace.
    """
    return _compiled(function, **link.ENTRY)


def in_memory(function: Function) -> Function:
    """An `inlined` function that is not kept on disk: for code that the key of the cache does not cover."""
    return compiler.njit(nogil=True, error_model="numpy", forceinline=True, **link.ENTRY)(function)


def entry_point_in(folder: str) -> Callable[[Function], Function]:
    """`entry_point` for code that the cache key does not cover: cached in a folder of its own."""
    return lambda function: _compiled(function, str(Path(CACHE) / folder), **link.ENTRY)


def _compiled(function: Function, folder: str = CACHE, **options: Any) -> Function:
    before = compiler.config.CACHE_DIR
    compiler.config.CACHE_DIR = folder
    try:
        return compiler.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        compiler.config.CACHE_DIR = before
