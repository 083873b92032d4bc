"""The container: a zip of header.json and arrays, nothing compressed, written whole or not at all.

Members are stored as they are. So what a reader allocates is bounded by the size of the file it was given, and a file
of a few bytes cannot unfold into one that fills the memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from edgewise.persist.npy import npy_bytes

FORMAT = "edgewise-model"
VERSION = 1
HEADER = "header.json"
LARGEST_HEADER = 64 << 20  # JSON takes some twenty times its size in memory
DIGEST = "sha256"


class ModelFileError(ValueError):
    """A model file that cannot be read: truncated, altered, oversized, foreign, or of a newer format."""


class Archive(NamedTuple):
    """What a file holds, as bytes."""

    header: dict[str, Any]
    arrays: list[bytearray]


def member_name(index: int) -> str:
    return f"{index}.npy"


def write_archive(path: Path, header: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
    """Write a file in the place of the one that may be there."""
    members: list[tuple[str, Sequence[Any]]] = [(member_name(i), npy_bytes(array)) for i, array in enumerate(arrays)]
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
            raise ModelFileError(f"{path}: truncated, altered or no model file ({_reason(error)})") from None


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
            elif member.filename != member_name(index - 1):
                raise ModelFileError(f"member {member.filename[:80]!r} where {member_name(index - 1)!r} belongs")
        arrays = [bytearray(archive.read(member)) for member in members[1:]]
    if header[DIGEST] != digest(header, arrays):
        raise ModelFileError("altered or damaged: its SHA-256 is not the one that was written")
    return Archive(header, arrays)


def read_header(text: bytes) -> dict[str, Any]:
    """The header, if it is one of a format that this edgewise reads."""
    header = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refused)
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


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("altered: a name stands twice in its header")
    return found


def _refused(constant: str) -> Any:
    raise ModelFileError(f"altered: {constant} in its header, which is no JSON")


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:120] or type(error).__name__
