"""DATA on the command line: the name of a data set, or a file of the user's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.data import datasets
from edgewise.evaluation.models import suggestion

BINARY = "0/1"  # among the columns of --categorical: all that hold nothing but 0 and 1


class Source(NamedTuple):
    """A stream to race on; `path` is None for a data set known by name."""

    name: str
    path: Path | None
    options: dict[str, Any]
    in_order: bool
    multi_label: bool = False
    binary: bool = False  # whether columns of 0 and 1 are categories


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
        chosen = categorical.split(",") if categorical else []
        if chosen:
            options["categorical"] = [_column(name) for name in chosen if name.strip() != BINARY]
        if header is not None:
            options["header"] = header
        return Source(path.name, path, options, False, binary=BINARY in map(str.strip, chosen))
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
        from edgewise.data.files import read_mulan

        return read_mulan(source.path, **source.options)[:2]
    from edgewise.data.files import read
    from edgewise.data.table import as_table

    X, y = read(source.path, **source.options)
    return (as_table(X, categorical_features=X.binary_columns) if source.binary else X), y


def advice(source: Source, X: Any) -> str | None:
    """A hint at `--categorical 0/1`: trees model columns of 0 and 1 as Gaussian unless they are categories."""
    if source.path is None or source.multi_label or not X.binary_columns.any():
        return None
    names = [name for name, binary in zip(X.feature_names, X.binary_columns, strict=True) if binary]
    few = names[:3] + ["..."] * (len(names) > 3)
    return f"{source.name}: only 0 and 1 in {', '.join(few)}; --categorical {BINARY} reads such columns as categories"


def _column(text: str) -> str | int:
    """A column by position if it is a whole number, by name otherwise."""
    try:
        return int(text)
    except ValueError:
        return text.strip()
