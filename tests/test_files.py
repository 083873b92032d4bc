"""Reading files: every format, every way of packing, chunks, and the message for each kind of bad row."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from edgewise.data import columns
from edgewise.data.files import read, stream
from edgewise.data.table import Feature, concat

NAN = math.nan
CARS = "doors,color,price,class\n2,red,1.5,good\n4,?,,bad\n2,blue,-3e2,good\n"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def message_of(path: Path, **options: Any) -> str:
    with pytest.raises((ValueError, OSError)) as caught:
        read(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(f"{path.parent}/", "")


def assert_cars(path: Path, **options: Any) -> None:
    table, y = read(path, **options)
    assert table.features == (Feature("doors"), Feature("color", ("red", "blue")), Feature("price"))
    np.testing.assert_array_equal(table.values, [[2, 0, 1.5], [4, NAN, NAN], [2, 1, -300]])
    assert y.tolist() == ["good", "bad", "good"]


# ---- CSV: layout


def test_csv_with_header(tmp_path: Path) -> None:
    assert_cars(write(tmp_path / "cars.csv", CARS))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters(tmp_path: Path, delimiter: str) -> None:
    assert_cars(write(tmp_path / "cars.csv", CARS.replace(",", delimiter)))


def test_blanks_as_delimiters(tmp_path: Path) -> None:
    table, y = read(write(tmp_path / "points.dat", "  1  2.5 a\n 3   4 b \n10 11   a\n"))
    assert table.values.tolist() == [[1, 2.5], [3, 4], [10, 11]]
    assert y.tolist() == ["a", "b", "a"]


def test_crlf_byte_order_mark_and_blank_lines(tmp_path: Path) -> None:
    assert_cars(write(tmp_path / "cars.csv", "\ufeff" + CARS.replace("\n", "\r\n\r\n")))


def test_padding_and_no_final_newline(tmp_path: Path) -> None:
    assert_cars(write(tmp_path / "cars.csv", CARS.replace(",", " ,  ").rstrip("\n")))


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_packed(tmp_path: Path, suffix: str, pack: Any) -> None:
    path = tmp_path / f"cars.csv{suffix}"
    path.write_bytes(pack(CARS.encode()))
    assert_cars(path)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_and_cut_short(tmp_path: Path, suffix: str, pack: Any) -> None:
    path = tmp_path / f"cars.csv{suffix}"
    path.write_bytes(pack(CARS.encode() * 1000)[:-20])
    assert message_of(path).startswith(f"cars.csv{suffix}: the packed data are damaged or cut short (")


def test_quoted_cells(tmp_path: Path) -> None:
    text = 'name,"the ""size""",class\n"a, b",1,x\n"two\n\nlines", "2",x\nplain,3,"y"\n'
    table, y = read(write(tmp_path / "q.csv", text))
    assert table.features == (Feature("name", ("a, b", "two\n\nlines", "plain")), Feature('the "size"'))
    assert table.values.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert y.tolist() == ["x", "x", "y"]


def test_header_or_not_is_seen(tmp_path: Path) -> None:
    # Text above the same text is data; text above numbers, or above other text, is a header.
    assert len(read(write(tmp_path / "a.csv", "u,v,p\nu,w,q\nv,v,p\n"))[1]) == 3
    assert len(read(write(tmp_path / "b.csv", "u,v,class\n1,w,q\n"))[1]) == 1
    assert len(read(write(tmp_path / "c.csv", "kind,size,class\nu,w,q\nu,v,p\n"))[1]) == 2
    assert len(read(write(tmp_path / "d.csv", "u,1,q\nu,2,p\n"))[1]) == 2


def test_header_as_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "u,v,p\nu,w,q\n")
    table, y = read(path, header=True)
    assert (table.feature_names, y.tolist()) == (("u", "v"), ["q"])
    table, y = read(path, header=False)
    assert (table.feature_names, y.tolist()) == (("x0", "x1"), ["p", "q"])
    table, y = read(path, header=["kind", "size", "class"], target="kind")
    assert (table.feature_names, y.tolist()) == (("size", "class"), ["u", "u"])
    assert message_of(path, header=["a"]) == "a.csv: header gives 1 names, but the first row has 3 fields"
    assert message_of(path, header="yes").startswith("header='yes': expected True, False")


