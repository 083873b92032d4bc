"""While kernels are compiled, Numba leaves out what it does in vain.

What it does otherwise it does a hundred times over for the kernels of one booster; how long compiling takes is in
benchmarks/results/start.md. Nothing here changes the code that comes out.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import BuiltinFunctionType
from typing import Any

from numba.core import event, ir
from numba.core.postproc import PostProcessor
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction


@contextmanager
def calm() -> Iterator[None]:
    """Compile with all that is here."""
    stand_ins: tuple[tuple[Any, str, Any], ...] = (
        (BaseFunction, "get_call_type", asked_once(BaseFunction.get_call_type)),
        (PostProcessor, "run", without_lifetimes(PostProcessor.run)),
        (ir.Scope, "__deepcopy__", copy_of_scope),
        (ir.Loc, "__deepcopy__", lambda place, memo: place),
        (event, "start_event", nothing_told),
        (event, "end_event", nothing_told),
    )
    with ExitStack() as stack:
        stack.enter_context(garbage_left())
        for owner, name, other in stand_ins:
            stack.enter_context(standing_in(owner, name, other))
        yield


@contextmanager
def standing_in(owner: Any, name: str, other: Any) -> Iterator[None]:
    """Put something in the place of an attribute of a class or a module, if it has one of its own."""
    before = vars(owner).get(name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def asked_once(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Let Numba find out only once what an operator or a built-in function means for arguments of some types.

    By itself it tries the overloads for all kinds of arguments again wherever an `a + b` or `a[i]` is written.
    """
    known: dict[Any, Any] = {}

    def once(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(function.typing_key, BuiltinFunctionType):
            return resolve(function, context, args, kws)
        key = id(function), args
        if key not in known:
            known[key] = resolve(function, context, args, kws), function  # kept: no other object gets its id
        return known[key][0]

    return once


def without_lifetimes(run: Callable[..., None]) -> Callable[..., None]:
    """Let Numba find out how long variables live where it writes that down, at the end, and not after every pass."""

    def shortly(self: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if emit_dels or self.func_ir.is_generator:
            run(self, emit_dels, extend_lifetimes)
        else:
            self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)
            self.func_ir.generator_info = None

    return shortly


def copy_of_scope(scope: ir.Scope, memo: dict[int, Any]) -> ir.Scope:
    """A scope with variables of its own, of the same names: what `copy.deepcopy` makes of it by looking at everything.

    Numba copies the scope of a function that it merges into another once for each of its blocks.
    """
    other = memo[id(scope)] = ir.Scope(scope.parent, scope.loc)
    for name, variable in scope.localvars._con.items():
        other.localvars._con[name] = ir.Var(other, variable.name, variable.loc)
    other.redefined.update(scope.redefined)
    for name, names in scope.var_redefinitions.items():
        other.var_redefinitions[name] = set(names)
    return other


def nothing_told(*_: Any, **__: Any) -> None:
    """Stands in for telling whoever listens that a lock is taken, or free again: a hundred thousand times."""


@contextmanager
def garbage_left() -> Iterator[None]:
    """Collect garbage seldom: while Numba compiles, that would take a tenth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
