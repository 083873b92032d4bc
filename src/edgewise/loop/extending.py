"""A user's own learners and rule inside the compiled loops.

A loop over a chunk is written once, for our learners. Numba fixes what a function calls when it compiles it. So for a
user's code the loop, and every function between it and those that own code stands in for, is compiled once more from
the same source, with other functions in their place: `learner_predict`, `learner_revisit` and `learner_update` become
ones that call own learners too, `uniform_step` becomes the rule's. The user's code is inlined like ours, and the loops
that we ship have no branch for it.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

from edgewise.kernels import simd
from edgewise.kernels.compile import entry_point_in, in_memory
from edgewise.learners.weak_learner import Example
from edgewise.loop.learning import learner_predict, learner_revisit, learner_update
from edgewise.loop.rules.uniform import uniform_step
from edgewise.loop.rules.votes import add_vote
from edgewise.loop.state import OWN, Custom, LearnerStates, Round
from edgewise.theory.experts import argmax

Kernel: TypeAlias = Any  # a compiled function, or a plain one where nothing is compiled


def specialize(loop: Kernel, own: Custom) -> tuple[Kernel, Custom]:
    """The loop for an ensemble with these own learners and this rule, and their states as it takes them.

    It takes them as bare tuples: compiled code on disk that names a class is not found again if that class is one of a
    script or a notebook.
    """
    types = []
    rest = own.learners
    while rest:
        state, rest = rest
        types.append(type(state))
    rule: Any = type(own.rule)
    if not types and rule is tuple:
        return loop, own
    return _built(loop, tuple(types), rule), Custom(_bare(own.learners), tuple(own.rule))


def _bare(states: tuple[Any, ...]) -> tuple[Any, ...]:
    return (tuple(states[0]), _bare(states[1])) if states else ()


@lru_cache(maxsize=64)
def _built(loop: Kernel, states: tuple[Any, ...], rule: Any) -> Kernel:
    exchange = _learners(states) if states else {}
    methods = [part for state in states for part in ("learner", state._fields, state.predict_proba, state.update)]
    if rule is not tuple:
        exchange |= _rule(rule)
        methods += ["rule", rule._fields, rule.importance, rule.learner_weight]
    plain = _plain(loop)
    anew = _with_globals(plain, {name: exchanged(called, exchange) for name, called in called_by(plain).items()})
    key = fingerprint(methods)
    return entry_point_in(f"own-{key}")(anew) if key else in_memory(anew)


def _learners(states: tuple[Any, ...]) -> dict[Kernel, Kernel]:
    """Replacements for the functions of `learning`, for own learners and ours."""
    predict = update = _no_class
    for state in reversed(states):
        predict = _first_class(state, compiled(state.predict_proba), predict)
        update = _first_class(state, compiled(state.update), update)

    def any_predict(learners, states, i, chunk, t, in_full, s):
        if learners.kind[i] < OWN:
            return learner_predict(learners, _ours(states), i, chunk, t, in_full, s)
        predict(states.own.learners, learners.kind[i] - OWN, learners.slot[i], _example(chunk, t), s.p)
        return argmax(s.p)

    def any_revisit(learners, states, i, chunk, t, s):
        if learners.kind[i] < OWN:
            learner_revisit(learners, _ours(states), i, chunk, t, s)
        else:
            predict(states.own.learners, learners.kind[i] - OWN, learners.slot[i], _example(chunk, t), s.p)

    def any_update(learners, states, i, chunk, t, label, w, s):
        if learners.kind[i] < OWN:
            learner_update(learners, _ours(states), i, chunk, t, label, w, s)
        elif w > 0.0:
            update(states.own.learners, learners.kind[i] - OWN, learners.slot[i], _example(chunk, t), s.p, label, w)

    return {
        learner_predict: in_memory(any_predict),
        learner_revisit: in_memory(any_revisit),
        learner_update: in_memory(any_update),
    }


@in_memory
def _example(chunk, t):
    return Example(chunk.numeric[t], chunk.nominal[t], chunk.means[t], chunk.variances[t])


@in_memory
def _ours(states):
    """The states of our learners, in the type for which their functions are on disk."""
    return LearnerStates(states.forest, states.bank, states.memory, Custom((), ()))


@in_memory
def _no_class(states, which, slot, x, p, *label_and_weight):
    """The end of the chain of `_first_class`."""


def _first_class(of: Any, method: Kernel, rest: Kernel) -> Kernel:
    """A function that calls the method of the class numbered `which`: this one is 0, `rest` has the others."""

    # Numba takes an element of a tuple of several types only by a constant: so states are nested, first and rest.
    def call(states, which, slot, x, p, *label_and_weight):
        if which == 0:
            method(of(*states[0]), slot, x, p, *label_and_weight)
        else:
            rest(states[1], which - 1, slot, x, p, *label_and_weight)

    return in_memory(call)


def _rule(of: Any) -> dict[Kernel, Kernel]:
    """The replacement for `uniform_step`."""
    importance, learner_weight = compiled(of.importance), compiled(of.learner_weight)

    def own_step(plan, committee, rule, i, scores, vote, p, chunk, t):
        if chunk.labels[t] < 0:
            add_vote(plan, scores, vote, p, committee.weight[i])
            return 0.0
        now = Round(chunk.rounds[t], chunk.labels[t], chunk.weights[t], chunk.uniforms[t])
        w = float(importance(of(*rule), i, scores, now))
        add_vote(plan, scores, vote, p, committee.weight[i])
        committee.weight[i] = learner_weight(of(*rule), i, scores, vote, p, now)
        return w

    return {uniform_step: in_memory(own_step)}


@lru_cache(maxsize=256)
def compiled(function: FunctionType) -> Kernel:
    """A user's function as a kernel, and with it the functions that it calls: theirs that are not compiled, and ours.

    Ours too, since on disk they would be kept for the types of the user's states, which other processes do not know.
    """
    anew = {
        name: compiled(_plain(called))
        for name, called in called_by(function).items()
        if isinstance(called, FunctionType) or called.__module__.startswith("edgewise.")
    }
    return in_memory(_with_globals(function, anew))


def exchanged(function: Kernel, exchange: dict[Kernel, Kernel]) -> Kernel:
    """The function with replacements for the functions that it calls, at any depth; itself where it calls none of them.

    `exchange` maps a function to its replacement, and gets an entry for every function that was looked at.
    """
    if function not in exchange:
        plain = _plain(function)
        before = called_by(plain)
        after = {name: exchanged(called, exchange) for name, called in before.items()}
        exchange[function] = function if after == before else in_memory(_with_globals(plain, after))
    return exchange[function]


def called_by(function: FunctionType) -> dict[str, Kernel]:
    """The functions, compiled or not, among the globals that a function names; not vectors, which Numba knows."""
    named = inspect.getclosurevars(function).globals
    return {
        name: value
        for name, value in named.items()
        if isinstance(_plain(value), FunctionType) and value.__module__ != simd.__name__
    }


def _plain(value: Any) -> Any:
    """The function that a compiled one was made of; anything else as it is."""
    return getattr(value, "py_func", value)


def _with_globals(function: FunctionType, changes: dict[str, Kernel]) -> FunctionType:
    """The same code with some globals replaced."""
    around = function.__globals__ | changes
    copy = FunctionType(function.__code__, around, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy


# What their functions do is fixed by versions that Numba's own key covers, or does not change.
FIXED_MODULES = ("math", "numpy", "numba", "edgewise")
PLAIN = (bool, int, float, str, bytes, type(None))


class _Unknown(Exception):
    """A value that has no key."""


def fingerprint(values: Sequence[Any]) -> str | None:
    """The key of some functions and plain values; None if they name a value that has none."""
    digest = hashlib.sha256()
    try:
        _add(digest, tuple(values), set())
    except _Unknown:
        return None
    return digest.hexdigest()[:16]


def _add(digest: Any, value: Any, seen: set[Any]) -> None:
    if isinstance(value, PLAIN):
        digest.update(f"{type(value).__name__} {value!r}\0".encode())
    elif type(value) in (tuple, frozenset):
        digest.update(f"{len(value)} parts\0".encode())
        for part in value if isinstance(value, tuple) else sorted(value, key=repr):
            _add(digest, part, seen)
    elif isinstance(value, CodeType):
        digest.update(value.co_code)
        for name in ("argcount", "consts", "names", "varnames", "freevars", "cellvars"):
            _add(digest, getattr(value, f"co_{name}"), seen)
    elif _home(value).partition(".")[0] in FIXED_MODULES:
        digest.update(f"{_home(value)} {getattr(value, '__qualname__', value)}\0".encode())
    elif hasattr(value, "py_func"):
        digest.update(f"{sorted(value.targetoptions.items())}\0".encode())
        _add(digest, value.py_func, seen)
    elif isinstance(value, FunctionType):
        if value not in seen:
            seen.add(value)
            _add_function(digest, value, seen)
    else:
        raise _Unknown


def _add_function(digest: Any, function: FunctionType, seen: set[Any]) -> None:
    # compiled code on disk imports the module that it was written in, so it is of use to that module alone
    digest.update(f"{function.__module__}\0".encode())
    _add(digest, function.__code__, seen)
    _add(digest, function.__defaults__, seen)
    for cell in function.__closure__ or ():
        _add(digest, cell.cell_contents, seen)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            digest.update(f"{name}\0".encode())
            _add(digest, function.__globals__[name], seen)


def _home(value: Any) -> str:
    """The module that a value is, or comes from."""
    return (value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)) or ""


def _names(code: CodeType) -> set[str]:
    """Every name that code and the functions inside it look up."""
    return set(code.co_names).union(*(_names(part) for part in code.co_consts if isinstance(part, CodeType)))
