"""States by address (`edgewise.kernels.state`) and inner functions (`edgewise.kernels.link`)."""

from __future__ import annotations

import contextlib
import copy
import gc
import operator
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core import compiler, event, ir
from numba.core.postproc import PostProcessor
from numba.core.types.functions import BaseFunction

from edgewise.kernels import calm as _calm
from edgewise.kernels import link as _inner
from edgewise.kernels.compile import entry_point, inlined, noinline
from edgewise.kernels.state import state

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled here")


@state
class Inside(NamedTuple):
    values: np.ndarray
    whole: int


@state
class Outside(NamedTuple):
    switch: bool
    table: np.ndarray
    inside: Inside
    share: float


@state
class Pair(NamedTuple):
    first: Inside
    second: Inside


class Plain(NamedTuple):
    one: Inside
    other: Inside


def inside(first: float, whole: int) -> Inside:
    return Inside(first + np.arange(4.0), whole)


def outside() -> Outside:
    return Outside(True, np.arange(6.0).reshape(2, 3), inside(10.0, 7), 0.5)


@inlined
def summed(told, scale):
    total = 0.0
    for j in range(told.values.size):
        total += scale * told.values[j]
    return total


@noinline
def put(told, at, value):
    told.values[at] = value
    return told.whole


@entry_point
def look(told):
    total = told.inside.whole + told.share
    for i in range(told.table.shape[0]):
        for j in range(told.table.shape[1]):
            if told.switch:
                total += told.table[i, j] * told.inside.values[j]
    return total + summed(told.inside, 2)


@entry_point
def tell_apart(one, other, told):
    put(one, 0, 100.0)
    put(other, 1, 200.0)
    return (
        one.values[0],
        other.values[1],
        one.whole,
        other.whole,
        summed(told.first, 1.0),
        summed(told.second, 1.0),
    )


@entry_point
def either(told, second):
    chosen = told.first
    if second:
        chosen = told.second
    return chosen.values[0] + chosen.whole


@entry_point
def from_tuples(pair, plain):
    return pair[0].whole, pair[1].whole, plain.one.values[0], plain.other.values[0]


@entry_point
def write_then_read(told):
    """What is written into an array of a state is there for the next look."""
    total = 0.0
    for j in range(told.values.size):
        put(told, j, 1.0 + j)
        total += told.values[j]
    return total


@pytest.mark.plain
def test_fields_numbers_and_states_within_states():
    told = outside()
    expected = 7.5 + (told.table * told.inside.values[:3]).sum() + 2 * told.inside.values.sum()
    assert look(told) == expected
    assert look(told._replace(switch=False)) == 7.5 + 2 * told.inside.values.sum()


@pytest.mark.plain
def test_states_of_one_type_are_told_apart():
    one, other = inside(0.0, 1), inside(50.0, 2)
    pair = Pair(inside(1.0, 3), inside(2.0, 4))
    assert tell_apart(one, other, pair) == (100.0, 200.0, 1, 2, 10.0, 14.0)
    assert one.values[0] == 100.0
    assert other.values[1] == 200.0
    assert (either(pair, False), either(pair, True)) == (4.0, 6.0)
    assert from_tuples((one, other), Plain(pair.first, pair.second)) == (1, 2, 1.0, 2.0)


@pytest.mark.plain
def test_what_is_written_is_read():
    assert write_then_read(inside(0.0, 1)) == 10.0


@compiled
def test_a_layout_of_its_own_for_arrays_of_other_types():
    """A field of another type of array is another type of state: nothing is read as what it is not."""
    assert look(outside()._replace(table=np.asfortranarray(outside().table))) == look(outside())
    narrow = outside()._replace(table=outside().table.astype(np.float32))
    assert look(narrow) == look(outside())


@compiled
def test_what_is_no_array_is_refused():
    with pytest.raises(numba.TypingError, match="Outside"):
        look(outside()._replace(table=object()))


@compiled
def test_inner_functions_have_no_machine_code_until_python_calls_them():
    @inlined
    def doubled(x):
        return x + x

    @noinline
    def twice_doubled(x):
        return doubled(doubled(x))

    @entry_point
    def called(x):
        return twice_doubled(x) + twice_doubled(1) + twice_doubled(2)

    for inner in (doubled, twice_doubled):
        inner.compile((numba.int64,))
        (found,) = inner.overloads.values()
        assert found.library.get_pointer_to_function(found.fndesc.llvm_func_name) == 0
    assert called(3) == 24
    assert [len(inner.signatures) for inner in (doubled, twice_doubled)] == [1, 1]  # none for the constants
    assert twice_doubled(5) == 20
    assert twice_doubled(0.25) == 1.0


