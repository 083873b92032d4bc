"""`edgewise.kernels.simd`: several numbers at once give what each alone gives, compiled and in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgewise.kernels.compile import entry_point
from edgewise.kernels.simd import (
    BROAD,
    WIDTH,
    any_less,
    exponent,
    fma,
    fraction,
    gather4,
    load4,
    load8,
    mask_tail,
    maximum,
    minimum,
    no_nan,
    reduce_min,
    reduce_product,
    reduce_sum,
    round_up_4,
    round_up_8,
    splat4,
    splat8,
    sqrt,
    store,
    where_less,
    where_not_nan,
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
    lambda a, b, place: math.sqrt(b * b),
)


@entry_point
def four_at_once(x, y, out):
    a, b = load4(x, 0), load4(y, 0)
    store(out, 0, a + b)
    store(out, 4, a - b)
    store(out, 8, a * b)
    store(out, 12, a / b)
    store(out, 16, 2.0 - a)
    store(out, 20, b * 3)
    store(out, 24, minimum(a, b))
    store(out, 28, maximum(a, b))
    store(out, 32, where_less(a, b, a, 9.0))
    store(out, 36, where_not_nan(a, b, -1.0))
    store(out, 40, mask_tail(3, a, b))
    store(out, 44, splat4(6.5))
    store(out, 48, sqrt(b * b))


@entry_point
def eight_at_once(x, y, out):
    """What is done to eight numbers, from the second of an array on."""
    a, b = load8(x, 1), load8(y, 1)
    store(out, 0, a + b)
    store(out, BROAD, fma(a, b, 0.5))
    store(out, 2 * BROAD, mask_tail(5, a, b))
    store(out, 3 * BROAD, mask_tail(2, 0.0, b))
    store(out, 4 * BROAD, exponent(a))
    store(out, 5 * BROAD, fraction(a))
    store(out, 6 * BROAD, splat8(2.5))
    return any_less(a, b)


@entry_point
def multiplied_and_added(x, y, z, out):
    store(out, 0, fma(load4(x, 0), load4(y, 0), load4(z, 0)))


@entry_point
def one_of_four(x, y):
    a, b = load4(x, 0), load4(y, 0)
    return reduce_sum(a), reduce_product(a), any_less(a, b), no_nan(a), reduce_min(b)


@entry_point
def parts_of_numbers(x, powers, fractions):
    for j in range(0, x.size, WIDTH):
        store(powers, j, exponent(load4(x, j)))
        store(fractions, j, fraction(load4(x, j)))


@entry_point
def gathered(array, indices, n, out):
    for j in range(0, n, WIDTH):
        store(out, j, gather4(array, indices, j, n))


@pytest.mark.plain
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_each_of_four_numbers(x, y):
    out = np.zeros(WIDTH * len(ONE_BY_ONE))
    four_at_once(np.array(x), np.array(y), out)
    for found, done in zip(out.reshape(-1, WIDTH), ONE_BY_ONE, strict=True):
        expected = [done(x[place], y[place], place) for place in range(WIDTH)]
        assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.plain
def test_each_of_eight_numbers():
    x, y = 2.0 ** np.arange(-3.0, 6.0) * 1.25, np.full(BROAD + 1, 3.0)
    out = np.zeros(7 * BROAD)
    assert eight_at_once(x, y, out)
    a, b, place = x[1:], y[1:], np.arange(BROAD)
    expected = [a + b, a * b + 0.5, np.where(place < 5, a, b), np.where(place < 2, 0.0, b)]
    expected += [np.arange(-2.0, 6.0), np.full(BROAD, 1.25), np.full(BROAD, 2.5)]
    assert out.reshape(-1, BROAD).tolist() == np.array(expected).tolist()
    assert not eight_at_once(y, x[:1].repeat(BROAD + 1), out)


@pytest.mark.plain
def test_products_are_added_to_up_to_one_rounding():
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y, z = rng.normal(size=(3, WIDTH))
        out = np.zeros(WIDTH)
        multiplied_and_added(x, y, z, out)
        assert np.allclose(out, x * y + z, rtol=0.0, atol=4e-16 * (np.abs(x * y) + np.abs(z)).max())


@pytest.mark.plain
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_one_number_out_of_four(x, y):
    a, b, c, d = x
    expected = [(a + b) + (c + d), (a * b) * (c * d), any(map(float.__lt__, x, y)), not any(map(math.isnan, x))]
    low = min(min(y[0], y[1]), min(y[2], y[3]))
    expected.append(low)
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
def test_what_is_gathered_beyond_the_last_is_the_last(n):
    rng = np.random.default_rng(n)
    array, indices = rng.normal(size=20), rng.integers(0, 20, n).astype(np.int32)
    out = np.zeros(round_up_4(n))
    gathered(array, indices, n, out)
    assert out.tolist() == array[np.pad(indices, (0, round_up_4(n) - n), mode="edge")].tolist()


def test_lengths_are_rounded_up():
    assert [round_up_4(n) for n in (0, 1, 3, 4, 5, 50)] == [0, 4, 4, 4, 8, 52]
    assert [round_up_8(n) for n in (0, 1, 7, 8, 9, 50)] == [0, 8, 8, 8, 16, 56]
