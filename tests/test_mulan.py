"""MULAN files: labels wherever they stand, sparse rows, nested labels, packed files, and errors that name the place."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

import edgewise as ew
from edgewise.data import files
from edgewise.data.arff import label_names, place_of_labels

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="rock"></label>
<label name="jazz"></label>
</labels>
"""
ARFF = """@relation music
@attribute jazz {0,1}
@attribute tempo numeric
@attribute 'rock' {0, 1}
@attribute mood {calm,wild}
@data
1, 90.5, 0, calm
0, 180, 1, wild
1, ?, 1, ?
"""
HEADER = ARFF.partition("@data\n")[0]


def write(folder: Path, arff: str = ARFF, xml: str = XML, name: str = "music") -> tuple[Path, Path]:
    (folder / f"{name}.arff").write_text(arff)
    (folder / f"{name}.xml").write_text(xml)
    return folder / f"{name}.arff", folder / f"{name}.xml"


def message_of(*paths: Path) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        files.read_mulan(*paths)
    return str(caught.value).replace(f"{paths[0].parent}/", "")


def test_labels_stand_anywhere_and_keep_the_order_of_the_arff(tmp_path: Path) -> None:
    table, Y, labels = ew.read_mulan(*write(tmp_path))
    assert labels == ("jazz", "rock")
    assert Y.dtype == np.int8
    assert Y.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert table.feature_names == ("tempo", "mood")
    assert table.features[1].categories == ("calm", "wild")
    np.testing.assert_array_equal(table.values, [[90.5, 0], [180, 1], [np.nan, np.nan]])


def test_sparse_rows(tmp_path: Path) -> None:
    rows = "@data\n{0 1, 1 90.5}\n{1 180, 2 1, 3 wild}\n{ }\n"
    table, Y, _ = ew.read_mulan(*write(tmp_path, HEADER + rows))
    assert Y.tolist() == [[1, 0], [0, 1], [0, 0]]
    np.testing.assert_array_equal(table.values, [[90.5, 0], [180, 1], [0, 0]])


def test_a_hierarchy_is_flattened(tmp_path: Path) -> None:
    nested = '<labels><label name="rock"><label name="jazz"/></label></labels>'
    arff, xml = write(tmp_path, xml=nested)
    assert label_names(xml) == ("rock", "jazz")
    assert ew.read_mulan(arff, xml)[1].tolist() == [[1, 0], [0, 1], [1, 1]]


def test_numeric_labels_and_a_single_one(tmp_path: Path) -> None:
    header = "@relation r\n@attribute a numeric\n@attribute rock numeric\n@data\n"
    _, Y, labels = ew.read_mulan(*write(tmp_path, header + "2,1.0\n3,0\n", '<labels><label name="rock"/></labels>'))
    assert Y.tolist() == [[1], [0]]
    assert labels == ("rock",)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_packed_files(tmp_path: Path, suffix: str, pack) -> None:
    for path in write(tmp_path, name="music-train"):
        packed = path.with_name(path.name + suffix)
        packed.write_bytes(pack(path.read_bytes()))
        path.unlink()
    _, Y, labels = ew.read_mulan(tmp_path / f"music-train.arff{suffix}")
    assert Y.shape == (3, 2)
    assert labels == ("jazz", "rock")
    for name in ("music-train.arff", "music-train.xml"):
        whole = (tmp_path / (name + suffix)).read_bytes()
        (tmp_path / (name + suffix)).write_bytes(whole[:-12])
        assert message_of(tmp_path / f"music-train.arff{suffix}").startswith(f"{name}{suffix}: the packed data")
        (tmp_path / (name + suffix)).write_bytes(whole)


@pytest.mark.parametrize("arff", ["music.arff", "music-train.arff", "music-test.arff", "music_test.arff"])
def test_the_labels_are_found_beside_the_data(tmp_path: Path, arff: str) -> None:
    path, xml = write(tmp_path)
    path.rename(tmp_path / arff)
    assert place_of_labels(tmp_path / arff) == xml
    assert ew.read_mulan(tmp_path / arff)[2] == ("jazz", "rock")
    xml.unlink()
    with pytest.raises(FileNotFoundError, match=r"no music.*\.xml beside it, to say which attributes are labels"):
        ew.read_mulan(tmp_path / arff)


