"""Small made streams with every kind of feature, for tests."""

from __future__ import annotations

import numpy as np

from edgewise.data.table import Feature, Table


def mixed_stream(n=300, k=3, seed=0, missing=0.1, n_numeric=3, n_nominal=2):
    """A learnable stream of numeric and nominal features with missing values: a Table and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    numeric = rng.normal(size=(n, n_numeric)) + y[:, None] * rng.uniform(0.3, 1.2, n_numeric)
    nominal = (y[:, None] * (rng.random((n, n_nominal)) < 0.6) + rng.integers(0, 4, (n, n_nominal))) % 4
    values = np.concatenate([numeric, nominal], axis=1).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    features = [Feature(f"n{j}", None) for j in range(n_numeric)]
    features += [Feature(f"c{j}", ("a", "b", "c", "d")) for j in range(n_nominal)]
    return Table(values, tuple(features)), np.array([f"class{r}" for r in y])
