"""Where data files are: in the package, in the folder EDGEWISE_DATA, in the user's cache, else to be downloaded."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from edgewise.data.opening import PACKED, open_unpacked, unpacked_name
from edgewise.data.registry import SETS, DataFile, Dataset

BUNDLED = Path(__file__).parent / "bundled"
VARIABLE = "EDGEWISE_DATA"


def cache_folder() -> Path:
    """The folder of earlier downloads."""
    import pooch

    return Path(pooch.os_cache("edgewise"))


def _folders() -> Iterator[tuple[str, Path]]:
    """Folders in which files are looked for, with their names, in this order."""
    yield "bundled", BUNDLED
    if named := os.environ.get(VARIABLE):
        yield VARIABLE, Path(named)
    yield "cache", cache_folder()  # last, as it imports pooch


def _candidates(file: DataFile) -> list[str]:
    """Names under which a file may lie: as registered, unpacked, or packed in another way."""
    plain = unpacked_name(file.name)
    return list(dict.fromkeys([file.name, plain, *(plain + suffix for suffix in PACKED)]))


def locate(file: DataFile) -> tuple[str, Path] | None:
    """The place ("bundled", "EDGEWISE_DATA" or "cache") and path of a file, or None if it is in none of them."""
    for place, folder in _folders():
        for name in _candidates(file):
            if (folder / name).is_file():
                return place, folder / name
    return None


def found_files(dataset: Dataset) -> list[tuple[DataFile, str, Path]] | None:
    """The files from which a data set can be loaded, with place and path, or None if one is missing."""
    for files in (dataset.files, (dataset.substitute,) if dataset.substitute else ()):
        found = [(file, located) for file in files if (located := locate(file))]
        if files and len(found) == len(files):
            return [(file, *located) for file, located in found]
    return None


def fetch_files(dataset: Dataset) -> list[tuple[DataFile, str, Path]]:
    """The files of a data set, with place and path, after downloading those that are missing into the cache."""
    found = found_files(dataset)
    if found is not None:
        return found
    downloadable = all(file.url for file in dataset.files)
    wanted = dataset.files if downloadable or dataset.substitute is None else (dataset.substitute,)
    return [(file, *(locate(file) or ("cache", download(dataset.name, file)))) for file in wanted]


def path_of(file: str) -> Path:
    """The path of a data file given by its registered name; raises FileNotFoundError if it is nowhere.

    Parameters
    ----------
    file : str
        The registered name.

    Returns
    -------
    Path
        Where it is.
    """
    known = next((each for about in SETS.values() for each in about.all_files if file in _candidates(each)), None)
    if known is None:
        raise ValueError(f"{file!r} is not a file of any data set")
    located = locate(known)
    if located is None:
        named = os.environ.get(VARIABLE, "")
        raise FileNotFoundError(f"{file}: not bundled, not in {VARIABLE}={named!r}, not in {cache_folder()}")
    return located[1]


def sha256_of(path: Path, *, unpacked: bool) -> str:
    """The SHA-256 of a file, or of what it unpacks to."""
    with open_unpacked(path) if unpacked else open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def status_of(file: DataFile, path: Path) -> str:
    """Whether a file on disk is the one registered: "ok", "unknown" (no checksum is known) or "changed"."""
    if path.name == file.name and file.sha256 is not None and sha256_of(path, unpacked=False) == file.sha256:
        return "ok"
    expected = file.content_sha256  # the same content may be packed in another way under the same name
    if expected is None:
        return "unknown: no checksum is known for this file"
    found = sha256_of(path, unpacked=True)
    return "ok" if found == expected else f"changed: SHA-256 {found} where {expected} is expected"


def download(name: str, file: DataFile) -> Path:
    """Download one file into the cache and check it; the checksum is that of the content."""
    import pooch

    cache = cache_folder()
    advice = f"or put {unpacked_name(file.name)} into a folder and set {VARIABLE} to it"
    if file.url is None:
        advice = f"{file.by_hand}: {advice.removeprefix('or ')}" if file.by_hand else advice
        raise OSError(f"{name}: {file.name} has no address to download from; {advice}")
    pooch.get_logger().setLevel("WARNING")
    arrived = Path(file.url).name
    suffix = Path(arrived).suffix if Path(arrived).suffix in PACKED else ""
    target = cache / (unpacked_name(file.name) + suffix)
    partial = target.with_name(target.name + ".part")
    got = cache / f"{target.name}.download"
    try:
        pooch.retrieve(file.url, known_hash=None, fname=got.name, path=cache)
        if file.member is None:
            os.replace(got, partial)
        else:
            with zipfile.ZipFile(got) as archive:
                partial.write_bytes(archive.read(file.member))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise OSError(f"{name}: could not download {file.url} into {cache} ({reason}); {advice}") from None
    finally:
        got.unlink(missing_ok=True)  # pooch takes a file that is already there for the download
    os.replace(partial, target)
    status = status_of(file, target)
    if status.startswith("changed"):
        target.unlink()
        raise OSError(f"{name}: what came from {file.url} is not the file expected ({status}); {advice}")
    return target
