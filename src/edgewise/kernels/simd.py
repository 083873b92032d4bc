"""SIMD vectors of four and eight doubles, for loops that LLVM does not vectorize by itself.

LLVM vectorizes a loop over an array where the loop is long; where there are seven features or four labels it does not.
Here a kernel says so: `load4` takes four numbers of an array, operators and the functions below work on each lane, and
`store` writes them back. A single number stands for a vector of equal ones. Arrays are padded so that the last vector
is whole (`round_up_4`). `load8` takes eight numbers; the processor splits them if its registers are shorter. In plain
Python a vector is a NumPy array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model

WIDTH = 4
BROAD = 8

# -- what kernels and plain Python call --------------------------------------------------------------------------------


def round_up_4(n: int) -> int:
    """The least multiple of four that is not below n: how long an array of n numbers is made."""
    return -(-n // WIDTH) * WIDTH


def round_up_8(n: int) -> int:
    """The least multiple of eight that is not below n."""
    return -(-n // BROAD) * BROAD


def splat4(value):
    """Four times the same number."""
    return np.full(WIDTH, value)


def load4(array, first):
    """array[first] and the three after it."""
    return array[first : first + WIDTH].copy()


def splat8(value):
    """Eight times the same number."""
    return np.full(BROAD, value)


def load8(array, first):
    """array[first] and the seven after it; beyond the end of a row, whatever is there."""
    part = array[first : first + BROAD]
    return np.concatenate([part, np.zeros(BROAD - part.size)])


def store(array, first, x):
    """Write lanes to array[first] and after."""
    array[first : first + (np.size(x) if np.ndim(x) else WIDTH)] = x


def gather4(array, indices, first, n):
    """array[indices[first]] and so on, of n indices; beyond, what the last of them leads to."""
    return np.array([array[indices[min(first + lane, n - 1)]] for lane in range(WIDTH)])


def mask_tail(count, x, rest):
    """The first `count` lanes; others from `rest`."""
    width = max(np.size(x), np.size(rest))
    return np.where(np.arange(width if width > 1 else WIDTH) < count, x, rest)


def minimum(a, b):
    """The smaller of two; a where one of them is no number."""
    return np.where(b < a, b, a)


def maximum(a, b):
    """The larger of two; a where one of them is no number."""
    return np.where(a < b, b, a)


def fma(a, b, c):
    """a * b + c, rounded once where the processor can: only for what may be off by a rounding."""
    return a * b + c


def sqrt(x):
    """The square root, of numbers that are not negative."""
    return np.sqrt(x)


def where_less(a, b, yes, no):
    """`yes` where a < b, else `no`."""
    return np.where(a < b, yes, no)


def where_not_nan(a, yes, no):
    """`yes` where a is a number, else `no`."""
    return np.where(a == a, yes, no)


def any_less(a, b):
    """Whether a < b anywhere."""
    return bool((a < b).any())


def no_nan(a):
    """Whether all are numbers."""
    return bool((a == a).all())


def reduce_sum(x):
    """The sum of all four."""
    return (x[0] + x[1]) + (x[2] + x[3])


def reduce_product(x):
    """The product of all four."""
    return (x[0] * x[1]) * (x[2] * x[3])


def reduce_min(x):
    """The least of all four."""
    return min(min(x[0], x[1]), min(x[2], x[3]))


def exponent(x):
    """The whole number e for which 2**e <= x < 2**(e + 1), of positive numbers that are not subnormal."""
    return np.frexp(x)[1] - 1.0


def fraction(x):
    """x / 2**exponent(x)."""
    return 2.0 * np.frexp(x)[0]


# -- what compiled code does instead -----------------------------------------------------------------------------------

DOUBLE, INT, SHORT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
VECTOR, WHOLE = (ir.VectorType(of, WIDTH) for of in (DOUBLE, INT))
# Bits of numbers: a number with the exponent of HOLDER has a whole number below 2**52 in its last bits.
FRACTION_BITS = 52
HOLDER, ONE, FRACTION = 0x433 << FRACTION_BITS, 0x3FF << FRACTION_BITS, (1 << FRACTION_BITS) - 1
BIAS = 1023
NUMBERS, INDICES = "numbers", "indices"  # arrays


class LanesType(types.Type):
    """The type of so many numbers side by side."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(f"lanes({width})")

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Conversion | None:
        return Conversion.safe if isinstance(other, types.Number) else None