def test_first_rows_and_many_rows(tmp_path: Path) -> None:
    """More than the fast reader of plain blocks needs, so that both ways are taken."""
    rng = np.random.default_rng(1)
    Y = rng.integers(0, 2, (9000, 2))
    tempo = rng.integers(50, 200, 9000)
    rows = "".join(f"{a},{t},{b},wild\n" for (a, b), t in zip(Y, tempo, strict=True)) * 4
    path, xml = write(tmp_path, HEADER + "@data\n" + rows)
    assert path.stat().st_size > 200_000
    table, found, _ = ew.read_mulan(path, xml)
    np.testing.assert_array_equal(found, np.tile(Y, (4, 1)))
    np.testing.assert_array_equal(table.values[:, 0], np.tile(tempo, 4))
    some, few, _ = ew.read_mulan(path, xml, rows=7)
    np.testing.assert_array_equal(few, Y[:7])
    np.testing.assert_array_equal(some.values, table.values[:7])
    bad = (HEADER + "@data\n" + rows).splitlines()
    bad[30_000] = bad[30_000].replace(bad[30_000][0], "7", 1)
    path.write_text("\n".join(bad) + "\n")
    assert message_of(path, xml).startswith("music.arff, line 30001, column 1 (jazz): the label '7' is not among")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("2, 90, 0, calm", "column 1 (jazz): the label '2' is not among the values of a label 0, 1"),
        ("0, 90, ?, calm", "column 3 (rock): the label is missing"),
        ("0, 90, yes, calm", "column 3 (rock): the label 'yes' is not a number"),
        ("0.5, 90, 1, calm", "column 1 (jazz): the label '0.5' is not an integer"),
        ("{2 3}", "column 3 (rock): the label '3' is not among the values of a label 0, 1"),
        ("0, fast, 1, calm", "column 2 (tempo): 'fast' is not a number"),
    ],
)
def test_a_bad_cell_is_named(tmp_path: Path, row: str, expected: str) -> None:
    assert message_of(*write(tmp_path, ARFF + row + "\n")).startswith(f"music.arff, line 10, {expected}")


def test_a_row_that_is_too_short(tmp_path: Path) -> None:
    assert message_of(*write(tmp_path, ARFF + "1, 90, 1\n")) == "music.arff, line 10: 3 fields where 4 are expected"


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (XML.replace("rock", "pop"), "music.xml names labels that music.arff does not have as attributes: 'pop'"),
        (
            "<labels>" + "".join(f'<label name="l{n}"/>' for n in range(8)) + "</labels>",
            "music.xml names labels that music.arff does not have as attributes: "
            "'l0', 'l1', 'l2', 'l3', 'l4' and 3 more",
        ),
        ("jazz\nrock\n", "music.xml, line 1, column 1: not XML (syntax error)"),
        (XML.replace("</labels>", ""), "music.xml, line 6, column 1: not XML (no element found)"),
        ("", "music.xml, line 1, column 1: not XML (no element found)"),
        ("<dataset/>", "music.xml: <dataset> where <labels> is expected around the labels"),
        ("<labels/>", "music.xml: no <label name=...> in it"),
        ('<labels><label name="jazz"/><label/></labels>', "music.xml: label 2 has no name"),
        (
            '<labels><label name="jazz"><label name="jazz"/></label></labels>',
            "music.xml: labels named more than once: 'jazz'",
        ),
        (
            "<labels>" + "".join(f'<label name="{n}"/>' for n in ("jazz", "tempo", "rock", "mood")) + "</labels>",
            "music.arff: no feature is left beside the labels",
        ),
    ],
)
def test_bad_lists_of_labels(tmp_path: Path, xml: str, expected: str) -> None:
    assert message_of(*write(tmp_path, xml=xml)) == expected


def test_files_that_are_not_there(tmp_path: Path) -> None:
    arff, xml = write(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"none\.xml: no such file"):
        ew.read_mulan(arff, tmp_path / "none.xml")
    with pytest.raises(FileNotFoundError, match=r"none\.arff: no such file"):
        ew.read_mulan(tmp_path / "none.arff", xml)


def test_labels_of_other_files(tmp_path: Path) -> None:
    """The same from a CSV, by name or position; what takes no labels says so."""
    path = tmp_path / "music.csv"
    path.write_text("jazz,tempo,rock\n1,90,0\n0,180,1\n")
    table, Y = ew.read(path, labels=["rock", 0])
    assert Y.tolist() == [[1, 0], [0, 1]]
    assert table.feature_names == ("tempo",)
    for options, words in (
        ({"labels": ["jazz"], "target": "rock"}, "one target or several labels, not both"),
        ({"labels": []}, "at least 1 label"),
        ({"labels": ["jazz"], "classes": [0, 1]}, "classes: labels are 0 or 1"),
        ({"labels": ["pop"]}, "labels='pop' is not a column"),
        ({"labels": "jazz"}, "expected a sequence"),
        ({"labels": ["jazz"], "drop": ["jazz"]}, "column 1 is a label and can not be dropped"),
        ({"labels": ["jazz"], "format": "libsvm"}, "not an option of libsvm files"),
        ({"labels": ["jazz"], "format": "parquet"}, "not an option of parquet files"),
    ):
        with pytest.raises(ValueError, match=words):
            ew.read(path, **options)
