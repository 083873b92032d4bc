"""States by address (`edgewise.kernels.state`) and inner functions (`edgewise.kernels.link`)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from edgewise.kernels import link
from edgewise.kernels.compile import entry_point, inlined, noinline
from edgewise.kernels.state import state

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled here")
linked = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT) or not link.in_use(), reason="kernels are plain njit functions here, or not compiled"
)
checked = pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="needs NUMBA_BOUNDSCHECK=1, as in `make test`")


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


@linked
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


@linked
def test_noinline_functions_stay_apart_and_inlined_ones_do_not():
    @inlined
    def halved(x):
        return x / 2.0

    @noinline
    def quartered(x):
        return halved(halved(x))

    def called(x):
        return quartered(x) + halved(x)

    function = numba.njit(nogil=True, error_model="numpy", **link.ENTRY)(called)
    assert function(8.0) == 6.0
    calls = [line for line in function.inspect_llvm(function.signatures[0]).splitlines() if " call " in line]
    assert any("quartered" in line for line in calls)
    assert not any("halved" in line for line in calls)


def place(array, table, i, j):
    table[i, j] = array[i] + table[j, i]


@pytest.mark.plain
def test_indices_of_all_kinds():
    array, table = np.arange(5.0), np.arange(25.0).reshape(5, 5)
    expected = table.copy()
    expected[1, 2] = array[1] + table[2, 1]
    entry_point(place)(array, table, np.int32(1), 2)
    assert np.array_equal(table, expected)


@checked
@compiled
def test_an_index_past_the_end_is_an_error_deep_inside():
    @inlined
    def read(array, i):
        return array[i]

    @noinline
    def twice(array, i):
        return read(array, i) + read(array, i + 1)

    @entry_point
    def called(array, i):
        return twice(array, i)

    assert called(np.arange(3.0), 1) == 3.0
    with pytest.raises(IndexError):
        called(np.arange(3.0), 2)


def test_kernels_are_linked_only_where_numba_was_tested(monkeypatch):
    monkeypatch.delenv("EDGEWISE_PLAIN_NUMBA", raising=False)
    for version, linked in (("0.68.1", True), ("0.66.0", True), ("0.65.1", False), ("0.99.0", False), ("1.0.0", False)):
        monkeypatch.setattr(numba, "__version__", version)
        assert link.in_use() == linked
    monkeypatch.setattr(numba, "__version__", "0.68.1")
    monkeypatch.setenv("EDGEWISE_PLAIN_NUMBA", "1")
    assert not link.in_use()


def test_the_lowest_numba_that_is_allowed_is_one_that_was_tested():
    requirements = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"][
        "dependencies"
    ]
    assert f"numba>={link.TESTED[0]}" in requirements