LANES, LANES8 = LanesType(WIDTH), LanesType(BROAD)


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: LanesType) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.width))


@lower_cast(types.Number, LanesType)
def emit_equal(context: Any, builder: Any, given: types.Type, lanes: LanesType, value: Any) -> Any:
    return all_equal(builder, context.cast(builder, value, given, types.float64), lanes.width)


def all_equal(builder: Any, value: Any, width: int = WIDTH) -> Any:
    one = builder.insert_element(ir.Constant(ir.VectorType(value.type, width), ir.Undefined), value, SHORT(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(SHORT, width), [0] * width))


def fits(kind: Any, given: types.Type) -> bool:
    """Whether an argument of this type can stand for lanes, an array, or a number."""
    if kind in (NUMBERS, INDICES):
        of = types.Float if kind == NUMBERS else types.Integer
        return isinstance(given, types.Array) and (given.ndim, given.layout) == (1, "C") and isinstance(given.dtype, of)
    return given == kind or isinstance(given, types.Number)


def emitted(kind: Any) -> Any:
    """The types of arguments that the code of a function is written for."""
    if kind in (NUMBERS, INDICES):
        return types.Array
    return LanesType if kind == LANES else kind


def compiled(function: Any, result: types.Type, *kinds: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark what writes the code of a function or an operator: its arguments are a builder and values of these kinds.

    LANES are of either width, all of the same.
    """

    @infer_global(function)
    class Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            given = [a for a in args if isinstance(a, LanesType)]
            width = given[0] if given else LANES
            wanted = [width if kind == LANES else kind for kind in kinds]
            if len(args) != len(kinds) or not all(map(fits, wanted, args)):
                return None
            if kinds == (LANES, LANES) and not given:
                return None  # operators on numbers alone are not ours
            taken = (a if kind in (NUMBERS, INDICES) else kind for kind, a in zip(wanted, args, strict=True))
            return signature(width if result == LANES else result, *taken)

    def mark(emit: Callable[..., Any]) -> Callable[..., Any]:
        @lower_builtin(function, *(emitted(kind) for kind in kinds))
        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            arrays = [
                context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, values, strict=True)
            ]
            return emit(builder, *arrays)

        return emit

    return mark


def mask_of(builder: Any, count: Any, width: int) -> Any:
    """Which lanes are among the first `count`."""
    places = ir.Constant(ir.VectorType(INT, width), list(range(width)))
    return builder.icmp_signed("<", places, all_equal(builder, count, width))


def intrinsic(builder: Any, name: str, result: ir.Type, *values: Any) -> Any:
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


@compiled(splat4, LANES, LANES)
def emit_splat4(builder: Any, value: Any) -> Any:
    return value


@compiled(splat8, LANES8, LANES8)
def emit_splat8(builder: Any, value: Any) -> Any:
    return value


@compiled(load8, LANES8, NUMBERS, types.intp)
def emit_load8(builder: Any, data: Any, first: Any) -> Any:
    kind = ir.VectorType(DOUBLE, BROAD).as_pointer()
    return builder.load(builder.bitcast(builder.gep(data, [first]), kind), align=8)


@compiled(load4, LANES, NUMBERS, types.intp)
def emit_load4(builder: Any, data: Any, first: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(data, [first]), VECTOR.as_pointer()), align=8)


@compiled(store, types.none, NUMBERS, types.intp, LANES)
def emit_store(builder: Any, data: Any, first: Any, x: Any) -> Any:
    builder.store(x, builder.bitcast(builder.gep(data, [first]), x.type.as_pointer()), align=8)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@compiled(gather4, LANES, NUMBERS, INDICES, types.intp, types.intp)
def emit_gather4(builder: Any, data: Any, indices: Any, first: Any, n: Any) -> Any:
    x, last = ir.Constant(VECTOR, ir.Undefined), builder.sub(n, INT(1))
    for lane in range(WIDTH):
        place = builder.add(first, INT(lane))
        place = builder.select(builder.icmp_signed("<", place, last), place, last)
        index = builder.load(builder.gep(indices, [place]))
        value = builder.load(builder.gep(data, [builder.zext(index, INT) if index.type != INT else index]))
        x = builder.insert_element(x, value, SHORT(lane))
    return x


@compiled(mask_tail, LANES, types.intp, LANES, LANES)
def emit_mask_tail(builder: Any, count: Any, x: Any, rest: Any) -> Any:
    return builder.select(mask_of(builder, count, x.type.count), x, rest)


@compiled(minimum, LANES, LANES, LANES)
def emit_minimum(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", b, a), b, a)


@compiled(maximum, LANES, LANES, LANES)
def emit_maximum(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), b, a)


@compiled(fma, LANES, LANES, LANES, LANES)
def emit_fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return intrinsic(builder, f"llvm.fmuladd.v{a.type.count}f64", a.type, a, b, c)


@compiled(sqrt, LANES, LANES)
def emit_sqrt(builder: Any, x: Any) -> Any:
    return intrinsic(builder, f"llvm.sqrt.v{x.type.count}f64", x.type, x)


@compiled(where_less, LANES, LANES, LANES, LANES, LANES)
def emit_where_less(builder: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), yes, no)


@compiled(where_not_nan, LANES, LANES, LANES, LANES)
def emit_where_not_nan(builder: Any, a: Any, yes: Any, no: Any) -> Any:
    return builder.select(builder.fcmp_ordered("ord", a, a), yes, no)


@compiled(any_less, types.boolean, LANES, LANES)
def emit_any_less(builder: Any, a: Any, b: Any) -> Any:
    less = builder.fcmp_ordered("<", a, b)
    return intrinsic(builder, f"llvm.vector.reduce.or.v{a.type.count}i1", ir.IntType(1), less)


@compiled(no_nan, types.boolean, LANES)
def emit_no_nan(builder: Any, a: Any) -> Any:
    return intrinsic(builder, "llvm.vector.reduce.and.v4i1", ir.IntType(1), builder.fcmp_ordered("ord", a, a))


def folded(builder: Any, x: Any, fold: Callable[..., Any]) -> Any:
    a, b, c, d = (builder.extract_element(x, SHORT(lane)) for lane in range(WIDTH))
    return fold(fold(a, b), fold(c, d))


@compiled(reduce_sum, types.float64, LANES)
def emit_reduce_sum(builder: Any, x: Any) -> Any:
    return folded(builder, x, builder.fadd)


@compiled(reduce_product, types.float64, LANES)
def emit_reduce_product(builder: Any, x: Any) -> Any:
    return folded(builder, x, builder.fmul)


@compiled(reduce_min, types.float64, LANES)
def emit_reduce_min(builder: Any, x: Any) -> Any:
    return folded(builder, x, lambda a, b: builder.select(builder.fcmp_ordered("<", b, a), b, a))


def whole(value: int, width: int = WIDTH) -> Any:
    return ir.Constant(ir.VectorType(INT, width), [value] * width)


@compiled(exponent, LANES, LANES)
def emit_exponent(builder: Any, x: Any) -> Any:
    width = x.type.count
    bits = builder.lshr(builder.bitcast(x, ir.VectorType(INT, width)), whole(FRACTION_BITS, width))
    held = builder.bitcast(builder.or_(bits, whole(HOLDER, width)), x.type)
    return builder.fsub(held, ir.Constant(x.type, [float(1 << FRACTION_BITS) + BIAS] * width))


@compiled(fraction, LANES, LANES)
def emit_fraction(builder: Any, x: Any) -> Any:
    width = x.type.count
    bits = builder.and_(builder.bitcast(x, ir.VectorType(INT, width)), whole(FRACTION, width))
    return builder.bitcast(builder.or_(bits, whole(ONE, width)), x.type)


def arithmetic(name: str) -> Callable[..., Any]:
    return lambda builder, a, b: getattr(builder, name)(a, b)


for sign, name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    compiled(sign, LANES, LANES, LANES)(arithmetic(name))
