"""What scikit-learn asks of an estimator, answered without importing it before it asks.

A model that derived from scikit-learn's own base classes would bring it in with the first `import`. So models speak its
protocol instead: tags, being fitted or not, metadata routing, the picture in notebooks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from edgewise.parameters import Parameterized

ROUTED = ("fit", "partial_fit", "score")


class Estimator(Parameterized):
    """An object with parameters that learns: what all models share towards scikit-learn."""

    # "classifier" or "regressor"
    _task: ClassVar[str]
    # the attribute that a model has once it has been started
    _first_learned: ClassVar[str] = "_columns"

    # -- learning anew ---------------------------------------------------------------------------------------------

    def _anew(self, learn: Callable[[Any], Any]) -> Self:
        """Forget everything, then learn; a model that cannot learn stays as it was."""
        fresh = type(self)(**self.get_params(deep=False))
        learn(fresh)
        vars(self).update(vars(fresh))
        return self

    def _not_started(self) -> NoReturn:
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"this {type(self).__name__} has learned nothing yet: call prequential, partial_fit or fit first"
        )

    # -- copies ----------------------------------------------------------------------------------------------------

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays may come as read-only memory maps (joblib), but a model writes into its own."""
        vars(self).update(writable(state))

    # -- protocol of scikit-learn ----------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._first_learned)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type=self._task,
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if self._task == "classifier" else None,
            regressor_tags=RegressorTags() if self._task == "regressor" else None,
            input_tags=InputTags(allow_nan=True, categorical=True, string=True, sparse=True),
        )

    def get_metadata_routing(self) -> Any:
        """Which of `sample_weight` and the like the methods want to be given by a pipeline or a search.

        Returns
        -------
        MetadataRequest
            Of scikit-learn.
        """
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        request = MetadataRequest(owner=self)
        for method in ROUTED:
            for name in self._metadata(method):
                getattr(request, method).add_request(param=name, alias=None)
        return request

    def _request(self, method: str, requests: dict[str, bool | str | None]) -> Self:
        import sklearn

        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        known = self._metadata(method)
        routing = self.get_metadata_routing()
        for name, wanted in requests.items():
            if name not in known:
                raise TypeError(f"{name}={wanted!r}: {method} of {type(self).__name__} takes {', '.join(known)}")
            getattr(routing, method).add_request(param=name, alias=wanted)
        self._metadata_request = routing
        return self

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Ask to be given metadata in `fit`: `set_fit_request(sample_weight=True)`.

        Parameters
        ----------
        **requests : bool, str or None
            Name of a metadata -> whether it is wanted, or by which name.
        """
        return self._request("fit", requests)

    def set_partial_fit_request(self, **requests: bool | str | None) -> Self:
        """Ask to be given metadata in `partial_fit`. Parameters are those of `set_fit_request`."""
        return self._request("partial_fit", requests)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Ask to be given metadata in `score`. Parameters are those of `set_fit_request`."""
        return self._request("score", requests)

    def _metadata(self, method: str) -> list[str]:
        """What a method takes beside examples."""
        if not hasattr(self, method):
            return []
        return [name for name in inspect.signature(getattr(self, method)).parameters if name.lower() not in ("x", "y")]

    def _repr_html_(self) -> str:
        from sklearn.utils import estimator_html_repr

        return estimator_html_repr(self)


def writable(value: Any) -> Any:
    """The same value, with copies of the arrays in it that cannot be written."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable and type(value) is np.ndarray else np.array(value)
    if isinstance(value, dict):
        return {key: writable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [writable(inner) for inner in value]
    if isinstance(value, tuple):
        parts = [writable(inner) for inner in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
