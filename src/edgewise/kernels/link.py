"""Kernels that only compiled code calls, kept as LLVM code until an entry point takes them in.

This is the one file that relies on what Numba keeps private. Numba makes each compiled function ready for Python: it
optimizes it, turns it into machine code and wraps it, and does so again for all that the function calls. For a kernel
deep inside another that is wasted, and takes 2.4 times as long for a booster. An inner function keeps its code
unoptimized; the entry point that calls it links that code in, and is optimized once, as a whole.

It is in use with versions of Numba that it was tested with. With any other, or with EDGEWISE_PLAIN_NUMBA=1, kernels are
plain `numba.njit` functions; results are the same.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

TESTED = ("0.66", "0.67", "0.68")

# Numba's type stubs leave out its internal options.
compiler: Any = numba


def in_use() -> bool:
    """Whether kernels are linked by this file: Numba's version was tested, and nobody asked for plain `njit`."""
    version = ".".join(numba.__version__.split(".")[:2])
    return version in TESTED and os.environ.get("EDGEWISE_PLAIN_NUMBA", "0") in ("", "0")


class InnerLibrary(JITCodeLibrary):
    """Code for others to link: not optimized, no machine code. `noinline`: others call it instead of inlining it."""

    noinline = False

    def _optimize_functions(self, module: Any) -> None:
        if self.noinline:
            for function in module.functions:
                if not function.is_declaration:
                    function.add_function_attribute("noinline")
        super()._optimize_functions(module)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True
        self._get_module_for_linking()  # a copy of the code, for callers
        self._finalized = False
        empty = self._codegen._create_empty_module(self.name)
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):  # where Numba writes the function's environment
                place = ir.GlobalVariable(empty, ir.IntType(8).as_pointer(), variable.name)
                place.linkage, place.initializer = "common", ir.Constant(place.value_type, None)
        self._final_module = llvm.parse_assembly(str(empty))
        super()._finalize_final_module()


class InnerCompiler(Compiler):
    """Numba's compiler, into an `InnerLibrary`."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Any, names: Any) -> None:
        if library is None:
            library = InnerLibrary(target.codegen(), "inner")
            library.noinline = not flags.forceinline
            library.enable_object_caching()
        super().__init__(typing, target, library, args, returns, flags, names)


class InnerDispatcher(CPUDispatcher):
    """An inner function. What Python needs to call it, as tests do, is compiled when Python does."""

    def __call__(self, *arguments: Any) -> Any:
        return self.from_python(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Take a constant as a number like others, so that nothing is compiled once more for each."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    @cached_property
    def from_python(self) -> Any:
        inner = self

        def call(*arguments: Any) -> Any:
            return inner(*arguments)

        return compiler.njit(nogil=True, error_model="numpy", **ENTRY)(call)


# Options of `njit` for what Python calls, and for what only compiled code calls. Without Numba's reference counting
# (`_nrt`), which costs small kernels more in atomic increments than their work does, a kernel may make no array.
ENTRY: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True} if in_use() else {}
INNER: dict[str, Any] = ENTRY | ({"pipeline_class": InnerCompiler, "no_cpython_wrapper": True} if in_use() else {})


def inner(function: Any) -> Any:
    """A function that was compiled with the options INNER, safe to call from Python."""
    if in_use() and isinstance(function, CPUDispatcher):  # not where compiling is switched off
        function.__class__ = InnerDispatcher
    return function
