"""`edgewise._lanes`: what happens to four numbers at once is what happens to each, compiled and in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgewise._compile import routine
from edgewise._lanes import (
    WIDTH,
    all_known,
    exponent,
    fraction,
    gathered,
    in_fours,
    lanes,
    largest,
    leading,
    least,
    load,
    product,
    some_less,
    store,
    total,
    where_known,
    where_less,
)

NAN, INF = math.nan, math.inf
PAIRS = [
    ([1.0, -2.0, 0.0, 4.5], [0.5, -2.0, 3.0, -1.0]),
    ([NAN, 1.0, INF, -INF], [1.0, NAN, 2.0, -3.0]),
    ([1e-300, 1e300, -0.0, 7.0], [1e300, 1e-300, 5.0, 7.0]),
]
# What is done to a pair of numbers at a place, in the order of `four_at_once`.
ONE_BY_ONE = (
    lambda a, b, place: a + b,
    lambda a, b, place: a - b,
    lambda a, b, place: a * b,
    lambda a, b, place: a / b,
    lambda a, b, place: 2.0 - a,
    lambda a, b, place: b * 3,
    lambda a, b, place: b if b < a else a,
    lambda a, b, place: b if b > a else a,
    lambda a, b, place: a if a < b else 9.0,
    lambda a, b, place: b if a == a else -1.0,
    lambda a, b, place: a if place < 3 else b,
    lambda a, b, place: 6.5,
)


@routine
def four_at_once(x, y, out):
    a, b = load(x, 0), load(y, 0)
    store(out, 0, a + b)
    store(out, 4, a - b)
    store(out, 8, a * b)
    store(out, 12, a / b)
    store(out, 16, 2.0 - a)
    store(out, 20, b * 3)
    store(out, 24, least(a, b))
    store(out, 28, largest(a, b))
    store(out, 32, where_less(a, b, a, 9.0))
    store(out, 36, where_known(a, b, -1.0))
    store(out, 40, leading(3, a, b))
    store(out, 44, lanes(6.5))


@routine
def one_of_four(x, y):
    a, b = load(x, 0), load(y, 0)
    return total(a), product(a), some_less(a, b), all_known(a)


@routine
def parts_of_numbers(x, powers, fractions):
    for j in range(0, x.size, WIDTH):
        store(powers, j, exponent(load(x, j)))
        store(fractions, j, fraction(load(x, j)))


@routine
def looked_up(array, indices, n, out):
    for j in range(0, n, WIDTH):
        store(out, j, gathered(array, indices, j, n))


@pytest.mark.plain
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_each_of_four_numbers(x, y):
    out = np.zeros(WIDTH * len(ONE_BY_ONE))
    four_at_once(np.array(x), np.array(y), out)
    for found, done in zip(out.reshape(-1, WIDTH), ONE_BY_ONE, strict=True):
        expected = [done(x[place], y[place], place) for place in range(WIDTH)]
        assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.plain
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_one_number_out_of_four(x, y):
    a, b, c, d = x
    expected = [(a + b) + (c + d), (a * b) * (c * d), any(map(float.__lt__, x, y)), not any(map(math.isnan, x))]
    assert np.array_equal(one_of_four(np.array(x), np.array(y)), expected, equal_nan=True)


@pytest.mark.plain
def test_numbers_are_taken_apart():
    rng = np.random.default_rng(0)
    x = np.concatenate([2.0 ** rng.uniform(-1020, 1020, 60), [1.0, 2.0, np.nextafter(2.0, 0.0), 2.0**-1022]])
    powers, fractions = np.zeros(x.size), np.zeros(x.size)
    parts_of_numbers(x, powers, fractions)
    assert all(math.ldexp(f, int(e)) == value for f, e, value in zip(fractions, powers, x, strict=True))
    assert ((fractions >= 1.0) & (fractions < 2.0)).all()


@pytest.mark.plain
@pytest.mark.parametrize("n", range(1, 10))
def test_what_is_looked_up_beyond_the_last_is_the_last(n):
    rng = np.random.default_rng(n)
    array, indices = rng.normal(size=20), rng.integers(0, 20, n).astype(np.int32)
    out = np.zeros(in_fours(n))
    looked_up(array, indices, n, out)
    assert out.tolist() == array[np.pad(indices, (0, in_fours(n) - n), mode="edge")].tolist()


def test_lengths_in_fours():
    assert [in_fours(n) for n in (0, 1, 3, 4, 5, 50)] == [0, 4, 4, 4, 8, 52]
