"""A user's own learners and rule inside the compiled loops, at the speed of ours.

A loop over a chunk is written once, and calls the functions of `own`, which do nothing. Numba fixes what a function
calls when it compiles it. So for a user's code the loop, and every function between it and the calls of `own`, is
compiled once more from the same source, with the user's functions in the place of those that do nothing. The user's
code is inlined like ours, and the loops that we ship stay as they were on disk.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any

from edgewise._compile import in_memory, routine_in
from edgewise.boosting.fingerprint import fingerprint
from edgewise.boosting.own import Own, own_importance, own_learner_weight, own_learns, own_speaks

Kernel = Callable[..., Any]


def with_own(loop: Kernel, own: Own) -> Kernel:
    """The loop for an ensemble with these own learners and this rule; itself where there are none."""
    states = []
    rest = own.learners
    while rest:
        state, rest = rest
        states.append(type(state))
    rule = type(own.rule) if own.rule else None
    return _built(loop, tuple(states), rule) if states or rule else loop


@lru_cache(maxsize=64)
def _built(loop: Kernel, states: tuple[Any, ...], rule: Any) -> Kernel:
    speaks, learns = own_speaks, own_learns
    for state in reversed(states):
        speaks = _first_or_rest_speaks(compiled(state.speaks), speaks)
        learns = _first_or_rest_learns(compiled(state.learns), learns)
    exchange = {own_speaks: speaks, own_learns: learns}
    theirs = [(state, (state.speaks, state.learns)) for state in states]
    if rule is not None:
        exchange[own_importance] = compiled(rule.importance)
        exchange[own_learner_weight] = compiled(rule.learner_weight)
        theirs.append((rule, (rule.importance, rule.learner_weight)))
    plain = getattr(loop, "py_func", loop)
    anew = _with_globals(plain, {name: exchanged(called, exchange) for name, called in called_by(plain).items()})
    key = fingerprint(theirs)
    return routine_in(f"own-{key}")(anew) if key else in_memory(anew)


def _first_or_rest_speaks(first: Kernel, rest: Kernel) -> Kernel:
    # Numba takes an element of a tuple of several types only by a constant: so states are nested, first and rest.
    def speaks(states, which, slot, x, p):
        if which == 0:
            first(states[0], slot, x, p)
        else:
            rest(states[1], which - 1, slot, x, p)

    return in_memory(speaks)


def _first_or_rest_learns(first: Kernel, rest: Kernel) -> Kernel:
    def learns(states, which, slot, x, p, label, w):
        if which == 0:
            first(states[0], slot, x, p, label, w)
        else:
            rest(states[1], which - 1, slot, x, p, label, w)

    return in_memory(learns)


@lru_cache(maxsize=256)
def compiled(function: FunctionType) -> Kernel:
    """A user's function as a kernel, and with it the functions of theirs that it calls."""
    own = {name: compiled(called) for name, called in called_by(function).items() if isinstance(called, FunctionType)}
    return in_memory(_with_globals(function, own))


def exchanged(function: Kernel, exchange: dict[Kernel, Kernel]) -> Kernel:
    """The function with others in the place of those it calls, however deep; itself where it calls none of them.

    `exchange` says what takes whose place, and gets an entry for every function that was looked at.
    """
    if function not in exchange:
        plain = getattr(function, "py_func", function)
        before = called_by(plain)
        after = {name: exchanged(called, exchange) for name, called in before.items()}
        exchange[function] = function if after == before else in_memory(_with_globals(plain, after))
    return exchange[function]


def called_by(function: FunctionType) -> dict[str, Kernel]:
    """The functions, compiled or not, among the globals that a function names."""
    named = inspect.getclosurevars(function).globals
    return {name: value for name, value in named.items() if isinstance(getattr(value, "py_func", value), FunctionType)}


def _with_globals(function: FunctionType, changes: dict[str, Kernel]) -> FunctionType:
    """The same code where some globals are others."""
    around = function.__globals__ | changes
    copy = FunctionType(function.__code__, around, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy
