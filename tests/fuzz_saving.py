"""Mutated model files: `python -m tests.fuzz_saving FIRST COUNT` loads files FIRST to FIRST + COUNT - 1.

In a process of its own, since what is looked for are crashes.

Half of the mutations are accidents: flipped bytes, cut ends, parts moved, lost, doubled or taken from another file. The
other half are made by someone who knows the format: a value of the header or an array is changed, and the digest made
right again. A file must give the clear error, or a model that predicts and learns. Memory is limited to MARGIN beyond
what the process has when it begins.
"""

from __future__ import annotations

import collections
import copy
import faulthandler
import io
import json
import os
import resource
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path

import numpy as np

import edgewise as ew
from edgewise.persist import ModelFileError
from edgewise.persist.archive import canonical, digest, npy_bytes, read_archive
from tests.saved_models import MODELS, is_batch, learn, rows, says, targets

MARGIN = 256 << 20
HANG = 120  # seconds after which a file is taken to hang
WHOLE = [-1, 0, 1, 2, 3, 5, 17, 255, 256, 65536, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**64, -(2**31), -(2**63), 10**30]
REAL = [0.0, -1.0, 0.5, 1e-300, 1e300, -1e300, 5.0]
WORDS = [
    "",
    "draw",
    "best",
    "cost",
    "OzaBoost",
    "AdaBandit",
    "Feature",
    "PCG64",
    "MT19937",
    "nan",
    "a\0b",
    "é" * 9,
    "x" * 9999,
]
WORDS += [
    "dict",
    "tuple",
    "<f8",
    "<i8",
    "<i4",
    "|b1",
    "<U7",
    "|O",
    "predict",
    "__class__",
    "softmax",
    "decaying",
    "rank",
]
CELLS = {"f": [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, 0.5, 1e-300], "b": [True, False], "U": ["", "zzz", "no"]}


def originals(folder: Path) -> dict[str, bytes]:
    """A file of every model, one of them unlearned."""
    files = {}
    for name, make in MODELS.items():
        path = folder / "original.edgewise"
        learn(make(), 40, seed=0).save(path)
        files[name] = path.read_bytes()
    MODELS["AdaBoostOLM, list"]().save(folder / "original.edgewise")
    return files | {"unlearned": (folder / "original.edgewise").read_bytes()}


def accident(rng: np.random.Generator, whole: bytes, other: bytes) -> bytes:
    """A file after something happened to it."""
    data = bytearray(whole)
    place, length = int(rng.integers(len(data))), int(rng.integers(1, 400))
    kind = rng.integers(7)
    if kind == 0:
        for at in rng.integers(0, len(data), rng.integers(1, 9)):
            data[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del data[place:]
    elif kind == 2:
        del data[place : place + length]
    elif kind == 3:
        data[place:place] = data[:length]
    elif kind == 4:
        data[place : place + length] = rng.bytes(length)
    elif kind == 5:
        at = int(rng.integers(len(other)))
        data[place : place + length] = other[at : at + length]
    else:
        data = data[:place] + other[place:]
    return bytes(data)


def places(value, path=()):
    """Where in a header there are values, from the root on."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed_header(rng: np.random.Generator, header: dict) -> None:
    """Change a value of a header: to another of its kind, to anything, to one from elsewhere; or lose it."""
    spots = [path for path in places(header) if path]
    path = spots[rng.integers(len(spots))]
    holder = header
    for key in path[:-1]:
        holder = holder[key]
    key, old, kind = path[-1], holder[path[-1]], rng.integers(6)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        taken = header
        for step in spots[rng.integers(len(spots))]:
            taken = taken[step]
        holder[key] = copy.deepcopy(taken)
    elif kind == 2:
        holder[key] = [None, True, [], {}, {"float": "nan"}, {"again": 0}, {"tuple": []}, [[[1]]]][rng.integers(8)]
    elif kind == 3 and isinstance(old, dict):
        old[WORDS[rng.integers(len(WORDS))]] = 1
    elif isinstance(old, int) or kind == 4:
        near = old + int(rng.integers(-2, 3)) if type(old) is int else 0
        holder[key] = [near, WHOLE[rng.integers(len(WHOLE))]][rng.integers(2)]
    elif isinstance(old, float):
        holder[key] = REAL[rng.integers(len(REAL))]
    else:
        holder[key] = WORDS[rng.integers(len(WORDS))]


def changed_array(rng: np.random.Generator, header: dict, arrays: list[bytes]) -> None:
    """Change cells, the order, the shape or the dtype of an array, in the header as well."""
    told = [value for value in _walk(header) if isinstance(value, dict) and value.keys() == {"array", "dtype", "shape"}]
    told = [value for value in told if value["array"] in range(len(arrays))]  # one that was not changed before
    if not told:
        return
    where = told[rng.integers(len(told))]
    array = np.load(io.BytesIO(arrays[where["array"]])).copy()
    kind = rng.integers(6)
    if kind <= 2 and array.size:
        cells = CELLS.get(array.dtype.kind)
        for at in rng.integers(0, array.size, [1, 3, array.size][kind]):
            if cells is None:
                info = np.iinfo(array.dtype)
                near = int(array.flat[at]) + int(rng.integers(-3, 4))
                wild = [info.min, info.max, -1, 0, 1, 2, 7, 1000][rng.integers(8)]
                array.flat[at] = min(max([near, wild][rng.integers(2)], info.min), info.max)
            else:
                array.flat[at] = cells[rng.integers(len(cells))]
    elif kind == 3:
        array = rng.permutation(array.ravel()).reshape(array.shape)
    elif kind == 4:
        array = (
            [array[:-1], array.ravel(), array[None], np.concatenate([array, array])][rng.integers(4)]
            if array.ndim
            else array
        )
    else:
        kinds = ["U3"] if array.dtype.kind == "U" else [np.float64, np.int64, np.int32, np.int8, bool, "U3"]
        array = array.astype(kinds[rng.integers(len(kinds))], copy=False)
    where["dtype"], where["shape"] = array.dtype.str, list(array.shape)
    arrays[where["array"]] = b"".join(npy_bytes(array))


def forged(rng: np.random.Generator, whole: bytes, folder: Path) -> bytes:
    """A file that someone changed who makes the digest right again."""
    (folder / "whole.edgewise").write_bytes(whole)
    header, members = read_archive(folder / "whole.edgewise")
    arrays = [bytes(member) for member in members]
    for _ in range(rng.integers(1, 3)):
        if rng.random() < 0.5:
            changed_header(rng, header)
        else:
            changed_array(rng, header, arrays)
    header["sha256"] = digest(header, arrays)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("header.json", canonical(header))
        for i, array in enumerate(arrays):
            file.writestr(f"{i}.npy", array)
    return out.getvalue()


def outcome(path: Path) -> str:
    """What becomes of a file; raises if it is neither the clear error nor a model that works."""
    try:
        model = ew.load(path)
    except ModelFileError as error:
        return "refused" if str(error).startswith(f"{path}: ") else "refused without the name of the file"
    if not hasattr(model, "classes_") and not hasattr(model, "rounds_"):
        repr(model)
        return "unlearned"
    try:
        says(model, seed=3, n=8)
        if not is_batch(model):
            table = rows(model, 30, 4)
            model.partial_fit(table, targets(model, table, 4))
    except (ArithmeticError, ValueError) as error:
        if not _is_math(error):
            raise
    return "works"


def _is_math(error: Exception) -> bool:
    """Whether an error is one of arithmetic that Python raises for where a compiled kernel goes on with NaN."""
    told = ("math domain error", "math range error", "division by zero", "Result too large")
    return os.environ.get("NUMBA_DISABLE_JIT") == "1" and any(text in str(error) for text in told)


def _walk(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _walk(inner)


def main(first: int, count: int) -> None:
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as name, np.errstate(all="ignore"):
        folder = Path(name)
        files = originals(folder)
        kinds = list(files)
        path = folder / "mutated.edgewise"
        for data in files.values():  # compiles what will be asked
            path.write_bytes(data)
            assert outcome(path) in ("works", "unlearned")
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MARGIN, used + MARGIN))
        for number in range(first, first + count):
            rng = np.random.default_rng(number)
            whole, other = (files[kinds[i]] for i in rng.integers(len(kinds), size=2))
            by_hand = number % 2 == 1
            path.write_bytes(forged(rng, whole, folder) if by_hand else accident(rng, whole, other))
            print(number, file=sys.stderr, flush=True)  # the last one tells which file a crash or a hang is of
            faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                counts[f"{'forged' if by_hand else 'accident'}, {outcome(path)}"] += 1
            except Exception:
                counts["failed"] += 1
                traceback.print_exc()
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