# ---- CSV: target, kinds, missing values


@pytest.mark.parametrize("target", [0, -4, "doors"])
def test_target_by_position_and_name(tmp_path: Path, target: int | str) -> None:
    table, y = read(write(tmp_path / "cars.csv", CARS), target=target)
    assert table.feature_names == ("color", "price", "class")
    assert y.tolist() == [2, 4, 2]
    assert y.dtype == np.int64


def test_kinds_of_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "l.csv", "a,1,1.,0.5,9007199254740993,x\nb,2,+2,1,-1,x\n")
    kinds = [np.str_, np.int64, np.int64, np.float64, np.int64]
    values: list[list[Any]] = [["a", "b"], [1, 2], [1, 2], [0.5, 1.0], [9007199254740993, -1]]
    for position, (kind, labels) in enumerate(zip(kinds, values, strict=True)):
        y = read(path, target=position)[1]
        assert y.dtype.type is kind
        assert y.tolist() == labels
    assert read(path, target=1, categorical=[1])[1].tolist() == ["1", "2"]
    assert read(path, target=1, numeric=[1])[1].dtype == np.float64


def test_kinds_can_be_overruled(tmp_path: Path) -> None:
    path = write(tmp_path / "k.csv", "n,t,class\n1,x,a\n2,5,b\n1.0,?,a\n")
    table, _ = read(path, categorical=["n"])
    assert table.features == (Feature("n", ("1", "2", "1.0")), Feature("t", ("x", "5")))
    assert message_of(path, numeric=["t"]) == "k.csv, line 2, column 2 (t): 'x' is not a number"
    assert message_of(path, numeric=[1], categorical=["t"]) == "k.csv: column 2 is given as categorical and as numeric"
    assert read(path, drop=["t"])[0].feature_names == ("n",)
    assert message_of(path, drop=["n", 1]) == "k.csv: no feature is left beside the target"
    assert message_of(path, drop=[2]) == "k.csv: column 3 is the target and can not be dropped"


def test_what_is_missing_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "a,b,class\n-999,?,x\n 1 ,u,y\n")
    table, _ = read(path, missing=["-999"])
    assert table.features[1].categories == ("?", "u")
    np.testing.assert_array_equal(table.values, [[NAN, 0], [1, 1]])
    assert message_of(path, missing="?") == "missing='?': expected a sequence, as ['?']"


def test_words_that_python_takes_for_numbers_are_text(tmp_path: Path) -> None:
    table, _ = read(write(tmp_path / "n.csv", "1_0,\u0663,inf,x\n1_1,\u0664,-1e-3,y\n"))
    assert [feature.categories for feature in table.features] == [("1_0", "1_1"), ("\u0663", "\u0664"), None]
    assert table.values[:, 2].tolist() == [math.inf, -0.001]


def test_classes_are_checked(tmp_path: Path) -> None:
    path = write(tmp_path / "cars.csv", CARS)
    assert_cars(path, classes=["good", "bad"])
    expected = "cars.csv, line 3, column 4 (class): the label 'bad' is not among the classes good, fair"
    assert message_of(path, classes=["good", "fair"]) == expected
    assert read(path, target=0, classes=[4, 2])[1].tolist() == [2, 4, 2]


# ---- CSV: what is wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "bad.csv: the file is empty"),
        ("\n \n", "bad.csv: the file is empty"),
        ("a,b,class\n", "bad.csv: no rows after the header"),
        ("a\nb\n", "bad.csv, line 1: 1 field only; the delimiter is none of comma, semicolon, tab, blank"),
        ("a,b,class\n1,2,x\n1,2\n", "bad.csv, line 3: 2 fields where 3 are expected"),
        ("a,b,class\n1,2,x\n\n1,2,x,4\n", "bad.csv, line 4: 4 fields where 3 are expected"),
        ("a,b,class\n1,2,x\n1,2,\n", "bad.csv, line 3, column 3 (class): the label is missing"),
        ("1,2,x\n1,2,?\n", "bad.csv, line 2, column 3: the label is missing"),
        ('a,b,class\n1,"u\nv",x\n1,"w",x,y\n', "bad.csv, line 4: 4 fields where 3 are expected"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, expected: str) -> None:
    assert message_of(write(tmp_path / "bad.csv", text)) == expected


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(b"a,b\n1,x\n2,\xff\n")
    assert message_of(path) == "bad.csv, line 3: not UTF-8 text"


