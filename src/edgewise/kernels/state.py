"""How kernels see a state: a NamedTuple of arrays and numbers, passed as one address.

Numba passes a NamedTuple by value: a forest of forty arrays is some three hundred words for every call and for every
look at one of its fields, all of which LLVM has to take apart again. A class marked with `state` is laid out in memory
once, when Python calls a kernel; inside, a call passes its address, and a look at a field loads that field alone.
Kernels never change a state itself (they write into its arrays), so loads may be moved and merged freely.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, typeof_impl, unbox

State = TypeVar("State", bound=type)


class StateType(types.Type):
    """The type of a state of one class, given the types of its fields."""

    def __init__(self, of: type, fields: tuple[types.Type, ...]) -> None:
        self.of = of
        self.fields = fields
        self.names: tuple[str, ...] = of._fields  # type: ignore[attr-defined]
        self.hashed = hash((of, fields))  # once: Numba asks for it a million times
        super().__init__(f"{of.__module__}.{of.__qualname__}({', '.join(map(str, fields))})")

    @property
    def key(self) -> Any:
        return self.of, self.fields

    def __hash__(self) -> int:
        return self.hashed

    def __reduce__(self) -> Any:
        return StateType, (self.of, self.fields)  # another process has other hashes

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """A short name: those of functions are made of it."""
        return f"{self.of.__name__}_{hashlib.sha256(self.name.encode()).hexdigest()[:12]}", ()


def state(of: State) -> State:
    """Mark a NamedTuple class: kernels get its values by address."""

    @typeof_impl.register(of)
    def _typeof(value: Any, context: Any) -> StateType | None:
        fields = tuple(typeof_impl(field, context) for field in value)
        return None if None in fields else StateType(of, fields)

    return of


@register_model(StateType)
class StateModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: StateType) -> None:
        super().__init__(manager, kind, struct(manager, kind).as_pointer())


def struct(manager: Any, kind: StateType) -> ir.Type:
    """How a state lies in memory: states within it as part of it."""
    return ir.LiteralStructType(
        [
            struct(manager, field) if isinstance(field, StateType) else manager.lookup(field).get_value_type()
            for field in kind.fields
        ]
    )


@infer_getattr
class StateFields(AttributeTemplate):
    key = StateType

    def generic_resolve(self, kind: StateType, name: str) -> types.Type | None:  # type: ignore[override]
        return kind.fields[kind.names.index(name)] if name in kind.names else None


@lower_getattr_generic(StateType)
def look_at(context: Any, builder: Any, kind: StateType, address: Any, name: str) -> Any:
    """The value of a field; of a state within a state, its address.

    Where only one state of this type can be reached from a function's arguments, its fields are looked at where the
    function begins, once, and not again in every turn of a loop.
    """
    function = builder.function
    if function not in first_looks:
        first_looks[function] = ({}, ways_to_structures(function))
    looks, ways = first_looks[function]
    if len(ways[str(address.type.pointee)]) != 1:
        value = field_at(builder, kind, address, name)
    else:
        if (kind, name) not in looks:
            argument, *path = ways[str(address.type.pointee)][0]
            with builder.goto_entry_block():
                home = cgutils.gep_inbounds(builder, argument, 0, *path) if path else argument
                looks[kind, name] = field_at(builder, kind, home, name)
        value = looks[kind, name]
    return impl_ret_borrowed(context, builder, kind.fields[kind.names.index(name)], value)


# For every function: fields that were looked at where it begins, and `ways_to_structures`.
first_looks: WeakKeyDictionary[ir.Function, tuple[dict[Any, Any], dict[str, list[Any]]]] = WeakKeyDictionary()


def ways_to_structures(function: ir.Function) -> dict[str, list[Any]]:
    """All that a function's arguments lead to, by its layout: the argument, then the places inside it."""
    ways: dict[str, list[Any]] = defaultdict(list)

    def follow(kind: ir.Type, way: tuple[Any, ...]) -> None:
        if isinstance(kind, ir.LiteralStructType):
            ways[str(kind)].append(way)
            for i, element in enumerate(kind.elements):
                follow(element, (*way, i))
        elif isinstance(kind, ir.PointerType) and isinstance(kind.pointee, ir.LiteralStructType):
            # to another place in memory, of which it is not known how many there are
            ways[str(kind.pointee)] += [way, way]

    for argument in function.args:
        of = argument.type
        follow(of.pointee if isinstance(of, ir.PointerType) else of, (argument,))
    return ways


def field_at(builder: Any, kind: StateType, address: Any, name: str) -> Any:
    place = kind.names.index(name)
    at = cgutils.gep_inbounds(builder, address, 0, place)
    return at if isinstance(kind.fields[place], StateType) else loaded(builder, at)


def loaded(builder: Any, address: Any) -> Any:
    """What lies at an address, number by number: LLVM drops those that nobody uses."""
    pointee = address.type.pointee
    if isinstance(pointee, ir.LiteralStructType | ir.ArrayType | ir.IdentifiedStructType):
        whole = ir.Constant(pointee, ir.Undefined)
        for i in range(len(pointee)):
            whole = builder.insert_value(whole, loaded(builder, cgutils.gep_inbounds(builder, address, 0, i)), i)
        return whole
    value = builder.load(address)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@unbox(StateType)
def lay_out(kind: StateType, value: Any, c: Any) -> NativeValue:
    """Write the fields into memory of the call that comes from Python."""
    address = cgutils.alloca_once(c.builder, c.context.get_value_type(kind).pointee)
    failed, held = fill(kind, value, address, c)
    with c.builder.if_then(failed, likely=False):
        c.pyapi.err_set_string("PyExc_TypeError", f"a field of {kind.of.__name__} is no array of the type it has")
    # An empty piece of assembly hides where the address comes from: no load may be moved before the stores above.
    hidden = c.builder.asm(
        ir.FunctionType(address.type, [address.type]), "", "=r,0,~{memory}", [address], side_effect=True
    )
    return NativeValue(hidden, is_error=failed, cleanup=lambda: [release() for release in held])


def fill(kind: StateType, value: Any, address: Any, c: Any) -> tuple[Any, list[Any]]:
    """Write the fields of one state; whether that failed, and what releases them after the call."""
    failed, held = cgutils.false_bit, []
    for i, field in enumerate(kind.fields):
        item, at = c.pyapi.tuple_getitem(value, i), cgutils.gep_inbounds(c.builder, address, 0, i)
        if isinstance(field, StateType):
            wrong, inside = fill(field, item, at, c)
            held += inside
        elif isinstance(field, types.Array) and not c.context.enable_nrt:
            # straight into its place: the code for two hundred arrays takes long to compile
            code = c.pyapi.numba_array_adaptor(item, c.builder.bitcast(at, c.pyapi.voidptr))
            wrong = cgutils.is_not_null(c.builder, code)
        else:
            native = c.unbox(field, item)
            c.builder.store(native.value, at)
            wrong = native.is_error
            held += [native.cleanup] if native.cleanup else []
        failed = c.builder.or_(failed, wrong)
    return failed, held
