"""Opening files, packed or not, and their lines with numbers."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

PACKED: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
BOM = b"\xef\xbb\xbf"


def open_unpacked(path: str | Path) -> io.BufferedReader:
    """The content of a file as bytes, unpacked if its name ends in .gz, .xz or .bz2."""
    opener = PACKED.get(Path(path).suffix.lower(), open)
    return io.BufferedReader(opener(path, "rb"), 1 << 20)


@contextmanager
def naming_damage(path: str | Path) -> Iterator[None]:
    """ValueError with the path where packed data turn out to be damaged."""
    try:
        yield
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise ValueError(f"{path}: the packed data are damaged or cut short ({error})") from None


def open_text(path: str | Path) -> IO[bytes]:
    """The content as bytes, without the byte order mark that some editors put in front."""
    file = open_unpacked(path)
    if file.peek(len(BOM)).startswith(BOM):
        file.read(len(BOM))
    return cast("IO[bytes]", file)


def unpacked_name(name: str) -> str:
    """The file name without .gz, .xz or .bz2."""
    return name[: -len(Path(name).suffix)] if Path(name).suffix.lower() in PACKED else name


def decode(path: str, number: int, line: bytes, encoding: str = "UTF-8") -> str:
    """The text of a line; ValueError with file and line if it is none."""
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        raise ValueError(f"{path}, line {number}: not {encoding} text") from None


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but blanks (a tab delimits: it is not a blank)."""
    return line.isspace() and not line.strip(b" \r\n")


def take_lines(lines: Iterator[tuple[int, bytes]], count: int) -> list[tuple[int, bytes]]:
    """The next lines up to `count` of them that are not blank; empty only if none such is left."""
    taken: list[tuple[int, bytes]] = []
    full = 0
    while full < count and (more := list(islice(lines, count - full))):
        taken += more
        full += len(more) - sum(is_blank(line) for _, line in more)
    return taken if full else []