def late_text(rows: int, bad: int) -> str:
    lines = [f"{row},{row * 0.5},{'xy'[row % 2]}" for row in range(rows)]
    lines[bad] = "7,oops,x"
    return "a,b,class\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("chunk_rows", [1, 7, 11_000, 50_000])
def test_text_after_the_probe_is_a_bad_row_however_the_file_is_cut(tmp_path: Path, chunk_rows: int) -> None:
    path = write(tmp_path / "late.csv", late_text(10_500, 10_400))
    with pytest.raises(ValueError, match=r"late\.csv, line 10402, column 2 \(b\): 'oops' is not a number$"):
        list(stream(path, chunk_rows=chunk_rows))
    assert read(path, categorical=["b"])[0].features[1].categories is not None


def test_text_within_the_probe_makes_the_column_nominal(tmp_path: Path) -> None:
    table, _ = read(write(tmp_path / "early.csv", late_text(200, 150)))
    assert table.features[1].categories is not None


def test_the_first_bad_cell_in_the_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "two.csv", "1,2,x\n1,b,x\na,2,x\n1,2\n")
    assert message_of(path, numeric=[0, 1]) == "two.csv, line 2, column 2: 'b' is not a number"


def test_labels_that_stop_being_integers(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "a,y\n" + "1,2\n" * 10_000 + "1,2.5\n")
    expected = "r.csv, line 10002, column 2 (y): the label '2.5' is not an integer, as those before it"
    assert message_of(path) == expected
    assert read(path, numeric=["y"])[1][-1] == 2.5


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"target": "colour"}, "cars.csv: target='colour' is not a column; the columns are doors, color, price, class"),
        ({"target": 4}, "cars.csv: target=4 is out of range; the file has 4 columns"),
        ({"drop": ["x"]}, "cars.csv: drop='x' is not a column; the columns are doors, color, price, class"),
        ({"categorical": "doors"}, "categorical='doors': expected a sequence, as ['doors']"),
        ({"format": "xls"}, "format='xls': expected one of csv, arff, libsvm, parquet"),
        ({"n_features": 3}, "n_features=3: not an option of csv files"),
        ({"delimiter": "::"}, "delimiter='::': expected one character"),
        ({"rows": 0}, "rows=0: at least 1 row must be read"),
        ({"classes": ["a", 1.5], "format": "arff"}, "cars.csv, line 1: 'doors,color,price,class' where @relation"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, Any], expected: str) -> None:
    assert message_of(write(tmp_path / "cars.csv", CARS), **options).startswith(expected)


def test_missing_files_folders_and_unknown_formats(tmp_path: Path) -> None:
    assert message_of(tmp_path / "none.csv") == "none.csv: no such file"
    assert message_of(tmp_path) == f"{tmp_path.name}: is a folder, not a data file"
    path = write(tmp_path / "cars.xyz", CARS)
    assert message_of(path) == "cars.xyz: unknown format; give format= one of csv, arff, libsvm, parquet"
    assert_cars(path, format="csv")
    with pytest.raises(FileNotFoundError):
        stream(tmp_path / "none.csv")  # at once, not when the first chunk is asked for
    with pytest.raises(ValueError, match="chunk_rows=0"):
        stream(path, format="csv", chunk_rows=0)


def test_names_need_a_header(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "1,2,x\n3,4,y\n")
    assert message_of(path, target="a") == "a.csv: target='a', but the file has no header; give a position"


# ---- chunks


