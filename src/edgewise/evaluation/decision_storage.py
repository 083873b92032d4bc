"""Events on disk, appended and never changed: JSON Lines in one file, or Parquet in a folder of parts.

Both hold a header (format, version, classes) and then events in the order in which they were appended:

    {"format": "edgewise-decisions", "version": 1, "classes": ["acc", "good", "unacc", "vgood"]}
    {"event": "decision", "id": 0, "label": "good", "propensity": 0.9, "probabilities": [...], "features": {...}}
    {"event": "feedback", "id": 0, "correct": false}

A line is handed to the operating system as soon as it is appended. Parquet cannot grow line by line: events are held
until a part is full, flushed or closed, and a part appears under its name only when it is whole.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.data.table import category_name

FORMAT = "edgewise-decisions"
VERSION = 1
PART_EVENTS = 1000
FIELDS = ("event", "id", "label", "propensity", "probabilities", "features", "correct")
METADATA = b"edgewise"

Event = dict[str, Any]


class Stored(NamedTuple):
    """What a log holds: the header's classes, and its events, each with the place to name in a message."""

    classes: list[Any]
    events: list[tuple[str, Event]]


class LineFile:
    """A log as JSON Lines."""

    def __init__(self, path: Path, classes: Sequence[Any]) -> None:
        started = path.exists() and path.stat().st_size > 0
        if started:
            _check_same(path, read_lines(path).classes, classes)
            _end_line(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        if not started:
            self.append(_header(classes))

    def append(self, event: Event) -> None:
        self._file.write(json.dumps(event, allow_nan=False, ensure_ascii=False) + "\n")
        self._file.flush()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class PartFolder:
    """A log as Parquet: part-000001.parquet, part-000002.parquet, ..."""

    def __init__(self, path: Path, classes: Sequence[Any]) -> None:
        if path.is_file():
            raise ValueError(f"{path} is a file: a log in Parquet is a folder of parts")
        self.path = path
        self._header = _header(classes)
        self._held: list[Event] = []
        parts = _parts(path)
        if parts:
            _check_same(path, _read_part(parts[-1])[0], classes)
        path.mkdir(parents=True, exist_ok=True)
        self._next = int(parts[-1].stem.rpartition("-")[2]) + 1 if parts else 1

    def append(self, event: Event) -> None:
        self._held.append(event)
        if len(self._held) >= PART_EVENTS:
            self.flush()

    def flush(self) -> None:
        if not self._held:
            return
        import pyarrow
        from pyarrow import parquet

        columns = {name: [event.get(name) for event in self._held] for name in FIELDS}
        columns["features"] = _one_type_each(columns["features"])
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        name = f"part-{self._next:06d}.parquet"
        draft = self.path / f".{name}.draft"
        parquet.write_table(table.replace_schema_metadata({METADATA: json.dumps(self._header)}), draft)
        draft.replace(self.path / name)
        self._next += 1
        self._held = []

    def close(self) -> None:
        self.flush()


def open_log(path: str | os.PathLike[str], classes: Sequence[Any]) -> LineFile | PartFolder:
    """A log to append to, new or begun: JSON Lines or Parquet by the ending of its name."""
    where = Path(path)
    return PartFolder(where, classes) if _is_parquet(where) else LineFile(where, classes)


def read_events(path: str | os.PathLike[str]) -> Stored:
    """All that a log holds."""
    where = Path(path)
    return read_parts(where) if _is_parquet(where) else read_lines(where)


def read_lines(path: Path) -> Stored:
    """A log in JSON Lines. A last line that was cut off, as by a crash, is left out with a warning."""
    lines = path.read_bytes().split(b"\n")
    last = lines.pop()  # what follows the last line's end: nothing, or a line that was never finished
    if last and _json(last) is not None:
        lines.append(last)
    elif last:
        reason = f"cut off, its writer was stopped; the {len(lines)} lines before it are used"
        warnings.warn(f"{path}, line {len(lines) + 1}: {reason}", stacklevel=2)
    records = []
    for number, line in enumerate(lines, start=1):
        record = _json(line)
        if record is None:
            raise ValueError(f"{path}, line {number}: not a JSON object: {line[:60].decode(errors='replace')!r}")
        records.append((f"{path}, line {number}", record))
    if not records:
        raise ValueError(f"{path}: empty; a log of decisions begins with a header")
    return Stored(_classes(path, records[0][1]), records[1:])


def read_parts(path: Path) -> Stored:
    """A log in Parquet. A part that was never finished is left out with a warning."""
    parts = _parts(path)
    if not parts:
        raise ValueError(f"{path}: no parts of a log of decisions in Parquet")
    for draft in sorted(path.glob(".part-*.draft")):
        warnings.warn(f"{draft}: cut off, its writer was stopped; the finished parts are used", stacklevel=2)
    classes: list[Any] = []
    events: list[tuple[str, Event]] = []
    for part in parts:
        own, rows = _read_part(part)
        if events:
            _check_same(part, own, classes)
        classes = own
        events += [(f"{part}, row {number}", row) for number, row in enumerate(rows, start=1)]
    return Stored(classes, events)


def _is_parquet(path: Path) -> bool:
    if path.suffix not in (".jsonl", ".parquet"):
        raise ValueError(f"{path}: a log of decisions is named .jsonl (JSON Lines) or .parquet (a folder of Parquet)")
    return path.suffix == ".parquet"


def _header(classes: Sequence[Any]) -> Event:
    return {"format": FORMAT, "version": VERSION, "classes": list(classes)}


def _classes(place: Any, header: Event) -> list[Any]:
    if header.get("format") != FORMAT:
        raise ValueError(f'{place}: not a log of decisions: its header lacks "format": "{FORMAT}"')
    if header.get("version") != VERSION:
        raise ValueError(f"{place}: version {header.get('version')!r} of the format; this edgewise reads {VERSION}")
    if not isinstance(header.get("classes"), list):
        raise ValueError(f'{place}: its header lacks the list "classes"')
    return header["classes"]


def _check_same(place: Any, found: Sequence[Any], classes: Sequence[Any]) -> None:
    if list(found) != list(classes):
        raise ValueError(f"{place}: a log of decisions among {list(found)!r}, not {list(classes)!r}")


def _json(line: bytes) -> Event | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _end_line(path: Path) -> None:
    """Make a file end with a whole line: drop a part of an event (the reader has warned), end a whole one."""
    data = path.read_bytes()
    whole, _, last = data.rpartition(b"\n")
    if not last:
        return
    with path.open("r+b") as file:
        if _json(last) is not None:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
        else:
            file.truncate(len(whole) + 1)


def _one_type_each(rows: list[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
    """Features that hold only numbers or only text: in one that has both, a number becomes the name of a category."""
    texts = {name for row in rows if row for name, value in row.items() if isinstance(value, str)}

    def cell(name: str, value: Any) -> Any:
        return category_name(value) if name in texts and value is not None else value

    return [row and {name: cell(name, value) for name, value in row.items()} for row in rows]


def _parts(path: Path) -> list[Path]:
    return sorted(path.glob("part-*.parquet"))


def _read_part(part: Path) -> tuple[list[Any], Iterator[Event]]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(part)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{part}: not a Parquet file ({str(error).splitlines()[0]})") from None
    header = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
    classes = _classes(part, header)
    return classes, ({name: value for name, value in row.items() if value is not None} for row in table.to_pylist())
