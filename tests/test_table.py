"""Tables: from arrays and frames, slicing, merging of categories."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise.data.table import Feature, Table, as_table, concat, merge_features, recode

COLUMNS = {
    "number": [1, 2, None],
    "text": ["u", None, "v"],
    "flag": [True, False, None],
    "real": [0.5, math.nan, 1.5],
}


def test_numbers_stay_numbers_and_share_memory() -> None:
    X = np.arange(6.0).reshape(3, 2)
    table = as_table(X)
    assert table.shape == (3, 2)
    assert len(table) == 3
    assert table.features == (Feature("x0"), Feature("x1"))
    assert np.shares_memory(table.values, X)


def test_a_table_can_not_be_written_to_and_leaves_its_source_writable() -> None:
    X = np.zeros((2, 2))
    table = as_table(X)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0
    with pytest.raises(AttributeError):
        table.values = X  # type: ignore[misc]
    X[0, 0] = 1.0


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32])
def test_any_numeric_type_becomes_float64(dtype: type) -> None:
    table = as_table(np.array([[0, 1], [1, 0]], dtype=dtype))
    assert table.values.dtype == np.float64
    assert table.values.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert all(feature.categories is None for feature in table.features)


def test_binary_columns_hold_zeros_and_ones_only() -> None:
    X = np.array([[0, 1, 0.5, np.nan, 1, 2], [1, 1, 1, np.nan, np.nan, 0], [0, 1, 0, np.nan, 0, 1]])
    table = as_table(X)
    assert table.binary_columns.tolist() == [True, True, False, False, True, False]
    nominal = as_table(table, categorical_features=table.binary_columns)
    assert [feature.categories for feature in nominal.features] == [("0", "1"), ("1",), None, None, ("1", "0"), None]
    assert not nominal.binary_columns.any()
    assert as_table(X[:0]).binary_columns.tolist() == [False] * 6


def test_columns_in_fortran_order_become_rows_in_c_order() -> None:
    table = as_table(np.asfortranarray(np.arange(6.0).reshape(3, 2)))
    assert table.values.flags.c_contiguous
    assert table.values.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_table_is_returned_as_it_is() -> None:
    table = as_table([[1.0]])
    assert as_table(table) is table
    assert Table.from_arrays(table) is table


def test_object_columns_are_numeric_unless_a_cell_is_not_a_number() -> None:
    X = np.array(
        [[1, "a", None, True, Decimal("0.5")], [2.5, None, math.nan, False, 1], [None, 3, None, None, 2]], dtype=object
    )
    table = as_table(X)
    kinds = [feature.categories for feature in table.features]
    assert kinds == [None, ("a", "3"), None, ("True", "False"), None]
    np.testing.assert_array_equal(table.values[:, 0], [1, 2.5, math.nan])
    np.testing.assert_array_equal(table.values[:, 1], [0, math.nan, 1])
    assert np.isnan(table.values[:, 2]).all()
    np.testing.assert_array_equal(table.values[:, 3], [0, 1, math.nan])
    np.testing.assert_array_equal(table.values[:, 4], [0.5, 1, 2])


def test_lists_of_mixed_rows_keep_their_numbers() -> None:
    table = as_table([["a", 1.0], ["b", 2], ["a", None]])
    assert [feature.categories for feature in table.features] == [("a", "b"), None]
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 2], [0, math.nan]])


def test_an_array_of_text_is_nominal_throughout() -> None:
    table = as_table(np.array([["1", "x"], ["2", "x"]]))
    assert [feature.categories for feature in table.features] == [("1", "2"), ("x",)]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(make: object) -> None:
    table = as_table(make(COLUMNS))  # type: ignore[operator]
    assert table.feature_names == ("number", "text", "flag", "real")
    assert [feature.categories for feature in table.features] == [None, ("u", "v"), ("True", "False"), None]
    nan = math.nan
    np.testing.assert_array_equal(table.values, [[1, 0, 0, 0.5], [2, nan, 1, nan], [nan, 1, nan, 1.5]])


def test_pandas_types() -> None:
    frame = pd.DataFrame(
        {
            "ordered": pd.Categorical(["b", "c", "b"], categories=["a", "b", "c"], ordered=True),
            "unordered": pd.Categorical([3, 1, None]),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "string": pd.array(["x", None, "y"], dtype="string"),
            "object": pd.Series([1, "a", None], dtype=object),
        }
    )
    table = as_table(frame)
    assert [f.categories for f in table.features] == [("a", "b", "c"), ("3", "1"), None, ("x", "y"), ("1", "a")]
    nan = math.nan
    np.testing.assert_array_equal(table.values.T, [[1, 2, 1], [0, 1, nan], [1, nan, 3], [0, nan, 1], [0, 1, nan]])


def test_pandas_columns_named_by_integers() -> None:
    assert as_table(pd.DataFrame(np.ones((2, 3)))).feature_names == ("0", "1", "2")


def test_polars_and_arrow_types() -> None:
    frame = pl.DataFrame(
        {"enum": ["b", "a", None], "cat": ["q", "p", "q"], "dec": [Decimal("1.5"), None, Decimal("2")]},
        schema={"enum": pl.Enum(["a", "b", "c"]), "cat": pl.Categorical(), "dec": pl.Decimal(10, 2)},
    )
    table = as_table(frame)
    assert [f.categories for f in table.features] == [("a", "b", "c"), ("q", "p"), None]
    np.testing.assert_array_equal(table.values[:, 0], [1, 0, math.nan])
    np.testing.assert_array_equal(table.values[:, 2], [1.5, math.nan, 2])
    arrow = as_table(pa.table({"d": pa.array(["b", "a", None]).dictionary_encode()}))
    assert arrow.features == (Feature("d", ("b", "a")),)


def test_a_date_column_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"column 'when' is of type Datetime.*expected numbers, text"):
        as_table(pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}))


@pytest.mark.parametrize("chosen", [[1], [-1], ["x1"], [False, True], np.array([1])])
def test_categorical_features(chosen: object) -> None:
    table = as_table(np.array([[1.0, 3.0], [2.0, 0.5], [1.0, math.nan]]), categorical_features=chosen)  # type: ignore[arg-type]
    assert table.features == (Feature("x0"), Feature("x1", ("3", "0.5")))
    np.testing.assert_array_equal(table.values[:, 1], [0, 1, math.nan])


def test_categorical_features_of_frames_and_tables() -> None:
    frame = pd.DataFrame({"a": [3, 1, 3], "b": ["u", "v", "u"]})
    table = as_table(frame, categorical_features=["a", "b"])
    assert table.features == (Feature("a", ("3", "1")), Feature("b", ("u", "v")))
    assert as_table(as_table(frame), categorical_features=["a"]) == table


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["z"], "'z' is not the name of one column"),
        ([2], "2 is neither a name nor a position below 2"),
        ([True], r"a mask of shape \(1,\), but there are 2 columns"),
    ],
)
def test_bad_categorical_features(chosen: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_table(np.ones((1, 2)), categorical_features=chosen)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), r"X has shape \(3,\): expected two dimensions"),
        (np.ones((1, 2, 3)), r"X has shape \(1, 2, 3\)"),
        (np.ones((2, 2), dtype=complex), "X has dtype complex128"),
    ],
)
def test_bad_arrays(X: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_table(X)


def test_rows_by_slice_mask_index_and_number() -> None:
    table = as_table(np.arange(10.0).reshape(5, 2))
    assert table[1:3].values.tolist() == [[2, 3], [4, 5]]
    assert np.shares_memory(table[1:3].values, table.values)
    assert table[::2].values.tolist() == [[0, 1], [4, 5], [8, 9]]
    assert table[[4, 0]].values.tolist() == [[8, 9], [0, 1]]
    assert table[np.array([True, False, False, False, True])].values.tolist() == [[0, 1], [8, 9]]
    assert table[-1].values.tolist() == [[8, 9]]
    assert len(table[:0]) == 0
    with pytest.raises(IndexError):
        table[5]


def test_repr_equality_and_pickle() -> None:
    table = as_table([["a", math.nan], ["b", 1.0]])
    assert repr(table) == "Table(2 rows, 1 numeric and 1 nominal features)"
    assert pickle.loads(pickle.dumps(table)) == table
    assert table != table[:1]
    assert table != 3


def test_the_number_of_features_must_fit() -> None:
    with pytest.raises(ValueError, match=r"values of shape \(2, 3\): expected two dimensions, 1 features"):
        Table(np.ones((2, 3)), [Feature("a")])


def test_concat_merges_categories_by_name() -> None:
    first = Table(np.array([[0.0, 5.0], [1.0, 6.0]]), [Feature("c", ("a", "b")), Feature("n")])
    second = Table(np.array([[0.0, 7.0], [1.0, 8.0], [math.nan, 9.0]]), [Feature("c", ("z", "a")), Feature("n")])
    both = concat([first, second])
    assert both.features == (Feature("c", ("a", "b", "z")), Feature("n"))
    np.testing.assert_array_equal(both.values[:, 0], [0, 1, 2, 0, math.nan])
    np.testing.assert_array_equal(both.values[:, 1], [5, 6, 7, 8, 9])


def test_recode_makes_unknown_categories_missing() -> None:
    table = Table(np.array([[0.0], [1.0], [math.nan]]), [Feature("c", ("new", "a"))])
    recoded = recode(table, [Feature("c", ("b", "a"))])
    assert recoded.features == (Feature("c", ("b", "a")),)
    np.testing.assert_array_equal(recoded.values[:, 0], [math.nan, 1, math.nan])
    assert recode(table, table.features) is table


def test_kinds_must_agree() -> None:
    with pytest.raises(ValueError, match="feature 'c' is nominal here but numeric before"):
        merge_features([Feature("c")], [Feature("c", ("a",))])
    with pytest.raises(ValueError, match="2 features where 1 are known"):
        merge_features([Feature("c")], [Feature("c"), Feature("d")])
    with pytest.raises(ValueError, match="no tables"):
        concat([])


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=12), st.integers(1, 5))
def test_cutting_and_joining_changes_nothing(cells: list[str | None], size: int) -> None:
    whole = as_table(np.array([[cell, "always text"] for cell in cells], dtype=object))
    if whole.features[0].categories is None:  # nothing but missing cells
        return
    parts = [whole[start : start + size] for start in range(0, len(whole), size)]
    # Each part with categories of its own, as separate calls of as_table would give them.
    own = []
    for part in parts:
        names = [None if math.isnan(code) else whole.features[0].categories[int(code)] for code in part.values[:, 0]]
        seen = tuple(dict.fromkeys(name for name in names if name is not None))
        codes = [math.nan if name is None else float(seen.index(name)) for name in names]
        own.append(Table(np.column_stack([codes, part.values[:, 1]]), [Feature("x0", seen), whole.features[1]]))
    assert concat(own) == whole
