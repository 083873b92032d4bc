"""Arrays as .npy members, format 1.0, with headers in one form only: a reader compares them and parses nothing."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

MAGIC = b"\x93NUMPY\x01\x00"
ALIGNED = 64
MOST_DIMENSIONS = 8
# Booleans, whole numbers, real numbers, dates and text of fixed width: nothing that would need pickle.
DTYPE = re.compile(r"\|b1|[|<>][iu][1248]|[<>]f[248]|[<>]U[0-9]{1,7}|\|S[0-9]{1,7}|[<>][mM]8(\[[0-9a-zA-Z]{1,9}\])?")


def can_hold(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this dtype can be a member."""
    return DTYPE.fullmatch(dtype.str) is not None


def checked_dtype(text: Any) -> np.dtype[Any]:
    """The dtype that a file names; ValueError for any but those of `DTYPE`."""
    if not isinstance(text, str) or not DTYPE.fullmatch(text):
        raise ValueError(f"dtype {text!r}: not one of those that a model file may hold")
    try:
        return np.dtype(text)
    except TypeError:
        raise ValueError(f"dtype {text!r}: there is no such") from None


def checked_shape(shape: Any) -> tuple[int, ...]:
    """The shape that a file names; ValueError unless it is a list of a few whole numbers."""
    good = isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS
    if not good or not all(type(size) is int and 0 <= size < 1 << 48 for size in shape):
        raise ValueError(f"shape {str(shape)[:80]}: not the shape of an array")
    return tuple(shape)


def npy_header(dtype: np.dtype[Any], shape: Sequence[int]) -> bytes:
    """What stands before the data of a C-ordered array."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    length = len(MAGIC) + 2 + len(text) + 1
    text += " " * (-length % ALIGNED) + "\n"
    return MAGIC + struct.pack("<H", len(text)) + text.encode("ascii")


def npy_bytes(array: np.ndarray) -> list[bytes | memoryview]:
    """The parts of a member, which is what `numpy.save` could have written."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.nbytes else np.zeros(0, np.uint8)
    return [npy_header(array.dtype, array.shape), data.data]


def from_member(member: bytearray, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """The array of a member, in its memory; ValueError unless its header says the same and its size fits."""
    header = npy_header(dtype, shape)
    size = math.prod(shape) * dtype.itemsize
    if len(member) != len(header) + size or not member.startswith(header):
        raise ValueError(f"not an array of dtype {dtype.str} and shape {shape}, as the header says")
    if size == 0:
        return np.zeros(shape, dtype.newbyteorder("="))
    array = np.frombuffer(member, dtype, offset=len(header)).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)