@compiled
def test_noinline_functions_stay_apart_and_inlined_ones_do_not():
    @inlined
    def halved(x):
        return x / 2.0

    @noinline
    def quartered(x):
        return halved(halved(x))

    def called(x):
        return quartered(x) + halved(x)

    function = numba.njit(nogil=True, error_model="numpy", _nrt=False, **_inner.ROUTINE)(called)
    assert function(8.0) == 6.0
    calls = [line for line in function.inspect_llvm(function.signatures[0]).splitlines() if " call " in line]
    assert any("quartered" in line for line in calls)
    assert not any("halved" in line for line in calls)


@compiled
def test_what_is_left_out_of_compiling_is_what_numba_has():
    """So that a pass of another name is noticed: it would be done in vain again."""
    passes: list[str] = []

    class Listed(_inner.Compiler):
        def define_pipelines(self):
            pipelines = super().define_pipelines()
            passes.extend(one.name() for pipeline in pipelines for one, _ in pipeline.passes)
            return pipelines

    assert numba.njit(pipeline_class=Listed)(lambda x: x + 1)(1) == 2
    assert set(_inner.NEEDLESS) <= set(passes)


@compiled
def test_what_operators_mean_is_asked_once_while_compiling_and_as_ever_after():
    resolve = BaseFunction.get_call_type
    asked = []

    def counted(function, context, args, kws):
        asked.append((function.typing_key, args))
        return resolve(function, context, args, kws)

    def sums(x, i):
        return (x[i] + x[i + 1]) + (x[i + 2] + x[i + 3]) * max(x[0], 1.0), i + 1

    # not `entry_point`: what is found on disk is not compiled
    compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, **_inner.ROUTINE)(sums)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseFunction, "get_call_type", counted)
        assert compiled(np.arange(5.0), 1) == ((1.0 + 2.0) + (3.0 + 4.0), 2)
        assert BaseFunction.get_call_type is counted
    looks = [args for function, args in asked if function is operator.getitem]
    assert 0 < len(looks) == len(set(looks))
    assert compiled(np.arange(5), np.int32(1)) == ((1 + 2) + (3 + 4), 2)  # other types, other meanings


@compiled
def test_an_error_while_compiling_leaves_numba_as_it_was():
    def changed():
        return [BaseFunction.get_call_type, PostProcessor.run, event.start_event, event.end_event, gc.get_threshold()]

    before = changed()

    @entry_point
    def no_sum(x):
        return x + "one"

    with pytest.raises(numba.TypingError):
        no_sum(1.0)
    assert changed() == before
    assert not any("__deepcopy__" in vars(of) for of in (ir.Scope, ir.Loc))


def looped(x, n):
    total = x
    for i in range(n):
        if i % 2 == 0:
            total = total + i
        else:
            total = total * 2.0
    return total


@compiled
def test_a_scope_is_copied_as_numba_copies_it():
    whole = compiler.run_frontend(looped)
    for block in whole.blocks.values():
        scope = block.scope
        scope.redefine("total", scope.loc)
        ours, theirs = _calm.copy_of_scope(scope, {}), copy.deepcopy(scope)
        assert ours == theirs
        assert ours.localvars._con.keys() == theirs.localvars._con.keys()
        assert all(variable.scope is ours for variable in ours.localvars._con.values())
        ours.redefine("total", scope.loc)
        assert ours != scope == theirs


@compiled
def test_the_same_code_comes_out_of_calm_compiling():
    """Of a function with branches and loops, merged into another."""
    merged = numba.njit(inline="always")(looped)

    def twice(x, n):
        return merged(x, n) + merged(x + 1.0, n + 1)

    made = []
    for calm in (contextlib.nullcontext, _calm.calm):
        function = numba.njit(error_model="numpy", _nrt=False)(twice)
        with calm():
            function.compile((numba.float64, numba.int64))
        made.append(function.inspect_asm((numba.float64, numba.int64)))
    assert len(set(map(instructions, made))) == 1


def instructions(assembly: str) -> tuple[str, ...]:
    """The operations of a program, without the names of places and functions, which are new each time."""
    return tuple(line.split()[0] for line in assembly.splitlines() if line.startswith("\t") and line[1:2].isalpha())


def place(array, table, i, j):
    table[i, j] = array[i] + table[j, i]


@compiled
def test_indices_are_not_looked_at_whether_they_are_negative():
    """An index that is negative is less than 0: the comparison that Numba writes, and we do not."""
    arguments = numba.float64[::1], numba.float64[:, ::1], numba.int32, numba.int64
    for options, asks in (({}, True), (_inner.ROUTINE, False)):
        function = numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(place)
        function.compile(arguments)
        assert ("icmp slt" in function.inspect_llvm(arguments)) == asks


@pytest.mark.plain
def test_indices_of_all_kinds():
    array, table = np.arange(5.0), np.arange(25.0).reshape(5, 5)
    expected = table.copy()
    expected[1, 2] = array[1] + table[2, 1]
    entry_point(place)(array, table, np.int32(1), 2)
    assert np.array_equal(table, expected)