def mixed_csv(rows: int) -> str:
    out = ["id;size;kind;label"]
    for row in range(rows):
        size = "" if row % 7 == 3 else f"{row / 3}"
        kind = "?" if row % 11 == 5 else f"k{row * row % (3 + row // 50)}"
        out.append(f"{row};{size}; {kind};{'abc'[row % 3]}")
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "careful"])
@pytest.mark.parametrize("chunk_rows", [1, 3, 64, 299, 300, 1000])
def test_chunks_are_the_whole_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_rows: int, fast: bool) -> None:
    path = write(tmp_path / "mixed.csv", mixed_csv(300))
    whole, labels = read(path)
    monkeypatch.setattr(columns, "FAST_BYTES", 0 if fast else 1 << 40)
    parts = list(stream(path, chunk_rows=chunk_rows))
    assert [len(table) for table, _ in parts[:-1]] == [chunk_rows] * (len(parts) - 1)
    np.testing.assert_array_equal(np.concatenate([table.values for table, _ in parts]), whole.values)
    assert np.concatenate([y for _, y in parts]).tolist() == labels.tolist()
    assert parts[-1][0].features == whole.features
    for (before, _), (after, _) in pairwise(parts):
        for old, new in zip(before.features, after.features, strict=True):
            if old.categories is None:
                assert new.categories is None
            else:
                assert new.categories is not None
                assert new.categories[: len(old.categories)] == old.categories
    assert concat(table for table, _ in parts) == whole


def test_rows_stop_early(tmp_path: Path) -> None:
    path = write(tmp_path / "mixed.csv", mixed_csv(300) + "broken\n")
    table, y = read(path, rows=40)
    assert len(table) == len(y) == 40
    assert table.values[-1, 0] == 39


def test_the_fast_way_and_the_careful_way_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a,b,c,class\n1.5,u , NA,x\n 2.,u,-1e3, x\n?,v,nan,y\n.5,,0,x\n"
    path = write(tmp_path / "both.csv", text)
    results = []
    for size in (0, 1 << 40):
        monkeypatch.setattr(columns, "FAST_BYTES", size)
        results.append(read(path, missing=("", "?", "NA", "nan")))
    (fast, fast_y), (careful, careful_y) = results
    assert fast == careful
    assert fast_y.tolist() == careful_y.tolist() == ["x", "x", "y", "x"]
    np.testing.assert_array_equal(fast.values, [[1.5, 0, NAN], [2, 0, -1000], [NAN, 1, NAN], [0.5, NAN, 0]])


def test_the_fast_way_is_taken_and_steps_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    encode = columns.Schema.encode_lines

    def spy(*given: Any) -> Any:
        taken.append(encode(*given))
        return taken[-1]

    monkeypatch.setattr(columns.Schema, "encode_lines", spy)
    monkeypatch.setattr(columns, "FAST_BYTES", 0)
    read(write(tmp_path / "plain.csv", "1,x\n2,y\n"))
    assert taken[-1] is not None
    read(write(tmp_path / "ragged.csv", "1,x\n-9,y\n"), missing=["-9"])
    assert taken[-1] is None


cell = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.text("abz,;\"' \u00e9\n", min_size=1, max_size=6).filter(lambda text: text == text.strip() and text != ""),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(cell, cell, st.sampled_from(["yes", "no"])), min_size=1, max_size=8), st.integers(1, 9))
def test_written_by_csv_and_read_back(tmp_path: Path, rows: list[tuple[str, str, str]], chunk_rows: int) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("first", "second", "class"), *rows])
    path = write(tmp_path / "any.csv", text.getvalue())
    parts = list(stream(path, header=True, delimiter=",", chunk_rows=chunk_rows))
    table = concat(part for part, _ in parts)
    assert np.concatenate([y for _, y in parts]).tolist() == [row[2] for row in rows]
    for j, feature in enumerate(table.features):
        for i, row in enumerate(rows):
            value = table.values[i, j]
            if feature.categories is None:
                assert value == float(row[j])
            else:
                assert feature.categories[int(value)] == row[j]


# ---- ARFF

ARFF = """% a comment
@RELATION 'a relation'

@attribute 'the size' NUMERIC
@attribute color {red, 'light blue', "it's", ?}
@attribute note string
@attribute class {good,bad}
@data
1.5, 'light blue', 'said \\'hi\\', left', good
% another
?, red, plain, bad

-2e1, "it's", ?, good
"""


def test_dense_arff(tmp_path: Path) -> None:
    table, y = read(write(tmp_path / "a.arff", ARFF))
    assert table.features == (
        Feature("the size"),
        Feature("color", ("red", "light blue", "it's", "?")),
        Feature("note", ("said 'hi', left", "plain")),
    )
    np.testing.assert_array_equal(table.values, [[1.5, 1, 0], [NAN, 0, 1], [-20, 2, NAN]])
    assert y.tolist() == ["good", "bad", "good"]


