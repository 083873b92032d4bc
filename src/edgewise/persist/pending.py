"""Bandit decisions that wait for feedback, as arrays over decisions: what follows from the rest is not stored.

Label, propensity and distribution of a decision follow from its guess, what was shown and the rate of exploration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.data.table import Table
from edgewise.loop.bandit_loop import Cast, make_cast
from edgewise.loop.decisions import Decision, Pending
from edgewise.loop.state import POTENTIAL
from edgewise.persist.checks import whole_number

# Of Cast: whether the label was right is not known yet, and the scores, what was taught and how are only told.
CAST = ("votes", "shares", "weights", "experts", "guesses", "shown", "rates", "uniforms", "mean")


def stored_pending(pending: Pending) -> dict[str, Any]:
    """The decisions as arrays."""
    waiting = list(pending.waiting.values())
    return {
        "next_id": pending.next_id,
        "last_expired": pending.last_expired,
        "ids": np.array([decision.id for decision in waiting], np.int64),
        "features": _stacked([decision.features for decision in waiting]),
        "numeric": np.concatenate([decision.numeric for decision in waiting]) if waiting else None,
        "nominal": np.concatenate([decision.nominal for decision in waiting]) if waiting else None,
        "cast": {
            name: np.concatenate([getattr(decision.cast, name) for decision in waiting]) if waiting else None
            for name in CAST
        },
    }


def restored_pending(stored: Any, model: Any) -> Pending:
    """The decisions of a model whose state has been put back; ValueError unless they fit it."""
    pending = Pending()
    pending.next_id = whole_number("next_id", stored["next_id"])
    pending.last_expired = whole_number("last_expired", stored["last_expired"], least=-1)
    ids = stored["ids"]
    _need(isinstance(ids, np.ndarray) and ids.dtype == np.int64 and ids.ndim == 1, "ids are whole numbers")
    n = ids.size
    if n == 0:
        return pending
    _need((np.diff(ids) > 0).all() and ids[0] > pending.last_expired and ids[-1] < pending.next_id, "ids in order")
    ensemble, columns, k = model._ensemble, model._columns, model.classes_.size
    numeric, nominal, features = stored["numeric"], stored["nominal"], _apart(stored["features"], n)
    _like(numeric, np.zeros((n, int((~columns.nominal).sum()))), "numeric")
    _like(nominal, np.zeros((n, len(columns.categories)), np.int32), "nominal")
    _need(not np.isinf(numeric).any(), "numbers are finite, or NaN")
    _need(((nominal >= -1) & (nominal < columns.n_categories)).all(), "codes of categories")
    n_learners = ensemble.learners.kind.size
    template = make_cast(ensemble.plan, n, n_learners, np.zeros(n), np.zeros((n, 2 + n_learners)))
    for name in CAST:
        _like(stored["cast"][name], getattr(template, name), name)
    cast = template._replace(**{name: stored["cast"][name] for name in CAST})
    for name in ("votes", "experts", "guesses", "shown"):
        labels = getattr(cast, name)
        _need(((labels >= 0) & (labels < k)).all(), f"{name} are places among {k} classes")
    _need(((cast.rates > 0.0) & (cast.rates < 1.0)).all(), "rates of exploration lie between 0 and 1")
    _need(((cast.uniforms >= 0.0) & (cast.uniforms < 1.0)).all(), "uniform numbers lie between 0 and 1")
    if getattr(ensemble.plan, "rule", None) == POTENTIAL:
        _need((cast.weights == 1.0).all(), "with potentials every vote counts 1")
    # distribution (2) over the classes
    rates = cast.rates[:, None]
    probabilities = np.where(cast.guesses[:, None] == np.arange(k), 1.0 - rates, rates / (k - 1))
    for t, number in enumerate(ids.tolist()):
        one = slice(t, t + 1)
        pending.waiting[number] = Decision(
            number,
            model.classes_[cast.shown[t]],
            float(probabilities[t, cast.shown[t]]),
            probabilities[t].copy(),
            features[t],
            numeric[one].copy(),
            nominal[one].copy(),
            Cast(*(field[one].copy() for field in cast)),
        )
    return pending


def _need(held: Any, message: str) -> None:
    if not held:
        raise ValueError(f"its pending decisions do not fit: {message}")


def _like(array: Any, known: np.ndarray, name: str) -> None:
    same = isinstance(array, np.ndarray) and array.dtype == known.dtype and array.shape == known.shape
    _need(same, f"{name} needs dtype {known.dtype} and shape {known.shape}")


def _stacked(features: list[Any]) -> Any:
    """Examples as they were given: rows of one array, or of one table, together."""
    first = features[0] if features else None
    rows = [row for row in features if type(row) is np.ndarray and row.ndim == 1 and row.dtype.kind != "O"]
    if len(rows) == len(features) > 0 and len({(row.dtype, row.shape) for row in rows}) == 1:
        return np.stack(rows)
    tables = [row for row in features if isinstance(row, Table)]
    if isinstance(first, Table) and len(tables) == len(features) and len({table.features for table in tables}) == 1:
        return Table(np.concatenate([table.values for table in tables]), first.features)
    return features


def _apart(stored: Any, n: int) -> list[Any]:
    """The examples one by one."""
    rows = stored.shape[0] if isinstance(stored, np.ndarray) and stored.ndim else -1
    _need((len(stored) if isinstance(stored, Table | list) else rows) == n, f"{n} examples")
    return [stored[t] for t in range(n)]
