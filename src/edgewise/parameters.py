"""Parameters of an object are the arguments of its constructor: declared, checked, read, set and shown.

A model declares its parameters as annotated class attributes with defaults, first those by position, then, after
`_: KW_ONLY`, those by name; those that models of a kind share stand in a class that `declares` them. `with_parameters`
makes the constructor of them, and the section "Parameters" of the docstring: each parameter is described by the
docstring of the class, of one of its parents, or else by `SHARED`.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform

import numpy as np

Kind = TypeVar("Kind")


class Allowed(NamedTuple):
    """What values a parameter may have: one of some names, or a number in a range, and the words for it in errors."""

    words: str
    names: Collection[str] = ()
    above: float = -np.inf
    below: float | None = None
    whole: bool = False
    none: bool = False  # whether None is allowed as well


class Parameter(NamedTuple):
    """What docstrings say of a parameter, and what values it may have."""

    type: str
    text: str
    allowed: Allowed | None = None


POSITIVE = Allowed("a positive number", above=0.0)
POSITIVE_OR_NONE = Allowed("a positive number, or None", above=0.0, none=True)

SHARED = {
    "estimator": Parameter(
        "learner or list of learners, optional",
        "The weak learner, or a list of which the last fills up; a `HoeffdingTree` if None.",
    ),
    "n_estimators": Parameter(
        "int", "Number of weak learners N.", Allowed("an ensemble needs at least 1 weak learner", above=0, whole=True)
    ),
    "edge": Parameter(
        "float",
        "gamma in (0, 1), how much better than random guessing the learners are taken to be.",
        Allowed("a number in (0, 1)", above=0.0, below=1.0),
    ),
    "exploration": Parameter(
        "float, str or callable",
        'The rate rho in (0, 1) at which another label than the guess is shown; "decaying": the rate that the text\n'
        "after Theorem 3.2 sets; or a function of the number of the decision, from 1.",
    ),
    "estimate": Parameter(
        "str", '"full": estimate (4) of the 0-1 loss; "simple": (3), by which nothing is learned from a mistake.'
    ),
    "cost_clip": Parameter("float, optional", "Largest cost, or None; 100 in the paper.", POSITIVE_OR_NONE),
    "cost_grain": Parameter("float, optional", "Costs are rounded to a multiple of this, or None.", POSITIVE_OR_NONE),
    "importance_power": Parameter("float", "Importances are raised to this power; 1 in the paper.", POSITIVE),
    "normalize_importance": Parameter(
        "bool", "Whether importances are divided by their mean so far, learner by learner; not in the paper."
    ),
    "first_weight": Parameter("float", "Learner weights before the first round; 0 in the paper."),
    "max_pending": Parameter(
        "int",
        "Decisions that may wait for feedback; the oldest expire.",
        Allowed("at least 1 decision must be kept", above=0, whole=True),
    ),
    "max_bytes": Parameter(
        "int, optional",
        "Most bytes that the model may take; at the limit, leaves that promise little give up their statistics\n"
        "(docs/how-to/memory.md). None: no limit.",
        Allowed("a whole number of bytes, or None for no limit", above=0, whole=True, none=True),
    ),
    "chunk_size": Parameter(
        "int",
        "Rows that go through the learners together; never changes a result.",
        Allowed("at least 1 row", above=0, whole=True),
    ),
    "n_jobs": Parameter(
        "int, optional",
        "Threads that learners are shared out to, -1 for one on each core; never changes a result\n"
        "(docs/how-to/threads.md).",
    ),
    "random_state": Parameter("int or Generator, optional", "Seed, or numpy Generator."),
}


@dataclass_transform(eq_default=False)
def declares(cls: type[Kind]) -> type[Kind]:
    """Mark a class as one that declares parameters, which the classes of models that derive from it share."""
    cls._declares = _own_parameters(cls)  # type: ignore[attr-defined]
    return cls


@dataclass_transform(eq_default=False)
def with_parameters(**allowed: Allowed | Collection[str]) -> Callable[[type[Kind]], type[Kind]]:
    """Make the constructor and the docstring of a class from the parameters that it and its parents declare.

    Its own parameters by name come before those of its parents. `allowed` are values that a parameter may have, or
    names, other than `SHARED` says.
    """
    given = {
        name: one if isinstance(one, Allowed) else Allowed(f"one of {', '.join(one)}", one)
        for name, one in allowed.items()
    }

    def made(cls: Any) -> Any:
        declares(cls)
        by_position: dict[str, Any] = {}
        by_name: dict[str, Any] = {}
        for kind in cls.__mro__:
            first, others = vars(kind).get("_declares", ({}, {}))
            by_position = first | by_position
            by_name |= {name: annotation for name, annotation in others.items() if name not in by_name}
        cls.__annotations__ = by_position | {"_": dataclasses.KW_ONLY} | by_name
        dataclasses.dataclass(eq=False, repr=False)(cls)
        names = [*by_position, *by_name]
        cls._allowed = checks_of(*names) | cls._allowed | given
        if cls.__doc__ is not None:  # python -OO leaves none
            cls.__doc__ = _with_section(cls, names)
        return cls

    return made


def _own_parameters(cls: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """The annotations of the parameters that a class itself declares: by position, and by name."""
    declared = {
        name: annotation
        for name, annotation in inspect.get_annotations(cls).items()
        if not str(annotation).startswith("ClassVar")
    }
    names = list(declared)
    cut = names.index("_") if "_" in names else len(names)
    return {name: declared[name] for name in names[:cut]}, {name: declared[name] for name in names[cut + 1 :]}


def _with_section(cls: type, names: list[str]) -> str:
    """The docstring of a class with a section that describes these parameters."""
    summary, described = "", {}
    for name in names:
        if name in SHARED:
            text = SHARED[name].text.replace("\n", "\n    ")
            described[name] = f"{name} : {SHARED[name].type}\n    {text}"
    for kind in reversed(cls.__mro__[:-1]):
        summary, _, section = inspect.cleandoc(kind.__doc__ or "").partition("\n\nParameters\n----------\n")
        described |= {entry.partition(" :")[0]: entry.strip() for entry in re.split(r"\n(?=\w)", section) if entry}
    return "\n".join([summary, "", "Parameters", "----------", *(described[name] for name in names), ""])


def checks_of(*names: str) -> dict[str, Allowed]:
    """What values parameters may have, as `SHARED` says."""
    known = {name: SHARED[name].allowed for name in names if name in SHARED}
    return {name: allowed for name, allowed in known.items() if allowed is not None}


def check_parameters(of: Any) -> None:
    """ValueError if a parameter has a value that is not allowed."""
    for name, (words, names, above, below, whole, none) in of._allowed.items():
        value = getattr(of, name)
        if value is None and none:
            continue
        if names:
            holds = value in names
        else:
            holds = not whole or isinstance(value, int | np.integer)
            holds = holds and above < value and (below is None or value < below)
        if not holds:
            raise ValueError(f"{name}={value!r}: {words}")


class Saveable:
    """`save`, for models: `edgewise.load` gives them back."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this model to one file, from which `edgewise.load` continues bit for bit (docs/how-to/saving.md).

        Parameters
        ----------
        path : str or path
            Where to write. A file there is replaced at once, or not at all.
        """
        from edgewise.persist import save

        save(self, path)


class Parameterized:
    """`get_params`, `set_params` and a repr that names what differs from the defaults."""

    # what values parameters may have, by name
    _allowed: ClassVar[dict[str, Allowed]] = {}

    @classmethod
    @cache
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__)
        return {name: p.default for name, p in signature.parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name.

        Parameters
        ----------
        deep : bool
            Whether to give those of a learner inside as well, as `estimator__grace_period`.

        Returns
        -------
        dict
            Name -> value.
        """
        params = {name: getattr(self, name) for name in self._defaults()}
        if deep:
            for name, value in list(params.items()):
                if _has_params(value):
                    params |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters; an unknown name raises ValueError.

        Parameters
        ----------
        **params : any
            Name -> value, as `get_params` names them.
        """
        known = self._defaults()
        for name in params:
            if name.partition("__")[0] not in known:
                raise ValueError(f"{name}={params[name]!r}: {type(self).__name__} takes {', '.join(known)}")
        for name, value in params.items():
            head, _, tail = name.partition("__")
            if tail:
                inner = getattr(self, head)
                if not _has_params(inner):
                    raise ValueError(f"{name}={value!r}: {head}={inner!r} has no parameters to set")
                inner.set_params(**{tail: value})
            else:
                setattr(self, head, value)
        return self

    def __repr__(self) -> str:
        told = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if _differs(getattr(self, name), default)
        ]
        return f"{type(self).__name__}({', '.join(told)})"


def _has_params(value: Any) -> bool:
    """Whether an object has parameters of its own, ours or an estimator of scikit-learn."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def _differs(value: Any, default: Any) -> bool:
    return value is not default and (type(value) is not type(default) or value != default)
