"""Products of two columns as further inputs of a linear learner, which learns what two columns mean together.

Numeric columns come first, then nominal ones; pairs are taken in the order of the later column, until there are as many
as are wanted. So all pairs are there where columns are few, and else those of the first columns: the choice needs
no random numbers, and a late column changes it little.

| pair              | inputs                        | value of the one that the example has |
|-------------------|-------------------------------|---------------------------------------|
| numeric, numeric  | 1 (a column with itself too)  | product of both, standardized         |
| numeric, nominal  | CODES, by code                | the numeric column, standardized      |
| nominal, nominal  | CODES^2, by both codes        | 1                                     |

Codes are taken modulo CODES: categories may come late, and a column of thousands of them needs no more memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from edgewise.kernels.compile import inlined
from edgewise.kernels.state import state

CODES = 16


@state
class Products(NamedTuple):
    """The pairs of n learners over k labels. Numeric column f is f, nominal column c is -1 - c."""

    wanted: np.ndarray  # [n] how many pairs each learner wants
    n_pairs: np.ndarray  # [n] how many it has
    first: np.ndarray  # [most pairs]
    second: np.ndarray
    place: np.ndarray  # [most pairs + 1] first input of each pair
    weights: np.ndarray  # [n, inputs, k]
    squares: np.ndarray  # [n, inputs, k] sums of squared gradients
    ranks: np.ndarray  # [n, inputs] as in `LinearBank`


def pairs_of_columns(most: int, n_numeric: int, n_nominal: int) -> list[tuple[int, int]]:
    """At most so many pairs of columns."""
    columns = [*range(n_numeric), *(-1 - c for c in range(n_nominal))]
    pairs: list[tuple[int, int]] = []
    for b, second in enumerate(columns):
        if len(pairs) >= most:
            break
        # a code goes with itself only
        pairs += [(first, second) for first in columns[: b + (second >= 0)]]
    return pairs[:most]


def first_inputs(pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """The first input of each pair, then the number of inputs."""
    sizes = [CODES ** ((a < 0) + (b < 0)) for a, b in pairs]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def make_products(wanted: Sequence[int], n_labels: int, n_numeric: int, n_nominal: int) -> Products:
    """Learners before the first example, of which each wants so many pairs."""
    pairs = pairs_of_columns(max(wanted, default=0), n_numeric, n_nominal)
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    place = first_inputs(pairs)
    shape = (len(wanted), int(place[-1]), n_labels)
    return Products(
        np.array(wanted, np.int64),
        np.minimum(np.array(wanted, np.int64), len(pairs)),
        np.ascontiguousarray(columns[:, 0]),
        np.ascontiguousarray(columns[:, 1]),
        place,
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape[:2], np.int64),
    )


def products_with_columns(products: Products, n_numeric: int, n_nominal: int) -> Products:
    """The pairs of more columns, numeric and nominal ones each at the end; what was learned of a pair stays with it."""
    wider = make_products(products.wanted.tolist(), products.weights.shape[2], n_numeric, n_nominal)
    known = {pair: j for j, pair in enumerate(zip(products.first.tolist(), products.second.tolist(), strict=True))}
    for j, pair in enumerate(zip(wider.first.tolist(), wider.second.tolist(), strict=True)):
        if pair in known:
            new = slice(wider.place[j], wider.place[j + 1])
            old = slice(products.place[known[pair]], products.place[known[pair] + 1])
            wider.weights[:, new] = products.weights[:, old]
            wider.squares[:, new] = products.squares[:, old]
            wider.ranks[:, new] = products.ranks[:, old]
    return wider


@inlined
def product(products, j, clip, inputs, nominal):
    """The input of pair j that the example has, and its value: 0 where a column is missing."""
    at = 0
    value = 1.0
    for column in (products.first[j], products.second[j]):
        if column >= 0:
            value *= inputs[column]
        else:
            code = nominal[-1 - column]
            if code < 0:
                value = 0.0
            else:
                at = at * CODES + code % CODES
    return products.place[j] + at, min(max(value, -clip), clip)


@inlined
def add_product_logits(products, i, clip, inputs, nominal, logits):
    """Add the products of linear learner i to its scores."""
    for j in range(products.n_pairs[i]):
        at, value = product(products, j, clip, inputs, nominal)
        if value != 0.0:
            weights = products.weights[i, at]
            for r in range(logits.size):
                logits[r] += weights[r] * value


@inlined
def adagrad_step(weights, squares, at, slope, step):
    """Move one weight against its slope by AdaGrad."""
    squares[at] += slope * slope
    weights[at] -= step * slope / math.sqrt(squares[at]) if squares[at] > 0.0 else 0.0


@inlined
def products_update(products, i, step, clip, inputs, nominal, slopes):
    """One AdaGrad step of the products of linear learner i; `slopes` are those of its scores."""
    for j in range(products.n_pairs[i]):
        at, value = product(products, j, clip, inputs, nominal)
        if value != 0.0:
            weights, squares = products.weights[i, at], products.squares[i, at]
            for r in range(slopes.size):
                adagrad_step(weights, squares, r, slopes[r] * value, step)
