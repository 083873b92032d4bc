"""From a user's own learners to their states, tried out before they take part."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from edgewise.learners.weak_learner import Example, WeakLearner
from edgewise.loop.extending import compiled
from edgewise.loop.inputs import Columns
from edgewise.loop.state import Custom, Round

LEARNER_METHODS = ("predict_proba", "update")
OLD_NAMES = {"speaks": "predict_proba", "learns": "update"}
RULE_METHODS = ("importance", "learner_weight")
# A distribution that a learner sums up in float64 is off by rounding only.
ROUNDING = 1e-6


def custom_classes(learners: Sequence[Any]) -> list[type[WeakLearner]]:
    """The classes of a user's own learners, in the order in which they first come."""
    return list(dict.fromkeys(type(learner) for learner in learners if isinstance(learner, WeakLearner)))


def make_states(learners: Sequence[Any], columns: Columns, k: int) -> Custom:
    """The states of all own learners, one for each class; TypeError or ValueError where they cannot take part."""
    states = []
    for kind in custom_classes(learners):
        state = _fresh(kind, learners, columns, k)
        n = sum(type(learner) is kind for learner in learners)
        try_learner(state, n, k, columns)
        states.append(state)
    return Custom(_nested(states), ())


def states_with_categories(own: Custom, learners: Sequence[Any], columns: Columns, k: int) -> Custom:
    """The states with capacity for the categories that `columns` has by now."""
    states = []
    rest = own.learners
    for kind in custom_classes(learners):
        state, rest = rest
        fresh = _fresh(kind, learners, columns, k)
        wide = kind.widened(state, fresh)
        if type(wide) is not type(state) or any(a.shape != b.shape for a, b in zip(wide, fresh, strict=True)):
            raise ValueError(f"{kind.__name__}.widened gave arrays of other shapes than make()")
        states.append(wide)
    return own._replace(learners=_nested(states))


def _fresh(kind: type[WeakLearner], learners: Sequence[Any], columns: Columns, k: int) -> Any:
    of_kind = [learner for learner in learners if type(learner) is kind]
    state = kind.make(of_kind, k, int((~columns.nominal).sum()), columns.n_categories)
    take_old_names(type(state))
    check_state(state, f"{kind.__name__}.make()", LEARNER_METHODS)
    return state


def take_old_names(state: type) -> None:
    """Let a state's methods have the names of earlier releases, with a warning."""
    for old, new in OLD_NAMES.items():
        if hasattr(state, old) and not hasattr(state, new):
            warnings.warn(f"{state.__name__}.{old} is {new} now: rename it", DeprecationWarning, stacklevel=2)
            setattr(state, new, getattr(state, old))


def _nested(states: list[Any]) -> tuple[Any, ...]:
    nested: tuple[Any, ...] = ()
    for state in reversed(states):
        nested = (state, nested)
    return nested


def check_state(state: Any, maker: str, methods: tuple[str, ...]) -> None:
    """TypeError unless a state is a NamedTuple of arrays that has the methods."""
    if not isinstance(state, tuple) or not hasattr(state, "_fields"):
        raise TypeError(f"{maker} gave a {type(state).__name__}: a NamedTuple of arrays is needed")
    for name, array in zip(state._fields, state, strict=True):
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf" or not array.flags.c_contiguous:
            what = f"{array.dtype} array" if isinstance(array, np.ndarray) else type(array).__name__
            raise TypeError(f"{maker} gave a {what} as {name!r}: a C-contiguous array of numbers is needed")
    for method in methods:
        if not inspect.isfunction(getattr(type(state), method, None)):
            raise TypeError(f"{type(state).__name__}, which {maker} gave, has no method {method}()")


def try_learner(state: Any, n: int, k: int, columns: Columns) -> None:
    """Let the first and the last of n learners predict and learn, on copies, in plain Python and compiled.

    Plain Python finds an index out of range, which compiled code does not notice.
    """
    width = int((~columns.nominal).sum())
    known = np.where(columns.n_categories > 0, 0, -1).astype(np.int32)
    examples = (
        Example(np.zeros(width), known, np.zeros(width), np.ones(width)),
        Example(np.full(width, np.nan), np.full(known.size, -1, np.int32), np.zeros(width), np.zeros(width)),
    )
    of = type(state)
    for compile_it in (False, True):
        copy = of(*(array.copy() for array in state))
        for i in {0, n - 1}:
            for x in examples:
                for label in (0, k - 1):
                    p = np.full(k, np.nan)
                    _call(compile_it, of, "predict_proba", copy, i, x, p)
                    if not (np.isfinite(p).all() and (p >= 0.0).all() and abs(p.sum() - 1.0) <= ROUNDING):
                        raise ValueError(
                            f"{of.__name__}.predict_proba filled p with {p}: a distribution over labels is needed"
                        )
                    _call(compile_it, of, "update", copy, i, x, p, label, 1.0)


def try_rule(memory: Any, n: int, k: int, draws: int) -> None:
    """Let a rule take a round of the first and the last of n learners, on a copy, in plain Python and compiled."""
    of = type(memory)
    for compile_it in (False, True):
        copy = of(*(array.copy() for array in memory))
        for i in {0, n - 1}:
            scores, p, now = np.zeros(k), np.full(k, 1.0 / k), Round(1, 0, 1.0, np.full(max(1, draws), 0.5))
            importance = _call(compile_it, of, "importance", copy, i, scores, now)
            if not _is_number(importance) or importance < 0.0:
                raise ValueError(f"{of.__name__}.importance gave {importance!r}: a number from 0 on is needed")
            weight = _call(compile_it, of, "learner_weight", copy, i, scores, 0, p, now)
            if not _is_number(weight):
                raise ValueError(f"{of.__name__}.learner_weight gave {weight!r}: a number is needed")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _call(compile_it: bool, of: type, method: str, *arguments: Any) -> Any:
    function = getattr(of, method)
    try:
        return compiled(function)(*arguments) if compile_it else function(*arguments)
    except Exception as error:
        failure = f"failed when tried out: {type(error).__name__}: {error}"
        if compile_it:
            failure = f"is not in the subset that Numba compiles where no arrays are made: {error}"
        raise TypeError(f"{of.__name__}.{method} {failure}") from error
