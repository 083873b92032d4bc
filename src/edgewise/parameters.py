"""Parameters of an object are the arguments of its constructor: read, set, copied and shown, as in scikit-learn."""

from __future__ import annotations

import inspect
import os
from typing import Any, Self


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

    @classmethod
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
