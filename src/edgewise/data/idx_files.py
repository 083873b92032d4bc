"""IDX files, the format of MNIST: a magic number, the sizes, then the bytes of an array.

The magic number is 0, 0, the type (8: unsigned bytes, the only one read here), the number of dimensions; then one
big-endian 32-bit size per dimension. The values follow in C order and nothing after them.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from edgewise.data.opening import DAMAGED, open_unpacked
from edgewise.data.table import Feature, Table

UNSIGNED_BYTES = 8


def read_array(path: str | Path, dimensions: int, rows: int | None = None) -> np.ndarray:
    """The array of a file, packed or not, or its first `rows` entries along the first dimension."""
    try:
        with open_unpacked(path) as file:
            head = file.read(4)
            if head != bytes([0, 0, UNSIGNED_BYTES, dimensions]):
                wanted = f"0 0 {UNSIGNED_BYTES} {dimensions}"
                raise ValueError(f"{path}: starts with {' '.join(map(str, head))}, where an IDX file has {wanted}")
            sizes = file.read(4 * dimensions)
            if len(sizes) < 4 * dimensions:
                raise ValueError(f"{path}: ends within its {dimensions} sizes")
            shape = np.frombuffer(sizes, dtype=">u4").tolist()
            whole = rows is None or rows >= shape[0]
            if rows is not None:
                shape[0] = min(rows, shape[0])
            expected = math.prod(shape)
            content = file.read(expected + whole)  # one byte more would be one too many
    except DAMAGED as error:
        raise ValueError(f"{path}: the packed data are damaged or cut short ({error})") from None
    if len(content) != expected:
        more = "more" if len(content) > expected else f"{len(content)}"
        raise ValueError(f"{path}: holds {more} bytes of values, where its sizes say {expected}")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def read_images(images: str | Path, labels: str | Path, rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Images [n, height, width] and labels [n], both bytes."""
    pixels, digits = read_array(images, 3, rows), read_array(labels, 1, rows)
    if len(pixels) != len(digits):
        raise ValueError(f"{images} holds {len(pixels)} images, but {labels} {len(digits)} labels")
    return pixels, digits


def as_examples(pixels: np.ndarray, digits: np.ndarray) -> tuple[Table, np.ndarray]:
    """One row per image, line by line, features r0c0, r0c1, ...; values 0 to 255 as they are, labels integers."""
    _, height, width = pixels.shape
    features = [Feature(f"r{row}c{column}") for row in range(height) for column in range(width)]
    return Table(pixels.reshape(len(pixels), -1), features), digits.astype(np.int64)
