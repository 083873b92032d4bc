"""The container: a zip of header.json and arrays as .npy members, not compressed, written whole or not at all.

Members are stored as they are. So what a reader allocates is bounded by the size of the file it was given, and a file
of a few bytes cannot unfold into one that fills the memory. Members are .npy of format 1.0 with headers in one form
only: a reader compares them and parses nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import struct
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

FORMAT = "edgewise-model"
VERSION = 1
HEADER = "header.json"
LARGEST_HEADER = 64 << 20  # JSON takes some twenty times its size in memory
DIGEST = "sha256"
MAGIC = b"\x93NUMPY\x01\x00"
ALIGNED = 64
MOST_DIMENSIONS = 8
# Booleans, whole numbers, real numbers, dates and text of fixed width: nothing that would need pickle.
DTYPE = re.compile(r"\|b1|[|<>][iu][1248]|[<>]f[248]|[<>]U[0-9]{1,7}|\|S[0-9]{1,7}|[<>][mM]8(\[[0-9a-zA-Z]{1,9}\])?")


class ModelFileError(ValueError):
    """A model file that cannot be read: truncated, altered, oversized, foreign, or of a newer format."""


class Archive(NamedTuple):
    """What a file holds, as bytes."""

    header: dict[str, Any]
    arrays: list[bytearray]


def write_archive(path: Path, header: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
    """Write a file in the place of the one that may be there."""
    members: list[tuple[str, Sequence[Any]]] = [(f"{i}.npy", npy_bytes(array)) for i, array in enumerate(arrays)]
    text = canonical(header | {DIGEST: digest(header, [part for _, parts in members for part in parts])})
    if len(text) > LARGEST_HEADER:
        raise ValueError(
            f"{HEADER} would have {len(text)} bytes, {LARGEST_HEADER} are allowed: too many names or settings"
        )
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
        for name, parts in ((HEADER, (text,)), *members):
            # A fixed date: the same model gives the same file.
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=sum(map(len, parts)) >= 1 << 31) as member:
                for part in parts:
                    member.write(part)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` once it is whole and on the disk; until then the old one stays."""
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.draft")
    file = draft.open("xb")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)  # the new name is on the disk as well
        finally:
            os.close(folder)


def read_archive(path: Path) -> Archive:
    """All that a file holds, checked against its digest; `ModelFileError` if it is not whole and as it was written."""
    with path.open("rb") as file:
        try:
            return _read(file, os.fstat(file.fileno()).st_size)
        except ModelFileError as error:
            raise ModelFileError(f"{path}: {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # zipfile and json have no closed list of what damaged files make them raise
            reason = str(error).partition("\n")[0][:120] or type(error).__name__
            raise ModelFileError(f"{path}: truncated, altered or no model file ({reason})") from None


def canonical(header: dict[str, Any]) -> bytes:
    """A header as it stands in a file."""
    return json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def digest(header: dict[str, Any], parts: Sequence[Any]) -> str:
    """The SHA-256 of the header without its digest, and of all members in order."""
    total = hashlib.sha256(canonical({key: value for key, value in header.items() if key != DIGEST}))
    for part in parts:
        total.update(part)
    return total.hexdigest()


def _read(file: BinaryIO, size: int) -> Archive:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if not members or members[0].filename != HEADER:
            raise ModelFileError(f"not a model of edgewise: its first member is not {HEADER}")
        if sum(member.file_size for member in members) > size:
            raise ModelFileError(f"oversized: its members are said to be larger than the file of {size} bytes")
        if members[0].file_size > LARGEST_HEADER:
            raise ModelFileError(f"oversized: {HEADER} has {members[0].file_size} bytes, {LARGEST_HEADER} are allowed")
        for index, member in enumerate(members):
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                raise ModelFileError(f"member {member.filename[:80]!r} is compressed: a model file stores its members")
            if index == 0:
                header = read_header(archive.read(member))  # first of all, as it may be of a newer format
            elif member.filename != f"{index - 1}.npy":
                raise ModelFileError(f"member {member.filename[:80]!r} where '{index - 1}.npy' belongs")
        arrays = [bytearray(archive.read(member)) for member in members[1:]]
    if header[DIGEST] != digest(header, arrays):
        raise ModelFileError("altered or damaged: its SHA-256 is not the one that was written")
    return Archive(header, arrays)


def read_header(text: bytes) -> dict[str, Any]:
    """The header, if it is one of a format that this edgewise reads."""
    header = json.loads(text)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f'not a model of edgewise: its header lacks "format": "{FORMAT}"')
    version, writer = header.get("version"), str(header.get("edgewise"))[:40]
    if type(version) is not int or version < 1:
        raise ModelFileError(f"version {str(version)[:40]!r} of the format: there is no such")
    if version > VERSION:
        raise ModelFileError(
            f"format {version}, written by edgewise {writer}: this edgewise reads formats up to {VERSION}; "
            f"install edgewise {writer} or newer"
        )
    if DIGEST not in header or text != canonical(header):
        raise ModelFileError("altered: its header is not in the form in which it was written")
    return header


# -- arrays ------------------------------------------------------------------------------------------------------------


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
