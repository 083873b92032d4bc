"""`edgewise.kernels.simd`: several numbers at once give what each alone gives, compiled and in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgewise.kernels.compile import entry_point
from edgewise.kernels.simd import (
    BROAD,
    ROUNDING,
    WIDE,
    WIDTH,
    all_known,
    bottom,
    broad,
    exponent,
    fraction,
    fused,
    gathered,
    in_eights,
    in_fours,
    lanes,
    largest,
    leading,
    least,
    load,
    load_broad,
    load_wide,
    power_of_two,
    product,
    root,
    shifted,
    some_less,
    store,
    total,
    where_equal,
    where_known,
    where_less,
    wide,
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
# The same of more numbers, in the order of `many_at_once`.
OF_MANY = (
    lambda a, b: a + 1.5,
    lambda a, b: b / a,
    lambda a, b: b if b < a else a,
    lambda a, b: b if b > a else a,
    lambda a, b: a if a < b else 9.0,
    lambda a, b: -3.0,
    lambda a, b: a if a == b else 8.0,
)


@entry_point
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
    store(out, 48, root(b * b))


@entry_point
def many_at_once(x, y, out):
    a, b = load_wide(x), load_wide(y)
    store(out, 0, a + 1.5)
    store(out, WIDE, b / a)
    store(out, 2 * WIDE, least(a, b))
    store(out, 3 * WIDE, largest(a, b))
    store(out, 4 * WIDE, where_less(a, b, a, 9.0))
    store(out, 5 * WIDE, wide(-3.0))
    store(out, 6 * WIDE, where_equal(a, b, a, 8.0))
    return some_less(a, b)


@entry_point
def eight_at_once(x, y, out):
    """What is done to eight numbers, from the second of an array on."""
    a, b = load_broad(x, 1), load_broad(y, 1)
    store(out, 0, a + b)
    store(out, BROAD, fused(a, b, 0.5))
    store(out, 2 * BROAD, leading(5, a, b))
    store(out, 3 * BROAD, leading(2, 0.0, b))
    store(out, 4 * BROAD, exponent(a))
    store(out, 5 * BROAD, fraction(a))
    store(out, 6 * BROAD, broad(2.5))
    return some_less(a, b)


@entry_point
def multiplied_and_added(x, y, z, out):
    store(out, 0, fused(load(x, 0), load(y, 0), load(z, 0)))


@entry_point
def moved_on(x, first, out):
    store(out, 0, shifted(load(x, 0), first))
    store(out, WIDTH, shifted(load_wide(x), first))


@entry_point
def powers_of_two(x, out):
    store(out, 0, power_of_two(load_wide(x) + ROUNDING))


@entry_point
def one_of_four(x, y):
    a, b = load(x, 0), load(y, 0)
    return total(a), product(a), some_less(a, b), all_known(a), bottom(b)


@entry_point
def parts_of_numbers(x, powers, fractions):
    for j in range(0, x.size, WIDTH):
        store(powers, j, exponent(load(x, j)))
        store(fractions, j, fraction(load(x, j)))


@entry_point
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
@pytest.mark.parametrize("turn", range(len(PAIRS)))
def test_each_of_many_numbers(turn):
    pairs = [PAIRS[(turn + i) % len(PAIRS)] for i in range(WIDE // WIDTH)]
    x, y = ([number for pair in pairs for number in pair[side]] for side in (0, 1))
    out = np.zeros(WIDE * len(OF_MANY))
    some = many_at_once(np.array(x), np.array(y), out)
    for found, done in zip(out.reshape(-1, WIDE), OF_MANY, strict=True):
        with np.errstate(divide="ignore", over="ignore"):
            expected = [done(np.float64(a), np.float64(b)) for a, b in zip(x, y, strict=True)]
        assert np.array_equal(found, expected, equal_nan=True)
    assert some == any(map(float.__lt__, x, y))


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
def test_each_lane_has_what_the_one_before_had():
    x, out = np.arange(1.0, WIDE + 1.0), np.zeros(WIDTH + WIDE)
    moved_on(x, -7.0, out)
    assert out.tolist() == [-7.0, *x[: WIDTH - 1], -7.0, *x[: WIDE - 1]]


@pytest.mark.plain
@pytest.mark.parametrize("first", [-1022, -8, 1008])
def test_powers_of_two(first):
    x, out = np.arange(first, first + WIDE, dtype=float), np.zeros(WIDE)
    powers_of_two(x, out)
    assert out.tolist() == [2.0**n for n in range(first, first + WIDE)]


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
def test_what_is_looked_up_beyond_the_last_is_the_last(n):
    rng = np.random.default_rng(n)
    array, indices = rng.normal(size=20), rng.integers(0, 20, n).astype(np.int32)
    out = np.zeros(in_fours(n))
    looked_up(array, indices, n, out)
    assert out.tolist() == array[np.pad(indices, (0, in_fours(n) - n), mode="edge")].tolist()


def test_lengths_in_fours():
    assert [in_fours(n) for n in (0, 1, 3, 4, 5, 50)] == [0, 4, 4, 4, 8, 52]
    assert [in_eights(n) for n in (0, 1, 7, 8, 9, 50)] == [0, 8, 8, 8, 16, 56]
