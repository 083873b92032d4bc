"""Small made streams of label sets, for tests."""

from __future__ import annotations

import numpy as np

from edgewise.data.table import Table
from tests.small_streams import mixed_stream


def label_set_stream(n=300, k=5, seed=0, one_sided=0.05) -> tuple[Table, np.ndarray]:
    """A learnable stream of every kind of feature; some rows have no relevant label, or only relevant ones."""
    table, y = mixed_stream(n, k, seed)
    rng = np.random.default_rng(seed + 1)
    main = np.array([int(name.removeprefix("class")) for name in y])
    Y = (rng.random((n, k)) < 0.25).astype(np.int64)
    Y[np.arange(n), main] = 1
    Y[np.arange(n), (main + 1) % k] |= rng.random(n) < 0.5
    Y[np.arange(n), (main + 2) % k] = 0
    lone = rng.random(n) < one_sided
    Y[lone] = rng.integers(0, 2, (lone.sum(), 1))
    return table, Y
