"""IDX files: what is written is read, packed or not, and a damaged file is refused with its name."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from edgewise.data import binary_files, datasets


def idx(array: np.ndarray, kind: int = 8) -> bytes:
    """An array as an IDX file."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, kind, array.ndim, *array.shape) + array.tobytes()


IMAGES = np.random.default_rng(0).integers(0, 256, size=(5, 4, 3), dtype=np.uint8)
DIGITS = np.array([3, 1, 4, 1, 5], dtype=np.uint8)


@pytest.mark.parametrize("name", ["images", "images.gz"])
@pytest.mark.parametrize("rows", [None, 1, 3, 5, 9])
def test_what_is_written_is_read(tmp_path: Path, name: str, rows: int | None) -> None:
    pack = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(pack(idx(IMAGES)))
    (tmp_path / "labels").write_bytes(idx(DIGITS))
    pixels, digits = binary_files.read_images(tmp_path / name, tmp_path / "labels", rows)
    np.testing.assert_array_equal(pixels, IMAGES[:rows])
    np.testing.assert_array_equal(digits, DIGITS[:rows])
    table, y = binary_files.as_examples(pixels, digits)
    np.testing.assert_array_equal(table.values, IMAGES[:rows].reshape(-1, 12))
    assert table.feature_names[:4] == ("r0c0", "r0c1", "r0c2", "r1c0")
    assert y.tolist() == DIGITS[:rows].tolist()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "starts with , where an IDX file has 0 0 8 3"),
        (b"\x00\x00\x08", "starts with 0 0 8, where"),
        (idx(DIGITS), "starts with 0 0 8 1, where an IDX file has 0 0 8 3"),
        (idx(IMAGES, kind=13), "starts with 0 0 13 3, where"),
        (idx(IMAGES)[:9], "ends within its 3 sizes"),
        (idx(IMAGES)[:-1], "holds 59 bytes of values, where its sizes say 60"),
        (idx(IMAGES) + b"x", "holds more bytes of values, where its sizes say 60"),
    ],
)
def test_a_damaged_file(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=reason) as caught:
        binary_files.read_array(path, 3)
    assert str(caught.value).startswith(str(path))


def test_a_packed_file_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(idx(IMAGES))[:-20])
    with pytest.raises(ValueError, match="the packed data are damaged or cut short"):
        binary_files.read_array(path, 3)


def test_as_many_labels_as_images(tmp_path: Path) -> None:
    (tmp_path / "images").write_bytes(idx(IMAGES))
    (tmp_path / "labels").write_bytes(idx(DIGITS[:4]))
    with pytest.raises(ValueError, match=r"images holds 5 images, but .*labels 4 labels"):
        binary_files.read_images(tmp_path / "images", tmp_path / "labels")


def test_the_first_digits_of_mnist() -> None:
    """Rows beyond the training part come from the test part."""
    if datasets.where("mnist") == "not here":
        pytest.skip("mnist is not here; set EDGEWISE_DATA to a folder that holds it")
    table, y = datasets.load("mnist", rows=60002)
    assert table.shape == (60002, 784)
    assert y[:8].tolist() == [5, 0, 4, 1, 9, 2, 1, 3]
    assert y[60000:].tolist() == [7, 2]
    assert (table.values.min(), table.values.max()) == (0, 255)
