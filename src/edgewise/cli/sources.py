"""DATA on the command line: the name of a data set, or a file of the user's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.evaluation.models import suggestion
from edgewise.streams import datasets


class Source(NamedTuple):
    """A stream to race on; `path` is None for a data set known by name."""

    name: str
    path: Path | None
    options: dict[str, Any]
    in_order: bool
    multi_label: bool = False


def parse_sources(texts: Sequence[str], **options: Any) -> list[Source]:
    """The streams asked for, each once. A file goes by its name, or by its whole path where two have the same name."""
    sources = {text: _parse_source(text, **options) for text in texts}
    times = Counter(source.name for source in sources.values())
    return [source._replace(name=text) if times[source.name] > 1 else source for text, source in sources.items()]


def _parse_source(
    text: str, *, target: str | None, categorical: str | None, header: bool | None, labels: Path | None
) -> Source:
    """Tell a data set from a file. A registered name wins; `./car` is a file."""
    known = datasets.names()
    if text in known:
        about = datasets.info(text)
        if about.classes == 0:
            raise ValueError(
                f"{text} has real targets, and a race is between classifiers or rankers; for numbers there is "
                "StreamingGradientBoostingRegressor"
            )
        return Source(text, None, {}, bool(about.in_order), bool(about.labels))
    path = Path(text)
    if path.is_file() and labels is not None:
        if target or categorical or header is not None:
            raise ValueError("--labels is for MULAN files: --target, --categorical and --header do not apply")
        return Source(path.name, path, {"xml": labels}, False, True)
    if path.is_file():
        options: dict[str, Any] = {} if target is None else {"target": _column(target)}
        if categorical:
            options["categorical"] = [_column(name) for name in categorical.split(",")]
        if header is not None:
            options["header"] = header
        return Source(path.name, path, options, False)
    if path.is_dir():
        raise ValueError(f"{text} is a folder; name a file")
    if path.suffix or len(path.parts) > 1:
        raise ValueError(f"no such file: {text}")
    raise ValueError(f"unknown data set {text!r}, and no such file; {suggestion(text, known)}")


def load_source(source: Source) -> tuple[Any, Any]:
    """The examples and labels, with all rows."""
    if source.path is None:
        return datasets.load(source.name)
    if source.multi_label:
        from edgewise.streams.mulan import read_mulan

        return read_mulan(source.path, **source.options)[:2]
    from edgewise.streams.files import read

    return read(source.path, **source.options)


def _column(text: str) -> str | int:
    """A column by position if it is a whole number, by name otherwise."""
    try:
        return int(text)
    except ValueError:
        return text.strip()