def test_sparse_arff(tmp_path: Path) -> None:
    text = "@relation s\n@attribute a real\n@attribute b {u,'v w'}\n@attribute c integer\n@attribute y {p,q}\n@data\n"
    text += "{0 1.5, 1 'v w'}\n{}\n{ 2 -3 ,3 q }\n{0 ?}\n"
    table, y = read(write(tmp_path / "s.arff", text))
    np.testing.assert_array_equal(table.values, [[1.5, 1, 0], [0, 0, 0], [0, 0, -3], [NAN, 0, 0]])
    assert y.tolist() == ["p", "p", "q", "p"]


def test_arff_target_of_any_kind(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arff", ARFF.replace("?, red", "4, red"))
    assert read(path, target="color")[1].tolist() == ["light blue", "red", "it's"]
    y = read(path, target=0)[1]
    assert (y.dtype, y.tolist()) == (np.float64, [1.5, 4, -20])
    digits = "@relation d\n@attribute a real\n@attribute y integer\n@data\n.5,1\n.7,2\n"
    assert read(write(tmp_path / "d.arff", digits))[1].dtype == np.int64


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("x,red,n,bad", "line 14, column 1 (the size): 'x' is not a number"),
        (
            "1,green,n,bad",
            "line 14, column 2 (color): 'green' is not among the declared values red, light blue, it's, ?",
        ),
        ("1,red,n,worse", "line 14, column 4 (class): the label 'worse' is not among the declared values good, bad"),
        ("1,red,n,?", "line 14, column 4 (class): the label is missing"),
        ("1,red,bad", "line 14: 3 fields where 4 are expected"),
        ("{0 1, 4 x}", "line 14: '4 x' is not INDEX VALUE with an index below 4"),
        ("{0 1, bad}", "line 14: 'bad' is not INDEX VALUE with an index below 4"),
        ("{0 1", "line 14: a sparse row must end in '}'"),
    ],
)
def test_bad_arff_rows(tmp_path: Path, row: str, expected: str) -> None:
    assert message_of(write(tmp_path / "a.arff", ARFF + row + "\n")) == f"a.arff, {expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "h.arff: the file is empty"),
        ("@relation r\n@attribute a real\n", "h.arff: no @data line"),
        ("@relation r\n@data\n", "h.arff, line 2: @data without any @attribute before it"),
        ("@attribute a real\n@attribute b real\n@data\n", "h.arff: no rows after @data"),
        ("@attribute a\n", "h.arff, line 1: expected @attribute NAME TYPE, got '@attribute a'"),
        ("@attribute a relational\n", "h.arff, line 1: attribute 'a' has type 'relational'; known types are"),
        ("1,2,3\n", "h.arff, line 1: '1,2,3' where @relation, @attribute or @data is expected"),
    ],
)
def test_bad_arff_headers(tmp_path: Path, text: str, expected: str) -> None:
    assert message_of(write(tmp_path / "h.arff", text)).startswith(expected)


@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
def test_arff_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_rows: int) -> None:
    text = ARFF + "".join(f"{row},red,t{row % 4},{'good' if row % 3 else 'bad'}\n" for row in range(150))
    path = write(tmp_path / "a.arff", text)
    whole, labels = read(path)
    monkeypatch.setattr(columns, "FAST_BYTES", 0)
    parts = list(stream(path, chunk_rows=chunk_rows))
    np.testing.assert_array_equal(np.concatenate([table.values for table, _ in parts]), whole.values)
    assert np.concatenate([y for _, y in parts]).tolist() == labels.tolist()
    assert parts[-1][0].features == whole.features


# ---- LIBSVM


