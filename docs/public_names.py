"""Every public name has its documentation: what `make docs` and the tests ask.

    python docs/public_names.py      what is missing, a line each; exit code 1 if anything is

A function or a method needs a docstring that describes its parameters, and its result where there is one; a class one
that describes those of its constructor. Sections are numpydoc's. Where parameters are those of another object, the
docstring may say so: "Parameters are those of `Name`", a public name or, in a method, another method of its class.
Records (named tuples and data classes) need a docstring. And every name stands in the reference, docs/api.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

API = Path(__file__).parent / "api"
# Modules whose names are public: all of `__all__`, or the functions and classes that they define.
MODULES = (
    "edgewise",
    "edgewise.plot",
    "edgewise.datasets",
    "edgewise.off_policy",
    "edgewise.evaluation",
    "edgewise.river",
    "edgewise.reference",
)
ELSEWHERE = re.compile(r"Parameters(?:\s+and\s+attributes)?\s+are\s+those\s+of\s+`(?:\w+\.)*(\w+)`")


def module_of(name: str) -> Any:
    """A module by its public name; `edgewise` gives some by attribute."""
    package, _, last = name.rpartition(".")
    known = importlib.import_module(package or name)
    return getattr(known, last) if package and hasattr(known, last) else importlib.import_module(name)


def public() -> Iterator[tuple[str, Any]]:
    """The full name and the object of everything public, modules aside."""
    for place in MODULES:
        module = module_of(place)
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
        ]
        for name in names:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield f"{place}.{name}", value


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Methods and properties that edgewise defines, with those that a class inherits."""
    for name in dir(cls):
        if name.startswith("_"):
            continue
        found = inspect.getattr_static(cls, name, None)
        if isinstance(found, property):
            found = found.fget
        found = getattr(found, "__func__", found)
        if inspect.isfunction(found) and found.__module__.startswith("edgewise"):
            yield name, inspect.getattr_static(cls, name)


def section(text: str, title: str) -> list[str]:
    """The lines of a section of a docstring."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].splitlines() if found else []


def described(text: str) -> set[str]:
    """The names that the section Parameters describes."""
    heads = (line.partition(" :")[0] for line in section(text, "Parameters") if line and not line.startswith(" "))
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def told_elsewhere(text: str, others: dict[str, Any]) -> set[str]:
    """The names that the objects describe to which a docstring points, and those to which these point."""
    texts = [inspect.cleandoc(others[name].__doc__ or "") for name in ELSEWHERE.findall(text) if name in others]
    texts = [each for each in texts if each != text]  # nothing is told by pointing at itself
    return {name for each in texts for name in described(each) | told_elsewhere(each, others)}


def lacking(name: str, function: Any, text: str | None, others: dict[str, Any]) -> Iterator[str]:
    """What the docstring of a function, or of a class for its constructor, does not say."""
    if not (text or "").strip():
        yield f"{name}: no docstring"
        return
    text = inspect.cleandoc(text or "")
    parameters = {each for each in inspect.signature(function).parameters if each not in ("self", "cls")}
    told = described(text)
    for each in sorted(told - parameters):
        yield f"{name}: describes {each}, which is no parameter"
    for each in sorted(parameters - told - told_elsewhere(text, others)):
        yield f"{name}: does not describe {each}"
    result = inspect.signature(function).return_annotation
    if result not in ("None", "Self", None, inspect.Signature.empty) and not section(text, "Returns"):
        yield f"{name}: has no section Returns"


def is_record(cls: type) -> bool:
    if hasattr(cls, "get_params"):
        return False  # data classes, too, are described by their parameters
    return dataclasses.is_dataclass(cls) or hasattr(cls, "_fields") or issubclass(cls, Exception)


def problems() -> list[str]:
    """What is missing, a line each."""
    found, seen = [], set()
    listed = "\n".join(page.read_text() for page in sorted(API.glob("*.md")))
    everything = dict(public())
    # River's classes have the names of the core's, which describe the parameters of both.
    others = {name.rpartition(".")[2]: value for name, value in reversed(everything.items())}
    for name, value in everything.items():
        if not re.search(rf"^ *{re.escape(name.removeprefix('edgewise.'))}$", listed, re.MULTILINE):
            found.append(f"{name}: is not in docs/api")
        if not inspect.isclass(value):
            found += lacking(name, value, value.__doc__, others)
            continue
        if is_record(value) or "__init__" not in {each for base in value.__mro__[:-1] for each in vars(base)}:
            found += [f"{name}: no docstring"] if not value.__doc__ else []
        else:
            found += lacking(name, value.__init__, value.__doc__, others)
        siblings = others | {member: getattr(raw, "__func__", raw) for member, raw in members(value)}
        for member, raw in members(value):
            function = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw)
            if function in seen:
                continue
            seen.add(function)
            if isinstance(raw, property):
                found += [f"{name}.{member}: no docstring"] if not function.__doc__ else []
            else:
                found += lacking(f"{name}.{member}", function, function.__doc__, siblings)
    return found


if __name__ == "__main__":
    missing = problems()
    print("\n".join(missing))
    sys.exit(bool(missing))
