"""Functions that compiled code calls, and Python hardly ever.

Numba makes each compiled function ready for Python: it optimizes it, turns it into machine code and wraps it, and does
so again for all that the function calls. For a kernel deep inside another that is done in vain, over and over. An inner
function keeps its code as it was written down; whatever Python calls takes it in, and is optimized once, as a whole
(how long that takes: benchmarks/results/start.md).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import ir as code
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonRewrites

from edgewise.kernels.calm import calm

# Numba's type stubs leave out its internal options.
compiler: Any = numba


class InnerLibrary(JITCodeLibrary):
    """Code for others to take in: not optimized, no machine code. `apart`: for others to call."""

    apart = False

    def _optimize_functions(self, module: Any) -> None:
        if self.apart:
            for function in module.functions:
                if not function.is_declaration:
                    function.add_function_attribute("noinline")
        super()._optimize_functions(module)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True
        self._get_module_for_linking()  # what others take in
        self._finalized = False
        ours = self._codegen._create_empty_module(self.name)
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):  # where Numba writes the function's environment
                place = ir.GlobalVariable(ours, ir.IntType(8).as_pointer(), variable.name)
                place.linkage, place.initializer = "common", ir.Constant(place.value_type, None)
        self._final_module = llvm.parse_assembly(str(ours))
        super()._finalize_final_module()


@register_pass(mutates_CFG=False, analysis_only=False)
class CountFromStart(FunctionPass):
    """Take every index as a number without a sign: kernels never count from an array's end.

    Numba looks at each index whether it is negative, wherever it cannot tell beforehand.
    """

    _name = "count_from_start"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Change the types that indices are cast to before an array is looked at."""
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                look = statement.value if isinstance(statement, code.Assign) else statement
                place = getattr(look, "op", None) == "getitem" or isinstance(look, code.SetItem)
                if place and isinstance(state.calltypes[look].args[0], types.Array):
                    signature = state.calltypes.pop(look)
                    array, index, *value = signature.args
                    state.calltypes[look] = signature.replace(args=(array, without_sign(index), *value))
        return True


def without_sign(index: types.Type) -> types.Type:
    """The type of an index, or of several, that is not negative."""
    several = getattr(index, "types", None)
    if several is not None:
        return types.Tuple([without_sign(part) for part in several])
    return types.uintp if getattr(index, "signed", False) else index


# Passes of Numba for what kernels never do: functions inside functions, `with`, `None`, messages that are worked out,
# tuples of mixed types in loops, whole arrays in a formula. Each goes through all of a kernel's code, and most of them
# then look anew where variables are used.
NEEDLESS = (
    "with_lifting",
    "inline_closure_likes",
    "rewrite_semantic_constants",
    "dead_branch_prune",
    "Rewrite dynamic raises",
    "make_function_op_code_to_jit_function",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "inline_overloads",
    "nopython_rewrites",
    "nopython_supported_feature_validation",
)


class FromStart(Compiler):
    """Numba's compiler with `CountFromStart`, and without what is `NEEDLESS`."""

    def define_pipelines(self) -> list[Any]:
        """The passes of Numba that do something, and ours."""
        pipelines = super().define_pipelines()
        for passes in pipelines:
            passes.add_pass_after(CountFromStart, NopythonRewrites)
            passes.passes = [(one, told) for one, told in passes.passes if one.name() not in NEEDLESS]
            passes.finalize()
        return pipelines


class CalmCompiler(FromStart):
    """Numba's compiler, with less done in vain."""

    def compile_extra(self, function: Any) -> Any:
        with calm():
            return super().compile_extra(function)


class InnerCompiler(FromStart):
    """Numba's compiler, into an `InnerLibrary`."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Any, names: Any) -> None:
        if library is None:
            library = InnerLibrary(target.codegen(), "inner")
            library.apart = not flags.forceinline
            library.enable_object_caching()
        super().__init__(typing, target, library, args, returns, flags, names)


class Inner(CPUDispatcher):
    """An inner function. What Python needs to call it, as tests do, is compiled when Python does."""

    def __call__(self, *arguments: Any) -> Any:
        return self.from_python(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """A constant is a number like others: nothing is compiled once more for each."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    @cached_property
    def from_python(self) -> Any:
        inner = self

        def call(*arguments: Any) -> Any:
            return inner(*arguments)

        return compiler.njit(nogil=True, error_model="numpy", _nrt=False)(call)


# Options of Numba for what Python calls, and for what only compiled code calls.
ROUTINE: dict[str, Any] = {"pipeline_class": CalmCompiler, "no_cfunc_wrapper": True}
INNER: dict[str, Any] = {"pipeline_class": InnerCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner(function: Any) -> Any:
    """A function that was compiled with the options INNER, safe to call from Python."""
    if isinstance(function, CPUDispatcher):  # not where compiling is switched off
        function.__class__ = Inner
    return function