def test_libsvm(tmp_path: Path) -> None:
    path = write(tmp_path / "a.svm", "+1 1:0.5 3:2 \n-1 2:-1e1 # why\n\n+1\n")
    table, y = read(path)
    assert table.values.tolist() == [[0.5, 0, 2], [0, -10, 0], [0, 0, 0]]
    assert (y.dtype, y.tolist()) == (np.int64, [1, -1, 1])
    assert read(path, n_features=5)[0].shape == (3, 5)
    for chunk_rows in (1, 2):
        assert concat(part for part, _ in stream(path, chunk_rows=chunk_rows)) == table
    assert read(write(tmp_path / "r.svm", "0.5 1:1\n2 1:2\n"))[1].tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "b.svm: the file is empty"),
        ("1\n2\n", "b.svm: no INDEX:VALUE pair found"),
        ("1 1:2\n1 0:3 1:1\n", "b.svm, line 2, column 2: index 0, where indices must start at 1"),
        ("1 2:2 1:3 4:4\n", "b.svm, line 1, column 3: index 1, where indices must rise, but 2 came before"),
        ("1 1:2 2:x 3:1\n", "b.svm, line 1, column 3: '2:x' is not INDEX:VALUE"),
        ("1 1:2\n1 qid:3 2:1\n", "b.svm, line 2, column 2: 'qid:3' is not INDEX:VALUE"),
        ("1 1:2\nx 1:1\n", "b.svm, line 2, column 1: the label 'x' is not a number"),
    ],
)
def test_bad_libsvm(tmp_path: Path, text: str, expected: str) -> None:
    assert message_of(write(tmp_path / "b.svm", text)).startswith(expected)


def test_libsvm_with_too_few_features(tmp_path: Path) -> None:
    path = write(tmp_path / "b.svm", "1 1:2 4:1\n")
    assert message_of(path, n_features=3) == "b.svm, line 1, column 3: index 4 is above the 3 features"
    assert message_of(path, target=0) == "target=0: not an option of libsvm files"


# ---- Parquet


def parquet_file(path: Path) -> Path:
    rows = 50
    data = pa.table(
        {
            "n": pa.array([None if row % 9 == 4 else row for row in range(rows)], pa.int32()),
            "t": [None if row % 10 == 3 else f"t{row // 7}" for row in range(rows)],
            "d": pa.array([f"d{row % 3}" for row in range(rows)]).dictionary_encode(),
            "b": [row % 2 == 0 for row in range(rows)],
            "when": pa.array(range(rows), pa.timestamp("ms")),
            "y": [row % 4 for row in range(rows)],
        }
    )
    parquet.write_table(data, path, row_group_size=13)
    return path


def test_parquet(tmp_path: Path) -> None:
    path = parquet_file(tmp_path / "p.parquet")
    table, y = read(path, drop=["when"])
    categories = [feature.categories for feature in table.features]
    assert categories == [None, tuple(f"t{i}" for i in range(8)), ("d0", "d1", "d2"), ("True", "False")]
    np.testing.assert_array_equal(table.values[:5, 0], [0, 1, 2, 3, NAN])
    assert math.isnan(table.values[3, 1])
    assert table.values[7, 1] == 1
    assert (y.dtype, y.tolist()) == (np.int64, [row % 4 for row in range(50)])
    for chunk_rows in (1, 7, 20, 50):
        parts = list(stream(path, drop=["when"], chunk_rows=chunk_rows))
        assert [len(part) for part, _ in parts[:-1]] == [chunk_rows] * (len(parts) - 1)
        assert concat(part for part, _ in parts) == table
        assert np.concatenate([labels for _, labels in parts]).tolist() == y.tolist()


def test_parquet_kinds_can_be_overruled(tmp_path: Path) -> None:
    path = tmp_path / "o.parquet"
    parquet.write_table(pa.table({"code": [3, 1, 3], "text": ["1.5", "2", "x"], "y": ["a", "b", "a"]}), path)
    table, y = read(path, categorical=["code"])
    assert table.features == (Feature("code", ("3", "1")), Feature("text", ("1.5", "2", "x")))
    assert y.tolist() == ["a", "b", "a"]
    assert message_of(path, numeric=["text"]) == "o.parquet, row 3, column 2 (text): 'x' is not a number"


def test_bad_parquet(tmp_path: Path) -> None:
    path = parquet_file(tmp_path / "p.parquet")
    expected = "p.parquet, column 5 (when): type timestamp[ms] is neither number nor text; drop it"
    assert message_of(path) == expected
    expected = "p.parquet, row 4, column 2 (t): the label is missing"
    assert message_of(path, target="t", drop=["when"]) == expected
    assert message_of(write(tmp_path / "no.parquet", "text")).startswith("no.parquet: not a Parquet file (")
